"""Traced values, levels of nesting, and primitives.

Levels keep nested derivatives apart: a primitive is handled by the input of the highest level, for
which inputs of lower levels are constants. So the two perturbations of a second derivative are
never confused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np


class Unsupported(RuntimeError):
    """The oracle can not run this function; it says so rather than give a number."""


class UnsupportedAttribute(Unsupported, AttributeError):
    """A method or attribute that traced values do not have."""


class Traced:
    """An immutable value that an oracle follows: `value` is what it is one level down."""

    __slots__ = ("__weakref__", "level", "value")

    level: int
    value: Any

    def __init__(self, value: Any, level: int) -> None:
        self.value = value
        self.level = level

    def process(self, primitive: Primitive, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """Result of a primitive of which this is the input of the highest level."""
        raise NotImplementedError

    def plain(self) -> Any:
        """The number or array that plain Python would have in this place."""
        return raw(self.value)

    def handle(self) -> Any:
        """A new handle on this value."""
        from srcad.testing.tracing.handle import Handle

        return Handle(self)


class Primitive:
    """A function of numbers or arrays, with one result, that the oracles know how to differentiate.

    Rules get and give what NumPy functions take: plain data, or handles where a derivative is
    itself differentiated. In a `jvp` a tangent that is None is zero.
    """

    name: str = "?"

    def evaluate(self, *inputs: Any, **params: Any) -> Any:
        """The value, of plain data."""
        raise NotImplementedError

    def jvp(self, *args: Any, **params: Any) -> Any:
        """The tangent of the result, of `inputs, tangents`, of which not all are None."""
        raise NotImplementedError

    def vjp(self, *args: Any, **params: Any) -> Any:
        """The cotangent of input `wrt`, of `ct, inputs, wrt`; broadcasting is undone later."""
        raise NotImplementedError

    def continued(self, *inputs: Any, **params: Any) -> Any:
        """The value at complex inputs, of the analytic continuation from real ones."""
        return self.evaluate(*inputs, **params)


def bind(primitive: Primitive, *inputs: Any, **params: Any) -> Any:
    """Apply a primitive to plain data and traced values."""
    top: Traced | None = None
    for x in inputs:
        if isinstance(x, Traced) and (top is None or x.level > top.level):
            top = x
    if top is None:
        return primitive.evaluate(*inputs, **params)
    return top.process(primitive, inputs, params)


def raw(value: Any) -> Any:
    """The plain number or array behind a value of any level."""
    return value.plain() if isinstance(value, Traced) else value


def lowered(value: Any, level: int) -> Any:
    """A value as the level below sees it."""
    return value.value if isinstance(value, Traced) and value.level == level else value


_level: ContextVar[int] = ContextVar("srcad_testing_level", default=1)


def current_level() -> int:
    """The level of a variable created here."""
    return _level.get()


@contextmanager
def nested_level() -> Iterator[int]:
    """A level above all that are in use, for one derivative."""
    token = _level.set(_level.get() + 1)
    try:
        yield _level.get()
    finally:
        _level.reset(token)


def is_inexact(x: Any) -> bool:
    """Whether plain data is a float, a complex number, or an array of them."""
    if isinstance(x, (float, complex)):
        return True
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"


def is_complex(x: Any) -> bool:
    """Whether plain data is complex."""
    return isinstance(x, complex) or (
        isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c"
    )
