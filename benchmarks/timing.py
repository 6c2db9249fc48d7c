"""Timing in turns, by the time of the processor: what other programs take of it does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

Call = Callable[[], Any]

SLOW = 0.5
"""Seconds. A call that takes longer has a single turn."""
BRIEF = 0.05
"""Seconds. A call that takes longer pays for new memory by itself."""


def seconds_per_call(calls: Sequence[Call], rounds: int, budget: float) -> list[float]:
    """The time of each call, as the best of `rounds` turns of about `budget` seconds each.

    The best is what the code costs where nothing else wants the caches: the memory that the others
    have left is made its own by a call before each turn.
    """
    loops = [_loops(call, budget) for call in calls]
    best = [float("inf")] * len(calls)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for k, (call, (count, warmed)) in enumerate(zip(calls, loops, strict=True)):
                if turn and best[k] > SLOW:
                    continue
                if warmed:
                    call()
                best[k] = min(best[k], _timed(call, count) / count)
            gc.collect()
    finally:
        if enabled:
            gc.enable()
    return best


def _loops(call: Call, budget: float) -> tuple[int, bool]:
    """How often to call in a turn, and whether there is a call before it."""
    taken, count = _timed(call, 1), 1
    if taken > BRIEF:
        return max(1, round(budget / taken)), False
    while (taken := _timed(call, count)) < budget / 4:
        count *= 2
    return max(1, round(count * budget / taken)), True


def _timed(call: Call, count: int) -> float:
    loop = range(count)
    start = time.process_time()
    for _ in loop:
        call()
    return time.process_time() - start
