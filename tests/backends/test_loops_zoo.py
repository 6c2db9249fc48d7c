"""The zoo with array code turned into loops, against the same oracle."""

from __future__ import annotations

import pytest

import srcad
from tests.backends.looped import looped
from tests.test_zoo import check_mode, runs
from tests.zoo import CASES, Case


@pytest.mark.parametrize(("case", "mode"), runs(CASES, ("reverse",)))
def test_zoo(case: Case, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with looped(monkeypatch):
        check_mode(case, mode, srcad)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "mode"), runs(CASES, ("value", "forward")))
def test_zoo_in_other_modes(case: Case, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with looped(monkeypatch):
        check_mode(case, mode, srcad)
