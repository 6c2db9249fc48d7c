"""What rule bodies use and NumPy lacks: products in which a zero differential wins, and fitting.

A coefficient may be infinite or nan where the value it belongs to is not used: `sqrt` at 0, `x / y`
at y = 0, under `np.where`, a mask or an index. The cotangent is exactly zero there, and `0 * inf`
would turn it into nan. `over` and `times` are the quotient and the product with a *strong zero*:
zero if the differential is zero, whatever the coefficient. A rule uses them where its coefficient
has a pole in (or at the border of) the domain; elsewhere it writes `/` and `*`.

A compiler may print them as `/` and `*` where it knows the coefficient to be finite.
"""

import numpy as np

from srcad.rules.registry import differential, linear, multilinear

__all__ = ["fitted", "over", "times", "unbroadcast"]


def over(n, d):
    """`n / d`, and 0 where `n` is 0, without a warning there."""
    return n / np.where(n != 0, d, 1)


def times(w, v):
    """`w * v`, and 0 where `v` is 0, also if `w` is infinite or nan there."""
    return np.where(v != 0, w, 0) * v


def unbroadcast(x, shape):
    """The transpose of `np.broadcast_to` from `shape`: `x` summed over what it repeated."""
    if np.shape(x) == tuple(shape):
        return x
    added = np.ndim(x) - len(shape)
    stretched = [k + added for k, n in enumerate(shape) if n == 1 and np.shape(x)[k + added] != 1]
    return np.reshape(np.sum(x, axis=(*range(added), *stretched)), shape)


def fitted(x, n, axis):
    """`x` cut, or filled with zeros, to the length `n` along `axis`."""
    m = np.shape(x)[axis]
    k = axis % np.ndim(x)
    if n < m:
        return x[(slice(None),) * k + (slice(0, n),)]
    return np.pad(x, [(0, n - m) if j == k else (0, 0) for j in range(np.ndim(x))])


@differential(over, elementwise=True)
def over_differential(n, d, *, dn, dd):
    return over(dn, d) - over(over(n * dd, d), d)


@linear(over, wrt="n", elementwise=True)
def over_transpose(ct, n, d):
    return over(ct, d)


@multilinear(times, wrt=("w", "v"), elementwise=True)
def times_transpose(ct, w, v):
    return times(v, ct), times(w, ct)


@linear(unbroadcast, wrt="x")
def unbroadcast_transpose(ct, x, shape):
    added = np.ndim(x) - len(shape)
    return np.broadcast_to(np.reshape(ct, (1,) * added + tuple(shape)), np.shape(x))


@linear(fitted, wrt="x")
def fitted_transpose(ct, x, n, axis):
    return fitted(ct, np.shape(x)[axis], axis)
