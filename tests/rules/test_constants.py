"""What is declared constant is: where it takes numbers, a small step changes nothing."""

import warnings

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (its declarations)
import scipy.special  # noqa: F401

import srcad
from srcad.rules.coverage import name_of
from srcad.rules.registry import constants

V = np.array([0.7, -1.3, 2.4])
W = np.array([1.6, 0.4, -2.2])
ARGUMENTS = (
    (V,),
    (V, W),
    (V, W, 2 * W),
    (0.7,),
    (1.7, 0.4),
    (V, 1.3),
    (np.outer(V, W),),
    ([V, W],),
)
STEP = 1e-6
CUT = {srcad.stop_gradient, np.empty_like, np.mintypecode, np.diag_indices}
"""Constant because it is asked for; without values; with a text and a count for
an argument."""


def results(function, args):
    """The floating-point numbers among the results."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(numbers(function(*map(np.array, args))))
    except Exception:  # it takes other arguments
        return []


def numbers(value):
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, (np.ndarray, np.generic, float, complex)):
        array = np.asarray(value)
        if array.dtype.kind in "fc":
            yield array


@pytest.mark.parametrize("args", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_constants_are_constant(args):
    moving = []
    for function in constants():
        if "test_" in (getattr(function, "__module__", None) or ""):
            continue  # declared by another test
        before = [] if function in CUT else results(function, args)
        if not before:
            continue
        for k in range(len(args)):
            there = [np.add(a, STEP * (j == k)) for j, a in enumerate(args)]
            after = results(function, there)
            pairs = zip(before, after, strict=False)
            if not all(np.array_equal(p, q, equal_nan=True) for p, q in pairs):
                moving.append((name_of(function), k))
    assert not moving


def test_a_quotient_of_floors_keeps_its_first_element():
    assert np.array_equal(srcad.grad(np.floor_divide.reduce)(np.array([0.7])), [1.0])
    x = np.array([5.5, 2.0])
    assert np.array_equal(srcad.jacobian(np.floor_divide.accumulate)(x), [[1, 0], [0, 0]])


def test_a_mesh_of_values_is_no_constant():
    def f(x, y):
        a, b = np.ix_(x, y)
        return np.sum(a * b * b)

    assert np.allclose(srcad.grad(f)(V, W), np.sum(W * W))
    assert np.allclose(srcad.grad(f, 1)(V, W), 2 * W * np.sum(V))
