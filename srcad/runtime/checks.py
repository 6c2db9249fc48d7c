"""Checks that types could not settle."""

from __future__ import annotations

from typing import Any

import numpy as np


def require_number(value: Any) -> None:
    """Refuse an augmented assignment to an array: it would write in place."""
    if isinstance(value, np.ndarray):
        raise TypeError("an augmented assignment writes an array in place: write x = x + y")


def require_scalar(value: Any) -> None:
    """Refuse the gradient of what is not one real number."""
    if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "fiub":
        raise TypeError(
            "grad needs a function that returns one real scalar; "
            f"this one returned {type(value).__name__} of shape {np.shape(value)}: "
            "reduce it, or use jacobian or vjp"
        )


def stop_gradient(x: Any) -> Any:
    """`x`, with derivative zero."""
    return x


def require_view(view: Any, array: Any) -> None:
    """Refuse a copy where a view of the array was made when the derivative was derived."""
    if not np.may_share_memory(view, array):
        raise ValueError(
            "a function such as reshape or ravel copied an array that is not contiguous, and the "
            "array or the copy is written later: make a copy of your own, np.copy(x), or pass "
            "np.ascontiguousarray(x)"
        )


def require_disjoint(x: Any, y: Any) -> None:
    """Refuse two arguments that share memory, one of which the function writes into."""
    if np.shares_memory(x, y):
        raise ValueError(
            "two arguments share memory and the function writes into one of them: pass a copy"
        )


def last_writes(index: Any, shape: Any, kept: Any) -> Any:
    """``kept`` with zeros where an entry of an array index is written over by a later one."""
    order = np.arange(np.size(kept)).reshape(np.shape(kept))
    stamp = np.zeros(shape, dtype=np.intp)
    stamp[index] = order
    return np.where(stamp[index] == order, kept, np.zeros((), np.asarray(kept).dtype))
