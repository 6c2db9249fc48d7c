"""Rules of functions that rearrange: shapes, joins, splits, repeats, copies and new arrays."""

import math

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.axes import inverse
from srcad.rules.intrinsics import unbroadcast
from srcad.rules.registry import (
    composition,
    constant,
    differential,
    is_literal,
    is_sequence,
    linear,
    methods,
    nesting,
    of_numbers,
)
from srcad.runtime import elements_in_memory

# ---- the same elements in another shape


@composition(np.reshape, wrt="a")
def reshape_as_stored(a, shape, order="C", *, copy=None):
    """The order of the memory is that of `a`: its derivatives may be stored in another one."""
    if order == "A":
        if a.flags.fnc:
            return np.reshape(a, shape, order="F", copy=copy)
        return np.reshape(a, shape, copy=copy)
    return np.reshape(np.array(a, order=order), shape, order) if copy else NotImplemented


@composition(*methods("reshape"), wrt="self")
def reshape_method_as_stored(self, *shape, order="C", copy=None):
    if order != "A" and not copy:
        return NotImplemented
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@composition(np.ravel, *methods("ravel"), wrt="a", of_view=True)
def ravel_as_stored(a, order="C"):
    if order not in ("A", "K"):
        return NotImplemented
    return np.ravel(a)[elements_in_memory(a, order)]


@composition(*methods("flatten"), wrt="self")
def flatten_as_stored(self, order="C"):
    if order not in ("A", "K"):
        return NotImplemented
    return self.flatten()[elements_in_memory(self, order)]


constant(elements_in_memory)


@linear(np.reshape, wrt="a")
def reshape(ct, a, shape, order="C", *, copy=None):
    if order == "F":
        return np.reshape(ct, np.shape(a), order="F")
    return np.reshape(ct, np.shape(a))


@linear(*methods("reshape"), wrt="self")
def reshape_method(ct, self, *shape, order="C", copy=None):
    if order == "F":
        return np.reshape(ct, np.shape(self), order="F")
    return np.reshape(ct, np.shape(self))


@linear(np.ravel, *methods("ravel", "flatten"), wrt="a")
def ravel(ct, a, order="C"):
    if order == "F":
        return np.reshape(ct, np.shape(a), order="F")
    return np.reshape(ct, np.shape(a))


@linear(np.squeeze, *methods("squeeze"), wrt="a")
def squeeze(ct, a, axis=None):
    return np.reshape(ct, np.shape(a))


@linear(np.expand_dims, wrt="a")
def expand_dims(ct, a, axis):
    return np.reshape(ct, np.shape(a))


@linear(np.atleast_1d, np.atleast_2d, np.atleast_3d, wrt="arys")
def atleast(ct, *arys):
    if len(arys) == 1:
        return (np.reshape(ct, np.shape(arys[0])),)
    return [np.reshape(ct[k], np.shape(arys[k])) for k in range(len(arys))]


@linear(np.transpose, getattr(np, "permute_dims", None), wrt="a")
def transpose(ct, a, axes=None):
    if axes is None:
        return np.transpose(ct)
    return np.transpose(ct, inverse(axes, np.ndim(a)))


@linear(*methods("transpose"), wrt="self")
def transpose_method(ct, self, *axes):
    if len(axes) == 0 or axes[0] is None:
        return np.transpose(ct)
    if is_sequence(axes[0]):
        axes = axes[0]
    return np.transpose(ct, inverse(axes, np.ndim(self)))


@linear(*methods("T"), wrt="self")
def transpose_attribute(ct, self):
    return np.transpose(ct)


@linear(np.matrix_transpose, np.linalg.matrix_transpose, *methods("mT"), wrt="x")
def matrix_transpose(ct, x):
    return np.swapaxes(ct, -1, -2)


@linear(np.swapaxes, *methods("swapaxes"), wrt="a")
def swapaxes(ct, a, axis1, axis2):
    return np.swapaxes(ct, axis1, axis2)


@linear(np.moveaxis, wrt="a")
def moveaxis(ct, a, source, destination):
    return np.moveaxis(ct, destination, source)


@linear(np.flip, wrt="m")
def flip(ct, m, axis=None):
    return np.flip(ct, axis)


@linear(np.fliplr, wrt="m")
def fliplr(ct, m):
    return np.fliplr(ct)


@linear(np.flipud, wrt="m")
def flipud(ct, m):
    return np.flipud(ct)


@linear(np.rot90, wrt="m")
def rot90(ct, m, k=1, axes=(0, 1)):
    return np.rot90(ct, -k, axes)


