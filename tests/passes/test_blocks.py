"""Blocks: what goes through large arrays together, what stays outside, and that nothing differs."""

import math

import numpy as np
import pytest

import srcad
from srcad.guards import key_of_all
from srcad.options import Options
from srcad.passes import blocks
from tests.passes.test_passes import engine
from tests.test_zoo import check_mode
from tests.zoo import CASES

RNG = np.random.default_rng(3)


@pytest.fixture
def tiny(monkeypatch):
    """Blocks of three elements, for arrays of four and more."""
    monkeypatch.setattr(blocks, "LARGE", 4)
    monkeypatch.setattr(blocks, "BLOCK", 3)


def text(function, *args, transform=srcad.value_and_grad, **options):
    return transform(function, **options).source_for(*args)


def same(function, *args, argnums=0):
    """The text, after value and gradient were seen to be those without blocks."""
    made = srcad.value_and_grad(function, argnums=argnums)
    value, grads = made(*args)
    plain = srcad.value_and_grad(function, argnums=argnums, options=Options(blocks=False))
    wanted, wanted_grads = plain(*args)
    assert type(value) is type(wanted)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    for g, w in zip(*((x if len(several) > 1 else (x,)) for x in (grads, wanted_grads))):
        assert np.asarray(g).dtype == np.asarray(w).dtype
        np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-15)
    return made.source_for(*args)


def chain(x):
    t = np.sin(x) * x
    t = np.exp(-t) + 0.5 * x
    return np.sum(t * t)


def numbers(*shape):
    return RNG.uniform(0.3, 1.5, shape)


def test_a_chain_ends_in_a_sum_of_sums(tiny):
    for n in (4, 6, 7, 8):
        source = same(chain, numbers(n))
    body = source.split('"""\n')[-1]
    assert body.count("for ") == 1
    assert "for start in range(0, x.size, 3):" in body
    assert "x_block = x[start:stop]" in body
    assert "x_bar[start:stop] = x_block_bar" in body
    assert "return np.sum(parts), x_bar" in body


def test_small_arrays_and_large_ones_have_code_of_their_own(tiny):
    made = srcad.value_and_grad(chain)
    small, large = numbers(3), numbers(9)
    assert "for start in" not in made.source_for(small)
    assert "for start in" in made.source_for(large)
    for x in (small, large, small, large):
        np.testing.assert_allclose(made(x)[1], srcad.grad(chain, options=Options.none())(x))
    assert "for start in" not in made.source_for(small)


def test_what_is_large_is_part_of_the_key():
    x, y = np.zeros(blocks.LARGE), np.zeros(blocks.LARGE - 1)
    keys = {key_of_all(v, {}, Options()) for v in ((x, y), (y, x), (y, y + 1))}
    assert len(keys) == 3
    off = {key_of_all(v, {}, Options(blocks=False)) for v in ((x, y), (y, x))}
    assert len(off) == 1
    compiled = Options(backend="numba")
    assert key_of_all((x, y), {}, compiled) == key_of_all((y, x), {}, compiled)


def test_the_switch(tiny):
    assert "for start in" not in text(chain, numbers(8), options=Options(blocks=False))


def test_few_operations_are_left_alone(tiny):
    def square(x):
        return np.sum(x * x)

    assert "for start in" not in same(square, numbers(8))


def test_what_everybody_reads_is_left_alone(tiny):
    def tangents(x):
        return np.sin(x), np.cos(x), x * x, np.exp(x)

    x = numbers(8)
    assert "for start in" not in text(tangents, x, transform=srcad.jacfwd)


def test_products_of_matrices_stay_whole(tiny):
    def layer(w, x):
        h = np.tanh(x @ w) * 0.5
        return np.mean(np.log1p(h * h) * h)

    source = same(layer, numbers(2), numbers(8, 2))
    assert "x @ w" in source
    assert source.count("for start in") == 0  # what is large is no argument

    def scaled(w, x, y):
        t = -y * (x @ w)
        return np.mean(np.maximum(t, 0.0) + np.log1p(np.exp(-np.abs(t))))

    source = same(scaled, numbers(2), numbers(8, 2), np.sign(RNG.standard_normal(8)))
    before, loop = source.split("    for start in")
    assert "x @ w" in before
    assert "minus[start:stop]" in loop or "y[start:stop]" in loop
    assert loop.splitlines()[-1].startswith("    return")
    assert "@ x" in loop


def test_a_sum_that_is_needed_ends_the_loop(tiny):
    def normalised(x):
        e = np.exp(np.sin(x) * x + 1.0) * x
        p = e / np.sum(e)
        return np.sum(np.log(p + 1.0) * np.cos(p) * p + np.sqrt(p))

    source = same(normalised, numbers(10))
    assert source.count("for start in") >= 2


