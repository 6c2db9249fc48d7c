"""Tuples, lists and dicts: unpacking, lengths, conversions and operators.

A list whose length is known is its items; it becomes a run-time list when something asks for an
item by a run-time index, when its length starts to depend on data, or when it is handed to NumPy.
"""

from __future__ import annotations

import enum
import operator
from typing import Any

from srcad.frontend import (
    arrays,
    attributes,
    calls,
    comprehensions,
    expressions,
    iterators,
    methods,
    statements,
    subscripts,
)
from srcad.frontend.abstract import (
    NONE,
    Abstract,
    ArrayRef,
    DictRef,
    DictView,
    Entries,
    Enumerate,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    RangeRef,
    Reversed,
    SetRef,
    Static,
    TupleRef,
    Zip,
    known_values,
    parts,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Literal, Value
from srcad.ir.core import make_dict, make_list
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    KEY,
    OBJECT,
    Array,
    DictType,
    Dim,
    ListType,
    TupleType,
    Type,
    can_join,
    join,
    join_all,
)

# ---- run-time results


def wrap(low: Lowering, atom: Atom, *, element: bool = False) -> Abstract:
    """An atom as an abstract value; ``element`` says that a list in it belongs to another list."""
    if isinstance(atom, Literal):
        if type(atom.value) is tuple:
            return TupleRef(tuple(wrap(low, Literal(v)) for v in atom.value))
        return Static(atom.value)
    borrowed = "element" if element else ""
    match atom.type:
        case ListType():
            return low.new_list(Held(atom, borrowed))
        case DictType():
            return low.new_dict(Held(atom, borrowed))
        case TupleType(cls=cls, items=items) if cls is list:
            wrapped = tuple(
                wrap(
                    low,
                    low.builder.apply(operator.getitem, atom, Literal(k)),
                    element=element or not _is_counted(kind),
                )
                for k, kind in enumerate(items)
            )
            made = low.new_list(Items(wrapped))
            if element:
                low.freeze(made)
            return made
        case Array():
            return arrays.made(low, atom)
        case TupleType(cls=cls, items=items) if any(isinstance(i, Array) for i in items):
            return atom if element else arrays.several(low, atom, items, cls)
    return atom


def _is_counted(kind: Type) -> bool:
    """Whether it is a list of known length, which is taken apart where it is wrapped."""
    return isinstance(kind, TupleType) and kind.cls is list


def writable(low: Lowering, ref: ListRef | DictRef) -> Held:
    """The run-time list or dict of a place, ready to be written."""
    contents = low.contents(ref)
    if isinstance(contents, (Items, Entries)):
        value = materialize(low, contents, low.container_name(ref.place))
        count = len(contents.items) if isinstance(contents, Items) else None
        held = Held(value, count=count)
        low.restate(ref, held)
        return held
    assert isinstance(contents, Held)
    match contents.borrowed:
        case "":
            return contents
        case "argument":
            copier = list if isinstance(ref, ListRef) else dict
            copy = low.builder.apply(copier, contents.value, hint=contents.value.hint)
            assert isinstance(copy, Value)
            held = Held(copy)
            low.set_contents(ref, held)
            return held
        case _:
            low.refuse_change(ref)


def materialize(low: Lowering, contents: Items | Entries, name: str) -> Value:
    for item in parts(contents):
        if isinstance(item, SetRef):
            low.freeze(item)
    if isinstance(contents, Items):
        atoms = tuple(map(low.atom, contents.items))
        kind: Type = ListType(join_all(tuple(map(atom_type, atoms))))
        return low.builder.apply_typed(make_list, atoms, kind, name)
    pairs = zip(contents.keys, contents.values, strict=True)
    atoms = tuple(a for k, v in pairs for a in (Literal(k), low.atom(v)))
    made = low.builder.apply(make_dict, *atoms, hint=name)
    assert isinstance(made, Value)
    return made


# ---- length and items


