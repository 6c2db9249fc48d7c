"""What is under test: srcad itself, and two engines that prove the harness.

An engine answers for a loaded program in the structure of its arguments.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tests.fuzz import oracle
from tests.fuzz.tree import Program


@dataclass(frozen=True, slots=True)
class Case:
    """A program whose plain text was imported from a real file."""

    program: Program
    text: str
    function: Callable[..., Any]

    def args(self) -> tuple[Any, ...]:
        """The arguments, fresh: programs change their lists."""
        return copy.deepcopy(self.program.args)

    @property
    def argnums(self) -> tuple[int, ...]:
        return tuple(range(len(self.program.args)))


class Engine(Protocol):
    def value_and_grad(self, case: Case) -> tuple[float, Any]:
        """The value, and the gradient with respect to every argument."""

    def jvp(self, case: Case, tangents: tuple[Any, ...]) -> tuple[float, float]: ...

    def hvp(self, case: Case, tangents: tuple[Any, ...]) -> Any:
        """Forward over reverse: the Hessian times the tangents, for every argument."""

    def reverse_over_reverse(self, case: Case, argnum: int) -> Any:
        """The Hessian block of one float or 1-D argument, by two reverse passes."""


class Srcad:
    """The compiler, through its public functions; ``choices`` are handed to each."""

    def __init__(self, **choices: Any) -> None:
        self._choices = choices

    def value_and_grad(self, case: Case) -> tuple[float, Any]:
        import srcad

        transformed = srcad.value_and_grad(case.function, argnums=case.argnums, **self._choices)
        value, grads = transformed(*case.args())
        return value, grads

    def jvp(self, case: Case, tangents: tuple[Any, ...]) -> tuple[float, float]:
        import srcad

        value, tangent = srcad.jvp(case.function, case.args(), tangents, **self._choices)
        return value, tangent

    def hvp(self, case: Case, tangents: tuple[Any, ...]) -> Any:
        import srcad

        product = srcad.hvp(case.function, case.args(), tangents, **self._choices)
        return product if len(tangents) > 1 else (product,)

    def reverse_over_reverse(self, case: Case, argnum: int) -> Any:
        import srcad

        first = srcad.grad(case.function, argnums=argnum)
        if isinstance(case.program.args[argnum], float):
            return srcad.grad(first, argnums=argnum, **self._choices)(*case.args())
        return srcad.jacrev(first, argnums=argnum, **self._choices)(*case.args())


class Differences:
    """Finite differences: slow and right, so that the harness can be tried on its own."""

    def value_and_grad(self, case: Case) -> tuple[float, Any]:
        probe = oracle.Prober(case.program)
        numbers = oracle.gradient(probe).numbers.astype(float)
        return float(probe.value), oracle.unflatten(case.program.args, numbers)

    def jvp(self, case: Case, tangents: tuple[Any, ...]) -> tuple[float, float]:
        value, grads = self.value_and_grad(case)
        return value, float(np.dot(oracle.flatten(grads), oracle.flatten(tangents)))

    def hvp(self, case: Case, tangents: tuple[Any, ...]) -> Any:
        probe = oracle.Prober(case.program)
        product = oracle.hessian_product(probe, oracle.flatten(tangents))
        return oracle.unflatten(case.program.args, product.numbers.astype(float))

    def reverse_over_reverse(self, case: Case, argnum: int) -> Any:
        probe = oracle.Prober(case.program)
        start = oracle.flatten(case.program.args[:argnum]).size
        stop = start + oracle.flatten((case.program.args[argnum],)).size
        units = np.eye(probe.point.size)[start:stop]
        block = [[float(oracle.second(probe, one, two)[0]) for two in units] for one in units]
        return np.array(block) if np.ndim(case.program.args[argnum]) else block[0][0]


class Planted:
    """An engine with a fault: gradients of programs that contain `sign` are scaled."""

    def __init__(self, engine: Engine, sign: str = "", factor: float = 1.001) -> None:
        self._engine = engine
        self._sign = sign
        self._factor = factor

    def value_and_grad(self, case: Case) -> tuple[float, Any]:
        value, grads = self._engine.value_and_grad(case)
        if self._sign in case.text:
            scaled = oracle.flatten(grads).astype(float) * self._factor
            grads = oracle.unflatten(case.program.args, scaled)
        return value, grads

    def jvp(self, case: Case, tangents: tuple[Any, ...]) -> tuple[float, float]:
        return self._engine.jvp(case, tangents)

    def hvp(self, case: Case, tangents: tuple[Any, ...]) -> Any:
        return self._engine.hvp(case, tangents)

    def reverse_over_reverse(self, case: Case, argnum: int) -> Any:
        return self._engine.reverse_over_reverse(case, argnum)
