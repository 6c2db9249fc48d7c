"""Functions to be differentiated, shared by the tests of the public interface."""

import dataclasses
import functools
from collections import namedtuple

import numpy as np

Point = namedtuple("Point", "a b")


@dataclasses.dataclass
class Model:
    a: float
    b: np.ndarray


@dataclasses.dataclass(frozen=True)
class Pair:
    a: float
    b: object


class Spring:
    power = 2

    def __init__(self, stiffness, order=2):
        self.stiffness = stiffness
        self.order = order

    def energy(self, x):
        return self.stiffness * x**self.order * self.power

    def __call__(self, x):
        return self.stiffness * x

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def scaled(cls, x):
        return cls.power * x * x


def product(x, y):
    """x squared, times y."""
    return x * x * y


def defaulted(x, y=2.0, *, z=3.0):
    return x * y * z


def variadic(*args, **keywords):
    return args[0] * args[1] * keywords["s"]


def doubling(function):
    @functools.wraps(function)
    def wrapper(*args, **keywords):
        return 2 * function(*args, **keywords)

    return wrapper


@doubling
def doubled(x, y):
    return x * x * y


def vector(x):
    return np.array([x[0] * x[1], np.sin(x[0]), x[1]])


def cubes(x):
    return np.sum(x**3)
