"""Roots of 0 behind a choice: what is chosen away has derivative 0, though that of a root is not.

Above 0 the derivative of all of them at 4 is that of the root: 1/4.
"""

import math

import numpy as np
import pytest

import srcad

BELOW = np.array([-1.0, -2.0, 4.0])
AT_ZERO = np.array([0.0, 0.0, 4.0])


def root_of_maximum(v):
    return np.sum(np.sqrt(np.maximum(v, 0.0)))


def power_of_maximum(v):
    return np.sum(np.maximum(v, 0) ** 0.5)


def power_of_fmax(v):
    return np.sum(np.power(np.fmax(v, 0), 0.5))


def root_of_clip(v):
    return np.sum(np.sqrt(np.clip(v, 0.0, 5.0)))


def root_of_masked(v):
    return np.sum(np.sqrt(v * (v > 0)))


def root_of_masked_modulus(v):
    return np.sum(np.sqrt(np.abs(v) * (v > 0)))


def root_of_step(v):
    return np.sum(np.sqrt(np.heaviside(v, 0.5) * v))


def root_of_where(v):
    return np.sum(np.sqrt(np.where(v > 0, v, 0)))


def root_in_a_loop(v):
    """Full truncation: the scheme of Lord, Koekkoek and Van Dijk for square-root processes."""
    total = 0.0
    for _ in range(2):
        root = np.sqrt(np.maximum(v, 0.0))
        total = total + np.sum(root)
        v = np.maximum(v, 0.0)
    return total / 2


def maximum_of_root(v):
    return np.sum(np.maximum(np.sqrt(v) - 1.0, 0.0))


def clip_of_root(v):
    return np.sum(np.clip(np.sqrt(v) - 1.0, 0.0, 3.0))


def largest_root(v):
    return np.max(np.sqrt(v))


@pytest.mark.parametrize(
    "function, x",
    [
        *((f, BELOW) for f in (root_of_maximum, power_of_maximum, power_of_fmax, root_of_clip)),
        *((f, BELOW) for f in (root_of_masked, root_of_masked_modulus, root_of_step)),
        *((f, BELOW) for f in (root_of_where, root_in_a_loop)),
        *((f, AT_ZERO) for f in (maximum_of_root, clip_of_root, largest_root)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_chosen_away_has_derivative_0(function, x):
    expected = np.array([0.0, 0.0, 0.25])
    assert np.allclose(srcad.grad(function)(x), expected, rtol=1e-15)
    forward = [srcad.jvp(function, (x,), (unit,))[1] for unit in np.eye(3)]
    assert np.allclose(forward, expected, rtol=1e-15)
    second = srcad.hessian(function)(x)
    assert np.allclose(second, np.diag([0, 0, -1 / 32]), rtol=1e-14)


@pytest.mark.parametrize(
    "function, x",
    [
        (lambda v: math.sqrt(max(v, 0.0)), -1.0),
        (lambda v: math.sqrt(np.maximum(v, 0.0)), -1.0),
        (lambda v: max(math.sqrt(v) - 1.0, 0.0), 0.0),
        (lambda v: min(0.5, 1.0 + v**0.5), 0.0),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_numbers_too(function, x):
    assert srcad.derivative(function)(x) == 0
    assert srcad.jvp(function, (x,), (1.0,))[1] == 0


def test_no_root_no_protection():
    """Where no derivative is infinite, a choice is a product."""

    def layer(v, w):
        return np.sum(np.maximum(np.maximum(v, 0) @ w, 0) ** 2)

    text = srcad.grad(layer).source_for(np.ones(3), np.ones((3, 2)))
    assert "runtime" not in text
    norm = srcad.grad(lambda v: np.sum(np.maximum(v / np.sqrt(np.var(v) + 1e-5), 0)))
    assert "times(" not in norm.source_for(np.ones(3)).split("maximum")[0]


def test_any_exponent_is_looked_at():
    for power in (np.inf, -np.inf, 0.5, 3, 2.0):

        def f(x, power=power):
            return np.sum(np.maximum(x, 0.0) * x**power)

        assert np.isfinite(srcad.grad(f)(np.ones(2))[0]) or not np.isfinite(power)
