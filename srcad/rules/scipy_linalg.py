"""Rules of `scipy.linalg`: loaded when SciPy is.

Most of it is NumPy's linear algebra under other names and with other defaults: those are
compositions. Where only one triangle of a symmetric matrix is read, its derivative stands there.
Flags about overwriting and checking have no effect on derivatives, and are left out of the calls.
"""

import numpy as np
import scipy.linalg as sl

from srcad.errors import MissingRule
from srcad.rules.intrinsics import fitted, over
from srcad.rules.linalg import (
    adjoint,
    hermitian,
    is_rounding,
    least_squares,
    of_kind,
)
from srcad.rules.registry import composition, constant, differential, linear, sourced
from srcad.runtime import frechet, row_order


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


@composition(sl.solve, wrt=("a", "b"))
def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
    transposed=False,
):  # fmt: skip
    if assume_a in ("sym", "symmetric"):
        a = mirrored(a, lower)
    elif assume_a in ("pos", "positive definite", "her", "hermitian"):
        a = hermitian(a, lower)
    elif assume_a == "upper triangular":
        a = np.triu(a)
    elif assume_a == "lower triangular":
        a = np.tril(a)
    elif assume_a == "diagonal":
        a = np.diag(np.diagonal(a))
    elif assume_a == "tridiagonal":
        a = np.triu(np.tril(a, 1), -1)
    elif assume_a not in (None, "gen", "general", "banded"):
        raise MissingRule(None, f"solve with assume_a={assume_a!r} is not supported")
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
def inv(a, overwrite_a=False, check_finite=True):
    return np.linalg.inv(a)


@composition(sl.pinv, wrt="a")
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if atol is not None:
        raise MissingRule(None, "pinv with atol= is not supported", "give rtol=")
    inverse = np.linalg.pinv(a) if rtol is None else np.linalg.pinv(a, rtol)
    return (inverse, np.linalg.matrix_rank(a, rtol=rtol)) if return_rank else inverse


@composition(sl.pinvh, wrt="a")
def pinvh(a, *, lower=True, check_finite=True):
    return np.linalg.pinv(hermitian(a, lower))


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


@differential(sl.lu)
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False, *, da, out):
    """Of square matrices; the order of the rows is locally constant."""
    if np.shape(a)[-1] != np.shape(a)[-2]:
        raise MissingRule(None, "lu is supported for square matrices")
    p, lower, upper = out
    inner = np.linalg.inv(lower) @ transposed(p) @ da @ np.linalg.inv(upper)
    return 0, lower @ np.tril(inner, -1), np.triu(inner) @ upper


@differential(sl.lu_factor)
def lu_factor(a, overwrite_a=False, check_finite=True, *, da, out):
    """Of square matrices; the order of the rows is locally constant."""
    both, pivots = out
    lower = np.tril(both, -1) + np.eye(np.shape(both)[0], dtype=both.dtype)
    upper = np.triu(both)
    inner = np.linalg.inv(lower) @ da[row_order(pivots)] @ np.linalg.inv(upper)
    return lower @ np.tril(inner, -1) + np.triu(inner) @ upper, 0


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
    order = row_order(pivots)
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
    return np.diag(s) @ np.eye(len(s), N) if M <= N else np.eye(M, len(s)) @ np.diag(s)


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


@differential(sl.eigh)
def eigh(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True, driver=None, subset_by_index=None, da, db, out,
):  # fmt: skip
    """Of equal eigenvalues the vectors have no derivative: infinite, unless its cotangent is 0."""
    if type != 1:
        raise MissingRule(None, "eigh is supported for problems of type 1")
    n = np.shape(a)[-1]
    first, last = (0, n - 1) if subset_by_index is None else subset_by_index
    if eigvals_only or subset_by_index is not None:
        every, basis = sl.eigh(a, b, lower=lower)
    else:
        every, basis = out
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
    if subset_by_index is None:
        dw = np.real(np.diagonal(inner, 0, -2, -1))
    else:
        dw = np.real(np.sum(np.conj(v) * change, -2))
    gaps = w[..., None, :] - every[..., :, None]
    turn = over(inner, np.where(own, np.inf, gaps))
    if b is not None:
        turn = turn - np.where(own, adjoint(basis) @ shift / 2, 0)
    return dw, basis @ turn


@composition(sl.eigvalsh, wrt=("a", "b"))
def eigvalsh(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    driver=None, subset_by_index=None,
):  # fmt: skip
    if subset_by_index is not None:
        first, last = subset_by_index
        every = sl.eigvalsh(a, b, lower=lower, type=type)
        return every[first : last + 1]
    if b is None:
        return np.linalg.eigvalsh(a, "L" if lower else "U")
    return sl.eigh(a, b, lower=lower, eigvals_only=True, type=type)


@composition(sl.eigvalsh_tridiagonal, wrt=("d", "e"))
def eigvalsh_tridiagonal(d, e, *, check_finite=True):
    return np.linalg.eigvalsh(np.diag(d) + np.diag(e, -1))


@composition(sl.eigh_tridiagonal, wrt=("d", "e"))
def eigh_tridiagonal(d, e, eigvals_only=False, *, check_finite=True):
    a = np.diag(d) + np.diag(e, -1)
    return np.linalg.eigvalsh(a) if eigvals_only else tuple(np.linalg.eigh(a))


@composition(sl.eig_banded, wrt="a_band")
def eig_banded(
    a_band, lower=False, eigvals_only=False, overwrite_a_band=False, *, check_finite=True
):
    a = half_of_band(a_band, lower)
    half = "L" if lower else "U"
    return np.linalg.eigvalsh(a, half) if eigvals_only else tuple(np.linalg.eigh(a, half))


@composition(sl.eigvals_banded, wrt="a_band")
def eigvals_banded(a_band, lower=False, overwrite_a_band=False, *, check_finite=True):
    return np.linalg.eigvalsh(half_of_band(a_band, lower), "L" if lower else "U")


# ---- functions of matrices


def declare_matrix_function(function):
    @differential(function)
    def matrix_function(A, *, dA, out):
        return of_kind(frechet(function, A, dA), out)


for _name in ["expm", "logm", "sqrtm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm", "signm"]:
    declare_matrix_function(getattr(sl, _name))


@composition(sl.expm_frechet, wrt=("A", "E"))
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    change = frechet(sl.expm, A, E)
    return (sl.expm(A), change) if compute_expm else change


@differential(sl.fractional_matrix_power)
def fractional_matrix_power(A, t, *, dA, out):
    return of_kind(frechet(sl.fractional_matrix_power, A, dA, t), out)


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


@linear(sl.block_diag, wrt="arrs", sequences=("arrs",))
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


sourced(*named("polar orth subspace_angles orthogonal_procrustes"))
