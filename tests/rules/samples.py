"""Arguments at which the rules are tested: for every function, several shapes.

NumPy numbers and float arrays are active, Python numbers and integer arrays are not. A case of one
name of a rule is run for its other names too (`np.sum` for `ndarray.sum`), as far as they take it.
"""

import cmath
import itertools
import math
import operator
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

from srcad.rules.intrinsics import evened, fitted, over, sum_of_repeats, times, unbroadcast
from srcad.rules.special import polygamma
from srcad.rules.ufuncs import REDUCTIONS, SCANNED, STEPWISE
from srcad.runtime import (
    add,
    bessel_i,
    cholesky_adjoint,
    cholesky_change,
    cofactors,
    excess,
    inner,
    inverse_of_lower,
    last_writes,
    lower_of_product,
    lower_times,
    minors,
    modulus_squared,
    off_zero,
    over_gap,
    over_gap_needed,
    own,
    plus,
    require_basis,
    require_settled,
    require_settled_where_used,
    settled,
    shadow,
    strong,
    upper_of_product,
    upper_times,
    zeros_like,
)


@dataclass(frozen=True)
class Case:
    function: object
    args: tuple
    keywords: dict = field(default_factory=dict)

    def __str__(self):
        name = getattr(self.function, "__name__", str(self.function))
        return f"{name}({', '.join(map(_describe, self.args))}{', ' if self.keywords else ''}" + (
            ", ".join(f"{k}={_describe(v)}" for k, v in self.keywords.items()) + ")"
        )


def _describe(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype.kind}{list(value.shape)}"
    if isinstance(value, np.generic):
        return value.dtype.kind
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_describe, value))}]"
    text = getattr(value, "__name__", None) or repr(value)
    return type(value).__name__ if " at 0x" in text else text


def _outside(i, j, scale):
    return scale * scale * (i + 2 * j)


CASES = []
_GOLDEN = (math.sqrt(5) - 1) / 2


def restart():
    """Each case has its own numbers: one more does not change those of others."""
    global _random, _places
    _random = np.random.default_rng(20240607)
    _places = itertools.count(1)


def case(function, *args, **keywords):
    if function is not None:
        CASES.append(Case(function, args, keywords))
    restart()


restart()


def R(*shape):
    """Reals, away from 0 and with magnitudes away from each other: no kink is near.

    Multiples of the golden ratio, modulo 1, are as far apart as can be, however many they are.
    """
    count = math.prod(shape)
    places = [next(_places) * _GOLDEN % 1 for _ in range(count)]
    places += _random.uniform(0, 0.02, count)  # sums and differences of them are different, too
    values = 0.2 + 1.6 * np.reshape(_random.permutation(places), shape)
    values = values * _random.choice([-1.0, 1.0], shape)
    return np.float64(values) if shape == () else values


def between_multiples(s, t):
    """Dividends and divisors: their quotients are away from those where the remainder jumps."""
    while True:
        x, y = R(*s), R(*t)
        halves = 2 * np.divide(x, y)
        if np.all(np.abs(halves - np.round(halves)) > 0.05):
            return x, y


def P(*shape):
    """Positive."""
    values = _random.uniform(0.3, 1.9, shape)
    return np.float64(values) if shape == () else values


def U(*shape):
    """Between -1 and 1."""
    values = _random.uniform(-0.9, 0.9, shape)
    return np.float64(values) if shape == () else values


def A(*shape):
    """Above one."""
    return 1 + P(*shape)


def Z(*shape):
    """Complex."""
    values = R(*shape) + 1j * R(*shape)
    return np.complex128(values) if shape == () else values


def M(n, *batch):
    """Well conditioned square matrices."""
    return R(*batch, n, n) / 4 + 2 * np.eye(n)


def S(n, *batch):
    """Symmetric positive definite matrices."""
    half = R(*batch, n, n) / 3
    return half @ np.swapaxes(half, -1, -2) + np.diag(np.arange(1.0, n + 1))


SHAPES = ((), (3,), (2, 3))
PAIRS = (((), ()), ((3,), (3,)), ((2, 3), (3,)), ((), (2, 2)), ((2, 1), (1, 3)), ((1,), (4,)))

# ---- what the rules themselves use

for s, t in PAIRS:
    case(over, R(*s), R(*t))
    case(times, R(*s), R(*t))
    case(inner, R(*t), R(*t))
    case(strong, R(*s), R(*t))
    case(excess, R(*s), R(*t))
for s in SHAPES:
    case(off_zero, R(*s))
    case(modulus_squared, Z(*s))
case(plus, R(), R())
case(last_writes, np.array([1, 1, 0, 3]), (4,), R(4))
case(last_writes, ([0, 2, 0], slice(None)), (3, 2), R(3, 2))
case(unbroadcast, R(2, 3), (3,))
case(unbroadcast, R(2, 3), (1, 3))
case(unbroadcast, R(2, 3), ())
case(unbroadcast, R(4, 2, 3), (2, 1))
case(unbroadcast, R(2, 3), (2, 3))

case(add, R(3), R(3))
case(zeros_like, [R(), R(3)])
case(shadow, R(3))
case(own, R(3))
for n in (1, 2, 3, 4):
    case(inverse_of_lower, M(n))
    case(cholesky_change, M(n), R(n, n))
    case(cholesky_adjoint, M(n), R(n, n))
    case(cofactors, M(n))
    case(minors, R(n, n))
case(cofactors, M(3, 2))
for triangular, k in itertools.product(
    (lower_times, upper_times, lower_of_product, upper_of_product), (-1, 0, 2)
):
    case(triangular, R(3, 4), R(4, 5), k)
case(cofactors, np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]))
case(np.linalg.det, np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]))
case(np.linalg.det, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]))

# ---- operators

for s, t in PAIRS:
    case(operator.add, R(*s), R(*t))
    case(operator.sub, R(*s), R(*t))
    case(operator.mul, R(*s), R(*t))
    case(operator.truediv, R(*s), R(*t))
    for f in (operator.mod, np.fmod, divmod):
        case(f, *between_multiples(s, t))
    case(operator.pow, P(*s), R(*t))
case(operator.add, [R(), R()], [R()])
case(operator.mul, [R(), R()], 3)
case(operator.mul, 2, (R(), R(), R()))
for s in SHAPES:
    case(operator.pos, R(*s))
    case(operator.neg, R(*s))
    case(operator.abs, R(*s))
    case(operator.truediv, R(*s), 2.5)
    case(operator.truediv, 2, R(*s))
    for n in (2, 1, 0, 3, 4, -1, -2, 2.0):
        case(operator.pow, R(*s), n)
    for n in (0.5, 1.5, -0.5):
        case(operator.pow, P(*s), n)
    case(operator.pow, 3, R(*s))
    case(operator.pow, 2.5, R(*s))
case(operator.pow, R(4), np.array([0, 1, 2, -3]))
case(operator.truediv, Z(3), Z(3))
case(operator.mul, Z(3), R(3))
case(operator.pow, Z(3), 2)
case(operator.pow, Z(3), Z(3))
case(operator.abs, Z(3))
case(np.sign, Z(3))
case(sum_of_repeats, [R(), R(), R(), R()], [R(), R()])
case(sum_of_repeats, (R(2), R(2)), (R(2),))
case(math.remainder, *between_multiples((), ()))
case(operator.concat, (R(),), (R(), R()))
case(getattr(math, "fma", None), R(), R(), R())

# ---- elementary functions

