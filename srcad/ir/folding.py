"""Calls of literals, computed while compiling, where that has no effect."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.ir.core import (
    Atom,
    Literal,
    literal_values,
)

_FOLDABLE = frozenset(
    {
        *(
            getattr(operator, n)
            for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "pos")
        ),
        *(
            getattr(operator, n)
            for n in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not", "not_")
        ),
        *(
            getattr(operator, n)
            for n in ("contains", "getitem", "and_", "or_", "xor", "invert", "abs")
        ),
        *(builtins.abs, builtins.len, builtins.bool, builtins.int, builtins.float, builtins.str),
        *(builtins.max, builtins.min, builtins.isinstance, builtins.issubclass, builtins.round),
        *(
            np.result_type,
            np.dtype,
            np.ndim,
            np.issubdtype,
            np.iscomplexobj,
            np.isrealobj,
            np.finfo,
        ),
        *(
            getattr(str, n)
            for n in ("lower", "upper", "casefold", "title", "capitalize", "strip", "lstrip")
        ),
        *(getattr(str, n) for n in ("rstrip", "removeprefix", "removesuffix", "replace")),
        *(getattr(str, n) for n in ("startswith", "endswith", "find", "index", "count")),
        *(f for n, f in vars(str).items() if n.startswith("is")),
    }
)


def fold_literals(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
) -> Literal | None:
    """The value of a call of which all is known, where computing it has no effect."""
    values = literal_values(args)
    if values is None or keywords or callee not in _FOLDABLE:
        return None
    try:
        return Literal(callee(*values))
    except Exception:
        return None


def fold_ufunc(callee: np.ufunc, args: tuple[Atom, ...]) -> Literal | None:
    """What a ufunc makes of numbers: a Python float, which leaves the precision of arrays alone."""
    values = literal_values(args)
    if values is None or not all(type(v) in (int, float) for v in values):
        return None
    with np.errstate(all="ignore"):
        found = callee(*values)
    return Literal(float(found)) if isinstance(found, np.float64) and np.isfinite(found) else None
