"""The benchmarks run, and what they write is what they print. Speed itself is not tested."""

import importlib.util
import json
import math

import numpy as np
import pytest

from benchmarks import (
    arrays,
    comparing,
    compiling,
    crossover,
    dispatching,
    engines,
    loops,
    memory,
    plotting,
    scalar,
    scaling,
    tables,
    tape,
    timing,
)
from benchmarks.__main__ import main
from benchmarks.fifty_lines import TEXT
from benchmarks.workloads import ARRAYS, LOOPS, WRITTEN, Workload
from srcad.testing import check_grads

WORKLOADS = (*LOOPS, *ARRAYS, *WRITTEN)
PEERS = ("numba", "njit", "jax", "autograd")
REFUSED = {"gaussian_process"}
"""What srcad has not compiled by Numba: the adjoint of a Cholesky factor."""


def has(package):
    return importlib.util.find_spec(package) is not None


def once(workloads):
    """Workloads that share their generated code are one."""
    return {workload.code: workload for workload in workloads}.values()


def test_they_run_and_write_their_figures(tmp_path, capsys):
    file = tmp_path / "figures.json"
    assert main(["--tiny", "--json", str(file), "--without", *PEERS]) == 0
    text = capsys.readouterr().out
    record = json.loads(file.read_text())
    assert record["tiny"]
    assert set(record["loops"]["workloads"]) == {w.name for w in LOOPS}
    of_arrays = [found["workloads"] for found in record["arrays"].values()]
    assert {name for found in of_arrays for name in found} == {w.name for w in (*ARRAYS, *WRITTEN)}
    for records in (record["loops"]["workloads"], *of_arrays):
        for one in records.values():
            assert one["refused"] == {}
            assert one["wrong"] == []
            assert one["seconds"]["plain"] > 0
    assert set(record["scaling"]) == {series.name for series in scaling.SERIES}
    assert (file.with_suffix(".png").exists(), file.with_suffix(".svg").exists()) == (
        (has("matplotlib"),) * 2
    )
    assert ("plots in" in text) == has("matplotlib")
    assert len(record["scalar"]["ratios"]) == 3
    assert record["scalar"]["failed"] == {}
    for name in ("scalar", "compile"):
        assert record[name]["median"] > 0
    assert f"{record['scalar']['median']:6.2f}  median of 3 functions" in text
    assert f"{record['compile']['median'] * 1e3:6.1f} ms  median of 1 function" in text
    for one in record["dispatch"].values():
        assert one["call"] > 0
        assert one["code"] > 0


def test_one_of_them(tmp_path, capsys):
    file = tmp_path / "figures.json"
    main(["--tiny", "--only", "dispatch", "--json", str(file), "--without", *PEERS])
    assert "dispatch" in json.loads(file.read_text())
    assert "compile" not in capsys.readouterr().out


def test_the_compiled_function_has_fifty_lines(tmp_path):
    assert len(TEXT.splitlines()) == 50
    first, second = compiling.fresh_functions(tmp_path, 2)
    assert first is not second
    assert math.isfinite(first(0.7, 1.3, 5))
    assert first(0.7, 1.3, 5) == second(0.7, 1.3, 5)


def test_turns_are_timed_in_order():
    order = []
    timing.seconds_per_call([lambda: order.append("a"), lambda: order.append("b")], 2, 1e-5)
    changes = [one for k, one in enumerate(order) if k == 0 or order[k - 1] != one]
    assert changes == ["a", "b"] * 3  # one turn to see how long they take, then two rounds


def test_what_others_leave_in_memory_is_not_timed(monkeypatch):
    last, timed = [], []

    def call_of(name):
        def call():
            timed.append(last == [name])
            last[:] = [name]

        return call

    watched = timing._timed

    def first_of_a_turn(call, count):
        timed.clear()
        taken = watched(call, count)
        warm.append(timed[0])
        return taken

    warm = []
    monkeypatch.setattr(timing, "_timed", first_of_a_turn)
    timing.seconds_per_call([call_of("a"), call_of("b")], 3, 1e-5)
    assert warm[-6:] == [True] * 6


