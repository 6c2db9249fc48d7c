"""One program against the reference, in every mode."""

from __future__ import annotations

import importlib.util
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import srcad
from tests.fuzz.arrays.program import ArrayProgram
from tests.fuzz.arrays.reference import Reference, Untame, Vector, flatten, unflatten
from tests.fuzz.runner import Outcome, failure, limited

_count = 0


@contextmanager
def loaded(program: ArrayProgram, folder: Path) -> Iterator[Callable[..., Any]]:
    """The program's function, imported from a file of its own."""
    global _count
    _count += 1
    name = f"arrays_{_count}"
    path = folder / f"{name}.py"
    path.write_text(program.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module.f
    finally:
        del sys.modules[name]
        linecache.cache.pop(str(path), None)
        path.unlink(missing_ok=True)


_ROUNDING = 1e-15
"""Of a sum of products of large values that cancel, relative to these."""


class Wrong(Exception):
    """An answer that is not the right one."""

    def __init__(self, mode: str, what: str, expected: Any, obtained: Any) -> None:
        super().__init__(f"{mode}: {what}")
        self.apart = np.inf
        """How far the answer is off."""
        self.outcome = Outcome("wrong", mode, str(self), expected=repr(expected),
                               obtained=repr(obtained))  # fmt: skip


def check(
    program: ArrayProgram, folder: Path, second: bool = False, seconds: float = 60.0,
    with_tape: bool = True, reverse: str = "both", forward: bool = True, engine: Any = srcad,
) -> Outcome:  # fmt: skip
    """The first mode that refuses or fails decides.

    `reverse` is by which function: vjp, grad where the program has a scalar value, or both.
    `engine` has the transforms.
    """
    try:
        reference = Reference(program)
        value = reference.value()
        jacobian = reference.jacobian()
        if not np.all(np.isfinite(jacobian)) or np.max(np.abs(jacobian), initial=0) > 1e6:
            raise Untame("large derivatives")
        reference.require_smooth(jacobian)
    except Untame as error:
        return Outcome("skipped", cause=str(error))
    except Exception as error:
        return Outcome("skipped", cause=f"does not run: {type(error).__name__}", detail=str(error))
    with loaded(program, folder) as function:
        run = _Run(program, function, reference, value, jacobian, engine)
        scalar = not isinstance(value, tuple) and np.ndim(value) == 0
        modes = [("forward", run.forward)] if forward else []
        if scalar and reverse != "vjp":
            modes.insert(0, ("gradient", run.gradient))
        if not scalar or reverse != "grad":
            modes.insert(0, ("reverse", run.reverse))
        if with_tape:
            modes.append(("oracle", run.tape))
        if second and scalar:
            modes += [("forward over reverse", run.hvp), ("reverse over reverse", run.twice),
                      ("reverse over forward", run.across)]  # fmt: skip
        for mode, call in modes:
            try:
                with limited(seconds), np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    call(mode)
            except Wrong as wrong:
                largest = reference.largest()
                if largest > 1e6 or wrong.apart <= _ROUNDING * largest**2:
                    return Outcome("skipped", cause="large values cancel")
                return wrong.outcome
            except Untame as error:
                return Outcome("ok", cause=str(error))
            except Exception as error:
                return failure(mode, error)
    return Outcome("ok")


class _Run:
    """The comparisons for one program."""

    def __init__(
        self, program: ArrayProgram, function: Callable[..., Any], reference: Reference,
        value: Any, jacobian: Vector, engine: Any,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.program, self.function, self.reference = program, function, reference
        self.value, self.jacobian = value, jacobian
        self.argnums = tuple(range(len(program.args)))
        self.direction = np.cos(np.arange(reference.point.size) * 1.7 + 0.3)
        self.weights = np.sin(np.arange(flatten(value).size) * 1.1 + 0.5)
        self.pulled: Vector | None = None

    def same(self, mode: str, what: str, expected: Any, obtained: Any, tolerance: float) -> None:
        one, two = np.asarray(expected), np.asarray(obtained)
        size = 1e-3 + np.abs(one) + 1e-3 * np.max(np.abs(one), initial=0)
        if one.shape != two.shape or not np.all(np.abs(one - two) <= tolerance * size):
            wrong = Wrong(mode, what, one.tolist(), two.tolist())
            if one.shape == two.shape:
                wrong.apart = float(np.max(np.abs(one - two)))
            raise wrong

    def same_value(self, mode: str, value: Any) -> None:
        self.same(mode, "wrong value", flatten(self.value), flatten(value), 1e-10)

    def unchanged(self, mode: str, args: tuple[Any, ...]) -> None:
        if not np.array_equal(flatten(args), flatten(self.program.args)):
            raise Wrong(mode, "the caller's arrays are changed", self.program.args, args)

    def shaped(self, mode: str, like: tuple[Any, ...], found: Any) -> None:
        if [np.shape(a) for a in like] != [np.shape(a) for a in found]:
            raise Wrong(mode, "wrong shapes", like, found)

    def reverse(self, mode: str) -> None:
        args = self.program.fresh_args()
        cotangent = self.cotangent()
        kept = flatten(cotangent).copy()
        value, pullback = self.engine.vjp(self.function, *args)
        grads = pullback(cotangent)
        self.unchanged(mode, args)
        self.same(mode, "the cotangent is changed", kept, flatten(cotangent), 0.0)
        self.same_value(mode, value)
        self.shaped(mode, args, grads)
        self.pulled = flatten(grads)
        self.same(mode, "wrong derivative", self.weights @ self.jacobian, self.pulled, 1e-8)
        self.same(mode, "a second pullback differs", self.pulled, flatten(pullback(cotangent)), 0.0)

    def gradient(self, mode: str) -> None:
        args = self.program.fresh_args()
        value, grads = self.engine.value_and_grad(self.function, argnums=self.argnums)(*args)
        self.unchanged(mode, args)
        self.same_value(mode, value)
        self.shaped(mode, args, grads)
        self.same(mode, "wrong gradient", self.jacobian[0], flatten(grads), 1e-8)
        self.pulled = self.weights[0] * flatten(grads)

    def cotangent(self) -> Any:
        if isinstance(self.value, tuple):
            return unflatten(self.value, self.weights)
        return unflatten((self.value,), self.weights)[0]

    def forward(self, mode: str) -> None:
        args = self.program.fresh_args()
        tangents = unflatten(args, self.direction)
        value, tangent = self.engine.jvp(self.function, args, tangents)
        self.unchanged(mode, args)
        self.same(mode, "the tangents are changed", self.direction, flatten(tangents), 0.0)
        self.same_value(mode, value)
        found = flatten(tangent)
        self.same(mode, "wrong derivative", self.jacobian @ self.direction, found, 1e-8)
        assert self.pulled is not None
        self.same(mode, "duality", self.weights @ found, self.pulled @ self.direction, 1e-7)

    def tape(self, mode: str) -> None:
        found = self.reference.tape(self.function, self.cotangent())
        if found is not None:
            self.same(mode, "the tape differs", self.weights @ self.jacobian, found, 1e-8)

    def hvp(self, mode: str) -> None:
        args = self.program.fresh_args()
        expected, error = self.reference.hessian_product(self.direction)
        found = self.engine.hvp(self.function, args, unflatten(args, self.direction))
        self.unchanged(mode, args)
        self.same_within(mode, expected, flatten(found), error)

    def twice(self, mode: str) -> None:
        """The gradient of the gradient along a direction, by two reverse passes."""
        args = self.program.fresh_args()
        expected, error = self.reference.hessian_product(self.direction)
        gradient = srcad.grad(self.function, argnums=self.argnums)
        _, pullback = self.engine.vjp(gradient, *args)
        found = pullback(unflatten(args, self.direction))
        self.unchanged(mode, args)
        self.same_within(mode, expected, flatten(found), error)

    def across(self, mode: str) -> None:
        """The gradient of the tangent along a direction."""
        args = self.program.fresh_args()
        expected, error = self.reference.hessian_product(self.direction)

        def tangent(*primals: Any) -> Any:
            return srcad.jvp(self.function, primals, unflatten(args, self.direction))[1]

        found = self.engine.grad(tangent, argnums=self.argnums)(*args)
        self.unchanged(mode, args)
        self.same_within(mode, expected, flatten(found), error)

    def same_within(self, mode: str, expected: Vector, found: Vector, error: float) -> None:
        allowed = 20 * error + 1e-7 * (1 + np.max(np.abs(expected)))
        if expected.shape != found.shape or not np.all(np.abs(expected - found) <= allowed):
            raise Wrong(mode, "wrong derivative", expected.tolist(), found.tolist())
