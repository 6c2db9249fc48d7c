"""Where compiled code is kept: by function and transform, then by the keys of the arguments."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcad import rules
from srcad.guards import Door, Enter, Identity
from srcad.options import Options
from srcad.pipeline import Compiled
from srcad.recent import Recent
from srcad.transform.calls import Spec
from srcad.transform.jacobians import Choice

VARIANTS = 8
"""How many codes for one key are kept: they differ in what the function refers to."""


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """Code for arguments of one key, while what it refers to stays."""

    compiled: Compiled
    enter: Enter
    collect: Callable[..., Any]


class Codes:
    """The codes of one derivative."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.scalars: dict[Any, Enter] = {}
        self.variants: dict[Any, tuple[Variant, ...]] = {}
        self.doors: dict[Any, Door] = {}
        """Where arrays come in, by the types of the arguments."""
        self.valid = [True]
        """For those who enter without a look-up: whether they still may."""
        self.choices: dict[Any, Callable[[dict[int, int]], bool]] = {}
        """For keys of arguments: which of two ways to compute suits given sizes."""
        self.latest: Compiled | None = None
        self.example: Compiled | None = None
        """What is shown before any call."""
        _all_codes.add(self)

    def close(self) -> None:
        """All calls go by the second door: the first ones lead to what is no longer right."""
        with self.lock:
            self.scalars.clear()
            self.doors.clear()
            self.valid[0] = False
            self.valid = [True]

    def forget(self) -> None:
        """Drop all codes: what they were made by has changed."""
        with self.lock:
            self.close()
            self.variants.clear()
            self.choices.clear()
            self.latest = self.example = None


def chooser(choice: Choice, seen: dict[int, int]) -> Callable[[dict[int, int]], bool]:
    """A choice by sizes as keys number them: ``seen`` are those of the example."""
    symbols, decide = choice
    names = {seen[size]: name for size, name in symbols.items() if size in seen}
    known: Recent[tuple[int, ...], bool] = Recent(256)

    def choose(sizes: dict[int, int]) -> bool:
        key = tuple(sizes)
        found = known.get(key)
        if found is None:
            given = {names[k]: size for size, k in sizes.items() if k in names}
            found = known[key] = decide(given)
        return found

    return choose


_all_codes: weakref.WeakSet[Codes] = weakref.WeakSet()


@rules.watch
def _forget_all() -> None:
    for codes in list(_all_codes):
        codes.forget()


_codes: Recent[Any, Codes] = Recent(256)


def codes_of(function: Any, spec: Spec, options: Options) -> Codes:
    """Where the codes of a derivative are kept.

    ``srcad.grad(f)`` in a loop finds what it compiled the first time, if ``f`` is defined at the
    top level of a module; other functions, and what they hold, are not kept alive.
    """
    lasting = (
        isinstance(function, types.FunctionType)
        and function.__closure__ is None
        and "<" not in function.__qualname__
    )
    if not lasting:
        return Codes()
    key = Identity(function), spec, options
    found = _codes.get(key)
    if found is None:
        found = _codes[key] = Codes()
    return found
