"""Iterators: what makes its items when it is asked for them, and what it reads then.

``zip``, ``map``, generator expressions and their like are an ``IteratorRef`` whose place holds what
they run over.  Whatever asks for all items calls ``consumed`` first, which makes them there and
then: names and containers are read as they are at that point, as in Python, and the iterator is
spent.  Where items are made ahead of the time at which Python makes them (all before the first
iteration of a loop, or at the first ``next``), what they depend on must not change until they have
been handed out: ``reads`` says what that is, ``check_unchanged`` refuses what cannot be decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gast

from srcad.errors import UnsupportedSyntax
from srcad.frontend import (
    attributes,
    calls,
    containers,
    expressions,
    methods,
    statements,
    subscripts,
)
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    Closure,
    Cursor,
    DictRef,
    DictView,
    Entries,
    Enumerate,
    Held,
    IteratorRef,
    Lazy,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Poison,
    Reversed,
    SetRef,
    Static,
    TupleRef,
    Zip,
    known_values,
    parts,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Frame, Key, Lowering
from srcad.frontend.merge import count_of
from srcad.frontend.scopes import scope_of
from srcad.ir import Value

SPENT = Cursor(TupleRef(()), 0)
_USED_AGAIN = Poison(*refusal("iterator in between"))


# ---- taking the items


def consumed(low: Lowering, value: Abstract, *, interleaved: bool = False) -> Abstract:
    """An iterable without iterators in it: the items that they have yet to hand out.

    ``interleaved`` says that other code runs between the items.
    """
    with low.bit_by_bit():
        return _consumed(low, value, interleaved)


def _consumed(low: Lowering, value: Abstract, interleaved: bool) -> Abstract:
    match value:
        case MaybeUnbound():
            return consumed(low, low.bound(value), interleaved=interleaved)
        case IteratorRef():
            rest = _rest(low, value, interleaved)
            low.restate(value, SPENT)
            return rest
        case Zip(parts=columns):
            return _zipped(low, value, columns, interleaved)
        case Enumerate(part=part, start=start):
            return Enumerate(consumed(low, part, interleaved=interleaved), start)
        case Reversed(part=part):
            return Reversed(consumed(low, part, interleaved=interleaved))
        case Lazy(make=make, parts=given):
            before = dict(low.state)
            made = make(low, given)
            own = {("place", ref.place, "") for ref in iterators_in(value)}
            changed = (k for k, v in before.items() if low.state.get(k) is not v and k not in own)
            if interleaved and next(changed, None) is not None:
                low.refuse(*refusal("changed before use"))
            return consumed(low, made, interleaved=interleaved)
        case Poison(message=message, hint=hint):
            low.refuse(message, hint)
        case ObjectRef(cls=cls) if hasattr(cls, "__iter__"):
            method = attributes.get_attribute(low, value, "__iter__")
            iterator = calls.call(low, method, [], {})
            if isinstance(iterator, ObjectRef) and hasattr(iterator.cls, "__next__"):
                low.refuse(*refusal("iterator class", name=iterator.cls.__name__))
            return consumed(low, iterator, interleaved=interleaved)
    return value


def _rest(low: Lowering, ref: IteratorRef, interleaved: bool) -> Abstract:
    cursor = low.cursor(ref)
    check_unchanged(low, cursor.since)
    source = consumed(low, cursor.source, interleaved=interleaved)
    if cursor.position == 0:
        return source
    items = containers.items_of(low, source)
    if items is not None:
        return TupleRef(items[cursor.position :])
    listed = source if isinstance(source, (ListRef, Value)) else containers.to_list(low, source)
    return subscripts.get_item(low, listed, Static(slice(cursor.position, None)))


def _zipped(
    low: Lowering, value: Zip, columns: tuple[Abstract, ...], interleaved: bool
) -> Abstract:
    inner = [ref for column in columns for ref in iterators_in(column)]
    if len(set(inner)) < len(inner):
        return _dealt(low, columns)
    made = tuple(consumed(low, column, interleaved=interleaved) for column in columns)
    if len(made) > 1:
        for ref in inner:  # the shortest decides how far the others get
            low.restate(ref, _USED_AGAIN)
    if expressions.truth(low, value.strict) is not False and made:
        counts = [containers.length(low, column) for column in made]
        for count in counts[1:]:
            same = expressions.compare(low, gast.Eq(), counts[0], count)
            error = ValueError("zip() arguments have different lengths")
            statements.require(low, expressions.truth(low, same), error)
    return Zip(made)


def _dealt(low: Lowering, columns: tuple[Abstract, ...]) -> Abstract:
    """``zip(it, it)``: one iterator deals its items out in turn."""
    first = columns[0]
    if isinstance(first, IteratorRef) and all(column == first for column in columns):
        items = containers.items_of(low, consumed(low, first))
        if items is not None:
            rows = len(items) // len(columns)
            cut = (items[k * len(columns) : (k + 1) * len(columns)] for k in range(rows))
            return TupleRef(tuple(map(TupleRef, cut)))
    low.refuse(*refusal("shared iterator"))


def shown(low: Lowering, view: DictView) -> Abstract:
    """What a view of a dict shows now."""
    contents = low.contents(view.ref)
    if isinstance(contents, Entries):
        keys = containers.keys_shown(low, contents)
        match view.kind:
            case "keys":
                return TupleRef(keys)
            case "values":
                return TupleRef(contents.values)
        return TupleRef(tuple(map(TupleRef, zip(keys, contents.values, strict=True))))
    listed = containers.keys_of(low, view.ref)
    match view.kind:
        case "keys":
            return listed
        case "values":
            return methods.values_list(low, view.ref)
    return Zip((listed, methods.values_list(low, view.ref)))


def take_next(low: Lowering, ref: IteratorRef) -> tuple[Abstract, int]:
    """What an iterator runs over and the position of its next item; it moves on."""
    cursor = low.cursor(ref)
    check_unchanged(low, cursor.since)
    source, since = cursor.source, cursor.since
    if isinstance(source, (Zip, Enumerate, Reversed, Lazy, DictView, DictRef, SetRef, IteratorRef)):
        since = {**reads(low, source), **_arrays_read(low, source)}
        source = consumed(low, source, interleaved=True)
        if isinstance(source, (Zip, Enumerate, Reversed, DictView, DictRef, SetRef)):
            items = containers.items_of(low, source)
            source = containers.to_list(low, source) if items is None else TupleRef(items)
    low.set_contents(ref, Cursor(source, cursor.position + 1, since))
    return source, cursor.position


def searched(low: Lowering, container: Abstract, item: Abstract) -> Abstract:
    """What ``item in container`` looks through; an iterator stops after the item."""
    if not isinstance(container, IteratorRef):
        return consumed(low, container)
    found = consumed(low, container)
    items = containers.items_of(low, found)
    known = None if items is None else known_values(items)
    if items is None or known is None or not isinstance(item, Static):
        low.restate(container, _USED_AGAIN)
    elif item.value in known:
        low.restate(container, Cursor(TupleRef(items[known.index(item.value) + 1 :]), 0))
    return found


def pause(low: Lowering, refs: list[IteratorRef]) -> dict[Key, Any]:
    """While a loop runs over iterators they are somewhere in between; what they are afterwards."""
    after: dict[Key, Any] = {}
    for ref in refs:
        after["place", ref.place, ""] = low.held_in(low.state, ref.place)
        low.restate(ref, _USED_AGAIN)
    return after


# ---- what items depend on


def iterators_in(value: Abstract) -> list[IteratorRef]:
    """The iterators that an iterable takes its items from."""
    match value:
        case IteratorRef():
            return [value]
        case Zip() | Enumerate() | Reversed() | Lazy():
            return [ref for part in parts(value) for ref in iterators_in(part)]
        case MaybeUnbound(value=inner):
            return iterators_in(inner)
    return []


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """What a variable or a place held; ``kind`` is how much of that matters.

    'keys' of a dict; 'items' of a container, which are read where they stand when it is their turn;
    'all': code that may read anything in it.
    """

    contents: Any
    kind: str

    def differs(self, now: Any) -> bool:
        """Whether what is held now is something else."""
        before = self.contents
        if self.kind == "keys" and isinstance(before, Entries) and isinstance(now, Entries):
            return now.keys != before.keys
        if isinstance(before, Held) and isinstance(now, Held):
            return now.value is not before.value
        return now is not before


Dependences = Mapping[Key, Dependence]


def reads(low: Lowering, value: Abstract) -> Dependences:
    """What an iterable reads as its items are asked for, as it is now."""
    match value:
        case ListRef(place=place) | DictView(ref=DictRef(place=place), kind="values" | "items"):
            return {("place", place, ""): Dependence(low.held_in(low.state, place), "items")}
        case DictRef(place=place) | DictView(ref=DictRef(place=place)):
            return {("place", place, ""): Dependence(low.held_in(low.state, place), "keys")}
        case IteratorRef(place=place):
            contents = low.held_in(low.state, place)
            if isinstance(contents, Cursor):
                return {**contents.since, **reads(low, contents.source)}
        case Zip() | Enumerate() | Reversed():
            return {k: v for part in parts(value) for k, v in reads(low, part).items()}
        case Lazy():
            return all_reads(low, value)
        case MaybeUnbound(value=inner):
            return reads(low, inner)
    return {}


def _arrays_read(low: Lowering, value: Abstract) -> dict[Key, Dependence]:
    """The arrays that an iterable runs over, whose numbers are those of the moment."""
    match value:
        case ArrayRef(place=place):
            return {("place", place, ""): Dependence(low.held_in(low.state, place), "items")}
        case Zip() | Enumerate() | Reversed():
            return {k: v for part in parts(value) for k, v in _arrays_read(low, part).items()}
    return {}


def all_reads(low: Lowering, value: Abstract) -> dict[Key, Dependence]:
    """All that the code and the containers in a value can get at."""
    found: dict[Key, Dependence] = {}
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        keys: list[Key] = []
        match item:
            case ListRef() | DictRef() | ObjectRef() | SetRef() | ArrayRef():
                keys = [("place", item.place, "")]
            case IteratorRef():
                found.update(reads(low, item))
                continue
            case Lazy(node=node, frame=frame) | Closure(node=node, frame=frame) if node is not None:
                keys = _variables(low, node, frame)
        for key in keys:
            if key not in found and key in low.state:
                found[key] = Dependence(low.state[key], "all")
                pending.append(low.state[key])
        pending.extend(parts(item))
    return found


def _variables(low: Lowering, node: Any, frame: Frame | None) -> list[Key]:
    """The variables around a function or a generator expression that it reads."""
    own = scope_of(node).locals
    names = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)} - own
    found = []
    for name in sorted(names):
        owner = frame
        while owner is not None and name not in owner.scope.locals:
            owner = owner.parent
        if owner is not None:
            found.append(low.variable(name, owner))
    return found


def check_unchanged(
    low: Lowering, since: Dependences, kind: type[UnsupportedSyntax] = UnsupportedSyntax
) -> None:
    """Refuse a change of what items that were made early depend on."""
    for key, before in since.items():
        if before.differs(low.state.get(key)):
            what = "changed under a loop" if key[0] == "place" else "changed before use"
            low.refuse(*refusal(what), kind=kind)


def moved(low: Lowering, since: Dependences) -> bool:
    """Whether the items of lists and dicts are others than they were; those must be read again."""
    changed = {k: v for k, v in since.items() if v.differs(low.state.get(k))}
    check_unchanged(low, {k: v for k, v in changed.items() if v.kind == "all"})
    for key, before in changed.items():
        now = low.state.get(key)
        same = (
            now.keys == before.contents.keys
            if isinstance(now, Entries) and isinstance(before.contents, Entries)
            else count_of(now) is not None and count_of(now) == count_of(before.contents)
        )
        if not same:
            low.refuse(*refusal("changed under a loop"))
    return bool(changed)
