"""The zoo through the code for Numba, against the same oracle.

Run as plain Python that code is quick to check, all of it; compiled, it takes seconds for each
function: a part of the zoo, and the rest among the slow tests.  What is refused says why.
"""

from __future__ import annotations

import pytest

from srcad.errors import NotCompilable
from tests.backends.compiled import Numba, uncompiled
from tests.test_zoo import check_mode, runs
from tests.zoo import CASES, Case

pytest.importorskip("numba")
pytestmark = pytest.mark.numba

EVERY = 13
"""One in so many functions is compiled in each run."""

LEFT = {
    "loops_for.array_reassigned_on_some_paths_of_a_loop",
    "loops_for.arrays_of_another_size_in_each_iteration",
    "numpy_index.slices_cut_off_where_the_array_ends",
    "numpy_index.slices_clipped_to_what_there_is",
    "numpy_index.slices_of_several_axes_cut_off",
    "numpy_index.mask_of_matrix",
    "arrays_written.values_with_more_axes_than_the_place",
    "numpy_methods.chained_methods",
}
"""Functions for whose arguments the assumptions of compiled code do not hold: about sizes, or that
what is reshaped is contiguous."""


def check(case: Case, mode: str) -> bool:
    """Check a case; whether it was compiled."""
    engine = Numba()
    try:
        check_mode(case, mode, engine)
    except NotCompilable as refusal:
        text = str(refusal)
        assert "Numba" in text
        assert "backend='python'" in text
        return False
    if case.id.partition("[")[0] not in LEFT:
        assert engine.slow == []
    return True


@pytest.mark.parametrize(("case", "mode"), runs(CASES, ("reverse",)))
def test_code(case: Case, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with uncompiled(monkeypatch):
        check(case, mode)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "mode"), runs(CASES, ("value", "forward")))
def test_code_of_other_modes(case: Case, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with uncompiled(monkeypatch):
        check(case, mode)


@pytest.mark.parametrize(("case", "mode"), runs(CASES[::EVERY], ("reverse",)))
def test_compiled(case: Case, mode: str) -> None:
    check(case, mode)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "mode"), runs(CASES, ("reverse",)))
def test_all_compiled(case: Case, mode: str) -> None:
    check(case, mode)
