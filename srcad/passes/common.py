"""Compute once what a function computes twice of the same numbers.

    t = mul(2, j)                |    t = mul(2, j)
    x = getitem(q, t)            |    x = getitem(q, t)
    u = mul(2, j)                |
    y = getitem(q, u)            |    z = mul(x, x)
    z = mul(x, y)                |

Numbers, and indices made of them; and arrays that nothing but arithmetic reads: of others, whether
two are one can matter.  A read of an item is of one version of its container, so what is written in
between makes another.  Names of the user's stay: a value that has one is not replaced.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from srcad.ir import Apply, Atom, Block, Op, Value
from srcad.ir.core import hashable, literal_key, make_tuple
from srcad.ir.types import Array, ListType, Number, NumPyScalar, Opaque, TupleType, Type
from srcad.ir.walk import all_ops, blocks, map_atoms, map_blocks, renaming, values_read

_OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.neg, operator.pos, abs, operator.getitem, make_tuple, slice,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
}  # fmt: skip
_ARITHMETIC = _OPERATORS - {operator.getitem, make_tuple, slice} | {
    operator.matmul, np.sum, np.mean, np.max, np.min, np.var, np.std, np.prod, np.dot, np.where,
    np.ndarray.sum, np.ndarray.mean, np.ndarray.max, np.ndarray.min, np.ndarray.var, np.ndarray.std,
    np.linalg.norm, np.linalg.inv, np.linalg.det, np.linalg.solve, np.linalg.cholesky,
}  # fmt: skip
VIEWS = {operator.getitem, np.ndarray.T, np.transpose}
"""What may share the memory of an array."""
_PLAIN_NAMES = ("axis", "keepdims", "dtype")


def without_repeats(block: Block) -> Block:
    """The block with each such value computed once, in the blocks in it too."""
    yields = frozenset(a for a in block.yields if isinstance(a, Value))
    return _block(block, {}, yields, seen_whole(block), False)


def without_recomputed(block: Block) -> Block:
    """The body of a loop that has got its reverse: there is nothing to compute again."""
    return _block(block, {}, frozenset(), seen_whole(block), True)


def seen_whole(block: Block) -> set[Value]:
    """What may be written, held, handed on or compared: what something reads but arithmetic."""
    seen = {a for a in block.yields if isinstance(a, Value)}
    for op in reversed([*all_ops(block)]):
        if isinstance(op, Apply) and is_arithmetic(op):
            continue
        if isinstance(op, Apply) and op.callee in VIEWS and op.result not in seen:
            continue  # a view, if it is one, that only arithmetic reads
        seen.update(values_read(op))
        seen.update(a for inner in blocks(op) for a in inner.yields if isinstance(a, Value))
    return seen


def is_arithmetic(op: Apply) -> bool:
    """Whether a call makes numbers of numbers, in memory of its own."""
    if op.callee in _ARITHMETIC:
        return True
    return isinstance(op.callee, np.ufunc) and all(name in _PLAIN_NAMES for name, _ in op.keywords)


def _block(
    block: Block,
    around: dict[object, Value],
    kept: frozenset[Value],
    seen: set[Value],
    derived: bool,
) -> Block:
    """``derived`` leaves out what a reverse sweep repeats, under the user's name too."""
    known = dict(around)
    names: dict[Value, Atom] = {}

    read = renaming(names)

    ops: list[Op] = []
    for old in block.ops:
        op = map_atoms(old, read, lambda v: v) if names else old
        if (
            isinstance(op, Apply)
            and (_is_plain(op) or _is_array(op, seen))
            and hashable(key := _key(op))  # not if it takes an array that is a constant
        ):
            earlier = known.setdefault(key, op.result)
            free = not op.result.hint or (derived and op.loc is not None and op.loc.reverse > 0)
            if earlier is not op.result and free and op.result not in kept:
                names[op.result] = earlier
                continue
        ops.append(map_blocks(op, lambda b: _block(b, known, frozenset(), seen, derived)))
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


def _is_array(op: Apply, seen: set[Value]) -> bool:
    """Whether a call makes an array, or a view of one, that only arithmetic reads."""
    if not isinstance(op.result.type, Array) or op.result in seen:
        return False
    return op.callee is operator.getitem or is_arithmetic(op)


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
    named = ((k, a if isinstance(a, Value) else literal_key(a.value)) for k, a in op.keywords)
    return op.callee, parts, tuple(named)
