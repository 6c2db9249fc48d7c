"""Ufuncs on handles, with `out=` and `where=`, and their methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.handle import Handle, array, call, has_handle, plain

REDUCTIONS: dict[Any, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}

ACCUMULATIONS: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}


def call_ufunc(ufunc: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """What NumPy hands over when an operand, or `out`, is a handle."""
    out = kwargs.pop("out", None)
    target = out[0] if isinstance(out, tuple) else out
    if isinstance(out, tuple) and len(out) > 1:
        raise Unsupported(f"{ufunc.__name__} with several outputs")
    where = kwargs.pop("where", True)
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("casting", None)
    match method:
        case "__call__":
            result = _special_or_known(ufunc, inputs, kwargs)
            if where is not True:
                if target is None:
                    raise Unsupported("where= without out= leaves memory undefined")
                result = np.where(where, result, target)
        case "reduce":
            reduction = REDUCTIONS.get(ufunc)
            if reduction is None:
                raise Unsupported(f"{ufunc.__name__}.reduce")
            options = {"axis": 0, **kwargs}
            if len(inputs) > 1:
                options["axis"] = inputs[1]
            if where is not True:
                options["where"] = where
            result = reduction(array(inputs[0]), **options)
        case "accumulate":
            accumulation = ACCUMULATIONS.get(ufunc)
            if accumulation is None:
                raise Unsupported(f"{ufunc.__name__}.accumulate")
            axis = inputs[1] if len(inputs) > 1 else kwargs.get("axis", 0)
            result = accumulation(array(inputs[0]), axis=axis)
        case "outer":
            a, b = array(inputs[0]), array(inputs[1])
            result = ufunc(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)
        case "at":
            return _at(ufunc, *inputs)
        case _:
            raise Unsupported(f"{ufunc.__name__}.{method}")
    if dtype is not None:
        result = array(result).astype(dtype)
    if target is None:
        return result
    if not isinstance(target, Handle):
        if has_handle(result):
            raise Unsupported("out= is plain memory that can not hold a traced value")
        target[...] = result
        return target
    target[...] = np.broadcast_to(array(result), target.shape)
    return target


def _special_or_known(ufunc: Any, inputs: Any, kwargs: dict[str, Any]) -> Any:
    from srcad.testing.tracing.special import find_special

    known = find_special(ufunc)
    return known(*inputs) if known is not None else call(ufunc, inputs, kwargs)


def _at(ufunc: Any, target: Any, index: Any, *values: Any) -> None:
    if not isinstance(target, Handle):
        raise Unsupported(f"{ufunc.__name__}.at on plain memory")
    if ufunc is np.add:
        target.add_at(index, values[0])
    elif ufunc is np.subtract:
        target.add_at(index, -array(values[0]))
    else:
        # One entry after the other, as `at` is defined.
        places = np.arange(target.size).reshape(target.shape)[plain(index)]
        others = [np.copy(np.broadcast_to(array(v), np.shape(places))) for v in values]
        for k in np.ndindex(np.shape(places)):
            where = np.unravel_index(places[k], target.shape)
            target[where] = ufunc(target[where], *(v[k] for v in others))
