"""Corners of the rules: kinks, ties, poles under a zero cotangent, infinite and missing values.

The bodies run as plain Python; warnings are errors, so a rule that divides by zero where nothing
depends on it fails here.
"""

import math
import operator

import mpmath
import numpy as np
import pytest

import srcad
from srcad import rules
from srcad.rules.intrinsics import over, times
from srcad.rules.special import polygamma
from srcad.runtime import add_at, cholesky_adjoint, cholesky_change, inner, inverse_of_lower
from tests.rules.check_rule import _bind, call, run_transpose

ZERO = np.array([0.0])
ONE = np.array([1.0])
INF = np.inf


def slope(function, *args, along=0, by=1.0, **keywords):
    """The differential of `function`, argument number `along` changing by `by`."""
    rule = rules.lookup(function)
    bound = _bind(rule, args, keywords)
    with np.errstate(all="ignore"):
        out = call(function, rule, bound)
    names = list(rule.parameters.parameters)
    given = {}
    for name in rule.wrt:
        value = bound.get(name)
        given["d" + name] = 0.0 if value is None else np.zeros_like(value, float)
    given["d" + names[along]] = np.broadcast_to(float(by), np.shape(args[along]))
    if rule.needs_out:
        given["out"] = out
    return rule.body(*args, **keywords, **given)


POLES = [
    (np.sqrt, ZERO),
    (np.sqrt, -ONE),
    (np.log, ZERO),
    (np.log, -ONE),
    (np.log2, ZERO),
    (np.log10, ZERO),
    (np.log1p, -ONE),
    (np.cbrt, ZERO),
    (np.reciprocal, ZERO),
    (np.arccosh, ONE),
    (np.arctanh, ONE),
    (np.arctanh, -ONE),
    (np.arcsin, ONE),
    (np.arccos, -ONE),
    (operator.truediv, ONE, ZERO),
    (operator.truediv, ZERO, ZERO),
    (operator.pow, ZERO, 0.5),
    (operator.pow, ZERO, 0.3),
    (operator.pow, ZERO, -1),
    (operator.pow, ZERO, -2),
    (math.sqrt, np.float64(0)),
]


@pytest.mark.parametrize("case", POLES, ids=lambda c: f"{c[0].__name__}{c[1:]}")
def test_a_zero_differential_stays_zero_at_a_pole(case):
    function, *args = case
    with np.errstate(invalid="ignore"):  # of -1, sqrt warns in the primal already
        result = slope(function, *args, by=0.0)
    assert np.all(np.asarray(result) == 0)


def test_a_zero_cotangent_stays_zero_in_both_arguments_of_a_quotient():
    for n in (0.0, 1.0):
        given = slope(operator.truediv, np.array([n]), ZERO, along=1, by=0.0)
        assert np.all(given == 0)


def test_at_a_pole_the_derivative_is_infinite_not_zero():
    with np.errstate(divide="ignore"):
        for function in (np.sqrt, np.log, np.cbrt):
            assert slope(function, ZERO)[0] == INF
        assert slope(operator.pow, ZERO, 0.5)[0] == INF


def test_strong_zero():
    d = np.array([0.0, INF, np.nan, 2.0])
    assert np.array_equal(over(np.array([0.0, 0.0, 0.0, 1.0]), d), [0, 0, 0, 0.5])
    assert np.array_equal(times(d, np.array([0.0, 0.0, 0.0, 3.0])), [0, 0, 0, 6])
    assert math.isnan(times(np.nan, 1.0))
    with np.errstate(all="raise"):
        assert inner(d, np.array([0.0, 0.0, 0.0, 3.0])) == 6.0
        assert inner(d.reshape(2, 2), np.array([[0.0, 0.0], [0.0, 3.0]])) == 6.0
        assert math.isnan(inner(d, np.ones(4)))
        assert inner(d[:2], np.ones(2)) == INF
    assert over(np.float32([1, 2]), np.float32([2, 4])).dtype == np.float32


