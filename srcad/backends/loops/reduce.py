"""Reductions as loops over what is reduced: sums side by side where memory is read in order."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad.backends.affine import ONE, Affine, Sizes
from srcad.backends.loops.elements import Elements
from srcad.backends.loops.items import (
    Alloc,
    Buffer,
    Index,
    Item,
    Let,
    Measure,
    Store,
    same,
)
from srcad.backends.loops.kinds import reduced_axes, reduction
from srcad.ir import Apply, Atom, Literal, Value
from srcad.ir.types import INT, Array

if TYPE_CHECKING:
    from srcad.backends.loops.lower import Lowering

ONE_ATOM = Literal(1)
_COMBINE: dict[Any, tuple[Callable[..., Any], float]] = {
    np.sum: (operator.add, 0.0),
    np.mean: (operator.add, 0.0),
    np.prod: (operator.mul, 1.0),
    np.max: (np.maximum, -np.inf),
    np.min: (np.minimum, np.inf),
}


def unbroadcast(low: Lowering, op: Apply) -> list[Item] | None:
    source = op.args[0]
    if not isinstance(source, Value):
        return None
    have, wanted = low.shapes.of(source), low.shapes.of(op.result)
    if not isinstance(source.type, Array) or have is None or wanted is None:
        return None
    if have != wanted and low.sizes_of(op.result) is None:
        return None  # it is not known what has been required
    added = len(have) - len(wanted)
    if added < 0:
        return None
    axes = set(range(added))
    for k, size in enumerate(wanted):
        if size != have[k + added]:
            if have[k + added] == ONE:
                return None
            if size == ONE:
                axes.add(k + added)  # any other size is the same: that has been required
    if not axes:
        source = low.alias.get(source, source)
        low.alias[op.result] = source
        return []
    if not have or not isinstance(op.result.type, Array) or not low.is_readable(source):
        return None
    index = tuple(ONE if k in axes else size for k, size in enumerate(have) if k >= added)
    present = tuple(range(added, len(have)))
    return _sum(low, op.result, source, frozenset(axes), index, present, np.sum)


def reduced(low: Lowering, op: Apply) -> list[Item] | None:
    source = op.args[0]
    if not isinstance(source, Value) or not isinstance(source.type, Array):
        return None
    sizes = low.shapes.of(source)
    if not sizes or not low.is_readable(source):
        return None
    found = reduced_axes(op, len(sizes))
    if found is None:
        return None
    axes, keep = found
    present = tuple(k for k in range(len(sizes)) if keep or k not in axes)
    result = tuple(ONE if k in axes else sizes[k] for k in present)
    callee = reduction(op.callee)
    assert callee is not None
    return _sum(low, op.result, source, axes, result, present, callee)


def _sum(
    low: Lowering,
    result: Value,
    source: Value,
    axes: frozenset[int],
    sizes: Sizes,
    present: tuple[int, ...],
    callee: Callable[..., Any],
) -> list[Item] | None:
    """A reduction of the given axes of an array; ``present`` are those of the result."""
    have = low.shapes.of(source)
    kind = source.type
    assert have is not None
    assert isinstance(kind, Array)
    combine = _COMBINE.get(callee)
    dtype = getattr(result.type, "dtype", None) or "float64"
    if combine is None or kind.dtype not in ("float64", "float32") or dtype != kind.dtype:
        if not (callee is np.sum and kind.dtype in ("bool", "int64")) or combine is None:
            return None
        if isinstance(result.type, Array) and result.type.dtype != "int64":
            return None
        dtype = "int64"
    operation, start = combine
    wide = "float64" if dtype == "float32" and operation is operator.add else dtype
    first = Literal(np.dtype(wide).type(start) if wide != "float64" else start)
    kept = [k for k in range(len(have)) if k not in axes]
    inner = [k for k in range(len(have)) if k in axes]
    mean = callee is np.mean
    items: list[Item] = []
    count: Atom = ONE_ATOM
    if mean:
        for k in inner:
            size = Value("", INT)
            items.append(Measure(size, have[k]))
            count = size if count is ONE_ATOM else low.times(count, size, items)

    def at_result(at: Index) -> Index:
        return tuple(Affine(0) if k in axes else at[k] for k in present)

    def combined(buffer: Buffer, index: Index, at: Index) -> list[Item]:
        made: list[Item] = []
        elements = Elements()
        value = elements.cast(low.read(source, at, made), buffer.dtype)
        old = low.load(buffer, index, made)
        value = elements.let(operation, buffer.dtype, old, value)
        return [*made, *elements.lets, Store(buffer, index, value)]

    def finished(value: Atom, into: str) -> tuple[list[Item], Atom]:
        elements = Elements()
        if mean:
            value = elements.let(np.divide, wide, value, count)
        value = elements.cast(value, into)
        return list(elements.lets), value

    is_array = isinstance(result.type, Array)
    if kept and inner and min(inner) < max(kept):
        # sums side by side: NumPy adds rows too
        if not is_array:
            return None
        rows = low.new(result, sizes, dtype)
        start_value = Literal(np.dtype(dtype).type(start) if dtype != "float64" else start)
        items.append(Alloc(rows))
        items += low.nest(sizes, lambda at: [Store(rows, at, start_value)])
        items += low.nest(have, lambda at: combined(rows, at_result(at), at))
        if mean:

            def divide(at: Index) -> list[Item]:
                made: list[Item] = []
                more, value = finished(low.load(rows, at, made), dtype)
                return [*made, *more, Store(rows, at, value)]

            items += low.nest(sizes, divide)
        return [*items, low.defined(result, rows)]
    target = low.new(result, sizes, dtype) if is_array else None
    if target is not None:
        if not sizes:
            return None
        items.append(Alloc(target))

    def row(outer: Index) -> list[Item]:
        cell = Buffer(wide, (), 0)
        made: list[Item] = [Alloc(cell), Store(cell, (), first)]
        full = [Affine(0)] * len(have)
        for k, place in zip(kept, outer, strict=True):
            full[k] = place
        made += low.nest([have[k] for k in inner], lambda at: combined(cell, (), at), outer)
        total: Value = low.load(cell, (), made)
        more, value = finished(total, dtype)
        made += more
        if target is None:
            made.append(Let(result, same, (value,)))
        else:
            made.append(Store(target, at_result(tuple(full)), value))
        return made

    items += low.nest([have[k] for k in kept], row)
    if target is not None:
        items.append(low.defined(result, target))
    return items
