"""Arrays that take turns are added to in place; where names may be one array, it is copied."""

import numpy as np
import pytest

import srcad
from srcad.testing.reference import reference_gradients

X = np.array([0.1, 0.4, 0.3, 0.9, 0.2])


def in_turn(x, n):
    u, v, w = x.copy(), 2.0 * x, 3.0 * x
    for _ in range(n):
        w[1:] = u[:-1] * v[1:] - w[1:]
        u, v, w = v, w, u
    return np.sum(u * v * w)


def in_turn_while(x, n):
    u, v, w = x.copy(), 2.0 * x, 3.0 * x
    k = 0
    while k < n:
        w[1:] = u[:-1] - v[1:]
        u, v, w = v, w, u
        k += 1
    return np.sum(u * w)


def in_turn_nested(x, n):
    u, v, w = x.copy(), 2.0 * x, 3.0 * x
    for i in range(n):
        for _ in range(i):
            w[1:] = u[:-1] - v[1:]
            u, v, w = v, w, u
        if i % 2:
            u, v = v, u
        v[0] += u[1]
    return np.sum(u * w)


def different_lengths(x, n):
    u, v = x.copy(), 2.0 * x[1:]
    for _ in range(n):
        u[1] = v[0] * u[2]
        u, v = v, u
    return np.sum(u) * np.sum(v)


@pytest.mark.parametrize("f", [in_turn, in_turn_while, in_turn_nested, different_lengths])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_arrays_in_turn(f, n):
    gradient = srcad.value_and_grad(f)
    value, found = gradient(X, n)
    assert value == f(X, n)
    np.testing.assert_allclose(found, reference_gradients(f, (X, n)), rtol=1e-12)
    _, _, reverse = gradient.source.partition("# ---- reverse sweep")
    assert "np.copy(" not in reverse and "np.array(" not in reverse
    copied = [line for line in reverse.splitlines() if line.endswith("_bar.copy()")]
    assert not copied


def test_arrays_that_may_be_one_are_copied():
    def meeting(x, y, n):
        u, v = x, y
        for _ in range(n):
            u = u + v
            v = u
        return np.sum(u) + 3.0 * np.sum(v)

    found = srcad.grad(meeting, argnums=(0, 1))(X, X[::-1].copy(), 3)
    wanted = reference_gradients(meeting, (X, X[::-1].copy(), 3), argnums=(0, 1))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert not np.shares_memory(*found)


def test_results_of_one_loop_share_no_memory():
    def turned(x, y, n):
        for _ in range(n):
            x, y = y, x
        return np.sum(x) + 3.0 * np.sum(y)

    for n in range(4):
        found = srcad.grad(turned, argnums=(0, 1))(X, X[::-1].copy(), n)
        found[0][:] = 0.0
        assert np.all(found[1] == (3.0 if n % 2 == 0 else 1.0))


def test_an_adjoint_of_which_a_result_is_computed_is_written_in_place():
    def scaled_then_added(a, b, s):
        u = a.copy()
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                u[i, j] *= s
        u += s * b
        return np.sum(u * u)

    args = np.outer(X, X), np.outer(X, X[::-1]), 1.3
    made = srcad.grad(scaled_then_added, argnums=(0, 1, 2))
    assert "copy()" not in made.source_for(*args).partition("# ---- reverse sweep")[2]
    found = made(*args)
    wanted = reference_gradients(scaled_then_added, args, argnums=(0, 1, 2))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert not np.shares_memory(*found[:2])
