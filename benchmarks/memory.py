"""Loops that write into arrays: gradient over primal, and the memory kept for the reverse sweep."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcad
from benchmarks.timing import seconds_per_call

TARGET = 5.0
TITLE = "arrays written in place"


def heat(u0: Any, steps: int) -> Any:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def gauss_seidel(f: Any, sweeps: int) -> Any:
    n = f.shape[0]
    u = np.zeros((n + 2, n + 2))
    for _ in range(sweeps):
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.25 * (around + f[i - 1, j - 1])
    return np.sum(u**2)


def triangular_solve(a: Any, b: Any) -> Any:
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - np.dot(a[i, :i], x[:i])) / a[i, i]
    return np.sum(x**2)


def cholesky(a: Any) -> Any:
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = np.sqrt(s) if i == j else s / l[j, j]
    return np.sum(l)


def lu(a: Any) -> Any:
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a**2)


def _vector(n: int) -> Any:
    return np.cos(np.arange(n))


def _matrix(n: int) -> Any:
    """Symmetric, and positive definite by its diagonal."""
    return np.cos(np.add.outer(np.arange(n), np.arange(n))) + n * np.eye(n)


@dataclass(frozen=True)
class Loop:
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    """The arguments at a size."""
    sizes: tuple[int, int]
    """The second is the one whose time is measured; the memory is measured at both."""
    argnums: tuple[int, ...] = (0,)
    what: str = "n"


LOOPS = (
    Loop(heat, lambda steps: (_vector(1000), steps), (50, 100), what="steps"),
    Loop(gauss_seidel, lambda n: (_matrix(n), 2), (20, 40)),
    Loop(triangular_solve, lambda n: (_matrix(n), _vector(n)), (50, 100), (0, 1)),
    Loop(cholesky, lambda n: (_matrix(n),), (15, 30)),
    Loop(lu, lambda n: (_matrix(n),), (20, 40)),
)
TINY = (3, 4)


def measure(rounds: int, budget: float, tiny: bool = False) -> dict[str, Any]:
    """For each loop: the time of primal and gradient, and the peak memory of both, in bytes."""
    return {loop.function.__name__: _measured(loop, rounds, budget, tiny) for loop in LOOPS}


def _measured(loop: Loop, rounds: int, budget: float, tiny: bool) -> dict[str, Any]:
    f = loop.function
    gradient = srcad.value_and_grad(f, argnums=loop.argnums)
    sizes = TINY if tiny else loop.sizes
    memory = {}
    for size in sizes:
        args = loop.arguments(size)
        gradient(*args)  # compiled, and not counted
        memory[size] = {
            "primal": peak(f, *map(np.copy, args[:1]), *args[1:]),
            "gradient": peak(gradient, *args),
        }
    args = loop.arguments(sizes[-1])
    # The function gets an array of its own: the LU factorisation writes into it.
    primal, reverse = seconds_per_call(
        [lambda: f(np.copy(args[0]), *args[1:]), lambda: gradient(*args)], rounds, budget
    )
    return {
        "target": TARGET,
        "what": loop.what,
        "primal": primal,
        "gradient": reverse,
        "ratio": reverse / primal,
        "peak bytes": memory,
    }


def peak(f: Callable[..., Any], *args: Any) -> int:
    """The most memory that a call has at one time, besides its arguments, in bytes."""
    return peak_and_result(f, *args)[0]


def peak_and_result(f: Callable[..., Any], *args: Any) -> tuple[int, int]:
    """The most memory that a call has at one time, and how much of it its result has."""
    f(*args)
    args = tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in args)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = f(*args)
        after, most = tracemalloc.get_traced_memory()
        del result
        return most - before, after - before
    finally:
        tracemalloc.stop()


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    text = [f"{'ratio':>6}  (target: {TARGET:g} at most); peak memory in kB, gradient / primal"]
    for name, found in result.items():
        peaks = "; ".join(
            f"{found['what']} = {size}: {p['gradient'] / 1e3:.1f} / {p['primal'] / 1e3:.1f}"
            for size, p in found["peak bytes"].items()
        )
        text.append(f"{found['ratio']:6.2f}  {name}: {peaks}")
    return text
