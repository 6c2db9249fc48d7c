"""Distributions outside their support, at its ends, and with parameters that there are not."""

import numpy as np
import pytest
import scipy.stats as ss

import srcad
from srcad.errors import SourceError
from tests.rules.samples_scipy import SHAPES_OF

POINTS = np.array([-1.0, 0.0, 0.3, 1.0, 1.7, 30.0])
COUNTS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 6.0, 1.5])
CONTINUOUS = (ss.norm, ss.gamma, ss.beta, ss.expon, ss.uniform, ss.pareto, ss.t, ss.lognorm)
DISCRETE = (ss.poisson, ss.binom, ss.geom, ss.nbinom, ss.bernoulli)


@pytest.mark.parametrize("name", ["logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("form", CONTINUOUS, ids=lambda f: f.name)
def test_continuous(form, name):
    function, shapes = getattr(form, name), SHAPES_OF.get(form, ())

    def f(x, scale):
        return function(x, *shapes, loc=0.1, scale=scale)

    for scale in (1.3, -1.0, 0.0):
        with np.errstate(all="ignore"):
            value, change = srcad.jvp(f, (POINTS, scale), (np.ones(6), 0.0))
            wanted = f(POINTS, scale)
        assert np.allclose(value, wanted, rtol=1e-12, atol=1e-300, equal_nan=True)
        if scale > 0 and not name.startswith("log"):
            assert np.all(np.abs(change[(wanted == 0) | (wanted == 1)]) < 1e-99)


@pytest.mark.parametrize("name", ["logpmf", "pmf"])
@pytest.mark.parametrize("form", DISCRETE, ids=lambda f: f.name)
def test_discrete(form, name):
    function, fixed, p = getattr(form, name), SHAPES_OF[form][:-1], SHAPES_OF[form][-1]

    def f(p):
        return function(COUNTS, *fixed, p)

    with np.errstate(all="ignore"):
        value, change = srcad.jvp(f, (p,), (1.0,))
    assert np.allclose(value, f(p), rtol=1e-12)
    if name == "pmf":
        assert np.all(change[value == 0] == 0)


norm = ss.norm


def test_a_distribution_by_its_own_name():
    def density(x):
        return norm.cdf(x) * norm.logpdf(x)

    def given(x, form):
        return form.logpdf(x)

    gradient = srcad.grad(density)
    wanted = norm.pdf(0.3) * norm.logpdf(0.3) - 0.3 * norm.cdf(0.3)
    assert np.isclose(gradient(0.3), wanted)
    assert np.isclose(srcad.grad(given)(0.3, ss.norm), -0.3)
    assert np.isclose(srcad.grad(given)(0.3, ss.expon), -1.0)


def test_a_global_distribution_that_is_another_now(monkeypatch):
    def density(x):
        return norm.logpdf(x)

    gradient = srcad.grad(density)
    assert np.isclose(gradient(0.3), -0.3)
    monkeypatch.setitem(globals(), "norm", ss.expon)
    assert np.isclose(gradient(0.3), -1.0)


@pytest.mark.parametrize("name", ["ppf", "isf"])
@pytest.mark.parametrize("form", [*CONTINUOUS, ss.cauchy], ids=lambda f: f.name)
def test_quantiles_invert_the_shares(form, name):
    shapes, share = SHAPES_OF.get(form, ()), form.cdf if name == "ppf" else form.sf

    def there_and_back(q):
        return share(getattr(form, name)(q, *shapes, 0.2, 1.3), *shapes, 0.2, 1.3)

    q = np.array([0.02, 0.4, 0.97])
    value, change = srcad.jvp(there_and_back, (q,), (np.ones(3),))
    assert np.allclose(value, q, rtol=1e-12)
    assert np.allclose(change, 1.0, rtol=1e-9)


standard = ss.norm(0.2, 1.3)


def test_frozen_distributions():
    def made_inside(mu, k):
        waiting = ss.gamma(k, scale=2.0)
        return np.sum(ss.norm(mu, scale=mu**2).logpdf(0.4)) + waiting.logpdf(0.3)

    def written_out(mu, k):
        return ss.norm.logpdf(0.4, mu, mu**2) + ss.gamma.logpdf(0.3, k, scale=2.0)

    def from_outside(x):
        return standard.cdf(x) * standard.ppf(0.3)

    def given(x, form):
        return form.logsf(x)

    wanted = srcad.grad(written_out, argnums=(0, 1))(0.7, 1.4)
    assert srcad.grad(made_inside, argnums=(0, 1))(0.7, 1.4) == pytest.approx(wanted, rel=1e-14)
    assert np.isclose(srcad.grad(from_outside)(0.5), standard.pdf(0.5) * standard.ppf(0.3))
    assert np.isclose(
        srcad.grad(given)(0.5, standard), -standard.pdf(0.5) / standard.sf(0.5), rtol=1e-13
    )


def test_a_distribution_with_other_ends_is_not_taken_for_the_declared_one():
    half = type(ss.norm)(a=0.0, b=1.0, name="half")

    def density(x):
        return half.logpdf(x)

    with pytest.raises(SourceError):
        srcad.grad(density)(0.5)
