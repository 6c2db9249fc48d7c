"""Compute once what a function computes twice of the same numbers.

    t = mul(2, j)                |    t = mul(2, j)
    x = getitem(q, t)            |    x = getitem(q, t)
    u = mul(2, j)                |
    y = getitem(q, u)            |    z = mul(x, x)
    z = mul(x, y)                |

Only numbers, and indices made of them: whether two arrays are one can matter.  A read of an item is
of one version of its container, so what is written in between makes another.  Names of the user's
stay: a value that has one is not replaced.
"""

from __future__ import annotations

import math
import operator

from srcad.ir import Apply, Atom, Block, Op, Value
from srcad.ir.core import literal_key, make_tuple
from srcad.ir.types import Array, ListType, Number, NumPyScalar, Opaque, TupleType, Type
from srcad.ir.walk import map_atoms, map_blocks

_OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.neg, operator.pos, abs, operator.getitem, make_tuple, slice,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
}  # fmt: skip


def without_repeats(block: Block) -> Block:
    """The block with each such value computed once, in the blocks in it too."""
    return _block(block, {}, frozenset(a for a in block.yields if isinstance(a, Value)), False)


def without_recomputed(block: Block) -> Block:
    """The body of a loop that has got its reverse: there is nothing to compute again."""
    return _block(block, {}, frozenset(), True)


def _block(
    block: Block, around: dict[object, Value], kept: frozenset[Value], derived: bool
) -> Block:
    """``derived`` leaves out what a reverse sweep repeats, under the user's name too."""
    known = dict(around)
    names: dict[Value, Atom] = {}

    def read(atom: Atom) -> Atom:
        return names.get(atom, atom) if isinstance(atom, Value) else atom

    ops: list[Op] = []
    for old in block.ops:
        op = map_atoms(old, read, lambda v: v) if names else old
        if isinstance(op, Apply) and _is_plain(op):
            key = _key(op)
            earlier = known.setdefault(key, op.result)
            free = not op.result.hint or (derived and op.loc is not None and op.loc.reverse > 0)
            if earlier is not op.result and free and op.result not in kept:
                names[op.result] = earlier
                continue
        ops.append(map_blocks(op, lambda b: _block(b, known, frozenset(), derived)))
    return Block(block.params, tuple(ops), tuple(map(read, block.yields)))


def _is_plain(op: Apply) -> bool:
    """Whether a call makes a number of numbers, or an index of them."""
    if op.keywords or not _is_number(op.result.type):
        return False
    if op.callee is operator.getitem:
        container, index = op.args
        holds = isinstance(container, Value) and isinstance(container.type, (Array, ListType))
        return holds and (not isinstance(index, Value) or _is_number(index.type))
    if op.callee in (make_tuple, slice):
        return all(not isinstance(a, Value) or _is_number(a.type) for a in op.args)
    if op.callee not in _OPERATORS and getattr(op.callee, "__module__", "") != math.__name__:
        return False
    return all(not isinstance(a, Value) or isinstance(a.type, _NUMBERS) for a in op.args)


_NUMBERS = (Number, NumPyScalar)


def _is_number(kind: Type) -> bool:
    match kind:
        case Number() | NumPyScalar() | Opaque(name="slice"):
            return True
        case TupleType(items=items, cls=cls):
            return cls is tuple and all(map(_is_index_item, items))
    return False


def _is_index_item(kind: Type) -> bool:
    return _is_number(kind) or (isinstance(kind, Opaque) and kind.name in ("NoneType", "None"))


def _key(op: Apply) -> object:
    parts = tuple(a if isinstance(a, Value) else literal_key(a.value) for a in op.args)
    return op.callee, parts
