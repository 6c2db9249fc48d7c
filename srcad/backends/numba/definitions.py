"""NumPy functions in words that Numba has, or that become loops.

    y = np.diff(x)               |  y = x[1:] - x[:-1]
    y = np.moveaxis(x, 0, -1)    |  y = np.transpose(x, (1, 2, 0))

A definition is plain Python: it repeats NumPy's parameters, and runs.  It is lowered with the types
of its arguments known, so what it asks of ranks and of known arguments is decided then.  Where it
returns ``NotImplemented`` the call stays what it is.  ``known_sizes`` are the sizes of the first
argument, None where they are not known; ``same_shape`` is whether the first two surely have one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.rules import is_literal, is_sequence, nesting, of_numbers
from srcad.rules.axes import (
    along,
    as_tensordot,
    contracted,
    labelled,
    moved,
    new_axes,
    order_of,
    places,
    reversed_along,
    swapped,
    without,
)
from srcad.rules.shaping import pairs
from srcad.runtime import evened

__all__ = ["DEFINITIONS"]

DEFINITIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By function."""


def define(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare what functions are in other words."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        DEFINITIONS.update(dict.fromkeys(functions, body))
        return body

    return register


# ---- views


@define(np.reshape)
def reshape(a, shape):
    if isinstance(shape, list):
        return np.reshape(a, tuple(shape))
    if isinstance(shape, tuple) and len(shape) == 0:
        return a[(0,) * np.ndim(a)] if np.ndim(a) > 0 else a
    return NotImplemented


@define(np.moveaxis)
def moveaxis(a, source, destination):
    return np.transpose(a, moved(source, destination, np.ndim(a)))


@define(np.swapaxes, np.ndarray.swapaxes)
def swapaxes(a, axis1, axis2):
    return np.transpose(a, swapped(axis1, axis2, np.ndim(a)))


@define(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x):
    return np.transpose(x, swapped(-1, -2, np.ndim(x)))


@define(np.flip)
def flip(m, axis=None):
    return m[reversed_along(axis, np.ndim(m))]


@define(np.fliplr)
def fliplr(m):
    return m[:, ::-1]


@define(np.flipud)
def flipud(m):
    return m[::-1]


@define(np.atleast_1d)
def atleast_1d(*arys):
    return (
        (np.array([arys[0]]) if np.ndim(arys[0]) == 0 else arys[0])
        if len(arys) == 1
        else NotImplemented
    )


@define(np.atleast_2d)
def atleast_2d(*arys):
    if len(arys) != 1 or np.ndim(arys[0]) == 0:
        return NotImplemented
    return arys[0][None] if np.ndim(arys[0]) == 1 else arys[0]


@define(type(np.r_).__getitem__)
def concatenator(self, key):
    if self is not np.r_ or not isinstance(key, tuple):
        return NotImplemented
    return np.concatenate([np.atleast_1d(item) for item in key])


@define(np.take, np.ndarray.take)
def take(a, indices, axis=None):
    if axis is None:
        return np.ravel(a)[indices]
    return a[along(axis, indices, np.ndim(a))]


@define(np.diagonal)
def diagonal(a, offset=0):
    return np.diag(a, offset) if np.ndim(a) == 2 else NotImplemented


@define(np.split)
def split(ary, indices_or_sections, axis=0):
    if not isinstance(indices_or_sections, (tuple, list)):
        return NotImplemented
    ends = (0, *indices_or_sections, np.shape(ary)[axis])
    rank = np.ndim(ary)
    return [ary[along(axis, slice(ends[k], ends[k + 1]), rank)] for k in range(len(ends) - 1)]


@define(np.squeeze, np.ndarray.squeeze)
def squeeze(a, axis=None, *, known_sizes):
    index = without(axis, known_sizes)
    return NotImplemented if index is None else a[index]


@define(np.unravel_index)
def unravel_index(indices, shape):
    found = ()
    for size in shape[:0:-1]:
        found = (indices % size, *found)
        indices = indices // size
    return (indices, *found)


# ---- joined parts


@define(np.concatenate)
def concatenate(arrays, axis=0):
    for part in arrays:
        if nesting(part) > 0:
            return np.concatenate(tuple([np.asarray(a) for a in arrays]), axis)
    return NotImplemented


@define(np.stack)
def stack(arrays, axis=0):
    return np.array(arrays) if of_numbers(arrays) else NotImplemented


@define(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0):
    if nesting(constant_values) > 0 or mode not in ("constant", "edge"):
        return NotImplemented
    rank = np.ndim(array)
    for k in range(rank):
        before, after = pairs(pad_width, k)
        first, last = along(k, slice(0, 1), rank), along(k, slice(-1, None), rank)
        if mode == "edge":
            left, right = array[first], array[last]
        else:
            left = np.full(resized(np.shape(array), k, 1), float(constant_values))
            right = left
        left = np.broadcast_to(left, resized(np.shape(array), k, before))
        right = np.broadcast_to(right, resized(np.shape(array), k, after))
        if is_literal(before) and before == 0:
            parts = (array,) if is_literal(after) and after == 0 else (array, right)
        else:
            parts = (left, array) if is_literal(after) and after == 0 else (left, array, right)
        array = np.concatenate(parts, k)
    return array


def resized(sizes, axis, size):
    """A shape, with another size along an axis."""
    return tuple([size if k == axis else sizes[k] for k in range(len(sizes))])


@define(np.gradient)
def gradient(f, step=1.0, *, axis=None, edge_order=1):
    if np.ndim(f) != 1 or np.ndim(step) != 0 or edge_order != 1:
        return NotImplemented
    slopes = np.concatenate((f[1:2] - f[:1], (f[2:] - f[:-2]) / 2.0, f[-1:] - f[-2:-1]))
    return slopes / step


@define(np.meshgrid)
def meshgrid(*xi, indexing="xy"):
    if len(xi) != 2:
        return NotImplemented
    x, y = xi
    shape = (len(x), len(y)) if indexing == "ij" else (len(y), len(x))
    if indexing == "ij":
        return [np.broadcast_to(x[:, None], shape), np.broadcast_to(y, shape)]
    return [np.broadcast_to(x, shape), np.broadcast_to(y[:, None], shape)]


@define(np.tril)
def tril(m, k=0):
    if np.ndim(m) != 2:
        return NotImplemented
    rows, columns = np.shape(m)
    return np.where(np.arange(rows)[:, None] + k >= np.arange(columns), m, 0)


@define(np.triu)
def triu(m, k=0):
    if np.ndim(m) != 2:
        return NotImplemented
    rows, columns = np.shape(m)
    return np.where(np.arange(rows)[:, None] + k <= np.arange(columns), m, 0)


# ---- order


@define(evened)
def evened_vector(x, keys, axis):
    if np.ndim(x) != 1:
        return NotImplemented
    starts = np.concatenate((np.full(1, True), keys[1:] != keys[:-1]))
    runs = np.cumsum(starts * 1) - 1
    means = np.bincount(runs, weights=x) / np.bincount(runs)
    return means[runs]


@define(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    return arr[indices] if np.ndim(arr) == 1 else NotImplemented


@define(np.argsort, np.ndarray.argsort)
def argsort(a, axis=-1, kind=None):
    if np.ndim(a) != 1 or kind == "mergesort":
        return NotImplemented
    return np.argsort(a, kind="mergesort")


# ---- differences


@define(np.diff)
def diff(a, n=1, axis=-1):
    rank = np.ndim(a)
    for _ in range(n):
        a = a[along(axis, slice(1, None), rank)] - a[along(axis, slice(None, -1), rank)]
    return a


@define(np.roll)
def roll(a, shift, axis=None):
    if axis is None and np.ndim(a) != 1:
        return NotImplemented
    along_axis = 0 if axis is None else axis
    rank = np.ndim(a)
    n = np.shape(a)[along_axis]
    k = n - shift % n
    late, early = slice(k, None), slice(None, k)
    parts = (a[along(along_axis, late, rank)], a[along(along_axis, early, rank)])
    return np.concatenate(parts, along_axis)


# ---- reductions


@define(np.var, np.ndarray.var)
def var(a, axis=None, ddof=0, keepdims=False):
    if np.iscomplexobj(a):
        return NotImplemented
    apart = a - (np.mean(a) if axis is None else np.mean(a, axis, keepdims=True))
    total = np.sum(apart * apart, axis, keepdims=keepdims)
    return total / (reduced(np.shape(a), axis) - ddof)


@define(np.std, np.ndarray.std)
def std(a, axis=None, ddof=0, keepdims=False):
    return np.sqrt(var(a, axis, ddof, keepdims))


def reduced(shape, axis):
    """How many elements of a shape go into one of its reduction."""
    count = 1
    for k in range(len(shape)) if axis is None else places(axis, len(shape)):
        count = count * shape[k]
    return count


@define(np.ptp)
def ptp(a, axis=None, keepdims=False):
    return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)


@define(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    if axis is None and ord == "fro" and not np.iscomplexobj(x):
        return np.linalg.norm(x)
    if axis is None or isinstance(axis, (tuple, list)) or ord not in (None, 1, 2, np.inf):
        return NotImplemented
    if np.iscomplexobj(x):
        return NotImplemented
    if ord == 1:
        return np.sum(np.abs(x), axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis, keepdims=keepdims)
    return np.sqrt(np.sum(x * x, axis, keepdims=keepdims))


@define(np.average)
def average(a, axis=None, weights=None):
    if weights is None:
        return np.mean(a, axis)
    if np.ndim(weights) != np.ndim(a):
        weights = np.reshape(weights, (-1,) + (1,) * (np.ndim(a) - 1 - axis % np.ndim(a)))
    shared = np.broadcast_to(weights, np.shape(a))
    return np.sum(a * shared, axis) / np.sum(shared, axis)


@define(np.count_nonzero)
def count_nonzero(a, axis=None, keepdims=False):
    return np.sum(a != 0, axis, keepdims=keepdims)


# ---- products


@define(np.inner)
def inner(a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return a @ b if np.ndim(b) == 1 else a @ np.transpose(b)


@define(runtime.inner)
def inner_of_differential(w, v):
    return np.sum(runtime.times(w, v))


@define(np.vdot)
def vdot(a, b, *, same_shape):
    """Numba has that of vectors."""
    if np.ndim(a) < 2 and np.ndim(b) < 2:
        return NotImplemented
    if not same_shape:
        return np.vdot(np.ravel(a), np.ravel(b))
    return np.sum((np.conj(a) if np.iscomplexobj(a) else a) * b)


@define(np.matmul, operator.matmul, np.linalg.matmul)
def matmul(x1, x2):
    """Of a stack and a matrix: one product.  Of integers: sums of products side by side."""
    if np.ndim(x1) < 3 and np.ndim(x2) < 3:
        return NotImplemented
    if np.ndim(x1) == 1:
        return np.sum(x1[:, None] * x2, -2)
    if np.ndim(x2) == 1:
        return np.sum(x1 * x2, -1)
    if np.ndim(x2) == 2:
        n = np.ndim(x1) - 1
        rows = as_matrix(x1, tuple(range(n)), (n,))
        return np.reshape(rows @ x2, np.shape(x1)[:-1] + np.shape(x2)[1:])
    return np.sum(x1[..., :, :, None] * x2[..., None, :, :], -2)


def as_matrix(x, rows, columns):
    """The array with some of its axes as the rows of a matrix, and the others as its columns."""
    in_order = tuple(range(np.ndim(x)))
    turned = columns + rows == in_order and rows + columns != in_order
    first, second = (columns, rows) if turned else (rows, columns)
    ordered = x if first + second == in_order else np.transpose(x, first + second)
    shape = np.shape(x)
    sizes = product_of([shape[k] for k in first]), product_of([shape[k] for k in second])
    matrix = np.reshape(ordered, (sizes[0], sizes[1]))
    return matrix.T if turned else matrix


@define(np.tensordot)
def tensordot(a, b, axes=2):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    rows, middle_a, middle_b, columns = contracted(axes, np.ndim(a), np.ndim(b))
    shape_a, shape_b = np.shape(a), np.shape(b)
    kept = [shape_a[k] for k in rows] + [shape_b[k] for k in columns]
    product = as_matrix(a, rows, middle_a) @ as_matrix(b, middle_b, columns)
    return product[0, 0] if len(kept) == 0 else np.reshape(product, tuple(kept))


def product_of(sizes):
    """The product of sizes."""
    if len(sizes) == 0:
        return 1
    count = sizes[0]
    for k in range(1, len(sizes)):
        count = count * sizes[k]
    return count


@define(np.linalg.cross)
def cross(x1, x2, *, axis=-1):
    if axis % np.ndim(x1) != np.ndim(x1) - 1 or axis % np.ndim(x2) != np.ndim(x2) - 1:
        return NotImplemented
    a, b, c = [x1[along(-1, k, np.ndim(x1))] for k in range(3)]
    u, v, w = [x2[along(-1, k, np.ndim(x2))] for k in range(3)]
    parts = [b * w - c * v, c * u - a * w, a * v - b * u]
    return np.array(parts) if np.ndim(x1) == np.ndim(x2) == 1 else np.stack(parts, -1)


@define(np.einsum)
def einsum(subscripts, *operands, optimize=False):
    terms, result, summed = labelled(subscripts, tuple(np.ndim(x) for x in operands))
    found = as_tensordot(terms, result, summed)
    if found is not None:
        product = np.tensordot(operands[0], operands[1], found[0])
        return product if found[1] is None else np.transpose(product, found[1])
    product = None
    for k in range(len(operands)):
        part = np.transpose(operands[k], order_of(terms[k], result + summed))
        part = part[new_axes(terms[k], result + summed)]
        product = part if product is None else product * part
    if len(summed) == 0:
        return product
    return np.sum(product, tuple(range(len(result), len(result) + len(summed))))


# ---- functions of elements


def define_outer(ufunc: np.ufunc) -> None:
    """Declare a function of each element of one array with each of another."""

    @define(ufunc.outer)
    def outer(A, B):
        return ufunc(A[(..., *(None,) * np.ndim(B))], B) if np.ndim(A) > 0 else ufunc(A, B)


for _ufunc in (np.add, np.subtract, np.multiply):
    define_outer(_ufunc)


@define(np.sinc)
def sinc(x):
    y = np.pi * np.where(x == 0, 1e-20, x)
    return np.sin(y) / y


@define(np.ndarray.conj, np.ndarray.conjugate)
def conj(self):
    return np.conjugate(self)


@define(np.float_power)
def float_power(x1, x2):
    return np.power(x1, x2)


# ---- making arrays


@define(np.ndarray.astype)
def astype(self, dtype):
    if np.iscomplexobj(self):
        return NotImplemented
    if dtype is float or np.dtype(dtype) == np.float64:
        return self * 1.0
    if dtype is bool or dtype is np.bool_:
        return self != 0
    if dtype is complex:
        return self.astype(np.complex128)
    return self.astype(np.int64) if dtype is int else NotImplemented


@define(np.arange)
def arange(start, stop=None, step=1, *, dtype=None):
    if dtype is None:
        return NotImplemented
    if stop is None:
        start, stop = 0, start
    counted = np.arange(start, stop, step)
    return counted * 1.0 if np.dtype(dtype) == np.float64 else NotImplemented


@define(np.eye)
def eye(N, M=None, k=0, dtype=None):
    if k != 0 or dtype is None:
        return NotImplemented
    columns = N if M is None else M
    if dtype is bool or dtype is np.bool_:
        return np.arange(N)[:, None] == np.arange(columns)
    return np.eye(N, columns) if np.dtype(dtype) == np.float64 else NotImplemented


@define(np.diagflat)
def diagflat(v):
    return np.diag(np.ravel(v))


@define(np.vander)
def vander(x, N=None, increasing=False):
    if N is None or not is_literal(N):
        return NotImplemented
    columns = [x * 0.0 + 1.0]
    for _ in range(N - 1):
        columns.append(columns[-1] * x)
    return np.stack(columns if increasing else columns[::-1], -1)


@define(np.hanning)
def hanning(M):
    return 0.5 + 0.5 * np.cos(np.pi * np.arange(1 - M, M, 2) / max(M - 1, 1))


@define(np.hamming)
def hamming(M):
    return 0.54 + 0.46 * np.cos(np.pi * np.arange(1 - M, M, 2) / max(M - 1, 1))


@define(np.blackman)
def blackman(M):
    place = np.pi * np.arange(1 - M, M, 2) / max(M - 1, 1)
    return 0.42 + 0.5 * np.cos(place) + 0.08 * np.cos(2.0 * place)


@define(np.tile)
def tile(A, reps):
    if np.ndim(A) != 1 or is_sequence(reps):
        return NotImplemented
    return np.reshape(np.broadcast_to(A, (reps, np.shape(A)[0])) * 1.0, (-1,))


@define(np.polyval)
def polyval(p, x):
    if np.ndim(p) != 1:
        return NotImplemented
    value = 0.0 * x
    for k in range(len(p)):
        value = value * x + p[k]
    return value


@define(np.logaddexp.reduce)
def logaddexp_reduce(array, axis=0, keepdims=False):
    if np.ndim(array) != 1:
        return NotImplemented
    top = np.max(array)
    top = top if np.isfinite(top) else 0.0
    return np.log(np.sum(np.exp(array - top))) + top
