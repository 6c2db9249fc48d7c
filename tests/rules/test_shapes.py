"""Rules at arrays without elements, with one, and without axes."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special  # noqa: F401  (its rules count)
import scipy.special as sc

import srcad
from srcad import rules


def elementwise():
    for rule in rules.rules():
        if rule.elementwise and len(rule.parameters.parameters) == 1 and rule.kind != "pullback":
            for function in rule.functions:
                if isinstance(function, np.ufunc) and function.__name__ != "ndtri_exp":
                    yield function


@pytest.mark.parametrize("function", list(elementwise()), ids=lambda f: f.__name__)
def test_elementwise_functions(function):
    def total(x):
        out = function(x)
        return np.sum(np.real(out[0] if isinstance(out, tuple) else out))

    for shape in ((0,), (2, 0), (1, 1), ()):
        x = np.full(shape, 1.4 if function is np.arccosh else 0.4)
        gradient = srcad.grad(total)(x)
        assert gradient.shape == shape
        assert gradient.dtype == x.dtype
        change = (total(x + 1e-6) - total(x - 1e-6)) / 2e-6
        assert np.sum(gradient) == pytest.approx(change, rel=1e-6, abs=1e-8)


WIDE, TALL, FLAT, STACK = np.zeros((0, 3)), np.zeros((2, 0)), np.zeros(0), np.zeros((0, 2, 2))
ALL = (WIDE, TALL, FLAT)
EMPTY = [
    (lambda x: np.sum(x), ALL),
    (lambda x: np.sum(np.sum(x, 0)), (WIDE, TALL)),
    (lambda x: np.prod(x), ALL),
    (lambda x: np.sum(np.prod(x, 1)), (WIDE, TALL)),
    (lambda x: np.sum(np.cumsum(x)), ALL),
    (lambda x: np.sum(np.cumprod(x, 0)), ALL),
    (lambda x: np.sum(np.sort(x)), ALL),
    (lambda x: np.sum(np.max(x, 1)), (WIDE,)),
    (lambda x: np.sum(np.mean(x, 1)), (WIDE,)),
    (lambda x: np.sum(np.var(x, 1)), (WIDE,)),
    (lambda x: np.sum(np.median(x, 1)), (WIDE,)),
    (lambda x: np.sum(np.quantile(x, 0.3, 1)), (WIDE,)),
    (lambda x: np.nansum(x), ALL),
    (lambda x: np.linalg.norm(x), ALL),
    (lambda x: np.sum(np.linalg.norm(x, axis=1)), (WIDE, TALL)),
    (lambda x: np.sum(x @ x.T), (WIDE, TALL)),
    (lambda x: np.sum(np.outer(x, x)), ALL),
    (lambda x: np.sum(np.kron(x, np.ones((2, 2)))), (WIDE,)),
    (lambda x: np.einsum("ij->", x), (WIDE, TALL)),
    (lambda x: np.sum(np.concatenate([x, x])), ALL),
    (lambda x: np.sum(np.stack([x, x])), ALL),
    (lambda x: np.sum(np.reshape(x, (-1, 3))), (WIDE,)),
    (lambda x: np.sum(np.flip(x)), ALL),
    (lambda x: np.sum(np.roll(x, 1)), ALL),
    (lambda x: np.sum(np.diff(x)), (WIDE,)),
    (lambda x: np.sum(np.where(x > 0, x, 0.0)), ALL),
    (lambda x: np.sum(np.maximum(x, 1.0)), ALL),
    (lambda x: np.sum(np.clip(x, 0, 1)), ALL),
    (lambda x: np.sum(np.tile(x, 2)), ALL),
    (lambda x: np.sum(np.repeat(x, 2)), ALL),
    (lambda x: np.sum(np.pad(x, 1)), ALL),
    (lambda x: np.sum(np.take(x, [0, 1], 1)), (WIDE,)),
    (lambda x: np.trace(x), (WIDE, TALL)),
    (lambda x: np.sum(np.diag(x)), ALL),
    (lambda x: np.sum(np.tril(x)), (WIDE, TALL)),
    (lambda x: np.sum(x[x > 0]), ALL),
    (lambda x: np.sum(np.cross(x, x + 1)), (WIDE,)),
    (lambda x: np.sum(np.unique(x)), (FLAT,)),
    (lambda x: np.sum(np.interp(x, [0.0, 1.0], [1.0, 2.0])), ALL),
    (lambda x: np.sum(np.polyval([1.0, 2.0], x)), ALL),
    (lambda x: np.sum(np.trapezoid(x, axis=1)), (WIDE,)),
    (lambda x: np.sum(np.gradient(x, axis=1)), (WIDE,)),
    (lambda x: np.sum(np.abs(np.fft.rfft(x, axis=1))), (WIDE,)),
    (lambda x: np.sum(np.linalg.inv(x)), (STACK,)),
    (lambda x: np.sum(np.linalg.det(x)), (STACK,)),
    (lambda x: np.sum(np.linalg.svd(x, compute_uv=False)), (STACK,)),
    (lambda x: np.sum(np.linalg.eigvalsh(x)), (STACK,)),
    (lambda x: np.sum(np.linalg.solve(x + np.eye(2), np.ones((2, 1)))), (STACK,)),
]


@pytest.mark.parametrize(("f", "arrays"), EMPTY)
def test_nothing_has_a_gradient_of_nothing(f, arrays):
    for x in arrays:
        assert srcad.grad(f)(x).shape == x.shape
        assert srcad.jvp(f, (x,), (x,))[1] == 0


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.meshgrid([a, 1], [2, a])[0],
        lambda a: np.broadcast_arrays([a, 1], [[2.0], [a]])[0],
        lambda a: np.atleast_1d([a, 1], [2, a])[0],
        lambda a: np.ix_([a, 1], [2, a])[0],
        lambda a: np.diff([[a, 1, 4]], append=[[a]]),
        lambda a: sl.block_diag([a, 1], [[2, a]]),
        lambda a: sc.jv([1, 2], [a, 1]),
        lambda a: sc.polygamma([0, 1], a),
        lambda a: sl.expm([[a, 1], [0, a]]),
    ],
)
def test_lists_stand_for_arrays(f):
    """Where there are several, too, and where an array of orders is meant."""
    change = srcad.jvp(f, (1.5,), (1.0,))[1]
    wanted = (np.asarray(f(1.5 + 1e-6)) - f(1.5 - 1e-6)) / 2e-6
    assert change.dtype == float
    np.testing.assert_allclose(change, wanted, atol=1e-7)
