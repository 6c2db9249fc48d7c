"""`backend="numba"`: what runs, what is refused, and what happens where compiled code cannot go on.

Each function that is compiled costs a second or more: one for several statements.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import srcad
from srcad.errors import MissingBackend, NotCompilable, SlowFallback
from tests.backends.compiled import uncompiled

pytest.importorskip("numba")
pytestmark = pytest.mark.numba


def both(transform, function, *args, argnums=0):
    """The results of plain and of compiled code."""
    plain = transform(function, argnums=argnums)(*args)
    return plain, transform(function, argnums=argnums, backend="numba")(*args)


def same(one, other):
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    else:
        assert isinstance(other, np.ndarray) == isinstance(one, np.ndarray)
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-300)


# ---- what is computed


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def network(params, x):
    hidden = np.tanh(params["w"] @ x + params["b"])
    return float(np.sum(hidden * hidden)) * params["scale"]


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def test_stencil_by_loops_and_a_tape_of_rows():
    u = np.linspace(0.0, 1.0, 9) ** 2
    same(*both(srcad.value_and_grad, heat, u, 5))
    source = srcad.grad(heat, backend="numba").source_for(u, 5)
    assert "@numba.njit" in source
    assert "for i in range(" in source
    code = [line for line in source.splitlines() if not line.lstrip().startswith("#")]
    assert not any("1:-1" in line for line in code)


def test_containers_are_taken_apart_in_python():
    rng = np.random.default_rng(0)
    params = {"w": rng.normal(size=(3, 4)), "b": rng.normal(size=3), "scale": 0.5}
    same(*both(srcad.value_and_grad, network, params, rng.normal(size=4)))


def test_loop_of_unknown_length():
    same(*both(srcad.value_and_grad, newton, 7.0))


def test_transforms_at_a_point():
    x = np.array([0.3, -0.4])

    def f(x):
        return np.sin(x) * x[0]

    v = np.array([1.0, 2.0])
    same(srcad.jvp(f, (x,), (v,)), srcad.jvp(f, (x,), (v,), backend="numba"))
    value, pull = srcad.vjp(f, x, backend="numba")
    plain_value, plain_pull = srcad.vjp(f, x)
    same((plain_value, plain_pull(v)), (value, pull(v)))
    x[:] = 9.0  # the pullback has what it was made with
    same(plain_pull(v), pull(v))


def test_second_derivatives():
    def f(x):
        return x**3 * math.sin(x)

    second = srcad.grad(srcad.grad(f), backend="numba")
    same(srcad.grad(srcad.grad(f))(0.7), second(0.7))


def test_code_of_the_primal_stays_as_it_was():
    x = np.array([1.0, 2.0, 3.0])
    before = x.copy()
    srcad.grad(heat, backend="numba")(x, 2)
    assert np.array_equal(x, before)


def written_through_views(x, k):
    u = x * 1.0
    v = u[1:4]
    v[k] = v[k] * 3.0 * u[0]
    w = u[1:]
    w[k - 1] += v[k] * u[1]
    return np.sum(u * u * u)


def rows_of_views(x, k):
    a = np.outer(x, x + 1.0)
    row = a[1:][k]
    other = a[::-1][k - 1]
    return np.sum(row * other * row)


def stores_that_meet(x, k):
    u = x[:1] * 1.0
    u[k + 1] += 2.0 * x[1]
    u[k] *= x[2]
    u[k + 1] += u[k] * x[3]
    return u[0] * x[4]


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("function", [written_through_views, rows_of_views, stores_that_meet])
def test_indices_that_count_from_the_end(function, k, monkeypatch):
    x = np.array([0.7, -1.3, 0.4, 2.1, 1.1])
    try:
        plain = srcad.value_and_grad(function)(x, k)
    except IndexError:
        plain = None
    with uncompiled(monkeypatch):
        if plain is not None:
            same(plain, quiet(function, x, k))
        else:
            with pytest.raises(IndexError):
                quiet(function, x, k)


def two_tapes_of_one_loop(x):
    y = x
    for _ in range(4):
        y = y * 0.3
        while y < 2.0:
            y = y + math.sin(y) * y
    return y * y


def test_a_loop_that_keeps_values_and_their_tangents(monkeypatch):
    with uncompiled(monkeypatch):
        found = srcad.hvp(two_tapes_of_one_loop, (0.7,), (1.5,), backend="numba")
    same(srcad.hvp(two_tapes_of_one_loop, (0.7,), (1.5,)), found)


# ---- where compiled code stops


def quiet(function, *args, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowFallback)
        return srcad.value_and_grad(function, backend="numba", **choices)(*args)


def branch_on_a_root(x):
    return 2.0 * x if math.sqrt(x) < 1.0 else 3.0 * x


def test_what_raises_in_python_raises():
    assert quiet(branch_on_a_root, 4.0) == (12.0, 3.0)
    with pytest.raises(ValueError, match="math domain error"):
        quiet(branch_on_a_root, -1.0)

    def table(x, k):
        return x * np.array([1.0, 2.0, 3.0])[k]

    assert quiet(table, 2.0, -1) == (6.0, 3.0)
    with pytest.raises(IndexError):
        quiet(table, 2.0, 3)
    with pytest.raises(IndexError):
        quiet(table, 2.0, -4)

    def quotient(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        quiet(quotient, 0.0)

    def late(x, n):
        for k in range(n):
            if k > 1:
                y = x * k
        return y

    assert quiet(late, 1.5, 4) == (4.5, 3.0)
    with pytest.raises(UnboundLocalError):
        quiet(late, 1.5, 2)


def roots(x):
    total = 0.0
    for row in range(2):
        for v in x:
            if v != 3.0:
                total += math.sqrt(v) * row
            total += math.exp(v)
    return total


def test_what_raises_in_a_loop_is_looked_for_after_it():
    gradient = srcad.grad(roots, backend="numba")
    same(srcad.grad(roots)([1.0, 3.0]), gradient([1.0, 3.0]))
    raising = [line for line in gradient.source.splitlines() if "raise runtime" in line]
    assert raising == ["        raise runtime.Unforeseen"]  # in no loop
    for wrong, error in (([1.0, -1.0, 2.0], ValueError), ([1.0, 800.0, 2.0], OverflowError)):
        with pytest.raises(error):
            quiet(roots, wrong)
    x = np.array([1.0, 3.0, 2.0])
    same(srcad.value_and_grad(roots)(x), quiet(roots, x))


def until(x):
    for v in x:
        y = math.log(v)
        while not y > 2.0:
            y += 1.0
    return y


def test_what_raises_before_a_loop_that_may_not_end_is_looked_for_there():
    with pytest.raises(ValueError, match="math domain error"):
        quiet(until, [2.0, -1.0])


def listed(x, y):
    out = []
    for k in range(2, len(x)):
        out.append(x[k] * y)
    squares = [v * w for v, w in zip(x, reversed(y_values), strict=False)]
    return np.sum(np.array(out) * 3.0) + squares[1] + len(squares)


y_values = [3.0, 2.0, 5.0]


def recurrence(x):
    y = 1.0
    for v in x:
        y = math.sin(y * v)
    return y


def test_lists_that_grow_in_each_round_are_arrays():
    gradient = srcad.value_and_grad(listed, argnums=(0, 1), backend="numba")
    plain = srcad.value_and_grad(listed, argnums=(0, 1))
    for x in ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0]):
        same(plain(x, 0.5), gradient(x, 0.5))
    code = [line for line in gradient.source.splitlines() if not line.lstrip().startswith("#")]
    assert not any(".append(" in line or ".pop(" in line for line in code)
    backward = srcad.value_and_grad(recurrence, backend="numba")
    same(srcad.value_and_grad(recurrence)([1.0, 2.0, 3.0]), backward([1.0, 2.0, 3.0]))
    assert ".append(" not in backward.source
    assert "[::-1]" not in backward.source


def test_whole_numbers_have_no_end():
    def f(x, n):
        k = 1
        for i in range(1, n):
            k *= i
        return x * k / (k - 1)

    assert quiet(f, 1.0, 10) == (362880 / 362879, 362880 / 362879)
    k = math.factorial(29)
    assert quiet(f, 1.0, 30) == (k / (k - 1), k / (k - 1))

    def to_whole(x):
        return x * (int(x) % 7)

    assert quiet(to_whole, 1e20) == (1e20 * (10**20 % 7), float(10**20 % 7))


def test_sizes_that_were_not_assumed_run_as_plain_code():
    def f(x, y):
        return np.sum(x * y)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    transformed = srcad.grad(f, argnums=(0, 1), backend="numba")
    same(transformed(x, y), (y, x))
    one = srcad.grad(lambda x, y: np.sum(x[:3] * y), backend="numba")
    with pytest.warns(SlowFallback, match="runs as plain Python"):
        same(one(x, y), y)


# ---- what is refused


def sorts(x):
    return np.sort(x)[0] + np.argpartition(x, 0)[0] * x[1]


def test_what_is_not_compiled_is_refused_by_line():
    x = np.array([2.0, 1.0])
    with pytest.raises(
        NotCompilable, match=r"test_numba.py:\d+: not compiled by Numba: np.argpartition"
    ):
        srcad.grad(sorts, backend="numba")(x)


def test_or_runs_as_plain_code_with_a_warning():
    x = np.array([2.0, 1.0])
    transformed = srcad.grad(sorts, backend="numba", fallback="python")
    with pytest.warns(SlowFallback, match="argpartition"):
        gradient = transformed(x)
    same(srcad.grad(sorts)(x), gradient)
    transformed(x)  # once is enough


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(x)\n    return x", "print"),
        ("try:\n        return 1.0 / x\n    except ZeroDivisionError:\n        return x", "'try'"),
        ("return x if x < 1.0 else f(x / 2.0)", "calls itself"),
    ],
)
def test_reasons(source, reason, tmp_path, monkeypatch):
    module = tmp_path / "refused.py"
    module.write_text(f"def f(x):\n    {source}\n")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("refused", None)
    import refused

    with pytest.raises(NotCompilable, match=reason):
        srcad.grad(refused.f, backend="numba")(0.5)


def test_options_are_checked():
    with pytest.raises(ValueError, match="backend is one of"):
        srcad.grad(newton, backend="jax")
    with pytest.raises(ValueError, match="fastmath is for"):
        srcad.grad(newton, fastmath=True)
    with pytest.raises(ValueError, match="fallback is one of"):
        srcad.grad(newton, backend="numba", fallback="never")


def test_fastmath_keeps_nan_and_infinity():
    source = srcad.grad(newton, backend="numba", fastmath=True).source_for(2.0)
    assert "fastmath={'contract', 'nsz', 'reassoc'}" in source


# ---- processes


SCRIPT = """
import sys
import numpy as np
import srcad
sys.path.insert(0, sys.argv[1])
from cached import f
g = srcad.value_and_grad(f, backend="numba")
print(g(np.arange(4.0)))
compiled = getattr(sys.modules[[m for m in sys.modules if m.startswith("_srcad_")][-1]],
                   "f_value_and_grad_kernel")
