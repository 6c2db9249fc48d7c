"""Derivatives against closed forms in 50 digits, and both whole Jacobians against each other."""

import math

import mpmath
import numpy as np
import pytest

import srcad

POINT = (0.7, 1.3)


def f(x, y):
    return math.sin(x * y) + math.exp(x) / (y + 2)


def f_of_numpy(x, y):
    return np.sin(x * y) + np.exp(x) / (y + 2)


FUNCTIONS = [f, f_of_numpy]


def closed_form():
    """The value and both partial derivatives at the point, of the doubles that stand there."""
    with mpmath.workdps(50):
        x, y = (mpmath.mpf(v) for v in POINT)
        cosine, grown = mpmath.cos(x * y), mpmath.exp(x)
        value = mpmath.sin(x * y) + grown / (y + 2)
        return value, (y * cosine + grown / (y + 2), x * cosine - grown / (y + 2) ** 2)


def ulps(found, exact):
    """The error of a double in units of its last place, rounding of the exact value included."""
    with mpmath.workdps(50):
        return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.mpf(math.ulp(float(exact))))


def test_ulps_counts_units_of_the_last_place():
    third = mpmath.mpf(1) / 3
    assert ulps(1 / 3, third) < 0.5
    assert 1.5 < ulps(math.nextafter(math.nextafter(1 / 3, 1), 1), third) < 2.5


@pytest.mark.parametrize("function", FUNCTIONS)
def test_reverse_agrees_with_the_closed_form_to_two_ulps(function):
    value, partials = closed_form()
    found, gradient = srcad.value_and_grad(function, argnums=(0, 1))(*POINT)
    assert ulps(found, value) <= 2
    assert len(gradient) == 2
    for part, exact in zip(gradient, partials, strict=True):
        assert ulps(part, exact) <= 2
    assert srcad.grad(function, argnums=(0, 1))(*POINT) == gradient


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("place", [0, 1])
def test_forward_agrees_with_the_closed_form_to_two_ulps(function, place):
    value, partials = closed_form()
    direction = (1.0, 0.0) if place == 0 else (0.0, 1.0)
    found, tangent = srcad.jvp(function, POINT, direction)
    assert ulps(found, value) <= 2
    assert ulps(tangent, partials[place]) <= 2


# ---- whole Jacobians


def residuals(x, t, rates):
    """m numbers of n parameters, nonlinear in all of them."""
    n = x.shape[0]
    waves = np.sin(t[:, None] * x) + np.exp(-rates[:, None] * x**2)
    mixed = waves @ np.cos(x) / n
    return mixed + np.tanh(x[0] * t) * np.sqrt(1.0 + np.sum(x**2)) + x[-1] / (1.0 + rates)


def closed_jacobian(x, t, rates):
    """The same, differentiated by hand."""
    n = x.shape[0]
    waves = np.sin(t[:, None] * x) + np.exp(-rates[:, None] * x**2)
    slopes = t[:, None] * np.cos(t[:, None] * x)
    slopes -= 2 * rates[:, None] * x * np.exp(-rates[:, None] * x**2)
    jacobian = (slopes * np.cos(x) - waves * np.sin(x)) / n
    length = np.sqrt(1.0 + np.sum(x**2))
    jacobian += np.tanh(x[0] * t)[:, None] * (x / length)
    jacobian[:, 0] += t * (1 - np.tanh(x[0] * t) ** 2) * length
    jacobian[:, -1] += 1 / (1.0 + rates)
    return jacobian


@pytest.mark.parametrize(("n", "m"), [(3, 4), (5, 5), (7, 2)])
def test_forward_and_reverse_jacobians_agree(n, m):
    rng = np.random.default_rng(1000 * n + m)
    x, t, rates = rng.normal(size=n), rng.normal(size=m), rng.uniform(0.1, 1.0, size=m)
    forward = srcad.jacfwd(residuals)(x, t, rates)
    reverse = srcad.jacrev(residuals)(x, t, rates)
    exact = closed_jacobian(x, t, rates)
    assert forward.shape == reverse.shape == (m, n)
    scale = np.max(np.abs(exact))
    assert np.max(np.abs(forward - reverse)) <= 1e-15 * scale
    assert np.max(np.abs(forward - exact)) <= 1e-15 * scale
    assert np.max(np.abs(reverse - exact)) <= 1e-15 * scale