def test_a_case_that_fails_is_reported(monkeypatch):
    measured = scalar._measured

    def first_fails(case, rounds, budget):
        if case is scalar.CASES[0]:
            raise ValueError("no luck")
        return measured(case, rounds, budget)

    monkeypatch.setattr(scalar, "CASES", [c for c in scalar.CASES if "scalar" in c.tags])
    monkeypatch.setattr(scalar, "_measured", first_fails)
    result = scalar.measure(1, 1e-5, 2)
    assert result["failed"] == {scalar.CASES[0].id: "ValueError: no luck"}
    assert "no luck" in scalar.lines(result)[-1]


@pytest.mark.parametrize("loop", memory.LOOPS, ids=lambda loop: loop.function.__name__)
def test_loops_that_write_into_arrays(loop):
    args = loop.arguments(4)
    check_grads(loop.function, args, argnums=loop.argnums)


def test_the_memory_of_a_gradient_is_measured():
    found = memory.measure(1, 1e-5, tiny=True)
    assert set(found) == {loop.function.__name__ for loop in memory.LOOPS}
    for one in found.values():
        assert one["ratio"] > 0
        assert list(one["peak bytes"]) == list(memory.TINY)
        assert all(p["gradient"] > 0 and p["primal"] > 0 for p in one["peak bytes"].values())
    assert len(memory.lines(found)) == 1 + len(memory.LOOPS)


def test_the_modes_of_a_jacobian_are_compared():
    found = crossover.measure(1, 1e-5, tiny=True)
    assert set(found) == {"1, 2", "2, 1"}
    assert all(ratio > 0 for row in found.values() for ratio in row.values())
    assert "of the better mode" in crossover.lines(found)[-1]
    primal, dual, *others = [call() for call in crossover.calls(*crossover.arguments(3, 2))]
    assert primal.shape == (2,)
    assert len(others) == len(crossover.METHODS) - 1
    for jacobian in (np.transpose(dual), *others):
        np.testing.assert_allclose(jacobian, others[-1], rtol=1e-12)
    ahead = {"1, 9": {"jacfwd": 1.0, "jacrev": 2.0}, "9, 1": {"jacfwd": 2.0, "jacrev": 1.0}}
    assert crossover.crossing(ahead) == "reverse mode costs less from (n, m) = (9, 1) on"


@pytest.mark.parametrize("workload", once(WORKLOADS), ids=lambda w: w.name)
def test_the_gradients_of_the_workloads_are_right(workload):
    check_grads(workload.function, workload.arguments(workload.tiny), argnums=workload.argnums)


@pytest.mark.parametrize("workload", once(LOOPS), ids=lambda w: w.name)
def test_the_tape_agrees(workload):
    found = comparing.compare(workload, ("primal", "plain", "tape"), 1, 1e-5, tiny=True)
    assert found["refused"] == {}
    assert found["wrong"] == []
    assert tape.NODES == []


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.skipif(not has("numba"), reason="needs Numba")
@pytest.mark.parametrize("workload", once(WORKLOADS), ids=lambda w: w.name)
def test_what_numba_compiles_agrees(workload):
    found = comparing.compare_all([workload], ("primal", "plain", "numba", "njit"), 1, 1e-5, True)
    record = found["workloads"][workload.name]
    assert record["wrong"] == []
    assert ("numba" in record["refused"]) == (workload.name in REFUSED)


@pytest.mark.slow
@pytest.mark.parametrize("peer", ["jax", "autograd"])
@pytest.mark.parametrize("workload", once(WORKLOADS), ids=lambda w: w.name)
def test_other_packages_agree(workload, peer):
    if not has(peer):
        pytest.skip(f"needs {peer}")
    found = comparing.compare_all([workload], ("primal", "plain", peer), 1, 1e-5, True)
    record = found["workloads"][workload.name]
    assert record["wrong"] == []
    assert peer == "autograd" or record["refused"] == {}


def square(x):
    return x * x


