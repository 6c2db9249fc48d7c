"""Rules of `scipy.special`: loaded when SciPy is.

Elementwise but for the sums of exponentials. An argument without a differential (the order of a
Bessel function, the shape of an incomplete gamma function) has no derivative in closed form: where
it is active, the call is refused.
"""

import math
from functools import partial

import numpy as np
import scipy.special as sc

from srcad.rules import registry
from srcad.rules.intrinsics import over, times
from srcad.rules.registry import composition, constant
from srcad.runtime import polygamma as derivative_of_log_gamma

differential = partial(registry.differential, elementwise=True)

ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2 * math.pi)


def named(names):
    """The functions with these names, as far as this version has them."""
    return [f for name in names.split() if (f := getattr(sc, name, None)) is not None]


constant(*named("gammasgn round comb perm factorial2 factorialk stirling2 bernoulli euler"))

# ---- gamma and beta


@differential(sc.gamma, domain="positive")
def gamma(z, *, dz, out):
    return out * sc.psi(z) * dz


@differential(sc.gammaln, domain="positive")
def gammaln(x, *, dx):
    return sc.psi(x) * dx


@differential(sc.loggamma, domain="positive")
def loggamma(z, *, dz):
    return sc.psi(z) * dz


@differential(sc.rgamma, domain="positive")
def rgamma(z, *, dz, out):
    return -out * sc.psi(z) * dz


@differential(sc.psi, domain="positive")
def psi(z, *, dz):
    """Once more, of real arguments only."""
    return derivative_of_log_gamma(1, z) * dz


@differential(sc.polygamma, domain="positive")
def polygamma(n, x, *, dx):
    return sc.polygamma(n + 1, x) * dx


@differential(sc.zeta, domain="above one")
def zeta(x, q=None, *, dq):
    """By the second argument: nothing is known of the zeros of the other derivative."""
    return -x * sc.zeta(x + 1, q) * dq


@composition(sc.multigammaln, wrt="a")
def multigammaln(a, d):
    shifts = np.expand_dims(a, -1) - np.arange(d) / 2
    return d * (d - 1) / 4 * math.log(math.pi) + np.sum(sc.gammaln(shifts), -1)


@composition(sc.factorial, wrt="n")
def factorial(n, exact=False):
    return sc.gamma(n + 1)


@differential(sc.beta, domain="positive")
def beta(a, b, *, da, db, out):
    middle = sc.psi(a + b)
    return out * ((sc.psi(a) - middle) * da + (sc.psi(b) - middle) * db)


@differential(sc.betaln, domain="positive")
def betaln(a, b, *, da, db):
    middle = sc.psi(a + b)
    return (sc.psi(a) - middle) * da + (sc.psi(b) - middle) * db


@differential(sc.binom, domain="positive")
def binom(x, y, *, dx, dy, out):
    middle = sc.psi(x - y + 1)
    return out * ((sc.psi(x + 1) - middle) * dx + (middle - sc.psi(y + 1)) * dy)


@differential(sc.poch, domain="positive")
def poch(z, m, *, dz, dm, out):
    end = sc.psi(z + m)
    return out * ((end - sc.psi(z)) * dz + end * dm)


def gamma_density(a, x):
    return np.exp(sc.xlogy(a - 1, x) - x - sc.gammaln(a))


@differential(sc.gammainc, domain="positive")
def gammainc(a, x, *, dx):
    return gamma_density(a, x) * dx


@differential(sc.gammaincc, domain="positive")
def gammaincc(a, x, *, dx):
    return -gamma_density(a, x) * dx


@differential(sc.gammaincinv, domain="fraction")
def gammaincinv(a, y, *, dy, out):
    return over(dy, gamma_density(a, out))


@differential(sc.gammainccinv, domain="fraction")
def gammainccinv(a, y, *, dy, out):
    return -over(dy, gamma_density(a, out))


def beta_density(a, b, x):
    return np.exp(sc.xlogy(a - 1, x) + sc.xlog1py(b - 1, -x) - sc.betaln(a, b))


@differential(sc.betainc, domain="fraction")
def betainc(a, b, x, *, dx):
    return beta_density(a, b, x) * dx


@differential(getattr(sc, "betaincc", None), domain="fraction")
def betaincc(a, b, x, *, dx):
    return -beta_density(a, b, x) * dx


