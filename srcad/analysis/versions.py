"""Memory as chains of versions: which values are one container or array at different times.

A write makes the next version; loops and branches hand versions on.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcad.ir import Atom, Block, For, If, Try, Update, Value, While, With
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, blocks


def written_values(block: Block) -> dict[Value, None]:
    """All versions of containers that are written somewhere: also through loops and branches.

    The reverse sweep may read none of them later on: it keeps what was read, or a copy.
    """
    work = [op.target for op in all_ops(block) if isinstance(op, Update)]
    links = version_links(block)
    found: dict[Value, None] = {}
    while work:
        value = work.pop()
        if value not in found:
            found[value] = None
            work += links.get(value, ())
    return found


def version_links(block: Block) -> dict[Value, list[Value]]:
    """For each version of a container or array, the versions next to it."""
    links: dict[Value, list[Value]] = {}

    def link(a: Atom, b: Atom) -> None:
        if isinstance(a, Value) and isinstance(b, Value):
            links.setdefault(a, []).append(b)
            links.setdefault(b, []).append(a)

    for op in all_ops(block):
        match op:
            case Update():
                link(op.target, op.version)
            case If() | Try() | With():
                for inner in blocks(op):
                    for result, end in zip(op.results, inner.yields, strict=False):
                        link(result, end)
            case For() | While():
                for k, param in enumerate(op.carried_params):
                    link(param, op.carried[k])
                    link(param, op.body.yields[k])
                    link(param, op.results[k])
                    if isinstance(op, While):
                        link(param, op.test.params[k])
            case _:
                pass
    return links


def overwritten_later(block: Block) -> dict[Value, None]:
    """The versions whose memory is written after them, in a later iteration of a loop too.

    Only these may not be read in a reverse sweep; the others stay as they are.
    """
    before: dict[Value, list[Value]] = {}

    def hand_on(source: Atom, target: Value) -> None:
        if isinstance(source, Value):
            before.setdefault(target, []).append(source)

    for op in all_ops(block):
        match op:
            case If() | Try() | With():
                for inner in blocks(op):
                    for result, end in zip(op.results, inner.yields, strict=False):
                        hand_on(end, result)
            case For() | While():
                for k, param in enumerate(op.carried_params):
                    for source in (op.carried[k], op.body.yields[k]):
                        hand_on(source, param)
                        hand_on(source, op.results[k])
                    if isinstance(op, While):
                        hand_on(op.test.params[k], param)
            case _:
                pass
    work = [op.target for op in all_ops(block) if isinstance(op, Update)]
    found: dict[Value, None] = {}
    while work:
        value = work.pop()
        if value not in found:
            found[value] = None
            work += before.get(value, ())
    return found


def chained(block: Block, versions: set[Value]) -> frozenset[Value]:
    """All versions of the memory that some versions belong to."""
    found = connected(version_links(block), versions)
    return frozenset(v for v in found if isinstance(v.type, Array))


def connected(links: Mapping[Value, list[Value]], versions: set[Value]) -> set[Value]:
    """All that some versions are linked to, themselves included."""
    found: set[Value] = set()
    work = list(versions)
    while work:
        value = work.pop()
        if value not in found:
            found.add(value)
            work += links.get(value, ())
    return found
