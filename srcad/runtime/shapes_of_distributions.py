"""Derivatives of the incomplete gamma and beta functions by their shapes, of any order.

A derivative of the density is the density times a polynomial in the derivatives of its logarithm,
which a recurrence gives (complete Bell polynomials). It is integrated

- near an end by the power series, which is differentiated term by term (Moore, AS 187, Applied
  Statistics 31, 1982; Boik and Robison-Cox, Journal of Statistical Software 3, 1998);
- elsewhere from `x` to the end on the other side of the mean, so that next to nothing cancels, by a
  rule of double exponential type (Takahasi and Mori, 1974).

The whole integral is 1, and its derivatives are 0: either end will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.runtime.special import polygamma

_FAR = 16
"""From here on the asymptotic series of the gamma function hold to the last digit."""
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_END = 1.5
"""The series are taken where their terms grow no more than those of the exponential of this."""
_CHUNK = 4096
"""So many entries are computed at a time: each takes a row of the nodes."""

_STEP = 1 / 16
_LEVELS = np.arange(-3.6, 4.3, _STEP)
_NODES = np.exp(_LEVELS - np.exp(-_LEVELS))
_WEIGHTS = _STEP * _NODES * (1 + np.exp(-_LEVELS))
"""Of integrals from 0 to infinity of what falls like the exponential function, or faster."""


def gammainc_by_shape(k: int, a: Any, x: Any) -> Any:
    """Derivative number `k` of `gammainc(a, x)` by `a`: at least the first."""
    return _in_chunks(lambda a, x: _gamma_inside(k, a, x), a, x, end=np.inf)


def betainc_by_shapes(i: int, j: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative of `betainc(a, b, x)`, `i` times by `a` and `j` times by `b`: at least one."""
    return _in_chunks(lambda a, b, x: _beta_inside(i, j, a, b, x), a, b, x, end=1.0)


def _in_chunks(inside: Callable[..., Any], *args: Any, end: float) -> Any:
    """`inside` between the ends, where the derivative is 0, and nan outside, in double precision.

    The last argument is the variable, the others are shapes, which are positive.
    """
    dtype = np.promote_types(np.result_type(*args), np.float32)
    flat = [np.ravel(v).astype(float) for v in np.broadcast_arrays(*args)]
    *shapes, x = flat
    there = np.logical_and.reduce([(s > 0) & (s < np.inf) for s in shapes])
    value = np.where(there & (x >= 0) & (x <= end), 0.0, np.nan)
    places = np.flatnonzero(there & (x > 0) & (x < end))
    with np.errstate(under="ignore", over="ignore"):
        for k in range(0, len(places), _CHUNK):
            some = places[k : k + _CHUNK]
            value[some] = inside(*(v[some] for v in flat))
    return value.reshape(np.broadcast_shapes(*map(np.shape, args))).astype(dtype)[()]


def _gamma_inside(k: int, a: Any, x: Any) -> Any:
    value = np.empty_like(x)
    near = x <= _END
    value[near] = _gamma_series(k, a[near], x[near])
    far = ~near
    value[far] = _gamma_integral(k, a[far], x[far])
    return value


def _gamma_series(k: int, a: Any, x: Any) -> Any:
    """Of x**a / gamma(a + 1), times the sum of (-x)**n / n! * a / (a + n)."""
    front = np.exp(_log_gamma_density(a, x) + x)
    slopes = [-polygamma(m, a + 1) for m in range(k)]
    fronts = _derivatives(k, 0, lambda m, _: slopes[m - 1] + (np.log(x) if m == 1 else 0))
    sums = [np.zeros_like(x) for _ in range(k + 1)]
    sums[0] = sums[0] + 1
    term = np.ones_like(x)
    for n in range(1, 28):
        term = term * -x / n
        sums[0] = sums[0] + term * a / (a + n)
        for m in range(1, k + 1):
            sums[m] = sums[m] - term * n * _of_quotient(m, a + n)
    return front * sum(math.comb(k, m) * fronts[m, 0] * sums[k - m] for m in range(k + 1))


