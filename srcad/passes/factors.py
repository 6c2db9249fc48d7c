"""Numbers that a matrix is multiplied by go out of its products with vectors.

    t = mul(c, a)                |    p = matmul(a, x)
    y = matmul(t, x)             |    y = mul(c, p)

`c * A @ x` multiplies all of a matrix by a number; the derivative would do so again, and sum up
products of all elements for the number.  Rounding differs: this is for compiled code.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from srcad.ir import Apply, Atom, Block, Op, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, rank
from srcad.ir.walk import map_blocks

_PRODUCTS = (operator.matmul, np.matmul, np.dot, np.ndarray.dot)


def factors_out_of_products(block: Block) -> Block:
    """The block with the products of vectors multiplied, not the matrices."""
    scaled: dict[Atom, tuple[Atom, Atom]] = {}
    """Products of a number and a matrix, as long as the matrix is what it was."""
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, Apply):
            ops += _product(op, scaled)
            factors = _factors(op) if op.callee is operator.mul else None
            if factors is not None:
                scaled[op.result] = factors
            continue
        scaled.clear()  # arrays may be written
        ops.append(map_blocks(op, factors_out_of_products))
    return replace(block, ops=tuple(ops))


def _product(op: Apply, scaled: dict[Atom, tuple[Atom, Atom]]) -> Iterator[Op]:
    """A product of a matrix and a vector, and then that of the result and the number."""
    place = next((k for k, a in enumerate(op.args) if a in scaled), None)
    if op.callee not in _PRODUCTS or op.keywords or place is None or len(op.args) != 2:
        yield op
        return
    other, kind = atom_type(op.args[1 - place]), op.result.type
    if not _is_float64(other) or rank(other) != 1 or not _is_float64(kind):
        yield op
        return
    number, matrix = scaled[op.args[place]]
    args = (matrix, op.args[1]) if place == 0 else (op.args[0], matrix)
    product = Value("", kind)
    yield replace(op, args=args, result=product)
    yield Apply(operator.mul, (number, product), (), op.result, op.loc)


def _factors(op: Apply) -> tuple[Atom, Atom] | None:
    """The number and the matrix of a product."""
    for number, matrix in (op.args, op.args[::-1]):
        kind, whole = atom_type(number), atom_type(matrix)
        is_number = isinstance(kind, Number) and kind.kind in ("float", "int")
        if is_number and _is_float64(whole) and rank(whole) == 2 and op.result.type == whole:
            return number, matrix
    return None


def _is_float64(kind: object) -> bool:
    return isinstance(kind, Array) and kind.dtype == "float64"
