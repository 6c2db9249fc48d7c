"""Timing in turns, by the time of the processor: what other programs take of it does not count."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

Call = Callable[[], Any]

SLOW = 0.5
"""Seconds. A call that takes longer has a single turn."""


def seconds_per_call(calls: Sequence[Call], rounds: int, budget: float) -> list[float]:
    """The time of each call, as the best of `rounds` turns of about `budget` seconds each.

    The best is what the code costs where nothing else wants the caches.
    """
    loops = [_loops(call, budget) for call in calls]
    best = [float("inf")] * len(calls)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for k, (call, count) in enumerate(zip(calls, loops, strict=True)):
                if turn and best[k] > SLOW:
                    continue
                best[k] = min(best[k], _timed(call, count) / count)
            gc.collect()
    finally:
        if enabled:
            gc.enable()
    return best


def _loops(call: Call, budget: float) -> int:
    count = 1
    while (taken := _timed(call, count)) < budget / 4:
        count *= 2
    return max(1, round(count * budget / taken))


def _timed(call: Call, count: int) -> float:
    loop = range(count)
    start = time.process_time()
    for _ in loop:
        call()
    return time.process_time() - start
