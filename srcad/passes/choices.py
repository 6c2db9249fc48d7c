"""Put branches on one condition together, where they follow each other.

    if c:                |    if c:
        t = sin(x)       |        t = sin(x)
        s += t           |        s += t
    if c:                |        x_bar.append(cos(x))
        x_bar.append(…)  |

That is how the body of a loop looks that has got its reverse: what a branch computes for the other
need not be handed on then.
"""

from __future__ import annotations

from dataclasses import replace

from srcad.ir import Apply, Atom, Block, If, Op, Value
from srcad.ir.types import Number
from srcad.ir.walk import map_blocks, rename_values, results, values_read


def merged_choices(block: Block) -> Block:
    """The block with such branches put together, in the blocks in it too."""
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, If):
            _add(ops, op)
        else:
            ops.append(op)
    merged = tuple(map_blocks(op, merged_choices) for op in ops)
    return Block(block.params, merged, block.yields)


def _add(ops: list[Op], late: If) -> None:
    """Append a branch, or put it into an earlier one."""
    for k in range(len(ops) - 1, -1, -1):
        early = ops[k]
        if isinstance(early, If) and early.test is late.test:
            before = _moved(ops[k + 1 :], early, late)
            if before is not None:
                after = [op for op in ops[k + 1 :] if op not in before]
                ops[k:] = [*before, _merged(early, late), *after]
                return
            break
        if not isinstance(early, Apply):
            break
    ops.append(late)


def _moved(between: list[Op], early: If, late: If) -> list[Op] | None:
    """What of the operations between two branches goes before them; None if one cannot stay there.

    What depends on the first branch stays behind the second: numbers alone, which nothing writes.
    """
    behind: set[Value] = set(early.results)
    before: list[Op] = []
    for op in between:
        if not any(v in behind for v in values_read(op)):
            before.append(op)
            continue
        values = (*values_read(op), *results(op))
        if not all(isinstance(v.type, Number) for v in values):
            return None
        behind.update(results(op))
    needed = behind.difference(early.results)
    return None if any(v in needed for v in values_read(late)) else before


def _merged(early: If, late: If) -> If:
    def side(first: Block, second: Block) -> Block:
        names: dict[Value, Atom] = dict(zip(early.results, first.yields, strict=True))

        second = rename_values(second, names)
        return Block((), (*first.ops, *second.ops), (*first.yields, *second.yields))

    return replace(
        early,
        then=side(early.then, late.then),
        orelse=side(early.orelse, late.orelse),
        results=(*early.results, *late.results),
    )
