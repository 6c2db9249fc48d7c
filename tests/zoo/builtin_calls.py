"""Python's builtin functions on numbers and sequences of them."""

import functools
import itertools
import math
import operator

import numpy as np

from .registry import case


@case(([0.7, 1.3, -0.2],))
def sum_of_list(p):
    return sum(p) * p[0]


@case((0.7, 1.3))
def sum_of_display(x, y):
    return sum((x, y, x * y)) + sum([x, y], 2.0) * sum([])


@case((np.arange(6.0).reshape(3, 2) + 0.5,))
def sum_of_rows(x):
    return sum(x) * np.array([2.0, 3.0]) + sum(row[0] * row for row in x)


@case((0.7, 1.3), (1.3, 0.7), tags="scalar")
def min_and_max_of_two(x, y):
    return min(x, y) ** 2 + 3 * max(x, y) * x


@case((0.7, 1.3, 1.0))
def min_and_max_of_three(x, y, z):
    return min(x, y, z) * max(x, y, z) + z


@case(([0.7, 1.3, -0.2],))
def min_and_max_of_list(p):
    return min(p) * max(p) + p[0]


@case(([0.7, 1.3, -2.2],))
def max_with_key(p):
    return max(p, key=abs) ** 2 + min(p, key=lambda v: (v - 1.1) ** 2) * p[0]


@case(([0.7],))
def max_with_default(p):
    return max([], default=p[0]) * max(p, default=9.0)


@case((0.3,), (3.0,), (-3.0,), tags="scalar")
def clamp_by_min_and_max(x):
    return max(-1.0, min(1.0, x)) * x


@case((0.7,), (-0.7,), tags="scalar")
def abs_of_float(x):
    return abs(x) * x + abs(-2.0 * x)


@case((np.array([0.7, -1.3]),))
def abs_of_array(x):
    return abs(x) * x


@case((0.7,))
def float_of_float(x):
    return float(x) * float(x + 1.0) + float("2.5") * x + float(3) * x


@case((np.array([0.7, 1.3]),))
def float_of_entry(x):
    return float(x[0]) * float(x[1])


@case((2.7,), (-2.7,))
def int_cuts(x):
    return int(x) * x + int(x * 3) * x**2


@case((2.7, 1.3))
def round_cuts(x, y):
    return round(x) * x + round(x * y) * y + round(2.5) * x


@case((1.7, 0.6), tags="scalar")
def pow_of_floats(x, y):
    return pow(x, y) + pow(x, 2) + pow(2, y) + pow(x, -1)


@case((0.7,))
def pow_of_integers(x):
    return x * pow(2, 5) + x * pow(3, 4, 5)


@case((0.7, 2))
def power_by_a_modulus(x, n):
    return pow(n, 3, 5) * x * x + pow(3, n, n + 2) * x


@case((7.7, 2.2), (-7.7, 2.2))
def divmod_of_floats(x, y):
    q, r = divmod(x, y)
    return q * x + r * r


@case((0.7,))
def divmod_of_integers(x):
    q, r = divmod(17, 5)
    return x**q * r


@case(([0.7, 1.3, -0.2],))
def any_and_all(p):
    if any(v < 0 for v in p) and not all(v < 1 for v in p):
        return p[0] * p[1]
    return p[2]


@case(([0.7, 1.3, -0.2],))
def any_and_all_of_lists(p):
    flags = [v > 0 for v in p]
    return p[0] * any(flags) + p[1] ** 2 * all(flags) + p[2] ** 2 * sum(flags)


@case(([0.7, 1.3, -0.2],))
def sorted_list(p):
    s = sorted(p)
    return s[0] * 2 + s[1] ** 2 + s[2] ** 3


@case(([0.7, -1.3, -0.2],))
def sorted_with_key_and_reverse(p):
    s = sorted(p, key=lambda v: v * v, reverse=True)
    return s[0] * 2 + s[1] ** 2 + s[2] ** 3


@case(([0.7, 1.3, -0.2],))
def sorted_indices(p):
    order = sorted(range(len(p)), key=p.__getitem__)
    return sum(p[i] ** (k + 1) for k, i in enumerate(order))


@case(([0.7, 1.3, -0.2],))
def sorted_pairs(p):
    pairs = sorted([(2, p[0]), (1, p[1]), (3, p[2])])
    return sum(v * (k + 1) ** 2 for k, (_, v) in enumerate(pairs))


