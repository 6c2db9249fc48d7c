"""Samples of the rules for SciPy, as those in `samples`."""

import numpy as np
import scipy.integrate as si
import scipy.linalg as sl
import scipy.special as sc
import scipy.stats as ss

from srcad.rules.scipy_stats import CONTINUOUS, DISCRETE
from srcad.runtime import betainc_by_shapes, frechet, gammainc_by_shape, zeta_by_exponent
from tests.rules.samples import PAIRS, SHAPES, A, M, P, R, S, U, Z, case


def F(*shape):
    """Between 0 and 1."""
    return (U(*shape) + 1) / 2


def named(names):
    return [f for name in names.split() if (f := getattr(sc, name, None)) is not None]


# ---- scipy.special: one argument

ONE = {
    R: "erf erfc erfcx erfi dawsn ndtr log_ndtr expit log_expit softplus exp10 exp2 expm1 cosm1"
    " cbrt exprel sindg cosdg j0 j1 i0 i0e i1 i1e airy fresnel wrightomega",
    P: "gamma gammaln loggamma rgamma psi factorial entr lambertw exp1 expi sici shichi spence"
    " log1p y0 y1 k0 k0e k1 k1e ber bei berp beip ker kei kerp keip kelvin airye itj0y0 iti0k0"
    " it2j0y0 it2i0k0 itstruve0 itmodstruve0 it2struve0",
    U: "erfinv",
    F: "erfcinv ndtri logit ellipk ellipe ellipkm1",
}
for sample, names in ONE.items():
    for f in named(names):
        for s in SHAPES:
            case(f, sample(*s))
for f in named("tandg cotdg"):
    for s in SHAPES:
        case(f, 30 * R(*s))
for f in named("erf wofz loggamma exp1 rgamma"):
    case(f, Z(3))
case(getattr(sc, "ndtri_exp", None), -P(3))
case(sc.gamma, -F(3))
case(sc.rgamma, R(3) - 1)
case(sc.ellipkm1, np.array([1e-3, 0.2, 0.7]))
case(sc.wofz, 8j + Z(3) * 4)
case(sc.erfcx, 12 + P(3))
case(sc.dawsn, 12 * R(3))
case(sc.log_ndtr, -12 - P(3))
case(sc.psi, -F(3))

# ---- several arguments: those with a derivative

TWO = {
    (P, P): "beta betaln poch xlogy xlog1py rel_entr kl_div huber pseudo_huber powm1 boxcox"
    " boxcox1p inv_boxcox inv_boxcox1p agm",
    (R, R): "owens_t",
    (F, F): "ellipkinc ellipeinc ellipj",
}
for (first, second), names in TWO.items():
    for f in named(names):
        for s, t in PAIRS:
            case(f, first(*s), second(*t))
for s, t in PAIRS:
    case(sc.binom, A(*s), P(*t) / 2)
for f in (sc.comb, sc.perm):
    case(f, A(3), 1)
    case(f, A(2, 3) + 2, np.array([1, 2, 3]))
    case(f, np.float64(1.3), 3)
    case(f, A() + 2, P())
case(sc.comb, A(3), 2, repetition=True)
case(sc.voigt_profile, R(3), P(), P(2, 1))
case(sc.radian, R(3), P(2, 1), P())
case(sc.nrdtrimn, F(3), P(), R(2, 1))
case(sc.nrdtrisd, R(3), F() / 2, R(2, 1))
case(sc.gdtrix, P(), 1.5, F(3))
for f in (sc.ellipkinc, sc.ellipeinc):
    case(f, 3 * R(3), np.array([0.0, 1e-9, -0.04]))
case(sc.ellipj, 3 * R(3), np.array([0.01, 0.3, 0.04]))

# ---- several arguments: by the last one

ORDERS = {
    P: "jv yv iv kv jve yve ive kve hankel1 hankel2 hankel1e hankel2e struve modstruve pbdv pbvv"
    " gammainc gammaincc chdtr chdtrc",
    F: "gammaincinv gammainccinv chdtri",
}
for sample, names in ORDERS.items():
    for f in named(names):
        for v in (2, 1.5, np.array([1, 2, 3])):
            case(f, v, sample(3))
        case(f, 1, sample())
for f in named("jv yv iv kv ive"):
    case(f, 0, Z(2))
