"""Elementwise NumPy functions and operators on arrays, with broadcasting."""

import numpy as np

from .registry import case

V = np.array([0.7, -1.3, 0.4])
P = np.array([0.7, 1.3, 0.4])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])


@case((V, P))
def array_arithmetic(x, y):
    return (x + y) * (x - y) / (y * y + 1.0) - x


@case((M, V, 0.7))
def broadcast_shapes(m, v, s):
    return m * v + s * m - v / 3.0 + s


@case((P.reshape(3, 1), V.reshape(1, 3), np.array(2.0), np.array([0.5])))
def broadcast_both_ways(column, row, zero_d, one):
    return column * row * zero_d + one * column - row


@case((np.arange(1.0, 5.0).reshape(4, 1), np.array([[1.0, -1.0, 2.0]]), np.array([3.0])))
def broadcast_then_sum(a, b, s):
    c = np.arange(12.0).reshape(4, 3)
    return np.sum(a * b * c) + np.sum(s * c * a)


@case((1.5,), (np.float64(1.5),), (np.array(1.5),), (np.array([1.5]),))
def scalar_times_vector(v):
    return np.sum(np.array([1.0, 2.0, 4.0]) * v**2 - v)


@case((P, 1.7))
def array_powers(x, p):
    return x**2 + x**p + 2.0**x + x**-1 + x**0.5 + x**0


@case((P, np.array([2.0, -1.0, 0.5])))
def array_to_array_power(x, y):
    return x**y + np.power(x, 3) + np.power(x, y * 2) + np.float_power(x, 2.5)


@case((V,))
def array_integer_powers(x):
    return x ** np.array([2, 3, 4]) + x**3 - np.square(x) + np.reciprocal(x)


@case((np.array([7.5, -7.5, 3.2]), np.array([2.0, 2.2, -2.4])))
def array_remainders(x, y):
    return x % y + (x // y) * y + np.fmod(x, y) * x + np.remainder(x, 1.7) + np.mod(x, y)


@case((np.array([7.5, -7.5]), 2.2))
def array_divmod(x, y):
    q, r = np.divmod(x, y)
    fraction, whole = np.modf(x)
    return q * r * x + fraction * whole


@case((V * 0.5,))
def ufuncs_trigonometric(x):
    return (
        np.sin(x)
        + 2 * np.cos(x)
        + 3 * np.tan(x)
        + 4 * np.arcsin(x)
        + 5 * np.arccos(x)
        + 6 * np.arctan(x)
    )


@case((V * 0.5,))
def ufuncs_hyperbolic(x):
    return (
        np.sinh(x)
        + 2 * np.cosh(x)
        + 3 * np.tanh(x)
        + 4 * np.arcsinh(x)
        + 5 * np.arccosh(x + 2)
        + 6 * np.arctanh(x)
    )


@case((P,))
def ufuncs_exponential(x):
    return np.exp(x) + np.exp2(x) + np.expm1(x) * np.log(x) + np.log2(x) + np.log10(x) + np.log1p(x)


@case((P,))
def ufuncs_roots(x):
    return np.sqrt(x) + np.cbrt(x) * np.reciprocal(x)


@case((V, P))
def ufuncs_of_two_arguments(x, y):
    return (
        np.arctan2(x, y)
        + np.hypot(x, y)
        + np.logaddexp(x, y)
        + np.logaddexp2(x, y)
        + np.copysign(y, x) * y
    )


@case((V, P))
def ufuncs_as_operators(x, y):
    total = np.add(x, np.multiply(x, y))
    total = np.subtract(total, np.divide(x, y))
    return np.negative(total) + np.positive(x) + np.true_divide(y, 2.0)


@case((V,))
def ufuncs_of_sign(x):
    return np.abs(x) * x + np.absolute(x) + np.fabs(x) ** 3 + np.sign(x) * x + np.heaviside(x, 0.5)


@case((np.array([2.3, -2.3, 0.8]),))
def ufuncs_of_rounding(x):
    return np.floor(x) * x + np.ceil(x) * x**2 + np.trunc(x) + np.rint(x) * x + np.round(x, 1) * x


@case((V, P * 0.9))
def maximum_and_minimum(x, y):
    return np.maximum(x, y) * 2 + np.minimum(x, y) ** 2 + np.fmax(x, 0.1) * np.fmin(y, 1.0)


@case((V,))
def relu(x):
    return np.maximum(0.0, x) * x + np.maximum(x, 0)


@case((V,))
def clip(x):
    return np.clip(x, -1.0, 0.5) * x + np.clip(x, None, 0.6) + np.clip(x, 0.0, None)


@case((V, P))
def where(x, y):
    return np.where(x > 0, x * y, y / 2.0) + np.where(y > 1, 3.0, x)


@case((np.array([0.7, 0.0, -1.3]),), order=1)
def where_guards_a_singularity(x):
    return np.where(x > 0, x * np.sqrt(np.where(x > 0, x, 1.0)), 0.0)


@case((M, V))
def where_broadcasts(m, v):
    return np.where(v > 0, m, v) * np.where(np.array([[True], [False]]), 2.0, v)


@case((V, P))
def select_by_arithmetic(x, y):
    mask = (x > 0) & (y < 1) | ~(x < 2)
    return mask * x + (1 - mask) * y + np.logical_not(x > 0) * y


@case((np.array([0.7, 0.0, -1.3]),))
def sinc(x):
    return np.sinc(x) + np.sinc(x + 0.3)


@case((V * 40,))
def degrees_and_radians(x):
    return np.deg2rad(x) * x + np.rad2deg(x) * 0.01 + np.radians(x) + np.degrees(x) * 0.1


@case((V,))
def sigmoid_and_softplus(x):
    return 1.0 / (1.0 + np.exp(-x)) + np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


@case((M,))
def softmax(m):
    e = np.exp(m - np.max(m, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@case((V, P))
def same_array_in_many_places(x, y):
    z = x * y
    return z * z + z / (z + 3.0) + x * z


@case((V, V), argnums=(0, 1))
def same_array_as_two_arguments(x, y):
    return x * y + np.sin(x) - y**2


_SHARED = np.array([0.7, 1.3])
case((_SHARED, _SHARED), name="one_array_object_twice")(lambda x, y: x * y * y + x)


@case((V,))
def augmented_on_fresh_scalars_of_array(x):
    total = 0.0
    for k in range(3):
        total += x[k] * x[k - 1]
        total *= 1.5
    return total


@case((P, 0.7))
def arrays_and_floats_mixed(x, s):
    t = s * s
    y = x * t + s
    z = y / t - 2
    return z * s + np.exp(-t) * z


@case((P,))
def comparisons_are_constants(x):
    inside = (x > 0.5).astype(float)
    return x * inside + np.isfinite(x) * x**2 + np.isnan(x) + np.equal(x, 0.1) * x


@case((np.array([0.5, 1.5], dtype=np.float32),), rtol=2e-5, order=1)
def single_precision_is_kept(x):
    y = x * x * 0.25 + 1
    for _ in range(2):
        y = y * 0.5 + np.sqrt(x)
    return y


@case((np.float64(0.7), P))
def numpy_scalar_times_array(s, x):
    return s * x + s**2 - np.sin(s) * x


@case((P,))
def frexp_and_ldexp(x):
    mantissa, exponent = np.frexp(x)
    return mantissa * x + exponent + np.ldexp(x, 2)


@case((V,))
def nan_to_num_and_real(x):
    return np.nan_to_num(x) * x + np.real(x) + np.imag(x) + np.conj(x) * 2
