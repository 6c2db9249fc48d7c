"""Rules of `scipy.special` for error functions and distributions of probability."""

import math

import numpy as np
import scipy.special as sc

from srcad.rules.intrinsics import over
from srcad.rules.registry import composition
from srcad.rules.scipy_special import ROOT_2PI, ROOT_PI, differential
from srcad.runtime import betainc_by_shapes

# ---- error functions and the normal distribution


@differential(sc.erf)
def erf(z, *, dz):
    return 2 / ROOT_PI * np.exp(-z * z) * dz


@differential(sc.erfc)
def erfc(x, *, dx):
    return -2 / ROOT_PI * np.exp(-x * x) * dx


@differential(sc.erfcx)
def erfcx(x, *, dx, out):
    """Far to the right, where the terms cancel, as a confluent hypergeometric function."""
    if np.iscomplexobj(x):
        return (2 * x * out - 2 / ROOT_PI) * dx
    close, far = np.where(x < 10, x, 0), np.where((x < 10) | (x > 1e154), 10, x)
    right = np.where(x > 1e154, 0, -sc.hyperu(1, 0.5, far * far) / ROOT_PI)
    return np.where(x < 10, 2 * close * out - 2 / ROOT_PI, right) * dx


@differential(sc.erfi)
def erfi(z, *, dz):
    return 2 / ROOT_PI * np.exp(z * z) * dz


def odd_factorials(t):
    """The asymptotic sum of 1 t + 1 3 t^2 + 1 3 5 t^3 + ..., as far as it gets smaller."""
    series = 0 * t
    for k in range(29, 0, -2):
        series = k * t * (1 + series)
    return series


@differential(sc.dawsn)
def dawsn(x, *, dx, out):
    """Far out, where the terms cancel, by its asymptotic series."""
    if np.iscomplexobj(x):
        return (1 - 2 * x * out) * dx
    close, far = np.where(np.abs(x) < 10, x, 0), np.where(np.abs(x) < 10, 10, x)
    return np.where(np.abs(x) < 10, 1 - 2 * close * out, -odd_factorials(0.5 / far / far)) * dx


@differential(sc.wofz)
def wofz(z, *, dz, out):
    """Far up, where the terms cancel, by its asymptotic series."""
    away = (np.abs(z) > 10) & (np.imag(z) > 0)
    far = np.where(away, z, 10)
    near = 2j / ROOT_PI - 2 * z * out
    return np.where(away, -2j / ROOT_PI * odd_factorials(0.5 / far / far), near) * dz


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
    """Of negative numbers without a difference of large ones."""
    right = np.exp(-x * x / 2 - out) / ROOT_2PI
    if np.iscomplexobj(x):
        return right * dx
    left = 2 / ROOT_2PI / sc.erfcx(-np.where(x < 0, x, 0) / math.sqrt(2))
    return np.where(x < 0, left, right) * dx


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


# ---- distributions


@composition(sc.chdtr, wrt=("v", "x"))
def chdtr(v, x):
    return sc.gammainc(v / 2, x / 2)


@composition(sc.chdtrc, wrt=("v", "x"))
def chdtrc(v, x):
    return sc.gammaincc(v / 2, x / 2)


@composition(sc.gdtr, wrt=("a", "b", "x"))
def gdtr(a, b, x):
    return sc.gammainc(b, a * x)


@composition(sc.gdtrc, wrt=("a", "b", "x"))
def gdtrc(a, b, x):
    return sc.gammaincc(b, a * x)


@composition(sc.pdtr, wrt="m")
def pdtr(k, m):
    return sc.gammaincc(np.floor(k) + 1, m)


@composition(sc.pdtrc, wrt="m")
def pdtrc(k, m):
    return sc.gammainc(np.floor(k) + 1, m)


@composition(sc.fdtr, wrt=("dfn", "dfd", "x"))
def fdtr(dfn, dfd, x):
    return sc.betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


@composition(sc.fdtrc, wrt=("dfn", "dfd", "x"))
def fdtrc(dfn, dfd, x):
    return sc.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


def student_density(df, t):
    return np.exp(-(df + 1) / 2 * np.log1p(t * t / df) - sc.betaln(df / 2, 0.5)) / np.sqrt(df)


def student_by_freedom(df, t):
    """The derivative by `df`, with t / sqrt(df) held fixed and with it changing.

    The terms are of size 1 / df, what they leave of size 1 / df**2: of a thousand degrees of
    freedom it has nine digits, and its error is some 1e-16 / df.
    """
    part = t * t / (df + t * t)
    inside = part < 0.5
    near, far = np.where(inside, part, 0.5), np.where(inside, 0.5, df / (df + t * t))
    by_shape = np.where(
        inside,
        betainc_by_shapes(0, 1, 0.5, df / 2, near),
        -betainc_by_shapes(1, 0, df / 2, 0.5, far),
    )
    return np.sign(t) * by_shape / 4 - student_density(df, t) * t / (2 * df)


@differential(sc.stdtr)
def stdtr(df, t, *, ddf, dt):
    return student_by_freedom(df, t) * ddf + student_density(df, t) * dt


@differential(sc.stdtrit, domain="fraction")
def stdtrit(df, p, *, ddf, dp, out):
    return over(dp - student_by_freedom(df, out) * ddf, student_density(df, out))


@composition(sc.pdtri, wrt="y")
def pdtri(k, y):
    return sc.gammainccinv(np.floor(k) + 1, y)


@composition(sc.bdtri, wrt="y")
def bdtri(k, n, y):
    return sc.betainccinv(np.floor(k) + 1, n - np.floor(k), y)


@composition(sc.nbdtri, wrt="y")
def nbdtri(k, n, y):
    return sc.betaincinv(n, k + 1, y)


@composition(sc.gdtrix, wrt=("a", "b", "p"))
def gdtrix(a, b, p):
    return sc.gammaincinv(b, p) / a


@composition(sc.nrdtrimn, wrt=("p", "std", "x"))
def nrdtrimn(p, std, x):
    return x - std * sc.ndtri(p)


@composition(sc.nrdtrisd, wrt=("mn", "p", "x"))
def nrdtrisd(mn, p, x):
    return (x - mn) / sc.ndtri(p)


@composition(sc.chdtri, wrt=("v", "p"))
def chdtri(v, p):
    return 2 * sc.gammainccinv(v / 2, p)


@composition(sc.fdtri, wrt=("dfn", "dfd", "p"))
def fdtri(dfn, dfd, p):
    part = sc.betaincinv(dfn / 2, dfd / 2, p)
    return dfd * part / (dfn * (1 - part))


@composition(sc.bdtr, wrt="p")
def bdtr(k, n, p):
    return sc.betaincc(np.floor(k) + 1, n - np.floor(k), p)


@composition(sc.bdtrc, wrt="p")
def bdtrc(k, n, p):
    return sc.betainc(np.floor(k) + 1, n - np.floor(k), p)


@composition(sc.nbdtr, wrt="p")
def nbdtr(k, n, p):
    return sc.betainc(n, k + 1, p)


@composition(sc.nbdtrc, wrt="p")
def nbdtrc(k, n, p):
    return sc.betaincc(n, k + 1, p)


@composition(sc.voigt_profile, wrt=("x", "sigma", "gamma"))
def voigt_profile(x, sigma, gamma):
    profile = np.real(sc.wofz((x + 1j * gamma) / (sigma * math.sqrt(2))))
    return profile / (sigma * math.sqrt(2 * math.pi))
