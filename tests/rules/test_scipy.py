"""Rules for SciPy against mpmath, at corners, and where there is no derivative."""

import subprocess
import sys

import mpmath
import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sc

import srcad
from srcad.errors import SourceError
from srcad.runtime import frechet

HALF = mpmath.mpf(1) / 2


def normal(x):
    return mpmath.ncdf(x)


def lower_gamma(a):
    return lambda x: mpmath.gammainc(a, 0, x, regularized=True)


def lower_beta(a, b):
    return lambda x: mpmath.betainc(a, b, 0, x, regularized=True)


def scaled(bessel, order, sign):
    return lambda x: bessel(order, x) * mpmath.exp(sign * x)


def unboxed(lmbda):
    return mpmath.exp(2 * mpmath.hyp2f1(1, 1, 2, -2 * lmbda))


def voigt(x):
    z = mpmath.mpc(x, 0.5) / mpmath.sqrt(2)
    return (mpmath.exp(-z * z) * mpmath.erfc(-1j * z)).real / mpmath.sqrt(2 * mpmath.pi)


BY_MPMATH = [
    (sc.gamma, mpmath.gamma, [1e-3, 0.5, 3.2, 20.0, -0.5, -2.3]),
    (sc.gammaln, mpmath.loggamma, [1e-3, 0.5, 1.0, 3.2, 1e4]),
    (sc.psi, mpmath.digamma, [1e-3, 0.5, 3.2, 1e4, -0.5, -2.3]),
    (sc.rgamma, mpmath.rgamma, [0.5, 3.2, -0.5, 0.0, 1e-17, -1.0, -7.0]),
    (sc.erf, mpmath.erf, [-3.0, -0.1, 0.0, 1e-8, 2.0, 5.0]),
    (sc.erfc, mpmath.erfc, [-3.0, 0.0, 2.0, 10.0]),
    (sc.erfinv, mpmath.erfinv, [-0.9, 0.0, 0.3, 0.999]),
    (sc.erfi, mpmath.erfi, [-1.0, 0.0, 2.0]),
    (sc.ndtr, normal, [-5.0, 0.0, 2.0]),
    (sc.log_ndtr, lambda x: mpmath.log(normal(x)), [-20.0, -5.0, 0.0, 2.0]),
    (sc.expit, lambda x: 1 / (1 + mpmath.exp(-x)), [-40.0, -1.0, 0.0, 3.0, 30.0]),
    (sc.log_expit, lambda x: -mpmath.log1p(mpmath.exp(-x)), [-40.0, 0.0, 3.0, 30.0]),
    (sc.entr, lambda x: -x * mpmath.log(x), [1e-3, 0.3, 2.0]),
    (sc.lambertw, mpmath.lambertw, [-0.2, 0.0, 0.3, 20.0]),
    (sc.exp1, mpmath.e1, [1e-3, 0.5, 9.0]),
    (sc.expi, mpmath.ei, [-2.0, 0.5, 9.0]),
    (sc.exprel, lambda x: mpmath.hyp1f1(1, 2, x), [-1e7, -51.0, -9.0, -1e-9, 0.6, 51.0, 600.0]),
    (sc.spence, lambda x: mpmath.polylog(2, 1 - x).real, [0.3, 0.999, 1.0, 1.7, 5.0]),
    (sc.ellipk, mpmath.ellipk, [-5.0, -1e-6, 0.0, 1e-7, 0.4, 0.99]),
    (sc.ellipe, mpmath.ellipe, [-5.0, -1e-6, 0.0, 1e-7, 0.4, 0.99]),
    (sc.j0, lambda x: mpmath.besselj(0, x), [-1.0, 0.0, 0.5, 30.0]),
    (sc.j1, lambda x: mpmath.besselj(1, x), [-1.0, 0.0, 0.5, 30.0]),
    (sc.y0, lambda x: mpmath.bessely(0, x), [0.1, 0.5, 30.0]),
    (sc.y1, lambda x: mpmath.bessely(1, x), [0.1, 0.5, 30.0]),
    (sc.i0, lambda x: mpmath.besseli(0, x), [-1.0, 0.0, 0.5, 30.0]),
    (sc.i1, lambda x: mpmath.besseli(1, x), [-1.0, 0.0, 0.5, 30.0]),
    (sc.k0, lambda x: mpmath.besselk(0, x), [0.1, 0.5, 30.0]),
    (sc.k1, lambda x: mpmath.besselk(1, x), [0.1, 0.5, 30.0]),
    (sc.k0e, scaled(mpmath.besselk, 0, 1), [1e-3, 0.5, 19.9, 20.1]),
    (sc.k1e, scaled(mpmath.besselk, 1, 1), [1e-3, 0.5, 19.9, 20.1]),
    (lambda x: sc.jv(2.5, x), lambda x: mpmath.besselj(2.5, x), [0.1, 0.5, 30.0]),
    (lambda x: sc.iv(2.5, x), lambda x: mpmath.besseli(2.5, x), [0.1, 0.5, 30.0]),
    (lambda x: sc.kv(2.5, x), lambda x: mpmath.besselk(2.5, x), [0.1, 0.5, 30.0]),
    (lambda x: sc.gammainc(2.5, x), lower_gamma(2.5), [0.1, 3.0, 40.0]),
    (lambda x: sc.gammainc(1.0, x), lower_gamma(1), [0.1, 3.0]),
    (lambda x: sc.betainc(0.5, 2.5, x), lower_beta(HALF, 2.5), [0.01, 0.6, 0.99]),
    (lambda x: sc.beta(x, 0.3), lambda x: mpmath.beta(x, mpmath.mpf(0.3)), [0.1, 4.0]),
    (lambda x: sc.zeta(2.5, x), lambda x: mpmath.zeta(2.5, x), [0.1, 4.0]),
    (lambda x: sc.polygamma(2, x), lambda x: mpmath.polygamma(2, x), [0.1, 4.0]),
    (lambda x: sc.hyp1f1(0.7, 1.5, x), lambda x: mpmath.hyp1f1(0.7, 1.5, x), [-4.0, 0.0, 2.0]),
    (lambda x: sc.eval_legendre(5, x), lambda x: mpmath.legendre(5, x), [-1.0, 0.0, 0.3, 1.0]),
    (lambda x: sc.eval_hermite(4, x), lambda x: mpmath.hermite(4, x), [-1.0, 0.0, 2.3]),
    (lambda x: sc.airy(x)[0], mpmath.airyai, [-3.0, 0.0, 2.3]),
    (lambda x: sc.xlogy(x, 0.3), lambda x: x * mpmath.log(mpmath.mpf(0.3)), [0.0, 2.0]),
    (lambda x: sc.boxcox(x, 0.0), mpmath.log, [0.1, 1.0, 5.0]),
    (lambda x: sc.inv_boxcox(2.0, x), unboxed, [0.0, 1e-9, 0.7]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "reference", "points"), BY_MPMATH)
