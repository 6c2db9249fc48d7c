"""One program through one engine: load, differentiate in every mode, compare with the oracle."""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import linecache
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from srcad.testing import Unsupported
from tests.fuzz import oracle
from tests.fuzz.choices import Choices
from tests.fuzz.engines import Case, Engine
from tests.fuzz.generate import sample_args
from tests.fuzz.oracle import NotTame, Vector
from tests.fuzz.printer import source
from tests.fuzz.tree import Program

Kind = Literal["ok", "refused", "wrong", "crash", "skipped", "oracle"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one program."""

    kind: Kind
    mode: str = ""
    cause: str = ""
    """One line by which alike outcomes are grouped, and which shrinking preserves."""
    detail: str = ""
    expected: str = ""
    obtained: str = ""
    answer: Vector | None = field(default=None, compare=False)
    """The value and the gradient, where they were right."""

    @property
    def failed(self) -> bool:
        return self.kind in ("wrong", "crash", "oracle")


class TimedOut(Exception):
    """The engine did not answer in time."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks programs. `second` asks for second derivatives too."""

    engine: Engine
    folder: Path
    second: bool = False
    tolerance: float = 1e-9
    seconds: float = 30.0

    def check(self, program: Program) -> Outcome:
        """The first mode that refuses or fails decides."""
        try:
            probe = oracle.prober(program)
            reference = oracle.gradient(probe)
        except NotTame as reason:
            return Outcome("skipped", cause=str(reason).split(" of ")[0])
        with loaded(program, self.folder) as case:
            try:
                outcome = self._first_order(case, probe, reference)
                if outcome.kind == "ok" and self.second:
                    outcome = replace(self._second_order(case, probe), answer=outcome.answer)
            except Exception as error:
                # Failures of the engine are caught where it is called: this one is the tape's.
                return replace(failure("oracle", error), kind="oracle")
        return outcome

    def _first_order(
        self, case: Case, probe: oracle.Prober, differences: oracle.Reference
    ) -> Outcome:
        value = float(probe.value)
        plain = float(case.function(*case.args()))
        if abs(plain - value) > 1e-10 * max(1.0, abs(value)):
            # The two texts of the program part ways: rounding decides something in it.
            return Outcome("skipped", cause="ill-conditioned value")
        try:
            reference = oracle.exact(oracle.tape_gradient(case.function, case.program.args))
        except Unsupported:
            # The tape says so itself, and differences judge alone.
            reference = differences
        outcome = self._compare("oracle", reference.numbers, differences, "tape and differences")
        if outcome.kind != "ok":
            return outcome if outcome.kind == "skipped" else replace(outcome, kind="oracle")
        outcome = self._run(
            "reverse", lambda: self.engine.value_and_grad(case), value, reference,
            case.program.args,
        )  # fmt: skip
        if outcome.kind != "ok":
            return outcome
        tangents = direction(case.program.args)
        along = oracle.flatten(tangents)
        forward = self._run(
            "forward", lambda: self.engine.jvp(case, tangents), value,
            oracle.Reference(
                np.array([reference.numbers @ along]),
                np.array([reference.error @ np.abs(along)]),
            ), 0.0, scale=float(np.abs(reference.numbers) @ np.abs(along)),
        )  # fmt: skip
        return replace(forward, answer=outcome.answer)

    def _second_order(self, case: Case, probe: oracle.Prober) -> Outcome:
        args = case.program.args
        tangents = direction(args)
        try:
            product = oracle.tape_hessian_product(case.function, args, tangents)
        except Unsupported:
            return Outcome("ok")
        try:
            differences = oracle.hessian_product(probe, oracle.flatten(tangents))
        except NotTame:
            # Probes are wider here, and may meet a threshold; the tape answers alone.
            differences = oracle.exact(product)
        outcome = self._compare("oracle", product, differences, "second order", tolerance=1e-7)
        if outcome.kind == "wrong":
            return replace(outcome, kind="oracle")
        outcome = self._run(
            "forward over reverse", lambda: (None, self.engine.hvp(case, tangents)), None,
            oracle.exact(product), args,
        )  # fmt: skip
        if outcome.kind != "ok":
            return outcome
        for argnum, arg in enumerate(args):
            if isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.ndim == 1):
                break
        else:
            return outcome
        block = oracle.tape_hessian_block(case.function, args, argnum)
        return self._run(
            f"reverse over reverse, argument {argnum}",
            lambda: (None, self.engine.reverse_over_reverse(case, argnum)), None,
            oracle.exact(block.ravel()), block if np.ndim(arg) else 0.0,
        )  # fmt: skip

    def _run(
        self, mode: str, call: Callable[[], tuple[Any, Any]], value: float | None,
        reference: oracle.Reference, like: Any, scale: float = 0.0,
    ) -> Outcome:  # fmt: skip
        try:
            with limited(self.seconds), np.errstate(all="ignore"):
                got_value, got = call()
                flat = oracle.flatten(got)
        except Exception as error:
            return failure(mode, error)
        if value is not None and not abs(got_value - value) <= 1e-10 * max(1.0, abs(value)):
            return Outcome(
                "wrong", mode, f"{mode}: wrong value", expected=repr(value),
                obtained=repr(got_value),
            )  # fmt: skip
        if not _same_shape(got, like):
            return Outcome(
                "wrong", mode, f"{mode}: wrong structure", expected=repr(like), obtained=repr(got)
            )
        outcome = self._compare(mode, flat, reference, mode, scale)
        return replace(outcome, answer=np.append(got_value, flat) if value is not None else None)

    def _compare(
        self, mode: str, got: Vector, reference: oracle.Reference, what: str, scale: float = 0.0,
        tolerance: float | None = None,
    ) -> Outcome:  # fmt: skip
        wanted = reference.numbers
        # Relative to the entry; sums that cancel are owed the size of their terms.
        size = np.maximum(np.abs(wanted), 1e-3 * max(1.0, np.max(np.abs(wanted), initial=scale)))
        if np.any(reference.error > 1e-7 * size):
            return Outcome("skipped", cause=f"{what} do not converge")
        allowed = (tolerance or self.tolerance) * size + 4 * reference.error
        if got.shape == wanted.shape and np.all(np.abs(got - wanted) <= allowed):
            return Outcome("ok")
        return Outcome(
            "wrong", mode, f"{what}: wrong derivative", expected=_shown(wanted),
            obtained=_shown(got),
        )  # fmt: skip