def items_of(low: Lowering, value: Abstract) -> tuple[Abstract, ...] | None:
    """The items of an iterable whose length is known, else None."""
    match value:
        case TupleRef(items=items):
            return items
        case ListRef():
            contents = low.contents(value)
            return contents.items if isinstance(contents, Items) else None
        case DictRef():
            contents = low.contents(value)
            return keys_shown(low, contents) if isinstance(contents, Entries) else None
        case SetRef():
            return tuple(map(Static, _ordered(low, value)))
        case DictView():
            return items_of(low, iterators.shown(low, value))
        case Static(value=enum.EnumMeta() as known):
            members: Any = known
            return tuple(map(Static, members))
        case Static(value=known):
            if isinstance(known, (str, tuple, range, frozenset, list, dict)):
                return tuple(wrap(low, Literal(v)) for v in known)
            return None
        case RangeRef(start=Literal(value=a), stop=Literal(value=b), step=Literal(value=c)):
            return tuple(map(Static, range(a, b, c)))
        case Zip(parts=parts):
            columns = [items_of(low, p) for p in parts]
            known = [c for c in columns if c is not None]
            if len(known) < len(columns):
                return None
            return tuple(TupleRef(row) for row in zip(*known, strict=False))
        case Enumerate(part=part, start=Static(value=first)):
            found = items_of(low, part)
            if found is None:
                return None
            return tuple(TupleRef((Static(first + k), v)) for k, v in enumerate(found))
        case Reversed(part=part):
            found = items_of(low, part)
            return None if found is None else tuple(reversed(found))
        case Value(type=TupleType(items=kinds)):
            return tuple(
                wrap(low, low.builder.apply(operator.getitem, value, Literal(k)), element=True)
                for k in range(len(kinds))
            )
        case Value(type=Array(dims=dims)) if dims and isinstance(dims[0], int) and dims[0] <= 32:
            return tuple(
                wrap(low, low.builder.apply(operator.getitem, value, Literal(k)))
                for k in range(dims[0])
            )
        case ArrayRef():
            count = length(low, value)
            if isinstance(count, Static) and count.value <= 32:
                return tuple(subscripts.get_item(low, value, Static(k)) for k in range(count.value))
            return None
        case MaybeUnbound():
            return items_of(low, low.bound(value))
    return None


def _ordered(low: Lowering, ref: SetRef) -> tuple[Any, ...]:
    """The members of a set in the order in which Python iterates, where that is always the same."""
    values = methods.set_values(low, ref)
    if len(values) > 1 and not all(type(v) is int for v in values):
        low.refuse("the order of a set is not fixed", "iterate over sorted(...) or use a list")
    return tuple(set(values))


def unpack(low: Lowering, value: Abstract, count: int | None = None) -> list[Abstract]:
    """All items of an iterable, for ``*xs`` and for tuple targets."""
    value = iterators.consumed(low, value)
    found = items_of(low, value)
    if found is not None:
        return list(found)
    if isinstance(value, (ListRef, ArrayRef)) and count is None:
        known = length(low, value)
        count = known.value if isinstance(known, Static) else None
    if count is not None and isinstance(value, (Value, ListRef, ArrayRef)):
        if not low.internal:
            found_count = length(low, value)
            if isinstance(found_count, Static):
                if found_count.value != count:
                    low.raise_known(ValueError(f"expected {count} values to unpack"))
            else:
                same = low.builder.apply(operator.eq, low.atom(found_count), Literal(count))
                statements.require(low, same, ValueError(f"expected {count} values to unpack"))
        if isinstance(value, ArrayRef):
            return [subscripts.get_item(low, value, Static(k)) for k in range(count)]
        atom = low.peek(value)
        return [
            wrap(low, low.builder.apply(operator.getitem, atom, Literal(k)), element=True)
            for k in range(count)
        ]
    counted = followed(low, value)
    if counted is None:
        low.refuse(*refusal("arguments"))
    return list(counted)


_MANY = 64


def followed(low: Lowering, value: Abstract) -> tuple[Abstract, ...] | None:
    """The items of an iterable one by one, whose size becomes one that the code is for; else None.

    What a call has as arguments, and objects of different kinds, can be taken in no other way.
    """
    found = items_of(low, value)
    if found is not None or low.internal:
        return found
    match value:
        case Zip(parts=parts):
            columns = [followed(low, p) for p in parts]
            known = [c for c in columns if c is not None]
            return (
                None
                if len(known) < len(columns)
                else tuple(map(TupleRef, zip(*known, strict=False)))
            )
        case Enumerate(part=part, start=Static(value=first)):
            items = followed(low, part)
            counted = enumerate(items or (), first)
            return None if items is None else tuple(TupleRef((Static(k), v)) for k, v in counted)
        case Reversed(part=part):
            items = followed(low, part)
            return None if items is None else tuple(reversed(items))
    count = _fixed_length(low, value)
    if count is None or count > _MANY:
        return None
    return tuple(subscripts.get_item(low, value, Static(k)) for k in range(count))


def _fixed_length(low: Lowering, value: Abstract) -> int | None:
    """How many items an array or list has, where an argument or captured object tells."""
    fixed = low.session.importer.fixed
    match value:
        case ListRef() if isinstance(held := low.contents(value), Held):
            return held.count if held.count is not None else fixed(held.value)
        case ArrayRef():
            return _fixed_length(low, low.read(value))
        case Value(type=Array(dims=dims)) if dims:
            match dims[0]:
                case int() as count:
                    return count
                case Dim(base=str() as name, drop=drop):
                    whole = fixed(name)
                    return None if whole is None else max(whole - drop, 0)
    return None