def test_the_derivative_is_that_of_mpmath(f, reference, points):
    def real(x):
        return np.real(f(x))

    with mpmath.workdps(40):
        for x in points:
            wanted = [float(mpmath.re(mpmath.diff(reference, mpmath.mpf(x), k))) for k in (1, 2)]
            with np.errstate(all="ignore"):
                found = srcad.grad(real)(x), srcad.grad(srcad.grad(real))(x)
            assert found[0] == pytest.approx(wanted[0], rel=1e-9, abs=1e-300), x
            assert found[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-12), x


FAR_OUT = [
    (sc.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [9.9, 10.1, 600.0, 1e5, 1e10]),
    (sc.zetac, lambda x: mpmath.zeta(x) - 1, [-0.5, 0.5, 1.5, 20.0, 60.0]),
    (sc.dawsn, lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
     [-10.1, 9.9, 600.0, 1e4]),
    (sc.log_ndtr, lambda x: mpmath.log(normal(x)), [-1000.0, -40.0]),
    (sc.logit, lambda x: mpmath.log(x / (1 - x)), [1e-100, 1e-30]),
    (sc.ellipkm1, lambda x: mpmath.ellipk(1 - x), [1e-9, 1e-5, 0.7]),
    (lambda x: sc.pseudo_huber(x, 1e-3),
     lambda d: d * d * (mpmath.sqrt(1 + (mpmath.mpf(1e-3) / d) ** 2) - 1), [1.0, 100.0]),
    (lambda x: sc.voigt_profile(x, 1.0, 0.5), voigt, [20.0, 1e4]),
    (lambda p: sc.bdtr(2, 5, p), lambda p: mpmath.betainc(3, 3, p, 1, regularized=True), [1e-30]),
    (lambda x: np.arcsinh(x), mpmath.asinh, [-1e160, 1e150, 1e200]),
    (lambda x: x**-2, lambda x: 1 / x**2, [1e20, -1e100, 1e-60]),
    (lambda x: np.reciprocal(x), lambda x: 1 / x, [1e100, -1e-100]),
    (sc.i0e, scaled(mpmath.besseli, 0, -1), [1e-3, 20.0, 1e4]),
    (sc.i1e, scaled(mpmath.besseli, 1, -1), [1e-3, 20.0, 1e4]),
    (sc.k0e, scaled(mpmath.besselk, 0, 1), [1e4]),
    (sc.k1e, scaled(mpmath.besselk, 1, 1), [1e4]),
    (lambda x: sc.boxcox(x, 2.0), lambda x: (x * x - 1) / 2, [1e-10, 1e-3, 1e10]),
    (lambda x: sc.boxcox(x, 0.5), lambda x: 2 * (mpmath.sqrt(x) - 1), [1e-200, 1e200]),
    (lambda x: sc.boxcox1p(x, 2.0), lambda x: ((1 + x) ** 2 - 1) / 2, [-1 + 2.0**-40, 1e10]),
    (lambda x: sc.boxcox(2e-9, x), lambda s: (mpmath.mpf(2e-9) ** s - 1) / s, [-3.0, 0.1, 9.0]),
    (sc.spence, lambda x: mpmath.polylog(2, 1 - x).real, [1e-200, 1e-20, 1e-9, 0.49, 0.51, 40.0]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "reference", "points"), FAR_OUT)
