"""Rules of `np.linalg`: inverses, determinants, factorizations and norms.

Cholesky and the symmetric eigenvalue functions read one triangle of their argument: the derivative
is that of the function NumPy computes, and its gradient stands in that triangle.
"""

import math

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.intrinsics import fitted, off_zero, over_gap, times, unbroadcast
from srcad.rules.registry import composition, constant, differential, is_literal, linear
from srcad.runtime import (
    cholesky_adjoint,
    cholesky_change,
    cofactors,
    frechet,
    inverse_of_lower,
    is_regular,
    merged,
    minors,
    require_basis,
    row_order,
    settled,
    stop_gradient,
)

constant(np.linalg.matrix_rank, is_regular, row_order)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(a, lower):
    """The matrix of which LAPACK reads one triangle, and of its diagonal the real part."""
    if lower:
        half, strict = np.tril(a), np.tril(a, -1)
    else:
        half, strict = np.triu(a), np.triu(a, 1)
    if np.iscomplexobj(a):
        half = strict + np.real(a) * np.eye(np.shape(a)[-1], dtype=bool)
    return half + adjoint(strict)


def lower_half_mirrored(a):
    return hermitian(a, True)


def singular_change(a, da):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.real(np.sum(np.conj(u) * (da @ adjoint(vh)), -2))


@differential(np.linalg.inv)
def inv(a, *, da, out):
    return -out @ da @ out


@differential(inverse_of_lower)
def inverse_of_lower_differential(a, *, da, out):
    return -out @ np.tril(da) @ out


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


def squarings(n):
    """For each squaring that a power takes, whether the matrix comes once more."""
    return [digit == "1" for digit in bin(n)[3:]]


@composition(np.linalg.matrix_power, wrt="a")
def matrix_power(a, n):
    """By squaring, as NumPy does it."""
    if n < 0:
        return np.linalg.matrix_power(np.linalg.inv(a), -n)
    if is_literal(n):
        if n == 0:
            return 0 * a + np.eye(np.shape(a)[-1], dtype=a.dtype)
        power = a
        for once_more in squarings(n):
            power = power @ power
            if once_more:
                power = power @ a
        return power
    power = 0 * a + np.eye(np.shape(a)[-1], dtype=a.dtype)
    square = a
    while n > 0:
        if n % 2:
            power = power @ square
        square = square @ square
        n = n // 2
    return power


def is_rounding(cut):
    """Whether what is cut off below this share of the largest singular value is rounding alone."""
    return cut is None or (is_literal(cut) and cut < 1e-13)


