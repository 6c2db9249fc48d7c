"""Choices that change what is compiled."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypedDict

_opaque: dict[Any, None] = {}


@dataclass(frozen=True, slots=True)
class Options:
    """Which passes are run.  All are on; without them the code is longer and slower, and the same.

    ``srcad.grad(f, options=srcad.Options(fuse=False))``; ``Options.none()`` has all of them off.
    """

    unroll: bool = True
    """A short loop of a fixed number of steps inside another loop is written out."""
    common: bool = True
    """What a function computes twice of the same numbers is computed once."""
    in_place: bool = True
    """``u[i] = u[i] + t`` is ``u[i] += t``; adjoints are written over where they stand."""
    reuse: bool = True
    """The reverse sweep reads the sines, exponentials and so on that the function has computed."""
    recompute: bool = True
    """What is cheap to compute again is not kept for the reverse sweep."""
    fuse: bool = True
    """The reverse of a loop that only adds up goes into the loop, and nothing is kept."""
    shorten: bool = True
    """Constant factors are put together, sums of products are inner products, and the like."""

    @classmethod
    def none(cls) -> Options:
        """All passes off."""
        return cls(**{field.name: False for field in fields(cls)})

    def is_opaque(self, function: Any) -> bool:
        """Whether a function was marked with ``srcad.opaque``."""
        return is_opaque(function)


DEFAULTS = Options()


class Choices(TypedDict, total=False):
    """What the public functions take by keyword, besides the function and its arguments."""

    options: Options


def chosen(choices: Choices) -> Options:
    """The options that a public function was given."""
    return choices.get("options", DEFAULTS)


def is_opaque(function: Any) -> bool:
    """Whether a function was marked with ``srcad.opaque``."""
    try:
        return function in _opaque
    except TypeError:
        return False


def mark_opaque(function: Any) -> Any:
    """Note that a function is to be run as it is."""
    _opaque[function] = None
    return function