for f in named("yn kn expn"):
    for n in (1, 2, np.array([1, 3])):
        case(f, n, P(2))
case(sc.expn, 0, P(3))
for f in named("jvp yvp ivp kvp h1vp h2vp"):
    case(f, 2, P(3))
    case(f, 1.5, P(), 2)
for f in named("spherical_jn spherical_yn spherical_in spherical_kn"):
    case(f, 2, P(3))
    case(f, 1, P(3), True)
case(sc.polygamma, 1, P(3))
case(sc.polygamma, np.array([0, 2]), P(2))
case(sc.zeta, 2.5, P(3))
case(sc.zeta, A(3))
case(sc.zetac, A(3))
case(sc.expi, Z(3))
case(sc.zeta, A(2, 1), P(3))
case(zeta_by_exponent, 1, A(3), P(3))
case(zeta_by_exponent, 2, A(3))
case(sc.zeta, np.array([2, 3]), P(2))
case(sc.multigammaln, A(), 2)
case(sc.multigammaln, A(3), 3)
for f in named("gammainc gammaincc chdtr chdtrc"):
    for s, t in PAIRS:
        case(f, P(*s), P(*t))
    case(f, 9 * P(3), 9 * P(3))
for f in named("gammaincinv gammainccinv chdtri stdtrit"):
    case(f, A(3), F(3))
    case(f, A(), F(2, 1))
for f in named("gdtr gdtrc"):
    case(f, P(), P(3), P(2, 1))
case(sc.gdtrix, P(), A(2, 1), F(3))
for f in named("betainc betaincc"):
    case(f, P(2, 1), P(), F(3))
    case(f, 20 * A(3), 9 * A(3), F(3))
for f in named("betaincinv betainccinv fdtri"):
    case(f, A(2, 1), A(), F(3))
for f in named("fdtr fdtrc"):
    case(f, P(), P(2, 1), P(3))
case(gammainc_by_shape, 1, P(3), P(3))
case(betainc_by_shapes, 1, 0, A(3), A(3), F(3))
case(betainc_by_shapes, 0, 1, A(3), A(3), F(3))
case(sc.stdtr, P(3), R(2, 1))
case(sc.stdtr, A(3), np.array([1e-3, 1.4, -9.0]))
for f in named("betainc betaincc betaincinv betainccinv"):
    case(f, 1.5, 0.7, F(3))
    case(f, 2, np.array([1, 3]), F(2, 1))
for f in named("bdtr bdtrc"):
    case(f, 2, 5, F(3))
for f in named("nbdtr nbdtrc"):
    case(f, 2, 4, F(3))
for f in named("pdtr pdtrc"):
    case(f, 3, P(3))
for f in named("gdtr gdtrc"):
    case(f, P(), 1.5, P(3))
for f in named("fdtr fdtrc"):
    case(f, 3, 4.5, P(3))
case(sc.fdtri, 3, 4.5, F(3))
case(sc.pdtri, 3, F(3))
case(sc.bdtri, 2, 5, F(3))
case(sc.nbdtri, 2, 4, F(3))
case(sc.stdtr, 3.5, R(3))
case(sc.stdtrit, 3.5, F(3))
case(sc.ellipj, P(3), 0.4)
for n in (4, 5):
    case(sc.diric, 9 * R(5), n)
    case(sc.diric, np.array([0.0, 2, -2, 4]) * np.pi, n)
for m in (0, 1, 2):
    case(sc.lpmv, m, 2, U(3))
for m in (-2, 0, 1, 2):
    case(getattr(sc, "sph_harm_y", None), 2, m, P(3), P(3))
case(sc.hyp0f1, 1.5, R(3))
case(sc.hyp1f1, 0.7, 1.5, R(3))
case(sc.hyp2f1, 0.7, 1.2, 2.3, U(3))
case(sc.hyperu, 0.7, 1.2, P(3))
case(sc.lambertw, -F(3) / 4, -1)
for f in named(
    "eval_legendre eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre"
    " eval_chebyc eval_chebys eval_sh_legendre eval_sh_chebyt eval_sh_chebyu"
):
    for n in (0, 1, 4):
        case(f, n, F(3))
    case(f, np.array([0, 2, 3]), F(3))
