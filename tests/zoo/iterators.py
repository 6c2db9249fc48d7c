"""Iterators: items are made when they are asked for, once; views of dicts see later changes."""

import bisect
import functools
import heapq
import itertools
import math
import operator

import numpy as np

from .registry import case


@case((1.5,))
def each_is_spent(x):
    mapped = map(lambda v: v * x, [x, 2.0])
    made = (v * x for v in [x, 2.0])
    pairs = zip([x, x * x], [1.0, 2.0])
    numbered = enumerate([x, x * x])
    backward = reversed([x, x * x])
    kept = filter(lambda v: v > 0, [x, x * x, -x])
    chained = itertools.chain([x, x * x], [x])
    sums = itertools.accumulate([x, x * x])
    first = sum(mapped) + sum(made) + sum(v * w for v, w in pairs) + sum(k * v for k, v in numbered)
    first += sum(backward) + sum(kept) + sum(chained) + sum(sums)
    again = sum(mapped) + sum(made) + sum(v * w for v, w in pairs) + sum(k * v for k, v in numbered)
    again += sum(backward) + sum(kept) + sum(chained) + sum(sums)
    return first + 10 * again


@case((1.5,))
def names_are_read_late(x):
    scale, values = 2.0, [x]
    made = (scale * v for v in values)
    mapped = map(lambda v: scale * v * v, values)
    scale = x
    values.append(x * x)
    return sum(made) + sum(mapped)


@case((1.3,))
def made_in_a_function_that_has_returned(x):
    def scaled(a):
        return (a * v for v in [x, 1.0])

    return sum(scaled(2.0)) * sum(scaled(x))


@case((1.3,))
def made_in_a_list(x):
    made = [(v * k for v in [x, 1.0]) for k in [1.0, 2.0]]
    held = {"g": (x * v for v in [x, 1.0])}
    return sum(sum(g) for g in made) + sum(held["g"]) + 7.0 * sum(held["g"])


@case((1.3,))
def taken_one_by_one(x):
    made = (v * x for v in [x, 2.0, 3.0])
    pairs = zip([x, 2.0], [x * x, 3.0])
    plain = iter([x, 3.0 * x])
    a, b, c = next(made), next(made), next(pairs)
    last = next(plain) * next(plain) + next(plain, x)
    return a + 10 * b + c[0] * c[1] + sum(made) + sum(v * w for v, w in pairs) * last


@case((1.3,))
def taken_in_a_loop(x):
    values = iter([x, 2.0 * x, x * x])
    weighted = (x * v for v in [x, 1.0])
    total = 0.0
    for k in range(3):
        total += next(values) * k + sum(weighted)
    return total


@case((1.3,))
def spent_in_another_function(x):
    def total(items):
        return sum(items) + len(list(items)) * x

    return total(v * x for v in [x, 1.0]) * total(iter([x]))


@case((1.3,))
def over_another(x):
    inner = (v * x for v in [1.0, 2.0])
    outer = (u + 1.0 for u in inner)
    return sum(outer) + 5.0 * sum(inner)


@case((1.3,))
def unpacked(x):
    made = (v * x for v in [x, 2.0])
    a, b = made
    first, *rest = map(lambda v: v * v, [x, 2.0, a])
    return a * b + sum(made) + first * sum(rest)


@case((1.3,))
def searched(x):
    numbers = iter([1, 2, 3, 4])
    found = 2 in numbers
    return x * sum(numbers) if found else x


@case((1.3,))
def with_a_walrus(x):
    made = ((y := v * x) for v in [1.0, 2.0])
    y = 0.0
    total = sum(made)
    return total + y * x


@case((np.array([1.0, 2.0, 3.0]),))
def over_arrays(x):
    total = 0.0
    for v in map(lambda a: a * a, x):
        total += v
    pairs = zip(x, x[1:])
    for a, b in pairs:
        total += a * b
    return (
        total + sum(map(operator.mul, x, x[1:])) + sum(b * a * a for a, b in itertools.pairwise(x))
    )


@case(([1.0, 2.0, 3.0],))
def strict_zip_of_iterators(x):
    return sum(a * b for a, b in zip(x, (2.0 * v for v in x), strict=True))


@case((1.3,))
def views_follow_their_dict(x):
    table = {"a": x}
    keys, values, items = table.keys(), table.values(), table.items()
    table["b"] = x * x
    table["a"] = 3.0 * x
    return sum(values) * len(keys) + sum(v * v for _, v in items) + (x if "b" in keys else 0.0)


@case((1.3,))
def dict_is_stored_to_under_its_loop(x):
    table = {"b": x, "a": x * x}
    for key in table:
        table[key] = table[key] * 2
    for key, value in table.items():
        table[key] = value * x
    for _ in table.values():
        table["a"] = table["a"] * x
    return sum(table.values())


@case((1.3,))
def list_is_stored_to_under_its_loop(x):
    values = [x, x * x, 3.0 * x]
    for k, v in enumerate(values):
        values[k] = v * v
        values[2] = values[2] + v
    return sum(values)


@case((1.3,))
def views_of_a_dict_of_run_time_keys(x):
    table = {}
    for k in range(4):
        table[k] = x**k
    values = table.values()
    table[7] = x
    total = sum(values)
    for k, v in table.items():
        total += k * v
    return total + len(table.keys()) * x


