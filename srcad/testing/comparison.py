"""How derivatives by several methods are compared, and what is said where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcad.testing import trees
from srcad.testing.reference import pairing
from srcad.testing.tracing.core import Unsupported, is_complex
from srcad.testing.tracing.handle import plain


class GradientMismatch(AssertionError):
    """A derivative that differs from an independent one."""


class NoOracle(RuntimeError):
    """No independent method could run the function, so nothing was checked."""


@dataclass(slots=True)
class CheckReport:
    """What `check_grads` compared with what."""

    compared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each derivative of the engine, as `jvp` or `vjp over vjp`: the methods it agrees with."""
    skipped: dict[str, str] = field(default_factory=dict)
    """For each method that could not run: why."""

    def __str__(self) -> str:
        lines = [f"{what}: agrees with {', '.join(by)}" for what, by in self.compared.items()]
        lines += [f"{method} was not compared: {why}" for method, why in self.skipped.items()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Reference:
    """A derivative by one method."""

    method: str
    leaves: list[Any]
    error: list[Any] | None = None
    """For each leaf the estimated error; None for a method that is exact to rounding."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The derivative of an engine beside the references for it."""

    what: str
    leaves: list[Any]
    paths: Sequence[str]
    references: Sequence[Reference]
    size: float = 0.0
    """How large the terms were that were added up; the sum may be smaller."""

    def check(self, rtol: float) -> None:
        """Raise GradientMismatch at the first entry that differs from any of the references."""
        for k in range(len(self.leaves)):
            for reference in self.references:
                index = self._differing(k, reference, rtol)
                if index is not None:
                    raise GradientMismatch(self._message(k, index))

    def _differing(self, k: int, reference: Reference, rtol: float) -> tuple[int, ...] | None:
        a, b = np.asarray(self.leaves[k]), np.asarray(plain(reference.leaves[k]))
        if a.shape != b.shape:
            raise GradientMismatch(
                f"{self.what}: shape {a.shape} in {self.paths[k] or 'the output'}, "
                f"{reference.method} has {b.shape}"
            )
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(a), np.abs(b))
            scale = max(float(np.max(size[np.isfinite(size)], initial=0.0)), self.size)
            allowed: Any = rtol * scale + 1e-30
            if reference.error is not None:
                allowed = allowed + 10 * np.asarray(reference.error[k]) + 1e-9 * scale
            same = (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
            if reference.error is not None:
                same = same | np.isinf(np.asarray(reference.error[k]))  # nothing is known there
        if np.all(same):
            return None
        return tuple(int(i) for i in np.argwhere(~same)[0]) if np.ndim(same) else ()

    def _message(self, k: int, index: tuple[int, ...]) -> str:
        entry = f"[{', '.join(map(str, index))}]" if index else ""
        lines = [f"{self.what} differs in {self.paths[k] or 'the output'}{entry}:"]
        lines.append(f"    {'engine':>24}  {np.asarray(self.leaves[k])[index]!r}")
        for r in self.references:
            line = f"    {r.method:>24}  {np.asarray(plain(r.leaves[k]))[index]!r}"
            if r.error is not None:
                line += f"  (error about {float(np.asarray(r.error[k])[index]):.1e})"
            lines.append(line)
        return "\n".join(lines)


def paired(a: Sequence[Any], b: Sequence[Any]) -> tuple[float, float]:
    """The pairing of two lists of leaves, and the size of the terms it is the sum of."""
    value = sum(float(pairing(x, y)) for x, y in zip(a, b, strict=True))
    size = sum(
        float(np.sum(np.abs(np.asarray(x) * np.asarray(y)))) for x, y in zip(a, b, strict=True)
    )
    return value, size


def same_structure(what: str, mine: Any, like: Any, path: str = "") -> None:
    """Raise GradientMismatch unless structure, shapes and kinds are those of `like`."""
    parts = trees.children(like)
    if parts is not None:
        own = trees.children(mine)
        if own is None or len(own) != len(parts):
            raise GradientMismatch(f"{what}{path}: {mine!r} is not structured like {like!r}")
        for (piece, part), (_, other) in zip(parts, own, strict=True):
            same_structure(what, other, part, path + piece)
        return
    if not trees.is_leaf(like):
        return
    if mine is None or np.shape(mine) != np.shape(like):
        shape = "is None" if mine is None else f"has shape {np.shape(mine)}"
        raise GradientMismatch(f"{what}{path}: {shape}, its place has shape {np.shape(like)}")
    if np.asarray(mine).dtype.kind not in "fc":
        raise GradientMismatch(f"{what}{path}: {mine!r} is no float")
    if is_complex(mine) and not is_complex(like):
        raise GradientMismatch(f"{what}{path}: {mine!r} is complex where its place is real")


def refusal(error: BaseException | None) -> Unsupported | None:
    """The Unsupported behind an exception: NumPy puts others in front of it."""
    while error is not None:
        if isinstance(error, Unsupported):
            return error
        error = error.__cause__ or error.__context__
    return None


def is_single(x: Any) -> bool:
    """Whether x has single precision."""
    return np.asarray(x).dtype in (np.dtype(np.float32), np.dtype(np.complex64))
