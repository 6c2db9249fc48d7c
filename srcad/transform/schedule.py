"""The order of a reverse sweep: by descending generation, statement by statement.

Parameters and captured values of a block have generation 0 in it; an operation has the maximum of
what it reads, its blocks included; its results have one more.  Taken in descending (generation,
position), every use of a value is met before its definition, so an adjoint is complete when it is
used: the generation rule of define-by-run tapes, at compile time.  Memory counts too: a write, and
a branch or loop that writes, comes after all reads of the version it overwrites.

Ordered so are the statements of the primal, and the operations in each: the adjoint of a statement
stays in one piece, and can be read against it.
"""

from __future__ import annotations

from itertools import groupby

from srcad.ir import Accumulate, Block, Effect, Op, Value
from srcad.ir.walk import overwritten, results, values_read


def statements(block: Block) -> list[list[int]]:
    """The positions of the operations of a block, those of one line of the primal together."""

    def line(k: int) -> tuple[str, int] | None:
        loc = block.ops[k].loc
        return None if loc is None else (loc.file, loc.line)

    return [list(run) for _, run in groupby(range(len(block.ops)), line)]


def generations(block: Block, groups: list[list[int]]) -> list[int]:
    """The generation of each group of consecutive operations of a block."""
    of_value: dict[Value, int] = {}
    readers: dict[Value, int] = {}
    found: list[int] = []
    effect = 0
    for group in groups:
        ops = [block.ops[k] for k in group]
        read = dict.fromkeys(v for op in ops for v in values_read(op))
        generation = max((of_value.get(v, 0) for v in read), default=0)
        for op in ops:
            targets = overwritten(op)
            if isinstance(op, Accumulate) and isinstance(op.target, Value):
                targets = {op.target: None}
            for target in targets:
                generation = max(generation, readers.get(target, 0))
        if any(isinstance(op, Effect) for op in ops):
            generation = max(generation, effect)
            effect = generation + 1
        for value in read:
            readers[value] = max(readers.get(value, 0), generation + 1)
        for op in ops:
            for value in results(op):
                of_value[value] = generation + 1
        found.append(generation)
    return found


def reverse_order(block: Block) -> list[tuple[int, Op]]:
    """Positions and operations in the order a reverse sweep takes them."""
    groups = statements(block)
    order: list[tuple[int, int, int, int]] = []
    alone = generations(block, [[k] for k in range(len(block.ops))])
    for place, (generation, group) in enumerate(
        zip(generations(block, groups), groups, strict=True)
    ):
        order += [(generation, place, alone[k], k) for k in group]
    return [(k, block.ops[k]) for *_, k in sorted(order, reverse=True)]