case(sc.eval_legendre, 0.5, F(3))
for n in (0, 1, 4):
    case(sc.eval_genlaguerre, n, 0.7, R(3))
    case(sc.eval_gegenbauer, n, 0.7, U(3))
    case(sc.eval_jacobi, n, 0.7, 1.2, U(3))
    case(sc.eval_sh_jacobi, n, 2.2, 0.9, F(3))

# ---- sums of exponentials

for axis in (None, 0, -1, (0, 1)):
    case(sc.logsumexp, R(2, 3), axis)
    case(sc.logsumexp, R(2, 3), axis, keepdims=True)
    case(sc.logsumexp, R(2, 3), axis, P(2, 3))
    case(sc.softmax, R(2, 3), axis)
    case(sc.log_softmax, R(2, 3), axis)
case(sc.logsumexp, R())
case(sc.logsumexp, R(2, 3), return_sign=True)
case(sc.logsumexp, R(2, 3), 1, R(2, 3), return_sign=True)
case(sc.logsumexp, R(2, 3), 0, -P(2, 3), True, True)
case(sc.logsumexp, R(3), b=P())

# ---- scipy.linalg

for assume in (None, "gen", "sym", "pos", "her", "upper triangular", "lower triangular"):
    case(sl.solve, S(3), R(3), assume_a=assume)
case(sl.solve, M(3), R(3, 2), transposed=True)
case(sl.solve, M(3), R(3), assume_a="diagonal")
case(sl.solve, M(4), R(4), assume_a="tridiagonal")
case(sl.solve, S(3) + 0j, Z(3), assume_a="her", lower=True)
for lower in (False, True):
    for trans in (0, 1, 2):
        case(sl.solve_triangular, M(3), R(3), trans, lower)
        case(sl.solve_triangular, Z(3, 3), Z(3, 2), "NTC"[trans], lower)
    case(sl.solve_triangular, M(3), R(3, 2), lower=lower, unit_diagonal=True)
    case(sl.cholesky, S(3), lower)
    case(sl.cho_factor, S(3), lower)
    case(sl.cho_solve, (np.linalg.cholesky(S(3), upper=not lower), lower), R(3))
    case(sl.cho_solve, (np.linalg.cholesky(S(3) + 0j, upper=not lower), lower), Z(3, 2))
    case(sl.eigh, S(3), lower=lower, driver="evd")
    case(sl.eigh, S(3), S(3), lower=lower)
    case(sl.eigh, S(3), S(3), lower=lower, eigvals_only=True)
    case(sl.eigvalsh, S(3), lower=lower)
    case(sl.eigvalsh, S(4), lower=lower, subset_by_index=[1, 2])
    case(sl.eigh, S(4), lower=lower, subset_by_index=[1, 2])
    case(sl.eigh, S(4), S(4), lower=lower, subset_by_index=[0, 1])
    case(sl.eigh, S(4), lower=lower, subset_by_index=[0, 2], eigvals_only=True)
    case(sl.eigh, S(4), S(4), lower=lower, subset_by_value=(0.9, 99.0))
    case(sl.eigvalsh, S(4), lower=lower, subset_by_value=[0.0, 3.0])
    case(sl.inv, S(3), assume_a="sym", lower=lower)
    case(sl.ldl, S(3), lower)
    case(sl.ldl, S(4) - 3 * np.eye(4), lower)
    case(sl.ldl, np.array([[0.1, 2.0, 0.3], [2.0, -0.1, 0.5], [0.3, 0.5, 0.2]]), lower)
    case(sl.eigvalsh, S(3), S(3), lower=lower)
    case(sl.pinvh, S(3), lower=lower)
for a in (M(3), Z(3, 3), np.array([[1.0, 2.0], [-3.0, 0.5]])):
    case(sl.eigvals, a)
    case(sl.eig, a)