def failure(mode: str, error: Exception) -> Outcome:
    """A refusal, which names a place in the program; or a crash, with that in the package."""
    from srcad.errors import SourceError

    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if "/srcad/" in frame.filename:
            place = f" in {frame.filename.rsplit('/srcad/', 1)[1]}:{frame.name}"
    text = str(error).strip().splitlines() or [""]
    if isinstance(error, SourceError) and error.place is not None:
        return Outcome("refused", mode, f"{type(error).__name__}: {_general(text[0])}",
                       detail=str(error))  # fmt: skip
    if place.startswith(
        " in runtime/checks.py"
    ):  # what only run time can tell, as whose view it is
        return Outcome("refused", mode, f"at run time: {text[0]}", detail=str(error))
    detail = "".join(traceback.format_exception(error))
    return Outcome("crash", mode, f"{type(error).__name__}{place}", detail=detail)


def _general(message: str) -> str:
    """An error's first line without what differs from program to program."""
    return message.rsplit(".py:", 1)[-1].partition(": ")[2] or message


def _same_shape(tree: Any, like: Any) -> bool:
    """Whether two nested containers have the same structure, down to the shapes of arrays."""
    match like:
        case dict():
            return (
                isinstance(tree, dict)
                and tree.keys() == like.keys()
                and all(_same_shape(tree[key], like[key]) for key in like)
            )
        case list() | tuple():
            return (
                type(tree) is type(like)
                and len(tree) == len(like)
                and all(_same_shape(item, other) for item, other in zip(tree, like, strict=True))
            )
        case _:
            return bool(np.shape(tree) == np.shape(like))


def _shown(numbers: Vector) -> str:
    return "[" + ", ".join(repr(float(number)) for number in numbers) + "]"


def direction(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tangent for every argument; it depends on nothing but their number of entries."""
    count = oracle.flatten(args).size
    numbers = np.random.RandomState(count).uniform(0.3, 1.0, count)
    numbers[1::2] *= -1
    tangents: tuple[Any, ...] = oracle.unflatten(args, numbers)
    return tangents


def tame(program: Program, choices: Choices, attempts: int = 6) -> Program | None:
    """The program with arguments at which it decides nothing closely; None if none are found."""
    for _ in range(attempts):
        try:
            oracle.prober(program)
        except NotTame:
            program = replace(program, args=sample_args(choices, program.types))
        else:
            return program
    return None


@contextmanager
def loaded(program: Program, folder: Path) -> Iterator[Case]:
    """The program, written to a file of its own and imported from there."""
    text = source(program)
    name = "program_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield Case(program, text, module.f)
    finally:
        del sys.modules[name]
        linecache.cache.pop(str(path), None)
        path.unlink(missing_ok=True)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimedOut in the block after so much work; only in a main thread, else does nothing.

    The processor's time counts: on a machine that does much else too, nothing is late.
    """

    def ring(*_: object) -> None:
        raise TimedOut(f"no answer in {seconds:g} s")

    try:
        previous = signal.signal(signal.SIGVTALRM, ring)
    except (ValueError, AttributeError):
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


@contextmanager
def collected_seldom(every: int = 25) -> Iterator[Callable[[], None]]:
    """Garbage is looked for after so many programs, and not meanwhile: call it after each."""
    left = every

    def tick() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            left = every
            gc.collect()

    enabled = gc.isenabled()
    gc.disable()
    try:
        yield tick
    finally:
        if enabled:
            gc.enable()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="srcad-fuzz-")
