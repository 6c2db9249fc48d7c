"""Leaves of structured arguments and results, and the same structure with other leaves."""

from __future__ import annotations

from typing import Any, NoReturn

from srcad.frontend import containers
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Static,
    TupleRef,
)
from srcad.frontend.attributes import get_attribute
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Literal, Value


def settle(low: Lowering, value: Abstract) -> Abstract:
    """A result without variables that may be unbound."""
    match value:
        case MaybeUnbound():
            return settle(low, low.bound(value))
        case ArrayRef():
            return low.read(value)
        case ListRef() | DictRef() | ObjectRef() if ("place", value.place, "") in low.state:
            contents = low.contents(value)
            match contents:
                case Items(items=items):
                    low.restate(value, Items(tuple(settle(low, i) for i in items)))
                case Entries(keys=keys, values=values):
                    low.restate(value, Entries(keys, tuple(settle(low, v) for v in values)))
                case Fields(names=names, values=values, origin=None):
                    low.restate(value, Fields(names, tuple(settle(low, v) for v in values), None))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(settle(low, i) for i in items), cls)
    return value


def leaf_atoms(low: Lowering, value: Abstract) -> list[Atom]:
    """The leaves of a result, left to right."""
    return [low.atom(v) for v in leaves_of(low, value, low.state)]


def leaves_of(low: Lowering, value: Abstract, state: dict[Any, Any]) -> list[Abstract]:
    match value:
        case TupleRef(items=items):
            return [leaf for i in items for leaf in leaves_of(low, i, state)]
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", value.place, "")]
            match contents:
                case Held(value=held):
                    return [held]
                case Items(items=items) | Entries(values=items):
                    return [leaf for i in items for leaf in leaves_of(low, i, state)]
                case Fields(values=items, origin=origin):
                    if origin is not None:
                        low.refuse(
                            "the function returns an object that it was given",
                            "return the numbers and arrays in it",
                        )
                    return [leaf for i in items for leaf in leaves_of(low, i, state)]
        case Value():
            return [value]
        case Static(value=known):
            numeric = isinstance(known, (int, float, complex)) and not isinstance(known, bool)
            return [value] if numeric else []
    low.refuse(
        f"the differentiated function returns a {type(value).__name__.lower()}",
        "return numbers, arrays, or containers of them",
    )


def transplant(low: Lowering, value: Any, state: dict[Any, Any], names: dict[Value, Any]) -> Any:
    """A value of a region's state in the current one, its containers in fresh places."""
    match value:
        case Value():
            found = names.get(value, value)
            return containers.wrap(low, found) if isinstance(found, Literal) else found
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(transplant(low, i, state, names) for i in items), cls)
        case ListRef():
            return low.new_list(
                _transplant_contents(low, state[("place", value.place, "")], state, names)
            )
        case DictRef():
            return low.new_dict(
                _transplant_contents(low, state[("place", value.place, "")], state, names)
            )
        case ObjectRef(cls=cls):
            contents = _transplant_contents(low, state[("place", value.place, "")], state, names)
            return low.new_object(cls, contents)
    return value


def _transplant_contents(
    low: Lowering, contents: Any, state: dict[Any, Any], names: dict[Value, Any]
) -> Any:
    match contents:
        case Held(value=held, borrowed=borrowed):
            return Held(names.get(held, held), borrowed or "shared")
        case Items(items=items):
            return Items(tuple(transplant(low, i, state, names) for i in items))
        case Entries(keys=keys, values=values):
            return Entries(keys, tuple(transplant(low, v, state, names) for v in values))
        case Fields(names=fields, values=values, origin=origin):
            return Fields(fields, tuple(transplant(low, v, state, names) for v in values), origin)
    return contents


def tangents_of(
    low: Lowering, value: Any, state: dict[Any, Any], tangents: dict[Value, Atom], literals: Any
) -> Any:
    """The tangent of a result, in its structure."""
    match value:
        case TupleRef(items=items, cls=cls):
            return TupleRef(
                tuple(tangents_of(low, i, state, tangents, literals) for i in items), cls
            )
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", value.place, "")]
            match contents:
                case Held(value=held):
                    return containers.wrap(low, tangents[held])
                case Items(items=items):
                    return low.new_list(
                        Items(tuple(tangents_of(low, i, state, tangents, literals) for i in items))
                    )
                case Entries(keys=keys, values=values):
                    made = tuple(tangents_of(low, v, state, tangents, literals) for v in values)
                    return low.new_dict(Entries(keys, made))
                case Fields(names=names, values=values):
                    assert isinstance(value, ObjectRef)
                    made = tuple(tangents_of(low, v, state, tangents, literals) for v in values)
                    return low.new_object(value.cls, Fields(names, made, None))
        case Value():
            return containers.wrap(low, tangents[value])
        case Static(value=known):
            zero = 0.0 if isinstance(known, (int, float)) and not isinstance(known, bool) else None
            return Static(zero)
    return value


def match_leaves(low: Lowering, pattern: Any, state: dict[Any, Any], value: Abstract) -> list[Atom]:
    """The leaves of ``value`` where ``pattern`` has its own; the structures must agree."""
    if isinstance(value, MaybeUnbound):
        value = low.bound(value)
    match pattern:
        case TupleRef(items=items):
            parts = containers.items_of(low, value)
            if parts is None or len(parts) != len(items):
                _mismatch(low, f"a tuple of {len(items)}")
            return [
                a for p, v in zip(items, parts, strict=True) for a in match_leaves(low, p, state, v)
            ]
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", pattern.place, "")]
            match contents:
                case Held():
                    return [low.atom(value)]
                case Items(items=items):
                    parts = containers.items_of(low, value)
                    if parts is None or len(parts) != len(items):
                        _mismatch(low, f"a list of {len(items)}")
                    pairs = zip(items, parts, strict=True)
                    return [a for p, v in pairs for a in match_leaves(low, p, state, v)]
                case Entries(keys=keys, values=items):
                    pairs_ = containers.entries(low, value)
                    given = dict(pairs_)
                    if set(given) != set(keys):
                        _mismatch(low, f"a dict with the keys {list(keys)}")
                    return [
                        a
                        for k, p in zip(keys, items, strict=True)
                        for a in match_leaves(low, p, state, given[k])
                    ]
                case Fields(names=names, values=items):
                    return [
                        a
                        for n, p in zip(names, items, strict=True)
                        for a in match_leaves(low, p, state, get_attribute(low, value, n))
                    ]
        case Static(value=known) if not isinstance(known, (int, float, complex)) or isinstance(
            known, bool
        ):
            return []
    return [low.atom(value)]


def _mismatch(low: Lowering, wanted: str) -> NoReturn:
    low.refuse(
        f"the cotangent or tangent has another structure: {wanted} is needed",
        "give it the structure of the value it belongs to",
    )