band = np.array([[0.3, -0.2, 0.4, 0.1], [2.0, 2.5, 3.0, 2.2]])
case(sl.solve_banded, (1, 1), np.concatenate((band, R(1, 4) / 2)), R(4))
case(sl.solve_banded, (0, 1), band, R(4, 2))
case(sl.solveh_banded, band, R(4))
case(sl.solveh_banded, band[::-1].copy(), R(4, 2), lower=True)
case(sl.cholesky_banded, band)
case(sl.cholesky_banded, band[::-1].copy(), lower=True)
case(sl.eigvals_banded, band)
case(sl.eigvals_banded, band[::-1].copy(), lower=True)
case(sl.eigvalsh_tridiagonal, A(4) * np.arange(1, 5), R(3))
case(sl.solve_toeplitz, np.array([3.0, 0.4, -0.2]), R(3))
case(sl.solve_toeplitz, (np.array([3.0, 0.4, -0.2]), R(3)), R(3, 2))
case(sl.matmul_toeplitz, R(3), R(3))
case(sl.matmul_toeplitz, (R(3), R(4)), R(4, 2))
case(sl.eigh_tridiagonal, A(4) * np.arange(1, 5), R(3))
case(sl.eigh_tridiagonal, A(4) * np.arange(1, 5), R(3), eigvals_only=True)
case(sl.eigh_tridiagonal, A(4) * np.arange(1, 5), R(3), select="i", select_range=(1, 2))
case(sl.eigvalsh_tridiagonal, A(4) * np.arange(1, 5), R(3), select="v", select_range=(1, 9))
case(sl.eig_banded, band, select="i", select_range=(0, 1))
case(sl.eigvals_banded, band, select="v", select_range=(2, 9))
for lower in (False, True):
    case(sl.eig_banded, band[::-1].copy() if lower else band, lower)
    case(sl.eig_banded, band[::-1].copy() if lower else band, lower, eigvals_only=True)
    case(sl.cho_solve_banded, (band[::-1].copy() if lower else band, lower), R(4))
case(sl.solve_circulant, np.array([3.0, 0.4, -0.2]), R(3))
for a in (R(4, 2), M(3)):
    case(sl.lstsq, a, R(len(a)))
    case(sl.lstsq, a, R(len(a), 2))
case(sl.lstsq, R(2, 4), R(2))
for f in (sl.inv, sl.det, sl.lu, sl.lu_factor):
    case(f, M(3))
    case(f, M(3)[[2, 0, 1]])
case(sl.pinv, R(4, 2))
case(sl.pinv, R(4, 2), rtol=1e-3)
case(sl.pinv, R(4, 2), return_rank=True)
case(sl.pinv, R(4, 2), atol=1e-3, rtol=1e-4)
case(sl.pinvh, S(3), 1e-3, return_rank=True)
for f in (sl.lu, sl.lu_factor):
    case(f, R(4, 3))
    case(f, Z(3, 4))
    case(f, R(2, 3, 3))
case(sl.lu, M(3), permute_l=True)
case(sl.lu, M(3), p_indices=True)
case(sl.eig, M(3), right=False)
case(sl.norm, R(3, 4))
case(sl.norm, R(3, 4), 1, 0, True)
case(sl.lu_solve, sl.lu_factor(M(3)[[2, 0, 1]]), R(3))
for trans in (0, 1, 2):
    case(sl.lu_solve, sl.lu_factor(M(4)[[2, 0, 3, 1]]), R(4, 2), trans)
case(sl.qr, R(3, 3))
case(sl.qr, R(4, 2), mode="economic")
case(sl.qr, R(2, 4))
case(sl.qr, R(3, 2))
case(sl.qr, R(4, 2), mode="r")
case(sl.svd, R(3, 3))
case(sl.svd, R(4, 2), False)
case(sl.svd, R(3, 2))
case(sl.null_space, R(2, 3))
case(sl.svd, R(4, 2), compute_uv=False)
case(sl.svdvals, R(4, 2))
for m, n in ((3, 3), (2, 4), (4, 2)):
    case(sl.diagsvd, R(min(m, n)), m, n)
for f in (
    *(sl.expm, sl.logm, sl.sqrtm, sl.sinm, sl.cosm, sl.tanm),
    *(sl.sinhm, sl.coshm, sl.tanhm, sl.signm),
):
    case(f, M(3) / 2)
