"""Python's builtins on abstract values, and calls that types alone decide.

A handler answers what it can and returns NotImplemented for the rest, which is then a primitive.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.frontend import comprehensions, containers
from srcad.frontend.abstract import (
    NONE,
    SCALARS,
    Abstract,
    Closure,
    DictRef,
    Entries,
    Enumerate,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    Method,
    ObjectRef,
    Partial,
    RangeRef,
    Reversed,
    SliceRef,
    Static,
    TupleRef,
    Zip,
)
from srcad.frontend.lowering import Lowering, NeedsExact, is_leaf
from srcad.ir import Literal, Value
from srcad.ir.types import (
    NONE as NONE_TYPE,
)
from srcad.ir.types import (
    Array,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    Unknown,
    dims_of,
    dtype_of,
    rank,
)

Handler = Callable[[Lowering, list[Abstract], dict[str, Abstract]], Any]

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


def hashable(obj: object) -> bool:
    """Whether an object can be looked up."""
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def handler_of(function: Any) -> Handler | None:
    """The handler of a builtin."""
    return _HANDLERS.get(function) if hashable(function) else None


def class_of(low: Lowering, value: Abstract) -> type | None:
    """The class of a value, if its kind decides it."""
    match value:
        case Static(value=known):
            return type(known)
        case TupleRef(cls=cls) | ObjectRef(cls=cls):
            return cls
        case ListRef():
            return list
        case DictRef():
            return dict
        case Closure():
            return types.FunctionType
        case Method():
            return types.MethodType
        case MaybeUnbound():
            return class_of(low, low.bound(value))
        case Value(type=kind):
            return _class_of_type(kind)
    return None


def _class_of_type(kind: Type) -> type | None:
    match kind:
        case Number(kind=number):
            return _PYTHON.get(number)
        case NumPyScalar(dtype=dtype):
            return np.dtype(dtype).type
        case Array():
            return np.ndarray
        case TupleType(cls=cls):
            return cls
        case ListType():
            return list
        case Opaque(name="str"):
            return str
    if kind == NONE_TYPE:
        return type(None)
    return None


def _isinstance(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    value, classes = args
    wanted = _classes(classes)
    if wanted is None:
        return NotImplemented
    cls = class_of(low, value)
    if cls is None:
        if isinstance(value, Value) and isinstance(value.type, Number):  # int or float
            answers = {issubclass(int, wanted), issubclass(float, wanted)}
            if len(answers) == 1:
                return Static(answers.pop())
        if low.internal and isinstance(value, Value) and not isinstance(value.type, Opaque):
            # a rule asks how its argument is built: of unknown type are numbers and arrays only
            if not any(issubclass(c, wanted) for c in (int, float, complex, np.ndarray, np.generic)):
                return Static(False)
        return NotImplemented
    if not low.session.exact and isinstance(value, Value) and isinstance(value.type, Number):
        # in fast code a NumPy scalar counts as a Python number
        scalar = {float: np.float64, bool: np.bool_}.get(cls)
        if scalar is not None and issubclass(cls, wanted) != issubclass(scalar, wanted):
            if cls is float and value.hint and not issubclass(float, wanted):
                raise NeedsExact
            raise NeedsExact
    return Static(issubclass(cls, wanted))


def _classes(value: Abstract) -> tuple[type, ...] | None:
    match value:
        case Static(value=known) if isinstance(known, type):
            return (known,)
        case Static(value=types.UnionType() as known):
            return tuple(known.__args__)
        case TupleRef(items=items):
            parts = [_classes(i) for i in items]
            if any(p is None for p in parts):
                return None
            return tuple(c for p in parts if p is not None for c in p)
    return None


def _type(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if len(args) != 1:
        low.refuse("a class is made in a differentiated function", "define it at module level")
    cls = class_of(low, args[0])
    return NotImplemented if cls is None else Static(cls)


def _len(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if isinstance(args[0], ObjectRef):
        return _method(low, args[0], "__len__", [])
    return containers.length(low, args[0])


def _method(low: Lowering, obj: Abstract, name: str, args: list[Abstract]) -> Abstract:
    from srcad.frontend import calls
    from srcad.frontend.attributes import get_attribute

    return calls.call(low, get_attribute(low, obj, name), args, {})


def _range(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    atoms = [low.atom(a) for a in args]
    zero, one = Literal(0), Literal(1)
    match atoms:
        case [stop]:
            return RangeRef(zero, stop, one)
        case [start, stop]:
            return RangeRef(start, stop, one)
    return RangeRef(atoms[0], atoms[1], atoms[2])


def _zip(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return Zip(tuple(args))


def _enumerate(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    return Enumerate(args[0], start)


def _reversed(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return Reversed(args[0])


def _list(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return containers.to_list(low, args[0]) if args else low.new_list(Items(()))


def _tuple(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if not args:
        return TupleRef(())
    items = containers.items_of(low, args[0])
    if items is not None:
        return TupleRef(items)
    low.refuse("a tuple of run-time length is made", "use a list")


def _dict(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    ref = low.new_dict(Entries((), ()))
    if args:
        if isinstance(args[0], DictRef):
            copied = containers.call_method(low, args[0], "copy", [], {})
            assert isinstance(copied, DictRef)
            ref = copied
        else:
            rows = containers.items_of(low, args[0])
            if rows is None:
                low.refuse("a dict of run-time length is made", "use a loop with d[k] = v")
            for row in rows:
                key, value = containers.unpack(low, row, 2)
                containers.set_item(low, ref, key, value)
    for name, value in keywords.items():
        containers.set_item(low, ref, Static(name), value)
    return ref


def _sum(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    from srcad.frontend.expressions import binary

    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
    if items is not None and not (isinstance(args[0], RangeRef) and len(items) > 8):
        total = start
        for item in items:
            if isinstance(total, Static) and type(total.value) is int and total.value == 0 and is_leaf(item):
                total = item if isinstance(item, Value) else binary(low, operator.add, total, item)
            else:
                total = binary(low, operator.add, total, item)
        return total
    if isinstance(args[0], (Zip, Enumerate, Reversed)):
        return NotImplemented
    if isinstance(args[0], ListRef) and isinstance(c := low.contents(args[0]), Held):
        kind = c.value.type
        if isinstance(kind, ListType) and isinstance(kind.item, Number):
            return NotImplemented
        return _reduce_list(low, args[0], start)
    if isinstance(args[0], Value) and isinstance(args[0].type, Array):
        return _reduce_list(low, args[0], start)
    return NotImplemented


def _reduce_list(low: Lowering, iterable: Abstract, start: Abstract) -> Abstract:
    """``sum`` of a run-time list of arrays: a loop."""
    from srcad.frontend import statements
    from srcad.frontend.expressions import binary

    key = ("variable", low.session.new_frame(), "total")
    item_key = ("temporary", low.session.new_place(), "")
    low.state[key] = start

    def put(item: Abstract) -> None:
        low.state[item_key] = item

    def body() -> None:
        low.state[key] = binary(low, operator.add, low.state[key], low.state.pop(item_key))

    statements.iterate_with(low, iterable, put, body, {key})
    found: Abstract = low.state.pop(key)
    return found


def _extreme(function: Any) -> Handler:
    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if set(keywords) - {"default"}:
            return _extreme_by_key(low, function, args, keywords)
        items: tuple[Abstract, ...] | None = tuple(args)
        if len(args) == 1:
            items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
        if items is None:
            return NotImplemented
        if not items:
            if "default" in keywords:
                return keywords["default"]
            low.refuse(f"{function.__name__}() of no items", "")
        best = items[0]
        for item in items[1:]:
            if isinstance(best, Static) and isinstance(item, Static):
                best = Static(function(best.value, item.value))
            else:
                atom = low.builder.apply(function, low.atom(best), low.atom(item))
                best = containers.wrap(low, atom)
        return best

    return handler


def _extreme_by_key(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    from srcad.frontend import calls
    from srcad.frontend.control import choose
    from srcad.frontend.expressions import binary_compare, truth

    items = tuple(args) if len(args) > 1 else containers.items_of(low, args[0])
    if items is None:
        low.refuse(f"{function.__name__}(…, key=…) of a run-time list", "write the loop with an if")
    better = operator.gt if function is max else operator.lt
    best, score = items[0], calls.call(low, keywords["key"], [items[0]], {})
    for item in items[1:]:
        other = calls.call(low, keywords["key"], [item], {})
        wins = truth(low, binary_compare(low, better, other, score))
        if isinstance(wins, bool):
            best, score = (item, other) if wins else (best, score)
            continue
        pair = choose(
            low,
            wins,
            functools.partial(_pair, item, other),
            functools.partial(_pair, best, score),
        )
        best, score = containers.unpack(low, pair, 2)
    return best


def _pair(a: Abstract, b: Abstract) -> Abstract:
    return TupleRef((a, b))


def _any_all(wanted: bool) -> Handler:
    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        from srcad.frontend.control import choose
        from srcad.frontend.expressions import truth

        items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
        if items is None:
            return NotImplemented
        result: Abstract = Static(not wanted)
        for item in reversed(items):
            known = truth(low, item)
            if isinstance(known, bool):
                result = Static(wanted) if known == wanted else result
            elif wanted:
                result = choose(low, known, lambda: Static(True), functools.partial(_same, result))
            else:
                result = choose(low, known, functools.partial(_same, result), lambda: Static(False))
        return result

    return handler


def _same(value: Abstract) -> Abstract:
    return value


def _sorted(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
    if items is not None and all(isinstance(i, Static) for i in items) and not keywords:
        return low.new_list(Items(tuple(Static(v) for v in sorted(i.value for i in items))))  # type: ignore[union-attr]
    if "key" in keywords:
        low.refuse("sorted with a key is not supported", "sort indices with np.argsort and index with them")
    listed = containers.to_list(low, args[0])
    return containers.wrap(
        low, low.builder.apply(sorted, low.list_atom(listed), **{k: low.atom(v) for k, v in keywords.items()})
    )


def _map(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return comprehensions.map_list(low, args[0], args[1:])


def _filter(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return comprehensions.filter_list(low, args[0], args[1])


def _cast(cls: Any) -> Handler:
    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        from srcad.frontend.expressions import truth

        if not args:
            return Static(cls())
        if isinstance(args[0], ObjectRef):
            return _method(low, args[0], f"__{cls.__name__}__", [])
        if cls is bool:
            known = truth(low, args[0])
            if isinstance(known, bool):
                return Static(known)
            return containers.wrap(low, low.builder.apply(bool, known))
        if isinstance(args[0], Static):
            try:
                return Static(cls(args[0].value))
            except Exception:  # noqa: BLE001 - it raises at run time, as in the primal
                return NotImplemented
        return NotImplemented

    return handler


def _getattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    from srcad.errors import SourceError
    from srcad.frontend.attributes import get_attribute

    if not isinstance(args[1], Static):
        low.refuse("getattr with a run-time name", "write the attribute, or use a dict")
    if len(args) == 3:
        try:
            return get_attribute(low, args[0], args[1].value)
        except SourceError:
            return args[2]
    return get_attribute(low, args[0], args[1].value)


def _hasattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    name = args[1].value if isinstance(args[1], Static) else ""
    match args[0]:
        case Static(value=known):
            return Static(hasattr(known, name))
        case ObjectRef(cls=cls):
            contents = low.contents(args[0])
            assert isinstance(contents, Fields)
            origin = contents.origin
            live = origin is not None and low.session.importer.has_attribute(origin, name)
            return Static(live or contents.get(name) is not None or hasattr(cls, name))
    cls_ = class_of(low, args[0])
    return NotImplemented if cls_ is None else Static(hasattr(cls_, name))


def _setattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    from srcad.frontend.attributes import set_attribute

    if not isinstance(args[1], Static):
        low.refuse("setattr with a run-time name", "write the attribute")
    set_attribute(low, args[0], args[1].value, args[2])
    return NONE


def _callable(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case Static(value=known):
            return Static(callable(known))
        case Closure() | Method() | Partial():
            return Static(True)
        case ObjectRef(cls=cls):
            return Static(hasattr(cls, "__call__"))
    return Static(False)


def _print(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    named = {k: low.atom(v) for k, v in keywords.items()}
    low.builder.effect(print, *map(low.atom, args), **named)
    return NONE


def _slice(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    parts = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE][:3]
    if all(isinstance(p, Static) for p in parts):
        return Static(slice(*(p.value for p in parts)))  # type: ignore[union-attr]
    return SliceRef(*parts)


def _next(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    low.refuse("next() advances an iterator", "use a loop or an index")


def run_static(low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """The result of a function of known arguments; NotImplemented if something is not known."""
    return _static_only(function)(low, args, keywords)


def _static_only(function: Any) -> Handler:
    """A function that is run at transform time if all is known then."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        known = [_known(a) for a in args]
        named = {k: _known(v) for k, v in keywords.items()}
        if any(k is ... for k in (*known, *named.values())):
            return NotImplemented
        try:
            return low.session.importer.constant(low, function(*known, **named))
        except Exception:  # noqa: BLE001 - it raises at run time, as in the primal
            return NotImplemented

    return handler


