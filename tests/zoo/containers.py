"""Lists, tuples, dicts, named tuples and dataclasses: built, read, changed, nested, aliased."""

import copy
import itertools
import math
from collections import namedtuple
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .registry import case


@case((0.7, 1.3))
def list_display(x, y):
    p = [x, y, x * y]
    return p[0] * p[2] + p[-2]


@case((0.7, 1.3))
def tuple_display(x, y):
    p = x, y, (x * y, 2.0)
    return p[2][0] * p[0] + p[2][1] * p[1]


@case((0.7, 1.3))
def dict_display(x, y):
    p = {"x": x, "y": y, 3: x * y, ("a", 1): 2.0}
    return p["x"] * p[3] + p["y"] * p[("a", 1)]


@case((0.7,))
def empty_displays(x):
    a, b, c = [], (), {}
    return x * x + len(a) + len(b) + len(c)


@case((0.7, 4), (0.7, 0))
def list_append(x, n):
    values = []
    for k in range(n):
        values.append(x**k)
    total = x
    for v in values:
        total = total * 0.5 + v
    return total


@case((0.7,))
def list_pop(x):
    stack = [x, x * x, x**3, 4.0]
    last = stack.pop()
    second = stack.pop(1)
    return last * second + stack[0] * stack[1] + len(stack)


@case((0.3,))
def list_methods(x):
    stack = []
    for i in range(4):
        stack.append(x * (i + 1.0))
    last = stack.pop()
    stack.insert(0, last * last)
    stack[1] += stack[0]
    stack.extend([x, 2.0 * x])
    total = 0.0
    for k, v in enumerate(stack):
        total += v * v * (k + 1)
    return total + len(stack)


@case((0.7, 1.3))
def list_store(x, y):
    p = [0.0] * 3
    p[0] = x
    p[1] = y * p[0]
    p[2] = p[1]
    p[1] = 2.0
    return p[0] * p[1] * p[2]


@case((0.7,))
def list_store_in_loop(x):
    p = [1.0, 0.0, 0.0, 0.0]
    for k in range(1, 4):
        p[k] = p[k - 1] * x + k
        p[0] = p[0] * 0.5
    return p[0] * p[1] + p[2] * p[3]


