"""Lifting: the same function, its helpers, classes and closures, on traced values."""

import dataclasses
import functools
import math
from collections import namedtuple
from math import exp
from math import sin as sinus

import numpy as np
import pytest
from numpy import zeros as naughts
from scipy import optimize

from srcad.testing import check_grads, complex_step, lift, reference_gradients, tape
from srcad.testing.tape import Variable

SCALE = 2.0
TABLE = {"sin": math.sin, "square": lambda t: t * t}
CALLS = []


def helper(t):
    return sinus(t) * SCALE + exp(-t)


def recursive(t, n):
    return t if n == 0 else t * recursive(math.cos(t), n - 1)


def uses_helpers(x):
    return helper(x) + recursive(x, 3) + TABLE["sin"](x) * TABLE["square"](x)


def imports_inside(x):
    import math as m
    from math import sqrt

    return m.log(x) * sqrt(x)


def closure(factor):
    def inner(x):
        return deeper(x) * factor

    def deeper(x):
        return math.exp(x) if x > 0 else inner(-x)

    return inner


def nonlocal_counter(x):
    total = 0.0

    def add(y):
        nonlocal total
        total += math.sin(y)

    add(x)
    add(x * x)
    return total


def generators_and_comprehensions(x):
    def powers(n):
        for k in range(n):
            yield math.pow(x, k + 1)

    return sum(math.sin(p) for p in powers(3)) + max([x, 0.1]) + math.prod(powers(2))


class Spring:
    rest = 0.3

    def __init__(self, k):
        self.k = float(k)

    def force(self, x):
        return -self.k * math.sin(x - self.rest)

    @property
    def doubled(self):
        return math.pow(self.k, 2)

    @staticmethod
    def damp(x):
        return math.exp(-x)


class Stiff(Spring):
    def force(self, x):
        return 2 * super().force(x) * self.damp(x) + self.doubled


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float

    def norm(self):
        return math.hypot(self.x, self.y)


Pair = namedtuple("Pair", "first second")


def builds_objects(k, x):
    point = Point(x, k * x)
    pair = Pair(point.norm(), k)
    return Stiff(k).force(x) * pair.first + pair.second * isinstance(Stiff(k), Spring)


def number_types(x):
    assert isinstance(x, float)
    assert isinstance(x, (int, float))
    assert not isinstance(x, int)
    assert type(x) is float
    y = float(x) * np.float64(x)
    z = complex(x, y)
    return float((z * z.conjugate()).real) + int(10 * x) + np.float64(3) * abs(z)


def array_types(x):
    assert isinstance(x, np.ndarray)
    assert issubclass(type(x), np.ndarray)
    assert isinstance(x[0], np.floating)
    assert x.dtype == np.float64
    assert np.issubdtype(x.dtype, np.floating)
    assert x.astype(float).dtype == float
    u = naughts(3, dtype=float)
    u[0] = x[0] ** 2
    v = np.array([x[0], [u[0] for _ in range(1)][0], 2.0])
    w = np.asarray(x)
    w[0] = 5.0  # the same memory
    largest = np.maximum(v, [1, x[1], 0])
    return np.sum([x[0], u[0], v[1]]) + np.linalg.norm([x[1], u[0]]) + largest


def vectorized(x):
    return np.vectorize(lambda t: math.sin(t) if t > 0 else t)(x)


def apply_along(x):
    return np.apply_along_axis(lambda r: r / r.sum(), 0, x.reshape(2, 2)) + np.r_[x[:2], x[:2]][:2]


@functools.lru_cache
def cached(x):
    return x * x


@functools.wraps(helper)
def wrapper(x):
    return 3 * helper(x)


def matches(x):
    match x:
        case float():
            return math.sin(x)
        case _:
            return 0.0


def tries(x):
    try:
        return math.sqrt(x - 10.0)
    except ValueError:
        return math.sqrt(10.0 - x)


SCALAR = [
    uses_helpers, imports_inside, nonlocal_counter, generators_and_comprehensions, number_types,
    functools.partial(builds_objects, 1.7), Spring(2.0).force, closure(3.0), wrapper, matches,
    tries,
]  # fmt: skip


@pytest.mark.parametrize("f", SCALAR, ids=lambda f: getattr(f, "__name__", "partial"))
def test_scalar_functions(f, oracle):
    assert lift(f)(Variable(0.8)).data == pytest.approx(f(0.8), rel=1e-15)
    check_grads(f, (0.8,), order=2, engine=oracle)


@pytest.mark.parametrize("f", [array_types, vectorized, apply_along], ids=lambda f: f.__name__)
def test_array_functions(f, oracle):
    check_grads(f, (np.array([0.4, -0.8, 1.2, 2.0]),), order=2, engine=oracle)


def test_objects_made_by_the_function_are_lifted(oracle):
    check_grads(builds_objects, (1.7, 0.8), order=2, engine=oracle)


def test_an_object_as_argument_keeps_its_methods(oracle):
    check_grads(lambda s, x: s.force(x), (Stiff(1.3), 0.4), order=2, engine=oracle)
    assert type(Stiff(1.3)) is Stiff


def test_the_original_is_left_alone():
    before = (uses_helpers.__code__, dict(vars(Stiff)), math.sin, helper.__globals__["math"])
    lift(uses_helpers)(Variable(0.5))
    lift(builds_objects)(Variable(0.5), 2.0)
    assert before == (
        uses_helpers.__code__,
        dict(vars(Stiff)),
        math.sin,
        helper.__globals__["math"],
    )
    assert uses_helpers(0.5) == uses_helpers(0.5)


def test_globals_are_read_when_they_are_used(monkeypatch):
    lifted = lift(helper)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert lifted(Variable(0.5)).data == helper(0.5)


def test_lifted_functions_run_on_plain_numbers():
    assert lift(uses_helpers)(0.5) == uses_helpers(0.5)


def test_a_cache_does_not_keep_traced_values():
    assert lift(lambda x: cached(x) + cached(x))(Variable(3.0)).data == 18.0
    assert cached.cache_info().currsize == 0


def test_library_functions_refuse_what_they_can_not_follow():
    import statistics

    def f(x):
        return statistics.NormalDist(0.0, 1.0).cdf(x)

    with pytest.raises(tape.Unsupported):
        lift(f)(Variable(0.3))


def test_a_library_is_lifted_where_the_function_is_its_own():
    # SciPy's own helpers convert `x` on the way, which no traced value would get through.
    rosen, rosen_der = optimize.rosen, optimize.rosen_der
    x = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    np.testing.assert_allclose(reference_gradients(rosen, (x,)), rosen_der(x), rtol=1e-12)
    _, tangent = complex_step(rosen, (x,), (np.ones(5),))
    assert tangent == pytest.approx(np.sum(rosen_der(x)), rel=1e-12)
