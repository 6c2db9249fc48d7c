"""Writing into arrays: every kind of index and operator, views, aliases, loops, helpers."""

import dataclasses
import math

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1, 1.1])
W = np.array([1.2, 0.3, -0.8, 0.5, 0.9])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6], [1.1, 0.2, 0.4]])
N = np.array([[0.2, 0.7, -0.3, 1.4], [0.9, -0.5, 0.6, 0.1]])
S = 0.8


# ---- stores by every kind of index


@case((S, V))
def elements(s, x):
    u = np.zeros(3)
    u[0] = s
    u[1] = s * x[0]
    u[-1] = u[0] * u[1]
    return u * u[1]


@case((V,))
def slices_and_constants(x):
    u = np.ones(6)
    u[1:4] = x[:3] ** 2
    u[2] = 3.0
    u[::2] = u[::2] * x[0]
    return u * u


@case((V,))
def negative_steps(x):
    u = x.copy()
    u[::-1] = x * x
    u[4:1:-1] = x[:3]
    return u * x


@case((M,))
def rows_columns_and_blocks(m):
    u = m * 2.0
    u[0] = m[1] * m[2]
    u[:, 1] = m[0]
    u[1:, ::2] = m[:2, 1:] ** 2
    u[..., 0] = u[..., 2] * 0.5
    return u * m


@case((M, np.array([[0.7]])), (M, V[:3].reshape(1, 1, 3)), (M, V[None, :1]), (M, V[None, :3]))
def values_with_more_axes_than_the_place(m, v):
    u = m * 2.0
    u[1] = v
    w = np.zeros(3)
    w[:] = v * v
    u[0, :] = v * u[2]
    u[2] = u[2:0:-2] * v[..., :1] - np.full(3, 1.0)
    return u * w


@case((V,))
def new_axes(x):
    u = np.zeros((1, 5))
    u[0, :] = x
    u[:, None, 1] = x[2] * x[3]
    return u[0] * x


@case((V,))
def integer_arrays(x):
    u = x * 1.5
    u[np.array([0, 3])] = x[1:3] * x[0]
    u[[1, 2]] = 0.5
    return u * u


@case((V,))
def repeated_integers_last_wins(x):
    u = np.zeros(4)
    i = np.array([1, 1, 0, 1, 3])
    u[i] = x * x
    return u * np.array([1.0, 2.0, 3.0, 4.0])


@case((V,))
def repeated_integers_add_once(x):
    u = np.ones(4) * x[0]
    u[np.array([1, 1, 2])] += x[:3]
    return u * u


@case((V,))
def adds_at_every_repeat(x):
    u = x[:4] * 0.5
    np.add.at(u, np.array([1, 1, 2, 1, 0]), x * x)
    np.subtract.at(u, [0, 0], x[1:3])
    return u * u


@case((V,))
def masks(x):
    u = x * x
    u[x > 0.5] = 0.1
    u[u > 1.0] *= x[0]
    u[x < 0] = x[x < 0] ** 3
    return u * x


@case((M,))
def mixed_indices(m):
    u = m.copy()
    u[1, [0, 2]] = m[0, 1:]
    u[[0, 2], 1:] = m[:2, :2] * 2
    return u * u


@case((V, 1, 4))
def run_time_bounds(x, i, j):
    u = np.zeros(5)
    u[i:j] = x[i:j] * x[0]
    u[j - 1] = x[i]
    k = i + 1
    u[k] += u[j]
    return u * x


@case((S,))
def broadcast_into_a_slice(s):
    u = np.zeros((2, 3))
    u[:] = s
    u[1] = np.array([1.0, 2.0, 3.0]) * s
    u[:, 0] = s * s
    return u


@case((V,))
def integers_written(x):
    u = x * x
    u[1] = 2
    u[2:4] = np.array([1, 3])
    return u * x


@case((V,))
def float_into_an_integer_array_is_cut(x):
    u = np.zeros(3, dtype=int)
    u[0] = 2.7 * x[0]
    return x * u[0] + x


