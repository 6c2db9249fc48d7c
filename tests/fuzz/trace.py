"""What a run decided: each comparison of floats, with its distance from the threshold.

Traced programs call these methods where plain ones compare. A derivative is only compared
when every decision has a margin, and finite differences only use runs that decide alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trace:
    """The decisions of one run, in order, and the smallest margin of them."""

    def __init__(self) -> None:
        self.margin = np.inf
        self.decisions: list[Any] = []

    def _note(self, distance: Any, decision: Any) -> None:
        # A distance of exactly zero is that of a thing from itself, in most cases. Where it is
        # not, the runs beside this one decide otherwise, and the oracle refuses.
        apart = np.abs(np.asarray(distance)[np.not_equal(distance, 0)])
        if apart.size:
            self.margin = min(self.margin, float(np.min(apart)))
        self.decisions.append(np.asarray(decision).tolist())

    def less(self, a: Any, b: Any) -> Any:
        result = np.less(a, b) if np.ndim(a) or np.ndim(b) else bool(a < b)
        self._note(np.subtract(a, b), result)
        return result

    def absolute(self, x: Any) -> Any:
        self.less(x, 0.0)
        return np.abs(x)

    def clip(self, x: Any, low: float, high: float) -> Any:
        self.less(x, low)
        self.less(x, high)
        return np.clip(x, low, high)

    def maximum(self, a: Any, b: Any) -> Any:
        self.less(a, b)
        return np.maximum(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        self.less(a, b)
        return np.minimum(a, b)

    def largest(self, *items: Any) -> Any:
        self.ordered(items)
        return max(items)

    def smallest(self, *items: Any) -> Any:
        self.ordered(items)
        return min(items)

    def top(self, array: Any) -> Any:
        self.ordered(np.ravel(array))
        return np.max(array)

    def ordered(self, items: Any) -> list[Any]:
        values = list(items)
        order = sorted(range(len(values)), key=lambda k: values[k])
        self._note(np.diff([values[k] for k in order]), order)
        return [values[k] for k in order]

    def modulo(self, x: Any, period: float) -> Any:
        quotient = x / period
        self._note(quotient - np.round(quotient), int(np.floor(quotient)))
        return x % period

    def rounded(self, x: Any) -> Any:
        nearest = round(float(x))
        self._note(abs(x - nearest) - 0.5, nearest)
        return x - nearest

    def integer(self, x: Any) -> int:
        size = abs(x)
        self._note(size - np.round(size), int(size))
        return int(size)
