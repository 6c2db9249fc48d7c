"""The benchmarks run, and what they write is what they print. Speed itself is not tested."""

import json
import math

import numpy as np
import pytest

from benchmarks import compiling, crossover, memory, scalar, timing
from benchmarks.__main__ import main
from benchmarks.fifty_lines import TEXT
from srcad.testing import check_grads


def test_they_run_and_write_their_figures(tmp_path, capsys):
    file = tmp_path / "figures.json"
    assert main(["--tiny", "--json", str(file)]) == 0
    text = capsys.readouterr().out
    record = json.loads(file.read_text())
    assert record["tiny"]
    assert len(record["scalar"]["ratios"]) == 3
    assert record["scalar"]["failed"] == {}
    for name in ("scalar", "compile"):
        assert record[name]["median"] > 0
    assert f"{record['scalar']['median']:6.2f}  median of 3 functions" in text
    assert f"{record['compile']['median'] * 1e3:6.1f} ms  median of 1 function" in text
    assert record["dispatch"]["call"] > 0
    assert record["dispatch"]["code"] > 0


def test_one_of_them(tmp_path, capsys):
    file = tmp_path / "figures.json"
    main(["--tiny", "--only", "dispatch", "--json", str(file)])
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
    x, w = crossover.arguments(3, 2)
    np.testing.assert_array_equal(crossover.chains(x, w), crossover.listed(x, w))
    ahead = {"1, 9": {"jacfwd": 1.0, "jacrev": 2.0}, "9, 1": {"jacfwd": 2.0, "jacrev": 1.0}}
    assert crossover.crossing(ahead) == "reverse mode costs less from (n, m) = (9, 1) on"
