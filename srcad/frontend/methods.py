"""The methods of lists, dicts, sets and tuples."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from srcad.frontend import (
    comprehensions,
    containers,
    expressions,
    iterators,
    orderings,
    subscripts,
)
from srcad.frontend.abstract import (
    NONE,
    Abstract,
    DictRef,
    DictView,
    Entries,
    Held,
    Items,
    ListRef,
    Members,
    Poison,
    SetRef,
    Static,
    TupleRef,
)
from srcad.frontend.control import branch, choose
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, NeedsUnroll, is_leaf
from srcad.ir import Literal, Value

_LAST = Static(-1)


def call_method(
    low: Lowering, ref: Abstract, name: str, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A method of a list, dict or tuple."""
    method = _METHODS.get((type(ref), name))
    if method is None:
        low.refuse(
            f"the method {name} of this container is not supported", "build a new list instead"
        )
    result: Abstract = method(low, ref, *args, **keywords)
    return result


def _append(low: Lowering, ref: ListRef, item: Abstract) -> Abstract:
    if ref.place in low.session.initial and not low.internal:
        return _log(low, ref, item)
    contents = low.contents(ref)
    if isinstance(contents, Items):
        low.set_contents(ref, Items((*contents.items, item)))
        return NONE
    return containers.update(low, ref, list.append, low.atom(item), item=item)


def _log(low: Lowering, ref: ListRef, item: Abstract) -> Abstract:
    """A list outside of the function gets one more item, as in the primal: it is not read here."""
    live = low.session.identities.get(ref.place)
    if not isinstance(live, Value) or not is_leaf(item):
        low.refuse_change(ref)
    low.builder.effect(list.append, live, low.atom(item))
    low.restate(
        ref,
        Poison(
            "a list outside of the function is read after the function has appended to it",
            "read it first, or keep the values in a list of the function",
        ),
    )
    return NONE


def _extend(low: Lowering, ref: ListRef, more: Abstract) -> Abstract:
    with low.bit_by_bit():  # it grows by one item after the other
        return _extend_by(low, ref, iterators.consumed(low, more))


def _extend_by(low: Lowering, ref: ListRef, more: Abstract) -> Abstract:
    found = containers.items_of(low, more)
    contents = low.contents(ref)
    if found is not None and not isinstance(more, Value):
        if isinstance(contents, Items):
            low.set_contents(ref, Items((*contents.items, *found)))
        else:
            for item in found:
                _append(low, ref, item)
        return NONE
    others = more if isinstance(more, ListRef) else containers.to_list(low, more)
    joined: Abstract | None
    if isinstance(contents, Items) and not contents.items:
        joined = _list_copy(low, others)
    else:
        containers.writable(low, ref)
        joined = containers.combine(low, operator.add, ref, others)
    assert isinstance(joined, ListRef)
    low.set_contents(ref, low.contents(joined))
    return NONE


def _insert(low: Lowering, ref: ListRef, index: Abstract, item: Abstract) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Items) and isinstance(index, Static):
        items = list(contents.items)
        items.insert(index.value, item)
        low.set_contents(ref, Items(tuple(items)))
        return NONE
    return containers.update(low, ref, list.insert, low.atom(index), low.atom(item), item=item)


def _pop(low: Lowering, ref: ListRef, index: Abstract = _LAST) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Items) and isinstance(index, Static):
        items = list(contents.items)
        if not -len(items) <= index.value < len(items):
            low.raise_known(
                IndexError("pop index out of range" if items else "pop from empty list")
            )
        item = items.pop(index.value)
        low.set_contents(ref, Items(tuple(items)))
        return item
    args = () if isinstance(index, Static) and index.value == -1 else (low.atom(index),)
    return containers.update(low, ref, list.pop, *args, returns=True)


def _list_copy(low: Lowering, ref: ListRef) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Items):
        return low.new_list(Items(contents.items))
    assert isinstance(contents, Held)
    return containers.wrap(low, low.builder.apply(list, contents.value))


def _list_index(low: Lowering, ref: ListRef, item: Abstract) -> Abstract:
    return containers.wrap(low, low.builder.apply(list.index, low.peek(ref), low.peek(item)))


def _list_count(low: Lowering, ref: ListRef, item: Abstract) -> Abstract:
    return containers.wrap(low, low.builder.apply(list.count, low.peek(ref), low.peek(item)))


def _reverse(low: Lowering, ref: ListRef) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Items):
        low.set_contents(ref, Items(tuple(reversed(contents.items))))
        return NONE
    held = containers.writable(low, ref)
    back = low.builder.apply(operator.getitem, held.value, Literal(slice(None, None, -1)))
    assert isinstance(back, Value)
    low.set_contents(ref, Held(back, count=held.count))
    return NONE


