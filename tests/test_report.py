"""What a derivative says that it keeps is what it keeps."""

import gc
import math
import tracemalloc

import numpy as np
import pytest

import srcad
from srcad.cli import main
from srcad.report import explain


def explained(function, *args, argnums=0):
    gradient = srcad.grad(function, argnums=argnums)
    positional, named = gradient.bind(*args)
    return explain(gradient.lowered_for(positional, named))


def recurrence(w, x, steps):
    h = x
    for _ in range(steps):
        h = np.tanh(w * h + x)
    return np.sum(h**2)


def heat(u, alpha, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heated(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.01 * np.sin(u[2:] * u[:-2])
    return np.sum(u * u)


def pendulum(x, v, steps):
    for _ in range(steps):
        v = v - 0.1 * math.sin(x)
        x = x + 0.1 * v
    return x * v


def total(x):
    s = 0.0
    for v in x:
        s += math.sin(v) * v
    return s


def two_stages(x, dt, n):
    def slope(x):
        s = x * x
        return math.sin(s) * s

    for _ in range(n):
        k1 = slope(x)
        k2 = slope(x + dt * k1)
        x = x + dt * (k1 + k2)
    return x


def test_values_have_the_names_of_the_text():
    (loop,) = explained(two_stages, 0.5, 0.1, 3).loops
    names = [kept.name for kept in loop.values]
    assert len(set(names)) == len(names)
    assert f"stack.append(({', '.join(names)}))" in srcad.grad(two_stages).source_for(0.5, 0.1, 3)


def test_each_value_with_the_line_that_wants_it():
    found = explained(recurrence, 0.5, np.ones(3), 2)
    (loop,) = found.loops
    assert loop.where.startswith("line ")
    assert loop.where.endswith("for _ in range(steps):")
    assert [kept.name for kept in loop.values] == ["h2", "h"]
    assert loop.values[0].kind == "f8[n]"
    assert "h = np.tanh(w * h + x)" in loop.values[0].why
    assert "iteration before" in loop.values[1].how
    assert found.once[0].name == "h"


def test_what_is_fused_keeps_nothing():
    found = explained(total, [0.1, 0.2])
    assert not found.loops
    assert list(found.fused) == [next(iter(found.fused))]
    assert next(iter(found.fused)).endswith("for v in x:")


def test_what_is_written_in_place_and_computed_again():
    def relax(u, n):
        u = u.copy()
        for _ in range(n):
            for i in range(1, len(u) - 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1]) - 0.1 * u[i] ** 2
        return np.sum(u)

    found = explained(relax, np.ones(4), 2)
    assert any("u[i] = 0.5" in line for line in found.in_place)
    assert any("u[i] = 0.5" in line for line in found.recomputed)
    outer, inner = sorted(found.loops, key=lambda loop: len(loop.values))
    assert outer.values[0].how == "a list"
    assert {kept.kind for kept in inner.values} == {"int", "float"}


MANY = [
    (recurrence, lambda steps: (0.5, np.linspace(0.1, 1.0, 500), steps), (0,), 500),
    (heat, lambda steps: (np.linspace(0.1, 1.0, 500), 0.1, steps), (0, 1), 500),
    (heated, lambda steps: (np.linspace(0.1, 1.0, 500), steps), (0,), 500),
    (pendulum, lambda steps: (0.3, 0.1, steps), (0, 1), 0),
]


@pytest.mark.parametrize(("function", "arguments", "argnums", "n"), MANY)
def test_the_bytes_of_an_iteration(function, arguments, argnums, n):
    """The peak grows with the number of steps by what is said that a step keeps.

    With more steps than CPython has free tuples from the call before.
    """
    found = explained(function, *arguments(3), argnums=argnums)
    said = sum(eval(loop.bytes, {"n": n}) for loop in found.loops)
    gradient = srcad.grad(function, argnums=argnums)
    few, many = (peak(gradient, arguments(steps)) for steps in (3000, 4000))
    assert (many - few) / 1000 == pytest.approx(said, rel=0, abs=2)


def peak(gradient, args):
    gc.collect()
    gc.disable()  # a collection in between empties the lists of free tuples
    try:
        gradient(*args)
        tracemalloc.start()
        gradient(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def test_the_command(tmp_path, capsys):
    file = tmp_path / "model.py"
    file.write_text(
        "import math\n\n\ndef swing(x, steps):\n    for _ in range(steps):\n"
        "        x = math.sin(x)\n    return x\n"
    )
    assert main(["show", f"{file}:swing", "--args", "0.5, 3", "--explain"]) == 0
    text = capsys.readouterr().out
    assert "kept by each iteration:\n    line 5: for _ in range(steps):" in text
    assert "computed again: nothing" in text
