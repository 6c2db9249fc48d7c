"""for loops over ranges, arrays, lists, tuples, dicts, zip, enumerate, reversed; nested."""

import math

import numpy as np

from .registry import case


@case((0.9, 5), (0.9, 0), (0.9, 1), tags="scalar")
def power_by_loop(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@case((0.9, 3), (0.9, 0), tags="scalar")
def accumulation(x, n):
    total = 0.0
    for k in range(n):
        total += math.sin(k * x)
    return total


@case((0.9,), tags="scalar")
def range_with_start_and_step(x):
    total = 0.0
    for k in range(1, 10, 3):
        total = total * 0.5 + x**k
    return total


@case((0.9,), tags="scalar")
def range_downwards(x):
    total = 1.0
    for k in range(5, -2, -2):
        total = total * x + k
    return total


@case((0.9, 2, 9, 4), (0.9, 9, 2, -3), (0.9, 3, 3, 1), (0.9, 5, 2, 2))
def range_of_run_time_bounds(x, start, stop, step):
    y = x
    for k in range(start, stop, step):
        y = math.sin(y * k) + x
    return y


@case((0.3, 1.7), tags="scalar")
def nonlinear_map_overwrites(x, a):
    y = x
    for t in range(12):
        y = math.sin(a * y) + 0.1 * t
    return y


@case((1.5, 0.7, 3), (1.5, 0.7, 0), (1.5, 0.7, 1), tags="scalar")
def value_before_used_after(x, s, n):
    w = x**2
    acc = 0.0
    for k in range(n):
        acc = acc + s * (k + 1)
    return w * acc + w


@case((0.6, 1.1), tags="scalar")
def two_carried_values(x, y):
    for _ in range(5):
        x, y = x + 0.1 * y, y - 0.1 * math.sin(x)
    return x * y


@case((2.0,), tags="scalar")
def newton_for_square_root(x):
    a = x
    for _ in range(8):
        a = 0.5 * (a + x / a)
    return a


@case((0.7, 1.2), tags="scalar")
def nested_loops(x, y):
    total = 0.0
    for i in range(3):
        inner = x
        for j in range(i + 1):
            inner = inner * y + j
        total += inner * x
    return total


@case((0.7,), tags="scalar")
def triple_nest_carrying_one_value(x):
    y = x
    for i in range(2):
        for j in range(2):
            for k in range(2):
                y = math.sin(y) * (i + j + k + 1.0)
            y = y * x
        y = y + x
    return y


@case((0.7, 2, 0), (0.7, 0, 3), (0.7, 2, 3))
def nested_with_zero_trips(x, n, m):
    y = x
    for _ in range(n):
        z = y
        for _ in range(m):
            z = z * x
        y = y + z * z
    return y


@case((0.7,), tags="scalar")
def two_loops_share_a_variable(x):
    y = x
    for i in range(3):
        t = y * (i + 1)
        y = math.sin(t)
    for i in range(2):
        t = y + x
        y = t * t
    return y + t


@case((0.7,), (1.7,), tags="scalar")
def branch_in_loop(x):
    y = x
    for k in range(6):
        if k % 2 == 0:
            y = y * x
        else:
            y = y + math.sin(y)
    return y


@case((1.3, 0.4), (0.4, 1.3), tags="scalar")
def data_dependent_branch_in_loop(x, y):
    for _ in range(7):
        if x > y:
            x = 0.5 * x + 0.1 * y
        else:
            y = y * 0.7
            x = x + 0.2
    return x * y


@case((0.7, True), (0.7, False))
def loop_in_branch(x, flag):
    if flag:
        y = 1.0
        for k in range(3):
            y = y * x + k
    else:
        y = x
    return y * x


@case((0.7, 2.1), (2.1, 0.7))
def loop_in_branch_in_loop(x, y):
    total = x
    for i in range(3):
        if total > i * y:
            for j in range(2):
                total = total * 0.5 + math.cos(total * (j + 1))
        else:
            total = total * y
    return total


@case((np.array([0.5, -1.5, 2.0]),), (np.array([]),))
def over_array(x):
    total = 0.0
    for v in x:
        total = total + v * v
    return total


@case((np.arange(6.0).reshape(3, 2) / 7,))
def over_rows(x):
    state = np.zeros(2)
    for row in x:
        state = np.tanh(state * row + row)
    return state


@case((np.arange(6.0).reshape(3, 2) / 7,))
def over_rows_and_entries(x):
    total = 0.0
    for row in x:
        for v in row:
            total = total * v + math.sin(v)
    return total


@case((np.arange(6.0).reshape(3, 2) / 7,))
def over_rows_unpacked(x):
    total = 0.0
    for a, b in x:
        total += a * b * b
    return total


@case(([0.5, -1.5, 2.0],), ([],), argnums=0)
def over_list(xs):
    total = 0.0
    for v in xs:
        total += v**3
    return total


@case(((0.5, -1.5, 2.0),))
def over_tuple(xs):
    product = 1.0
    for v in xs:
        product *= v
    return product


@case(((0.5, 1.5, 2.0), 0.3))
def over_tuple_display(xs, y):
    a, b, c = xs
    for v in (a, b * y, c, 2.0):
        y = y * v + v
    return y


@case(([(0.5, 2.0), (1.5, -1.0)],))
def over_list_of_pairs(pairs):
    total = 0.0
    for a, b in pairs:
        total += a * b**2
    return total


@case(([(0.5, (2.0, 0.1)), (1.5, (-1.0, 0.2))],))
def nested_target(items):
    total = 0.0
    for a, (b, c) in items:
        total += a * b + c * total
    return total


@case(([[0.5, 2.0, 0.1], [1.5, -1.0]],))
def starred_target(items):
    total = 1.0
    for a, *rest in items:
        for r in rest:
            total = total * r + a
    return total


@case(({"a": 0.5, "b": 1.5},))
def over_dict_keys(params):
    total = 0.0
    for key in params:
        total += params[key] ** 2 * len(key)
    return total


@case(({"a": 0.5, "b": 1.5},))
def over_dict_items(params):
    total = 0.0
    for key, value in params.items():
        total += value**2 * (2.0 if key == "a" else 3.0)
    return total


@case(({"a": 0.5, "b": 1.5},))
def over_dict_values(params):
    total = 1.0
    for value in params.values():
        total *= value + total
    return total


@case(([0.5, 1.5, 2.5], np.array([1.0, -1.0, 0.5])))
def over_zip(xs, ys):
    total = 0.0
    for a, b in zip(xs, ys):
        total += a * a * b
    return total


@case(([0.5, 1.5, 2.5, 3.5], [1.0, -1.0]))
def over_zip_of_unequal_lengths(xs, ys):
    total = 0.0
    for a, b, k in zip(xs, ys, range(10)):
        total += a * b * (k + 1)
    return total


@case((np.array([0.5, 1.5, 2.5]),))
def over_enumerate(x):
    total = 0.0
    for i, v in enumerate(x):
        total += v ** (i + 1)
    return total


@case(([0.5, 1.5, 2.5],))
def over_enumerate_with_start(xs):
    total = 0.0
    for i, v in enumerate(xs, start=2):
        total += v**i
    return total


@case(([0.5, 1.5], [2.5, 0.1]))
def over_enumerate_of_zip(xs, ys):
    total = 0.0
    for i, (a, b) in enumerate(zip(xs, ys)):
        total += a * b * (i + 1) + total * a
    return total


@case(([0.5, 1.5, 2.5],))
def over_reversed_list(xs):
    y = 0.0
    for v in reversed(xs):
        y = y * 0.3 + math.sin(v * y) + v
    return y


@case((0.7, 4))
def over_reversed_range(x, n):
    y = 1.0
    for k in reversed(range(n)):
        y = y * x + k
    return y


@case((np.array([0.5, 1.5, 2.5]),))
def over_reversed_slice(x):
    y = 0.0
    for v in x[::-1]:
        y = math.tanh(y + v) * v
    return y


@case((0.7,))
def over_arange(x):
    y = x
    for k in np.arange(4):
        y = y * x + k
    return y


@case((0.7,))
def over_linspace_of_active_end(x):
    total = 0.0
    for t in np.linspace(0.0, x, 4):
        total += t * t
    return total


@case((0.7,))
def over_strings(x):
    y = x
    for letter in "abca":
        y = y * x if letter == "a" else y + x
    return y


@case((np.array([0.5, 1.5, 2.5]), np.array([0.1, 0.2, 0.3])))
def indices_by_len(x, w):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * w[-i]
    return total


@case((np.arange(6.0).reshape(2, 3) / 5,))
def indices_by_shape(x):
    rows, cols = x.shape
    total = 0.0
    for i in range(rows):
        for j in range(i, cols):
            total = total + x[i, j] * x[rows - 1 - i, j]
    return total


@case((np.array([0.5, 1.5, -0.3, 0.8]),), tags=())
def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


@case((np.array([0.5, 1.5, -0.3]), 3), (np.array([0.5, 1.5, -0.3]), 0))
def array_carried(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(0.5 * h + x)
    return h


@case((np.array([0.5, 1.5, -0.3]),))
def carried_scalar_becomes_array(x):
    h = 0.0
    for k in range(3):
        h = h * 0.5 + x * k
    return h


@case((0.7, 3), (0.7, 0))
def carried_integer_becomes_float(x, n):
    total = 0
    for k in range(n):
        total = total + x * k
    return total + x


@case((0.7,))
def carried_integer_stays_integer(x):
    count = 1
    y = x
    for _ in range(4):
        count = count * 2 + 1
        y = y * x + count
    return y


@case((0.7,))
def constant_carried_through(x):
    c = 2.0
    for _ in range(3):
        c = c * 1.5
    return c * x


@case((0.7,), tags="scalar")
def lagged_values(x):
    a, b, c = x, 2 * x, 3.0
    for _ in range(5):
        a, b, c = b, c, math.sin(a) + 0.5 * b * c
    return a * b * c


@case((0.7, 0.2), tags="scalar")
def leapfrog(q, p):
    dt = 0.1
    for _ in range(10):
        p = p - 0.5 * dt * q**3
        q = q + dt * p
        p = p - 0.5 * dt * q**3
    return 0.5 * p * p + q


@case((0.02, 0.9), tags="scalar")
def logistic_growth(rate, start):
    y = start
    for _ in range(20):
        y = y + rate * y * (1.0 - y / 3.0)
    return y


@case((0.3,), tags="scalar")
def sine_by_series(x):
    term = x
    total = x
    for k in range(1, 8):
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        total = total + term
    return total


@case((1.2, 0.3), tags="scalar")
def trapezoid(a, b):
    n = 8
    h = (b - a) / n
    total = 0.5 * (math.exp(-a * a) + math.exp(-b * b))
    for i in range(1, n):
        t = a + i * h
        total += math.exp(-t * t)
    return total * h


@case((0.9,))
def range_bound_from_int_of_constant(x):
    n = int(3.7)
    y = x
    for _ in range(n):
        y = y * y + x
    return y


@case((0.9,))
def loop_variable_reassigned(x):
    y = x
    for k in range(3):
        k = k * 2 + 1
        y = y * x + k
    return y


@case((0.9, [0.5, 1.5]))
def loop_variable_shadows_argument(x, xs):
    y = x
    for x in xs:
        y = y * x
    return y * x


@case((0.4, np.array([-1.0, 0.2, 1.3])), (1.1, np.array([-1.0, 0.2, 1.3])))
def array_reassigned_on_some_paths_of_a_loop(x, y):
    total = 0.0
    for a in (0.3, 0.7, 1.2):
        if a > x:
            z = np.cos(y * a)
            if a < 1.0:
                y = y * z
            total += np.sum(z * y)
    return total + y[0] ** 2


@case((np.array([0.7, -1.3]), 4))
def matrix_of_numbers_made_on_some_paths_of_a_loop(x, n):
    y = np.array([x[0], x[1]])
    for k in range(n):
        s = np.sin(y[1])
        if k != 1:
            c = np.cos(y[0])
            y = np.array([[c, 0.3], [0.2, c]]) @ y
            if k > 1:
                y = np.array([[s, 0.3], [0.2, s]]) @ y
    return y


@case((np.array([0.7, -1.3]), 5))
def array_with_two_names_in_a_branch_of_a_loop(x, n):
    y = np.array([x[0], x[1]])
    total = 0.0
    for k in range(n):
        if k % 2 == 0:
            z = np.array([[0.9, 0.3], [-0.2, x[0]]]) @ y
            w = z
            if k > 2:
                w = np.array([[0.4, 0.1], [-0.3, x[1]]]) @ z
        else:
            z = np.array([[0.5, -0.3], [0.4, x[1]]]) @ y
            w = y
        total += z[0] * y[1] + z[1]
        y = w
    return total


@case((np.float64(-0.2), np.array([-1.0, 1.0, 2.0])))
def scalar_added_to_itself_under_arrays_of_unknown_rank(x, y):
    x += x
    stacked = np.stack([np.array([0.3, 0.7, 1.2]), y])
    return np.sum(stacked @ (1.0 + np.array([1.0, 1.0, math.atan(x)])))


@case((-1.0, np.array([0.3, 0.7])))
def sum_over_joined_pieces(x, y):
    return sum(x * c**2 for c in np.concatenate([y[[1, 0]], np.array([x, 1.0, 1.0])[:1]]))


@case((np.array([0.7, -1.3]),))
def arrays_of_another_size_in_each_iteration(x):
    history = []
    for k in range(1, 4):
        history.append(x[:1] * np.ones(k) * x[1])
    return history[0] * history[2] * history[2] + history[2]


@case((np.array([0.7, -1.3, 0.4, 1.1]), 2))
def an_array_that_grows(x, steps):
    for _ in range(steps):
        x = np.concatenate((x[:1], x[1:] * x[:-1], x[-1:] ** 2))
    return x * x


@case((np.array([0.7, -1.3, 0.4]),))
def number_that_becomes_an_array(x):
    m = 0.0
    for v in x:
        m = m + v * x
    return m @ m


@case(
    ([0.7, 1.3, 0.4], 2),
    ([0.7, 1.3, 0.4], 3),
    ([0.7, 1.3, 0.4], 5),
    (np.array([0.7, 1.3, 0.4]), 2),
    (np.array([0.7, 1.3, 0.4]), 5),
)
def over_zip_of_a_range_and_items(xs, n):
    total = 1.0
    for k, a in zip(range(n), xs):
        total += k * a * a
    for k, a in zip(range(n, 0, -1), xs):
        total = total * a + k
    return total


@case(([0.7, 1.3, 0.4],), (np.array([0.7, 1.3, 0.4]),))
def over_zip_of_a_known_range_and_items(xs):
    total = 0.0
    for k, a in zip(range(10), xs):
        total += k * a * a
    for k, a in zip(range(2), xs):
        total += (k + 1) * a * a
    for k, a in zip(range(2), [xs[0], xs[1] * xs[2], 1.0]):
        total += k * a * a
    return total


@case(([0.7, 1.3, 0.4],))
def over_parts_of_a_list_in_a_loop(xs):
    total = 0.0
    for k in range(3):
        for a in xs[k:]:
            total += a * a * k
        for a in xs[:k]:
            total += a * a * a
    return total


@case(([0.5, 0.2, 0.9],), ([1.5, 0.2, 0.9],))
def the_last_of_many_lists_after_the_loop(xs):
    pairs = [[v, v * xs[0]] for v in xs]
    tables = [{"a": v, "b": i} for i, v in enumerate(xs)]
    total = xs[1]
    if xs[0] < 1.0:
        for p in pairs:
            total = total * p[0] + p[1]
        total += sum(q[0] * q[1] for q in pairs)
    for t in tables:
        total += t["a"] * t["b"]
    for (a, b), p in zip(pairs, pairs[::-1]):
        total += a * p[1] + b
    return total * p[0] * t["a"]


@case((np.array([-1.0, -2.0, 1.0]), 2), (np.array([-1.0, -2.0, 1.0]), 0))
def array_of_another_size(x, n):
    a = np.stack([np.array([0.3, 0.7, 1.2]), x])
    for k in range(n):
        x = np.array([0.3, 0.7]) * a[0, k]
    return np.sum(x * x) - np.sum(a * a)
