"""Loops over elements while they are being made: memory is written here, not versioned.

A block of the IR becomes a list of items.  Memory is a ``Buffer``, read and written element by
element; a *cell* is a buffer without axes, a running sum.  ``rebuild`` makes SSA of it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from srcad.analysis.affine import Affine, Sizes, Symbol
from srcad.backends.loops.known import Check
from srcad.ir import Atom, Op, Value


@dataclass(slots=True, eq=False)
class Buffer:
    """Memory."""

    dtype: str
    sizes: Sizes
    mask: int
    """Which memory it may be, as ``codegen.memory`` has it."""
    latest: Value | None = None
    """The array, as the operation that was looked at last has left it."""
    like: Value | None = None
    """The value that it is made for: its name and type."""

    @property
    def is_cell(self) -> bool:
        """Whether it is one number, kept in a variable."""
        return self.latest is None and not self.sizes


Index = tuple[Affine, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """A scalar."""

    result: Value
    callee: Callable[..., Any]
    args: tuple[Atom, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """A sum of sizes as a scalar."""

    result: Value
    size: Affine


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """An element is read."""

    result: Value
    buffer: Buffer
    index: Index


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """An element is written."""

    buffer: Buffer
    index: Index
    value: Atom


@dataclass(frozen=True, slots=True, eq=False)
class Alloc:
    """Memory is made, with anything in it or with zeros."""

    buffer: Buffer
    zeros: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Define:
    """From here on a value is what is in the buffer."""

    value: Value
    buffer: Buffer


@dataclass(frozen=True, slots=True, eq=False)
class Require:
    """A check."""

    check: Check


@dataclass(frozen=True, slots=True, eq=False)
class Keep:
    """An operation that stays as it is."""

    op: Op
    is_view: bool = False
    """Whether it makes a view: it reads no elements."""
    writes: Buffer | None = None
    """What it makes a new version of."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """``for variable in range(size)``"""

    variable: Symbol
    size: Affine
    body: list[Item] = field(default_factory=list)


Item = Let | Measure | Load | Store | Alloc | Define | Require | Keep | Loop


def all_items(items: list[Item]) -> Iterator[Item]:
    """Items and those in loops, in order."""
    for item in items:
        yield item
        if isinstance(item, Loop):
            yield from all_items(item.body)


def variable(serial: int, hint: str, kind: Any) -> Symbol:
    """A loop variable; those of loops made later come later in sums."""
    return Symbol(serial, Value(hint, kind), None, is_positive=True)


def same(x: Any) -> Any:
    """Stands for no operation: its result is its argument."""
    return x