def length(low: Lowering, value: Abstract) -> Abstract:
    """``len(value)``"""
    value = low.read(value)
    match value:
        case SetRef():
            return Static(len(methods.set_values(low, value)))
        case ListRef() | DictRef():
            contents = low.contents(value)
            if isinstance(contents, Items):
                return Static(len(contents.items))
            if isinstance(contents, Entries):
                return Static(len(contents.keys))
            assert isinstance(contents, Held)
            if contents.count is not None and isinstance(value, ListRef):
                return Static(contents.count)
            return wrap(low, low.builder.apply(len, contents.value))
        case RangeRef():
            return wrap(low, low.builder.apply(len, low.atom(value)))
        case DictView(ref=ref):
            return length(low, ref)
    found = items_of(low, value)
    if found is not None and not isinstance(value, Value):
        return Static(len(found))
    if isinstance(value, Value) and isinstance(value.type, TupleType):
        return Static(len(value.type.items))
    if isinstance(value, Value) and isinstance(value.type, Array):
        match value.type.dims:
            case (int(first), *_):
                return Static(first)
    return wrap(low, low.builder.apply(len, low.atom(value)))


def keys_shown(low: Lowering, contents: Entries) -> tuple[Abstract, ...]:
    """The known keys of a dict."""
    return tuple(low.session.importer.constant(low, k) for k in contents.keys)


_LENGTHENS = {operator.setitem: 0, list.append: 1, list.insert: 1, list.pop: -1}


def update(
    low: Lowering,
    ref: ListRef | DictRef,
    callee: Any,
    *args: Atom,
    item: Abstract | None = None,
    returns: bool = False,
) -> Abstract:
    """Write a run-time list or dict; what the write returns, if that is asked for."""
    held = writable(low, ref)
    kind = held.value.type
    if item is not None:
        added = atom_type(args[-1])
        if isinstance(added, TupleType) and added.cls is list:
            added = ListType(join_all(added.items))
        inner = kind.item if isinstance(kind, (ListType, DictType)) else OBJECT
        joined = join(inner, added)
        if not (can_join(joined, inner) and can_join(joined, added)):
            low.refuse(
                *refusal("kind change", name="an item of a list or dict", one=inner, other=added)
            )
        kind = ListType(joined) if isinstance(kind, ListType) else DictType(joined)
        low.freeze(item)
    result = None
    if returns:
        inner = kind.item if isinstance(kind, (ListType, DictType)) else OBJECT
        result = Value("", inner)
    version = low.builder.update(callee, held.value, *args, kind=kind, result=result)
    arrays.handed_on(low, version, (held.value, *args))
    change = _LENGTHENS.get(callee)
    count = held.count + change if held.count is not None and change is not None else None
    low.set_contents(ref, Held(version, count=count))
    return NONE if result is None else wrap(low, result, element=False)


def contains(low: Lowering, container: Abstract, item: Abstract) -> Abstract:
    """``item in container``"""
    container = low.read(container)
    if isinstance(container, DictView) and container.kind == "keys":
        container = container.ref
    if isinstance(container, ObjectRef) and hasattr(container.cls, "__contains__"):
        method = attributes.get_attribute(low, container, "__contains__")
        inside = expressions.truth(low, calls.call(low, method, [item], {}))
        return Static(inside) if isinstance(inside, bool) else wrap(low, inside)
    container = iterators.searched(low, container, item)
    if isinstance(container, SetRef) and isinstance(item, Static):
        return Static(item.value in methods.set_values(low, container))
    if isinstance(container, (Static, SetRef)) and isinstance(item, Value):
        return wrap(low, low.builder.apply(operator.contains, low.peek(container), item))
    if isinstance(container, DictRef):
        item = subscripts.known_key(item)
        contents = low.contents(container)
        if isinstance(contents, Entries) and isinstance(item, Static):
            return Static(item.value in contents.keys)
        return wrap(low, low.builder.apply(operator.contains, low.peek(container), low.atom(item)))
    if isinstance(container, Static) and isinstance(container.value, str):
        if isinstance(item, Static) and isinstance(item.value, str):
            return Static(item.value in container.value)  # a substring, not one of the characters
        return wrap(low, low.builder.apply(operator.contains, low.atom(container), low.atom(item)))
    found = items_of(low, container)
    known = None if found is None else known_values(found)
    if known is not None and isinstance(item, Static):
        return Static(item.value in known)
    if isinstance(container, Static) and isinstance(item, Static):
        return Static(item.value in container.value)
    return wrap(low, low.builder.apply(operator.contains, low.peek(container), low.atom(item)))


_SET_METHODS = {
    operator.or_: "union",
    operator.and_: "intersection",
    operator.sub: "difference",
    operator.xor: "symmetric_difference",
}


