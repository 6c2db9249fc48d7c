"""``sorted``, ``list.sort``, ``min`` and ``max``: keys decide the order, a gather applies it.

Numbers are sorted by the primitive itself.  With a key, or for tuples, the order is found first (an
integer array, which has no derivative) and the items are picked by it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from srcad.frontend import (
    calls,
    comprehensions,
    containers,
    expressions,
    iterators,
    methods,
    subscripts,
)
from srcad.frontend.abstract import (
    FALSE,
    NONE,
    Abstract,
    Held,
    Items,
    ListRef,
    SetRef,
    Static,
    TupleRef,
    known_values,
)
from srcad.frontend.control import choose
from srcad.frontend.lowering import Lowering, is_leaf
from srcad.ir import Atom, Literal, Value
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import INT, DictType, ListType, TupleType, Type, is_differentiable, join_all

Arguments = list[Abstract]
Keywords = dict[str, Abstract]


# ---- sorting


def sort_call(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``sorted(iterable, key=None, reverse=False)``"""
    if isinstance(args[0], SetRef) and "key" not in keywords:  # in whichever order they come
        args = [TupleRef(tuple(map(Static, methods.set_values(low, args[0]))))]
    listed = args[0] if isinstance(args[0], ListRef) else containers.to_list(low, args[0])
    return low.new_list(sorted_contents(low, listed, **keywords))


def sort_method(low: Lowering, ref: ListRef, **keywords: Abstract) -> Abstract:
    """``list.sort``"""
    made = sorted_contents(low, ref, **keywords)
    if isinstance(low.contents(ref), Held):
        containers.writable(low, ref)
    low.set_contents(ref, made)
    return NONE


def sorted_contents(
    low: Lowering, listed: ListRef, key: Abstract = NONE, reverse: Abstract = FALSE
) -> Items | Held:
    """The contents of a list in order."""
    backward = expressions.truth(low, reverse)
    if not isinstance(backward, bool):
        low.refuse("the direction of a sort depends on data", "sort in each branch of an if")
    contents = low.contents(listed)
    plain = isinstance(key, Static) and key.value is None
    if isinstance(contents, Items):
        keys = [item if plain else calls.call(low, key, [item], {}) for item in contents.items]
        known = _deciding(keys)
        if known is not None:
            order = sorted(range(len(known)), key=lambda k: known[k], reverse=backward)
            return Items(tuple(contents.items[k] for k in order))
        if not (plain and all(map(is_leaf, contents.items))):
            return _permuted(low, contents.items, keys, backward)
    if not plain or _is_ordered_by_parts(low, listed):
        return _permuted_list(low, listed, key, backward)
    named: dict[str, Any] = {"reverse": Literal(True)} if backward else {}
    made = low.builder.apply(sorted, low.peek(listed), **named)
    ref = containers.wrap(low, made)
    if isinstance(ref, ListRef):
        found = low.contents(ref)
        assert isinstance(found, (Items, Held))
        return found
    assert isinstance(made, Value)
    return Held(made)


def _deciding(keys: list[Abstract]) -> list[Any] | None:
    """Known objects in the order of the keys: the keys, or their first parts if those differ."""
    known = known_values(keys)
    if known is None and all(isinstance(k, TupleRef) and k.items for k in keys):
        known = known_values(k.items[0] for k in keys if isinstance(k, TupleRef))
        if known is not None and len(set(known)) < len(known):
            return None
    return None if known is None else list(known)


def _order(low: Lowering, columns: list[Atom], count: Atom, backward: bool) -> Value:
    """The positions of the items in order, as an integer array; equal keys keep their order."""
    apply = low.builder.apply
    turned = Literal(slice(None, None, -1))
    if backward:  # equal keys keep their order here too: sort from the end, then turn around
        columns = [apply(operator.getitem, c, turned) for c in columns]
    if len(columns) == 1:
        order = apply(np.argsort, columns[0], kind=Literal("stable"))
    else:
        order = apply(np.lexsort, apply(make_tuple, *reversed(columns)))
    if backward:
        last = apply(operator.sub, count, Literal(1))
        order = apply(operator.sub, last, apply(operator.getitem, order, turned))
    return _value(order)


