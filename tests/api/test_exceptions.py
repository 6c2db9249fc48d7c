"""Exceptions of the function come through as they are; NumPy's semantics hold where it has none."""

import contextlib
import io
import math
import warnings

import numpy as np
import pytest

import srcad


def quiet(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(*args), {str(w.message).split(" encountered")[0] for w in caught}


@pytest.mark.parametrize(
    ("function", "x", "value", "slope", "warning"),
    [
        (np.exp, 1000.0, np.inf, np.inf, "overflow"),
        (np.log, 0.0, -np.inf, np.inf, "divide by zero"),
        (np.sqrt, -1.0, np.nan, np.nan, "invalid value"),
        (np.sqrt, 0.0, 0.0, np.inf, "divide by zero"),
        (lambda x: 1 / x, np.float64(0.0), np.inf, -np.inf, "divide by zero"),
        (lambda x: x**0.5, np.float64(-1.0), np.nan, np.nan, "invalid value"),
        (math.sqrt, 0.0, 0.0, np.inf, "divide by zero"),
    ],
)
def test_numpy_scalars_do_not_raise(function, x, value, slope, warning):
    (found, gradient), caught = quiet(srcad.value_and_grad(function), x)
    np.testing.assert_equal([float(found), float(gradient)], [value, slope])
    assert warning in caught
    (_, tangent), _ = quiet(srcad.jvp, function, (x,), (1.0,))
    np.testing.assert_equal(float(tangent), slope)
    (_, pull), _ = quiet(srcad.vjp, function, x)
    np.testing.assert_equal(float(quiet(pull, 1.0)[0][0]), slope)


def test_items_of_arrays_do_not_raise():
    (value, gradient), _ = quiet(srcad.value_and_grad(lambda x: x[0] / x[1]), np.array([1.0, 0.0]))
    assert value == np.inf
    np.testing.assert_array_equal(gradient, [np.inf, -np.inf])
    (value, gradient), _ = quiet(srcad.value_and_grad(lambda x: x[0] ** 1000), np.array([1e3]))
    np.testing.assert_array_equal([value, *gradient], [np.inf, np.inf])


def divides(x):
    return 1 / x


def calls(x):
    y = x * 2
    return divides(y)


def domain(x):
    return math.log(x)


def powers(x):
    return x**1000


def assigns(x):
    assert x > 5, f"x is {x}"
    return x


def indexes(x):
    return x[5] * 1.0


class OwnError(Exception):
    pass


def raises(x):
    if x > 1:
        raise OwnError("big", 3)
    return x


def raises_from(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        raise ValueError("bad") from error


@pytest.mark.parametrize(
    ("function", "x", "kind", "line"),
    [
        (divides, 0.0, ZeroDivisionError, "return 1 / x"),
        (calls, 0.0, ZeroDivisionError, "return 1 / x"),
        (domain, -1.0, ValueError, "return math.log(x)"),
        (powers, 1e3, OverflowError, "return x**1000"),
        (assigns, 0.0, AssertionError, "assert x > 5"),
        (indexes, np.ones(2), IndexError, "return x[5]"),
        (raises, 2.0, OwnError, "raise OwnError"),
    ],
)
def test_type_and_line(function, x, kind, line):
    with pytest.raises(kind) as own:
        function(x)
    attempts = [
        lambda: srcad.value_and_grad(function)(x),
        lambda: srcad.vjp(function, x),
        lambda: srcad.jvp(function, (x,), (x,)),
    ]
    if function is not indexes:
        attempts.append(lambda: srcad.grad(srcad.grad(function))(x))
    if function is not powers:
        attempts.append(lambda: srcad.grad(function)(x))
    for attempt in attempts:
        with pytest.raises(kind) as found:
            attempt()
        assert type(found.value) is type(own.value)
        assert found.value.args == own.value.args
        assert found.value.__cause__ is None
        assert found.value.__context__ is None
        (note,) = found.value.__notes__
        assert "test_exceptions.py:" in note
        assert line in note


four = np.ones(4)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: np.dot(x, np.ones(4)), ValueError),
        (lambda x: x @ four, ValueError),
        (lambda x: np.inner(four, x), ValueError),
        (lambda x: np.vdot(four, x), ValueError),
        (lambda x: np.einsum("i,i", x, four), ValueError),
        (lambda x: np.tensordot(x, four, 1), ValueError),
        (lambda x: (np.ones((2, 4)) @ x).sum(), ValueError),
        (lambda x: (np.ones((2, 4)) @ x[:, None]).sum(), ValueError),
        (lambda x: np.sum(x * four), ValueError),
        (lambda x: float(x), TypeError),
        (lambda x: math.sin(x), TypeError),
        (lambda x: np.take(x, 7), IndexError),
        (lambda x: np.take(x[None] * np.ones((2, 1)), 7), IndexError),
        (lambda x: np.take_along_axis(x, np.array([7]), 0).sum(), IndexError),
        (lambda x: np.choose([5], [x[:1], 2 * x[:1]]).sum(), ValueError),
    ],
)
def test_what_raises_has_no_gradient_even_if_its_value_is_not_needed(function, error):
    with pytest.raises(error):
        function(np.ones(3))
    with pytest.raises(error):
        srcad.grad(function)(np.ones(3))


