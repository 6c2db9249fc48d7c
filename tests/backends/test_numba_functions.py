"""The functions that compiled loops have, against many more digits."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcad
from srcad import runtime
from srcad.errors import SlowFallback

mpmath = pytest.importorskip("mpmath")
numba = pytest.importorskip("numba")
pytestmark = pytest.mark.numba

import srcad.backends.numba.functions  # noqa: E402, F401  # it tells Numba what they are

EXP, EXPM1, LOG, LOG1P, TANH, SIN, COS = PLAIN = (
    runtime.exp, runtime.expm1, runtime.log, runtime.log1p, runtime.tanh, runtime.sin, runtime.cos,
)  # fmt: skip
EXACT = tuple(getattr(mpmath, function.__name__) for function in PLAIN)


@numba.njit
def compiled(x):
    out = np.empty((7, len(x)))
    for i in range(len(x)):
        out[0, i] = EXP(x[i])
        out[1, i] = EXPM1(x[i])
        out[2, i] = LOG(x[i])
        out[3, i] = LOG1P(x[i])
        out[4, i] = TANH(x[i])
        out[5, i] = SIN(x[i])
        out[6, i] = COS(x[i])
    return out


def test_errors_are_of_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.concatenate([
        rng.normal(size=200), rng.uniform(-700.0, 700.0, 200), 10.0 ** rng.uniform(-300, 2, 200),
        -(10.0 ** rng.uniform(-20, -0.01, 100)), 1.0 + 10.0 ** rng.uniform(-16, -1, 100),
        np.arange(60) * math.pi / 2, np.arange(60) * 4000 * math.pi, rng.uniform(-8e5, 8e5, 100),
    ])  # fmt: skip
    with mpmath.workdps(60):
        for plain, function, values in zip(PLAIN, EXACT, compiled(x), strict=True):
            real = np.array([x_i > 0.0 or function is not mpmath.log for x_i in x])
            real &= np.array([x_i > -1.0 or function is not mpmath.log1p for x_i in x])
            if plain in (EXP, EXPM1):
                real &= np.abs(x) < 700.0
            for x_i, value in zip(x[real], values[real], strict=True):
                exact = function(mpmath.mpf(float(x_i)))
                error = abs(mpmath.mpf(float(value)) - exact) / np.spacing(abs(float(exact)))
                assert error < 3.0, (plain.__name__, x_i, value)


def test_infinities_and_what_is_not_a_number():
    x = np.array([
        0.0, math.inf, -math.inf, math.nan, 709.7, 710.0, -708.5, -745.0, -746.0, 5e-324, 1e-310,
        1e308, -1.0, -2.0, 50.0, 51.0, -51.0,
    ])  # fmt: skip
    with np.errstate(all="ignore"):
        for plain, values in zip(PLAIN[:5], compiled(x), strict=False):
            np.testing.assert_allclose(values, plain(x), rtol=1e-15)


FASTMATH = """
import numpy as np
import srcad

def f(x):
    return np.sum(np.exp(x) * np.tanh(x) + np.log(x) * np.log1p(x) + np.expm1(x))

x = np.random.default_rng(0).uniform(0.1, 30.0, size=100)
value, gradient = srcad.value_and_grad(f, backend="numba", fastmath=True)(x)
wanted, right = srcad.value_and_grad(f)(x)
np.testing.assert_allclose(value, wanted, rtol=1e-12)
np.testing.assert_allclose(gradient, right, rtol=1e-12)
"""


def test_fastmath_does_not_simplify_them(tmp_path):
    # in a process of its own, which compiles them for this
    (tmp_path / "first.py").write_text(FASTMATH)
    env = os.environ | {"PYTHONPATH": str(Path(srcad.__file__).parents[1])}
    subprocess.run([sys.executable, str(tmp_path / "first.py")], env=env, check=True)


def test_sines_of_large_numbers_are_left_to_plain_code():
    def f(x):
        return np.sum(np.sin(x) * np.cos(x))

    gradient = srcad.grad(f, backend="numba")
    x = np.linspace(-3.0, 7e5, 5)
    np.testing.assert_allclose(gradient(x), srcad.grad(f)(x), rtol=1e-12)
    with pytest.warns(SlowFallback):
        np.testing.assert_allclose(gradient(1e3 * x), srcad.grad(f)(1e3 * x), rtol=1e-12)
