"""Arrays in lists, dicts and tuples that are written where they are kept."""

import numpy as np

from .registry import case

V = np.array([0.5, -1.2, 0.8, 1.5])
W = np.array([1.1, 0.4, -0.7, 0.9])


@case((V, W, 2))
def list_of_a_comprehension(x, y, n):
    rows = [x * (i + 1) for i in range(3)]
    for k in range(n):
        for row in rows:
            row *= y[0] + row[k]
        rows[0][1] += rows[2][0]
    return rows[0] + rows[1] * rows[2]


@case((V, W))
def list_that_grows_and_is_written(x, y):
    rows = []
    for i in range(3):
        row = x * y[i]
        rows.append(row)
        row[0] = i * y[1]
    rows[-1][1] *= 3
    return rows[0] * rows[2]


@case((V, W))
def stages_of_runge_kutta(x, y):
    def slope(u, out):
        out[:2] = u[2:] * y[:2]
        out[2:] = -np.sin(u[:2])
        return out

    u = x.copy()
    stages = [np.empty_like(u) for _ in range(4)]
    for _ in range(2):
        slope(u, stages[0])
        slope(u + 0.05 * stages[0], stages[1])
        slope(u + 0.05 * stages[1], stages[2])
        slope(u + 0.1 * stages[2], stages[3])
        u += (stages[0] + 2 * stages[1] + 2 * stages[2] + stages[3]) / 60
    return u


@case((V, W))
def grid_of_arrays(x, y):
    cells = [[np.zeros(2) for _ in range(2)] for _ in range(2)]
    for i in range(2):
        for j in range(2):
            cells[i][j][:] = x[:2] * (i + j) + y[2:]
            cells[i][j][0] += cells[i - 1][j][1]
    return sum(c * c for row in cells for c in row)


@case((V, W))
def one_array_three_times(x, y):
    a = x.copy()
    rows = [a for _ in range(3)]
    for i, row in enumerate(rows):
        row[i] *= y[i]
        row += rows[0][0]
    return a * a


@case((V, W))
def buffers_by_turns(x, y):
    buffers = [x.copy(), np.zeros(4)]
    for i in range(3):
        here, there = buffers[i % 2], buffers[(i + 1) % 2]
        there[:] = here * y
        there[1:] += here[:-1] ** 2
    return buffers[0] * buffers[1]


@case((V, W))
def momentum_made_when_needed(x, y):
    params, speeds = {"a": x.copy(), "b": y.copy()}, {}
    for _ in range(2):
        slopes = {"a": params["a"] * params["b"], "b": params["a"] ** 2}
        for name in params:
            if name not in speeds:
                speeds[name] = np.zeros_like(params[name])
            speeds[name] *= 0.9
            speeds[name] += slopes[name]
            params[name] -= 0.1 * speeds[name]
    return params["a"] + params["b"]


@case((V, W, 1), (V, W, 3))
def buffer_read_at_a_run_time_index(x, y, k):
    rows = [x.copy(), y.copy()]
    rows[0][1] *= y[1]
    rows[1] += rows[0]
    return rows[k % 2] * x


@case((V, W), order=1)  # the oracle does not know qr
def parts_of_a_factorisation(x, y):
    a = np.outer(x, y) + np.diag([3.0, 4.0, 5.0, 6.0])
    q, r = np.linalg.qr(a)
    r[0] *= x[0]
    q[:, 1] += r[1]
    s = np.linalg.solve(a, x)
    s[1:] *= s[0]
    return q @ r + s


@case((V, W))
def made_by_functions_of_several_steps(x, y):
    a = np.block([[np.outer(x, y)], [y]])
    a[4] *= a[0]
    b = np.r_[x, 1.0]
    b[0] = b[4] * y[0]
    c = np.add.reduce([x, y])
    c[1] *= c[2]
    d = np.hstack([np.outer(x, x) + 3 * np.eye(4), y[:, None]])
    for i in range(4):
        d[i] /= d[i, i]
        for k in range(4):
            if k != i:
                d[k] -= d[k, i] * d[i]
    return np.sum(a**2) + np.sum(b * b[::-1]) + c * d[:, 4]


@case((0.7, 1.3))
def list_by_slices(x, y):
    values = [x, y, x * y, 2.0 * x]
    values[1:3] = [y, x * y, x * x]
    values[:0] = [y * y]
    del values[1]
    values[::2] = [values[0] * 2, values[2] * y, values[4]]
    copy = values[:]
    copy[:] = [v * v for v in values]
    return sum(v * (k + 1) for k, v in enumerate(values)) * copy[2]


