"""Rules of functions on sampled data: interpolation, differences, integrals and convolution."""

import numpy as np

from srcad.rules.intrinsics import unbroadcast
from srcad.rules.registry import composition, differential, linear, multilinear


@differential(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None, *, dx, dxp, dfp, dleft, dright):
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


@composition(np.interp, wrt=("x", "xp", "fp"))
def interp_around(x, xp, fp, left=None, right=None, period=None):
    """Of periodic data, as NumPy has it: by data that go on for one step."""
    if period is None:
        return NotImplemented
    x, xp = np.asarray(x) % period, np.asarray(xp) % period
    order = np.argsort(xp)
    xp, fp = xp[order], np.asarray(fp)[order]
    places = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    return np.interp(x, places, np.concatenate((fp[-1:], fp, fp[:1])))


@composition(np.diff, wrt=("a", "prepend", "append"))
def diff_of_more(a, n=1, axis=-1, prepend=None, append=None):
    if prepend is None and append is None:
        return NotImplemented
    size = np.shape(np.take(a, [0], axis))
    if prepend is not None:
        first = np.broadcast_to(prepend, size) if np.ndim(prepend) == 0 else np.asarray(prepend)
        a = np.concatenate((first, a), axis)
    if append is not None:
        last = np.broadcast_to(append, size) if np.ndim(append) == 0 else np.asarray(append)
        a = np.concatenate((a, last), axis)
    return np.diff(a, n, axis)


@linear(np.diff, wrt="a")
def diff(ct, a, n=1, axis=-1):
    k = axis % np.ndim(a)
    if np.ndim(a) == 1:
        wide = np.pad(ct, n)
    else:
        wide = np.pad(ct, [(n, n) if j == k else (0, 0) for j in range(np.ndim(a))])
    change = np.diff(wide, n, axis)
    if n > np.shape(a)[k]:  # of so few elements there is no difference, and too much of this
        change = change[(slice(None),) * k + (slice(np.shape(a)[k]),)]
    return -change if n % 2 else change


@composition(np.ediff1d, wrt=("ary", "to_end", "to_begin"))
def ediff1d(ary, to_end=None, to_begin=None):
    changes = np.diff(np.reshape(ary, -1))
    if to_begin is not None:
        changes = np.concatenate((np.reshape(to_begin, -1), changes))
    if to_end is not None:
        changes = np.concatenate((changes, np.reshape(to_end, -1)))
    return changes


def slope_along(f, df, axis, steps, dsteps, edge_order, kind):
    """The differential of the slope along one axis: the slopes between neighbours, averaged with
    the weights of the far side."""
    z = np.moveaxis(f, axis, -1)
    dz = np.moveaxis(df, axis, -1)
    h = np.diff(steps).astype(kind)
    dh = np.diff(np.broadcast_to(dsteps, np.shape(steps))).astype(kind)
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
    return np.moveaxis(np.concatenate((first, middle, final), -1), -1, axis)


@composition(np.gradient, wrt=("f", "varargs"))
def gradient_along_axes(f, *varargs, axis=None, edge_order=1):
    axes = tuple(range(np.ndim(f))) if axis is None else axis
    if isinstance(axes, int):
        return NotImplemented
    n = len(axes)
    steps = varargs if len(varargs) == n else varargs * n
    slopes = [
        np.gradient(f, *steps[k : k + 1], axis=axes[k], edge_order=edge_order) for k in range(n)
    ]
    return slopes[0] if n == 1 else tuple(slopes)


@differential(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1, df, dvarargs, out):
    if len(varargs) == 0:
        return np.gradient(df, axis=axis, edge_order=edge_order)
    if np.ndim(varargs[0]) == 0:
        slope = np.gradient(df, varargs[0], axis=axis, edge_order=edge_order)
        return slope - out / varargs[0] * dvarargs[0]
    return slope_along(f, df, axis, varargs[0], dvarargs[0], edge_order, out.dtype)