# ---- augmented assignment


@case((V, W))
def augmented_whole(x, y):
    u = x * 1.0
    u += y
    u -= x * y
    u *= y + 2.0
    u /= x * x + 1.0
    u **= 2
    return u


@case((V, W))
def augmented_slices(x, y):
    u = x + y
    u[1:3] += y[:2]
    u[:2] -= x[3:]
    u[2:] *= y[2:]
    u[::2] /= 2.0 + x[0]
    u[1] **= 2
    u[3] += u[1] * u[0]
    return u * x


@case((V,))
def part_scaled_by_picked_elements(x):
    u = np.ones(3)
    u[0] = 2.0
    x[3:] *= u[[1, 0]]
    return x


@case((V, W))
def factor_of_what_it_was_made_of(x, y):
    u = np.array(x)
    u[:1] *= y[1]
    return u * (x + 1.0)


@case((V,))
def minus_itself(x):
    u = x * x
    u[1:] *= 2.0
    u -= u
    return u + x


@case((W,))
def written_into_itself(x):
    u = x[:3] * 2.0
    u[[2, 0, 2]] = u
    return u * x[:3]


@case((V, W))
def subtracted_from_what_was_set(x, y):
    u = x * 1.0
    u[1:3] = y[:2] * x[1]
    u[1:3] -= y[1:3] * x[2:4]
    u[3:] -= y[0]
    return u * u


@case((M,))
def matmul_in_place(m):
    u = m + 0.0
    u @= m
    return u


@case((M,))
def plus_own_transpose(m):
    a = m * 1.0
    a += a.T
    return a * m


@case((V,))
def remainder_in_place(x):
    u = x * 3.0
    u %= 1.75
    u //= 0.33
    return u * x


# ---- overwriting, reading before and after


@case((V,))
def read_before_and_after(x):
    u = np.sin(x)
    a = u[1] * u[2]
    u[1] = a * x[0]
    b = u[1] * u[2]
    u[2] = b
    return a + b * u[2] + u


@case((V,))
def overlapping_shift(x):
    u = x * x
    u[1:] = u[:-1]
    u[:-2] = u[2:] * x[0]
    return u * x


@case((V,))
def overlapping_sum(x):
    u = x * x
    u[1:] += u[:-1]
    u[:-1] *= u[1:]
    return u


@case((V,))
def nonlinear_overwrites(x):
    u = x.copy()
    u[1:4] = np.exp(u[1:4] * 0.3)
    u[:] = u * u
    v = np.tanh(u)
    u[0] = v[1] * u[2]
    u[2:] = np.sin(u[2:]) * v[2:]
    return u * v


@case((V,))
def constant_overwrite_cuts(x):
    u = x * x
    s = np.sum(u)
    u[:] = 1.0
    u[0] = x[1]
    return u * s


# ---- views and aliases


@case((V,))
def view_written(x):
    u = x * x
    v = u[1:4]
    v *= 2.0
    v[0] = x[0]
    w = v[1:]
    w += x[3:]
    return u * x


@case((V,))
def view_read_after_write(x):
    u = x * 2.0
    v = u[1:4]
    u[2] = x[0] * x[1]
    return v * v


@case((V,))
def two_names(x):
    u = x + 0.0
    v = u
    v[0] = x[1]
    v += 1.0
    return u * v


@case((N,))
def reshape_and_transpose(a):
    u = a * 1.0
    u.reshape(-1)[2] = a[0, 0] * 3.0
    u.T[1, 0] = a[1, 1]
    r = u.ravel()
    r[5] = r[0] * r[1]
    np.transpose(u)[3] *= 2.0
    return u * a


@case((N,))
def asarray_is_the_array(a):
    u = a.copy()
    v = np.asarray(u)
    v[0, 1:3] = a[1, :2] ** 2
    return u * a


@case((V,))
def split_parts(x):
    u = x[:4] * 1.0
    a, b = np.split(u, 2)
    a += b
    b *= a
    return u


