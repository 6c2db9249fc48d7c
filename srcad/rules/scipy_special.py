"""Rules of `scipy.special`: gamma functions, exponentials, logarithms. Loaded when SciPy is.

Elementwise but for the sums of exponentials. An argument without a differential (the order of a
Bessel function) has no derivative in closed form: where it is active, the call is refused. Other
families are in `scipy_distributions`, `scipy_bessel` and
`scipy_hypergeometric`.
"""

import math
from functools import partial

import numpy as np
import scipy.special as sc

from srcad.errors import MissingRule
from srcad.rules import registry
from srcad.rules.intrinsics import excess, over, times
from srcad.rules.reductions import kept
from srcad.rules.registry import composition, constant, sourced
from srcad.runtime import betainc_by_shapes, gammainc_by_shape, zeta_by_exponent
from srcad.runtime import polygamma as derivative_of_log_gamma

differential = partial(registry.differential, elementwise=True)
linear = partial(registry.linear, elementwise=True)

ROOT_PI = math.sqrt(math.pi)
ROOT_2PI = math.sqrt(2 * math.pi)


def named(names):
    """The functions with these names, as far as this version has them."""
    return [f for name in names.split() if (f := getattr(sc, name, None)) is not None]


def vanishing(slope, x):
    """The slope of what has a limit at infinity: there 0, and so are those of higher order."""
    return np.where(np.isinf(x), 0, slope)


constant(*named("gammasgn round factorial2 factorialk stirling2 bernoulli euler"))

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


@differential(sc.rgamma)
def rgamma(z, *, dz, out):
    """To the left, where the gamma function has poles, by its reflection."""
    left = np.real(z) < 0.5
    w = np.where(left, z, 0)
    angle = math.pi * w
    turned = np.cos(angle) - np.sin(angle) * sc.psi(1 - w) / math.pi
    right = vanishing(-out * sc.psi(np.where(left, 1, z)), z)
    return np.where(left, sc.gamma(1 - w) * turned, right) * dz


@differential(sc.psi, domain="positive")
def psi(z, *, dz):
    """Once more, of real arguments only."""
    return derivative_of_log_gamma(1, z) * dz


@differential(sc.polygamma, domain="positive")
def polygamma(n, x, *, dx):
    return sc.polygamma(n + 1, x) * dx


@differential(sc.zeta, domain="above one")
def zeta(x, q=None, *, dx, dq):
    """By the exponent at real numbers."""
    return zeta_by_exponent_differential(0, x, q, dx=dx, dq=dq)


@differential(sc.zetac, domain="above one")
def zetac(x, *, dx):
    return zeta_by_exponent(1, x) * dx


@differential(zeta_by_exponent, domain="above one")
def zeta_by_exponent_differential(k, x, q=None, *, dx, dq):
    if np.iscomplexobj(x):
        raise MissingRule(None, "the derivative of zeta is supported at real numbers")
    change = zeta_by_exponent(k + 1, x, q) * dx
    if q is None:
        return change
    if k == 0:
        return change - x * sc.zeta(x + 1, q) * dq
    below = zeta_by_exponent(k - 1, x + 1, q) if k > 1 else sc.zeta(x + 1, q)
    return change - (x * zeta_by_exponent(k, x + 1, q) + k * below) * dq


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


def is_a_choice(N, k):
    """Whether there are `k` among `N` to choose."""
    return (k <= N) & (N >= 0) & (k >= 0)


@composition(sc.comb, wrt=("N", "k"))
def comb(N, k, *, exact=False, repetition=False):
    if exact:
        raise MissingRule(None, "the exact number of combinations is one of integers")
    if repetition:
        return sc.comb(N + k - 1, k)
    there = is_a_choice(N, k)
    return np.where(there, sc.binom(np.where(there, N, 1), np.where(there, k, 1)), 0)


@composition(sc.perm, wrt=("N", "k"))
def perm(N, k, exact=False):
    if exact:
        raise MissingRule(None, "the exact number of permutations is one of integers")
    there = is_a_choice(N, k)
    return np.where(there, sc.poch(np.where(there, N - k + 1, 1), np.where(there, k, 1)), 0)


@differential(sc.poch, domain="positive")
def poch(z, m, *, dz, dm, out):
    end = sc.psi(z + m)
    return out * ((end - sc.psi(z)) * dz + end * dm)


def gamma_density(a, x):
    return vanishing(np.exp(sc.xlogy(a - 1, x) - x - sc.gammaln(a)), x)


def gamma_density_by_shape(k, a, x):
    """Its derivative number `k` by `a`, from those of its logarithm."""
    if k == 0:
        return gamma_density(a, x)
    below = gamma_density_by_shape(k - 1, a, x)
    total = times(np.log(x), below) - sc.psi(a) * below
    for j in range(k - 1):
        slope = derivative_of_log_gamma(k - 1 - j, a)
        total = total - math.comb(k - 1, j) * slope * gamma_density_by_shape(j, a, x)
    return total


