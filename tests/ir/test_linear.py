"""What is said of sizes holds when the program runs."""

import operator
import random

import numpy as np
import pytest

import srcad
from srcad.ir import Value, linear
from srcad.ir.build import Builder
from srcad.ir.core import Literal, make_tuple
from srcad.ir.linear import Linear, Product, Quotient
from srcad.ir.types import INT, Array, Dim, Number, Piece

X = np.linspace(0.1, 1.1, 6)
N, M = linear.term("n"), linear.term("m")


def number(k):
    return linear.constant(k)


def test_sums_are_equal_in_any_order():
    assert N + M + number(1) == number(1) + M + N
    assert linear.product(N + number(1), number(2)) == N + N + number(2)
    assert linear.quotient(N + N + number(3), 2) == N + number(1)
    assert linear.to_size(N - N + number(4)) == 4
    assert linear.to_size(number(-4)) == 0


def test_what_stops_at_zero_is_no_sum():
    """``max(k - 1, 0) + 1`` is not ``k`` where ``k`` is 0; names of sizes stand for 2 and more."""
    k = Value("k", INT)
    shorter = linear.of_size(Dim(k, 1))
    assert linear.to_size(shorter + number(1)) != Dim(k)
    assert linear.to_size(linear.of_size(Dim("n", 1)) + number(1)) == Dim("n")


def test_quotients_fit_into_their_wholes():
    third = linear.quotient(N, 3)
    twice = linear.product(third, number(2))
    assert linear.cut(N, number(0), third) == third
    assert linear.cut(N, third, twice) == third
    assert linear.cut(N, number(0), linear.product(third, number(4))) is None
    assert linear.cut(N, M, N) is None