def test_slopes_far_out_keep_their_digits(f, reference, points):
    """Where terms of a simpler formula cancel, overflow, or are 0 times infinity."""
    for x in points:
        with mpmath.workdps(500):
            step = mpmath.mpf(x) * mpmath.mpf(10) ** -60
            low, mid, high = (reference(x + k * step) for k in (-1, 0, 1))
            slope, bend = (high - low) / (2 * step), (high - 2 * mid + low) / step**2
        found = srcad.grad(f)(np.float64(x)), srcad.grad(srcad.grad(f))(np.float64(x))
        assert found[0] == pytest.approx(float(slope), rel=1e-9, abs=1e-307), x
        assert found[1] == pytest.approx(float(bend), rel=1e-9, abs=1e-307), x


@pytest.mark.parametrize(
    ("f", "slope", "bend"),
    [
        (sc.i0e, -0.5, 0.75),
        (sc.i1e, -0.5, 0.75),
        (sc.k0e, -np.pi / 2, 0.75 * np.pi),
        (sc.k1e, -np.pi / 2, 0.75 * np.pi),
    ],
)
def test_scaled_bessel_functions_fall_as_their_first_term(f, slope, bend):
    for x in (1e10, 1e60):
        first = srcad.grad(f)(x)
        second = srcad.grad(srcad.grad(f))(x)
        assert first * x * np.sqrt(2 * np.pi * x) == pytest.approx(slope, rel=1e-9)
        assert second * x * x * np.sqrt(2 * np.pi * x) == pytest.approx(bend, rel=1e-9)


AT_INFINITY = [
    (sc.erfcx, np.inf, 0),
    (sc.dawsn, np.inf, 0),
    (sc.dawsn, -np.inf, 0),
    (sc.rgamma, np.inf, 0),
    *((f, np.inf, 0) for f in (sc.i0e, sc.i1e, sc.k0e, sc.k1e)),
    *((f, -np.inf, 0) for f in (sc.i0e, sc.i1e, sc.expi, sc.exprel)),
    (lambda x: sc.kve(1.5, x), np.inf, 0),
    (lambda x: sc.gammainc(2.5, x), np.inf, 0),
    (lambda x: sc.gammaincc(2.5, x), np.inf, 0),
    (sc.erfcx, 1e200, 0),
    (sc.exprel, -1e200, 0),
    (sc.expi, np.inf, np.inf),
    (sc.exprel, np.inf, np.inf),
]


@pytest.mark.parametrize(("f", "end", "limit"), AT_INFINITY)
def test_slopes_at_infinity_are_their_limits(f, end, limit):
    """SciPy's functions, of which they are made, are not: nan, and one of them does not return."""
    for x in (end, np.float64(end)):
        g = f
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert srcad.jvp(g, (x,), (1.0,))[1] == limit
                g = srcad.grad(g)
                assert g(x) == limit


@pytest.mark.parametrize("x", [1e-310, 1e308, -1e308])
def test_a_second_derivative_at_the_ends_of_the_numbers_is_no_nan(x):
    for f in (lambda x: x**-2, lambda x: x**-1, np.reciprocal, np.arcsinh, np.cbrt, sc.logit):
        with np.errstate(all="ignore"):
            if np.isfinite(f(np.float64(x))):
                assert not np.isnan(srcad.grad(srcad.grad(f))(np.float64(x)))


def test_cube_root_at_zero():
    with np.errstate(all="ignore"):
        assert srcad.grad(srcad.grad(np.cbrt))(np.float64(0)) == -np.inf


