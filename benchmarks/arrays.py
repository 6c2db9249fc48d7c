"""Code on arrays, and kernels that write into arrays: plain, compiled, beside other packages."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.comparing import compare_all
from benchmarks.engines import is_installed, numba
from benchmarks.tables import Ratio, figure, first_calls, ratios, refusals
from benchmarks.timing import seconds_per_call
from benchmarks.workloads import ARRAYS, WRITTEN

TITLE = "arrays: value and gradient, times over times"

ENGINES = ("primal", "plain", "numba", "njit", "jax", "autograd")
KINDS = {"whole arrays": ARRAYS, "written in place": WRITTEN}
COLUMNS = (
    Ratio("plain", "primal", "plain"),
    Ratio("numba", "primal", "compiled"),
    Ratio("numba", "njit"),
    Ratio("autograd", "plain", "autograd"),
    Ratio("jax", "plain"),
    Ratio("jax", "numba", "jax"),
)
MEANS = {"whole arrays": {"autograd": 4.0, "jax": 1.0}, "written in place": {"jax": 3.0}}
"""Targets of geometric means."""
BANDWIDTH = 2.0
"""The most that the cheap operations may take, in units of a copy of their argument."""


def measure(
    rounds: int, budget: float, tiny: bool = False, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What was found for each workload, by kind."""
    engines = [name for name in ENGINES if name not in without]
    result: dict[str, Any] = {
        kind: compare_all(workloads, engines, rounds, budget, tiny)
        for kind, workloads in KINDS.items()
    }
    if "numba" in engines and is_installed("numba"):
        result["copies"] = _copies(rounds, budget, tiny)
    return result


def _copies(rounds: int, budget: float, tiny: bool) -> float:
    """What the gradient of cheap operations takes, in copies of the argument: read, and write."""
    (workload,) = [w for w in ARRAYS if w.fastmath]
    args = workload.arguments(workload.tiny if tiny else workload.size)
    (x,) = args
    out = np.empty_like(x)
    gradient, copy = seconds_per_call(
        [numba(workload, args), lambda: np.copyto(out, x)], rounds, budget
    )
    return gradient / copy


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    text = []
    every: dict[str, Any] = {}
    for kind in KINDS:
        records = result[kind]["workloads"]
        text += [*ratios(kind, records, COLUMNS, MEANS[kind]), ""]
        every |= records
    if "copies" in result:
        text += [
            f"ten_cheap, fastmath takes as long as {figure(result['copies'])} copies of its array "
            f"(target: {BANDWIDTH:g} at most)",
            "",
        ]
    return [
        *text,
        *first_calls(every, ("plain", "numba", "njit", "jax")),
        *refusals(every),
        *(f"{package} is not installed" for package in result["whole arrays"]["not installed"]),
    ]