@pytest.mark.parametrize("shape", [(1, 1), (48, 48), (49, 49), (130, 130), (2, 3, 97, 97)])
def test_inverse_of_a_lower_triangular_matrix(shape):
    a = np.random.default_rng(0).normal(size=shape) / shape[-1] + 2.0 * np.eye(shape[-1])
    for matrix in (a, a + 0.5j * a):
        found = inverse_of_lower(matrix)
        assert found.dtype == matrix.dtype
        np.testing.assert_allclose(found, np.linalg.inv(np.tril(matrix)), rtol=1e-12, atol=1e-14)
    with pytest.raises(np.linalg.LinAlgError):
        inverse_of_lower(np.zeros(shape))


@pytest.mark.parametrize("shape", [(1, 1), (48, 48), (49, 49), (130, 130), (2, 3, 97, 97)])
def test_the_adjoint_of_a_factor_of_cholesky_by_halves(shape):
    rng = np.random.default_rng(0)
    factor = np.tril(rng.normal(size=shape)) / shape[-1] + 2.0 * np.eye(shape[-1])
    da, factor_bar = rng.normal(size=shape), rng.normal(size=shape)
    change, found = cholesky_change(factor, da), cholesky_adjoint(factor, factor_bar)
    assert np.array_equal(found, np.tril(found))
    np.testing.assert_allclose(np.sum(found * da), np.sum(factor_bar * change), rtol=1e-10)
    if shape[-1] > 48:
        whole = np.swapaxes(inverse_of_lower(factor), -1, -2)
        inner = np.tril(np.swapaxes(factor, -1, -2) @ np.tril(factor_bar))
        whole = whole @ (inner - 0.5 * inner * np.eye(shape[-1])) @ np.swapaxes(whole, -1, -2)
        wanted = np.tril(np.swapaxes(whole, -1, -2), -1) + np.tril(whole)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert cholesky_adjoint(factor.astype("f"), factor_bar.astype("f")).dtype == np.float32


@pytest.mark.parametrize("shape", [(4,), (2, 2), ()])
def test_a_strong_zero_in_products_and_quotients(shape):
    w, v = (np.resize(x, shape) for x in ([INF, 2.0, np.nan, -INF], [0.0, 3.0, 0.0, 0.0]))
    wanted = np.resize([0.0, 6.0, 0.0, 0.0], shape)
    assert np.array_equal(times(w, v), wanted)
    assert np.array_equal(times(w, np.resize(v, (3, *shape))), np.resize(wanted, (3, *shape)))
    assert np.array_equal(over(v, np.where(np.isnan(w), w, 1 / w)), wanted)
    assert np.isinf(times(w, np.ones(shape))).sum() == np.isinf(w).sum()


def test_power():
    x = np.array([0.0, 0.0, 0.0, -2.0, -2.0])
    y = np.array([0, 1, 2, 3, 0])
    assert np.array_equal(slope(operator.pow, x, 0), np.zeros(5))
    assert np.array_equal(slope(operator.pow, x, 3), 3 * x * x)
    with np.errstate(invalid="ignore"):  # the logarithm of the negative bases, for a zero `dy`
        assert np.array_equal(slope(operator.pow, x, y), [0, 1, 0, 12, 0])
    assert np.array_equal(slope(operator.pow, ZERO, np.array([2.0]), along=1), ZERO)
    assert slope(operator.pow, np.float64(0), 2) == 0
    assert slope(operator.pow, np.float64(0), 1) == 1


def test_second_derivatives_of_a_power_with_exponent_0():
    """The exponent is differentiated too: `x ** (y - 1)` is there although its factor is 0."""

    def in_arrays(x, y):
        return np.sum((x * np.ones(2)) ** y) / 2

    wanted = [[0.0, 0.5], [0.5, math.log(2.0) ** 2]]
    for function in (operator.pow, np.power, math.pow, in_arrays):
        assert np.allclose(srcad.hessian(function, argnums=(0, 1))(2.0, 0.0), wanted, rtol=1e-15)
        second = srcad.grad(srcad.grad(function, argnums=0), argnums=1)
        assert np.isclose(second(2.0, 0.0), 0.5, rtol=1e-15)


def test_kinks_have_the_stated_subgradient():
    assert slope(operator.abs, ZERO) == 0
    assert slope(abs, np.float64(0)) == 0
    assert slope(np.abs, np.array([0j])) == 0
    assert slope(np.hypot, ZERO, ZERO) == 0
    assert slope(np.arctan2, ZERO, ZERO) == 0
    assert slope(np.copysign, ZERO, ONE) == 0
    assert rules.lookup(math.hypot).body(0.0, 0.0, dcoordinates=(1.0, 1.0), out=0.0) == 0
    assert slope(np.std, np.ones(3)) == 0
    assert slope(np.var, np.ones(3)) == 0
    assert slope(np.angle, np.array([0j])) == 0


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 1.5, INF])
def test_norm_of_zero(ord):
    assert slope(np.linalg.norm, np.zeros(3), ord) == 0


