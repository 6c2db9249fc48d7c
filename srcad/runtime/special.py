"""Special functions that NumPy does not have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B2, B4, and on."""


def polygamma(n: int, x: Any) -> Any:
    """Derivative number `n + 1` of the logarithm of the gamma function, at real `x`.

    The recurrence up to where the asymptotic series holds (Abramowitz and Stegun, 6.4.6, 6.4.11);
    nan far below 0, where the function jumps between poles.
    """
    z = np.where(np.asarray(x) < -1000, np.nan, x)
    total = np.zeros_like(z)
    # Poles are at 0 and the negative integers: infinite there, as the function is.
    with np.errstate(divide="ignore"):
        while np.any(small := z < 15 + n):
            total += np.where(small, (1 / z) ** (n + 1), 0)
            z += small
    r = 1 / z
    square = r * r
    series: Any = 0.0
    for k in range(len(BERNOULLI), 0, -1):
        factor = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series = square * (BERNOULLI[k - 1] * factor + series)
    series = series + math.factorial(n) / 2 * r
    bulk = series - np.log(z) if n == 0 else (math.factorial(n - 1) + series) * r**n
    return (-1.0) ** (n + 1) * (math.factorial(n) * total + bulk)[()]


def bessel_i(n: int, x: Any) -> Any:
    """The modified Bessel function of the first kind, of an integer order, at real `x`.

    Its integral over half a turn by the midpoint rule, which converges faster than any power: with
    `k` nodes it is off by the functions of the orders 2k - n and 2k + n, which for these many are
    below rounding (Trefethen and Weideman, The Exponentially Convergent Trapezoidal Rule, 2014).
    """
    x = np.clip(x, -800, 800)  # beyond, where the function is infinite, it would be nan
    nodes = 16 + int(5 * np.sqrt(np.nanmax(np.abs(x), initial=0)))
    turn = np.pi * (np.arange(nodes) + 0.5) / nodes
    shape = np.expand_dims(x, -1) * np.cos(turn) - np.expand_dims(np.abs(x), -1)
    mean = np.mean(np.exp(shape) * np.cos(n * turn), -1)
    return (mean * np.exp(np.abs(x))).astype(np.result_type(x, np.float32))[()]
