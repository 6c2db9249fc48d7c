"""What the reverse sweep reads of the forward one: found, and handed over.

Of an array whose shape alone is read the shape is handed over; of one that is written over later a
copy (see ``restoring``).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from srcad.ir import Apply, Block, Op, Value
from srcad.ir.sharing import SHAPE
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, blocks, operands, results, without_ops

Forward = list[list[Op]]
"""The forward sweep while the reverse is written: for each operation what it has become."""


def flat_ops(forward: Forward) -> tuple[Op, ...]:
    """The operations of a forward sweep, in order."""
    return tuple(op for ops in forward for op in ops)


def defined_in(block: Block) -> dict[Value, None]:
    """The values a block itself defines, without those of the blocks in it."""
    found = dict.fromkeys(block.params)
    for op in block.ops:
        found.update(dict.fromkeys(results(op)))
    return found


def everything_in(block: Block) -> dict[Value, None]:
    """The values a block and the blocks in it define."""
    found = defined_in(block)
    for op in all_ops(block):
        found.update(dict.fromkeys(results(op)))
        for inner in blocks(op):
            found.update(dict.fromkeys(inner.params))
    return found


def only_for_shape(value: Value, block: Block) -> bool:
    """Whether a block reads nothing of an array but its shape."""
    return all(
        isinstance(op, Apply) and op.callee in SHAPE
        for op in all_ops(block)
        if value in operands(op)
    ) and not any(
        value in b.yields for b in (block, *(b for op in all_ops(block) for b in blocks(op)))
    )


def shapes_kept(
    body: Block, needed: list[Value], missing: Container[Value] = ()
) -> tuple[Block, list[Value], list[tuple[Value, Apply]]]:
    """Where a reverse loop reads nothing of an array but its shape, that is kept in its place.

    What may be ``missing`` has no shape where it is made, only where it is read.
    """
    asked: dict[Value, list[Apply]] = {}
    for op in all_ops(body):
        if isinstance(op, Apply) and op.callee in SHAPE and op.args[0] in needed:
            array = op.args[0]
            assert isinstance(array, Value)
            asked.setdefault(array, []).append(op)
    moved = {
        v: ops
        for v, ops in asked.items()
        if isinstance(v.type, Array) and v not in missing and only_for_shape(v, body)
    }
    if not moved:
        return body, needed, []
    gone = {op for ops in moved.values() for op in ops}
    rest = [v for v in needed if v not in moved]
    rest += [op.result for ops in moved.values() for op in ops]
    # as part of the forward sweep they are of no line of the reverse
    shapes = [(v, replace(op, loc=None)) for v, ops in moved.items() for op in ops]
    return without_ops(body, gone), rest, shapes


def with_copies(
    ops: tuple[Op, ...], params: tuple[Value, ...], copies: list[tuple[Value, Apply]]
) -> tuple[Op, ...]:
    """The operations with each copy right after the value it is of."""
    if not copies:
        return ops
    waiting: dict[Value, list[Op]] = {}
    for value, copy in copies:
        waiting.setdefault(value, []).append(copy)
    made: list[Op] = [copy for p in params for copy in waiting.get(p, ())]
    for op in ops:
        made.append(op)
        made += [copy for r in results(op) for copy in waiting.get(r, ())]
    return tuple(made)
