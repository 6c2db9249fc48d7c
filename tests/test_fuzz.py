"""Random programs: a fixed sample of them, and that the harness finds what is planted.

SRCAD_FUZZ_COUNT sets the size of the sample; `python -m tests.fuzz` runs any number.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srcad.options import Options
from tests.fuzz import oracle
from tests.fuzz.campaign import Plan, Tally, compare_rewritten, run, run_one, shrunk
from tests.fuzz.choices import DrawnChoices, SeededChoices
from tests.fuzz.engines import Case, Differences, Planted, Srcad
from tests.fuzz.generate import generate
from tests.fuzz.metamorphic import REWRITES
from tests.fuzz.printer import source
from tests.fuzz.report import standalone, summary
from tests.fuzz.runner import Checker, loaded, tame, temporary_folder
from tests.fuzz.tree import Program, size

COUNT = int(os.environ.get("SRCAD_FUZZ_COUNT", "150"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with temporary_folder() as path:
        yield Path(path)


def program_of(seed: int, number: int) -> Program | None:
    choices = SeededChoices(seed, number)
    return tame(generate(choices), choices)


def test_sample_against_oracle(folder: Path) -> None:
    plan = Plan(Srcad(), seed=20, second_every=0)
    tally = Tally()
    for result in run(plan, range(COUNT)):
        tally.add(result)
    shown = [standalone(shrunk(plan, folder, results[0])) for _, results in tally.failures[:3]]
    assert not tally.failures, summary(tally, 0.0) + "\n\n" + "\n\n".join(shown)
    # A sample that is refused or skipped shows nothing.
    assert tally.counts["ok"] >= 0.9 * COUNT, summary(tally, 0.0)


def test_sample_without_passes(folder: Path) -> None:
    plan = Plan(Srcad(options=Options.none()), seed=22, second_every=6, rewrite_every=0)
    tally = Tally()
    for result in run(plan, range(COUNT // 3)):
        tally.add(result)
    shown = [standalone(shrunk(plan, folder, results[0])) for _, results in tally.failures[:3]]
    assert not tally.failures, "\n\n".join(shown)
    assert tally.counts["ok"] >= 0.9 * (COUNT // 3), summary(tally, 0.0)


def test_second_orders(folder: Path) -> None:
    plan = Plan(Srcad(), seed=21, second_every=1, rewrite_every=0)
    tally = Tally()
    for result in run(plan, range(COUNT // 4)):
        tally.add(result)
    shown = [standalone(shrunk(plan, folder, results[0])) for _, results in tally.failures[:3]]
    assert not tally.failures, "\n\n".join(shown)
    assert tally.counts["ok"] >= 0.9 * (COUNT // 4), summary(tally, 0.0)


# To report a failure Hypothesis may import a module that warns of itself: not our warning.
@pytest.mark.filterwarnings("ignore:mypy_extensions:DeprecationWarning")
@settings(
    max_examples=max(10, COUNT // 5), deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.large_base_example],
)  # fmt: skip
@given(data=st.data())
def test_drawn_programs_against_oracle(data: st.DataObject) -> None:
    choices = DrawnChoices(data)
    program = tame(generate(choices, max_statements=6), choices, attempts=2)
    if program is None:
        return
    with temporary_folder() as path:
        outcome = Checker(Srcad(), Path(path)).check(program)
    assert not outcome.failed, f"{source(program)}\nargs = {program.args}\n{outcome}"


def test_planted_fault_is_found_and_shrunk(folder: Path) -> None:
    """A gradient scaled by 1.001 where a program calls a sine is found, and cut to the sine."""
    plan = Plan(Planted(Differences(), "math.sin("), seed=1)
    results = [run_one(plan, folder, number) for number in range(12)]
    found = [result for result in results if result.outcome.kind == "wrong"]
    assert found
    for result in found[:3]:
        assert result.program is not None
        small = shrunk(plan, folder, result)
        assert small.program is not None
        assert small.outcome.kind == "wrong"
        text = source(small.program)
        assert "math.sin(" in text
        assert size(small.program) <= 12 < size(result.program), text


def test_planted_fault_of_srcad_itself_is_found(folder: Path) -> None:
    program = program_of(2, 0)
    assert program is not None
    assert Checker(Srcad(), folder).check(program).kind == "ok"
    outcome = Checker(Planted(Srcad()), folder).check(program)
    assert outcome.kind == "wrong"
    assert outcome.mode == "reverse"


class _WrongForward(Differences):
    def jvp(self, case: Case, tangents: tuple[object, ...]) -> tuple[float, float]:
        value, tangent = super().jvp(case, tangents)
        return value, 1.001 * tangent


class _WrongSecond(Differences):
    def hvp(self, case: Case, tangents: tuple[object, ...]) -> object:
        product = 1.001 * oracle.flatten(super().hvp(case, tangents)).astype(float)
        return oracle.unflatten(case.program.args, product)


class _WrongReverseTwice(Differences):
    def reverse_over_reverse(self, case: Case, argnum: int) -> object:
        return 1.001 * np.asarray(super().reverse_over_reverse(case, argnum))


class _Crashing(Differences):
    def value_and_grad(self, case: Case) -> tuple[float, object]:
        raise KeyError("lost")


@pytest.mark.parametrize(
    ("engine", "kind", "mode"),
    [
        (_WrongForward(), "wrong", "forward"),
        (_WrongSecond(), "wrong", "forward over reverse"),
        (_WrongReverseTwice(), "wrong", "reverse over reverse, argument 0"),
        (_Crashing(), "crash", "reverse"),
        (Differences(), "ok", ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Differences) else None,
)
def test_every_mode_is_compared(folder: Path, engine: Differences, kind: str, mode: str) -> None:
    program = next(
        program
        for program in (program_of(3, number) for number in range(50))
        if program is not None and isinstance(program.args[0], float) and curvature(program) > 0.01
    )
    outcome = Checker(engine, folder, second=True).check(program)
    assert (outcome.kind, outcome.mode) == (kind, mode)


def curvature(program: Program) -> float:
    """How much a second derivative by the first entry has to say."""
    probe = oracle.Prober(program)
    unit = np.eye(probe.point.size)[0]
    return abs(float(oracle.second(probe, unit, unit)[0]))


def test_text_depends_on_the_seed_alone() -> None:
    texts = [source(generate(SeededChoices(4, number))) for number in range(5)]
    assert texts == [source(generate(SeededChoices(4, number))) for number in range(5)]
    assert len(set(texts)) == 5


def test_generated_programs_run_and_most_are_tame(folder: Path) -> None:
    tried, tame_ones = 60, 0
    for number in range(tried):
        program = program_of(5, number)
        if program is None:
            continue
        tame_ones += 1
        with loaded(program, folder) as case:
            value = case.function(*case.args())
            traced = oracle.Prober(program).value
            assert abs(value - traced) <= 1e-10 * max(1.0, abs(value))
    assert tame_ones >= 0.9 * tried


def test_the_grammar_is_covered() -> None:
    """Programs of one seed show every kind of statement the fuzzer is for."""
    text = "\n".join(source(generate(SeededChoices(6, number))) for number in range(150))
    for sign in (
        "elif ", "else:", "for ", "while ", "break", "continue", "return ", " in range(",
        " in zip(", " in enumerate(", ".items()", ".append(", ".pop()", "lambda ", "nonlocal ",
        "n - 1)", " += ", " *= ", ":= ", "np.dot(", "np.where(", "np.concatenate(", " @ ", ".T",
        "[::-1]", "[1:]", "sum(", "sorted(", "with ", "finally:",
    ):  # fmt: skip
        assert sign in text, sign


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_rewrites_keep_value_and_gradient(folder: Path, name: str) -> None:
    """Against the differences, which do not know the compiler: the rewrites are right."""
    done = changed = 0
    for number in range(60):
        program = program_of(7, number)
        if program is None:
            continue
        rewritten = REWRITES[name](program, SeededChoices(8, number))
        if rewritten is None:
            continue
        outcome = compare_rewritten(Differences(), folder, program, rewritten, name, 1e-9)
        assert outcome.kind == "ok", f"{source(program)}\n{source(rewritten)}\n{outcome}"
        done += 1
        changed += source(program) != source(rewritten)
        if done == 12:
            break
    assert done >= 3
    assert changed == done