def change_of_cut(a, cut, da):
    """The change of the inverse of what is left of a matrix without its small singular values.

    It is a function `g` of them, 1 / s or 0: its divided differences weigh the symmetric part of
    the change in the singular vectors, and quotients of sums the antisymmetric part.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    kept = s > np.asarray(cut)[..., None] * np.max(s, -1, keepdims=True)
    g = np.where(kept, 1 / np.where(kept, s, 1), 0)
    change = adjoint(da)
    inner = vh @ change @ u
    turned = adjoint(inner)
    row, column = s[..., None, :], s[..., :, None]
    one = kept[..., None, :] != kept[..., :, None]
    half = np.where(one, g[..., None, :] + g[..., :, None], 0) / 2
    symmetric = half / np.where(one, np.abs(row - column), 1) * (inner + turned)
    antisymmetric = half / np.where(one, row + column, 1) * (inner - turned)
    both = g[..., None, :] * g[..., :, None] * turned
    v = adjoint(vh)
    squares = (g * g)[..., None, :]
    left = ((change @ u - v @ inner) * squares) @ adjoint(u)
    right = (v * squares) @ (vh @ change - inner @ adjoint(u))
    return v @ (symmetric + antisymmetric - both) @ adjoint(u) + left + right


@composition(np.linalg.pinv, wrt="a")
def pinv_by_name(a, rcond=None, hermitian=False, *, rtol=None):
    """The cut by its other name; of a Hermitian matrix one triangle is read."""
    if not hermitian and rtol is None:
        return NotImplemented
    whole = lower_half_mirrored(a) if hermitian else a
    return np.linalg.pinv(whole, rcond if rtol is None else rtol)


@differential(np.linalg.pinv)
def pinv(a, rcond=None, *, da, out):
    """Where the rank does not change, or the small singular values are cut off that make it."""
    if not is_rounding(rcond):
        return change_of_cut(a, rcond, da)
    p_t = np.conj(np.swapaxes(out, -1, -2))
    da_t = np.conj(np.swapaxes(da, -1, -2))
    m, n = np.shape(a)[-2:]
    left = out @ p_t @ da_t @ (np.eye(m, dtype=out.dtype) - a @ out)
    right = (np.eye(n, dtype=out.dtype) - out @ a) @ da_t @ p_t @ out
    return left + right - out @ da @ out


def half(a):
    """The lower triangle of a matrix, with half of its diagonal."""
    return np.tril(a) * (1 - np.eye(np.shape(a)[-1], dtype=a.dtype) / 2)


@differential(np.linalg.cholesky)
def cholesky(a, *, upper=False, da, out):
    if not upper and not np.iscomplexobj(a):
        return cholesky_change(out, da)
    factor = adjoint(out) if upper else out
    inverse = inverse_of_lower(factor)
    inner = inverse @ hermitian(da, not upper) @ adjoint(inverse)
    dfactor = factor @ half(inner)
    return adjoint(dfactor) if upper else dfactor


@differential(cholesky_change)
def cholesky_change_differential(factor, da, *, dfactor, dda):
    inverse, lower = inverse_of_lower(factor), np.tril(dfactor)
    inner = inverse @ hermitian(da, True) @ adjoint(inverse)
    turned = inverse @ lower @ inner
    change = lower @ half(inner) - np.tril(factor) @ half(turned + adjoint(turned))
    return change + cholesky_change(factor, dda)


@linear(cholesky_change, wrt="da")
def cholesky_change_transpose(ct, factor, da):
    return cholesky_adjoint(factor, ct)


@differential(cholesky_adjoint)
def cholesky_adjoint_differential(factor, factor_bar, *, dfactor, dfactor_bar):
    inverse, lower = inverse_of_lower(factor), np.tril(dfactor)
    inner = adjoint(inverse) @ half(adjoint(np.tril(factor)) @ factor_bar) @ inverse
    turned = inner @ lower @ inverse
    change = adjoint(inverse) @ half(adjoint(lower) @ factor_bar) @ inverse - turned
    change = change - adjoint(lower @ inverse) @ inner
    change = np.tril(adjoint(change), -1) + np.tril(change)
    return change + cholesky_adjoint(factor, dfactor_bar)


@linear(cholesky_adjoint, wrt="factor_bar")
def cholesky_adjoint_transpose(ct, factor, factor_bar):
    return cholesky_change(factor, ct)


def gaps_of(w):
    """By how much the eigenvalue of the column exceeds that of the row."""
    return np.where(merged(w), 0, w[..., None, :] - w[..., :, None])


def between(gaps):
    """Gaps that separate all but each eigenvalue from itself."""
    return np.where(np.eye(np.shape(gaps)[-1], dtype=bool), np.inf, gaps)


@differential(np.linalg.eigh)
def eigh(a, UPLO="L", *, da, out):
    """Of equal eigenvalues the vectors have no derivative: an error where one is used."""
    w, v = out
    inner = adjoint(v) @ hermitian(da, UPLO in ("L", "l")) @ v
    dv = v @ over_gap(inner, between(gaps_of(w)))
    return np.real(np.diagonal(inner, 0, -2, -1)), settled(dv, merged(w))


@differential(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L", *, da):
    v = np.linalg.eigh(a, UPLO)[1]
    return np.real(np.sum(np.conj(v) * (hermitian(da, UPLO in ("L", "l")) @ v), -2))


def with_the_rest(every, columns, change):
    """The change of an orthogonal matrix, by that of its first columns."""
    k = np.shape(columns)[-1]
    if np.shape(every)[-1] == k + 1:
        turned = -(columns @ (adjoint(change) @ every[..., k:]))
    else:
        turned = times(np.nan, -(columns @ (adjoint(change) @ stop_gradient(every[..., k:]))))
    return np.concatenate((change, turned), -1)


@differential(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, *, da, out):
    """Of equal singular values as `eigh`.

    The phase of each pair of complex vectors is free: all of its change is given to the left one,
    as JAX does. What depends on the phases has no derivative.

    The vectors beyond those of the reduced form span what is left. One alone has a derivative;
    several are any basis: nan, unless they are not used.
    """
    if not compute_uv:
        return singular_change(a, da)
    m, n = np.shape(a)[-2:]
    u, s, vh = out
    if full_matrices and m != n:
        u, vh = u[..., : min(m, n)], vh[..., : min(m, n), :]
    v = adjoint(vh)
    inner = adjoint(u) @ da @ v
    s_row = s[..., None, :]
    s_column = s[..., :, None]
    gaps = between(gaps_of(s) * (s_row + s_column))
    scaled = inner * s_row
    turned = s_column * inner
    du = u @ over_gap(scaled + adjoint(scaled), gaps)
    dv = v @ over_gap(turned + adjoint(turned), gaps)
    if np.iscomplexobj(a):
        du = du + u * over_gap(1j * np.imag(np.diagonal(inner, 0, -2, -1))[..., None, :], s_row)
    if m > n:
        du = du + over_gap(da @ v - u @ inner, s_row)
    if n > m:
        dv = dv + over_gap(adjoint(da) @ u - v @ adjoint(inner), s_row)
    du, dv = settled(du, merged(s)), settled(dv, merged(s))
    if full_matrices and m != n:
        du = with_the_rest(out[0], u, du)
        dv = with_the_rest(adjoint(out[2]), v, dv)
    return du, np.real(np.diagonal(inner, 0, -2, -1)), adjoint(dv)


@composition(np.linalg.svd, wrt="a")
def svd_of_hermitian(a, full_matrices=True, compute_uv=True, hermitian=False):
    if not hermitian:
        return NotImplemented
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.abs(w), -1)[..., ::-1]
    values = np.take_along_axis(w, order, -1)
    if not compute_uv:
        return np.abs(values)
    u = np.take_along_axis(v, order[..., None, :], -1)
    return u, np.abs(values), adjoint(u * np.sign(values)[..., None, :])


@differential(np.linalg.svdvals)
def svdvals(x, *, dx):
    return singular_change(x, dx)


@differential(np.linalg.qr)
def qr(a, mode="reduced", *, da, out):
    """Of full rank; the diagonal of r is real. The columns of q beyond the rank as of `svd`."""
    m, n = np.shape(a)[-2:]
    if mode == "raw":
        raise MissingRule(None, f"qr of this matrix with mode={mode!r} is not supported")
    if mode == "r":
        q, r = np.linalg.qr(a)
    else:
        q, r = out
    if mode == "complete" and m > n:
        q, r = q[..., :n], r[..., :n, :]
    # The first columns, as many as there are rows, decide q; the others are only turned.
    k = np.shape(r)[-2]
    inner = fitted(da, k, -1) @ np.linalg.inv(fitted(r, k, -1))
    turn = adjoint(q) @ inner
    lower = np.tril(turn, -1)
    skew = lower - adjoint(lower)
    if np.iscomplexobj(a):
        skew = skew + 1j * (np.imag(turn) * np.eye(k, dtype=np.result_type(np.imag(r))))
    dq = q @ (skew - turn) + inner
    dr = np.triu(adjoint(dq) @ a + adjoint(q) @ da)
    if mode == "complete" and m > n:
        dq, dr = with_the_rest(out[0], q, dq), fitted(dr, m, -2)
    return dr if mode == "r" else (dq, dr)


def in_eigenvectors(a, da, v):
    """The change of a matrix in the basis of its eigenvectors, which may be complex."""
    return np.linalg.inv(require_basis(v)) @ da.astype(np.result_type(a, np.complex64)) @ v


@differential(np.linalg.eigvals)
def eigvals(a, *, da, out):
    """Of different eigenvalues."""
    change = np.diagonal(in_eigenvectors(a, da, np.linalg.eig(a)[1]), 0, -2, -1)
    return change if np.iscomplexobj(out) else np.real(change)


def turned(inner, w, v):
    """The change of eigenvectors that keep length 1 and a real largest entry, as LAPACK's do."""
    turn = v @ over_gap(inner, between(gaps_of(w)))
    largest = np.argmax(np.abs(v), -2)[..., None, :]
    stretch = np.real(np.sum(np.conj(v) * turn, -2, keepdims=True))
    twist = np.imag(np.take_along_axis(turn, largest, -2))
    twist = twist / np.real(np.take_along_axis(v, largest, -2))
    return settled(turn - v * stretch - v * (1j * twist), merged(w))


