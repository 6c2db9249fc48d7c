"""Rules of `scipy.linalg`: loaded when SciPy is.

Most of it is NumPy's linear algebra under other names and with other defaults: those are
compositions. Where only one triangle of a symmetric matrix is read, its derivative stands there.
Flags about overwriting and checking have no effect on derivatives, and are left out of the calls.
"""

import numpy as np
import scipy.linalg as sl

from srcad.errors import MissingRule
from srcad.rules.intrinsics import fitted, over_gap
from srcad.rules.linalg import (
    adjoint,
    gaps_of,
    hermitian,
    is_rounding,
    least_squares,
    of_kind,
)
from srcad.rules.registry import (
    composition,
    constant,
    differential,
    linear,
    pullback,
    refused,
    sourced,
)
from srcad.runtime import frechet, merged, row_order, settled, stop_gradient


def named(names):
    """The functions with these names, as far as this version has them."""
    return [f for name in names.split() if (f := getattr(sl, name, None)) is not None]


constant(*named("bandwidth issymmetric ishermitian"))
constant(*named("dft hadamard helmert hilbert invhilbert pascal invpascal"))


def transposed(a):
    return np.swapaxes(a, -1, -2)


def mirrored(a, lower):
    """The symmetric matrix of which one triangle is read."""
    return (
        np.tril(a) + transposed(np.tril(a, -1)) if lower else np.triu(a) + transposed(np.triu(a, 1))
    )


# ---- linear equations


def assumed(a, assume_a, lower):
    """The matrix that is read of `a` when it is taken to be of a kind."""
    if assume_a in ("sym", "symmetric"):
        return mirrored(a, lower)
    if assume_a in ("pos", "positive definite", "her", "hermitian"):
        return hermitian(a, lower)
    if assume_a == "upper triangular":
        return np.triu(a)
    if assume_a == "lower triangular":
        return np.tril(a)
    if assume_a == "diagonal":
        return a * np.eye(np.shape(a)[-1], dtype=bool)
    if assume_a == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    if assume_a not in (None, "gen", "general", "banded"):
        raise MissingRule(None, f"assume_a={assume_a!r} is not supported")
    return a


@composition(sl.solve, wrt=("a", "b"))
def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
    transposed=False,
):  # fmt: skip
    a = assumed(a, assume_a, lower)
    return np.linalg.solve(np.swapaxes(a, -1, -2) if transposed else a, b)


