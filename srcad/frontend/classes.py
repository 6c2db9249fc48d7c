"""Instances of classes: namedtuples, dataclasses, and classes with an ``__init__`` in Python."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import types
from functools import partial
from typing import Any, cast

from srcad.frontend import attributes, calls, expressions, operators
from srcad.frontend.abstract import (
    Abstract,
    DictRef,
    Entries,
    Fields,
    Items,
    ListRef,
    ObjectRef,
    Static,
    TupleRef,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering
from srcad.frontend.stand_ins import STAND_INS
from srcad.ir.tree import is_generated
from srcad.ir.types import OBJECT


def construct(
    low: Lowering, cls: type, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """An instance of a class."""
    if issubclass(cls, BaseException):
        atoms = tuple(map(low.atom, args))
        return low.builder.apply_typed(cls, atoms, OBJECT)
    cls = STAND_INS.get(cls, cls)
    operators.require_plain(low, cls, f"a {cls.__name__}")
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        if not is_generated(cls.__new__):
            low.refuse(*refusal("own __new__", name=cls.__name__))
        return _namedtuple(low, cls, args, keywords)
    if dataclasses.is_dataclass(cls):
        return _dataclass(low, cls, args, keywords)
    init = inspect.getattr_static(cls, "__init__", None)
    written = isinstance(init, types.FunctionType)
    if cls.__module__ == "builtins" or (_is_numpy(cls) and not written):
        return calls.primitive(low, cls, args, keywords)
    new = inspect.getattr_static(cls, "__new__", None)
    plain_new = new is inspect.getattr_static(object, "__new__") or new is None
    if init is types.SimpleNamespace.__init__ and new is types.SimpleNamespace.__new__ and not args:
        return low.new_object(cls, Fields(tuple(keywords), tuple(keywords.values()), None))
    if (
        type(cls).__call__ is type.__call__
        and not inspect.isabstract(cls)
        and plain_new
        and (written or init is object.__init__)
    ):
        ref = low.new_object(cls, Fields((), (), None))
        low.session.importer.member(cls, None, "__init__", init)
        if isinstance(init, types.FunctionType):
            calls.call(low, Static(init), [ref, *args], keywords)
        return ref
    return calls.opaque(low, cls, args, keywords)


def _is_numpy(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "numpy"


def compared_dataclasses(low: Lowering, op: Any, x: ObjectRef, y: Abstract) -> Abstract:
    """A comparison that ``dataclass`` has written: of the fields, in order."""
    if not isinstance(y, ObjectRef) or x.cls is not y.cls:
        return Static(NotImplemented)
    names = [f.name for f in dataclasses.fields(cast(Any, x.cls)) if f.compare]
    left, right = (
        TupleRef(tuple(attributes.get_attribute(low, obj, n) for n in names)) for obj in (x, y)
    )
    return expressions.binary_compare(low, op, left, right)


def as_dict(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``dataclasses.asdict``"""
    return (
        _taken_apart(low, args[0], as_tuple=False)
        if len(args) == 1 and not keywords
        else NotImplemented
    )


def as_tuple(low: Lowering, args: list[Abstract], keywords: dict[str, Abstract]) -> Any:
    """``dataclasses.astuple``"""
    return (
        _taken_apart(low, args[0], as_tuple=True)
        if len(args) == 1 and not keywords
        else NotImplemented
    )


def _taken_apart(low: Lowering, value: Abstract, *, as_tuple: bool) -> Abstract:
    inner = partial(_taken_apart, low, as_tuple=as_tuple)
    match value:
        case ObjectRef(cls=cls) if dataclasses.is_dataclass(cls):
            names = tuple(f.name for f in dataclasses.fields(cls))
            values = tuple(inner(attributes.get_attribute(low, value, n)) for n in names)
            return TupleRef(values) if as_tuple else low.new_dict(Entries(names, values))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(map(inner, items)), cls)
        case ListRef() if isinstance(found := low.contents(value), Items):
            return low.new_list(Items(tuple(map(inner, found.items))))
        case DictRef() if isinstance(known := low.contents(value), Entries):
            return low.new_dict(Entries(known.keys, tuple(map(inner, known.values))))
    copied: Abstract = calls.call(low, Static(copy.copy), [value], {})
    return copied


def _namedtuple(
    low: Lowering, cls: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    unknown = [n for n in keywords if n not in cls._fields[len(args) :]]
    if unknown or len(args) > len(cls._fields):
        low.refuse(f"{cls.__name__}() got unexpected or repeated arguments", calls.RAISES)
    values = dict(zip(cls._fields, args, strict=False)) | keywords
    for name, default in cls._field_defaults.items():
        values.setdefault(name, low.session.importer.constant(low, default))
    missing = [n for n in cls._fields if n not in values]
    if missing:
        low.refuse(f"{cls.__name__}() misses the field {missing[0]!r}", calls.RAISES)
    return TupleRef(tuple(values[n] for n in cls._fields), cls)


def _dataclass(
    low: Lowering, cls: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    init = inspect.getattr_static(cls, "__init__", None)
    low.session.importer.member(cls, None, "__init__", init)
    if isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>":
        ref = low.new_object(cls, Fields((), (), None))
        calls.call(low, Static(init), [ref, *args], keywords)
        return ref
    kinds = vars(dataclasses)
    if any(f._field_type is kinds["_FIELD_INITVAR"] for f in cls.__dataclass_fields__.values()):
        low.refuse(*refusal("own __new__", name=cls.__name__))
    fields = [f for f in dataclasses.fields(cls) if f.init]
    names = [f.name for f in fields if not f.kw_only]
    if len(args) > len(names):
        low.refuse(f"{cls.__name__}() takes {len(names)} positional arguments", calls.RAISES)
    values: dict[str, Abstract] = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name in values or name not in [f.name for f in fields]:
            low.refuse(
                f"{cls.__name__}() got an unexpected or repeated argument {name!r}", calls.RAISES
            )
        values[name] = value
    named: list[tuple[str, Abstract]] = []
    for f in dataclasses.fields(cls):
        if f.name in values:
            named.append((f.name, values[f.name]))
        elif f.default is not dataclasses.MISSING:
            named.append((f.name, low.session.importer.constant(low, f.default)))
        elif f.default_factory is not dataclasses.MISSING:
            named.append((f.name, calls.call(low, Static(f.default_factory), [], {})))
        elif f.init:
            low.refuse(f"{cls.__name__}() misses the argument {f.name!r}", calls.RAISES)
    ref = low.new_object(cls, Fields(tuple(n for n, _ in named), tuple(v for _, v in named), None))
    post = inspect.getattr_static(cls, "__post_init__", None)
    if isinstance(post, types.FunctionType):
        calls.call(low, Static(post), [ref], {})
    return ref
