"""What indices and other views show of an array, and what has to hold for that.

u[1:-1] of size n          elements 1 + i, for n - 2 >= 0
u[k] of size n             element k, for n - 1 >= k >= 0
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from srcad.analysis.affine import ONE, Affine, Sizes
from srcad.backends.loops import views
from srcad.backends.loops.known import Check, Known, Several, shape_of
from srcad.backends.loops.views import Along, Picture
from srcad.ir import Apply, Atom, Literal
from srcad.ir.core import make_tuple
from srcad.ir.types import Number


class Answers(Protocol):
    """What has to be known of a function to tell what an index shows."""

    checked: bool
    """Whether indices that are numbers are known to be right."""

    def known(self, atom: Atom) -> Known:
        """What is known of an atom."""

    def integer(self, atom: Atom) -> Affine | None:
        """An integer as a sum."""

    def definition(self, atom: Atom) -> Apply | None:
        """The call that makes a value."""

    def settled(self, size: Affine) -> Affine:
        """The same size in the least number of symbols."""

    def is_positive(self, size: Affine) -> bool:
        """Whether a sum is proven not to be negative."""

    def require(self, check: Check) -> bool:
        """Assume something, unless it is proven; whether that is allowed."""


def picture(
    answers: Answers, callee: Callable[..., Any], args: tuple[Atom, ...], base: Sizes
) -> Picture | None:
    rank = len(base)
    if callee is operator.getitem:
        return indexed(answers, args[0], base)
    if callee in (np.transpose, np.ndarray.transpose, np.ndarray.T) and not args:
        return views.transposed(base, tuple(range(rank))[::-1])
    if callee in (np.transpose, np.swapaxes, np.moveaxis, np.squeeze):
        given = [a.value for a in args if isinstance(a, Literal)]
        return _rearranged(callee, given, base) if given and len(given) == len(args) else None
    if callee is np.expand_dims and isinstance(args[0], Literal):
        axis = args[0].value
        if isinstance(axis, int) and -rank - 1 <= axis <= rank:
            place = axis % (rank + 1)
            sizes = (*base[:place], ONE, *base[place:])
            kept = [k for k in range(rank + 1) if k != place]
            return Picture(sizes, tuple(Along(k, 1, Affine(0)) for k in kept))
    if callee is np.broadcast_to:
        wanted = answers.known(args[0])
        to = shape_of(wanted) if isinstance(wanted, Several) else None
        if to is not None:
            settled = answers.settled
            return views.broadcast(tuple(map(settled, base)), tuple(map(settled, to)))
    return None


def _rearranged(callee: Callable[..., Any], given: list[Any], base: Sizes) -> Picture | None:
    """A view with the axes in another order, or without some of size 1."""
    rank = len(base)
    numbers = [tuple(g) if isinstance(g, (tuple, list)) else (g,) for g in given]
    if not all(isinstance(k, int) and -rank <= k < rank for part in numbers for k in part):
        return None
    axes = [tuple(k % rank for k in part) for part in numbers]
    order = list(range(rank))
    if callee is np.squeeze:
        if len(axes) != 1 or not all(base[k] == ONE for k in axes[0]):
            return None
        left = [k for k in order if k not in axes[0]]
        return Picture(
            tuple(base[k] for k in left),
            tuple(
                Along(None, 0, Affine(0)) if k in axes[0] else Along(left.index(k), 1, Affine(0))
                for k in order
            ),
        )
    if callee is np.transpose:
        return views.transposed(base, axes[0]) if sorted(axes[0]) == order else None
    if len(axes) != 2 or any(len(part) != 1 for part in axes):
        return None
    (one,), (other,) = axes
    if callee is np.swapaxes:
        order[one], order[other] = order[other], order[one]
    else:
        order.remove(one)
        order.insert(other, one)
    return views.transposed(base, tuple(order))


def indexed(
    answers: Answers, index: Atom, base: Sizes, *, from_start: bool = False
) -> Picture | None:
    """What an index shows of an array of some sizes.

    A number that may be negative, and count from the end, shows nothing that is known; it is
    assumed not to be if indices count ``from_start``.
    """
    made = answers.definition(index)
    parts: list[Atom]
    if isinstance(index, Literal) and isinstance(index.value, tuple):
        parts = [Literal(v) for v in index.value]
    elif made is not None and made.callee is make_tuple:
        parts = list(made.args)
    else:
        parts = [index]
    used = sum(not _is_new_axis(p) and not _is_ellipsis(p) for p in parts)
    if used > len(base):
        return None
    rest: list[Atom] = [Literal(slice(None))] * (len(base) - used)
    places = [k for k, p in enumerate(parts) if _is_ellipsis(p)]
    if len(places) > 1:
        return None
    place = places[0] if places else len(parts)
    parts = [*parts[:place], *rest, *parts[place + 1 :]]
    sizes: list[Affine] = []
    indices: list[Along] = []
    for part in parts:
        if _is_new_axis(part):
            sizes.append(ONE)
            continue
        size = base[len(indices)]
        found = _part(answers, part, size, len(sizes), from_start)
        if found is None:
            return None
        along, length = found
        indices.append(along)
        if length is not None:
            sizes.append(length)
    return Picture(tuple(sizes), tuple(indices))


def _part(
    answers: Answers, part: Atom, size: Affine, axis: int, from_start: bool
) -> tuple[Along, Affine | None] | None:
    """The index for one axis, and the size of the axis of the view that it makes, if any."""
    made = answers.definition(part)
    if isinstance(part, Literal) and isinstance(part.value, slice):
        bounds: list[Atom] = [Literal(v) for v in (part.value.start, part.value.stop)]
        step = part.value.step
    elif made is not None and made.callee is slice:
        bounds = [*made.args[:2]] if len(made.args) > 1 else [Literal(None), *made.args]
        last = made.args[2] if len(made.args) > 2 else Literal(None)
        if not isinstance(last, Literal):
            return None
        step = last.value
    else:
        place = answers.integer(part) if is_int(part) else None
        if place is None:
            return None
        if place.is_known and place.const < 0:
            place = size + place.const
        if not answers.is_positive(place) and not (
            from_start and answers.require(Check(place, False, Affine(0)))
        ):
            return None
        if not answers.checked and not answers.require(Check(size - 1, False, place)):
            return None
        return Along(None, 0, place), None
    ends = [None if is_none(b) else _end(answers, b, size) for b in bounds]
    if any(e is None and not is_none(b) for e, b in zip(ends, bounds, strict=True)):
        return None
    if step == -1 and ends == [None, None]:
        return Along(axis, -1, size - 1), size
    if step not in (None, 1):
        return None
    start = ends[0] or Affine(0)
    stop = size if ends[1] is None else ends[1]
    bounds_hold = (
        Check(start, False, Affine(0)),
        Check(stop, False, start),
        Check(size, False, stop),
    )
    if not all(map(answers.require, bounds_hold)):
        return None
    return Along(axis, 1, start), stop - start


def _end(answers: Answers, bound: Atom, size: Affine) -> Affine | None:
    """One end of a slice."""
    place = answers.integer(bound) if is_int(bound) else None
    if place is not None and place.is_known and place.const < 0:
        return size + place.const
    return place


def is_int(atom: Atom) -> bool:
    """Whether an atom is an integer."""
    if isinstance(atom, Literal):
        return isinstance(atom.value, (int, np.integer)) and not isinstance(atom.value, bool)
    return isinstance(atom.type, Number) and atom.type.kind == "int"


def is_none(atom: Atom) -> bool:
    """Whether an atom is None."""
    return isinstance(atom, Literal) and atom.value is None


_is_new_axis = is_none


def _is_ellipsis(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is Ellipsis