@case((N,))
def rows_bound_by_a_loop(a):
    u = a * 1.0
    for row in u:
        row += row[::-1] * 0.5
        row[0] = row[1] * row[2]
    return u


@case((N,))
def rows_in_lockstep(a):
    u, t = a * 1.0, a * 2.0
    for k, (p, q) in enumerate(zip(u, t)):
        p *= q
        q[k] = p[0] + k
    return u + t


@case((N,))
def rows_unpacked(a):
    u = a.copy()
    p, q = u
    p -= q
    q[:] = p * p
    return u


@case((V, 0.3), (V, 2.0))
def view_chosen_by_a_branch_is_read(x, s):
    u = x * x
    u[0] = s
    v = u[:2] if s > 1.0 else u[2:4]
    return v * v * s


@case((V, 0.3), (V, 2.0))
def written_on_one_path(x, s):
    u = np.exp(x * 0.3)
    if s > 1.0:
        u[1:3] = u[1:3] * s * u[0]
    else:
        u[0] *= s
        u = u * 2.0
    return u * u[0]


# ---- loops


@case((V,))
def filled_in_a_loop(x):
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i] * x[n - 1 - i]
    return out * out


@case((V,))
def filled_from_empty(x):
    out = np.empty_like(x)
    for i, v in enumerate(x):
        out[i] = np.sin(v) * i
    return out


@case((V,))
def running_products(x):
    out = np.empty(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = out[i - 1] * x[i]
    return out


@case((V, 4))
def heat_steps_in_place(x, n):
    u = x.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


@case((V, 4))
def nonlinear_steps_in_place(x, n):
    u = x.copy()
    for k in range(n):
        u[1:-1] += 0.1 * u[2:] * u[:-2] - 0.05 * u[1:-1] ** 2
        u[0] = np.sin(u[-1]) * k
    return u * u


@case((V, 3))
def ping_pong_buffers(x, n):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(n):
        b[1:-1] = a[1:-1] * a[2:] + 0.1 * a[:-2]
        b[0] = a[0]
        b[-1] = a[-1] * a[0]
        a, b = b, a
    return a * b


@case((V, 3))
def steps_from_buffer_to_buffer(x, n):
    old = x * 1.0
    for _ in range(n):
        new = old.copy()
        for k in range(len(x)):
            change = 0.5 * old[k]
            if k > 0:
                change = change + old[k - 1] * x[k]
            new[k] = old[k] - 0.1 * change
        old = new
    return old * x


@case((V, 3))
def rebound_in_a_loop(x, n):
    u = x * 1.0
    for _ in range(n):
        new = np.zeros_like(u)
        new[1:] = u[:-1] * u[1:]
        new[0] = u[0]
        u = new
    return u


@case((V,))
def workspace_reused(x):
    work = np.zeros(3)
    total = 0.0
    for i in range(3):
        work[:] = x[i : i + 3]
        work *= work[::-1]
        work[1] += x[i]
        total += np.sum(work * work) * x[i]
    return total


@case((V,))
def gauss_seidel(x):
    u = x.copy()
    for _ in range(3):
        for i in range(1, 4):
            u[i] = 0.3 * u[i - 1] * u[i + 1] + 0.4 * u[i] ** 2
    return u


@case((N, 2))
def gauss_seidel_plane(a, n):
    u = np.zeros((4, 4))
    u[1:3, :] = a
    for _ in range(n):
        for i in range(1, 3):
            for j in range(1, 3):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] * u[i, j + 1])
    return u


@case((M, V))
def forward_substitution(m, b):
    n = m.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - np.dot(m[i, :i], x[:i])) / (m[i, i] + 2.0)
    return x


@case((M,))
def cholesky_by_loops(m):
    a = m @ m.T + 3.0 * np.eye(3)
    n = a.shape[0]
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - np.dot(l[i, :j], l[j, :j])
            if i == j:
                l[i, j] = np.sqrt(s)
            else:
                l[i, j] = s / l[j, j]
    return l


