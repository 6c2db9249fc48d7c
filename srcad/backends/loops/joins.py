"""Arrays that are joined are written into one, each where it belongs; scans keep a running sum.

y = concatenate((a, b))          |  for i in range(n): y[i] = a[i]
                                 |  for i in range(m): y[i + n] = b[i]
y = cumsum(x)                    |  for i in range(n): s += x[i]; y[i] = s
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from srcad.analysis.affine import Affine
from srcad.backends.loops.elements import Elements
from srcad.backends.loops.items import Alloc, Buffer, Index, Item, Store
from srcad.backends.loops.kinds import joint, scan, scanned_axis
from srcad.ir import Apply, Literal, Value
from srcad.ir.core import make_list, make_tuple
from srcad.ir.types import Array

if TYPE_CHECKING:
    from srcad.backends.loops.lower import Lowering


def joined(low: Lowering, op: Apply) -> list[Item] | None:
    kind = op.result.type
    made = low.shapes.definition(op.args[0])
    sizes = low.sizes_of(op.result)
    if made is None or made.callee not in (make_tuple, make_list) or sizes is None:
        return None
    assert isinstance(kind, Array)
    if kind.dtype not in ("float64", "int64", "bool") or not all(map(low.is_readable, made.args)):
        return None
    shapes = [low.shapes.of(a) for a in made.args]
    if any(s is None for s in shapes) or shapes[0] is None:
        return None
    found = joint(op, len(shapes[0]))
    if found is None:
        return None
    axis, is_new = found
    buffer = low.new(op.result, sizes, kind.dtype)
    items: list[Item] = [Alloc(buffer)]
    start = Affine(0)
    for part, shape in zip(made.args, shapes, strict=True):
        assert shape is not None

        def leaf(at: Index, part: object = part, start: Affine = start) -> list[Item]:
            read: list[Item] = []
            elements = Elements()
            assert isinstance(part, (Value, Literal))
            value = elements.cast(low.read(part, at, read), buffer.dtype)
            place = start if is_new else at[axis] + start
            index = (*at[:axis], place, *at[axis + (not is_new) :])
            return [*read, *elements.lets, Store(buffer, index, value)]

        items += low.nest(shape, leaf)
        start += Affine(1) if is_new else shape[axis]
    return [*items, low.defined(op.result, buffer)]


def scanned(low: Lowering, op: Apply) -> list[Item] | None:
    source = op.args[0]
    sizes = low.sizes_of(op.result)
    combine = scan(op.callee)
    if not isinstance(source, Value) or sizes is None or combine is None:
        return None
    dtype = getattr(op.result.type, "dtype", None)
    axis = scanned_axis(op, len(sizes))
    if axis is None or dtype not in ("float64", "int64") or not low.is_readable(source):
        return None
    if getattr(source.type, "dtype", None) != dtype:
        return None
    buffer = low.new(op.result, sizes, dtype)

    def next_one(old: Value, at: Index, made: list[Item]) -> Value:
        elements = Elements()
        value = elements.let(combine, dtype, old, low.read(source, at, made))
        made += elements.lets
        return value

    if axis == len(sizes) - 1:
        neutral = 0 if combine is operator.add else 1
        start = Literal(neutral if dtype == "int64" else float(neutral))

        def row(outer: Index) -> list[Item]:
            cell = Buffer(dtype, (), 0)

            def step(at: Index) -> list[Item]:
                made: list[Item] = []
                value = next_one(low.load(cell, (), made), at, made)
                return [*made, Store(cell, (), value), Store(buffer, at, value)]

            return [Alloc(cell), Store(cell, (), start), *low.nest(sizes[-1:], step, outer)]

        return [Alloc(buffer), *low.nest(sizes[:-1], row), low.defined(op.result, buffer)]

    def placed(at: Index, place: Affine) -> Index:
        return (*at[:axis], place, *at[axis:])

    def first(at: Index) -> list[Item]:
        made: list[Item] = []
        index = placed(at, Affine(0))
        value = low.read(source, index, made)
        return [*made, Store(buffer, index, value)]

    def following(at: Index) -> list[Item]:
        made: list[Item] = []
        index = (*at[:axis], at[axis] + 1, *at[axis + 1 :])
        value = next_one(low.load(buffer, at, made), index, made)
        return [*made, Store(buffer, index, value)]

    rest = (*sizes[:axis], *sizes[axis + 1 :])
    later = (*sizes[:axis], sizes[axis] - 1, *sizes[axis + 1 :])
    items = [*low.nest(rest, first), *low.nest(later, following)]
    return [Alloc(buffer), *items, low.defined(op.result, buffer)]
