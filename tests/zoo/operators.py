"""Operators of user classes: which method of which operand is asked, as Python decides it."""

import functools
from typing import NamedTuple

import numpy as np

from .registry import case


class Point(NamedTuple):
    """A tuple with operators, properties and methods of its own."""

    x: float
    y: float

    scale = 3.0

    @property
    def is_right(self):
        return self.x > 0

    @property
    def norm2(self):
        return self.x * self.x + self.y * self.y

    @staticmethod
    def double(value):
        return 2 * value

    @classmethod
    def diagonal(cls, value):
        return cls(value, value)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return Point(self.x * factor, self.y * factor * factor)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __abs__(self):
        return self.norm2**0.5

    def __lt__(self, other):
        return self.norm2 < other.norm2

    def __bool__(self):
        return self.y > 1.0


@case((Point(-1.7, 1.2),), (Point(1.7, 1.2),))
def property_of_a_namedtuple(p):
    return p.x**2 if p.is_right else p.x**3 * p.norm2


@case((Point(1.7, 1.2),), (Point(1.7, 0.2),))
def operators_of_a_namedtuple(p):
    q = p * 2 + 3 * p
    r = -q
    return q[0] * q[1] + len(q) * abs(r) + (p.y if p else p.x)


@case((Point(1.7, 1.2),))
def order_of_namedtuples(p):
    return p.x * (3 if p < Point(1.9, 0.0) else 2) * (5 if p > Point(0.0, 0.5) else 7)


@case((Point(1.7, 1.2),))
def attributes_of_a_namedtuple(p):
    return p.double(p.x) * p.scale * p.diagonal(p.y).norm2


class Money:
    """Takes what is money only; leaves anything else to the other operand."""

    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return Money(self.amount + other.amount)

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.amount == other.amount

    __hash__ = None


class Tax:
    def __init__(self, rate):
        self.rate = rate

    def __radd__(self, money):
        return Money(money.amount * (1 + self.rate))


@case((1.3, 0.2))
def not_implemented_passes_on(x, rate):
    total = (Money(x) + Tax(rate)).amount
    return total * x if Money(x) == 3 else total * rate


@case((1.3,))
def not_implemented_is_not_true(x):
    factor = 2.0 if Money(x) != 1.3 else 3.0
    return factor * x * (5.0 if Money(x) == Money(x) else 7.0)


class Base:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Base(self.value + other.value)

    def __gt__(self, other):
        return self.value > other.value + 100

    def __lt__(self, other):
        return self.value < other.value


class Derived(Base):
    def __radd__(self, other):
        return Derived(other.value + 100 * self.value)

    def __lt__(self, other):
        return self.value < other.value + 1000


class Inheriting(Base):
    pass


@case((1.3,))
def reflected_method_of_a_subclass_comes_first(x):
    return (Base(x) + Derived(x)).value + (Base(x) + Inheriting(x)).value * x


@case((1.3,))
def reflected_comparison_of_a_subclass_comes_first(x):
    return (x * x if Base(x) > Derived(x) else x) + (x**3 if Base(x) > Inheriting(x) else 2 * x)


class Stack:
    """In-place operators, and the operators of bits."""

    def __init__(self, values):
        self.values = values

    def __itruediv__(self, factor):
        self.values = [v / factor for v in self.values]
        return self

    def __ior__(self, value):
        self.values.append(value)
        return self

    def __imul__(self, factor):
        if not isinstance(factor, float):
            return NotImplemented
        self.values = [v * factor for v in self.values]
        return self

    def __mul__(self, other):
        return Stack([a * b for a, b in zip(self.values, other.values, strict=True)])

    def __and__(self, function):
        return function(sum(self.values))

    def __ror__(self, value):
        return Stack([value, *self.values])

    def __invert__(self):
        return Stack(self.values[::-1])

    def __pow__(self, power):
        return Stack([v**power for v in self.values])


@case((1.3, 0.7))
def in_place_operators(x, y):
    s = Stack([x, y])
    same = s
    s /= y
    s |= x * y
    s *= 3.0
    s *= Stack([x, x, y])
    return sum(s.values) * same.values[0]


@case((1.3, 0.7))
def operators_of_bits(x, y):
    first = (~(x | Stack([y, 2.0]))).values[0]
    return (Stack([x, y]) ** 2 & (lambda total: total * total)) * first


class Deferred:
    """NumPy leaves its operators to it."""

    __array_ufunc__ = None

    def __init__(self, weight):
        self.weight = weight

    def __rmul__(self, array):
        return np.sum(array) * self.weight


@case((np.array([1.3, 0.7]), 2.0))
def arrays_leave_their_operator(x, weight):
    return x * Deferred(weight)


@functools.total_ordering
class Version:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __lt__(self, other):
        return self.number < other.number

    __hash__ = None


@case((1.3, 0.7), (0.7, 1.3))
def total_ordering(x, y):
    a, b = Version(x), Version(y)
    return x * y if a >= b else x * x
