"""What a workload is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """A function, its arguments, and how fast its gradient ought to be."""

    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    """The arguments at a size."""
    size: int
    tiny: int
    """The size at which it is only seen that it runs."""
    argnums: tuple[int, ...]
    label: str = ""
    plain: float | None = None
    """The most that plain value and gradient may take, in units of the function."""
    njit: float | None = None
    """The most that compiled value and gradient may take, in units of the compiled function."""
    compiled: float | None = None
    """The same, in units of the function as it is."""
    jax: float = 1.0
    """How many times faster than JAX's the compiled ones ought to be."""
    autograd: float | None = None
    """How many times faster than autograd's the plain ones ought to be."""
    fastmath: bool = False

    @property
    def name(self) -> str:
        return self.label or self.function.__name__

    @property
    def code(self) -> Any:
        """What is the same for workloads that share generated code."""
        return self.function, self.argnums, self.fastmath

    @property
    def targets(self) -> dict[str, float]:
        """What it ought to be, by name, where something is asked for."""
        found = {k: getattr(self, k) for k in ("plain", "njit", "compiled", "jax", "autograd")}
        return {k: v for k, v in found.items() if v is not None}


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


def weights(*shape: int, seed: int = 0) -> Any:
    """Of a layer: what goes through it keeps its size."""
    return normal(*shape, seed=seed) / math.sqrt(shape[0])


def well_conditioned(n: int) -> Any:
    """A matrix with a large diagonal."""
    return normal(n, n) / math.sqrt(n) + 3.0 * np.eye(n)
