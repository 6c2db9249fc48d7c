"""Functions of SciPy in words that Numba has: imported where SciPy is."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sc

from srcad.backends.numba.definitions import define

_ROOT_HALF = math.sqrt(0.5)


@define(sc.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False):
    if axis is None:
        top = np.max(a)
        top = top if np.isfinite(top) else 0.0
    else:
        top = np.max(a, axis, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
    weighted = np.exp(a - top) if b is None else b * np.exp(a - top)
    total = np.log(np.sum(weighted, axis, keepdims=keepdims))
    if axis is None:
        return total + top
    return total + (top if keepdims else np.squeeze(top, axis))


@define(sc.softmax)
def softmax(x, axis=None):
    if axis is None:
        grown = np.exp(x - np.max(x))
        return grown / np.sum(grown)
    grown = np.exp(x - np.max(x, axis, keepdims=True))
    return grown / np.sum(grown, axis, keepdims=True)


@define(sc.log_softmax)
def log_softmax(x, axis=None):
    if axis is None:
        apart = x - np.max(x)
        return apart - np.log(np.sum(np.exp(apart)))
    apart = x - np.max(x, axis, keepdims=True)
    return apart - np.log(np.sum(np.exp(apart), axis, keepdims=True))


@define(sc.expit)
def expit(x):
    return 1.0 / (1.0 + np.exp(-x))


@define(sc.log_expit)
def log_expit(x):
    return -np.logaddexp(0.0, -x)


@define(sc.ndtr)
def ndtr(x):
    return 0.5 * sc.erfc(-_ROOT_HALF * x)


@define(sc.xlogy)
def xlogy(x, y):
    return np.where((x == 0) & (y == y), 0.0, x * np.log(y))


@define(sc.erf)
def erf(x):
    return math.erf(x) if np.ndim(x) == 0 else NotImplemented


@define(sc.erfc)
def erfc(x):
    return math.erfc(x) if np.ndim(x) == 0 else NotImplemented
