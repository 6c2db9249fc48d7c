"""Products of matrices of which a triangle takes part, as loops with a bound `j <= i + k` have it.

What lies outside of the triangle is not multiplied by zero: it may be infinite, or not a number.
Compiled code has functions of its own for these, which leave out what is outside (see
`srcad.backends.numba.products`).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def lower_times(x: Any, y: Any, k: Any) -> Any:
    """The sums of `x[i, j] * y[j]` over `j <= i + k`: `np.tril(x, k) @ y`."""
    made = np.tril(x, k) @ y
    if not np.all(np.isfinite(made)):
        for i, row in enumerate(x):
            end = max(i + k + 1, 0)
            made[i] = row[:end] @ y[:end]
    return made


def upper_times(x: Any, y: Any, k: Any) -> Any:
    """The sums of `x[i, j] * y[j]` over `j >= i + k`: `np.triu(x, k) @ y`."""
    made = np.triu(x, k) @ y
    if not np.all(np.isfinite(made)):
        for i, row in enumerate(x):
            start = max(i + k, 0)
            made[i] = row[start:] @ y[start:]
    return made


def lower_of_product(x: Any, y: Any, k: Any) -> Any:
    """The elements `[i, j]` of a product with `j <= i + k`, and zeros: `np.tril(x @ y, k)`."""
    return np.tril(x @ y, k)


def upper_of_product(x: Any, y: Any, k: Any) -> Any:
    """The elements `[i, j]` of a product with `j >= i + k`, and zeros: `np.triu(x @ y, k)`."""
    return np.triu(x @ y, k)
