"""Loops that add up, in the order of memory: the same sums, and nothing else in another order."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

import srcad
from tests.backends.compiled import Numba, uncompiled
from tests.backends.test_numba import same

pytest.importorskip("numba")
pytestmark = pytest.mark.numba

R = np.random.default_rng(0)
M, N, S = R.normal(size=(4, 5)), R.normal(size=(5, 3)), R.normal(size=(4, 4))


def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


def lower_product(a, c0):
    """The counter of the innermost loop goes along rows of ``a``, that of the outer one not."""
    c = c0.copy()
    for i in range(4):
        for k in range(5):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k]
    return np.sum(c * c)


def running(a, c0):
    """What is added to is read by later iterations."""
    c = c0.copy()
    for i in range(1, 4):
        for j in range(4):
            c[i, j] += c[i - 1, j] * a[i, j]
    return np.sum(c * c)


def through_a_view(a, c0):
    c = c0.copy()
    row = c[0]
    for i in range(4):
        for j in range(4):
            c[i, j] += row[j] * a[i, j]
    return np.sum(c * c)


def to_one_place(a, c0):
    """An element is added to under two indices, which are one in the end."""
    c = c0.copy()
    for i in range(4):
        for k in range(5):
            c[i, 0] += a[i, k]
            c[i, i] -= 2.0 * a[i, k] * a[0, k]
    return np.sum(c * c)


def by_a_work_array(a, b):
    """The inner loop comes apart from what is before and after it."""
    c, n = a.copy(), b.shape[1]
    s = np.zeros(n)
    for i in range(4):
        for p in range(n):
            s[p] = 0.0
            for t in range(b.shape[0]):
                s[p] += c[i, t] * b[t, p]
        for p in range(n):
            c[i, p] = s[p]
    return np.sum(c * c)


def next_column(a, c0):
    """An iteration of the outer loop reads what the one before has written after its inner loop."""
    c = c0.copy()
    for j in range(1, 4):
        for i in range(4):
            c[i, j] += a[i, j] * c[0, j - 1]
        c[0, j] = c[1, j] * 0.5
    return np.sum(c * c)


def memory_of_each_iteration(a, x):
    """A work array is made in the loop: it is zeros each time."""
    total = 0.0
    for i in range(4):
        t = np.zeros(3)
        t[0] += a[i, 0] * x[0]
        t[1] += t[0] * a[i, 1]
        total += t[0] * t[1] + t[2]
    return total


def seldom(a, x, n, far):
    """In a loop that does not run an index may be anything."""
    c = np.zeros(4)
    for i in range(4):
        for j in range(n):
            c[i] += a[i, far] * x[j]
    return np.sum(c * c) + np.sum(x)


def upwards_only(a, c0):
    """Each iteration has its elements to itself, but for the last store."""
    c = c0.copy()
    for i in range(4):
        for j in range(3, -1, -1):
            c[i, j] = c[i, j] * a[i, j]
            c[0, 0] = a[i, j]
    return np.sum(c * c)


X = R.normal(size=3)
CASES = [
    (product, (M, N)),
    (lower_product, (M, S)),
    (running, (S, S + 1.0)),
    (through_a_view, (S, S + 1.0)),
    (to_one_place, (M, S)),
    (by_a_work_array, (M, N)),
    (next_column, (S, S + 1.0)),
    (memory_of_each_iteration, (M, X)),
    (seldom, (M, X, 3, 2)),
    (seldom, (M, X, 0, 99)),
    (upwards_only, (S, S + 1.0)),
]
IDS = [f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)]


@pytest.mark.parametrize("function, args", CASES, ids=IDS)
def test_the_same_as_plain_code(function, args):
    numba = Numba()
    found = numba.value_and_grad(function, argnums=(0, 1))(*args)
    same(found, srcad.value_and_grad(function, argnums=(0, 1))(*args))
    assert not numba.slow


REVERSE = """\
            item2 = a[i, k]
            # line 25: for j in range(c.shape[1]):
            value = 0.0
            for j in range(item):
                item3 = c_bar[i, j]
                b_bar[k, j] = b_bar[k, j] + item3 * item2
                value = runtime.plus(value, item3 * b[k, j])
            a_bar[i, k] = a_bar[i, k] + value
