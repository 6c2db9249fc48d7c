"""Nests of tuples, lists, dicts, named tuples and dataclasses, whose leaves are numbers and arrays.

A leaf has a path, printed as Python would write it: `[0]['w'].scale`. Floats, complex numbers and
arrays of them are differentiable; what else there is (ints, strings, None, functions) stays as it
is.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcad.testing.lifting import lift_value
from srcad.testing.tracing.core import is_inexact
from srcad.testing.tracing.handle import Handle, plain


def children(x: Any) -> list[tuple[str, Any]] | None:
    """The parts of a container, each with its piece of path; None for a leaf."""
    match x:
        case tuple() if hasattr(x, "_fields"):
            return [(f".{name}", part) for name, part in zip(x._fields, x, strict=True)]
        case list() | tuple():
            return [(f"[{k}]", part) for k, part in enumerate(x)]
        case dict():
            return [(f"[{key!r}]", part) for key, part in x.items()]
        case _ if dataclasses.is_dataclass(x) and not isinstance(x, type):
            names = [f.name for f in dataclasses.fields(x)]
            return [(f".{name}", getattr(x, name)) for name in names]
        case _:
            return None


def rebuilt(x: Any, parts: list[Any]) -> Any:
    """A container like x with other parts."""
    match x:
        case tuple() if hasattr(x, "_fields"):
            return type(x)(*parts)
        case tuple():
            return tuple(parts)
        case list():
            return list(parts)
        case dict():
            return dict(zip(x, parts, strict=True))
        case _:
            new = copy.copy(x)
            for field, part in zip(dataclasses.fields(x), parts, strict=True):
                object.__setattr__(new, field.name, part)
            return new


def is_leaf(x: Any) -> bool:
    """Whether x is a number or an array that has derivatives."""
    return is_inexact(plain(x)) if isinstance(x, Handle) else is_inexact(x)


def leaves(x: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The differentiable leaves, with their paths."""
    parts = children(x)
    if parts is None:
        if is_leaf(x):
            yield path, x
        return
    for piece, part in parts:
        yield from leaves(part, path + piece)


def differentiable(x: Any) -> bool:
    """Whether there is a differentiable leaf in x."""
    return next(leaves(x), None) is not None


def map_leaves(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """f of each differentiable leaf; other leaves are made ready for a lifted call."""
    parts = children(x)
    if parts is None:
        return f(x, *others) if is_leaf(x) else prepared(x)
    columns = [[p for _, p in children(o) or []] for o in others]
    if any(len(c) != len(parts) for c in columns):
        raise ValueError("the structures of the arguments and of their tangents differ")
    return rebuilt(
        x, [map_leaves(f, p, *rest) for (_, p), *rest in zip(parts, *columns, strict=True)]
    )


def map_all(f: Callable[[Any], Any], x: Any) -> Any:
    """f of every leaf, differentiable or not."""
    parts = children(x)
    return f(x) if parts is None else rebuilt(x, [map_all(f, p) for _, p in parts])


def replace_leaves(x: Any, new: Iterator[Any]) -> Any:
    """x with its differentiable leaves taken in order from `new`, everything else copied."""
    parts = children(x)
    if parts is None:
        return next(new) if is_leaf(x) else copy.deepcopy(x)
    return rebuilt(x, [replace_leaves(p, new) for _, p in parts])


def prepared(x: Any) -> Any:
    """An argument that is not differentiated, for a lifted function: with memory of its own."""
    parts = children(x)
    if parts is not None:
        return lift_value(rebuilt(x, [prepared(p) for _, p in parts]))
    if isinstance(x, np.ndarray):
        return Handle(x.copy()) if x.dtype.kind in "fc" else x.copy()
    if isinstance(x, Handle):
        return Handle(x.content)
    return lift_value(x)


def selected(x: Any, like: Any) -> list[Any]:
    """What x has in the places of the differentiable leaves of `like`."""
    parts = children(like)
    if parts is None:
        return [plain(x)] if is_leaf(like) else []
    own = children(x)
    if own is None or len(own) != len(parts):
        raise ValueError(f"{x!r} is not structured like {like!r}")
    return [y for (_, p), (_, q) in zip(own, parts, strict=True) for y in selected(p, q)]
