"""``jacfwd`` and ``jacrev`` agree on the whole zoo, by all arguments at once."""

import dataclasses

import numpy as np
import pytest

import srcad
from srcad.errors import NotDifferentiable
from tests.zoo import CASES


def same(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif dataclasses.is_dataclass(one):
        same(vars(one), vars(other))
    else:
        assert np.shape(one) == np.shape(other)
        is_single = getattr(one, "dtype", None) == np.float32
        rtol = 4 * np.finfo(np.float32).eps if is_single else 1e-9
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_both_modes_give_one_jacobian(case, capsys):
    found = []
    for transform in (srcad.jacfwd, srcad.jacrev):
        args, keywords = case.fresh()
        try:
            found.append(transform(case.function, case.argnums)(*args, **keywords))
        except NotDifferentiable:
            found.append("refused")
    if "refused" in found:
        assert found == ["refused", "refused"]
    else:
        same(*found)


@pytest.mark.parametrize("transform", [srcad.jacfwd, srcad.jacrev, srcad.jacobian])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
@pytest.mark.parametrize(
    "function",
    [lambda x: x * x, lambda x: np.array([x.sum(), 1.0]), np.sum, lambda x: x.sum(0)],
)
def test_shapes_of_jacobians_by_empty_arrays(transform, shape, function):
    x = np.ones(shape)
    assert transform(function)(x).shape == np.shape(function(x)) + shape


def weighted(x, w):
    y = np.zeros(w.shape[0])
    for j in range(w.shape[0]):
        s = 0.0
        for i in range(len(x)):
            s += w[j, i] * x[i]
        y[j] = np.sin(s)
    return y


def weights(m, n):
    return np.cos(np.arange(1.0, m * n + 1)).reshape(m, n)


def test_the_mode_is_chosen_by_the_sizes_of_the_call():
    jacobian = srcad.jacobian(weighted)
    for n, m, mode in [(2, 40, "columns"), (40, 2, "rows"), (2, 40, "columns"), (300, 2, "rows")]:
        x, w = np.linspace(0.1, 0.5, n), weights(m, n)
        np.testing.assert_allclose(jacobian(x, w), np.cos(w @ x)[:, None] * w, rtol=1e-12)
        assert f"{mode}.append" in jacobian.source_for(x, w)


def test_dear_sweeps_count():
    """With as many results as inputs, a sweep that is shared by all rows decides."""

    def chain(x, n):
        h = x
        for _ in range(100):
            h = np.tanh(h + x)
        return h * np.ones(n)

    x = np.array([0.1, 0.2, 0.3, 0.4])
    assert "rows.append" in srcad.jacobian(chain).source_for(x, 4)
    same(srcad.jacobian(chain)(x, 4), srcad.jacfwd(chain)(x, 4))


def test_a_jacobian_inside_another():
    x, w = np.array([0.1, 0.3]), weights(3, 2)
    twice = srcad.jacobian(lambda x: srcad.jacobian(weighted)(x, w))
    same(twice(x), -np.sin(w @ x)[:, None, None] * w[:, :, None] * w[:, None, :])
    same(twice(x), twice(x))


def test_complex_results_of_real_inputs_have_a_jacobian():
    x = np.array([0.3, 0.5])
    found = srcad.jacobian(lambda x: np.sum(x) * np.exp(1j * x[:1]))(x)
    want = np.exp(1j * x[0]) * np.array([[1 + 1j * np.sum(x), 1.0]])
    np.testing.assert_allclose(found, want, rtol=1e-14)
