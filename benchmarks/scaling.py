"""How gradient over primal goes with size, and what a step keeps for the reverse sweep."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import srcad
from benchmarks.comparing import compare_all, uncached
from benchmarks.memory import peak_and_result
from benchmarks.tables import figure, table
from benchmarks.workloads import Workload
from benchmarks.workloads.arrays import heat
from benchmarks.workloads.loops import chain, lotka_volterra, rosenbrock
from benchmarks.workloads.workload import normal, uniform
from srcad.report import explain

TITLE = "gradient over primal by size: n numbers, or n steps of a loop"

SIZES = (10, 100, 1000, 10_000, 100_000)
TINY = (2, 4)
STEPS = (5_000, 10_000)
"""At these the memory is measured: more than the free tuples that CPython keeps for later."""
ENGINES = ("primal", "plain", "numba", "njit")
PAIRS = (("plain", "primal"), ("numba", "njit"))


@dataclass(frozen=True)
class Series:
    """A function at sizes."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    argnums: tuple[int, ...] = (0,)
    width: int = 0
    """The length of its arrays, if it has any."""


def _numbers(n: int) -> tuple[Any, ...]:
    return (uniform(0.1, 1.0, n).tolist(),)


SERIES = (
    Series("chain, n numbers", chain, _numbers),
    Series("rosenbrock, n numbers", rosenbrock, _numbers),
    Series(
        "lotka_volterra, n steps",
        lotka_volterra,
        lambda steps: (1.1, 0.4, 0.4, 0.1, 0.001, steps),
        (0, 1, 2, 3),
    ),
    Series("heat, n steps, 100 points", heat, lambda steps: (normal(100), 0.2, steps), (0, 1), 100),
)


def measure(
    rounds: int, budget: float, tiny: bool = False, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Ratios by series, pair of engines and size; bytes of a step, as said and as measured."""
    engines = [name for name in ENGINES if name not in without]
    found: dict[str, Any] = {}
    for series in SERIES:
        workloads = [
            Workload(series.function, series.arguments, n, n, series.argnums, label=str(n))
            for n in (TINY if tiny else SIZES)
        ]
        records = compare_all(workloads, engines, rounds, budget)["workloads"]
        found[series.name] = {
            "ratios": _by_pair(records),
            "bytes": _bytes_of_a_step(series, *(TINY if tiny else STEPS)),
        }
    return found


def _by_pair(records: dict[str, Any]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for over, under in PAIRS:
        for size, record in records.items():
            seconds = record["seconds"]
            if over in seconds and under in seconds and over not in record["wrong"]:
                ratio = seconds[over] / seconds[under]
                found.setdefault(f"{over}/{under}", {})[size] = ratio
    return found


def _bytes_of_a_step(series: Series, fewer: int, more: int) -> dict[str, float]:
    """What the explanation says of a step, and how much more memory more steps take."""
    gradient = srcad.value_and_grad(series.function, argnums=series.argnums)
    args = series.arguments(more)
    with uncached():
        names = inspect.signature(series.function).parameters
        function = gradient.lowered_for(tuple(zip(names, args, strict=True)), ())
        said = 0.0
        for loop in explain(function).loops:
            said += loop.fixed + sum(_evaluated(size, series.width) for size in loop.sizes)
        used = [_used(gradient, series.arguments(n)) for n in (fewer, more)]
    return {"said": said, "measured": (used[1] - used[0]) / (more - fewer)}


def _used(gradient: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """What a call has in memory besides its result."""
    most, result = peak_and_result(gradient, *args)
    return most - result


def _evaluated(size: str, n: int) -> float:
    """The value of an expression like `8*(n - 2)`."""
    return float(eval(size, {"__builtins__": {}}, {"n": n}))


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    rows = []
    sizes: list[str] = []
    for name, found in result.items():
        for pair, ratios in found["ratios"].items():
            sizes = list(ratios)
            flat = max(ratios.values()) / min(ratios.values())
            rows.append([f"{name}: {pair}", *map(figure, ratios.values()), figure(flat)])
    text = table(["n numbers, n steps", *sizes, "largest/smallest"], rows)
    kept = [
        [name, f"{found['bytes']['said']:.0f}", f"{found['bytes']['measured']:.0f}"]
        for name, found in result.items()
    ]
    return [*text, "", *table(["bytes of a step", "as explained", "measured"], kept)]