@differential(sl.solve_triangular)
def solve_triangular(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True, *,
    da, db, out,
):  # fmt: skip
    below = 1 if unit_diagonal else 0
    half = np.tril(da, -below) if lower else np.triu(da, below)
    if trans in (1, "T"):
        half = transposed(half)
    elif trans in (2, "C"):
        half = adjoint(half)
    change = db - half @ out
    return sl.solve_triangular(a, change, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


@linear(sl.solve_triangular, wrt="b")
def solve_triangular_transpose(
    ct, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True
):
    if trans in (2, "C"):
        a = np.conj(a)
    back = 1 if trans in (0, "N") else 0
    return sl.solve_triangular(a, ct, trans=back, lower=lower, unit_diagonal=unit_diagonal)


@composition(sl.solve_banded, wrt=("ab", "b"))
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    below, above = l_and_u
    n = np.shape(ab)[1]
    row = above + np.arange(n)[:, None] - np.arange(n)
    within = (row >= 0) & (row <= below + above)
    dense = np.where(within, ab[np.clip(row, 0, below + above), np.arange(n)], 0)
    return np.linalg.solve(dense, b)


def half_of_band(ab, lower):
    """The triangle that a symmetric matrix is stored as, by its diagonals."""
    last = np.shape(ab)[0] - 1
    n = np.shape(ab)[1]
    apart = np.arange(n)[:, None] - np.arange(n)
    row = apart if lower else last + apart
    within = (row >= 0) & (row <= last)
    return np.where(within, ab[np.clip(row, 0, last), np.arange(n)], 0)


@composition(sl.solveh_banded, wrt=("ab", "b"))
def solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    return np.linalg.solve(hermitian(half_of_band(ab, lower), lower), b)


@composition(sl.solve_toeplitz, wrt=("c_or_cr", "b"), sequences=("c_or_cr",))
def solve_toeplitz(c_or_cr, b, check_finite=True):
    if isinstance(c_or_cr, tuple):
        return np.linalg.solve(sl.toeplitz(c_or_cr[0], c_or_cr[1]), b)
    return np.linalg.solve(sl.toeplitz(c_or_cr), b)


@composition(sl.matmul_toeplitz, wrt=("c_or_cr", "x"), sequences=("c_or_cr",))
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    if isinstance(c_or_cr, tuple):
        return sl.toeplitz(c_or_cr[0], c_or_cr[1]) @ x
    return sl.toeplitz(c_or_cr) @ x


@composition(sl.solve_circulant, wrt=("c", "b"))
def solve_circulant(c, b, singular="raise", tol=None):
    return np.linalg.solve(sl.circulant(c), b)


@composition(sl.lstsq, wrt=("a", "b"))
def lstsq_with_cut(
    a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None
):
    if is_rounding(cond):
        return NotImplemented
    raise MissingRule(None, "lstsq of SciPy is supported without cond; np.linalg.lstsq has rcond")


@differential(sl.lstsq)
def lstsq(
    a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None, *,
    da, db, out,
):  # fmt: skip
    """Where the rank does not change."""
    dx, squares, values = least_squares(a, b, out[0], da, db)
    if np.ndim(out[1]) == 0:
        return dx, squares, 0, values
    return dx, np.reshape(squares, -1)[: np.size(out[1])], 0, values


# ---- inverses, determinants, norms


@composition(sl.inv, wrt="a")
def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    return np.linalg.inv(assumed(a, assume_a, lower))


@composition(sl.pinv, wrt="a")
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if atol is None:
        cut = rtol
    else:
        largest = np.max(np.linalg.svd(stop_gradient(a), compute_uv=False))
        cut = atol / largest + (0.0 if rtol is None else rtol)
    inverse = np.linalg.pinv(a) if cut is None else np.linalg.pinv(a, cut)
    return (inverse, np.linalg.matrix_rank(a, rtol=cut)) if return_rank else inverse


@composition(sl.pinvh, wrt="a")
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    return sl.pinv(hermitian(a, lower), atol=atol, rtol=rtol, return_rank=return_rank)


@composition(sl.det, wrt="a")
def det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(a)


@composition(sl.norm, wrt="a")
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord, axis, keepdims)


# ---- factorizations


@composition(sl.cholesky, wrt="a")
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return np.linalg.cholesky(a, upper=not lower)


