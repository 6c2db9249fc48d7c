"""Functions of matrices, such as the exponential."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def frechet(f: Any, a: Any, e: Any, *more: Any) -> Any:
    """The derivative of the matrix function `f` at `a` in the direction `e`.

    A block of `f([[a, e], [0, a]])` (Higham, Functions of Matrices, theorem 3.6). SciPy has the
    exponential of that without the zeros, which takes a third of the time of large matrices.
    Of a real matrix the parts of a complex direction go apart: by rounding its negative eigenvalues
    would lie on both sides of a branch cut.
    """
    n = a.shape[-1]
    if np.iscomplexobj(e) and not np.iscomplexobj(a):
        return frechet(f, a, np.real(e), *more) + 1j * frechet(f, a, np.imag(e), *more)
    if a.ndim == 2 and n >= _SMALL:
        scipy = sys.modules.get("scipy.linalg")
        if scipy is not None and f is scipy.expm:
            return _as_precise(scipy.expm_frechet(a, e, None, False, False), a, e)
    upper = np.concatenate((a, e), -1)
    lower = np.concatenate((np.zeros_like(a), a), -1)
    return _as_precise(f(np.concatenate((upper, lower), -2), *more)[..., :n, n:], a, e)


def _as_precise(x: Any, *others: Any) -> Any:
    """In single precision if the others are, whatever it was computed in."""
    if np.result_type(*others).char not in "fF":
        return x
    return x.astype(np.complex64 if np.iscomplexobj(x) else np.float32, copy=False)


def row_order(pivots: Any, n: int) -> Any:
    """Which of `n` rows exchanges, of row `k` with `pivots[..., k]`, bring to each place."""
    orders = np.empty((*pivots.shape[:-1], n), int)
    for place in np.ndindex(pivots.shape[:-1]):
        rows = np.arange(n)
        for k, p in enumerate(pivots[place]):
            rows[[k, p]] = rows[[p, k]]
        orders[place] = rows
    return orders


_SMALL = 48
"""Up to this size what is made for large matrices takes longer than what is made for all."""
_FEW_BLOCKS = 2 * _SMALL
"""The same, where the parts are made by several calls each."""


def inverse_of_lower(a: Any) -> Any:
    """The inverse of a lower triangular matrix, by halves: what is above the diagonal is not read.

    Half of it is products of matrices, which take a fraction of the time of `np.linalg.inv`.
    """
    n = a.shape[-1]
    if n <= _SMALL:
        return np.linalg.inv(np.tril(a))
    half = n // 2
    first = inverse_of_lower(a[..., :half, :half])
    last = inverse_of_lower(a[..., half:, half:])
    found = np.zeros(a.shape, first.dtype)
    found[..., :half, :half] = first
    found[..., half:, half:] = last
    found[..., half:, :half] = -last @ (a[..., half:, :half] @ first)
    return found


def _half(a: Any) -> Any:
    """The lower triangle of a matrix, with half of its diagonal."""
    found = np.tril(a)
    diagonal = np.arange(a.shape[-1])
    found[..., diagonal, diagonal] *= 0.5
    return found


def cholesky_change(factor: Any, da: Any) -> Any:
    """How the lower factor of a real matrix changes with the lower triangle of the matrix.

    (Murray, Differentiation of the Cholesky decomposition, equation 8.)
    """
    inverse, strict = inverse_of_lower(factor), np.tril(da, -1)
    inner = inverse @ (np.tril(da) + np.swapaxes(strict, -1, -2)) @ np.swapaxes(inverse, -1, -2)
    return np.tril(factor) @ _half(inner)


def cholesky_adjoint(factor: Any, factor_bar: Any) -> Any:
    """What a cotangent of the lower factor is of the lower triangle of the matrix.

    By halves, as blocks of the factor are found (Murray, section 4.1): products of small matrices,
    a sixth of the operations of the formula for all of it.
    """
    n = factor.shape[-1]
    if n <= _FEW_BLOCKS:
        inverse = inverse_of_lower(factor)
        inner = _half(np.swapaxes(np.tril(factor), -1, -2) @ factor_bar)
        whole = np.swapaxes(inverse, -1, -2) @ (inner @ inverse)
        return np.tril(np.swapaxes(whole, -1, -2), -1) + np.tril(whole)
    k = n // 2
    first, below = factor[..., :k, :k], factor[..., k:, :k]
    last = cholesky_adjoint(factor[..., k:, k:], factor_bar[..., k:, k:])
    side = factor_bar[..., k:, :k] - (last + np.swapaxes(last, -1, -2)) @ below
    side = side @ inverse_of_lower(first)
    first_bar = factor_bar[..., :k, :k] - np.swapaxes(side, -1, -2) @ below
    found = np.zeros(factor_bar.shape, side.dtype)
    found[..., :k, :k] = cholesky_adjoint(first, first_bar)
    found[..., k:, :k] = side
    found[..., k:, k:] = last
    return found


def solve_lower(a: Any, b: Any) -> Any:
    """`solve(a, b)` for a lower triangular matrix."""
    return np.linalg.solve(a, b)


def solve_upper(a: Any, b: Any) -> Any:
    """`solve(a, b)` for an upper triangular matrix."""
    return np.linalg.solve(a, b)