@pytest.mark.parametrize("ord", [0.5, 1.0, 2.0, 3.0, INF, -INF])
def test_norm_of_an_order_that_run_time_gives(ord):
    x = np.array([[1.0, -2.0, 2.5], [-0.5, 3.0, 1.0]])

    def norm(x):
        return np.linalg.norm(x, ord, axis=1)

    def total(x, ord):
        return np.sum(np.linalg.norm(x, ord, axis=1))

    h = 1e-6
    wanted = (norm(x + h) - norm(x - h)) / (2 * h)
    assert np.allclose(srcad.jvp(norm, (x,), (np.ones_like(x),))[1], wanted, atol=1e-8)
    assert np.allclose(np.sum(srcad.grad(total)(x, ord), 1), wanted, atol=1e-8)


@pytest.mark.parametrize("ord", [None, "fro", 1, INF])
def test_norm_of_the_zero_matrix(ord):
    assert slope(np.linalg.norm, np.zeros((2, 3)), ord) == 0


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_tie_gives_half_to_each(function):
    for x in (1.0, INF, -INF):
        at = np.array([x])
        assert slope(function, at, at, along=0) == 0.5
        assert slope(function, at, at, along=1) == 0.5


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1e308])
def test_slopes_of_a_radius_at_any_scale(scale):
    x, y = np.array([0.6 * scale]), np.array([0.8 * scale])
    for along, wanted in ((0, 0.6), (1, 0.8)):
        assert slope(np.hypot, x, y, along=along) == pytest.approx(wanted, rel=1e-3)
    z = x + 1j * y
    assert slope(np.abs, z) == pytest.approx(0.6, rel=1e-3)
    if scale > 1e-300:  # else the slope is infinite
        assert slope(np.arctan2, y, x) == pytest.approx(0.6 / scale, rel=1e-3)
        assert slope(np.angle, z) == pytest.approx(-0.8 / scale, rel=1e-3)


def test_missing_values_get_nothing():
    nan = np.array([np.nan])
    assert slope(np.fmax, nan, ONE, along=0) == 0
    assert slope(np.fmax, nan, ONE, along=1) == 1
    assert slope(np.fmin, ONE, nan, along=0) == 1
    assert np.array_equal(slope(np.nan_to_num, np.array([np.nan, INF, 1.0])), [0, 0, 1])


def test_clip_on_its_bounds():
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert np.array_equal(slope(np.clip, x, 0.0, 1.0), [0, 0.5, 1, 0.5, 0])
    assert np.array_equal(slope(np.clip, x, np.zeros(5), 1.0, along=1), [1, 0.5, 0, 0, 0])
    assert np.array_equal(slope(np.clip, x, 0.0, np.ones(5), along=2), [0, 0, 0, 0.5, 1])
    assert np.array_equal(slope(np.clip, x, 0.0, None), [0, 0.5, 1, 1, 1])


def gradient(function, *args, **keywords):
    """The gradient of a scalar result in the first argument, one direction after the other."""
    x = args[0]
    first, *others = rules.lookup(function).wrt
    return np.array(
        [
            rules.lookup(function).body(
                *args,
                **keywords,
                **{"d" + first: e.reshape(x.shape)},
                **{"d" + name: 0.0 for name in others},
                **(
                    {"out": function(*args, **keywords)} if rules.lookup(function).needs_out else {}
                ),
            )
            for e in np.eye(x.size)
        ]
    ).reshape(x.shape)


def test_ties_of_extrema_share_equally():
    x = np.array([3.0, 1.0, 3.0, 0.0])
    assert np.array_equal(gradient(np.max, x), [0.5, 0, 0.5, 0])
    assert np.array_equal(gradient(np.min, x), [0, 0, 0, 1])
    assert np.array_equal(gradient(np.ptp, np.array([1.0, 1.0, 0.0])), [0.5, 0.5, -1])
    assert np.array_equal(gradient(np.linalg.norm, -x, INF), [-0.5, 0, -0.5, 0])
    assert np.array_equal(gradient(np.max, np.full(4, INF)), np.full(4, 0.25))


