"""Python's builtins on abstract values, and calls that types alone decide.

A handler answers what it can and returns NotImplemented for the rest, which is then a primitive.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import math
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.errors import SourceError
from srcad.frontend import (
    arrays,
    attributes,
    calls,
    classes,
    containers,
    expressions,
    iterables,
    operators,
    scopes,
    statements,
    subscripts,
    typequeries,
)
from srcad.frontend.abstract import (
    NONE,
    TRUE,
    Abstract,
    ArrayRef,
    Closure,
    DictRef,
    Entries,
    Fields,
    Intrinsic,
    Items,
    ListRef,
    Method,
    ObjectRef,
    Partial,
    SetRef,
    SliceRef,
    Static,
    SuperRef,
    TupleRef,
    known_values,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Frame, Handler, Lowering
from srcad.ir import Value
from srcad.ir.core import hashable
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, NumPyScalar, Opaque, Optional, Unknown


def handler_of(function: Any) -> Handler | None:
    """The handler of a builtin."""
    return _HANDLERS.get(function) if hashable(function) else None


def _len(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    own = operators.ask(low, args[0], "__len__")
    return containers.length(low, args[0]) if own is None else own


def _method(low: Lowering, obj: Abstract, name: str, args: list[Abstract]) -> Abstract:
    return calls.call(low, attributes.get_attribute(low, obj, name), args, {})


def _cast(cls: Any) -> Handler:
    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if not args:
            return Static(cls())
        names = () if cls is bool else (f"__{cls.__name__}__",)
        own = operators.ask(low, args[0], *names)
        if own is not None:
            return own
        if cls is bool:
            known = expressions.truth(low, args[0])
            if isinstance(known, bool):
                return Static(known)
            return containers.wrap(low, low.builder.apply(bool, known))
        if isinstance(args[0], Static):
            try:
                return Static(cls(args[0].value))
            except Exception:  # it raises at run time, as in the primal
                return NotImplemented
        return NotImplemented

    return handler


def _getattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if not isinstance(args[1], Static):
        low.refuse("getattr with a run-time name", "write the attribute, or use a dict")
    if len(args) == 3:
        try:
            return attributes.get_attribute(low, args[0], args[1].value)
        except SourceError:
            return args[2]
    return attributes.get_attribute(low, args[0], args[1].value)


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
    cls_ = typequeries.class_of(low, args[0])
    if cls_ in (float, bool) and hasattr(cls_, name) != hasattr(np.float64, name):
        low.require_python(args[0])
    return NotImplemented if cls_ is None else Static(hasattr(cls_, name))


def _setattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if not isinstance(args[1], Static):
        low.refuse("setattr with a run-time name", "write the attribute")
    attributes.set_attribute(low, args[0], args[1].value, args[2])
    return NONE


def _callable(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case Static(value=known):
            return Static(callable(known))
        case Closure() | Method() | Partial():
            return Static(True)
        case ObjectRef(cls=cls):
            return Static(inspect.getattr_static(cls, "__call__", None) is not None)
        case Value(type=Unknown() | Opaque() | Optional()):
            return NotImplemented
    return Static(False)


def _print(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    named: dict[str, Any] = {k: low.atom(v) for k, v in keywords.items()}
    low.builder.effect(print, *map(low.peek, args), **named)
    return NONE


def _operator(op: Any) -> Handler:
    """A call of ``operator.add`` and the like is ``x + y``."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        return expressions.binary(low, op, *args) if len(args) == 2 else NotImplemented

    return handler


