"""Tables of the series in `numpy.polynomial`: what is fixed in their products and conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[np.float64]


def table_of_products(multiply: Callable[[Any, Any], Any], n: int, m: int) -> _Array:
    """The coefficients of the product of each of the first members of a basis with each other."""
    table = np.zeros((n, m, n + m - 1))
    for i, p in enumerate(np.eye(n)):
        for j, q in enumerate(np.eye(m)):
            product = multiply(p, q)
            table[i, j, : len(product)] = product
    return table


def change_of_basis(convert: Callable[[Any], Any], n: int) -> _Array:
    """The first members of a basis, a row for each, in the basis that `convert` converts to."""
    rows = np.zeros((n, n))
    for i, p in enumerate(np.eye(n)):
        row = convert(p)
        rows[i, : len(row)] = row
    return rows