@differential(sc.gammainc, domain="positive")
def gammainc(a, x, *, da, dx):
    return gammainc_by_shape(1, a, x) * da + gamma_density(a, x) * dx


@differential(sc.gammaincc, domain="positive")
def gammaincc(a, x, *, da, dx):
    return -gammainc_by_shape(1, a, x) * da - gamma_density(a, x) * dx


@differential(gammainc_by_shape, domain="positive")
def gammainc_by_shape_differential(k, a, x, *, da, dx):
    return gammainc_by_shape(k + 1, a, x) * da + gamma_density_by_shape(k, a, x) * dx


@differential(sc.gammaincinv, domain="fraction")
def gammaincinv(a, y, *, da, dy, out):
    """At 0 the result is 0 whatever the shape."""
    density = gamma_density(a, out)
    return over(dy, density) - over(gammainc_by_shape(1, a, out), density) * da


@differential(sc.gammainccinv, domain="fraction")
def gammainccinv(a, y, *, da, dy, out):
    density = gamma_density(a, out)
    return -over(dy, density) - over(gammainc_by_shape(1, a, out), density) * da


def beta_density(a, b, x):
    return np.exp(sc.xlogy(a - 1, x) + sc.xlog1py(b - 1, -x) - sc.betaln(a, b))


def beta_density_by_shapes(i, j, a, b, x):
    """Its derivative, `i` times by `a` and `j` times by `b`, from those of its logarithm."""
    if i == 0 and j == 0:
        return beta_density(a, b, x)
    by_a = i > 0
    p, q = (i - 1, j) if by_a else (i, j - 1)
    total = times(np.log(x) if by_a else np.log1p(-x), beta_density_by_shapes(p, q, a, b, x))
    for m in range(p + 1):
        for n in range(q + 1):
            order = p - m + q - n
            slope = derivative_of_log_gamma(order, a + b)
            if n == j or not by_a:
                slope = slope - derivative_of_log_gamma(order, a if by_a else b)
            ways = math.comb(p, m) * math.comb(q, n)
            total = total + ways * slope * beta_density_by_shapes(m, n, a, b, x)
    return total


@differential(sc.betainc, domain="fraction")
def betainc(a, b, x, *, da, db, dx):
    by_shapes = betainc_by_shapes(1, 0, a, b, x) * da + betainc_by_shapes(0, 1, a, b, x) * db
    return by_shapes + beta_density(a, b, x) * dx


@differential(getattr(sc, "betaincc", None), domain="fraction")
def betaincc(a, b, x, *, da, db, dx):
    return -betainc(a, b, x, da=da, db=db, dx=dx)


@differential(betainc_by_shapes, domain="fraction")
def betainc_by_shapes_differential(i, j, a, b, x, *, da, db, dx):
    more = betainc_by_shapes(i + 1, j, a, b, x) * da + betainc_by_shapes(i, j + 1, a, b, x) * db
    return more + beta_density_by_shapes(i, j, a, b, x) * dx


@differential(sc.betaincinv, domain="fraction")
def betaincinv(a, b, y, *, da, db, dy, out):
    """At the ends the result is an end whatever the shapes."""
    density = beta_density(a, b, out)
    by_a = over(betainc_by_shapes(1, 0, a, b, out), density)
    by_b = over(betainc_by_shapes(0, 1, a, b, out), density)
    return over(dy, density) - by_a * da - by_b * db


@differential(getattr(sc, "betainccinv", None), domain="fraction")
def betainccinv(a, b, y, *, da, db, dy, out):
    return betaincinv(a, b, y, da=da, db=db, dy=-dy, out=out)


# ---- logistic and entropy functions


@differential(sc.expit)
def expit(x, *, dx, out):
    return out * sc.expit(-x) * dx


@differential(sc.logit, domain="fraction")
def logit(x, *, dx):
    return over(dx, x) + over(dx, 1 - x)


@differential(sc.log_expit)
def log_expit(x, *, dx):
    return sc.expit(-x) * dx


@differential(getattr(sc, "softplus", None))
def softplus(x, *, dx):
    return sc.expit(x) * dx


@differential(sc.xlogy, domain="positive")
def xlogy(x, y, *, dx, dy):
    """Where both are 0 the derivative in y is 0."""
    return times(np.log(y), dx) + np.where((x == 0) & (y == 0), 0, over(x * dy, y))


