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
    sign = (-1.0) ** (n + 1)
    bound = 15 + n
    z = np.where(np.asarray(x) < -1000, np.nan, x)
    total = np.zeros_like(z)
    while np.any(z < bound):
        small = z < bound
        # Poles are at 0 and the negative integers: infinite there, as the function is.
        with np.errstate(divide="ignore"):
            total = total + np.where(small, sign * math.factorial(n) / z ** (n + 1), 0)
        z = np.where(small, z + 1, z)
    if n == 0:
        series = np.log(z) - 0.5 / z
    else:
        series = sign * (math.factorial(n - 1) / z**n + math.factorial(n) / (2 * z ** (n + 1)))
    for k, b in enumerate(BERNOULLI, 1):
        factor = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series = series + sign * b * factor / z ** (2 * k + n)
    return (total + series)[()]


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
