"""Quotients by the gaps of a spectrum: of equal eigenvalues the vectors have no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

_ROUNDING = 8
"""In units of the last place of the largest: so close are eigenvalues that are not told apart."""
_DEPENDENT = 64


def merged(w: Any) -> Any:
    """Which pairs of eigenvalues or singular values are equal up to rounding: none with itself."""
    w = np.asarray(w)
    n = w.shape[-1]
    size = np.max(np.abs(w), -1, initial=0)[..., None, None]
    near = np.abs(w[..., None, :] - w[..., :, None]) <= max(n, _ROUNDING) * _epsilon(w) * size
    return near & ~np.eye(n, dtype=bool)


def over_gap(n: Any, gaps: Any) -> Any:
    """`n / gaps`; where there is no gap nan, and 0 if `n` is 0."""
    closed = np.equal(gaps, 0)
    if not closed.any():
        return n / gaps
    return np.where(closed, np.where(np.equal(n, 0), 0, np.nan), n / np.where(closed, 1, gaps))


def over_gap_needed(n: Any, gaps: Any) -> Any:
    """`over_gap` of a cotangent: what does not exist is asked for where there would be a nan."""
    undefined = np.equal(gaps, 0) & np.not_equal(n, 0)
    if undefined.any():
        _refuse_use_of(undefined.any(-2))
    return over_gap(n, gaps)


def settled(dv: Any, merged: Any) -> Any:
    """The change of vectors, in columns, one for each of those of `merged`."""
    return dv


def require_settled(ct: Any, merged: Any) -> Any:
    """A cotangent of all vectors; refuse that the eigenvalue of one is not the only one.

    A column of zeros does not say that a vector is not used: `(v * f(w)) @ v.T` has one where
    `f` is 0, and its derivative needs that vector.
    """
    _refuse_use_of(merged.any(-2))
    return ct


def require_settled_where_used(ct: Any, merged: Any) -> Any:
    """The same of a cotangent that is 0 where an index or a branch leaves a vector out."""
    _refuse_use_of(merged.any(-2) & np.not_equal(ct, 0).any(-2))
    return ct


def _refuse_use_of(columns: Any) -> None:
    if not columns.any():
        return
    *matrix, column = (int(k) for k in np.argwhere(columns)[0])
    where = f" of matrix {matrix[0] if len(matrix) == 1 else tuple(matrix)}" if matrix else ""
    raise np.linalg.LinAlgError(
        f"vector number {column}{where} has no derivative: up to rounding, there are two equal "
        "eigenvalues or singular values (or one that is 0, of a matrix that is not square); use "
        "the values alone, or other vectors by an index, as v[:, :k], or cut the derivative with "
        "srcad.stop_gradient"
    )


def require_basis(v: Any) -> Any:
    """Eigenvectors; refuse those that depend on each other, of a matrix that has no more."""
    with np.errstate(all="ignore"):
        try:
            size = np.max(np.abs(np.linalg.inv(v)), (-2, -1), initial=0)
        except np.linalg.LinAlgError:
            size = np.inf
    if np.any(size > 1 / (_DEPENDENT * _epsilon(v))):
        raise np.linalg.LinAlgError(
            "a matrix has fewer eigenvectors than eigenvalues, up to rounding: these have no "
            "derivative; cut it: srcad.stop_gradient"
        )
    return v


def _epsilon(x: Any) -> Any:
    return np.finfo(x.dtype).eps
