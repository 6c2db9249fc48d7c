"""Rules of reductions and scans: sums, products, extrema, moments and order statistics."""

import math

import numpy as np

from srcad.rules.intrinsics import evened
from srcad.rules.registry import composition, differential, linear, methods, pullback

# ---- what the bodies share


def reduced(a, axis):
    """How many elements of `a` go into one of its reduction."""
    if axis is None:
        return np.size(a)
    if isinstance(axis, int):
        return np.shape(a)[axis]
    return math.prod([np.shape(a)[k] for k in axis])


def count(chosen, axis, dtype):
    """How many are chosen along the axes, which stay: in double precision an integer will do."""
    n = np.sum(chosen) if axis is None else np.sum(chosen, axis, keepdims=True)
    return n if dtype == np.float64 else n.astype(dtype)


def average_along(a, axis):
    """The mean along the axes, which stay."""
    return np.mean(a) if axis is None else np.mean(a, axis, keepdims=True)


# ---- sums and means


@linear(np.sum, *methods("sum"), wrt="a")
def sum(ct, a, axis=None, dtype=None, keepdims=False):
    if axis is not None and not keepdims:
        ct = np.expand_dims(ct, axis)
    return np.broadcast_to(ct, np.shape(a))


@linear(np.add.reduce, wrt="array")
def add_reduce(ct, array, axis=0, dtype=None, *, keepdims=False):
    if axis is not None and not keepdims:
        ct = np.expand_dims(ct, axis)
    return np.broadcast_to(ct, np.shape(array))


@linear(np.mean, *methods("mean"), wrt="a")
def mean(ct, a, axis=None, dtype=None, keepdims=False):
    n = reduced(a, axis)
    if axis is not None and not keepdims:
        ct = np.expand_dims(ct, axis)
    return np.broadcast_to(ct / n, np.shape(a))


@differential(np.nansum)
def nansum(a, axis=None, dtype=None, keepdims=False, *, da):
    return np.sum(np.where(np.isnan(a), 0, da), axis, keepdims=keepdims)


@differential(np.nanmean)
def nanmean(a, axis=None, dtype=None, keepdims=False, *, da):
    n = np.sum(np.logical_not(np.isnan(a)), axis, np.result_type(a), keepdims=keepdims)
    return np.sum(np.where(np.isnan(a), 0, da), axis, keepdims=keepdims) / n


@differential(np.var, *methods("var"))
def var(a, axis=None, dtype=None, ddof=0, keepdims=False, *, da, out):
    centred = a - average_along(a, axis)
    n = reduced(a, axis) - ddof
    if np.iscomplexobj(a):
        return 2 * np.sum(np.real(np.conj(centred) * da), axis, keepdims=keepdims) / n
    return 2 * np.sum(centred * da, axis, keepdims=keepdims) / n


@differential(np.std, *methods("std"))
def std(a, axis=None, dtype=None, ddof=0, keepdims=False, *, da, out):
    """Of equal values 0, a subgradient."""
    centred = a - average_along(a, axis)
    n = reduced(a, axis) - ddof
    scale = np.where(out == 0, 1, out) * n
    if np.iscomplexobj(a):
        return np.sum(np.real(np.conj(centred) * da), axis, keepdims=keepdims) / scale
    return np.sum(centred * da, axis, keepdims=keepdims) / scale


@differential(np.nanvar)
def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False, *, da):
    seen = np.logical_not(np.isnan(a))
    n = np.sum(seen, axis, np.result_type(a), keepdims=keepdims) - ddof
    centred = np.where(seen, a - np.nanmean(a, axis, keepdims=True), 0)
    return 2 * np.sum(centred * da, axis, keepdims=keepdims) / n


