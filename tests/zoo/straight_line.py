"""Straight-line code: operators, the math module, reuse and overwriting of values."""

import math
import operator

import numpy as np

from .registry import case


@case((0.7,), (np.array([0.5, -1.0]),))
def identity(x):
    return x


@case((0.7,), (np.array([0.5, -1.0]),))
def constant(x):
    return 3.0


@case((0.7, 1.3), argnums=(0, 1), tags="scalar")
def unused_argument(x, y):
    return x * x + 1.0


@case((0.7,), tags="scalar")
def dead_code(x):
    unused = math.exp(x) * 3.0
    y = x * 2.0
    y = x * x
    return y


@case((0.7, 1.3), tags="scalar")
def sine_product(x, y):
    return math.sin(x * y) + math.exp(x) / (y + 2)


@case((1.2,), (-0.4,), tags="scalar")
def polynomial(x):
    return 3 * x**4 - 2 * x**3 + x**2 / 2 - 7 * x + 1


@case((1.2,), tags="scalar")
def horner(x):
    return ((2.0 * x - 3.0) * x + 0.5) * x - 1.0


@case((0.7, 1.3), (-0.7, 0.4), tags="scalar")
def four_operations(x, y):
    return (x + y) * (x - y) / (x * y + 3.0)


@case((0.7,), tags="scalar")
def unary_operators(x):
    return -x * +x - (-(-x)) ** 3


@case((0.7,), tags="scalar")
def used_many_times(x):
    return x + x * x + x / (x + x) + x**x


@case((0.7,))
def same_value_twice_in_a_product(x):
    y = math.sin(x)
    return y * y


@case((0.7, 1.3), tags="scalar")
def overwritten(x, y):
    z = x * y
    z = z * z
    z = math.sin(z) + z
    x = z * x
    y = x * y
    return x - y


@case((0.7, 1.3))
def argument_overwritten(x, y):
    x = math.cos(y) * x
    x = x + math.sin(y) * x
    return x


@case((1.7, 0.6), tags="scalar")
def powers(x, y):
    return x**2 + x**-1 + x**0.5 + x**y + 2**x + 2.5**y + x**0 + x**1 + x**3.0


@case((-1.7,), (0.6,), tags="scalar")
def integer_powers_of_either_sign(x):
    return x**2 - x**3 + x**-2 + x**5.0