case(sl.expm, Z(3, 3))
case(sl.expm, R(2, 3, 3))
case(sl.expm_frechet, R(3, 3), R(3, 3))
case(sl.expm_frechet, R(3, 3), R(3, 3), compute_expm=False)
case(sl.fractional_matrix_power, M(3) + 0j, 0.3)
case(frechet, sl.expm, R(2, 2), R(2, 2))
case(sl.solve_sylvester, M(3), M(2), R(3, 2))
case(sl.solve_continuous_lyapunov, M(3), R(3, 3))
case(sl.solve_discrete_lyapunov, R(3, 3) / 4, R(3, 3))
case(sl.solve_continuous_are, R(3, 3), R(3, 2), np.eye(3, dtype=int), np.eye(2, dtype=int))
case(sl.solve_discrete_are, M(3) / 4, R(3, 2), np.eye(3, dtype=int), np.eye(2, dtype=int))
case(sl.block_diag, R(2, 3), R(1, 2), R(3))
case(sl.block_diag, R(2, 2))
case(sl.toeplitz, R(3))
case(sl.toeplitz, Z(3))
case(sl.toeplitz, R(3), R(4))
case(sl.hankel, R(3))
case(sl.hankel, R(3), R(4))
case(sl.circulant, R(4))
case(sl.companion, A(4))
case(sl.leslie, R(3), R(2))
case(sl.fiedler, R(3))
case(sl.khatri_rao, R(2, 3), R(4, 3))
for mode in ("full", "same", "valid"):
    case(sl.convolution_matrix, R(3), 5, mode)
    case(sl.convolution_matrix, R(4), 2, mode)

case(sl.polar, M(3))
case(sl.polar, R(4, 2), "left")
case(sl.orth, R(4, 2))
case(sl.orthogonal_procrustes, M(3), M(3))
case(sl.subspace_angles, R(4, 2), R(4, 1))
case(sc.sinc, R(3))

# ---- scipy.integrate

for n in (5, 6):
    case(si.simpson, R(n))
    case(si.simpson, R(n), np.cumsum(P(n)))
    case(si.simpson, R(n, 2), np.cumsum(P(n)), axis=0)
    case(si.simpson, R(2, n), np.cumsum(P(2, n), 1))
    case(si.trapezoid, R(n), dx=P())
case(si.simpson, R(2))
case(si.simpson, R(2, 3), dx=P())
case(si.romb, R(5), P())

case(si.cumulative_trapezoid, R(5))
case(si.cumulative_trapezoid, R(3, 4), np.cumsum(P(4)), initial=0)
case(si.cumulative_trapezoid, R(3, 4), np.cumsum(P(3, 4), 0), axis=0)
case(si.cumulative_trapezoid, R(3, 4), dx=P())

# ---- scipy.stats

SHAPES_OF = {
    ss.gamma: (2.3,), ss.beta: (2.1, 3.2), ss.chi2: (3.3,), ss.t: (3.4,), ss.lognorm: (0.6,),
    ss.weibull_min: (1.7,), ss.pareto: (1.6,), ss.invgamma: (2.2,), ss.powerlaw: (1.8,),
    ss.poisson: (1.4,), ss.binom: (5, 0.3), ss.bernoulli: (0.3,), ss.geom: (0.3,),
    ss.nbinom: (4, 0.4),
}  # fmt: skip
for form in CONTINUOUS:
    shapes = SHAPES_OF.get(form, ())
    active = tuple(map(np.float64, shapes))
    least = 1.3 if form is ss.pareto else 0.2
    x = least + F(3) * (0.6 if form.b == 1 else 2.0)
    for f in (form.logpdf, form.pdf):
        case(f, x, *active)
        case(f, x, *shapes, np.float64(-0.1), np.float64(1.1))
        case(f, x[1], *active, loc=np.float64(0.1), scale=np.float64(1.1))
    case(form.pdf, np.append(x, [-3.0, 9.0]), *shapes, P() / 9)
    for f in (form.cdf, form.sf, form.logcdf, form.logsf):
        case(f, x, *active)
        case(f, x, *shapes, -P(), A())
    for f in (form.ppf, form.isf):
        case(f, F(3), *active, R(), scale=P())
for form in DISCRETE:
    *fixed, p = SHAPES_OF[form]
    for f in (form.logpmf, form.pmf):
        case(
            f,
            np.array([1, 0]) if form is ss.bernoulli else np.array([1, 3, 2]),
            *fixed,
            p + U(1) / 9,
        )
        case(f, 1, *fixed, np.float64(p))
for f in (ss.multivariate_normal.logpdf, ss.multivariate_normal.pdf):
    case(f, R(3), None, S(3))
    case(f, R(3), R(3), S(3))
    case(f, R(4, 2), R(2), P(2))
    case(f, R(4, 2), R(2), P())