@case((M,))
def lu_in_place(m):
    a = m + 4.0 * np.eye(3)
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@case((M, V))
def elimination_with_pivots(m, v):
    a, b = m.copy(), v[:3].copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@case((V, 3.0))
def while_that_writes(x, limit):
    u = np.zeros(8)
    k = 0
    total = 0.0
    while total < limit and k < 8:
        u[k] = x[k % 5] ** 2
        total = total + u[k]
        k += 1
    return u * total


@case((V, 5))
def history_by_row(x, n):
    h = np.zeros((n, 5))
    h[0] = x
    for k in range(1, n):
        h[k] = h[k - 1] * 0.9 + 0.1 * h[k - 1][::-1] * h[0]
    return h


@case((V, 4))
def written_after_a_break(x, n):
    u = np.zeros(n)
    for k in range(n):
        if k == 2:
            u[k] = x[0]
            break
        u[k] = x[k] * x[0]
    else:
        u[0] = 5.0
    u[3] = u[0] * u[1]
    return u


@case((M, 0.5), (M, -0.5))
def read_by_a_loop_and_then_written_on_one_path(m, s):
    u = np.zeros_like(m)
    for i in range(3):
        u[i] = m[0]
    if s > 0:
        m -= 1.0
    return m + u * u


@case((M, 0.5), (M, -0.5))
def transposed_and_written_on_one_path(m, s):
    u = np.sin(m)
    if s > 0:
        u = u.T / (1.5 + u**2)
        u[:2, 1:3] += 1.0
    return u * u


@case((V, 0.5), (V, 0.1))
def swapped_on_one_path_in_a_loop(x, s):
    u = x * 1.0
    x -= 1.0
    u /= x
    for _ in range(3):
        if s > 0.3:
            u, x = x, u
        else:
            np.copyto(x, u)
            u[0] = x[1] * x[2]
    return x * u * u


@case((W, 0.5), (W, -0.5))
def views_of_views_written_on_one_path(x, s):
    u = s * np.ones(5)
    if s < 0:
        u[0] *= 2.0
    else:
        x[::-1][-1:0:-2] *= s
    return x * u


@case((M, S))
def copied_before_a_loop_that_writes(m, s):
    for i in range(1, 3):
        u = m + 0.0
        for _ in range(2):
            m[i] *= u[0]
            m -= s
    return m


@case((V, W))
def memory_that_only_loops_without_adjoints_write(x, y):
    u = x * x
    k = 0
    while k < 2:
        for _ in range(2):
            x += 1.0 / (1.5 + y[-1] ** 2)
        for _ in range(2):
            y[[1, 0]] *= np.sin(y[:2]) + 1.0
        k += 1
    return u * y


@case((V,))
def local_buffer_in_each_iteration(x):
    total = 0.0
    for i in range(4):
        t = np.zeros(3)
        t[0] = x[i]
        t[1:] = np.cos(x[i + 1]) * t[0]
        t[0] = t[1] * t[2]
        total = total + np.prod(t) * t[0]
    return total


@case((V,))
def view_carried_through_a_loop(x):
    u = x * 1.0
    v = u[1:4]
    for k in range(3):
        v[k] = v[k - 1] * u[0]
        u[4] += v[k]
    return u * u


@case((V,))
def mutated_while_iterating(x):
    u = x.copy()
    total = 0.0
    for k, v in enumerate(u):
        total = total + v * v
        if k + 1 < 5:
            u[k + 1] = v * x[k + 1]
    return total * u


# ---- NumPy functions that write


@case((V, W))
def out_arguments(x, y):
    u = np.zeros(5)
    np.multiply(x, y, out=u)
    v = np.add(u, x, out=u)
    np.exp(u[:2], out=u[1:3])
    np.sin(x, out=u)
    return u * v


@case((V, W))
def out_and_where(x, y):
    u = x * 1.0
    np.multiply(x, y, out=u, where=x > 0)
    np.copyto(u, y, where=y > 0.6)
    return u * x


@case((V, W))
def out_by_position(x, y):
    u, v = np.zeros(5), np.zeros((1, 5))
    np.cumsum(x, 0, None, u)
    np.sum([u * x, y], 0, None, v[0])
    return u * v


