"""The order of a reverse sweep: by descending generation.

Parameters and captured values of a block have generation 0 in it; an operation has the maximum of
what it reads, its blocks included; its results have one more.  Taken in descending (generation,
position), every use of a value is met before its definition, so an adjoint is complete when it is
used: the generation rule of define-by-run tapes, at compile time.  Memory counts too: a write, and a
branch or loop that writes, comes after all reads of the version it overwrites.
"""

from __future__ import annotations

from srcad.analysis.versions import overwritten
from srcad.ir import Accumulate, Block, Effect, Op, Value
from srcad.ir.walk import results, values_read


def generations(block: Block) -> list[int]:
    """The generation of each operation of a block."""
    of_value: dict[Value, int] = {}
    readers: dict[Value, int] = {}
    found: list[int] = []
    effect = 0
    for op in block.ops:
        read = values_read(op)
        generation = max((of_value.get(v, 0) for v in read), default=0)
        targets = overwritten(op)
        if isinstance(op, Accumulate) and isinstance(op.target, Value):
            targets = {op.target: None}
        for target in targets:
            generation = max(generation, readers.get(target, 0))
        if isinstance(op, Effect):
            generation = max(generation, effect)
            effect = generation + 1
        for value in read:
            readers[value] = max(readers.get(value, 0), generation + 1)
        for value in results(op):
            of_value[value] = generation + 1
        found.append(generation)
    return found


def reverse_order(block: Block) -> list[tuple[int, Op]]:
    """Positions and operations in the order a reverse sweep takes them."""
    of = generations(block)
    order = sorted(range(len(block.ops)), key=lambda k: (of[k], k), reverse=True)
    return [(k, block.ops[k]) for k in order]