@case((0.7, 6))
def fibonacci_table(x, n):
    table = [x, 1.0]
    while len(table) < n:
        table.append(table[-1] * x + table[-2])
    return table[-1] * table[n // 2]


@case((0.7, 1.3))
def two_names_one_list(x, y):
    a = [x, 1.0]
    b = a
    b[0] = a[0] * y
    b.append(y)
    return a[0] * a[2] + len(a)


@case((0.7, 1.3))
def changed_in_place_under_two_names(x, y):
    a = [x, y]
    b = a
    b *= 2
    b[1] = x * y
    table = {"row": a}
    row = table
    row |= {"more": [y]}
    table["row"] *= 2
    table["row"] += table["more"]
    keys = {0, 1}
    known = keys
    known |= {2}
    known -= {0}
    return sum(a[k] * (k + 1) for k in range(len(a))) * sum(keys) * len(table)


@case(([0.7, 1.3], 0.4))
def argument_repeated_in_place(values, x):
    kept = values
    kept *= 2
    values[3] = x * values[1]
    return sum(v * (k + 1) for k, v in enumerate(kept))


@case((0.7, 1.3))
def list_and_array_added_in_place(x, y):
    values = [x, y]
    kept = values
    values += np.array([1.0, 2.0])
    return values * sum(kept)


@case((0.7, 1.3))
def deep_copies_keep_what_is_one_object(x, y):
    row, array = [x, y], np.array([x, y])
    table = copy.deepcopy([row, row, {"row": row}, array, array])
    row[0] = 5.0
    table[0][1] = x * x
    table[3][0] = y * y
    return table[1][0] * table[2]["row"][1] * table[4][0] * array[0] * row[1]


@case((0.7, 1.3))
def one_list_twice_in_a_list(x, y):
    row = [x, y]
    table = [row, row]
    table[0][0] = x * y
    return table[1][0] * row[1] + table[0][0]


@case((0.7, 1.3))
def copies_do_not_alias(x, y):
    a = [x, y]
    b = list(a)
    c = a[:]
    d = a.copy()
    a[0] = 5.0
    b[1] = x * x
    c[0] *= 2.0
    return a[0] * b[0] + c[0] * b[1] + d[1]


@case((0.7, 1.3))
def list_built_by_a_callee(x, y):
    def fill(target, value):
        target.append(value)
        target[0] = target[0] * value

    p = [x]
    fill(p, y)
    fill(p, x * y)
    return p[0] + p[1] * p[2]


@case((0.7,))
def list_of_lists(x):
    grid = [[x * (i + j) for j in range(3)] for i in range(2)]
    grid[1][2] = grid[0][1] * grid[1][1]
    grid.append([x, 1.0, x * x])
    total = 0.0
    for row in grid:
        for v in row:
            total += v * v
    return total


@case(([0.7, 1.3, -0.2, 2.0],))
def list_slices(p):
    head = p[:2]
    tail = p[2:]
    back = p[::-1]
    every = p[::2]
    return head[0] * tail[1] + back[0] * every[1] + len(p[1:-1]) * p[-3:][0]


@case((0.7, 1.3))
def list_concatenation(x, y):
    p = [x] + [y, x * y]
    p += [2.0 * x]
    q = p * 2
    return q[0] * q[5] + q[7] * q[2]


@case((0.7, 1.3))
def tuple_concatenation(x, y):
    p = (x,) + (y, x * y)
    p += (2.0,)
    q = 2 * p
    return q[0] * q[5] + q[7] * q[2]


@case((0.7, 1.3))
def dict_store(x, y):
    p = {}
    p["a"] = x * y
    p["b"] = p["a"] + x
    p["a"] = p["b"] * y
    return p["a"] * p["b"] + len(p)


@case((0.7, 1.3))
def dict_get(x, y):
    p = {"a": x}
    return p.get("a", 1.0) * y + p.get("b", y) * x + (p.get("c") is None)


@case((0.7, 1.3))
def dict_methods(x, y):
    p = dict(a=x, b=y)
    p.update({"c": x * y, "a": x + 1})
    popped = p.pop("b")
    p.setdefault("a", 100.0)
    d = p.setdefault("d", y)
    total = popped * d
    for key, value in p.items():
        total += value * (ord(key) - 96)
    if "b" not in p and "c" in p:
        total = total * x
    return total


@case((0.7, 1.3))
def dict_merge(x, y):
    p = {"a": x, "b": y}
    q = {**p, "b": x * y}
    r = p | {"c": 2.0 * x}
    return q["a"] * q["b"] + r["b"] * r["c"] + len(r)


@case((0.7,))
def dict_with_computed_keys(x):
    p = {}
    for i in range(3):
        for j in range(2):
            p[i, j] = x ** (i + j)
    return sum(p[i, 1] * p[2 - i, 0] for i in range(3))


@case((0.7,))
def dict_of_lists(x):
    groups = {}
    for k in range(5):
        groups.setdefault(k % 2, []).append(x * k)
    return groups[0][1] * groups[1][1] + len(groups[0]) * groups[0][2]


@case((0.7,))
def tuple_valued_dict_entries(x):
    acc = {"s": 0.0, "t": (0.0, 1.0)}
    for k in range(3):
        v = x**k
        acc["s"] += v
        acc["t"] = (acc["t"][0] + v * v, acc["t"][1])
    return acc["s"] + acc["t"][0] * acc["t"][1]


@case((np.array([0.7, 1.3, -0.2]),))
def list_comprehension(x):
    p = [v * v for v in x]
    return p[0] * p[1] + p[2]


@case((np.array([0.7, 1.3, -0.2, 2.2]), 0.5), argnums=0)
def comprehension_with_condition(x, limit):
    p = [v * (k + 1) for k, v in enumerate(x) if v > limit]
    return p[0] * p[-1] + len(p)


@case((0.7, 1.3))
def comprehension_with_two_loops(x, y):
    p = [a * b for a in (x, y, 2.0) for b in (x, 3.0) if a is not b]
    return sum(p) * p[1]


@case((0.7,))
def nested_comprehension(x):
    table = [[x ** (i * j) for j in range(1, 3)] for i in range(1, 3)]
    return table[0][1] * table[1][1] + sum([sum(row) for row in table])


@case((0.7,))
def comprehension_variable_is_local(x):
    k = 2.0
    p = [k * x for k in range(1, 4)]
    return p[2] * k


@case((0.7, 1.3))
def dict_comprehension(x, y):
    p = {k: v * v for k, v in zip("ab", (x, y))}
    q = {k: p[k] * i for i, k in enumerate(p, 1)}
    return q["a"] * q["b"] + p["a"]


@case(([0.7, 1.3, -0.2],))
def generator_expression(p):
    return sum(v * v for v in p) * max(v for v in p)


@case(([0.7, 1.3, -0.2],))
def generator_with_condition(p):
    total = sum(v**3 for v in p if v > 0)
    return total + sum((i * v for i, v in enumerate(p)), start=p[0])


@case((0.7,))
def generator_over_nested_loops(x):
    return sum(x ** (i + j) for i in range(3) for j in range(i))


@case((0.7,))
def set_of_indices(x):
    seen = {0, 1}
    total = 0.0
    for k in (0, 2, 2, 1, 3):
        if k in seen:
            continue
        seen.add(k)
        total = total * x + k + x
    return total


Point = namedtuple("Point", ["x", "y"])


class Sphere(NamedTuple):
    centre: Point
    radius: float = 1.0


@dataclass
class Model:
    weight: float
    bias: float = 0.5


@dataclass(frozen=True)
class Layer:
    weights: np.ndarray
    bias: np.ndarray
    name: str = "layer"


@dataclass
class Network:
    layers: list
    scale: float


@case((Point(0.7, 1.3),))
def namedtuple_argument(p):
    return p.x * p.y + p[0] ** 2


@case((Sphere(Point(0.7, 1.3), 2.0),))
def nested_namedtuple_argument(s):
    (x, y), r = s
    return (x * y - s.centre.x) * r**2 + s.radius


@case((0.7, 1.3))
def namedtuple_built(x, y):
    p = Point(x * y, y=x)
    q = p._replace(x=p.y * 2.0)
    s = Sphere(q)
    return s.centre.x * p.x + s.radius * q.y


@case((0.7, 1.3))
def namedtuple_result(x, y):
    return Point(x * y, math.sin(x))


@case((Model(0.7, 1.3), 2.0))
def dataclass_argument(m, x):
    return math.tanh(m.weight * x + m.bias)


@case((0.7, 1.3))
def dataclass_built(x, y):
    m = Model(x * y)
    k = replace(m, bias=x)
    return m.weight * m.bias + k.weight * k.bias * y


@case((0.7, 1.3))
def dataclass_fields_stored(x, y):
    m = Model(x)
    m.bias = m.weight * y
    m.weight += m.bias
    return m.weight * m.bias


@case(
    (
        Layer(np.array([[0.1, 0.2], [0.3, -0.4]]), np.array([0.5, -0.5])),
        np.array([1.0, 2.0]),
    ),
    argnums=1,
)
def dataclass_with_arrays(layer, x):
    return np.tanh(layer.weights @ x + layer.bias) * len(layer.name)


@case((Network([Model(0.7, 0.2), Model(1.3, -0.1)], 2.0), 0.4))
def dataclass_of_dataclasses(net, x):
    for layer in net.layers:
        x = math.tanh(layer.weight * x + layer.bias)
    return x * net.scale


@case(({"w": np.array([0.7, 1.3]), "b": 0.2, "deep": [0.1, (2.0, np.array([0.3]))]},))
def nested_parameters(p):
    inner = p["deep"][1]
    return np.sum(p["w"] * p["b"]) * p["deep"][0] + inner[0] * inner[1][0] ** 2


@case(([np.array([1.0, 2.0]), np.array([0.5, -1.0])], 0.7))
def list_entries_replaced_in_loop(params, y):
    p = list(params)
    for _ in range(3):
        for j in range(2):
            p[j] = p[j] - 0.1 * y * p[1 - j]
    return np.sum(p[0] * 2.0) + np.sum(p[1] ** 2)


@case(([0.7, 1.3],))
def argument_list_returned(p):
    return p


@case(([0.7, 1.3], (0.2, {"a": 2.0})))
def results_nested(p, q):
    return {"first": p[0] * q[0], "second": [q[1]["a"] * p[1], (p[0], q[0])]}


@case((0.7, 1.3))
def packing_and_unpacking_in_loop(x, y):
    state = (x, [y, 0.0])
    for k in range(3):
        a, (b, c) = state
        state = (a * b, [b + 0.1 * c, a * k])
    return state[0] * state[1][0] + state[1][1]


@case((0.7, 1.3))
def list_in_a_branch(x, y):
    p = []
    if x < 1:
        p.append(x)
        p.append(y * x)
    else:
        p.append(y)
    return p[-1] * len(p) + p[0]


@case((0.7, 1), (0.7, 0))
def index_computed_at_run_time(x, k):
    p = [x, x * x, x**3]
    q = (p[k], p[-k], p[k + 1])
    return q[0] * q[1 - k] + q[2]


@case((0.7, 1.3))
def containers_compared_and_tested(x, y):
    p = [x, y]
    if p and len(p) == 2 and (1, 2) < (1, 3) and [] != [1]:
        return p[0] * p[1]
    return x


@case((0.7, 1.3))
def deleted_from_containers(x, y):
    p = [x, y, x * y]
    q = {"a": x, "b": y}
    del p[0]
    del q["a"]
    p.reverse()
    p.remove(p[0])
    return p[0] * q["b"] + len(p) + len(q)


@case((0.7, 1.3))
def cleared_and_filled(x, y):
    p = [x, y]
    total = p[0] * p[1]
    p.clear()
    p.append(total)
    return p[0] * x + len(p)


@case((0.3, 0.8, {"a": 1.0, "b": -2.0}), (0.3, 1.2, {"a": 1.0, "b": -2.0}))
def key_added_on_one_path(x, y, table):
    if y < 1.0:
        table["c"] = x * y
    return math.sin(sum(table.values()))


# ---- integers among floats


@case((0.7, 1.1))
def list_of_integers_that_become_floats(x, y):
    values = [1, x, 2]
    for k in range(4):
        values[k % 3] = values[(k + 1) % 3] * y
    return values[0] * values[1] + values[2]


@case((0.7, 1.1))
def zip_of_tuples_with_integers(x, y):
    total = 0
    for a, b in zip((1, x, 2), (y, 0, x), strict=True):
        total += a * b * b
    return total


@case((0.7, 1.1))
def tuple_with_integers_read_in_a_loop(x, y):
    steps = (1, x, y, 0)
    total = x
    for k in range(8):
        total = total * y + steps[k % 4] * steps[(k + 1) % 4]
    return total


@case((0.7, 1.1))
def pairs_with_integers_in_a_list(x, y):
    pairs = []
    for k in range(4):
        pairs.append((k, x * k, 1 if k % 2 else y))
    return sum(i * a * b * a for i, a, b in pairs)


@case((0.7, np.array([0.3, -0.4])))
def integers_that_become_arrays(x, v):
    state = [0, 1]
    for k in range(3):
        state[0] = state[0] * x + v
        state[1] = state[1] * v + k
    return np.sum(state[0] ** 2 * state[1])


@case((0.7, 1.1, 0.2), (0.7, 1.1, 3.0))
def sorted_numbers_with_an_integer(x, y, z):
    low, middle, high = sorted([1, x * y, z * x])
    return low * middle**2 + high * x


@case((0.3, np.float64(-0.4)))
def dict_entry_added_in_nested_loops(y, x):
    table = {"a": 1.0, "b": x}
    for b in (0.3, 0.7):
        for k in range(2):
            table["c"] = x * b
        x = table["a"] * y - np.array([0.3, 0.7])[k % 2] * table["b"]
    return x * table["c"]


# ---- entries that exist on some paths only


V3 = np.array([0.4, 0.9, 0.2])


@case((1.3, V3), (2.3, V3))
def dict_of_arrays_filled_on_some_paths(x, v):
    table = {"a": v}
    for k in range(3):
        if x > k + 0.5:
            table["b"] = table["a"] * x
        if "b" in table:
            table["a"] = table["b"] * table["a"]
    return np.sum(table["a"])


@case((1.3, V3))
def list_of_arrays_filled_on_some_paths(x, v):
    slots = [None] * 3
    for k in range(5):
        i = k % 3
        if slots[i] is None:
            slots[i] = v * k
        else:
            slots[i] = slots[i] * slots[i] + x
    return sum(np.sum(a) for a in slots)


@case((1.3, V3))
def array_that_stays_none_on_some_paths(x, v):
    w = None
    for k in range(3):
        if k == 5:
            w = v * x
        if w is not None:
            v = v + w
        if k == 1:
            u = v * v
            v = u * x
    return np.sum(v * u)


@case((1.3, V3))
def best_array_so_far(x, v):
    best, at_best = None, None
    for k in range(4):
        w = np.sin(v * k * x)
        s = np.sum(w)
        if best is None or s > best:
            best, at_best = s, w
    return best * np.sum(at_best * v)


@case(([0.7, 1.3],))
def a_list_argument_written_and_bound_again_in_a_loop(x):
    total = x[0] * x[1]
    k = 0
    while k < 1 and total < 9.0:
        k += 1
        x[0] = 0.5
        total = total + x[0] * x[1]
        x = [0.3, 0.7]
    return total


@case(({"a": 0.7, "b": 1.3}, 2))
def a_dict_argument_written_and_bound_again_in_a_branch(d, n):
    if n > 1:
        d["a"] = d["b"] * d["a"]
        total = d["a"] ** 2
        d = {"a": total}
    else:
        total = d["b"]
        d = {"a": 1.0}
    return total * d["a"]


@case((0.7, 1.3, {"a": -1.6, "b": 0.5}), (0.7, -0.4, {"a": -1.6, "b": 0.5}))
def a_dict_entry_written_again_after_a_branch(x, y, d):
    if y > 0.0:
        d["b"] = x
    else:
        d["c"] = x * y
    d["b"] = 1.5
    return (1.0 + x) ** 2 * sum(d.values())


LINKS = [(0, 1), (1, 2), (0, 2)]
PARTS = [(0, 1.5), (1, 2.5), (2, -1.0)]
CHANCES = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]


