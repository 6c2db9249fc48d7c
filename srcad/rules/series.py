"""Rules of the six kinds of series in `numpy.polynomial`: lowest coefficient first.

What is missing here is read from NumPy's source: it calls what is declared.
"""

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

from srcad.errors import MissingRule
from srcad.rules.intrinsics import fitted, over, unbroadcast
from srcad.rules.registry import (
    composition,
    constant,
    differential,
    is_literal,
    is_sequence,
    linear,
    sourced,
)
from srcad.runtime import change_of_basis, table_of_products


def without_end(c):
    """The coefficients without the zeros at the end, of which all but one are left out."""
    return c[: np.max(np.append(np.flatnonzero(c), 0)) + 1]


@composition(polyutils.trimseq, wrt="seq")
def trimseq(seq):
    return without_end(seq)


@composition(polyutils.as_series, wrt="alist", sequences=("alist",))
def as_series(alist, trim=True):
    """Copies of one type, so that what reads this may write into them."""
    arrays = [np.atleast_1d(np.asarray(a)) for a in alist]
    kind = np.result_type(*arrays, 0.0)
    return [np.array(without_end(a) if trim else a, dtype=kind) for a in arrays]


@composition(polyutils.trimcoef, wrt="c")
def trimcoef(c, tol=0):
    x = polyutils.as_series([c])[0]
    return x[: np.max(np.append(np.flatnonzero(np.abs(x) > tol), 0)) + 1]


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


def mirrored(c):
    """A Chebyshev series as a Laurent series in exp(1j * t)."""
    return np.concatenate((c[:0:-1] / 2, c[:1], c[1:] / 2))


@composition(chebyshev.chebmul, wrt=("c1", "c2"))
def chebmul(c1, c2):
    a, b = polyutils.as_series([c1, c2])
    z = np.convolve(mirrored(a), mirrored(b))[len(a) + len(b) - 2 :]
    return np.concatenate((z[:1], 2 * z[1:]))


constant(table_of_products, change_of_basis)


def declare_arithmetic(home, named):
    """The sum, the difference, the product and the quotient of two series of one kind."""
    product, line = named("*mul"), named("*line")

    @composition(named("*add"), wrt=("c1", "c2"))
    def sum_of_series(c1, c2):
        a, b = polyutils.as_series([c1, c2])
        n = max(len(a), len(b))
        return without_end(fitted(a, n, 0) + fitted(b, n, 0))

    @composition(named("*sub"), wrt=("c1", "c2"))
    def difference_of_series(c1, c2):
        a, b = polyutils.as_series([c1, c2])
        n = max(len(a), len(b))
        return without_end(fitted(a, n, 0) - fitted(b, n, 0))

    if home not in (polynomial, chebyshev):  # theirs are convolutions

        @composition(product, wrt=("c1", "c2"))
        def product_of_series(c1, c2):
            """By the table of the products of two members of the basis."""
            a, b = polyutils.as_series([c1, c2])
            return a @ (b @ table_of_products(product, len(a), len(b)).astype(a.dtype))

    @composition(named("*fromroots"), wrt="roots")
    def series_from_roots(roots):
        c = np.ones(1, np.result_type(roots, float))
        for root in np.atleast_1d(np.sort(roots)):
            c = product(c, line(-root, 1))
        return c

    @composition(named("*div"), wrt=("c1", "c2"))
    def quotient_of_series(c1, c2):
        """The quotient and the remainder, by long division."""
        rest, b = polyutils.as_series([c1, c2])
        n = len(rest) - len(b) + 1
        if n < 1:
            return 0 * rest[:1], rest
        if len(b) == 1:
            return rest / b[0], 0 * rest[:1]
        digits = []
        for i in range(n - 1, -1, -1):
            term = product(np.eye(n)[i, : i + 1], b)
            digit = rest[-1] / term[-1]
            rest = rest[:-1] - digit * term[:-1]
            digits.append(digit)
        return np.array(digits[::-1]), without_end(rest)


