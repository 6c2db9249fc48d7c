"""Rules of reductions and scans: sums, products, extrema, moments and order statistics."""

import math

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import evened, off_zero, times
from srcad.rules.registry import (
    composition,
    differential,
    is_literal,
    linear,
    methods,
    pullback,
)

# ---- what the bodies share


def reduced(a, axis):
    """How many elements of `a` go into one of its reduction."""
    if axis is None:
        return np.size(a)
    if isinstance(axis, int):
        return np.shape(a)[axis]
    return math.prod([np.shape(a)[k] for k in axis])


def count(chosen, axis, dtype, keepdims=True):
    """How many are chosen along the axes, which stay: in double precision an integer will do."""
    n = np.sum(chosen) if axis is None else np.sum(chosen, axis, keepdims=keepdims)
    return n if dtype == np.float64 else n.astype(dtype)


def average_along(a, axis):
    """The mean along the axes, which stay."""
    return np.mean(a) if axis is None else np.mean(a, axis, keepdims=True)


def along_first(a, axis):
    """The values that go into one result along the first axis."""
    if axis is None:
        return np.reshape(a, -1)
    if isinstance(axis, int):
        return np.moveaxis(a, axis, 0)
    axes = tuple(axis)
    moved = np.moveaxis(a, axes, tuple(range(len(axes))))
    return np.reshape(moved, (-1, *np.shape(moved)[len(axes) :]))


def kept(reduced, axis, keepdims):
    """What is reduced, with the axes it was reduced along."""
    return reduced if axis is None or keepdims else np.expand_dims(reduced, axis)


def spread(ct, a, axis, keepdims):
    """The cotangent of a sum, at every element."""
    if axis is not None and not keepdims:
        ct = np.expand_dims(ct, axis)
    return np.broadcast_to(ct, np.shape(a))


def centred(a, axis, where, keepdims):
    """What is left of the values that count when their mean is taken away, and their number."""
    if where is None:
        return a - average_along(a, axis), reduced(a, axis)
    chosen = np.broadcast_to(where, np.shape(a))
    n = count(chosen, axis, np.result_type(a))
    total = np.sum(np.where(chosen, a, 0), axis, keepdims=axis is not None)
    return np.where(chosen, a - total / n, 0), n if axis is None or keepdims else np.squeeze(
        n, axis
    )


# ---- sums and means


@linear(np.sum, *methods("sum"), wrt=("a", "initial"))
def sum(ct, a, axis=None, dtype=None, keepdims=False, initial=0, where=None):
    to_a = spread(ct, a, axis, keepdims)
    return to_a if where is None else np.where(where, to_a, 0), np.sum(ct)


@linear(np.mean, *methods("mean"), wrt="a")
def mean(ct, a, axis=None, dtype=None, keepdims=False, where=None):
    if where is None:
        return spread(ct / reduced(a, axis), a, axis, keepdims)
    chosen = np.broadcast_to(where, np.shape(a))
    n = count(chosen, axis, np.result_type(a))
    return np.where(chosen, spread(ct, a, axis, keepdims) / n, 0)