class Run:
    """A random program: its types, and what it computes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.builder = Builder(exact=True)
        self.found = {}
        self.sizes = {"n": self.random.randint(2, 9), "m": self.random.randint(2, 9)}
        for name, size in self.sizes.items():
            self.found[Value(name, Array("float64", (Dim(name),)))] = np.arange(1.0, size + 1)
        for _ in range(2):
            self.found[Value("k", INT)] = self.random.randint(-2, 9)

    def pick(self, kind):
        return self.random.choice([v for v, x in self.found.items() if isinstance(x, kind)])

    def integer(self):
        return self.pick(int) if self.random.random() < 0.6 else Literal(self.random.randint(-2, 5))

    def step(self):
        choose = self.random.choice
        a = self.pick(np.ndarray)
        callee, *args = choose(
            [
                (operator.add, self.pick(int), self.integer()),
                (operator.sub, self.pick(int), self.integer()),
                (operator.mul, self.pick(int), self.integer()),
                (operator.floordiv, self.pick(int), Literal(self.random.randint(1, 4))),
                (len, a),
                (np.size, a),
                (np.zeros, self.pick(int)),
                (np.arange, self.pick(int)),
                (np.arange, self.integer(), self.pick(int)),
                (np.diff, a),
                (np.cumsum, a),
                (operator.add, a, a),
                (operator.add, a, self.pick(np.ndarray)),
                (np.reshape, a, Literal((2, -1))),
                (np.ravel, a),
                ("slice", a),
                ("literal slice", a),
                ("joined", a),
                ("split", a),
            ]
        )
        if callee == "slice":
            ends = choose([(None, "stop"), ("start", None), ("start", "stop")])
            atoms = [Literal(None) if e is None else self.integer() for e in ends]
            callee, args = operator.getitem, [a, self.made(slice, *atoms, Literal(None))]
        elif callee == "literal slice":
            ends = [choose([None, self.random.randint(-3, 6)]) for _ in range(2)]
            part = slice(*ends, choose([None, 1, 2, 3, -1]))
            callee, args = operator.getitem, [a, Literal(part)]
        elif callee == "joined":
            more = self.made(np.zeros, Literal(self.random.randint(1, 3)))
            callee, args = np.concatenate, [self.made(make_tuple, more, a)]
        elif callee == "split":
            parts = self.made(np.split, a, Literal(2))
            callee, args = operator.getitem, [parts, Literal(1)]
        self.made(callee, *args)

    def made(self, callee, *args):
        values = [a.value if isinstance(a, Literal) else self.found[a] for a in args]
        found = tuple(values) if callee is make_tuple else callee(*values)
        result = self.builder.apply(callee, *args)
        if isinstance(result, Value):
            self.found[result] = found
        return result

    def check(self):
        for value, found in self.found.items():
            if isinstance(value.type, Number) and value.type.size is not None:
                assert self.size(value.type.size) == max(found, 0), value
            elif isinstance(value.type, Array) and value.type.dims is not None:
                assert len(value.type.dims) == found.ndim
                for dim, size in zip(value.type.dims, found.shape, strict=True):
                    assert dim is None or self.size(dim) == size, f"{value}: {dim} of {found.shape}"

    def size(self, size):
        return size if isinstance(size, int) else max(self.count(size.base) - size.drop, 0)

    def count(self, base):
        match base:
            case str():
                return self.sizes[base]
            case Value():
                return self.found[base]
            case Dim():
                return self.size(base)
            case Linear(terms=terms, number=more):
                return sum(times * self.count(b) for b, times in terms) + more
            case Quotient(whole=whole, by=by):
                return self.count(whole) // by
            case Product(factors=factors):
                counts = [self.count(f) for f in factors]
                return counts[0] * counts[-1]
            case Piece(whole=whole, start=start, stop=stop, step=step):
                ends = (None if e is None else self.count(e) for e in (start, stop))
                return len(range(*slice(*ends, step).indices(self.size(whole))))
        raise TypeError(base)


@pytest.mark.parametrize("seed", range(20))
def test_sizes_are_what_they_are_said_to_be(seed):
    for number_ in range(25):
        run = Run(f"{seed}.{number_}")
        for _ in range(14):
            try:
                run.step()
            except (ValueError, ZeroDivisionError, MemoryError):
                continue  # the program raises there
        run.check()


# ---- what it is for: nothing is summed back to a shape that is known


def grid(x, n):
    u = np.zeros(n + 1) + x
    return np.sum(u * np.linspace(0, 1, n + 1))


def inner_points(x, n):
    u = np.zeros(n + 1) + x
    return np.sum(u[1:] * np.ones(n))


def sums_from_zero(x, n):
    c = np.concatenate((np.zeros(1), np.cumsum(np.sin(x))))
    return np.sum((c[1:] - c[:-1]) * x)


def differences_from_zero(x, n):
    return np.sum(np.diff(np.concatenate([[0.0], x])) * x)


def thirds(x, n):
    a, b, c = np.split(x, 3)
    return np.sum(a * b * np.sin(c))


def rows(x, n):
    y = x.reshape(3, -1)
    return np.sum(y[0] * y[1] * np.sin(y[2]))


def halves(x, n):
    h = len(x) // 2
    return np.sum(x[:h] * x[h : 2 * h])


def numbered(x, n):
    return np.sum(np.sin(x) * np.arange(1, x.size + 1))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (grid, 0.5),
        (inner_points, 0.5),
        (sums_from_zero, X),
        (differences_from_zero, X),
        (thirds, X),
        (rows, X),
        (halves, X),
        (numbered, X),
    ],
)
def test_nothing_is_unbroadcast(f, x):
    assert "broadcast" not in srcad.grad(f).source_for(x, 5)
    srcad.testing.check_grads(f, (x, 5), argnums=0, order=2)


# ---- sizes that are multiples of others


def gated(x, h, b):
    k = len(h)
    z = 1 / (1 + np.exp(-b[:k]))
    r = b[k : 2 * k] * h
    return np.sum(z * h + np.tanh(b[2 * k :]) * r * x)


def in_parts(x, h, b):
    z, r, c = np.split(b, 3)
    return np.sum(z * h + np.tanh(c) * r * x)


def in_rows(x, h, b):
    return np.sum(np.tanh(b.reshape(3, -1)) @ h) * x


H, B = np.linspace(0.2, 0.9, 4), np.linspace(-1.1, 1.3, 12)


@pytest.mark.parametrize("f", [gated, in_parts, in_rows])
def test_arguments_may_show_that_a_size_is_a_multiple(f):
    source = srcad.grad(f, argnums=(1, 2)).source_for(0.7, H, B)
    assert "broadcast(" not in source
    assert "for x: float, h: f8[n], b: f8[m]\n    where m == 3 * n.\n" in source
    srcad.testing.check_grads(f, (0.7, H, B), order=2)


def split_in_two(h, b):
    k = len(h)
    return np.sum(b[:k] * h) + np.sum(np.sin(b[k:]) ** 2) * np.sum(b[k:] * 0.5)


@pytest.mark.parametrize("sizes", [(8, 9, 12, 8), (9, 8, 7, 9, 16)])
def test_code_for_multiples_is_for_them_alone(sizes):
    gradient = srcad.grad(split_in_two, argnums=(0, 1))
    for size in sizes:
        b = np.linspace(-1.0, 1.0, size)
        found = gradient(H, b)
        np.testing.assert_allclose(found[0], b[:4], rtol=1e-15)
        rest = np.sin(b[4:])
        tail = np.sin(2 * b[4:]) * np.sum(b[4:] * 0.5) + 0.5 * np.sum(rest**2)
        np.testing.assert_allclose(found[1], np.concatenate((H, tail)), rtol=1e-13)