def _known(value: Abstract) -> Any:
    match value:
        case Static(value=known):
            return known
        case TupleRef(items=items, cls=cls) if cls is tuple:
            parts = tuple(map(_known, items))
            return ... if any(p is ... for p in parts) else parts
    return ...


def _type_only(function: Any) -> Handler:
    """A function of the types of its arguments: dtype and rank decide it."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        samples = [_sample(low, a) for a in args]
        if keywords or any(s is ... for s in samples):
            return NotImplemented
        try:
            return low.session.importer.constant(low, function(*samples))
        except Exception:  # noqa: BLE001 - it raises at run time, as in the primal
            return NotImplemented

    return handler


def _sample(low: Lowering, value: Abstract) -> Any:
    match value:
        case Static(value=known):
            return known
        case MaybeUnbound():
            return _sample(low, low.bound(value))
        case Value(type=kind):
            match kind:
                case Number(kind=number) if number in _PYTHON:
                    return _PYTHON[number](1)
                case NumPyScalar(dtype=dtype):
                    return np.dtype(dtype).type(1)
                case Array() if (d := dtype_of(kind)) is not None and (r := rank(kind)) is not None:
                    return np.ones((1,) * r, d)
        case TupleRef(items=items):
            parts = tuple(_sample(low, i) for i in items)
            return ... if any(p is ... for p in parts) else parts
        case ListRef():
            contents = low.contents(value)
            if isinstance(contents, Items):
                found = [_sample(low, i) for i in contents.items]
                return ... if any(f is ... for f in found) else found
    return ...


def _shape(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    from srcad.frontend.attributes import get_attribute

    value = args[0]
    if isinstance(value, Value):
        dims = dims_of(value.type)
        if dims == ():
            return TupleRef(())
        if isinstance(value.type, Array):
            return get_attribute(low, value, "shape")
        return NotImplemented
    if isinstance(value, Static) and isinstance(value.value, (int, float, complex)):
        return TupleRef(())
    return NotImplemented


def _ndim(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    value = args[0]
    if isinstance(value, Value) and (count := rank(value.type)) is not None:
        return Static(count)
    return NotImplemented


def _iterable(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case Value(type=kind) if (count := rank(kind)) is not None:
            return Static(count > 0)
        case ListRef() | DictRef() | TupleRef() | RangeRef() | Zip() | Enumerate() | Reversed():
            return Static(True)
        case Static(value=known):
            return Static(bool(np.iterable(known)))
    return NotImplemented


def _wraps(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return Static(_identity)


def _identity_handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return args[0]


def _identity(function: Any) -> Any:
    return function


def _lru_cache(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if args and not isinstance(args[0], Static):
        return args[0]
    return Static(_identity)


def _partial(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return Partial(args[0], tuple(args[1:]), tuple(keywords.items()))


def _reduce(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    from srcad.frontend import calls

    items = containers.items_of(low, args[1])
    if items is None:
        low.refuse("functools.reduce of a run-time list", "write the loop")
    values = [*args[2:], *items]
    total = values[0]
    for item in values[1:]:
        total = calls.call(low, args[0], [total, item], {})
    return total


def _chain(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    parts = [containers.items_of(low, a) for a in args]
    if any(p is None for p in parts):
        return NotImplemented
    return TupleRef(tuple(i for p in parts if p is not None for i in p))


def _product(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    parts = [containers.items_of(low, a) for a in args]
    if any(p is None for p in parts) or keywords:
        low.refuse("itertools.product of run-time iterables", "nest the loops")
    known = [p for p in parts if p is not None]
    return TupleRef(tuple(TupleRef(row) for row in itertools.product(*known)))


def _replace(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    obj = args[0]
    if not isinstance(obj, ObjectRef):
        return NotImplemented
    from srcad.frontend.attributes import get_attribute

    names = tuple(f.name for f in dataclasses.fields(obj.cls))
    values = tuple(keywords[n] if n in keywords else get_attribute(low, obj, n) for n in names)
    return low.new_object(obj.cls, Fields(names, values, None))


def _copy(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case ListRef() | DictRef():
            return containers.call_method(low, args[0], "copy", [], {})
        case TupleRef() | Static():
            return args[0]
        case Value(type=kind) if isinstance(kind, Array):
            return containers.wrap(low, low.builder.apply(np.ndarray.copy, args[0]))
        case Value(type=kind) if isinstance(kind, (Number, NumPyScalar)):
            return args[0]
    return NotImplemented


def _deepcopy(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case ListRef() as ref if isinstance(c := low.contents(ref), Items):
            return low.new_list(Items(tuple(_deepcopy(low, [i], {}) for i in c.items)))
        case DictRef() as ref if isinstance(c := low.contents(ref), Entries):
            return low.new_dict(Entries(c.keys, tuple(_deepcopy(low, [v], {}) for v in c.values)))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_deepcopy(low, [i], {}) for i in items), cls)
    return _copy(low, args, keywords)


def _cast_name(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``typing.cast(kind, value)``"""
    return args[1]


