"""Nested containers of leaves: the structure of arguments and results.

A tree is a leaf or a ``Node``; flattening gives the leaves in order, so that a function of nested
containers is, inside the compiler, a function of a flat tuple of values.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from srcad import runtime

L = TypeVar("L")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Node(Generic[L]):
    """A container: ``cls`` is tuple, list, dict, a namedtuple class or a dataclass.

    ``keys`` are the dict's keys or the field names; the positions for tuples and lists.
    """

    cls: type
    keys: tuple[Any, ...]
    children: tuple[Tree[L], ...]


Tree: TypeAlias = Node[L] | L


def is_container(obj: object) -> bool:
    """Whether an object is a container whose items are leaves of their own."""
    return isinstance(obj, (tuple, list, dict)) or (
        dataclasses.is_dataclass(obj) and not isinstance(obj, type)
    )


def of_object(obj: object) -> Tree[Any]:
    """The tree of an object: nested tuples, lists, dicts, namedtuples and dataclass instances."""
    if isinstance(obj, dict):
        return Node(type(obj), tuple(obj), tuple(map(of_object, obj.values())))
    if isinstance(obj, (tuple, list)):
        return Node(type(obj), tuple(range(len(obj))), tuple(map(of_object, obj)))
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        names = tuple(f.name for f in dataclasses.fields(obj))
        return Node(type(obj), names, tuple(of_object(getattr(obj, n)) for n in names))
    return obj


def build(cls: type, keys: tuple[Any, ...], items: tuple[Any, ...]) -> Any:
    """The container of the given items."""
    if issubclass(cls, dict):
        return dict(zip(keys, items, strict=True))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls(*items)
    if issubclass(cls, (tuple, list)):
        return cls(items)
    return runtime.dataclass_of(cls, dict(zip(keys, items, strict=True)))


def is_generated(function: Any) -> bool:
    """Whether the standard library has written a method: there is no source to follow."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith("<")


def is_made_by_call(cls: Any, names: list[str]) -> bool:
    """Whether a call with all of these fields makes an instance of a dataclass, and that is all."""
    setter = cls.__setattr__
    return (
        [f.name for f in dataclasses.fields(cls) if f.init] == names
        and list(inspect.signature(cls).parameters) == names
        and is_generated(cls.__init__)
        and not hasattr(cls, "__post_init__")
        and (setter is object.__setattr__ or is_generated(setter))
        and cls.__new__ is object.__new__
        and type(cls).__call__ is type.__call__
    )


def leaves(tree: Tree[L]) -> Iterator[L]:
    """The leaves, left to right."""
    if isinstance(tree, Node):
        for child in tree.children:
            yield from leaves(child)
    else:
        yield tree


def paths(tree: Tree[L], prefix: str = "") -> Iterator[tuple[str, L]]:
    """The leaves with how Python would reach them, such as ``['w'][0]`` or ``.scale``."""
    if isinstance(tree, Node):
        for key, child in zip(tree.keys, tree.children, strict=True):
            named = not issubclass(tree.cls, (dict, list)) and isinstance(key, str)
            yield from paths(child, prefix + (f".{key}" if named else f"[{key!r}]"))
    else:
        yield prefix, tree


def map_leaves(function: Callable[[L], M], tree: Tree[L]) -> Tree[M]:
    """The tree with every leaf replaced."""
    if isinstance(tree, Node):
        return Node(tree.cls, tree.keys, tuple(map_leaves(function, c) for c in tree.children))
    return function(tree)


def to_object(tree: Tree[Any]) -> Any:
    """The object a tree describes."""
    if isinstance(tree, Node):
        return build(tree.cls, tree.keys, tuple(map(to_object, tree.children)))
    return tree
