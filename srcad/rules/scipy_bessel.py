"""Rules of the Bessel functions of `scipy.special`, by the argument.

By the order they have no derivative in closed form.
"""

import numpy as np
import scipy.special as sc

from srcad.errors import MissingRule
from srcad.rules.registry import composition
from srcad.rules.scipy_special import ROOT_PI, differential, vanishing


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
def i0e(x, *, dx):
    """Not by `i1e(x) - i0e(x)`, which cancels far out; nor are the next three."""
    return -np.sign(x) * difference(x) * dx


@differential(sc.i1e)
def i1e(x, *, dx):
    over_x = vanishing(sc.hyp1f1(1.5, 3.0, -2 * np.abs(x)), 2 * x) / 2
    return (difference(x) - over_x) * dx


def difference(x):
    """`i0e(x) - i1e(x)`, of the size of `x`."""
    return vanishing(sc.hyp1f1(1.5, 2.0, -2 * np.abs(x)), 2 * x)


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


def far_difference(x):
    """`k1e(x) - k0e(x)` far out, where it cancels."""
    z = np.where((x < 20) | np.isinf(2 * x), 40, 2 * x)
    return vanishing(ROOT_PI * sc.hyperu(1.5, 2.0, z), 2 * x)


@differential(sc.k0e, domain="positive")
def k0e(x, *, dx, out):
    return -np.where(x < 20, sc.k1e(x) - out, far_difference(x)) * dx


@differential(sc.k1e, domain="positive")
def k1e(x, *, dx, out):
    return (np.where(x < 20, out - sc.k0e(x), far_difference(x)) - out / x) * dx


@differential(sc.kve, domain="positive")
def kve(v, z, *, dz, out):
    return vanishing(out - (sc.kve(v - 1, z) + sc.kve(v + 1, z)) / 2, z) * dz


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


@differential(sc.h1vp, domain="positive")
def h1vp(v, z, n=1, *, dz):
    return sc.h1vp(v, z, n + 1) * dz


@differential(sc.h2vp, domain="positive")
def h2vp(v, z, n=1, *, dz):
    return sc.h2vp(v, z, n + 1) * dz


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


@differential(sc.airye, domain="positive")
def airye(z, *, dz, out):
    if np.iscomplexobj(z):
        raise MissingRule(None, "airye is supported for real arguments")
    ai, slope_of_ai, bi, slope_of_bi = out
    root = np.sqrt(z)
    return (
        (slope_of_ai + root * ai) * dz,
        (z * ai + root * slope_of_ai) * dz,
        (slope_of_bi - root * bi) * dz,
        (z * bi - root * slope_of_bi) * dz,
    )


# ---- integrals of Bessel functions


@differential(sc.itj0y0, domain="positive")
def itj0y0(x, *, dx):
    return sc.j0(x) * dx, sc.y0(x) * dx


@differential(sc.iti0k0, domain="positive")
def iti0k0(x, *, dx):
    return sc.i0(x) * dx, sc.k0(x) * dx


@differential(sc.it2j0y0, domain="positive")
def it2j0y0(x, *, dx):
    return (1 - sc.j0(x)) / x * dx, -sc.y0(x) / x * dx


@differential(sc.it2i0k0, domain="positive")
def it2i0k0(x, *, dx):
    return (sc.i0(x) - 1) / x * dx, -sc.k0(x) / x * dx


@differential(sc.itstruve0, domain="positive")
def itstruve0(x, *, dx):
    return sc.struve(0, x) * dx


@differential(sc.itmodstruve0, domain="positive")
def itmodstruve0(x, *, dx):
    return sc.modstruve(0, x) * dx


@differential(sc.it2struve0, domain="positive")
def it2struve0(x, *, dx):
    return -sc.struve(0, x) / x * dx


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
def spherical_jn(n, z, derivative=False, *, dz):
    if derivative:
        before = sc.spherical_jn(np.maximum(n - 1, 0), z, True)
        return (n * before - (n + 1) * sc.spherical_jn(n + 1, z, True)) / (2 * n + 1) * dz
    return sc.spherical_jn(n, z, True) * dz


@differential(sc.spherical_yn, domain="positive")
def spherical_yn(n, z, derivative=False, *, dz, out):
    if derivative:
        return ((n * (n + 1) / (z * z) - 1) * sc.spherical_yn(n, z) - 2 / z * out) * dz
    return sc.spherical_yn(n, z, True) * dz


@differential(sc.spherical_in, domain="positive")
def spherical_in(n, z, derivative=False, *, dz):
    if derivative:
        before = sc.spherical_in(np.maximum(n - 1, 0), z, True)
        return (n * before + (n + 1) * sc.spherical_in(n + 1, z, True)) / (2 * n + 1) * dz
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
