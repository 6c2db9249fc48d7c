"""Functions that only move entries: reshape, transpose, stack, split, repeat, pad, roll, …"""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])
T = (np.arange(24.0).reshape(2, 3, 4) - 7.3) / 9


@case((M,))
def reshape(m):
    return np.reshape(m, (3, 2)) * np.reshape(m, (3, -1)) + np.reshape(m, -1)[1]


@case((M,))
def ravel_and_back(m):
    flat = np.ravel(m)
    return (flat * flat[::-1]).reshape(m.shape) * m


@case((M,))
def transpose(m):
    return np.transpose(m) * m.T + m.reshape(3, 2)


@case((T,))
def transpose_of_three_axes(t):
    return np.transpose(t, (2, 0, 1)) * np.transpose(t).swapaxes(1, 2) + t.transpose(2, 0, 1)


@case((T,))
def swap_and_move_axes(t):
    return np.swapaxes(t, 0, 2)[:, :, 1] * np.moveaxis(t, 0, -1)[:, :, 0].T


@case((T,))
def roll_axis(t):
    return np.moveaxis(t, (0, 1), (1, 2)) * np.rollaxis(t, 2)


@case((V,))
def new_axes(x):
    return np.expand_dims(x, 0) * np.expand_dims(x, -1) + x[None, :] * x[:, np.newaxis]


@case((V,))
def squeeze(x):
    y = x.reshape(1, 4, 1)
    return np.squeeze(y) * np.squeeze(y, axis=0)[:, 0] + np.squeeze(y, (0, 2))


@case((V, M))
def squeeze_of_a_part(x, m):
    last = np.squeeze(x[3:])
    row = m[1:].squeeze()
    return (last * x if last.ndim == 0 else x) + np.dot(row, row) * len(np.shape(last))


@case((V, M))
def broadcast_to(x, m):
    return np.broadcast_to(x, (2, 4)) * np.broadcast_to(m[:, :1], (2, 4))


@case((0.7, V))
def at_least(s, x):
    return np.atleast_1d(s) * x + np.atleast_2d(x) * np.atleast_1d(x)


@case((V, M))
def concatenate(x, m):
    return np.concatenate([x, m[0], x * 2]) * np.concatenate((x[:1], m.ravel(), x))


@case((M,))
def concatenate_along_axes(m):
    rows = np.concatenate([m, m * m], axis=0)
    columns = np.concatenate([m, m[:, :1]], axis=1)
    return rows[1:3, 0] * columns[:, 3]


@case((V, V[::-1].copy()))
def stack(x, y):
    return np.stack([x, y, x * y]) * x + np.stack((x, y), axis=1)[0, 1]


@case((V, V[::-1].copy()))
def stack_by_name(x, y):
    return np.vstack([x, y]) * np.hstack([y[:2], x[2:]]) + np.column_stack([x, y]).T


@case((0.7, 1.3))
def stack_of_floats(x, y):
    return np.stack([x, y, x * y]) * np.hstack([y, x, 1.0])


@case((V,))
def split(x):
    a, b = np.split(x, 2)
    c, d = np.split(x, [3])
    first, *others = np.array_split(x, 3)
    return a * b + c[:2] * d + first * others[0]


@case((M,))
def split_along_axes(m):
    top, bottom = np.vsplit(m, 2)
    left, right = np.split(m, [1], axis=1)
    return top * bottom + np.sum(left * right)


@case((np.arange(6.0).reshape(2, 3) + 0.7,))
def split_in_columns(m):
    left, _, right = np.hsplit(m, 3)
    total = np.sum(left * right)
    for part in np.hsplit(m[0], 3):
        total += np.sum(part**3)
    return total


@case((np.arange(6.0).reshape(2, 3) + 0.7,))
def rows_in_a_tuple(m):
    rows = tuple(m)
    return np.sum(rows[0] * rows[1]) if len(rows) else 0.0


@case((V,))
def flips(x):
    return np.flip(x) * x + x[::-1] ** 2


