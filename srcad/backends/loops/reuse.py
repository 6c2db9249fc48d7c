"""Small arrays of known sizes stay in the memory that they have.

    r = for … with p = a         |  a.2 = copy(a)
      y = matmul(p, m)           |  r = for … with p = a.2
      yield y                    |    y = matmul(p, m)
                                 |    p.2 = update setitem(p, Ellipsis, y)
                                 |    yield p.2
    y = if c: yield a            |  t = empty((3, 3))
        else: yield b            |  y = if c: yield update setitem(t, Ellipsis, a) …

To ask for memory takes longer than to copy a few numbers; and an array that lives in one iteration
only need not be made.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Literal,
    Op,
    Update,
    Value,
    While,
)
from srcad.ir.core import make_dict, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import views
from srcad.ir.types import Array
from srcad.ir.walk import blocks, map_atoms, map_blocks, operands, values_read

SMALL = 9
"""Arrays with so few elements are copied one by one."""

_WHOLE = Literal(Ellipsis)
_HOLDING = (make_list, make_tuple, make_dict)


def reuse_memory(function: Function) -> Function:
    """The function with copies into memory that is there in place of new memory."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        op = map_blocks(op, _block)
        if isinstance(op, If):
            op = _joined(op, ops)
        elif isinstance(op, (For, While)):
            op = _carried(op, ops)
        ops.append(op)
    return replace(block, ops=tuple(ops))


def _is_small(atom: Atom) -> bool:
    kind = atom_type(atom)
    if not isinstance(kind, Array) or kind.dtype != "float64" or not kind.dims:
        return False
    return all(isinstance(d, int) for d in kind.dims) and 0 < math.prod(kind.dims) <= SMALL  # type: ignore[arg-type]  # integers


def _copied(into: Value, atom: Atom, ops: list[Op]) -> Value:
    """Write an array into memory; its next version."""
    version = Value(into.hint, into.type)
    ops.append(Update(operator.setitem, into, (_WHOLE, atom), version))
    return version


# ---- branches


def _joined(op: If, before: list[Op]) -> If:
    """A branch with memory for those results that both sides make."""
    sides = [list(b.ops) for b in (op.then, op.orelse)]
    yields = [list(b.yields) for b in (op.then, op.orelse)]
    fresh = [_made_in(b) for b in (op.then, op.orelse)]
    for k, result in enumerate(op.results):
        given = [y[k] for y in yields]
        if not _is_small(result) or any(atom_type(a) != result.type for a in given):
            continue
        if not all(a in made for a, made in zip(given, fresh, strict=True)):
            continue
        assert isinstance(result.type, Array)
        memory = Value(result.hint, result.type)
        shape = result.type.dims if len(result.type.dims or ()) > 1 else result.type.dims[0]  # type: ignore[index]  # it has a rank
        before.append(Apply(np.empty, (Literal(shape),), (), memory, op.loc))
        for n, handed in enumerate(yields):
            sides[n], handed[k] = _copied_where_made(memory, handed[k], sides[n])
    then, orelse = (Block((), tuple(s), tuple(y)) for s, y in zip(sides, yields, strict=True))
    return replace(op, then=then, orelse=orelse)


def _copied_where_made(memory: Value, atom: Atom, ops: list[Op]) -> tuple[list[Op], Value]:
    """Copy an array as soon as it is there, and read the copy from then on."""
    place = next(k for k, op in enumerate(ops) if isinstance(op, Apply) and op.result is atom)
    made = ops[: place + 1]
    version = _copied(memory, atom, made)

    def read(old: Atom) -> Atom:
        return version if old is atom else old

    return [*made, *(map_atoms(op, read, lambda v: v) for op in ops[place + 1 :])], version


def _made_in(block: Block) -> set[Atom]:
    """The arrays that calls in a block make anew."""
    return {op.result for op in block.ops if isinstance(op, Apply) and not views(op)}


# ---- loops