@case((V, W))
def views_without_axes(x, y):
    u = x.copy()
    first = u[0, ...]
    first[...] = y[1] * u[2]
    second = u[1:2].reshape(())
    second += y[0]
    third = first * u[...]
    u[0] = y[3]
    return third * first + u * second


@case((V, W))
def written_by_names(x, y):
    u = x.copy()
    np.copyto(dst=u, src=y, where=x > 0)
    np.put(a=u, ind=[0, 3], v=y[1:3] ** 2)
    np.fill_diagonal(a=u[:4].reshape(2, 2), val=y[4])
    u.sort(axis=0)
    return u * x


@case((V, W), order=1)
def nan_replaced(x, y):
    u = x * 1.0
    u[1] = np.nan
    v = np.nan_to_num(u, copy=False, nan=3.0)
    v *= y
    return u * np.nan_to_num(u)


@case((V,))
def copied_with_more_axes(x):
    u = x * 1.0
    v = np.array(u, ndmin=2)
    v[0, 0] = u[1] ** 2
    return u + v


@case((V, W))
def copyto_and_fill(x, y):
    u = np.empty(5)
    u.fill(x[0])
    np.copyto(u[1:3], y[:2])
    v = u.copy()
    u.fill(0.0)
    return u + v * y


@case((N,))
def put_in_a_plane(a):
    u = a.copy()
    np.put(u, [0, 5], a[0, 1:3] ** 2)
    return u * a


@case((M, V))
def diagonal_filled(m, x):
    u = m * 1.0
    np.fill_diagonal(u, x[0])
    v = m.copy()
    np.fill_diagonal(v, x[1:4])
    return u * v


@case((V,))
def sorted_in_place(x):
    u = x * x
    u.sort()
    u[0] = u[1] * u[4]
    return u * x


@case((V,))
def cumulative_out(x):
    u = np.empty(5)
    np.cumsum(x * x, out=u)
    return u * x


# ---- helpers, containers, objects


def _scale(a, s):
    a *= s
    a[0] = s


def _middle(a):
    return a[1:-1]


def _same(a):
    a[-1] += 1.0
    return a


@case((S, M))
def parts_of_rows_by_an_array(s, a):
    u = a * 1.0
    for row in u:
        row[:-1] /= np.full(len(row) - 1, s)
    return np.sum(u * a) * s


@case((M,))
def neighbouring_rows(m):
    u = m * 1.0
    u[0] *= u[1]
    total = sum(np.sum((a - b) ** 2) for a, b in zip(u[:-1], u[1:]))
    for a, b in zip(u[:-1], u[1:]):
        total += (a @ b) ** 2
    rows = []
    for row in u:
        rows.append(row * total)
    return sum(np.sum(a * b * b) for a, b in zip(rows[:-1], rows[1:]))


@case((M, S))
def neighbouring_rows_written(m, s):
    u = m * 1.0
    for k, (a, b) in enumerate(zip(u[:-1], u[1:])):
        b -= s * a * a
        if a[0] > 0:
            a[k:] *= b[0]
        else:
            a[:], b[:] = b, a
    return u


@case((V, S))
def negative_of_a_view_read_while_it_is_written(x, s):
    u = x * 1.0
    v = u.ravel()
    v += s
    w = 1.0 - v
    for _ in range(3):
        v += w * v
    return u * w


@case((M,))
def row_bound_on_some_paths(x):
    u = x * 1.0
    if x[0, 0] > -9.0:
        for row in u:
            row *= 2.0
            last = row
    last[0] += u[0, 1] * u[1, 1]
    return u * last[1]


def _doubled_rows(u):
    if u[0, 0] > -9.0:
        for row in u:
            row *= 2.0
            box = [row]
        box[0][0] *= u[1, 1]


@case((M,))
def row_kept_in_a_list_on_some_paths(x):
    u = x * 1.0
    for k in range(2):
        if k == 1:
            continue
        _doubled_rows(u)
    return u * x


