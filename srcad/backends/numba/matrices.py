"""What compiled code has for functions of ``srcad.runtime`` of matrices.

Systems with a triangular matrix are solved by substitution, in loops along the rows in memory: half
of what LAPACK does for any matrix, and less.  What is not a matrix of real numbers is not compiled.
"""

from __future__ import annotations

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from srcad import runtime

_LARGE = 500
"""Of larger triangular matrices LAPACK finds the inverse in less time, though it does more."""
_WELL_CONDITIONED = 1e6
_BLOCK = 32


def _is_real(kind, *ranks):
    is_array = isinstance(kind, types.Array) and kind.ndim in ranks
    return is_array and kind.dtype == types.float64


@numba.njit
def _inverse_of_lower(a):
    n = len(a)
    found = np.zeros((n, n))
    for i in range(n):
        scale = 1.0 / a[i, i]
        for k in range(i):
            factor = a[i, k] * scale
            for j in range(k + 1):
                found[i, j] -= factor * found[k, j]
        found[i, i] = scale
    return found


@numba.njit
def _lower_half(a):
    half = a.copy()
    for i in range(len(a)):
        half[i, i + 1 :] = 0.0
    return half


@numba.njit
def _inverse_of_large(a):
    return np.ascontiguousarray(np.linalg.inv(_lower_half(a)))


@overload(runtime.inverse_of_lower)
def _offer_inverse(a):
    if not _is_real(a, 2):
        return None
    return lambda a: _inverse_of_lower(a) if len(a) < _LARGE else _inverse_of_large(a)


@numba.njit
def _check(a, b):
    if a.shape[0] != a.shape[1] or a.shape[0] != b.shape[0]:
        raise runtime.Unforeseen


@numba.njit
def _vector_by_lower(a, b):
    _check(a, b)
    x = b.copy()
    for i in range(len(x)):
        total = x[i]
        for j in range(i):
            total -= a[i, j] * x[j]
        x[i] = total / a[i, i]
    return x


@numba.njit
def _vector_by_upper(a, b):
    """Such a matrix is the transpose of a lower one, as a rule: its columns are rows in memory."""
    _check(a, b)
    x = b.copy()
    for i in range(len(x) - 1, -1, -1):
        last = x[i] / a[i, i]
        x[i] = last
        for j in range(i):
            x[j] -= a[j, i] * last
    return x


@numba.njit
def _matrix_by_lower(a, b):
    _check(a, b)
    x = np.ascontiguousarray(b).copy()
    for i in range(len(x)):
        row = x[i]
        for j in range(i):
            factor, other = a[i, j], x[j]
            for k in range(len(row)):
                row[k] -= factor * other[k]
        for k in range(len(row)):
            row[k] /= a[i, i]
    return x


@numba.njit
def _matrix_by_upper(a, b):
    _check(a, b)
    x = np.ascontiguousarray(b).copy()
    for i in range(len(x) - 1, -1, -1):
        row = x[i]
        for k in range(len(row)):
            row[k] /= a[i, i]
        for j in range(i):
            factor, other = a[j, i], x[j]
            for k in range(len(row)):
                other[k] -= factor * row[k]
    return x


def _offer_solver(function, of_vector, of_matrix):
    """Tell Numba how to solve with one vector on the right, and with several."""

    @overload(function)
    def found(a, b):
        if not _is_real(a, 2) or not _is_real(b, 1, 2):
            return None
        return (lambda a, b: of_vector(a, b)) if b.ndim == 1 else (lambda a, b: of_matrix(a, b))


_offer_solver(runtime.solve_lower, _vector_by_lower, _matrix_by_lower)
_offer_solver(runtime.solve_upper, _vector_by_upper, _matrix_by_upper)


