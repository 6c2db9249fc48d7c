"""Write out short loops of a fixed number of steps, where they stand in a loop.

    for v in x:                        |    for v in x:
        for _ in range(2):             |        v = 0.3 * v
            v = 0.3 * v                |        v = 0.3 * v
        s += v                         |        s += v

What such a loop keeps for the reverse sweep then lies in the tuple of the loop around it, or needs
no keeping at all.  Loops at the top of a function stay: there is one of each, and they read better.
"""

from __future__ import annotations

from dataclasses import replace

from srcad.ir import UNDEFINED, Apply, Atom, Block, For, Literal, Op, Range, Value, While
from srcad.ir.core import literal_values, make_tuple
from srcad.ir.folding import fold_literals
from srcad.ir.types import Number
from srcad.ir.walk import copy_block, free_values, map_atoms, map_blocks, renaming

MOST_STEPS = 8
MOST_OPERATIONS = 48


def unrolled(block: Block) -> Block:
    """The block with such loops written out."""
    return _block(block, inside=False)


def _block(block: Block, *, inside: bool) -> Block:
    names: dict[Value, Atom] = {}

    read = renaming(names)

    ops: list[Op] = []
    for old in block.ops:
        op = map_atoms(old, read, lambda v: v) if names else old
        steps = _steps(op) if inside else None
        if steps is None:
            deeper = inside or isinstance(op, (For, While))
            ops.append(map_blocks(op, lambda b, deeper=deeper: _block(b, inside=deeper)))  # type: ignore[misc]  # bound now
            continue
        assert isinstance(op, For)
        made, ends = _written_out(op, steps)
        ops += made
        names.update(zip(op.results, ends, strict=True))
    return Block(block.params, tuple(ops), tuple(map(read, block.yields)))


def _steps(op: Op) -> range | None:
    """The steps of a loop that is to be written out."""
    if not isinstance(op, For) or op.stops or len(op.streams) != 1:
        return None
    stream = op.streams[0]
    if not isinstance(stream, Range):
        return None
    known = literal_values((stream.start, stream.stop, stream.step))
    if known is None or not all(type(k) is int for k in known) or not known[2]:
        return None
    steps = range(*known)
    body = op.body
    if len(steps) > MOST_STEPS or len(steps) * len(body.ops) > MOST_OPERATIONS:
        return None
    if not all(map(_is_plain, body.ops)):
        return None
    read = free_values(Block((), body.ops, ()))
    unbound = (p for p, c in zip(body.params[1:], op.carried, strict=True) if c is UNDEFINED)
    return None if any(p in read for p in unbound) else steps


def _is_plain(op: Op) -> bool:
    """Whether an operation makes a number, or an index of several."""
    if not isinstance(op, Apply):
        return False
    return isinstance(op.result.type, Number) or op.callee is make_tuple


def _written_out(op: For, steps: range) -> tuple[list[Op], tuple[Atom, ...]]:
    """The operations of all steps, and what the loop ends with."""
    ops: list[Op] = []
    carried = op.carried
    body = Block((), op.body.ops, op.body.yields)
    for step in steps:
        params = dict(zip(op.body.params, (Literal(step), *carried), strict=True))
        made = _folded(copy_block(body, params))
        ops += made.ops
        carried = made.yields
    return ops, carried


def _folded(block: Block) -> Block:
    """The block without arithmetic of the number of the step."""
    names: dict[Value, Atom] = {}

    read = renaming(names)

    ops: list[Op] = []
    for old in block.ops:
        op = map_atoms(old, read, lambda v: v)
        assert isinstance(op, Apply)
        known = fold_literals(op.callee, op.args, op.keywords)
        if known is None:
            ops.append(op)
        else:
            names[op.result] = known
    return replace(block, ops=tuple(ops), yields=tuple(map(read, block.yields)))
