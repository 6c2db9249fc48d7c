"""What one branch alone asks for is computed there.

    m = array(make_list(c, s))   |  if test
    if test                      |    m = array(make_list(c, s))
      y = matmul(x, m)           |    y = matmul(x, m)

Only numbers go into it, so it does not matter when it is computed; an array that lives in one
branch may never have to be made.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from srcad.ir import Apply, Atom, Block, Function, If, Op
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import ListType, Number, NumPyScalar, TupleType, Type
from srcad.ir.walk import free_values, map_blocks, values_read

_MOVED = (make_list, make_tuple, np.array, operator.neg, operator.mul, operator.add, operator.sub)


def sink(function: Function) -> Function:
    """The function with such operations in the branches."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    """Operations are looked at from the last one on: what has moved takes with it what it reads."""
    later: list[Op] = []
    for op in reversed(block.ops):
        place = _place(op, later, block) if isinstance(op, Apply) else None
        if place is None or not isinstance(op, Apply):
            later.insert(0, op)
        else:
            later[place] = _with(later[place], op)
    return replace(block, ops=tuple(map_blocks(op, _block) for op in later))


def _place(op: Apply, later: list[Op], block: Block) -> int | None:
    """Where the branch is that alone reads the result of an operation that may move."""
    if op.callee not in _MOVED or op.keywords or not all(map(_of_numbers, op.args)):
        return None
    if op.result in block.yields:
        return None
    readers = [k for k, other in enumerate(later) if op.result in values_read(other)]
    if len(readers) != 1:
        return None
    reader = later[readers[0]]
    if not isinstance(reader, If) or reader.test is op.result:
        return None
    sides = [op.result in free_values(b) for b in (reader.then, reader.orelse)]
    return readers[0] if sum(sides) == 1 else None


def _with(branch: Op, op: Apply) -> Op:
    assert isinstance(branch, If)
    if op.result in free_values(branch.then):
        return replace(branch, then=replace(branch.then, ops=(op, *branch.then.ops)))
    return replace(branch, orelse=replace(branch.orelse, ops=(op, *branch.orelse.ops)))


def _of_numbers(atom: Atom) -> bool:
    return _is_of_numbers(atom_type(atom))


def _is_of_numbers(kind: Type) -> bool:
    match kind:
        case Number() | NumPyScalar():
            return True
        case TupleType(items=items):
            return all(map(_is_of_numbers, items))
        case ListType(item=item):
            return _is_of_numbers(item)
    return False
