"""Sums, and what is made of them: mean, variance, extrema, products, norms, differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Primitive, Unsupported
from srcad.testing.tracing.handle import (
    FUNCTIONS,
    METHODS,
    apply,
    array,
    dtype_of,
    implements,
    newer,
    plain,
)


class Sum(Primitive):
    """The sum along axes."""

    name = "sum"

    def evaluate(self, x: Any, *, axis: Any, keepdims: bool) -> Any:
        return np.sum(x, axis=axis, keepdims=keepdims)

    def jvp(
        self, inputs: Sequence[Any], tangents: Sequence[Any], *, axis: Any, keepdims: bool
    ) -> Any:
        return apply(SUM, tangents[0], axis=axis, keepdims=keepdims)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int, *, axis: Any, keepdims: bool) -> Any:
        shape = np.shape(inputs[0])
        kept = [1 if k in _axes(axis, len(shape)) else n for k, n in enumerate(shape)]
        return np.broadcast_to(np.reshape(ct, kept), shape)


SUM = Sum()


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(k % rank for k in (axis if isinstance(axis, tuple) else (axis,)))


def _count(x: Any, axis: Any) -> int:
    shape = np.shape(x)
    return int(np.prod([shape[k] for k in _axes(axis, len(shape))], dtype=int))


def _deliver(result: Any, out: Any, dtype: Any) -> Any:
    if dtype is not None:
        result = array(result).astype(dtype)
    if out is None:
        return result
    out[...] = result
    return out


@implements(np.sum)
def _sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    a = array(a)
    if where is not True:
        a = np.where(where, a, 0.0)
    result = apply(SUM, a, axis=axis, keepdims=bool(keepdims))
    if initial is not None:
        result = result + initial
    return _deliver(result, out, dtype)


@implements(np.mean)
def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    *, where: Any = True,
) -> Any:  # fmt: skip
    a = array(a)
    if where is True:
        return _deliver(np.sum(a, axis=axis, keepdims=bool(keepdims)) / _count(a, axis), out, dtype)
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=bool(keepdims))
    return _deliver(np.sum(a, axis=axis, keepdims=bool(keepdims), where=where) / count, out, dtype)


@implements(np.average)
def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    a = array(a)
    if weights is None:
        weights = np.ones(np.shape(a))
    weights = array(weights)
    if np.shape(weights) != np.shape(a):
        weights = np.moveaxis(
            np.broadcast_to(
                weights, np.shape(a)[:axis] + np.shape(a)[axis + 1 :] + np.shape(weights)
            ),
            -1,
            axis,
        )
    total = np.sum(weights, axis=axis, keepdims=bool(keepdims))
    result = np.sum(a * weights, axis=axis, keepdims=bool(keepdims)) / total
    return (result, np.broadcast_to(total, np.shape(result))) if returned else result


@implements(np.var)
def _var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    if where is not True or mean is not None:
        raise Unsupported("np.var with where= or mean=")
    a = array(a)
    ddof = ddof if correction is None else correction
    centred = a - np.mean(a, axis=axis, keepdims=True)
    squares = np.abs(centred) ** 2 if dtype_of(a).kind == "c" else centred * centred
    return _deliver(
        np.sum(squares, axis=axis, keepdims=bool(keepdims)) / (_count(a, axis) - ddof), out, dtype
    )


@implements(np.std)
def _std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, **kwargs: Any,
) -> Any:  # fmt: skip
    return _deliver(np.sqrt(np.var(a, axis, None, None, ddof, keepdims, **kwargs)), out, dtype)


def _extremum(which: Any) -> Any:
    def run(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = None, where: Any = True,
    ) -> Any:  # fmt: skip
        a = array(a)
        if where is not True:
            if initial is None:
                raise ValueError("where= needs initial=")
            a = np.where(where, a, initial)
        data = plain(a)
        if initial is not None:
            best = which(data, axis=axis, keepdims=True, initial=plain(initial))
        else:
            best = which(data, axis=axis, keepdims=True)
        chosen = data == best
        # Where several are equal each gets its share.
        share = np.sum(chosen, axis=axis, keepdims=bool(keepdims))
        result = np.sum(np.where(chosen, a, 0.0), axis=axis, keepdims=bool(keepdims))
        result = result / np.maximum(share, 1)
        if initial is not None:
            result = np.where(share == 0, initial, result)
        return _deliver(result, out, dtype_of(a) if dtype_of(result) != dtype_of(a) else None)

    return run


for _f, _which in ((np.max, np.max), (np.amax, np.max), (np.min, np.min), (np.amin, np.min)):
    FUNCTIONS[_f] = _extremum(_which)


@implements(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.max(a, axis=axis, keepdims=bool(keepdims)) - np.min(
        a, axis=axis, keepdims=bool(keepdims)
    )


def _flattened(a: Any, axis: Any) -> tuple[Any, int]:
    a = array(a)
    return (np.ravel(a), 0) if axis is None else (a, axis)


@implements(np.prod)
def _prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    a = array(a)
    if where is not True:
        a = np.where(where, a, 1.0)
    axes = _axes(axis, np.ndim(a))
    kept = [1 if k in axes else n for k, n in enumerate(np.shape(a))]
    rest = [n for k, n in enumerate(np.shape(a)) if k not in axes]
    rows = np.reshape(np.moveaxis(a, axes, range(len(axes))), [-1, *rest])
    result = rows[0] if np.shape(rows)[0] else np.ones(rest)
    for k in range(1, np.shape(rows)[0]):
        result = result * rows[k]
    if initial is not None:
        result = result * initial
    if np.shape(rows)[0] == 1:
        result = result * 1.0
    return _deliver(np.reshape(result, kept) if keepdims else result, out, dtype)


@implements(np.cumsum)
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a, axis = _flattened(a, axis)
    n = np.shape(a)[axis]
    lower = np.tril(np.ones((n, n), dtype_of(a)))
    result = np.moveaxis(np.tensordot(lower, a, axes=(1, axis)), 0, axis)
    return _deliver(result, out, dtype)


@implements(np.cumprod)
def _cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a, axis = _flattened(a, axis)
    rows = np.moveaxis(a, axis, 0)
    running = [rows[0]] if len(rows) else []
    for k in range(1, len(rows)):
        running.append(running[-1] * rows[k])
    return _deliver(np.moveaxis(np.stack(running), 0, axis) if running else a * 1.0, out, dtype)


@implements(*newer("cumulative_sum"))
def _cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumsum(x, axis, dtype, out)


@implements(*newer("cumulative_prod"))
def _cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _cumprod(x, axis, dtype, out)


@implements(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    a = np.moveaxis(array(a), axis, 0)
    parts = [a]
    for value, front in ((prepend, True), (append, False)):
        if value is not None:
            value = array(value)
            piece = (
                np.broadcast_to(value, (1, *np.shape(a)[1:]))
                if np.ndim(value) == 0
                else np.moveaxis(value, axis, 0)
            )
            parts.insert(0, piece) if front else parts.append(piece)
    rows = np.concatenate(parts) if len(parts) > 1 else a
    for _ in range(n):
        rows = rows[1:] - rows[:-1]
    return np.moveaxis(rows, 0, axis)


@implements(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = np.ravel(ary)
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, np.ravel(array(to_begin)))
    if to_end is not None:
        parts.append(np.ravel(array(to_end)))
    return np.concatenate(parts)


@implements(np.trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    rows = np.moveaxis(array(y), axis, 0)
    if x is None:
        return np.sum(rows[1:] + rows[:-1], axis=0) * (dx / 2)
    x = array(x)
    if np.ndim(x) == 1:
        step = np.diff(x)
        step = np.reshape(step, (-1,) + (1,) * (np.ndim(rows) - 1))
    else:
        step = np.moveaxis(np.diff(x, axis=axis), axis, 0)
    return np.sum((rows[1:] + rows[:-1]) * step, axis=0) / 2


@implements(np.gradient)
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = array(f)
    if any(np.ndim(h) for h in varargs) or edge_order != 1:
        raise Unsupported("np.gradient with coordinates or edge_order=2")
    axes = _axes(axis, np.ndim(f))
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    slopes = []
    for k, h in zip(axes, steps, strict=True):
        rows = np.moveaxis(f, k, 0)
        inner = (rows[2:] - rows[:-2]) / (2 * h)
        slope = np.concatenate([(rows[1:2] - rows[:1]) / h, inner, (rows[-1:] - rows[-2:-1]) / h])
        slopes.append(np.moveaxis(slope, 0, k))
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


@implements(np.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = array(x)
    data = plain(x)
    fixed = np.nan_to_num(data, nan=nan, posinf=posinf, neginf=neginf)
    return np.where(np.isfinite(data), x, fixed)


def _ignoring_nan(name: str) -> Any:
    def run(a: Any, axis: Any = None, **kwargs: Any) -> Any:
        good = ~np.isnan(plain(array(a)))
        clean = np.where(good, a, 0.0)
        keepdims = bool(kwargs.pop("keepdims", False))
        if name == "sum":
            return np.sum(clean, axis=axis, keepdims=keepdims, **kwargs)
        count = np.sum(good, axis=axis, keepdims=keepdims)
        if name == "mean":
            return np.sum(clean, axis=axis, keepdims=keepdims, **kwargs) / count
        mean = np.sum(clean, axis=axis, keepdims=True) / np.sum(good, axis=axis, keepdims=True)
        ddof = kwargs.pop("ddof", 0)
        centred = np.where(good, clean - mean, 0.0)
        var = np.sum(centred * centred, axis=axis, keepdims=keepdims) / (count - ddof)
        return np.sqrt(var) if name == "std" else var

    return run


for _name in ("sum", "mean", "var", "std"):
    FUNCTIONS[getattr(np, f"nan{_name}")] = _ignoring_nan(_name)


def _nan_extremum(which: Any, other: float) -> Any:
    return lambda a, axis=None, **kwargs: which(
        np.where(np.isnan(plain(array(a))), other, a), axis=axis, **kwargs
    )


FUNCTIONS[np.nanmax] = _nan_extremum(np.max, -np.inf)
FUNCTIONS[np.nanmin] = _nan_extremum(np.min, np.inf)

METHODS.update(
    sum=np.sum, mean=np.mean, var=np.var, std=np.std, max=np.max, min=np.min, prod=np.prod,
    cumsum=np.cumsum, cumprod=np.cumprod,
)  # fmt: skip