@differential(np.nanstd)
def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False, *, da, out):
    """Of equal values 0, a subgradient."""
    seen = np.logical_not(np.isnan(a))
    n = np.sum(seen, axis, np.result_type(a), keepdims=keepdims) - ddof
    centred = np.where(seen, a - np.nanmean(a, axis, keepdims=True), 0)
    return np.sum(centred * da, axis, keepdims=keepdims) / (np.where(out == 0, 1, out) * n)


@differential(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, *methods("max", "min"))
def extremum(a, axis=None, keepdims=False, *, da, out):
    """Ties share the derivative equally."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    ties = a == out
    w = ties / count(ties, axis, np.result_type(a))
    return np.sum(w * da, axis, keepdims=keepdims)


@differential(np.maximum.reduce, np.minimum.reduce)
def extremum_reduce(array, axis=0, *, keepdims=False, darray, out):
    """Ties share the derivative equally."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    ties = array == out
    w = ties / count(ties, axis, np.result_type(array))
    return np.sum(w * darray, axis, keepdims=keepdims)


@differential(np.ptp)
def ptp(a, axis=None, keepdims=False, *, da):
    """Ties share the derivative equally."""
    top = a == np.max(a, axis, keepdims=True)
    bottom = a == np.min(a, axis, keepdims=True)
    w = top / count(top, axis, np.result_type(a))
    v = bottom / count(bottom, axis, np.result_type(a))
    return np.sum((w - v) * da, axis, keepdims=keepdims)


@differential(np.prod, *methods("prod"))
def prod(a, axis=None, dtype=None, keepdims=False, *, da):
    """The coefficient is the product of the others, from both sides: right where factors are 0."""
    if axis is None:
        x = np.reshape(a, -1)
    elif isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, tuple(range(len(axis))))
        kept = [k for k in range(np.ndim(a)) if k not in [j % np.ndim(a) for j in axis]]
        x = np.reshape(moved, (-1, *[np.shape(a)[k] for k in kept]))
    else:
        x = np.moveaxis(a, axis, 0)
    ones = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate((ones, x)), 0)[:-1]
    after = np.cumprod(np.concatenate((ones, x[::-1])), 0)[:-1][::-1]
    others = before * after
    if axis is None:
        w = np.reshape(others, np.shape(a))
    elif isinstance(axis, tuple):
        w = np.moveaxis(np.reshape(others, np.shape(moved)), tuple(range(len(axis))), axis)
    else:
        w = np.moveaxis(others, 0, axis)
    return np.sum(w * da, axis, keepdims=keepdims)


@differential(np.multiply.reduce)
def multiply_reduce(array, axis=0, dtype=None, *, keepdims=False, darray):
    """As `prod`, along one axis."""
    x = np.moveaxis(array, axis, 0)
    ones = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate((ones, x)), 0)[:-1]
    after = np.cumprod(np.concatenate((ones, x[::-1])), 0)[:-1][::-1]
    w = np.moveaxis(before * after, 0, axis)
    return np.sum(w * darray, axis, keepdims=keepdims)