@differential(sc.xlog1py, domain="positive")
def xlog1py(x, y, *, dx, dy):
    """Where both x and 1 + y are 0 the derivative in y is 0."""
    return times(np.log1p(y), dx) + np.where((x == 0) & (y == -1), 0, over(x * dy, 1 + y))


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
    ratio = r / delta
    root = np.sqrt(1 + ratio * ratio)
    rest = ratio * ratio / (1 + root)  # root - 1, to the last digit
    return r / root * dr + delta * rest * rest / root * ddelta


@differential(sc.boxcox, domain="positive")
def boxcox(x, lmbda, *, dx, dlmbda):
    log = np.log(x)
    return times(x ** (lmbda - 1), dx) + exprel(lmbda * log, dx=times(log * log, dlmbda))


@differential(sc.boxcox1p, domain="positive")
def boxcox1p(x, lmbda, *, dx, dlmbda):
    log = np.log1p(x)
    by_x = times(np.exp((lmbda - 1) * log), dx)
    return by_x + exprel(lmbda * log, dx=times(log * log, dlmbda))


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
    """Far out by the closed form: of large arguments SciPy's hyp1f1 does not return."""
    near = np.abs(x) < 50
    close, far = np.where(near, x, 0), np.where(near | np.isinf(x), 50, x)
    power = np.exp(far) / far
    outer = np.where(np.isinf(x), np.exp(x), power * (1 - 1 / far) + 1 / far / far)
    return np.where(near, sc.hyp1f1(2.0, 3.0, close) / 2, outer) * dx


@differential(sc.lambertw, domain="positive")
def lambertw(z, k=0, tol=1e-8, *, dz, out):
    return over(dz, np.exp(out) * (1 + out))


@differential(sc.wrightomega)
def wrightomega(z, *, dz, out):
    return np.where(np.isinf(out), 1, out / (1 + out)) * dz


@differential(sc.exp1, domain="positive")
def exp1(z, *, dz):
    return -over(np.exp(-z) * dz, z)


@differential(sc.expi, domain="positive")
def expi(x, *, dx):
    slope = over(np.exp(x) * dx, x)
    if np.iscomplexobj(x):
        return slope
    return np.where(np.isposinf(x), np.exp(x) * dx, slope)


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
    """The logarithm over 1 - z, around 1 as a function that has no gap there."""
    near = np.abs(z - 1) < 0.5
    close, far = np.where(near, z, 1), np.where(near, 2, z)
    return np.where(near, -sc.hyp2f1(1.0, 1.0, 2.0, 1 - close), np.log(far) / (1 - far)) * dz


@differential(sc.sindg)
def sindg(x, *, dx):
    return math.pi / 180 * sc.cosdg(x) * dx


@differential(sc.cosdg)
def cosdg(x, *, dx):
    return -math.pi / 180 * sc.sindg(x) * dx


@differential(sc.tandg)
def tandg(x, *, dx, out):
    return math.pi / 180 * (1 + out * out) * dx


@linear(sc.radian, wrt=("d", "m", "s"))
def radian(ct, d, m, s):
    return np.deg2rad(ct), np.deg2rad(ct) / 60, np.deg2rad(ct) / 3600


@composition(sc.diric, wrt="x")
def diric(x, n):
    """By the nearest of its peaks, around which it is a quotient of two smooth functions."""
    peak = np.rint(x / (2 * math.pi))
    turn = x / (2 * math.pi) - peak
    sign = np.where(peak * (n - 1) % 2 == 0, 1, -1)
    return sign * np.sinc(n * turn) / np.sinc(turn)


@composition(sc.agm, wrt=("a", "b"))
def agm(a, b):
    total = a + b
    return math.pi / 4 * total / sc.ellipkm1(4 * a * b / (total * total))


@differential(sc.cotdg)
def cotdg(x, *, dx, out):
    return -math.pi / 180 * (1 + out * out) * dx


# ---- sums of exponentials


@registry.differential(sc.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, da, db, out):
    """Where the sum is 0, and its logarithm -inf, 0. An infinite term has all the weight."""
    w = np.exp(excess(a, kept(out[0] if return_sign else out, axis, keepdims)))
    change = w * da if b is None else b * w * da + w * db
    total = np.sum(change, axis, keepdims=keepdims)
    if not return_sign:
        return total
    if np.iscomplexobj(total):
        raise MissingRule(None, "logsumexp of complex numbers with return_sign is not supported")
    return (total, 0) if b is None else (out[1] * total, 0)


@registry.differential(sc.softmax)
def softmax(x, axis=None, *, dx, out):
    return out * (dx - np.sum(out * dx, axis, keepdims=True))


@registry.differential(sc.log_softmax)
def log_softmax(x, axis=None, *, dx, out):
    return dx - np.sum(np.exp(out) * dx, axis, keepdims=True)


sourced(sc.sinc)
