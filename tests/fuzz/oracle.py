"""Derivatives that the compiler had no part in.

The traced text of a program runs on long doubles, and central differences of it are extrapolated
(Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", 1982). Every probe must decide as the
run at the point itself did. With 64 bits of mantissa that gives about 13 digits of a gradient
and 10 of a second derivative, with an estimate of the error. The package's tape is the first
opinion, and these differences are the second: where the two part ways, that is a failure too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srcad.testing import reference_gradients
from srcad.testing.reference import pull_back_twice
from tests.fuzz.printer import source
from tests.fuzz.trace import Trace
from tests.fuzz.tree import Program

Vector = NDArray[Any]


class NotTame(Exception):
    """The program decides too close to a threshold, or its value is not finite."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Numbers of an oracle, flat in the order of `flatten`, each with an estimate of its error."""

    numbers: Vector
    error: Vector


def flatten(tree: Any) -> Vector:
    """All floats of nested containers and arrays, in order, as one vector."""
    parts = [np.ravel(np.asarray(leaf)) for leaf in _leaves(tree)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _leaves(tree: Any) -> list[Any]:
    match tree:
        case dict():
            return [leaf for key in sorted(tree) for leaf in _leaves(tree[key])]
        case list() | tuple():
            return [leaf for item in tree for leaf in _leaves(item)]
        case _:
            return [tree]


def unflatten(like: Any, vector: Vector) -> Any:
    """A tree shaped as `like` with the numbers of `vector`."""
    tree, rest = _take(like, vector)
    assert rest.size == 0
    return tree


def _take(like: Any, vector: Vector) -> tuple[Any, Vector]:
    match like:
        case dict():
            out = dict(like)
            for key in sorted(like):
                out[key], vector = _take(like[key], vector)
            return out, vector
        case list() | tuple():
            items = []
            for item in like:
                taken, vector = _take(item, vector)
                items.append(taken)
            return type(like)(items), vector
        case np.ndarray():
            return vector[: like.size].reshape(like.shape).copy(), vector[like.size :]
        case _:
            number = vector[0]
            return (float(number) if vector.dtype == float else number), vector[1:]


class Prober:
    """Runs the traced text of a program on long doubles."""

    def __init__(self, program: Program) -> None:
        self._code = compile(source(program, "traced"), "<traced program>", "exec")
        self.args = program.args
        self.point = flatten(program.args).astype(np.longdouble)
        self.value, trace = self._run(self.point)
        self.margin = trace.margin
        self._decisions = trace.decisions

    def _run(self, point: Vector) -> tuple[Any, Trace]:
        trace = Trace()
        namespace: dict[str, Any] = {"trace": trace, "__name__": "traced_program"}
        exec(self._code, namespace)
        value = namespace["f"](*unflatten(self.args, point))
        return value, trace

    def __call__(self, offset: Vector) -> Any:
        """The value beside the point, if the run there decides as the run at the point."""
        value, trace = self._run(self.point + offset)
        if trace.decisions != self._decisions:
            raise NotTame("a decision changes within a step")
        return value


def prober(program: Program, least_margin: float = 1e-6) -> Prober:
    """A prober of a program that is tame at its arguments; else NotTame."""
    probe = Prober(program)
    if np.ndim(probe.value) != 0 or not np.isfinite(probe.value):
        raise NotTame("the value is not a finite number")
    if probe.margin < least_margin:
        raise NotTame(f"a decision has a margin of {probe.margin:.1e}")
    return probe


def gradient(probe: Prober) -> Reference:
    """All first derivatives."""
    return _collect([_directional(probe, unit) for unit in np.eye(probe.point.size)])


def hessian_product(probe: Prober, direction: Vector) -> Reference:
    """The second derivative matrix times `direction`."""
    return _collect([second(probe, unit, direction) for unit in np.eye(probe.point.size)])


def second(probe: Prober, first: Vector, other: Vector) -> tuple[Any, Any]:
    """The mixed second derivative along two directions, with its error."""

    def difference(step: Any) -> Any:
        plus, minus = step * (first + other), step * (first - other)
        return (probe(plus) + probe(-plus) - probe(minus) - probe(-minus)) / (4 * step * step)

    return _extrapolate(difference, (1e-2, 2e-3, 3e-4))


def _directional(probe: Prober, direction: Vector) -> tuple[Any, Any]:
    def difference(step: Any) -> Any:
        return (probe(step * direction) - probe(-step * direction)) / (2 * step)

    return _extrapolate(difference, (4e-3, 5e-4, 2e-5, 5e-7))


def _extrapolate(difference: Callable[[Any], Any], steps: tuple[float, ...]) -> tuple[Any, Any]:
    """The limit at step zero of an even function of the step: the best of several first steps."""
    best: Any = None
    best_error: Any = np.inf
    for start in steps:
        try:
            column = [difference(np.longdouble(start) / 2**k) for k in range(4)]
        except NotTame:
            continue
        previous = column[-1]
        for order in range(1, len(column)):
            factor = 4**order
            previous = column[-1]
            column = [
                (factor * fine - coarse) / (factor - 1)
                for coarse, fine in zip(column[:-1], column[1:], strict=True)
            ]
        error = abs(column[0] - previous)
        if error < best_error:
            best, best_error = column[0], error
        if best_error <= 1e-13 * max(1e-2, abs(best)):
            break
    if best is None:
        raise NotTame("no step is small enough")
    return best, best_error


def _collect(pairs: list[tuple[Any, Any]]) -> Reference:
    return Reference(
        np.array([number for number, _ in pairs], dtype=np.longdouble),
        np.array([error for _, error in pairs], dtype=np.longdouble),
    )


def tape_gradient(function: Callable[..., Any], args: tuple[Any, ...]) -> Vector:
    """The gradient for every argument by the package's tape."""
    found = reference_gradients(function, copy.deepcopy(args), tuple(range(len(args))))
    return flatten(found)


def tape_hessian_product(
    function: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...]
) -> Vector:
    """The second derivative matrix times the tangents, by going back over the way back."""
    weights = [np.asarray(leaf) for leaf in _leaves(tangents)]
    found = pull_back_twice(
        function, copy.deepcopy(args), tuple(range(len(args))), 1.0,
        [float(weight) if weight.ndim == 0 else weight for weight in weights],
    )  # fmt: skip
    return flatten(found)


def tape_hessian_block(function: Callable[..., Any], args: tuple[Any, ...], argnum: int) -> Vector:
    """The second derivatives by the entries of one float or array, as a matrix."""
    flat = flatten(args)
    start = flatten(args[:argnum]).size
    stop = start + flatten((args[argnum],)).size
    rows = []
    for position in range(start, stop):
        unit = np.zeros(flat.size)
        unit[position] = 1.0
        rows.append(tape_hessian_product(function, args, unflatten(args, unit))[start:stop])
    return np.array(rows)


def exact(numbers: Vector) -> Reference:
    """Numbers that are right to rounding."""
    return Reference(numbers, np.zeros(numbers.shape))
