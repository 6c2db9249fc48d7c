"""What a call of compiled code costs besides the code itself, for two floats."""

from __future__ import annotations

from typing import Any

import srcad
from benchmarks.scalar import compiled_code
from benchmarks.timing import seconds_per_call

TARGET = 0.5e-6
TITLE = "dispatch"


def product(x: float, y: float) -> float:
    return x * y


def measure(rounds: int, budget: float) -> dict[str, Any]:
    """The seconds of a call, of the generated code alone, and the difference."""
    gradient = srcad.grad(product, argnums=(0, 1))
    gradient(2.0, 3.0)
    code, _ = compiled_code(gradient, (2.0, 3.0), {})
    call, alone = seconds_per_call(
        [lambda: gradient(2.0, 3.0), lambda: code(2.0, 3.0)], rounds, budget
    )
    return {"target": TARGET, "dispatch": call - alone, "call": call, "code": alone}


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    return [
        f"{result['dispatch'] * 1e6:6.3f} µs  for two floats (target: {TARGET * 1e6:g} µs at "
        f"most), in a call of {result['call'] * 1e6:.3f} µs"
    ]
