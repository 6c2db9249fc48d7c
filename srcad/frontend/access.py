"""How a live object is reached when a derivative is called, step by step.

What a function refers to besides numbers that it is given (a global, a closure variable, an
attribute of an argument) may be another object at the next call.  An ``Access`` says where to look:
it starts at an argument or at an object that stays (a name space, a closure cell, a function, a
class), and goes on by attributes and items.  Guards are made of it, and so is the text that hands
data over.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from typing import Any

from srcad.ir.immutable import immutable, immutable_value

_MISSING = object()


@immutable_value
class Argument:
    """The argument of that number, by position and then by keyword."""

    number: int


@immutable_value
class Attribute:
    """``obj.name``"""

    name: str


@immutable_value
class Item:
    """``obj[key]``"""

    key: Any


@immutable_value
class Member:
    """``name`` as an instance sees it: its own attribute, else what its class has under the name,
    which is not bound to the instance."""

    name: str


@immutable_value
class Has:
    """Whether there is an attribute of the name."""

    name: str


@immutable_value
class Global:
    """What a function finds under a global name in its name space, or else as a built-in."""

    name: str


@immutable_value
class Size:
    """How long an array is along an axis, or a list or a registry."""

    key: int
    """The axis."""


@immutable
class Times:
    """Whether a number is so many times the one at another place."""

    count: int
    other: Access


Step = Attribute | Item | Member | Has | Global | Size | Times


@immutable
class Access:
    """A way to an object."""

    root: Any
    """An ``Argument``, or the object itself to start from."""
    steps: tuple[Step, ...] = ()

    def then(self, *steps: Step) -> Access:
        """The way continued."""
        return Access(self.root, (*self.steps, *steps))

    def read(self, args: Sequence[Any] = ()) -> Any:
        """The object that is there now; raises what Python raises if there is none."""
        found = args[self.root.number] if isinstance(self.root, Argument) else self.root
        for step in self.steps:
            if isinstance(step, Times):
                found = found == step.count * step.other.read(args)
            else:
                found = _take(found, step)
        return found

    def text(self, argument: Callable[[int], str], name_of: Callable[[Any], str]) -> str:
        """An expression for it; ``name_of`` gives the name under which an object is at hand."""
        if isinstance(self.root, Argument):
            found = argument(self.root.number)
        else:
            found = name_of(self.root)
        for step in self.steps:
            match step:
                case Attribute(name=name):
                    found = f"{found}.{name}"
                case Item(key=int() | str() as key) if type(key) in (int, str):
                    found = f"{found}[{key!r}]"
                case Item(key=key):
                    found = f"{found}[{name_of(key)}]"
                case Member(name=name):
                    found = f"{name_of(member)}({found}, {name!r})"
                case Has(name=name):
                    found = f"{name_of(hasattr)}({found}, {name!r})"
                case Size(key=axis):
                    found = f"{name_of(size)}({found}, {axis})"
                case Times(count=count, other=other):
                    found = f"({found} == {count} * {other.text(argument, name_of)})"
                case Global(name=name) if hasattr(builtins, name):
                    known = name_of(getattr(builtins, name))
                    found = f"({found}[{name!r}] if {name!r} in {found} else {known})"
                case Global(name=name):
                    found = f"{found}[{name!r}]"
        return found


def _take(obj: Any, step: Attribute | Item | Member | Has | Global | Size) -> Any:
    match step:
        case Attribute(name=name):
            return getattr(obj, name)
        case Item(key=key):
            return obj[key]
        case Member(name=name):
            return member(obj, name)
        case Has(name=name):
            return hasattr(obj, name)
        case Size(key=axis):
            return size(obj, axis)
        case Global(name=name):
            return obj[name] if name in obj else getattr(builtins, name)


def size(obj: Any, axis: int) -> int:
    """The length of an array along an axis, or of a list or a registry."""
    counted = isinstance(obj, (list, types.MappingProxyType))
    found: int = len(obj) if counted else obj.shape[axis]
    return found


def member(obj: Any, name: str) -> Any:
    """An attribute of an instance before it is bound: its own, else the one of its class."""
    own = getattr(obj, "__dict__", None)
    if own is not None and name in own:
        return own[name]
    for cls in type(obj).__mro__:
        found = cls.__dict__.get(name, _MISSING)
        if found is not _MISSING:
            return found
    raise AttributeError(name)
