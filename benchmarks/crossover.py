"""Where the modes of a Jacobian cross over: from few inputs and many results to the reverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import srcad
from benchmarks import dual, tape
from benchmarks.engines import rebound
from benchmarks.timing import seconds_per_call

TARGET = 1.15
TITLE = "Jacobians of n inputs and m results: time over that of the function"

SHAPES = ((1, 100), (2, 50), (5, 20), (10, 10), (20, 5), (50, 2), (100, 1), (500, 1))
SQUARE = tuple((k, k) for k in range(1, 7))
TINY = ((1, 2), (2, 1))
METHODS = ("dual numbers", "tape", "jacfwd", "jacrev", "jacobian")


def chains(x: Any, w: Any) -> Any:
    """Sums of all inputs, each through twenty steps."""
    m, n = w.shape
    y = np.zeros(m)
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += w[j, i] * x[i]
        for _ in range(20):
            s = math.sin(s) + 0.5 * s
        y[j] = s
    return y


def listed(x: Any, w: Any) -> list[Any]:
    """The same for numbers that are not floats: with lists for arrays."""
    y = []
    for row in w:
        s = 0.0
        for a, b in zip(row, x, strict=True):
            s += a * b
        for _ in range(20):
            s = math.sin(s) + 0.5 * s
        y.append(s)
    return y


def arguments(n: int, m: int) -> tuple[Any, Any]:
    """A point and weights."""
    return np.cos(np.arange(n)), np.sin(1.0 + np.arange(m * n)).reshape(m, n) / n


def measure(rounds: int, budget: float, tiny: bool = False) -> dict[str, Any]:
    """Ratios by shape and method."""
    found: dict[str, Any] = {}
    for n, m in TINY if tiny else (*SHAPES, *SQUARE):
        compared = calls(*arguments(n, m))
        for first in compared:
            first()
        primal, *times = seconds_per_call(compared, rounds, budget)
        found[f"{n}, {m}"] = {k: t / primal for k, t in zip(METHODS, times, strict=True)}
    return found


def calls(x: Any, w: Any) -> list[Callable[[], Any]]:
    """The function, and its Jacobian by each of the methods."""
    numbers, weights = x.tolist(), w.tolist()

    def of_numbers(module: Any) -> Callable[[], Any]:
        f = rebound(listed, math=module.MATH)
        return lambda: module.jacobian(lambda x: f(x, weights), numbers)

    def of_arrays(transform: Any) -> Callable[[], Any]:
        jacobian = transform(chains)
        return lambda: jacobian(x, w)

    return [
        lambda: chains(x, w),
        of_numbers(dual),
        of_numbers(tape),
        *map(of_arrays, (srcad.jacfwd, srcad.jacrev, srcad.jacobian)),
    ]


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    head = f"{'n, m':>8}" + "".join(f"{method:>14}" for method in METHODS)
    rows = [
        f"{shape:>8}" + "".join(f"{ratios[method]:14.1f}" for method in METHODS)
        for shape, ratios in result.items()
    ]
    worst = max(r["jacobian"] / min(r["jacfwd"], r["jacrev"]) for r in result.values())
    said = f"jacobian takes at most {worst:.2f} of the better mode (target: {TARGET:g})"
    return [head, *rows, f"{said}; {crossing(result)}"]


def crossing(result: dict[str, Any]) -> str:
    """Where the reverse begins to cost less, among shapes with about n m = 100."""
    ahead = [shape for shape, r in result.items() if r["jacrev"] < r["jacfwd"]]
    return f"reverse mode costs less from (n, m) = ({ahead[0]}) on" if ahead else "forward is ahead"