@linear(np.gradient, wrt="f")
def gradient_transpose(ct, f, *varargs, axis=None, edge_order=1, f_bar):
    """Of equal steps; else by the matrix that it is."""
    if len(varargs) > 0 and np.ndim(varargs[0]) > 0:
        n = np.shape(f)[axis]
        slopes = np.gradient(np.eye(n), varargs[0], axis=0, edge_order=edge_order)
        along = np.tensordot(slopes.astype(ct.dtype), ct, ((0,), (axis,)))
        return np.moveaxis(along, 0, axis)
    part = (slice(None),) * (axis % np.ndim(f))
    change = ct / varargs[0] if len(varargs) > 0 else ct
    half = change[(*part, slice(1, -1))] / 2
    first, last = change[(*part, 0)], change[(*part, -1)]
    f_bar[(*part, slice(2, None))] += half
    f_bar[(*part, slice(None, -2))] += -half
    if edge_order == 1:
        f_bar[(*part, 0)] += -first
        f_bar[(*part, 1)] += first
        f_bar[(*part, -2)] += -last
        f_bar[(*part, -1)] += last
    else:
        f_bar[(*part, 0)] += -1.5 * first
        f_bar[(*part, 1)] += 2 * first
        f_bar[(*part, 2)] += -0.5 * first
        f_bar[(*part, -3)] += 0.5 * last
        f_bar[(*part, -2)] += -2 * last
        f_bar[(*part, -1)] += 1.5 * last


@composition(np.trapezoid, getattr(np, "trapz", None), wrt=("y", "x", "dx"))
def trapezoid(y, x=None, dx=1.0, axis=-1):
    if x is None:
        steps = dx
    else:
        steps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    z = y if axis % np.ndim(y) == np.ndim(y) - 1 else np.moveaxis(y, axis, -1)
    return np.sum(steps * (z[..., 1:] + z[..., :-1]) / 2, -1)


@multilinear(np.convolve, wrt=("a", "v"))
def convolve(ct, a, v, mode="full"):
    n = np.size(a)
    m = np.size(v)
    shorter = min(n, m)
    if mode == "same":
        left = (shorter - 1) // 2
    elif mode == "valid":
        left = shorter - 1
    else:
        left = 0
    full = np.pad(ct, (left, n + m - 1 - len(ct) - left))
    to_a = np.convolve(full, np.reshape(v, -1)[::-1], "valid")
    to_v = np.convolve(full, np.reshape(a, -1)[::-1], "valid")
    return np.reshape(to_a, np.shape(a)), np.reshape(to_v, np.shape(v))


@composition(np.correlate, wrt=("a", "v"))
def correlate(a, v, mode="valid"):
    if mode == "same" and np.size(a) < np.size(v):
        # The middle of an even number of values is on the other side.
        return np.conj(np.convolve(v, np.conj(a)[::-1], mode))[::-1]
    return np.convolve(a, np.conj(v)[::-1], mode)


@differential(np.polyval)
def polyval(p, x, *, dp, dx, out):
    """The coefficients along the first axis of `p`; its other axes broadcast against `x`."""
    degrees = np.arange(len(p) - 1, 0, -1, dtype=np.result_type(p))
    slope = np.polyval(p[:-1] * np.reshape(degrees, (-1,) + (1,) * (np.ndim(p) - 1)), x)
    return np.polyval(dp, x) + slope * np.broadcast_to(dx, np.shape(out))


@linear(np.polyval, wrt="p")
def polyval_transpose(ct, p, x):
    size = np.shape(p)
    inexact = np.issubdtype(np.result_type(x), np.inexact)
    if np.ndim(p) == 1 and np.ndim(x) == 1 and inexact and not np.iscomplexobj(ct):
        return np.vander(x, size[0]).astype(ct.dtype).T @ ct
    degrees = np.arange(len(p) - 1, -1, -1, dtype=np.result_type(p))
    terms = ct * x ** np.reshape(degrees, (-1,) + (1,) * np.ndim(ct))
    aligned = size[:1] + (1,) * (np.ndim(ct) - np.ndim(p) + 1) + size[1:]
    to_p = np.reshape(unbroadcast(terms, aligned), size)
    return to_p if np.iscomplexobj(p) else np.real(to_p)


@differential(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586, dp):
    """The jumps are locally constant."""
    return 1 * dp
