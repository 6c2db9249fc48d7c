"""Products of stacks of matrices, as loops of products.

    y = matmul(a, b)     |  y = empty((n, rows, columns))
                         |  for i in range(n)
                         |      y[i] = matmul(a[i], b[i])

Numba has products of matrices.  One matrix with each of a stack is one product, of all rows
(``definitions.matmul``).
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from srcad.backends.numba.writing import (
    ZERO,
    Writer,
    nest,
    rewritten,
    size_of,
    sizes_together,
    tuple_of,
)
from srcad.ir import Apply, Atom, Block, Function, Literal, Op, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array
from srcad.ir.walk import map_blocks

_PRODUCTS = (operator.matmul, np.matmul, np.linalg.matmul)


def products_of_stacks(function: Function) -> Function:
    """The function with loops in place of products of stacks."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return rewritten(block, _op)


def _op(op: Op, writer: Writer) -> None:
    if isinstance(op, Apply) and op.callee in _PRODUCTS and _is_of_stacks(op):
        _write(op, writer)
    else:
        writer.ops.append(map_blocks(op, _block))


def _is_of_stacks(op: Apply) -> bool:
    kinds = [atom_type(a) for a in op.args]
    made = op.result.type
    if op.keywords or not isinstance(made, Array) or made.dims is None:
        return False
    ranks = [len(k.dims) if isinstance(k, Array) and k.dims is not None else 0 for k in kinds]
    if len(ranks) != 2 or min(ranks) < 2 or ranks[1] < 3:
        return False
    return all(getattr(k, "dtype", None) == made.dtype for k in kinds) and made.dtype in (
        "float64",
        "complex128",
    )


def _write(op: Apply, writer: Writer) -> None:
    kind = op.result.type
    assert isinstance(kind, Array)
    assert kind.dims is not None
    left, right = op.args
    stacks = [(atom_type(a).dims or ())[:-2] for a in op.args]  # type: ignore[attr-defined]  # arrays
    sizes, _ = sizes_together(op.args, stacks, op.loc, writer)
    shape = [
        *sizes,
        size_of(left, _rank(left) - 2, writer),
        size_of(right, _rank(right) - 1, writer),
    ]
    dtype = () if kind.dtype == "float64" else (Literal(np.dtype(kind.dtype).type),)
    made = tuple_of(shape, writer)
    start = writer.apply(np.empty, made, *dtype, kind=kind, hint=op.result.hint)
    one = Array(kind.dtype, kind.dims[-2:])

    def leaf(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
        matrices = [_matrix(a, at, inner) for a in op.args]
        made = inner.apply(operator.matmul, *matrices, kind=one, loc=op.loc)
        return inner.set_item(out, tuple_of(list(at), inner), made, op.loc)

    nest(sizes, start, leaf, op.result, op.loc, writer)


def _rank(array: Atom) -> int:
    kind = atom_type(array)
    assert isinstance(kind, Array)
    return len(kind.dims or ())


def _matrix(array: Atom, at: tuple[Atom, ...], writer: Writer) -> Atom:
    """The matrix of a stack that goes into one product."""
    kind = atom_type(array)
    assert isinstance(kind, Array)
    dims = kind.dims or ()
    own = at[len(at) - (len(dims) - 2) :] if len(dims) > 2 else ()
    places = [ZERO if size == 1 else k for size, k in zip(dims, own, strict=False)]
    one = Array(kind.dtype, dims[-2:])
    if places:
        array = writer.apply(operator.getitem, array, tuple_of(places, writer), kind=one)
    return writer.apply(np.ascontiguousarray, array, kind=one)
