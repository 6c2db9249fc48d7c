"""A workload by several engines: checked against srcad's plain code, then timed in turns."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.engines import ENGINES, NEEDS, is_installed
from benchmarks.timing import seconds_per_call
from benchmarks.workloads import Workload

RTOL = 1e-6
"""How far values and gradients may be apart, of their own size or a thousandth of the largest."""

Record = dict[str, Any]


def compare_all(
    workloads: Sequence[Workload],
    engines: Sequence[str],
    rounds: int,
    budget: float,
    tiny: bool = False,
) -> Record:
    """What was found for each workload, and which engines could not take part."""
    there = [name for name in engines if is_installed(name)]
    records: dict[str, Record] = {}
    compiled: set[Any] = set()
    with uncached(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up(there)
        for workload in workloads:
            _say(workload.name)
            found = compare(workload, there, rounds, budget, tiny)
            if workload.code in compiled:
                found["first call"] = {}  # it was not the first
            compiled.add(workload.code)
            records[workload.name] = {**found, "targets": workload.targets}
    _say("")
    missing = sorted({NEEDS[name] for name in engines if name not in there})
    return {"workloads": records, "not installed": missing}


def _say(name: str) -> None:
    """What is measured now, over what was there before."""
    if sys.stderr.isatty():
        print(f"\r\033[K{name}", end="", file=sys.stderr, flush=True)


def compare(
    workload: Workload, engines: Sequence[str], rounds: int, budget: float, tiny: bool = False
) -> Record:
    """Seconds of a call and of what the first call takes more; who refuses why, and who is wrong.

    The first of the engines is the function alone, the second gives the gradients that are right.
    """
    args = workload.arguments(workload.tiny if tiny else workload.size)
    runs, first, refused, wrong = {}, {}, {}, []
    right: tuple[Any, Any] | None = None
    for name in engines:
        start = time.process_time()
        try:
            run = ENGINES[name](workload, args)
            value, gradients = run()
        except Exception as error:  # whatever a package raises for what it cannot do
            refused[name] = reason(error)
            continue
        first[name] = time.process_time() - start
        if gradients is not None and right is None:
            right = value, gradients
        elif not agree(value, gradients, right):
            wrong.append(name)
        runs[name] = run
    seconds = seconds_per_call(list(runs.values()), rounds, budget)
    times = dict(zip(runs, seconds, strict=True))
    return {
        "seconds": times,
        "first call": {name: max(0.0, first[name] - times[name]) for name in runs},
        "refused": refused,
        "wrong": wrong,
    }


def agree(value: Any, gradients: Any, right: tuple[Any, Any] | None) -> bool:
    """Whether value and gradients are what they ought to be, as far as either is there."""
    if right is None:
        return True
    found, wanted = [flat(value)], [flat(right[0])]
    if gradients is not None:
        found.append(flat(gradients))
        wanted.append(flat(right[1]))
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=RTOL, atol=1e-3 * RTOL * np.max(np.abs(b)))
        for a, b in zip(found, wanted, strict=True)
    )


def flat(x: Any) -> Any:
    """All numbers of arrays, tuples and lists in one array."""
    if isinstance(x, (tuple, list)):
        return np.concatenate([flat(part) for part in x])
    return np.asarray(x, dtype=float).ravel()


def reason(error: Exception) -> str:
    """One line that says why an engine has refused."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in")]
    if lines and lines[0].endswith(":"):
        lines[0] = " ".join(lines[:2])
    text = re.sub(r" at 0x[0-9a-f]+", "", ": ".join([type(error).__name__, *lines[:1]]))
    return text if len(text) <= 120 else text[:117] + "..."


@contextlib.contextmanager
def uncached() -> Iterator[None]:
    """Nothing that srcad generates is written to files or read from them."""
    before = os.environ.get("SRCAD_CACHE_DIR")
    os.environ["SRCAD_CACHE_DIR"] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SRCAD_CACHE_DIR"]
        else:
            os.environ["SRCAD_CACHE_DIR"] = before


def _product(x: float, y: float) -> float:
    return x * y


def _warm_up(engines: Sequence[str]) -> None:
    """What the first use of a package takes is not counted."""
    trivial = Workload(_product, lambda n: (2.0, 3.0), 1, 1, (0, 1))
    for name in engines:
        ENGINES[name](trivial, (2.0, 3.0))()
