"""Arrays made inside the function: zeros, ones, arange, linspace, identity, from lists."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 2.4])


@case((V,))
def zeros_and_ones(x):
    return x * np.ones(3) + np.zeros(3) + np.sum(np.ones((2, 3)) * x)


@case((V,))
def made_like_the_argument(x):
    return np.ones_like(x) * x + np.zeros_like(x) + np.full_like(x, 2.0) * x**2


@case((V, 0.7))
def full_of_active_value(x, s):
    return np.full(3, s) * x + np.full((3,), 2.0) * x + np.full_like(x, s) * s


@case((V,))
def aranges(x):
    return x * np.arange(3) + np.arange(1.0, 4.0) * x**2 + np.arange(0, 6, 2) * x


@case((0.7, 1.9))
def linspace_between_active_ends(a, b):
    t = np.linspace(a, b, 5)
    return t * t + np.linspace(0.0, 1.0, 5) * a


@case((0.7, 1.9))
def powers_of_active_linspace(a, b):
    return 10.0 ** np.linspace(0.0, a, 4) * b


@case((V,))
def identity_matrices(x):
    return np.eye(3) @ x + np.identity(3)[1] * x + np.eye(2, 3) @ x * np.eye(3)[0, 0] @ np.eye(2, 3)


@case((V,))
def empty_then_replaced(x):
    y = np.empty(3)
    y = x * 2.0
    return y * x


@case((0.7,))
def array_from_floats(x):
    a = np.array([x, 2.0, x * x])
    b = np.asarray([1.0, 2.0, 3.0])
    return a @ b * a


@case((0.7,))
def array_from_comprehension(x):
    return np.array([x**k for k in range(4)]) * np.array([[k * x] for k in range(2)])


@case((0.7,))
def array_from_appended_list(x):
    path = [x]
    for k in range(4):
        path.append(path[-1] * x + k)
    y = np.array(path)
    return y[1:] * y[:-1]


@case((0.7, 1.3))
def array_of_nested_lists(x, y):
    rotation = np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]])
    return rotation @ np.array([y, 2.0])


@case((V,))
def shapes_from_arguments(x):
    n = len(x)
    a = np.zeros((n, n)) + x
    return a * np.ones(x.shape)[:, None] * np.arange(x.size)


@case((0.7,))
def integer_arrays_as_data(x):
    total = 0.0
    for k in np.array([2, 3, 5]):
        total = total + x**k
    return total


@case((V,))
def indices_made_inside(x):
    i = np.array([2, 0, 1])
    return x[i] * x + x[np.argsort(i)]


@case((0.7, 4), (0.7, 2))
def grid_of_run_time_size(x, n):
    t = np.arange(n) / n
    return np.sum(np.sin(t * x)) * np.linspace(0.0, 1.0, n)


@case((V,))
def fromiter_and_tri(x):
    return np.tri(3) @ x + np.fromiter((k * k for k in range(3)), dtype=float) * x


@case((0.7,))
def rotation_with_whole_numbers(angle):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.sum(turn @ np.array([1.0, angle, 2.0]) ** 3)