"""


def test_the_innermost_loop_goes_along_rows_and_upwards():
    options = srcad.Options(backend="numba", shorten=False)  # no product of matrices
    source = srcad.grad(product, argnums=(0, 1), options=options).source_for(M, N)
    assert REVERSE in source


APART = """\
        for p in range(n):
            s[p] = 0.0
        for t in range(item4):
            item5 = c[i, t]
            for p in range(n):
                s[p] = s[p] + item5 * b[t, p]
"""


def test_loops_come_apart_if_the_inner_one_can_change_places():
    source = srcad.grad(by_a_work_array, argnums=(0, 1), backend="numba").source_for(M, N)
    assert APART in source
    source = srcad.grad(next_column, argnums=(0, 1), backend="numba").source_for(S, S)
    assert source.count("for j in range(1, 4):\n        ") == 1


# ---- nests at random


def program(seed):
    """A kernel of loops with counters, bounds and statements at random."""
    rng = random.Random(seed)
    lines = ["import numpy as np", "", "def f(a, b, x, n):", "    c = a.copy()", "    d = b * 1.0"]
    lines += ["    s = 0.0"]
    ranges = ["range(n)", "range(n - 1, -1, -1)", "range(1, n)", "range(n - 2, 0, -1)", "range(0)"]

    def index(counters):
        def part():
            if rng.random() < 0.5:
                return rng.choice(counters)
            names = [*counters, *(f"{c} - 1" for c in counters), "0", "-1", "n - 1"]
            return rng.choice(names)

        return f"{part()}, {part()}"

    def term(counters):
        parts = [
            f"a[{index(counters)}]", f"b[{index(counters)}]", f"x[{rng.choice(counters)}]", "0.5",
            "s" if rng.random() < 0.1 else "x[0]",
            f"{rng.choice('cd')}[{index(counters)}]" if rng.random() < 0.4 else "x[1]",
        ]  # fmt: skip
        return f"0.3 * {rng.choice(parts)} * {rng.choice(parts)}"

    def statement(counters, pad):
        name, kind = rng.choice("cd"), rng.random()
        at = index(counters)
        if kind < 0.65:
            lines.append(f"{pad}{name}[{at}] {rng.choice('+-')}= {term(counters)}")
        elif kind < 0.8:
            lines.append(f"{pad}s += {term(counters)}")
        else:
            lines.append(f"{pad}{name}[{at}] = {term(counters)}")

    def loop(counters, depth):
        pad = "    " * (len(counters) + 1)
        name = "ijk"[len(counters)]
        own = [f"range({c} + 1)" for c in counters] + [f"range({c}, n)" for c in counters]
        own += [f"range(n - 1, {c}, -1)" for c in counters]
        lines.append(f"{pad}for {name} in {rng.choice(ranges[: 4 + (rng.random() < 0.1)] + own)}:")
        inner = [*counters, name]
        if depth > 1:
            if rng.random() < 0.4:
                statement(inner, pad + "    ")
            loop(inner, depth - 1)
            if rng.random() < 0.4:
                statement(inner, pad + "    ")
        else:
            for _ in range(rng.choice((1, 1, 2, 3))):
                statement(inner, pad + "    ")

    for _ in range(2):
        loop([], rng.choice((1, 2, 3)))
    lines.append("    return np.sum(c * d) + np.sum(c * c) + s * x[0]")
    return "\n".join(lines) + "\n"


def loaded(text, file):
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def check(seed, folder, monkeypatch):
    text = program(seed)
    f = loaded(text, folder / f"nest_{seed}.py")
    rng = np.random.default_rng(seed)
    args = (*(0.6 * rng.normal(size=(4, 4)) for _ in range(2)), rng.normal(size=4), 4)
    wanted = srcad.Options.none()
    plain = srcad.value_and_grad(f, argnums=(0, 1, 2), options=wanted)(*args)
    same(srcad.value_and_grad(f, argnums=(0, 1, 2))(*args), plain)
    with uncompiled(monkeypatch):
        numba = Numba()
        found = numba.value_and_grad(f, argnums=(0, 1, 2))(*args)
    same(found, plain)
    assert not numba.slow, numba.slow
    return f, args, plain


@pytest.mark.parametrize("seed", range(40))
def test_loops_at_random(seed, tmp_path, monkeypatch):
    check(seed, tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", range(4))
def test_loops_at_random_compiled(seed, tmp_path, monkeypatch):
    f, args, plain = check(seed, tmp_path, monkeypatch)
    same(srcad.value_and_grad(f, argnums=(0, 1, 2), backend="numba")(*args), plain)