@differential(sc.betaincinv, domain="fraction")
def betaincinv(a, b, y, *, dy, out):
    return over(dy, beta_density(a, b, out))


# ---- error functions and the normal distribution


@differential(sc.erf)
def erf(z, *, dz):
    return 2 / ROOT_PI * np.exp(-z * z) * dz


@differential(sc.erfc)
def erfc(x, *, dx):
    return -2 / ROOT_PI * np.exp(-x * x) * dx


@differential(sc.erfcx)
def erfcx(x, *, dx, out):
    return (2 * x * out - 2 / ROOT_PI) * dx


@differential(sc.erfi)
def erfi(z, *, dz):
    return 2 / ROOT_PI * np.exp(z * z) * dz


@differential(sc.dawsn)
def dawsn(x, *, dx, out):
    return (1 - 2 * x * out) * dx


@differential(sc.wofz)
def wofz(z, *, dz, out):
    return (2j / ROOT_PI - 2 * z * out) * dz


@differential(sc.erfinv, domain="unit")
def erfinv(y, *, dy, out):
    return ROOT_PI / 2 * np.exp(out * out) * dy


@differential(sc.erfcinv, domain="fraction")
def erfcinv(y, *, dy, out):
    return -ROOT_PI / 2 * np.exp(out * out) * dy


@differential(sc.ndtr)
def ndtr(x, *, dx):
    return np.exp(-x * x / 2) / ROOT_2PI * dx


@differential(sc.log_ndtr)
def log_ndtr(x, *, dx, out):
    return np.exp(-x * x / 2 - out) / ROOT_2PI * dx


@differential(sc.ndtri, domain="fraction")
def ndtri(y, *, dy, out):
    return ROOT_2PI * np.exp(out * out / 2) * dy


@differential(getattr(sc, "ndtri_exp", None))
def ndtri_exp(y, *, dy, out):
    return ROOT_2PI * np.exp(y + out * out / 2) * dy


@differential(sc.owens_t)
def owens_t(h, a, *, dh, da):
    density = np.exp(-h * h / 2)
    by_a = density * np.exp(-h * h * a * a / 2) / (2 * math.pi * (1 + a * a))
    return by_a * da - density * sc.erf(a * h / math.sqrt(2)) / (2 * ROOT_2PI) * dh


# ---- distributions, by the variable


@composition(sc.chdtr, wrt="x")
def chdtr(v, x):
    return sc.gammainc(v / 2, x / 2)


@composition(sc.chdtrc, wrt="x")
def chdtrc(v, x):
    return sc.gammaincc(v / 2, x / 2)


@composition(sc.gdtr, wrt=("a", "x"))
def gdtr(a, b, x):
    return sc.gammainc(b, a * x)


@composition(sc.gdtrc, wrt=("a", "x"))
def gdtrc(a, b, x):
    return sc.gammaincc(b, a * x)


@composition(sc.pdtr, wrt="m")
def pdtr(k, m):
    return sc.gammaincc(np.floor(k) + 1, m)


@composition(sc.pdtrc, wrt="m")
def pdtrc(k, m):
    return sc.gammainc(np.floor(k) + 1, m)


@composition(sc.fdtr, wrt="x")
def fdtr(dfn, dfd, x):
    return sc.betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


@composition(sc.fdtrc, wrt="x")
def fdtrc(dfn, dfd, x):
    return sc.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


@differential(sc.stdtr)
def stdtr(df, t, *, dt):
    return np.exp(-(df + 1) / 2 * np.log1p(t * t / df) - sc.betaln(df / 2, 0.5)) / np.sqrt(df) * dt


@differential(sc.stdtrit, domain="fraction")
def stdtrit(df, p, *, dp, out):
    steep = np.exp((df + 1) / 2 * np.log1p(out * out / df) + sc.betaln(df / 2, 0.5))
    return steep * np.sqrt(df) * dp


@composition(sc.chdtri, wrt="p")
def chdtri(v, p):
    return 2 * sc.gammainccinv(v / 2, p)


@composition(sc.fdtri, wrt="p")
def fdtri(dfn, dfd, p):
    part = sc.betaincinv(dfn / 2, dfd / 2, p)
    return dfd * part / (dfn * (1 - part))


