"""Rules of the gamma function and its logarithm, whose derivatives NumPy does not have."""

import math
from functools import partial

from srcad.rules import registry
from srcad.runtime import polygamma

differential = partial(registry.differential, elementwise=True)


@differential(polygamma, domain="positive")
def polygamma_differential(n, x, *, dx):
    return polygamma(n + 1, x) * dx


@differential(math.lgamma, domain="positive")
def lgamma(x, *, dx):
    return polygamma(0, x) * dx


@differential(math.gamma, domain="positive")
def gamma(x, *, dx, out):
    return out * polygamma(0, x) * dx