for s in SHAPES:
    for f in (np.exp, np.exp2, np.expm1, np.square, np.sin, np.cos, np.tan, np.arctan, np.sinh):
        case(f, R(*s))
    for f in (
        np.cosh,
        np.tanh,
        np.arcsinh,
        np.deg2rad,
        np.rad2deg,
        np.modf,
        np.frexp,
        np.conjugate,
    ):
        case(f, R(*s))
    for f in (np.log, np.log2, np.log10, np.log1p, np.sqrt):
        case(f, P(*s))
    for f in (np.cbrt, np.reciprocal, np.sinc, np.nan_to_num, np.real, np.imag, np.angle):
        case(f, R(*s))
    for f in (np.arcsin, np.arccos, np.arctanh):
        case(f, U(*s))
    case(np.arccosh, A(*s))
    case(np.i0, 3 * R(*s))
    case(bessel_i, 2, 3 * R(*s))
    case(np.ldexp, R(*s), 3)
    case(np.clip, R(*s), -0.5, 0.5)
    case(np.clip, R(*s), -0.4, None)
    case(np.clip, R(*s), None, 0.3)
    case(np.clip, R(*s), R(), R() + 2)
    case(np.ndarray.clip, R(*(s or (1,))), -0.5, 0.5)
    case(np.ndarray.clip, R(*(s or (1,))), None, R())
    case(np.ndarray.clip, R(*(s or (1,))), R())
for f in (
    np.exp,
    np.log,
    np.sqrt,
    np.sin,
    np.cos,
    np.tan,
    np.tanh,
    np.arcsin,
    np.arccosh,
    np.square,
):
    case(f, Z(3))
for f in (np.arctan, np.arctanh, np.reciprocal, np.log1p, np.expm1, np.sinh, np.cosh, np.arcsinh):
    case(f, Z(3))
for f in (np.real, np.imag, np.angle, np.conjugate):
    case(f, Z(2, 2))
case(math.log, P())
case(math.log, P(), A())
case(math.erf, R())
case(math.erfc, R())
case(math.gamma, P())
case(math.gamma, np.float64(-1.3))
case(math.lgamma, P())
case(math.lgamma, np.float64(-0.4))
case(math.lgamma, np.float64(40.0))
for n in (0, 1, 2):
    case(polygamma, n, P(3))
    case(polygamma, n, P())
case(np.sinc, np.array([0.01, 0.15, 0.17, -0.1, 2.0]))
for s, t in PAIRS:
    for f in (np.arctan2, np.hypot, np.logaddexp, np.logaddexp2, np.maximum, np.minimum, np.fmax):
        case(f, R(*s), R(*t))
    case(np.copysign, R(*s), R(*t))
    case(np.heaviside, R(*s), R(*t))
    case(np.nextafter, R(*s), R(*t))
    case(np.where, R(*np.broadcast_shapes(s, t)) > 0, R(*s), R(*t))
case(np.where, np.array([True, False]), R(3, 1), R())
case(np.heaviside, 0.0, R(3))
case(complex, R(), R())
case(complex, R())
case(float, R())
case(np.complex128, R())

# ---- reductions

for axis in (None, 0, 1, -1, (0, 2), (1, 0), (0, 1, 2)):
    for keep in (False, True):
        for f in (np.sum, np.mean, np.nansum, np.nanmean, np.var, np.std, np.max, np.min, np.prod):
            case(f, R(2, 3, 2), axis=axis, keepdims=keep)
        case(np.ptp, R(2, 3, 2), axis=axis, keepdims=keep)
        case(
            np.linalg.norm, R(3, 2), axis=axis if axis in (None, 0, 1, -1) else None, keepdims=keep
        )
for f in (np.sum, np.mean, np.nansum, np.nanmean, np.var, np.std, np.max, np.min, np.prod, np.ptp):
    case(f, R(5))
    case(f, R(4, 1))
for f in (np.sum, np.mean, np.max, np.prod):
    case(f, R())
case(np.sum, R(0))
case(np.sum, R(0, 3), 0)
case(np.prod, R(0))
case(np.prod, R(0, 3), 0)
case(np.sum, Z(3))
case(np.mean, Z(2, 3), 1)
case(np.var, Z(4))
case(np.std, Z(2, 4), 1)
case(np.prod, Z(4))
case(np.var, R(5), ddof=1)
case(np.std, R(2, 5), axis=1, ddof=1)
_holes = R(3, 4)
_holes[0, 1] = _holes[2, 3] = np.nan
for axis in (None, 0, 1):
    for f in (np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin):
        case(f, _holes, axis=axis, keepdims=axis == 0)
    case(np.nancumsum, _holes, axis)
    case(np.prod, np.array([[0.0, 2.0, -1.5], [0.0, 0.0, 0.7]]), axis=axis)
    case(np.cumprod, np.array([[0.5, 2.0, 0.0], [0.0, 0.0, 0.7]]), axis=axis)
case(np.nanvar, _holes, ddof=1)
case(np.nanvar, _holes, 1, where=np.array([[True], [True], [True]]))
case(np.nanstd, _holes, where=np.array([True, True, False, True]))
case(np.nan_to_num, _holes)
case(getattr(np, "cumulative_sum", None), R(4))
case(getattr(np, "cumulative_sum", None), R(3, 4), axis=1)
for axis in (None, 0, 1, -1):
    case(np.cumsum, R(3, 4), axis)
    case(np.cumprod, R(3, 4), axis)
case(np.cumsum, R(4))
case(np.cumsum, R(0))
case(np.cumprod, R(4))
case(np.cumprod, Z(3))
case(np.average, R(3, 4))
case(np.average, R(3, 4), axis=1)
case(np.average, R(3, 4), axis=1, weights=P(4))
case(np.average, R(3, 4), axis=0, weights=P(3), keepdims=True)
case(np.average, R(3, 4), weights=P(3, 4))
case(np.average, R(3), weights=P(3))
case(np.average, R(3, 4, 2), axis=(2, 0), weights=P(2, 3))
case(np.average, R(3, 4, 2), axis=(-1, 1), weights=P(2, 4), keepdims=True)
case(np.average, R(3, 4), returned=True)
case(np.average, R(3, 4), axis=1, weights=P(4), returned=True)
case(np.average, R(3, 4), axis=0, weights=P(3, 4), keepdims=True, returned=True)
for f in (np.var, np.std, np.nanvar, np.nanstd):
    case(f, R(2, 5), axis=1, correction=1)
    case(f, R(2, 5), axis=1, mean=R(2, 1))
    case(f, R(2, 5), mean=0.3, where=np.array([True, False, True, True, True]))
for x in (R(5), R(6), R(3, 4)):
    case(np.median, x)
    case(np.quantile, x, np.float64(0.3))
    case(np.quantile, x, np.array([0.15, 0.72, 1.0])[:2])
    case(np.percentile, x, np.float64(62.0))
    case(np.percentile, x, 100)
for axis in (0, 1, -1):
    case(np.median, R(3, 4), axis=axis, keepdims=axis == 1)
    case(np.quantile, R(3, 4), np.array([0.21, 0.66]), axis=axis)
    case(np.percentile, R(3, 4), np.array([21.0, 66.0]), axis=axis, keepdims=True)

_mask = np.array([[True, False, True, True], [True, True, False, True], [False, True, True, True]])
_gaps = np.where(_mask, R(3, 4), np.nan)
for axis in (None, 0, 1, (0, 1)):
    for keep in (False, True):
        case(np.sum, R(3, 4), axis, keepdims=keep, where=_mask)
        case(np.sum, R(3, 4), axis, keepdims=keep, initial=R())
        case(np.prod, R(3, 4), axis, keepdims=keep, where=_mask, initial=R())
        case(np.mean, R(3, 4), axis, keepdims=keep, where=_mask)
        case(np.var, R(3, 4), axis, ddof=1, keepdims=keep, where=_mask)
        case(np.std, R(3, 4), axis, keepdims=keep, where=_mask)
        case(np.max, R(3, 4), axis, keepdims=keep, where=_mask, initial=np.float64(-3.0))
        case(np.min, R(3, 4), axis, keepdims=keep, initial=R())
        case(np.nanprod, _gaps, axis, keepdims=keep)
        case(np.nanmedian, _gaps, axis, keepdims=keep)
        case(np.nanquantile, _gaps, np.array([0.21, 0.66]), axis, keepdims=keep)
        case(np.quantile, R(3, 4), np.array([0.21, 0.66]), axis, keepdims=keep)
        case(np.median, R(3, 4), axis, keepdims=keep)