@pytest.mark.parametrize(
    "f",
    [
        lambda v: sc.jv(v, 0.5),
        lambda v: sc.iv(v, 0.5),
        lambda a: sc.hyp1f1(a, 1.0, 0.5),
        lambda a: sc.hyp2f1(a, 1.0, 2.0, 0.3),
        lambda v: sc.kv(v, 1.5),
    ],
)
def test_a_parameter_without_a_derivative_is_refused(f):
    for derive in (srcad.grad(f), lambda x: srcad.jvp(f, (x,), (1.0,))):
        with pytest.raises(SourceError):
            derive(1.2)


def test_sums_of_exponentials_with_infinite_terms():
    inf = np.inf
    for x, wanted in (
        ([-inf, 0.0, 0.0], [0, 0.5, 0.5]),
        ([-inf, -inf], [0, 0]),
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([inf, 0.0], [1, 0]),
    ):
        found = srcad.grad(lambda a: sc.logsumexp(a))(np.array(x))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_products_with_a_logarithm_at_zero():
    assert srcad.grad(lambda y: sc.xlogy(0.0, y))(0.0) == 0
    assert srcad.grad(lambda x: sc.xlogy(x, 2.0))(0.0) == np.log(2)
    assert np.array_equal(srcad.grad(lambda x: np.sum(sc.xlogy(0.0, x)))(np.zeros(2)), [0, 0])
    x = np.array([0.0, 2.0])
    masked = srcad.grad(lambda x: np.sum(np.where(x > 0, sc.entr(x), 0.0)))
    with np.errstate(all="ignore"):
        assert np.array_equal(masked(x), [0, -np.log(2) - 1])


def test_rules_for_scipy_wait_until_it_is_imported():
    program = (
        "import sys, srcad\n"
        "assert not any(m == 'scipy' or m.startswith('scipy.') for m in sys.modules)\n"
        "import scipy.special as sc\n"
        "print(srcad.rules.lookup(sc.i0).name)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "i0\n"


def closed_loop(a, b, x, y):
    q, r = x @ x.T + np.eye(3), y @ y.T + np.eye(2)
    return np.sum(sl.solve_continuous_are(a, b, q, r) * np.arange(9.0).reshape(3, 3))


def test_riccati_equations_by_all_their_matrices():
    rng = np.random.default_rng(2)
    args = [rng.normal(size=s) for s in ((3, 3), (3, 2), (3, 3), (2, 2))]
    along = [rng.normal(size=a.shape) for a in args]
    grads = srcad.grad(closed_loop, (0, 1, 2, 3))(*args)
    for k in range(4):
        moved = [
            closed_loop(
                *(a + s * d * (j == k) for j, (a, d) in enumerate(zip(args, along, strict=True)))
            )
            for s in (1e-6, -1e-6)
        ]
        change = (moved[0] - moved[1]) / 2e-6
        assert np.sum(grads[k] * along[k]) == pytest.approx(change, rel=1e-6)


def test_a_real_power_of_a_real_matrix_has_a_real_gradient():
    a = np.array([[2.0, 0.3], [0.1, 1.5]])
    for f in (sl.sqrtm, sl.logm, lambda x: sl.fractional_matrix_power(x, 0.4)):
        gradient = srcad.grad(lambda x, f=f: np.sum(np.real(f(x))))(a)
        assert gradient.dtype == float
        d = np.array([[0.3, -0.2], [0.5, 0.1]])
        change = np.sum(np.real(f(a + 1e-6 * d) - f(a - 1e-6 * d))) / 2e-6
        assert np.sum(gradient * d) == pytest.approx(change, rel=1e-8)


def test_exponential_of_a_large_matrix():
    a, e = 0.2 * np.random.default_rng(0).standard_normal((2, 50, 50))
    block = sl.expm(np.block([[a, e], [np.zeros_like(a), a]]))[:50, 50:]
    assert np.allclose(frechet(sl.expm, a, e), block, rtol=1e-10, atol=1e-12)
    assert frechet(sl.expm, a.astype("f"), e.astype("f")).dtype == np.float32


def modulus_of_root(a):
    return np.sum(np.abs(sl.sqrtm(a)) ** 2 * np.arange(4))


def test_root_of_a_real_matrix_with_negative_eigenvalues():
    """In complex arithmetic they would lie on both sides of the branch cut, by rounding."""
    for a in 0.1 * np.random.default_rng(0).standard_normal((9, 4, 4)) - np.eye(4):
        e = np.arange(16.0).reshape(4, 4) - 7.0
        along = srcad.jvp(modulus_of_root, (a,), (e,))[1]
        assert np.sum(srcad.grad(modulus_of_root)(a) * e) == pytest.approx(along, rel=1e-6)


def test_the_omega_function_grows_as_its_argument():
    for x in (1e308, np.inf):
        assert srcad.grad(sc.wrightomega)(x) == 1
        assert srcad.grad(srcad.grad(sc.wrightomega))(x) == 0