def _pow(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if len(args) == 2:
        return expressions.binary(low, operator.pow, *args)
    return static_only(pow)(low, args, keywords)


def _itemgetter(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    def get(low: Lowering, given: list[Abstract], named: dict[str, Abstract]) -> Abstract:
        found = tuple(subscripts.get_item(low, given[0], a) for a in args)
        return found[0] if len(found) == 1 else TupleRef(found)

    return Intrinsic("itemgetter", get)


def _attrgetter(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    names = known_values(args)
    if names is None:
        return NotImplemented

    def get(low: Lowering, given: list[Abstract], named: dict[str, Abstract]) -> Abstract:
        found = []
        for name in names:
            value = given[0]
            for part in name.split("."):
                value = attributes.get_attribute(low, value, part)
            found.append(value)
        return found[0] if len(found) == 1 else TupleRef(tuple(found))

    return Intrinsic("attrgetter", get)


def _methodcaller(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if not isinstance(args[0], Static):
        return NotImplemented
    name = args[0].value

    def run(low: Lowering, given: list[Abstract], named: dict[str, Abstract]) -> Abstract:
        method = attributes.get_attribute(low, given[0], name)
        return calls.call(low, method, args[1:], keywords)

    return Intrinsic("methodcaller", run)


def _getitem(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return subscripts.get_item(low, *args)


def _setitem(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    subscripts.set_item(low, *args)
    return NONE


def _delitem(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    subscripts.delete_item(low, *args)
    return NONE


def _operator_contains(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return containers.contains(low, *args)


def _augmented(op: Any) -> Handler:
    """``operator.iadd`` and the like: what ``+=`` binds."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        return statements.augmented(low, op, *args)

    return handler


def _nan_to_num(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """With ``copy=False`` it writes over its argument."""
    named = dict(zip(("x", "copy", "nan", "posinf", "neginf"), args, strict=False)) | keywords
    x, copied = named.pop("x"), named.pop("copy", TRUE)
    if not isinstance(x, (Value, ArrayRef)) or not isinstance(atom_type(low.peek(x)), Array):
        return NotImplemented
    if not isinstance(copied, Static):
        low.refuse(*refusal("array method", name="nan_to_num"))
    if copied.value:
        return NotImplemented
    return arrays.write_out(low, np.nan_to_num, [x], named, x, calls.primitive)


def _slice(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    parts = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE][:3]
    known = known_values(parts)
    return SliceRef(*parts) if known is None else Static(slice(*known))


def run_static(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The result of a function of known arguments; NotImplemented if something is not known."""
    return static_only(function)(low, args, keywords)


def static_only(function: Any) -> Handler:
    """A function that is run at transform time if all is known then."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        known = [_known(a) for a in args]
        named = {k: _known(v) for k, v in keywords.items()}
        if any(k is ... for k in (*known, *named.values())):
            return NotImplemented
        try:
            return low.session.importer.constant(low, function(*known, **named))
        except Exception:  # it raises at run time, as in the primal
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


def _fields(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    cls = typequeries.class_of(low, args[0])
    if isinstance(args[0], Static) and isinstance(args[0].value, type):
        cls = args[0].value
    if cls is None or not dataclasses.is_dataclass(cls):
        return NotImplemented
    return TupleRef(tuple(map(Static, dataclasses.fields(cls))))


def _replace(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    obj = args[0]
    if not isinstance(obj, ObjectRef):
        return NotImplemented
    values = dict(keywords)
    for field in dataclasses.fields(obj.cls):
        if field.init and field.name not in values:
            values[field.name] = attributes.get_attribute(low, obj, field.name)
    return classes.construct(low, obj.cls, [], values)


def _of_instance(function: Any, name: str) -> Handler:
    """A builtin that asks an instance for a special method."""
    otherwise = static_only(function)

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if args and operators.has(args[0], name):
            return _method(low, args[0], name, args[1:])
        if function is repr and args:
            low.require_python(args[0])
        return otherwise(low, args, keywords)

    return handler


def _object_setattr(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if not (len(args) == 3 and isinstance(args[1], Static)):
        return NotImplemented
    attributes.store_attribute(low, args[0], args[1].value, args[2])
    return NONE


def _copied_object(low: Lowering, obj: Abstract, memo: dict[object, Any] | None = None) -> Any:
    """A copy of an instance that was made in the function, with a memo a deep one."""
    assert isinstance(obj, ObjectRef)
    contents = low.contents(obj)
    assert isinstance(contents, Fields)
    copier = inspect.getattr_static(obj.cls, "__copy__", None)
    if memo is None and isinstance(copier, types.FunctionType):
        return calls.call(low, attributes.get_attribute(low, obj, "__copy__"), [], {})
    own = ["__deepcopy__", "__getstate__", "__setstate__", "__reduce_ex__"]
    if memo is None:
        own.append("__copy__")
    if contents.origin is not None or any(
        getattr(obj.cls, n, None) is not getattr(object, n, None) for n in own
    ):
        return NotImplemented
    values = contents.values
    if memo is not None:
        values = tuple(_copied_deeply(low, v, memo) for v in values)
        if any(v is NotImplemented for v in values):
            return NotImplemented
    return low.new_object(obj.cls, Fields(contents.names, values, None))


def _copy(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
        case ObjectRef():
            return _copied_object(low, args[0])
        case ListRef() | DictRef() | SetRef():
            return containers.call_method(low, args[0], "copy", [], {})
        case TupleRef() | Static():
            return args[0]
        case Value(type=kind) if isinstance(kind, Array):
            return containers.wrap(low, low.builder.apply(np.ndarray.copy, args[0]))
        case Value(type=kind) if isinstance(kind, (Number, NumPyScalar)):
            return args[0]
    return NotImplemented


def _deepcopy(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return _copied_deeply(low, args[0], {}) if len(args) == 1 else NotImplemented


def _copied_deeply(low: Lowering, value: Abstract, memo: dict[object, Any]) -> Any:
    """A copy; of what is there twice, as one object, there is one."""
    match value:
        case ArrayRef(place=place, path=path):
            key: object = (place, path)
        case ListRef(place=place) | DictRef(place=place) | ObjectRef(place=place):
            key = place
        case _:
            key = value if isinstance(value, Value) else object()
    if key not in memo:
        memo[key] = _new_copy(low, low.read(value), memo)
    return memo[key]


def _new_copy(low: Lowering, value: Abstract, memo: dict[object, Any]) -> Any:
    if isinstance(value, ObjectRef):
        return _copied_object(low, value, memo)
    made = _rebuilt(low, value, lambda part: _copied_deeply(low, part, memo))
    return _copy(low, [value], {}) if made is None else made


def _rebuilt(low: Lowering, value: Abstract, each: Callable[[Abstract], Any]) -> Any:
    """A container of the same structure with other items; None for what has no known structure."""
    parts: tuple[Abstract, ...]
    match value:
        case ListRef() if isinstance(c := low.contents(value), Items):
            parts = c.items
        case DictRef() if isinstance(c := low.contents(value), Entries):
            parts = c.values
        case TupleRef(items=items):
            parts = items
        case _:
            return None
    copies = tuple(map(each, parts))
    if any(made is NotImplemented for made in copies):
        return NotImplemented
    match value:
        case ListRef():
            return low.new_list(Items(copies))
        case DictRef():
            contents = low.contents(value)
            assert isinstance(contents, Entries)
            return low.new_dict(dataclasses.replace(contents, values=copies))
    return dataclasses.replace(value, items=copies)


def _stop_gradient(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """Item by item; what is cut is the same object, so neither may be changed from now on."""
    if len(args) != 1 or keywords or not isinstance(args[0], (ListRef, DictRef, TupleRef)):
        return NotImplemented
    low.freeze(args[0])
    cut = functools.partial(calls.call, low, Static(runtime.stop_gradient), keywords={})
    made = _rebuilt(low, args[0], lambda part: cut([low.read(part)]))
    if made is None:
        return NotImplemented
    low.freeze(made)
    return made


def _cast_name(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``typing.cast(kind, value)``"""
    return args[1]


def _numpy_cast(cls: Any) -> Handler:
    """``np.float64(x)`` of a Python float in fast code: the same number."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if low.session.exact or len(args) != 1 or keywords:
            return NotImplemented
        if isinstance(args[0], Value) and args[0].type == Number("float"):
            return args[0]
        return NotImplemented

    return handler


def _ndarray(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``np.ndarray(shape, dtype)``: without a buffer it is ``np.empty``."""
    if len(args) > 2 or not set(keywords) <= {"shape", "dtype"}:
        return NotImplemented
    return calls.call(low, Static(np.empty), args, keywords)


def _super(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if args:
        cls, receiver = args
    else:
        frame: Frame | None = low.frame
        while frame is not None and "__class__" not in frame.cells:
            frame = frame.parent
        if frame is None:
            low.refuse(*refusal("super"))
        cls = Static(frame.cells["__class__"].cell_contents)
        first = scopes.parameters(frame.source.tree.args)[0]
        receiver = low.state[low.variable(first, frame)]
    if not (isinstance(cls, Static) and isinstance(cls.value, type)):
        low.refuse(*refusal("super"))
    return SuperRef(cls.value, receiver)


def _nothing(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    return NONE


_HANDLERS: dict[Any, Handler] = {
    **iterables.ITERABLES,
    super: _super,
    object.__init__: _nothing,
    typing.cast: _cast_name,
    isinstance: typequeries.is_instance,
    type: typequeries.type_call,
    len: _len,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    callable: _callable,
    print: _print,
    slice: _slice,
    float: _cast(float),
    int: _cast(int),
    bool: _cast(bool),
    complex: _cast(complex),
    str: _of_instance(str, "__str__"),
    abs: _of_instance(abs, "__abs__"),
    round: _of_instance(round, "__round__"),
    pow: _pow,
    operator.itemgetter: _itemgetter,
    operator.attrgetter: _attrgetter,
    operator.methodcaller: _methodcaller,
    operator.getitem: _getitem,
    operator.setitem: _setitem,
    operator.delitem: _delitem,
    operator.contains: _operator_contains,
    **{
        getattr(operator, f"i{name}"): _augmented(getattr(operator, name))
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    },
    **{op: _operator(op) for op in expressions.BINARY.values()},
    math.pow: static_only(math.pow),
    divmod: static_only(divmod),
    issubclass: static_only(issubclass),
    repr: _of_instance(repr, "__repr__"),
    object.__setattr__: _object_setattr,
    dataclasses.asdict: classes.as_dict,
    dataclasses.astuple: classes.as_tuple,
    dataclasses.fields: _fields,
    np.shape: typequeries.shape,
    np.ndim: typequeries.ndim,
    np.iterable: typequeries.iterable,
    np.result_type: typequeries.type_only(np.result_type),
    np.iscomplexobj: typequeries.type_only(np.iscomplexobj),
    np.isrealobj: typequeries.type_only(np.isrealobj),
    np.isscalar: typequeries.type_only(np.isscalar),
    np.issubdtype: static_only(np.issubdtype),
    np.dtype: static_only(np.dtype),
    np.finfo: static_only(np.finfo),
    np.iinfo: static_only(np.iinfo),
    np.promote_types: static_only(np.promote_types),
    np.can_cast: static_only(np.can_cast),
    np.float64: _numpy_cast(np.float64),
    np.ndarray: _ndarray,
    np.nan_to_num: _nan_to_num,
    functools.wraps: _wraps,
    functools.lru_cache: _lru_cache,
    functools.cache: _identity_handler,
    functools.partial: _partial,
    dataclasses.replace: _replace,
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
    runtime.stop_gradient: _stop_gradient,
    inspect.isclass: static_only(inspect.isclass),
    _identity: _identity_handler,
}


READERS = {
    *(isinstance, type, len, float, int, bool, complex, abs, round, copy.copy, repr, str, print),
    *(np.shape, np.ndim, np.iterable, np.result_type, np.iscomplexobj, np.isrealobj, np.isscalar),
    *(sum, max, min, any, all, sorted),
}
"""Functions that only look at the data of their arguments."""


def register(function: Any, handler: Handler) -> None:
    """Add a handler for a function of another layer."""
    _HANDLERS[function] = handler
