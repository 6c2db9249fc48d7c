"""Products in which a zero differential wins.

A coefficient may be infinite or nan where the value it belongs to is not used: `sqrt` at 0, `x / y`
at y = 0, under `np.where`, a mask or an index. The cotangent is exactly zero there, and `0 * inf`
would turn it into nan. `over` and `times` are the quotient and the product with a *strong zero*:
zero if the differential is zero, whatever the coefficient.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def plus(total: Any, term: Any) -> Any:
    """`total + term` in a sum whose terms may be added in any order: compiled code does."""
    return total + term


def over(n: Any, d: Any) -> Any:
    """`n / d`, and 0 where `n` is 0, without a warning there."""
    if isinstance(d, float) and d and d == d:
        return n / d
    # Counting is cheap against masking, and most differentials have no zeros.
    if np.count_nonzero(n) == (n.size if type(n) is np.ndarray else np.size(n)):
        return n / d if type(n) is np.ndarray else np.divide(n, d)
    return _zero_where(np.divide, n, d, n)


def off_zero(n: Any) -> Any:
    """`n`, and 1 where it is 0: what is divided by it is 0 there, and has no derivative."""
    return np.where(np.equal(n, 0), 1, n)[()]


def modulus_squared(z: Any) -> Any:
    """The square of the modulus of complex numbers, which is smooth at 0 too."""
    return np.real(z) * np.real(z) + np.imag(z) * np.imag(z)


def times(w: Any, v: Any) -> Any:
    """`w * v`, and 0 where `v` is 0, also if `w` is infinite or nan there."""
    if type(w) is type(v) is np.ndarray and w.shape == v.shape and w.flags.forc:
        found = np.vdot(w, v)  # which is faster than to count, and nan if a product is
        if found == found:
            return w * v
    elif np.count_nonzero(v) == (v.size if type(v) is np.ndarray else np.size(v)):
        return w * v if type(v) is np.ndarray else np.multiply(w, v)
    return _zero_where(np.multiply, w, v, v)


def inner(w: Any, v: Any) -> Any:
    """The sum of `times(w, v)`, of arrays of one shape."""
    found = np.vdot(w, v)
    if found == found:  # else there may be a nan from a zero of `v`
        return found
    return times(w, v).sum()


def strong(u: Any, v: Any) -> Any:
    """`u * v`, and 0 where either is 0: both stem from differentials."""
    if np.count_nonzero(u) == np.size(u):
        return times(u, v)
    both = np.logical_and(np.not_equal(u, 0), np.not_equal(v, 0))
    return np.multiply(u, v, out=_zeros(u, v), where=both)[()]


def excess(x: Any, total: Any) -> Any:
    """`x - total`, the logarithm of the share of a term in a sum of exponentials.

    An infinite term has all of the sum; where the sum is 0, so is the share.
    """
    with np.errstate(invalid="ignore"):
        found = np.subtract(x, total)
    if np.isfinite(total).all():
        return found
    return np.where(np.equal(x, total), np.where(np.equal(x, -np.inf), x, 0), found)[()]


def _zero_where(ufunc: np.ufunc, x: Any, y: Any, mask: Any) -> Any:
    """The plain result, but 0 where `mask` is: unless some of it is nan, that is the same."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = ufunc(x, y)
        some = np.add.reduce(found, None)
    if some != some:
        found = np.asarray(found)
        np.copyto(found, 0, where=np.equal(mask, 0))
        return found[()]
    return found


def _zeros(x: Any, y: Any) -> Any:
    """Zeros of the shape and the inexact dtype that an operation of `x` and `y` has."""
    return np.zeros(np.broadcast(x, y).shape, np.result_type(x, y, 1.0))