def _numpy_cast(cls: Any) -> Handler:
    """``np.float64(x)`` of a Python float in fast code: the same number."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if not low.session.exact and len(args) == 1 and not keywords:
            if isinstance(args[0], Value) and args[0].type == Number("float"):
                return args[0]
        return NotImplemented

    return handler


_HANDLERS: dict[Any, Handler] = {
    isinstance: _isinstance,
    type: _type,
    len: _len,
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    sum: _sum,
    max: _extreme(max),
    min: _extreme(min),
    any: _any_all(True),
    all: _any_all(False),
    sorted: _sorted,
    map: _map,
    filter: _filter,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    callable: _callable,
    print: _print,
    slice: _slice,
    next: _next,
    iter: _identity_handler,
    float: _cast(float),
    int: _cast(int),
    bool: _cast(bool),
    complex: _cast(complex),
    str: _static_only(str),
    abs: _static_only(abs),
    round: _static_only(round),
    pow: _static_only(pow),
    divmod: _static_only(divmod),
    issubclass: _static_only(issubclass),
    repr: _static_only(repr),
    np.shape: _shape,
    np.ndim: _ndim,
    np.iterable: _iterable,
    np.result_type: _type_only(np.result_type),
    np.iscomplexobj: _type_only(np.iscomplexobj),
    np.isrealobj: _type_only(np.isrealobj),
    np.isscalar: _type_only(np.isscalar),
    np.issubdtype: _static_only(np.issubdtype),
    np.dtype: _static_only(np.dtype),
    np.finfo: _static_only(np.finfo),
    np.iinfo: _static_only(np.iinfo),
    np.promote_types: _static_only(np.promote_types),
    np.can_cast: _static_only(np.can_cast),
    np.float64: _numpy_cast(np.float64),
    functools.wraps: _wraps,
    functools.lru_cache: _lru_cache,
    functools.cache: _identity_handler,
    functools.partial: _partial,
    functools.reduce: _reduce,
    itertools.chain: _chain,
    itertools.product: _product,
    dataclasses.replace: _replace,
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
    inspect.isclass: _static_only(inspect.isclass),
    _identity: _identity_handler,
}


def register(function: Any, handler: Handler) -> None:
    """Add a handler for a function of another layer."""
    _HANDLERS[function] = handler


def _add_typing() -> None:
    import typing

    _HANDLERS[typing.cast] = _cast_name


_add_typing()
_ = (builtins, SCALARS, Unknown)