@composition(sl.cho_factor, wrt="a")
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The other triangle is as SciPy leaves it: that of the matrix, or zeros in later versions."""
    factor = np.linalg.cholesky(a, upper=not lower)
    if not _CLEARS:
        factor = factor + (np.triu(a, 1) if lower else np.tril(a, -1))
    return factor, lower


_CLEARS = bool(sl.cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0] == 0)


@composition(sl.cho_solve, wrt=("c_and_lower", "b"), sequences=("c_and_lower",))
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    middle = sl.solve_triangular(c, b, trans=0 if lower else 2, lower=lower)
    return sl.solve_triangular(c, middle, trans=2 if lower else 0, lower=lower)


@composition(sl.cholesky_banded, wrt="ab")
def cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    last = np.shape(ab)[0] - 1
    n = np.shape(ab)[1]
    k = np.arange(last + 1)[:, None]
    factor = np.linalg.cholesky(half_of_band(ab, lower), upper=not lower)
    rows = np.arange(n) + (k if lower else k - last)
    inside = (rows >= 0) & (rows < n)
    return np.where(inside, factor[np.clip(rows, 0, n - 1), np.arange(n)], ab)


@composition(sl.cho_solve_banded, wrt=("cb_and_lower", "b"), sequences=("cb_and_lower",))
def cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    cb, lower = cb_and_lower
    return sl.cho_solve((half_of_band(cb, lower), lower), b)


@composition(sl.lu, wrt="a")
def lu_with_order(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """With the rows of the lower factor put in order, or their order as a list."""
    if not permute_l and not p_indices:
        return NotImplemented
    p, lower, upper = sl.lu(a)
    if permute_l:
        return p @ lower, upper
    return np.argmax(p, -1), lower, upper


def change_of_factors(moved, lower, upper):
    """Of the change of a matrix, its rows in order: of what is below and of what is above."""
    k = np.shape(upper)[-2]
    left = np.linalg.inv(lower[..., :k, :])
    right = np.linalg.inv(upper[..., :k])
    inner = left @ moved[..., :k, :k] @ right
    below = moved[..., :k] @ right - lower @ np.triu(inner)
    above = left @ moved[..., :k, :] - np.tril(inner, -1) @ upper
    return np.tril(below, -1), np.triu(above)


@differential(sl.lu)
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False, *, da, out):
    """Of full rank; the order of the rows is locally constant."""
    p, lower, upper = out
    below, above = change_of_factors(transposed(p) @ da, lower, upper)
    return 0, below, above


@differential(sl.lu_factor)
def lu_factor(a, overwrite_a=False, check_finite=True, *, da, out):
    """Of full rank; the order of the rows is locally constant."""
    both, pivots = out
    m, n = np.shape(both)[-2:]
    k = min(m, n)
    lower = np.tril(both[..., :k], -1) + np.eye(m, k, dtype=both.dtype)
    moved = np.take_along_axis(da, row_order(pivots, m)[..., None], -2)
    below, above = change_of_factors(moved, lower, np.triu(both[..., :k, :]))
    return fitted(below, n, -1) + fitted(above, m, -2), 0


def of_triangle(a, lower):
    """As `hermitian`, which is a parameter below."""
    return hermitian(a, lower)


@differential(sl.ldl)
def ldl(A, lower=True, hermitian=True, overwrite_a=False, check_finite=True, *, dA, out):
    """The order of the rows, and which blocks of the middle factor are of size 2, stay."""
    outer, middle, order = out
    real = hermitian or not np.iscomplexobj(A)
    whole = of_triangle(dA, lower) if real else mirrored(dA, lower)
    factor = outer[order]
    inverse = np.linalg.inv(factor)
    other = adjoint(inverse) if real else transposed(inverse)
    inner = inverse @ whole[order][:, order] @ other
    n = np.shape(middle)[0]
    block = (middle != 0) | np.eye(n, dtype=bool)
    turn = np.where(block, 0, inner)
    turn = (np.tril(turn) if lower else np.triu(turn)) @ np.linalg.inv(middle)
    back = np.argsort(order)
    return (factor @ turn)[back], np.where(block, inner, 0), 0


@composition(sl.lu_solve, wrt=("lu_and_piv", "b"), sequences=("lu_and_piv",))
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    both, pivots = lu_and_piv
    order = row_order(pivots, np.shape(both)[0])
    if trans == 0:
        middle = sl.solve_triangular(both, b[order], lower=True, unit_diagonal=True)
        return sl.solve_triangular(both, middle)
    middle = sl.solve_triangular(both, b, trans=trans)
    back = sl.solve_triangular(both, middle, trans=trans, lower=True, unit_diagonal=True)
    return back[np.argsort(order)]


@composition(sl.qr, wrt="a")
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if pivoting or mode == "raw":
        raise MissingRule(None, "qr with pivoting or in raw form is not supported")
    if mode == "r":
        return (fitted(np.linalg.qr(a, "r"), np.shape(a)[0], 0),)
    return tuple(np.linalg.qr(a, "reduced" if mode == "economic" else "complete"))


@composition(sl.svd, wrt="a")
def svd(
    a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True,
    lapack_driver="gesdd",
):  # fmt: skip
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    return tuple(np.linalg.svd(a, full_matrices))


@composition(sl.svdvals, wrt="a")
def svdvals(a, overwrite_a=False, check_finite=True):
    return np.linalg.svd(a, compute_uv=False)


@composition(sl.diagsvd, wrt="s")
def diagsvd(s, M, N):
    kind = np.result_type(s)
    if M <= N:
        return np.diag(s) @ np.eye(len(s), N, dtype=kind)
    return np.eye(M, len(s), dtype=kind) @ np.diag(s)


# ---- eigenvalues


@composition(sl.eigvals, wrt="a")
def eigvals(a, b=None, overwrite_a=False, check_finite=True):
    if b is not None:
        raise MissingRule(None, "eigvals of two matrices is not supported")
    return np.linalg.eigvals(a) + 0j


@composition(sl.eig, wrt="a")
def eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True):
    if b is None and not left and not right:
        return np.linalg.eigvals(a) + 0j
    if b is not None or left:
        raise MissingRule(None, "eig is supported for one matrix and its right eigenvectors")
    w, v = np.linalg.eig(a)
    if np.iscomplexobj(a) or np.any(np.imag(w) != 0):
        return w + 0j, v
    return w + 0j, np.real(v)


def subset(every, by_index, by_value):
    """Which of all eigenvalues, in order, are asked for: from the first to the last."""
    if by_index is not None:
        return by_index
    if by_value is None:
        return 0, np.shape(every)[-1] - 1
    low, high = by_value
    return np.sum(every <= low), np.sum(every <= high) - 1


@differential(sl.eigh)
def eigh(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True, driver=None, subset_by_index=None, subset_by_value=None, da, db, out,
):  # fmt: skip
    """Of equal eigenvalues as `np.linalg.eigh`."""
    if type != 1:
        raise MissingRule(None, "eigh is supported for problems of type 1")
    n = np.shape(a)[-1]
    part = subset_by_index is not None or subset_by_value is not None
    if eigvals_only or part:
        every, basis = sl.eigh(a, b, lower=lower)
    else:
        every, basis = out
    first, last = subset(every, subset_by_index, subset_by_value)
    if eigvals_only:
        w, v = every[..., first : last + 1], basis[..., first : last + 1]
    else:
        w, v = out
    change = hermitian(da, lower) @ v
    if b is not None:
        shift = hermitian(db, lower) @ v
        change = change - shift * w
    if eigvals_only:
        return np.real(np.sum(np.conj(v) * change, -2))
    inner = adjoint(basis) @ change
    own = np.arange(n)[:, None] == np.arange(first, last + 1)
    if part:
        dw = np.real(np.sum(np.conj(v) * change, -2))
    else:
        dw = np.real(np.diagonal(inner, 0, -2, -1))
    gaps = gaps_of(every)[..., first : last + 1]
    turn = over_gap(inner, np.where(own, np.inf, gaps))
    if b is not None:
        turn = turn - np.where(own, adjoint(basis) @ shift / 2, 0)
    return dw, settled(basis @ turn, merged(every)[..., first : last + 1])


@composition(sl.eigvalsh, wrt=("a", "b"))
def eigvalsh(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    driver=None, subset_by_index=None, subset_by_value=None,
):  # fmt: skip
    if subset_by_index is not None or subset_by_value is not None:
        every = sl.eigvalsh(a, b, lower=lower, type=type)
        first, last = subset(every, subset_by_index, subset_by_value)
        return every[first : last + 1]
    if b is None:
        return np.linalg.eigvalsh(a, "L" if lower else "U")
    return sl.eigh(a, b, lower=lower, eigvals_only=True, type=type)


def part_of_spectrum(a, lower, eigvals_only, select, select_range):
    """The eigenvalues of a symmetric matrix, and its vectors, that are asked for."""
    if select in ("a", "all", 0):
        half = "L" if lower else "U"
        return np.linalg.eigvalsh(a, half) if eigvals_only else tuple(np.linalg.eigh(a, half))
    if select in ("i", "index", 2):
        return sl.eigh(a, lower=lower, eigvals_only=eigvals_only, subset_by_index=select_range)
    return sl.eigh(a, lower=lower, eigvals_only=eigvals_only, subset_by_value=select_range)


@composition(sl.eigvalsh_tridiagonal, wrt=("d", "e"))
def eigvalsh_tridiagonal(
    d, e, select="a", select_range=None, check_finite=True, tol=0.0, lapack_driver="auto"
):
    return sl.eigh_tridiagonal(d, e, True, select, select_range)


@composition(sl.eigh_tridiagonal, wrt=("d", "e"))
def eigh_tridiagonal(
    d, e, eigvals_only=False, select="a", select_range=None, check_finite=True, tol=0.0,
    lapack_driver="auto",
):  # fmt: skip
    return part_of_spectrum(np.diag(d) + np.diag(e, -1), True, eigvals_only, select, select_range)


@composition(sl.eig_banded, wrt="a_band")
def eig_banded(
    a_band, lower=False, eigvals_only=False, overwrite_a_band=False, select="a", select_range=None,
    max_ev=0, check_finite=True,
):  # fmt: skip
    return part_of_spectrum(half_of_band(a_band, lower), lower, eigvals_only, select, select_range)


@composition(sl.eigvals_banded, wrt="a_band")
def eigvals_banded(
    a_band, lower=False, overwrite_a_band=False, select="a", select_range=None, check_finite=True
):
    return part_of_spectrum(half_of_band(a_band, lower), lower, True, select, select_range)


# ---- functions of matrices


def declare_matrix_function(function):
    @differential(function)
    def matrix_function(A, *, dA, out):
        return of_kind(frechet(function, A, dA), out)

    @pullback(function)
    def matrix_function_pullback(ct, A):
        """What is derived asks the change of the result for its type."""
        return (transposed_change(ct, A, function),)


def transposed_change(ct, A, function, *more):
    change = frechet(function, np.swapaxes(A, -1, -2), ct, *more)
    return change if np.iscomplexobj(A) else np.real(change)


for _name in ["expm", "logm", "sqrtm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm", "signm"]:
    declare_matrix_function(getattr(sl, _name))


@composition(sl.expm_frechet, wrt=("A", "E"))
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    change = frechet(sl.expm, A, E)
    return (sl.expm(A), change) if compute_expm else change


@differential(sl.fractional_matrix_power)
def fractional_matrix_power(A, t, *, dA, out):
    return of_kind(frechet(sl.fractional_matrix_power, A, dA, t), out)


@pullback(sl.fractional_matrix_power)
def fractional_matrix_power_pullback(ct, A, t):
    """As of the other functions of matrices."""
    return (transposed_change(ct, A, sl.fractional_matrix_power, t),)


# ---- matrix equations


@differential(sl.solve_sylvester)
def solve_sylvester(a, b, q, *, da, db, dq, out):
    return sl.solve_sylvester(a, b, dq - da @ out - out @ db)


@linear(sl.solve_sylvester, wrt="q")
def solve_sylvester_transpose(ct, a, b, q):
    return sl.solve_sylvester(transposed(a), transposed(b), ct)


@composition(sl.solve_continuous_lyapunov, wrt=("a", "q"))
def solve_continuous_lyapunov(a, q):
    return sl.solve_sylvester(a, adjoint(a), q)


@composition(sl.solve_discrete_lyapunov, wrt=("a", "q"))
def solve_discrete_lyapunov(a, q, method=None):
    n = np.shape(a)[0]
    equations = np.eye(n * n) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(equations, np.reshape(q, -1)), np.shape(q))


@differential(sl.solve_continuous_are)
def solve_continuous_are(a, b, q, r, *, da, db, dq, dr, out):
    """The differential of the equation is one of Lyapunov, of the closed loop."""
    gain = np.linalg.solve(r, adjoint(b) @ out).astype(out.dtype)
    loop = a - b @ gain
    moved = da - db @ gain
    change = dq + adjoint(moved) @ out + out @ moved + adjoint(gain) @ dr @ gain
    return sl.solve_sylvester(adjoint(loop), loop, -change)


@differential(sl.solve_discrete_are)
def solve_discrete_are(a, b, q, r, *, da, db, dq, dr, out):
    """The differential of the equation is one of Stein, of the closed loop."""
    gain = np.linalg.solve(r + adjoint(b) @ out @ b, adjoint(b) @ out @ a).astype(out.dtype)
    loop = a - b @ gain
    moved = adjoint(loop) @ out @ (da - db @ gain)
    change = dq + moved + adjoint(moved) + adjoint(gain) @ dr @ gain
    n = np.shape(a)[0]
    equations = np.eye(n * n, dtype=out.dtype) - np.kron(adjoint(loop), transposed(loop))
    return np.reshape(np.linalg.solve(equations, np.reshape(change, -1)), (n, n))


# ---- special matrices


@linear(sl.block_diag, wrt="arrs")
def block_diag(ct, *arrs):
    """A vector counts as a row."""
    bars = []
    row, column = 0, 0
    for a in arrs:
        height = np.shape(a)[0] if np.ndim(a) == 2 else 1
        width = np.shape(a)[1] if np.ndim(a) == 2 else np.size(a)
        part = ct[row : row + height, column : column + width]
        bars.append(np.reshape(part, np.shape(a)))
        row = row + height
        column = column + width
    return bars


@composition(sl.toeplitz, wrt=("c", "r"))
def toeplitz(c, r=None):
    along = np.conj(c) if r is None else r
    values = np.concatenate((c[::-1], along[1:]))
    return values[len(c) - 1 - np.arange(len(c))[:, None] + np.arange(len(along))]


@composition(sl.hankel, wrt=("c", "r"))
def hankel(c, r=None):
    along = np.zeros_like(c) if r is None else r
    values = np.concatenate((c, along[1:]))
    return values[np.arange(len(c))[:, None] + np.arange(len(along))]


@composition(sl.circulant, wrt="c")
def circulant(c):
    n = np.shape(c)[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % n]


@composition(sl.companion, wrt="a")
def companion(a):
    n = len(a) - 1
    return np.concatenate((-(a[1:] / a[0])[None, :], np.eye(n - 1, n)))


@composition(sl.leslie, wrt=("f", "s"))
def leslie(f, s):
    return np.concatenate((f[None, :], s[:, None] * np.eye(len(s), len(f))))


@composition(sl.fiedler, wrt="a")
def fiedler(a):
    return np.abs(a[:, None] - a)


@composition(sl.khatri_rao, wrt=("a", "b"))
def khatri_rao(a, b):
    return np.reshape(a[..., :, None, :] * b[..., None, :, :], (-1, np.shape(b)[-1]))


@composition(sl.convolution_matrix, wrt="a")
def convolution_matrix(a, n, mode="full"):
    size = len(a)
    if mode == "full":
        first, last = 0, size + n - 1
    elif mode == "valid":
        first, last = min(size, n) - 1, max(size, n)
    else:
        first = (min(size, n) - 1) // 2
        last = first + max(size, n)
    place = np.arange(first, last)[:, None] - np.arange(n)
    return np.where((place >= 0) & (place < size), a[np.clip(place, 0, size - 1)], 0)


sourced(*named("polar orth null_space subspace_angles orthogonal_procrustes"))

refused(sl.schur, sl.rsf2csf, instead="use eigh of a symmetric matrix, else eig")
refused(sl.hessenberg, instead="differentiate what is computed of it: eigvals, solve, expm")
refused(sl.qz, sl.ordqz, instead="use eigh(a, b) of symmetric matrices, else eig of solve(b, a)")
refused(sl.rq, instead="use qr(a[::-1].T): the factors are transposed, and turned around")
refused(sl.cossin, instead="use svd of the blocks")
refused(sl.matrix_balance, instead="leave it out: it changes no eigenvalue")
refused(sl.funm, instead="use expm, logm, sqrtm, or eigh and the function of the eigenvalues")
refused(
    *(sl.qr_multiply, sl.qr_insert, sl.qr_delete, sl.qr_update),
    instead="use qr of the whole matrix",
)
