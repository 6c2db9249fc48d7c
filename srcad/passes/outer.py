"""Sums of outer products are one product of matrices.

    t = mul(p[:, None], x)       |    u = array((p, q)); v = array((x, y))
    a = add(t, q[:, None] * y)   |    a = matmul(u.T, v)

Each outer product is written, and read again to be added; the product of matrices writes its
elements once.  It is no slower for three elements, and ten times as fast for a thousand.  The
adjoint of a matrix that several vectors are multiplied with is such a sum.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from srcad.ir import Accumulate, Apply, Atom, Block, Function, Literal, Loc, Op, Value
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, TupleType, dims_of, same_shape
from srcad.ir.walk import all_ops, map_blocks, read_counts

_COLUMN = (slice(None), None)
Factors = tuple[Value, Value]
"""Two vectors that a matrix is the outer product of."""


def outer_products_together(function: Function) -> Function:
    """The function with products of matrices for sums of outer products."""
    columns = columns_of(function)
    if not columns:
        return function
    return replace(function, body=_block(function.body, columns, read_counts(function.body)))


def columns_of(function: Function) -> dict[Value, Value]:
    """The matrices of one column that are made of vectors, and the vectors."""
    return {
        op.result: op.args[0]
        for op in all_ops(function.body)
        if isinstance(op, Apply) and _is_column(op) and isinstance(op.args[0], Value)
    }


def factors_of(op: Apply, columns: dict[Value, Value]) -> tuple[Factors, ...]:
    """The column and the row that a product multiplies; none if it is no outer product."""
    for column, row in (op.args, op.args[::-1]):
        if isinstance(column, Value) and column in columns and isinstance(row, Value):
            return ((columns[column], row),) if _is_vector(row) else ()
    return ()


def _block(block: Block, columns: dict[Value, Value], reads: dict[Value, int]) -> Block:
    known: dict[Atom, tuple[Factors, ...]] = {}
    """What sums up to a matrix that is made here, and read once."""
    ops: list[Op] = []
    for op in block.ops:
        match op:
            case Apply(callee=operator.mul, keywords=(), result=result):
                found = factors_of(op, columns)
            case Apply(callee=operator.add, args=args, keywords=(), result=result):
                found = _together(args, known)
            case Accumulate(target=target, index=None, term=term, version=result):
                found = _together((target, term), known)
            case Apply() | Accumulate():
                ops.append(op)
                continue
            case _:
                known.clear()  # vectors may be written
                ops.append(map_blocks(op, lambda b: _block(b, columns, reads)))
                continue
        if reads.get(result) == 1:
            known[result] = found
        if len(found) > 1 and op.loc is not None and op.loc.reverse:  # the user's own stay
            ops += _product(found, result, op.loc)
        else:
            ops.append(op)
    return Block(block.params, tuple(ops), block.yields)


def _together(
    terms: tuple[Atom, ...], known: dict[Atom, tuple[Factors, ...]]
) -> tuple[Factors, ...]:
    """The outer products in a sum; none if there is anything else, or not all of one shape."""
    parts = [known.get(a, ()) for a in terms]
    if not all(parts):
        return ()
    found = tuple(pair for part in parts for pair in part)
    (p, x), *others = found
    agree = all(same_shape(p.type, q.type) and same_shape(x.type, y.type) for q, y in others)
    return found if agree else ()


def _is_column(op: Apply) -> bool:
    """Whether a vector is made a matrix of one column."""
    if op.callee is not operator.getitem or not _is_vector(op.args[0]):
        return False
    index = op.args[1]
    return isinstance(index, Literal) and index.value == _COLUMN


def _is_vector(atom: Atom) -> bool:
    """Whether an atom is an array of doubles with one axis, longer than 1."""
    kind = atom_type(atom)
    if not isinstance(kind, Array) or kind.dtype != "float64" or len(kind.dims or ()) != 1:
        return False
    return (dims_of(kind) or (1,))[0] not in (None, 1)


def _product(pairs: tuple[Factors, ...], result: Value, loc: Loc | None) -> list[Op]:
    ops: list[Op] = []
    sides: list[Value] = []
    for vectors in zip(*pairs, strict=True):
        packed = Value("", TupleType(tuple(v.type for v in vectors)))
        (size,) = dims_of(vectors[0].type) or (None,)
        side = Value("", Array("float64", (len(vectors), size)))
        ops.append(Apply(make_tuple, vectors, (), packed, loc))
        ops.append(Apply(np.array, (packed,), (), side, loc))
        sides.append(side)
    left, right = sides
    assert isinstance(left.type, Array)
    turned = Value("", Array("float64", tuple(reversed(left.type.dims or ()))))
    ops.append(Apply(np.ndarray.T, (left,), (), turned, loc))
    ops.append(Apply(operator.matmul, (turned, right), (), result, loc))
    return ops
