"""Both sides of a choice hand back one choice."""

import numpy as np
import pytest

import srcad
from srcad.testing import check_grads

X = np.array([-1.5, 0.3, 2.0, -0.2])
W = np.array([0.4, -1.1, 0.8, 2.5])


def leaky(x):
    return np.sum(np.where(x > 0, x, 0.1 * x))


def huber(x):
    return np.sum(np.where(np.abs(x) < 1.0, 0.5 * x * x, np.abs(x) - 0.5))


def exponential_unit(x):
    return np.sum(np.where(x > 0, x, np.exp(x) - 1))


def differences(x, y):
    return np.sum(np.where(x > y, x - y, 0.5 * (y - x)))


def weighted(x, w):
    return np.sum(np.where(x > 0, w * np.sin(x), np.cos(w) * x) ** 2)


def number(x):
    return np.where(x > 0, 3.0 * x, -0.2 * x)


@pytest.mark.parametrize(
    ("f", "args", "choices"),
    [
        (leaky, (X,), 1),
        (huber, (X,), 1),
        (exponential_unit, (X,), 1),
        (differences, (X, W), 2),
        (weighted, (X, W), 3),
        (number, (0.7,), 0),
    ],
)
def test_one_choice(f, args, choices):
    argnums = tuple(range(len(args)))
    source = srcad.grad(f, argnums=argnums).source_for(*args)
    code = [line for line in source.splitlines() if not line.lstrip().startswith("#")]
    assert sum(line.count("np.where(") for line in code) == choices
    check_grads(f, args, order=2)


def test_single_precision_stays():
    assert srcad.grad(leaky)(X.astype(np.float32)).dtype == np.float32


def test_other_sides_may_be_infinite():
    def f(x):
        return np.sum(np.where(x > 0, x, np.exp(x) * 0.5))

    with np.errstate(over="ignore"):
        assert srcad.grad(f)(np.array([1000.0, 0.0])).tolist() == [1.0, 0.5]


def test_choices_of_another_shape():
    def f(x, rows):
        chosen = rows[:, None] > 0
        return np.sum(np.where(chosen, x * rows[:, None], x**2))

    check_grads(f, (np.outer(W, X), W), order=2)


def test_choices_by_different_tests_stay():
    def f(x):
        return np.sum(np.where(x > 0, x, 0) + np.where(x > 1, 0, 0.1 * x))

    assert srcad.grad(f)(X).tolist() == [0.1, 1.1, 1.0, 0.1]
