"""Nests of loops at random: with products of matrices for what they sum up, they are the same."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

import srcad
from srcad.passes.contractions import products_of_matrices
from srcad.transform import inner

R = np.random.default_rng(0)
ARGS = (0.8, *(0.4 * R.normal(size=(9, 9)) for _ in range(4)))
BOUNDS = ("N", "N", "1, N", "N - 1", "N - 1, -1, -1", "N - 1, 0, -1")
BY_OTHER = ("{0}", "{0} + 1", "{0} + 1, N", "{0}, N", "1, {0} + 1", "N - 1, {0}, -1", "{0}, -1, -1")
SLICES = (":{0}", ":{0} + 1", "{0}:", "{0} + 1:", ":", ":{1}", "{1} + 1:")


class Program:
    """A function of a number and four matrices: of these two are copied, and written."""

    def __init__(self, seed):
        self.choice = random.Random(seed).choice
        self.chance = random.Random(-seed - 1).random
        self.lines = ["def f(s, A, B, C0, D0):", "    C, D = C0.copy(), D0.copy()"]
        self.lines.append("    N = A.shape[0]")

    def element(self, array, counters):
        i, j = self.choice(counters), self.choice(counters)
        return f"{array}[{i}{self.choice(('', '', '', ' - 1'))}, {j}]"

    def statement(self, counters):
        target = self.element(self.choice("CD"), counters)
        other = self.element(self.choice("ABCD"), counters)
        return self.choice(
            (f"{target} *= 0.7", f"{target} = 0.5 * {other}", f"{target} += 0.3 * {other}")
        )

    def matrix(self, first, second):
        i, j = self.choice(((first, second), (second, first)))
        return f"{self.choice(self.factors)}[{i}, {j}]"

    def product(self, i, j, k):
        factors = [self.matrix(i, k), self.matrix(k, j), self.choice(("s", "0.5", "1.0"))]
        return " * ".join(sorted(factors, key=lambda _: self.chance()))

    def target(self, i, j):
        return f"{self.choice('CD')}[{self.choice((f'{i}, {j}', f'{j}, {i}'))}]"

    def text(self):
        self.factors = self.choice(("AB", "AB", "ABC", "ABCD"))
        kind = self.choice(("number", "element", "element", "slice", "dot"))
        order = sorted("ijk", key=lambda _: self.chance())
        indent, around, after = "    ", [], []
        if self.chance() < 0.2:
            self.lines.append(f"{indent}for _ in range(2):")
            indent += "    "
        for c in order[: 2 if kind in ("slice", "dot") else 3]:
            if kind == "number" and len(around) == 2:
                start = self.choice(("0.0", self.target(*around)))
                self.lines.append(f"{indent}t = {start}")
            other = around and self.chance() < 0.5
            bound = self.choice(BY_OTHER).format(self.choice(around)) if other else None
            self.lines.append(f"{indent}for {c} in range({bound or self.choice(BOUNDS)}):")
            indent += "    "
            around.append(c)
            if len(around) < 3 and self.chance() < 0.35:
                self.lines.append(indent + self.statement(around))
            if len(around) < 3 and self.chance() < 0.25:
                after.insert(0, indent + self.statement(around))
        i, j, k = order
        if kind == "number":
            self.lines.append(f"{indent}t {self.choice('+-')}= {self.product(i, j, k)}")
            self.lines.append(f"{indent[:-4]}{self.target(i, j)} = t")
        elif kind == "element":
            i, j, k = sorted(order, key=lambda _: self.chance())
            more = self.choice(("", f" + {self.product(i, j, k)}"))
            term = self.product(i, j, k) + more
            self.lines.append(f"{indent}{self.target(i, j)} {self.choice('+-')}= {term}")
        else:
            part = self.choice(SLICES).format(i, j)
            first, second = self.matrix(i, part), self.matrix(j, part)
            if kind == "dot":
                sign = self.choice(("+=", "="))
                self.lines.append(f"{indent}{self.target(i, j)} {sign} 0.5 * ({first} @ {second})")
            else:
                target = self.target(i, part)
                term = f"s * {self.matrix(i, j)} * {second}"
                self.lines.append(f"{indent}{target} += {term}")
        self.lines += [*after, "    return np.sum(C * C) + np.sum(C * D)"]
        return "import numpy as np\n\n\n" + "\n".join(self.lines) + "\n"


def written(path, seed):
    path.write_text(Program(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(function, *args, **keywords):
    try:
        return srcad.value_and_grad(function, argnums=(0, 1, 2, 3, 4), **keywords)(*args)
    except IndexError:
        return None


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_nests_at_random(first, tmp_path, monkeypatch):
    changed = []

    def prepared(block, options):
        made = before(block, options)
        found = products_of_matrices(made)
        changed.append(found is not made)
        return found

    before = inner.prepared
    count = 0
    for seed in range(first, first + 20):
        expected = outcome(written(tmp_path / f"plain_{seed}.py", seed), *ARGS)
        with monkeypatch.context() as patch:
            patch.setattr(inner, "prepared", prepared)
            changed.clear()
            found = outcome(written(tmp_path / f"products_{seed}.py", seed), *ARGS)
        if expected is None or not any(changed):
            continue
        count += 1
        for x, y in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-11 * (1 + np.max(np.abs(y))))
    assert count >= 3
