"""Rules that users declare for their own functions."""

import math

import numpy as np
import pytest
import scipy.special

import srcad


def external(x):
    return float(np.sinh(x))


@srcad.rules.differential(external)
def external_rule(x, *, dx):
    return np.cosh(x) * dx


def flipped(x):
    return np.flip(x) * 2


@srcad.rules.linear(flipped, wrt="x")
def flipped_rule(ct, x):
    return np.flip(ct) * 2


def log_sum_exp(x):
    return np.log(np.sum(np.exp(x)))


@srcad.rules.pullback(log_sum_exp, wrt="x")
def log_sum_exp_rule(ct, x, *, out):
    return ct * np.exp(x - out)


def test_differential():
    def f(x):
        return external(x) * x

    d = srcad.grad(f)
    assert d(1.0) == pytest.approx(math.cosh(1) + math.sinh(1), rel=1e-15)
    assert srcad.grad(d)(1.0) == pytest.approx(math.sinh(1) + 2 * math.cosh(1), rel=1e-15)
    assert srcad.jvp(f, (1.0,), (1.0,)) == pytest.approx((math.sinh(1), math.e), rel=1e-15)
    assert "external(" in srcad.value_and_grad(f).source_for(1.0)


def test_linear():
    found = srcad.grad(lambda x: np.sum(flipped(x) * np.arange(3.0)))(np.ones(3))
    np.testing.assert_array_equal(found, [4.0, 2.0, 0.0])
    for transform in (srcad.jacfwd, srcad.jacrev):
        np.testing.assert_array_equal(transform(flipped)(np.ones(2)), [[0.0, 2.0], [2.0, 0.0]])


def test_pullback():
    x = np.array([1.0, 2.0])
    expected = np.exp(x - log_sum_exp(x))
    np.testing.assert_allclose(srcad.grad(log_sum_exp)(x), expected, rtol=1e-14)
    hessian = np.diag(expected) - np.outer(expected, expected)
    found = srcad.jacrev(srcad.grad(log_sum_exp))(x)
    np.testing.assert_allclose(found, hessian, rtol=1e-13)


def test_a_missing_rule_says_how_to_declare_it():
    @srcad.opaque
    def unknown(x):
        return x

    with pytest.raises(srcad.errors.MissingRule, match=r"@srcad.rules.differential\(unknown\)"):
        srcad.grad(lambda x: unknown(x))(1.0)


def declared_later(x):
    return x * x


def uses_what_is_declared_later(x):
    return declared_later(x) * 3.0


def test_a_rule_that_is_declared_after_the_first_call():
    def derivatives():
        return (
            gradient(2.0),
            srcad.vjp(uses_what_is_declared_later, 2.0)[1](1.0)[0],
            srcad.jvp(uses_what_is_declared_later, (2.0,), (1.0,))[1],
        )

    gradient = srcad.grad(uses_what_is_declared_later)
    assert derivatives() == (12.0, 12.0, 12.0)

    @srcad.rules.differential(declared_later)
    def tenfold(x, *, dx):
        return 10.0 * dx

    assert derivatives() == (30.0, 30.0, 30.0)
    assert "30.0" in gradient.source
    srcad.rules.constant(declared_later, replace=True)
    assert derivatives() == (0.0, 0.0, 0.0)


def test_the_rule_that_is_asked_for_has_the_parameters_of_the_call():
    def f(q):
        return scipy.special.mathieu_a(1, q)

    with pytest.raises(srcad.errors.MissingRule, match=r"mathieu_a_rule\(x, y, \*, dy\)"):
        srcad.grad(f)(0.5)
