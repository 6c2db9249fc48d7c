"""From a call to the code compiled for its types, as fast as Python allows.

A derivative has a ``__call__`` generated with the signature of the function it belongs to, so that
binding arguments costs nothing; all its own names are mangled.  Arguments that are plain numbers
are looked up by their types alone.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from srcad.guards import MISS, WRONG, First, define

_NAMED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<default>"


MISSING = _Missing()
"""Stands for an argument that was not given and whose default the function itself fills in."""


def call_signature(function: Any) -> inspect.Signature | None:
    """The parameters that a call of the function binds to; None if they are not known.

    Of a wrapper made with ``functools.wraps`` these are its own, not those of what it wraps.
    """
    try:
        if isinstance(function, types.FunctionType):
            return inspect.signature(function, follow_wrapped=False)
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def defaults_of(function: Any) -> Any:
    """The Python function whose defaults a call gets; None if the function fills them in itself."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    return function if isinstance(function, types.FunctionType) else None


def default_now(function: Any, name: str) -> Any:
    """The present default of a parameter."""
    signature = call_signature(function)
    assert signature is not None
    return signature.parameters[name].default


def _default_text(function: Any, signature: inspect.Signature, name: str) -> str:
    """An expression for the present default of a parameter; ``_srcad_plain`` is the function."""
    if defaults_of(function) is None:
        return f"_srcad_default({name!r})"
    parameters = signature.parameters.values()
    if signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
        return f"_srcad_plain.__kwdefaults__[{name!r}]"
    optional = [
        p.name for p in parameters if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY
    ]
    return f"_srcad_plain.__defaults__[{optional.index(name) - len(optional)}]"


def make_call(
    name: str,
    signature: inspect.Signature,
    function: Any,
    filled: frozenset[str],
    lookup: Callable[[Any], Any],
    slow: Callable[..., Any],
    failed: Callable[..., Any],
    first: First | None = None,
) -> Callable[..., Any] | None:
    """A static ``__call__`` of the given signature; None if that has other than plain parameters.

    It takes no instance, since Python would count that as an argument where a call does not fit.
    ``filled`` are parameters whose defaults are handed over as arguments.  ``slow`` gets the
    arguments in the order of the parameters, ``failed`` the exception too.  A call like the
    ``first`` is not looked up.
    """
    parameters = list(signature.parameters.values())
    if not parameters or any(p.kind not in _NAMED for p in parameters):
        return None
    if any(p.name.startswith("_srcad_") for p in parameters):
        return None
    namespace: dict[str, Any] = {
        "_srcad_lookup": lookup,
        "_srcad_slow": slow,
        "_srcad_failed": failed,
        "_srcad_type": type,
        "_srcad_exception": Exception,
        "_srcad_miss": MISS,
        "_srcad_missing": MISSING,
        "_srcad_default": lambda name: default_now(function, name),
        "_srcad_plain": defaults_of(function),
        "_srcad_wrong": WRONG,
    }
    head = ", ".join(_declared(parameters))
    fill = "".join(
        f"    if {p.name} is _srcad_missing:\n"
        f"        {p.name} = {_default_text(function, signature, p.name)}\n"
        for p in parameters
        if p.name in filled and p.default is not p.empty
    )
    if first is not None:
        namespace |= first.namespace
    text = f"def __call__({head}):\n{fill}{_body([p.name for p in parameters], first)}"
    (made,) = define(text, "<srcad dispatch>", namespace)  # text made of parameter names alone
    made.__qualname__ = made.__name__ = name  # what Python says of a call that does not fit
    return made


def _declared(parameters: list[inspect.Parameter]) -> list[str]:
    """The parameters as they stand in a ``def``; defaults say that nothing was given."""
    declared: list[str] = []
    previous: Any = inspect.Parameter.POSITIONAL_ONLY
    for p in parameters:
        if p.kind is not previous:
            if previous is inspect.Parameter.POSITIONAL_ONLY and declared:
                declared.append("/")
            if p.kind is inspect.Parameter.KEYWORD_ONLY:
                declared.append("*")
            previous = p.kind
        optional = p.default is not inspect.Parameter.empty
        declared.append(f"{p.name}=_srcad_missing" if optional else p.name)
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        declared.append("/")
    return declared


def _body(names: list[str], first: First | None) -> str:
    """A call like the first; else by its types; else by the slow door, outside of the ``try``."""
    listed = ", ".join(names)
    kinds = ", ".join(f"_srcad_type({n})" for n in names)
    compared, entered = "", ""
    if first is not None:
        compared = (
            f"    try:\n"
            f"        _srcad_like_first = (\n            {first.test}\n        )\n"
            f"    except _srcad_wrong:\n"
            f"        _srcad_like_first = False\n"
        )
        entered = f"        if _srcad_like_first:\n            return {first.call}\n"
    return (
        f"{compared}"
        f"    try:\n"
        f"{entered}"
        f"        _srcad_run = _srcad_lookup(({kinds},))\n"
        f"        if _srcad_run is not None:\n"
        f"            _srcad_out = _srcad_run({listed})\n"
        f"            if _srcad_out is not _srcad_miss:\n"
        f"                return _srcad_out\n"
        f"    except _srcad_exception as _srcad_error:\n"
        f"        _srcad_caught = _srcad_error\n"
        f"    else:\n"
        f"        return _srcad_slow(({listed},))\n"
        f"    try:\n"
        f"        return _srcad_failed(_srcad_caught, ({listed},))\n"
        f"    finally:\n"
        f"        del _srcad_caught\n"
    )