def declare_calculus(named):
    """The derivative and the integral of a series of one kind, linear in its coefficients."""
    derived, integrated = named("*der"), named("*int")

    @linear(derived, wrt="c")
    def derivative_of_series(ct, c, m=1, scl=1, axis=0):
        change = derived(np.eye(np.shape(c)[axis]), m, scl).astype(ct.dtype)
        return np.moveaxis(np.tensordot(change, ct, ((0,), (axis,))), 0, axis)

    @composition(integrated, wrt=("c", "k"), sequences=("k",))
    def integral_from_constants(c, m=1, k=None, lbnd=0, scl=1, axis=0):
        """Each constant is integrated as often as is left to do."""
        if k is None or (is_literal(k) and k == 0):
            return NotImplemented
        if np.ndim(c) != 1:
            raise MissingRule(None, "constants of integration are supported for one series")
        whole = integrated(c, m, lbnd=lbnd, scl=scl)
        for j, value in enumerate(k if is_sequence(k) else [k]):
            part = integrated(np.ones(1, np.result_type(c)), m - 1 - j, lbnd=lbnd, scl=scl)
            whole = whole + value * fitted(part, len(c) + m, 0)
        return whole

    @linear(integrated, wrt="c")
    def integral_of_series(ct, c, m=1, k=(), lbnd=0, scl=1, axis=0):
        """From constants of integration that are 0."""
        whole = integrated(np.eye(np.shape(c)[axis]), m, 0, lbnd, scl).astype(ct.dtype)
        return np.moveaxis(np.tensordot(whole, ct, ((0,), (axis,))), 0, axis)


def declare_values(home, named):
    """The members of a basis, and a series of them, at points: linear in the coefficients."""
    derived, matrix = named("*der"), named("*vander")

    @differential(matrix)
    def matrix_of_series(x, deg, *, dx):
        slope = matrix(x, max(deg - 1, 0)) @ derived(np.eye(deg + 1)).astype(np.result_type(x))
        return slope * np.expand_dims(dx, -1)

    if home is polynomial:
        return
    evaluated = named("*val")

    @differential(evaluated)
    def series(x, c, tensor=True, *, dx, dc):
        return evaluated(x, dc, tensor) + evaluated(x, derived(c), tensor) * dx

    @linear(evaluated, wrt="c")
    def series_transpose(ct, x, c, tensor=True):
        n = np.shape(c)[0]
        columns = matrix(x, n - 1)
        if tensor or np.ndim(c) == 1:
            size = np.size(x)
            rows = np.reshape(ct, (-1, size)) @ np.reshape(columns, (size, n))
            return np.reshape(rows.T, np.shape(c))
        ones = (1,) * (np.ndim(ct) - np.ndim(x))
        terms = np.reshape(np.moveaxis(columns, -1, 0), (n, *ones, *np.shape(x))) * ct
        ones = (1,) * (np.ndim(ct) + 1 - np.ndim(c))
        return np.reshape(unbroadcast(terms, (n, *ones, *np.shape(c)[1:])), np.shape(c))


def declare_change_of_basis(conversion):
    """The same polynomial as a series of another kind."""

    @composition(conversion, wrt="c")
    def series_in_another_basis(c):
        x = polyutils.as_series([c])[0]
        return x @ change_of_basis(conversion, len(x)).astype(x.dtype)


def declare(home, name):
    """The rules of one kind of series; ``*`` stands for its name in those of functions."""

    def named(operation):
        return getattr(home, operation.replace("*", name))

    declare_arithmetic(home, named)
    declare_calculus(named)
    declare_values(home, named)
    if home is not polynomial:
        declare_change_of_basis(named("*2poly"))
        declare_change_of_basis(named("poly2*"))


KINDS = (
    *((polynomial, "poly"), (chebyshev, "cheb"), (legendre, "leg")),
    *((hermite, "herm"), (hermite_e, "herme"), (laguerre, "lag")),
)
for _home, _name in KINDS:
    declare(_home, _name)

READ = (
    "*add *sub *mulx *mul *pow *div *line *fit *trim *companion *roots *fromroots *weight"
    " *val2d *val3d *grid2d *grid3d *vander2d *vander3d"
)
for _home, _name in KINDS:
    sourced(*[getattr(_home, f.replace("*", _name), None) for f in READ.split()])
