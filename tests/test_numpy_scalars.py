"""What NumPy's scalars do that Python's do not: code for floats must not be taken for theirs."""

import math

import numpy as np
import pytest

import srcad


def skips_by_inverted_comparison(p):
    s = 0.0
    for i in range(len(p)):
        if ~(p[i] > 1):
            continue
        s += p[i] ** 2
    return s


def skips_by_inverted_isnan(p):
    s = 0.0
    for v in p:
        if ~np.isnan(v):
            s += v**2
    return s


def inverted_isfinite_of_a_sum(p):
    r = np.sum(p**2)
    if ~np.isfinite(r):
        return p[0] ** 2
    return 3 * p[0] + r


def inverted_isnan(x):
    return 1 / x if ~np.isnan(x) else 0.0


def inverted_comparison_of_exp(x):
    return x**2 if ~(np.exp(x) > 1) else 3 * x


def where_of_inverted_isfinite(x):
    return np.where(~np.isfinite(x), x**2, 3 * x)


def where_of_inverted_comparison(x):
    return x * np.where(~(np.sin(x) > 0), 5.0, 1.0)


def inverted_comparison(x):
    return x**2 if ~(x > 1) else 3 * x


def while_inverted_comparison(x):
    m = -1
    while ~(x * m > 3) and m < 4:
        m += 1
    return x * m


def counts_comparisons(p, n):
    s = 0.0
    for k in range(n):
        c = (p[0] > k) + (p[1] > k)
        s = s + c * p[0]
    return s


def sum_of_two_comparisons(x):
    return x * ((np.exp(x) > 1) + (np.sin(x) > 0))


def comparisons_added_up(p):
    c = False
    for k in range(3):
        c = c + (p[0] > k)
    return c * p[0]


def match_true(x):
    match x[0] > 0:
        case True:
            return x[0] ** 2
        case _:
            return 3 * x[0]


def is_true_in_a_loop(p):
    s = 0.0
    for k in range(2):
        if (p[1] > k) is True:
            s += p[0]
        else:
            s += 2 * p[0]
    return s


def is_numpy_true(x):
    return x if np.isfinite(x) is np.True_ else 2 * x


def has_a_shape(x):
    y = x[0] * 2
    return y * 3 if hasattr(y, "shape") else y


def has_a_dtype(x):
    s = 0.0
    for v in x:
        s += x[0] if hasattr(v, "dtype") else 0.0
    return s


def exp_has_a_shape(x):
    return x * 2 if hasattr(np.exp(x), "shape") else x


def type_is_called_float64(x):
    return 2 * x[0] if type(x[0] * 2).__name__ == "float64" else x[0]


def type_is_float(x):
    return 2 * x[0] if type(np.sum(x)) is float else x[0]


def length_of_repr(x):
    return len(repr(x[0])) * x[0]


def sum_of_two_bools(p, m):
    return (m[0] + m[1]) * p[0]


def inverted_comparison_times_x(x):
    return (~(x[0] > 0)) * x[0]


P = np.array([2.0, 0.5])


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of Python, from 3.12
@pytest.mark.parametrize(
    ("f", "args", "gradient"),
    [
        (skips_by_inverted_comparison, (P,), [4.0, 0.0]),
        (skips_by_inverted_isnan, (np.array([2.0, np.nan]),), [4.0, 0.0]),
        (inverted_isfinite_of_a_sum, (P,), [7.0, 1.0]),
        (inverted_isnan, (float("nan"),), 0.0),
        (inverted_comparison_of_exp, (2.0,), 3.0),
        (where_of_inverted_isfinite, (2.0,), 3.0),
        (where_of_inverted_comparison, (2.0,), 1.0),
        (inverted_comparison, (np.float64(2.0),), 3.0),
        (inverted_comparison, (2.0,), 4.0),  # of Python's floats: ~True is -2
        (while_inverted_comparison, (np.float64(2.0),), 2.0),
        (while_inverted_comparison, (2.0,), 4.0),
        (counts_comparisons, (np.array([2.0, 1.5]), 2), [2.0, 0.0]),
        (sum_of_two_comparisons, (2.0,), 1.0),
        (comparisons_added_up, (P,), [1.0, 0.0]),
        (match_true, (np.array([2.0, 1.0]),), [3.0, 0.0]),
        (is_true_in_a_loop, (P,), [4.0, 0.0]),
        (is_numpy_true, (2.0,), 1.0),
        (has_a_shape, (P,), [6.0, 0.0]),
        (has_a_dtype, (P,), [2.0, 0.0]),
        (exp_has_a_shape, (2.0,), 2.0),
        (type_is_called_float64, (P,), [2.0, 0.0]),
        (type_is_float, (P,), [1.0, 0.0]),
        (length_of_repr, (P,), [15.0, 0.0]),
        (sum_of_two_bools, (np.array([1.0, 2.0]), np.array([True, True])), [1.0, 0.0]),
        (inverted_comparison_times_x, (np.array([2.0, 1.0]),), [0.0, 0.0]),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_numpy_scalars_are_numpys(f, args, gradient):
    value, found = srcad.value_and_grad(f)(*args)
    np.testing.assert_allclose(value, f(*args))
    np.testing.assert_allclose(found, gradient)
    forward = srcad.jacfwd(f)(*args)
    np.testing.assert_allclose(forward, gradient)


# ---- double precision beside single


def times_a_sine(x, s):
    return np.sum(x * np.sin(s))


def times_a_root(x, s):
    return np.sum(x * np.sqrt(2.0)) * s


def times_a_mean(x, s):
    return x[0] * np.mean(np.array([1.0, 3.0]) * s)


def times_a_python_number(x, s):
    return np.sum(x * math.sin(s))


@pytest.mark.parametrize(
    "function", [times_a_sine, times_a_root, times_a_mean, times_a_python_number]
)
def test_numbers_of_numpy_are_in_double_precision(function):
    x = np.array([0.7, -1.3, 0.4], "f4")
    value, (by_x, by_s) = srcad.value_and_grad(function, argnums=(0, 1))(x, 1.3)
    wanted = function(x, 1.3)
    assert type(value) is type(wanted)
    assert value == wanted
    assert by_x.dtype == np.float32
    precise = srcad.grad(function, argnums=(0, 1))(x.astype(float), 1.3)
    np.testing.assert_allclose(by_x, precise[0], rtol=1e-6)
    np.testing.assert_allclose(by_s, precise[1], rtol=1e-6)
