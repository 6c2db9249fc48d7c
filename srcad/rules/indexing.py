"""Rules of functions that select by position or condition, and of sorting."""

import operator

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import evened, unbroadcast
from srcad.rules.registry import (
    composition,
    constant,
    differential,
    is_literal,
    is_sequence,
    linear,
    methods,
    pullback,
    sourced,
)
from srcad.runtime import rounds, segments


@linear(operator.getitem, wrt="x")
def getitem(ct, x, i, *, x_bar):
    """Of arrays with any index, of sequences with integers and slices, of dicts with keys."""
    if is_sequence(x) and isinstance(i, slice):
        places = range(len(x))[i]
        for k in range(len(places)):
            x_bar[places[k]] += ct[k]
    else:
        x_bar[i] += ct


@linear(np.take, *methods("take"), wrt="a")
def take(ct, a, indices, axis=None, mode="raise", *, a_bar):
    n = np.size(a) if axis is None else np.shape(a)[axis]
    places = np.asarray(indices) if is_sequence(indices) else indices
    if mode == "clip":
        places = np.clip(indices, 0, n - 1)
    if mode == "wrap":
        places = np.mod(indices, n)
    if axis is not None:
        a_bar[(slice(None),) * (axis % np.ndim(a)) + (places,)] += ct
    elif np.ndim(a) == 1:
        a_bar[places] += ct
    else:
        a_bar[np.unravel_index(np.arange(n)[places], np.shape(a))] += ct


@linear(np.take_along_axis, wrt="arr")
def take_along_axis(ct, arr, indices, axis=-1, *, arr_bar):
    shape = np.shape(arr)
    if axis is None:
        arr_bar[np.unravel_index(np.arange(np.size(arr))[indices], shape)] += ct
    else:
        k = axis % np.ndim(arr)
        # Every axis but `k` keeps its place: an open grid.
        grid = np.ix_(*[np.arange(n) for n in shape])
        places = (*grid[:k], indices, *grid[k + 1 :])
        arr_bar[places] += ct


@linear(np.compress, wrt="a")
def compress(ct, condition, a, axis=None, *, a_bar):
    places = np.flatnonzero(condition)
    if axis is None:
        a_bar[np.unravel_index(places, np.shape(a))] += ct
    else:
        a_bar[(slice(None),) * (axis % np.ndim(a)) + (places,)] += ct


@linear(*methods("compress"), wrt="self")
def compress_method(ct, self, condition, axis=None, *, self_bar):
    places = np.flatnonzero(condition)
    if axis is None:
        self_bar[np.unravel_index(places, np.shape(self))] += ct
    else:
        self_bar[(slice(None),) * (axis % np.ndim(self)) + (places,)] += ct


@linear(np.extract, wrt="arr")
def extract(ct, condition, arr, *, arr_bar):
    arr_bar[np.unravel_index(np.flatnonzero(condition), np.shape(arr))] += ct


@composition(np.ix_, wrt="args")
def ix_(*args):
    """Of positions it is a constant; a mesh of values has their derivatives."""
    rank = len(args)
    axes = [np.flatnonzero(a) if np.result_type(a) == np.bool_ else a for a in args]
    return tuple([np.reshape(axes[k], [1] * k + [-1] + [1] * (rank - k - 1)) for k in range(rank)])


@linear(np.choose, wrt="choices", sequences=("choices",))
def choose(ct, a, choices, mode="raise"):
    n = len(choices)
    chosen = np.clip(a, 0, n - 1) if mode == "clip" else np.mod(a, n)
    return [unbroadcast(np.where(chosen == k, ct, 0), np.shape(choices[k])) for k in range(n)]


@composition(np.ndarray.choose, wrt="choices", sequences=("choices",))
def choose_method(self, choices, *, mode="raise"):
    return np.choose(self, choices, mode=mode)


@linear(np.select, wrt=("choicelist", "default"), sequences=("choicelist",))
def select(ct, condlist, choicelist, default=0):
    n = len(choicelist)
    first = np.select(condlist, list(range(n)), n)
    chosen = [np.where(first == k, ct, 0) for k in range(n)]
    bars = [unbroadcast(chosen[k], np.shape(choicelist[k])) for k in range(n)]
    return bars, unbroadcast(np.where(first == n, ct, 0), np.shape(default))


@linear(np.bincount, wrt="weights")
def bincount(ct, x, weights=None, minlength=0):
    return ct[x].astype(np.result_type(weights))


def edges_of_bins(x, bins, range):
    if isinstance(bins, str):
        raise MissingRule(None, "histogram with bins that are chosen by a rule is not supported")
    if np.ndim(bins) > 0:
        return np.asarray(bins)
    low, high = (np.min(x), np.max(x)) if range is None else range
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


