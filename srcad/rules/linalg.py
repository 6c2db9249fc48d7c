"""Rules of `np.linalg`: inverses, determinants, factorizations and norms.

Cholesky and the symmetric eigenvalue functions read one triangle of their argument: the derivative
is that of the function NumPy computes, and its gradient stands in that triangle.
"""

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import over, unbroadcast
from srcad.rules.registry import constant, differential, linear
from srcad.runtime import cofactors, is_regular, minors

constant(np.linalg.matrix_rank, is_regular)


@differential(np.linalg.inv)
def inv(a, *, da, out):
    return -out @ da @ out


@differential(np.linalg.solve)
def solve(a, b, *, da, db, out):
    if np.ndim(b) > 1:
        return np.linalg.solve(a, db - da @ out)
    if np.ndim(a) == 2:
        return np.linalg.solve(a, db - da @ out)
    return np.linalg.solve(a, (db - (da @ out[..., None])[..., 0])[..., None])[..., 0]


@linear(np.linalg.solve, wrt="b")
def solve_transpose(ct, a, b):
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        to_b = np.linalg.solve(np.swapaxes(a, -1, -2), ct[..., None])[..., 0]
    else:
        to_b = np.linalg.solve(np.swapaxes(a, -1, -2), ct)
    return unbroadcast(to_b, np.shape(b))


@differential(np.linalg.det)
def det(a, *, da, out):
    """Also of a singular matrix."""
    return np.sum(cofactors(a) * da, (-2, -1))


@differential(cofactors)
def cofactors_differential(a, *, da, out):
    """A cofactor is a determinant, up to its sign."""
    if is_regular(a):
        inverse = np.linalg.inv(a)
        slope = np.sum(np.swapaxes(inverse, -1, -2) * da, (-2, -1), keepdims=True)
        return slope * out - np.swapaxes(da @ inverse, -1, -2) @ out
    n = np.shape(a)[-1]
    signs = (1 - 2 * (np.add.outer(np.arange(n), np.arange(n)) % 2)).astype(out.dtype)
    return signs * np.sum(cofactors(minors(a)) * minors(da), (-2, -1))


@linear(minors, wrt="a")
def minors_transpose(ct, a, *, a_bar):
    n = np.shape(a)[-1]
    k = np.arange(n - 1)
    kept = k + (k >= np.arange(n)[:, None])
    a_bar[..., kept[:, None, :, None], kept[None, :, None, :]] += ct


@differential(np.linalg.slogdet)
def slogdet(a, *, da, out):
    slope = np.sum(np.swapaxes(np.linalg.inv(a), -1, -2) * da, (-2, -1))
    if np.iscomplexobj(a):
        return 1j * np.imag(slope) * out[0], np.real(slope)
    return 0, slope


@differential(np.linalg.matrix_power)
def matrix_power(a, n, *, da):
    if n < 0:
        m = -n
        base = np.linalg.inv(a)
        dbase = -base @ da @ base
    else:
        m = n
        base = a
        dbase = da
    if m == 0:
        return 0 * da
    before = [np.linalg.matrix_power(base, k) for k in range(m)]
    return sum([before[k] @ dbase @ before[m - 1 - k] for k in range(m)])


@differential(np.linalg.pinv)
def pinv(a, *, da, out):
    """Where the rank does not change."""
    p_t = np.conj(np.swapaxes(out, -1, -2))
    da_t = np.conj(np.swapaxes(da, -1, -2))
    m, n = np.shape(a)[-2:]
    left = out @ p_t @ da_t @ (np.eye(m, dtype=out.dtype) - a @ out)
    right = (np.eye(n, dtype=out.dtype) - out @ a) @ da_t @ p_t @ out
    return left + right - out @ da @ out


@differential(np.linalg.cholesky)
def cholesky(a, *, upper=False, da, out):
    if upper:
        factor = np.conj(np.swapaxes(out, -1, -2))
        lower = np.conj(np.swapaxes(np.triu(da), -1, -2))
    else:
        factor = out
        lower = np.tril(da)
    inverse = np.linalg.inv(factor)
    strict = np.tril(lower, -1)
    symmetric = lower + np.conj(np.swapaxes(strict, -1, -2))
    inner = inverse @ symmetric @ np.conj(np.swapaxes(inverse, -1, -2))
    dfactor = factor @ (np.tril(inner) * (1 - np.eye(np.shape(a)[-1], dtype=out.dtype) / 2))
    if upper:
        return np.conj(np.swapaxes(dfactor, -1, -2))
    return dfactor


@differential(np.linalg.eigh)
def eigh(a, UPLO="L", *, da, out):
    """Of equal eigenvalues the vectors have no derivative: infinite, unless its cotangent is 0."""
    w, v = out
    if UPLO in ("L", "l"):
        half = np.tril(da)
        strict = np.tril(da, -1)
    else:
        half = np.triu(da)
        strict = np.triu(da, 1)
    symmetric = half + np.conj(np.swapaxes(strict, -1, -2))
    inner = np.conj(np.swapaxes(v, -1, -2)) @ symmetric @ v
    gaps = w[..., None, :] - w[..., :, None]
    gaps = np.where(np.eye(np.shape(w)[-1], dtype=bool), np.inf, gaps)
    return np.real(np.diagonal(inner, 0, -2, -1)), v @ over(inner, gaps)


