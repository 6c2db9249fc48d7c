"""Sums whose terms may be added in any order, so that loops of them are vectorised.

    s = for i in … with p = 0.0      |  s = for i in … with p = 0.0
      t = getitem(x, i)              |    t = getitem(x, i)
      yield add(p, t)                |    yield plus(p, t)

Nobody sees the sum before the end of the loop, and NumPy has an order of its own as well.  Numba's
``fastmath`` says the same of all arithmetic; here it is said of one addition.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad import runtime
from srcad.ir import Accumulate, Apply, Atom, Block, For, Function, Op, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import FLOAT, NumPyScalar
from srcad.ir.walk import map_blocks, values_read


def free_order(function: Function) -> Function:
    """The function with sums of loops in any order."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    ops = []
    for op in block.ops:
        op = map_blocks(op, _block)
        ops.append(_loop(op) if isinstance(op, For) else op)
    return replace(block, ops=tuple(ops))


def _loop(op: For) -> For:
    body = op.body
    readers: dict[Value, list[Op]] = {}
    for inner in body.ops:
        for value in values_read(inner):
            readers.setdefault(value, []).append(inner)
    free: set[Op] = set()
    for param, end in zip(op.carried_params, body.yields, strict=False):
        free |= _sum(param, end, readers, body.yields) or set()
    if not free:
        return op
    ops = tuple(_in_any_order(o) if o in free else o for o in body.ops)
    return replace(op, body=replace(body, ops=ops))


def _in_any_order(op: Op) -> Op:
    match op:
        case Apply():
            return replace(op, callee=runtime.plus)
        case Accumulate():
            return Apply(runtime.plus, (op.target, op.term), (), op.version, op.loc)
    raise TypeError(op)


def _sum(
    param: Value, end: Atom, readers: dict[Value, list[Op]], yields: tuple[Atom, ...]
) -> set[Op] | None:
    """The additions that lead from the sum so far to the next one, if nobody else reads them."""
    found: set[Op] = set()
    value = param
    while value is not end:
        users = readers.get(value, [])
        if len(users) != 1 or value in yields or not _is_float(value):
            return None
        (user,) = users
        match user:
            case Apply(callee=operator.add, args=args, result=result):
                pass
            case Accumulate(target=target, index=None, term=term, version=result):
                args = (target, term)
            case _:
                return None
        if not all(map(_is_float, args)) or args.count(value) != 1:
            return None
        found.add(user)
        value = result
    if value in readers or yields.count(value) != 1:
        return None
    return found


def _is_float(atom: Atom) -> bool:
    return atom_type(atom) in (FLOAT, NumPyScalar("float64"))
