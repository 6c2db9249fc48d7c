"""Rules of `scipy.special` for elliptic integrals, hypergeometric functions, polynomials."""

import math

import numpy as np
import scipy.special as sc

from srcad.rules.registry import composition
from srcad.rules.scipy_special import differential

# ---- elliptic and hypergeometric functions


@differential(sc.ellipk, domain="fraction")
def ellipk(m, *, dm):
    return math.pi / 8 * sc.hyp2f1(1.5, 1.5, 2.0, m) * dm


@differential(sc.ellipkm1, domain="fraction")
def ellipkm1(p, *, dp, out):
    """Near the pole at 0 by other integrals, to which p is added without loss."""
    small = p < 0.5
    near, far = np.where(small, p, 0.4), np.where(small, 0.6, p)
    by_integrals = (out - sc.ellipe(1 - near) / near) / (2 * (1 - near))
    return np.where(small, by_integrals, -math.pi / 8 * sc.hyp2f1(1.5, 1.5, 2.0, 1 - far)) * dp


@differential(sc.ellipe, domain="fraction")
def ellipe(m, *, dm):
    return -math.pi / 8 * sc.hyp2f1(0.5, 1.5, 2.0, m) * dm


def third_integral(phi, m):
    """The difference of the first and the second elliptic integral, over m; near 0 by a series."""
    near = np.abs(m) < 0.05
    far = np.where(near, 0.5, m)
    sine, cosine = np.sin(phi), np.cos(phi)
    power = phi
    weight = 1.0
    series = 0.0
    for k in range(1, 13):
        power = ((2 * k - 1) * power - cosine * sine ** (2 * k - 1)) / (2 * k)
        series = series + weight * power
        weight = weight * m * (2 * k - 1) / (2 * k)
    return np.where(near, series, (sc.ellipkinc(phi, far) - sc.ellipeinc(phi, far)) / far)


def slope_of_first(phi, m):
    """The derivative of the first elliptic integral by the parameter."""
    root = np.sqrt(1 - m * np.sin(phi) ** 2)
    whole = (sc.ellipeinc(phi, m) / (1 - m) - third_integral(phi, m)) / 2
    return whole - np.sin(2 * phi) / (4 * (1 - m) * root)


@differential(sc.ellipkinc, domain="fraction")
def ellipkinc(phi, m, *, dphi, dm):
    return dphi / np.sqrt(1 - m * np.sin(phi) ** 2) + slope_of_first(phi, m) * dm


@differential(sc.ellipeinc, domain="fraction")
def ellipeinc(phi, m, *, dphi, dm):
    return np.sqrt(1 - m * np.sin(phi) ** 2) * dphi - third_integral(phi, m) / 2 * dm


@differential(sc.ellipj, domain="fraction")
def ellipj(u, m, *, du, dm, out):
    sn, cn, dn, phi = out
    dphi = dn * (du - slope_of_first(phi, m) * dm)
    return cn * dphi, -sn * dphi, -(m * sn * cn * dphi + sn * sn / 2 * dm) / dn, dphi


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


@differential(sc.lpmv, domain="unit")
def lpmv(m, v, x, *, dx, out):
    return (v * x * out - (v + m) * sc.lpmv(m, v - 1, x)) / ((x - 1) * (x + 1)) * dx


@differential(getattr(sc, "sph_harm_y", None))
def sph_harm_y(n, m, theta, phi, *, dtheta, dphi, out):
    """By the polar angle and the azimuth; at the poles nan."""
    raised = np.sqrt((n - m) * (n + m + 1.0)) * np.exp(-1j * phi)
    next_one = np.where(m < n, sc.sph_harm_y(n, np.minimum(m + 1, n), theta, phi), 0)
    return 1j * m * out * dphi + (m / np.tan(theta) * out + raised * next_one) * dtheta


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