def test_ties_of_python_extrema_share_equally():
    rule = rules.lookup(max)
    assert rule.body(1.0, 1.0, dvalues=(1.0, 0.0), out=1.0) == 0.5
    assert rule.body(2.0, 1.0, 2.0, dvalues=(1.0, 5.0, 0.0), out=2.0) == 0.5
    assert rule.body([1.0, 1.0, 0.0], dvalues=([0.0, 1.0, 0.0],), out=1.0) == 0.5


def maximum_at_one_place(x):
    u = np.full(1, -9.0)
    np.maximum.at(u, [0, 0, 0, 0], x)
    return u[0]


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (maximum_at_one_place, [0, 0.5, 0, 0.5]),
        (lambda x: np.sort(x)[-1], [0, 0.5, 0, 0.5]),
        (lambda x: np.sort(x)[0], [1, 0, 0, 0]),
        (lambda x: np.sort(x, axis=None)[2], [0, 0.5, 0, 0.5]),
        (lambda x: np.partition(x, 2)[2], [0, 0.5, 0, 0.5]),
        (lambda x: sorted(x)[3], [0, 0.5, 0, 0.5]),
        (lambda x: sorted(x, reverse=True)[0], [0, 0.5, 0, 0.5]),
        (lambda x: np.median(x), [0, 0.25, 0.5, 0.25]),
        (lambda x: np.quantile(x, 2 / 3), [0, 0.5, 0, 0.5]),
        (lambda x: np.percentile(x, 100.0), [0, 0.5, 0, 0.5]),
        (lambda x: np.max(x), [0, 0.5, 0, 0.5]),
        (lambda x: max(x), [0, 0.5, 0, 0.5]),
        (lambda x: np.maximum(x[1], x[3]), [0, 0.5, 0, 0.5]),
        (lambda x: np.clip(x[1], x[0], x[3]), [0, 0.5, 0, 0.5]),
        (lambda x: np.abs(x[1] - x[3]), [0, 0, 0, 0]),
        (lambda x: np.maximum(x[1], x[3]) - np.minimum(x[1], x[3]), [0, 0, 0, 0]),
    ],
)
def test_one_convention_for_ties(f, wanted):
    """The mean over the orders in which equal values may stand: max is the last of sort."""
    x = np.array([-1.0, 2.0, 0.5, 2.0])
    assert np.array_equal(srcad.grad(f)(x), wanted)
    for k in range(4):
        assert srcad.jvp(f, (x,), (np.eye(4)[k],))[1] == wanted[k]


