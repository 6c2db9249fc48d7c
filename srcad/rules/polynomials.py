"""Rules of the functions for polynomials in `numpy`: highest coefficient first."""

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import over
from srcad.rules.registry import composition, differential, sourced


@differential(np.vander)
def vander(x, N=None, increasing=False, *, dx):
    n = len(x) if N is None else N
    powers = (np.arange(n) if increasing else np.arange(n - 1, -1, -1)).astype(np.result_type(x))
    return powers * x[:, None] ** np.maximum(powers - 1, 0) * dx[:, None]


@differential(np.roots)
def roots(p, *, dp, out):
    """Of different roots."""
    n = len(p)
    slope = np.polyval(p[:-1] * np.arange(n - 1, 0, -1, dtype=np.result_type(p)), out)
    return -over(np.polyval(dp, out), slope)


def leading(p):
    """The coefficients without the zeros in front, of which all but one are left out."""
    x = np.atleast_1d(p)
    return x[np.argmax(np.append(x[:-1] != 0, True)) :]


@composition(np.polymul, wrt=("a1", "a2"))
def polymul(a1, a2):
    return np.convolve(leading(a1), leading(a2))


@composition(np.poly, wrt="seq_of_zeros")
def characteristic_polynomial(seq_of_zeros):
    """Of a matrix, by its eigenvalues."""
    if np.ndim(seq_of_zeros) == 0:
        return np.poly(np.reshape(seq_of_zeros, 1))
    if np.ndim(seq_of_zeros) != 2:
        return NotImplemented
    c = np.poly(np.linalg.eigvals(seq_of_zeros))
    return c if np.iscomplexobj(seq_of_zeros) else np.real(c)


@differential(np.poly)
def poly(seq_of_zeros, *, dseq_of_zeros, out):
    """Each coefficient is linear in each root; of the others there is a polynomial, too.

    Of pairs of conjugate roots the result is real, and so is its change.
    """
    n = np.size(seq_of_zeros)
    kind = np.result_type(seq_of_zeros)
    others = np.array([np.poly(np.delete(seq_of_zeros, k)) for k in range(n)]).astype(kind)
    change = -(dseq_of_zeros @ np.reshape(others, (n, n)))
    whole = np.concatenate((np.zeros(1, kind), change))
    return whole if np.iscomplexobj(out) else np.real(whole)


@composition(np.polyfit, wrt=("x", "y", "w"))
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if full or cov:
        raise MissingRule(None, "polyfit is supported for the coefficients alone")
    columns = np.vander(x, deg + 1)
    values = y
    if w is not None:
        columns = columns * w[:, None]
        values = y * w if np.ndim(y) == 1 else y * w[:, None]
    scale = np.sqrt(np.sum(columns * columns, 0))
    found = np.linalg.pinv(columns / scale, rcond) @ values
    return (found.T / scale).T


sourced(np.polyadd, np.polysub, np.polyder, np.polyint, np.polydiv)