print(sum(compiled.stats.cache_hits.values()), sum(compiled.stats.cache_misses.values()))
"""


def test_a_second_process_has_the_compiled_code(tmp_path):
    (tmp_path / "cached.py").write_text(
        textwrap.dedent(
            """
            import numpy as np

            def f(x):
                return np.sum(np.sin(x) * x)
            """
        )
    )
    root = Path(srcad.__file__).parents[1]
    env = os.environ | {"SRCAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(root)}
    outputs = []
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path)],
            env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        outputs.append(run.stdout.splitlines())
    assert outputs[0][:-1] == outputs[1][:-1]
    assert outputs[0][-1] == "0 1"
    assert outputs[1][-1] == "1 0"


def test_without_numba_it_says_what_to_install(monkeypatch):
    for name in [n for n in sys.modules if n.startswith("srcad.backends.numba")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(srcad.backends, "numba", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingBackend, match="pip install"):
        srcad.grad(lambda x: x * x, backend="numba")(1.0)


# ---- memory from the caller


def test_results_are_made_by_the_caller():
    def scaled(x, k):
        return np.sum(x * x * k)

    gradient = srcad.value_and_grad(scaled, argnums=(0, 1), backend="numba")
    x, k = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, slopes = gradient(x, k)
    same((19.0, (2 * x * k, x * x)), (value, slopes))
    kernel, entry = gradient.source.split("def scaled_value_and_grad(")
    assert "np.empty" not in kernel
    assert re.search(r"return \w+\n", kernel)
    assert entry.count("np.empty(") == 2
    again = gradient(k, x)[1]
    assert not any(np.shares_memory(a, b) for a in slopes for b in (*again, x, k))


def test_results_of_a_size_that_no_array_has():
    def power(n, x):
        return np.sum(np.full(n, 2.0) * x) * np.ones(n)

    jacobian = srcad.jacrev(power, argnums=1, backend="numba")
    same(np.array([6.0, 6.0, 6.0]), jacobian(3, 1.5))
    with pytest.raises(ValueError, match="negative"):
        jacobian(-1, 1.5)


def test_results_that_change_places():
    def turns(x, y, n):
        x, y = x.copy(), y.copy()
        for _ in range(n):
            x, y = y, x
        return np.sum(x * x), np.sum(3.0 * y)

    def first(x, y, n):
        a, b = turns(x, y, n)
        return a * b

    x, y = np.array([1.0, 2.0]), np.array([5.0, 6.0])
    for n in (0, 1, 2):
        same(*both(srcad.grad, first, x, y, n, argnums=(0, 1)))


def test_one_array_as_two_results():
    def total(x, y):
        return np.sum(np.sin(x + y))

    x = np.array([1.0, 2.0])
    same(*both(srcad.grad, total, x, 2 * x, argnums=(0, 1)))


def test_a_copy_of_what_another_branch_has_not_made_is_no_loop():
    """Run as plain Python, a loop over it would read beyond its end."""

    def f(x, s):
        u, v, w = 2.0 * x, 3.0 * x, x * x
        if s > 0.5:
            target, source = u, v
        elif s > 0:
            target, source = v, w
        else:
            target, source = w, u
        target[1:] *= source[:-1]
        return u * v + w

    x = np.array([0.3, 0.7, 1.1])
    for s in (0.9, 0.2, -0.4):
        value, pullback = srcad.vjp(f, x, s, backend="numba")
        _, plain = srcad.vjp(f, x, s)
        np.testing.assert_allclose(pullback(value)[0], plain(value)[0], rtol=1e-14)
    assert "runtime.copied(source)" in pullback.source
