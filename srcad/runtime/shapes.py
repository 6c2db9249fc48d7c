"""Adjoints whose shape or kind is known at run time only."""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(ct: Any, x: Any) -> Any:
    """``ct`` summed over the axes along which ``x`` was broadcast: it gets the shape of ``x``.

    ``ct`` has the shape of an elementwise result of ``x``, or is a scalar that stands for it.
    """
    shape = np.shape(x)
    if np.shape(ct) == shape:
        return ct
    extra = np.ndim(ct) - len(shape)
    if extra > 0:
        ct = np.sum(ct, axis=tuple(range(extra)))
    axes = tuple(k for k, size in enumerate(shape) if size == 1 and np.shape(ct)[k] != 1)
    if axes:
        ct = np.sum(ct, axis=axes, keepdims=True)
    return ct if np.shape(ct) == shape else np.broadcast_to(ct, shape)


def zeros_like(x: Any) -> Any:
    """The zero of the space that adjoints of ``x`` live in."""
    match x:
        case np.ndarray():
            return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
        case list() | tuple():
            items = [zeros_like(i) for i in x]
            return items if isinstance(x, list) else tuple(items)
        case dict():
            return {}
        case np.generic() if x.dtype.kind in "fc":
            return x.dtype.type(0)
        case complex():
            return 0j
        case None:
            return None
    return 0.0


def add(x: Any, y: Any) -> Any:
    """The sum of two adjoints of one object."""
    match x:
        case list():
            return [add(p, q) for p, q in zip(x, y, strict=True)]
        case tuple():
            return tuple(add(p, q) for p, q in zip(x, y, strict=True))
        case dict():
            return {k: add(x[k], y[k]) if k in x and k in y else x.get(k, y.get(k)) for k in {**x, **y}}
        case None:
            return y
    return x if y is None else x + y


def add_at(target: Any, index: Any, term: Any) -> None:
    """``target[index] += term`` where repeated indices all add."""
    if isinstance(target, np.ndarray):
        np.add.at(target, index, term)
    else:
        target[index] = add(target[index], term)
