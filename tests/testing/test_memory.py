"""In-place writes: the tape and the dual numbers follow memory, not names."""

import numpy as np
import pytest

from srcad.testing import check_grads, lift
from srcad.testing.tape import Variable, gradients
from srcad.testing.tracing import plain

X = np.array([0.31, -0.72, 1.43, 0.58])


def write_then_read(x):
    u = np.zeros(4)
    u[1:3] = x[:2] ** 2
    u[0] = x[3]
    u += x
    return u * u


def write_through_a_view(x):
    u = x * 2.0
    row = u.reshape(2, 2)[1]
    row *= x[:2]
    return u * u


def view_sees_later_writes(x):
    u = x.copy()
    v = u[::-1]
    u[0] = x[1] * x[2]
    return v * v


def copy_does_not_see_later_writes(x):
    u = x.copy()
    v = u[[0, 1, 2]]
    w = u.reshape(2, 2).T.ravel()
    u[:] = 0.0
    return np.concatenate([v * v, w * w, u])


def ravel_of_a_transpose_is_a_copy(x):
    u = np.zeros((2, 2))
    flat, line = u.T.ravel(), u.ravel()
    u[0, 1] = x[0] * x[1]
    return flat + 3.0 * line


def overlapping_shift(x):
    u = x * 1.0
    u[1:] = u[:-1] * x[1:]
    return u * u


def last_write_wins(x):
    u = np.zeros(2)
    u[[0, 0, 1]] = x[:3] ** 2
    return u


def in_place_with_repeats(x):
    u = np.zeros(2)
    u[[0, 0, 1]] += x[:3] ** 2
    np.add.at(u, [0, 0, 1], x[1:] ** 2)
    np.multiply.at(u, [0, 0], x[:2])
    return u


def mask_write(x):
    u = x**2
    u[x < 0] = 0.0
    u[x > 1] *= x[x > 1]
    return u


def out_parameter(x):
    u = np.empty(4)
    np.multiply(x, x, out=u)
    np.exp(u, out=u, where=x > 0)
    np.sum(u * x, out=u[0:1].reshape(()))
    return u


def argument_is_written(x):
    x[0] = x[1] * x[1]
    x *= x
    x.sort()
    return x


def rows_in_a_loop(x):
    grid = np.zeros((3, 4))
    grid[0] = x
    for k in range(1, 3):
        grid[k, 1:] = grid[k - 1, :-1] * x[1:]
        grid[k, 0] = grid[k - 1, 3]
    return grid


def filled(x):
    u = np.empty((2, 2))
    u.fill(x[0] * x[1])
    u.flat[1] = x[2] ** 2
    np.fill_diagonal(u, x[3] ** 2)
    np.copyto(u[0], x[:2] ** 3, where=[True, False])
    return u


def lists_and_dicts(x):
    parts = [x[0], x[1]]
    parts.append(parts[0] * parts[1])
    parts[0] = parts[0] ** 2
    table = {"a": x[2]}
    table["b"] = table["a"] * parts[-1]
    return np.array(parts) * table["b"]


CASES = [
    write_then_read, write_through_a_view, view_sees_later_writes, copy_does_not_see_later_writes,
    ravel_of_a_transpose_is_a_copy, overlapping_shift, last_write_wins, in_place_with_repeats,
    mask_write, out_parameter, argument_is_written, rows_in_a_loop, filled, lists_and_dicts,
]  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_memory(f, oracle):
    out = lift(f)(Variable(X) * 1.0)
    np.testing.assert_allclose(plain(out), f(X.copy()), rtol=1e-14)
    report = check_grads(f, (X,), order=2, engine=oracle)
    assert "complex step" in report.compared["jvp"]


def test_the_callers_array_is_left_alone(oracle):
    x = X.copy()
    check_grads(argument_is_written, (x,), engine=oracle)
    np.testing.assert_array_equal(x, X)


def test_read_only_views_are_read_only():
    def f(x):
        np.broadcast_to(x, (2, 4))[0, 0] = 1.0

    with pytest.raises(ValueError, match="read-only"):
        lift(f)(Variable(X) * 1.0)


def test_an_earlier_value_keeps_its_gradient():
    x = Variable(X)

    def f(x):
        u = x * 1.0
        before = np.sum(u * u)
        u[:] = 0.0
        return before + np.sum(u)

    (gradient,) = gradients(lift(f)(x), None, [x])
    np.testing.assert_allclose(gradient, 2 * X)
