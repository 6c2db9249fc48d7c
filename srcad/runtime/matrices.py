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


def row_order(pivots: Any) -> Any:
    """The rows that a sequence of exchanges, row `k` with `pivots[k]`, brings to each place."""
    rows = np.arange(len(pivots))
    for k, p in enumerate(pivots):
        rows[[k, p]] = rows[[p, k]]
    return rows