@linear(np.cumsum, *methods("cumsum"), wrt="a")
def cumsum(ct, a, axis=None, dtype=None):
    if axis is None:
        return np.reshape(np.cumsum(ct[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(ct, axis), axis), axis)


@differential(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, *, da):
    return np.cumsum(np.where(np.isnan(a), 0, da), axis)


@linear(getattr(np, "cumulative_sum", None), wrt="x")
def cumulative_sum(ct, x, *, axis=None):
    k = 0 if axis is None else axis
    return np.flip(np.cumsum(np.flip(ct, k), k), k)


@linear(np.add.accumulate, wrt="array")
def add_accumulate(ct, array, axis=0, dtype=None):
    return np.flip(np.cumsum(np.flip(ct, axis), axis), axis)


@differential(np.cumprod, *methods("cumprod"))
def cumprod(a, axis=None, dtype=None, *, da):
    """Right where factors are 0, at the price of a square matrix."""
    if axis is None:
        x = np.reshape(a, -1)
        dx = np.reshape(da, -1)
    else:
        x = np.moveaxis(a, axis, -1)
        dx = np.moveaxis(da, axis, -1)
    n = np.shape(x)[-1]
    # w[i, k]: the product of the first k factors without the factor i
    w = np.triu(np.cumprod(np.where(np.eye(n, dtype=bool), 1, x[..., None, :]), -1))
    dout = np.sum(w * dx[..., :, None], -2)
    if axis is None:
        return dout
    return np.moveaxis(dout, -1, axis)


@pullback(np.cumprod, *methods("cumprod"))
def cumprod_pullback(ct, a, axis=None, dtype=None, *, out):
    """Linear time and memory where no factor is 0."""
    if axis is None:
        x = np.reshape(a, -1)
        k = 0
    else:
        x = a
        k = axis
    if np.all(x != 0):
        x_bar = np.flip(np.cumsum(np.flip(ct * out, k), k), k) / x
    else:
        last = np.moveaxis(x, k, -1)
        n = np.shape(last)[-1]
        w = np.triu(np.cumprod(np.where(np.eye(n, dtype=bool), 1, last[..., None, :]), -1))
        x_bar = np.moveaxis(np.sum(w * np.moveaxis(ct, k, -1)[..., None, :], -1), -1, k)
    return (np.reshape(x_bar, np.shape(a)),)


@differential(np.average)
def average(a, axis=None, weights=None, keepdims=False, *, da, dweights, out):
    """One-dimensional weights of an array with more axes lie along `axis`."""
    if weights is None:
        return np.mean(da, axis, keepdims=keepdims)
    if np.ndim(weights) == np.ndim(a):
        w = weights
        dw = dweights
    else:
        along = [-1 if k == axis % np.ndim(a) else 1 for k in range(np.ndim(a))]
        w = np.reshape(weights, along)
        dw = np.reshape(dweights, along)
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    change = w * da + (a - out) * dw
    scale = np.sum(np.broadcast_to(w, np.shape(a)), axis, keepdims=keepdims)
    return np.sum(change, axis, keepdims=keepdims) / scale


def along_first(a, axis):
    """The values that go into one result along the first axis."""
    return np.reshape(a, -1) if axis is None else np.moveaxis(a, axis, 0)


@differential(np.median)
def median(a, axis=None, keepdims=False, *, da, out):
    """Equal values share the derivative equally."""
    x = along_first(a, axis)
    order = np.argsort(x, axis=0, kind="stable")
    values = np.take_along_axis(x, order, 0)
    changes = evened(np.take_along_axis(along_first(da, axis), order, 0), values, 0)
    n = np.shape(x)[0]
    return np.reshape(np.mean(changes[(n - 1) // 2 : n // 2 + 1], 0), np.shape(out))


@differential(np.quantile)
def quantile(a, q, axis=None, keepdims=False, *, da, dq, out):
    """The default method, linear between order statistics; at one of them the slope above it.
    Equal values share the derivative equally."""
    x = along_first(a, axis)
    order = np.argsort(x, axis=0, kind="stable")
    values = np.take_along_axis(x, order, 0)
    changes = evened(np.take_along_axis(along_first(da, axis), order, 0), values, 0)
    last = np.shape(values)[0] - 1
    below = np.clip(np.floor(q * last), 0, max(last - 1, 0))
    lower = below.astype(int)
    upper = np.minimum(lower + 1, last)
    tail = np.shape(q) + (1,) * (np.ndim(values) - 1)
    w = np.reshape(q * last - below, tail)
    slope = last * (values[upper] - values[lower])
    dout = (1 - w) * changes[lower] + w * changes[upper] + slope * np.reshape(dq, tail)
    return np.reshape(dout, np.shape(out))


@composition(np.percentile, wrt=("a", "q"))
def percentile(a, q, axis=None, keepdims=False):
    return np.quantile(a, q / 100, axis, keepdims=keepdims)
