"""Where the modes of a Jacobian cross over: from few inputs and many results to the reverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import srcad
from benchmarks.timing import seconds_per_call
from srcad.testing import dual
from srcad.testing.reference import pull_back

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
    """The same for the oracles, which are not written in place."""
    y = []
    for j in range(w.shape[0]):
        s = 0.0
        for i in range(w.shape[1]):
            s += w[j, i] * x[i]
        for _ in range(20):
            s = math.sin(s) + 0.5 * s
        y.append(s)
    return y


def arguments(n: int, m: int) -> tuple[Any, Any]:
    """A point and weights."""
    return np.cos(np.arange(n)), np.sin(1.0 + np.arange(m * n)).reshape(m, n) / n


def measure(rounds: int, budget: float, tiny: bool = False) -> dict[str, Any]:
    """Ratios by shape and method; of the oracles, one sweep is timed and multiplied."""
    found: dict[str, Any] = {}
    transforms = (srcad.jacfwd, srcad.jacrev, srcad.jacobian)
    jacobians = [transform(chains) for transform in transforms]
    for n, m in TINY if tiny else (*SHAPES, *SQUARE):
        x, w = arguments(n, m)
        direction, ct = np.eye(n)[0], [1.0] + [0.0] * (m - 1)
        calls = [
            lambda x=x, w=w: chains(x, w),
            lambda x=x, w=w, d=direction: dual.jvp(lambda x: listed(x, w), (x,), (d,)),
            lambda x=x, w=w, ct=ct: pull_back(lambda x: listed(x, w), (x,), (0,), ct),
            *(lambda x=x, w=w, jacobian=jacobian: jacobian(x, w) for jacobian in jacobians),
        ]
        primal, by_dual, by_tape, *ours = seconds_per_call(calls, rounds, budget)
        times = (n * by_dual, m * by_tape, *ours)
        found[f"{n}, {m}"] = {k: t / primal for k, t in zip(METHODS, times, strict=True)}
    return found


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    head = f"{'n, m':>8}" + "".join(f"{method:>14}" for method in METHODS)
    rows = [
        f"{shape:>8}" + "".join(f"{ratio:14.1f}" for ratio in ratios.values())
        for shape, ratios in result.items()
    ]
    worst = max(r["jacobian"] / min(r["jacfwd"], r["jacrev"]) for r in result.values())
    said = f"jacobian takes at most {worst:.2f} of the better mode (target: {TARGET:g})"
    return [head, *rows, f"{said}; {crossing(result)}"]


def crossing(result: dict[str, Any]) -> str:
    """Where the reverse begins to cost less, among shapes with about n m = 100."""
    ahead = [shape for shape, r in result.items() if r["jacrev"] < r["jacfwd"]]
    return f"reverse mode costs less from (n, m) = ({ahead[0]}) on" if ahead else "forward is ahead"
