"""The functions that compiled loops have, against many more digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from srcad import runtime

mpmath = pytest.importorskip("mpmath")
numba = pytest.importorskip("numba")
pytestmark = pytest.mark.numba

import srcad.backends.numba.functions  # noqa: E402, F401  # it tells Numba what they are

EXP, EXPM1, LOG, LOG1P, TANH = (
    runtime.exp, runtime.expm1, runtime.log, runtime.log1p, runtime.tanh,
)  # fmt: skip


@numba.njit
def compiled(x):
    out = np.empty((5, len(x)))
    for i in range(len(x)):
        out[0, i] = EXP(x[i])
        out[1, i] = EXPM1(x[i])
        out[2, i] = LOG(x[i])
        out[3, i] = LOG1P(x[i])
        out[4, i] = TANH(x[i])
    return out


EXACT = (mpmath.exp, mpmath.expm1, mpmath.log, mpmath.log1p, mpmath.tanh)
PLAIN = (EXP, EXPM1, LOG, LOG1P, TANH)


def test_errors_are_of_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.concatenate([
        rng.normal(size=200), rng.uniform(-700.0, 700.0, 200), 10.0 ** rng.uniform(-300, 2, 200),
        -(10.0 ** rng.uniform(-20, -0.01, 100)), 1.0 + 10.0 ** rng.uniform(-16, -1, 100),
    ])  # fmt: skip
    with mpmath.workdps(60):
        for function, values in zip(EXACT, compiled(x), strict=True):
            real = np.array([x_i > 0.0 or function is not mpmath.log for x_i in x])
            real &= np.array([x_i > -1.0 or function is not mpmath.log1p for x_i in x])
            for x_i, value in zip(x[real], values[real], strict=True):
                exact = function(mpmath.mpf(float(x_i)))
                error = abs(mpmath.mpf(float(value)) - exact) / np.spacing(abs(float(exact)))
                assert error < 3.0, (function.__name__, x_i, value)


def test_infinities_and_what_is_not_a_number():
    x = np.array([
        0.0, math.inf, -math.inf, math.nan, 709.7, 710.0, -708.5, -745.0, -746.0, 5e-324, 1e-310,
        1e308, -1.0, -2.0, 50.0, 51.0, -51.0,
    ])  # fmt: skip
    with np.errstate(all="ignore"):
        for plain, values in zip(PLAIN, compiled(x), strict=True):
            np.testing.assert_allclose(values, plain(x), rtol=1e-15)