@case((1.3,))
def keys_as_sets(x):
    one, other = {"p": x, "q": x * x}, {"q": 2.0, "r": 3.0, "p": x}
    return sum(one[k] * other[k] for k in sorted(one.keys() & other.keys()))


@case((1.3,))
def arrangements(x):
    total = sum(a * b * b for a, b in itertools.permutations([x, 2.0, x * x], 2))
    total += sum(a * b for a, b in itertools.combinations_with_replacement([x, 2.0], 2))
    total += sum(a * b for a, b in itertools.zip_longest([x, x * x], [3.0], fillvalue=x))
    total += sum(itertools.starmap(lambda a, b: a * b, [(x, 1.0), (2.0, x)]))
    return total + sum(itertools.islice([x, x * x, 2 * x], 2)) + sum(itertools.repeat(x, 3))


@case((1.3,))
def reductions_of_iterators(x):
    total = math.fsum(v * v for v in [x, 2.0]) + math.prod(v for v in [x, 2.0, x * x])
    total += functools.reduce(lambda a, b: a * b + 1, (v * x for v in [1.0, 2.0]))
    return total * len(",".join(str(k) for k in range(3)))


@case((1.3,))
def lists_in_order(x):
    values = [1.0, 2.0]
    bisect.insort(values, x)
    best = heapq.nlargest(2, [x, x * x, 0.1]) + heapq.nsmallest(1, [x, -x], key=lambda v: v * v)
    return values[1] ** 2 + best[0] * best[1] + best[2] * values[bisect.bisect_left(values, 1.2)]


@case((1.3,))
def tuples_in_order(x):
    ordered = sorted([(x, 2.0), (x * x, 1.0), (0.5, x)])
    named = sorted([("b", x), ("a", x * x)])
    largest, smallest = max((x, 2.0), (x * x, 1.0)), min([(x, 2.0), (x * x, 1.0)])
    total = sum((k + 1) * a * b for k, (a, b) in enumerate(ordered))
    return total + named[0][1] * 2 + named[1][1] + largest[0] * largest[1] + smallest[0]


@case(([0.5, 0.2, 0.9, 0.4],))
def tuples_in_order_of_any_number(xs):
    pairs = sorted((math.sin(3.0 * v), i) for i, v in enumerate(xs))
    nested = [((v * v, i), v) for i, v in enumerate(xs)]
    nested.sort(reverse=True)
    total = sum((k + 1) * v * v * (i + 1) for k, (v, i) in enumerate(pairs))
    total += sum((k + 1) * v * w for k, ((v, _), w) in enumerate(nested))
    (high, i), (low, j) = max(pairs), min((v * v, -i) for i, v in enumerate(xs))
    return total * high + xs[i] * low * j


@case(([0.5, 0.2, 0.9, 0.4],))
def tuples_as_keys_of_any_number(xs):
    ordered = sorted(xs, key=lambda v: (v > 0.45, -v))
    backwards = sorted(range(len(xs)), key=lambda i: (i % 2, xs[i]), reverse=True)
    total = sum((k + 1) * v * v for k, v in enumerate(ordered))
    total += sum((k + 1) * xs[i] ** 3 for k, i in enumerate(backwards))
    best = max(xs, key=lambda v: (v < 0.45, v))
    return total * best + min(xs, key=lambda v: (v < 0.45, -v)) ** 2


@case((1.3,))
def keys_that_are_equal(x):
    table = {1: x}
    table[1.0] = x * x
    return table[True] * len(table) + {"a": x, "a": 3.0 * x}["a"]  # noqa: F601


@case((np.array([[1.0, 2.0], [3.0, 4.0]]),))
def indices_of_an_array(x):
    total = 0.0
    for i, j in np.ndindex(2, 2):
        total += x[i, j] * (i + 2 * j)
    for index in np.ndindex(x.shape):
        total += x[index] ** 2
    return total


def _scaled_parts(p, n):
    if n == 0:
        return p[0][0] * p[1]
    return _scaled_parts(((p[0][0] * p[1], p[0][1]), p[0][0] + p[1]), n - 1)


def _scaled_entries(p, q, n):
    if n == 0:
        return p["a"] * p["b"] + q[0] * q[1]
    inner = {"a": p["a"] * p["b"], "b": p["a"] + p["b"]}
    return _scaled_entries(inner, [q[1], q[0] * q[1]], n - 1)


def _scaled_rest(n, *rest):
    if n == 0:
        return rest[0] * rest[1]
    return _scaled_rest(n - 1, rest[0] * rest[1], rest[1] + rest[0])


def _pair_of_results(x, n):
    if n == 0:
        return x, x * x
    a, b = _pair_of_results(x * 1.1, n - 1)
    return a * b, a + b


@case((1.1,))
def recursion_with_containers(x):
    a, b = _pair_of_results(x, 2)
    total = _scaled_parts(((x, 1.0), 2.0), 3) + _scaled_rest(3, x, 2.0)
    return total + _scaled_entries({"a": x, "b": 2.0}, [x, 0.5], 3) + a * b


@case(([0.7, -1.3, 2.4],))
def columns_of_pairs(xs):
    a, b, counts = zip(*[(x, x**2, k) for k, x in enumerate(xs)], strict=False)
    c, d = map(list, zip(*sorted(zip(a, b))))
    total = sum(a) * b[0] + counts[-1] * c[0] * d[1]
    for column in zip(*[(x, 2 * x) for x in xs]):
        total = total * xs[1] + column[0] * column[-1]
    return total