@case((M,))
def flips_of_matrix(m):
    return np.flip(m) * np.flip(m, axis=0) + np.fliplr(m) * np.flipud(m)


@case((M,))
def rotation(m):
    return np.rot90(m) * m.T + np.rot90(m, 3)


@case((V,), (M,))
def roll(x):
    return np.roll(x, 1) * x + np.roll(x, -2)


@case((M,))
def roll_along_axes(m):
    return np.roll(m, 1, axis=1) * np.roll(m, (1, -1), axis=(0, 1))


@case((V,))
def repeat_and_tile(x):
    return np.repeat(x, 2) * np.tile(x, 2) + np.sum(np.repeat(x, np.array([1, 0, 2, 1])))


@case((M,))
def repeat_and_tile_matrices(m):
    return np.repeat(m, 2, axis=0)[:, :1] * np.tile(m, (2, 1))


@case((V,))
def pad(x):
    return np.pad(x, 1) * np.pad(x, (2, 0)) + np.pad(x, (1, 1), constant_values=2.0)


@case((M,))
def pad_by_modes(m):
    return np.pad(m, ((1, 0), (0, 2))) * np.pad(m, ((0, 1), (1, 1)), mode="edge")


@case((M,))
def triangles(m):
    return np.tril(m) * np.triu(m, -1) + np.tril(m, 1)


@case((V, M))
def diagonals(x, m):
    return np.diag(x)[:, 0] * x + np.sum(np.diag(m)) + np.trace(m) * np.diagonal(m)[0]


@case((V,))
def append_and_insert(x):
    return np.append(x, x[0] * 2.0) * np.append(x[1:], [1.0, x[3]])


@case((V,))
def meshgrid(x):
    a, b = np.meshgrid(x[:2], x)
    return a * b + np.meshgrid(x, x[:2], indexing="ij")[0][:, :2]


@case((M,))
def shape_is_a_constant(m):
    rows, cols = np.shape(m)
    return m * rows + np.size(m) * m**2 / np.ndim(m) + m.shape[1] * len(m) + m.size


@case((T,))
def shape_chain(t):
    u = t.reshape(6, 4).T.reshape(2, 2, 6)
    v = np.moveaxis(u, 0, -1).ravel()
    return v * np.tile(np.array([1.0, -1.0]), 12) * t.ravel()


@case((V,))
def sliding_windows(x):
    rows = [x[i : i + 2] for i in range(3)]
    return np.stack(rows) @ np.array([1.0, -2.0]) * x[:3]


@case((0.7, 1.3))
def array_of_active_values(x, y):
    a = np.array([x, y, x * y, 1.0])
    b = np.array([[x, 2.0], [y, x]])
    return a[:2] @ b * a[2]


@case((V,))
def array_of_entries(x):
    return np.array([x[1], x[0] * x[2], 3.0]) * np.asarray(x)[:3] + np.array(x)[1:]


@case(([0.7, 1.3, 0.2],))
def array_of_list(p):
    x = np.array(p)
    return x * np.asarray(p) + np.array([v * v for v in p])


@case((V,))
def array_of_arrays(x):
    return np.array([x, x * x]) * x + np.array([[x[0], 1.0, x[1], 2.0]])


@case((V,))
def block_and_delete(x):
    return np.delete(x, 1) * x[1:] + np.delete(x, [0])


@case((V,))
def kron_and_ravel(x):
    return np.kron(x[:2], x[2:]) * x


@case((V,), (V[:1],))
def smoothed_by_what_may_be_longer(x):
    kernel = np.array([0.2, 0.5, 0.3])
    return np.sum(x * np.convolve(x, kernel, "same")) * np.convolve(x, kernel, "valid") * x[:1]


@case((V,))
def empty_lists_joined(x):
    return np.concatenate([x, [], x])[2:6] * np.hstack((x, ())) + np.append([], x)


@case((V,))
def ranges_for_arrays(x):
    n = len(x)
    table = np.interp(1.7, range(n), x) + np.interp(x[0], range(4), np.array(range(4)) * x)
    return table * np.dot(range(n), x) * x + np.trapezoid(x, range(4))
