"""Derivatives of plain Python and NumPy functions, by source transformation.

``grad``, ``jacobian`` and the others take ``backend="numba"`` to have what they write compiled.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from srcad import errors, rules
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
from srcad.options import Options
from srcad.pipeline import VERSION as __version__

if TYPE_CHECKING:
    from srcad import testing
else:

    def __getattr__(name: str) -> Any:
        """Import `srcad.testing` when it is first asked for: not every program tests."""
        if name == "testing":
            return import_module("srcad.testing")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Derivative",
    "Options",
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