def bin_of(x, edges):
    """Between which edges the values lie, and whether between any."""
    last = np.shape(edges)[0] - 2
    place = np.minimum(np.searchsorted(edges, x, "right") - 1, last)
    return place, (x >= edges[0]) & (x <= edges[-1])


@composition(np.histogram2d, wrt=("x", "y", "weights"))
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """As `histogram`, with one kind of bins for each of the axes, or one for both."""
    if is_sequence(bins) and len(bins) == 2:
        kinds = bins
    else:
        if np.ndim(bins) > 0 and len(bins) == 2:
            raise ValueError("give two kinds of bins as a tuple")
        kinds = (bins, bins)
    limits = (None, None) if range is None else range
    rows, columns = edges_of_bins(x, kinds[0], limits[0]), edges_of_bins(y, kinds[1], limits[1])
    row, in_rows = bin_of(x, rows)
    column, in_columns = bin_of(y, columns)
    there = in_rows & in_columns
    size = (np.shape(rows)[0] - 1, np.shape(columns)[0] - 1)
    place = (row * size[1] + column)[there]
    if weights is None:
        counts = np.bincount(place, minlength=size[0] * size[1]).astype(float)
    else:
        counts = np.bincount(place, weights[there], size[0] * size[1])
    counts = np.reshape(counts, size)
    if density:
        counts = counts / np.sum(counts) / np.diff(rows)[:, None] / np.diff(columns)
    return counts, rows, columns


@composition(np.histogram, wrt=("a", "weights"))
def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many there are in a bin is locally constant; the edges may depend on the least value."""
    x = np.reshape(a, -1)
    edges = edges_of_bins(x, bins, range)
    place, there = bin_of(x, edges)
    many = np.shape(edges)[0] - 1
    if weights is None:
        counts = np.bincount(place[there], minlength=many)
    else:
        counts = np.bincount(place[there], np.reshape(weights, -1)[there], many)
    if density:
        counts = counts / np.sum(counts) / np.diff(edges)
    return counts, edges


@composition(np.lib.stride_tricks.sliding_window_view, wrt="x", of_view=True)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Axis after axis; the windows are copies."""
    if writeable:
        raise MissingRule(None, "a write into one window is seen in others")
    sizes = window_shape if is_sequence(window_shape) else (window_shape,)
    axes = tuple(range(np.ndim(x))) if axis is None else axis if is_sequence(axis) else (axis,)
    rank = np.ndim(x)
    for j in range(len(sizes)):
        k = axes[j] % rank
        starts = np.arange(np.shape(x)[k] - sizes[j] + 1)
        x = np.moveaxis(np.take(x, starts[:, None] + np.arange(sizes[j]), k), k + 1, -1)
    return x


constant(rounds, segments)


@linear(np.add.reduceat, wrt="array")
def add_reduceat(ct, array, indices, axis=0, dtype=None, *, array_bar):
    places, sums = segments(indices, np.shape(array)[axis])
    before = (slice(None),) * (axis % np.ndim(array))
    array_bar[(*before, places)] += ct[(*before, sums)]


# ---- order


@differential(np.sort)
def sort(a, axis=-1, kind=None, order=None, *, stable=None, da, out):
    """Equal values share their derivatives equally."""
    if axis is None:
        return evened(np.reshape(da, -1)[np.argsort(a, axis=None, kind="stable")], out, 0)
    order = np.argsort(a, axis=axis, kind="stable")
    return evened(np.take_along_axis(da, order, axis), out, axis)


@pullback(np.sort)
def sort_pullback(ct, a, axis=-1, kind=None, order=None, *, stable=None, out):
    """The inverse permutation: nothing is scattered."""
    order = np.argsort(a, axis=axis, kind="stable")
    even = evened(ct, out, 0 if axis is None else axis)
    if axis is None:
        return (np.reshape(even[np.argsort(order)], np.shape(a)),)
    if np.ndim(a) == 1:
        return (even[np.argsort(order)],)
    return (np.take_along_axis(even, np.argsort(order, axis=axis), axis),)


@differential(np.partition)
def partition(a, kth, axis=-1, kind="introselect", *, da, out):
    """As `sort`, whatever order the parts come out in."""
    k = 0 if axis is None else axis
    x = np.reshape(a, -1) if axis is None else a
    dx = np.reshape(da, -1) if axis is None else da
    order = np.argsort(x, axis=k, kind="stable")
    ranks = np.argsort(np.argsort(out, axis=k, kind="stable"), axis=k)
    ordered = np.take_along_axis(x, order, k)
    return np.take_along_axis(evened(np.take_along_axis(dx, order, k), ordered, k), ranks, k)


