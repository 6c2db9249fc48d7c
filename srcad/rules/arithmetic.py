"""Rules of the operators: sums, products, quotients, remainders and powers.

All are elementwise. Between lists and tuples, `+` and `*` join and repeat.
"""

import math
import operator
from functools import partial

import numpy as np

from srcad.rules import registry
from srcad.rules.intrinsics import off_zero, over, sum_of_repeats, times
from srcad.rules.registry import is_literal, is_sequence, nesting, of_numbers

differential = partial(registry.differential, elementwise=True)
linear = partial(registry.linear, elementwise=True)
multilinear = partial(registry.multilinear, elementwise=True)


@linear(operator.add, np.add, operator.concat, wrt=("x", "y"))
def add(ct, x, y):
    if is_sequence(x):
        return ct[: len(x)], ct[len(x) :]
    return ct, ct


@linear(operator.sub, np.subtract, wrt=("x", "y"))
def subtract(ct, x, y):
    return ct, -ct


@linear(operator.pos, np.positive, wrt="x")
def positive(ct, x):
    return ct


@linear(operator.neg, np.negative, wrt="x")
def negative(ct, x):
    return -ct


@multilinear(operator.mul, np.multiply, wrt=("x", "y"))
def multiply(ct, x, y):
    if is_sequence(x):
        return of_repeats(ct, x), 0
    if is_sequence(y):
        return 0, of_repeats(ct, y)
    return ct * y, ct * x


def of_repeats(ct, x):
    """The cotangent of a sequence that was repeated."""
    if nesting(x) == 1 and of_numbers(x):
        return [sum(ct[k :: len(x)]) for k in range(len(x))]
    return sum_of_repeats(ct, x)


@differential(operator.truediv, np.divide)
def divide(x, y, *, dx, dy, out):
    """Neither `x * dy` nor `y * y` is formed: they overflow where the quotient does not."""
    if is_literal(y):
        return dx / y
    return over(dx - times(out, dy), y)


@linear(operator.truediv, np.divide, wrt="x")
def divide_transpose(ct, x, y):
    return ct / y


@differential(operator.mod, np.remainder, domain="nonzero")
def remainder(x, y, *, dx, dy):
    """The quotient is locally constant; at its jumps the derivative of the value returned."""
    return dx - (x // y) * dy


@differential(math.fmod, np.fmod, domain="nonzero")
def fmod(x, y, *, dx, dy, out):
    """Like `remainder`, with the quotient rounded towards zero."""
    return dx - np.rint((x - out) / y) * dy


@differential(math.remainder, domain="nonzero")
def ieee_remainder(x, y, *, dx, dy, out):
    """Like `remainder`, with the quotient rounded to the nearest integer."""
    return dx - np.rint((x - out) / y) * dy


@differential(divmod, np.divmod, domain="nonzero")
def divmod_differential(x, y, *, dx, dy, out):
    """The quotient has derivative 0, the remainder that of `remainder`."""
    return 0.0, dx - out[0] * dy


@differential(operator.pow, pow, np.power, np.float_power, math.pow, domain="positive")
def power(x, y, *, dx, dy, out):
    """At x = 0, `x ** 0` has derivative 0 in x, and `x ** y` has derivative 0 in y."""
    if is_literal(y):
        if y == 2:
            return 2 * x * dx
        if y == 1:
            return 1 * dx
        if y == 0:
            return 0 * dx
        if y == 3:
            return 3 * x * x * dx
        if y == -1:
            return -times(out * out, dx)
        if y == 0.5:
            return over(dx, 2 * out)
        if y < 0:
            return over(times(y * out, dx), x)
        if y < 1:
            return over(y * dx, x ** (1 - y))
        if y == int(y):
            return y * x ** (y - 1) * dx
        return times(y * x ** (y - 1), dx)
    if is_literal(x) and x > 0:
        return np.log(x) * out * dy
    slope = y * x ** np.where((x == 0) & (y == 0), 1, y - 1)
    growth = out * np.log(np.where(x == 0, 1, x))
    return times(slope, dx) + times(growth, dy)


@differential(operator.abs, abs, np.absolute, np.fabs, math.fabs)
def absolute(x, *, dx, out):
    """At 0 the derivative is 0. Of complex x: the derivative of the modulus in both parts."""
    if np.iscomplexobj(x):
        r = off_zero(out)
        return np.real((np.real(x) / r - 1j * (np.imag(x) / r)) * dx)
    return np.sign(x) * dx


@differential(np.sign)
def sign(x, *, dx, out):
    """Of a complex number its direction, at 0 with derivative 0. Of a real one a constant."""
    if not np.iscomplexobj(x):
        return 0
    r = off_zero(np.abs(x))
    return 1j * np.imag(np.conj(out) * dx) * out / r


@differential(getattr(math, "fma", None))
def fma(x, y, z, *, dx, dy, dz):
    return x * dy + y * dx + dz
