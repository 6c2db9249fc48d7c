"""Choices that change what is compiled."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields, replace
from types import FunctionType
from typing import Any, TypedDict
from weakref import WeakSet

_opaque: dict[Any, None] = {}
_opaque_functions: WeakSet[FunctionType] = WeakSet()
"""Functions may be defined anew in each call of another: those are not kept for the mark."""


BACKENDS = ("python", "numba")
FALLBACKS = ("refuse", "python")


@dataclass(frozen=True, slots=True)
class Options:
    """Which passes are run, and what runs the code.

    All passes are on; without them the code is longer and slower, and computes the same up to
    rounding.  ``Options.none()`` has all of them off.  Raises ``ValueError`` for a back end or a
    fallback that there is not, and for ``fastmath`` without Numba.

    >>> import srcad
    >>> def f(x):
    ...     return x * x
    >>> srcad.grad(f, options=srcad.Options(fuse=False))(3.0)
    6.0
    """

    unroll: bool = True
    """A short loop of a fixed number of steps inside another loop is written out."""
    common: bool = True
    """What a function computes twice of the same numbers, or a loop each time, is computed once."""
    in_place: bool = True
    """``u[i] = u[i] + t`` is ``u[i] += t``; adjoints are written over where they stand."""
    reuse: bool = True
    """The reverse sweep reads the sines, exponentials and so on that the function has computed."""
    recompute: bool = True
    """What is cheap to compute again, or never changes, is not kept for the reverse sweep."""
    fuse: bool = True
    """The reverse of a loop that only adds up goes into the loop, and nothing is kept."""
    shorten: bool = True
    """Constant factors are put together, sums of products are inner products, and the like."""
    blocks: bool = True
    """Operations on arrays of 2¹⁸ elements and more go through them in blocks."""

    backend: str = "python"
    """What runs the generated code: 'python', or 'numba' that compiles it."""
    fastmath: bool = False
    """Numba may reorder sums, fuse a product with a sum, and forget the sign of zero."""
    fallback: str = "refuse"
    """What Numba cannot compile is refused, or runs as 'python', with a warning."""

    @classmethod
    def switches(cls) -> tuple[str, ...]:
        """The names of the passes."""
        return tuple(f.name for f in fields(cls) if f.default is True)

    @classmethod
    def none(cls) -> Options:
        """All passes off."""
        off: dict[str, Any] = dict.fromkeys(cls.switches(), False)
        return cls(**off)

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend is one of {', '.join(BACKENDS)}, not {self.backend!r}")
        if self.fallback not in FALLBACKS:
            raise ValueError(f"fallback is one of {', '.join(FALLBACKS)}, not {self.fallback!r}")
        if self.backend == "python" and self.fastmath:
            raise ValueError("fastmath is for backend='numba'")

    @property
    def plain(self) -> Options:
        """The same passes, run as plain Python."""
        return replace(self, backend="python", fastmath=False, fallback="refuse")

    @property
    def depends_on_sizes(self) -> bool:
        """Whether code for large arrays is another; compiled code goes by elements anyway."""
        return self.backend == "python" and (self.blocks or self.recompute)


DEFAULTS = Options()


class Choices(TypedDict, total=False):
    """What the public functions take by keyword, besides the function and its arguments."""

    options: Options
    backend: str
    fastmath: bool
    fallback: str


def chosen(choices: Choices) -> Options:
    """The options that a public function was given."""
    for name in choices:
        if name not in Choices.__annotations__:
            known = ["argnums", "has_aux", *Choices.__annotations__]
            close = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise TypeError(f"unexpected keyword argument {name!r}: {meant}")
    backend: dict[str, Any] = {k: v for k, v in choices.items() if k != "options"}
    options = choices.get("options", DEFAULTS)
    if not isinstance(options, Options):
        raise TypeError(f"options is a srcad.Options, not {options!r}")
    return replace(options, **backend) if backend else options


def is_opaque(function: Any) -> bool:
    """Whether a function was marked with ``srcad.opaque``."""
    if isinstance(function, FunctionType):
        return function in _opaque_functions
    try:
        return function in _opaque
    except TypeError:
        return False


def mark_opaque(function: Any) -> Any:
    """Note that a function is to be run as it is."""
    if isinstance(function, FunctionType):
        _opaque_functions.add(function)
    else:
        _opaque[function] = None
    return function