for method in ("lower", "higher", "nearest", "midpoint", "weibull", "hazen", "median_unbiased"):
    case(np.quantile, R(7), np.array([0.21, 0.66, 0.99]), method=method)
    case(np.percentile, R(3, 4), np.float64(33.0), 1, method=method)
    case(np.nanquantile, _gaps, np.array([0.21, 0.67]), 1, method=method)
for f, top in (
    (np.quantile, 1),
    (np.percentile, 100),
    (np.nanquantile, 1),
    (np.nanpercentile, 100),
):
    _by_weight = {"method": "inverted_cdf", "weights": P(3, 4)}
    case(f, R(3, 4), 0.4 * top, **_by_weight)
    case(f, R(3, 4), top * np.array([0.21, 0.66]), axis=0, **_by_weight)
    case(f, R(3, 4), top * np.array([0.21, 0.66]), axis=1, keepdims=True, **_by_weight)
for method in ("interpolated_inverted_cdf", "normal_unbiased"):
    case(np.quantile, R(7), np.array([0.21, 0.66]), method=method)
case(np.nanpercentile, _gaps, np.float64(62.0), 0)
case(np.nanmedian, np.array([np.nan, 2.0, 1.0]))
for f in (np.cumulative_sum, np.cumulative_prod):
    case(f, R(3))
    case(f, R(3, 4), axis=1, include_initial=True)
    case(f, R(3), dtype=complex, include_initial=True)
    case(f, np.zeros((0, 3)), axis=0, include_initial=True)
case(np.cumulative_sum, R(3, 4), axis=0)
case(np.nancumprod, _gaps, 1)
case(np.nancumprod, _gaps)
case(np.cov, R(5))
case(np.cov, R(3, 5))
case(np.cov, R(5, 3), rowvar=False)
case(np.cov, R(3, 5), R(2, 5), bias=True)
case(np.cov, R(5), R(5), ddof=0)
case(np.cov, R(2, 5), fweights=np.array([1, 2, 1, 3, 1]))
case(np.cov, R(2, 5), aweights=P(5))
case(np.cov, R(2, 5), fweights=np.array([1, 2, 1, 3, 1]), aweights=P(5))
case(np.cov, Z(2, 5))
case(np.cov, R(2, 5), dtype=float)
case(np.corrcoef, R(3, 5))
case(np.corrcoef, R(5), R(5))
case(np.corrcoef, R(5, 3), rowvar=False)

# ---- shapes

for order in "CFA":
    case(np.reshape, R(2, 6), (3, 4), order)
    case(np.reshape, np.asfortranarray(R(2, 6)), (3, -1), order)
    case(np.ravel, R(2, 3), order)
    case(np.ravel, np.asfortranarray(R(2, 3)), order)
    case(np.ndarray.reshape, R(2, 6), 3, 4, order=order)
case(np.ndarray.reshape, R(2, 6), (4, 3))
case(np.ndarray.reshape, R(2, 6), -1)
case(np.reshape, R(), (1, 1))
case(np.reshape, R(2, 6), (3, 4), copy=True)
case(np.ravel, R())
case(np.squeeze, R(1, 3, 1))
case(np.squeeze, R(1, 3, 1), 0)
case(np.expand_dims, R(3, 2), 1)
case(np.expand_dims, R(3, 2), (0, 3))
for x in (R(), R(3), R(2, 3)):
    case(np.atleast_1d, x)
    case(np.atleast_2d, x)
    case(np.atleast_3d, x)
    case(np.transpose, x)
case(np.atleast_2d, R(2), R())
case(np.transpose, R(2, 3, 4), (1, 2, 0))
case(np.transpose, R(2, 3, 4), (-1, 0, -2))
case(np.ndarray.transpose, R(2, 3, 4))
case(np.ndarray.transpose, R(2, 3, 4), None)
case(np.ndarray.transpose, R(2, 3, 4), 2, 0, 1)
case(np.ndarray.transpose, R(2, 3, 4), (2, 0, 1))
case(np.ndarray.T, R(2, 3))
case(np.ndarray.T, R(3))
case(np.matrix_transpose, R(2, 3, 4))
case(np.swapaxes, R(2, 3, 4), 0, -1)
case(np.moveaxis, R(2, 3, 4), 0, -1)
case(np.moveaxis, R(2, 3, 4), (0, 1), (2, 0))
for axis in (None, 0, (0, 1), -1):
    case(np.flip, R(2, 3), axis)
    case(np.roll, R(2, 3), 2, axis)
case(np.roll, R(2, 3), (1, -1), (0, 1))
case(np.fliplr, R(2, 3))
case(np.flipud, R(2, 3))
for k in (0, 1, 2, 3, -1):
    case(np.rot90, R(2, 3), k)
case(np.rot90, R(2, 3, 2), 1, (1, 2))
for axis in (0, 1, -1, None):
    case(np.concatenate, [R(2, 2), R(2, 2)], axis)
    case(np.append, R(2, 3), R(2, 3), axis)
case(np.concatenate, (R(2, 3), R(1, 3), R(0, 3)))
case(np.concatenate, R(2, 3, 2))
case(np.concatenate, (R(2), np.array([1, 2])))
for axis in (0, 1, -1):
    case(np.stack, [R(3), R(3), R(3)], axis)
case(np.stack, [R(), R()])
case(np.stack, R(2, 3), 1)
case(np.vstack, [R(3), R(2, 3)])
case(np.vstack, [R(), R()])
case(np.hstack, [R(3), R(2), R()])
case(np.hstack, [R(2, 1), R(2, 3)])
case(np.dstack, [R(2, 3), R(2, 3, 2)])
case(np.dstack, [R(3), R(3)])
case(np.column_stack, [R(3), R(3, 2)])
case(np.append, R(2, 3), R())
case(np.concatenate, [R(2), R(3)], dtype=float)
case(np.stack, [R(2), R(2)], 1, dtype=float)
for f in (np.vstack, np.hstack):
    case(f, [R(2), R(2)], dtype=float)
for items in (
    (R(3), R()),
    (R(), R(), R(2)),
    (R(2, 3), R(1, 3)),
    (R(2), slice(2)),
    (slice(0, 1, 3j), R()),
):
    case(type(np.r_).__getitem__, np.r_, items)
for items in ((R(3), R(3)), (R(2, 3), R(2)), (R(), R())):
    case(type(np.c_).__getitem__, np.c_, items)
case(np.block, [[R(2, 2), R(2, 1)], [R(1, 3)]])
case(np.block, [R(2, 2), R(2, 1)])
for axis in (0, 1):
    case(np.split, R(4, 6), 2, axis)
    case(np.split, R(4, 6), [1, 3], axis)
case(np.array_split, R(5), 2)
case(np.vsplit, R(4, 2), 2)
case(np.hsplit, R(4), 2)
case(np.hsplit, R(3, 4), 2)
case(np.dsplit, R(2, 3, 4), 2)
case(getattr(np, "unstack", None), R(2, 3), axis=1)
case(np.broadcast_to, R(3), (2, 3))
case(np.broadcast_to, R(2, 1), (4, 2, 3))
case(np.broadcast_to, R(), (2, 3))
case(np.broadcast_arrays, R(3), R(2, 1))
case(np.meshgrid, R(3), R(2))
case(np.meshgrid, R(3), R(2), R(2), indexing="ij")
case(np.meshgrid, R(3), R(2), R(2))
case(np.meshgrid, R(3))
for axis in (None, 0, 1, -1):
    case(np.repeat, R(2, 3), 2, axis)
