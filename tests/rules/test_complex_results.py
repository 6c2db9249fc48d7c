"""Functions of real arguments whose values decide whether the result is complex."""

import numpy as np
import pytest
from numpy.polynomial import polynomial

import srcad

linalg = pytest.importorskip("scipy.linalg")


def quadratic(x):
    return np.roots([1.0, x[0], x[1]])


X = np.array([0.7, 2.1])
A = np.array([[-1.3, 0.2], [0.1, -2.0]])


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: quadratic(x)[0].imag, X),
        (lambda x: np.max(np.abs(quadratic(x))), X),
        (lambda x: np.sum(quadratic(x).real ** 2), X),
        (lambda x: np.sum(quadratic(x).real ** 2), np.array([-3.0, 1.0])),
        (lambda x: np.real_if_close(quadratic(x))[0].imag, X),
        (lambda c: np.sum(np.abs(polynomial.polyroots(c)) ** 3), np.array([1.0, 0.7, 2.1])),
        (lambda a: linalg.sqrtm(a).imag.sum(), A),
        (lambda a: np.abs(linalg.sqrtm(a)).sum(), A),
        (lambda a: np.sum(linalg.sqrtm(a) ** 2), -A),
        (lambda a: linalg.logm(a).imag.sum(), A),
        (lambda a: np.abs(linalg.logm(a)).sum(), A),
        (lambda a: np.abs(linalg.fractional_matrix_power(a, 0.5)).sum(), A),
        (lambda x: np.sum(np.abs(np.emath.sqrt(x)) + np.emath.log(x).imag), np.array([-2.0, 3.0])),
        (lambda x: np.sum(np.abs(np.emath.power(x, 0.5)) ** 3), np.array([-2.0, 3.0])),
        (lambda x: np.sum(np.abs(np.emath.arccos(x))), np.array([-2.0, 3.0])),
        (lambda x: np.sum(np.abs(np.poly(x + 1j)) ** 2), np.array([-2.0, 3.0])),
        (lambda x: np.sum(np.abs(np.poly(x * np.array([1j, -1j]))) ** 2), np.array([3.0, 3.0])),
        (lambda a: np.sum(np.abs(np.poly(a * (1 + 1j))) ** 2), A),
    ],
)
def test_gradients_are_real_and_right(function, x):
    step = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    slopes = np.reshape([(function(x + h) - function(x - h)) / 2e-6 for h in step], x.shape)
    for transform in (srcad.grad, srcad.jacfwd):
        gradient = transform(function)(x)
        assert gradient.dtype == np.float64
        np.testing.assert_allclose(gradient, np.real(slopes), rtol=1e-7, atol=1e-8)


def vectors_of_a_real_matrix(a):
    w, v = np.linalg.eig(a)
    k = np.argmax(np.real(w))
    return np.real(w[k]) + np.abs(v[0, k]) ** 2


@pytest.mark.parametrize("a", [A, A - 3.0 * A.T @ np.array([[0.0, 1.0], [-1.0, 0.0]])])
def test_second_derivatives_through_what_may_be_complex(a):
    """The adjoints of real eigenvectors are made complex on the way, and so are their tangents."""
    step = 1e-6 * np.eye(a.size).reshape(-1, *a.shape)
    gradient = srcad.grad(vectors_of_a_real_matrix)
    slopes = np.reshape([(gradient(a + h) - gradient(a - h)) / 2e-6 for h in step], (*a.shape,) * 2)
    found = srcad.hessian(vectors_of_a_real_matrix)(a)
    np.testing.assert_allclose(found, np.moveaxis(slopes, (0, 1), (2, 3)), rtol=1e-6, atol=1e-7)
