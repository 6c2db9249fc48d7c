"""What a call of compiled code costs besides the code itself, beside JAX and autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcad
from benchmarks.engines import ENGINES, is_installed
from benchmarks.scalar import compiled_code
from benchmarks.timing import seconds_per_call
from benchmarks.workloads import Workload

TITLE = "dispatch"


def product(x: float, y: float) -> float:
    return x * y


def inner(x: Any, y: Any) -> Any:
    return np.sum(x * y)


CALLS = {
    "two floats": (product, (2.0, 3.0), 0.3e-6),
    "two arrays": (inner, (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.2, 0.1])), 0.5e-6),
}
"""Functions, their arguments, and the most that a call may take besides the code."""
PEERS = ("jax", "autograd")


def measure(rounds: int, budget: float, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The seconds of a call, of the generated code alone, the difference; and of others' calls."""
    peers = [name for name in PEERS if name not in without and is_installed(name)]
    found: dict[str, Any] = {}
    for name, (function, args, target) in CALLS.items():
        x, y = args
        gradient = srcad.value_and_grad(function, argnums=(0, 1))
        gradient(x, y)  # there is no code before
        code, _ = compiled_code(gradient, args, {})
        workload = Workload(function, lambda n: (), 1, 1, (0, 1))
        others = [ENGINES[peer](workload, args) for peer in peers]
        calls = [_call(gradient, x, y), _call(code, x, y), *others]
        for first in calls:
            first()
        call, alone, *theirs = seconds_per_call(calls, rounds, budget)
        found[name] = {
            "target": target,
            "dispatch": call - alone,
            "call": call,
            "code": alone,
            "peers": dict(zip(peers, theirs, strict=True)),
        }
    return found


def _call(f: Callable[[Any, Any], Any], x: Any, y: Any) -> Callable[[], Any]:
    return lambda: f(x, y)


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    text = []
    for name, found in result.items():
        peers = "".join(f"; {peer}: {s * 1e6:.1f} µs" for peer, s in found["peers"].items())
        text.append(
            f"{found['dispatch'] * 1e6:6.3f} µs  for {name} (target: {found['target'] * 1e6:g} µs "
            f"at most), in a call of {found['call'] * 1e6:.3f} µs{peers}"
        )
    return text
