"""Literals as syntax: numbers, strings, slices, dtypes, types, functions."""

from __future__ import annotations

import builtins
import enum
import math
from typing import Any

import gast
import numpy as np

from srcad.codegen.globals import GlobalNames
from srcad.ir.core import Undefined

_READ = gast.Load()


def name(identifier: str) -> Any:
    """A variable that is read."""
    return gast.Name(identifier, _READ, None, None)


def constant(value: Any) -> Any:
    """A constant that Python writes as such."""
    return gast.Constant(value, None)


def dotted(path: tuple[str, ...]) -> Any:
    """``a.b.c``"""
    node = name(path[0])
    for attribute in path[1:]:
        node = gast.Attribute(node, attribute, _READ)
    return node


def call(function: Any, args: list[Any], keywords: list[tuple[str, Any]] | None = None) -> Any:
    """``function(*args, **keywords)``"""
    return gast.Call(function, args, [gast.keyword(k, v) for k, v in keywords or ()])


def literal(value: Any, names: GlobalNames) -> Any:
    """The expression for a literal."""
    if isinstance(value, enum.Enum) and isinstance(value, (int, float, str, bytes)):
        value = value.value
    match value:
        case None | bool() | str() | bytes():
            return constant(value)
        case np.generic():
            item = value.item()
            if isinstance(item, np.generic):  # wider than Python's numbers
                item = str(item) if isinstance(item, np.floating) else complex(item)
            return call(dotted(names.path(type(value))), [literal(item, names)])
        case int():
            return constant(value) if value >= 0 else gast.UnaryOp(gast.USub(), constant(-value))
        case float():
            return _float(value, names)
        case complex():
            parts = [_float(value.real, names), _float(value.imag, names)]
            if str(value.real) == "0.0" and isinstance(parts[1], gast.Constant):
                return constant(value)
            return call(dotted(names.builtin("complex")), parts)
        case tuple() if type(value) is tuple:
            return gast.Tuple([literal(v, names) for v in value], gast.Load())
        case list() if type(value) is list:
            return gast.List([literal(v, names) for v in value], gast.Load())
        case frozenset() if value:
            return gast.Set([literal(v, names) for v in sorted(value)])
        case slice():
            parts = [literal(v, names) for v in (value.start, value.stop, value.step)]
            return call(dotted(names.builtin("slice")), parts)
        case np.dtype() if value.names is None and value.subdtype is None:
            return call(dotted((*names.path(np)[:1], "dtype")), [constant(value.name)])
        case BaseException() if getattr(builtins, type(value).__name__, None) is type(value):
            # a new one each time: an exception keeps its traceback
            made = [literal(v, names) for v in value.args]
            return call(dotted(names.builtin(type(value).__name__)), made)
    if value is Ellipsis:
        return constant(value)
    if isinstance(value, Undefined):  # read where nobody looks at it
        return constant(None)
    return dotted(names.path(value))


def _plain(values: tuple[Any, ...]) -> bool:
    return all(isinstance(v, (str, int, float)) for v in values)


def _float(value: float, names: GlobalNames) -> Any:
    if abs(value) == math.pi:
        node = dotted((*names.path(math), "pi"))
    elif math.isfinite(value):
        node = constant(abs(value))
    else:
        node = dotted((*names.path(math), "nan" if math.isnan(value) else "inf"))
    if math.isnan(value) or math.copysign(1, value) > 0:
        return node
    return gast.UnaryOp(gast.USub(), node)
