"""Derivatives of the incomplete gamma and beta functions by their shapes, against mpmath.

The reference is a sum of positive terms at a precision that bears differences of it.
"""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

import srcad
from srcad.runtime import betainc_by_shapes, gammainc_by_shape

SHAPES = [1e-3, 0.7, 2.3, 40.0, 1e4]


def total(ratio):
    """The sum of products of the ratios, which are positive."""
    term = mpmath.mpf(1)
    value, n = term, 0
    while True:
        n += 1
        r = ratio(n)
        term *= r
        value += term
        if r < 0.999 and term < mpmath.eps * value:
            return value


def lower_gamma(a, x):
    front = mpmath.exp(a * mpmath.log(x) - x - mpmath.loggamma(a + 1))
    return front * total(lambda n: x / (a + n))


def lower_beta(a, b, x):
    logs = a * mpmath.log(x) + b * mpmath.log1p(-x)
    front = mpmath.gammaprod([a + b], [a + 1, b]) * mpmath.exp(logs)
    return front * total(lambda n: (a + b + n - 1) / (a + n) * x)


def differences(f, orders, shapes):
    """The mixed derivative by central differences, of relative error 1e-24."""
    k = next((k for k, order in enumerate(orders) if order), None)
    if k is None:
        return f(*shapes)
    h = min(shapes[k], 1) * mpmath.mpf(10) ** -12
    rest = [order - (m == k) for m, order in enumerate(orders)]
    up, down = ([s + (m == k) * d for m, s in enumerate(shapes)] for d in (h, -h))
    return (differences(f, rest, up) - differences(f, rest, down)) / (2 * h)


def assert_near(found, wanted, scale=0.0):
    """To eleven digits, of `scale` where the derivative is about to change its sign."""
    if abs(wanted) > 1e-290:
        error = abs(mpmath.mpf(float(found)) - wanted)
        assert error < 1e-11 * max(abs(wanted), scale), (float(found), float(wanted))


def gamma_points(a):
    spread = [a + z * np.sqrt(a) for z in (-8, -1, 0.3, 3)]
    far = (1e-30, 0.3, 1.49, 1.51, 25.0, 2 * a) if a < 100 else (9e3,)
    return [x for x in (*spread, *far) if x > 0]


@pytest.mark.parametrize("a", SHAPES)
def test_gammainc_by_its_shape(a):
    points = gamma_points(a)
    found = {k: gammainc_by_shape(k, a, np.array(points)) for k in (1, 2)}
    for n, x in enumerate(points):
        with mpmath.workdps(70):  # what is left of 1 at the other end has fewer digits
            values = [mpmath.mpf(a)], mpmath.mpf(x)
            for k in (1, 2):
                wanted = differences(lambda s, x=values[1]: lower_gamma(s, x), [k], values[0])
                # The second derivative changes its sign near the mean, at some of the points.
                near_mean = abs(x - a) < 2 * np.sqrt(a) + 2
                assert_near(found[k][n], wanted, 0.01 / a if k == 2 and near_mean else 0)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", [1e-3, 6.0, 1e4])
def test_betainc_by_its_shapes(a, b):
    mean = a / (a + b)
    sigma = np.sqrt(mean * (1 - mean) / (a + b + 1))
    points = [mean - 3 * sigma, mean + sigma, 1e-20, 0.5]
    points = [x for x in points if 0 < x < min(0.99, mean + 9 * sigma)]
    orders = [(1, 0), (0, 1), (1, 1), (0, 2)]
    found = {o: betainc_by_shapes(*o, a, b, np.array(points)) for o in orders}
    for n, x in enumerate(points):
        with mpmath.workdps(70):
            shapes = [mpmath.mpf(a), mpmath.mpf(b)]
            for o in orders if n == 0 else orders[:2]:
                wanted = differences(lambda a, b, x=mpmath.mpf(x): lower_beta(a, b, x), o, shapes)
                assert_near(found[o][n], wanted, 1e-3 / (a + b) if sum(o) == 2 else 0)