case(np.repeat, R(3), np.array([0, 2, 1]))
case(np.repeat, R(2, 3), [1, 3], 0)
case(np.repeat, R(), 3)
for reps in (2, (2,), (2, 1), (2, 3), (2, 1, 2), ()):
    case(np.tile, R(2, 3), reps)
case(np.tile, R(), 3)
case(np.tile, R(), [2, 2])
for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
    case(np.pad, R(3), 2, mode)
    case(np.pad, R(3, 2), ((1, 0), (0, 1)), mode)
case(np.pad, R(2, 3), (1, 2), "constant", constant_values=7.0)
for mode in ("mean", "median", "maximum", "minimum", "linear_ramp", "constant"):
    case(np.pad, R(4), 2, mode)
    case(np.pad, R(4, 3), ((1, 0), (2, 1)), mode)
for mode in ("mean", "maximum"):
    case(np.pad, R(4), (1, 2), mode, stat_length=2)
case(np.pad, R(4), (1, 2), "linear_ramp", end_values=R())
case(np.pad, R(3, 2), 2, "linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0)))
case(np.pad, R(3), [(1, 2)], constant_values=(3.0, 4.0))
case(np.pad, R(3), (1, 2), "constant", constant_values=R())
case(np.pad, R(3), (1, 2), "constant", constant_values=(R(), R()))
case(np.pad, R(2, 3), 1, constant_values=((R(), R()), (R(), R())))
for mode in ("reflect", "symmetric"):
    case(np.pad, R(4), (2, 3), mode, reflect_type="odd")
    case(np.pad, R(3), (7, 8), mode, reflect_type="odd")
    case(np.pad, R(3, 4), ((1, 0), (2, 1)), mode, reflect_type="odd")
for mode in ("constant", "edge", "mean"):
    case(np.pad, R(3, 4), {-1: (1, 2)}, mode)
case(np.insert, R(4), 1, R())
case(np.insert, R(4), 1, R(2))
case(np.insert, R(4), [1, 3], R(2))
case(np.insert, R(4), -1, R())
case(np.insert, R(2, 3), 2, R(2))
case(np.insert, R(3, 4), 1, R(4), 0)
case(np.insert, R(3, 4), 1, R(), 1)
case(np.insert, R(3, 4), [0, 2], R(3, 2), axis=1)
case(np.rollaxis, R(2, 3, 4), 2)
case(np.rollaxis, R(2, 3, 4), 0, 3)
case(np.rollaxis, R(2, 3, 4), -1, 1)
case(np.resize, R(4), (2, 3))
case(np.resize, R(2, 2), 3)
case(np.asarray_chkfinite, R(3))
case(np.meshgrid, R(3), R(2), sparse=True)
case(np.meshgrid, R(3), R(2), R(2), sparse=True, indexing="ij")
case(np.block, [[R(2, 2), R(2, 1)], [R(3), 1.0 + np.zeros((1, 0))]])
case(np.block, [[R(2), R(3)], [R(5)]])
case(np.block, [[[R(1, 2, 2)], [R(1, 1, 2)]]])
case(np.delete, R(4), 1)
case(np.delete, R(3, 4), [0, 2], 1)
case(np.delete, R(3, 2), [0, 2], None)
case(np.copy, R(2, 3))
case(np.array, R(2, 3))
case(np.array, R())
case(np.array, R(3), ndmin=2)
case(np.array, R(), ndmin=1)
case(np.array, [R(), R()], ndmin=3)
case(np.array, R(2, 3), copy=True)
case(np.asarray, R(2, 3), float)
case(np.asarray, R(2, 3), copy=True)
case(np.array, [R(), R(), 1.0])
case(np.array, [R(2), R(2)])
case(np.array, [(R(), R()), [R(), 2.0]])
case(np.array, [[[R(), R()]], [[R(), R()]]])
case(np.array, [[R(2), R(2)]])
case(np.ndarray.astype, R(3), float)
case(np.ndarray.astype, R(3), complex)
case(np.ndarray.astype, R(3), int)
case(np.ndarray.tolist, R(2, 3))
case(np.ndarray.tolist, R(3))
case(np.ndarray.item, R(2, 3), 4)
case(np.ndarray.item, R(2, 3), -1)
case(np.ndarray.item, R(2, 3), 1, 2)
case(np.ndarray.item, R(2, 3), (1, 2))
case(np.ndarray.item, R(1, 1))
case(np.full, (2, 3), R())
case(np.full, (2, 3), R(3))
case(np.full_like, R(2, 3), R())
case(np.full_like, R(2, 3), R(2, 1))
case(np.full_like, R(2, 3), R(), shape=(2,))
case(np.ascontiguousarray, R())
case(np.asfortranarray, R())
case(np.arange, R())
case(np.arange, -P(), A())
case(np.arange, -P(), A(), P() / 3)
case(np.linspace, R(), R(), 5)
case(np.linspace, R(), 2.0, 5, False)
case(np.linspace, R(), R(), 5, retstep=True)
case(np.linspace, R(3), R(3), 4, False, True)
case(np.linspace, R(), R(), 1)
case(np.linspace, R(), R(), 3, dtype=np.float64)
case(np.linspace, R(3), R(), 4)
case(np.logspace, R(), R(), 4)
case(np.logspace, R(2), R(), 4, axis=1)
case(np.logspace, R(), R(), 3, False, P())
case(np.geomspace, P(), P(), 4)
case(np.geomspace, P(3), P(2, 1), 4, endpoint=False, axis=-1)
case(np.geomspace, 2, P(2), 4)
case(np.linspace, R(3), R(2, 1), 4, axis=2)

# ---- indexing

for index in (
    1,
    -1,
    slice(None),
    slice(2, 0, -1),
    slice(None, None, 2),
    Ellipsis,
    None,
    (1, 2),
    (slice(None), 1),
    (Ellipsis, None, 0),
    [0, 2, 0],
    np.array([[0, 1], [1, 1]]),
    (np.array([0, 1, 0]), np.array([1, 1, 1])),
    (slice(None), np.array([2, 2, 0])),
    (np.array([[0], [2]]), np.array([0, 1, 1])),
    np.arange(12).reshape(3, 4) % 3 == 0,
    np.array([True, False, True]),
    (1, np.array([0, 0])),
    (),
):
    case(operator.getitem, R(3, 4), index)
case(operator.getitem, [R(), R(), R()], 1)
case(operator.getitem, [R(), R(), R()], -1)
case(operator.getitem, (R(), R(2), R()), slice(0, 2))
case(operator.getitem, [R(), R(), R()], slice(None, None, -2))
case(operator.getitem, {"a": R(), "b": R(2)}, "b")
for axis in (None, 0, 1, -1):
    case(np.take, R(3, 4), 1, axis)
    case(np.take, R(3, 4), -1, axis)
    case(np.take, R(3, 4), [0, 2, 0], axis)
    case(np.take, R(3, 4), np.array([[0, 1], [1, 1]]), axis)
    case(np.take, R(3, 4), [-5, 30], axis, mode="clip")
    case(np.take, R(3, 4), [-5, 30], axis, mode="wrap")
    case(np.compress, [True, False, True], R(3, 4), axis)
    case(np.ndarray.compress, R(3, 4), [True, False, True], axis)
case(np.take_along_axis, R(3, 4), np.array([[0, 0, -1, 1]]), 0)
case(np.take_along_axis, R(3, 4), np.array([[0, 0], [3, 1], [2, 2]]), 1)
case(np.take_along_axis, R(3, 4), np.array([[0], [3], [2]]), -1)
case(np.take_along_axis, R(3, 4), np.array([11, 0, 0, -1]), None)
case(np.extract, np.arange(6).reshape(2, 3) % 2 == 0, R(2, 3))
case(np.ndarray.choose, np.array([0, 1, 1, 0]), [R(4), R()])
case(np.choose, np.array([0, 1, 2, 1]), [R(4), R(), R(1)])
case(np.select, [np.array([True, False, False]), np.array([True, True, False])], [R(3), R()], R())
case(np.select, [np.array([True, False])], [R(2)])
case(np.ix_, R(2), R(3), np.array([True, False, True]))
case(np.choose, np.array([0, 5, -1, 1]), [R(4), R(), R(1)], mode="wrap")
case(np.choose, np.array([0, 5, -1, 1]), [R(4), R()], mode="clip")
case(np.bincount, np.array([0, 2, 2, 1]), R(4))
case(np.bincount, np.array([0, 2, 2, 1]), R(4), 6)
for axis in (None, 0, 1, -1):
    case(np.sort, R(3, 4), axis)
    case(np.partition, R(3, 4), 2, axis)
case(np.lib.stride_tricks.sliding_window_view, R(5), 2)
case(np.lib.stride_tricks.sliding_window_view, R(3, 5, 2), 3, 1)
case(np.lib.stride_tricks.sliding_window_view, R(3, 4), (2, 3))
case(np.lib.stride_tricks.sliding_window_view, R(3, 4), (2, 2), (1, -1))
case(np.sort, R(5))
case(np.sort, R(3, 4), stable=True)
case(np.histogram, R(7), 3, weights=R(7))
case(np.histogram, R(7), 4, (-0.7, 0.6), weights=R(7))
case(np.histogram, R(2, 4), [-1.0, -0.2, 0.1, 1.0], weights=R(2, 4), density=True)
case(np.histogram, R(7))
case(np.unique, R(5))
case(np.unique, R(2, 3))
case(np.unique, np.array([0.3, 1.5, -0.3]), True, True, True)
case(np.unique, R(2, 2), return_inverse=True)
case(getattr(np, "unique_values", None), R(2, 3))
for trim in ("fb", "f", "B"):
    case(np.trim_zeros, R(4), trim)
for f in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
    case(f, R(4), R(3))
case(np.real_if_close, R(3))
case(np.real_if_close, Z(3))
case(np.histogram, R(6), 3, (-2, 2), weights=R(6))
case(np.ndarray.view, R(2, 3))
_at = ([1.0, 2.0, 3.0, 1.5], [0.0, 1.0, 1.0, 2.0])
case(np.histogram2d, R(5), R(5))
case(np.histogram2d, *_at, 2, weights=R(4))
case(np.histogram2d, *_at, (2, 3), [[0, 2], [0, 3]], weights=R(4))
case(np.histogram2d, *_at, [0.0, 1.2, 4.0], density=True, weights=P(4))
case(np.fromfunction, _outside, (2, 3), dtype=float, scale=R())
case(np.sort_complex, R(5))
case(evened, R(5), np.array([0, 0, 1, 2, 2]), 0)
case(evened, R(2, 3), np.array([[0, 0, 1], [2, 3, 3]]), -1)
case(evened, R(2, 3), np.array([[0, 0, 1], [0, 3, 3]]), 0)
for k in (0, 1, -1, 2, -2, 5):
    case(np.diag, R(3), k)
    case(np.diag, R(2, 4), k)
    case(np.diag, R(3, 2), k)
    case(np.diagonal, R(3, 4), k)
    case(np.trace, R(3, 4), k)
    case(np.tril, R(3, 4), k)
    case(np.triu, R(2, 3, 3), k)
case(np.tril, R(3))
case(np.triu, R(3), 1)
case(np.diagonal, R(2, 3, 4), 1, 0, 2)
case(np.diagflat, R(2, 2), 1)
case(np.linalg.trace, R(2, 3, 4))
case(np.linalg.trace, R(3, 3), offset=-1)
case(np.diagonal, R(2, 3, 4), -1, 2, 1)
case(np.trace, R(2, 3, 4), 0, 1, 2)

# ---- sequences

case(list, [R(), R()])
case(list, R(3))
case(tuple, R(2, 2))
case(sum, [R(), R(), R()])
case(sum, [R(3), R(), R(1)], R(3))
case(sum, R(3), R())
case(sum, R(2, 3))
case(math.fsum, [R(), R()])
case(max, R(), R())
case(max, R(), R(), R())
case(max, [R(), R(), R(), R()])
case(min, R(), 0.1)
case(min, (R(), R()))
case(sorted, [R(), R(), R(), R()])
case(sorted, [R(), R(), R(), R()], reverse=True)
case(math.prod, [R(), R(), R()])
case(math.prod, [R(), R()], start=R())
case(math.hypot, R(), R())
case(math.hypot, R(), R(), R())
case(math.dist, [R(), R()], [R(), R()])
case(getattr(math, "sumprod", None), [R(), R()], [R(), R()])

# ---- sampled data

_knots = np.array([-1.0, -0.3, 0.4, 1.1])
case(np.interp, R(), _knots, R(4))
case(np.interp, 2 * R(5), _knots, R(4))
case(np.interp, 2 * R(2, 5), _knots, R(4), R(), R())
case(np.interp, 2 * R(5), _knots, R(4), 0.0)
case(np.interp, 2 * R(5), _knots, R(4), period=None)
for n in (1, 2, 3):
    for axis in (0, 1, -1):
        case(np.diff, R(4, 3), n, axis)
case(np.diff, R(5))
case(np.ediff1d, R(2, 3))
case(np.ediff1d, R(4), R(), R(2))
case(np.diff, R(4), prepend=R())
case(np.diff, R(4, 3), 2, 0, R(2, 3), R())
case(np.interp, 9 * R(5), np.array([0.3, -0.4, 1.1, 2.0]), R(4), period=3.0)
case(np.unwrap, 4 * R(2, 6), axis=0)
for edge in (1, 2):
    case(np.gradient, R(5), edge_order=edge)
    case(np.gradient, R(5), P(), edge_order=edge)
    case(np.gradient, R(5), np.cumsum(P(5)), edge_order=edge)
    case(np.gradient, R(4, 5), axis=1, edge_order=edge)
    case(np.gradient, R(4, 5), np.cumsum(P(4)), axis=0, edge_order=edge)
case(np.gradient, R(3), [0, 1, 3])
case(np.gradient, R(4, 5))
case(np.gradient, R(4, 5), 2)
case(np.gradient, R(4, 5), P(), np.cumsum(P(5)), edge_order=2)
case(np.gradient, R(3, 4, 5), P(), 0.5, axis=(2, 0))
case(np.trapezoid, R(5))
case(np.trapezoid, R(5), np.cumsum(P(5)), P())
case(np.trapezoid, R(5), None, P())
case(np.trapezoid, R(5), dx=P())
case(np.trapezoid, R(5), np.cumsum(P(5)))
case(np.trapezoid, R(3, 4), np.cumsum(P(4)))
case(np.trapezoid, R(3, 4), np.cumsum(P(3, 4), 0), axis=0)
case(np.trapezoid, R(3, 4), dx=0.5, axis=0)
for mode in ("full", "same", "valid"):
    case(np.convolve, R(5), R(3), mode)
    case(np.convolve, R(2), R(5), mode)
    case(np.convolve, R(4), R(4), mode)
    case(np.convolve, R(6), R(2), mode)
    case(np.convolve, R(3), R(), mode)
    case(np.convolve, Z(3), R(2), mode)
    case(np.correlate, Z(3), Z(2), mode)
    for n, m in ((5, 3), (5, 2), (4, 4), (3, 1), (2, 3), (3, 6)):
        case(np.correlate, R(n), R(m), mode)
case(np.polyval, R(4), R())
case(np.polyval, R(4), R(3))
case(np.polyval, R(1), R(3))
case(np.polyval, R(4, 3), R())
case(np.polyval, R(4, 3), R(2, 1))
case(np.polyval, R(1, 3), R(2, 1))
case(np.polyval, R(3, 2, 1), R(4))
case(np.unwrap, 4 * R(6))
case(np.clip, R(3, 4), min=np.float64(-0.5), max=0.7)
case(np.clip, R(3, 4), max=R(4))
for f in (np.roots, polynomial.polyroots):
    case(f, np.array([1.0, -6.0, 11.0, -5.0]))
    case(f, np.array([1.0, 2.0, 3.0, 1.5]))
    case(f, Z(4))
case(np.polymul, R(3), R(4))
for f in (np.polyadd, np.polysub, np.polydiv):
    case(f, R(4), R(3))
for f in (np.polyder, np.polyint):
    case(f, R(4))
    case(f, R(4), 2)
case(np.poly, R(4))
case(np.poly, R(1))
case(np.poly, M(3))
case(np.poly, Z(2, 2))
case(np.vander, R(3))
case(np.vander, R(3), 5, True)
case(np.polyfit, R(6), R(6), 2)
case(np.polyfit, R(6), R(6, 2), 1)
case(np.polyfit, R(6), R(6), 2, w=P(6))
for tensor in (True, False):
    case(polynomial.polyval, R(3), R(4, 3), tensor)
case(polynomial.polyval, R(2, 3), R(4))
case(polynomial.polyval, R(), R(4))
case(polynomial.polyval, R(2), R(4, 3))
case(polynomial.polyval2d, R(3), R(3), R(4, 2))
case(polynomial.polyval3d, R(3), R(3), R(3), R(4, 2, 3))
case(polynomial.polygrid2d, R(3), R(2), R(4, 2))
case(polynomial.polygrid3d, R(3), R(2), R(2), R(4, 2, 3))
case(polynomial.polyvalfromroots, R(2, 3), R(4))
for kind, name in (
    *((polynomial, "poly"), (chebyshev, "cheb"), (legendre, "leg")),
    *((hermite, "herm"), (hermite_e, "herme"), (laguerre, "lag")),
):
    if kind is not polynomial:
        case(getattr(kind, name + "val"), R(3), R(4))
        case(getattr(kind, name + "val"), R(), R(2))
        case(getattr(kind, name + "val"), R(2, 2), R(5))
    case(getattr(kind, name + "der"), R(4))
    case(getattr(kind, name + "der"), R(4), 2)
    case(getattr(kind, name + "der"), R(3, 4), axis=1)
    case(getattr(kind, name + "int"), R(4))
    case(getattr(kind, name + "int"), R(4, 2), lbnd=-0.3)
    case(getattr(kind, name + "vander"), R(3), 3)
    case(getattr(kind, name + "vander"), R(2, 3), 0)
    case(getattr(kind, name + "int"), R(3), 2, k=[R(), R()], lbnd=0.3)
    case(getattr(kind, name + "int"), R(3), 1, k=0.7)
    for operation in ("add", "sub", "mul", "div"):
        case(getattr(kind, name + operation), R(3), R(2))
        case(getattr(kind, name + operation), R(2), R(4))
        case(getattr(kind, name + operation), R(2), R(1))
    case(getattr(kind, name + "fromroots"), R(3))
    for operation in ("mulx", "companion", "trim", "weight", "roots"):
        case(getattr(kind, name + operation, None), P(4) / 2)
    case(getattr(kind, name + "pow"), R(3), 3)
    case(getattr(kind, name + "line"), R(), R())
    case(getattr(kind, name + "fit"), R(6), R(6), 2)
    case(getattr(kind, name + "vander2d"), R(3), R(3), [1, 2])
    case(getattr(kind, name + "vander3d"), R(2), R(2), R(2), [1, 2, 1])
    if kind is polynomial:
        continue
    for operation in ("val2d", "grid2d"):
        case(getattr(kind, name + operation), R(3), R(3), R(4, 2))
    for operation in ("val3d", "grid3d"):
        case(getattr(kind, name + operation), R(2), R(2), R(2), R(2, 2, 3))
    case(getattr(kind, name + "val"), R(3), R(4, 2))
    case(getattr(kind, name + "val"), R(2), R(4, 2), tensor=False)
    case(getattr(kind, name + "val"), R(3, 2), R(4, 2), tensor=False)
    case(getattr(kind, f"{name}2poly"), R(4))
    case(getattr(kind, f"poly2{name}"), R(4))

case(polyutils.trimseq, R(3))
case(polyutils.as_series, [R(3), R(2)])

# ---- methods of ufuncs

_of_positive = (np.float_power, np.power, np.fmod, np.remainder, np.floor_divide)
for f in (np.logaddexp.reduce, np.logaddexp2.reduce):
    case(f, R(3), initial=R())
    case(f, R(2, 3), axis=None, initial=-np.inf, where=np.array([True, False, True]))
    case(f, R(2, 3), axis=1, keepdims=True, initial=R())
for f in (*REDUCTIONS, *STEPWISE, np.logaddexp, np.logaddexp2):
    numbers = P if f in _of_positive else R
    case(f.reduce, numbers(4))
    case(f.reduce, numbers(3, 2), 1, keepdims=True)
    case(f.reduce, numbers(4, 2), axis=0)
    for starts in ([0, 2], [2, 0, 3]):
        case(f.reduceat, numbers(4), starts)
    case(f.reduceat, numbers(3, 5), [0, 3, 1], 1)
for axis in (0, 1, None):
    case(np.hypot.reduce, R(3, 2), axis)
case(np.hypot.reduce, R(3, 2), 1, keepdims=True)
for f in REDUCTIONS:
    case(f.reduce, R(3, 2), (0, 1))
    case(f.reduce, R(3, 2), None, dtype=float)
    case(f.reduce, R(4), initial=R())
    case(f.reduce, R(3, 4), 1, initial=np.float64(0.6), where=_mask)
    case(f.accumulate, R(4))
    case(f.accumulate, R(3, 4), 1)
case(np.add.reduce, R(3, 4), where=_mask)
for f in SCANNED:
    numbers = P if f in _of_positive else R
    case(f.accumulate, numbers(4))
    case(f.accumulate, numbers(3, 4), axis=1)
    case(f.outer, numbers(2), numbers(3))
    case(f.outer, numbers(2, 2), numbers())
    case(f.outer, numbers(), numbers(3))
for f in (np.maximum, np.minimum):
    case(f.outer, R(2), R(3))
    case(f.outer, R(), R(2, 2))

# ---- products

for s, t in (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (2, 4, 2)),
    ((2, 3, 4), (4, 2)),
    ((3, 4), (2, 4, 2)),
    ((1, 3, 4), (2, 4, 2)),
    ((5, 1, 3, 4), (2, 4, 2)),
):
    case(operator.matmul, R(*s), R(*t))
