"""Many programs: what to run for each number of a seed, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import oracle
from tests.fuzz.choices import SeededChoices
from tests.fuzz.engines import Engine
from tests.fuzz.generate import generate
from tests.fuzz.metamorphic import REWRITES
from tests.fuzz.oracle import NotTame, Vector
from tests.fuzz.runner import (
    Checker,
    Outcome,
    collected_seldom,
    failure,
    limited,
    loaded,
    tame,
    temporary_folder,
)
from tests.fuzz.shrink import shrink
from tests.fuzz.tree import Program


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run."""

    engine: Engine
    seed: int = 0
    max_statements: int = 14
    second_every: int = 4
    """Every so many programs, second derivatives too; 0 for never."""
    rewrite_every: int = 3
    """Every so many programs, one rewrite of it must have the same gradient; 0 for never."""

    @property
    def title(self) -> str:
        """What is run, besides the seed."""
        return (
            f"scalars of {self.max_statements} statements, second order of every"
            f" {self.second_every}th, rewrite of every {self.rewrite_every}th"
        )


@dataclass(frozen=True, slots=True)
class Result:
    """One program's outcome; the program is kept where it did not pass."""

    number: int
    outcome: Outcome
    program: Program | None = None
    rewrites: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Outcomes by kind and cause."""

    counts: dict[str, int] = field(default_factory=dict)
    causes: dict[tuple[str, str], list[Result]] = field(default_factory=dict)
    rewrites: dict[str, int] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        kind = result.outcome.kind
        self.counts[kind] = self.counts.get(kind, 0) + 1
        for rewrite in result.rewrites:
            self.rewrites[rewrite] = self.rewrites.get(rewrite, 0) + 1
        if kind != "ok":
            self.causes.setdefault((kind, result.outcome.cause), []).append(result)

    @property
    def failures(self) -> list[tuple[str, list[Result]]]:
        """By cause, the commonest first."""
        found = [
            (cause, results) for (kind, cause), results in self.causes.items()
            if results[0].outcome.failed
        ]  # fmt: skip
        return sorted(found, key=lambda item: -len(item[1]))


def run_one(plan: Plan, folder: Path, number: int) -> Result:
    """Program `number` of the plan's seed. It depends on nothing else."""
    choices = SeededChoices(plan.seed, number)
    program = tame(generate(choices, plan.max_statements), choices)
    if program is None:
        return Result(number, Outcome("skipped", cause="not tame at any arguments tried"))
    second = plan.second_every > 0 and number % plan.second_every == 0
    outcome = Checker(plan.engine, folder, second=second).check(program)
    done: tuple[str, ...] = ()
    if outcome.kind == "ok" and plan.rewrite_every and number % plan.rewrite_every == 0:
        rewrite = choices.pick(list(REWRITES))
        rewritten = REWRITES[rewrite](program, choices)
        if rewritten is not None:
            done = (rewrite,)
            outcome = compare_rewritten(
                plan.engine, folder, program, rewritten, rewrite, answer=outcome.answer
            )
            if outcome.kind != "ok":
                return Result(number, outcome, rewritten, done)
    return Result(number, outcome, None if outcome.kind == "ok" else program, done)


def compare_rewritten(
    engine: Engine, folder: Path, program: Program, rewritten: Program, rewrite: str,
    tolerance: float = 1e-12, answer: Vector | None = None,
) -> Outcome:  # fmt: skip
    """Whether a rewritten program has the value and the gradient of the program: `answer`."""
    try:
        before = _answer(engine, folder, program) if answer is None else answer
        after = _answer(engine, folder, rewritten)
    except Exception as error:
        return failure(f"rewrite: {rewrite}", error)
    scale = max(1.0, float(np.max(np.abs(before))))
    if np.all(np.abs(before - after) <= tolerance * scale):
        return Outcome("ok")
    return Outcome(
        "wrong", f"rewrite: {rewrite}", f"{rewrite} changes the gradient",
        expected=str(before.tolist()), obtained=str(after.tolist()),
    )  # fmt: skip


def _answer(engine: Engine, folder: Path, program: Program) -> Vector:
    with loaded(program, folder) as case, limited(30.0), np.errstate(all="ignore"):
        return oracle.flatten(engine.value_and_grad(case))


def shrunk(plan: Plan, folder: Path, result: Result, most_runs: int = 800) -> Result:
    """A smaller program that fails with the same kind and cause."""
    assert result.program is not None
    wanted = (result.outcome.kind, result.outcome.cause)
    modes = result.outcome.mode
    checker = Checker(plan.engine, folder, second="over" in modes, seconds=10.0)
    latest = result.outcome

    def fails(program: Program) -> bool:
        nonlocal latest
        try:
            outcome = checker.check(program)
        except (NotTame, Exception):
            # A cut took away what the rest needs: the program no longer runs.
            return False
        if (outcome.kind, outcome.cause) != wanted:
            return False
        latest = outcome
        return True

    if not fails(result.program):
        # A rewrite that changes a gradient needs both programs: it is shown as it is.
        return result
    small = shrink(result.program, fails, most_runs)
    fails(small)
    return Result(result.number, latest, small)


def run(plan: Plan, numbers: Sequence[int], jobs: int = 1) -> Iterator[Result]:
    """Results in order of their numbers."""
    if jobs == 1:
        with temporary_folder() as folder, collected_seldom() as tick:
            for number in numbers:
                yield run_one(plan, Path(folder), number)
                tick()
        return
    with get_context("spawn").Pool(jobs, _start, (plan,)) as pool:
        yield from pool.imap(_work, numbers, chunksize=8)


_worker: dict[str, Any] = {}


def _start(plan: Plan) -> None:
    _worker["plan"] = plan
    _worker["folder"] = temporary_folder()


def _work(number: int) -> Result:
    return run_one(_worker["plan"], Path(_worker["folder"].name), number)
