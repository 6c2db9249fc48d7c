"""Arguments of NumPy's functions that the samples do not have, each as a program."""

import functools
import operator

import numpy as np
import pytest

import srcad
from srcad.errors import SourceError
from tests.rules.check_rule import extrapolated

X = np.array([2.7, -1.3, 0.6, 1.9])
ALONG = np.array([0.31, 0.72, -0.44, 0.53])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
WHOLE = np.arange(4)
TABLE = np.arange(12).reshape(4, 3) ** 2 % 7


def check(f, x, along):
    """Value, tangent and cotangent, against the function itself."""
    out = np.asarray(f(x))
    change = extrapolated(lambda t: np.asarray(f(x + t * along), float))
    value, tangent = srcad.jvp(f, (x,), (along,))
    np.testing.assert_allclose(value, out, rtol=1e-14)
    assert np.asarray(value).dtype == out.dtype
    np.testing.assert_allclose(0.0 if tangent is None else tangent, change, rtol=1e-9, atol=1e-9)
    ct = np.cos(1.0 + np.arange(out.size)).reshape(out.shape)
    gradient = srcad.grad(lambda x: np.sum(f(x) * ct))(x)
    assert type(gradient) is np.ndarray
    assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
    assert np.sum(gradient * along) == pytest.approx(np.sum(ct * change), rel=1e-9, abs=1e-9)


CUT = [
    lambda x: np.insert(WHOLE, 1, x[0]),
    lambda x: np.insert(TABLE, [1, 2], x[:2, None], axis=0),
    lambda x: np.insert([1, 2, 3], 1, x[0]),
    lambda x: np.pad(WHOLE, 1, constant_values=x[0]),
    lambda x: np.pad(WHOLE, (2, 1), mode="linear_ramp", end_values=x[0]),
    lambda x: np.pad(WHOLE, 3, mode="linear_ramp", end_values=(x[1], x[2])),
    lambda x: np.pad([1, 2], (1, 2), constant_values=(x[0], x[1])),
    lambda x: np.piecewise(WHOLE, [WHOLE > 1], [x[0], x[1]]),
    lambda x: np.piecewise(WHOLE, [WHOLE > 1], [lambda t: t * x[0], 2.5]),
    lambda x: np.full(4, x, int),
    lambda x: np.full(4, x, bool),
    lambda x: np.logspace(x[0], 2.0, 3, dtype=int),
    lambda x: np.vectorize(lambda t: t * 1.7, otypes=[int])(x),
    lambda x: np.multiply(x, 2.5, dtype=np.int64, casting="unsafe"),
]


@pytest.mark.parametrize("f", CUT)
def test_what_is_written_into_integers_is_cut(f):
    check(f, X, ALONG)
    assert not np.any(srcad.grad(lambda x: np.sum(f(x) * 1.0))(X))


TAKEN = [
    lambda x: np.insert(x, 1, 5),
    lambda x: np.insert(x, [1, 3], x[:2] ** 2),
    lambda x: np.pad(x, 1, constant_values=x[0] ** 2),
    lambda x: np.piecewise(x, [x > 0, x < -1], [lambda t: t * t, 3, x[1]]),
    lambda x: np.full((2, 4), x**2, dtype=float),
    lambda x: np.logspace(x[0], 1.0, 3, base=2.0),
    lambda x: np.vectorize(lambda t: (t * 1.7, t * t), otypes=[int, float])(x)[1],
    lambda x: np.vectorize(lambda t: (t * 1.7, t * t))(x)[1],
    lambda x: np.linalg.lstsq(TABLE, x, rcond=None)[0],
    lambda x: np.array([x, [1, 2, 3, 4]]) ** 2,
    lambda x: np.array([[1.0, x[0], 3, x[1]], x, x * x]),
    lambda x: np.array([[x, [1, 2, 3, 4]], [x, [x[0], 2, x[1], 5]]]) ** 2,
    lambda x: np.array([[x, [1, 2, 3, 4]], np.outer([1, 2], x)]) ** 2,
    lambda x: np.unique_values(x) ** 2,
    lambda x: np.median(x, overwrite_input=False),
    lambda x: np.quantile(x, 0.4, overwrite_input=False, method="linear"),
    lambda x: np.cov(x, WHOLE),
    lambda x: operator.add([1.5, 0.6, 1.2, 2.0], x),
    lambda x: operator.mul(x, [1.5, 0.6, 1.2, 2.0]),
    lambda x: operator.add([[1.5], [0.6]], x),
    lambda x: operator.matmul([1.5, 0.6, 1.2, 2.0], x),
    lambda x: functools.reduce(operator.mul, [[1.5, 0.6, 1.2, 2.0], x, x]),
    lambda x: np.array(operator.add([x[0]], [x[1] ** 2])),
    lambda x: np.gradient(WHOLE, np.cumsum(np.abs(x))),
    lambda x: np.gradient(TABLE, np.cumsum(np.abs(x)), axis=0, edge_order=2),
]


@pytest.mark.parametrize("f", TAKEN)
def test_values_of_a_vector(f):
    check(f, X, ALONG)


ALONG_LISTS = [
    lambda x: np.median(x, [0, 2]),
    lambda x: np.quantile(x, [0.3, 0.6], [0, -1], keepdims=True),
    lambda x: np.nanmedian(x, axis=[0, 1]),
    lambda x: np.median(x, axis=[-1], keepdims=True),
]


@pytest.mark.parametrize("f", ALONG_LISTS)
def test_quantiles_along_a_list_of_axes(f):
    check(f, CUBE, np.cos(np.arange(24.0)).reshape(CUBE.shape))


def test_missing_values_that_are_not_equal():
    x = np.array([2.0, np.nan, 1.0, np.nan])
    assert srcad.vjp(np.unique_values, x)[0].shape == (4,)
    value, pullback = srcad.vjp(lambda x: np.unique(x, equal_nan=False), x)
    assert value.shape == (4,)
    assert sorted(pullback(np.arange(1.0, 5.0))[0]) == [1, 2, 3, 4]
    with pytest.raises(SourceError, match="use np.unique"):
        srcad.vjp(np.unique_values, x + 1j)


@pytest.mark.parametrize("ord", [np.inf, -np.inf])
def test_the_largest_modulus_wherever_it_is_in_memory(ord):
    """NumPy's modulus depends in the last digit on the strides; a pullback has a copy."""
    rng = np.random.default_rng(0)

    def f(z):
        return np.linalg.norm(z, ord)

    for _ in range(20):
        z = rng.normal(size=9) + 1j * rng.normal(size=9)
        value, pullback = srcad.vjp(f, np.repeat(z, 2)[::-2])
        k = np.argmin(np.abs(np.abs(z[::-1]) - value))
        assert np.flatnonzero(pullback(1.0)[0]).tolist() == [k]


def test_covariances_are_in_double_precision():
    x = np.sin(np.arange(12.0)).reshape(3, 4).astype(np.float32)
    value, gradient = srcad.value_and_grad(lambda x: np.sum(np.cov(x) ** 2))(x)
    assert value == pytest.approx(np.sum(np.cov(x) ** 2), rel=1e-14)
    assert gradient.dtype == np.float32