case(operator.matmul, Z(2, 3), Z(3))
for s, t in (
    ((), ()),
    ((), (3,)),
    ((2, 2), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((2, 2, 3), (3,)),
    ((3,), (2, 3, 4)),
    ((2, 3), (2, 3, 4)),
    ((2, 2, 3), (2, 3, 4)),
    ((2, 2, 3), (3, 4)),
):
    case(np.dot, R(*s), R(*t))
for s, t in (
    ((), ()),
    ((), (3,)),
    ((3,), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 3), (4, 3)),
    ((2, 2, 3), (4, 2, 3)),
):
    case(np.inner, R(*s), R(*t))
for s, t in (((2,), (3,)), ((2, 2), (3,)), ((), (3,))):
    case(np.outer, R(*s), R(*t))
    case(np.multiply.outer, R(*s), R(*t))
    case(np.add.outer, R(*s), R(*t))
    case(np.subtract.outer, R(*s), R(*t))
case(np.vdot, R(3), R(3))
case(np.vdot, R(2, 2), R(2, 2))
case(np.vdot, Z(3), Z(3))
case(np.vecdot, R(2, 3), R(2, 3))
case(np.vecdot, R(3), R(2, 3))
case(np.vecdot, R(3, 2), R(3, 2), axis=0)
case(np.vecdot, Z(3, 2), R(4, 3, 1), axis=-2)
case(np.vecdot, Z(2, 3), Z(3))
for s, t in (((2, 3), (3,)), ((4, 2, 3), (3,)), ((2, 3), (4, 3)), ((4, 1, 2, 3), (2, 3))):
    case(getattr(np, "matvec", None), R(*s), R(*t))
    case(getattr(np, "vecmat", None), R(*t), R(*s[:-2], s[-1], s[-2]))