def test_products_of_polynomials_drop_zeros_in_front():
    for p in (np.array([0.0, 0.0, 1.5, -0.3]), np.zeros(3)):

        def f(q, p=p):
            product = np.polymul(p, q)
            return np.sum(product * product) + len(product)

        q = np.array([2.0, 0.5])
        value, gradient = srcad.value_and_grad(f)(q)
        assert value == f(q)
        change = [(f(q + 1e-6 * e) - f(q - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
        np.testing.assert_allclose(gradient, change, rtol=1e-8, atol=1e-8)


def test_products_with_zeros():
    assert np.array_equal(gradient(np.prod, np.array([2.0, 0.0, 3.0])), [0, 6, 0])
    assert np.array_equal(gradient(np.prod, np.array([0.0, 0.0, 3.0])), [0, 0, 0])
    back = rules.lookup_pullback(np.cumprod).body
    x = np.array([2.0, 0.0, 3.0])
    (x_bar,) = back(np.array([0.0, 0.0, 1.0]), x, out=np.cumprod(x))
    assert np.array_equal(x_bar, [0, 6, 0])


def test_infinite_logarithms_of_sums():
    at = np.array([-INF, -INF, 0.0])
    to = np.array([-INF, 0.0, -INF])
    assert np.array_equal(slope(np.logaddexp, at, to, along=0), [0, 0, 1])
    assert np.array_equal(slope(np.logaddexp, at, to, along=1), [0, 1, 0])
    assert np.array_equal(slope(np.logaddexp2, at, to, along=1), [0, 1, 0])
    big = np.array([1000.0])
    assert np.allclose(slope(np.logaddexp, big, big), 0.5)
    assert np.array_equal(slope(np.logaddexp, np.array([INF, 3.0]), np.array([3.0, INF])), [1, 0])
    for sum_of, minus in ((np.logaddexp, -INF), (np.logaddexp2, -INF)):
        for row in ([minus, minus], [minus, 0.0], [INF, 1.0], [1e4, minus]):
            weights = srcad.grad(sum_of.reduce)(np.array(row))
            assert np.array_equal(weights, [row[0] > minus, row[1] == 0])


def test_interp_outside_and_on_the_knots():
    xp = np.array([0.0, 1.0, 3.0])
    fp = np.array([0.0, 2.0, 2.0])
    x = np.array([-1.0, 0.0, 0.5, 1.0, 3.0, 4.0])
    given = rules.lookup(np.interp).body(
        x, xp, fp, dx=np.ones(6), dxp=0 * xp, dfp=0 * fp, dleft=0.0, dright=0.0
    )
    assert np.array_equal(given, [0, 2, 2, 0, 0, 0])


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("x", [1e-3, 0.7, 1.0, 5.5, 14.99, 80.0, 1e6, -0.3, -7.4])
def test_polygamma(n, x):
    expected = float(mpmath.polygamma(n, x))
    assert polygamma(n, x) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_polygamma_ends_where_it_cannot_know():
    assert np.isnan(polygamma(0, -np.inf))
    assert polygamma(0, np.inf) == INF
    assert polygamma(0, 0.0) == -INF


def test_sinc_at_zero():
    assert slope(np.sinc, ZERO) == 0
    near = np.array([1e-9])
    assert np.allclose(slope(np.sinc, near), -(np.pi**2) / 3 * near, rtol=1e-12)


def test_select_of_a_pole_by_where():
    """np.where(x > 0, np.sqrt(x), 0) at 0: the cotangent of sqrt is cut, and stays 0."""
    x = np.array([0.0, 4.0])
    out = np.sqrt(x)
    rule = rules.lookup(np.where)
    bars = run_transpose(rule, np.ones(2), {"condition": x > 0, "x": out, "y": 0.0}, None)
    x_bar = rules.lookup(np.sqrt).body(x, dx=bars["x"], out=out)
    assert np.array_equal(x_bar, [0, 0.25])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sqrt(np.maximum(x, 0.0))),
        lambda x: np.sum(np.sqrt(np.clip(x, 0.0, 9.0))),
        lambda x: np.sum(np.cbrt(x.clip(0.0))),
        lambda x: np.sum(np.fmax(x, 0.0) ** 0.5),
        lambda x: np.sum(np.sqrt(x * (x > 0))),
        lambda x: np.sqrt(np.max(x) + 1.0) * np.sqrt(-np.minimum(x[0], 0.0)),
        lambda x: np.sum(np.arccos(np.clip(-2 * x, -1.0, 1.0))),
        lambda x: sum(math.sqrt(max(v, 0.0)) for v in x),
        lambda x: np.sqrt(np.sort(x)[-1] - 1.5),
    ],
)
def test_what_an_extremum_does_not_choose_does_no_harm_at_a_pole(f):
    """The square root of a bound is constant below it, though its slope is infinite there."""
    x = np.array([-1.0, 2.0])
    steps = 1e-6 * np.eye(2)
    wanted = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.allclose(srcad.grad(f)(x), wanted, rtol=1e-8, atol=1e-9)
        assert np.allclose(srcad.jacfwd(f)(x), wanted, rtol=1e-8, atol=1e-9)
        assert np.allclose(srcad.hessian(f)(x), srcad.jacfwd(srcad.jacfwd(f))(x), rtol=1e-12)


def test_equal_eigenvalues_count_only_where_vectors_are_used():
    rule = rules.lookup(np.linalg.eigh)
    a = np.eye(2)
    out = np.linalg.eigh(a)
    dw, dv = rule.body(a, da=np.diag([1.0, 2.0]), out=out)
    assert np.array_equal(dw, [1, 2])
    assert np.array_equal(dv, np.zeros((2, 2)))