@composition(sc.bdtr, wrt="p")
def bdtr(k, n, p):
    return sc.betainc(n - np.floor(k), np.floor(k) + 1, 1 - p)


@composition(sc.bdtrc, wrt="p")
def bdtrc(k, n, p):
    return sc.betainc(np.floor(k) + 1, n - np.floor(k), p)


@composition(sc.nbdtr, wrt="p")
def nbdtr(k, n, p):
    return sc.betainc(n, k + 1, p)


@composition(sc.nbdtrc, wrt="p")
def nbdtrc(k, n, p):
    return sc.betainc(k + 1, n, 1 - p)


@composition(sc.voigt_profile, wrt=("x", "sigma", "gamma"))
def voigt_profile(x, sigma, gamma):
    profile = np.real(sc.wofz((x + 1j * gamma) / (sigma * math.sqrt(2))))
    return profile / (sigma * math.sqrt(2 * math.pi))


# ---- logistic and entropy functions


@differential(sc.expit)
def expit(x, *, dx, out):
    return out * sc.expit(-x) * dx


@differential(sc.logit, domain="fraction")
def logit(x, *, dx):
    return over(dx, x * (1 - x))


@differential(sc.log_expit)
def log_expit(x, *, dx):
    return sc.expit(-x) * dx


@differential(getattr(sc, "softplus", None))
def softplus(x, *, dx):
    return sc.expit(x) * dx


@differential(sc.xlogy, domain="positive")
def xlogy(x, y, *, dx, dy):
    """At x = 0 the derivative in y is 0."""
    return times(np.log(y), dx) + np.where(x == 0, 0, over(x * dy, y))


@differential(sc.xlog1py, domain="positive")
def xlog1py(x, y, *, dx, dy):
    """At x = 0 the derivative in y is 0."""
    return times(np.log1p(y), dx) + np.where(x == 0, 0, over(x * dy, 1 + y))


@differential(sc.entr, domain="positive")
def entr(x, *, dx):
    return -times(np.log(x) + 1, dx)


@differential(sc.rel_entr, domain="positive")
def rel_entr(x, y, *, dx, dy):
    return times(np.log(x / y) + 1, dx) - over(x * dy, y)


@differential(sc.kl_div, domain="positive")
def kl_div(x, y, *, dx, dy):
    return times(np.log(x / y), dx) + dy - over(x * dy, y)


@differential(sc.huber, domain="positive")
def huber(delta, r, *, ddelta, dr):
    inside = np.abs(r) <= delta
    slope = np.where(inside, 0, np.abs(r) - delta)
    return np.where(inside, r, delta * np.sign(r)) * dr + slope * ddelta


@differential(sc.pseudo_huber, domain="positive")
def pseudo_huber(delta, r, *, ddelta, dr):
    root = np.sqrt(1 + (r / delta) * (r / delta))
    return r / root * dr + (2 * delta * (root - 1) - r * r / (delta * root)) * ddelta


@composition(sc.boxcox, wrt=("x", "lmbda"))
def boxcox(x, lmbda):
    return np.log(x) * sc.exprel(lmbda * np.log(x))


@composition(sc.boxcox1p, wrt=("x", "lmbda"))
def boxcox1p(x, lmbda):
    return np.log1p(x) * sc.exprel(lmbda * np.log1p(x))


@composition(sc.inv_boxcox, wrt=("y", "lmbda"))
def inv_boxcox(y, lmbda):
    """With log(1 + z) / z as a function that has no gap at 0."""
    return np.exp(y * sc.hyp2f1(1.0, 1.0, 2.0, -lmbda * y))


@composition(sc.inv_boxcox1p, wrt=("y", "lmbda"))
def inv_boxcox1p(y, lmbda):
    return sc.inv_boxcox(y, lmbda) - 1


# ---- exponentials and logarithms


@differential(sc.exp10)
def exp10(x, *, dx, out):
    return math.log(10) * out * dx


@composition(sc.exp2, wrt="x")
def exp2(x):
    return np.exp2(x)


@composition(sc.expm1, wrt="x")
def expm1(x):
    return np.expm1(x)


@composition(sc.log1p, wrt="x")
def log1p(x):
    return np.log1p(x)


@composition(sc.cbrt, wrt="x")
def cbrt(x):
    return np.cbrt(x)


