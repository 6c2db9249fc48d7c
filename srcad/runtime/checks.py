"""Checks that types could not settle."""

from __future__ import annotations

from typing import Any

import numpy as np


class Unforeseen(Exception):
    """Code that was made for the common case has met another: run the general code instead."""


def require_number(value: Any) -> None:
    """Refuse an augmented assignment to a value of unknown type that is an array: it writes."""
    if isinstance(value, np.ndarray):
        raise TypeError(
            "an augmented assignment changes an array in place, and that this is an array was "
            "known at run time only: write x = x + y"
        )


def require_real_power(x: Any, y: Any) -> None:
    """Refuse a power that Python makes a complex number of: derivatives are those of real ones."""
    if x < 0 and y != np.floor(y) and isinstance(x, (int, float)) and isinstance(y, (int, float)):
        raise TypeError(
            f"a derivative needs real numbers, and ({x}) ** {y} is complex: keep the base positive "
            "or pass a complex argument"
        )


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


def require_distinct(name: str, changed: Any, *others: Any) -> None:
    """Refuse that what a function changes is also reached under another name."""
    if any(changed is other for other in others):
        raise TypeError(
            f"the {type(changed).__name__} {name!r} is changed by the function, which reaches it "
            "under another name too: that is not supported in differentiated functions, give it "
            "a copy"
        )


def snapshot(*objects: Any) -> Any:
    """What is in objects now, for `require_unchanged`."""
    return tuple(_seen(o) for o in objects)


def _seen(obj: Any, deep: bool = True) -> Any:
    match obj:
        case np.ndarray():
            return obj.copy()
        case list() | tuple():
            return [(item, _seen(item, False)) for item in obj]
        case dict():
            return [(key, item, _seen(item, False)) for key, item in obj.items()]
    if deep and hasattr(obj, "__dict__"):
        return _seen(vars(obj))
    return None


def require_unchanged(name: str, before: Any, *objects: Any) -> None:
    """Refuse that a function has changed what it was given: the derivative does not see that."""
    for obj, then in zip(objects, before, strict=True):
        if not _equal(_seen(obj), then):
            raise TypeError(
                f"{name} changed a {type(obj).__name__} that it was given, which is not supported "
                "in differentiated functions: give it a copy"
            )


def _equal(now: Any, then: Any) -> bool:
    if isinstance(now, np.ndarray):
        return np.array_equal(now, then, equal_nan=now.dtype.kind in "fc")
    if isinstance(now, (list, tuple)):
        return len(now) == len(then) and all(map(_equal, now, then))
    return now is then


def stop_gradient(x: Any) -> Any:
    """`x`, with derivative zero."""
    return x


def require_view(view: Any, array: Any) -> None:
    """Refuse a copy where a view of the array was made when the derivative was derived."""
    if not np.may_share_memory(view, array):
        raise ValueError(
            "a function such as reshape or ravel copied an array that is not in C order, and the "
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