def test_inverse_of_what_a_cut_leaves_of_equal_singular_values():
    a = np.diag([2.0, 2.0, 0.1, 0.1])
    step = np.arange(16.0).reshape(4, 4) % 5 - 2
    change = srcad.jvp(lambda a: np.linalg.pinv(a, 0.2), (a,), (step,))[1]
    h = 1e-5
    ends = (np.linalg.pinv(a + h * step, 0.2), np.linalg.pinv(a - h * step, 0.2))
    assert np.allclose(change, (ends[0] - ends[1]) / (2 * h), atol=1e-9)


@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
def test_a_fit_with_a_cut():
    x, y = np.linspace(0.0, 1.0, 6), np.linspace(2.0, 1.0, 6) ** 2

    def fit(y):
        return np.polyfit(x, y, 3, 0.2)

    value, change = srcad.jvp(fit, (y,), (x,))
    assert np.allclose(value, fit(y), rtol=1e-12)
    assert np.allclose(change, fit(x), rtol=1e-12)  # it is linear


def test_complex_convention():
    """Holomorphic: no conjugate. The modulus, the parts: as of the pair of real numbers."""
    z = np.array([0.3 + 0.4j])
    assert np.allclose(slope(np.exp, z), np.exp(z))
    bars = run_transpose(rules.lookup(np.imag), np.ones(1), {"val": z}, None)
    assert np.array_equal(bars["val"], [-1j])
    assert np.allclose(slope(np.abs, z), 0.6)


@pytest.mark.parametrize("function", [np.arcsin, np.arccos, np.arcsinh, np.arccosh])
@pytest.mark.parametrize(
    "z", [3 + 0j, complex(3, -0.0), -3 + 0j, complex(-3, -0.0), 3j, complex(0, -3), -3j]
)
def test_the_sign_of_a_zero_chooses_the_side_of_a_cut(function, z):
    h = 1e-6
    if z.real:
        wanted = function(complex(z.real + h, z.imag)) - function(complex(z.real - h, z.imag))
    else:
        wanted = function(complex(z.real, z.imag + h)) - function(complex(z.real, z.imag - h))
        wanted = wanted / 1j
    wanted = wanted / (2 * h)
    assert np.allclose(slope(function, np.array([z])), wanted, rtol=1e-9)


def test_the_sign_of_a_complex_number_is_its_direction():
    z = np.array([0.3 + 0.4j, 0j, -2.0 + 1e-3j])
    for dz in (1.0, 1j):
        wanted = (np.sign(z + 1e-6 * dz) - np.sign(z - 1e-6 * dz)) / 2e-6
        wanted[1] = 0.0
        assert np.allclose(srcad.jvp(np.sign, (z,), (dz * np.ones(3),))[1], wanted, rtol=1e-8)
    assert np.array_equal(srcad.grad(lambda x: np.sum(np.sign(x) * x))(z.real), np.sign(z.real))


def imaginary_part_of_a_real_sum_written(x):
    z = x + 0j
    z.imag[0] = x[1]
    return np.sum(np.abs(z) ** 2)


def parts_of_complex_numbers_written_in_turn(x):
    z = x.astype(complex)
    z[1] = 1j * x[0]
    z.imag[0] += x[1]
    z *= x[1]
    return np.sum(np.abs(z) ** 2 + z.real * x)


@pytest.mark.parametrize(
    "loss",
    [
        imaginary_part_of_a_real_sum_written,
        parts_of_complex_numbers_written_in_turn,
        lambda x: np.sum((x + 1j * x).real),
        lambda x: np.mean((x * (1 + 2j)).imag),
        lambda x: np.concatenate([x, 1j * x]).imag.sum(),
        lambda x: x.astype(complex).real.sum(),
        lambda x: np.sum((x + 0j).real) + x[0],
        lambda x: (1j * x).imag.sum() * x[0],
        lambda x: np.array([x[0], 1j * x[1]]).imag.sum() * x[0],
        lambda x: np.stack([x[0], 1j * x[1]]).imag.sum() * x[0],
        lambda x: (-((2 - 1j) * x)).real.sum() + np.sum(np.conj(1j * x) / 2j).real,
    ],
)
def test_real_arguments_have_real_gradients(loss):
    x = np.array([0.7, -1.3])
    gradient = srcad.grad(loss)(x)
    assert gradient.dtype == np.float64
    step = 1e-6 * np.eye(2)
    assert np.allclose(gradient, [(loss(x + h) - loss(x - h)) / 2e-6 for h in step], rtol=1e-8)
    assert np.allclose(srcad.jacfwd(loss)(x), gradient, rtol=1e-12)
    second = srcad.jacrev(srcad.grad(loss))(x)
    assert np.allclose(second, srcad.jacfwd(srcad.grad(loss))(x), rtol=1e-12)
    assert np.allclose(second, srcad.jacrev(srcad.jacfwd(loss))(x), rtol=1e-12)


