"""Types of results: what is remembered of one call must not leak into another."""

import itertools
import operator

import numpy as np
import pytest

import srcad
from srcad.ir import Literal, Value, linear
from srcad.ir.infer import result_type
from srcad.ir.known import picked_type
from srcad.ir.types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Dim,
    Number,
    NumPyScalar,
    Opaque,
    Piece,
    TupleType,
)


def test_equal_literals_of_different_types():
    for values, dtype in (((1, 2), "int64"), ((1.0, 2.0), "float64"), ((True, 2.0), "float64")):
        assert result_type(np.array, (Literal(values),)) == Array(dtype, (2,))
    assert result_type(np.array, (Literal(((1, 0),)),)) == Array("int64", (1, 2))
    assert result_type(np.array, (Literal(((True, False),)),)) == Array("bool", (1, 2))


def test_which_integer_names_a_size():
    n, m = Value("n", INT), Value("m", INT)
    assert result_type(np.zeros, (n,)) == Array("float64", (Dim(n),))
    assert result_type(np.zeros, (m,)) == Array("float64", (Dim(m),))


def test_integers_beside_a_size_are_not_that_size_less_a_number():
    shape = Value("shape", TupleType((INT, INT, Number("int", Dim("n")), INT, INT)))
    for x in (Value("x", FLOAT), Value("x", Array("float64", (1, 1, 1, 1, 1)))):
        made = result_type(np.broadcast_to, (x, shape))
        assert made == Array("float64", (None, None, Dim("n"), None, None))


def test_integers_in_arithmetic_name_no_size():
    x = Value("x", Array("float64", (Dim("n"), 3)))
    for _ in range(2):
        n = Value("n", INT)
        assert result_type(operator.mul, (n, x)) == x.type
        assert result_type(operator.truediv, (n, n)) == FLOAT
        assert result_type(operator.lt, (n, Literal(2.5))) == BOOL
        assert result_type(operator.floordiv, (n, Literal(2))) == INT


def test_a_symbol_that_meets_a_number_has_to_be_it():
    vector = Value("v", Array("float64", (2,)))
    matrix = Value("m", Array("float64", (Dim("n", 0), Dim("n", 0))))
    assert result_type(operator.matmul, (vector, matrix)) == Array("float64", (Dim("n"),))
    assert result_type(np.dot, (matrix, vector)) == Array("float64", (Dim("n"),))
    left = Value("left", Array("float64", (2, 5, 3)))
    right = Value("right", Array("float64", (2, 3, 4)))
    assert result_type(operator.matmul, (left, right)) == Array("float64", (2, 5, 4))
    assert result_type(np.dot, (left, right)) == Array("float64", (2, 5, 2, 4))
    assert result_type(np.inner, (matrix, vector)) == Array("float64", (None,))


def size_where(size, n):
    """The size where what it is named after is ``n``."""
    match size:
        case Dim(base=Piece(whole=whole, start=start, stop=stop, step=step), drop=0):
            ends = (None if e is None else e.number for e in (start, stop))
            return len(range(*slice(*ends, step).indices(size_where(whole, n))))
        case Dim(drop=drop):
            return max(n - drop, 0)
    return size


@pytest.mark.parametrize("base", ["n", Value("k", INT)])
@pytest.mark.parametrize("drop", [0, 3])
def test_a_slice_has_the_size_its_type_says_whatever_the_size_of_the_axis(base, drop):
    claimed = 0
    x = Value("x", Array("float64", (Dim(base, drop),)))
    ends = (None, 0, 1, 2, 5, 40, -1, -2, -5, -40)
    for parts in itertools.product(ends, ends, (None, 1, 2, 50, -1, -2)):
        found = result_type(operator.getitem, (x, Literal(slice(*parts))))
        (size,) = found.dims
        if size is None:
            continue
        claimed += 1
        for n in range(2 if base == "n" else 0, 200):
            axis = max(n - drop, 0)
            said = size_where(size, n)
            assert said == len(range(*slice(*parts).indices(axis))), (parts, n, size)
    assert claimed > 50


def test_sizes_are_named_as_in_each_call_though_alike_calls_are_remembered():
    for name in ("n", "m"):
        x = Value("x", Array("float64", (Dim(name), Dim("k"))))
        assert result_type(np.ndarray.T, (x,)) == Array("float64", (Dim("k"), Dim(name)))
        assert result_type(np.sin, (x,)) == x.type
    square = Value("x", Array("float64", (Dim("n"), Dim("n"))))
    assert result_type(np.diagonal, (square,)) == Array("float64", (Dim("n"),))
    other = Value("x", Array("float64", (Dim("n"), Dim("m"))))
    assert result_type(np.diagonal, (other,)) == Array("float64", (None,))


def test_slices_with_equal_ends_are_of_equal_size():
    def f(a):
        n = len(a)
        for k in range(n):
            for i in range(k + 1, n):
                a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
        return np.sum(a)

    def g(a, b):
        for k in range(len(b)):
            a[0, k:] *= b[k:]
        return np.sum(a)

    assert "unbroadcast" not in srcad.grad(f).source_for(np.eye(3))
    assert "unbroadcast" not in srcad.grad(g, argnums=1).source_for(np.eye(3), np.ones(3))
    assert "unbroadcast" in srcad.grad(g, argnums=1).source_for(np.ones((2, 3)), np.ones(4))


def test_sizes_of_slices_are_those_of_their_iteration():
    def f(x, n):
        kept = x[:0]
        for k in range(n):
            part = x[k:]
            if len(kept) > 0:
                part = part + kept[1:]
            kept = part
        return np.sum(kept**2)

    x = np.array([0.5, -1.2, 2.0])
    want = srcad.grad(lambda x: x[2] ** 2 * 9)(x)
    np.testing.assert_allclose(srcad.grad(f)(x, 3), want)
    np.testing.assert_allclose(srcad.grad(f)(x, 1), 2 * x)


@pytest.mark.parametrize(
    "index",
    [
        *(([0, 2],), ([0, 2], 1), (1, [0, 2]), ([0, 2], slice(None), 1)),
        *((slice(None), [0, 1], [1, 0]), (0, slice(1, None), [0, 1, 1]), ([1], [0, 2])),
        *((slice(0, 2), 1, [0, 1]), ([0], slice(None), [1])),
    ],
)
def test_what_lists_pick(index):
    kinds = {list: lambda p: TupleType((INT,) * len(p), list), int: lambda p: INT}
    types = tuple(kinds.get(type(p), lambda p: Opaque("slice"))(p) for p in index)
    found = picked_type(Array("float64", (3, 4, 5)), Value("", TupleType(types)))
    wanted = np.ones((3, 4, 5))[index].shape
    assert len(found.dims) == len(wanted)
    assert all(have in (None, want) for have, want in zip(found.dims, wanted, strict=True))
    assert found.dims.count(None) == sum(isinstance(p, slice) for p in index)


def test_an_axis_by_name_is_as_known_as_one_by_position():
    n = Dim("n")
    args = (Value("x", Array("float64", (3, n))), Literal(2))
    by_name = result_type(np.split, args, (("axis", Literal(1)),))
    assert by_name == result_type(np.split, (*args, Literal(1)))
    half = linear.to_size(linear.quotient(linear.of_size(n), 2))
    assert by_name == TupleType((Array("float64", (3, half)),) * 2, list)


def test_an_integer_of_python_or_numpy_is_an_integer():
    found, bound = Value("i", NumPyScalar("int64")), Value("n", INT)
    assert result_type(max, (found, Literal(0))) == NumPyScalar("int64")
    assert result_type(min, (found, bound)) == NumPyScalar("int64")
