"""Derivatives of plain Python and NumPy functions, by source transformation."""

from srcad import errors, rules, testing
from srcad.api import (
    Derivative,
    derivative,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    opaque,
    stop_gradient,
    value_and_grad,
    vjp,
)
from srcad.pipeline import VERSION as __version__

__all__ = [
    "Derivative",
    "__version__",
    "derivative",
    "errors",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "opaque",
    "rules",
    "stop_gradient",
    "testing",
    "value_and_grad",
    "vjp",
]