@pytest.mark.parametrize("a", [np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0))])
def test_empty_arrays(a):
    ct = np.cumsum(a, 0)
    assert (
        run_transpose(rules.lookup(np.cumsum), ct, {"a": a, "axis": 0}, None)["a"].shape == a.shape
    )
    for function in (np.sum, np.ravel, np.flip, np.copy):
        out = function(a)
        rule = rules.lookup(function)
        bars = run_transpose(rule, out, {"a": a, "m": a}, None)
        assert bars[rule.wrt[0]].shape == a.shape
    assert np.shape(slope(np.exp, a)) == a.shape
    assert slope(np.prod, a) == 0


def test_quantiles_of_missing_and_infinite_values():
    x = np.array([[1.0, np.nan, 2.5], [3.0, np.inf, 7.0]])

    def quantiles(x):
        return np.quantile(x, [0.25, 0.5], axis=1, method="lower")

    with np.errstate(invalid="ignore"):
        out, change = srcad.jvp(quantiles, (x,), (np.ones_like(x),))
        assert np.array_equal(out, quantiles(x), equal_nan=True)
    assert np.array_equal(change, [[0, 1], [0, 1]])
    assert srcad.value_and_grad(np.nanmedian)(np.array([1.0, np.inf, 2.5]))[0] == 2.5


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
@pytest.mark.parametrize(
    "x",
    [
        np.array([1.0, 3, 3, 2, 3, 5, 5, 5, 4, 5]),
        np.zeros(5),
        np.array([3.0]),
        np.zeros(0),
        np.array([2.0, np.nan, 1.0]),
    ],
)
def test_what_reached_a_running_extremum_shares_it(function, x):
    """Each place averages over those up to it that have the extremum; a nan has what follows."""
    extrema = function.accumulate(x)
    shares = np.triu(x[:, None] == extrema[None])
    for first in np.flatnonzero(np.isnan(x)):
        shares[first, first:] = True
    expected = (shares / np.maximum(shares.sum(0), 1)).T
    for jacobian in (srcad.jacrev, srcad.jacfwd):
        found = jacobian(lambda y: function.accumulate(y))(x)
        assert np.allclose(found, expected, rtol=1e-15)


def test_running_extrema_of_many():
    """No matrix of all pairs is made: it would take 3 GB."""
    x = np.cumsum(np.random.default_rng(0).standard_normal(20000))
    bar = srcad.grad(lambda y: np.sum(np.maximum.accumulate(y)))(x)
    assert np.array_equal(bar[bar > 0], np.unique(np.maximum.accumulate(x), return_counts=True)[1])


@pytest.mark.parametrize(
    "index",
    [
        np.array([0, 3, -1, 3, 3, -5] * 40),
        np.array([[0, 3], [-1, 3]] * 40),
        [0, 3, -1, 3] * 40,
        (np.array([0, 3, -1, 3] * 40), np.array([1, -1, 1, -1] * 40)),
        (slice(None), np.array([0, 2, 2, -1] * 10)),
        (np.array([[0], [3]] * 20), slice(1, 3)),
    ],
)
@pytest.mark.parametrize("kind", [float, np.float32, complex])
@pytest.mark.parametrize("target", [np.zeros((5, 4)), np.zeros((4, 5)).T, np.zeros((5, 4))[::-1]])
def test_rows_are_added_as_numpy_adds_them(index, kind, target):
    """Repeated ones too, to arrays of any layout."""
    term = np.random.default_rng(1).integers(-9, 9, target[index].shape).astype(kind)
    found, expected = target.astype(kind), target.astype(kind)
    add_at(found, index, term)
    np.add.at(expected, index, term)
    assert np.array_equal(found, expected)
    add_at(found, index, 2)
    np.add.at(expected, index, 2)
    assert np.array_equal(found, expected)