def _gamma_integral(k: int, a: Any, x: Any) -> Any:
    """Over t = x * exp(v), with v to the left or to the right; gamma(a) as gamma(a + 1) / a."""
    a, x = a[:, None], x[:, None]
    v, weights = _tail(np.abs(x - a), x)
    v = np.where(x < a, -v, v)
    density = np.exp(_log_gamma_density(a, x) + (a * v - x * np.expm1(v)))
    slopes = [-polygamma(m, a + 1) for m in range(k)]
    shift = np.log(x) + v
    table = _derivatives(k, 0, lambda m, _: slopes[m - 1] + (shift if m == 1 else 0))
    change = a * table[k, 0] + k * table[k - 1, 0]
    return np.sum(weights * density * change, -1) * np.where(x < a, 1, -1)[:, 0]


def _log_gamma_density(a: Any, x: Any) -> Any:
    """The logarithm of x**a * exp(-x) / gamma(a + 1)."""
    off = (x - a) / a
    close = (a > _FAR) & (np.abs(off) < 0.5)
    off = np.where(close, off, 0)
    by_stirling = a * (np.log1p(off) - off) - np.log(2 * np.pi * a) / 2 - _stirling(a)
    return np.where(close, by_stirling, a * np.log(x) - x - log_gamma(a + 1))


def _beta_inside(i: int, j: int, a: Any, b: Any, x: Any) -> Any:
    """By the end near `x`, or the tail: to the right it is the other function's to the left."""
    y = 1 - x
    left = (x <= 0.5) & (b * x <= _END)
    right = (y <= 0.5) & (a * y <= _END) & ~left
    middle = ~(left | right)
    below = b * x <= a * y
    value = np.empty_like(x)
    for places, by, turned in (
        (left, _beta_series, False),
        (right, _beta_series, True),
        (middle & below, _beta_integral, False),
        (middle & ~below, _beta_integral, True),
    ):
        if not np.any(places):
            continue
        p, q, s, t = a[places], b[places], x[places], y[places]
        log_s, log_t = np.log(s), np.log1p(-s)
        if turned:
            value[places] = -by(j, i, q, p, t, s, log_t, log_s)
        else:
            value[places] = by(i, j, p, q, s, t, log_s, log_t)
    return value


