"""Rules of polynomials: those of `numpy`, and the six kinds of series in `numpy.polynomial`.

Sums and products of series drop leading zeros, so that their shape depends on data: they are
refused.
"""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from srcad.errors import MissingRule
from srcad.rules.intrinsics import over
from srcad.rules.registry import composition, differential, linear


@composition(np.vander, wrt="x")
def vander(x, N=None, increasing=False):
    n = len(x) if N is None else N
    powers = np.arange(n) if increasing else np.arange(n - 1, -1, -1)
    return x[:, None] ** powers.astype(np.result_type(x))


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


@differential(np.poly)
def poly(seq_of_zeros, *, dseq_of_zeros):
    """Each coefficient is linear in each root; of the others there is a polynomial, too."""
    n = np.size(seq_of_zeros)
    if np.ndim(seq_of_zeros) != 1:
        raise MissingRule(None, "poly is supported for a sequence of roots")
    kind = np.result_type(seq_of_zeros)
    others = np.array([np.poly(np.delete(seq_of_zeros, k)) for k in range(n)]).astype(kind)
    change = -(dseq_of_zeros @ np.reshape(others, (n, n)))
    return np.concatenate((np.zeros(1, kind), change))


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
    found = np.linalg.pinv(columns / scale) @ values
    return (found.T / scale).T


# ---- series


@composition(polynomial.polyval, wrt=("x", "c"))
def polyval(x, c, tensor=True):
    if tensor and np.ndim(c) > 1:
        c = np.reshape(c, np.shape(c) + (1,) * np.ndim(x))
    return np.polyval(c[::-1], x)


@composition(polynomial.polyval2d, wrt=("x", "y", "c"))
def polyval2d(x, y, c):
    return polynomial.polyval(y, polynomial.polyval(x, c), False)


@composition(polynomial.polyval3d, wrt=("x", "y", "z", "c"))
def polyval3d(x, y, z, c):
    return polynomial.polyval(z, polynomial.polyval(y, polynomial.polyval(x, c), False), False)


@composition(polynomial.polygrid2d, wrt=("x", "y", "c"))
def polygrid2d(x, y, c):
    return polynomial.polyval(y, polynomial.polyval(x, c))


@composition(polynomial.polygrid3d, wrt=("x", "y", "z", "c"))
def polygrid3d(x, y, z, c):
    return polynomial.polyval(z, polynomial.polyval(y, polynomial.polyval(x, c)))


@composition(polynomial.polyvalfromroots, wrt=("x", "r"))
def polyvalfromroots(x, r, tensor=True):
    if np.ndim(r) != 1:
        raise MissingRule(None, "polyvalfromroots is supported for one sequence of roots")
    return np.prod(np.expand_dims(x, -1) - r, -1)


@differential(polynomial.polyroots)
def polyroots(c, *, dc, out):
    """Of different roots."""
    degrees = np.arange(len(c) - 1, 0, -1, dtype=np.result_type(c))
    slope = np.polyval(c[:0:-1] * degrees, out)
    return -over(np.polyval(dc[::-1], out), slope)


def declare(evaluated, derived, integrated, matrix):
    """The rules of one kind of series: it is linear in its coefficients."""

    @linear(derived, wrt="c")
    def derivative_of_series(ct, c, m=1, scl=1, axis=0):
        change = derived(np.eye(np.shape(c)[axis]), m, scl).astype(ct.dtype)
        return np.moveaxis(np.tensordot(change, ct, ((0,), (axis,))), 0, axis)

    @linear(integrated, wrt="c")
    def integral_of_series(ct, c, m=1, k=(), lbnd=0, scl=1, axis=0):
        """From constants of integration that are 0."""
        if k not in ((), 0):
            raise MissingRule(None, "integrals of series are supported without constants")
        whole = integrated(np.eye(np.shape(c)[axis]), m, 0, lbnd, scl).astype(ct.dtype)
        return np.moveaxis(np.tensordot(whole, ct, ((0,), (axis,))), 0, axis)

    @differential(matrix)
    def matrix_of_series(x, deg, *, dx):
        slope = matrix(x, max(deg - 1, 0)) @ derived(np.eye(deg + 1)).astype(np.result_type(x))
        return slope * np.expand_dims(dx, -1)

    if evaluated is None:
        return

    @differential(evaluated)
    def series(x, c, tensor=True, *, dx, dc):
        """Of one series."""
        if np.ndim(c) != 1:
            raise MissingRule(None, "the derivative of several series at once is not supported")
        return evaluated(x, dc) + evaluated(x, derived(c)) * dx

    @linear(evaluated, wrt="c")
    def series_transpose(ct, x, c, tensor=True):
        columns = np.reshape(matrix(x, np.shape(c)[0] - 1), (-1, np.shape(c)[0]))
        return np.reshape(ct, -1) @ columns


declare(None, polynomial.polyder, polynomial.polyint, polynomial.polyvander)
declare(chebyshev.chebval, chebyshev.chebder, chebyshev.chebint, chebyshev.chebvander)
declare(legendre.legval, legendre.legder, legendre.legint, legendre.legvander)
declare(hermite.hermval, hermite.hermder, hermite.hermint, hermite.hermvander)
declare(hermite_e.hermeval, hermite_e.hermeder, hermite_e.hermeint, hermite_e.hermevander)
declare(laguerre.lagval, laguerre.lagder, laguerre.lagint, laguerre.lagvander)