@differential(np.linalg.eig)
def eig(a, *, da, out):
    """Of equal eigenvalues as `eigh`."""
    w, v = out
    inner = in_eigenvectors(a, da, v)
    dw = np.diagonal(inner, 0, -2, -1)
    dv = turned(inner, w, v)
    if np.iscomplexobj(w):
        return dw, dv
    return np.real(dw), np.real(dv)


def least_squares(a, b, x, da, db):
    """The changes of the solution, of the squares that are left and of the singular values."""
    p = np.linalg.pinv(a)
    rest = b - a @ x
    change = db - da @ x
    dx = p @ (change + adjoint(p) @ (adjoint(da) @ rest))
    dx = dx + adjoint(da) @ (adjoint(p) @ x) - p @ (a @ (adjoint(da) @ (adjoint(p) @ x)))
    return dx, 2 * np.sum(np.real(np.conj(rest) * change), 0), singular_change(a, da)


@composition(np.linalg.lstsq, wrt=("a", "b"))
def lstsq_with_cut(a, b, rcond=None):
    if is_rounding(rcond):
        return NotImplemented
    x = np.linalg.pinv(a, rcond) @ b
    values = np.linalg.svd(a, compute_uv=False)
    rank = np.sum(values > rcond * np.max(values))
    m, n = np.shape(a)
    rest = b - a @ x
    squares = np.reshape(np.sum(np.real(np.conj(rest) * rest), 0), -1)
    return x, squares[: np.size(squares) * ((rank == n) & (m > n))], rank, values