@differential(getattr(sc, "powm1", None), domain="positive")
def powm1(x, y, *, dx, dy, out):
    return y * x ** (y - 1) * dx + (out + 1) * np.log(x) * dy


@differential(sc.cosm1)
def cosm1(x, *, dx):
    return -np.sin(x) * dx


@differential(sc.exprel)
def exprel(x, *, dx):
    return sc.hyp1f1(2.0, 3.0, x) / 2 * dx


@differential(sc.lambertw, domain="positive")
def lambertw(z, k=0, tol=1e-8, *, dz, out):
    return over(dz, np.exp(out) * (1 + out))


@differential(sc.wrightomega)
def wrightomega(z, *, dz, out):
    return out / (1 + out) * dz


@differential(sc.exp1, domain="positive")
def exp1(z, *, dz):
    return -over(np.exp(-z) * dz, z)


@differential(sc.expi, domain="positive")
def expi(x, *, dx):
    return over(np.exp(x) * dx, x)


@differential(sc.expn, domain="positive")
def expn(n, x, *, dx):
    """By the recurrence, which goes on to n = 0."""
    return -np.where(n == 0, np.exp(-x) * (1 + x) / (x * x), sc.expn(np.maximum(n - 1, 0), x)) * dx


@differential(sc.sici, domain="positive")
def sici(x, *, dx):
    return np.sinc(x / math.pi) * dx, over(np.cos(x) * dx, x)


@differential(sc.shichi, domain="positive")
def shichi(x, *, dx):
    return (sc.exprel(x) + sc.exprel(-x)) / 2 * dx, over(np.cosh(x) * dx, x)


@differential(sc.fresnel)
def fresnel(z, *, dz):
    return np.sin(math.pi / 2 * z * z) * dz, np.cos(math.pi / 2 * z * z) * dz


@differential(sc.spence, domain="positive")
def spence(z, *, dz):
    """The logarithm over 1 - z, as a function that has no gap at 1."""
    return -sc.hyp2f1(1.0, 1.0, 2.0, 1 - z) * dz


@differential(sc.sindg)
def sindg(x, *, dx):
    return math.pi / 180 * sc.cosdg(x) * dx


@differential(sc.cosdg)
def cosdg(x, *, dx):
    return -math.pi / 180 * sc.sindg(x) * dx


@differential(sc.tandg)
def tandg(x, *, dx, out):
    return math.pi / 180 * (1 + out * out) * dx


@differential(sc.cotdg)
def cotdg(x, *, dx, out):
    return -math.pi / 180 * (1 + out * out) * dx


# ---- Bessel functions, by the argument


@differential(sc.j0)
def j0(x, *, dx):
    return -sc.j1(x) * dx


@differential(sc.j1)
def j1(x, *, dx):
    return (sc.j0(x) - sc.jv(2, x)) / 2 * dx


@differential(sc.jv)
def jv(v, z, *, dz):
    return (sc.jv(v - 1, z) - sc.jv(v + 1, z)) / 2 * dz


@differential(sc.y0, domain="positive")
def y0(x, *, dx):
    return -sc.y1(x) * dx


@differential(sc.y1, domain="positive")
def y1(x, *, dx):
    return (sc.y0(x) - sc.yv(2, x)) / 2 * dx


@differential(sc.yv, domain="positive")
def yv(v, z, *, dz):
    return (sc.yv(v - 1, z) - sc.yv(v + 1, z)) / 2 * dz


@composition(sc.yn, wrt="x")
def yn(n, x):
    return sc.yv(n, x)


@differential(sc.i0)
def i0(x, *, dx):
    return sc.i1(x) * dx


@differential(sc.i1)
def i1(x, *, dx):
    return (sc.i0(x) + sc.iv(2, x)) / 2 * dx


@differential(sc.iv)
def iv(v, z, *, dz):
    return (sc.iv(v - 1, z) + sc.iv(v + 1, z)) / 2 * dz


@differential(sc.i0e)
def i0e(x, *, dx, out):
    return (sc.i1e(x) - np.sign(x) * out) * dx


@differential(sc.i1e)
def i1e(x, *, dx, out):
    return ((sc.i0e(x) + sc.ive(2, x)) / 2 - np.sign(x) * out) * dx


