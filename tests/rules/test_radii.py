"""The origin: where radii have a kink, and their even powers have none."""

import math

import numpy as np
import pytest

import srcad

ORIGIN = np.zeros(2)


def norm_squared(x):
    return np.linalg.norm(x) ** 2


def norm_times_norm(x):
    return np.linalg.norm(x) * np.linalg.norm(x)


def norm_of_matrix(x):
    return np.square(np.linalg.norm(np.stack((x, 2 * x)), "fro"))


def norm_of_rows(x):
    return np.sum(np.linalg.norm(np.stack((x, x)), axis=1, keepdims=True) ** 2)


def fourth_power(x):
    return x[1] ** 2 + np.linalg.norm(x, 2) ** 4


def modulus(x):
    return np.sum(np.abs(x) ** 2.0)


def modulus_of_complex(x):
    return np.sum(np.abs(np.array([x[0] + 1j * x[1], 2 * x[0]])) ** 2)


def modulus_of_number(x):
    r = abs(float(x[0]))
    return r * r + x[1] * x[1]


def length(x):
    return math.hypot(x[0], x[1]) ** 2


def lengths(x):
    return np.power(np.hypot(x[0], 3 * x[1]), 2)


def root(x):
    return np.sqrt(np.sum(x**2)) ** 2


def root_of_parts(x):
    a, b = x
    r = math.sqrt(a * a + abs(b) ** 2)
    return r * r


def spread(x):
    return np.std(x) ** 2


def gaussian(x):
    r = np.linalg.norm(x)
    return np.exp(-(r**2) / 2)


EYE = np.eye(2)
SMOOTH = [
    (norm_squared, 2 * EYE),
    (norm_times_norm, 2 * EYE),
    (norm_of_matrix, 10 * EYE),
    (norm_of_rows, 4 * EYE),
    (fourth_power, np.diag([0.0, 2.0])),
    (modulus, 2 * EYE),
    (modulus_of_complex, np.diag([10.0, 2.0])),
    (modulus_of_number, 2 * EYE),
    (length, 2 * EYE),
    (lengths, np.diag([2.0, 18.0])),
    (root, 2 * EYE),
    (root_of_parts, 2 * EYE),
    (spread, np.array([[0.5, -0.5], [-0.5, 0.5]])),
    (gaussian, -EYE),
]
TRANSFORMS = [
    srcad.hessian,
    lambda f: srcad.jacrev(srcad.grad(f)),
    lambda f: srcad.jacfwd(srcad.jacfwd(f)),
]


@pytest.mark.parametrize("second", TRANSFORMS, ids=["hessian", "rev_rev", "fwd_fwd"])
@pytest.mark.parametrize(("f", "wanted"), SMOOTH)
def test_even_powers_are_smooth(f, wanted, second):
    assert np.allclose(second(f)(ORIGIN), wanted, rtol=1e-14, atol=0)
    x = np.array([0.4, -0.3])
    assert np.isclose(srcad.value_and_grad(f)(x)[0], f(x), rtol=1e-14)
    assert np.array_equal(srcad.grad(f)(ORIGIN), [0.0, 0.0])


def cosine(x):
    return np.cos(np.linalg.norm(x))


def sum_of_norms(x):
    return np.sum(np.linalg.norm(np.stack((x, x + 1)), axis=-1))


KINKS = [
    lambda x: np.linalg.norm(x),
    lambda x: np.linalg.norm(x, 3),
    lambda x: np.hypot(x[0], x[1]),
    lambda x: math.hypot(x[0], x[1]),
    lambda x: abs(x[0] + 1j * x[1]),
    lambda x: np.std(x),
    lambda x: math.dist((x[0], 1.0), (0.0, 1.0 + x[1])),
    cosine,
    sum_of_norms,
]


@pytest.mark.parametrize("second", TRANSFORMS[:2], ids=["hessian", "rev_rev"])
@pytest.mark.parametrize("f", KINKS)
def test_a_direction_has_no_derivative_at_the_origin(f, second):
    assert np.all(np.isfinite(srcad.grad(f)(ORIGIN)))
    assert np.all(np.isnan(second(f)(ORIGIN)))