@case((V, W))
def list_of_run_time_length_by_slices(x, y):
    values = list(x)
    values[1:3] = [y[0], x[0] * y[1], x[1] * x[1]]
    values[:1] = []
    values[-1:] = values[:2]
    values[2:1] = list(y)
    return sum(v * (k + 1) for k, v in enumerate(values)) * len(values)


@case((0.7, 3))
def lists_of_run_time_length_by_stars(x, n):
    values, powers = [x], []
    for i in range(n):
        values = [*values, values[-1] * x + i]
        powers.extend(values)
    return sum(v * (k + 1) for k, v in enumerate([1.0, *powers, x])) + len(values)


@case((np.array([[-0.4, 0.44, 1.35], [0.62, 1.1, -0.84], [-0.96, 1.02, -1.23]]),))
def put_under_a_transposed_adjoint(m):
    u = m.copy()
    np.put(u, [0, 1], m[0, -2] * u[1, 1])
    return m * np.where(m > 0.31, u.T, (2 * u).T)


@case((np.array([[-0.4, 0.44, 1.35], [0.62, 1.1, -0.84], [-0.96, 1.02, -1.23]]),))
def flat_view_under_a_transposed_adjoint(m):
    u = m.copy()
    flat = u.reshape(-1)
    flat[[0, 1]] = m[0, -2] * u[1, 1]
    return m * np.where(m > 0.31, u.T, (2 * u).T)


@case((np.array([[-0.4, 0.44, 1.35], [0.62, 1.1, -0.84], [-0.96, 1.02, -1.23]]),))
def put_into_views(m):
    u = m * 1.0
    np.put(u[:-1, :2], [0, -1], m[1] * 2)
    np.put(u[1], 1, u[0, 0] * u[2, 2])
    np.put(u[0, ::2], [1, 1], m[2])
    return u


@case((np.array([[-0.4, 0.44, 1.35], [0.62, 1.1, -0.84], [-0.96, 1.02, -1.23]]), 0.7))
def flat_view_under_a_transposed_tangent(m, x):
    u = np.ones((3, 3)) * x
    u += m.T
    v = np.ravel(u)
    v[1:4] = x * v[4:7]
    return u * m


@case((np.array([0.75, -0.96, -1.35]), 0.3))
def one_adjoint_for_a_written_and_a_read_array(x, s):
    u = np.full((3,), s)
    u[[0, 2]] *= s
    v = u + x
    v[::-1] = v * v
    return v


@case((V,))
def view_named_again_in_a_loop(x):
    v = x[0:2]
    v[:] = 1.0 + x[1]
    w = v
    for _ in range(2):
        v = np.roll(w, 1) * x[2]
    return v * w


@case((np.array([[-0.4, 0.44, 1.35, 0.2], [0.62, 1.1, -0.84, 0.5], [-0.96, 1.02, -1.23, 0.8]]),))
def view_of_a_view_in_an_unrolled_loop(m):
    u = m.copy()
    kept = []
    for _ in range(2):
        part = u[...]
        halves = part.reshape(2, 6)
        for k in range(4):
            part[0] *= halves[k % 2, -6]
        kept.append(u)
    return kept


@case((V,))
def array_and_argument_swapped(x):
    u = np.empty(4)
    u[...] = x
    v = u[...]
    for _ in range(2):
        u[1] *= v[2]
        v, x = x, v
    return v * u


@case((V, 0.3))
def row_and_workspace_swapped(x, s):
    p = np.full((3, 3), s)
    w, u = p[0], np.empty(3)
    for _ in range(3):
        w[1] = w[1] * s + x[0]
        u, w = w, u
    return p


@case((np.array([[0.5, -1.0, 2.0, 0.1], [0.3, 0.8, -0.6, 1.2], [1.1, 0.2, 0.4, -0.9]]), 0.3))
def picked_by_a_list_and_divided(m, s):
    part = m[[0, 2], 1]
    part /= 1.5 + s
    other = m[1, [0, 3, 0]]
    other *= s
    return m[:, 1] * np.sum(part) * np.sum(other * other)


@case((np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6], [1.1, 0.2, 0.4]]), 3))
def transposes_of_what_is_written(m, n):
    u = m * 1.0
    total = m * 0.0
    for k in range(n):
        t = u.T
        total = total + (m @ t) ** 2
        u[k] *= m[1, k]
        total = total + np.tanh(t @ m)
    return total * u


