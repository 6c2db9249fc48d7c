"""Which operations reduce what, and which join or write arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Literal

REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{f: f for f in (np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all)},
    np.amax: np.max,
    np.amin: np.min,
    np.ndarray.sum: np.sum,
    np.ndarray.mean: np.mean,
    np.ndarray.max: np.max,
    np.ndarray.min: np.min,
    np.ndarray.prod: np.prod,
}
"""What reduces arrays along axes, under one name."""
OF_SOME = {np.max, np.min, np.mean}
"""Reductions that need an element."""

SCANS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.cumsum: operator.add,
    np.ndarray.cumsum: operator.add,
    np.cumprod: operator.mul,
    np.ndarray.cumprod: operator.mul,
}
"""What has for each element the sum, or the product, of those up to it."""
JOINS = (np.concatenate, np.stack, np.hstack, np.vstack)

WRITES = (operator.setitem, operator.iadd, operator.isub)
LIKE = {np.copy, np.ndarray.copy, np.zeros_like, np.ones_like, np.empty_like, runtime.own}
"""What makes an array of the size of another."""


def reduction(callee: Callable[..., Any]) -> Callable[..., Any] | None:
    """The reduction that a call is, under its one name."""
    try:
        return REDUCTIONS.get(callee)
    except TypeError:
        return None


def scan(callee: Callable[..., Any]) -> Callable[..., Any] | None:
    """What a scan combines elements with."""
    try:
        return SCANS.get(callee)
    except TypeError:
        return None


def scanned_axis(op: Apply, rank: int) -> int | None:
    """The axis that a scan goes along; None if not known."""
    given = dict(op.keywords)
    if len(op.args) > 2 or not set(given) <= {"axis"}:
        return None
    axis = op.args[1] if len(op.args) == 2 else given.get("axis", Literal(None))
    if not isinstance(axis, Literal):
        return None
    if axis.value is None:
        return 0 if rank == 1 else None
    is_axis = isinstance(axis.value, int) and -rank <= axis.value < rank
    return axis.value % rank if is_axis else None


def joint(op: Apply, rank: int) -> tuple[int, bool] | None:
    """The axis that arrays of a rank are joined along, and whether it is a new one."""
    given = dict(op.keywords)
    if not set(given) <= {"axis"}:
        return None
    if op.callee is np.hstack:
        return (0 if rank == 1 else 1, False) if rank else None
    if op.callee is np.vstack:
        return (0, rank == 1) if rank else None
    axis = op.args[1] if len(op.args) == 2 else given.get("axis", Literal(0))
    is_new = op.callee is np.stack
    rank += is_new
    if not isinstance(axis, Literal) or not isinstance(axis.value, int):
        return None
    return (axis.value % rank, is_new) if -rank <= axis.value < rank else None


def reduced_axes(op: Apply, rank: int) -> tuple[frozenset[int], bool] | None:
    """The axes that a reduction goes along, and whether it keeps them; None if not known."""
    given = dict(op.keywords)
    if len(op.args) > 2 or not set(given) <= {"axis", "keepdims"}:
        return None
    axis = op.args[1] if len(op.args) == 2 else given.get("axis", Literal(None))
    keep = given.get("keepdims", Literal(False))
    if not isinstance(axis, Literal) or not isinstance(keep, Literal):
        return None
    if axis.value is None:
        return frozenset(range(rank)), bool(keep.value)
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    if not all(isinstance(k, int) and -rank <= k < rank for k in axes):
        return None
    return frozenset(k % rank for k in axes), bool(keep.value)
