"""Derivatives of the zeta functions by their exponent, of any order.

The Taylor coefficients in the exponent of the formula of Euler and Maclaurin, left of 0 of the
reflection of Riemann's function (Johansson, Numerical Algorithms 69, 2015).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcad.runtime.shapes_of_distributions import log_gamma
from srcad.runtime.special import BERNOULLI, polygamma

_TERMS = 16
"""So many terms are added up before the others are integrated."""


def zeta_by_exponent(k: int, x: Any, q: Any = None) -> Any:
    """Derivative number `k` of `zeta(x, q)` by `x`: of Hurwitz's right of 1, of Riemann's anywhere.

    At real numbers; at the pole infinite or nan.
    """
    start = 1.0 if q is None else q
    dtype = np.promote_types(np.result_type(x, start), np.float32)
    x, start = (np.asarray(v, float) for v in np.broadcast_arrays(x, start))
    with np.errstate(all="ignore"):
        if q is None:
            left = x < 0
            right = np.where(np.isposinf(x), 0, _zeta(k, np.where(left, 2, x), start)[k])
            value = np.where(left, _by_reflection(k, np.where(left, x, -1)), right)
        else:
            there = (x > 1) & (start > 0)
            value = _zeta(k, np.where(there, x, 2), np.where(there, start, 1))[k]
            value = np.where(there, value, np.nan)
    return (math.factorial(k) * value).astype(dtype)[()]


def _zeta(k: int, x: Any, q: Any) -> list[Any]:
    """The Taylor coefficients up to number `k`."""
    end = q + _TERMS
    rest = [(-1) ** m * end / (x - 1) ** (m + 1) for m in range(k + 1)]
    rest[0] = rest[0] + 0.5
    rising = [x, *([np.ones_like(x)] + [np.zeros_like(x)] * k)][: k + 1]
    for j, b in enumerate(BERNOULLI, 1):
        scale = b / math.factorial(2 * j) / end ** (2 * j - 1)
        rest = [r + scale * c for r, c in zip(rest, rising, strict=True)]
        for shift in (2 * j - 1, 2 * j):
            rising = _product(rising, [x + shift, *([1.0] + [0.0] * k)][: k + 1])
    total = _product(_power(end, x, k), rest)
    for n in range(_TERMS - 1, -1, -1):
        total = [t + c for t, c in zip(total, _power(q + n, x, k), strict=True)]
    return total


def _by_reflection(k: int, x: Any) -> Any:
    """Of 2 * (2 pi)**(x - 1) * sin(pi x / 2) * gamma(1 - x) * zeta(1 - x)."""
    front = np.exp(log_gamma(1 - x) + (x - 1) * math.log(2 * math.pi))
    slopes = [(-1) ** (m + 1) * polygamma(m, 1 - x) / math.factorial(m) for m in range(k)]
    if k:
        slopes[0] = slopes[0] + math.log(2 * math.pi)
    fronts = [2 * front]
    for n in range(1, k + 1):
        fronts.append(sum(slopes[m] * fronts[n - 1 - m] for m in range(n)) / n)
    turn = math.pi / 2 * (x - 4 * np.round(x / 4))
    sines = [np.sin(turn), np.cos(turn)]
    waves = [
        (-1) ** (m // 2) * sines[m % 2] * (math.pi / 2) ** m / math.factorial(m)
        for m in range(k + 1)
    ]
    turned = [(-1) ** m * c for m, c in enumerate(_zeta(k, 1 - x, np.ones_like(x)))]
    return _product(_product(fronts, waves), turned)[k]


def _power(a: Any, x: Any, k: int) -> list[Any]:
    """Of a**-x."""
    return [a**-x * (-np.log(a)) ** m / math.factorial(m) for m in range(k + 1)]


def _product(f: list[Any], g: list[Any]) -> list[Any]:
    return [sum(f[i] * g[m - i] for i in range(m + 1)) for m in range(len(f))]
