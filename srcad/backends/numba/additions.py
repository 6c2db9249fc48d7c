"""Additions of arrays in place, made safe: Numba checks neither shapes nor overlap there.

    x_bar.2 = x_bar += term        |  x_bar.2 = add(x_bar, term)
    x_bar.2 = x_bar[i] += term     |  t = getitem(x_bar, i)
                                   |  if ne(shape(t), shape(term))
                                   |    raise Unforeseen
                                   |  x_bar.2 = x_bar[i] += copy(term)

Most additions are loops by now; this is about the others.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.backends.numba.writing import Writer, rewritten
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Effect,
    Function,
    If,
    Literal,
    Loc,
    Op,
    Update,
    Value,
)
from srcad.ir.core import raise_error
from srcad.ir.infer import atom_type
from srcad.ir.sharing import Sharing, views
from srcad.ir.types import BOOL, INT, Array, TupleType
from srcad.ir.walk import all_ops, map_blocks


def safe_additions(function: Function) -> Function:
    """The function with checks of the additions in place that are left."""
    made = {op.result: op for op in all_ops(function.body) if isinstance(op, Apply)}
    return replace(function, body=_block(function.body, made))


def _block(block: Block, made: dict[Value, Apply]) -> Block:
    return rewritten(block, lambda op, writer: _op(op, writer, made))


def _op(op: Op, writer: Writer, made: dict[Value, Apply]) -> None:
    match op:
        case Accumulate(index=None, term=Value(type=Array()) as term):
            total = Apply(operator.add, (op.target, term), (), op.version, op.loc)
            writer.ops.append(total)
        case Accumulate(target=Value() as target, index=Value() | Literal() as index) if isinstance(
            atom_type(op.term), Array
        ):
            term = _checked(target, index, op.term, op.loc, writer, made)
            writer.ops.append(replace(op, term=term))
        case Update(callee=callee, target=target, args=(index, term), path=()) if callee in (
            operator.iadd,
            operator.isub,
        ) and isinstance(atom_type(term), Array):
            term = _checked(target, index, term, op.loc, writer, made)
            writer.ops.append(replace(op, args=(index, term)))
        case _:
            writer.ops.append(map_blocks(op, lambda b: _block(b, made)))


def _checked(
    target: Value,
    index: Atom,
    term: Atom,
    loc: Loc | None,
    writer: Writer,
    made: dict[Value, Apply],
) -> Atom:
    assert isinstance(term, Value)
    assert isinstance(term.type, Array)
    item = writer.apply(operator.getitem, target, index, kind=term.type)
    shape = TupleType((INT,) * len(term.type.dims or ()))
    shapes = [writer.apply(np.shape, a, kind=shape) for a in (item, term)]
    differ = writer.apply(operator.ne, *shapes, kind=BOOL)
    raising = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, loc)
    writer.ops.append(If(differ, Block((), (raising,), ()), Block((), (), ()), (), loc))
    op = made.get(term)
    if op is None or any(s is not Sharing.NEVER for s in views(op).values()):
        return writer.apply(np.ndarray.copy, term, kind=term.type)
    return term