@composition(np.nansum, wrt=("a", "initial"))
def nansum(a, axis=None, dtype=None, keepdims=False, initial=0, where=None):
    there = np.where(np.isnan(a), 0, a)
    if where is None:
        return np.sum(there, axis, dtype, keepdims=keepdims, initial=initial)
    return np.sum(there, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@composition(np.nanmean, wrt="a")
def nanmean(a, axis=None, dtype=None, keepdims=False, *, where=None):
    seen = np.logical_not(np.isnan(a))
    chosen = seen if where is None else seen & where
    return np.mean(a, axis, dtype, keepdims=keepdims, where=chosen)


def declare_moment(function, of_squares):
    @composition(function, wrt=("a", "mean"))
    def about_a_mean(
        a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None
    ):  # fmt: skip
        """With a mean that is given, or the other name of `ddof`."""
        less = ddof if correction is None else correction
        if mean is None:
            if correction is None:
                return NotImplemented
            if where is None:
                return function(a, axis, dtype, ddof=less, keepdims=keepdims)
            return function(a, axis, dtype, ddof=less, keepdims=keepdims, where=where)
        rest = a - mean
        squares = np.real(rest * np.conj(rest))
        if where is None:
            chosen = squares
            n = reduced(a, axis)
        else:
            chosen = np.where(where, squares, 0)
            n = np.sum(np.broadcast_to(where, np.shape(a)), axis, keepdims=keepdims)
        return of_squares(np.sum(chosen, axis, keepdims=keepdims) / (n - less))


declare_moment(np.var, np.positive)
declare_moment(np.std, np.sqrt)


@differential(np.var, *methods("var"))
def var(a, axis=None, dtype=None, ddof=0, keepdims=False, where=None, *, da):
    rest, n = centred(a, axis, where, keepdims)
    if np.iscomplexobj(a):
        return 2 / (n - ddof) * np.sum(np.real(np.conj(rest) * da), axis, keepdims=keepdims)
    return 2 / (n - ddof) * np.sum(rest * da, axis, keepdims=keepdims)


@differential(np.std, *methods("std"))
def std(a, axis=None, dtype=None, ddof=0, keepdims=False, where=None, *, da, out):
    """Of equal values 0, a subgradient."""
    rest, n = centred(a, axis, where, keepdims)
    scale = off_zero(out) * (n - ddof)
    if np.iscomplexobj(a):
        return np.sum(np.real(np.conj(rest) * da), axis, keepdims=keepdims) / scale
    return np.sum(rest * da, axis, keepdims=keepdims) / scale


@composition(np.nanvar, wrt="a")
def nanvar(
    a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None
):  # fmt: skip
    seen = np.logical_not(np.isnan(a))
    chosen = seen if where is None else seen & where
    less = ddof if correction is None else correction
    if mean is None:
        return np.var(a, axis, dtype, ddof=less, keepdims=keepdims, where=chosen)
    return np.var(a, axis, dtype, ddof=less, keepdims=keepdims, where=chosen, mean=mean)


@composition(np.nanstd, wrt="a")
def nanstd(
    a, axis=None, dtype=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None
):  # fmt: skip
    """Of equal values 0, a subgradient."""
    seen = np.logical_not(np.isnan(a))
    chosen = seen if where is None else seen & where
    less = ddof if correction is None else correction
    if mean is None:
        return np.std(a, axis, dtype, ddof=less, keepdims=keepdims, where=chosen)
    return np.std(a, axis, dtype, ddof=less, keepdims=keepdims, where=chosen, mean=mean)


@differential(np.max, np.amax, np.min, np.amin, np.nanmax, np.nanmin, *methods("max", "min"))
def extremum(a, axis=None, keepdims=False, initial=None, where=None, *, da, dinitial, out):
    """Ties share the derivative equally, an initial value among them."""
    out = kept(out, axis, keepdims)
    ties = a == out if where is None else (a == out) & where
    if initial is None:
        many = count(ties, axis, np.result_type(a), keepdims)
        return np.sum(ties * da, axis, keepdims=keepdims) / many
    n = count(ties, axis, np.result_type(a))
    first = out == initial
    own = first / (n + first)
    if axis is not None and not keepdims:
        own = np.squeeze(own, axis)
    return np.sum(ties / (n + first) * da, axis, keepdims=keepdims) + own * dinitial


@differential(np.ptp)
def ptp(a, axis=None, keepdims=False, *, da):
    """Ties share the derivative equally."""
    top = a == np.max(a, axis, keepdims=True)
    bottom = a == np.min(a, axis, keepdims=True)
    w = top / count(top, axis, np.result_type(a))
    v = bottom / count(bottom, axis, np.result_type(a))
    return np.sum((w - v) * da, axis, keepdims=keepdims)


@differential(np.prod, *methods("prod"))
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=None, *, da, dinitial):
    """The coefficient is the product of the others, from both sides: right where factors are 0."""
    if where is not None:
        a = np.where(where, a, 1)
        da = np.where(where, da, 0)
    x = along_first(a, axis)
    ones = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate((ones, x[:-1])), 0)
    after = np.cumprod(np.concatenate((ones, x[:0:-1])), 0)[::-1]
    change = np.sum(before * after * along_first(da, axis), 0)
    if keepdims:
        change = np.expand_dims(change, tuple(range(np.ndim(a))) if axis is None else axis)
    if is_literal(initial) and initial == 1:
        return change
    return initial * change + np.prod(a, axis, keepdims=keepdims) * dinitial