@linear(np.roll, wrt="a")
def roll(ct, a, shift, axis=None):
    if is_sequence(shift):
        return np.roll(ct, [-s for s in shift], axis)
    return np.roll(ct, -shift, axis)


# ---- joins and splits


def ends(lengths):
    """Where pieces of these lengths end, the last one aside."""
    places = []
    total = 0
    for n in lengths[:-1]:
        total = total + n
        places.append(total)
    return places


@linear(np.concatenate, getattr(np, "concat", None), wrt="arrays", sequences=("arrays",))
def concatenate(ct, arrays, axis=0, *, dtype=None, casting="same_kind"):
    if axis is None:
        flat = np.split(ct, ends([np.size(a) for a in arrays]))
        return [np.reshape(flat[k], np.shape(arrays[k])) for k in range(len(arrays))]
    parts = np.split(ct, ends([np.shape(a)[axis] for a in arrays]), axis)
    if isinstance(arrays, np.ndarray):
        return np.stack(parts)
    return parts


def declare_cast(join):
    """Arrays joined in a type that is given are cast first."""
    if join in (np.vstack, np.hstack):

        @composition(join, wrt="tup", sequences=("tup",))
        def joined_in_one_type(tup, *, dtype=None, casting="same_kind"):
            return NotImplemented if dtype is None else join([np.asarray(a, dtype) for a in tup])
    else:

        @composition(join, wrt="arrays", sequences=("arrays",))
        def joined_in_one_type(arrays, axis=0, *, dtype=None, casting="same_kind"):
            if dtype is None:
                return NotImplemented
            return join([np.asarray(a, dtype) for a in arrays], axis)


for _join in (np.concatenate, np.stack, np.vstack, np.hstack):
    declare_cast(_join)


@linear(np.stack, wrt="arrays", sequences=("arrays",))
def stack(ct, arrays, axis=0, *, dtype=None, casting="same_kind"):
    rows = np.moveaxis(ct, axis, 0)
    if isinstance(arrays, np.ndarray):
        return rows
    return list(rows)


@linear(np.vstack, wrt="tup", sequences=("tup",))
def vstack(ct, tup, *, dtype=None, casting="same_kind"):
    lengths = [np.shape(a)[0] if np.ndim(a) > 1 else 1 for a in tup]
    parts = np.split(ct, ends(lengths), 0)
    return [np.reshape(parts[k], np.shape(tup[k])) for k in range(len(tup))]


@linear(np.hstack, wrt="tup", sequences=("tup",))
def hstack(ct, tup, *, dtype=None, casting="same_kind"):
    if np.ndim(ct) == 1:
        lengths = [np.size(a) for a in tup]
    else:
        lengths = [np.shape(a)[1] for a in tup]
    parts = np.split(ct, ends(lengths), 0 if np.ndim(ct) == 1 else 1)
    return [np.reshape(parts[k], np.shape(tup[k])) for k in range(len(tup))]


@linear(np.dstack, wrt="tup", sequences=("tup",))
def dstack(ct, tup):
    lengths = [np.shape(a)[2] if np.ndim(a) > 2 else 1 for a in tup]
    parts = np.split(ct, ends(lengths), 2)
    return [np.reshape(parts[k], np.shape(tup[k])) for k in range(len(tup))]


@linear(np.column_stack, wrt="tup", sequences=("tup",))
def column_stack(ct, tup):
    lengths = [np.shape(a)[1] if np.ndim(a) > 1 else 1 for a in tup]
    parts = np.split(ct, ends(lengths), 1)
    return [np.reshape(parts[k], np.shape(tup[k])) for k in range(len(tup))]


@composition(np.block, wrt="arrays", sequences=("arrays",))
def block(arrays):
    """Rows of blocks, or bands of rows."""
    levels = nesting(arrays)
    if levels == 1:
        return np.concatenate([np.atleast_1d(a) for a in arrays], -1)
    if levels == 2:
        rows = [np.concatenate([np.atleast_2d(a) for a in row], -1) for row in arrays]
        return np.concatenate(rows, -2)
    if levels == 3:
        bands = [
            np.concatenate([np.concatenate([np.atleast_3d(a) for a in r], -1) for r in rows], -2)
            for rows in arrays
        ]
        return np.concatenate(bands, -3)
    raise MissingRule(None, "block is supported for lists up to three deep")


