"""Leaves of structured arguments and results, and the same structure with other leaves."""

from __future__ import annotations

from collections.abc import Callable
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
    Poison,
    Static,
    TupleRef,
    is_number,
    parts,
    with_parts,
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
                case Items() | Entries() | Fields(origin=None):
                    settled = (settle(low, p) for p in parts(contents))
                    low.restate(value, with_parts(contents, settled))
        case TupleRef(items=items):
            return with_parts(value, (settle(low, i) for i in items))
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
            return [value] if is_number(known) else []
        case Poison(message=message, hint=hint):
            low.refuse(message, hint)
    low.refuse(
        f"the differentiated function returns a {type(value).__name__.lower()}",
        "return numbers, arrays, or containers of them",
    )


def rebuilt(
    low: Lowering, value: Any, state: dict[Any, Any], leaf: Callable[[Any], Abstract]
) -> Abstract:
    """The structure of a value in fresh places, each leaf as ``leaf`` has it.

    A list or a dict of a length known at run time only is a leaf, as the value it is held as.
    """
    match value:
        case TupleRef(items=items):
            return with_parts(value, [rebuilt(low, i, state, leaf) for i in items])
        case ListRef() | DictRef() | ObjectRef():
            contents = state["place", value.place, ""]
            if isinstance(contents, Held):
                return leaf(contents.value)
            made = [rebuilt(low, p, state, leaf) for p in parts(contents)]
            return low.new_like(value, with_parts(contents, made))
    return leaf(value)


def transplant(low: Lowering, value: Any, state: dict[Any, Any], names: dict[Value, Any]) -> Any:
    """A value of a region's state in the current one, its containers in fresh places."""
    match value:
        case Value():
            found = names.get(value, value)
            return containers.wrap(low, found) if isinstance(found, Literal) else found
        case TupleRef(items=items):
            return with_parts(value, [transplant(low, i, state, names) for i in items])
        case ListRef() | DictRef() | ObjectRef():
            contents = state["place", value.place, ""]
            match contents:
                case Held(value=held, borrowed=borrowed):
                    contents = Held(names.get(held, held), borrowed or "shared")
                case Items() | Entries() | Fields():
                    made = [transplant(low, p, state, names) for p in parts(contents)]
                    contents = with_parts(contents, made)
            return low.new_like(value, contents)
    return value


def tangents_of(
    low: Lowering, value: Any, state: dict[Any, Any], tangents: dict[Value, Atom]
) -> Abstract:
    """The tangent of a result, in its structure."""

    def tangent(leaf: Any) -> Abstract:
        match leaf:
            case Value():
                return containers.wrap(low, tangents[leaf])
            case Static(value=known):
                return Static(0.0 if is_number(known) else None)
        found: Abstract = leaf
        return found

    return rebuilt(low, value, state, tangent)


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
        case Static(value=known) if not is_number(known):
            return []
    return [low.atom(value)]


def _mismatch(low: Lowering, wanted: str) -> NoReturn:
    low.refuse(
        f"the cotangent or tangent has another structure: {wanted} is needed",
        "give it the structure of the value it belongs to",
    )