def _beta_series(i: int, j: int, a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """Of x**a / (a * beta(a, b)), times the sum of (1 - b)_n / n! * x**n * a / (a + n)."""
    front = np.exp(_log_beta_density(a, b, x, y, log_x, log_y) - b * log_y) / a
    one = np.ones_like(x)
    slopes = _beta_slopes(i, j, a, b, a + 1)
    fronts = _derivatives(i, j, lambda m, n: slopes[m, n] + (log_x if (m, n) == (1, 0) else 0))
    terms = [one, *(0 * one for _ in range(j))]
    sums = {(m, n): 0 * one for m in range(i + 1) for n in range(j + 1)}
    sums[0, 0] = one
    for k in range(1, 64):
        terms = [
            ((k - b) * terms[n] - (n * terms[n - 1] if n else 0)) * x / k for n in range(j + 1)
        ]
        for m, n in sums:
            quotient = -k * _of_quotient(m, a + k) if m else a / (a + k)
            sums[m, n] = sums[m, n] + terms[n] * quotient
    ways = ((m, n, math.comb(i, m) * math.comb(j, n)) for m in range(i + 1) for n in range(j + 1))
    return front * sum(w * fronts[m, n] * sums[i - m, j - n] for m, n, w in ways)


def _beta_integral(i: int, j: int, a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """To the left end, over the logarithm of t / (1 - t)."""
    a, b, x, y, log_x, log_y = (s[:, None] for s in (a, b, x, y, log_x, log_y))
    v, weights = _tail(np.abs(a * y - b * x), (a + b) * x * y)
    total = np.log1p(x * np.expm1(-v))
    density = np.exp(_log_beta_density(a, b, x, y, log_x, log_y) - (a * v + (a + b) * total))
    slopes = _beta_slopes(i, j, a, b, a)
    logs = {(1, 0): log_x - v - total, (0, 1): log_y - total}
    table = _derivatives(i, j, lambda m, n: slopes[m, n] + logs.get((m, n), 0))
    return np.sum(weights * density * table[i, j], -1)


def _beta_slopes(i: int, j: int, a: Any, b: Any, start: Any) -> dict[tuple[int, int], Any]:
    """The derivatives of the logarithm of gamma(a + b) / (gamma(start) * gamma(b))."""
    slopes: dict[tuple[int, int], Any] = {}
    for m in range(i + 1):
        for n in range(j + 1):
            if m and n:
                slopes[m, n] = polygamma(m + n - 1, a + b)
            elif m:
                slopes[m, n] = polygamma_step(m - 1, start, a + b - start)
            elif n:
                slopes[m, n] = polygamma_step(n - 1, b, a)
    return slopes


def _log_beta_density(a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """The logarithm of x**a * y**b / beta(a, b)."""
    off = b * x - a * y
    close = (np.minimum(a, b) > _FAR) & (np.abs(off) < np.minimum(a, b) / 2)
    off = np.where(close, off, 0)
    by_stirling = (
        a * (np.log1p(off / a) - off / a)
        + b * (np.log1p(-off / b) + off / b)
        + np.log(a / (a + b) * b / (2 * np.pi)) / 2
        + (_stirling(a + b) - _stirling(a) - _stirling(b))
    )
    few, many = np.minimum(a, b), np.maximum(a, b)
    else_ = a * log_x + b * log_y + log_gamma_step(many, few) - log_gamma(few)
    return np.where(close, by_stirling, else_)


def _tail(slope: Any, bend: Any) -> tuple[Any, Any]:
    """Nodes and weights for what falls like exp(-slope * v - bend * v**2 / 2), one row for each."""
    width = 2 / (slope + np.sqrt(slope * slope + 4 * bend))
    return width * _NODES, width * _WEIGHTS


def _of_quotient(m: int, z: Any) -> Any:
    """Derivative number `m` of 1 / z."""
    return (-1.0) ** m * math.factorial(m) / z ** (m + 1)


def _derivatives(i: int, j: int, slope: Callable[[int, int], Any]) -> dict[tuple[int, int], Any]:
    """The derivatives of exp(f), over exp(f), from those of f."""
    table: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for n in range(j + 1):
        for m in range(i + 1):
            if m:
                pairs = [(r, s, math.comb(m - 1, r)) for r in range(m) for s in range(n + 1)]
                table[m, n] = sum(
                    w * math.comb(n, s) * table[r, s] * slope(m - r, n - s) for r, s, w in pairs
                )
            elif n:
                table[m, n] = sum(
                    math.comb(n - 1, s) * table[0, s] * slope(0, n - s) for s in range(n)
                )
    return table


# ---- the gamma function


def _stirling(z: Any) -> Any:
    return sum(c / z ** (2 * k + 1) for k, c in enumerate(_STIRLING))


def log_gamma(x: Any) -> Any:
    """The logarithm of the gamma function, of positive numbers: Stirling's series, moved up."""
    passed = np.ones_like(x)
    z = x
    while np.any(near := z < _FAR):
        passed = np.where(near, passed * z, passed)
        z = np.where(near, z + 1, z)
    half = (z - 0.5) * np.log(z) - z + math.log(2 * math.pi) / 2
    return half + _stirling(z) - np.log(passed)


def log_gamma_step(x: Any, d: Any) -> Any:
    """`log_gamma(x + d) - log_gamma(x)`, whose terms do not cancel."""
    passed = np.zeros_like(x)
    z = x
    while np.any(near := z < _FAR):
        passed = np.where(near, passed + np.log1p(d / z), passed)
        z = np.where(near, z + 1, z)
    bulk = (z + d - 0.5) * np.log1p(d / z) + d * (np.log(z) - 1)
    return bulk + _stirling(z + d) - _stirling(z) - passed


def polygamma_step(n: int, x: Any, d: Any) -> Any:
    """`polygamma(n, x + d) - polygamma(n, x)`, whose terms do not cancel, of positive numbers."""
    total = np.zeros_like(x + d)
    z = x + total

    def fall(m: int) -> Any:
        """By how much `z ** -m` falls."""
        return -np.expm1(-m * np.log1p(d / z)) / z**m

    while np.any(near := z < _FAR):
        total = total + np.where(near, math.factorial(n) * fall(n + 1), 0)
        z = np.where(near, z + 1, z)
    bulk = np.log1p(d / z) if n == 0 else math.factorial(n - 1) * fall(n)
    total = total + bulk + math.factorial(n) / 2 * fall(n + 1)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * fall(2 * k + n)
    return (-1.0) ** n * total
