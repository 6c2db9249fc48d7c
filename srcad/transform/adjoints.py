"""Adjoints while a reverse sweep is being written: what each value has received so far."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from srcad import runtime
from srcad.errors import NotDifferentiable, Place
from srcad.ir import Atom, Literal, Loc, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    TupleType,
    is_differentiable,
    join_all,
    may_hide,
    rank,
)
from srcad.transform import spaces


def refuse_hidden(loc: Loc | None) -> NoReturn:
    """Active data went through an object that cannot be followed."""
    place = None if loc is None else Place(loc.file, loc.line, loc.column, loc.text)
    raise NotDifferentiable(
        place,
        "a derivative goes through an object that srcad cannot look into",
        "keep numbers and arrays in variables, tuples, lists, dicts or dataclasses",
    )


class Parts:
    """The adjoint of a tuple, item by item; None where nothing has arrived."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Atom | Parts | None, ...]) -> None:
        self.items = items


State = Value | Literal | Parts


class Adjoints:
    """Adjoints of the values of one block, written into its builder.

    ``outer`` is asked for values of the blocks around: branches go on from what has arrived there,
    loops start with a parameter of their own (``enter``).
    """

    def __init__(
        self, builder: Builder, active: Callable[[Value], bool], outer: Adjoints | None = None
    ) -> None:
        self.builder = builder
        self.active = active
        self.outer = outer
        self.states: dict[Value, Any] = {}
        self._last: dict[Value, tuple[Any, Any, Any]] = {}
        """The last contribution to a value: what had arrived before, the term, their sum."""

    def enter(self, value: Value) -> Any:
        """What has arrived at a value of the blocks around, seen from this one."""
        return None if self.outer is None else self.outer.get(value)

    def get(self, value: Value) -> Any:
        """What has arrived so far; None if nothing has."""
        if value not in self.states:
            state = self.enter(value)
            if state is None:
                return None
            return state
        return self.states[value]

    def take(self, value: Value) -> Atom | None:
        """The complete adjoint of a value, as one atom."""
        state = self.get(value)
        return None if state is None else self.atom(state, value)

    def atom(self, state: Any, value: Value) -> Atom:
        """A state as an atom: tuples are built, with zeros where nothing has arrived."""
        if not isinstance(state, Parts):
            found: Atom = state
            return found
        kind = value.type
        assert isinstance(kind, TupleType)
        parts: list[Atom] = []
        for k, (item, part) in enumerate(zip(kind.items, state.items, strict=True)):
            if not is_differentiable(item):
                parts.append(Literal(None))
            elif part is None:
                inner = self.builder.apply(operator.getitem, value, Literal(k))
                parts.append(spaces.zeros(self.builder, inner))
            else:
                inner_value = Value("", item)
                parts.append(self.atom(part, inner_value) if isinstance(part, Parts) else part)
        return self.builder.apply(make_list if kind.cls is list else make_tuple, *parts)

    def part(self, value: Value, index: int) -> Atom | None:
        """What has arrived at one item of a tuple."""
        state = self.get(value)
        if state is None:
            return None
        if isinstance(state, Parts):
            found = state.items[index]
            if isinstance(found, Parts):
                assert isinstance(value.type, TupleType)
                return self.atom(found, Value("", value.type.items[index]))
            return found
        return self.builder.apply(operator.getitem, state, Literal(index))

    def set(self, value: Value, state: Any) -> None:
        """Replace what has arrived."""
        self.states[value] = state

    def add(self, target: Atom, term: Any) -> None:
        """A contribution to the adjoint of a value."""
        if term is None or not isinstance(target, Value):
            return
        if may_hide(target.type) and self.active(target):
            refuse_hidden(self.builder.loc)
        if not is_differentiable(target.type):
            return
        if isinstance(term, Literal) and term.value is None:
            return
        if not self.active(target):
            return
        state = self.get(target)
        before, last, total = self._last.get(target, (None, None, None))
        if state is not None and state is total and last is term and _is_plain(atom_type(term)):
            # twice the same, as from x * x
            state, term = before, self.builder.apply(operator.mul, Literal(2), term)
        made = self._named(term, target) if state is None else self._sum(state, term, target)
        self._last[target] = (state, term, made)
        self.states[target] = made

    def _named(self, term: Any, target: Value) -> Any:
        """The first contribution, under the name of the adjoint if it has none yet."""
        hint = spaces.value_hint(target, "_bar")
        if isinstance(term, Value) and isinstance(term.type, (ListType, DictType)):
            # written in place from here on, and whoever handed it over may have others to serve
            return self.builder.apply_typed(runtime.copied, (term,), term.type, hint)
        if isinstance(term, Value) and not term.hint and self.builder.makes(term):
            term.hint = hint  # what the primal has computed keeps its own name
        return term

    def _sum(self, state: Any, term: Any, target: Value) -> Any:
        if isinstance(state, Parts) or isinstance(term, Parts):
            left, right = self._parts(state, target), self._parts(term, target)
            kind = target.type
            assert isinstance(kind, TupleType)
            items = []
            for item, p, q in zip(kind.items, left.items, right.items, strict=True):
                if p is None or q is None:
                    items.append(q if p is None else p)
                else:
                    items.append(self._sum(p, q, Value("", item)))
            return Parts(tuple(items))
        return spaces.add(self.builder, state, term, spaces.value_hint(target, "_bar"))

    def _parts(self, state: Any, target: Value) -> Parts:
        if isinstance(state, Parts):
            return state
        kind = target.type
        assert isinstance(kind, TupleType)
        return Parts(
            tuple(
                self.builder.apply(operator.getitem, state, Literal(k))
                if is_differentiable(item)
                else None
                for k, item in enumerate(kind.items)
            )
        )

    def add_part(self, target: Value, index: int, term: Atom) -> None:
        """A contribution to one item of a tuple."""
        kind = target.type
        assert isinstance(kind, TupleType)
        if not is_differentiable(kind.items[index]) or not self.active(target):
            return
        items: list[Any] = [None] * len(kind.items)
        items[index % len(items)] = term
        parts = Parts(tuple(items))
        state = self.get(target)
        self.states[target] = parts if state is None else self._sum(state, parts, target)

    def add_at(self, target: Value, index: Atom, term: Atom) -> None:
        """A contribution to the items at an index: the target starts from zeros."""
        if not is_differentiable(target.type) or not self.active(target):
            return
        if rank(target.type) == 0:  # `x[None]`: the index may have made axes
            self.add(
                target, term if rank(atom_type(term)) == 0 else self.builder.apply(np.sum, term)
            )
            return
        hint = spaces.value_hint(target, "_bar")
        state = self.get(target)
        current = (
            spaces.zeros(self.builder, target, hint) if state is None else self.atom(state, target)
        )
        if isinstance(target.type, TupleType) and not isinstance(atom_type(current), ListType):
            # an item at a run-time index: the adjoint of a tuple becomes a list
            item = join_all(tuple(map(spaces.tangent_type, target.type.items)))
            current = self.builder.apply_typed(list, (current,), ListType(item), hint)
        kind = atom_type(current)
        item = atom_type(term)
        if (
            isinstance(kind, (ListType, DictType))
            and not _is_plain(item)
            and isinstance(current, Value)
        ):
            # items that `+=` does not add: tuples and lists
            old: Atom
            if isinstance(kind, DictType):
                old = self.builder.apply_typed(dict.get, (current, index), item)
            else:
                old = self.builder.apply(operator.getitem, current, index)
            new = self.builder.apply_typed(runtime.add, (old, term), item)
            self.states[target] = self.builder.update(operator.setitem, current, index, new)
            return
        self.states[target] = self.builder.accumulate(current, index, term, hint)


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, (Array, Number, NumPyScalar))
