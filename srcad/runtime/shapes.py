"""Adjoints whose shape or kind is known at run time only."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np


def unbroadcast(x: Any, shape: Any) -> Any:
    """The transpose of `np.broadcast_to` from `shape`: `x` summed over what it repeated.

    A scalar `x`, or one entry along an axis, stands for equal entries. Without axes it is a number,
    not an array: it may be added to under its own name. Axes of `shape` that `x` does not have are
    those of a value that was written where it fits without them.
    """
    if type(x) is np.ndarray and x.shape == shape != ():
        return x
    shape = tuple(shape)
    have = np.shape(x)
    if have == shape:
        return x[()] if shape == () and isinstance(x, np.ndarray) else x
    added = len(have) - len(shape)
    if added > 0:
        x = np.sum(x, axis=tuple(range(added)))
        have = np.shape(x)
    have = (1,) * -added + have
    stretched = tuple(k for k in range(len(have)) if shape[k] == 1 != have[k])
    if stretched:
        x = np.sum(np.reshape(x, have), axis=stretched, keepdims=True)
    return x if np.shape(x) == shape else np.broadcast_to(x, shape)


def segments(starts: Any, n: int) -> tuple[Any, Any]:
    """What `np.add.reduceat` adds up: the places of the terms, and the sums they go into."""
    ends = [*starts[1:], n]
    runs = [range(a, b) if a < b else range(a, a + 1) for a, b in zip(starts, ends, strict=True)]
    places = [k for run in runs for k in run]
    return np.array(places, int), np.repeat(np.arange(len(runs)), [len(run) for run in runs])


def fitted(x: Any, n: int, axis: int) -> Any:
    """`x` cut, or filled with zeros, to the length `n` along `axis`."""
    m = np.shape(x)[axis]
    k = axis % np.ndim(x)
    if n < m:
        return x[(slice(None),) * k + (slice(0, n),)]
    return np.pad(x, [(0, n - m) if j == k else (0, 0) for j in range(np.ndim(x))])


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


def shadow(x: Any) -> Any:
    """The zero of the adjoints of ``x``, to be written to: a list where ``x`` is a tuple."""
    return [shadow(i) for i in x] if isinstance(x, (list, tuple)) else zeros_like(x)


def add(x: Any, y: Any) -> Any:
    """The sum of two adjoints of one object."""
    match x:
        case list() | tuple() if y is None:
            return x
        case list():
            return [add(p, q) for p, q in zip(x, y, strict=True)]
        case tuple():
            return tuple(add(p, q) for p, q in zip(x, y, strict=True))
        case dict():
            return {
                k: add(x[k], y[k]) if k in x and k in y else x.get(k, y.get(k)) for k in {**x, **y}
            }
        case None:
            return y
    return x if y is None else x + y


def sum_of_repeats(repeated: Any, x: Any) -> Any:
    """The adjoint of the list or tuple ``x`` where that of ``x * n`` is given."""
    n = len(x)
    return [reduce(add, repeated[k::n], zeros_like(x[k])) for k in range(n)]


def inserted_at(index: int, n: int) -> int:
    """The position at which ``list.insert`` puts an item into a list of ``n`` others."""
    return slice(index, None).indices(n)[0]


def add_at(target: Any, index: Any, term: Any) -> None:
    """``target[index] += term`` where repeated indices all add."""
    if isinstance(target, np.ndarray):
        np.add.at(target, index, term)
    elif isinstance(target, dict):  # an entry that is missing is zero
        target[index] = add(target.get(index), term)
    else:
        target[index] = add(target[index], term)


def own(value: Any) -> Any:
    """The value, copied if it is an array."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def copied(value: Any) -> Any:
    """A list, dict or array of its own; anything else as it is, None where there is nothing yet."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return list(value)
    return dict(value) if isinstance(value, dict) else value


def elements_in_memory(a: Any, order: str) -> Any:
    """The elements of `a`, counted in C order, in NumPy's order "A" or "K"."""
    counted = np.arange(a.size).reshape(a.shape)
    if order == "A":
        return counted.ravel("F" if a.flags.fnc else "C")
    return np.transpose(counted, _axes_in_memory(a)).ravel()


def _axes_in_memory(a: Any) -> list[int]:
    """The axes of `a` from the slowest in memory to the fastest.

    One that takes no step in memory, broadcast or of size 1, stays where it is.
    """
    steps = [0 if n == 1 else abs(step) for n, step in zip(a.shape, a.strides, strict=True)]
    fastest: list[int] = []
    for k in reversed(range(a.ndim)):
        place = len(fastest)
        for j in reversed(range(len(fastest))):
            other = steps[fastest[j]]
            if steps[k] and other:
                if other <= steps[k]:
                    break
                place = j
        fastest.insert(place, k)
    return fastest[::-1]
