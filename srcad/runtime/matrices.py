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
