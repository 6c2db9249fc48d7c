"""Random programs that write arrays: a fixed sample, and that the harness finds what is planted.

SRCAD_FUZZ_ARRAYS sets the size of the sample; `python -m tests.fuzz.arrays` runs any number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcad
from tests.fuzz.arrays.__main__ import standalone
from tests.fuzz.arrays.campaign import Plan, program_of, run, shrunk
from tests.fuzz.arrays.check import check
from tests.fuzz.arrays.program import ArrayProgram
from tests.fuzz.arrays.reference import Reference, Untame, flatten
from tests.fuzz.arrays.rewrite import REWRITES
from tests.fuzz.choices import SeededChoices
from tests.fuzz.runner import temporary_folder

COUNT = int(os.environ.get("SRCAD_FUZZ_ARRAYS", "40"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with temporary_folder() as path:
        yield Path(path)


@pytest.mark.parametrize(("backend", "seed"), [("python", 7), ("plain", 8)])
def test_sample_against_complex_step(folder: Path, backend: str, seed: int) -> None:
    plan = Plan(seed, most=6, second_every=0, backend=backend)
    results = list(run(plan, range(COUNT)))
    failed = [r for r in results if r.outcome.failed]
    shown = [standalone(shrunk(folder, r, 200)) for r in failed[:2]]
    assert not failed, "\n\n".join(shown)
    # A sample that is refused or skipped shows nothing.
    assert sum(r.outcome.kind == "ok" for r in results) >= 0.75 * COUNT


def test_wrong_answers_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import numpy as np\n\ndef f(x, s):\n    u = x * s\n    u[1:] *= u[:-1]\n    return u\n"
    program = ArrayProgram(text, (np.array([0.7, -1.3, 0.4]), 0.8))
    assert check(program, folder).kind == "ok"
    jvp = srcad.jvp

    def scaled(function: Callable[..., Any], *given: Any) -> Any:
        value, tangent = jvp(function, *given)
        return value, tangent * 1.0001

    monkeypatch.setattr(srcad, "jvp", scaled)
    outcome = check(program, folder)
    assert (outcome.kind, outcome.mode) == ("wrong", "forward")


def test_text_depends_on_the_seed_alone() -> None:
    texts = [program_of(Plan(4), k)[0].text for k in range(5)]
    assert texts == [program_of(Plan(4), k)[0].text for k in range(5)]
    assert len(set(texts)) == 5


def test_most_programs_run() -> None:
    ran = 0
    for number in range(100):
        try:
            Reference(program_of(Plan(5), number)[0]).value()
        except (Untame, IndexError, TypeError, ValueError):
            continue
        ran += 1
    assert ran >= 90


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_rewrites_keep_value_and_derivative(name: str) -> None:
    """By complex step, which does not know the compiler: the rewrites are right."""
    done = 0
    for number in range(80):
        program, _ = program_of(Plan(6), number)
        rewritten = REWRITES[name](program, SeededChoices(8, number))
        if rewritten is None:
            continue
        try:
            before = Reference(program).value(), Reference(program).jacobian()
            after = Reference(rewritten).value(), Reference(rewritten).jacobian()
        except (Untame, IndexError, TypeError, ValueError):
            continue
        assert np.allclose(flatten(before[0]), flatten(after[0]), rtol=1e-9), rewritten.text
        assert np.allclose(before[1], after[1], rtol=1e-7, atol=1e-9), rewritten.text
        done += rewritten.text != program.text
    assert done >= 10
