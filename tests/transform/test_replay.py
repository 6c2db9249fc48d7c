"""Replayed rule bodies: what was compiled before must not be seen in what is compiled now."""

import math
from itertools import permutations

import numpy as np
import pytest

import srcad
from srcad.transform import replay


def functions():
    """Functions that use the same rules in other surroundings, made anew each time."""

    def summed(x, y):
        return np.sum(x * y)

    def dotted(x, y):
        return np.dot(x * y, x)

    def negated(x, y):
        return -np.sum(-(x * y)) / 2.0

    def twice(x, y):
        return np.sum(x * x) + np.sum(y * 2.0 * y)

    def scalars(x, y):
        return math.sin(float(x[0])) * float(y[0]) ** 2

    return summed, dotted, negated, twice, scalars


X, Y = np.array([0.3, 1.2, -0.7]), np.array([1.1, 0.4, 2.0])


@pytest.fixture
def outcomes(monkeypatch):
    """Whether recordings held, one by one."""
    monkeypatch.setenv("SRCAD_CACHE_DIR", "off")
    found = []
    original = replay._replay

    def noted(*args):
        result = original(*args)
        found.append(result is not None)
        return result

    monkeypatch.setattr(replay, "_replay", noted)
    return found


def sources(*numbers):
    replay._recordings.clear()
    made = functions()
    gradients = [srcad.grad(made[k], argnums=(0, 1)) for k in numbers]
    hessians = [srcad.hessian(made[k]) for k in numbers]
    return [d.source_for(X, Y) for d in (*gradients, *hessians)][len(numbers) - 1 :: len(numbers)]


def test_sources_do_not_depend_on_what_was_compiled_before(outcomes, monkeypatch):
    count = len(functions())
    with monkeypatch.context() as patch:
        patch.setattr(replay, "_replay", lambda *_: None)
        lowered = [sources(k) for k in range(count)]
    assert not outcomes
    for first, second in permutations(range(count), 2):
        assert sources(first, second) == lowered[second], (first, second)
    assert True in outcomes
    assert False in outcomes


def test_recordings_are_bounded(outcomes, monkeypatch):
    monkeypatch.setattr(replay._recordings, "most", 4)
    for k in range(len(functions())):
        sources(k)
        assert 0 < len(replay._recordings) <= 4


def test_bodies_of_users_are_lowered_each_time(outcomes):
    def cube(x):
        return x**3

    srcad.rules.differential(cube)(lambda x, *, dx: 3 * x * x * dx)
    assert srcad.grad(lambda x: cube(x) + 1.0)(2.0) == 12.0
    srcad.rules.differential(cube, replace=True)(lambda x, *, dx: 5 * x * x * dx)
    assert srcad.grad(lambda x: cube(x) + 2.0)(2.0) == 20.0
