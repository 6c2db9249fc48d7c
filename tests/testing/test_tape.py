"""The tape: order of the sweep, accumulation, higher orders, and what it keeps in memory."""

import gc
import math
import weakref

import mpmath
import numpy as np
import pytest

from srcad.testing.tape import Unsupported, Variable, backward, gradients, no_grad
from srcad.testing.tape.graph import Node


def test_gradient_of_a_polynomial():
    x = Variable(3.0)
    y = x**3 + 2 * x
    y.backward()
    assert x.grad == 29.0
    assert isinstance(x.grad, float)


def test_backward_adds_to_what_is_there():
    x = Variable(np.array([1.0, 2.0]))
    (x * x).sum().backward()
    (3 * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [5.0, 7.0])
    x.grad = None
    (3 * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 3.0])


def test_seed_weights_the_output():
    x = Variable(np.array([1.0, 2.0]))
    (x * x).backward(np.array([10.0, 100.0]))
    np.testing.assert_array_equal(x.grad, [20.0, 400.0])
    with pytest.raises(ValueError, match="seed"):
        (x * x).backward()


def test_variables_know_their_creators_and_generations():
    x = Variable(2.0)
    y = np.sin(x)
    z = y * x
    assert x.creator is None
    assert (x.generation, y.generation, z.generation) == (0, 1, 2)
    assert z.creator.inputs == (y.content, x.content)
    assert z.creator.output() is z.content


def test_a_diamond_is_swept_by_generation(monkeypatch):
    # The short arm ends in x as soon as the long one begins: going depth first would pull back the
    # incomplete adjoint of a.
    x = Variable(1.5)
    a = x * x
    long = np.exp(np.sin(a))
    z = long * a + a
    order = []
    original = type(z.creator).backward

    def spy(self, ct, create_graph):
        order.append(self.generation)
        return original(self, ct, create_graph)

    monkeypatch.setattr(type(z.creator), "backward", spy)
    z.backward()
    assert order == sorted(order, reverse=True)
    assert len(order) == 5  # every function once
    a0 = 1.5**2
    e = math.exp(math.sin(a0))
    assert x.grad == pytest.approx((e * math.cos(a0) * a0 + e + 1) * 2 * 1.5, rel=1e-14)


def test_a_chain_of_diamonds_takes_linear_time():
    x = Variable(1.0)
    y = x
    for _ in range(60):
        y = y * 0.5 + y * 0.5  # 2**60 paths
    y.backward()
    assert x.grad == 1.0


def test_a_long_chain_needs_no_recursion():
    x = Variable(1.0)
    y = x
    for _ in range(20000):
        y = y + 1.0
    y.backward()
    assert x.grad == 1.0


def test_only_leaves_and_retained_values_get_gradients():
    x = Variable(2.0)
    y = x * x
    z = y * y
    kept = y * 3
    kept.retain_grad()
    (z + kept).backward()
    assert y.grad is None
    assert kept.grad == 1.0
    assert x.grad == 4 * 2.0**3 + 3 * 2 * 2.0


def test_no_grad_records_nothing():
    x = Variable(2.0)
    with no_grad():
        y = x * x
    assert y == 4.0
    with pytest.raises(Unsupported, match="depends on no variable"):
        backward(y)


def test_derivatives_of_every_order_by_going_back_through_the_graph():
    x = Variable(0.7)
    y = np.exp(x) * np.sin(x)
    derivative = y
    for order in range(1, 6):
        (derivative,) = gradients(derivative, None, [x], create_graph=True)
        exact = mpmath.diff(lambda t: mpmath.exp(t) * mpmath.sin(t), 0.7, order)
        assert derivative.data == pytest.approx(float(exact), rel=1e-11)


def test_grad_is_itself_on_the_tape():
    x = Variable(np.array([0.3, 0.8]))
    y = (x**3).sum()
    y.backward(create_graph=True)
    first = x.grad
    x.grad = None
    (first * first).sum().backward()
    np.testing.assert_allclose(x.grad, 36 * np.array([0.3, 0.8]) ** 3, rtol=1e-14)


