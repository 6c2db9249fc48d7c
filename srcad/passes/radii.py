"""Write out what was one operation as long as derivatives were taken of it.

    r = off_zero(n: float)      |    t = n == 0;  r = 1 if t else n
    r = off_zero(n: f8[k])      |    t = n == 0;  r = where(t, 1, n)
    r = off_zero(n: any)        |    r = off_zero(n)
    s = modulus_squared(z)      |    x = real(z);  y = imag(z);  s = x * x + y * y

The rules say of it what they could not of its parts: that a direction has no derivative at the
origin, and that the square of a modulus has a short one.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Block, Function, Literal, Op, Value
from srcad.ir.core import select
from srcad.ir.infer import result_type
from srcad.ir.types import Array, Number, NumPyScalar
from srcad.ir.walk import map_blocks


def write_out_radii(function: Function) -> Function:
    """The function in terms of NumPy and Python."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, Apply) and op.callee is runtime.off_zero:
            ops.extend(_divisor(op))
        elif isinstance(op, Apply) and op.callee is runtime.modulus_squared:
            ops.extend(_modulus_squared(op))
        else:
            ops.append(map_blocks(op, _block))
    return Block(block.params, tuple(ops), block.yields)


def _divisor(op: Apply) -> list[Op]:
    (radius,) = op.args
    if not isinstance(op.result.type, (Array, Number, NumPyScalar)):
        return [op]
    choose = np.where if isinstance(op.result.type, Array) else select
    test = _call(op, operator.eq, radius, Literal(0))
    return [test, replace(op, callee=choose, args=(test.result, Literal(1), radius))]


def _modulus_squared(op: Apply) -> list[Op]:
    parts = [_call(op, part, *op.args, hint=part.__name__) for part in (np.real, np.imag)]
    squares = [_call(op, operator.mul, p.result, p.result) for p in parts]
    total = replace(op, callee=operator.add, args=tuple(s.result for s in squares))
    return [*parts, *squares, total]


def _call(op: Apply, callee: Any, *args: Any, hint: str = "") -> Apply:
    """A part of what an operation is written out as."""
    return Apply(callee, args, (), Value(hint, result_type(callee, args)), op.loc)