@composition(np.nanprod, wrt=("a", "initial"))
def nanprod(a, axis=None, dtype=None, keepdims=False, initial=1, where=None):
    there = np.where(np.isnan(a), 1, a)
    if where is None:
        return np.prod(there, axis, dtype, keepdims=keepdims, initial=initial)
    return np.prod(there, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@linear(np.cumsum, *methods("cumsum"), wrt="a")
def cumsum(ct, a, axis=None, dtype=None):
    if axis is None:
        return np.reshape(np.cumsum(ct[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(ct, axis), axis), axis)


@composition(np.nancumsum, wrt="a")
def nancumsum(a, axis=None, dtype=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis, dtype)


@composition(np.nancumprod, wrt="a")
def nancumprod(a, axis=None, dtype=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis, dtype)


@composition(getattr(np, "cumulative_sum", None), wrt="x")
def cumulative_sum(x, *, axis=None, dtype=None, include_initial=False):
    k = 0 if axis is None else axis
    sums = np.cumsum(x, k, dtype)
    if not include_initial:
        return sums
    size = [1 if j == k % np.ndim(x) else np.shape(x)[j] for j in range(np.ndim(x))]
    return np.concatenate((np.zeros(size, sums.dtype), sums), k)


@composition(getattr(np, "cumulative_prod", None), wrt="x")
def cumulative_prod(x, *, axis=None, dtype=None, include_initial=False):
    k = 0 if axis is None else axis
    products = np.cumprod(x, k, dtype)
    if not include_initial:
        return products
    size = [1 if j == k % np.ndim(x) else np.shape(x)[j] for j in range(np.ndim(x))]
    return np.concatenate((np.ones(size, products.dtype), products), k)


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


@composition(np.average, wrt=("a", "weights"))
def average_and_weight(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Also the sum of the weights, in the shape of the average."""
    if not returned:
        return NotImplemented
    found = np.average(a, axis, weights, keepdims=keepdims)
    if weights is None:
        return found, np.full(np.shape(found), float(reduced(a, axis)))
    if np.ndim(weights) == np.ndim(a):
        total = np.sum(weights, axis, keepdims=keepdims)
    else:
        total = np.sum(weights)
    return found, np.broadcast_to(total, np.shape(found)) + np.zeros_like(found)


@differential(np.average)
def average(a, axis=None, weights=None, keepdims=False, *, da, dweights, out):
    """Weights with fewer axes than the array have those that the average is taken along."""
    if weights is None:
        return np.mean(da, axis, keepdims=keepdims)
    if np.ndim(weights) == np.ndim(a):
        w = weights
        dw = dweights
    else:
        places = axis if isinstance(axis, tuple) else (axis,)
        along = [k % np.ndim(a) for k in places]
        size = [np.shape(a)[k] if k in along else 1 for k in range(np.ndim(a))]
        w, dw = weights, dweights
        if len(along) > 1:
            order = np.argsort(along)
            w, dw = np.transpose(w, order), np.transpose(dw, order)
        w, dw = np.reshape(w, size), np.reshape(dw, size)
    change = w * da + (a - kept(out, axis, keepdims)) * dw
    scale = np.sum(np.broadcast_to(w, np.shape(a)), axis, keepdims=keepdims)
    return np.sum(change, axis, keepdims=keepdims) / scale


def in_order(x, order):
    return x[order] if np.ndim(x) == 1 else np.take_along_axis(x, order, 0)


@differential(np.median)
def median(a, axis=None, keepdims=False, *, da, out):
    """Equal values share the derivative equally."""
    x = along_first(a, axis)
    order = np.argsort(x, axis=0, kind="stable")
    changes = evened(in_order(along_first(da, axis), order), in_order(x, order), 0)
    n = np.shape(x)[0]
    low, high = (n - 1) // 2, n // 2 + 1
    return np.reshape(np.sum(changes[low:high], 0) / (high - low), np.shape(out))


STEPS = ("lower", "higher", "nearest", "midpoint")
BETWEEN = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")
SHIFTS = {
    "linear": (1, 1), "weibull": (0, 0), "hazen": (0.5, 0.5), "interpolated_inverted_cdf": (0, 1),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
"""How far the positions of quantiles stand in from the ends, by their method (Hyndman and Fan)."""


def position(q, n, method):
    """Where among `n` values in order the quantile is, counted from 0."""
    if method in SHIFTS:
        low, high = SHIFTS[method]
        if method == "linear":
            return q * (n - 1)
        return np.clip(n * q + (low + q * (1 - low - high)) - 1, 0, n - 1)
    if method in BETWEEN:
        place = n * q - (1.5 if method == "closest_observation" else 1)
        below = np.floor(place)
        if method == "averaged_inverted_cdf":
            return np.clip(below + np.where(place == below, 0.5, 1), 0, n - 1)
        stays = place == below
        if method == "closest_observation":
            stays = stays & (below % 2 == 1)
        return np.clip(np.where(stays, below, below + 1), 0, n - 1)
    if method not in STEPS:
        raise MissingRule(None, f"quantile with method={method!r} is not supported")
    place = q * (n - 1)
    if method == "lower":
        return np.floor(place)
    if method == "higher":
        return np.ceil(place)
    return np.rint(place) if method == "nearest" else (np.floor(place) + np.ceil(place)) / 2


def interpolated(low, high, w, method):
    """As NumPy does: an infinite neighbour spoils what only a method of steps leaves alone."""
    return low + w * (high - low) if method in SHIFTS else low + times(high - low, w)


def with_axes(between, a, q, axis):
    """Quantiles with the axes of `a` that they were taken along, behind those of `q`."""
    axes = tuple(range(np.ndim(a))) if axis is None else axis
    reduced = (axes,) if isinstance(axes, int) else tuple(axes)
    places = [k % np.ndim(a) + np.ndim(q) for k in reduced]
    return np.expand_dims(between, tuple(places))


@composition(np.quantile, wrt=("a", "q"))
def quantile(a, q, axis=None, method="linear", keepdims=False, weights=None):
    """At one of the values the slope above it. Equal values share the derivative equally."""
    if weights is not None:
        return NotImplemented
    values = np.sort(along_first(a, axis), 0)
    last = np.shape(values)[0] - 1
    place = position(q, last + 1, method)
    below = np.clip(np.floor(place), 0, max(last - 1, 0))
    lower = below.astype(int)
    w = np.reshape(place - below, np.shape(q) + (1,) * (np.ndim(values) - 1))
    low = values[lower]
    between = interpolated(low, values[np.minimum(lower + 1, last)], w, method)
    between = np.where(np.isnan(values[-1]), np.nan, between)  # the last in order
    return with_axes(between, a, q, axis) if keepdims else between


@composition(np.percentile, wrt=("a", "q"))
def percentile(a, q, axis=None, method="linear", keepdims=False, weights=None):
    if weights is not None:
        return np.quantile(a, q / 100, axis, method=method, keepdims=keepdims, weights=weights)
    return np.quantile(a, q / 100, axis, method=method, keepdims=keepdims)


@differential(np.quantile, np.nanquantile)
def weighted_quantile(
    a, q, axis=None, method="linear", keepdims=False, weights=None, *, da, dq, dweights, out
):
    """By weights a quantile is one of the values. Equal values share the derivative equally."""
    values = along_first(a, axis)
    changes = along_first(da, axis)
    found = np.reshape(out, (-1, 1, *np.shape(values)[1:]))
    ties = values == found
    many = np.sum(ties, 1, np.result_type(values))
    return np.reshape(np.sum(ties * changes, 1) / many, np.shape(out))


@composition(np.nanquantile, wrt=("a", "q"))
def nanquantile(a, q, axis=None, method="linear", keepdims=False, weights=None):
    """As `quantile`: what is missing comes last in order."""
    if weights is not None:
        return NotImplemented
    values = np.sort(along_first(a, axis), 0)
    n = np.sum(np.logical_not(np.isnan(values)), 0)
    levels = np.reshape(q, np.shape(q) + (1,) * np.ndim(n))
    place = position(levels, n, method)
    below = np.clip(np.floor(place), 0, np.maximum(n - 2, 0))
    lower = below.astype(int)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    rows = np.reshape(lower, (-1, *np.shape(n)))
    low = np.reshape(np.take_along_axis(values, rows, 0), np.shape(lower))
    rows = np.reshape(upper, (-1, *np.shape(n)))
    high = np.reshape(np.take_along_axis(values, rows, 0), np.shape(lower))
    between = interpolated(low, high, place - below, method)
    return with_axes(between, a, q, axis) if keepdims else between


@composition(np.nanpercentile, wrt=("a", "q"))
def nanpercentile(a, q, axis=None, method="linear", keepdims=False, weights=None):
    if weights is not None:
        return np.nanquantile(a, q / 100, axis, method=method, keepdims=keepdims, weights=weights)
    return np.nanquantile(a, q / 100, axis, method=method, keepdims=keepdims)


@composition(np.nanmedian, wrt="a")
def nanmedian(a, axis=None, keepdims=False):
    return np.nanquantile(a, 0.5, axis, method="averaged_inverted_cdf", keepdims=keepdims)


# ---- dispersion of samples


@composition(np.cov, wrt=("m", "y", "aweights"))
def cov(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
):  # fmt: skip
    """In double precision, unless told otherwise."""
    kind = np.result_type(m, np.float64) if dtype is None else dtype
    x = np.atleast_2d(m if np.result_type(m) == kind else np.asarray(m, kind))
    if not rowvar and np.ndim(m) > 1:
        x = x.T
    if y is not None:
        z = np.atleast_2d(y)
        x = np.concatenate((x, z if rowvar or np.ndim(y) < 2 else z.T))
    less = ddof if ddof is not None else 0 if bias else 1
    if fweights is None and aweights is None:
        rest = x - np.mean(x, 1, keepdims=True)
        return np.squeeze(rest @ np.conj(rest).T / (np.shape(x)[1] - less))
    if fweights is None:
        w = aweights
    else:
        w = fweights if aweights is None else fweights * aweights
    total = np.sum(w)
    rest = x - np.sum(w * x, 1, keepdims=True) / total
    if aweights is None:
        scale = total - less
    else:
        scale = total - less * np.sum(w * aweights) / total
    return np.squeeze(rest * w @ np.conj(rest).T / scale)


@composition(np.corrcoef, wrt=("x", "y"))
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diag(c)))
    return c / deviation[:, None] / deviation
