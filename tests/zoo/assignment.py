"""Unpacking, star unpacking, swaps, augmented and chained assignment."""

import math

import numpy as np

from .registry import case


@case((0.7, 1.3))
def tuple_unpacking(x, y):
    a, b = x * y, x + y
    (c, d), e = (a, b), a * b
    [f, g] = [c * d, e]
    return f * g + e


@case(((0.7, 1.3, -0.2),))
def argument_unpacked(p):
    a, b, c = p
    return a * b + math.sin(c) * a


@case((((0.7, 1.3), [-0.2, 2.0]),))
def nested_unpacking(p):
    (a, b), (c, d) = p
    return a * d - b * c


@case((np.array([0.7, 1.3, -0.2]),))
def array_unpacked(x):
    a, b, c = x
    return a * b * c + a


@case((np.array([[0.7, 1.3], [-0.2, 2.0]]),))
def matrix_unpacked(m):
    (a, b), (c, d) = m
    return a * d - b * c


@case(((0.7, 1.3, -0.2, 2.0),))
def star_at_the_end(p):
    first, *rest = p
    total = first
    for r in rest:
        total = total * r + first
    return total


@case(((0.7, 1.3, -0.2, 2.0),))
def star_in_the_middle(p):
    first, *middle, last = p
    return first * last + middle[0] * middle[1] + len(middle)


@case(((0.7, 1.3),))
def star_that_is_empty(p):
    a, b, *none = p
    return a * b + len(none) + sum(none)


@case((np.array([0.7, 1.3, -0.2]),))
def star_of_array(x):
    head, *tail = x
    return head * tail[0] + tail[1] ** 2


@case((0.7, 1.3))
def star_in_displays(x, y):
    a = [x, y]
    b = (*a, x * y, *a)
    c = [*b, *(1.0, 2.0)]
    return c[0] * c[2] + c[4] ** 2 + len(c)


@case((0.7, 1.3))
def swap(x, y):
    x, y = y, x
    return x**2 + y


@case((0.7, 1.3, 2.1))
def rotation_of_three(a, b, c):
    for _ in range(4):
        a, b, c = b, c, a * 0.9
    return a * b**2 * c**3


@case((1.2, 0.7))
def swap_with_product_in_loop(x, y):
    for _ in range(5):
        x, y = y, x * y
    x = x + y
    (x, *rest), y = (x * 2.0, 1.0, 2.0), 0.0
    return x + y + rest[1] - 2.0


@case(([0.7, 1.3],))
def swap_in_list(p):
    p = list(p)
    p[0], p[1] = p[1] * 2.0, p[0]
    return p[0] ** 2 * p[1]


@case((0.7, 1.3))
def chained_assignment(x, y):
    a = b = x * y
    a = a + 1.0
    c = d = a
    d *= b
    return a * b + c * d


@case((0.7, 1.3))
def chained_unpacking(x, y):
    pair = (a, b) = (x * y, x - y)
    return a * b + pair[0] ** 2


@case((0.7, 1.3), tags="scalar")
def augmented_on_floats(x, y):
    z = x
    z += y
    z *= x
    z -= y * y
    z /= x + 2
    z **= 2
    return z


@case((7.7, 2.2))
def augmented_floor_and_remainder(x, y):
    z = x
    z %= y
    w = x * x
    w //= 3.0
    return z * w + y


@case((0.7,))
def augmented_on_integers(x):
    n = 3
    n += 2
    n *= 3
    n //= 2
    n <<= 1
    n %= 5
    return x**n


@case((0.7, 1.3))
def augmented_leaves_the_other_name(x, y):
    z = x
    z += y
    z *= z
    return z - x * y


@case((0.7, 1.3))
def augmented_on_list_item(x, y):
    p = [x, y, 1.0]
    p[0] *= y
    p[1] += p[0]
    p[-1] -= p[0] * p[1]
    return p[0] + p[1] * p[2]


@case((0.7, 1.3))
def augmented_on_dict_item(x, y):
    acc = {"s": 0.0, "p": 1.0}
    for k in range(3):
        acc["s"] += x * k
        acc["p"] *= y + k
    return acc["s"] * acc["p"]


@case((0.7, 1.3))
def augmented_on_nested_item(x, y):
    acc = {"a": [x, 2.0], "b": {"c": y}}
    acc["a"][1] *= x
    acc["b"]["c"] += acc["a"][1]
    return acc["a"][0] * acc["b"]["c"]


@case((0.7, 1.3))
def index_evaluated_once(x, y):
    order = [2, 1, 0]
    p = [x, y, x * y]
    p[order.pop()] *= 3.0
    p[order.pop()] += x
    return p[0] * p[1] + p[2] + len(order)


@case((0.7, 1.3))
def right_side_before_left(x, y):
    p = [x, y]
    i = 0
    i, p[i] = 1, x * y
    return p[0] * 2 + p[1] * i


@case((0.7,))
def annotated_assignment(x):
    y: float = x * x
    z: float
    z = y * x
    return z


@case((0.7, 1.3))
def walrus_as_assignment(x, y):
    p = [a := x * y, a * a, (b := a + 1)]
    return p[1] * b + p[2]


@case((0.7,))
def multiple_names_for_the_argument(x):
    a = x
    b = a
    a = a * 2.0
    c = b
    b = b * a
    return a * b * c
