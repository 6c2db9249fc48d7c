"""Elements that are still at hand are not read again, and arrays that nobody reads are not made.

    t[i] = x[i] * x[i]       |    t = x[i] * x[i]
    y[i] = sin(t[i])         |    y[i] = sin(t)

In straight code a load of what was stored or loaded before is that scalar; a store that is
overwritten before anyone reads is dropped; memory that is only written is dropped with its stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from srcad.backends.loops.aliases import Aliases
from srcad.backends.loops.items import (
    Alloc,
    Buffer,
    Define,
    Index,
    Item,
    Keep,
    Let,
    Load,
    Loop,
    Measure,
    Store,
    all_items,
)
from srcad.ir import Apply, Atom, Literal, Value
from srcad.ir.core import literal_key

Held = dict[tuple[Buffer, Index], Atom]


def forward(items: list[Item], aliases: Aliases, needed: Callable[[Value], bool]) -> list[Item]:
    """The items without loads of what is at hand, and without scalars made twice.

    What is ``needed`` outside keeps its name.
    """
    return _Forwarding(aliases, needed).block(items, {}, {})


class _Forwarding:
    def __init__(self, aliases: Aliases, needed: Callable[[Value], bool]) -> None:
        self.aliases = aliases
        self.needed = needed
        self.names: dict[Value, Atom] = {}

    def read(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, Value) else atom

    def block(self, items: list[Item], held: Held, computed: dict[Any, Value]) -> list[Item]:
        made: list[Item] = []
        for item in items:
            match item:
                case Load(result=result, buffer=buffer, index=index):
                    known = held.get((buffer, index))
                    if known is not None:
                        self.names[result] = known
                        continue
                    held[buffer, index] = result
                case Store(buffer=buffer, index=index):
                    value = self.read(item.value)
                    self.forget(held, buffer, index)
                    held[buffer, index] = value
                    item = replace(item, value=value)
                case Let(result=result, callee=callee):
                    args = tuple(map(self.read, item.args))
                    key = (callee, tuple(_key(a) for a in args))
                    if key in computed and not self.needed(result):
                        self.names[result] = computed[key]
                        continue
                    computed[key] = result
                    item = replace(item, args=args)
                case Loop():
                    stored = written(item.body)
                    for buffer in stored:
                        self.forget(held, buffer, None)
                    body = self.block(item.body, dict(held), dict(computed))
                    item = Loop(item.variable, item.size, body)
                case Keep(op=op) if not isinstance(op, Apply):
                    held.clear()
            made.append(item)
        return made

    def forget(self, held: Held, buffer: Buffer, index: Index | None) -> None:
        """Drop what a store may have changed."""
        for other, place in list(held):
            apart = other is buffer and index is not None and _apart(place, index)
            if self.aliases.may(other, buffer) and not apart:
                del held[other, place]


def _apart(one: Index, other: Index) -> bool:
    """Whether two elements are surely different ones: an index below 0 counts from the end."""
    return any(
        (x - y).is_known and x != y and x.is_positive and y.is_positive
        for x, y in zip(one, other, strict=True)
    )


def _key(atom: Atom) -> Any:
    return ("literal", literal_key(atom.value)) if isinstance(atom, Literal) else atom


def written(items: Iterable[Item]) -> dict[Buffer, None]:
    """The buffers that are stored to."""
    return {i.buffer: None for i in all_items(list(items)) if isinstance(i, Store)}


def contract(items: list[Item], needed: Callable[[Value], bool]) -> list[Item]:
    """The items without memory and scalars that nobody reads."""
    while True:
        read = {i.buffer for i in all_items(items) if isinstance(i, (Load, Define))}
        own = {i.buffer for i in all_items(items) if isinstance(i, Alloc)}
        used: set[Value] = set()
        for item in all_items(items):
            match item:
                case Let():
                    used.update(a for a in item.args if isinstance(a, Value))
                case Store():
                    if isinstance(item.value, Value):
                        used.add(item.value)

        def drops(
            item: Item,
            read: set[Buffer] = read,
            own: set[Buffer] = own,
            used: set[Value] = used,
        ) -> bool:
            match item:
                case Alloc(buffer=buffer):
                    return buffer not in read
                case Store(buffer=buffer):
                    return buffer in own and buffer not in read
                case Load(result=result) | Let(result=result) | Measure(result=result):
                    return result not in used and not needed(result)
                case Loop(body=body):
                    return not body
            return False

        made = _without(items, drops)
        if sum(1 for _ in all_items(made)) == sum(1 for _ in all_items(items)):
            return made
        items = made


def _without(items: list[Item], drops: Callable[[Item], bool]) -> list[Item]:
    made: list[Item] = []
    for item in items:
        if isinstance(item, Loop):
            item = Loop(item.variable, item.size, _without(item.body, drops))
        if not drops(item):
            made.append(item)
    return made


def without_lost_stores(items: list[Item], aliases: Aliases) -> list[Item]:
    """The items without stores that are overwritten before anyone reads them."""
    made: list[Item] = []
    gone: dict[tuple[Buffer, Index], None] = {}
    for item in reversed(items):
        match item:
            case Store(buffer=buffer, index=index):
                if (buffer, index) in gone:
                    continue
                gone[buffer, index] = None
            case Load(buffer=buffer, index=index):
                for other, place in list(gone):
                    apart = other is buffer and _apart(place, index)
                    if aliases.may(other, buffer) and not apart:
                        del gone[other, place]
            case Loop():
                item = Loop(item.variable, item.size, without_lost_stores(item.body, aliases))
                gone.clear()
            case Keep() | Define():
                gone.clear()
        made.append(item)
    return made[::-1]
