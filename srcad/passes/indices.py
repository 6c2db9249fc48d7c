"""Write out an index where it is used.

    t = make_tuple(i, j)         |
    y = getitem(x, t)            |    y = getitem(x, make_tuple(i, j))
    x_bar[t] += c                |    x_bar[make_tuple(i, j)] += c

The adjoint of ``x[i, j]`` and ``x[a:b]`` uses the index of the primal.  Making it again costs
nothing: an index in brackets is put together on the spot, and says there what is read or written.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Literal,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_tuple
from srcad.ir.types import Array, Number, NumPyScalar, Opaque
from srcad.ir.walk import all_ops, blocks, map_atoms, operands, renaming


def write_out_indices(function: Function) -> Function:
    """The function with each index made anew for each of its uses."""
    made = {
        op.result: op for op in all_ops(function.body) if isinstance(op, Apply) and _is_index(op)
    }
    if not made:
        return function
    uses = dict.fromkeys(made, 0)
    _count(function.body, uses)
    several = {value: op for value, op in made.items() if uses[value] > 1}
    if not several:
        return function
    work = list(several.values())
    while work:  # what a tuple is made of comes with it
        for atom in work.pop().args:
            if isinstance(atom, Value) and atom in made and atom not in several:
                several[atom] = made[atom]
                work.append(made[atom])
    return replace(function, body=_block(function.body, several))


def _is_index(op: Apply) -> bool:
    if op.result.hint or op.keywords:
        return False
    if op.callee is slice:
        return all(map(_is_simple, op.args))
    return op.callee is make_tuple and len(op.args) > 1 and all(map(_is_simple, op.args))


def _is_simple(atom: Atom) -> bool:
    """Whether making an index of it again is no work: a number, a literal, a slice."""
    return isinstance(atom, Literal) or (
        isinstance(atom.type, (Number, NumPyScalar)) or atom.type == Opaque("slice")
    )


def _index_of(op: Op) -> Atom | None:
    """What an operation uses as an index."""
    match op:
        case Apply(callee=callee, args=(_, index)) if callee is operator.getitem:
            return index
        case Accumulate(index=index):
            return index
        case Update(target=Value(type=Array()), args=(index, _)):
            return index
        case Update(callee=callee, args=(index, _)) if callee is operator.setitem:
            return index
    return None


def _count(block: Block, uses: dict[Value, int]) -> None:
    """Count uses as an index, or in one; other uses weigh as if there were none."""
    for op in block.ops:
        index = _index_of(op)
        inside = isinstance(op, Apply) and _is_index(op)
        for atom in operands(op):
            if isinstance(atom, Value) and atom in uses:
                uses[atom] += 1 if atom is index or inside else -(10**9)
        for inner in blocks(op):
            _count(inner, uses)
    for atom in block.yields:
        if isinstance(atom, Value) and atom in uses:
            uses[atom] -= 10**9


def _block(block: Block, several: dict[Value, Apply]) -> Block:
    ops: list[Op] = []

    def again(value: Value) -> Value:
        """The index once more, before the operation that uses it."""
        op = several[value]
        args = tuple(again(a) if isinstance(a, Value) and a in several else a for a in op.args)
        fresh = Value("", value.type)
        ops.append(Apply(op.callee, args, (), fresh, here.loc))
        return fresh

    for here in block.ops:
        if isinstance(here, Apply) and here.result in several:
            continue
        names = {
            a: again(a)
            for a in dict.fromkeys(operands(here))
            if isinstance(a, Value) and a in several
        }
        ops.append(_with(here, names, several))
    return Block(block.params, tuple(ops), block.yields)


def _with(op: Op, names: dict[Value, Value], several: dict[Value, Apply]) -> Op:
    """The operation with other operands, and its blocks treated likewise."""

    read = renaming(names)

    made = map_atoms(op, read, lambda v: v) if names else op
    match made:
        case If(then=then, orelse=orelse):
            return replace(made, then=_block(then, several), orelse=_block(orelse, several))
        case While(test=test, body=body):
            return replace(made, test=_block(test, several), body=_block(body, several))
        case For(body=body) | With(body=body):
            return replace(made, body=_block(body, several))
        case Try(body=body, handlers=handlers, final=final):
            return replace(
                made,
                body=_block(body, several),
                handlers=tuple(replace(h, body=_block(h.body, several)) for h in handlers),
                final=None if final is None else _block(final, several),
            )
    return made