@case((np.array([0.7, 1.3, 0.4]),))
def tuple_at_a_run_time_index(w):
    total = 0.0
    for k in np.argsort(w):
        a, b = LINKS[k]
        total += w[a] * w[b] * (k + 1)
    return total


@case((1.1,))
def mixed_tuple_at_a_run_time_index(x):
    total, k = 0.0, 0
    while total < 5:
        number, weight = PARTS[k % 3]
        total += weight * weight * x * (number + 1)
        k += 1
    return total


@case((1.3,))
def nested_lists_at_run_time_indices(x, seen=(0, 1, 1)):
    total = x
    for s in seen:
        total = total * CHANCES[s][0][s] + CHANCES[1][s][s]
    return total


@case((np.array([0.7, -1.3]),))
def rows_of_active_numbers_at_run_time_indices(x):
    rows = [[x[0], 2 * x[1]], [x[0] * x[1], 1.0]]
    total = 0.0
    for i in np.argsort(x):
        for j in np.argsort(-x):
            total += rows[i][j] * (i + 2 * j + 1) * rows[j][i]
    return total


@case((np.array([0.7, -1.3]),))
def constant_arrays_put_on_a_stack_and_taken(x):
    stack = []
    for k in range(3):
        stack.append(x * k)
    stack.append(np.array([0.3, 0.7]))
    last = stack.pop()
    return stack[-1] * stack[1] * last


