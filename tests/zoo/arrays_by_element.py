"""Writing into arrays element by element: ufuncs at places that repeat, `flat`, and their like."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4, 2.1, 1.1])
W = np.array([1.2, 0.3, -0.8, 0.5, 0.9])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6], [1.1, 0.2, 0.4]])
N = np.array([[0.2, 0.7, -0.3, 1.4], [0.9, -0.5, 0.6, 0.1]])
S = 0.8


# ---- ufuncs at places that repeat


@case((V, W))
def factors_at_every_repeat(x, y):
    u = x.copy()
    np.multiply.at(u, np.array([0, 1, 1, -1, 1]), y)
    np.divide.at(u, [3, 3], y[:2])
    return u * u


@case((V, W))
def a_factor_of_zero_at_a_repeat(x, y):
    u = x.copy()
    np.multiply.at(u, [2, 2, 0], y[:3] * np.array([0.0, 1.0, 1.0]))
    return u * y


@case((V, W))
def extrema_at_every_repeat(x, y):
    u = np.zeros(3)
    np.maximum.at(u, np.array([0, 1, 1, 0, 1]), x)
    np.minimum.at(u, np.array([2, 2, 0, 1, 2]), y)
    return u * u * x[0]


@case((M, V))
def rows_at_every_repeat(m, x):
    u = m.copy()
    np.multiply.at(u, [0, 2, 0], x[:3])
    np.hypot.at(u, np.array([[1, 1], [1, 2]]), x[3])
    return u * u


@case((M, V, np.array([0, 2, 0, 1, 0]), np.array([1, 1, 1, 2, 0])))
def pairs_at_every_repeat(m, x, i, j):
    u = m.copy()
    np.multiply.at(u, (i, j), x)
    np.maximum.at(u, (slice(None), j), 0.1 * x)
    return u * m


@case((N, S))
def ufuncs_at_places_that_do_not_repeat(m, s):
    u = m.copy()
    np.multiply.at(u, u > 0.5, s)
    np.power.at(u, (slice(None), 3), 2.0)
    np.exp.at(u, (0, 1))
    np.negative.at(u, 1)
    np.subtract.at(u, (1, [0, 0, 3]), s)
    return u * u


@case((V,))
def ufuncs_of_one_argument_at_repeats(x):
    u = x * x
    np.negative.at(u, [0, 1, 1, 4])
    np.sin.at(u, [2, 2, 3])
    return u * u


@case((V,))
def ufunc_at_a_view_that_is_its_value(x):
    u = x.copy()
    np.multiply.at(u[1:], [0, 0, 2], u[:3])
    np.multiply.at(u, [4, 4], u[4:2:-1])
    return u * x


@case((V, 3))
def ufunc_at_in_a_loop(x, n):
    u = x.copy()
    for k in range(n):
        np.multiply.at(u, np.array([k, k + 1, k]), np.sin(u[:3]))
    return u


# ---- flat


@case((N, V))
def elements_in_c_order(m, x):
    u = m.copy()
    u.flat[1] = x[0] * x[1]
    u.flat[-2:] = x[:2]
    u.flat[[4, 0]] = x[3]
    u.flat[u.flat[:] > 0.65] = x[2]
    return u * u


@case((N, V))
def elements_of_a_transposed_view(m, x):
    u = m * 2.0
    v = u.T.flat
    v[1] = x[0]
    v[3:7] = x[:2]
    return u * u + v[2] * len(v)


@case((M, V))
def elements_updated(m, x):
    u = m.copy()
    u.flat[2] *= x[0]
    u.flat[::4] += x[:3]
    u.flat[[1, 1, 5]] -= x[2]
    return u * u


@case((N, V))
def all_elements(m, x):
    u = m.copy()
    v = np.zeros(5)
    u.flat = x
    v.flat = x[0]
    return u * m + v[3]


@case((V,))
def an_argument_by_its_elements(x):
    x.flat[1] *= x.flat[2]
    x.flat[x > 1.0] = 0.3
    return x * x


@case((N,))
def elements_read(m):
    u = m * m
    picked = u.flat[1:4]
    u[0] = 0.0
    total = sum(v * v for v in m.flat) + m.flat[2] * u.flat[5]
    for k, v in enumerate(u.flat):
        u.flat[k] = v * total
    return u + picked[0] + np.sum(u.flat) + np.dot(m.flat, np.array(m.flat))


# ---- what an augmented assignment has read when its right side writes


def _tripled(u):
    u[0] *= 3.0
    return u[0] * u[1]


@case((V, S))
def item_read_before_the_right_side_writes(x, s):
    u = x * s
    u[0] += _tripled(u)
    u[0] /= 4 + _tripled(u)
    u.flat[1] *= _tripled(u)
    return u * u


@case((V, W))
def items_picked_before_the_right_side_writes(x, y):
    u = x * y
    u[[0, 1]] += _tripled(u)
    u[y > 0] *= _tripled(u)
    return u * u


@case((M, V))
def row_item_read_before_the_right_side_writes(m, x):
    u = m * x[:3]
    row = u[1]
    row[0] -= _tripled(u[1])
    for k in range(3):
        u[k, 0] *= _tripled(u[k]) if k else x[3]
    return u * u


@case((V, W))
def slice_is_a_view_while_the_right_side_writes(x, y):
    u = x * y
    u[0:2] += _tripled(u)
    return u * u


# ---- diagonals, parts and places


@case((M, V))
def diagonals_filled(m, x):
    u = np.zeros((3, 3, 3)) + m
    tall = np.ones((7, 3)) * x[0]
    np.fill_diagonal(u, x[:2])
    np.fill_diagonal(tall, x[1:3], wrap=True)
    return np.sum(u * u) + tall * tall


@case((N, V))
def places_cut_to_the_array(m, x):
    u = m.copy()
    np.put(u, [-3, 1, 77], x[:3], mode="clip")
    u.put([9, -2], x[3], mode="wrap")
    return u * u


@case((N, V))
def mask_with_few_values(m, x):
    u = m.copy()
    np.putmask(u, u < 0.3, x[:3])
    return u * u


@case((V, M))
def partitioned_in_place(x, m):
    u = x * x
    v = m.copy()
    u.partition(2)
    v.partition((0, 2), axis=0)
    return u[2] * x + np.sum(v[0] * v[2])
