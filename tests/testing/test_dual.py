"""Dual numbers: nesting, structure, and the types of tangents."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest

from srcad.testing import dual, reference_jvp


def f(x):
    return math.exp(x) * math.sin(x * x)


def nth(n):
    if n == 0:
        return f
    inner = nth(n - 1)
    return lambda x: dual.jvp(inner, (x,), (1.0,))[1]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_nested_orders(order):
    exact = mpmath.diff(lambda t: mpmath.exp(t) * mpmath.sin(t * t), 0.7, order)
    assert nth(order)(0.7) == pytest.approx(float(exact), rel=1e-12)


def test_perturbations_are_not_confused():
    # d/dx (x * d/dy (x + y)) = 1; a single epsilon would give 2.
    def outer(x):
        return x * dual.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    assert dual.jvp(outer, (3.0,), (1.0,))[1] == 1.0


def test_an_inner_derivative_that_does_not_depend_on_its_variable():
    def outer(x):
        return x * dual.jvp(lambda y: x * x, (1.0,), (1.0,))[1]

    assert dual.jvp(outer, (3.0,), (1.0,))[1] == 0.0


@dataclasses.dataclass
class Model:
    w: np.ndarray
    b: float
    name: str = "model"


def nested(model, parts):
    a, rest = parts
    y = model.w @ rest["x"] + model.b * a
    return {"y": y, "both": (np.sum(y), a * a), "count": len(y)}


def test_containers_keep_their_structure():
    x = np.array([1.0, 2.0])
    model = Model(np.array([[1.0, 2.0], [3.0, 4.0]]), 0.5)
    parts = (3.0, {"x": x, "n": 4})
    tangent = (Model(np.zeros((2, 2)), 1.0), (10.0, {"x": np.zeros(2), "n": 0}))
    out, dout = reference_jvp(nested, (model, parts), tangent)
    np.testing.assert_allclose(out["y"], model.w @ x + 1.5)
    np.testing.assert_allclose(dout["y"], [8.0, 8.0])
    assert dout["both"] == (16.0, 60.0)
    assert dout["count"] is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tangents_have_the_type_of_their_value(dtype):
    x = np.array([1.0, 2.0], dtype)
    _, t = dual.jvp(lambda x: x * 2.0, (x,), (np.ones(2),))
    assert t.dtype == dtype
    assert isinstance(dual.jvp(lambda x: x * 2.0, (1.0,), (1.0,))[1], float)


def test_outputs_without_dependence_have_zero_tangents():
    out, t = dual.jvp(lambda x: (np.ones(3), 2.0, x), (1.0,), (1.0,))
    np.testing.assert_array_equal(t[0], np.zeros(3))
    assert t[1:] == (0.0, 1.0)
    assert out[1:] == (2.0, 1.0)


def test_wrong_structure_is_refused():
    with pytest.raises(ValueError, match="structure"):
        dual.jvp(lambda p: p[0], ((1.0, 2.0),), ((1.0,),))
