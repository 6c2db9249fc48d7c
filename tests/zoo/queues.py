"""Deques, dicts with defaults, and functions of a class."""

import copy
import functools
import math
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from .registry import case


@case((1.3, 60), (1.3, 2))
def moving_window(x, n):
    window = deque([0.0] * 3, maxlen=3)
    total = 0.0
    for i in range(n):
        window.append(math.sin(x * i) + total * 0.1)
        total += window[0] * x
    return total


@case((1.3, 50))
def moving_average(x, n):
    window = deque(maxlen=4)
    total = 0.0
    for i in range(n):
        window.append(math.cos(x * i))
        total += sum(window) / len(window) * x
    return total


@case((1.3, 0.1))
def delayed_growth(x, dt):
    past = deque(maxlen=20)
    for _ in range(60):
        delayed = past[0] if len(past) == 20 else 1.0
        x = x + dt * (delayed - x * x)
        past.append(x)
    return x


@case((1.3,))
def breadth_first(x):
    waiting = deque([(x, 0)])
    total = 0.0
    while waiting:
        v, depth = waiting.popleft()
        total += v * v
        if depth < 3:
            waiting.append((v * x, depth + 1))
            waiting.appendleft((v + 1.0, depth + 1))
    return total


@case((1.3,))
def ends_of_a_deque(x):
    d = deque([x])
    d += [x * x]
    d.extendleft([1.0, x**3])
    d = d + deque([x])
    d.insert(1, x * 4.0)
    del d[0]
    d.reverse()
    d.rotate(2)
    d.rotate(-1)
    d[0] *= x
    return sum((i + 1) * v for i, v in enumerate(d)) + np.mean(d) * np.array(d)[1] + max(d)


@case((1.3,))
def copies_of_a_deque(x):
    d = deque([x, x * x], maxlen=3)
    e = d.copy()
    e.append(x**3)
    c = copy.copy(d)
    c.append(1.0)
    k = copy.deepcopy(d)
    k[0] = 2.0
    return sum(d) * sum(e) + c[0] * len(c) * k[0] + len(k)


@case((1.3,))
def what_a_deque_is(x):
    d, e = deque([x, x * x]), deque([x, x * x])
    same = d == e and d != [x, x * x] and type(d) is deque and not isinstance(d, list)
    return x * 3.0 if same else x * x


@case((1.3,))
def deque_of_arrays(x):
    d = deque([np.array([x, 1.0]), np.array([x * x, 2.0])], maxlen=2)
    for _ in range(5):
        d.append(d[0] * x + np.sin(d[1]))
    return np.sum(d[-1])


@case((1.3,))
def deque_changed_by_a_helper(x):
    def push(queue, v):
        queue.append(v)
        return queue

    queue = deque(maxlen=2)
    for i in range(4):
        queue = push(queue, x**i)
    return queue[0] * queue[1]


@case((1.3, 60))
def default_sums(x, n):
    sums = defaultdict(float)
    for i in range(n):
        sums[i % 3] += x * i
    return sums[0] * sums[1] + sums[2] * sums[7]


@case((1.3,))
def default_of_a_closure(x):
    weight = defaultdict(lambda: x)
    for k in ("a", "b", "a"):
        weight[k] = weight[k] * 2.0
    return weight["a"] + weight["b"] * weight["c"] + sum(weight.values())


@case((1.3,))
def default_lists(x):
    groups = defaultdict(list)
    for i in range(5):
        groups[i % 2].append(x * i)
    return sum(sum(v) ** 2 for v in groups.values())


@case((1.3,))
def default_arrays(x):
    d = defaultdict(lambda: np.zeros(2))
    for i in range(4):
        d[i % 2] = d[i % 2] + x * np.array([1.0, i])
    return (d[0] * d[1]).sum()


@case((1.3,))
def methods_of_a_default_dict(x):
    d = defaultdict(float, a=x)
    d["b"] += d["a"] * x
    d.update(c=x**3)
    d.setdefault("e", x)
    total = d.pop("c") + d.get("f", 2.0) * len(d)
    for k, v in d.items():
        total += v * len(k)
    del d["e"]
    same = d == {"a": x, "b": x * x} and isinstance(d, dict) and d.copy() == d
    return total if same and "c" not in d else x


@functools.singledispatch
def weight_of(v):
    return v * 2.0


@weight_of.register
def _(v: list):
    return sum(v) * 5.0


@case((1.3,))
def function_of_a_class(x):
    return weight_of(x) * x + weight_of([x, x * x])


@case((1.3,))
def entries_in_order(x):
    d = OrderedDict([("a", x), ("b", x * x)])
    d["c"] = x**3
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    key, first = d.popitem(last=False)
    other = d.copy()
    other["b"] *= 2.0
    scale = 2.0 if isinstance(d, dict) and key == "c" and d != other else 1.0
    return scale * first + sum(k * v for k, v in enumerate(d.values(), start=2)) * other["b"]


@case((1.3,))
def letters_counted(x):
    total = 0.0
    for _, n in Counter("abracadabra").items():
        total += n * x**n
    counts = Counter([3, 1, 3, 3, 1], b=2)
    return total + sum(x**k * n for k, n in counts.most_common(1)) + counts["none"] + counts.total()


@case((1.3, 7), (1.3, 0))
def sums_by_remainder(x, n):
    sums = Counter()
    for k in range(n):
        sums[k % 3] += x * k
    sums.subtract({0: x})
    return sums[0] * sums[1] + sums[2] ** 2
