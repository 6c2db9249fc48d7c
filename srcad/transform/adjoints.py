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
from srcad.ir.places import place_of
from srcad.ir.sharing import READ_ONLY, holds_arrays, views
from srcad.ir.simplify.shortcuts import without_new_axes
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Optional,
    TupleType,
    Type,
    is_differentiable,
    is_text,
    join_all,
    may_hide,
    rank,
)
from srcad.transform import spaces


def refuse_hidden(loc: Loc | None, kind: Type) -> NoReturn:
    """Active data went through an object of a type that cannot be followed."""
    place = place_of(loc)
    if is_text(kind):
        raise NotDifferentiable(
            place,
            "a derivative goes through text",
            "use the number itself, or srcad.stop_gradient(x) if it is to count as a constant",
        )
    raise hidden(place)


def hidden(place: Place | None) -> NotDifferentiable:
    """The error of active data in an object that is not looked into."""
    return NotDifferentiable(
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
        self.owned: set[Value] = set() if outer is None else outer.owned
        """Arrays that only one adjoint refers to: they may be written in place."""
        self.in_order: frozenset[Value] = frozenset() if outer is None else outer.in_order
        """Arrays whose adjoints are written as if they had another shape (``writes.in_order``)."""
        self.ordered: set[Value] = set() if outer is None else outer.ordered
        """Adjoints that are known to be in C order."""
        self.memory: dict[Value, Value] = {}
        """What versions of written arrays are restored to, in the reverse sweep."""
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

    def own(self, value: Value) -> Value:
        """What has arrived at an array, as memory that may be written: a copy if it is shared."""
        state = self.atom(self.get(value), value)
        if isinstance(state, Value) and self._is_own(state, value):
            return state
        b = self.builder
        hint = spaces.value_hint(value, "_bar")
        if spaces.may_be_missing(b, value):  # so may be what has arrived
            copy = b.apply_typed(runtime.copied, (state,), value.type, hint)
        elif rank(value.type) == 0:  # NumPy's arithmetic makes numbers of arrays without axes
            copy = b.apply_typed(np.array, (state,), value.type, hint)
        else:
            full, in_order = spaces.spread(b, state, value), value in self.in_order
            copy = spaces.copied(b, full, value.type, hint, in_order=in_order)
        self.owned.add(copy)
        self.ordered.add(copy)
        self.set(value, copy)
        return copy

    def _is_own(self, state: Value, value: Value) -> bool:
        if state not in self.owned:
            op = self.builder.definition(state)
            if (
                rank(value.type) == 0
                or op is None
                or state.type != value.type
                or op.callee in READ_ONLY
                or views(op)
            ):
                return False
        if value in self.in_order and not self.is_ordered(state):
            return False
        adjoints: Adjoints | None = self
        while adjoints is not None:
            others = [s for v, s in adjoints.states.items() if v is not value]
            if any(self._refers(other, state) for other in others):
                return False
            adjoints = adjoints.outer
        return True

    def is_ordered(self, state: Atom) -> bool:
        """Whether an adjoint is known to be in C order."""
        made = self.builder.definition(state)
        return state in self.ordered or (made is not None and made.callee is np.zeros)

    def _refers(self, state: Any, array: Value) -> bool:
        """Whether what has arrived elsewhere is an array, or may be a view of it."""
        if isinstance(state, Parts):
            return any(self._refers(item, array) for item in state.items)
        if state is array:
            return True
        if not isinstance(state, Value) or not holds_arrays(state.type):
            return False
        op = self.builder.definition(state)
        return op is not None and any(self._refers(source, array) for source in views(op))

    def restored(self, version: Value) -> Value | None:
        """The memory that holds a version of a written array at this point of the reverse sweep."""
        adjoints: Adjoints | None = self
        while adjoints is not None:
            if version in adjoints.memory:
                return adjoints.memory[version]
            adjoints = adjoints.outer
        return None

    def take(self, value: Value) -> Atom | None:
        """The complete adjoint of a value, as one atom."""
        state = self.get(value)
        return None if state is None else self.atom(state, value)

    def _item(self, value: Atom, index: int) -> Atom:
        """One item of a tuple."""
        return self.builder.apply(operator.getitem, value, Literal(index))

    def atom(self, state: Any, value: Atom) -> Atom:
        """A state as an atom: tuples are built, with zeros where nothing has arrived."""
        if not isinstance(state, Parts):
            found: Atom = state
            return found
        kind = atom_type(value)
        if isinstance(kind, Optional):
            kind = kind.item
        assert isinstance(kind, TupleType)
        parts: list[Atom] = []
        for k, (item, part) in enumerate(zip(kind.items, state.items, strict=True)):
            if not is_differentiable(item):
                parts.append(Literal(None))
            elif part is None:
                parts.append(spaces.zeros(self.builder, self._item(value, k)))
            else:
                parts.append(self.atom(part, self._item(value, k)))
        return self.builder.apply(make_list if kind.cls is list else make_tuple, *parts)

    def part(self, value: Value, index: int) -> Atom | None:
        """What has arrived at one item of a tuple."""
        state = self.get(value)
        return None if state is None else self.part_of(state, value, index)

    def part_of(self, state: Any, value: Value, index: int) -> Atom | None:
        """One item of what has arrived at a tuple; None where nothing has."""
        if isinstance(state, Parts):
            found = state.items[index]
            return None if found is None else self.atom(found, self._item(value, index))
        return self.builder.apply(operator.getitem, state, Literal(index))

    def drop(self, value: Value) -> None:
        """Forget what has arrived at a value that is defined here: it has been passed on."""
        self.states.pop(value, None)

    def set(self, value: Value, state: Any) -> None:
        """Replace what has arrived."""
        self.states[value] = state

    def add(self, target: Atom, term: Any) -> None:
        """A contribution to the adjoint of a value."""
        if term is None or not isinstance(target, Value):
            return
        if not is_differentiable(target.type):
            if may_hide(target.type) and self.active(target):
                refuse_hidden(self.builder.loc, target.type)
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

    def _sum(self, state: Any, term: Any, target: Atom) -> Any:
        if isinstance(state, Parts) or isinstance(term, Parts):
            left, right = self._parts(state, target), self._parts(term, target)
            items = []
            for k, (p, q) in enumerate(zip(left.items, right.items, strict=True)):
                if p is None or q is None:
                    items.append(q if p is None else p)
                else:
                    items.append(self._sum(p, q, self._item(target, k)))
            return Parts(tuple(items))
        hint = spaces.value_hint(target, "_bar")
        total = self._made(spaces.add(self.builder, state, term, target, hint))
        if total in self.owned and self.is_ordered(state):
            self.ordered.add(total)  # in NumPy's sums of arrays of several orders C order wins
        return total

    def _made(self, total: Atom) -> Atom:
        """A sum is memory of its own."""
        if isinstance(total, Value) and isinstance(total.type, Array) and total.type.dims != ():
            self.owned.add(total)
        return total

    def _parts(self, state: Any, target: Atom) -> Parts:
        if isinstance(state, Parts):
            return state
        kind = atom_type(target)
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
        kind = target.type.item if isinstance(target.type, Optional) else target.type
        assert isinstance(kind, TupleType)
        if not is_differentiable(kind.items[index]) or not self.active(target):
            return
        items: list[Any] = [None] * len(kind.items)
        items[index % len(items)] = term
        parts = Parts(tuple(items))
        if isinstance(target.type, Optional):  # here it is not None, elsewhere it may be
            self.add(target, self.atom(parts, target))
            return
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
        back = without_new_axes(index)
        if back is not None and isinstance(target.type, Array) and target.type.dims is not None:
            self.add(target, self.builder.apply(operator.getitem, term, Literal(back)))
            return
        hint = spaces.value_hint(target, "_bar")
        state = self.get(target)
        current = (
            spaces.zeros(self.builder, target, hint) if state is None else self.atom(state, target)
        )
        if isinstance(target.type, TupleType) and not isinstance(atom_type(current), ListType):
            # an item at a run-time index: the adjoint of a tuple becomes a list
            whole = ListType(join_all(target.type.items))
            current = spaces.widened(self.builder, current, target, whole)
            current = self.builder.apply_typed(list, (current,), spaces.tangent_type(whole), hint)
        added = self.with_term(target, self.builder, current, index, term, hint)
        if self.is_ordered(current):
            self.ordered.add(added)
        self.states[target] = self._made(added)

    def with_term(
        self, target: Value, b: Builder, current: Atom, index: Atom, term: Atom, hint: str = ""
    ) -> Value:
        """An adjoint of the target with a term added to its items at an index."""
        kind, item = atom_type(current), atom_type(term)
        if (
            isinstance(kind, (ListType, DictType))
            and isinstance(current, Value)
            and not (_is_plain(item) and self._items_exist(target))
        ):
            # items that `+=` does not add: tuples and lists, and None for what does not exist
            old: Atom
            if isinstance(kind, DictType):
                old = b.apply_typed(dict.get, (current, index), item)
            else:
                old = b.apply(operator.getitem, current, index)
            new = None
            if isinstance(kind, ListType) and self._items_exist(target):
                new = spaces.sum_of_numbers(b, old, term)
            if new is None:
                new = b.apply_typed(runtime.add, (old, term), item)
            return b.update(operator.setitem, current, index, new)
        return b.accumulate(current, index, term, hint)

    def _items_exist(self, target: Value) -> bool:
        kind = target.type
        if isinstance(kind, (ListType, DictType)) and isinstance(kind.item, Number):
            return True  # their zeros are numbers
        held = kind.item if isinstance(kind, (ListType, DictType)) else kind
        return not (isinstance(held, Optional) or spaces.may_be_missing(self.builder, target))


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, (Array, Number, NumPyScalar))
