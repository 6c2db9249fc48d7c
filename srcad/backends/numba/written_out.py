"""Calls of functions that are defined in other words become what their definitions return.

    y = diff(x)      |  t = getitem(x, slice(1, None))
                     |  t.2 = getitem(x, slice(None, -1))
                     |  y = sub(t, t.2)

What a definition is made of may have a definition itself: the pass goes on until none is left.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from srcad.backends.numba.definitions import DEFINITIONS
from srcad.errors import SourceError
from srcad.frontend.abstract import Static
from srcad.ir import Apply, Atom, Block, Function, Literal, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import SMALLEST, Array, Dim, Size, same_shape
from srcad.ir.walk import all_ops, map_atoms, map_blocks
from srcad.passes.dce import remove_dead_code
from srcad.passes.fold import fold_control
from srcad.transform import bodies

_ROUNDS = 5


def write_out(function: Function) -> Function:
    """The function with definitions in place of calls."""
    if "scipy.special" in sys.modules:
        import srcad.backends.numba.scipy_definitions  # noqa: F401  # it declares definitions
    for _ in range(_ROUNDS):
        pass_ = _WritingOut(function)
        body = pass_.block(function.body)
        if not pass_.names:
            break
        body = renamed(body, pass_.names)
        function = remove_dead_code(fold_control(replace(function, body=body)))
    return function


def renamed(body: Block, names: dict[Value, Atom]) -> Block:
    """The block with other atoms in place of some values."""

    def read(atom: Atom) -> Atom:
        while isinstance(atom, Value) and atom in names:
            atom = names[atom]
        return atom

    ops = tuple(map_atoms(op, read, lambda v: v) for op in body.ops)
    return Block(body.params, ops, tuple(map(read, body.yields)))


class _WritingOut:
    def __init__(self, function: Function) -> None:
        self.made = {op.result: op for op in all_ops(function.body) if isinstance(op, Apply)}
        self.names: dict[Value, Atom] = {}
        """What takes the place of results."""
        self.displays: dict[Value, tuple[Atom, ...]] = {}
        """The items of lists and tuples that definitions have made."""

    def block(self, block: Block, outer: Builder | None = None) -> Block:
        builder = Builder(outer, exact=False)
        for op in block.ops:
            found = self._definition(op)
            if isinstance(op, Apply) and found is not None and self._write(op, found, builder):
                continue
            if isinstance(op, Apply) and (item := self._item(op)) is not None:
                self.names[op.result] = item
                continue
            builder.append(map_blocks(op, lambda b: self.block(b, builder)))
        return builder.block(block.params, block.yields)

    @staticmethod
    def _definition(op: Op) -> Callable[..., Any] | None:
        try:
            return DEFINITIONS.get(op.callee) if isinstance(op, Apply) else None
        except TypeError:
            return None

    def _write(self, op: Apply, definition: Callable[..., Any], builder: Builder) -> bool:
        """Write what a call is in other words; whether there are some."""
        mark = builder.mark()
        before = builder.loc
        builder.loc = op.loc
        try:
            keywords = {name: self._known(atom) for name, atom in op.keywords}
            if _takes(definition, "known_sizes"):
                keywords["known_sizes"] = Literal(_known_sizes(op))
            if _takes(definition, "same_shape"):
                keywords["same_shape"] = Literal(same_shape(*map(atom_type, op.args[:2])))
            args = list(map(self._known, op.args))
            low, made = bodies.inline(builder, definition, args, keywords)
            known = isinstance(made, Static) and made.value is NotImplemented
            atom = None if known else low.atom(made)
        except SourceError:  # for such arguments there are no other words
            atom = None
        finally:
            builder.loc = before
        if atom is None:
            builder.rewind(mark)
            return False
        self.names[op.result] = atom
        display = builder.definition(atom)
        if display is not None and display.callee in (make_list, make_tuple):
            self.displays[op.result] = display.args
        return True

    def _known(self, atom: Atom) -> Any:
        """An argument: a list or a tuple item by item."""
        made = self.made.get(atom) if isinstance(atom, Value) else None
        if made is None or made.callee not in (make_list, make_tuple):
            return atom
        items = map(self._known, made.args)
        return tuple(items) if made.callee is make_tuple else list(items)

    def _item(self, op: Apply) -> Atom | None:
        """The item of a list that a definition has made."""
        if op.callee is not operator.getitem or not isinstance(op.args[1], Literal):
            return None
        items = self.displays.get(op.args[0]) if isinstance(op.args[0], Value) else None
        place = op.args[1].value
        if items is None or not isinstance(place, int) or not -len(items) <= place < len(items):
            return None
        return items[place]


@cache
def _takes(definition: Callable[..., Any], name: str) -> bool:
    return name in inspect.signature(definition).parameters


def _known_sizes(op: Apply) -> tuple[int | None, ...] | None:
    """The sizes of the first argument that are known: those of arguments are more than 1."""
    kind = atom_type(op.args[0])
    if not isinstance(kind, Array) or kind.dims is None:
        return None
    return tuple(map(_known_size, kind.dims))


def _known_size(size: Size) -> int | None:
    if isinstance(size, Dim):
        return SMALLEST if isinstance(size.base, str) and size.drop <= 0 else None
    return size
