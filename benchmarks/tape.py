"""The tape that everybody writes once: numbers that remember what they were computed from.

It is what source transformation is compared with. It takes functions of numbers and lists only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class Number:
    """A float, and by how much it changes with those that it was computed from."""

    __slots__ = ("adjoint", "parents", "value")

    def __init__(self, value: float, parents: tuple[tuple[Number, float], ...] = ()) -> None:
        self.value = value
        self.parents = parents
        self.adjoint = 0.0
        NODES.append(self)

    def __add__(self, other: Any) -> Number:
        if isinstance(other, Number):
            return Number(self.value + other.value, ((self, 1.0), (other, 1.0)))
        return Number(self.value + other, ((self, 1.0),))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Number:
        if isinstance(other, Number):
            return Number(self.value - other.value, ((self, 1.0), (other, -1.0)))
        return Number(self.value - other, ((self, 1.0),))

    def __rsub__(self, other: float) -> Number:
        return Number(other - self.value, ((self, -1.0),))

    def __neg__(self) -> Number:
        return Number(-self.value, ((self, -1.0),))

    def __mul__(self, other: Any) -> Number:
        if isinstance(other, Number):
            return Number(self.value * other.value, ((self, other.value), (other, self.value)))
        return Number(self.value * other, ((self, other),))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Number:
        if isinstance(other, Number):
            value = self.value / other.value
            return Number(value, ((self, 1.0 / other.value), (other, -value / other.value)))
        return Number(self.value / other, ((self, 1.0 / other),))

    def __rtruediv__(self, other: float) -> Number:
        value = other / self.value
        return Number(value, ((self, -value / self.value),))

    def __pow__(self, power: int) -> Number:
        return Number(self.value**power, ((self, power * self.value ** (power - 1)),))

    def __abs__(self) -> Number:
        return -self if self.value < 0.0 else self

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < (other.value if isinstance(other, Number) else other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > (other.value if isinstance(other, Number) else other))


NODES: list[Number] = []
"""All numbers since the sweep before, in the order in which they were computed."""


def _function(value: Callable[[float], float], slope: Callable[[float, float], float]) -> Any:
    """A function of a number, by its derivative at x where its value is y."""

    def apply(x: Any) -> Any:
        if not isinstance(x, Number):
            return value(x)
        y = value(x.value)
        return Number(y, ((x, slope(x.value, y)),))

    return apply


MATH = SimpleNamespace(
    sin=_function(math.sin, lambda x, y: math.cos(x)),
    cos=_function(math.cos, lambda x, y: -math.sin(x)),
    exp=_function(math.exp, lambda x, y: y),
    log=_function(math.log, lambda x, y: 1.0 / x),
    sqrt=_function(math.sqrt, lambda x, y: 0.5 / y),
    erf=_function(math.erf, lambda x, y: 2.0 / math.sqrt(math.pi) * math.exp(-x * x)),
)
"""For a function under the tape, instead of math."""


def value_and_gradients(
    f: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int]
) -> tuple[float, list[Any]]:
    """The value of f, and its derivative by each of the arguments in argnums."""
    NODES.clear()
    inputs = [_started(a) if k in argnums else a for k, a in enumerate(args)]
    out = f(*inputs)
    _sweep(out)
    gradients = [_adjoint(inputs[k]) for k in argnums]
    NODES.clear()
    return out.value, gradients


def jacobian(f: Callable[..., Any], x: Sequence[float]) -> list[list[float]]:
    """One tape, and a sweep over it for each result: its derivatives by all inputs."""
    NODES.clear()
    inputs = _started(x)
    rows = []
    for out in f(inputs):
        for node in NODES:
            node.adjoint = 0.0
        _sweep(out)
        rows.append(_adjoint(inputs))
    NODES.clear()
    return rows


def _sweep(out: Number) -> None:
    out.adjoint = 1.0
    for node in reversed(NODES):
        if node.adjoint:
            for parent, slope in node.parents:
                parent.adjoint += slope * node.adjoint


def _started(x: Any) -> Any:
    return Number(float(x)) if isinstance(x, float) else [Number(float(v)) for v in x]


def _adjoint(x: Any) -> Any:
    return x.adjoint if isinstance(x, Number) else [v.adjoint for v in x]
