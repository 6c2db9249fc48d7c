"""Small matrices: arrays of given numbers, and products that are written out."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from srcad.analysis.affine import Affine, Sizes
from srcad.backends.loops.elements import Elements
from srcad.backends.loops.items import (
    Alloc,
    Buffer,
    Index,
    Item,
    Let,
    Store,
    same,
)
from srcad.ir import Apply, Atom, Literal
from srcad.ir.core import make_list
from srcad.ir.infer import atom_type
from srcad.ir.types import Array

if TYPE_CHECKING:
    from srcad.backends.loops.lower import Lowering

SMALL = 64
"""Products of matrices with so few multiplications are loops; larger ones are left to BLAS."""


def display(low: Lowering, op: Apply) -> list[Item] | None:
    kind = op.result.type
    assert isinstance(kind, Array)
    sizes = low.sizes_of(op.result)
    if sizes is None or op.keywords or kind.dtype != "float64":
        return None
    parts = _parts(low, op.args[0], sizes)
    if parts is None:
        return None
    buffer = low.new(op.result, sizes, kind.dtype)
    elements = Elements()
    stores = [Store(buffer, at, elements.cast(v, kind.dtype)) for at, v in parts]
    return [Alloc(buffer), *elements.lets, *stores, low.defined(op.result, buffer)]


def _parts(low: Lowering, atom: Atom, sizes: Sizes) -> list[tuple[Index, Atom]] | None:
    """The numbers in nested lists, with their indices."""
    if not sizes:
        readable = low.is_readable(atom) and not isinstance(atom_type(atom), Array)
        return [((), atom)] if readable else None
    made = low.shapes.definition(atom)
    if made is None or made.callee is not make_list or not sizes[0].is_known:
        return None
    if len(made.args) != sizes[0].const:
        return None
    found: list[tuple[Index, Atom]] = []
    for k, part in enumerate(made.args):
        inner = _parts(low, part, sizes[1:])
        if inner is None:
            return None
        found += [((Affine(k), *at), value) for at, value in inner]
    return found


def inner(low: Lowering, op: Apply) -> list[Item] | None:
    """The product of two vectors, as a sum."""
    left, right = (low.shapes.of(a) for a in op.args)
    if left is None or right is None or len(left) != 1 or len(right) != 1 or op.keywords:
        return None
    kinds = [getattr(atom_type(a), "dtype", None) for a in op.args]
    if kinds != ["float64", "float64"] or not all(map(low.is_readable, op.args)):
        return None
    cell = Buffer("float64", (), 0)

    def leaf(at: Index) -> list[Item]:
        items: list[Item] = []
        elements = Elements()
        x, y = (low.read(a, at, items) for a in op.args)
        part = elements.let(operator.mul, "float64", x, y)
        total = elements.let(operator.add, "float64", low.load(cell, (), items), part)
        return [*items, *elements.lets, Store(cell, (), total)]

    made: list[Item] = [Alloc(cell), Store(cell, (), Literal(0.0)), *low.nest(left, leaf)]
    found = low.load(cell, (), made)
    return [*made, Let(op.result, same, (found,))]


def product(low: Lowering, op: Apply) -> list[Item] | None:
    kind = op.result.type
    assert isinstance(kind, Array)
    sizes = low.sizes_of(op.result)
    if sizes is None or op.keywords or not all(map(low.is_readable, op.args)):
        return None
    left, right = (low.shapes.of(a) for a in op.args)
    kinds = [atom_type(a) for a in op.args]
    if not left or not right or any(getattr(k, "dtype", None) != "float64" for k in kinds):
        return None
    between = left[-1] if left[-1].is_known else right[0]
    count = 1
    for size in (*sizes, between):
        count *= size.const if size.is_known else SMALL + 1
    if count > SMALL or between.const == 0:
        return None
    buffer = low.new(op.result, sizes, "float64")

    def leaf(at: Index) -> list[Item]:
        items: list[Item] = []
        elements = Elements()
        total: Atom | None = None
        for k in range(between.const):
            row = (*at[: len(left) - 1], Affine(k))
            column = (Affine(k), *at[len(left) - 1 :])
            x, y = low.read(op.args[0], row, items), low.read(op.args[1], column, items)
            part = elements.let(operator.mul, "float64", x, y)
            total = part if total is None else elements.let(operator.add, "float64", total, part)
        assert total is not None
        return [*items, *elements.lets, Store(buffer, at, total)]

    return [Alloc(buffer), *low.nest(sizes, leaf), low.defined(op.result, buffer)]