@numba.njit
def _factor_reversed(factor, found, start, stop):
    """The adjoint of a block on the diagonal of a factor, column by column, in its place."""
    for k in range(stop - 1, start - 1, -1):
        root = factor[k, k]
        total = found[k, k]
        for i in range(k + 1, stop):
            found[i, k] /= root
            total -= factor[i, k] * found[i, k]
        last = total / root
        for i in range(k + 1, stop):
            side = found[i, k]
            for j in range(start, k):
                found[k, j] -= side * factor[i, j]
                found[i, j] -= side * factor[k, j]
        for j in range(start, k):
            found[k, j] -= last * factor[k, j]
        found[k, k] = 0.5 * last


@numba.njit
def _part(a, rows, columns):
    """A copy of what is in a range of rows and one of columns, in the order of memory."""
    (top, bottom), (left, right) = rows, columns
    found = np.empty((bottom - top, right - left))
    for i in range(bottom - top):
        for j in range(right - left):
            found[i, j] = a[top + i, left + j]
    return found


@numba.njit
def _subtract(a, top, left, part):
    """The part is subtracted from what stands at a place of a matrix."""
    rows, columns = part.shape
    for i in range(rows):
        for j in range(columns):
            a[top + i, left + j] -= part[i, j]


@numba.njit
def _product(a, b):
    return a @ b


@numba.njit
def _cholesky_adjoint(factor, factor_bar):
    """By blocks: what is beside one on the diagonal are products of matrices."""
    n = len(factor)
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            found[i, j] = factor_bar[i, j]
    for start in range((n - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        stop = min(start + _BLOCK, n)
        before, here, after = (0, start), (start, stop), (stop, n)
        left = _part(factor, here, before)
        if stop < n:
            inverse = _inverse_of_lower(_part(factor, here, here))
            below = _product(_part(found, after, here), inverse)
            for i in range(stop, n):
                for j in range(start, stop):
                    found[i, j] = below[i - stop, j - start]
            turned = _part(below.T, (0, stop - start), (0, n - stop))
            _subtract(found, stop, 0, _product(below, left))
            _subtract(found, start, start, _product(turned, _part(factor, after, here)))
            _subtract(found, start, 0, _product(turned, _part(factor, after, before)))
        _factor_reversed(factor, found, start, stop)
        both = np.zeros((stop - start, stop - start))
        for i in range(start, stop):
            for j in range(start, i + 1):
                both[i - start, j - start] += found[i, j]
                both[j - start, i - start] += found[i, j]
            for j in range(i + 1, stop):
                found[i, j] = 0.0
        _subtract(found, start, 0, _product(both, left))
    return found


@numba.njit
def _cholesky_change(factor, da):
    n = len(factor)
    inverse = _inverse_of_lower(factor)
    whole = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            whole[i, j] = whole[j, i] = da[i, j]
    inner = _product(_product(inverse, whole), _part(inverse.T, (0, n), (0, n)))
    lower = np.zeros((n, n))
    for i in range(n):
        inner[i, i] *= 0.5
        for j in range(i + 1):
            lower[i, j] = factor[i, j]
        for j in range(i + 1, n):
            inner[i, j] = 0.0
    return _product(lower, inner)


def _offer_of_factor(function, compiled):
    """Tell Numba how a function of a factor and another matrix is computed."""

    @overload(function)
    def found(a, b):
        return (lambda a, b: compiled(a, b)) if _is_real(a, 2) and _is_real(b, 2) else None


_offer_of_factor(runtime.cholesky_adjoint, _cholesky_adjoint)
_offer_of_factor(runtime.cholesky_change, _cholesky_change)


@numba.njit
def _cofactors(a):
    inverse = np.linalg.inv(a)
    size = np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(inverse * inverse))
    if not size < _WELL_CONDITIONED:
        raise runtime.Unforeseen
    return np.linalg.det(a) * inverse.T


@overload(runtime.cofactors)
def _offer_cofactors(a):
    return (lambda a: _cofactors(a)) if _is_real(a, 2) else None
