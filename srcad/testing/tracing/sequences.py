"""Sorting and picking: the order is found on plain data, the data is then moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.handle import METHODS, array, implements, plain


@implements(np.sort)
def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, **kwargs: Any) -> Any:
    a = array(a)
    if axis is None:
        a, axis = np.ravel(a), -1
    return np.take_along_axis(a, np.argsort(plain(a), axis=axis, kind="stable"), axis=axis)


@implements(np.partition)
def _partition(a: Any, kth: Any, axis: Any = -1, **kwargs: Any) -> Any:
    a = array(a)
    if axis is None:
        a, axis = np.ravel(a), -1
    return np.take_along_axis(a, np.argpartition(plain(a), kth, axis=axis), axis=axis)


@implements(np.compress)
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    kept = np.flatnonzero(plain(condition))
    return np.take(array(a), kept, axis=axis)


@implements(np.extract)
def _extract(condition: Any, arr: Any) -> Any:
    return np.ravel(array(arr))[np.flatnonzero(np.ravel(plain(condition)))]


@implements(np.median)
def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    return np.quantile(a, 0.5, axis=axis, keepdims=bool(keepdims))


@implements(np.quantile)
def _quantile(
    a: Any, q: Any, axis: Any = None, *args: Any, keepdims: Any = False, **kwargs: Any
) -> Any:
    if args or kwargs.get("method", "linear") != "linear" or isinstance(axis, tuple) or np.ndim(q):
        raise Unsupported("np.quantile other than the linear one of one q along one axis")
    a = array(a)
    shape = (1,) * np.ndim(a)
    rows = np.ravel(a) if axis is None else np.moveaxis(a, axis, 0)
    rows = np.sort(rows, axis=0)
    place = q * (np.shape(rows)[0] - 1)
    low = int(np.floor(plain(place)))
    high = min(low + 1, np.shape(rows)[0] - 1)
    result = rows[low] + (rows[high] - rows[low]) * (place - low)
    if not keepdims:
        return result
    return np.reshape(result, shape) if axis is None else np.expand_dims(result, axis)


@implements(np.percentile)
def _percentile(a: Any, q: Any, axis: Any = None, **kwargs: Any) -> Any:
    return np.quantile(a, q / 100, axis=axis, **kwargs)


def _sort_in_place(x: Any, axis: int = -1, **kwargs: Any) -> None:
    x[...] = np.sort(x, axis=axis)


def _partition_in_place(x: Any, kth: Any, axis: int = -1, **kwargs: Any) -> None:
    x[...] = np.partition(x, kth, axis)


METHODS.update(
    sort=_sort_in_place,
    partition=_partition_in_place,
    compress=lambda x, condition, axis=None: np.compress(condition, x, axis),
)
