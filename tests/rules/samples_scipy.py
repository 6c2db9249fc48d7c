"""Samples of the rules for SciPy, as those in `samples`."""

import numpy as np
import scipy.linalg as sl
import scipy.special as sc

from srcad.runtime import frechet
from tests.rules.samples import PAIRS, SHAPES, A, M, P, R, S, U, Z, case


def F(*shape):
    """Between 0 and 1."""
    return (U(*shape) + 1) / 2


def named(names):
    return [f for name in names.split() if (f := getattr(sc, name, None)) is not None]


# ---- scipy.special: one argument

ONE = {
    R: "erf erfc erfcx erfi dawsn ndtr log_ndtr expit log_expit softplus exp10 exp2 expm1 cosm1"
    " cbrt exprel sindg cosdg tandg cotdg j0 j1 i0 i0e i1 i1e airy fresnel wrightomega",
    P: "gamma gammaln loggamma rgamma psi factorial entr lambertw exp1 expi sici shichi spence"
    " log1p y0 y1 k0 k0e k1 k1e ber bei berp beip ker kei kerp keip kelvin",
    U: "erfinv",
    F: "erfcinv ndtri logit ellipk ellipe ellipkm1",
}
for sample, names in ONE.items():
    for f in named(names):
        for s in SHAPES:
            case(f, sample(*s))
for f in named("erf wofz loggamma exp1 rgamma"):
    case(f, Z(3))
case(getattr(sc, "ndtri_exp", None), -P(3))
case(sc.gamma, -F(3))
case(sc.psi, -F(3))

# ---- several arguments: those with a derivative

TWO = {
    (P, P): "beta betaln poch xlogy xlog1py rel_entr kl_div huber pseudo_huber powm1 boxcox"
    " boxcox1p inv_boxcox inv_boxcox1p",
    (R, R): "owens_t",
    (F, F): "ellipkinc ellipeinc",
}
for (first, second), names in TWO.items():
    for f in named(names):
        for s, t in PAIRS:
            case(f, first(*s), second(*t))
for s, t in PAIRS:
    case(sc.binom, A(*s), P(*t) / 2)
case(sc.voigt_profile, R(3), P(), P(2, 1))

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
for f in named("jvp yvp ivp kvp"):
    case(f, 2, P(3))
    case(f, 1.5, P(), 2)
for f in named("spherical_jn spherical_yn spherical_in spherical_kn"):
    case(f, 2, P(3))
    case(f, 1, P(3), True)
case(sc.polygamma, 1, P(3))
case(sc.polygamma, np.array([0, 2]), P(2))
case(sc.zeta, 2.5, P(3))
case(sc.zeta, np.array([2, 3]), P(2))
case(sc.multigammaln, A(), 2)
case(sc.multigammaln, A(3), 3)
for f in named("betainc betaincc betaincinv"):
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
case(sc.stdtr, 3.5, R(3))
case(sc.stdtrit, 3.5, F(3))
case(sc.ellipj, P(3), 0.4)
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
case(sc.logsumexp, R(3), b=P())

# ---- scipy.linalg

for assume in (None, "gen", "sym", "pos", "her", "upper triangular", "lower triangular"):
    case(sl.solve, S(3), R(3), assume_a=assume)
case(sl.solve, M(3), R(3, 2), transposed=True)
case(sl.solve, S(3) + 0j, Z(3), assume_a="her", lower=True)
for lower in (False, True):
    for trans in (0, 1, 2, "N", "T", "C"):
        case(sl.solve_triangular, M(3), R(3), trans, lower)
        case(sl.solve_triangular, Z(3, 3), Z(3, 2), trans, lower)
    case(sl.solve_triangular, M(3), R(3, 2), lower=lower, unit_diagonal=True)
    case(sl.cholesky, S(3), lower)
    case(sl.cho_factor, S(3), lower)
    case(sl.cho_solve, (np.linalg.cholesky(S(3), upper=not lower), lower), R(3))
    case(sl.cho_solve, (np.linalg.cholesky(S(3) + 0j, upper=not lower), lower), Z(3, 2))
    case(sl.eigh, S(3), lower=lower, driver="evd")
    case(sl.eigh, S(3), S(3), lower=lower)
    case(sl.eigh, S(3), S(3), lower=lower, eigvals_only=True)
    case(sl.eigvalsh, S(3), lower=lower)
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
case(sl.solve_circulant, np.array([3.0, 0.4, -0.2]), R(3))
for a in (R(4, 2), M(3)):
    case(sl.lstsq, a, R(len(a)))
    case(sl.lstsq, a, R(len(a), 2))
case(sl.lstsq, R(2, 4), R(2))
for f in (sl.inv, sl.det, sl.lu, sl.lu_factor):
    case(f, M(3))
    case(f, M(3)[[2, 0, 1]])
case(sl.pinv, R(4, 2))
case(sl.norm, R(3, 4))
case(sl.norm, R(3, 4), 1, 0, True)
case(sl.lu_solve, sl.lu_factor(M(3)[[2, 0, 1]]), R(3))
for trans in (0, 1, 2):
    case(sl.lu_solve, sl.lu_factor(M(4)[[2, 0, 3, 1]]), R(4, 2), trans)
case(sl.qr, R(3, 3))
case(sl.qr, R(4, 2), mode="economic")
case(sl.qr, R(2, 4))
case(sl.qr, R(4, 2), mode="r")
case(sl.svd, R(3, 3))
case(sl.svd, R(4, 2), False)
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
