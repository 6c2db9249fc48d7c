"""Checks that types could not settle."""

from __future__ import annotations

from typing import Any

import numpy as np


def require_number(value: Any) -> None:
    """Refuse an augmented assignment to an array: it would write in place."""
    if isinstance(value, np.ndarray):
        raise TypeError("an augmented assignment writes an array in place: write x = x + y")


def require_present(value: Any) -> None:
    """Refuse the derivative of a result that is None after all."""
    if value is None:
        raise TypeError("the function returned None, which has no derivative: return a float")


def require_scalar(value: Any) -> None:
    """Refuse the gradient of what is not one real number."""
    require_present(value)
    if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "fiub":
        raise TypeError(
            "grad needs a function that returns one real scalar; "
            f"this one returned {type(value).__name__} of shape {np.shape(value)}: "
            "reduce it, or use jacobian or vjp"
        )


def stop_gradient(x: Any) -> Any:
    """`x`, with derivative zero."""
    return x