@differential(np.linalg.lstsq)
def lstsq(a, b, rcond=None, *, da, db, out):
    """Where the rank does not change."""
    dx, squares, values = least_squares(a, b, out[0], da, db)
    return dx, np.reshape(squares, -1)[: np.size(out[1])], 0, values


@composition(np.linalg.multi_dot, wrt="arrays", sequences=("arrays",))
def multi_dot(arrays):
    if np.ndim(arrays[-1]) == 1:
        product = arrays[-1]
        for k in range(len(arrays) - 2, -1, -1):
            product = np.dot(arrays[k], product)
    else:
        product = arrays[0]
        for k in range(1, len(arrays)):
            product = np.dot(product, arrays[k])
    return product


@composition(np.linalg.tensorinv, wrt="a")
def tensorinv(a, ind=2):
    size = np.shape(a)
    n = math.prod(size[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (n, n))), (*size[ind:], *size[:ind]))


@composition(np.linalg.tensorsolve, wrt=("a", "b"))
def tensorsolve(a, b, axes=None):
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(-len(axes), 0)))
    size = np.shape(a)[np.ndim(b) :]
    n = math.prod(size)
    return np.reshape(np.linalg.solve(np.reshape(a, (n, n)), np.reshape(b, -1)), size)


@composition(np.linalg.diagonal, wrt="x")
def diagonal(x, *, offset=0):
    return np.diagonal(x, offset, -2, -1)


@composition(np.linalg.cond, wrt="x")
def cond(x, p=None):
    """By the norms of the matrix and its inverse, or by singular values."""
    if p is None or p == 2 or p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    axes = (-2, -1)
    return np.linalg.norm(x, p, axes) * np.linalg.norm(np.linalg.inv(x), p, axes)


@composition(np.linalg.matrix_norm, wrt="x")
def matrix_norm(x, *, keepdims=False, ord="fro"):
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@composition(np.linalg.vector_norm, wrt="x")
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    if isinstance(axis, int):
        return np.linalg.norm(x, ord, axis, keepdims)
    axes = tuple(range(np.ndim(x))) if axis is None else axis
    moved = np.moveaxis(x, axes, tuple(range(len(axes))))
    size = np.linalg.norm(np.reshape(moved, (-1, *np.shape(moved)[len(axes) :])), ord, 0)
    return np.expand_dims(size, axes) if keepdims else size


# ---- functions of matrices


def corner(a, e):
    upper = np.concatenate((a, e), -1)
    return np.concatenate((upper, np.concatenate((np.zeros_like(a), a), -1)), -2)


