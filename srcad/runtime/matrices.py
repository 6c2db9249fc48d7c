"""Functions of matrices, such as the exponential."""

from __future__ import annotations

from typing import Any

import numpy as np


def frechet(f: Any, a: Any, e: Any, *more: Any) -> Any:
    """The derivative of the matrix function `f` at `a` in the direction `e`.

    A block of `f([[a, e], [0, a]])` (Higham, Functions of Matrices, theorem 3.6).
    """
    n = a.shape[-1]
    upper = np.concatenate((a, e), -1)
    lower = np.concatenate((np.zeros_like(a), a), -1)
    return f(np.concatenate((upper, lower), -2), *more)[..., :n, n:]


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
"""Up to this size a triangular matrix is inverted like any other."""


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


def solve_lower(a: Any, b: Any) -> Any:
    """`solve(a, b)` for a lower triangular matrix."""
    return np.linalg.solve(a, b)


def solve_upper(a: Any, b: Any) -> Any:
    """`solve(a, b)` for an upper triangular matrix."""
    return np.linalg.solve(a, b)