case(getattr(np, "matvec", None), Z(2, 3), Z(3))
case(getattr(np, "vecmat", None), Z(3), Z(3, 2))
case(np.tensordot, R(2, 3), R(3, 4), 1)
case(np.tensordot, R(2, 3), R(2, 3), 2)
case(np.tensordot, R(2), R(3), 0)
case(np.tensordot, R(2, 3, 4), R(4, 2, 5), ((0, 2), (1, 0)))
case(np.tensordot, R(2, 3, 4), R(4, 2, 5), ((2, 0), (0, 1)))
case(np.tensordot, R(2, 3, 4), R(3, 5), (1, 0))
case(np.tensordot, R(2, 3, 4), R(3, 5), (-2, -2))
for s, t in (((2,), (3,)), ((2, 3), (2, 2)), ((3,), (2, 2)), ((2, 2), (3,)), ((1, 2, 2), (2, 1))):
    case(np.kron, R(*s), R(*t))
case(np.cross, R(3), R(3))
case(np.cross, R(2, 3), R(3))
case(np.cross, R(3, 2), R(3, 2), axis=0)
case(np.cross, R(3, 2), R(4, 1, 3), axisa=0, axisc=1)
case(np.linalg.cross, R(2, 3), R(3))
case(np.linalg.cross, R(3, 2), R(3, 2), axis=0)
for spec, shapes in (
    ("ij,jk->ik", ((2, 3), (3, 4))),
    ("ij,jk", ((2, 3), (3, 4))),
    ("ij,ij->", ((2, 3), (2, 3))),
    ("i,j->ij", ((2,), (3,))),
    ("ii->i", ((3, 3),)),
    ("ii", ((3, 3),)),
    ("iii->i", ((2, 2, 2),)),
    ("ij->ji", ((2, 3),)),
    ("ij->i", ((2, 3),)),
    ("ij->", ((2, 3),)),
    ("ij,j->i", ((2, 3), (3,))),
    ("ij,kj,k->i", ((2, 3), (4, 3), (4,))),
    ("...ij,...jk->...ik", ((2, 2, 3), (3, 4))),
    ("...i,i->...", ((2, 2, 3), (3,))),
    ("i...->...", ((2, 3),)),
    ("b i j , b j -> b i", ((2, 2, 3), (2, 3))),
    ("ij,ij->ij", ((1, 3), (2, 3))),
    ("ii,ij->j", ((2, 2), (2, 3))),
    ("i,i,i->i", ((3,), (3,), (3,))),
):
    case(np.einsum, spec, *[R(*s) for s in shapes])
