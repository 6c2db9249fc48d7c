"""What the derivatives must be: complex step, differences of it for second orders, and the tape.

For the complex step (Squire and Trapp, SIAM Review 40, 1998) the text runs in a module
where NumPy makes complex arrays. It is exact to rounding, and shares nothing with the compiler.
Comparisons of complex numbers are lexicographic, so that decisions stay those of the real parts.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.testing import Unsupported
from srcad.testing.reference import pull_back
from tests.fuzz.arrays.program import ArrayProgram, run_text

Vector = np.ndarray[Any, Any]
STEP = 1e-30


class Untame(Exception):
    """A derivative of the program is not defined well, or not found by these means."""


class _ComplexNumPy:
    """NumPy, making complex arrays where it makes arrays of floats."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def zeros(shape: Any) -> Any:
        return np.zeros(shape, complex)

    empty = zeros

    @staticmethod
    def ones(shape: Any) -> Any:
        return np.ones(shape, complex)

    @staticmethod
    def full(shape: Any, value: Any) -> Any:
        return np.full(shape, value, complex)

    @staticmethod
    def arange(*args: Any) -> Any:
        made = np.arange(*args)
        return made.astype(complex) if made.dtype.kind == "f" else made


def flatten(tree: Any) -> Vector:
    """All numbers of a structure, one after the other."""
    if isinstance(tree, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flatten, tree)])
    return np.ravel(np.asarray(tree))


def unflatten(like: tuple[Any, ...], numbers: Vector) -> tuple[Any, ...]:
    """The numbers in the structure of arguments."""
    out, start = [], 0
    for arg in like:
        stop = start + np.size(arg)
        part = numbers[start:stop].reshape(np.shape(arg))
        out.append(part.copy() if np.ndim(arg) else float(part))
        start = stop
    return tuple(out)


def value_apart(target: Any, value: Any) -> Any:
    """A value to be assigned to a part of an array, as a copy."""
    both = isinstance(target, np.ndarray) and isinstance(value, np.ndarray)
    return value.copy() if both else value


def with_values_apart(text: str) -> str:
    """The program with copies of what it assigns to parts of arrays.

    NumPy makes them itself where source and target overlap, but not for all strides:
    ``w[:-1] = m[..., 2]`` of a row ``w`` of ``m`` may read what it has just written.
    """

    class Apart(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.Assign:  # noqa: N802
            if isinstance(node.targets[0], ast.Subscript):
                target = ast.parse(ast.unparse(node.targets[0].value), mode="eval").body
                called = ast.Name("value_apart", ast.Load())
                node.value = ast.Call(called, [target, node.value], [])
            return node

    return ast.unparse(ast.fix_missing_locations(Apart().visit(ast.parse(text))))


@dataclass(slots=True)
class Reference:
    """A program that is run beside the derivative."""

    program: ArrayProgram

    def __post_init__(self) -> None:
        self._plain = run_text(self.program.text, {"np": np})
        self._apart = run_text(
            with_values_apart(self.program.text), {"np": np, "value_apart": value_apart}
        )
        self._complex = run_text(self.program.text, {"np": _ComplexNumPy()})
        self.point = flatten(self.program.args)

    _plain: Callable[..., Any] = None  # type: ignore[assignment]  # set above
    _apart: Callable[..., Any] = None  # type: ignore[assignment]
    _complex: Callable[..., Any] = None  # type: ignore[assignment]
    point: Vector = None  # type: ignore[assignment]

    def value(self) -> Any:
        """What the program returns; raises what it raises."""
        with np.errstate(all="ignore"):
            found = self._plain(*self.program.fresh_args())
        numbers = flatten(found)
        if not np.all(np.isfinite(numbers)) or np.max(np.abs(numbers), initial=0) > 1e4:
            raise Untame("large values")
        with np.errstate(all="ignore"):
            apart = flatten(self._apart(*self.program.fresh_args()))
        if not np.allclose(apart, numbers, rtol=1e-9, atol=1e-12):
            raise Untame("NumPy takes an assignment for one of arrays that do not overlap")
        return found

    def largest(self) -> float:
        """The largest number that a variable holds: where it is large, sums cancel."""
        found = 0.0

        def note(frame: Any, event: str, arg: Any) -> Any:
            nonlocal found
            if frame.f_code.co_filename == "<program>":
                for value in frame.f_locals.values():
                    if isinstance(value, (float, np.floating, np.ndarray)):
                        found = max(found, float(np.max(np.abs(value), initial=0.0)))
            return note

        before = sys.gettrace()
        sys.settrace(note)
        try:
            self.value()
        finally:
            sys.settrace(before)
        return found

    def jacobian(self, at: Vector | None = None) -> Vector:
        """One row for each number of the value."""
        point = self.point if at is None else at
        columns = [self._along(point, unit) for unit in np.eye(point.size)]
        return np.array(columns).T

    def _along(self, point: Vector, direction: Vector) -> Vector:
        args = tuple(
            arg if np.ndim(arg) else np.complex128(arg)
            for arg in _complex_args(self.program.args, point + 1j * STEP * direction)
        )
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            try:
                found = flatten(self._complex(*args))
            except np.exceptions.ComplexWarning:
                raise Untame("complex numbers are cut") from None
        return np.imag(found) / STEP

    def require_smooth(self, jacobian: Vector) -> None:
        """Compare with differences of real values: a kink or a decision nearby shows here."""
        direction = np.cos(np.arange(self.point.size) * 1.3 + 0.4)
        found = []
        for h in (1e-4, -1e-4, 2e-4, -2e-4):
            args = unflatten(self.program.args, self.point + h * direction)
            with np.errstate(all="ignore"):
                found.append(flatten(self._plain(*args)).astype(float))
        differences = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4
        wanted = jacobian @ direction
        scale = 1.0 + np.max(np.abs(wanted), initial=0) + np.max(np.abs(found[0]), initial=0)
        if not np.all(np.abs(differences - wanted) <= 1e-6 * scale):
            raise Untame("differences and complex step differ")

    def hessian_product(self, direction: Vector) -> tuple[Vector, float]:
        """For a scalar program, by differences of the complex step; and how far it may be off."""

        def central(h: float) -> Vector:
            ahead = self.jacobian(self.point + h * direction)[0]
            return np.asarray((ahead - self.jacobian(self.point - h * direction)[0]) / (2 * h))

        one, two, four = central(4e-4), central(8e-4), central(16e-4)
        first, second = (4 * one - two) / 3, (4 * two - four) / 3
        found = (16 * first - second) / 15
        error = float(np.max(np.abs(found - first))) + 1e-10 * float(np.max(np.abs(found)))
        if not np.all(np.isfinite(found)) or error > 1e-6 * (1 + float(np.max(np.abs(found)))):
            raise Untame("second differences do not converge")
        return found, error

    def tape(self, function: Callable[..., Any], cotangent: Any) -> Vector | None:
        """The cotangent pulled back by the tape; None where it cannot express the program."""
        argnums = range(len(self.program.args))
        try:
            with np.errstate(all="ignore"):
                _, found = pull_back(function, self.program.fresh_args(), argnums, cotangent)
        except (Unsupported, TypeError, ValueError, AttributeError, NotImplementedError):
            return None
        return flatten(found)


def _complex_args(like: tuple[Any, ...], numbers: Vector) -> tuple[Any, ...]:
    out, start = [], 0
    for arg in like:
        stop = start + np.size(arg)
        part = numbers[start:stop].reshape(np.shape(arg))
        out.append(part.copy() if np.ndim(arg) else part[()])
        start = stop
    return tuple(out)
