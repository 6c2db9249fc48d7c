"""Lists of the elements of an array, of which only elements are asked: copies of the array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from srcad import runtime
from srcad.analysis.affine import Affine
from srcad.backends.loops.elements import DTYPES
from srcad.backends.loops.items import (
    Item,
    Let,
    same,
)
from srcad.backends.loops.views import Along, Picture
from srcad.ir import Apply, Value
from srcad.ir.types import Array

if TYPE_CHECKING:
    from srcad.backends.loops.lower import Lowering


def listed(low: Lowering, op: Apply) -> list[Item] | None:
    """A list of the elements of an array, of which only elements are asked, is a copy."""
    source = op.args[0]
    if not isinstance(source, Value) or not isinstance(source.type, Array):
        return None
    sizes = low.shapes.of(source)
    if not sizes or source.type.dtype not in DTYPES or not low.is_readable(source):
        return None
    if not _only_read(low, op.result, len(sizes)):
        return None
    copied = Value("", source.type)
    items = low.made(copied, sizes, source.type.dtype, None, (source,), source.type.dtype)
    low.lists[op.result] = low.places[copied]
    return items


def _only_read(low: Lowering, value: Value, rank: int) -> bool:
    """Whether only items of a list, or of lists in it, are used."""
    survey = low.memory.survey
    for block, position in survey.uses[value]:
        if position >= len(block.ops):
            return False
        user = block.ops[position]
        if not isinstance(user, Apply):
            return False
        if user.callee is runtime.copied:
            if not _only_read(low, user.result, rank):
                return False
        elif user.callee is operator.getitem and user.args[0] is value:
            if low.shapes.integer(user.args[1]) is None:
                return False
            if rank > 1 and not _only_read(low, user.result, rank - 1):
                return False
        else:
            return False
    return True


def list_item(low: Lowering, op: Apply) -> list[Item] | None:
    assert isinstance(op.args[0], Value)
    buffer, picture = low.lists[op.args[0]]
    low.aliases.touch(buffer)
    if op.callee is runtime.copied:
        low.lists[op.result] = (buffer, picture)
        return []
    place = low.shapes.integer(op.args[1])
    assert place is not None
    if place.is_known and place.const < 0:
        place = picture.sizes[0] + place.const
    first = tuple(
        Along(None, 0, place) if k == 0 else Along(k - 1, 1, Affine(0))
        for k in range(len(picture.sizes))
    )
    found = picture.then(Picture(picture.sizes[1:], first))
    if found.sizes:
        low.lists[op.result] = (buffer, found)
        return []
    items: list[Item] = []
    value = low.load(buffer, low.index(found, ()), items)
    return [*items, Let(op.result, same, (value,))]