def _carried(op: For | While, before: list[Op]) -> For | While:
    """A loop that writes what it carries into the memory of what it was given."""
    body = op.body
    params = op.carried_params
    carried, ops, yields = list(op.carried), list(body.ops), list(body.yields)
    made = _made_in(body) | {r for o in body.ops if isinstance(o, If) for r in o.results}
    for k, param in enumerate(params):
        given, start = body.yields[k], op.carried[k]
        if not _is_small(param) or given not in made or atom_type(given) != param.type:
            continue
        last = _last_version(param, body.ops, body.yields)
        if last is None or not isinstance(start, Value) or start.type != param.type:
            continue
        own = Value(start.hint, start.type)
        before.append(Apply(np.ndarray.copy, (start,), (), own, op.loc))
        carried[k] = own
        yields[k] = _copied(last, given, ops)
    if carried != list(op.carried):
        body = Block(body.params, tuple(ops), tuple(yields))
        op = replace(op, carried=tuple(carried), body=body)
    return _lifted(op, before) if isinstance(op, For) and not op.stops else op


def _lifted(op: For, before: list[Op]) -> For:
    """A loop that is given the memory for what its branches make, if nothing holds on to that."""
    body = op.body
    for made in body.ops:
        if not isinstance(made, Apply) or made.callee is not np.empty or not _is_small(made.result):
            continue
        found = _result_in(made.result, body.ops)
        if found is None or _last_version(found, body.ops, body.yields) is not found:
            continue
        memory = Value(made.result.hint, made.result.type)
        before.append(replace(made, result=memory))
        ops = tuple(other for other in body.ops if other is not made)
        params = (*body.params, made.result)
        body = Block(params, ops, (*body.yields, found))
        end = Value(memory.hint, memory.type)
        op = replace(op, carried=(*op.carried, memory), body=body, results=(*op.results, end))
    return op


def _result_in(memory: Value, ops: Sequence[Op]) -> Value | None:
    """The result of a branch that is in some memory, which nothing else is made of."""
    readers = [op for op in ops if memory in values_read(op)]
    if len(readers) != 1 or not isinstance(readers[0], If):
        return None
    branch = readers[0]
    for k, result in enumerate(branch.results):
        if all(_hands_on(b, k, memory) for b in blocks(branch)):
            return result
    return None


def _hands_on(block: Block, place: int, memory: Value) -> bool:
    """Whether a block hands on what it writes into some memory, at one place and in no other."""
    given = block.yields[place]
    if not any(
        isinstance(op, Update) and op.version is given and op.target is memory for op in block.ops
    ):
        return False
    assert isinstance(given, Value)
    others = (*block.yields[:place], *block.yields[place + 1 :])
    return _last_version(given, block.ops, others) is given


def _last_version(param: Value, ops: Sequence[Op], yields: Sequence[Atom]) -> Value | None:
    """The last version of an array in a block; None if something may hold on to its memory."""
    seen: set[Atom] = {param}
    last = param
    for op in ops:
        if isinstance(op, Accumulate) and op.target in seen:
            if op.target is not last:
                return None
            seen.add(op.version)
            last = op.version
        elif not _only_reads(op, seen):
            return None
    return None if any(a in seen for a in yields) else last


def _only_reads(op: Op, seen: set[Atom]) -> bool:
    """Whether an operation reads arrays, and neither writes them nor hands them on.

    What it makes that may share their memory is added to ``seen``.
    """
    match op:
        case Apply():
            held = any(a in seen for a in operands(op))
            if held and any(a in seen for a in views(op)):
                seen.add(op.result)
            return not (held and op.callee in _HOLDING)
        case Update(target=target, args=args):
            into_array = isinstance(target.type, Array) and op.callee is operator.setitem
            return target not in seen and (into_array or not any(a in seen for a in args))
        case Accumulate(target=target):
            return target not in seen
        case Effect():
            return True
    if any(a in seen for a in operands(op)):
        return False  # carried on, or given to a function
    return all(_block_only_reads(b, set(seen)) for b in blocks(op))


def _block_only_reads(block: Block, seen: set[Atom]) -> bool:
    return all(_only_reads(op, seen) for op in block.ops) and not any(
        a in seen for a in block.yields
    )