def rows_that_count(x):
    rows = np.stack((0 * x, x))
    sizes = np.linalg.norm(rows, axis=1)
    return np.sum(np.where(sizes > 0, sizes, 0.0))


def test_a_direction_that_is_dropped_does_no_harm():
    x = np.array([3.0, 4.0])
    wanted = np.array([[16.0, -12.0], [-12.0, 9.0]]) / 125
    assert np.allclose(srcad.hessian(rows_that_count)(x), wanted, rtol=1e-13)


RADII = [
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.hypot(x[:, 0], x[:, 1]),
    lambda x: np.std(x, axis=1),
    lambda x: np.abs(x[:, 0] + 1j * x[:, 1]),
]


def written_over(r):
    r[0] = 5.0
    return np.sum(r**3)


def counted_in_a_loop(r):
    total = 0.0
    for size in r:
        if size > 0:
            total += size**3
    return total


def indexed_in_a_loop(r):
    total = 0.0
    for k in range(1, 3):
        total += r[k] ** 3
    return total


def unpacked(r):
    _, second, third = r
    return second**2 * third


DROPS = [
    written_over,
    counted_in_a_loop,
    indexed_in_a_loop,
    unpacked,
    lambda r: np.sum(np.triu(np.ones((3, 3)) * r[:, None] * r, 1)[1:]),
    lambda r: np.sum(np.delete(r, 0) ** 3),
    lambda r: np.sum(np.take(r, [1, 2, 1]) ** 3),
    lambda r: np.sum(np.compress(r > 0, r) ** 3),
    lambda r: np.sum(np.sort(r)[1:] ** 3),
    lambda r: np.sum(np.concatenate((r, r[1:]))[1:] ** 3),
    lambda r: np.sum(np.diff(r)[1:] ** 3),
    lambda r: np.max(r) ** 3,
    lambda r: np.sum(np.maximum(r, 0.1) ** 3),
    lambda r: np.sum(np.clip(r, 0.1, 100.0) ** 3),
    lambda r: r[1] * r[2],
]


@pytest.mark.parametrize("drop", range(len(DROPS)))
@pytest.mark.parametrize("radius", range(len(RADII)))
def test_a_radius_of_zero_that_is_dropped_does_no_harm(radius, drop):
    """By an index, a choice, a write: its second derivative is nan, and nothing depends on it."""

    def f(x):
        return DROPS[drop](RADII[radius](x))

    x = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, -2.0]])
    wanted = srcad.jacfwd(srcad.grad(f))(x + np.array([[0.03, 0.02], [0.0, 0.0], [0.0, 0.0]]))
    wanted[0] = 0.0
    wanted[..., 0, :] = 0.0
    for second in TRANSFORMS:
        assert np.allclose(second(f)(x), wanted, rtol=1e-12, atol=1e-14)


def written_in_between(x):
    y = x.copy()
    r = np.linalg.norm(y)
    y[0] = 7.0
    return r**2 * y[1]


def written_in_a_loop(x):
    y = x.copy()
    r = np.linalg.norm(y)
    total = 0.0
    for k in range(3):
        total = total + r**2 * y[1]
        y[0] = 2.0 * k
    return total


def norms_written_over(x):
    rows = np.stack((x, 2 * x))
    sizes = np.linalg.norm(rows, axis=1)
    rows *= 3.0
    return np.sum(sizes**2) + np.sum(rows)


@pytest.mark.parametrize("f", [written_in_between, written_in_a_loop, norms_written_over])
def test_the_radius_of_what_an_array_was(f):
    x = np.array([0.4, -0.3])
    steps = 1e-6 * np.eye(2)
    wanted = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    assert np.allclose(srcad.grad(f)(x), wanted, rtol=1e-8)
    assert np.isclose(srcad.value_and_grad(f)(x)[0], f(x), rtol=1e-14)


def test_the_text_of_a_square():
    text = srcad.grad(norm_squared).source_for(ORIGIN)
    assert "x_bar = 2.0 * x\n" in text
    assert "norm = " not in text