@differential(frechet)
def frechet_differential(f, a, e, *more, da, de):
    """Itself a block of the function of a larger matrix; of a real one the parts go apart."""
    n = np.shape(a)[-1]
    if np.iscomplexobj(e) and not np.iscomplexobj(a):
        real = frechet(f, corner(a, np.real(e)), corner(da, np.real(de)), *more)
        imag = frechet(f, corner(a, np.imag(e)), corner(da, np.imag(de)), *more)
        return real[..., :n, n:] + 1j * imag[..., :n, n:]
    return frechet(f, corner(a, e), corner(da, de), *more)[..., :n, n:]


@linear(frechet, wrt="e")
def frechet_transpose(ct, f, a, e, *more):
    to_e = frechet(f, np.swapaxes(a, -1, -2), ct, *more)
    return to_e if np.iscomplexobj(e) else np.real(to_e)


def of_kind(x, out):
    """The change of a result: a function of a real matrix may be complex but for rounding."""
    return (x if np.iscomplexobj(out) else np.real(x)).astype(out.dtype)


@composition(np.linalg.norm, wrt="x")
def norm_of_order(x, ord=None, axis=None, keepdims=False):
    """Of matrices, by the order that run time gives: the formulas are different ones."""
    vector = np.ndim(x) == 1 or isinstance(axis, int)
    if vector or ord is None or isinstance(ord, str) or is_literal(ord):
        return NotImplemented
    if ord == 1:
        return np.linalg.norm(x, 1, axis, keepdims)
    if ord == -1:
        return np.linalg.norm(x, -1, axis, keepdims)
    if ord == 2:
        return np.linalg.norm(x, 2, axis, keepdims)
    if ord == -2:
        return np.linalg.norm(x, -2, axis, keepdims)
    if ord == np.inf:
        return np.linalg.norm(x, np.inf, axis, keepdims)
    if ord == -np.inf:
        return np.linalg.norm(x, -np.inf, axis, keepdims)
    raise ValueError("Invalid norm order for matrices.")


@differential(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, dx, out):
    """Where the norm is 0 the derivative is 0, a subgradient. Ties share the derivative equally."""
    vector = np.ndim(x) == 1 or isinstance(axis, int)
    if ord is None or ord == "fro" or (vector and ord == 2):
        squares = np.real(np.conj(x) * dx) if np.iscomplexobj(x) else x * dx
        return np.sum(squares, axis, keepdims=keepdims) / off_zero(out)
    size = np.abs(x)
    if np.iscomplexobj(x):
        dsize = np.real(np.conj(x) * dx) / off_zero(size)
    else:
        dsize = np.sign(x) * dx
    if vector and ord == 0:
        return 0 * np.sum(dsize, axis, keepdims=keepdims)
    if vector and ord == 1:
        return np.sum(dsize, axis, keepdims=keepdims)
    if vector and abs(ord) == np.inf:
        if not np.iscomplexobj(x):
            end = out if axis is None or keepdims else np.expand_dims(out, axis)
        elif ord > 0:  # the last digit of a modulus depends on where it is in memory
            end = np.max(size, axis, keepdims=True)
        else:
            end = np.min(size, axis, keepdims=True)
        ties = size == end
        many = np.sum(ties, axis, np.result_type(size), keepdims=True)
        return np.sum(ties / many * dsize, axis, keepdims=keepdims)
    if vector:
        end = out if axis is None or keepdims else np.expand_dims(out, axis)
        ratio = np.where(size == 0, 1, size) / off_zero(end)
        w = np.where((size == 0) & (end != 0), 0, ratio ** (ord - 1))
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
        ds = np.where(s == 0, 0, ds)
        sums = np.moveaxis(s[..., None], (-2, -1), axes)
        dsums = np.moveaxis(np.real(ds)[..., None], (-2, -1), axes)
    if ord == "nuc":
        return np.sum(dsums, axes, keepdims=keepdims)
    w = sums == (
        np.max(sums, axes, keepdims=True) if ord > 0 else np.min(sums, axes, keepdims=True)
    )
    w = w / np.sum(w, axes, np.result_type(sums), keepdims=True)
    return np.sum(w * dsums, axes, keepdims=keepdims)
