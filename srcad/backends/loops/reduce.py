"""Reductions as loops over what is reduced: sums side by side where memory is read in order."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad.analysis.affine import ONE, Affine, Sizes
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
from srcad.ir.types import INT, Array, Type

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
    assert have is not None
    assert isinstance(source.type, Array)
    dtype = _dtype_of(result.type, source.type, callee)
    if dtype is None:
        return None
    operation, start = _COMBINE[callee]
    wide = "float64" if dtype == "float32" and operation is operator.add else dtype
    kept = [k for k in range(len(have)) if k not in axes]
    inner = [k for k in range(len(have)) if k in axes]
    items: list[Item] = []
    count = _count(low, [have[k] for k in inner], items) if callee is np.mean else None
    reduction = _Reduction(
        low, result, source, have, axes, sizes, present, dtype, wide, operation, start, count
    )
    is_array = isinstance(result.type, Array)
    if kept and inner and min(inner) < max(kept):
        return [*items, *reduction.side_by_side()] if is_array else None
    if is_array and not sizes:
        return None
    return [*items, *reduction.one_by_one(kept, inner)]


def _dtype_of(result: Type, source: Array, callee: Callable[..., Any]) -> str | None:
    """The dtype of a reduction; None for those that are not written out."""
    if callee not in _COMBINE:
        return None
    dtype = getattr(result, "dtype", None) or "float64"
    if source.dtype in ("float64", "float32") and dtype == source.dtype:
        return str(dtype)
    counts = callee is np.sum and source.dtype in ("bool", "int64")
    return "int64" if counts and (not isinstance(result, Array) or dtype == "int64") else None


def _count(low: Lowering, sizes: list[Affine], items: list[Item]) -> Atom:
    """How many elements there are along axes of these sizes."""
    count: Atom = ONE_ATOM
    for measured in sizes:
        size = Value("", INT)
        items.append(Measure(size, measured))
        count = size if count is ONE_ATOM else low.times(count, size, items)
    return count


@dataclass(frozen=True, slots=True, eq=False)
class _Reduction:
    """A reduction that is written out as loops."""

    low: Lowering
    result: Value
    source: Value
    have: Sizes
    """The sizes of the source."""
    axes: frozenset[int]
    sizes: Sizes
    """The sizes of the result."""
    present: tuple[int, ...]
    """The axes of the source that the result has."""
    dtype: str
    wide: str
    """In what is added up: single precision loses too much."""
    operation: Callable[..., Any]
    start: float
    count: Atom | None
    """By how many a mean is divided."""

    def side_by_side(self) -> list[Item]:
        """All elements of the result at once, in the order of memory: NumPy adds rows too."""
        low = self.low
        rows = low.new(self.result, self.sizes, self.dtype)
        start = self._start(self.dtype)
        items: list[Item] = [Alloc(rows)]
        items += low.nest(self.sizes, lambda at: [Store(rows, at, start)])
        items += low.nest(self.have, lambda at: self._combined(rows, self._at_result(at), at))
        if self.count is not None:

            def divide(at: Index) -> list[Item]:
                made: list[Item] = []
                more, value = self._finished(low.load(rows, at, made), self.dtype)
                return [*made, *more, Store(rows, at, value)]

            items += low.nest(self.sizes, divide)
        return [*items, low.defined(self.result, rows)]

    def one_by_one(self, kept: list[int], inner: list[int]) -> list[Item]:
        """Each element of the result in a cell of its own."""
        low, have = self.low, self.have
        items: list[Item] = []
        target = None
        if isinstance(self.result.type, Array):
            target = low.new(self.result, self.sizes, self.dtype)
            items.append(Alloc(target))

        def row(outer: Index) -> list[Item]:
            cell = Buffer(self.wide, (), 0)
            made: list[Item] = [Alloc(cell), Store(cell, (), self._start(self.wide))]
            full = [Affine(0)] * len(have)
            for k, place in zip(kept, outer, strict=True):
                full[k] = place
            made += low.nest(
                [have[k] for k in inner], lambda at: self._combined(cell, (), at), outer
            )
            total: Value = low.load(cell, (), made)
            more, value = self._finished(total, self.dtype)
            made += more
            if target is None:
                made.append(Let(self.result, same, (value,)))
            else:
                made.append(Store(target, self._at_result(tuple(full)), value))
            return made

        items += low.nest([have[k] for k in kept], row)
        if target is not None:
            items.append(low.defined(self.result, target))
        return items

    def _start(self, dtype: str) -> Literal:
        return Literal(np.dtype(dtype).type(self.start) if dtype != "float64" else self.start)

    def _at_result(self, at: Index) -> Index:
        """Where the result has what stands at an index of the source."""
        return tuple(Affine(0) if k in self.axes else at[k] for k in self.present)

    def _combined(self, buffer: Buffer, index: Index, at: Index) -> list[Item]:
        made: list[Item] = []
        elements = Elements()
        value = elements.cast(self.low.read(self.source, at, made), buffer.dtype)
        old = self.low.load(buffer, index, made)
        value = elements.let(self.operation, buffer.dtype, old, value)
        return [*made, *elements.lets, Store(buffer, index, value)]

    def _finished(self, value: Atom, into: str) -> tuple[list[Item], Atom]:
        elements = Elements()
        if self.count is not None:
            value = elements.let(np.divide, self.wide, value, self.count)
        value = elements.cast(value, into)
        return list(elements.lets), value