def _first_positive(row):
    j = 0
    while row[j] < 0.0:
        j += 1
    return j


@case((M,))
def row_found_on_some_paths(x):
    u = x * 1.0
    for k in range(4):
        if k != 1:
            if u[0, 0] > -9.0:
                row = u[_first_positive(x[k % 3])]
                row[0] *= u[1, 1]
    return u * x


@case((M,))
def row_of_rows_found_on_some_paths(x):
    u = x * 1.0
    for k in range(4):
        if k != 1:
            j = _first_positive(x[k % 3])
            u[j:][0] *= u[1, 1]
    return u * x


@case((M,))
def last_row_on_some_paths(x):
    u = x * 1.0
    for k in range(4):
        if k != 1:
            for row in u:
                row *= 2.0
            row[0] *= u[1, 1]
    return u * x


@case((V, S))
def helper_that_mutates(x, s):
    u = x * x
    _scale(u, s)
    _scale(u[2:], s * s)
    return u * x


@case((V, S))
def helper_that_returns_a_view(x, s):
    u = x * x
    _middle(u)[0] = s
    m = _middle(u)
    m *= x[0]
    return u


@case((V,))
def helper_that_returns_its_argument(x):
    u = x * 2.0
    v = _same(u)
    v[0] = x[1] * x[2]
    return u * x


@case((V, S))
def argument_written(x, s):
    x[0] = s
    x[1:3] *= x[3]
    return x * s


@case((V, S))
def closure_that_mutates(x, s):
    u = np.zeros(5)

    def put(i, v):
        u[i] = v
        u[i + 1] += v * s

    put(0, x[0])
    put(2, x[1] * x[2])
    return u * x


class Tank:
    def __init__(self, level):
        self.level = level.copy()
        self.time = 0.0

    def step(self, dt):
        self.level[1:] += dt * (self.level[:-1] - self.level[1:]) * self.level[0]
        self.time += dt
        self.level *= 1.0 - dt


@case((V, 0.1))
def object_with_state(x, dt):
    tank = Tank(x)
    for _ in range(3):
        tank.step(dt)
    return tank.level * tank.time


@dataclasses.dataclass
class Grid:
    u: np.ndarray
    f: np.ndarray


@case((V, W))
def dataclass_of_arrays(x, y):
    g = Grid(x * 1.0, y * 1.0)
    g.u[0] = y[1]
    g.f += g.u
    g.u *= g.f
    return g.u + g.f


@case((V, W))
def arrays_in_containers(x, y):
    arrays = [x * 1.0, y * 1.0]
    arrays[0][1] = y[0]
    arrays[1] *= arrays[0]
    table = {"a": arrays[0] + 0.0, "b": np.zeros(5)}
    table["b"][:3] = table["a"][2:]
    table["a"] += table["b"]
    return table["a"] * arrays[1]


@case((V,))
def copies_kept_in_a_list(x):
    u = x * 1.0
    history = []
    for k in range(3):
        u[k] = u[k] * u[k + 1]
        history.append(u.copy())
    return sum(h * (k + 1) for k, h in enumerate(history))


@case((V,))
def under_errstate(x):
    u = np.zeros(5)
    with np.errstate(divide="ignore"):
        u[:] = x / (x + 3.0)
        u[0] = np.log(u[3] + 1.0)
    return u * u


@case((V,))
def under_try(x):
    u = x.copy()
    try:
        s = math.log(x[1])
    except ValueError:
        s = x[2] * x[2]
    u[0] = s
    return u * x


# ---- arrays that take turns, names that are bound anew


@case((V, S))
def three_take_turns(x, s):
    before, now, after = x.copy(), 2.0 * x, np.zeros_like(x)
    for _ in x:
        after[1:-1] = 2.0 * now[1:-1] - before[1:-1] + s * (now[2:] - now[:-2] * now[1:-1])
        before, now, after = now, after, before
    return before * now + after


