"""Arguments that say what the function does without them.

np.sum(x, 1, keepdims=False)   |    np.sum(x, 1)
np.tril(x, 0)                  |    np.tril(x)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.ir.core import Atom, Literal

_Pairs = tuple[tuple[str, Atom], ...]
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NOT_GIVEN = np._NoValue
_MEANT = {"keepdims": False}
"""What NumPy does where its default is no value at all."""


def without_defaults(
    callee: Callable[..., Any], args: tuple[Atom, ...], keywords: _Pairs
) -> tuple[tuple[Atom, ...], _Pairs]:
    """The arguments of a call without those at the end that repeat a default."""
    if not keywords and not (args and isinstance(args[-1], Literal)):
        return args, keywords
    known = _defaults(callee)
    if known is None:
        return args, keywords
    positional, by_name = known
    if keywords:
        keywords = tuple((k, a) for k, a in keywords if not _repeats(a, by_name.get(k, _ABSENT)))
    count = len(args)
    while 0 < count <= len(positional) and _repeats(args[count - 1], positional[count - 1]):
        count -= 1
    return args[:count], keywords


class _Absent:
    """No default."""


_ABSENT = _Absent()


def _repeats(atom: Atom, default: object) -> bool:
    if not isinstance(atom, Literal):
        return False
    value = atom.value
    return value is default or (
        type(value) is type(default) and isinstance(value, (bool, int, str)) and value == default
    )


@functools.lru_cache(maxsize=1024)
def _defaults(callee: Any) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """The defaults of a function by position and by name; None where there are none to know."""
    if isinstance(callee, (np.ufunc, type)):
        return None
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return None
    found = [(p, _default(p)) for p in parameters]
    if all(d is _ABSENT for _, d in found):
        return None
    positional = tuple(d for p, d in found if p.kind in _POSITIONAL)
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p, _ in found):
        positional = ()
    return positional, {p.name: d for p, d in found}


def _default(parameter: inspect.Parameter) -> object:
    if parameter.default is inspect.Parameter.empty:
        return _ABSENT
    if parameter.default is _NOT_GIVEN:
        return _MEANT.get(parameter.name, _ABSENT)
    return parameter.default
