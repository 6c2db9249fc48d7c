"""What types alone decide: ``isinstance``, dtypes, ranks and shapes are settled while lowering."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from srcad.frontend import attributes
from srcad.frontend.abstract import (
    Abstract,
    Closure,
    DictRef,
    DictView,
    Enumerate,
    Items,
    IteratorRef,
    ListRef,
    MaybeUnbound,
    Method,
    ObjectRef,
    RangeRef,
    Reversed,
    SetRef,
    Static,
    TupleRef,
    Zip,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Handler, Lowering, NeedsExact
from srcad.frontend.stand_ins import STANDS_FOR
from srcad.ir import Value
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
    dims_of,
    dtype_of,
    rank,
)

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
NUMPY_SCALARS: dict[type, type] = {float: np.float64, bool: np.bool_}
"""In fast code a NumPy scalar counts as a Python number: which, by the class of that."""


def class_of(low: Lowering, value: Abstract) -> type | None:
    """The class of a value, if its kind decides it."""
    match value:
        case Static(value=known):
            return type(known)
        case TupleRef(cls=cls):
            return cls
        case ObjectRef(cls=cls):
            return STANDS_FOR.get(cls, cls)
        case ListRef():
            return list
        case DictRef():
            return dict
        case SetRef():
            return set
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
        case Opaque(name="str"):
            return str
    if kind == NONE_TYPE:
        return type(None)
    return None


def is_instance(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``isinstance(value, classes)``"""
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
        if isinstance(value, Value) and isinstance(value.type, ListType):  # a list or a tuple
            answers = {issubclass(list, wanted), issubclass(tuple, wanted)}
            return Static(answers.pop()) if len(answers) == 1 else NotImplemented
        if low.internal and isinstance(value, Value) and not isinstance(value.type, Opaque):
            # a rule asks how its argument is built: of unknown type are numbers and arrays only
            numeric = (int, float, complex, np.ndarray, np.generic)
            return NotImplemented if any(issubclass(c, wanted) for c in numeric) else Static(False)
        return NotImplemented
    if not low.session.exact and isinstance(value, Value) and isinstance(value.type, Number):
        scalar = NUMPY_SCALARS.get(cls)
        if scalar is not None and issubclass(cls, wanted) != issubclass(scalar, wanted):
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


def type_call(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``type(value)``"""
    if len(args) != 1:
        low.refuse(*refusal("class"))
    cls = class_of(low, args[0])
    if cls in (float, bool):
        low.require_python(args[0])
    return NotImplemented if cls is None else Static(cls)


def type_only(function: Any) -> Handler:
    """A function of the types of its arguments: dtype and rank decide it."""

    def handler(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
        samples = [_sample(low, a) for a in args]
        if low.internal:  # a rule's array_like argument may be a list
            samples = [np.asarray(s) if isinstance(s, list) else s for s in samples]
        if keywords or any(s is ... for s in samples):
            return NotImplemented
        try:
            return low.session.importer.constant(low, function(*samples))
        except Exception:  # it raises at run time, as in the primal
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


def shape(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``np.shape``"""
    value = args[0]
    if isinstance(value, Value):
        dims = dims_of(value.type)
        if dims == ():
            return TupleRef(())
        if isinstance(value.type, Array):
            return attributes.get_attribute(low, value, "shape")
        return NotImplemented
    if isinstance(value, Static) and isinstance(value.value, (int, float, complex)):
        return TupleRef(())
    return NotImplemented


def ndim(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``np.ndim``"""
    value = args[0]
    if isinstance(value, Value) and (count := rank(value.type)) is not None:
        return Static(count)
    return NotImplemented


def iterable(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``np.iterable``"""
    match args[0]:
        case Value(type=kind) if (count := rank(kind)) is not None:
            return Static(count > 0)
        case (
            ListRef()
            | DictRef()
            | SetRef()
            | TupleRef()
            | RangeRef()
            | Zip()
            | Enumerate()
            | Reversed()
            | IteratorRef()
            | DictView()
        ):
            return Static(True)
        case Static(value=known):
            return Static(bool(np.iterable(known)))
    return NotImplemented