@case((V, S))
def turns_by_a_third_name(x, s):
    u, v = x.copy(), np.zeros_like(x)
    for _ in x:
        v[1:] = s * u[:-1] + v[1:]
        spare = u
        u = v
        v = spare
        spare[0] *= u[1]
    for y in x[:3]:
        v[1:] = u[:-1] * y
        other = u
        u = v
        v = other
    v[2] = u[0] * s
    return u * u + v


@case((V, S))
def turns_in_a_tuple_and_a_list(x, s):
    fields = (x.copy(), 2.0 * x, np.ones_like(x))
    for _ in x:
        a, b, c = fields
        c[1:] = a[:-1] * s - b[1:]
        fields = (b, c, a)
    rows = list(fields)
    for _ in x[:4]:
        rows[0][:2] = rows[1][1:3] * s
        rows = rows[1:] + rows[:1]
    return rows[0] * rows[1] + rows[2]


@case((V, V[:3], S))
def turns_of_different_lengths(x, y, s):
    u, v = x * 1.0, y * 1.0
    k = 0
    while k < 5:
        u[0] = s * v[1] * u[1]
        u, v = v, u
        if u[0] > 0.1:
            u[2] += v[2]
        k += 1
    return np.sum(u) * np.sum(v)


def _swept(u, v, rate):
    for _ in range(int(rate * 0) + 3):
        v[1:] = rate * u[:-1] + v[1:]
        u, v = v, u
    return u, v


@case((V, S))
def turns_in_a_function(x, s):
    u, v = x.copy(), x * x
    for _ in x:
        u, v = _swept(u, v, s)
        v[0] = u[1]
    return u * v


@case((V, S))
def turned_under_a_test(x, s):
    u, v, w = x.copy(), 2.0 * x, 3.0 * x
    for y in x:
        w[1:] = u[:-1] * v[1:] * s
        if y > 0.5:
            u, v, w = v, w, u
        elif y < 0:
            v, w = w, v
        else:
            continue
        v[0] = w[1]
    return u * v + w


@case((M, S))
def one_name_for_a_view_in_each_loop(m, s):
    u, v = m.copy(), m * m
    for k in range(len(u)):
        r = u[k]
        r[1:] = s * r[:-1]
        r = v[:, k]
        r *= r[1]
    for k in range(len(u)):
        r = v[k] * s
        r[0] = 1.0
        u[:, k] += r
    r = u[0]
    r[1] = r[0] * v[0, 0]
    return u * v


@case((M, S))
def a_view_and_then_what_is_computed_of_it(m, s):
    u = m.copy()
    w = np.zeros(3)
    for k in range(2):
        column = u[:, k]
        w[:] = column * s
        u[:, k] = w - 1.0
    for k in range(len(u)):
        rest = u[:, k] - w * u[:, 0]
        w[:] = rest
        u[:, k] = s * rest
    return u * w


@case((V, S))
def a_view_of_what_takes_turns(x, s):
    u, v = x.copy(), np.zeros_like(x)
    for _ in x:
        inner = v[1:-1]
        inner[:] = u[2:] * s
        u, v = v, u
        inner += v[1:-1]
    inner[0] = v[0]
    return u * v


# ---- names that are one of several arrays, by data


@case((V, W, S), (V, W, -S))
def either_of_two(x, y, s):
    u, v = 2.0 * x, 3.0 * y
    target = u if s > 0 else v
    target[1:] = x[:-1] * v[1:] * s
    target *= 1.5
    return u * v + target


@case((V, W, S), (V, W, -S), (V, W, 0.1))
def one_of_three(x, y, s):
    u, v, w = 2.0 * x, 3.0 * y, x * y
    if s > 0.5:
        target, source = u, v
    elif s > 0:
        target, source = v, w
    else:
        target = w
        source = u
    target[0] = s * source[1]
    part = target[1:]
    part *= source[:-1]
    return u * v + w


@case((V, W))
def larger_and_smaller_in_a_loop(x, y):
    u, v = 2.0 * x, 3.0 * y
    for s in x:
        if u[0] > v[0]:
            high, low = u, v
        else:
            high, low = v, u
        high[0] *= 0.5
        low[1:3] += s * high[:2]
        if s > 2.0:
            break
        high[4] = low[0]
    return u * v


