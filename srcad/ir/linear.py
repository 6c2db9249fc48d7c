"""Integers as sums of others: which sizes that a program computes are the same.

    n + 1  and  1 + n          one size, ``n + 1``
    x[:h]  where  h = n // 2   as long as h, since 2 h is at most n, the size of x
    z[h:2 * h]                 as long as h, if the arguments show that z has 3 h items

What is not a sum is a term of its own: a quotient, a product, an integer of the program.
"""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from srcad.ir.types import SMALLEST, Dim, Outcome, Piece, Size


class Relations(Protocol):
    """What holds between the sizes of the arguments; code that asks is for such arguments alone."""

    def count(self, whole: str, part: str) -> int | None:
        """How many times a size is another one."""

    def share(self, whole: str, by: int) -> str | None:
        """The size that goes so many times into another one."""


relations: ContextVar[Relations | None] = ContextVar("relations", default=None)
"""Those of the function that is being lowered."""


@dataclass(frozen=True, slots=True)
class Linear:
    """Terms, each so many times, and a number."""

    terms: frozenset[tuple[object, int]]
    number: int = 0

    def __add__(self, other: Linear) -> Linear:
        return self.plus(other, 1)

    def __sub__(self, other: Linear) -> Linear:
        return self.plus(other, -1)

    def plus(self, other: Linear, times: int) -> Linear:
        """The sum with a multiple of another."""
        found = Counter(dict(self.terms))
        for term, count in other.terms:
            found[term] += times * count
        return Linear(_terms(found), self.number + times * other.number)


@dataclass(frozen=True, slots=True)
class Quotient:
    """How often a number goes into an integer."""

    whole: Linear
    by: int


@dataclass(frozen=True, slots=True)
class Product:
    """Two integers, neither of which is a number known before, multiplied."""

    factors: frozenset[Linear]
    """One where both are the same."""


def _terms(counts: Counter[object]) -> frozenset[tuple[object, int]]:
    return frozenset((term, count) for term, count in counts.items() if count)


def constant(number: int) -> Linear:
    """A number."""
    return Linear(frozenset(), number)


def term(base: object) -> Linear:
    """An integer of which nothing else is known."""
    return Linear(frozenset({(base, 1)}))


def of_size(size: Size) -> Linear | None:
    """The size of an axis, exactly."""
    match size:
        case int():
            return constant(size)
        case Dim(base=base, drop=drop):
            whole = base if isinstance(base, Linear) else term(base)
            count = whole - constant(drop)
            return count if is_natural(count) else term(size)  # no sum says that it stops at 0
    return None


def to_size(count: Linear) -> Size:
    """The size of an axis with so many items, and with none if that is negative."""
    if not count.terms:
        return max(count.number, 0)
    base: object = Linear(count.terms)
    if len(count.terms) == 1:
        ((only, times),) = count.terms
        base = only if times == 1 else base
    return base if isinstance(base, Dim) and not count.number else Dim(base, -count.number)


def product(x: Linear, y: Linear) -> Linear:
    """The product of two."""
    for one, other in ((x, y), (y, x)):
        if not one.terms:
            return constant(0).plus(other, one.number)
    return term(Product(frozenset({x, y})))


def quotient(x: Linear, by: int) -> Linear:
    """``x // by``, of a positive number."""
    if all(count % by == 0 for _, count in x.terms):
        counts = Counter({base: count // by for base, count in x.terms})
        return Linear(_terms(counts), x.number // by)
    return term(Quotient(x, by))


def share(whole: Linear, by: int) -> Linear:
    """The same: a size with a name, where that is what the arguments are like."""
    known = relations.get()
    if known is not None and len(whole.terms) == 1 and not whole.number:
        ((base, count),) = whole.terms
        part = known.share(base, by) if isinstance(base, str) and count == 1 else None
        if part is not None:
            return term(part)
    return quotient(whole, by)


def related(whole: Linear, ends: tuple[Linear, ...]) -> Linear | None:
    """A size as a multiple of the one that the ends of a slice are multiples of."""
    known = relations.get()
    names = {base for e in (whole, *ends) for base, _ in e.terms}
    if known is None or len(names) != 2 or len(whole.terms) != 1 or whole.number:
        return None
    ((base, count),) = whole.terms
    (other,) = names - {base}
    if count != 1 or not isinstance(base, str) or not isinstance(other, str):
        return None
    times = known.count(base, other)
    return None if times is None else product(term(other), constant(times))


def is_natural(count: Linear) -> bool:
    """Whether it is proven not to be negative."""
    counts = Counter(dict(count.terms))
    for part in [t for t in counts if isinstance(t, Quotient) and counts[t] < 0]:
        # the whole is at least as many times the quotient as it was divided by
        ((base, one), *others) = part.whole.terms
        if not others and one == 1 and not part.whole.number and counts[base] > 0:
            counts[part] += counts.pop(base) * part.by
    if not all(times >= 0 and is_natural_term(base) for base, times in counts.items()):
        return False
    least = sum(times * SMALLEST for base, times in counts.items() if isinstance(base, str))
    return least + count.number >= 0


def is_natural_term(base: object) -> bool:
    """Whether a term is proven not to be negative: sizes are, integers of a program need not be."""
    match base:
        case str() | Dim() | Piece() | Outcome():
            return True
        case Linear():
            return is_natural(base)
        case Quotient(whole=whole):
            return is_natural(whole)
        case Product(factors=factors):
            return all(map(is_natural, factors))
    return False


def cut(whole: Linear, start: Linear, stop: Linear) -> Linear | None:
    """How much of an axis is between two ends that are proven to lie on it, in this order."""
    rising = (start, stop - start, whole - stop)
    return stop - start if all(map(is_natural, rising)) else None


def parts(count: object) -> tuple[object, ...]:
    """What a term, or a sum of them, is made of."""
    match count:
        case Linear(terms=terms):
            return tuple(base for base, _ in terms)
        case Quotient(whole=whole):
            return (whole,)
        case Product(factors=factors):
            return tuple(factors)
    return ()