@composition(np.unique, wrt="ar")
def unique(ar, return_index=False, return_inverse=False, return_counts=False, *, equal_nan=True):
    """Equal values share the derivative; missing ones count as equal, if not told otherwise."""
    flat = np.reshape(ar, -1)
    values = np.sort(flat)
    missing = np.isnan(values) & equal_nan
    same = (values[1:] == values[:-1]) | (missing[1:] & missing[:-1])
    first = np.concatenate((np.ones(min(np.size(ar), 1), bool), np.logical_not(same)))
    found = (values[first],)
    order = np.argsort(flat, kind="stable")
    if return_index:
        found = (*found, order[first])
    if return_inverse:
        found = (*found, np.reshape((np.cumsum(first) - 1)[np.argsort(order)], np.shape(ar)))
    if return_counts:
        found = (*found, np.diff(np.append(np.flatnonzero(first), np.size(ar))))
    return found[0] if len(found) == 1 else found


@composition(getattr(np, "unique_values", None), wrt="x")
def unique_values(x):
    if np.iscomplexobj(x):
        raise MissingRule(None, "unique_values of complex numbers has no order: use np.unique")
    return np.unique(x, equal_nan=False)


@composition(np.trim_zeros, wrt="filt")
def trim_zeros(filt, trim="fb"):
    if np.ndim(filt) != 1:
        raise MissingRule(None, "trim_zeros is supported along one axis")
    places = np.flatnonzero(filt)
    if np.size(places) == 0:
        return filt[:0]
    start = places[0] if "f" in trim.lower() else 0
    stop = places[-1] + 1 if "b" in trim.lower() else len(filt)
    return filt[start:stop]


@composition(np.sort_complex, wrt="a")
def sort_complex(a):
    return np.sort(a, -1) + 0j


# ---- diagonals and triangles


@linear(np.diag, wrt="v")
def diag(ct, v, k=0):
    if np.ndim(v) == 1:
        return np.diagonal(ct, k)
    n, m = np.shape(v)
    if is_literal(k) and k == 0 and n == m:
        return np.diag(ct)
    # Entry `r` of the diagonal `k` stands in row `r` or, below the main diagonal, in column `r`.
    if np.size(ct) == 0:
        return np.zeros_like(v)
    rows = np.clip(np.arange(n) + np.minimum(k, 0), 0, np.size(ct) - 1)
    return np.where(np.eye(n, m, k, dtype=bool), ct[rows][:, None], 0)


@linear(np.diagflat, wrt="v")
def diagflat(ct, v, k=0):
    return np.reshape(np.diagonal(ct, k), np.shape(v))


@linear(np.diagonal, *methods("diagonal"), wrt="a")
def diagonal(ct, a, offset=0, axis1=0, axis2=1):
    n = np.shape(a)[axis1]
    m = np.shape(a)[axis2]
    if np.ndim(a) == 2 and is_literal(offset) and offset == 0 and n == m:
        return np.diag(ct)
    if np.size(ct) == 0:
        return np.zeros_like(a)
    rows = np.clip(np.arange(n) + np.minimum(offset, 0), 0, np.shape(ct)[-1] - 1)
    filled = np.where(np.eye(n, m, offset, dtype=bool), ct[..., rows][..., None], 0)
    return np.moveaxis(filled, (-2, -1), (axis1, axis2))


@linear(np.trace, *methods("trace"), wrt="a")
def trace(ct, a, offset=0, axis1=0, axis2=1, dtype=None):
    n, m = np.shape(a)[axis1], np.shape(a)[axis2]
    if np.ndim(a) == 2 and is_literal(offset) and offset == 0 and n == m:
        return np.where(np.eye(n, dtype=bool), ct, 0)
    ones = np.eye(n, m, offset, dtype=bool)
    if np.ndim(a) == 2:
        return np.where(ones if axis1 % 2 == 0 else ones.T, ct, 0)
    filled = np.where(ones, np.expand_dims(ct, (-2, -1)), 0)
    return np.moveaxis(filled, (-2, -1), (axis1, axis2))


@linear(np.linalg.trace, wrt="x")
def matrix_trace(ct, x, *, offset=0):
    if np.ndim(x) == 2:
        return trace(ct, x, offset)
    ones = np.eye(np.shape(x)[-2], np.shape(x)[-1], offset, dtype=bool)
    return np.where(ones, np.expand_dims(ct, (-2, -1)), 0)


@linear(np.tril, wrt="m")
def tril(ct, m, k=0):
    """A vector counts as the matrix of equal rows."""
    return unbroadcast(np.tril(ct, k), np.shape(m))


@linear(np.triu, wrt="m")
def triu(ct, m, k=0):
    """As `tril`."""
    return unbroadcast(np.triu(ct, k), np.shape(m))


sourced(np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.fromfunction)
sourced(np.real_if_close)
