"""Sizes, indices and counters as sums of multiples of integers that run time knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from srcad.ir import Value


class Symbol:
    """An integer that run time knows: a value, or the size of an axis of an array.

    Serial numbers put the terms of a sum in order.
    """

    __slots__ = ("axis", "is_positive", "serial", "value")

    def __init__(
        self, serial: int, value: Value, axis: int | None, *, is_positive: bool = False
    ) -> None:
        self.serial = serial
        self.value = value
        self.axis = axis
        self.is_positive = is_positive or axis is not None
        """Whether it is proven not to be negative: sizes are not."""

    def __repr__(self) -> str:
        return f"{self.value!r}" if self.axis is None else f"{self.value!r}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class Affine:
    """``const`` and a multiple of each symbol; equal if they are for all values of the symbols."""

    const: int
    terms: tuple[tuple[Symbol, int], ...] = ()
    """By the serial numbers of the symbols, without zeros."""

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.const + other, self.terms)
        counts = dict(self.terms)
        for symbol, count in other.terms:
            counts[symbol] = counts.get(symbol, 0) + count
        return Affine(self.const + other.const, _sorted(counts))

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other if isinstance(other, int) else other.times(-1))

    def times(self, factor: int) -> Affine:
        """Each part multiplied."""
        if factor == 0:
            return Affine(0)
        return Affine(self.const * factor, tuple((s, c * factor) for s, c in self.terms))

    def replaced(self, known: Mapping[Symbol, Affine]) -> Affine:
        """With other sums in place of symbols."""
        if not any(s in known for s, _ in self.terms):
            return self
        result = Affine(self.const)
        for symbol, count in self.terms:
            part = known.get(symbol)
            result += (
                Affine(0, ((symbol, count),)) if part is None else part.replaced(known).times(count)
            )
        return result

    def put(self, symbol: Symbol, other: Affine) -> Affine:
        """With another sum in place of one symbol, once."""
        count = dict(self.terms).get(symbol, 0)
        return self - Affine(0, ((symbol, count),)) + other.times(count)

    @property
    def is_known(self) -> bool:
        """Whether it is a number now."""
        return not self.terms

    @property
    def is_positive(self) -> bool:
        """Whether it is proven not to be negative."""
        return self.const >= 0 and all(c > 0 and s.is_positive for s, c in self.terms)

    @property
    def symbols(self) -> Iterable[Symbol]:
        """What it depends on."""
        return (s for s, _ in self.terms)


def only(symbol: Symbol) -> Affine:
    """A symbol as a sum."""
    return Affine(0, ((symbol, 1),))


def _sorted(counts: Mapping[Symbol, int]) -> tuple[tuple[Symbol, int], ...]:
    return tuple(sorted(((s, c) for s, c in counts.items() if c), key=lambda t: t[0].serial))


ONE = Affine(1)
Sizes = tuple[Affine, ...]
"""Of an array: one for each axis."""
