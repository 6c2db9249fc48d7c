"""What a function tells of itself: the names of its parameters, and where it is defined."""

from __future__ import annotations

import inspect
import linecache
import types
from typing import Any

from srcad.errors import Place
from srcad.frontend.abstract import (
    Abstract,
    Closure,
    Method,
    ObjectRef,
    Partial,
    Static,
    Transformed,
)

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameter_names(function: Abstract) -> list[str] | None:
    """The positional parameters of a function, if they are known."""
    match function:
        case Closure(node=node):
            return [a.id for a in (*node.args.posonlyargs, *node.args.args)]
        case Method(function=inner):
            names = parameter_names(inner)
            return None if names is None else names[1:]
        case Transformed(function=inner):
            return parameter_names(inner)
        case Partial(function=inner, args=args):
            names = parameter_names(inner)
            return None if names is None else names[len(args) :]
        case ObjectRef(cls=cls):
            names = parameter_names(Static(cls.__call__))
            return None if names is None else names[1:]
        case Static(value=known):
            try:
                signature = inspect.signature(known)
            except (TypeError, ValueError):
                return None
            return [n for n, p in signature.parameters.items() if p.kind in _POSITIONAL]
    return None


def unbound_name(function: Abstract) -> str | None:
    """``Class.method`` for the method of an object; None for any other function."""
    match function:
        case Method(function=Static(value=known), receiver=ObjectRef()):
            return str(known.__qualname__).rpartition(">.")[2]
        case Static(value=types.MethodType() as known):
            return str(known.__func__.__qualname__).rpartition(">.")[2]
    return None


def argument_name(function: Abstract, which: int | str) -> str:
    """What the function calls an argument, for an error."""
    if isinstance(which, str):
        return which
    names = parameter_names(function)
    return names[which] if names is not None and which < len(names) else f"argument {which}"


def definition(function: Abstract) -> Place | None:
    """Where a function is defined."""
    match function:
        case Closure(node=node, frame=frame) if hasattr(node, "lineno"):
            place: Place = frame.source.place(node)
            return place
        case Method(function=inner) | Transformed(function=inner) | Partial(function=inner):
            return definition(inner)
        case ObjectRef(cls=cls):
            return definition(Static(cls.__call__))
        case Static(value=known):
            return _of_object(known)
    return None


def _of_object(known: Any) -> Place | None:
    while not isinstance(known, types.FunctionType):
        inner = getattr(known, "__func__", None) or getattr(known, "primal", None)
        inner = inner or getattr(known, "__wrapped__", None)
        if inner is None or inner is known:
            return None
        known = inner
    code = known.__code__
    lines = linecache.getlines(code.co_filename, known.__globals__)
    first = code.co_firstlineno
    for number in range(first, min(first + 50, len(lines) + 1)):
        text = lines[number - 1]
        stripped = text.lstrip()
        if number == first and not stripped.startswith("@"):  # no decorator: the line itself
            column = max(text.find("lambda"), 0) if code.co_name == "<lambda>" else 0
            return Place(code.co_filename, number, column or len(text) - len(stripped), text)
        if stripped.startswith(("def ", "async def ")):
            return Place(code.co_filename, number, len(text) - len(stripped), text)
    return Place(code.co_filename, first)
