"""Loops over numbers: plain, compiled by Numba, and beside a tape, JAX and autograd."""

from __future__ import annotations

from typing import Any

from benchmarks.comparing import compare_all
from benchmarks.tables import Ratio, first_calls, ratios, refusals
from benchmarks.workloads import LOOPS

TITLE = "loops over numbers: value and gradient, times over times"

ENGINES = ("primal", "plain", "tape", "numba", "njit", "jax", "autograd")
COLUMNS = (
    Ratio("plain", "primal", "plain"),
    Ratio("tape", "primal"),
    Ratio("numba", "njit", "njit"),
    Ratio("jax", "numba", "jax"),
    Ratio("autograd", "plain"),
)
MEANS = {"jax": 10.0}
"""Targets of geometric means."""


def measure(
    rounds: int, budget: float, tiny: bool = False, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What was found for each workload."""
    engines = [name for name in ENGINES if name not in without]
    return compare_all(LOOPS, engines, rounds, budget, tiny)


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    records = result["workloads"]
    return [
        *ratios("loops", records, COLUMNS, MEANS),
        "",
        *first_calls(records, ("plain", "numba", "njit", "jax")),
        *refusals(records),
        *(f"{package} is not installed" for package in result["not installed"]),
    ]
