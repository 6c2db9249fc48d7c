"""Cofactors: the derivative of a determinant, also of a singular matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

_WELL_CONDITIONED = 1e6


def cofactors(a: Any) -> Any:
    """The matrix of cofactors, `det(a) * inv(a).T` where there is an inverse.

    Without one, from the singular value decomposition `u s v`: `det(u v) * u c v` with the products
    `c` of the other singular values (Stewart, Linear Algebra Appl. 283, 1998).
    """
    if is_regular(a):
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.prod(np.where(np.eye(n, dtype=bool), 1, s[..., None, :]), -1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * (np.conj(u) * others[..., None, :]) @ np.conj(vh)


def is_regular(a: Any) -> bool:
    """Whether the inverse of every matrix can be relied on."""
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return False
    size = np.linalg.norm(a, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
    return bool(np.all(size < _WELL_CONDITIONED))


def minors(a: Any) -> Any:
    """The submatrices without row `i` and column `j`, as `minors(a)[..., i, j, :, :]`."""
    n = np.shape(a)[-1]
    k = np.arange(n - 1)
    kept = k + (k >= np.arange(n)[:, None])
    return a[..., kept[:, None, :, None], kept[None, :, None, :]]
