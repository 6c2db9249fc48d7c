"""Where a generator's decisions come from: a seeded generator, or a Hypothesis draw.

Every decision is one small integer, and zero is always the plainest choice, so that Hypothesis
shrinks towards plain programs.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Choices(ABC):
    """A stream of decisions."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""

    def pick(self, items: Sequence[T]) -> T:
        return items[self.integer(0, len(items) - 1)]

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) >= 100 - percent

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        """An item, with probability in proportion to its weight; the first is the plainest."""
        mark = self.integer(0, sum(weight for weight, _ in items) - 1)
        for weight, item in items:
            if mark < weight:
                return item
            mark -= weight
        raise AssertionError("weights do not add up")

    def real(self, low: float, high: float, digits: int = 2) -> float:
        """A decimal number with few digits, so that programs stay readable."""
        steps: int = 10**digits
        return float(round(low + (high - low) * self.integer(0, steps) / steps, digits))


class SeededChoices(Choices):
    """Decisions that follow from a seed alone, whatever the hash seed or the platform."""

    def __init__(self, *seed: int) -> None:
        self._random = random.Random(":".join(str(part) for part in seed))

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class DrawnChoices(Choices):
    """Decisions drawn from a Hypothesis `data` object."""

    def __init__(self, data: Any) -> None:
        from hypothesis import strategies

        self._data = data
        self._integers = strategies.integers

    def integer(self, low: int, high: int) -> int:
        value: int = self._data.draw(self._integers(low, high))
        return value
