"""What derivatives of functions that write into arrays do to the arrays of the caller."""

import numpy as np
import pytest

import srcad
from srcad.errors import SrcadError

POINT = np.array([1.0, 2.0, 3.0])
TABLE = np.array([1.0, 2.0, 3.0])


def scaled(x):
    x[0] *= x[1]
    return (x * x).sum()


def mixed(x, y):
    x[1:] += y[:-1]
    return (x * y).sum()


def tabled(x):
    TABLE[0] = x
    return TABLE.sum()


GRADIENT = np.array([8.0, 8.0, 6.0])


@pytest.mark.parametrize("transform", [srcad.grad, srcad.jacfwd, srcad.jacrev])
def test_arguments_are_left_as_they_are(transform):
    x = POINT.copy()
    for _ in range(2):
        np.testing.assert_array_equal(transform(scaled)(x), GRADIENT)
        np.testing.assert_array_equal(x, POINT)


def test_read_only_arguments_are_accepted():
    x = POINT.copy()
    x.setflags(write=False)
    np.testing.assert_array_equal(srcad.grad(scaled)(x), GRADIENT)
    value, tangent = srcad.jvp(scaled, (x,), (np.ones(3),))
    assert (value, tangent) == (17.0, 22.0)


def test_a_primal_is_its_own_direction():
    """The function is not given the tangent: it may share memory with what is written."""
    x = POINT.copy()
    assert srcad.jvp(scaled, (x,), (x,)) == (17.0, 42.0)
    np.testing.assert_array_equal(srcad.hvp(scaled, (x,), (x,)), [24.0, 16.0, 6.0])
    assert srcad.vjp(scaled, x)[1](np.array(2.0))[0].tolist() == (2.0 * GRADIENT).tolist()
    np.testing.assert_array_equal(x, POINT)


@pytest.mark.parametrize("transform", [srcad.grad, srcad.jacfwd, srcad.hessian])
@pytest.mark.parametrize("other", [slice(None), slice(None, None, -1)])
def test_arguments_that_share_memory_are_refused(transform, other):
    x = POINT.copy()
    with pytest.raises(ValueError, match="share memory"):
        transform(mixed)(x, x[other])
    assert np.shape(transform(mixed)(x, x[other].copy()))[0] == 3


def test_global_arrays_are_not_written():
    with pytest.raises(SrcadError, match="TABLE"):
        srcad.grad(tabled)(2.0)
    np.testing.assert_array_equal(TABLE, POINT)


# ---- the order of memory

COUNTED = np.arange(24.0).reshape(2, 3, 4)
LAYOUTS = {
    "C": COUNTED,
    "F": np.asfortranarray(COUNTED),
    "turned": COUNTED.transpose(1, 0, 2),
    "of a matrix": np.asfortranarray(COUNTED[0]),
    "backwards": np.asfortranarray(COUNTED[0])[::-1, ::2],
    "one axis broadcast": np.broadcast_to(np.asfortranarray(COUNTED[:, :1]), (2, 3, 4)),
    "broadcast": np.broadcast_to(np.asfortranarray(COUNTED[0]), (2, 3, 4)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "flat",
    [
        lambda a: a.ravel("K"),
        lambda a: np.ravel(a, order="A"),
        lambda a: a.flatten("K"),
        lambda a: a.flatten(order="A"),
        lambda a: a.reshape(-1, order="A"),
        lambda a: np.reshape(a, (a.size,), "A"),
        lambda a: (a * 1.0).ravel("K"),
        lambda a: np.copy(a).ravel("K"),
        lambda a: a.copy().ravel("K"),
    ],
)
def test_order_of_memory_is_that_of_the_primal(flat, layout):
    """Adjoints and tangents are stored in orders of their own."""
    array = LAYOUTS[layout]
    direction = np.cos(COUNTED).ravel()[: array.size].reshape(array.shape)
    value, tangent = srcad.jvp(flat, (array,), (direction,))
    np.testing.assert_array_equal(value, flat(array))
    for jacobian in (srcad.jacrev(flat)(array), srcad.jacfwd(flat)(array)):
        rows = jacobian.reshape(array.size, array.size)
        np.testing.assert_allclose(rows @ array.ravel(), value)
        np.testing.assert_allclose(rows @ direction.ravel(), tangent)
        if "broadcast" not in layout:  # no number is there twice
            assert array.ravel()[rows.argmax(1)].tolist() == value.tolist()


def by_columns(a):
    columns = a.ravel("F")
    columns[0] *= 2.0
    return np.sum(a * a)


def test_views_by_columns_are_written_in_c_order_only():
    """The adjoint of an array is in C order: it has no view by columns."""
    a = np.asfortranarray(COUNTED[0])
    for attempt in (srcad.grad(by_columns), lambda a: srcad.jvp(by_columns, (a,), (a,))):
        with pytest.raises(ValueError, match="not in C order"):
            attempt(a)