def _value(atom: Atom) -> Value:
    assert isinstance(atom, Value)
    return atom


def _permuted(
    low: Lowering, items: tuple[Abstract, ...], keys: list[Abstract], backward: bool
) -> Items:
    """Known items in an order that depends on data."""
    apply = low.builder.apply
    order = _order(low, _columns(low, keys), Literal(len(items)), backward)
    picked = []
    source = _Source(low, items)
    for k in range(len(items)):
        entry = apply(operator.getitem, order, Literal(k))
        picked.append(source.pick(low.builder.apply_typed(int, (entry,), INT)))
    return Items(tuple(picked))


def _columns(low: Lowering, keys: list[Abstract]) -> list[Atom]:
    """The keys as lists of numbers: one, or one for each component of tuples."""
    apply = low.builder.apply
    if all(map(is_leaf, keys)):
        return [apply(make_list, *map(low.atom, keys))]
    tuples = [k.items for k in keys if isinstance(k, TupleRef) and all(map(is_leaf, k.items))]
    if len(tuples) < len(keys) or len(set(map(len, tuples))) != 1:
        low.refuse("objects of different kinds are sorted", "sort numbers, or tuples of numbers")
    return [apply(make_list, *map(low.atom, column)) for column in zip(*tuples, strict=True)]


class _Source:
    """Items to pick from at run-time positions, component by component where they are tuples."""

    def __init__(self, low: Lowering, items: tuple[Abstract, ...]) -> None:
        self.low = low
        self.parts: list[_Source] = []
        self.cls: type = tuple
        tuples = [i for i in items if isinstance(i, TupleRef)]
        shapes = {(i.cls, len(i.items)) for i in tuples}
        if len(tuples) == len(items) and len(shapes) == 1:
            self.cls = tuples[0].cls
            self.parts = [_Source(low, c) for c in zip(*(t.items for t in tuples), strict=True)]
        elif all(map(is_leaf, items)):
            atoms = tuple(map(low.atom, items))
            kind = ListType(join_all(tuple(map(atom_type, atoms))))
            self.made = low.builder.apply_typed(make_list, atoms, kind)
        else:
            low.refuse(
                "objects of different kinds are sorted", "sort numbers, or tuples of numbers"
            )

    def pick(self, index: Value) -> Abstract:
        """The item at a position."""
        if self.parts:
            return TupleRef(tuple(p.pick(index) for p in self.parts), self.cls)
        found = self.low.builder.apply(operator.getitem, self.made, index)
        return containers.wrap(self.low, found)


def _permuted_list(low: Lowering, listed: ListRef, key: Abstract, backward: bool) -> Held | Items:
    """A list of run-time length in the order of a key, or of the parts of its items."""
    order = _order_of_list(low, listed, key, backward)
    indices = containers.wrap(low, low.builder.apply(np.ndarray.tolist, order))
    picked = comprehensions.transform(low, indices, partial(subscripts.get_item, low, listed))
    found = low.contents(picked)
    assert isinstance(found, (Items, Held))
    return found


def _is_ordered_by_parts(low: Lowering, listed: ListRef) -> bool:
    """Whether the items of a list of run-time length are more than a number each, with data."""
    kind = _item_type(low, listed)
    return isinstance(kind, (TupleType, ListType)) and is_differentiable(kind)


def _item_type(low: Lowering, listed: ListRef) -> Type | None:
    kind = atom_type(low.peek(listed))
    return kind.item if isinstance(kind, ListType) else None


def _order_of_list(low: Lowering, listed: ListRef, key: Abstract, backward: bool) -> Value:
    keys = _keys(low, listed, key)
    count = low.atom(containers.length(low, listed))
    return _order(low, _columns_of_list(low, keys), count, backward)


def _keys(low: Lowering, listed: ListRef, key: Abstract) -> ListRef:
    if isinstance(key, Static) and key.value is None:
        return listed
    return comprehensions.map_list(low, key, [listed])