@differential(sc.ive)
def ive(v, z, *, dz, out):
    slope = (sc.ive(v - 1, z) + sc.ive(v + 1, z)) / 2
    return slope * dz - out * np.sign(np.real(z)) * np.real(dz)


@differential(sc.k0, domain="positive")
def k0(x, *, dx):
    return -sc.k1(x) * dx


@differential(sc.k1, domain="positive")
def k1(x, *, dx):
    return -(sc.k0(x) + sc.kv(2, x)) / 2 * dx


@differential(sc.kv, domain="positive")
def kv(v, z, *, dz):
    return -(sc.kv(v - 1, z) + sc.kv(v + 1, z)) / 2 * dz


@composition(sc.kn, wrt="x")
def kn(n, x):
    return sc.kv(n, x)


@differential(sc.k0e, domain="positive")
def k0e(x, *, dx, out):
    return (out - sc.k1e(x)) * dx


@differential(sc.k1e, domain="positive")
def k1e(x, *, dx, out):
    return (out - (sc.k0e(x) + sc.kve(2, x)) / 2) * dx


@differential(sc.kve, domain="positive")
def kve(v, z, *, dz, out):
    return (out - (sc.kve(v - 1, z) + sc.kve(v + 1, z)) / 2) * dz


@differential(sc.jve)
def jve(v, z, *, dz, out):
    slope = (sc.jve(v - 1, z) - sc.jve(v + 1, z)) / 2
    return slope * dz - out * np.sign(np.imag(z)) * np.imag(dz)


@differential(sc.yve, domain="positive")
def yve(v, z, *, dz, out):
    slope = (sc.yve(v - 1, z) - sc.yve(v + 1, z)) / 2
    return slope * dz - out * np.sign(np.imag(z)) * np.imag(dz)


@differential(sc.hankel1, domain="positive")
def hankel1(v, z, *, dz):
    return (sc.hankel1(v - 1, z) - sc.hankel1(v + 1, z)) / 2 * dz


@differential(sc.hankel2, domain="positive")
def hankel2(v, z, *, dz):
    return (sc.hankel2(v - 1, z) - sc.hankel2(v + 1, z)) / 2 * dz


@differential(sc.hankel1e, domain="positive")
def hankel1e(v, z, *, dz, out):
    return ((sc.hankel1e(v - 1, z) - sc.hankel1e(v + 1, z)) / 2 - 1j * out) * dz


@differential(sc.hankel2e, domain="positive")
def hankel2e(v, z, *, dz, out):
    return ((sc.hankel2e(v - 1, z) - sc.hankel2e(v + 1, z)) / 2 + 1j * out) * dz


@differential(sc.jvp)
def jvp(v, z, n=1, *, dz):
    return sc.jvp(v, z, n + 1) * dz


@differential(sc.yvp, domain="positive")
def yvp(v, z, n=1, *, dz):
    return sc.yvp(v, z, n + 1) * dz


@differential(sc.ivp)
def ivp(v, z, n=1, *, dz):
    return sc.ivp(v, z, n + 1) * dz


@differential(sc.kvp, domain="positive")
def kvp(v, z, n=1, *, dz):
    return sc.kvp(v, z, n + 1) * dz


@differential(sc.struve, domain="positive")
def struve(v, x, *, dx):
    shift = np.exp(v * np.log(x / 2) - sc.gammaln(v + 1.5)) / ROOT_PI
    return (sc.struve(v - 1, x) - sc.struve(v + 1, x) + shift) / 2 * dx


@differential(sc.modstruve, domain="positive")
def modstruve(v, x, *, dx):
    shift = np.exp(v * np.log(x / 2) - sc.gammaln(v + 1.5)) / ROOT_PI
    return (sc.modstruve(v - 1, x) + sc.modstruve(v + 1, x) + shift) / 2 * dx


@differential(sc.airy)
def airy(z, *, dz, out):
    return out[1] * dz, z * out[0] * dz, out[3] * dz, z * out[2] * dz


@differential(sc.ber, domain="positive")
def ber(x, *, dx):
    return sc.berp(x) * dx


@differential(sc.bei, domain="positive")
def bei(x, *, dx):
    return sc.beip(x) * dx


@differential(sc.berp, domain="positive")
def berp(x, *, dx, out):
    return -(out / x + sc.bei(x)) * dx


@differential(sc.beip, domain="positive")
def beip(x, *, dx, out):
    return (sc.ber(x) - out / x) * dx


