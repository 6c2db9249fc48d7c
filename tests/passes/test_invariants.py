"""What does not change in a loop is computed before it, and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcad
from srcad.errors import SlowFallback
from srcad.testing import check_grads

M = np.array([[0.1, 0.4], [0.3, -0.2]])
X = np.array([0.5, 1.5])


def steady(m, x, n):
    for _ in range(n):
        e = np.exp(m)
        x = np.tanh(e @ x)
    return np.sum(x)


def steady_of_a_view(m, x, n):
    for _ in range(n):
        x = np.tanh(np.sqrt(m.T * m.T + 1.0) @ x)
    return np.sum(x)


def steady_twice(m, x, n):
    for _ in range(n):
        for _ in range(n):
            x = np.tanh((np.exp(m) + 1.0) @ x)
    return np.sum(x)


def body_of_first_loop(function, *args):
    """The lines of the outermost first loop."""
    lines = srcad.grad(function).source_for(*args).split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith("    for "))
    end = next(k for k in range(start + 1, len(lines)) if not lines[k].startswith("        "))
    return "\n".join(lines[start:end])


@pytest.mark.parametrize("function", [steady, steady_of_a_view, steady_twice])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_arithmetic_of_arrays_goes_out(function, n):
    body = body_of_first_loop(function, M, X, 3)
    assert "np.exp(" not in body
    assert "np.sqrt(" not in body
    check_grads(function, (M, X, n), order=2, argnums=(0, 1))


# ---- what changes


def written(m, x, n):
    m = m.copy()
    for k in range(n):
        x = np.exp(m) @ x
        m[0, k % 2] += 0.1 * x[0]
    return np.sum(x)


def written_through_a_view(m, x, n):
    m = m.copy()
    row = m[0]
    for k in range(n):
        x = np.exp(m) @ x
        row[k % 2] += 0.1 * x[0]
    return np.sum(x)


def view_of_what_is_written(m, x, n):
    m = m.copy()
    row = m[0]
    for k in range(n):
        x = np.exp(row) * x
        m[0, k % 2] += 0.1 * x[0]
    return np.sum(x)


def written_to_itself(m, x, n):
    for k in range(n):
        e = np.exp(m)
        e[0, 0] += x[0]
        x = e @ x
    return np.sum(x)


def carried_and_written(m, x, n):
    e = m * 1.0
    for k in range(n):
        e[0, 1] += x[1]
        x = 0.1 * e @ x
        e = np.exp(m)
    return np.sum(x) + np.sum(e)


def kept_and_written(m, x, n):
    kept = []
    for k in range(n):
        e = np.exp(m)
        kept.append(e)
        x = 0.1 * e @ x
    for e in kept:
        e[0, 0] *= 2.0
        x = x + e[0]
    return np.sum(x)


def chosen_and_written(m, x, n):
    for k in range(n):
        e = np.exp(m)
        w = e if x[0] > 0.0 else m * x
        w[0, 0] = x[1]
        x = 0.1 * w @ x
    return np.sum(x)


def of_the_counter(m, x, n):
    for k in range(n):
        x = np.exp(m * k) @ x * 0.1
    return np.sum(x)


def in_a_list(m, x, n):
    held = [m.copy(), m * 2.0]
    for k in range(n):
        x = 0.1 * np.exp(held[0]) @ x
        held[0] = held[1] * x
    return np.sum(x)


class Model:
    def __init__(self, m):
        self.m = m


def at_an_attribute(m, x, n):
    model = Model(m * 1.0)
    for k in range(n):
        x = 0.1 * np.exp(model.m) @ x
        model.m = model.m * x
    return np.sum(x)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "function",
    [
        written,
        written_through_a_view,
        view_of_what_is_written,
        written_to_itself,
        carried_and_written,
        kept_and_written,
        chosen_and_written,
        of_the_counter,
        in_a_list,
        at_an_attribute,
    ],
)
def test_what_changes_stays(function, n):
    check_grads(function, (M, X, n), order=2, argnums=(0, 1))


# ---- what raises


def may_raise(s, x, n):
    for _ in range(n):
        x = x * math.sqrt(s)
    return x


def singular(m, x, n):
    for _ in range(n):
        x = np.linalg.solve(m, x)
    return np.sum(x)


def of_nothing(m, x, n):
    for _ in range(n):
        x = x * np.max(m, axis=1)
    return np.sum(x)


def of_a_row(m, x, n, k):
    for _ in range(n):
        x = x * np.exp(m[k])
    return np.sum(x)


def of_powers(m, x, n, k):
    whole = np.array([2, 3])
    for _ in range(n):
        x = x * whole**k
    return np.sum(x)


def watched(m, x, n):
    with np.errstate(over="raise"):
        for _ in range(n):
            x = x * np.exp(m)
    return np.sum(x)


@pytest.mark.parametrize(
    "function, args, error",
    [
        (of_a_row, (M, X, 7), IndexError),
        (of_a_row, (M, X, np.array([0, 9])), IndexError),
        (of_powers, (M, X, np.array([-1, -2])), ValueError),
        (watched, (np.array([1e4, 1.0]), X), FloatingPointError),
    ],
)
def test_what_raises_does_so_in_its_iteration(function, args, error):
    m, x, *more = args
    gradient = srcad.grad(function, argnums=1)
    np.testing.assert_array_equal(gradient(m, x, 0, *more), [1.0, 1.0])
    with pytest.raises(error):
        gradient(m, x, 1, *more)


def test_what_may_raise_stays_in_plain_code():
    empty = np.zeros((2, 0))
    np.testing.assert_array_equal(srcad.grad(of_nothing, argnums=1)(empty, X, 0), [1.0, 1.0])
    with pytest.raises(ValueError, match="zero-size"):
        srcad.grad(of_nothing, argnums=1)(empty, X, 1)
    assert srcad.grad(may_raise, argnums=1)(-1.0, 2.0, 0) == 1.0
    with pytest.raises(ValueError, match="math domain|nonnegative"):
        srcad.grad(may_raise, argnums=1)(-1.0, 2.0, 1)
    zeros = np.zeros((2, 2))
    np.testing.assert_array_equal(srcad.grad(singular, argnums=1)(zeros, X, 0), [1.0, 1.0])
    with pytest.raises(np.linalg.LinAlgError):
        srcad.grad(singular, argnums=1)(zeros, X, 1)


def rows(x, s):
    y = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] / math.sqrt(s)
    return np.sum(y * y)


@pytest.mark.numba
def test_compiled_code_computes_numbers_before_loops():
    pytest.importorskip("numba")
    compiled = srcad.grad(rows, argnums=(0, 1), backend="numba")
    source = compiled.source_for(M, 2.0)
    assert source.index("math.sqrt") < source.index("for i in")
    assert "grown" not in source
    plain = srcad.grad(rows, argnums=(0, 1))(M, 2.0)
    for one, other in zip(compiled(M, 2.0), plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.warns(SlowFallback):  # it is run as plain code
        assert srcad.grad(may_raise, argnums=1, backend="numba")(-1.0, 2.0, 0) == 1.0
    with pytest.raises(ValueError, match="math domain|nonnegative"):
        srcad.grad(may_raise, argnums=1, backend="numba")(-1.0, 2.0, 1)
