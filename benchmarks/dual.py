"""Dual numbers: floats with a derivative beside them, as everybody writes them once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class Dual:
    """A float, and its derivative in one direction."""

    __slots__ = ("tangent", "value")

    def __init__(self, value: float, tangent: float) -> None:
        self.value = value
        self.tangent = tangent

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.tangent + other.tangent)
        return Dual(self.value + other, self.tangent)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            tangent = self.tangent * other.value + self.value * other.tangent
            return Dual(self.value * other.value, tangent)
        return Dual(self.value * other, self.tangent * other)

    __rmul__ = __mul__


def _sin(x: Any) -> Any:
    if isinstance(x, Dual):
        return Dual(math.sin(x.value), math.cos(x.value) * x.tangent)
    return math.sin(x)


MATH = SimpleNamespace(sin=_sin)
"""For a function of dual numbers, instead of math."""


def jacobian(f: Callable[..., Any], x: Sequence[float]) -> list[list[float]]:
    """A sweep for each input: the derivatives of all results by it."""
    columns = []
    for k in range(len(x)):
        out = f([Dual(v, float(i == k)) for i, v in enumerate(x)])
        columns.append([y.tangent for y in out])
    return columns