@differential(sc.ker, domain="positive")
def ker(x, *, dx):
    return sc.kerp(x) * dx


@differential(sc.kei, domain="positive")
def kei(x, *, dx):
    return sc.keip(x) * dx


@differential(sc.kerp, domain="positive")
def kerp(x, *, dx, out):
    return -(out / x + sc.kei(x)) * dx


@differential(sc.keip, domain="positive")
def keip(x, *, dx, out):
    return (sc.ker(x) - out / x) * dx


@differential(sc.kelvin, domain="positive")
def kelvin(x, *, dx, out):
    be, ke, dbe, dke = out
    return dbe * dx, dke * dx, (1j * be - dbe / x) * dx, (1j * ke - dke / x) * dx


@differential(sc.spherical_jn, domain="positive")
def spherical_jn(n, z, derivative=False, *, dz, out):
    if derivative:
        return ((n * (n + 1) / (z * z) - 1) * sc.spherical_jn(n, z) - 2 / z * out) * dz
    return sc.spherical_jn(n, z, True) * dz


@differential(sc.spherical_yn, domain="positive")
def spherical_yn(n, z, derivative=False, *, dz, out):
    if derivative:
        return ((n * (n + 1) / (z * z) - 1) * sc.spherical_yn(n, z) - 2 / z * out) * dz
    return sc.spherical_yn(n, z, True) * dz


@differential(sc.spherical_in, domain="positive")
def spherical_in(n, z, derivative=False, *, dz, out):
    if derivative:
        return ((n * (n + 1) / (z * z) + 1) * sc.spherical_in(n, z) - 2 / z * out) * dz
    return sc.spherical_in(n, z, True) * dz


@differential(sc.spherical_kn, domain="positive")
def spherical_kn(n, z, derivative=False, *, dz, out):
    if derivative:
        return ((n * (n + 1) / (z * z) + 1) * sc.spherical_kn(n, z) - 2 / z * out) * dz
    return sc.spherical_kn(n, z, True) * dz


@differential(sc.pbdv)
def pbdv(v, x, *, dx, out):
    return out[1] * dx, (x * x / 4 - v - 0.5) * out[0] * dx


@differential(sc.pbvv)
def pbvv(v, x, *, dx, out):
    return out[1] * dx, (x * x / 4 - v - 0.5) * out[0] * dx


# ---- elliptic and hypergeometric functions


@differential(sc.ellipk, domain="fraction")
def ellipk(m, *, dm):
    return math.pi / 8 * sc.hyp2f1(1.5, 1.5, 2.0, m) * dm


@composition(sc.ellipkm1, wrt="p")
def ellipkm1(p):
    return sc.ellipk(1 - p)


@differential(sc.ellipe, domain="fraction")
def ellipe(m, *, dm):
    return -math.pi / 8 * sc.hyp2f1(0.5, 1.5, 2.0, m) * dm


@differential(sc.ellipkinc, domain="fraction")
def ellipkinc(phi, m, *, dphi, dm, out):
    root = np.sqrt(1 - m * np.sin(phi) ** 2)
    turn = np.sin(2 * phi) / (4 * (1 - m) * root)
    return dphi / root + ((sc.ellipeinc(phi, m) / (1 - m) - out) / (2 * m) - turn) * dm


@differential(sc.ellipeinc, domain="fraction")
def ellipeinc(phi, m, *, dphi, dm, out):
    return np.sqrt(1 - m * np.sin(phi) ** 2) * dphi + (out - sc.ellipkinc(phi, m)) / (2 * m) * dm


@differential(sc.ellipj, domain="fraction")
def ellipj(u, m, *, du, out):
    """By the first argument."""
    sn, cn, dn, _ = out
    return cn * dn * du, -sn * dn * du, -m * sn * cn * du, dn * du


@differential(sc.hyp0f1, domain="positive")
def hyp0f1(v, z, *, dz):
    return sc.hyp0f1(v + 1, z) / v * dz


@differential(sc.hyp1f1, domain="positive")
def hyp1f1(a, b, x, *, dx):
    return a / b * sc.hyp1f1(a + 1, b + 1, x) * dx


@differential(sc.hyp2f1, domain="fraction")
def hyp2f1(a, b, c, z, *, dz):
    return a * b / c * sc.hyp2f1(a + 1, b + 1, c + 1, z) * dz


