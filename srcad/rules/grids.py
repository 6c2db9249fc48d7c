"""Rules of functions on sampled data: interpolation, differences, integrals and convolution."""

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import unbroadcast
from srcad.rules.registry import differential, linear, multilinear


@differential(np.interp)
def interp(x, xp, fp, left=None, right=None, *, dx, dxp, dfp, dleft, dright):
    """At a knot the slope on its right, at the last knot the slope on its left."""
    last = len(xp) - 1
    i = np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(last - 1, 0))
    j = np.minimum(i + 1, last)
    h = np.where(i == j, 1, xp[j] - xp[i])
    t = (x - xp[i]) / h
    slope = (fp[j] - fp[i]) / h
    inside = slope * dx + (1 - t) * (dfp[i] - slope * dxp[i]) + t * (dfp[j] - slope * dxp[j])
    below = dfp[0] if left is None else dleft
    above = dfp[-1] if right is None else dright
    return np.where(x < xp[0], below, np.where(x > xp[-1], above, inside))


@linear(np.diff, wrt="a")
def diff(ct, a, n=1, axis=-1):
    k = axis % np.ndim(a)
    if np.ndim(a) == 1:
        wide = np.pad(ct, n)
    else:
        wide = np.pad(ct, [(n, n) if j == k else (0, 0) for j in range(np.ndim(a))])
    # Of fewer elements than differences take there is no difference, and too much of this.
    change = np.diff(wide, n, axis)[(slice(None),) * k + (slice(np.shape(a)[k]),)]
    return -change if n % 2 else change


@differential(np.ediff1d)
def ediff1d(ary, *, dary):
    return np.diff(np.reshape(dary, -1))


@differential(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1, df, dvarargs):
    """Along one axis: the slopes between neighbours, averaged with the weights of the far side."""
    k = 0 if axis is None else axis
    z = np.moveaxis(f, k, -1)
    dz = np.moveaxis(df, k, -1)
    n = np.shape(z)[-1] - 1
    if len(varargs) == 0:
        h = np.ones(n, z.dtype)
        slope = np.diff(z)
        dslope = np.diff(dz)
        dh = 0 * h
    elif np.ndim(varargs[0]) == 0:
        h = np.full(n, varargs[0], z.dtype)
        dh = np.full(n, dvarargs[0], z.dtype)
        slope = np.diff(z) / h
        dslope = (np.diff(dz) - slope * dh) / h
    else:
        h = np.diff(varargs[0])
        dh = np.diff(dvarargs[0])
        slope = np.diff(z) / h
        dslope = (np.diff(dz) - slope * dh) / h
    both = h[1:] + h[:-1]
    w = h[1:] / both
    dw = (dh[1:] - w * (dh[1:] + dh[:-1])) / both
    bend = dw * (slope[..., :-1] - slope[..., 1:])
    middle = w * dslope[..., :-1] + (1 - w) * dslope[..., 1:] + bend
    first = dslope[..., :1]
    final = dslope[..., -1:]
    if edge_order == 2:
        # The slope extrapolated by half a step: slope[0] - (1 - w[0]) * (slope[1] - slope[0]).
        first = 2 * first - middle[..., :1]
        final = 2 * final - middle[..., -1:]
    return np.moveaxis(np.concatenate((first, middle, final), -1), -1, k)


@multilinear(np.trapezoid, getattr(np, "trapz", None), wrt=("y", "x", "dx"))
def trapezoid(ct, y, x=None, dx=1.0, axis=-1):
    z = np.moveaxis(y, axis, -1)
    means = (z[..., 1:] + z[..., :-1]) / 2
    ct = np.expand_dims(ct, -1)
    if x is None:
        half = np.broadcast_to(ct * dx / 2, np.shape(means))
        to_dx = unbroadcast(np.sum(ct * means, -1), np.shape(dx))
        to_x = 0
    else:
        steps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
        half = ct * steps / 2
        area = unbroadcast(ct * means, np.shape(steps))
        none = np.zeros_like(area[..., :1])
        to_x = np.concatenate((none, area), -1) - np.concatenate((area, none), -1)
        if np.ndim(x) > 1:
            to_x = np.moveaxis(to_x, -1, axis)
        to_dx = 0
    none = np.zeros_like(half[..., :1])
    to_y = np.concatenate((none, half), -1) + np.concatenate((half, none), -1)
    return np.moveaxis(to_y, -1, axis), to_x, to_dx


@multilinear(np.convolve, wrt=("a", "v"))
def convolve(ct, a, v, mode="full"):
    n = len(a)
    m = len(v)
    shorter = min(n, m)
    if mode == "same":
        left = (shorter - 1) // 2
    elif mode == "valid":
        left = shorter - 1
    else:
        left = 0
    full = np.pad(ct, (left, n + m - 1 - len(ct) - left))
    return np.convolve(full, v[::-1], "valid"), np.convolve(full, a[::-1], "valid")


@multilinear(np.correlate, wrt=("a", "v"))
def correlate(ct, a, v, mode="valid"):
    """Of real sequences, the first not shorter than the second."""
    n = len(a)
    m = len(v)
    if n < m or np.iscomplexobj(v):
        raise MissingRule(None, "correlate is supported for a real second sequence, not longer")
    if mode == "same":
        left = (m - 1) // 2
    elif mode == "valid":
        left = m - 1
    else:
        left = 0
    full = np.pad(ct, (left, n + m - 1 - len(ct) - left))
    return np.convolve(full, v, "valid"), np.convolve(full, a[::-1], "valid")[::-1]


@differential(np.polyval)
def polyval(p, x, *, dp, dx):
    n = len(p)
    slope = np.polyval(p[:-1] * np.arange(n - 1, 0, -1, dtype=np.result_type(p)), x)
    return np.polyval(dp, x) + slope * dx


@linear(np.polyval, wrt="p")
def polyval_transpose(ct, p, x):
    n = len(p)
    return np.array([np.sum(ct * x ** (n - 1 - k)) for k in range(n)])


@differential(np.unwrap)
def unwrap(p, *, dp):
    """The jumps are locally constant."""
    return 1 * dp