SQUARE = Workload(square, lambda n: (3.0,), 1, 1, (0,), plain=2.0)


def test_who_is_wrong_and_who_refuses_is_printed(monkeypatch):
    def refusing(workload, args):
        raise TypeError("Failed in a mode\nno squares at <it at 0x7f00>:\n\n  here")

    monkeypatch.setitem(engines.ENGINES, "jax", lambda w, args: lambda: (9.0, (6.001,)))
    monkeypatch.setitem(engines.ENGINES, "autograd", refusing)
    monkeypatch.setattr(comparing, "is_installed", lambda name: name != "njit")
    monkeypatch.setattr(comparing, "_warm_up", lambda names: None)
    result = comparing.compare_all(
        [SQUARE], ("primal", "plain", "njit", "jax", "autograd"), 1, 1e-5
    )
    record = result["workloads"]["square"]
    assert record["wrong"] == ["jax"]
    assert set(record["seconds"]) == {"primal", "plain", "jax"}
    row = loops.lines(result)[1].split()
    assert row[:1] == ["square"]
    assert row[-2:] == ["WRONG", "refused"]
    assert "autograd refuses square: TypeError: no squares at <it>: here" in loops.lines(result)
    assert loops.lines(result)[-1] == "numba is not installed"


def test_ratios_are_judged():
    ours, theirs = tables.Ratio("plain", "primal", "plain"), tables.Ratio("jax", "plain", "jax")
    targets = {"plain": 2.0, "jax": 1.0}
    assert ours.judged(1.5, targets) == "1.50 ≤ 2"
    assert ours.judged(12.34, targets) == "12.3 > 2"
    assert theirs.judged(1.5, targets) == "1.50 ≥ 1"
    assert theirs.judged(0.5, targets) == "0.50 < 1"
    assert ours.judged(123.4, {}) == "123"


def test_first_calls_are_judged_in_plain_mode():
    records = {
        "slow": {"first call": {"plain": 0.2, "jax": 0.2}},
        "again": {"first call": {}},
        "fast": {"first call": {"plain": 0.0501}},
    }
    text = [line.split() for line in tables.first_calls(records, ("plain", "jax"))]
    assert text[1:] == [["slow", "200", ">", "100", "200"], ["fast", "50", "≤", "100", "–"]]


def test_values_and_gradients_have_to_agree():
    right = (1.0, (np.array([1.0, 1e-9]), 2.0))
    assert comparing.agree(1.0, ([1.0, 0.0], 2.0 + 1e-6), right)
    assert not comparing.agree(1.0, ([1.0, 0.0], 2.0 + 1e-5), right)
    assert not comparing.agree(1.1, None, right)
    assert not comparing.agree(1.0, ([1.0], 2.0), right)
    assert not comparing.agree(float("nan"), None, right)


def test_a_slow_call_has_a_single_turn(monkeypatch):
    monkeypatch.setattr(timing, "SLOW", -1.0)
    monkeypatch.setattr(timing, "BRIEF", -1.0)
    calls = []
    timing.seconds_per_call([lambda: calls.append(1)], 5, 1e-9)
    assert len(calls) == 2  # one to see how long it takes


def test_the_memory_of_a_step_is_what_is_explained():
    for series in scaling.SERIES:
        found = scaling._bytes_of_a_step(series, *scaling.STEPS)
        assert abs(found["measured"] - found["said"]) <= 0.02 * found["said"] + 0.5, series.name


def test_plots_need_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert plotting.plot({}, tmp_path / "figures.json") == "no plots: matplotlib is not installed"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not has("matplotlib"), reason="needs matplotlib")
def test_plots(tmp_path):
    series = {"ratios": {"plain/primal": {"10": 2.0, "100": 2.5}}}
    said = plotting.plot({"chain": series}, tmp_path / "figures.json")
    assert said.startswith("plots in")
    assert (tmp_path / "figures.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "figures.svg").read_text()


def test_every_section_says_what_it_is():
    for module in (arrays, compiling, crossover, dispatching, loops, memory, scalar, scaling):
        assert module.TITLE