case(np.einsum, R(2, 3), [0, 1], R(3, 4), [1, 2], [0, 2])
case(np.einsum, R(2, 3), [0, 1], R(3), [1])
case(np.einsum, R(2, 2, 3), [Ellipsis, 0], R(3), [0], [Ellipsis])

# ---- linear algebra

for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv):
    case(f, M(3))
    case(f, M(2, 2))
case(np.linalg.inv, M(2) + 0j)
case(np.linalg.det, Z(3, 3))
case(np.linalg.slogdet, Z(3, 3))
case(np.linalg.pinv, R(2, 4))
case(np.linalg.pinv, R(2, 4), rtol=1e-3)
case(np.linalg.pinv, S(3), hermitian=True)
case(np.linalg.svd, S(3) - 2.5 * np.eye(3), compute_uv=False, hermitian=True)
case(np.linalg.svd, S(3) - 2.5 * np.eye(3), hermitian=True)
case(np.linalg.pinv, R(4, 2))
case(np.linalg.solve, M(3), R(3))
case(np.linalg.solve, M(3), R(3, 2))
case(np.linalg.solve, M(3, 2), R(2, 3, 1))
case(np.linalg.solve, M(3, 2), R(3, 2))
case(np.linalg.solve, M(3, 2), R(3))
for n in (0, 1, 2, 3, -1, -2):
    case(np.linalg.matrix_power, M(3), n)
for f in (np.linalg.cholesky, np.linalg.eigh, np.linalg.eigvalsh):
    case(f, S(3))
    case(f, S(2, 2))
case(np.linalg.eigh, S(3), "U")
for f in (over_gap, over_gap_needed):
    case(f, R(3, 3), R(3, 3))
    case(f, R(2, 3), R(1, 3))
case(settled, R(3, 2), np.eye(2) > 1)
case(require_settled, R(3, 2), np.eye(2) > 1)
case(require_settled_where_used, R(3, 2), np.eye(2) > 1)
case(require_basis, M(3))
for f in (np.linalg.cholesky, np.linalg.eigvalsh):
    case(f, S(3) + 0.1j * np.triu(R(3, 3), 1) - 0.1j * np.tril(R(3, 3), -1))
case(np.linalg.eigvalsh, S(3), "U")
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    case(np.linalg.cholesky, S(3), upper=True)
case(np.linalg.svd, R(3, 3))
for s in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
    case(np.linalg.svd, R(*s), full_matrices=False)
    case(np.linalg.svd, R(*s), compute_uv=False)
case(np.linalg.svd, R(2, 4), True, False)
for s in ((3, 2), (3, 4), (2, 3, 4)):
    case(np.linalg.svd, R(*s))
case(np.linalg.svdvals, R(3, 2))
case(np.linalg.svdvals, R(2, 2, 3))
case(np.linalg.qr, R(3, 3))
case(np.linalg.qr, R(4, 2))
case(np.linalg.qr, R(2, 3, 2))
case(np.linalg.qr, R(2, 4))
case(np.linalg.qr, R(2, 4), "complete")
case(np.linalg.qr, R(3, 2), "complete")
case(np.linalg.qr, R(2, 4, 3), "complete")
case(np.linalg.qr, R(4, 2), "r")
case(np.linalg.qr, Z(3, 3))
case(np.linalg.qr, Z(4, 2), "r")
for a in (M(3), M(2, 2), Z(3, 3), np.array([[1.0, 2.0], [-3.0, 0.5]])):
    case(np.linalg.eigvals, a)
    case(np.linalg.eig, a)
_nearly = np.diag([3.0, 2.0, 0.3]) + 0.1 * R(3, 3)
for a in (
    _nearly,
    np.concatenate((_nearly, R(1, 3) / 9)),
    np.concatenate((_nearly, R(3, 2) / 9), 1),
):
    case(np.linalg.pinv, a, 0.2)
    case(np.linalg.lstsq, a, R(len(a)), 0.2)
case(np.linalg.pinv, np.stack([_nearly, 2 * _nearly + 0.1j * R(3, 3)]), 0.2)
case(np.linalg.lstsq, _nearly[:, :2], R(3, 2), 0.01)
for a in (R(4, 2), R(2, 4), M(3)):
    case(np.linalg.lstsq, a, R(len(a)))
    case(np.linalg.lstsq, a, R(len(a), 2), None)