def _columns_of_list(low: Lowering, keys: ListRef) -> list[Atom]:
    """The keys, of which run time knows how many, as lists of numbers: one for each component."""
    kind = _item_type(low, keys)
    if not isinstance(kind, (TupleType, ListType, DictType)):
        return [low.peek(keys)]
    if not isinstance(kind, TupleType) or kind.cls is list:
        low.refuse(
            "lists or dicts are put in order",
            "order them by numbers: key=lambda row: (row[0], row[1])",
        )
    columns: list[Atom] = []
    for k in range(len(kind.items)):
        part = partial(_component, low, Static(k))
        columns += _columns_of_list(low, comprehensions.transform(low, keys, part))
    return columns


def _component(low: Lowering, place: Static, item: Abstract) -> Abstract:
    return subscripts.get_item(low, item, place)


# ---- minimum and maximum


def extreme(function: Any) -> Callable[[Lowering, Arguments, Keywords], Any]:
    """The handler of ``max`` or ``min``."""

    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        named = dict(keywords)
        key, default = named.pop("key", NONE), named.pop("default", None)
        if len(args) == 1 and isinstance(args[0], Value):
            return _of_value(low, function, args[0], key, default)
        if len(args) == 1:
            args = [iterators.consumed(low, args[0])]
        items = tuple(args) if len(args) > 1 else containers.items_of(low, args[0])
        if items is None:
            listed = args[0] if isinstance(args[0], ListRef) else containers.to_list(low, args[0])
            return _with_default(
                low, listed, default, partial(_of_list, low, function, listed, key)
            )
        if not items:
            if default is not None:
                return default
            low.raise_known(ValueError(f"{function.__name__}() arg is an empty sequence"))
        if not (isinstance(key, Static) and key.value is None):
            return _by_key(low, function, items, lambda item: calls.call(low, key, [item], {}))
        if not all(map(is_leaf, items)):
            return _by_key(low, function, items, lambda item: item)
        best = items[0]
        for item in items[1:]:
            if isinstance(best, Static) and isinstance(item, Static):
                best = Static(function(best.value, item.value))
            else:
                best = containers.wrap(
                    low, low.builder.apply(function, low.atom(best), low.atom(item))
                )
        return best

    return handler


def _of_value(
    low: Lowering, function: Any, value: Value, key: Abstract, default: Abstract | None
) -> Any:
    if default is None and isinstance(key, Static) and key.value is None:
        return NotImplemented
    listed = containers.to_list(low, value)
    return _with_default(low, listed, default, partial(_of_list, low, function, listed, key))


def _with_default(
    low: Lowering, listed: ListRef, default: Abstract | None, best: Callable[[], Abstract]
) -> Abstract:
    if default is None:
        return best()
    some = expressions.truth(low, listed)
    if isinstance(some, bool):
        return best() if some else default
    return choose(low, some, best, lambda: default)


def _of_list(low: Lowering, function: Any, listed: ListRef, key: Abstract) -> Abstract:
    """Of a list of run-time length: the first of the best."""
    apply = low.builder.apply
    plain = isinstance(key, Static) and key.value is None
    if plain and not _is_ordered_by_parts(low, listed):
        return containers.wrap(low, apply(function, low.peek(listed)))
    keys = _keys(low, listed, key)
    if isinstance(_item_type(low, keys), TupleType):  # the best is the first in order
        order = _order_of_list(low, keys, NONE, function is max)
        found = apply(np.argmin, apply(np.argsort, order))
    else:
        found = apply(np.argmax if function is max else np.argmin, low.peek(keys))
    index = low.builder.apply_typed(int, (found,), INT)
    return subscripts.get_item(low, listed, index)


def _by_key(
    low: Lowering,
    function: Any,
    items: tuple[Abstract, ...],
    key: Callable[[Abstract], Abstract],
) -> Abstract:
    better = operator.gt if function is max else operator.lt
    best, score = items[0], key(items[0])
    for item in items[1:]:
        other = key(item)
        wins = expressions.truth(low, expressions.binary_compare(low, better, other, score))
        if isinstance(wins, bool):
            best, score = (item, other) if wins else (best, score)
            continue
        pair = choose(low, wins, partial(_pair, item, other), partial(_pair, best, score))
        best, score = containers.unpack(low, pair, 2)
    return best


def _pair(a: Abstract, b: Abstract) -> Abstract:
    return TupleRef((a, b))