@differential(sc.hyperu, domain="positive")
def hyperu(a, b, x, *, dx):
    return -a * sc.hyperu(a + 1, b + 1, x) * dx


# ---- orthogonal polynomials, by the argument; of degree 0 the derivative is 0


def degree_below(n):
    return np.where(n == 0, 0, n - 1)


@differential(sc.eval_jacobi, domain="unit")
def eval_jacobi(n, alpha, beta, x, *, dx):
    slope = (n + alpha + beta + 1) / 2 * sc.eval_jacobi(degree_below(n), alpha + 1, beta + 1, x)
    return np.where(n == 0, 0, slope) * dx


@composition(sc.eval_sh_jacobi, wrt="x")
def eval_sh_jacobi(n, p, q, x):
    return sc.eval_jacobi(n, p - q, q - 1, 2 * x - 1) / sc.binom(2 * n + p - 1, n)


@differential(sc.eval_gegenbauer, domain="unit")
def eval_gegenbauer(n, alpha, x, *, dx):
    return np.where(n == 0, 0, 2 * alpha * sc.eval_gegenbauer(degree_below(n), alpha + 1, x)) * dx


@differential(sc.eval_legendre, domain="unit")
def eval_legendre(n, x, *, dx):
    return np.where(n == 0, 0, sc.eval_gegenbauer(degree_below(n), 1.5, x)) * dx


@composition(sc.eval_sh_legendre, wrt="x")
def eval_sh_legendre(n, x):
    return sc.eval_legendre(n, 2 * x - 1)


@differential(sc.eval_chebyt, domain="unit")
def eval_chebyt(n, x, *, dx):
    return n * sc.eval_chebyu(degree_below(n), x) * dx


@differential(sc.eval_chebyu, domain="unit")
def eval_chebyu(n, x, *, dx):
    return np.where(n == 0, 0, 2 * sc.eval_gegenbauer(degree_below(n), 2.0, x)) * dx


@composition(sc.eval_sh_chebyt, wrt="x")
def eval_sh_chebyt(n, x):
    return sc.eval_chebyt(n, 2 * x - 1)


@composition(sc.eval_sh_chebyu, wrt="x")
def eval_sh_chebyu(n, x):
    return sc.eval_chebyu(n, 2 * x - 1)


@composition(sc.eval_chebyc, wrt="x")
def eval_chebyc(n, x):
    return 2 * sc.eval_chebyt(n, x / 2)


@composition(sc.eval_chebys, wrt="x")
def eval_chebys(n, x):
    return sc.eval_chebyu(n, x / 2)


@differential(sc.eval_hermite)
def eval_hermite(n, x, *, dx):
    return 2 * n * sc.eval_hermite(degree_below(n), x) * dx


@differential(sc.eval_hermitenorm)
def eval_hermitenorm(n, x, *, dx):
    return n * sc.eval_hermitenorm(degree_below(n), x) * dx


@differential(sc.eval_laguerre)
def eval_laguerre(n, x, *, dx):
    return -np.where(n == 0, 0, sc.eval_genlaguerre(degree_below(n), 1.0, x)) * dx


@differential(sc.eval_genlaguerre)
def eval_genlaguerre(n, alpha, x, *, dx):
    return -np.where(n == 0, 0, sc.eval_genlaguerre(degree_below(n), alpha + 1, x)) * dx


# ---- sums of exponentials


@registry.differential(sc.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, *, da, db, out):
    """Where the sum is 0, and its logarithm -inf, 0. An infinite term has all the weight."""
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    shares = np.exp(np.where(a == out, 0, a - np.where(np.isinf(out), 0, out)))
    w = np.where(np.isneginf(out), 0, np.where(np.isposinf(out), a == out, shares))
    if b is None:
        return np.sum(w * da, axis, keepdims=keepdims)
    return np.sum(b * w * da + w * db, axis, keepdims=keepdims)


@registry.differential(sc.softmax)
def softmax(x, axis=None, *, dx, out):
    return out * (dx - np.sum(out * dx, axis, keepdims=True))


@registry.differential(sc.log_softmax)
def log_softmax(x, axis=None, *, dx, out):
    return dx - np.sum(np.exp(out) * dx, axis, keepdims=True)
