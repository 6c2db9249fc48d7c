"""Products of matrices of which a triangle takes part, in blocks of rows that BLAS multiplies.

What lies outside of the triangle in a block is zero in a copy of the block.  Zero times infinity is
not a number: where a block of the result is not finite, it is computed again, in loops.
"""

from __future__ import annotations

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from srcad import runtime

_SMALL = 2000
"""Of fewer multiplications, BLAS is called for longer than the loops take."""
_ROWS = 80
"""BLAS takes longer for smaller blocks, and larger ones have more beside the triangle."""


@numba.njit
def _in_other_order(x):
    """A copy of a matrix, as rows in memory; in tiles, whose rows and columns the cache holds."""
    n, m = x.shape
    made = np.empty((n, m))
    for start in range(0, m, 16):
        for first in range(0, n, 16):
            for i in range(first, min(first + 16, n)):
                for j in range(start, min(start + 16, m)):
                    made[i, j] = x[i, j]
    return made


@numba.njit(fastmath={"reassoc"})
def _is_finite(rows):
    total = 0.0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total += rows[i, j]
    return np.isfinite(total)


@numba.njit
def _band_times(x, is_turned, y, low, high):
    """The sums of ``x[i, j] * y[j]`` over ``i + low <= j <= i + high``; or of the transpose of x.

    Both matrices are rows in memory.
    """
    n, inner = x.shape
    if is_turned:
        n, inner = inner, n
    if inner != y.shape[0]:
        raise runtime.Unforeseen
    made = np.empty((n, y.shape[1]))
    is_small = n * inner * y.shape[1] <= _SMALL
    count = max(n // _ROWS, 1)
    memory = np.empty(0 if is_small else (n // count + 1) * inner)
    for block in range(count):
        first, last = block * n // count, (block + 1) * n // count
        start, stop = max(first + low, 0), min(last + high, inner)
        if start < stop and not is_small:
            left = memory[: (last - first) * (stop - start)].reshape((last - first, stop - start))
            for i in range(first, last):
                from_, to = max(i + low, start), min(i + high + 1, stop)
                for j in range(start, stop):
                    left[i - first, j - start] = 0.0
                if is_turned:
                    for j in range(from_, to):
                        left[i - first, j - start] = x[j, i]
                else:
                    for j in range(from_, to):
                        left[i - first, j - start] = x[i, j]
            np.dot(left, y[start:stop], made[first:last])
            if _is_finite(made[first:last]):
                continue
        for i in range(first, last):
            for j in range(made.shape[1]):
                made[i, j] = 0.0
            for k in range(max(i + low, 0), min(i + high + 1, inner)):
                factor = x[k, i] if is_turned else x[i, k]
                for j in range(made.shape[1]):
                    made[i, j] += factor * y[k, j]
    return made


@numba.njit
def _band_of_product(x, y, low, high):
    """The elements of ``x @ y.T`` with ``i + low <= j <= i + high``, and zeros.

    Both matrices are rows in memory.
    """
    if x.shape[1] != y.shape[1]:
        raise runtime.Unforeseen
    n, m = x.shape[0], y.shape[0]
    made = np.empty((n, m))
    count = max(n // _ROWS, 1)
    memory = np.empty((n // count + 1) * m)
    for block in range(count):
        first, last = block * n // count, (block + 1) * n // count
        start, stop = max(first + low, 0), max(min(last + high, m), 0)
        size = (last - first) * max(stop - start, 0)
        part = memory[:size].reshape((last - first, max(stop - start, 0)))
        if size:
            np.dot(x[first:last], y[start:stop].T, part)
        for i in range(first, last):
            for j in range(m):
                made[i, j] = 0.0
            for j in range(max(i + low, start), min(i + high + 1, stop)):
                made[i, j] = part[i - first, j - start]
    return made


def _offer(function, is_lower, of_product):
    """Tell Numba how to compute with a triangle: of a band that goes on for ever to one side."""

    @overload(function, inline="always")
    def found(x, y, k):
        matrices = all(
            isinstance(a, types.Array) and a.ndim == 2 and a.dtype == types.float64 for a in (x, y)
        )
        return _implementation(x.layout, y.layout, is_lower, of_product) if matrices else None


def _implementation(x_layout, y_layout, is_lower, of_product):
    """What brings matrices in the order of rows; it is written into the function that calls it."""
    rows = "x" if x_layout == "C" else "_in_other_order(x)"
    if of_product:
        columns = "y.T" if y_layout == "F" else "_in_other_order(y.T)"
        call = f"_band_of_product({rows}, {columns}, %s)"
    else:
        left = "x.T, 1" if x_layout == "F" else f"{rows}, 0"
        right = "y" if y_layout == "C" else "_in_other_order(y)"
        call = f"_band_times({left}, {right}, %s)"
    band = "-x.shape[0], k" if is_lower else "k, max(x.shape[1], y.shape[1])"
    return eval(f"lambda x, y, k: {call % band}", globals())


_offer(runtime.lower_times, True, False)
_offer(runtime.upper_times, False, False)
_offer(runtime.lower_of_product, True, True)
_offer(runtime.upper_of_product, False, True)
