"""What compiled code has for functions of ``srcad.runtime``.

Numba calls the C library for ``np.exp``: one number after the other.  Written out in arithmetic
without branches, with comparisons that choose, a function is vectorised with the loop around it.
Errors are below 3 units in the last place (tests/backends/test_numba_functions.py), infinities
and nan are kept, the sign of zero is not.  ``sin`` and ``cos`` are for numbers up to
``runtime.FAR``.

The formulas are those of fdlibm (e_exp.c, e_log.c, s_expm1.c, k_sin.c, k_cos.c), with a longer
polynomial in place of the quotient in exp.  A float is rounded to an integer by adding
``1.5 * 2**52``: what it is rounded to stands in the last bits of the sum.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from srcad import runtime


@intrinsic
def _add_in_any_order(context, total, term):
    def generate(_, builder, signature, args):
        return builder.fadd(*args, flags=("reassoc",))

    return types.float64(types.float64, types.float64), generate


@intrinsic
def _bits(context, x):
    def generate(_, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _number(context, bits):
    def generate(_, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


_exact = numba.njit(fastmath=False)
"""Without ``fastmath``, whatever the caller has: what is rounded away must not be simplified."""
_SHIFT = 1.5 * 2.0**52
_SHIFT_BITS = 0x4338000000000000
_ONE = 1023 << 52
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1.0 / math.factorial(k) for k in range(2, 14)
)


@_exact
def _expm1_of_small(r):
    """``exp(r) - 1`` for ``abs(r) < 0.35``."""
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + r * _C3) + r2 * (_C4 + r * _C5)
    middle = (_C6 + r * _C7) + r2 * (_C8 + r * _C9)
    high = (_C10 + r * _C11) + r2 * (_C12 + r * _C13)
    return r + r2 * (low + r4 * (middle + r4 * high))


@_exact
def _exp(x):
    y = 800.0 if x > 800.0 else x
    y = -800.0 if y < -800.0 else y
    n = (y * _LOG2E + _SHIFT) - _SHIFT
    r = (y - n * _LN2_HIGH) - n * _LN2_LOW
    half = n * 0.5 + _SHIFT
    rest = (n - (half - _SHIFT)) + _SHIFT
    # 2**n in two parts: what is too small or too large for one is rounded by the last product
    first, second = _number((_bits(half) << 52) + _ONE), _number((_bits(rest) << 52) + _ONE)
    return (1.0 + _expm1_of_small(r)) * first * second


@_exact
def _expm1(x):
    y = 60.0 if x > 60.0 else x
    y = -60.0 if y < -60.0 else y
    shifted = y * _LOG2E + _SHIFT
    n = shifted - _SHIFT
    r = (y - n * _LN2_HIGH) - n * _LN2_LOW
    power = _number((_bits(shifted) << 52) + _ONE)
    return (power - 1.0) + power * _expm1_of_small(r)


@_exact
def _any_expm1(x):
    near, far = _expm1(x), _exp(x)
    return far if x > 50.0 else near


@_exact
def _tanh(x):
    e = _expm1(2.0 * x)
    return np.divide(e, e + 2.0)


@_exact
def _log(x):
    is_tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if is_tiny else x  # 2**54
    k = (_bits(y) - 0x3FE6A09E667F3BCD) >> 52
    f = _number(_bits(y) - (k << 52)) - 1.0
    n = _number(k + _SHIFT_BITS) - _SHIFT
    n = n - 54.0 if is_tiny else n
    s = np.divide(f, 2.0 + f)
    z = s * s
    w = z * z
    odd = 0.6666666666666735130 + w * (
        0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)
    )
    even = 0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332)
    half = 0.5 * f * f
    found = n * _LN2_HIGH - ((half - (s * (half + (z * odd + w * even)) + n * _LN2_LOW)) - f)
    found = -math.inf if x == 0.0 else found
    found = math.nan if x < 0.0 else found
    return found if x < math.inf else x


@_exact
def _log1p(x):
    u = 1.0 + x
    left = np.divide(x - (u - 1.0), u)  # what was rounded away
    left = left if abs(u) < math.inf else 0.0
    left = 0.0 if u == 0.0 else left
    return _log(u) + left


_TWO_BY_PI = 6.36619772367581382433e-01
_PI_BY_2 = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
"""In parts of 33 bits: multiples of the first two, by less than 2**20, are exact."""
_S1, _S2, _S3, _S4, _S5, _S6 = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_K1, _K2, _K3, _K4, _K5, _K6 = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


@_exact
def _turned(x, turns):
    """The sine of ``x`` and some quarters of a turn."""
    shifted = x * _TWO_BY_PI + _SHIFT
    n = shifted - _SHIFT
    first, second = x - n * _PI_BY_2[0], n * _PI_BY_2[1]
    near = first - second
    b = near - first
    rest = (first - (near - b)) - (second + b) - n * _PI_BY_2[2]
    r = near + rest
    low = rest - (r - near)
    z = r * r
    odd = _S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6)))
    sine = r - ((z * (0.5 * low - z * r * odd) - low) - z * r * _S1)
    even = z * (_K1 + z * (_K2 + z * (_K3 + z * (_K4 + z * (_K5 + z * _K6)))))
    half = 0.5 * z
    most = 1.0 - half
    cosine = most + (((1.0 - most) - half) + (z * even - r * low))
    quarter = _bits(shifted) + turns
    found = cosine if quarter & 1 else sine
    return -found if quarter & 2 else found


@_exact
def _sin(x):
    return _turned(x, 0)


@_exact
def _cos(x):
    return _turned(x, 1)


def _offer(function, compiled):
    """Tell Numba what to call for a function of ``srcad.runtime``."""

    @overload(function)
    def found(x):
        return (lambda x: compiled(x)) if isinstance(x, types.Float) else None


_offer(runtime.sin, _sin)
_offer(runtime.cos, _cos)
_offer(runtime.exp, _exp)
_offer(runtime.expm1, _any_expm1)
_offer(runtime.log, _log)
_offer(runtime.log1p, _log1p)
_offer(runtime.tanh, _tanh)


@overload(runtime.copied)
def _offer_copied(value):
    return (lambda value: value.copy()) if isinstance(value, types.Array) else None


@overload(runtime.plus)
def _plus(total, term):
    if not all(isinstance(kind, types.Float) for kind in (total, term)):
        return None
    return lambda total, term: _add_in_any_order(total, term)
