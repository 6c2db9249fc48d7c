"""Reading arrays by every kind of index."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1, 1.1])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])
T = (np.arange(24.0).reshape(2, 3, 4) - 7.3) / 9


@case((V,))
def integers(x):
    return x[0] * x[-1] + x[2] ** 2 + x[np.int64(1)] * x[True + 1]


@case((M,))
def pairs_of_integers(m):
    return m[0, 1] * m[1, -1] + m[1][2] * m[-1, 0] + m[(0, 0)]


@case((M,))
def rows_and_columns(m):
    return m[0] * m[1] + m[:, 1][0] * m[-1, :] + m[..., 2][1]


@case((V,))
def slices(x):
    return x[1:4] * x[:3] + x[-3:] * x[2:] + x[::2] + x[3:0:-1]


@case((V, 1, 4))
def slices_of_run_time_bounds(x, i, j):
    n = len(x)
    return x[i:j] * x[j - 3 : n - 1] + x[n - 3 :]


@case((M,))
def slices_of_two_axes(m):
    return m[:, 1:] * m[:, :-1] + m[::-1, ::2] * m[:1, 0:2]


@case((T,))
def ellipsis_and_new_axis(t):
    return t[..., 0] * t[0, ..., 1] + t[:, None, :, 2][:, 0] + t[1, ...][:, 3]


@case((V,))
def new_axis_and_slice(x):
    return x[:, None] * x[None, 1:3] + x[np.newaxis, :2]


@case((V,))
def integer_array(x):
    return x[np.array([0, 2, 4])] * x[[1, 1, 3]]


@case((V,))
def repeated_indices(x):
    i = np.array([1, 1, 1, 0, -1])
    return x[i] * x + x[i[i]] * np.array([1.0, 2.0, 3.0, 4.0, 5.0])


@case((V,))
def matrix_of_indices(x):
    return x[np.array([[0, 1], [1, 4]])] ** 2 * x[:2]


@case((M,))
def integer_arrays_of_both_axes(m):
    return m[np.array([0, 1, 0]), np.array([2, 0, 2])] * m[[1, 1, 0], [1, 1, 1]]


@case((M,))
def integer_array_of_one_axis(m):
    return m[:, [2, 0, 2]] * m[[1, 1]] + m[np.array([0, 1]), :]


@case((T,))
def integer_arrays_mixed_with_slices(t):
    return t[:, [0, 2], 1:3] * t[[1, 0], :2, -2:] + t[0, [0, 1], :2]


@case((T,))
def separated_integer_arrays(t):
    return t[[0, 1], :, [3, 0]] * t[1, :, [0, 2]]


@case((V,))
def mask(x):
    return np.sum(x[x > 0] ** 3) * x + np.sum(x[np.array([True, False, True, True, False])])


@case((M,))
def mask_of_matrix(m):
    return np.sum(m[m > 0.4] ** 2) * m + m[np.array([True, False])] * m[:, np.array([0, 1, 2]) > -1]


@case((V,))
def mask_by_nonzero(x):
    (where,) = np.nonzero(x > 0.5)
    return x[where] * x[where[::-1]] + np.sum(x[np.flatnonzero(x < 0)])


@case((V,))
def take(x):
    return np.take(x, [0, 3, 3]) * x.take(np.array([1, 2, 4]))


@case((M,))
def take_along_axes(m):
    return np.take(m, [1, 1, 0], axis=1) * np.take_along_axis(m, np.array([[2, 1, 0]] * 2), axis=1)


@case((M,))
def diagonal_by_index(m):
    i = np.arange(2)
    return m[i, i] * m[i, i + 1]


@case((M,))
def triangle_by_index(m):
    i, j = np.triu_indices(2, m=3)
    return m[i, j] ** 2 * np.arange(1.0, 6.0)


@case((V,))
def index_from_argsort(x):
    order = np.argsort(x)
    return x[order] * np.arange(5.0) + x[order[-1]] * x


@case((1.9, np.array([1.0, 3.0, 0.0, 2.0])))
def table_lookup(t, ys):
    xs = np.array([0.0, 1.0, 2.5, 4.0])
    k = np.searchsorted(xs, t) - 1
    a = (t - xs[k]) / (xs[k + 1] - xs[k])
    return ((1 - a) * ys[k] + a * ys[k + 1]) * t


@case((1.9, np.array([1.0, 3.0, 0.0, 2.0])))
def interpolation(t, ys):
    xs = np.array([0.0, 1.0, 2.5, 4.0])
    return np.interp(t, xs, ys) * t


@case((V,))
def chained_indices(x):
    y = x[1:]
    z = y[::2]
    return z[1] * y[0] + z[0] ** 2 + x[1:][1:][0]


@case((V,))
def stencil(x):
    return (x[2:] - 2.0 * x[1:-1] + x[:-2]) * x[1:-1]


@case((M,))
def stencil_of_two_axes(m):
    return (m[1:, 1:] - m[:-1, :-1]) * m[1:, :-1]


@case((V, 4))
def stencil_in_loop(u, steps):
    for _ in range(steps):
        inner = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        u = np.concatenate([u[:1], inner, u[-1:]])
    return u


@case((V, 3))
def index_carried_in_loop(x, n):
    i = 0
    total = 0.0
    for k in range(n):
        total = total * 0.5 + x[i] * x[k]
        i = (i + 2) % len(x)
    return total * x[i]


@case((V,))
def index_depends_on_value(x):
    k = int(x[3])
    return x[k] * x[k + 1] + x[round(x[4])] ** 2


@case((V,))
def element_read_many_times(x):
    a = x[1]
    b = x[1]
    return a * b + x[1] * x[1] * x[2]


@case((V,))
def item_and_tolist(x):
    p = x.tolist()
    return p[0] * p[1] + x[2].item() * x.item(3)


@case((M,))
def iteration_by_flat_index(m):
    flat = m.ravel()
    total = 0.0
    for i in range(m.size):
        total += flat[i] * flat[-i]
    return total


@case((V,))
def index_tuple_built(x):
    index = (slice(1, 3),)
    return x[index] * x[slice(0, 2)] + x[(slice(None, None, 2),)][:2]


@case((T,))
def index_tuple_of_run_time_axes(t):
    total = 0.0
    for axis in range(3):
        index = [slice(None)] * 3
        index[axis] = slice(1, None)
        total = total + np.sum(t[tuple(index)] ** 2) * (axis + 1)
    return total


@case((M,))
def argmax_along_axis(m):
    best = np.argmax(m, axis=1)
    return m[np.arange(2), best] ** 2


@case((V,))
def unique_and_bincount_are_constants(x):
    groups = np.array([0, 1, 1, 2, 0])
    counts = np.bincount(groups)
    return x * counts[groups] + x**2 * len(np.unique(groups))


@case((np.arange(20.0) / 10,))
def slices_of_more_than_the_samples_have(x):
    total = np.sum(x[:-15] ** 2) + np.sum(x[15:] * x[:-15]) + np.sum(x[-15:] ** 2)
    return total + np.sum(x[:15] * 3) + np.sum((x[::15] * np.ones((2, 1))) ** 2)


@case((V[:2],), (V[:3],), (V,))
def slices_cut_off_where_the_array_ends(x):
    total = np.sum(x[4:0:-1] * np.ones((2, 1))) + np.sum(x[:3] ** 2 - np.full((2, 1), 2.0))
    return total + np.sum(x[[1, 0]][-3:] * np.ones((2, 1))) + np.sum(np.ones((2, 1)) * x[1:4] ** 2)


@case((M, V[:3]), (M.T, V[:2]))
def slices_of_several_axes_cut_off(m, x):
    total = np.sum(m[:3, 1:4] * np.ones((2, 1, 1))) + np.sum(m[[0, 1, 1], :3] * x)
    return total + np.sum(x * m[1, :3][::-1]) + np.sum(m[2:0:-1] - np.full(x.shape[0], 1.0))


@case((V[:2],), (V[:3],), (V,))
def sizes_that_are_a_number_only_where_others_are_large(x):
    w = np.array([0.5, -0.2, 1.1])
    m = x[:, None] * w
    total = np.sum(np.diagonal(m) ** 2 * np.ones((2, 1)))
    return total + np.sum((np.diagonal(m, 1) - np.full(1, 2.0)) * np.ones((2, 1)))


@case((np.array([2.0, 3.0]), 5000), argnums=0)
def ranges_by_a_large_step(x, n):
    return np.sum((x[:, None] * np.arange(0, n, 1000) / 1000) ** 2) + np.sum(
        x[:1] * np.arange(n)[::1000]
    )


@case((V,), (V[:2],))
def slices_clipped_to_what_there_is(x):
    return np.sum(x[:3] ** 2) * np.sum(x[:3] * x[1:4]) + x[2:0:-1] * x[:2] + x[-2:] ** 2


@case((np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]]),))
def clipped_rows_written(m):
    m[2:0:-1] *= np.full(3, 2.0) * m[0]
    return m * m


@case((np.array([2.0, 1.0, 3.0]), np.array([0.0, 0.0, 1.0])), argnums=0)
def places_of_entries_that_are_not_zero(x, flags):
    return x[np.nonzero(flags)] * np.array([1.0, 2.0, 3.0]) * x + x


@case((np.array([0.0, 1.0, 2.5, 4.0]), np.array([0.3, 0.5, 0.9, 0.2]), 1.7))
def places_that_were_searched_and_bounded(x, y, t):
    n = len(x)
    total = 0.0
    for u in (t, t * 0.5, t * 2):
        i = min(max(np.searchsorted(x, u) - 1, 0), n - 2)
        total += y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (u - x[i]) * i
    k = np.argmax(y) if total > 1 else 0
    return total * y[k] ** 2 * (k + 1)