@case((V, W, S), (V, W, -S))
def an_argument_or_the_other(x, y, s):
    if s > 0:
        x = y
    x[0] = s * x[1]
    y[1] += s
    return x * y


@case((M, S))
def rows_of_two_arrays(m, s):
    u, v = m.copy(), m * m
    k = 0
    for w in m[0]:
        r = u[k] if w > 0 else v[:, k]
        r[1:] = s * r[:-1]
        k += 1
    return u * v


@case((V, S), (V, -S))
def its_copy_or_itself(x, s):
    u = 2.0 * x
    v = u if s > 0 else u.copy()
    v[0] = s
    return u * v


@case((V, S), (V, -S))
def from_one_end_or_the_other(x, s):
    u = 2.0 * x
    v = u[1:] if s > 0 else u[:-1]
    v[1:] = v[:-1] * s
    return u * u


@case((M,))
def lu_by_elements(m):
    """Elements are read in more loops than there are around their writes."""
    a = m + 4.0 * np.eye(3)
    n = len(a)
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@case((M, N))
def triangular_product_in_place(m, b):
    """What an inner loop adds to is not what it reads."""
    b = np.concatenate((b, b[:1] + 1.0))
    rows, columns = b.shape
    for i in range(rows):
        for j in range(columns):
            for k in range(i + 1, rows):
                b[i, j] += m[k, i] * b[k, j]
            b[i, j] = 2.0 * b[i, j]
    return b


@case((M, V))
def rows_by_a_work_array(m, v):
    """A work array is written in two loops, and read in three."""
    a, s = m.copy(), np.zeros(3)
    for i in range(3):
        for p in range(3):
            s[p] = 0.0
            for k in range(3):
                s[p] += a[i, k] * v[k + p - 2]
        for p in range(3):
            a[i, p] = s[p] * v[p]
    return a


@case((V, 2))
def written_between_reads(x, n):
    """A number that is read again would not be the same: it is kept."""
    u = x.copy()
    total = 0.0
    for k in range(n):
        for i in range(4):
            t = u[i]
            for j in range(2):
                total += t * u[j] * x[i]
            u[i] = np.sin(total)
    return u * total


@case((V, W))
def items_read_when_it_is_their_turn(x, y):
    u, v = x * 1.0, y * 1.0
    total = 0.0
    for s in u[:2]:
        u[1] = u[1] * s + v[0]
        total = total + s * s
        spare = u
        u = v
        v = spare
        if y[0] < -5.0:
            spare[0] = total
    return total


@case((V, W))
def names_read_after_the_loop(x, y):
    u, v = x * 1.0, y * 1.0
    for s in x:
        v[1:] = u[:-1] * s + v[1:]
        part = v[1:-1]
        u, v = v, u
        fresh = v * s
        fresh[0] = u[1]
        last = fresh
    part[0] = v[1]
    return u * v + last * part[1]


@case((N, 3))
def columns_by_an_ellipsis_are_views(m, n):
    u = m * 1.0
    total = 0.0
    for k in range(n):
        column = u[..., k : k + 1]
        u[0] *= 2.0 + m[0, 0]
        block = u[k % 2 :, ..., None]
        u[1] += u[0] * m[1]
        total += np.sum(column * column) * np.sum(block[..., 0])
    return total


@case((V, M))
def rows_written_while_a_view_is_read(x, m):
    u = m
    for k in range(len(u)):
        part = u[..., k : k + 1]
        for row in m:
            row[-2:] = x[:2] * part[np.array([0, 1]), -1]
    return u * u


@case((N, (slice(None), 1)), (N, (1, Ellipsis)), (N, np.array([1, 0])))
def index_given_from_outside(m, index):
    u = m * 1.0
    part = u[index]
    u[0] *= 2.0 + m[0, 0]
    return np.sum(part * part) + np.sum(u)