@case(([0.7, 1.3, -0.2],))
def list_sort_in_place(p):
    q = [v * v for v in p]
    q.sort()
    return q[0] * 2 + q[1] ** 2 * q[2]


@case(([0.7, 1.3], [2.0, -1.0]))
def zip_to_list(p, q):
    pairs = list(zip(p, q))
    return pairs[0][0] * pairs[1][1] + pairs[1][0] * pairs[0][1]


@case(([(0.7, 1.3), (2.0, -1.0)],))
def zip_to_transpose(rows):
    a, b = zip(*rows)
    return a[0] * a[1] + b[0] * b[1] ** 2


@case(([0.7, 1.3],))
def zip_strict(p):
    return sum(a * b for a, b in zip(p, (1.0, 2.0), strict=True))


@case(([0.7, 1.3],))
def map_with_lambda(p):
    q = list(map(lambda v: v * v + 1, p))
    return q[0] * q[1]


@case(([0.7, 1.3], [2.0, -1.0]))
def map_of_two_sequences(p, q):
    return sum(map(operator.mul, p, q)) * sum(map(math.sin, p))


@case(([0.7, 1.3, -0.2],))
def filter_with_lambda(p):
    q = list(filter(lambda v: v > 0, p))
    return q[0] * q[1] + len(q)


@case(([0.7, 1.3, -0.2],))
def enumerate_to_list(p):
    q = list(enumerate(p))
    return q[1][0] * q[1][1] + q[2][0] * q[2][1] ** 2


@case(([0.7, 1.3, -0.2],))
def reversed_to_list(p):
    q = list(reversed(p))
    return q[0] * q[1] + q[2]


@case(([0.7, 1.3, -0.2],))
def conversions_between_sequences(p):
    a = tuple(p)
    b = list(a)
    b[0] = b[0] * b[1]
    c = tuple(v * 2 for v in b)
    return c[0] * a[2] + len(a)


@case((np.array([0.7, 1.3, -0.2]),))
def list_of_array(x):
    p = list(x)
    p[0] = p[1] * p[2]
    return p[0] * x[0] + p[2]


@case((0.7, 1.3))
def isinstance_decides(x, y):
    if isinstance(x, (int, float, np.ndarray)) and not isinstance(x, str):
        return x * y
    return x


@case((0.7,), (np.array([0.7, 1.3]),))
def isinstance_of_argument_type(x):
    if isinstance(x, float):
        return x * x
    elif isinstance(x, np.ndarray):
        return np.sum(x * x) * x
    raise TypeError(x)


@case((0.7,))
def callable_and_getattr(x):
    f = getattr(math, "sin")  # noqa: B009
    return f(x) * x if callable(f) and hasattr(math, "cos") else x


@case(([0.7, 1.3, -0.2],))
def functools_reduce(p):
    return functools.reduce(lambda a, b: a * b + a, p) + functools.reduce(operator.mul, p, 2.0)


@case(([0.7, 1.3, -0.2],))
def itertools_tools(p):
    total = 0.0
    for a, b in itertools.combinations(p, 2):
        total += a * b * b
    for a, b in itertools.product(p[:2], (1.0, p[2])):
        total += a * b
    for a in itertools.chain(p, [total]):
        total = total * 0.5 + a
    return total


@case(([0.7, 1.3, -0.2],))
def itertools_accumulate(p):
    sums = list(itertools.accumulate(p))
    products = list(itertools.accumulate(p, lambda a, b: a * b))
    return sums[1] * sums[2] + products[2]


@case(([0.7, 1.3, -0.2],))
def iter_and_next(p):
    it = iter(p)
    first = next(it)
    second = next(it)
    return first * second**2


@case((0.7, 1.3))
def range_as_a_value(x, y):
    r = range(2, 9, 3)
    return x ** r[1] + y * len(r) + (5 in r) * x + sum(r) * y + list(r)[0] * x


@case(([0.7, 1.3],))
def text_and_identity_builtins(p):
    text = str(len(p)) + repr("a") + chr(97) + format(1.5, ".2f")
    return p[0] * len(text) + p[1] * ord("a") * bool(p)


@case((0.7, 1.3))
def slice_object(x, y):
    s = slice(1, None)
    p = [x, y, x * y][s]
    return p[0] * p[1]


@case((0.7, 1.3), tags="prints")
def print_of_values(x, y):
    z = x * y
    print("z =", z, sep=" ", end="")
    print()
    return z * x
