"""Dual numbers: the oracle for forward mode.

`x + dx * eps` with eps**2 = 0. Each use of `jvp` has a level of its own, so a dual number may have
dual numbers as its parts, which gives second and higher derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad.testing import trees
from srcad.testing.lifting import lift
from srcad.testing.tracing.core import (
    Primitive,
    Traced,
    bind,
    is_complex,
    is_inexact,
    lowered,
    nested_level,
    raw,
)
from srcad.testing.tracing.elementwise import CAST
from srcad.testing.tracing.handle import Handle, unwrap, wrap


class Dual(Traced):
    """A value and its tangent."""

    __slots__ = ("tangent",)

    tangent: Any

    def __init__(self, value: Any, tangent: Any, level: int) -> None:
        super().__init__(value, level)
        self.tangent = tangent

    def process(self, primitive: Primitive, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        values = [lowered(x, self.level) for x in inputs]
        value = bind(primitive, *values, **params)
        if not is_inexact(raw(value)):
            return value
        tangents = [
            wrap(x.tangent) if isinstance(x, Dual) and x.level == self.level else None
            for x in inputs
        ]
        tangent = unwrap(primitive.jvp([wrap(x) for x in values], tangents, **params))
        return Dual(value, alike(tangent, raw(value)), self.level)


def alike(tangent: Any, value: Any) -> Any:
    """A tangent with the shape and the type of its value."""
    shape = np.shape(value)
    if np.shape(raw(tangent)) != shape:
        tangent = unwrap(np.broadcast_to(wrap(tangent), shape))
    kind = np.asarray(value).dtype
    if np.asarray(raw(tangent)).dtype != kind:
        if is_complex(raw(tangent)) and kind.kind != "c":
            return unwrap(np.real(wrap(tangent)))
        return bind(CAST, tangent, to=kind)
    return tangent


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """`f(*primals)` and its derivative in the direction `tangents`, structured like `primals`.

    Only floats and complex numbers, and arrays of them, are differentiated; a tangent in any other
    place is not looked at. Where the output has none (an int, a string) the tangent is None.
    """
    lifted = lift(f)
    with nested_level() as level:

        def start(x: Any, dx: Any) -> Any:
            return Handle(Dual(unwrap(x), alike(unwrap(dx), raw(unwrap(x))), level))

        moved = [
            trees.map_leaves(start, x, dx) if trees.differentiable(x) else trees.prepared(x)
            for x, dx in zip(primals, tangents, strict=True)
        ]
        out = lifted(*moved, **(kwargs or {}))
        value = trees.map_all(lambda y: wrap(lowered(unwrap(y), level)), out)
        tangent = trees.map_all(lambda y: _tangent(unwrap(y), level), out)
    return value, tangent


def _tangent(y: Any, level: int) -> Any:
    if isinstance(y, Dual) and y.level == level:
        return wrap(y.tangent)
    if isinstance(y, Traced) and y.level > level:
        raise AssertionError("a value has escaped from the derivative it belongs to")
    if not is_inexact(raw(y)):
        return None
    return np.zeros_like(raw(y)) if isinstance(raw(y), np.ndarray) else type(raw(y))(0)
