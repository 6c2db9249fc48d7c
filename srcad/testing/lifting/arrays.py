"""The `numpy` module as a lifted function sees it: new arrays are memory for handles."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.elementwise import cast
from srcad.testing.tracing.handle import (
    FUNCTIONS,
    Handle,
    _constant,
    _each,
    array,
    call,
    has_handle,
    plain,
)
from srcad.testing.tracing.shaping import copy
from srcad.testing.tracing.ufuncs import call_ufunc


def _originals(args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    # NumPy is given the types for which others stand in lifted code.
    def original(x: Any) -> Any:
        return getattr(x, "original", x) if isinstance(x, type) else x

    return tuple(original(x) for x in args), {k: original(v) for k, v in kwargs.items()}


def _created(func: Callable[..., Any]) -> Callable[..., Any]:
    # The result is memory: it may be written with traced values later.
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _originals(args, kwargs)
        return _each(func(*plain(args), **plain(kwargs)), _constant)

    return run


def _array(obj: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    return _converted(obj, dtype, kwargs.pop("copy", True) is not False, kwargs)


def _asarray(a: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    return _converted(a, dtype, bool(kwargs.pop("copy", False)), kwargs)


def _converted(obj: Any, dtype: Any, fresh: bool, kwargs: dict[str, Any]) -> Any:
    dtype = getattr(dtype, "original", dtype)
    if not has_handle(obj):
        made = np.array(obj, dtype, **kwargs) if fresh else np.asarray(obj, dtype, **kwargs)
        return _constant(made)
    result = array(obj)
    if isinstance(obj, Handle) and np.ndim(obj) == 0 and not isinstance(plain(obj), np.ndarray):
        result = np.reshape(np.stack([obj]), ())  # a number becomes an array
    rank = kwargs.get("ndmin", 0)
    if np.ndim(result) < rank:
        result = np.reshape(result, (1,) * (rank - np.ndim(result)) + np.shape(result))
    if dtype is not None and np.dtype(dtype) != result.dtype:
        return cast(result, dtype)
    return copy(result) if fresh and isinstance(obj, Handle) else result


def _full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    dtype = getattr(dtype, "original", dtype)
    if not has_handle(fill_value):
        return _constant(np.full(plain(shape), fill_value, dtype, **kwargs))
    out = np.broadcast_to(array(fill_value), plain(shape))
    return copy(out) if dtype is None else cast(out, dtype)


def _arange(*args: Any, **kwargs: Any) -> Any:
    args, kwargs = _originals(args, kwargs)
    if not has_handle(args):
        return _constant(np.arange(*args, **kwargs))
    if kwargs:
        raise Unsupported("np.arange of traced values with keywords")
    values = plain(args)
    start, step = (args[0], args[2] if len(args) > 2 else 1) if len(args) > 1 else (0, 1)
    return start + np.arange(len(np.arange(*values))) * step


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, **kwargs: Any) -> Any:
    if not has_handle((start, stop)):
        _, kwargs = _originals((), kwargs)
        return _each(np.linspace(start, stop, num, endpoint, **kwargs), _constant)
    if kwargs:
        raise Unsupported("np.linspace of traced values with keywords")
    t = np.arange(num) / max(num - 1 if endpoint else num, 1)
    weights = np.reshape(t, (-1,) + (1,) * np.ndim(array(stop) * 1.0))
    return start * (1 - weights) + stop * weights


def _ascontiguous(a: Any, dtype: Any = None) -> Any:
    a = _asarray(a, dtype)
    if isinstance(a, Handle) and not a.flags.c_contiguous:
        return copy(np.ravel(a).reshape(np.shape(a)))
    return a


def _frompyfunc(*args: Any, **kwargs: Any) -> Any:
    raise Unsupported("np.frompyfunc")


def _vectorize(pyfunc: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    if args or kwargs:
        raise Unsupported("np.vectorize with options")

    def run(*arrays: Any) -> Any:
        parts = np.broadcast_arrays(*(array(x) for x in arrays))
        shape = np.shape(parts[0])
        flat = [np.ravel(p) for p in parts]
        values = [pyfunc(*(p[k] for p in flat)) for k in range(np.size(parts[0]))]
        out = array(values)
        return np.reshape(out, shape) if shape else out[0]

    return run


def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    rows = np.moveaxis(array(arr), axis, -1)
    lead = np.shape(rows)[:-1]
    values = [array(func1d(rows[k], *args, **kwargs)) for k in np.ndindex(lead)]
    out = np.reshape(np.stack(values), (*lead, *np.shape(values[0])))
    return np.moveaxis(out, -1, axis) if np.ndim(values[0]) else out


def _ix(*args: Any) -> Any:
    return np.ix_(*plain(args))


CREATION: dict[Any, Callable[..., Any]] = {
    **{
        f: _created(f)
        for f in (np.zeros, np.ones, np.empty, np.eye, np.identity, np.zeros_like, np.ones_like,
                  np.empty_like, np.geomspace, np.logspace, np.tri, np.copy)
    },
    np.array: _array,
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.ascontiguousarray: _ascontiguous,
    np.full: _full,
    np.full_like: FUNCTIONS[np.full_like],
    np.arange: _arange,
    np.linspace: _linspace,
    np.frompyfunc: _frompyfunc,
    np.vectorize: _vectorize,
    np.apply_along_axis: _apply_along_axis,
    np.ix_: _ix,
}  # fmt: skip
CREATION[np.copy] = lambda a, *args, **kwargs: copy(a)


class LiftedUfunc:
    """A ufunc, also for lists that hold handles."""

    def __init__(self, ufunc: Any) -> None:
        self.original = ufunc
        self.__name__ = ufunc.__name__

    def _run(self, method: str, args: Any, kwargs: Any) -> Any:
        args, kwargs = _originals(args, kwargs)
        if has_handle(args) or has_handle(kwargs):
            return call_ufunc(self.original, method, args, dict(kwargs))
        target = self.original if method == "__call__" else getattr(self.original, method)
        return target(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run("__call__", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return lambda *args, **kwargs: self._run(name, args, kwargs)
        return getattr(self.original, name)


def lifted_function(func: Any) -> Any:
    """A function of NumPy, also for lists that hold handles."""
    if func in CREATION:
        return CREATION[func]
    if isinstance(func, np.ufunc):
        return LiftedUfunc(func)

    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _originals(args, kwargs)
        if has_handle(args) or has_handle(kwargs):
            return call(func, args, kwargs)
        return func(*args, **kwargs)

    run.__name__ = getattr(func, "__name__", "?")
    return run


class _Joiner:
    """`np.r_` and `np.c_`, of traced arrays along their last axis."""

    def __init__(self, original: Any, columns: bool) -> None:
        self.original = original
        self.columns = columns

    def __getitem__(self, key: Any) -> Any:
        if not has_handle(key):
            return self.original[key]
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(x, (slice, str)) for x in keys):
            raise Unsupported("np.r_ of traced values with slices or strings")
        parts = [array(x) for x in keys]
        return np.column_stack(parts) if self.columns else np.hstack(parts)


OBJECTS: dict[int, Any] = {
    id(np.r_): _Joiner(np.r_, False),
    id(np.c_): _Joiner(np.c_, True),
}


class LiftedModule(ModuleType):
    """A module whose members are lifted when they are asked for."""

    def __init__(self, original: ModuleType, lift: Callable[[Any], Any]) -> None:
        super().__init__(original.__name__)
        self.__dict__["_original"] = original
        self.__dict__["_lift"] = lift

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_lift"](getattr(self.__dict__["_original"], name))

    def __setattr__(self, name: str, value: Any) -> None:
        raise Unsupported("a module that is written to")
