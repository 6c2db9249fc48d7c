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
    starts = np.asarray(starts)
    sizes = np.maximum(np.append(starts[1:], n) - starts, 1)
    sums = np.repeat(np.arange(len(starts)), sizes)
    return np.arange(len(sums)) + (starts - np.cumsum(sizes) + sizes)[sums], sums


def rounds(places: Any) -> list[Any]:
    """Which of `places` come for the first time, which for the second, and so on."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    new = np.ones(len(places), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    count = np.arange(len(places))
    number = np.empty_like(count)
    number[order] = count - np.maximum.accumulate(np.where(new, count, 0))
    ends = np.cumsum(np.bincount(number))[:-1]
    return np.split(np.argsort(number, kind="stable"), ends)


def runs(x: Any, extrema: Any, axis: int) -> tuple[Any, Any]:
    """Where running extrema of `x` were first reached, and what reaches them once more."""
    x, found = np.moveaxis(x, axis, -1), np.moveaxis(extrema, axis, -1)
    new = np.ones(found.shape, bool)
    new[..., 1:] = (found[..., 1:] != found[..., :-1]) & ~np.isnan(found[..., :-1])
    first = np.maximum.accumulate(np.where(new, np.arange(found.shape[-1]), 0), -1)
    return np.moveaxis(first, -1, axis), np.moveaxis((x == found) & ~new, -1, axis)


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
    """``target[index] += term`` where repeated indices all add.

    `np.add.at` is several times as fast at single elements of a vector as at rows and at pairs of
    indices, so that larger terms are added by the places of their elements in memory.
    """
    if isinstance(target, dict):  # an entry that is missing is zero
        target[index] = add(target.get(index), term)
    elif not isinstance(target, np.ndarray):
        target[index] = add(target[index], term)
    elif np.size(term) < max(_FEW, target.size // 8) or not target.flags.c_contiguous:
        np.add.at(target, index, term)
    elif isinstance(index, np.ndarray) and index.ndim and index.dtype.kind in "iu":
        _add_rows(target, index, np.broadcast_to(term, index.shape + target.shape[1:]))
    else:
        places = np.arange(target.size).reshape(target.shape)[index]
        terms = np.broadcast_to(term, places.shape)
        np.add.at(target.reshape(-1), places.reshape(-1), terms.reshape(-1))


def _add_rows(target: Any, index: Any, rows: Any) -> None:
    """Some rows at a time: the memory for their places is used again."""
    row = np.arange(target[0].size)
    flat = target.reshape(-1)
    many = max(1, _AT_ONCE // rows[0].size)
    for start in range(0, len(index), many):
        stop = start + many
        places = index[start:stop, ..., None] * row.size + row
        np.add.at(flat, places.reshape(-1), rows[start:stop].reshape(-1))


_FEW = 64
"""Up to so many elements the places cost more than they save."""
_AT_ONCE = 8192


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
