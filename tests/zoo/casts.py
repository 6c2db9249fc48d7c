"""Casts that keep derivatives, and casts that cut them."""

import math

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 2.4])


@case((V,))
def float_of_array_entry(x):
    total = 0.0
    for i in range(len(x)):
        total += float(x[i]) ** 2
    return total


@case((0.7,))
def float64_of_float(x):
    return np.float64(x) * x + np.asarray(x) * 2.0


@case((np.array(0.7),), (np.array([0.7]),))
def float_of_small_array(x):
    return float(x.sum()) * x + float(x.reshape(())) ** 2


@case((2.7,))
def int_of_float(x):
    n = int(x)
    total = x
    for _ in range(n):
        total = total * x
    return total + n


@case((V,))
def int_of_entry(x):
    return x * int(x[2]) + x[int(x[0])]


@case((V,))
def astype_int_cuts(x):
    return x.astype(int) * x + x.astype(np.int64) ** 2


@case((V,))
def astype_bool_cuts(x):
    return x.astype(bool) * x + (x > 0).astype(float) * x**2


@case((V,))
def floor_to_index(x):
    i = np.floor(np.abs(x)).astype(int)
    return x[i] * x


@case((3.7, np.array([0.7, -1.3])))
def integers_made_float(x, y):
    n = int(x)
    return y * float(n) + x / n + np.float64(n) * y


@case((V,))
def integer_array_times_float(x):
    k = np.array([1, 2, 3])
    return k * x + x / k + x**k - k


@case((V,))
def boolean_array_times_float(x):
    keep = np.array([True, False, True])
    return keep * x + x[keep].sum() + np.sum(keep) * x


@case((1.5,), (np.float64(1.5),), (np.array(1.5),))
def products_with_a_comparison_subtracted(x):
    return x * x * x - (x > 1) * x - np.sum(x < 1)


@case((1.4,))
def products_with_an_integer_subtracted(x):
    return np.sin(x) - round(x) * x - int(x) * x


@case((1.5, 3))
def float_products_of_integers_stay_floats(x, n):
    u = np.array([-1.0 * n, n])
    u[1] = x
    return u * x


@case((0.7,))
def bool_of_float(x):
    return x * bool(x) + (x**2 if x else 0.0)


@case((np.array([0.5, 1.5], dtype=np.float32),), rtol=2e-5, order=1)
def widened(x):
    return x.astype(np.float64) ** 2


@case((np.array([0.5, 1.5]),), rtol=2e-5, order=1)
def narrowed(x):
    return (x.astype(np.float32) * 2.5) ** 2


@case((0.7,))
def float_of_text_and_integers(x):
    return x * float("1.5") + x**2 * float(2) + x * int("3") + complex(2.0, 1.0).real * x


@case((2.6,))
def round_with_digits(x):
    return round(x * 1.017, 1) * x + round(x, 0) * x


@case((1.3,))
def integers_beside_floats(x):
    total = np.sum(np.array([x, 1]) * np.array([2.0, 3.0])) + math.dist([x, 1], [2, 3])
    total += np.sum(np.concatenate([np.array([x]), [1]])) + np.linalg.norm([x, 1])
    total += max([x, 1, 2]) + min([x, 3]) + sorted([x, 1, 0])[1] + sum([x, 1, 2])
    total += math.fsum([x, 1]) + math.prod([x, 2]) + np.dot([x, 1], [2, x])
    return total + np.stack([[x, 1], [2, x]]).sum() + np.maximum(x, 1) * np.minimum(x, 5)


@case((1.3,))
def integers_as_further_arguments(x):
    return max(x, 1) + min(x, 2) * math.hypot(x, 2) + math.hypot(x, 2, 3) * max(x, 0, 1)


@case((1900.0,))
def choice_between_float_and_integer(x):
    total = max(x, 1000) + min(x, 3000) * max([x, 1000]) + max((x, 1000)) + min(-x, -1000)
    total += sorted((2000, x, 1000))[1] + sorted([x, 1000, 5], reverse=True)[0]
    return total * 1.0 + sorted([x, 1000], key=lambda v: -v)[0] * x


@case((1.3, 0), (1.3, 1), (1.3, 2), argnums=0)
def integers_in_a_list_by_run_time_index(x, i):
    total, values = (x, 2, x * x)[i] * x, [x, 2, x * x]
    for k in range(3):
        total += values[k] * x * (k, x, 1)[i]
        values[k] = 1
    for v in (x, 2, x * x):
        total = total * 0.5 + v
    return total + sum(values)
