"""From a call to the code compiled for its types, as fast as Python allows.

A derivative has a ``__call__`` generated with the signature of the function it belongs to, so that
binding arguments costs nothing; all its own names are mangled.  Arguments that are plain numbers are
looked up by their types alone.  Others are described by a key: dtype and pattern of sizes for arrays,
item by item for containers, identity for code.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.frontend.live import is_code

SCALARS = frozenset({float, int, complex, np.float64, np.float32})
"""Types that are their own key."""


class AnyValue:
    """The example of an argument of which nothing is known."""

    __slots__ = ()


def key_of(value: Any, sizes: dict[int, int]) -> Any:
    """What code is compiled for: two values with one key can share it.

    ``sizes`` numbers the sizes seen, so that equal sizes have equal numbers.
    """
    kind = type(value)
    if kind in SCALARS:
        return kind
    if kind is np.ndarray:
        shape = tuple(-s if s < 2 else sizes.setdefault(s, len(sizes) + 2) for s in value.shape)
        return (value.dtype, shape)
    if value is None or kind in (bool, str, bytes):
        return (kind, value)
    if isinstance(value, np.generic):
        return kind
    if is_code(value):
        return ("code", _Identity(value))
    if kind is list:
        keys = [key_of(v, sizes) for v in value]
        if keys and all(k == keys[0] for k in keys) and keys[0] in SCALARS:
            return (list, keys[0])
        return (list, tuple(keys))
    if isinstance(value, tuple):
        return (kind, tuple(key_of(v, sizes) for v in value))
    if isinstance(value, dict):
        return (kind, tuple((k, key_of(v, sizes)) for k, v in value.items()))
    if isinstance(value, np.ndarray):
        return (kind, value.dtype, value.shape)
    fields = getattr(value, "__dict__", None)
    if fields is None and dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if fields is not None:
        return (kind, tuple((k, _field_key(v, sizes)) for k, v in fields.items()))
    return (kind, _Identity(value))


def _field_key(value: Any, sizes: dict[int, int]) -> Any:
    # integers of an object are part of the program, as those of a module are
    return (int, value) if type(value) is int else key_of(value, sizes)


class _Identity:
    """A key that is equal for the same object only, and keeps it alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def constant_key(value: Any) -> Any:
    """The key of something that code was compiled *with*: a constant or a function."""
    if value is None or isinstance(value, (bool, str, int)):
        return (type(value), value)
    if type(value) is tuple:
        return tuple(map(constant_key, value))
    return _Identity(value)


def make_call(
    signature: inspect.Signature,
    lookup: Callable[[Any], Any],
    slow: Callable[..., Any],
    failed: Callable[..., Any],
) -> Callable[..., Any] | None:
    """A ``__call__`` with the given signature; None if that has more than plain parameters."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    parameters = list(signature.parameters.values())
    if not parameters or any(p.kind not in plain for p in parameters):
        return None
    namespace: dict[str, Any] = {
        "_srcad_lookup": lookup,
        "_srcad_slow": slow,
        "_srcad_failed": failed,
        "_srcad_type": type,
        "_srcad_exception": Exception,
    }
    declared = ["_srcad_self"]
    only = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY]
    for k, p in enumerate(parameters):
        if p.default is inspect.Parameter.empty:
            declared.append(p.name)
        else:
            namespace[f"_srcad_default_{k}"] = p.default
            declared.append(f"{p.name}=_srcad_default_{k}")
    declared.insert(1 + len(only), "/") if only else declared.insert(1, "/")
    names = [p.name for p in parameters]
    listed = ", ".join(names)
    kinds = ", ".join(f"_srcad_type({n})" for n in names)
    text = (
        f"def __call__({', '.join(declared)}):\n"
        f"    _srcad_run = _srcad_lookup(({kinds},))\n"
        f"    if _srcad_run is None:\n"
        f"        return _srcad_slow(_srcad_self, ({listed},), {{}})\n"
        f"    try:\n"
        f"        return _srcad_run({listed})\n"
        f"    except _srcad_exception as _srcad_error:\n"
        f"        _srcad_caught = _srcad_error\n"
        f"    return _srcad_failed(_srcad_self, _srcad_caught, ({listed},), {{}})\n"
    )
    exec(compile(text, "<srcad dispatch>", "exec"), namespace)  # text made of parameter names alone
    made: Callable[..., Any] = namespace["__call__"]
    return made
