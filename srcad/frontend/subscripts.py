"""Reading, writing and deleting by a subscript: of tuples, lists, dicts, arrays and objects."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcad.frontend import (
    arrays,
    attributes,
    calls,
    containers,
    methods,
)
from srcad.frontend.abstract import (
    NONE,
    Abstract,
    ArrayRef,
    DictRef,
    Entries,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    RangeRef,
    SliceRef,
    Static,
    TupleRef,
    known_values,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, NeedsUnroll, is_leaf, leaf_type
from srcad.ir import Literal, Value
from srcad.ir.core import make_tuple
from srcad.ir.types import (
    FLOAT,
    OBJECT,
    Array,
    Number,
    TupleType,
    can_join,
    is_differentiable,
    join_all,
)


def get_item(low: Lowering, obj: Abstract, index: Abstract) -> Abstract:
    """``obj[index]``"""
    match obj:
        case MaybeUnbound():
            return get_item(low, low.bound(obj), index)
        case TupleRef(items=items):
            return _item(low, obj, items, index)
        case ListRef():
            contents = low.contents(obj)
            if isinstance(contents, Items):
                return _item(low, obj, contents.items, index)
            assert isinstance(contents, Held)
            found = low.builder.apply(operator.getitem, contents.value, low.atom(index))
            return containers.wrap(low, found, element=not _is_slice(index))
        case DictRef():
            index = known_key(index)
            contents = low.contents(obj)
            if isinstance(contents, Entries):
                if isinstance(index, Static):
                    value = contents.get(index.value)
                    return low.raise_known(KeyError(index.value)) if value is None else value
                contents = Held(
                    containers.materialize(low, contents, low.container_name(obj.place))
                )
            assert isinstance(contents, Held)
            found = low.builder.apply(operator.getitem, contents.value, low.atom(index))
            return containers.wrap(low, found, element=True)
        case Static(value=known) if isinstance(index, Static) or (
            isinstance(index, TupleRef) and all(isinstance(i, Static) for i in index.items)
        ):
            atom = low.atom(index)
            assert isinstance(atom, Literal)
            try:
                found = known[atom.value]
            except (LookupError, TypeError) as error:
                return low.raise_known(error)
            constant: Abstract = low.session.importer.constant(low, found)
            return constant
        case ObjectRef():
            return calls.call(low, attributes.get_attribute(low, obj, "__getitem__"), [index], {})
        case RangeRef():
            found = low.builder.apply(operator.getitem, low.atom(obj), low.atom(index))
            return containers.wrap(low, found)
        case ArrayRef():
            return arrays.get_item(low, obj, index)
        case Value(type=TupleType()) if isinstance(index, Static):
            return containers.wrap(
                low, low.builder.apply(operator.getitem, obj, Literal(index.value)), element=True
            )
        case Value():
            quick = _scalar_item(low, obj, index)
            if quick is not None:
                return quick
            return containers.wrap(
                low, low.builder.apply(operator.getitem, obj, low.atom(index)), element=True
            )
        case Static(value=known):
            method = getattr(type(known), "__getitem__", None)
            if low.session.library.is_known(method):  # np.r_[x, 1.0]
                return calls.call(low, Static(method), [obj, index], {})
    return containers.wrap(low, low.builder.apply(operator.getitem, low.atom(obj), low.atom(index)))


def known_key(index: Abstract) -> Abstract:
    """A key of a dict as a known object, if it is one: a tuple of known parts too."""
    if isinstance(index, TupleRef) and index.cls is tuple:
        parts = known_values(map(known_key, index.items))
        return index if parts is None else Static(parts)
    return index


def _class_name(obj: Any) -> str:
    return "list" if isinstance(obj, ListRef) else "tuple"


def _is_slice(index: Abstract) -> bool:
    return isinstance(index, SliceRef) or (
        isinstance(index, Static) and isinstance(index.value, slice)
    )


def _item(low: Lowering, obj: Any, items: tuple[Abstract, ...], index: Abstract) -> Abstract:
    is_list = isinstance(obj, ListRef)
    if isinstance(index, Static):
        if isinstance(index.value, slice):
            cut = items[index.value]
            return low.new_list(Items(cut)) if is_list else TupleRef(cut)
        if isinstance(index.value, int) and -len(items) <= index.value < len(items):
            return items[index.value]
        if isinstance(index.value, int):
            return low.raise_known(IndexError(f"index {index.value} out of range"))
    if isinstance(index, Value) and len(items) == 0:
        return low.raise_known(IndexError(f"{_class_name(obj)} index out of range"))
    written = any(isinstance(i, ArrayRef) for i in items)
    if written and not low.internal and not low.session.unrollable:
        # read at a place known at run time only: what is read is not written any more
        items = tuple(_read_only(low, i) for i in items)
        is_list, obj = False, TupleRef(items)
    if not all(map(is_leaf, items)) or not _joinable(items):
        found = None if low.session.unrollable else _picked(low, items, index)
        if found is None:
            low.refuse(*refusal("mixed items"), kind=NeedsUnroll)
        return found
    if is_list:
        held = containers.writable(low, obj)
        return get_item(low, obj, index) if held else NONE
    if _is_slice(index):
        low.refuse(*refusal("changing length", type="tuple"), kind=NeedsUnroll)
    if len({is_differentiable(leaf_type(i)) for i in items}) > 1:
        # integers among floats: read from a list, whose items have one type
        return get_item(low, low.new_list(Items(items)), index)
    made = low.builder.apply(make_tuple, *map(low.atom, items))
    return containers.wrap(low, low.builder.apply(operator.getitem, made, low.atom(index)))


def _picked(low: Lowering, items: tuple[Abstract, ...], index: Abstract) -> Abstract | None:
    """The item at a run-time index of containers that all have one structure; None for others.

    Neither it nor they are written any more.
    """
    for item in items:
        low.freeze(item)
    match items[0]:
        case TupleRef(items=parts, cls=cls) if all(
            isinstance(i, TupleRef) and i.cls is cls and len(i.items) == len(parts) for i in items
        ):
            columns = zip(*(i.items for i in items if isinstance(i, TupleRef)), strict=True)
            picked = [_picked(low, column, index) for column in columns]
            known = [p for p in picked if p is not None]
            return TupleRef(tuple(known), cls) if len(known) == len(parts) else None
        case ListRef() if all(isinstance(i, ListRef) for i in items):
            atoms = [low.peek(i) for i in items]
            made = low.builder.apply(make_tuple, *atoms)
            found = low.builder.apply(operator.getitem, made, low.atom(index))
            return containers.wrap(low, found, element=True)
    if all(map(is_leaf, items)) and _joinable(items):
        return _item(low, TupleRef(items), items, index)
    return None


def _read_only(low: Lowering, item: Abstract) -> Abstract:
    if not isinstance(item, ArrayRef):
        return item
    low.freeze(item)
    return low.read(item)


def _joinable(items: tuple[Abstract, ...]) -> bool:
    kinds = [leaf_type(v) for v in items]
    joined = join_all(tuple(kinds))
    return all(can_join(joined, k) for k in kinds) and joined != OBJECT


def _scalar_item(low: Lowering, array: Value, index: Abstract) -> Abstract | None:
    """An element of a float64 vector read in a loop: from a list made once, in fast code.

    An argument's element at a known position is read once, before the loop.
    """
    session = low.session
    if session.exact or not low.loops or array not in session.importer.vectors:
        return None
    kind = array.type
    if not (
        isinstance(kind, Array) and kind.dtype == "float64" and kind.dims and len(kind.dims) == 1
    ):
        return None
    prelude = session.prelude
    if isinstance(index, Static) and isinstance(index.value, int):
        key = (array, index.value)
        if key not in session.importer.elements:
            element = prelude.apply(operator.getitem, array, Literal(index.value))
            session.importer.elements[key] = prelude.apply_typed(float, (element,), FLOAT)
        found: Abstract = session.importer.elements[key]
        return found
    if isinstance(index, Value) and isinstance(index.type, Number) and index.type.kind == "int":
        if array not in session.importer.lists:
            made = prelude.apply(np.ndarray.tolist, array, hint=f"{array.hint}_list")
            session.importer.lists[array] = made
        return containers.wrap(
            low, low.builder.apply(operator.getitem, session.importer.lists[array], index)
        )
    return None


def set_item(low: Lowering, obj: Abstract, index: Abstract, value: Abstract) -> None:
    """``obj[index] = value``"""
    match obj:
        case MaybeUnbound():
            set_item(low, low.bound(obj), index, value)
        case ListRef():
            contents = low.contents(obj)
            if (
                isinstance(contents, Items)
                and isinstance(index, Static)
                and isinstance(index.value, int)
            ):
                items = list(contents.items)
                if not -len(items) <= index.value < len(items):
                    low.raise_known(IndexError("list assignment index out of range"))
                items[index.value] = value
                low.set_contents(obj, Items(tuple(items)))
                return
            if _is_slice(index):
                _set_slice(low, obj, index, value)
                return
            if isinstance(contents, Items) and not _joinable_with(contents.items, value):
                low.refuse(
                    *refusal("mixed items"),
                    kind=NeedsUnroll,
                )
            containers.update(
                low, obj, operator.setitem, low.atom(index), low.atom(value), item=value
            )
        case DictRef():
            index = known_key(index)
            contents = low.contents(obj)
            if isinstance(contents, Entries) and isinstance(index, Static):
                low.set_contents(obj, contents.set(index.value, value))
                return
            containers.update(
                low, obj, operator.setitem, low.atom(index), low.atom(value), item=value
            )
        case ObjectRef():
            calls.call(low, attributes.get_attribute(low, obj, "__setitem__"), [index, value], {})
        case ArrayRef():
            arrays.store(low, obj, low.peek(index), value)
        case _:
            arrays.written(low, obj)


def _set_slice(low: Lowering, ref: ListRef, index: Abstract, value: Abstract) -> None:
    """``ref[a:b] = value``"""
    given = containers.to_list(low, value)
    known = index.value if isinstance(index, Static) else None
    if known == slice(None):
        low.set_contents(ref, low.contents(given))
        return
    if known is None:
        low.refuse("a part of a list that is known at run time only is assigned", "use + or a loop")
    items, added = _counted(low, ref), _counted(low, given)
    if items is None or added is None:
        _set_run_time_slice(low, ref, known, given)
        return
    try:
        items[known] = added
    except ValueError as error:
        low.raise_known(error)
    low.set_contents(ref, Items(tuple(items)))


def _counted(low: Lowering, ref: ListRef) -> list[Abstract] | None:
    """The items of a list whose length is known."""
    count = containers.length(low, ref)
    if not isinstance(count, Static):
        return None
    return [get_item(low, ref, Static(k)) for k in range(count.value)]


def _set_run_time_slice(low: Lowering, ref: ListRef, where: slice, given: ListRef) -> None:
    """``ref[a:b] = given`` as ``ref[:a] + given + ref[b:]``"""
    start, stop = where.start or 0, where.stop
    if where.step not in (None, 1) or (stop is not None and (start < 0) != (stop < 0)):
        low.refuse("such a part of a list with a run-time length is assigned", "use + or a loop")
    whole = methods.call_method(low, ref, "copy", [], {})
    parts = [get_item(low, whole, Static(slice(None, start))), given]
    if stop is not None:
        parts.append(get_item(low, whole, Static(slice(max(start, stop), None))))
    made = parts[0]
    for part in parts[1:]:
        made = containers.combine(low, operator.add, made, part) or NONE
    assert isinstance(made, ListRef)
    low.set_contents(ref, low.contents(made))


def _joinable_with(items: tuple[Abstract, ...], value: Abstract) -> bool:
    return all(map(is_leaf, (*items, value))) and (not items or _joinable((*items, value)))


def delete_item(low: Lowering, obj: Abstract, index: Abstract) -> None:
    """``del obj[index]``"""
    if isinstance(obj, ListRef):
        contents = low.contents(obj)
        if isinstance(contents, Items) and isinstance(index, Static):
            items = list(contents.items)
            try:
                del items[index.value]
            except IndexError as error:
                low.raise_known(error)
            low.set_contents(obj, Items(tuple(items)))
            return
        if not _is_slice(index):
            methods.call_method(low, obj, "pop", [index], {})
            return
    if isinstance(obj, DictRef):
        index = known_key(index)
        contents = low.contents(obj)
        if isinstance(contents, Entries) and isinstance(index, Static):
            if contents.get(index.value) is None:
                low.raise_known(KeyError(index.value))
            pairs = [
                (k, v)
                for k, v in zip(contents.keys, contents.values, strict=True)
                if k != index.value
            ]
            low.set_contents(obj, Entries(tuple(k for k, _ in pairs), tuple(v for _, v in pairs)))
            return
        methods.call_method(low, obj, "pop", [index], {})
        return
    if isinstance(obj, ObjectRef) and hasattr(obj.cls, "__delitem__"):
        calls.call(low, attributes.get_attribute(low, obj, "__delitem__"), [index], {})
        return
    low.refuse(*refusal("delete"))
