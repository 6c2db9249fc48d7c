"""Functions of numbers in inner loops, in the form that is vectorised (functions).

for i in …                   |  for i in …
  t = getitem(x, i)          |    t = getitem(x, i)
  y = exp(t)                 |    y = runtime.exp(t)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import srcad.backends.numba.functions  # noqa: F401  # it tells Numba what these functions are
from srcad import runtime
from srcad.ir import Apply, Block, For, Function, Op, Update
from srcad.ir.types import FLOAT, NumPyScalar
from srcad.ir.walk import map_blocks

_VECTORISED: dict[Callable[..., Any], Callable[..., Any]] = {
    np.exp: runtime.exp, np.expm1: runtime.expm1, np.log: runtime.log, np.log1p: runtime.log1p,
    np.tanh: runtime.tanh,
}  # fmt: skip


def vectorise(function: Function) -> Function:
    """The function with functions in inner loops that are vectorised."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return replace(block, ops=tuple(map(_op, block.ops)))


def _op(op: Op) -> Op:
    if isinstance(op, For) and all(isinstance(inner, Apply | Update) for inner in op.body.ops):
        return replace(op, body=replace(op.body, ops=tuple(map(_call, op.body.ops))))
    return map_blocks(op, _block)


def _call(op: Op) -> Op:
    if not isinstance(op, Apply) or op.result.type not in (FLOAT, NumPyScalar("float64")):
        return op
    callee = _VECTORISED.get(op.callee) if len(op.args) == 1 and not op.keywords else None
    return op if callee is None else replace(op, callee=callee)
