"""Functions put around the one under test: few and plain, for an engine has to read them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def restricted(
    f: Callable[..., Any], args: tuple[Any, ...], argnums: tuple[int, ...], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """f as a function of the differentiated arguments: a partial of it where that is enough."""
    if argnums == tuple(range(len(args))):
        return functools.partial(f, **kwargs) if kwargs else f
    lead = min(argnums)
    if argnums == tuple(range(lead, len(args))):
        return functools.partial(f, *args[:lead], **kwargs)
    rest = [k for k in range(lead, len(args)) if k not in argnums]
    names = _keyword_names(f)
    if min(rest) > max(argnums) and all(k in names for k in rest):
        named = {names[k]: args[k] for k in rest}
        return functools.partial(f, *args[:lead], **named, **kwargs)

    def among_fixed(*differentiated: Any) -> Any:
        full = list(args)
        for k, x in zip(argnums, differentiated, strict=True):
            full[k] = x
        return f(*full, **kwargs)

    return among_fixed


def _keyword_names(f: Callable[..., Any]) -> dict[int, str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {
        k: p.name
        for k, p in enumerate(parameters)
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    }


def tangent_along(n: int, jvp: Any, f: Any, v: Any) -> Callable[..., Any]:
    """The derivative of f in the direction v, as a function of the n arguments."""
    if n == 1:
        return lambda x: jvp(f, (x,), v)[1]
    if n == 2:
        return lambda x, y: jvp(f, (x, y), v)[1]
    if n == 3:
        return lambda x, y, z: jvp(f, (x, y, z), v)[1]
    return lambda *xs: jvp(f, xs, v)[1]


def pulled_back(n: int, vjp: Any, f: Any, ct: Any) -> Callable[..., Any]:
    """The cotangent ct pulled back through f, as a function of the n arguments."""

    def one(x: Any) -> Any:
        _, pullback = vjp(f, x)
        return pullback(ct)

    def two(x: Any, y: Any) -> Any:
        _, pullback = vjp(f, x, y)
        return pullback(ct)

    def three(x: Any, y: Any, z: Any) -> Any:
        _, pullback = vjp(f, x, y, z)
        return pullback(ct)

    def many(*xs: Any) -> Any:
        _, pullback = vjp(f, *xs)
        return pullback(ct)

    known: dict[int, Callable[..., Any]] = {1: one, 2: two, 3: three}
    return known.get(n, many)
