"""Derivatives of the zeta functions by their exponent, against mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

import srcad
from srcad.errors import SourceError
from srcad.runtime import zeta_by_exponent

RIGHT = [1.0001, 1.3, 2.0, 5.5, 30.0, 140.0, 900.0]
LEFT = [0.99, 0.5, 1e-9, 0.0, -0.3, -1.0, -2.0, -7.3, -33.0, -34.5, -120.2]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("q", [0.01, 0.5, 1.0, 3.7, 40.0, 1e4, 1e8])
def test_of_hurwitz(q, k):
    found = zeta_by_exponent(k, np.array(RIGHT), q)
    with mpmath.workdps(40):
        wanted = [float(mpmath.zeta(mpmath.mpf(x), mpmath.mpf(q), k)) for x in RIGHT]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_of_riemann(k):
    found = zeta_by_exponent(k, np.array(RIGHT + LEFT))
    with mpmath.workdps(60):
        wanted = [mpmath.zeta(mpmath.mpf(x), 1, k) for x in RIGHT]
        wanted += [mpmath.diff(mpmath.zeta, mpmath.mpf(x), k) for x in LEFT]
    np.testing.assert_allclose(found, np.array(wanted, float), rtol=1e-12)


def test_in_programs():
    assert srcad.testing.check_grads(
        lambda x: np.sum(sc.zeta(x[:2], x[2:])), (np.array([2.5, 1.3, 0.7, 4.0]),)
    )
    hessian = srcad.hessian(lambda x: sc.zeta(x[0], x[1]))(np.array([2.5, 0.7]))
    with mpmath.workdps(40):
        wanted = [
            [mpmath.diff(mpmath.zeta, (2.5, mpmath.mpf(0.7)), n) for n in row]
            for row in (((2, 0), (1, 1)), ((1, 1), (0, 2)))
        ]
    np.testing.assert_allclose(hessian, np.array(wanted, float), rtol=1e-11)


def test_where_there_is_none():
    assert np.isnan(zeta_by_exponent(1, 0.5, 2.0))
    assert np.isnan(zeta_by_exponent(1, 2.0, -0.5))
    assert srcad.grad(sc.zeta)(np.float64(1.0)) == -np.inf
    assert srcad.grad(sc.zeta)(np.inf) == 0
    with pytest.raises(SourceError, match="supported at real numbers"):
        srcad.jvp(sc.zeta, (2.0 + 1j,), (1.0 + 0j,))


def test_an_array_to_write_to():
    def f(x):
        y = np.zeros(2)
        sc.zeta(x, 2.0, y)
        return np.sum(y)

    x = np.array([1.5, 3.0])
    np.testing.assert_allclose(srcad.grad(f)(x), zeta_by_exponent(1, x, 2.0), rtol=1e-14)


def test_precision_is_that_of_the_function():
    found = zeta_by_exponent(1, np.array([2.0, 3.0], np.float32), np.float32(1))
    assert found.dtype == np.float32
    assert zeta_by_exponent(1, np.zeros((0, 2)) + 2).shape == (0, 2)