def ranged(item):
    """The numbers that a slice stands for among the items; an imaginary step counts them."""
    if not isinstance(item, slice):
        return item
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return np.linspace(start, item.stop, int(abs(item.step)))
    return np.arange(start, item.stop, 1 if item.step is None else item.step)


@composition(type(np.r_).__getitem__, wrt="key", sequences=("key",))
def concatenator(self, key):
    """`np.r_[x, 1.0]` and `np.c_[x, y]`, of arrays, numbers and ranges."""
    items = [ranged(item) for item in (key if isinstance(key, tuple) else (key,))]
    if any(isinstance(item, str) for item in items):
        raise MissingRule(None, "directives among the items are not supported")
    if self is np.c_:
        return np.column_stack(items)
    return np.concatenate([np.atleast_1d(item) for item in items])


@linear(np.append, wrt=("arr", "values"))
def append(ct, arr, values, axis=None):
    if axis is None:
        head = np.reshape(ct[: np.size(arr)], np.shape(arr))
        return head, np.reshape(ct[np.size(arr) :], np.shape(values))
    parts = np.split(ct, [np.shape(arr)[axis]], axis)
    return parts[0], parts[1]


@linear(np.split, np.array_split, wrt="ary")
def split(ct, ary, indices_or_sections, axis=0):
    return np.concatenate(ct, axis)


@linear(np.vsplit, wrt="ary")
def vsplit(ct, ary, indices_or_sections):
    return np.concatenate(ct, 0)


@linear(np.hsplit, wrt="ary")
def hsplit(ct, ary, indices_or_sections):
    return np.concatenate(ct, 0 if np.ndim(ary) == 1 else 1)


@linear(np.dsplit, wrt="ary")
def dsplit(ct, ary, indices_or_sections):
    return np.concatenate(ct, 2)


@linear(getattr(np, "unstack", None), wrt="x")
def unstack(ct, x, axis=0):
    return np.stack(ct, axis)


# ---- elements more than once


@linear(np.broadcast_to, wrt="array")
def broadcast_to(ct, array, shape):
    return unbroadcast(ct, np.shape(array))


@linear(np.broadcast_arrays, wrt="args")
def broadcast_arrays(ct, *args):
    return [unbroadcast(ct[k], np.shape(args[k])) for k in range(len(args))]


@composition(np.meshgrid, wrt="xi")
def open_grid(*xi, copy=True, sparse=False, indexing="xy"):
    if not sparse:
        return NotImplemented
    n = len(xi)
    axes = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    return tuple(np.reshape(xi[k], [-1 if j == axes[k] else 1 for j in range(n)]) for k in range(n))


@linear(np.meshgrid, wrt="xi")
def meshgrid(ct, *xi, copy=True, sparse=False, indexing="xy"):
    n = len(xi)
    if indexing == "xy" and n > 1:
        axes = [1, 0, *range(2, n)]
    else:
        axes = list(range(n))
    others = [tuple(j for j in range(n) if j != axes[k]) for k in range(n)]
    return [np.reshape(np.sum(ct[k], others[k]), np.shape(xi[k])) for k in range(n)]


@linear(np.repeat, *methods("repeat"), wrt="a")
def repeat(ct, a, repeats, axis=None, *, a_bar):
    if np.ndim(a) == 0:
        return np.sum(ct)
    if is_literal(repeats):
        k = np.ndim(a) - 1 if axis is None else axis % np.ndim(a)
        sizes = list(np.shape(a))
        return np.sum(np.reshape(ct, [*sizes[: k + 1], repeats, *sizes[k + 1 :]]), k + 1)
    if axis is None:
        places = np.repeat(np.arange(np.size(a)), repeats)
        a_bar[np.unravel_index(places, np.shape(a))] += ct
    else:
        places = np.repeat(np.arange(np.shape(a)[axis]), repeats)
        a_bar[(slice(None),) * (axis % np.ndim(a)) + (places,)] += ct