def test_a_beta_function_is_turned_around_to_the_last_digit():
    a, b, x = np.array([0.02, 3.0, 50.0]), np.array([0.7, 2.0, 80.0]), np.array([0.25, 0.5, 0.375])
    for i, j in ((1, 0), (0, 1), (2, 0), (1, 1)):
        turned = -betainc_by_shapes(j, i, b, a, 1 - x)
        np.testing.assert_allclose(betainc_by_shapes(i, j, a, b, x), turned, rtol=1e-13)


def test_the_ends_and_beyond():
    x = np.array([0.0, np.inf, -1.0, np.nan])
    assert np.array_equal(gammainc_by_shape(1, 2.0, x), [0, 0, np.nan, np.nan], equal_nan=True)
    x = np.array([0.0, 1.0, -1.0, 2.0])
    found = betainc_by_shapes(1, 0, 2.0, 3.0, x)
    assert np.array_equal(found, [0, 0, np.nan, np.nan], equal_nan=True)
    assert np.isnan(gammainc_by_shape(1, 0.0, 1.0))
    assert np.isnan(betainc_by_shapes(0, 1, 1.0, -2.0, 0.5))
    assert gammainc_by_shape(1, 3.0, np.zeros((0, 2))).shape == (0, 2)


def test_inverses_at_the_ends():
    assert srcad.grad(sc.gammaincinv, 0)(2.0, 0.0) == 0
    assert srcad.grad(sc.gammainccinv, 0)(2.0, 1.0) == 0
    assert srcad.grad(sc.betaincinv, (0, 1))(2.0, 3.0, 0.0) == (0, 0)
    assert srcad.grad(sc.betaincinv, (0, 1))(2.0, 3.0, 1.0) == (0, 0)


def test_far_out_nothing_is_left_and_nothing_is_warned_of():
    assert gammainc_by_shape(1, 1e3, 1e-5) == 0
    assert gammainc_by_shape(1, 3.0, 1e300) == 0
    assert betainc_by_shapes(0, 1, 1e4, 1e4, 0.999) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_that_of_the_function(dtype):
    x = np.array([0.2, 0.7], dtype)
    for found, function in (
        (gammainc_by_shape(1, dtype(2), x), sc.gammainc(dtype(2), x)),
        (betainc_by_shapes(1, 0, dtype(2), dtype(3), x), sc.betainc(dtype(2), dtype(3), x)),
    ):
        assert found.dtype == function.dtype
    assert isinstance(gammainc_by_shape(1, 2.0, 1.0), np.float64)


def test_what_comes_in_chunks_is_what_comes_alone():
    rng = np.random.default_rng(1)
    a, x = rng.uniform(0.1, 9, 9000), rng.uniform(0.1, 9, 9000)
    alone = [gammainc_by_shape(1, a[k], x[k]) for k in (0, 4095, 4096, 8999)]
    np.testing.assert_allclose(gammainc_by_shape(1, a, x)[[0, 4095, 4096, 8999]], alone, rtol=1e-14)


def student(df, t):
    w = t * t / (df + t * t)
    return mpmath.sign(t) * lower_beta(mpmath.mpf(1) / 2, df / 2, w) / 2


@pytest.mark.parametrize("df", [0.8, 3.5, 200.0])
@pytest.mark.parametrize("t", [1e-8, 1.0, -2.5])
def test_students_distribution_by_its_freedom(df, t):
    with mpmath.workdps(80):
        at = mpmath.mpf(df), mpmath.mpf(t)
        wanted = [differences(lambda s: student(s, at[1]), [k], at[:1]) for k in (1, 2)]
    by_freedom = srcad.grad(sc.stdtr, 0)
    assert by_freedom(df, t) == pytest.approx(float(wanted[0]), rel=1e-11)
    assert srcad.grad(by_freedom, 0)(df, t) == pytest.approx(float(wanted[1]), rel=1e-9)
