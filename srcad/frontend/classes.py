"""Instances of classes: namedtuples, dataclasses, and classes with an ``__init__`` in Python."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import Any

from srcad.frontend import calls
from srcad.frontend.abstract import Abstract, Fields, Static, TupleRef
from srcad.frontend.lowering import Lowering
from srcad.ir.types import OBJECT


def construct(
    low: Lowering, cls: type, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """An instance of a class."""
    if issubclass(cls, BaseException):
        atoms = tuple(map(low.atom, args))
        return low.builder.apply_typed(cls, atoms, OBJECT)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _namedtuple(low, cls, args, keywords)
    if dataclasses.is_dataclass(cls):
        return _dataclass(low, cls, args, keywords)
    if cls.__module__.partition(".")[0] in ("numpy", "builtins"):
        return calls.primitive(low, cls, args, keywords)
    init = inspect.getattr_static(cls, "__init__", None)
    new = inspect.getattr_static(cls, "__new__", None)
    plain_new = new is inspect.getattr_static(object, "__new__") or new is None
    if (
        type(cls) is type
        and plain_new
        and (isinstance(init, types.FunctionType) or init is object.__init__)
    ):
        ref = low.new_object(cls, Fields((), (), None))
        low.session.importer.member(cls, None, "__init__", init)
        if isinstance(init, types.FunctionType):
            calls.call(low, Static(init), [ref, *args], keywords)
        return ref
    return calls.opaque(low, cls, args, keywords)


def _namedtuple(
    low: Lowering, cls: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
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
    fields = [f for f in dataclasses.fields(cls) if f.init]
    values: dict[str, Abstract] = dict(
        zip((f.name for f in fields if not f.kw_only), args, strict=False)
    )
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
