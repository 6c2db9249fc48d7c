"""Tuples and slices that only one branch hands on are put together after it.

t.2 = if test                |    i.2 = if test
  t = make_tuple(i, 0)       |      yield i
  yield t                    |    else
else                         |      yield UNDEFINED
  yield UNDEFINED            |    t.2 = make_tuple(i.2, 0)

What tapes keep of them is the numbers (``taped``), which have to be there where an item is kept.
"""

from __future__ import annotations

from dataclasses import replace

from srcad.backends.numba.writing import Writer, rewritten
from srcad.ir import UNDEFINED, Apply, Atom, Block, Function, If, Op, Value
from srcad.ir.core import is_undefined, make_tuple
from srcad.ir.types import Number, NumPyScalar
from srcad.ir.walk import blocks, map_atoms, map_blocks, renaming, results


def pack_after_branches(function: Function) -> Function:
    """The function with branches that hand on the numbers."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return rewritten(block, _op)


def _op(op: Op, writer: Writer) -> None:
    op = map_blocks(op, _block)
    if not isinstance(op, If):
        writer.ops.append(op)
        return
    sides = blocks(op)
    packings = [_Packing(b) for b in sides]
    handed: list[tuple[Value, list[Atom]]] = []
    after: list[Op] = []
    for place, result in enumerate(op.results):
        atoms = [b.yields[place] for b in sides]
        side = next((k for k in (0, 1) if is_undefined(atoms[1 - k])), None)
        made = None if side is None else packings[side].of(atoms[side])
        if side is None or made is None:
            handed.append((result, atoms))
            continue
        names: dict[Value, Value] = {made[-1].result: result}
        for number in packings[side].numbers(made):
            names[number] = Value(number.hint, number.type)
            atoms = [UNDEFINED, UNDEFINED]
            atoms[side] = number
            handed.append((names[number], atoms))
        after += _again(made, names)
    then, orelse = (
        replace(b, yields=tuple(atoms[k] for _, atoms in handed)) for k, b in enumerate(sides)
    )
    writer.ops.append(replace(op, then=then, orelse=orelse, results=tuple(r for r, _ in handed)))
    writer.ops += after


class _Packing:
    """What puts tuples and slices together in a branch."""

    def __init__(self, block: Block) -> None:
        self.made: dict[Value, Op] = {v: op for op in block.ops for v in results(op)}

    def of(self, atom: Atom) -> list[Apply] | None:
        """The operations that make one of numbers, the last one last."""
        op = self.made.get(atom) if isinstance(atom, Value) else None
        if not isinstance(op, Apply) or op.callee not in (slice, make_tuple) or op.keywords:
            return None
        ops: list[Apply] = []
        for part in self._inside(op):
            if isinstance(part.type, (Number, NumPyScalar)):
                continue
            inner = self.of(part)
            if inner is None:
                return None
            ops += [o for o in inner if o not in ops]
        return [*ops, op]

    def numbers(self, ops: list[Apply]) -> dict[Value, None]:
        """What of the branch operations read that is not made by them."""
        made = {op.result for op in ops}
        return {v: None for op in ops for v in self._inside(op) if v not in made}

    def _inside(self, op: Apply) -> list[Value]:
        return [a for a in op.args if isinstance(a, Value) and a in self.made]


def _again(ops: list[Apply], names: dict[Value, Value]) -> list[Op]:
    """The operations with other names for what they read and make."""

    read = renaming(names)

    def define(value: Value) -> Value:
        return names.setdefault(value, Value(value.hint, value.type))

    return [map_atoms(op, read, define) for op in ops]