def _clear(low: Lowering, ref: ListRef) -> Abstract:
    low.contents(ref)
    low.set_contents(ref, Items(()))
    return NONE


def _get(low: Lowering, ref: DictRef, key: Abstract, default: Abstract = NONE) -> Abstract:
    key = subscripts.known_key(key)
    contents = low.contents(ref)
    if isinstance(contents, Entries) and isinstance(key, Static):
        found = contents.get(key.value)
        return default if found is None else found
    present = expressions.truth(low, containers.contains(low, ref, key))
    read = partial(subscripts.get_item, low, ref, key)
    if isinstance(present, bool):
        return read() if present else default
    return choose(low, present, read, lambda: default)


def _setdefault(low: Lowering, ref: DictRef, key: Abstract, default: Abstract = NONE) -> Abstract:
    key = subscripts.known_key(key)
    contents = low.contents(ref)
    if isinstance(contents, Entries) and isinstance(key, Static):
        found = contents.get(key.value)
        if found is None:
            subscripts.set_item(low, ref, key, default)
            return default
        return found
    present = expressions.truth(low, containers.contains(low, ref, key))
    if not isinstance(present, bool):
        if isinstance(default, (ListRef, DictRef, TupleRef)):
            low.refuse(*refusal("changing keys"), kind=NeedsUnroll)
        branch(low, present, lambda: None, partial(subscripts.set_item, low, ref, key, default))
    elif not present:
        subscripts.set_item(low, ref, key, default)
    return subscripts.get_item(low, ref, key)


def _dict_pop(
    low: Lowering, ref: DictRef, key: Abstract, default: Abstract | None = None
) -> Abstract:
    key = subscripts.known_key(key)
    contents = low.contents(ref)
    if isinstance(contents, Entries) and isinstance(key, Static):
        found = contents.get(key.value)
        if found is None:
            if default is None:
                low.raise_known(KeyError(key.value))
            return default
        subscripts.delete_item(low, ref, key)
        return found
    if isinstance(contents, Entries) and not contents.keys and default is not None:
        return default
    if default is not None:
        present = expressions.truth(low, containers.contains(low, ref, key))
        if not isinstance(present, bool):
            return choose(low, present, partial(_dict_pop, low, ref, key), lambda: default)
        if not present:
            return default
    return containers.update(low, ref, dict.pop, low.atom(key), returns=True)


def _dict_update(
    low: Lowering, ref: DictRef, other: Abstract | None = None, **named: Abstract
) -> Abstract:
    with low.bit_by_bit():
        pairs = [] if other is None else containers.entries(low, other)
        for key, value in [*pairs, *named.items()]:
            subscripts.set_item(low, ref, Static(key), value)
    return NONE


def values_list(low: Lowering, ref: DictRef) -> ListRef:
    """The values of a run-time dict."""
    return comprehensions.transform(
        low, containers.keys_of(low, ref), partial(subscripts.get_item, low, ref)
    )


def _view(kind: str) -> Any:
    def method(low: Lowering, ref: DictRef) -> Abstract:
        return DictView(ref, kind)

    return method


def _dict_copy(low: Lowering, ref: DictRef) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Entries):
        return low.new_dict(contents)
    assert isinstance(contents, Held)
    return containers.wrap(
        low, low.builder.apply_typed(dict, (contents.value,), contents.value.type)
    )


def _fields(ref: TupleRef) -> tuple[str, ...]:
    """The names of a namedtuple's items."""
    cls: Any = ref.cls
    return tuple(cls._fields)


def _replace(low: Lowering, ref: TupleRef, **named: Abstract) -> Abstract:
    fields = _fields(ref)
    items = tuple(named.get(n, v) for n, v in zip(fields, ref.items, strict=True))
    return TupleRef(items, ref.cls)


def _asdict(low: Lowering, ref: TupleRef) -> Abstract:
    return low.new_dict(Entries(_fields(ref), ref.items))


def _tuple_index(low: Lowering, ref: TupleRef, item: Abstract) -> Abstract:
    return containers.wrap(low, low.builder.apply(tuple.index, low.atom(ref), low.atom(item)))


def _remove(low: Lowering, ref: ListRef, item: Abstract) -> Abstract:
    contents = low.contents(ref)
    if isinstance(contents, Items):
        for k, known in enumerate(contents.items):
            same = known is item or _equal(low, known, item)
            if same is True:
                low.set_contents(ref, Items((*contents.items[:k], *contents.items[k + 1 :])))
                return NONE
            if same is not False:
                break
        else:
            low.raise_known(ValueError("list.remove(x): x not in list"))
    index = low.builder.apply(list.index, low.peek(ref), low.atom(item))
    containers.update(low, ref, list.pop, index, returns=True)
    return NONE