case(np.linalg.lstsq, Z(4, 2), Z(4))
case(np.linalg.multi_dot, [R(2, 3), R(3, 4), R(4, 2)])
case(np.linalg.multi_dot, [R(3), R(3, 4), R(4, 2)])
case(np.linalg.multi_dot, [R(2, 3), R(3, 4), R(4)])
case(np.linalg.tensorinv, R(4, 6, 8, 3), 2)
case(np.linalg.tensorinv, R(6, 2, 3), ind=1)
case(np.linalg.tensorsolve, R(2, 3, 6), R(2, 3))
case(np.linalg.tensorsolve, R(2, 6, 3), R(2, 3), (1,))
case(np.linalg.diagonal, R(2, 3, 4), offset=1)
for p in (None, 2, -2, 1, -1, "fro", "nuc", np.inf, -np.inf):
    case(np.linalg.cond, M(3), p)
case(np.linalg.cond, M(2, 3))
case(np.linalg.cond, R(4, 2))
for order in ("fro", "nuc", 1, 2, np.inf):
    case(np.linalg.matrix_norm, R(2, 3, 4), ord=order)
case(np.linalg.matrix_norm, R(3, 4), keepdims=True)
for order in (1, 2, 3, np.inf):
    case(np.linalg.vector_norm, R(3), ord=order)
    case(np.linalg.vector_norm, R(2, 3, 4), axis=(0, 2), ord=order)
    case(np.linalg.vector_norm, R(2, 3), axis=1, keepdims=True, ord=order)
case(np.linalg.vector_norm, R(2, 3))
case(np.linalg.vector_norm, R(2, 3), keepdims=True)
case(np.linalg.vector_norm, R(2, 3, 4), axis=(2, 0), keepdims=True)
case(np.linalg.vector_norm, Z(3))
for order in (None, 0, 1, 2, 3, 1.5, -1, np.inf, -np.inf):
    case(np.linalg.norm, R(4), order)
    case(np.linalg.norm, R(3, 4), order, axis=1)
    case(np.linalg.norm, R(3, 4), order, axis=0, keepdims=True)
    case(np.linalg.norm, Z(4), order)
for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    case(np.linalg.norm, R(3, 4), order)
    case(np.linalg.norm, R(2, 3, 4), order, axis=(0, 2))
    case(np.linalg.norm, R(2, 3, 4), order, axis=(2, 1), keepdims=True)
case(np.linalg.norm, R(2, 3, 2))
case(np.linalg.norm, Z(2, 3))

# ---- Fourier transforms

for norm in (None, "ortho", "forward"):
    for f in (np.fft.fft, np.fft.ifft):
        case(f, Z(5), norm=norm)
        case(f, R(4), norm=norm)
    case(np.fft.rfft, R(5), norm=norm)
    case(np.fft.rfft, R(4), norm=norm)
    case(np.fft.irfft, Z(4), norm=norm)
    case(np.fft.irfft, Z(4), 7, norm=norm)
for f in (np.fft.fft, np.fft.ifft):
    case(f, Z(2, 5), 3)
    case(f, Z(4, 2), 6, 0)
for n in (3, 6, 7):
    case(np.fft.rfft, R(2, 5), n)
    case(np.fft.irfft, Z(4, 2), n, 0)
    case(np.fft.irfft, R(4), n)
for f in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn):
    case(f, Z(3, 4))
    case(f, R(2, 3, 4), axes=(0, 1), norm="ortho")
    case(f, R(3, 4), s=(2, 6), axes=(0, 1), norm="forward")
for f in (np.fft.fftn, np.fft.ifftn):
    case(f, Z(3))
    case(f, Z(2, 3, 4), (5, 3), (2, 0))
for f in (np.fft.rfft2, np.fft.rfftn):
    case(f, R(3, 4))
    case(f, R(3, 4), (4, 3), (0, 1))
    case(f, R(2, 3, 4), axes=(1, 0), norm="ortho")
for f in (np.fft.irfft2, np.fft.irfftn):
    case(f, Z(3, 4))
    case(f, Z(3, 4), (4, 5), (-2, -1))
    case(f, Z(2, 3, 4), axes=(1, 2), norm="ortho")
case(np.fft.rfftn, R(2, 3, 4))
case(np.fft.irfftn, R(2, 3, 4))
for norm in (None, "ortho", "forward", "backward"):
    case(np.fft.hfft, Z(4), norm=norm)
    case(np.fft.ihfft, R(5), norm=norm)
case(np.fft.hfft, Z(2, 4), 5, 0)
case(np.fft.ihfft, R(2, 5), 4)
case(np.fft.fftfreq, 5, P())
case(np.fft.rfftfreq, 6, d=P())
case(np.fft.fftshift, R(5))
case(np.fft.fftshift, R(2, 4), 1)
case(np.fft.ifftshift, R(5))
case(fitted, R(3, 2), 2, 0)
case(fitted, R(3, 2), 5, 1)

# ---- complex arguments

for name in (
    "exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal sin cos tan arcsin arccos arctan"
    " sinh cosh tanh arcsinh arccosh arctanh absolute negative positive conjugate real imag angle"
).split():
    case(getattr(np, name), Z(3))
for f in (np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power):
    case(f, Z(3), Z(3))
for f in (np.sum, np.prod, np.mean, np.var, np.std, np.cumsum, np.cumprod, np.diff, np.average):
    case(f, Z(3, 3))
    case(f, Z(3, 3), axis=1)
for f in (
    np.trace,
    np.ravel,
    np.transpose,
    np.tril,
    np.gradient,
    np.trapezoid,
    np.nansum,
    np.nanmean,
):
    case(f, Z(3, 3))
for f in (np.dot, np.inner, np.outer, np.kron, np.tensordot, np.linalg.solve, np.cross):
    case(f, Z(3, 3), Z(3, 3))
case(np.interp, np.float64(0.3), _knots, Z(4))
case(np.polyval, Z(3), Z(2))
case(np.einsum, "ij,jk->ik", Z(2, 3), Z(3, 2))
case(np.linalg.matrix_power, Z(3, 3), 3)

# ---- complex numbers of Python

for f in (cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan):
    case(f, Z())
for f in (cmath.sinh, cmath.cosh, cmath.tanh, cmath.asin, cmath.acos, cmath.atan):
    case(f, Z())
for f in (cmath.asinh, cmath.acosh, cmath.atanh, cmath.phase, cmath.polar):
    case(f, Z())
case(cmath.log, Z(), Z())
case(cmath.rect, P(), R())
case(np.kaiser, 5, P())

# ---- functions of the user


def _energy(row):
    return np.sum(row * row)


def _turned(row, by):
    return row[::-1] * row[0] * by


def _bent(x):
    return x * x if x > 0 else 2 * x


def _mixed(x, y):
    return x * y


def _twofold(x):
    return x * x, 2 * x


case(np.apply_along_axis, _energy, 1, R(2, 3))
case(np.apply_along_axis, _energy, 0, R(3))
case(np.apply_along_axis, _turned, 0, R(2, 3), 3.0)
case(np.apply_along_axis, _turned, -2, R(2, 3, 2), 3.0)
case(np.apply_over_axes, np.sum, R(2, 3, 4), (0, 2))
case(
    np.piecewise, R(4), [_mask[0], np.array([False, True, False, False])], [np.square, 0.5, np.sin]
)
case(np.piecewise, R(3, 4), [_mask], (np.square, np.negative))
case(np.piecewise, R(4), _mask[0], (np.square, np.negative))
case(np.piecewise, np.float64(0.3), [False, True], (np.square, np.negative, 2.0))
case(np.piecewise, np.float64(0.3), [True, False], (np.square, np.negative))
case(np.piecewise, np.float64(0.3), [False, False], (np.square, np.negative, np.sin))
case(np.vectorize.__call__, np.vectorize(_bent), R(3))
case(np.vectorize.__call__, np.vectorize(_mixed), R(3), R(2, 1))
case(np.vectorize.__call__, np.vectorize(_twofold), R(3))