@case((np.array([0.7, -1.3]),))
def rows_written_through_a_flat_view(x):
    a = np.zeros((2, 2))
    a[0] = x
    flat = a.reshape(4)
    flat[:2] *= x[0]
    return (a**2).sum()


@case((np.array([0.7, -1.3]),))
def flat_view_and_rows_written_in_turn(x):
    a = np.ones((2, 2))
    flat = a.reshape(4)
    flat[:2] *= x[0]
    flat[1:3] *= x[1]
    a[0] *= x
    return (a * a).sum()


@case((np.array([0.7, -1.3, 0.4, 2.0]),))
def reshaped_value_written_twice(x):
    a = (x * x).reshape(2, 2)
    a[:1] *= x[0]
    a[0] *= x[1]
    return (a**2).sum()


@case((np.array([0.7, -1.3]),))
def ravelled_ones_written_twice(x):
    a = np.ones((2, 2)).ravel()
    a[:2] *= x[0]
    a[:1] *= x[1]
    return (a**2).sum()


@case((np.array([[0.7, -1.3], [0.4, 2.0]]),))
def flat_view_written_in_a_loop_below_a_transpose(m):
    u = 2 * m
    flat = u.reshape(-1)
    for k in range(1, 4):
        flat[k] *= flat[k - 1]
    u[1] *= u[0]
    return m * np.where(m > 0.5, u.T, (2 * u).T)


@case((np.array([[0.7, -1.3, 0.2], [0.4, 2.0, 0.9]]),))
def flat_view_written_between_reads_of_the_transpose(m):
    u, total = m * 1.0, 0.0
    for k in range(3):
        flat = u.reshape(-1)
        total = total + np.sin(u.T) @ m
        flat[k] *= flat[4] * m[1, k]
        total = total + (m @ u.T)[0, 1] * np.cos(flat[1])
    return total @ u.T


@case((V, 0.5), (V, 3.0))
def slice_written_in_one_of_two_branches(x, s):
    x, w = x * 1.0, x * s
    if x[0] > 0.1:
        y = x + 0.0
        if s < 2.0:
            x[1:3] += y[::2][:2] / (1.5 + w[np.array([0, 1])] ** 2)
    return np.sum(x * x)


@case((np.array([[0.26, 0.85, 1.33], [1.0, 1.16, 0.79], [-1.15, 1.08, 0.25]]), 0.3))
def mask_written_in_some_iterations(m, s):
    u, n = np.sin(m), 0
    while n < 2:
        m = m * 0.9
        if m[n - 1, 1] < 0.17 or n == 1:
            low = m <= 0.3127
            u[low] += s / (1.5 + np.sum(m) ** 2)
        n += 1
    return np.sum(u * m)


@case((np.array([[0.26, 0.85], [1.0, -0.79]]), V))
def flat_view_written_in_a_loop_of_a_branch(m, x):
    m = m * 1.0
    if x[0] > 0.1:
        for _ in range(3):
            flat = m.ravel()
            flat[[1, 1, 0]] *= np.sin(x[:3])
    return np.sum(m * (1.0 - m))


@case((np.array([[0.26, 0.85, 0.3], [1.0, -0.79, 1.2], [0.4, 0.6, -0.2]]),))
def swapped_and_written_in_a_loop_of_a_branch(m):
    m = m * 1.0
    u, w = np.array(m), np.sin(m)
    if w[0, 0] > 0.1:
        for _ in range(2):
            m, u = u, m
            u[0] **= 2
        u[-1:0:-2] **= 2
    return np.sum(m * w) + np.sum(u * m.T)


@case((np.array([[-1.18, -0.76, 0.27], [0.45, 1.02, 1.27], [0.8, 1.02, -0.96]]),))
def put_of_what_it_writes_over(m):
    """NumPy copies the values first."""
    m = m * 1.0
    for k in range(1, 3):
        np.put(m[1:3, k], [0, 1], m[k])
    return m * m[::-1]


@case((np.array([[-1.18, -0.76, 0.27], [0.45, 1.02, 1.27]]), np.array([0.3, -0.4])))
def put_along_axes(m, x):
    u = m * 1.0
    np.put_along_axis(u, np.argmax(u, axis=1)[:, None], x[:, None] * u[:, :1], axis=1)
    np.put_along_axis(u, np.array([[0, 1, 1]]), u[1] ** 2, 0)
    np.put_along_axis(u, np.array([[2, 2], [0, -1]]), np.stack([x, x * x]), -1)
    return u * u
