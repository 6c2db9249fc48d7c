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
import typing
from typing import Any

import numpy as np

from srcad.errors import SourceError
from srcad.frontend import (
    attributes,
    calls,
    containers,
    expressions,
    iterables,
    scopes,
    typequeries,
)
from srcad.frontend.abstract import (
    NONE,
    Abstract,
    Closure,
    DictRef,
    Entries,
    Fields,
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
from srcad.ir.types import Array, Number, NumPyScalar


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


def _len(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if isinstance(args[0], ObjectRef):
        return _method(low, args[0], "__len__", [])
    return containers.length(low, args[0])


def _method(low: Lowering, obj: Abstract, name: str, args: list[Abstract]) -> Abstract:
    return calls.call(low, attributes.get_attribute(low, obj, name), args, {})


def _cast(cls: Any) -> Handler:
    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        if not args:
            return Static(cls())
        if isinstance(args[0], ObjectRef):
            return _method(low, args[0], f"__{cls.__name__}__", [])
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
    return Static(False)


def _print(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    named: dict[str, Any] = {k: low.atom(v) for k, v in keywords.items()}
    low.builder.effect(print, *map(low.peek, args), **named)
    return NONE


def _pow(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    if len(args) == 2:
        return expressions.binary(low, operator.pow, *args)
    return static_only(pow)(low, args, keywords)


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


def _replace(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    obj = args[0]
    if not isinstance(obj, ObjectRef):
        return NotImplemented
    names = tuple(f.name for f in dataclasses.fields(obj.cls))
    values = tuple(
        keywords[n] if n in keywords else attributes.get_attribute(low, obj, n) for n in names
    )
    return low.new_object(obj.cls, Fields(names, values, None))


def _copy(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    match args[0]:
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
    match low.read(args[0]):
        case ListRef() as ref if isinstance(c := low.contents(ref), Items):
            return low.new_list(Items(tuple(_deepcopy(low, [i], {}) for i in c.items)))
        case DictRef() as ref if isinstance(c := low.contents(ref), Entries):
            return low.new_dict(Entries(c.keys, tuple(_deepcopy(low, [v], {}) for v in c.values)))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_deepcopy(low, [i], {}) for i in items), cls)
    return _copy(low, [low.read(args[0])], keywords)


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
    str: static_only(str),
    abs: static_only(abs),
    round: static_only(round),
    pow: _pow,
    operator.pow: _pow,
    math.pow: static_only(math.pow),
    divmod: static_only(divmod),
    issubclass: static_only(issubclass),
    repr: static_only(repr),
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
    functools.wraps: _wraps,
    functools.lru_cache: _lru_cache,
    functools.cache: _identity_handler,
    functools.partial: _partial,
    dataclasses.replace: _replace,
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
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