@linear(np.tile, wrt="A")
def tile(ct, A, reps):
    counts = tuple(reps) if np.ndim(reps) else (reps,)
    if np.ndim(A) == 0:
        return np.sum(ct)
    rank = max(len(counts), np.ndim(A))
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - np.ndim(A)) + np.shape(A)
    blocks = np.reshape(ct, [(counts, sizes)[k % 2][k // 2] for k in range(2 * rank)])
    return np.reshape(np.sum(blocks, tuple(range(0, 2 * rank, 2))), np.shape(A))


@composition(np.pad, wrt=("array", "constant_values", "end_values"))
def pad_by_values(
    array, pad_width, mode="constant", *, constant_values=0, end_values=0, stat_length=None,
    reflect_type="even",
):  # fmt: skip
    """Axis after axis, each with what stands there already, in the type of that."""
    array = np.asarray(array)
    if isinstance(pad_width, dict):
        rank = np.ndim(array)
        pad_width = [pairs(pad_width.get(k, pad_width.get(k - rank, 0)), 0) for k in range(rank)]
        if mode in ("edge", "reflect", "symmetric", "wrap") and reflect_type == "even":
            return np.pad(array, pad_width, mode)
        if mode == "constant":
            return np.pad(array, pad_width, constant_values=constant_values)
    if mode == "empty":
        return np.pad(array, pad_width)
    if mode in ("reflect", "symmetric") and reflect_type == "odd":
        for k in range(np.ndim(array)):
            array = oddly_reflected(array, mode, k, pairs(pad_width, k))
        return array
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        places = np.pad(np.reshape(np.arange(np.size(array)), np.shape(array)), pad_width, mode)
        return np.reshape(array, -1)[places]
    if mode == "constant" and is_literal(constant_values):
        return NotImplemented
    if mode not in ("constant", "linear_ramp", "mean", "median", "maximum", "minimum"):
        raise MissingRule(None, f"pad with mode={mode!r} is not supported")
    rank = np.ndim(array)
    for k in range(rank):
        before, after = pairs(pad_width, k)
        if mode == "constant":
            first, last = pairs(constant_values, k)
        elif mode == "linear_ramp":
            first, last = pairs(end_values, k)
        else:
            first, last = 0, 0
        if stat_length is None:
            low, high = np.shape(array)[k], np.shape(array)[k]
        else:
            low, high = pairs(stat_length, k)
        left = filling(array, mode, k, before, first, low)
        right = np.flip(filling(np.flip(array, k), mode, k, after, last, high), k)
        array = np.concatenate((cut_for(array, left), array, cut_for(array, right)), k)
    return array


def pairs(value, k):
    """What is given for both ends of axis `k`, in one of NumPy's ways."""
    if nesting(value) == 0 and np.ndim(value) == 0:
        return value, value
    if len(value) == 1:
        return pairs(value[0], k)
    if nesting(value) == 1 and np.ndim(value) == 1:
        return value[0], value[1]
    return pairs(value[k], 0)


def oddly_reflected(array, mode, k, widths):
    """Continued along axis `k` by what turns about each end: `f(-i) = 2 f(0) - f(i)`."""
    n = np.shape(array)[k]
    period = max(n - 1, 1) if mode == "reflect" else n
    i = np.arange(-widths[0], n + widths[1])
    turns = i // period
    odd = turns % 2
    rest = i - turns * period
    last = n - 1
    places = np.where(odd == 1, (last if mode == "symmetric" else period) - rest, rest)
    along = [-1 if j == k else 1 for j in range(np.ndim(array))]
    kind = np.result_type(array)
    sign = np.reshape(1 - 2 * odd, along).astype(kind)
    count = np.reshape(turns - odd, along).astype(kind)
    first, end = np.take(array, [0], k), np.take(array, [last], k)
    moved = count * (end - first) + (1 - sign) * end
    return sign * np.take(array, np.minimum(places, last), k) + moved


def filling(array, mode, k, n, value, length):
    """The `n` entries along axis `k` before an array."""
    along = (slice(None),) * k
    if mode == "constant":
        edge = array[(*along, slice(0, 1))]
        return np.repeat(np.broadcast_to(value, np.shape(edge)), n, k)
    if mode == "linear_ramp":
        edge = array[(*along, slice(0, 1))]
        t = np.arange(n) / np.maximum(n, 1)
        kind = np.result_type(array)
        if np.issubdtype(kind, np.inexact):
            return value + column(t.astype(kind), k, np.ndim(array)) * (edge - value)
        return np.floor(value + column(t, k, np.ndim(array)) * (edge - value))
    part = array[(*along, slice(0, length))]
    if mode == "mean":
        found = np.mean(part, k, keepdims=True)
    elif mode == "median":
        found = np.median(part, k, keepdims=True)
    elif mode == "maximum":
        found = np.max(part, k, keepdims=True)
    else:
        found = np.min(part, k, keepdims=True)
    return np.repeat(found, n, k)


def column(x, k, rank):
    """A vector along axis `k` of so many."""
    return np.reshape(x, [-1 if j == k else 1 for j in range(rank)])


@differential(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0, darray):
    """With a number: the other modes are made of other functions."""
    return np.pad(darray, pad_width)


@linear(np.pad, wrt="array")
def pad_transpose(ct, array, pad_width, mode="constant", *, constant_values=0):
    return ct[tuple([between(pairs(pad_width, k), np.shape(array)[k]) for k in range(np.ndim(ct))])]


def between(widths, size):
    """What is between two margins."""
    if is_literal(widths[0]) and is_literal(widths[1]):
        return slice(widths[0], -widths[1] if widths[1] else None)
    return slice(widths[0], widths[0] + size)


def cut_for(x, values):
    """What is written into an array of integers or booleans becomes one of them."""
    kind = np.result_type(x)
    return values if np.issubdtype(kind, np.inexact) else values.astype(kind)


@composition(np.insert, wrt=("arr", "values"))
def insert(arr, obj, values, axis=None):
    """By the places of old and new elements behind each other, in the type of the old ones."""
    k, arr = axis, np.asarray(arr)
    if axis is None:
        arr, k = np.reshape(arr, -1), 0
    n = np.shape(arr)[k]
    if np.ndim(arr) == 1:
        count = np.size(values) if np.ndim(obj) == 0 else np.size(obj)
        new = np.broadcast_to(np.reshape(values, -1), (count,))
    elif np.ndim(obj) == 0 and np.ndim(values) < np.ndim(arr):
        count = 1
        slice_ = np.expand_dims(values, k) if np.ndim(values) == np.ndim(arr) - 1 else values
        new = np.broadcast_to(slice_, np.shape(np.take(arr, [0], k)))
    elif np.ndim(obj) > 0:
        count = np.size(obj)
        new = np.broadcast_to(values, np.shape(np.take(arr, np.zeros(count, int), k)))
    else:
        raise MissingRule(None, "insert of several slices at one place is not supported")
    order = np.insert(np.arange(n), obj, n + np.arange(count))
    return np.take(np.concatenate((arr, cut_for(arr, new)), k), order, k)


@composition(np.rollaxis, wrt="a")
def rollaxis(a, axis, start=0):
    source = axis % np.ndim(a)
    target = start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


@composition(np.resize, wrt="a")
def resize(a, new_shape):
    places = np.arange(math.prod(new_shape) if np.ndim(new_shape) else new_shape) % np.size(a)
    return np.reshape(np.reshape(a, -1)[places], new_shape)


@linear(np.asarray_chkfinite, np.require, wrt="a")
def checked(ct, a, dtype=None, requirements=None):
    return ct


@linear(np.delete, wrt="arr")
def delete(ct, arr, obj, axis=None, *, arr_bar):
    if axis is None:
        kept = np.delete(np.arange(np.size(arr)), obj)
        arr_bar[np.unravel_index(kept, np.shape(arr))] += ct
    else:
        kept = np.delete(np.arange(np.shape(arr)[axis]), obj)
        arr_bar[(slice(None),) * (axis % np.ndim(arr)) + (kept,)] += ct


# ---- copies and casts


@composition(np.ndarray.view, wrt="self")
def view(self):
    """Of the same type."""
    return self[...]


@linear(np.copy, *methods("copy"), wrt="a")
def copy(ct, a, order="K"):
    return ct


@linear(np.ascontiguousarray, np.asfortranarray, wrt="a")
def contiguous(ct, a):
    """Of a number an array with one entry."""
    return np.reshape(ct, np.shape(a))


@composition(np.array, wrt="a", sequences=("a",))
def array_of_rank(a, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    if ndmin == 0:
        return NotImplemented
    x = np.array(a, dtype) if copy else np.asarray(a, dtype)
    return np.reshape(x, (1,) * max(ndmin - np.ndim(x), 0) + np.shape(x))


@differential(np.array, np.asarray, np.asanyarray, sequences=("a",))
def array(a, dtype=None, order="K", *, copy=True, subok=False, da):
    """A cast to integers or booleans cuts the derivative."""
    if dtype is None or (isinstance(a, np.ndarray) and a.dtype == dtype):
        return da if isinstance(a, np.ndarray) else np.array(da)
    if not np.issubdtype(dtype, np.inexact):
        return 0 * np.array(da)
    return np.array(da, dtype)


@linear(np.array, np.asarray, np.asanyarray, wrt="a", sequences=("a",))
def array_transpose(ct, a, dtype=None, order="K", *, copy=True, subok=False):
    """Of a number, an array, or lists and tuples of them, nested up to three deep."""
    levels = nesting(a)
    if levels == 0:
        return ct
    if of_numbers(a):
        return np.ndarray.tolist(ct)
    if levels == 1:
        return list(ct)
    if levels == 2:
        return [rows_of(ct[i], part) for i, part in enumerate(a)]
    return [
        [rows_of(ct[i][j], row) for j, row in enumerate(part)] if is_sequence(part) else ct[i]
        for i, part in enumerate(a)
    ]


def rows_of(ct, a):
    """A cotangent as a list where it is that of one."""
    return list(ct) if is_sequence(a) else ct


@differential(*methods("astype"), getattr(np, "astype", None))
def astype(self, dtype, *, order="K", casting="unsafe", subok=True, copy=True, dself):
    """A cast to integers or booleans cuts the derivative."""
    if not np.issubdtype(dtype, np.inexact):
        return 0 * dself
    return dself.astype(dtype)


@linear(*methods("astype"), getattr(np, "astype", None), wrt="self")
def astype_transpose(ct, self, dtype, *, order="K", casting="unsafe", subok=True, copy=True):
    if np.iscomplexobj(ct) and not np.iscomplexobj(self):
        return np.real(ct).astype(self.dtype)
    return ct.astype(self.dtype)


@linear(*methods("tolist"), wrt="self")
def tolist(ct, self):
    return np.reshape(np.array(ct), np.shape(self))


@linear(*methods("item"), wrt="self")
def item(ct, self, *args, self_bar):
    if len(args) == 0:
        self_bar[...] += ct
    elif len(args) == 1 and not isinstance(args[0], tuple):
        self_bar[np.unravel_index(args[0] % np.size(self), np.shape(self))] += ct
    elif len(args) == 1:
        self_bar[args[0]] += ct
    else:
        self_bar[args] += ct


# ---- new arrays


@composition(np.full, wrt="fill_value")
def full_of_type(shape, fill_value, dtype=None):
    if dtype is None:
        return NotImplemented
    return np.full(shape, np.asarray(fill_value, dtype))


@linear(np.full, wrt="fill_value")
def full(ct, shape, fill_value):
    return unbroadcast(ct, np.shape(fill_value))


@linear(np.full_like, wrt=("a", "fill_value"))
def full_like(ct, a, fill_value, dtype=None, *, shape=None):
    return 0, unbroadcast(ct, np.shape(fill_value))


@differential(np.arange)
def arange(start, stop=None, step=1, dtype=None, *, dstart, dstop, dstep, out):
    """The number of elements is locally constant."""
    n = np.size(out)
    if stop is None:
        return dstep * np.arange(n)
    return np.full(n, dstart) + dstep * np.arange(n)


def parts(num, endpoint, rank, dtype):
    """The parts of the way between two ends of a rank, along the first axis."""
    t = np.linspace(0.0, 1.0, num, endpoint).astype(dtype)
    return t if rank == 0 else np.reshape(t, (-1,) + (1,) * rank)


@composition(np.linspace, wrt=("start", "stop"))
def linspace_with_step(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if not retstep and dtype is None:
        return NotImplemented
    values = np.linspace(start, stop, num, endpoint, axis=axis)
    if dtype is not None:
        values = values.astype(dtype)
    if not retstep:
        return values
    count = num - 1 if endpoint else num
    return values, (stop - start) / count if count > 0 else np.nan


@linear(np.linspace, wrt=("start", "stop"))
def linspace(ct, start, stop, num=50, endpoint=True, *, axis=0):
    rows = ct if axis == 0 else np.moveaxis(ct, axis, 0)
    t = np.linspace(0.0, 1.0, num, endpoint).astype(ct.dtype)
    if np.ndim(rows) == 1:
        return (1 - t) @ rows, t @ rows
    to_start = np.tensordot(1 - t, rows, 1)
    to_stop = np.tensordot(t, rows, 1)
    return unbroadcast(to_start, np.shape(start)), unbroadcast(to_stop, np.shape(stop))


@composition(np.logspace, wrt=("start", "stop", "base"))
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    values = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else values.astype(dtype)


@differential(np.geomspace, domain="positive")
def geomspace(start, stop, num=50, endpoint=True, *, axis=0, dstart, dstop, out):
    rows = out if axis == 0 else np.moveaxis(out, axis, 0)
    t = parts(num, endpoint, np.ndim(out) - 1, out.dtype)
    dout = rows * ((1 - t) / start * dstart + t / stop * dstop)
    return dout if axis == 0 else np.moveaxis(dout, 0, axis)
