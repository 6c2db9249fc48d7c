"""Say in Python what NumPy would compute of one Python float.

    s = np.sign(x)     |    s = 1.0 if x > 0.0 else -1.0 if x < 0.0 else x

A ufunc takes a float ten times as long as Python's own operations do, and gives a NumPy scalar,
with which all that follows is slow too.  What has a counterpart in ``math`` becomes that while the
code is built (``ir.build.MATH``); what has none stays one operation until it is printed, since the
rules know its derivative.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from srcad.ir import Apply, Block, Function, Literal, Op, Value
from srcad.ir.core import Atom, select
from srcad.ir.types import BOOL, FLOAT
from srcad.ir.walk import map_blocks


def write_out_scalars(function: Function) -> Function:
    """The function with ufuncs of Python floats written out."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, Apply) and op.callee is np.sign and _is_of_float(op):
            ops.extend(_sign(op))
        else:
            ops.append(map_blocks(op, _block))
    return Block(block.params, tuple(ops), block.yields)


def _is_of_float(op: Apply) -> bool:
    (x,) = op.args
    return op.result.type == FLOAT and isinstance(x, Value) and x.type == FLOAT


def _sign(op: Apply) -> list[Op]:
    """At 0 and nan the number itself, as NumPy has it."""
    (x,) = op.args
    zero = Literal(0.0)
    op.result.hint = op.result.hint or "sign"
    positive, negative, below = Value("", BOOL), Value("", BOOL), Value("", FLOAT)

    def apply(callee: Callable[..., Any], args: tuple[Atom, ...], result: Value) -> Apply:
        return replace(op, callee=callee, args=args, result=result)

    return [
        apply(operator.gt, (x, zero), positive),
        apply(operator.lt, (x, zero), negative),
        apply(select, (negative, Literal(-1.0), x), below),
        apply(select, (positive, Literal(1.0), below), op.result),
    ]
