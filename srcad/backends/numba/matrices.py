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
def _cofactors(a):
    inverse = np.linalg.inv(a)
    size = np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(inverse * inverse))
    if not size < _WELL_CONDITIONED:
        raise runtime.Unforeseen
    return np.linalg.det(a) * inverse.T


@overload(runtime.cofactors)
def _offer_cofactors(a):
    return (lambda a: _cofactors(a)) if _is_real(a, 2) else None
