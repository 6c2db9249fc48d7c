"""Memory that each iteration has for itself is used by all of them.

    e = alloc (n, m)                     |    e = alloc (m)
    for i in range(n)                    |    for i in range(n)
      for j in range(m): e[i, j] = …     |      for j in range(m): e[j] = …
      for j in range(m): … e[i, j] …     |      for j in range(m): … e[j] …

Where an index is the variable of a loop that all accesses are in, iterations share no element.
What is as large as a row stays in the cache.
"""

from __future__ import annotations

from dataclasses import replace

from srcad.analysis.affine import only
from srcad.backends.loops.items import Alloc, Buffer, Define, Index, Item, Load, Loop, Store
from srcad.ir import Value
from srcad.ir.types import Array

_Access = tuple[Index, tuple[Loop, ...]]
"""An index, and the loops around it."""


def narrowed(items: list[Item]) -> list[Item]:
    """The items with memory of one iteration for that of all."""
    accesses: dict[Buffer, list[_Access]] = {}
    fixed: set[Buffer] = set()
    _collect(items, (), accesses, fixed)
    kept: dict[Buffer, tuple[Buffer, tuple[int, ...]]] = {}
    for item in items:
        if isinstance(item, Alloc) and not item.zeros and item.buffer not in fixed:
            axes = _axes(item.buffer, accesses.get(item.buffer, []))
            if axes is not None:
                kept[item.buffer] = _like(item.buffer, axes), axes
    return items if not kept else [_renamed(item, kept) for item in items]


def _collect(
    items: list[Item],
    around: tuple[Loop, ...],
    accesses: dict[Buffer, list[_Access]],
    fixed: set[Buffer],
) -> None:
    for item in items:
        match item:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                accesses.setdefault(buffer, []).append((index, around))
            case Define(buffer=buffer):
                fixed.add(buffer)
            case Loop(body=body):
                _collect(body, (*around, item), accesses, fixed)
            case _:
                pass


def _axes(buffer: Buffer, accesses: list[_Access]) -> tuple[int, ...] | None:
    """The axes that one iteration needs; None if it needs all of them, or none."""
    if buffer.is_cell or not accesses:
        return None
    first, around = accesses[0]
    shared = [loop for loop in around if all(loop in other for _, other in accesses)]
    variables = [only(loop.variable) for loop in shared]
    axes = tuple(
        k
        for k, place in enumerate(first)
        if place not in variables or any(index[k] != place for index, _ in accesses)
    )
    return axes if 0 < len(axes) < len(first) else None


def _like(buffer: Buffer, axes: tuple[int, ...]) -> Buffer:
    sizes = tuple(buffer.sizes[k] for k in axes)
    hint = "" if buffer.like is None else buffer.like.hint
    like = Value(hint, Array(buffer.dtype, (None,) * len(axes)))
    return Buffer(buffer.dtype, sizes, buffer.mask, None, like)


def _renamed(item: Item, kept: dict[Buffer, tuple[Buffer, tuple[int, ...]]]) -> Item:
    match item:
        case Loop(body=body):
            return Loop(item.variable, item.size, [_renamed(i, kept) for i in body])
        case Alloc(buffer=buffer) if buffer in kept:
            return replace(item, buffer=kept[buffer][0])
        case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index) if buffer in kept:
            made, axes = kept[buffer]
            return replace(item, buffer=made, index=tuple(index[k] for k in axes))
    return item
