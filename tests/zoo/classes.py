"""Methods, attributes of self, properties, __call__, static and class methods, dataclasses."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from .registry import case


class Spring:
    """A spring with a cubic term; its attributes are constants of the derivative."""

    unit = 2.0

    def __init__(self, stiffness, rest=0.1):
        self.stiffness = stiffness
        self.rest = rest
        self.table = np.array([1.0, -2.0])

    @property
    def half(self):
        return 0.5 * self.stiffness

    @staticmethod
    def cube(x):
        return x**3

    @classmethod
    def scaled(cls, x):
        return cls.unit * x

    def energy(self, x):
        d = x - self.rest
        return self.half * d * d + self.cube(d) + self.scaled(x)

    def work(self, x, steps=3):
        total = 0.0
        for k in range(steps):
            total += self.energy(x * (k + 1) / steps)
        return total

    def on_arrays(self, x):
        return np.sum(self.table * x) * self.stiffness * x

    def __call__(self, x):
        return self.energy(x) * x


class Damped(Spring):
    """Overrides a method and calls the one it replaced."""

    unit = 3.0

    def energy(self, x):
        return super().energy(x) * math.exp(-x)


class Vector:
    """An operator-overloading value class that holds active floats."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __len__(self):
        return 2

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@dataclass
class Pendulum:
    length: float
    mass: float = 1.0
    history: list = field(default_factory=list)

    def energy(self, angle, speed=0.3):
        return self.mass * self.length * (9.81 * (1 - math.cos(angle)) + 0.5 * speed**2)

    @property
    def inertia(self):
        return self.mass * self.length**2


@dataclass(frozen=True)
class Ellipse:
    a: float
    b: float

    @property
    def area(self):
        return math.pi * self.a * self.b

    def stretched(self, k):
        return Ellipse(self.a * k, self.b / k)


SPRING = Spring(3.0)
DAMPED = Damped(2.0, rest=0.2)

case((0.7,), name="bound_method")(SPRING.energy)
case((0.7,), name="bound_method_with_default")(SPRING.work)
case((np.array([0.7, 1.3]),), name="bound_method_on_arrays")(SPRING.on_arrays)
case((0.7,), name="overriding_method")(DAMPED.energy)
case((0.7,), name="inherited_method")(DAMPED.work)
case((0.7,), name="static_method")(Spring.cube)
case((0.7,), name="class_method")(Damped.scaled)
case((0.7, 0.2), name="dataclass_method")(Pendulum(1.5).energy)


@case((0.7,))
def method_of_global_object(x):
    return SPRING.energy(x) * DAMPED.energy(x)


@case((0.7,))
def call_of_callable_object(x):
    return SPRING(x) + DAMPED(x * 0.5)


@case((0.7,))
def unbound_method(x):
    return Spring.energy(DAMPED, x)


@case((0.7,))
def method_as_value(x):
    f = SPRING.energy
    table = [f, DAMPED.energy, Spring.cube]
    return sum(g(x) for g in table)


@case((0.7, 1.3))
def object_made_inside(x, y):
    s = Spring(x, rest=y * 0.1)
    return s.energy(y) + s.half * s.stiffness


@case((0.7, 1.3))
def overloaded_operators(x, y):
    u = Vector(x, y)
    v = u * x + Vector(y, 1.0)
    return u.dot(v) * v[1] + len(v)


@case((0.7, 1.3))
def object_carried_in_loop(x, y):
    position = Vector(x, 0.0)
    speed = Vector(0.1, y)
    for _ in range(3):
        position = position + speed * 0.1
        speed = speed + position * -0.2
    return position.dot(speed)


@case((0.7, 1.3))
def attributes_stored(x, y):
    v = Vector(x, y)
    v.x = v.x * y
    v.y += v.x
    w = v
    w.x = w.x * 2.0
    return v.x * v.y


@case((0.7, 1.3))
def attribute_stored_in_loop(x, y):
    v = Vector(x, y)
    for k in range(3):
        v.x, v.y = v.y, v.x * v.y + k
    return v.x + v.y * x


@case((Ellipse(0.7, 1.3), 2.0))
def property_of_dataclass(e, k):
    return e.area * e.stretched(k).a + e.b


@case((0.7, 1.3))
def property_of_new_dataclass(length, mass):
    p = Pendulum(length, mass)
    return p.inertia * p.energy(0.3) + len(p.history)


@case((Pendulum(0.7, 1.3), 0.4), argnums=1)
def method_of_argument(p, angle):
    return p.energy(angle) * p.inertia


def accumulator(start):
    def f(x):
        return start * x * x + math.sin(start)

    return f


case((0.7,), name="closure_made_at_module_level")(accumulator(3.0))
case((0.7,), name="lambda_at_module_level")(lambda x: x * math.sin(x))
case((0.7, 1.3), name="lambda_over_lines")(
    lambda x, y: (
        x**2
        * y
        + 3.0 * y
    )
)  # fmt: skip

POWERS = [lambda x, k=k: x**k * 2.0 for k in range(1, 4)]
case((0.7,), name="lambda_in_a_list")(POWERS[2])


class Branch:
    def __init__(self, value, *twigs):
        self.value = value
        self.parent = None
        self.twigs = list(twigs)
        for twig in twigs:
            twig.parent = self

    def total(self):
        return self.value + sum(2.0 * twig.total() for twig in self.twigs)

    def root(self):
        return self if self.parent is None else self.parent.root()


@case((0.7, 1.3))
def objects_that_know_each_other(x, y):
    leaf = Branch(x)
    tree = Branch(x * y, Branch(y, leaf), Branch(2.0))
    leaf.root().value += y
    return tree.total() * leaf.parent.value


class Box(SimpleNamespace):
    def area(self):
        return self.width * self.height


SETTINGS = SimpleNamespace(rate=0.5, weights=[1.0, 2.0], box=Box(width=2.0, height=3.0))


@case((1.3, 3))
def namespaces(x, n):
    made = SimpleNamespace(value=x, past=[])
    for k in range(n):
        made.value = made.value * x + k * SETTINGS.rate
        made.past.append(made.value)
    box = Box(width=x, height=made.value)
    box.width *= SETTINGS.weights[1]
    return box.area() * SETTINGS.box.area() + sum(made.past) * made.value
