"""Many programs: each number of a seed is one program, checked and sometimes rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import srcad
from srcad.options import Options
from tests.backends.compiled import Numba
from tests.fuzz.arrays.check import check
from tests.fuzz.arrays.generate import generate
from tests.fuzz.arrays.program import ArrayProgram
from tests.fuzz.arrays.rewrite import REWRITES, compare
from tests.fuzz.arrays.shrink import shrink
from tests.fuzz.choices import SeededChoices
from tests.fuzz.runner import Outcome, collected_seldom, temporary_folder


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run."""

    seed: int = 0
    most: int = 9
    """Statements, about."""
    second_every: int = 4
    rewrite_every: int = 3
    backend: str = "python"

    @property
    def engine(self) -> Any:
        """What has the transforms."""
        match self.backend:
            case "numba":
                return Numba()
            case "plain":
                names = ("grad", "value_and_grad", "vjp", "jvp", "hvp")
                off = Options.none()
                return SimpleNamespace(
                    **{name: partial(getattr(srcad, name), options=off) for name in names}
                )
        return srcad

    @property
    def title(self) -> str:
        """What is run, besides the seed."""
        return (
            f"arrays of {self.most} statements, second order of every {self.second_every}th,"
            f" rewrite of every {self.rewrite_every}th"
            + ("" if self.backend == "python" else f", by {self.backend}")
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one program."""

    number: int
    outcome: Outcome
    program: ArrayProgram
    rewrite: str = ""


def program_of(plan: Plan, number: int) -> tuple[ArrayProgram, SeededChoices]:
    choices = SeededChoices(plan.seed, number)
    return generate(choices, plan.most), choices


def run_one(plan: Plan, folder: Path, number: int) -> Result:
    program, choices = program_of(plan, number)
    second = plan.second_every > 0 and number % plan.second_every == 0
    reverse = ("both", "vjp", "grad")[number % 3]
    outcome = named(check(program, folder, second, reverse=reverse, engine=plan.engine))
    if outcome.kind == "ok" and plan.rewrite_every and number % plan.rewrite_every == 0:
        rewrite = choices.pick(sorted(REWRITES))
        rewritten = REWRITES[rewrite](program, choices)
        if rewritten is not None:
            return Result(number, named(compare(program, rewritten, rewrite, folder)), rewritten,
                          rewrite)  # fmt: skip
    return Result(number, outcome, program)


def named(outcome: Outcome) -> Outcome:
    """With the message of a crash in its cause, without what differs between programs."""
    if outcome.kind != "crash":
        return outcome
    last = [
        line for line in outcome.detail.splitlines() if re.match(r"[\w.]+(Error|IR|Out)\b", line)
    ]
    text = re.sub(
        r"%?\w*\d+\w*(:\w+)?|'[^']*'|line .*?: .*?: |<.*?>", "_", last[-1] if last else ""
    )
    return replace(outcome, cause=f"{outcome.cause}: {text[:110]}")


def shrunk(folder: Path, result: Result, most_runs: int = 500, engine: Any = srcad) -> Result:
    """A smaller program that fails with the same kind and cause."""
    wanted = (result.outcome.kind, result.outcome.cause)
    latest = result.outcome
    second = "over" in latest.mode

    def fails(program: ArrayProgram) -> bool:
        nonlocal latest
        try:
            outcome = named(check(program, folder, second, 20.0, engine=engine))
        except Exception:
            return False
        if (outcome.kind, outcome.cause) == wanted:
            latest = outcome
            return True
        return False

    if not fails(result.program):
        return result  # a rewrite that changes a gradient, which needs both programs
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
        yield from pool.imap(_work, numbers, chunksize=4)


_worker: dict[str, Any] = {}


def _start(plan: Plan) -> None:
    _worker["plan"] = plan
    _worker["folder"] = temporary_folder()


def _work(number: int) -> Result:
    return run_one(_worker["plan"], Path(_worker["folder"].name), number)
