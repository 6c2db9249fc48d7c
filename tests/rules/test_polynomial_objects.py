"""Polynomials as objects are read like other classes: they say what functions say."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Legendre, Polynomial, chebyshev, legendre, polynomial

import srcad
from srcad.errors import SourceError

C = np.array([0.4, -1.3, 0.7])
X = 0.6

PAIRS = {
    "value": (lambda c, x: Polynomial(c)(x), lambda c, x: polynomial.polyval(x, c)),
    "power": (lambda c, x: (Polynomial(c) ** 2)(x), lambda c, x: polynomial.polyval(x, c) ** 2),
    "slope": (
        lambda c, x: Polynomial(c).deriv()(x),
        lambda c, x: polynomial.polyval(x, polynomial.polyder(c)),
    ),
    "integral": (
        lambda c, x: Polynomial(c).integ()(x),
        lambda c, x: polynomial.polyval(x, polynomial.polyint(c)),
    ),
    "domain": (
        lambda c, x: Chebyshev(c, domain=[-2.0, 2.0])(x),
        lambda c, x: chebyshev.chebval(x / 2, c),
    ),
    "grid": (
        lambda c, x: np.sum(Legendre(c)(x * np.linspace(0, 1, 4))),
        lambda c, x: np.sum(legendre.legval(x * np.linspace(0, 1, 4), c)),
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_as_its_function(pair):
    by_object, by_function = pair
    for transform in (srcad.grad, srcad.hessian):
        found = transform(by_object, argnums=(0, 1))(C, X)
        wanted = transform(by_function, argnums=(0, 1))(C, X)
        for got, expected in zip(_flat(found), _flat(wanted), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def _flat(value):
    return [leaf for part in value for leaf in _flat(part)] if isinstance(value, tuple) else [value]


def test_one_made_before_is_constant():
    p = Polynomial(C)
    assert srcad.grad(lambda x: p(x))(X) == pytest.approx(p.deriv()(X), rel=1e-14)


def test_old_ones_are_refused():
    """They keep their coefficients in ``__dict__`` under the name of a property."""
    with pytest.raises(SourceError, match="__dict__"):
        srcad.grad(lambda c, x: np.poly1d(c)(x))(C, X)
