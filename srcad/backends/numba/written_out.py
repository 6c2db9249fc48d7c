"""Calls of functions that are defined in other words become what their definitions return.

    y = diff(x)      |  t = getitem(x, slice(1, None))
                     |  t.2 = getitem(x, slice(None, -1))
                     |  y = sub(t, t.2)

What a definition is made of may have a definition itself: the pass goes on until none is left.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from srcad.backends.numba.definitions import DEFINITIONS
from srcad.errors import SourceError
from srcad.frontend.abstract import Static
from srcad.ir import Apply, Atom, Block, Function, Literal, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_list, make_tuple
from srcad.ir.walk import map_atoms, map_blocks
from srcad.passes.dce import remove_dead_code
from srcad.passes.fold import fold_control
from srcad.transform import bodies

_ROUNDS = 5


def write_out(function: Function) -> Function:
    """The function with definitions in place of calls."""
    if "scipy.special" in sys.modules:
        import srcad.backends.numba.scipy_definitions  # noqa: F401  # it declares definitions
    for _ in range(_ROUNDS):
        pass_ = _WritingOut()
        body = pass_.block(function.body)
        if not pass_.names:
            break
        body = _renamed(body, pass_.names)
        function = remove_dead_code(fold_control(replace(function, body=body)))
    return function


def _renamed(body: Block, names: dict[Value, Atom]) -> Block:
    def read(atom: Atom) -> Atom:
        while isinstance(atom, Value) and atom in names:
            atom = names[atom]
        return atom

    ops = tuple(map_atoms(op, read, lambda v: v) for op in body.ops)
    return Block(body.params, ops, tuple(map(read, body.yields)))


class _WritingOut:
    def __init__(self) -> None:
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
            low, made = bodies.inline(builder, definition, list(op.args), dict(op.keywords))
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

    def _item(self, op: Apply) -> Atom | None:
        """The item of a list that a definition has made."""
        if op.callee is not operator.getitem or not isinstance(op.args[1], Literal):
            return None
        items = self.displays.get(op.args[0]) if isinstance(op.args[0], Value) else None
        place = op.args[1].value
        if items is None or not isinstance(place, int) or not -len(items) <= place < len(items):
            return None
        return items[place]
