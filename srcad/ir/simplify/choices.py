"""Choices by one test, each 0 on one side: what the two sides of a choice hand back.

    where(t, a, 0) * x + where(t, 0, b) * y  |  where(t, a * x, b * y)
    where(t, a, 0) * x + where(t, b, 0) * y  |  where(t, a * x + b * y, 0)
    times(x, where(t, 1.0, 0))               |  where(t, x, 0)

The factors of a side matter only where it is chosen: there the values are the same, and elsewhere
an infinite one does no harm.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad import runtime
from srcad.ir.core import Apply, Atom, Literal, select
from srcad.ir.numbers import number_of

if TYPE_CHECKING:
    from srcad.ir.build import Builder

_DEPTH = 4
"""How many factors of a choice are looked through."""

Factors = Callable[[Atom], Atom]


def joined_choice(b: Builder, callee: Callable[..., Any], x: Atom, y: Atom) -> Atom | None:
    """A sum or difference of two choices by one test, as one."""
    left, right = _one_sided(b, x), _one_sided(b, y)
    if left is None or right is None:
        return None
    (first, factors_of_x), (second, factors_of_y) = left, right
    if first.callee is not second.callee or first.args[0] != second.args[0]:
        return None
    sides: list[Atom] = []
    for p, q in zip(first.args[1:], second.args[1:], strict=True):
        if _is_zero(p) and _is_zero(q):
            sides.append(p)
        elif _is_zero(q):
            sides.append(factors_of_x(p))
        elif _is_zero(p):
            made = factors_of_y(q)
            sides.append(b.apply(operator.neg, made) if callee is operator.sub else made)
        else:
            sides.append(b.apply(callee, factors_of_x(p), factors_of_y(q)))
    args = (first.args[0], *sides)
    if b.typed(first.callee, args) != b.typed(callee, (x, y)):
        return None
    return b.apply(first.callee, *args)


def chosen_factor(b: Builder, w: Atom, v: Atom) -> Atom | None:
    """``times(w, v)`` where ``v`` chooses between a number and 0."""
    op = _choice(b, v)
    if op is None or not any(map(_is_zero, op.args[1:])):
        return None
    if not all(isinstance(a, Literal) and number_of(a) is not None for a in op.args[1:]):
        return None
    args = (op.args[0], *(a if _is_zero(a) else b.apply(operator.mul, w, a) for a in op.args[1:]))
    if b.typed(op.callee, args) != b.typed(runtime.times, (w, v)):
        return None
    return b.apply(op.callee, *args)


def _one_sided(b: Builder, x: Atom, depth: int = _DEPTH) -> tuple[Apply, Factors] | None:
    """The choice with a side of 0 that an atom is a multiple of, and the other factors."""
    if (op := _choice(b, x)) is not None:
        return (op, lambda atom: atom) if any(map(_is_zero, op.args[1:])) else None
    op = b.recipe(x)
    if op is None or op.callee not in _CHOICE_AT or not depth:
        return None
    for k in _CHOICE_AT[op.callee]:
        if (found := _one_sided(b, op.args[k], depth - 1)) is not None:
            return found[0], _with_factor(b, op, k, found[1])
    return None


_CHOICE_AT: dict[Callable[..., Any], tuple[int, ...]] = {
    operator.mul: (0, 1),
    operator.neg: (0,),
    operator.truediv: (0,),
    runtime.times: (1,),
}
"""What is 0 where an argument is, and which arguments."""


def _with_factor(b: Builder, op: Apply, k: int, inner: Factors) -> Factors:
    return lambda atom: b.apply(op.callee, *op.args[:k], inner(atom), *op.args[k + 1 :])


def _choice(b: Builder, x: Atom) -> Apply | None:
    op = b.recipe(x)
    return op if op is not None and op.callee in (np.where, select) and len(op.args) == 3 else None


def _is_zero(atom: Atom) -> bool:
    return number_of(atom) == 0
