"""Rules of `scipy.integrate`: what it computes of samples. Loaded when it is.

`trapezoid` and `romb` are read from SciPy's source.
"""

import numpy as np
import scipy.integrate as si

from srcad.errors import MissingRule
from srcad.rules.registry import composition, sourced


@composition(si.cumulative_trapezoid, wrt=("y", "x", "dx"))
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    k = axis % np.ndim(y)
    before = (slice(None),) * k
    if x is None:
        steps = dx
    elif np.ndim(x) == 1:
        steps = np.reshape(np.diff(x), [-1 if j == k else 1 for j in range(np.ndim(y))])
    else:
        steps = np.diff(x, 1, k)
    middles = (y[(*before, slice(1, None))] + y[(*before, slice(0, -1))]) / 2
    areas = np.cumsum(steps * middles, k)
    if initial is None:
        return areas
    if initial != 0:
        raise MissingRule(None, "cumulative_trapezoid starts at 0")
    return np.concatenate((np.zeros_like(np.take(y, [0], k)), areas), k)


@composition(si.simpson, wrt=("y", "x", "dx"))
def simpson(y, x=None, *, dx=1.0, axis=-1):
    """Parabolas through three points each; with an even number one more for the last interval."""
    y = np.moveaxis(y, axis, -1)
    n = np.shape(y)[-1]
    if x is None:
        steps = dx * np.ones(n - 1, np.result_type(y))
    else:
        x = np.asarray(x, np.float64)
        steps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    if n == 2:
        return steps[..., 0] * (y[..., 0] + y[..., 1]) / 2
    odd = n - 1 + n % 2
    p, q = steps[..., 0 : odd - 1 : 2], steps[..., 1 : odd - 1 : 2]
    left, middle, right = y[..., 0 : odd - 2 : 2], y[..., 1 : odd - 1 : 2], y[..., 2:odd:2]
    pairs = left * (2 - q / p) + middle * ((p + q) ** 2 / (p * q)) + right * (2 - p / q)
    area = np.sum((p + q) / 6 * pairs, -1)
    if odd == n:
        return area
    p, q = steps[..., -2], steps[..., -1]
    ends = y[..., -1] * ((2 * q**2 + 3 * p * q) / (p + q)) + y[..., -2] * (q**2 / p + 3 * q)
    return area + (ends - y[..., -3] * (q**3 / (p * (p + q)))) / 6


sourced(si.trapezoid, si.romb)
