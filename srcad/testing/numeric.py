"""Derivatives from values alone: the complex step, and extrapolated central differences.

The complex step is exact to rounding, for functions that are analytic along the path. Differences
know no such condition, but have an error, which is estimated along with them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.testing import trees
from srcad.testing.lifting import lift
from srcad.testing.tracing.core import (
    Primitive,
    Traced,
    Unsupported,
    is_complex,
    is_inexact,
    lowered,
    nested_level,
    raw,
)
from srcad.testing.tracing.handle import Handle, plain, unwrap

_STEP = 1e-40


class Stepped(Traced):
    """A real number with a small imaginary part, which comparisons do not see."""

    __slots__ = ("kind",)

    kind: np.dtype[Any] | type

    def __init__(self, value: Any, kind: Any, level: int) -> None:
        super().__init__(value, level)
        self.kind = kind

    def plain(self) -> Any:
        real = np.real(raw(self.value))
        if self.kind is float:
            return float(real)
        return (
            real.astype(self.kind)
            if isinstance(real, np.ndarray)
            else np.dtype(self.kind).type(real)
        )

    def process(self, primitive: Primitive, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        real = primitive.evaluate(*(raw(x) for x in inputs), **params)
        if is_complex(real):
            raise Unsupported("a complex step through complex numbers")
        values = [lowered(x, self.level) for x in inputs]
        with np.errstate(all="ignore"):
            value = primitive.continued(*values, **params)
        kind = float if type(real) is float else np.asarray(real).dtype
        if isinstance(real, np.ndarray) != isinstance(value, np.ndarray):
            value = np.asarray(value) if isinstance(real, np.ndarray) else np.asarray(value)[()]
        if np.shape(value) != np.shape(real) or not np.allclose(
            np.real(value), real, rtol=1e-6, atol=1e-9, equal_nan=True
        ):
            raise Unsupported(f"the continuation of {primitive.name} leaves the real function")
        return Stepped(value, kind, self.level)


def complex_step(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """The value of f and its derivative in a direction, from one call with complex numbers.

    Right to rounding if every function on the way is analytic there; that is for the caller to
    know, except for what is refused because it has no continuation here.
    """
    lifted = lift(f)
    with nested_level() as level:

        def start(x: Any, dx: Any) -> Any:
            if is_complex(x):
                raise Unsupported("a complex step from a complex number")
            kind = float if type(x) is float else np.asarray(x).dtype
            if kind not in (float, np.dtype(float)):
                raise Unsupported("a complex step from float32")
            return Handle(Stepped(x + 1j * _STEP * np.asarray(dx)[()], kind, level))

        moved = [
            trees.map_leaves(start, x, dx) if trees.differentiable(x) else trees.prepared(x)
            for x, dx in zip(primals, tangents, strict=True)
        ]
        out = lifted(*moved, **(kwargs or {}))
        return trees.map_all(lambda y: raw(unwrap(y)), out), trees.map_all(_tangent, out)


def _tangent(y: Any) -> Any:
    y = unwrap(y)
    if isinstance(y, Stepped):
        tangent = np.imag(y.value) / _STEP
        return float(tangent) if y.kind is float else tangent
    if not is_inexact(y):
        return None
    return np.zeros_like(y) if isinstance(y, np.ndarray) else type(y)(0)


@dataclass(frozen=True, slots=True)
class Differences:
    """A derivative from differences."""

    value: list[Any]
    """One entry per differentiable leaf of the output."""
    error: list[Any]
    """The estimated error of each entry."""


def differences(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    step: float = 0.02,
    rounds: int = 9,
) -> Differences:
    """The derivative of f in the direction `tangents`, extrapolated to step 0.

    Central differences have an error in even powers of the step, so halving it and extrapolating
    gains two orders each time (Ridders 1982; Press et al., Numerical Recipes, 5.7). The entry kept
    is the one that changed least, and how much it changed is the estimate.
    """

    def at(h: float) -> list[Any]:
        moved = [
            trees.replace_leaves(x, iter(_stepped(x, dx, h)))
            for x, dx in zip(primals, tangents, strict=True)
        ]
        with np.errstate(all="ignore"):
            out = f(*moved, **copy.deepcopy(kwargs or {}))
        found = [np.asarray(plain(y)) for _, y in trees.leaves(out)]
        return [y.astype(np.result_type(y, float)) for y in found]

    scale = max((float(np.max(np.abs(t), initial=0.0)) for t in _all(tangents)), default=0.0)
    h = step / (scale or 1.0)
    here = at(0.0)
    value: list[Any] = []
    error: list[Any] = []
    previous: list[list[Any]] = []
    bends: list[list[Any]] = []
    for _ in range(rounds):
        up, down = at(h), at(-h)
        row = [[(u - d) / (2 * h) for u, d in zip(up, down, strict=True)]]
        bends.append([(u - 2 * y + d) / h for u, y, d in zip(up, here, down, strict=True)])
        for k, before in enumerate(previous):
            gain = 4.0 ** (k + 1)
            row.append([(gain * a - b) / (gain - 1) for a, b in zip(row[k], before, strict=True)])
        if not previous:
            value = row[0]
            error = [np.full(np.shape(v), np.inf) for v in value]
        for k in range(1, len(row)):
            for j, candidate in enumerate(row[k]):
                change = np.maximum(
                    np.abs(candidate - row[k - 1][j]), np.abs(candidate - previous[k - 1][j])
                )
                change = change + 1e-16 * np.abs(here[j]) / h  # no better than rounding allows
                better = change < error[j]
                value[j] = np.where(better, candidate, value[j])
                error[j] = np.where(better, change, error[j])
        previous = row
        h /= 2
    for j, y in enumerate(here):
        # Where the slopes from the left and from the right do not approach each other is a kink or
        # a jump.
        noise = 1e-14 * (np.abs(y) + 1e-300) / h + 1e-9 * np.abs(value[j])
        bent = np.abs(bends[-1][j]) > np.maximum(0.75 * np.abs(bends[-2][j]), noise)
        error[j] = np.where(bent, np.inf, error[j])
    return Differences(value, error)


def _stepped(x: Any, dx: Any, h: float) -> list[Any]:
    directions = [d for _, d in trees.leaves(dx)]
    points = [p for _, p in trees.leaves(x)]
    moved = []
    for p, d in zip(points, directions, strict=True):
        wide = np.result_type(p, float)  # float32 would drown the differences in rounding
        q = np.asarray(p, wide) + h * np.asarray(d)
        moved.append(
            q
            if isinstance(p, np.ndarray)
            else wide.type(q)
            if isinstance(p, np.generic)
            else type(p)(q)
        )
    return moved


def _all(tangents: Sequence[Any]) -> list[Any]:
    return [t for dx in tangents for _, t in trees.leaves(dx)]