def _equal(low: Lowering, x: Abstract, y: Abstract) -> bool | None:
    """Whether two items are equal, where that is known."""
    same = expressions.truth(low, expressions.binary_compare(low, operator.eq, x, y))
    return same if isinstance(same, bool) else None


def _dict_clear(low: Lowering, ref: DictRef) -> Abstract:
    low.contents(ref)
    low.set_contents(ref, Entries((), ()))
    return NONE


def _popitem(low: Lowering, ref: DictRef) -> Abstract:
    contents = low.contents(ref)
    if not isinstance(contents, Entries):
        low.refuse(*refusal("changing keys"))
    if not contents.keys:
        low.raise_known(KeyError("popitem(): dictionary is empty"))
    low.set_contents(ref, Entries(contents.keys[:-1], contents.values[:-1]))
    return TupleRef((containers.keys_shown(low, contents)[-1], contents.values[-1]))


def _tuple_count(low: Lowering, ref: TupleRef, item: Abstract) -> Abstract:
    return containers.wrap(low, low.builder.apply(tuple.count, low.atom(ref), low.atom(item)))


def set_values(low: Lowering, ref: SetRef) -> tuple[Any, ...]:
    """The members of a set."""
    contents = low.contents(ref)
    assert isinstance(contents, Members)
    return contents.values


def _add(low: Lowering, ref: SetRef, item: Abstract) -> Abstract:
    known = [Static(v) for v in set_values(low, ref)]
    low.set_contents(ref, low.contents(low.new_set([*known, item])))
    return NONE


def _discard(low: Lowering, ref: SetRef, item: Abstract) -> Abstract:
    if not isinstance(item, Static):
        low.refuse(*refusal("active set"), kind=NeedsUnroll)
    left = [v for v in set_values(low, ref) if v != item.value]
    low.set_contents(ref, Members(tuple(left)))
    return NONE


def _set_remove(low: Lowering, ref: SetRef, item: Abstract) -> Abstract:
    if isinstance(item, Static) and item.value not in set_values(low, ref):
        low.raise_known(KeyError(item.value))
    return _discard(low, ref, item)


def _set_update(low: Lowering, ref: SetRef, *others: Abstract) -> Abstract:
    for other in others:
        for item in containers.unpack(low, other):
            _add(low, ref, item)
    return NONE


def _set_copy(low: Lowering, ref: SetRef) -> Abstract:
    return low.new_set([Static(v) for v in set_values(low, ref)])


def _set_combined(name: str) -> Any:
    def method(low: Lowering, ref: SetRef, *others: Abstract) -> Abstract:
        known = [
            o if isinstance(o, SetRef) else low.new_set(containers.unpack(low, o)) for o in others
        ]
        made = getattr(set(set_values(low, ref)), name)(*(set_values(low, o) for o in known))
        if isinstance(made, bool):
            return Static(made)
        return low.new_set([Static(v) for v in made])

    return method


_METHODS: dict[tuple[type, str], Any] = {
    (ListRef, "append"): _append,
    (ListRef, "extend"): _extend,
    (ListRef, "insert"): _insert,
    (ListRef, "pop"): _pop,
    (ListRef, "copy"): _list_copy,
    (ListRef, "index"): _list_index,
    (ListRef, "count"): _list_count,
    (ListRef, "reverse"): _reverse,
    (ListRef, "clear"): _clear,
    (ListRef, "remove"): _remove,
    (ListRef, "sort"): orderings.sort_method,
    (DictRef, "clear"): _dict_clear,
    (DictRef, "popitem"): _popitem,
    (TupleRef, "count"): _tuple_count,
    (SetRef, "add"): _add,
    (SetRef, "discard"): _discard,
    (SetRef, "remove"): _set_remove,
    (SetRef, "update"): _set_update,
    (SetRef, "copy"): _set_copy,
    **{
        (SetRef, name): _set_combined(name)
        for name in ("union", "intersection", "difference", "symmetric_difference", "issubset",
                     "issuperset", "isdisjoint")
    },
    (DictRef, "get"): _get,
    (DictRef, "setdefault"): _setdefault,
    (DictRef, "pop"): _dict_pop,
    (DictRef, "update"): _dict_update,
    **{(DictRef, kind): _view(kind) for kind in ("keys", "values", "items")},
    (DictRef, "copy"): _dict_copy,
    (TupleRef, "_replace"): _replace,
    (TupleRef, "_asdict"): _asdict,
    (TupleRef, "index"): _tuple_index,
}  # fmt: skip
