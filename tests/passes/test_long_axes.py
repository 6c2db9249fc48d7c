"""Loops over long arrays: arithmetic is done again where keeping its results takes fresh memory."""

import numpy as np
import pytest

import srcad
from srcad import guards
from srcad.frontend import live
from srcad.guards import key_of_all
from srcad.ir.types import LONG
from srcad.options import Options
from tests.test_zoo import check_mode
from tests.zoo import CASES


def paths(x, z):
    """Steps of a random walk whose size depends on where it is."""
    v = x * np.ones(z.shape[1])
    for t in range(len(z)):
        size = np.maximum(v, 0.0)
        v = v + x * (0.3 - size) * 0.1 + np.sqrt(size * 0.1) * z[t]
    return np.mean(v)


def draws(width):
    return np.random.default_rng(3).standard_normal((4, width)) / 5


def kept(z, options=None):
    """What the forward loop keeps."""
    text = srcad.grad(paths, options=options or Options()).source_for(0.4, z)
    (line,) = (line for line in text.splitlines() if "items = " in line or "stack.append((" in line)
    return (
        line.strip().removeprefix("items = ").removeprefix("stack.append((").rstrip(")").split(", ")
    )


def test_what_is_cheap_is_done_again_for_long_arrays_alone():
    long, short = kept(draws(LONG)), kept(draws(LONG - 1))
    assert "diff" in short
    assert set(long) == {"sqrt", "v", "t"}
    assert kept(draws(LONG), Options(recompute=False)) == kept(draws(3), Options(recompute=False))


@pytest.mark.parametrize("width", [3, LONG])
def test_gradients_are_the_same(width):
    z = draws(width)
    value, slope = srcad.value_and_grad(paths)(0.4, z)
    other = srcad.value_and_grad(paths, options=Options.none())(0.4, z)
    assert (value, slope) == pytest.approx(other, rel=1e-13)


def test_code_for_long_arrays_has_a_key_of_its_own():
    def key(options, *sizes):
        return key_of_all([np.ones(n) for n in sizes], {}, options)

    assert key(Options(), 3, 4) == key(Options(), 5, 9)
    assert key(Options(), 3, LONG) == key(Options(), 5, LONG + 1) != key(Options(), 3, 4)
    assert key(Options(), LONG, 3) != key(Options(), 3, LONG)
    compiled = Options(backend="numba")
    assert key(compiled, 3, LONG) == key(compiled, 3, 4)
    off = Options.none()
    assert key(off, 3, LONG) == key(off, 3, 4)


def test_pullbacks_have_code_of_their_own_too():
    def text(width):
        z = draws(width)
        _, pull = srcad.vjp(paths, 0.4, z)
        return pull.source

    assert text(LONG) != text(3) == text(5)


_LOOPS = ("loops_", "arrays_", "interactions", "queues", "numpy_index")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.id) for c in CASES if c.id.startswith(_LOOPS)]
)
def test_zoo_with_long_axes(case, monkeypatch):
    """Every loop over arrays, taken for a long one."""
    monkeypatch.setattr(live, "LONG", 2)
    monkeypatch.setattr(guards, "LONG", 2)
    check_mode(case, "reverse", srcad)