def written_over(x, scale):
    t = x * x + 1.0
    u = t * 0.5 - x
    held = u * scale
    v = (held - u) / 4.0 * held + t
    above = x > 1.0
    w = (v * above + 3.0) * 2.0
    return np.sum(w * w) + np.sum(above * 1.0)


def test_results_are_written_over_what_nothing_else_reads(tiny):
    x = numbers(8)
    kept = x.copy()
    source = same(written_over, x, 2.0, argnums=(0, 1))
    np.testing.assert_array_equal(x, kept)
    forward = source[source.index("x_block = ") : source.index("# line")]
    assert "t = x_block * x_block\n        t += 1.0\n" in forward
    assert "u = t * 0.5\n        u -= x_block\n" in forward  # t is read again
    assert "held = u * scale\n" in forward  # so is u


@pytest.mark.parametrize("reduction", [np.mean, np.max, np.min, np.sum])
def test_reductions(tiny, reduction):
    def f(x, y):
        t = np.sin(x) * y + np.exp(x) * np.cos(y)
        return reduction(t * t + t) + t @ y

    assert "for start in" in same(f, numbers(11), numbers(11), argnums=(0, 1))


def test_gradients_by_numbers_are_sums(tiny):
    def f(a, b, x):
        t = a * np.sin(b * x) + np.exp(-x)
        return np.sum(t * t * x)

    assert "for start in" in same(f, 0.4, 1.3, numbers(10), argnums=(0, 1, 2))


@pytest.mark.parametrize(
    "x",
    [numbers(3, 4), numbers(4, 3).T, np.asfortranarray(numbers(3, 4)), numbers(2, 3, 2)],
    ids=["c", "transposed", "fortran", "three axes"],
)
def test_several_axes(tiny, x):
    source = same(chain, x)
    assert "x.reshape(-1)" in source
    assert "for start in" in source


@pytest.mark.parametrize(
    "x", [numbers(16)[::2], numbers(8)[::-1], np.frombuffer(numbers(8).tobytes())]
)
def test_views(tiny, x):
    before = x.copy()
    assert "for start in" in same(chain, x)
    assert (x == before).all()
    assert srcad.grad(chain)(x).flags.writeable


def test_masks_and_branches(tiny):
    def f(x, y):
        t = np.where(x > 0.8, np.sqrt(np.abs(x - 0.8)), x * y)
        return np.sum(np.where(y > 0.9, t * t, np.sin(t) * y))

    x = np.r_[0.8, numbers(9)]
    assert "for start in" in same(f, x, numbers(10), argnums=(0, 1))


def test_writes_are_not_passed(tiny):
    def f(x):
        u = np.sin(x) * x + np.exp(x) * 2.0
        u[2:] = u[2:] * u[:-2]
        return np.sum(np.cos(u) * u + u * x)

    assert "for start in" in same(f, numbers(9))


def test_in_loops(tiny):
    def f(x, steps):
        u = x
        for _ in range(steps):
            u = u + 0.1 * np.sin(u) * np.exp(-u) * np.cos(u * 2.0)
        return np.sum(u * u)

    assert "    for start in" in same(f, numbers(9), 3)


def test_second_derivatives(tiny):
    x, v = numbers(9), numbers(9)
    found = srcad.hvp(chain, (x,), (v,))
    wanted = srcad.hvp(chain, (x,), (v,), options=Options.none())
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_floating_point_errors_are_those_of_the_whole(tiny):
    def f(x):
        return np.sum(np.log(x) * x + np.sqrt(x) / x)

    x = np.r_[numbers(7), 0.0]
    with np.errstate(all="ignore"):
        found, wanted = srcad.grad(f)(x), srcad.grad(f, options=Options.none())(x)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        srcad.grad(f)(x)


def test_sums_are_as_accurate_as_those_of_numpy():
    x = RNG.uniform(0.0, 1.0, blocks.LARGE + 5)

    def f(x):
        return np.sum(x * 0.5 + x * x - x * x + 0.5 * x)

    value, _ = srcad.value_and_grad(f)(x)
    terms = x * 0.5 + x * x - x * x + 0.5 * x
    exact = math.fsum(terms.tolist())
    assert abs(value - exact) <= max(4 * abs(np.sum(terms) - exact), 4 * math.ulp(exact))


ON_ARRAYS = [
    case
    for case in CASES
    if "slow" not in case.tags and any(isinstance(a, np.ndarray) for a in case.args)
][::9]


@pytest.mark.parametrize("mode", ["value", "reverse", "forward"])
@pytest.mark.parametrize("case", ON_ARRAYS, ids=lambda case: case.id)
def test_anything_in_blocks(monkeypatch, case, mode):
    for name, value in (("LARGE", 2), ("BLOCK", 3), ("_FEWEST", 1), ("_PER_ARRAY", 0)):
        monkeypatch.setattr(blocks, name, value)
    check_mode(case, mode, engine(Options()))
