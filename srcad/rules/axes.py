"""The axes of arrays, and indices along them: computed when code is made, if they are known."""

from __future__ import annotations

from typing import Any

import numpy as np


def places(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as numbers from the start."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(k % rank for k in axes)


def moved(source: Any, destination: Any, rank: int) -> tuple[int, ...]:
    """The order of axes after `np.moveaxis`."""
    taken, given = places(source, rank), places(destination, rank)
    order = [k for k in range(rank) if k not in taken]
    for to, axis in sorted(zip(given, taken, strict=True)):
        order.insert(to, axis)
    return tuple(order)


def swapped(one: int, other: int, rank: int) -> tuple[int, ...]:
    """The order of axes after `np.swapaxes`."""
    order = list(range(rank))
    order[one], order[other] = order[other], order[one]
    return tuple(order)


def along(axis: int, part: Any, rank: int) -> tuple[Any, ...]:
    """The index of a part of an array along one axis."""
    return (slice(None),) * (axis % rank) + (part,)


def reversed_along(axis: Any, rank: int) -> tuple[slice, ...]:
    """The index that turns axes round."""
    turned = range(rank) if axis is None else places(axis, rank)
    return tuple(slice(None, None, -1) if k in turned else slice(None) for k in range(rank))


def without(axis: Any, sizes: Any) -> tuple[Any, ...] | None:
    """The index that drops axes of size 1; None if they are not known to have it."""
    if sizes is None:
        return None
    if axis is None:
        if None in sizes:
            return None
        axis = tuple(k for k, n in enumerate(sizes) if n == 1)
    dropped = places(axis, len(sizes))
    if any(sizes[k] != 1 for k in dropped):
        return None
    return tuple(0 if k in dropped else slice(None) for k in range(len(sizes)))


def inverse(axes: Any, rank: int) -> tuple[int, ...]:
    """The order of axes that undoes `np.transpose`."""
    return tuple(np.argsort(np.mod(axes, rank)).tolist())


def contracted(axes: Any, rank_a: int, rank_b: int) -> tuple[tuple[int, ...], ...]:
    """The axes of `np.tensordot`: those of `a` that stay, those summed, those of `b` that stay."""
    if isinstance(axes, int):
        of_a, of_b = tuple(range(rank_a - axes, rank_a)), tuple(range(axes))
    else:
        of_a, of_b = places(axes[0], rank_a), places(axes[1], rank_b)
    rows = tuple(k for k in range(rank_a) if k not in of_a)
    columns = tuple(k for k in range(rank_b) if k not in of_b)
    return rows, of_a, of_b, columns


def labelled(subscripts: str, ranks: tuple[int, ...]) -> tuple[tuple[str, ...], str, str]:
    """The labels of operands, of the result, and those that are summed over."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = tuple(left.split(","))
    if "." in left or any(len(set(t)) != len(t) for t in terms):
        raise ValueError("labels that are hidden or repeated")
    every = "".join(terms)
    if not arrow:
        right = "".join(sorted(c for c in set(every) if every.count(c) == 1))
    summed = "".join(dict.fromkeys(c for c in every if c not in right))
    return terms, right, summed


def as_tensordot(terms: tuple[str, ...], result: str, summed: str) -> Any:
    """The axes for `np.tensordot`, and the order of what it makes, None if that is right already.

    None where labels are not those of rows of one operand, columns of another, and of what is
    summed.
    """
    if len(terms) != 2 or not summed:
        return None
    shared = set(terms[0]) & set(terms[1])
    if shared != set(summed) or not all(set(term) - shared for term in terms):
        return None
    made = "".join(c for c in "".join(terms) if c not in summed)
    axes = tuple(order_of(term, summed) for term in terms)
    return axes, None if made == result else order_of(made, result)


def order_of(term: str, wanted: str) -> tuple[int, ...]:
    """The axes of an operand in the order of its labels among all."""
    return tuple(term.index(c) for c in wanted if c in term)


def new_axes(term: str, wanted: str) -> tuple[Any, ...]:
    """The index that gives an operand an axis for each label."""
    return tuple(slice(None) if c in term else None for c in wanted)