@case((7.5, 2.0), (-7.5, 2.2), (7.5, -2.2), tags="scalar")
def remainder_and_floor_division(x, y):
    return (x % y) * x + (x // y) * y


@case((0.7, 1.3))
def operator_module(x, y):
    total = operator.add(x, y)
    total = operator.sub(total, operator.mul(x, operator.neg(y)))
    return operator.truediv(total, operator.pow(y, 2))


@case((0.3,), tags="scalar")
def trigonometric(x):
    return (
        math.sin(x)
        + 2 * math.cos(x)
        + 3 * math.tan(x)
        + 4 * math.asin(x)
        + 5 * math.acos(x)
        + 6 * math.atan(x)
    )


@case((0.3, 1.4), (-0.3, -1.4), tags="scalar")
def two_argument_angles(y, x):
    return math.atan2(y, x) + math.hypot(x, y) * math.hypot(x, y, 2.0)


@case((0.3,), tags="scalar")
def hyperbolic(x):
    return (
        math.sinh(x)
        + 2 * math.cosh(x)
        + 3 * math.tanh(x)
        + 4 * math.asinh(x)
        + 5 * math.acosh(x + 2)
        + 6 * math.atanh(x)
    )


@case((0.8,), tags="scalar")
def exponentials(x):
    return math.exp(x) + math.expm1(2 * x) + math.exp2(x) + math.pow(x, 1.5) + math.pow(2.0, x)


@case((0.8,), tags="scalar")
def logarithms(x):
    return math.log(x) + math.log1p(x) + math.log2(x) + math.log10(x) + math.log(x + 2, 3.0)


@case((0.8,), tags="scalar")
def roots(x):
    return math.sqrt(x) + math.cbrt(x) * math.sqrt(x + 1.0)


@case((0.8,), (-0.3,), tags="scalar")
def error_functions(x):
    return math.erf(x) + 2 * math.erfc(x) * x


@case((2.3,), (0.6,))
def gamma_functions(x):
    return math.gamma(x) + math.lgamma(x)


@case((2.3, -0.8), (-2.3, 0.8), tags="scalar")
def signs(x, y):
    return math.fabs(x) * y + math.copysign(x, y) * x + abs(y) ** 3


@case((7.3, 2.1), (-7.3, 2.1))
def math_remainders(x, y):
    return math.fmod(x, y) * x + math.remainder(x, y) * y


@case((2.3,), (-2.3,))
def integer_parts(x):
    return x * math.floor(x) + x * math.ceil(x) - x * x * math.trunc(x)


@case((2.3,))
def fraction_parts(x):
    fraction, whole = math.modf(x)
    mantissa, exponent = math.frexp(x)
    return fraction * fraction * whole + mantissa * exponent + math.ldexp(x, 3)


@case((0.7, 1.3), tags="scalar")
def degrees_and_radians(x, y):
    return math.degrees(x) * 0.01 + math.radians(y) * x


@case((0.7, 1.3))
def math_of_sequences(x, y):
    return math.fsum([x, y, x * y]) + math.prod((x, y, 2.0)) + math.dist((x, y), (y, 3.0))


@case((0.7,))
def math_of_integers(x):
    return x ** math.factorial(3) + math.comb(5, 2) * x + math.gcd(12, 18) * x * x


@case((0.7,))
def math_constants(x):
    return math.pi * x + math.e * x**2 + math.tau / x


@case((0.7,))
def math_predicates(x):
    if math.isfinite(x) and not math.isnan(x) and not math.isclose(x, 1.0):
        return x * 3.0 + math.isinf(x) * x
    return x


@case((0.7, 1.3))
def numpy_on_floats(x, y):
    return np.sin(x) * np.exp(y) + np.sqrt(x) + np.arctan2(x, y)


@case((np.float64(0.7), np.float64(1.3)), (np.array(0.7), np.array(1.3)))
def numpy_scalars(x, y):
    return np.sin(x) * y + x**2 / y


@case((0.7, 1.3))
def integer_arithmetic_stays_integer(x, y):
    n = 7
    k = n // 2 + (n % 4) * 2 - (1 << 2)
    k ^= 3
    k |= 8
    k &= ~1
    return x**k + y * (n >> 1) + divmod(n, 3)[1] * x


@case((0.7,))
def booleans_in_arithmetic(x):
    big = x > 0.5
    return x * big + (x < 0.5) * x**2 + (not big) + True * x


@case((0.7, 1.3), tags="scalar")
def long_chain(x, y):
    a = x * y
    b = a + math.sin(x)
    c = b * b - y
    d = math.exp(-c * c)
    e = d / (1.0 + b * b)
    f = e * a + c
    g = math.tanh(f) * d
    h = g - b / (a + 4.0)
    return h * h + g * e


@case((0.7, 1.3, -0.4, 2.0), tags="scalar")
def common_subexpressions(a, b, c, d):
    return (a * b + c) * (a * b + d) + math.sin(a * b + c) / (a * b + d + 3.0)


@case((0.7, 1.3))
def two_results(x, y):
    return x * y, math.sin(x) + y


@case((0.7, 1.3))
def named_results(x, y):
    return {"product": x * y, "parts": [x, (y * y, 1.0)]}


@case((0.7,))
def same_result_twice(x):
    y = x * x
    return y, y, x


@case((0.7, 2.0))
def result_partly_constant(x, y):
    return x * 2.0, 5.0, y


@case((0.7,), (np.array([0.7, 1.3, -0.2]),))
def ellipsis_of_statements(x):
    y = x
    ...
    pass
    z = y
    "a bare string"
    w = z
    return w * z