def test_sizes_of_arguments_that_differ():
    def product(x, y):
        return np.dot(x, y)

    with pytest.raises(ValueError, match="not aligned"):
        srcad.grad(product)(np.ones(3), np.ones(4))
    np.testing.assert_array_equal(srcad.grad(product)(np.ones(3), np.arange(3.0)), np.arange(3.0))
    assert "np.dot" not in srcad.grad(product).source_for(np.ones(3), np.ones(3))


def test_the_functions_own_chain_is_kept():
    with pytest.raises(ValueError, match="bad") as found:
        srcad.grad(raises_from)(0.0)
    assert isinstance(found.value.__cause__, ZeroDivisionError)


def catches(x):
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = x * 5
    return y


def catches_nothing(x):
    try:
        y = np.sqrt(x)
    except ValueError:
        y = x * 5
    return y


def catches_floating_point_errors(x):
    with np.errstate(all="raise"):
        try:
            y = np.log(x)
        except FloatingPointError:
            y = x * 5
    return y


def test_what_the_function_catches():
    assert srcad.grad(catches)(0.0) == 5.0
    assert srcad.value_and_grad(catches)(0.0) == (0.0, 5.0)
    assert srcad.grad(catches)(2.0) == -0.25
    assert quiet(srcad.value_and_grad(catches), np.float64(0.0))[0] == (np.inf, -np.inf)
    (value, slope), _ = quiet(srcad.value_and_grad(catches_nothing), -1.0)
    assert np.isnan(value)
    assert np.isnan(slope)
    assert srcad.value_and_grad(catches_floating_point_errors)(0.0) == (0.0, 5.0)


def test_effects_happen_once():
    def f(x):
        print("seen")
        return 1 / x

    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(ZeroDivisionError) as found:
        srcad.value_and_grad(f)(0.0)
    assert out.getvalue() == "seen\n"
    assert found.value.__context__ is None
    assert "test_exceptions.py" in found.value.__notes__[0]


def test_arguments_are_not_written_by_a_second_run():
    def f(x, items):
        items.append(x)
        return np.log(x)

    items = []
    quiet(srcad.grad(f), 0.0, items)
    assert items == []


def interrupt():
    raise KeyboardInterrupt


def test_interrupts_pass():
    srcad.opaque(interrupt)

    def f(x):
        interrupt()
        return x

    with pytest.raises(KeyboardInterrupt) as found:
        srcad.grad(f)(1.0)
    assert found.value.__context__ is None


def test_tracebacks_lead_to_the_users_line():
    with pytest.raises(ZeroDivisionError) as found:
        srcad.grad(calls)(0.0)
    names = [entry.name for entry in found.traceback]
    assert names[1:] == ["__call__", "calls", "divides"]


def test_a_refusal_comes_without_the_frames_of_the_compiler():
    def f(x):
        yield x

    for call in (lambda: srcad.grad(f)(1.0), lambda: srcad.jvp(f, (1.0,), (1.0,))):
        with pytest.raises(srcad.errors.UnsupportedSyntax) as found:
            call()
        assert len(found.traceback) == 3  # this test, the lambda, the call of srcad


def test_the_instance_does_not_count_as_an_argument():
    def f(x, y):
        return x * y

    with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given"):
        srcad.grad(f)(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'y'"):
        srcad.grad(f)(1.0)
