"""Complex steps and differences: accuracy, honest error estimates, and what they refuse."""

import math

import mpmath
import numpy as np
import pytest

from srcad.testing import Unsupported, complex_step, differences


def f(x):
    return math.exp(x) / math.sqrt(math.sin(x) ** 3 + math.cos(x) ** 3)


EXACT = float(
    mpmath.diff(lambda t: mpmath.exp(t) / mpmath.sqrt(mpmath.sin(t) ** 3 + mpmath.cos(t) ** 3), 1.5)
)


def test_complex_step_is_exact_to_rounding():
    value, tangent = complex_step(f, (1.5,), (1.0,))
    assert value == pytest.approx(f(1.5), rel=1e-15)
    assert tangent == pytest.approx(EXACT, rel=2e-15)


def test_differences_know_their_error():
    found = differences(f, (1.5,), (1.0,))
    off = abs(found.value[0] - EXACT)
    assert off < 1e-9
    assert off <= 10 * found.error[0] + 1e-14


def test_comparisons_see_the_real_part():
    def g(x):
        u = np.zeros(3)
        for k in range(3):
            u[k] = abs(x[k]) if x[k] < 0 else max(x[k], 0.5) ** 2
        return u

    x = np.array([-0.3, 0.2, 0.9])
    _, tangent = complex_step(g, (x,), (np.ones(3),))
    np.testing.assert_allclose(tangent, [-1.0, 0.0, 1.8], rtol=1e-15)


@pytest.mark.parametrize(
    "g",
    [
        lambda x: np.real(x + 1j) ** 2,
        lambda x: np.linalg.eigvalsh(x * np.eye(2))[0],
        lambda x: math.erf(x),
    ],
    ids=["complex", "eigh", "erf"],
)
def test_what_has_no_continuation_is_refused(g):
    with pytest.raises(Unsupported):
        complex_step(g, (0.5,), (1.0,))


@pytest.mark.parametrize(
    ("g", "x"),
    [
        (lambda x: abs(x), 0.0),
        (lambda x: max(x, 2 * x), 0.0),
        (lambda x: x or 1.0, 0.0),
        (lambda x: math.floor(x) * x, 2.0),
        (lambda x: abs(x) * 3 + math.sin(x), 0.0),
    ],
    ids=["abs", "max", "or", "floor", "bent"],
)
def test_a_kink_or_a_jump_is_no_derivative(g, x):
    assert np.isinf(differences(g, (x,), (1.0,)).error[0])


def test_a_kink_near_by_is_no_obstacle():
    found = differences(lambda x: abs(x - 0.005) * x, (0.0,), (1.0,))
    assert found.value[0] == pytest.approx(0.005, abs=1e-9)


def test_leaves_of_containers():
    def g(p):
        return {"a": p["w"] * p["s"], "b": [p["w"].sum(), 3]}

    p = {"w": np.array([1.0, 2.0]), "s": 3.0, "n": 5}
    v = {"w": np.array([1.0, 0.0]), "s": 1.0, "n": 0}
    found = differences(g, (p,), (v,))
    np.testing.assert_allclose(found.value[0], [4.0, 2.0], atol=1e-9)
    assert found.value[1] == pytest.approx(1.0, abs=1e-9)
    assert len(found.value) == 2
    _, tangent = complex_step(g, (p,), (v,))
    np.testing.assert_allclose(tangent["a"], [4.0, 2.0])


def test_arguments_are_not_changed():
    x = np.array([1.0, 2.0])

    def g(x):
        x *= 2
        return x

    differences(g, (x,), (np.ones(2),))
    complex_step(g, (x,), (np.ones(2),))
    np.testing.assert_array_equal(x, [1.0, 2.0])