@differential(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L", *, da):
    v = np.linalg.eigh(a, UPLO)[1]
    if UPLO in ("L", "l"):
        half = np.tril(da)
        strict = np.tril(da, -1)
    else:
        half = np.triu(da)
        strict = np.triu(da, 1)
    symmetric = half + np.conj(np.swapaxes(strict, -1, -2))
    return np.real(np.sum(np.conj(v) * (symmetric @ v), -2))


@differential(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, *, da, out):
    """Real matrices; the vectors of the reduced form. Of equal singular values as `eigh`."""
    if not compute_uv:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        v = np.conj(np.swapaxes(vh, -1, -2))
        return np.real(np.sum(np.conj(u) * (da @ v), -2))
    m, n = np.shape(a)[-2:]
    if np.iscomplexobj(a) or (full_matrices and m != n):
        raise MissingRule(
            None,
            "svd with vectors is not supported for complex or not square matrices",
            "pass full_matrices=False, or compute_uv=False",
        )
    u, s, vh = out
    ut = np.swapaxes(u, -1, -2)
    v = np.swapaxes(vh, -1, -2)
    inner = ut @ da @ v
    s_row = s[..., None, :]
    s_column = s[..., :, None]
    gaps = (s_row - s_column) * (s_row + s_column)
    gaps = np.where(np.eye(np.shape(s)[-1], dtype=bool), np.inf, gaps)
    scaled = inner * s_row
    turned = s_column * inner
    du = u @ over(scaled + np.swapaxes(scaled, -1, -2), gaps)
    dv = v @ over(turned + np.swapaxes(turned, -1, -2), gaps)
    if m > n:
        du = du + over(da @ v - u @ inner, s_row)
    if n > m:
        dv = dv + over(np.swapaxes(da, -1, -2) @ u - v @ np.swapaxes(inner, -1, -2), s_row)
    return du, np.diagonal(inner, 0, -2, -1), np.swapaxes(dv, -1, -2)


@differential(np.linalg.svdvals)
def svdvals(x, *, dx):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    v = np.conj(np.swapaxes(vh, -1, -2))
    return np.real(np.sum(np.conj(u) * (dx @ v), -2))


@differential(np.linalg.qr)
def qr(a, mode="reduced", *, da, out):
    """Real matrices of full rank with at least as many rows as columns, in reduced form."""
    m, n = np.shape(a)[-2:]
    if np.iscomplexobj(a) or m < n or (mode != "reduced" and m != n) or mode in ("r", "raw"):
        raise MissingRule(None, "qr is supported for real tall matrices in reduced mode only")
    q, r = out
    inner = da @ np.linalg.inv(r)
    turn = np.swapaxes(q, -1, -2) @ inner
    lower = np.tril(turn, -1)
    skew = lower - np.swapaxes(lower, -1, -2)
    return q @ (skew - turn) + inner, (turn - skew) @ r


@differential(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, dx, out):
    """Where the norm is 0 the derivative is 0, a subgradient. Ties share the derivative equally."""
    if np.iscomplexobj(x):
        size = np.abs(x)
        dsize = np.real(np.conj(x) * dx) / np.where(size == 0, 1, size)
    elif ord is None or ord == "fro" or (ord == 2 and (np.ndim(x) == 1 or isinstance(axis, int))):
        return np.sum(x * dx, axis, keepdims=keepdims) / np.where(out == 0, 1, out)
    else:
        size = np.abs(x)
        dsize = np.sign(x) * dx
    vector = np.ndim(x) == 1 or isinstance(axis, int)
    if ord is None or ord == "fro" or (vector and ord == 2):
        return np.sum(size * dsize, axis, keepdims=keepdims) / np.where(out == 0, 1, out)
    if vector and ord == 0:
        return 0 * np.sum(dsize, axis, keepdims=keepdims)
    if vector and ord == 1:
        return np.sum(dsize, axis, keepdims=keepdims)
    if vector and abs(ord) == np.inf:
        end = out if axis is None or keepdims else np.expand_dims(out, axis)
        w = size == end
        w = w / np.sum(w, axis, np.result_type(size), keepdims=True)
        return np.sum(w * dsize, axis, keepdims=keepdims)
    if vector:
        end = out if axis is None or keepdims else np.expand_dims(out, axis)
        ratio = np.where(size == 0, 1, size) / np.where(end == 0, 1, end)
        w = np.where(size == 0, 0, ratio ** (ord - 1))
        return np.sum(w * dsize, axis, keepdims=keepdims)
    axes = (0, 1) if axis is None else axis
    end = out if keepdims else np.expand_dims(out, axes)
    if ord in (1, -1, np.inf, -np.inf):
        along = axes[0] if abs(ord) == 1 else axes[1]
        sums = np.sum(size, along, keepdims=True)
        dsums = np.sum(dsize, along, keepdims=True)
    else:
        u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
        moved = np.moveaxis(dx, axes, (-2, -1))
        ds = np.sum(np.conj(u) * (moved @ np.conj(np.swapaxes(vh, -1, -2))), -2)
        sums = np.moveaxis(s[..., None], (-2, -1), axes)
        dsums = np.moveaxis(np.real(ds)[..., None], (-2, -1), axes)
    if ord == "nuc":
        return np.sum(dsums, axes, keepdims=keepdims)
    w = sums == (
        np.max(sums, axes, keepdims=True) if ord > 0 else np.min(sums, axes, keepdims=True)
    )
    w = w / np.sum(w, axes, np.result_type(sums), keepdims=True)
    return np.sum(w * dsums, axes, keepdims=keepdims)
