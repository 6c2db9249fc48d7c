"""Functions of numbers in inner loops, in the form that is vectorised (functions).

for i in …                   |  far.3 = for i in … with far = False
  t = getitem(x, i)          |    t = getitem(x, i)
  y = sin(t)                 |    y = runtime.sin(t)
                             |    far.2 = or(far, gt(abs(t), FAR))
                             |  if far.3
                             |    raise Unforeseen

Of large numbers sines are not for arithmetic without branches.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import srcad.backends.numba.functions  # noqa: F401  # it tells Numba what these functions are
from srcad import runtime
from srcad.backends.numba.writing import Writer
from srcad.ir import Apply, Atom, Block, Effect, For, Function, If, Literal, Op, Update, Value
from srcad.ir.core import raise_error
from srcad.ir.types import BOOL, FLOAT, NumPyScalar
from srcad.ir.walk import map_blocks

_VECTORISED: dict[Callable[..., Any], Callable[..., Any]] = {
    np.exp: runtime.exp, np.expm1: runtime.expm1, np.log: runtime.log, np.log1p: runtime.log1p,
    np.tanh: runtime.tanh, np.sin: runtime.sin, np.cos: runtime.cos,
}  # fmt: skip
_OF_SMALL = (runtime.sin, runtime.cos)


def vectorise(function: Function) -> Function:
    """The function with functions in inner loops that are vectorised."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, For) and all(isinstance(o, Apply | Update) for o in op.body.ops):
            ops += _loop(op)
        else:
            ops.append(map_blocks(op, _block))
    return replace(block, ops=tuple(ops))


def _loop(op: For) -> list[Op]:
    ops = tuple(map(_call, op.body.ops))
    op = replace(op, body=replace(op.body, ops=ops))
    small = [o.args[0] for o in ops if isinstance(o, Apply) and o.callee in _OF_SMALL]
    return [op] if op.stops or not small else _checked(op, list(dict.fromkeys(small)))


def _call(op: Op) -> Op:
    if not isinstance(op, Apply) or op.result.type not in (FLOAT, NumPyScalar("float64")):
        return op
    callee = _VECTORISED.get(op.callee) if len(op.args) == 1 and not op.keywords else None
    return op if callee is None else replace(op, callee=callee)


def _checked(op: For, small: list[Atom]) -> list[Op]:
    """A loop, and a check after it that some numbers in it were not large."""
    start, end = Value("far", BOOL), Value("far", BOOL)
    writer = Writer()
    writer.ops += op.body.ops
    far: Atom = start
    for atom in small:
        size = writer.apply(builtins.abs, atom, kind=FLOAT)
        is_far = writer.apply(operator.gt, size, Literal(runtime.FAR), kind=BOOL)
        far = writer.apply(operator.or_, far, is_far, kind=BOOL, hint="far")
    body = Block((*op.body.params, start), tuple(writer.ops), (*op.body.yields, far))
    carried = (*op.carried, Literal(False))
    looped = replace(op, carried=carried, body=body, results=(*op.results, end))
    error = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, op.loc)
    return [looped, If(end, Block((), (error,), ()), Block((), (), ()), (), op.loc)]