def test_graphs_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = Variable(np.ones(3))
        y = np.tanh(x * 2)
        z = (y[1:] * y[:-1]).sum() + np.linalg.norm(y)
        z.backward()
        (second,) = gradients(z, None, [x], create_graph=True)
        watched = [weakref.ref(v.content) for v in (x, y, z, second)]
        del x, y, z, second
        assert [ref() for ref in watched] == [None] * 4
        assert not [o for o in gc.get_objects() if isinstance(o, Node)]
    finally:
        gc.enable()


def test_an_output_that_nobody_holds_is_freed():
    x = Variable(2.0)
    y = x * x
    function = y.creator
    del y
    assert function.output() is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_gradients_have_the_type_of_their_variable(dtype):
    x = Variable(np.array([1.0, 2.0], dtype))
    y = np.real((x * np.float64(2.0) * x).sum())
    y.backward()
    assert x.grad.dtype == dtype
    np.testing.assert_allclose(x.grad, [4.0, 8.0])


def test_zero_dimensional_arrays_stay_arrays():
    x = Variable(np.array(2.0))
    (x * x).backward()
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.shape == ()
    assert x.grad == 4.0


def test_broadcasting_is_summed_over():
    x, y = Variable(np.ones((3, 1))), Variable(np.ones(4))
    (x * y + 2.0).sum().backward()
    assert x.grad.shape == (3, 1)
    np.testing.assert_array_equal(x.grad, np.full((3, 1), 4.0))
    np.testing.assert_array_equal(y.grad, np.full(4, 3.0))


def test_repeated_indices_accumulate():
    x = Variable(np.array([1.0, 2.0, 3.0]))
    (x[[0, 0, 2]] * np.array([1.0, 10.0, 100.0])).sum().backward()
    np.testing.assert_array_equal(x.grad, [11.0, 0.0, 100.0])


def test_comparisons_and_counts_are_plain():
    x = Variable(np.array([1.0, -2.0]))
    assert type(x > 0) is np.ndarray
    assert type(np.argmax(x)) is np.int64
    assert bool(Variable(2.0) > 1.0) is True
    assert max(Variable(1.0), Variable(3.0)) == 3.0


def test_a_traced_value_is_never_cut_off_unnoticed():
    x = Variable(2.0)
    with pytest.raises(Unsupported):
        math.sin(x)
    with pytest.raises(Unsupported):
        float(x)
    with pytest.raises(Unsupported):
        np.asarray(Variable(np.ones(2)))
    memory = np.zeros(2)
    with pytest.raises(ValueError, match="sequence") as caught:  # NumPy's words, our reason
        memory[0] = x
    assert isinstance(caught.value.__cause__, Unsupported)
    with pytest.raises(Unsupported):
        np.add(Variable(np.ones(2)), 1.0, out=memory)
    with pytest.raises(Unsupported, match="key"):
        {x: 1.0}
    with pytest.raises(Unsupported, match="tobytes"):
        x.tobytes()
    assert not hasattr(x, "tobytes")
    with pytest.raises(Unsupported, match="does not know qr"):
        np.linalg.qr(Variable(np.eye(2)))


def test_a_leaf_can_not_be_overwritten():
    x = Variable(np.ones(2))
    with pytest.raises(Unsupported, match="leaf"):
        x[0] = 2.0


def test_a_branch_that_was_not_taken_does_not_poison():
    x = Variable(np.array([0.0, 4.0]))
    with np.errstate(all="raise"):
        np.where(x > 0, np.sqrt(x), 0.0).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.25])


def test_a_vanishing_cotangent_still_has_a_derivative():
    x, y = Variable(0.5), Variable(0.0)
    (gx,) = gradients(np.sin(x) * y, None, [x], create_graph=True)
    assert gx.data == 0.0
    (mixed,) = gradients(gx, None, [y])
    assert mixed == pytest.approx(math.cos(0.5), rel=1e-15)


def test_ties_share():
    x = Variable(np.array([2.0, 2.0, 1.0]))
    np.max(x).backward()
    np.testing.assert_array_equal(x.grad, [0.5, 0.5, 0.0])
    a, b = Variable(1.0), Variable(1.0)
    np.maximum(a, b).backward()
    assert (a.grad, b.grad) == (0.5, 0.5)
