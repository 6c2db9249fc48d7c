"""The text of generated code: compared with what is kept in `golden/`, and run as it stands there.

After a change that is meant to show: `SRCAD_UPDATE_GOLDEN=1 pytest tests/test_golden.py`, and read
the difference as a user would.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcad
from srcad.codegen.load import load
from srcad.options import Options
from srcad.pipeline import Compiled
from srcad.points import PointMaker, VjpMaker
from srcad.testing import reference_gradients, reference_jvp
from srcad.testing.reference import pull_back
from tests.golden import primals

FOLDER = Path(__file__).parent / "golden"
UPDATE = os.environ.get("SRCAD_UPDATE_GOLDEN") == "1"

RTOL = 1e-12
"""Of the oracle: it runs the same formulas in another order."""


@dataclass(frozen=True, slots=True)
class Golden:
    """One derivative at one tuple of arguments."""

    function: Callable[..., Any]
    transform: str
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    direction: Any = None
    "The tangents of `jvp` and `hvp`, the cotangent of `vjp`."

    @property
    def id(self) -> str:
        return f"{self.function.__name__}_{self.transform}"

    def fresh(self) -> tuple[Any, ...]:
        return copy.deepcopy(self.args)


X = np.array([0.4, -1.3, 0.9, 2.0])
M = np.array([[0.4, -1.3, 0.9], [2.0, 0.1, -0.6]])
W1 = np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]])
W2 = np.array([[1.1], [-0.9]])
SPD = np.array([[3.0, 0.4, 0.1], [0.4, 2.0, 0.3], [0.1, 0.3, 1.0]])
DIRECTION = (M[::-1].copy(), np.ones(3), np.ones(2))

GOLDENS = [
    Golden(primals.straight_line, "grad", (0.7, 1.3), (0, 1)),
    Golden(primals.straight_line, "jvp", (0.7, 1.3), direction=(0.5, -2.0)),
    Golden(primals.straight_line, "vjp", (0.7, 1.3), (0, 1), direction=1.5),
    Golden(primals.overwritten, "value_and_grad", (0.7,)),
    Golden(primals.branches, "grad", (0.7, 1.3), (0, 1)),
    Golden(primals.guard_clauses, "grad", (0.7,)),
    Golden(primals.ternary, "grad", (-0.7, 0.1), (0, 1)),
    Golden(primals.counted_loop, "grad", (0.7, 4)),
    Golden(primals.counted_loop, "derivative", (0.7, 4)),
    Golden(primals.reduction_loop, "grad", (X,)),
    Golden(primals.nested_loops, "grad", (0.7, 1.1, 3), (0, 1)),
    Golden(primals.branch_in_loop, "grad", (0.7, 5)),
    Golden(primals.newton, "grad", (2.0,)),
    Golden(primals.break_out, "grad", (0.7,)),
    Golden(primals.return_from_loop, "grad", (1.2, [0.5, 1.5, 2.5, 3.5]), (0, 1)),
    Golden(primals.list_appended, "grad", (0.7, 3)),
    Golden(primals.list_comprehension, "grad", ([0.5, -1.5, 2.5], 0.3), (0, 1)),
    Golden(primals.dict_of_parameters, "grad", ({"w": 0.3, "b": -0.1, "out": 2.0}, 0.7)),
    Golden(primals.closure, "grad", (0.7, 1.3), (0, 1)),
    Golden(primals.helper_calls, "grad", (0.7, 1.3), (0, 1)),
    Golden(primals.power, "grad", (1.1, 13)),
    Golden(primals.module_constant, "grad", (0.7, 3.0), (0, 1)),
    Golden(primals.elementwise, "grad", (X, 0.3), (0, 1)),
    Golden(primals.reductions, "grad", (M,)),
    Golden(primals.broadcasting, "grad", (M, X[:3].copy(), 0.5), (0, 1, 2)),
    Golden(primals.softmax_loss, "value_and_grad", (X, 2)),
    Golden(primals.indexing, "grad", (X, np.array([1, 1, 3]))),
    Golden(primals.network, "grad", (W1, np.array([0.1, -0.2]), W2, M), (0, 1, 2)),
    Golden(primals.guarded_where, "grad", (np.array([4.0, 1.0, 0.25]),)),
    Golden(primals.heat_steps, "grad", (X, 3)),
    Golden(primals.array_of_entries, "grad", (0.7, 1.3), (0, 1)),
    Golden(primals.recurrence, "grad", (X, 0.5), (0, 1)),
    Golden(primals.polar, "jacfwd", (np.array([1.5, 0.4]),)),
    Golden(primals.polar, "jacrev", (np.array([1.5, 0.4]),)),
    Golden(primals.quartic, "hvp", (0.7, 1.3), direction=(1.0, 0.5)),
    Golden(primals.objective, "hessian", (X,)),
    Golden(primals.pairs_of_rows, "grad", (np.array([[0.4, -1.3, 0.9], [2.0, 0.1, -0.6]]),)),
    Golden(primals.list_rewritten, "grad", (0.7, 4)),
    Golden(primals.running_sums, "grad", (M, X[:3].copy()), (0, 1)),
    Golden(primals.cholesky, "grad", (W1 @ W1.T + np.eye(3),)),
    Golden(
        primals.kalman,
        "grad",
        (X[:2], np.eye(2), X.reshape(4, 1), W1[:2], np.array([[1.0, 0.5]]), np.eye(2), np.eye(1)),
        (0, 3),
    ),
    Golden(primals.flat_view_scaled, "grad", (M, 1.5), argnums=(0, 1)),
    Golden(primals.two_buffers, "grad", (X, X[::-1].copy(), 3), (0, 1)),
    Golden(primals.three_buffers, "grad", (X, 0.3, 3)),
    Golden(primals.rules_reductions, "grad", (M, X[:3].copy(), X[:2].copy())),
    Golden(primals.rules_reductions, "jvp", (M, X[:3].copy(), X[:2].copy()), direction=DIRECTION),
    Golden(primals.rules_norms, "grad", (M, X[:2].copy()), (0, 1)),
    Golden(primals.rules_choices, "grad", (X, X[::-1].copy()), (0, 1)),
    Golden(primals.rules_elementwise, "grad", (X, X[::-1].copy()), (0, 1)),
    Golden(primals.rules_exponentials, "grad", (X,)),
    Golden(primals.rules_products, "grad", (M, W1, X[:2].copy()), (0, 1, 2)),
    Golden(primals.rules_solvers, "grad", (SPD, X[:3].copy()), (0, 1)),
    Golden(primals.rules_determinants, "grad", (SPD,)),
    Golden(primals.rules_factors, "grad", (SPD, X[:3].copy())),
    Golden(primals.rules_eigenvalues, "grad", (SPD, X[:3].copy())),
    Golden(primals.rules_eigenvectors, "grad", (SPD, X[:3].copy())),
    Golden(primals.rules_eigenvectors, "jvp", (SPD, X[:3].copy()), direction=(SPD, X[:3].copy())),
    Golden(primals.rules_singular_values, "grad", (M,)),
    Golden(primals.rules_joins, "grad", (X[:3].copy(), X[1:].copy(), np.ones(6)), (0, 1)),
    Golden(primals.rules_matrices, "grad", (SPD, X[:3].copy()), (0, 1)),
    Golden(primals.rules_scans, "grad", (X, X[:2].copy()), (0, 1)),
    Golden(primals.rules_picks, "grad", (X, np.array([1, 1, 3]), X[:3].copy()), (0, 2)),
    Golden(primals.rules_spectra, "grad", (X,)),
    Golden(primals.rules_grids, "grad", (0.7, 1.3, X[:3].copy()), (0, 1, 2)),
    Golden(primals.levels_of_a_tank, "grad", (1.5, 2.0, 5), (0, 1)),
    Golden(primals.deviations, "value_and_grad", (0.7, 1.3), (0, 1)),
    Golden(primals.energy_of_a_lattice, "value_and_grad", (M, 0.3), (0, 1)),
    Golden(primals.mean_energy, "value_and_grad", (1.3, 4)),
]


def compiled(golden: Golden) -> dict[str, Compiled]:
    """What is generated, by the name of its file."""
    function, args = golden.function, golden.fresh()
    match golden.transform:
        case "jvp" | "hvp":
            maker = PointMaker(golden.transform, function, Options())
            layout = maker._layout.split((args, golden.direction))
            return {golden.id: maker.compiled_for(*layout)}
        case "vjp":
            pair = VjpMaker(function).pair_for(args)
            return {f"{golden.id}_fwd": pair.forward, f"{golden.id}_rev": pair.reverse}
    made = getattr(srcad, golden.transform)(function, golden.argnums)
    return {golden.id: made.compiled_for(*made.bind(*args))}


def run_text(text: str, code: Compiled, args: tuple[Any, ...]) -> Any:
    """What the function in the text returns."""
    loaded = load(text, code.emitted.name, code.emitted.bindings, None)
    return getattr(loaded.module, code.emitted.name)(*args, *code.data(args))


def by_text(golden: Golden, texts: dict[str, str], codes: dict[str, Compiled]) -> Any:
    match golden.transform:
        case "jvp" | "hvp":
            args = golden.fresh(), golden.direction
            return run_text(texts[golden.id], codes[golden.id], args)
        case "vjp":
            forward, reverse = f"{golden.id}_fwd", f"{golden.id}_rev"
            value, saved = run_text(texts[forward], codes[forward], golden.fresh())
            return value, run_text(texts[reverse], codes[reverse], (saved, golden.direction))
    return run_text(texts[golden.id], codes[golden.id], golden.fresh())


def by_derivative(golden: Golden) -> Any:
    args = golden.fresh()
    match golden.transform:
        case "jvp" | "hvp":
            return getattr(srcad, golden.transform)(golden.function, args, golden.direction)
        case "vjp":
            value, pull = srcad.vjp(golden.function, *args)
            return value, pull(golden.direction)
    return getattr(srcad, golden.transform)(golden.function, golden.argnums)(*args)


def by_oracle(golden: Golden) -> Any:
    function, args = golden.function, golden.fresh()

    def gradient(*primals: Any) -> Any:
        return reference_gradients(function, primals, golden.argnums)

    def columns(f: Callable[..., Any]) -> Any:
        (x,) = args
        return np.stack([reference_jvp(f, (x,), (e,))[1] for e in np.eye(x.size)], axis=-1)

    match golden.transform:
        case "grad":
            return gradient(*args)
        case "value_and_grad":
            return function(*args), gradient(*args)
        case "derivative":
            return reference_jvp(function, args, (1.0, 0))[1]
        case "jvp":
            return reference_jvp(function, args, golden.direction)
        case "vjp":
            value, pulled = pull_back(function, args, (0, 1), golden.direction)
            return value, tuple(pulled)
        case "hvp":
            both = reference_gradients
            return reference_jvp(lambda *p: both(function, p, (0, 1)), args, golden.direction)[1]
        case "jacfwd" | "jacrev":
            return columns(function)
        case "hessian":
            return columns(gradient)
    raise ValueError(golden.transform)


def assert_close(mine: Any, like: Any, rtol: float) -> None:
    if isinstance(like, (tuple, list)):
        assert isinstance(mine, (tuple, list)) and len(mine) == len(like)
        for one, other in zip(mine, like, strict=True):
            assert_close(one, other, rtol)
    elif isinstance(like, dict):
        assert mine.keys() == like.keys()
        for key in like:
            assert_close(mine[key], like[key], rtol)
    else:
        assert np.shape(mine) == np.shape(like)
        np.testing.assert_allclose(mine, like, rtol=rtol, atol=rtol)


@pytest.fixture(autouse=True)
def no_disk_cache(monkeypatch):
    monkeypatch.setenv("SRCAD_CACHE_DIR", "off")


@pytest.mark.parametrize("golden", [pytest.param(g, id=g.id) for g in GOLDENS])
def test_golden(golden: Golden) -> None:
    codes = compiled(golden)
    if UPDATE:
        for name, code in codes.items():
            (FOLDER / f"{name}.py").write_text(code.source, encoding="utf-8")
    texts = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in codes}
    for name, code in codes.items():
        assert code.source == texts[name]
    result = by_text(golden, texts, codes)
    assert_close(result, by_derivative(golden), 0.0)
    assert_close(result, by_oracle(golden), RTOL)


def test_every_file_has_its_function():
    if UPDATE:
        pytest.skip("files are being written")
    written = {name for golden in GOLDENS for name in compiled(golden)}
    assert {file.stem for file in FOLDER.glob("*.py")} == written | {"primals"}


def orbit(x, v, n):
    history = [{"pos": x, "speed": v}]
    for _ in range(n):
        last = history[-1]
        step = {"pos": last["pos"] + 0.1 * last["speed"], "speed": last["speed"] - last["pos"]}
        history.append(step)
    return history[-1]["pos"]


def test_items_of_a_dict_are_called_by_their_keys():
    source = srcad.grad(orbit).source_for(1.0, 0.5, 3)
    assert "pos_bar = copied.get('pos', 0.0)" in source
    assert "speed_bar = copied.get('speed', 0.0)" in source
    assert srcad.grad(orbit)(1.0, 0.5, 0) == 1.0


def keyed(d):
    return d["class"] ** 2 + d["a b"] ** 2 + d["two"] ** 2


def test_a_key_that_is_no_name_is_no_name():
    d = {"class": 1.0, "a b": 2.0, "two": 3.0}
    assert srcad.grad(keyed)(d) == {"class": 2.0, "a b": 4.0, "two": 6.0}
