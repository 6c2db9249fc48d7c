"""Random programs through the code for Numba, run as plain Python.

`python -m tests.fuzz --engine numba` and `python -m tests.fuzz.arrays --backend numba` run any
number, compiled.
"""

from __future__ import annotations

import pytest

from tests.backends.compiled import uncompiled
from tests.fuzz import campaign
from tests.fuzz.arrays import campaign as arrays
from tests.fuzz.engines import Srcad
from tests.fuzz.report import summary

pytest.importorskip("numba")
pytestmark = pytest.mark.numba


@pytest.mark.filterwarnings("ignore::srcad.errors.SlowFallback")
def test_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = campaign.Plan(Srcad(backend="numba"), seed=77, second_every=4, rewrite_every=0)
    tally = campaign.Tally()
    with uncompiled(monkeypatch):
        for result in campaign.run(plan, range(40)):
            tally.add(result)
    assert not tally.failures, summary(tally, 0.0)
    assert tally.counts["ok"] >= 12, summary(tally, 0.0)


def test_programs_with_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = arrays.Plan(seed=5, second_every=4, rewrite_every=0, backend="numba")
    with uncompiled(monkeypatch):
        found = [result.outcome for result in arrays.run(plan, range(40))]
    failed = [o for o in found if o.kind not in ("ok", "refused", "skipped")]
    assert not failed, failed[0]
    assert sum(o.kind == "ok" for o in found) >= 6