@case((np.array([0.7, -1.3]),))
def constant_pairs_put_on_a_stack_and_taken(x):
    stack = []
    for k in range(2):
        stack.append((x[k] * x[k], x))
    stack.append((0.3, np.array([0.3, 0.7])))
    a, b = stack.pop()
    c, d = stack[-1]
    return a * c * (b @ d)


@case((np.array([0.7, -1.3]), 3), (np.array([0.7, -1.3]), 0))
def constant_arrays_put_on_a_stack_in_a_loop(x, n):
    stack = [x]
    for k in range(n):
        if k != 1:
            stack.append(np.array([0.3, 0.7]))
        else:
            stack.append(x * x)
            stack.append(np.array([1.3, 0.7]))
    return stack[-1] * stack[0] * stack[n // 2]


@case((np.array([0.7, 0.6, 0.9]), 3), (np.array([0.7, 0.6, 0.9]), 1))
def best_pair_so_far_or_none(x, n):
    best = None
    for k in range(n):
        cost = (x[k] - 0.5) ** 2
        if best is None or cost < best[0]:
            best = (cost, k)
    cost, k = best
    return cost * x[k] + best[1]


@case((np.array([0.7, 0.6, 0.9]), 3), (np.array([0.7, 0.6, 0.9]), 0))
def best_pair_found_or_a_return_of_something_else(x, n):
    best = None
    for k in range(n):
        cost = (x[k] - 0.5) ** 2
        if best is not None and cost > best[0]:
            continue
        best = cost, x * k, (2.0, k)
    if best is None:
        return x[0]
    return best[0] * np.sum(best[1] ** 2)


@case((np.array([0.7, 0.6, 0.9]), 3))
def pair_of_the_iteration_before(x, n):
    last = None
    total = 0.0
    for k in range(n):
        now = (x[k], x[k] ** 2)
        if last is not None:
            total += now[0] * last[1]
        last = now
    return total + last[0]


@case((np.array([0.7, 0.6, 0.9]), 3))
def best_list_and_dict_or_none(x, n):
    best, known = None, None
    for k in range(n):
        cost = (x[k] - 0.5) ** 2
        if best is None or cost < best[0]:
            best = [cost, x * k]
            known = {"cost": cost, "at": x[k]}
    return best[0] + np.sum(best[1] ** 2) + known["cost"] * known["at"]


@case((np.array([0.7, 0.6, 0.9]), 3))
def best_written_array_or_none(x, n):
    best = None
    for k in range(n):
        row = np.zeros(3)
        row[0] = x[k] * 2
        row[1] = x[0]
        if best is None or row.sum() < best.sum():
            best = row
    return best


def _first_above(x, limit):
    for k in range(4):
        value = x * k - 1
        if value > limit:
            return value, k
    return None


@case((0.7, 0.0), (0.7, 5.0))
def pair_or_none_from_a_helper(x, limit):
    found = _first_above(x, limit)
    if found is None:
        return x * limit
    value, k = found
    return value**2 * k


@case((np.array([0.7, 0.6, 0.9]),))
def tuples_of_a_list_read_by_index(x):
    pairs = [(a, k, a * a) for k, a in enumerate(x)]
    total = 0.0
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            a, k, _ = pairs[i]
            _, _, d = pairs[j]
            total += a * d * k
    return total


@case((np.array([0.7, 0.6, 0.9]),))
def products_of_tuples_of_a_list(x):
    pairs = [(a, k, a * a) for k, a in enumerate(x)]
    total = 0.0
    for (a, k, b), (c, _, d) in itertools.product(pairs, pairs):
        total += a * d * k + math.sin(b * c)
    return total


@case((np.array([0.7, 0.6, 0.9]),))
def named_tuples_in_a_list_of_unknown_length(x):
    points = [Point(k, a) for k, a in enumerate(x)]
    points.append(Point(2, x[0] * x[1]))
    for k in range(len(points)):
        points[k] = points[k]._replace(y=points[k].y * 2)
    last = points[-1]
    return sum(p.y**2 * p.x for p in points) * last.y * points[0][1]


@case((np.array([0.7, 0.6, 0.9]),))
def best_named_tuple_or_none(x):
    best = None
    for a in x:
        point = Point((a - 0.5) ** 2, x * a)
        if best is None or point.x < best.x:
            best = point
    return best.x * best.y


@dataclass
class Particle:
    x: float
    v: float = 0.0

    def push(self, force, step=0.1):
        self.v += step * force
        self.x += step * self.v


@case((np.array([0.7, 0.6, 0.9]),))
def objects_in_a_list_that_change(x):
    particles = [Particle(x[k] * k) for k in range(3)]
    for _ in range(2):
        for p in particles:
            for other in particles:
                if other is not p:
                    p.push((other.x - p.x) ** 2)
    return sum(p.x * p.v for p in particles)


@case((np.array([0.7, 0.6, 0.9]),))
def objects_put_into_a_list_and_a_dict_in_a_loop(x):
    states, named = [Particle(x[0])], {}
    for k, name in enumerate(("a", "b", "c")):
        last = states[-1]
        states.append(Particle(last.x + last.v * x[k], last.v - last.x * x[1]))
        named[name] = states[-1]
    named["a"].push(x[2])
    return states[-1].x + sum(s.v**2 for s in states) + named["b"].x * states[1].x


@case(([0.5, 0.2, 0.9], 2), ([0.5, 0.2, 0.9], 0))
def a_list_of_containers_repeated(xs, n):
    pairs = [(v * v, i) for i, v in enumerate(xs)] * n
    rows = n * [[v, v * xs[0]] for v in xs]
    arrays = [np.array([v, v * v]) for v in xs] * n
    total = sum(v * v * (i + k) for k, (v, i) in enumerate(pairs))
    total += sum(v * w * (k + 1) for k, (v, w) in enumerate(rows))
    return total + sum(np.sum(a * a) * (k + 1) for k, a in enumerate(arrays)) + xs[1] ** 2


@case(([0.5, 0.2, 0.9],))
def arrays_of_numbers_with_integers_among_them(xs):
    pairs = [(v * v, i) for i, v in enumerate(xs)]
    nested = [((v, 2), (3, v > 0.3)) for v in xs]
    table, cube = np.array(pairs), np.stack(nested)
    total = np.sum(table[:, 0] * table[:, 1]) * np.sum(cube[:, 0, 0] * cube[:, 1, 0])
    return total + np.max(pairs, axis=0)[0] * pairs[1][0] + np.sum(np.concatenate(pairs) ** 2)


@case(([0.5, 0.2, 0.9], 3))
def a_list_that_is_searched_and_compared_before_it_changes(xs, n):
    a = [v * v for v in xs]
    total = 0.0
    for k in range(n):
        i = a.index(max(a))
        total += a[i] * (i + 1) * a.count(a[i]) * xs[k]
        a[i] = 0.5 * a[k]
        if a < xs and a != [total]:
            total *= xs[0]
    return total * sum(a)


@case(([0.5, 0.2, 0.9], 0.7, -1), ([0.5, 0.2, 0.9], 0.7, 9), ([], 0.7, -4))
def inserted_and_popped_at_positions_from_the_end_or_beyond(xs, x, n):
    a = [v * v for v in xs]
    a.insert(-1, x)
    a.insert(n, x * x)
    a.insert(7, 3.0 * x)
    a.insert(-7, x**3)
    a.insert(1, 2.0 * x)
    total = a.pop(-2) * x + a.pop(n % 3 - 3)
    del a[n % 2 - 1]
    return total + sum((k + 1) * v * v for k, v in enumerate(a))


@case((1.6,))
def repeated_list_of_arrays(x):
    rows = [np.array([x, x * x]), np.array([1.0, x])] * int(2 * x)
    fixed = [np.array([1.0, 2.0])] * int(2 * x)
    total = rows[0][1] * rows[2][0] + rows[3][1] ** 2
    for u in (tuple(rows), tuple(fixed)):
        total += u[1][0] * u[0][1]
    return total


@case((1.6,))
def lists_of_floats_beside_lists_of_integers(x):
    n = int(2 * x)
    floats, counts = [x * k for k in range(n)], [k for k in range(n)]
    a, b = map(list, (tuple(floats), tuple(counts)))
    return sum(a) * b[2] * a[1]


@case((1.3, 3))
def repeated_tuples_and_rows(x, n):
    t, rows = (x, 2.0) * n, n * [[x, x * x]]
    total = sum(t) * t[2] + rows[-1][1]
    for a, b in rows:
        total += a * b
    return total


@case((1.5, 0.7, 3), (1.5, 0.7, 0), tags="scalar container")
def counts_among_floats(x, s, n):
    numbers = [x, s, n]
    for k, v in zip((0, 1), (x * s, x), strict=True):
        numbers[k] = v
    w, step, trips = numbers
    total = 0.0
    for k in range(trips + 1):
        total += step**2 * (k + 1)
    for _ in range(abs(-trips), 0, -1):
        total *= w
    return total


@case((np.array([1.0, 2.0, 3.0, 4.0, 5.0]), ["a", "b", "a", "c", "b"]), tags="container")
def sums_by_name(x, names):
    sums = {}
    for name, v in zip(names, x, strict=True):
        sums[name] = sums.get(name, 0.0) + v * v
    return sums["a"] * sums["b"]


@case((np.array([1.0, 2.0, 3.0, 4.0, 5.0]), ["a", "b", "a", "c", "b"]), tags="container")
def names_beside_numbers(x, names):
    stack, total = [], 0.0
    for name, v in zip(names, x, strict=True):
        stack.append((name, v * v))
        if name == "b" and len(stack) > 1:
            last, w = stack.pop()
            before, u = stack.pop()
            stack.append((before + last, w * u))
    for name, v in stack:
        if name != "c":
            total += v * v
    return total
