"""Sums of products in nests of loops are products of matrices, where that is the same sum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import srcad
from srcad import runtime
from tests.backends.compiled import Numba

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.numba

R = np.random.default_rng(0)


def close(found, expected):
    """The same up to rounding: sums in another order, where terms cancel."""
    for x, y in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12 * np.max(np.abs(y)))


def matrices(n, m):
    return 1.5, R.normal(size=(n, n)), R.normal(size=(n, m)), R.normal(size=(n, m))


def times_triangle(alpha, a, b0, _):
    """Each row is written over after those before have read it."""
    b = b0.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]
    return np.sum(b * b)


def times_triangle_by_dots(alpha, a, b0, _):
    b = b0.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
    return np.sum(b * b)


def times_triangle_downwards(alpha, a, b0, _):
    b = b0.copy()
    n = len(b)
    for i in range(n - 1, -1, -1):
        for j in range(b.shape[1]):
            t = b[i, j] * alpha
            for k in range(i):
                t += a[i, k] * b[k, j]
            b[i, j] = t
    return np.sum(b * b)


def second_factor_is_a_triangle(alpha, a, b, c0):
    c = c0.copy()
    for j in range(b.shape[0]):
        for k in range(j, b.shape[0]):
            for i in range(b.shape[1]):
                c[j, i] -= alpha * a[j, k] * b[k, i]
    return np.sum(c * c)


def columns_by_a_triangle(alpha, a, b, c0):
    c = c0.copy()
    n, m = c.shape
    for i in range(m):
        for j in range(n):
            for k in range(j + 1):
                c[j, i] += b[k, i] * a[k, j] * alpha
    return np.sum(c * c)


def rank_2k(alpha, s0, a, b):
    s = s0.copy()
    for i in range(a.shape[0]):
        for j in range(i + 1):
            s[i, j] *= 1.2
        for k in range(a.shape[1]):
            for j in range(i + 1):
                s[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]
    return np.sum(s * s)


def rank_2k_by_slices(alpha, s0, a, b):
    s = s0.copy()
    for i in range(a.shape[0]):
        s[i, : i + 1] *= 1.2
        for k in range(a.shape[1]):
            s[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]
    return np.sum(s * s)


def rank_2k_antisymmetric(alpha, s0, a, b):
    s = s0.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(a.shape[1]):
                s[i, j] += alpha * (a[i, k] * b[j, k] - b[i, k] * a[j, k])
    return np.sum(s * s)


def rank_k_above(alpha, s0, a, _):
    s = s0.copy()
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            for k in range(a.shape[1]):
                s[i, j] += alpha * a[i, k] * a[j, k]
    return np.sum(s * s)


def symmetric_times(alpha, a, b, c0):
    """An element is added to after it has been set, and not read any more."""
    c = c0.copy()
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            t = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                t += b[k, j] * a[i, k]
            c[i, j] = 1.2 * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * t
    return np.sum(c * c)


def symmetric_times_by_slices(alpha, a, b, c0):
    c = c0.copy()
    t = np.empty(c.shape[1])
    c *= 1.2
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            t[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * t
    return np.sum(c * c)


def whole(alpha, a, b, c0):
    c = c0.copy()
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]
    return np.sum(c * c)


def inside_of_borders(alpha, a, b, c0):
    """The counters go through parts of the arrays, and elements are read beside them."""
    c = c0.copy()
    n, m = c.shape
    for i in range(1, n - 1):
        for j in range(2, m):
            for k in range(1, n):
                c[i + 1, j - 1] += alpha * a[i, k - 1] * b[k, j]
    return np.sum(c * c)


def in_steps(alpha, a, b, c0):
    """The nest is in a loop: each step reads what the last one has written."""
    c, d = c0.copy(), b.copy()
    for _ in range(3):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                t = 0.0
                for k in range(a.shape[1]):
                    t += 0.1 * a[i, k] * d[k, j]
                c[i, j] = t
        d[:] = alpha * c
    return np.sum(d * d)


MADE = [
    (times_triangle, "upper_times"),
    (times_triangle_by_dots, "upper_times"),
    (times_triangle_downwards, "lower_times"),
    (second_factor_is_a_triangle, "upper_times"),
    (columns_by_a_triangle, "lower_times"),
    (rank_2k, "np.tril|@"),
    (rank_2k_by_slices, "np.tril|@"),
    (rank_2k_antisymmetric, "np.tril|@"),
    (rank_k_above, "upper_of_product"),
    (symmetric_times, "upper_times"),
    (symmetric_times_by_slices, "upper_times"),
    (whole, "@"),
    (inside_of_borders, "@"),
    (in_steps, "@"),
]


@pytest.mark.parametrize("function, callee", MADE, ids=lambda x: getattr(x, "__name__", None))
def test_a_product_of_matrices(function, callee):
    gradient = srcad.value_and_grad(function, argnums=(0, 1, 2, 3), backend="numba")
    args = matrices(9, 7)
    source = gradient.source_for(*args)
    assert any(c in source for c in callee.split("|"))
    for n, m in ((9, 7), (40, 33), (2, 3)):
        args = matrices(n, m)
        close(gradient(*args), srcad.value_and_grad(function, argnums=(0, 1, 2, 3))(*args))


# ---- not the same sum


def reads_what_it_has_written(alpha, a, b0, _):
    """As `times_triangle`, with the rows that were written before."""
    b = b0.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i):
                b[i, j] += 0.1 * a[k, i] * b[k, j]
    return np.sum(b * b)


def reads_its_own_row(alpha, a, b0, _):
    b = b0.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            t = 0.0
            for k in range(i, b.shape[0]):
                t += a[k, i] * b[k, j]
            b[i, 0] = t
    return np.sum(b * b)


def set_after_it_was_added_to(alpha, a, b, c0):
    c = c0.copy()
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
            c[i, j] = alpha * c[i, j] * c[i, j]
    return np.sum(c * c)


def added_to_before_it_is_set(alpha, a, b, c0):
    """Rows that come later are added to, and set then."""
    c = c0.copy()
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = alpha * c[i, j]
            for k in range(i + 1, c.shape[0]):
                c[k, j] += a[i, k] * b[i, j]
    return np.sum(c * c)


def read_in_the_next_turn(alpha, a, b, c0):
    c, d = c0.copy(), b.copy()
    for i in range(1, c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        d[i, 0] += alpha * c[i - 1, 0]
    return np.sum(c * c) + np.sum(d * d)


def factor_is_written(alpha, a, b0, c0):
    b, c = b0.copy(), c0.copy()
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        b[0, 0] = b[0, 0] * alpha + c0[i, 0]
    return np.sum(c * c)


def through_a_view_of_it(alpha, a, b0, _):
    b = b0.copy()
    row = b[0]
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            t = 0.0
            for k in range(a.shape[1]):
                t += a[i, k] * b[k, j]
            row[j] = t * alpha
    return np.sum(b * b)


OTHER = [
    reads_what_it_has_written,
    reads_its_own_row,
    set_after_it_was_added_to,
    added_to_before_it_is_set,
    read_in_the_next_turn,
    factor_is_written,
    through_a_view_of_it,
]


@pytest.mark.parametrize("function", OTHER, ids=lambda x: x.__name__)
def test_another_sum(function):
    for n, m in ((9, 7), (12, 15)):
        args = matrices(n, m)
        numba = Numba()
        found = numba.value_and_grad(function, argnums=(0, 1, 2, 3))(*args)
        close(found, srcad.value_and_grad(function, argnums=(0, 1, 2, 3))(*args))


# ---- what is outside of the triangle


BESIDE = (times_triangle, second_factor_is_a_triangle, columns_by_a_triangle)


@pytest.mark.parametrize("function", BESIDE, ids=lambda x: x.__name__)
def test_beside_the_triangle_anything_may_stand(function):
    gradient = srcad.value_and_grad(function, argnums=(1, 2), backend="numba")
    loop = loops(function, (1, 2))
    for n in (9, 60, 200):
        alpha, a, b, c = matrices(n, n + 1)
        a[1, n - 2], a[n - 2, 1] = np.inf, np.nan  # one above, one below the diagonal
        b[n - 1, 3], b[0, 2], b[1, 2] = np.nan, np.inf, 0.0
        with np.errstate(all="ignore"):
            value, found = gradient(alpha, a, b, c)
            expected_value, expected = loop(alpha, a, b, c)
        np.testing.assert_allclose(value, expected_value, equal_nan=True)
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def loops(function, argnums):
    """The derivative that has the loops as they are."""
    options = srcad.Options(backend="numba", shorten=False)
    return srcad.value_and_grad(function, argnums=argnums, options=options)


BY_TRIANGLES = (
    (runtime.lower_times, lambda x, y, k: np.tril(x, k) @ y),
    (runtime.upper_times, lambda x, y, k: np.triu(x, k) @ y),
    (runtime.lower_of_product, lambda x, y, k: np.tril(x @ y, k)),
    (runtime.upper_of_product, lambda x, y, k: np.triu(x @ y, k)),
)


@pytest.mark.parametrize("function, expected", BY_TRIANGLES, ids=lambda x: x.__name__)
def test_triangles(function, expected):
    compiled = numba.njit(lambda x, y, k: function(x, y, k))
    sizes = ((3, 4, 5), (40, 50, 60), (200, 170, 90), (0, 3, 4), (3, 0, 4))
    for (n, m, p), k in itertools.product(sizes, (-60, -5, 0, 1, 7, 100)):
        for orders in itertools.product("CF", "CF"):
            x = np.array(R.normal(size=(n, m)), order=orders[0])
            y = np.array(R.normal(size=(m, p)), order=orders[1])
            np.testing.assert_allclose(compiled(x, y, k), expected(x, y, k), atol=1e-12)
            np.testing.assert_allclose(function(x, y, k), expected(x, y, k), atol=1e-12)
            wide = np.repeat(x, 2, axis=1)[:, ::2]
            np.testing.assert_allclose(compiled(wide, y, k), expected(x, y, k), atol=1e-12)


@pytest.mark.parametrize("function", [f for f, _ in BY_TRIANGLES], ids=lambda x: x.__name__)
def test_compiled_triangles_leave_out_what_is_beside_them(function):
    compiled = numba.njit(lambda x, y, k: function(x, y, k))
    for n, k in itertools.product((9, 60, 200), (-2, 0, 3)):
        x, y = R.normal(size=(n, n)), R.normal(size=(n, n + 2))
        x[2, n - 3] = x[n - 3, 2] = np.inf
        y[2, 1], y[n - 3, 4], y[n // 2, 5] = np.nan, np.inf, -np.inf
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(compiled(x, y, k), function(x, y, k), atol=1e-10)