def _as_set(low: Lowering, op: Any, value: Abstract) -> Abstract:
    """The keys of a dict where they are used as a set."""
    if op in _SET_METHODS and isinstance(value, DictView) and value.kind == "keys":
        return low.new_set(unpack(low, value))
    return value


def changed_in_place(low: Lowering, op: Any, x: Abstract, y: Abstract) -> bool:
    """``x op= y`` of a list, dict or set, which it is seen in under all its names; else False."""
    y = low.read(y)
    if isinstance(y, Value) and isinstance(y.type, Array):  # it is the array that is asked
        return False
    match x:
        case ListRef() if op is operator.add:
            call_method(low, x, "extend", [y], {})
            return True
        case DictRef() if op is operator.or_:
            call_method(low, x, "update", [y], {})
            return True
        case ListRef() if op is operator.mul:
            if isinstance(low.contents(x), Held):
                writable(low, x)
        case SetRef():
            pass
        case _:
            return False
    found = combine(low, op, x, y)
    if not isinstance(found, (ListRef, SetRef)):
        return False
    low.set_contents(x, low.contents(found))
    return True


def combine(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract | None:
    """``+`` and ``*`` of tuples and lists; None for anything else."""
    for value in (x, y):
        if isinstance(value, MaybeUnbound):
            return None
        if (
            isinstance(value, Value)
            and isinstance(value.type, ListType)
            and op in (operator.add, operator.mul)
        ):
            low.refuse(*refusal("changing length", type="tuple"))
    x, y = _as_set(low, op, x), _as_set(low, op, y)
    if isinstance(x, SetRef) and isinstance(y, SetRef) and op in _SET_METHODS:
        return call_method(low, x, _SET_METHODS[op], [y], {})
    if op is operator.or_ and isinstance(x, DictRef) and isinstance(y, DictRef):
        joined = call_method(low, x, "copy", [], {})
        call_method(low, joined, "update", [y], {})
        return joined
    if op is operator.add:
        if isinstance(x, TupleRef) and isinstance(y, TupleRef):
            return TupleRef((*x.items, *y.items))
        if isinstance(x, ListRef) and isinstance(y, ListRef):
            a, b = low.contents(x), low.contents(y)
            if isinstance(a, Items) and isinstance(b, Items):
                return low.new_list(Items((*a.items, *b.items)))
            left, right = (
                low.peek(r) if isinstance(c, Held) else low.list_atom(r)
                for c, r in ((a, x), (b, y))
            )
            return wrap(low, low.builder.apply(operator.add, left, right))
    if op is operator.mul:
        for value, count in ((x, y), (y, x)):
            if isinstance(count, Static) and isinstance(count.value, int):
                if isinstance(value, TupleRef):
                    return TupleRef(value.items * count.value)
                if isinstance(value, ListRef) and isinstance(c := low.contents(value), Items):
                    return low.new_list(Items(c.items * count.value))
            if isinstance(value, ListRef) and isinstance(count, (Value, Static)):
                return wrap(low, low.builder.apply(operator.mul, low.peek(value), low.atom(count)))
    return None


def entries(low: Lowering, value: Abstract) -> list[tuple[Any, Abstract]]:
    """The entries of a dict whose keys are known, for ``**kwargs`` and ``{**d}``."""
    if isinstance(value, DictRef):
        contents = low.contents(value)
        if isinstance(contents, Entries):
            return list(zip(contents.keys, contents.values, strict=True))
    if isinstance(value, Static) and isinstance(value.value, dict):
        return [(k, low.session.importer.constant(low, v)) for k, v in value.value.items()]
    low.refuse(*refusal("changing keys"))


# ---- conversions


def keys_of(low: Lowering, ref: DictRef) -> ListRef:
    """The keys of a run-time dict."""
    made = low.builder.apply_typed(list, (low.peek(ref),), ListType(KEY))
    return low.new_list(Held(made))


def call_method(
    low: Lowering, ref: Abstract, name: str, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A method of a list, dict, set or tuple."""
    return methods.call_method(low, ref, name, args, keywords)


def to_list(low: Lowering, value: Abstract) -> ListRef:
    """``list(value)``"""
    value = iterators.consumed(low, value)
    if isinstance(value, ListRef):
        copy = methods.call_method(low, value, "copy", [], {})
        assert isinstance(copy, ListRef)
        return copy
    found = items_of(low, value)
    if found is not None:
        return low.new_list(Items(found))
    if isinstance(value, DictView):
        return to_list(low, iterators.shown(low, value))
    if isinstance(value, (Zip, Enumerate, Reversed, ArrayRef)):
        return comprehensions.collect(low, value)
    if isinstance(value, DictRef):
        return keys_of(low, value)
    made = wrap(low, low.builder.apply(list, low.atom(value)))
    if isinstance(made, ListRef):
        return made
    assert isinstance(made, Value)
    return low.new_list(Held(made))
