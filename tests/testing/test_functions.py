"""Every NumPy function the oracles know, in both directions and orders."""

import math

import numpy as np
import pytest
import scipy.special

from srcad.testing import check_grads, lift
from srcad.testing.tape import Variable
from srcad.testing.tracing.elementwise import PARTIALS

X = np.array([0.31, -0.72, 1.43, 0.58])
P = np.array([0.31, 0.72, 1.43, 0.58])
M = np.array([[0.9, -0.4, 0.3], [0.2, 1.3, -0.6]])
N = np.array([[1.1, 0.3], [-0.7, 0.8], [0.4, 0.5]])
S = np.array([[2.1, 0.3, -0.2], [0.4, 1.7, 0.5], [0.1, -0.6, 1.9]])
T = np.arange(24.0).reshape(2, 3, 4) ** 0.5 - 2.1
STACK = np.stack([S, S.T + np.eye(3)])

ABOVE_ONE = {np.arccosh}
INSIDE_ONE = {np.arcsin, np.arccos, np.arctanh}
POSITIVE = {np.log, np.log2, np.log10, np.sqrt, np.cbrt, np.reciprocal, np.log1p}


@pytest.mark.parametrize("ufunc", PARTIALS, ids=lambda f: f.__name__)
def test_elementwise(ufunc, oracle):
    if len(PARTIALS[ufunc]) == 1:
        x = 1.2 + P if ufunc in ABOVE_ONE else 0.6 * X if ufunc in INSIDE_ONE else X
        x = P if ufunc in POSITIVE else x
        check_grads(lambda x: ufunc(x), (x,), order=2, engine=oracle, rtol=1e-9)
        check_grads(lambda x: ufunc(x), (float(x[0]),), order=2, engine=oracle, rtol=1e-9)
    else:
        y = np.array([[0.83], [1.27], [2.1]])
        check_grads(lambda x, y: ufunc(x, y), (P, y), order=2, engine=oracle, rtol=1e-9)
        check_grads(lambda x, y: ufunc(y, x), (1.3, y), order=2, engine=oracle, rtol=1e-9)


MOVES = {
    "reshape": (lambda x: np.reshape(x, (3, 2)), M),
    "reshape_order": (lambda x: x.reshape(6, order="F"), M),
    "ravel": (lambda x: np.ravel(x.T), M),
    "flatten": (lambda x: x.flatten(), M),
    "transpose": (lambda x: np.transpose(x, (2, 0, 1)), T),
    "T": (lambda x: x.T @ x, M),
    "swapaxes": (lambda x: x.swapaxes(0, 2), T),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), T),
    "rollaxis": (lambda x: np.rollaxis(x, 2), T),
    "squeeze": (lambda x: np.squeeze(x[:, None]), X),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), X),
    "broadcast_to": (lambda x: np.broadcast_to(x, (3, 4)), X),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, x[:, None])[0], X),
    "concatenate": (lambda x: np.concatenate([x, 2 * x, np.ones((2, 3))], axis=0), M),
    "concatenate_flat": (lambda x: np.concatenate([x, x], axis=None), M),
    "stack": (lambda x: np.stack([x, x * x], axis=1), M),
    "hstack": (lambda x: np.hstack([x, x]), M),
    "vstack": (lambda x: np.vstack([x, x[0]]), M),
    "dstack": (lambda x: np.dstack([x, x]), M),
    "column_stack": (lambda x: np.column_stack([x, x * x]), X),
    "block": (lambda x: np.block([[x, x], [np.zeros((1, 3)), x[:1]]]), M),
    "append": (lambda x: np.append(x, x[0]), M),
    "insert": (lambda x: np.insert(x, 1, x[0] * x[1]), X),
    "delete": (lambda x: np.delete(x, 1, axis=1), M),
    "split": (lambda x: np.split(x, 2)[1], X),
    "array_split": (lambda x: np.array_split(x, 3)[0], X),
    "hsplit": (lambda x: np.hsplit(x, 3)[2], M),
    "flip": (lambda x: np.flip(x, 1), M),
    "fliplr": (lambda x: np.fliplr(x), M),
    "flipud": (lambda x: np.flipud(x), M),
    "rot90": (lambda x: np.rot90(x), M),
    "roll": (lambda x: np.roll(x, 1, axis=0), M),
    "repeat": (lambda x: np.repeat(x, [1, 2, 0, 3]), X),
    "tile": (lambda x: np.tile(x, (2, 2)), M),
    "pad": (lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=3.0), M),
    "pad_edge": (lambda x: np.pad(x, 1, mode="edge"), M),
    "pad_wrap": (lambda x: np.pad(x, 1, mode="wrap"), M),
    "pad_reflect": (lambda x: np.pad(x, 1, mode="reflect"), M),
    "where": (lambda x: np.where(x > 0, x * x, 3.0), M),
    "select": (lambda x: np.select([x > 1, x > 0], [x, x**2], x**3), X),
    "choose": (lambda x: np.choose(np.array([0, 1, 0, 1]), [x, x * x]), X),
    "clip": (lambda x: np.clip(x, -0.5, 1.0), X),
    "sort": (lambda x: np.sort(x), X),
    "sort_axis": (lambda x: np.sort(x, axis=0), M),
    "partition": (lambda x: np.partition(x, 2)[:2].sum(), X),
    "take": (lambda x: np.take(x, [0, 2, 0], axis=1), M),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), M),
    "compress": (lambda x: np.compress([True, False, True], x, axis=1), M),
    "extract": (lambda x: np.extract(x > 0, x), M),
    "diag_of_matrix": (lambda x: np.diag(x), S),
    "diag_of_vector": (lambda x: np.diag(x, 1), X),
    "diagflat": (lambda x: np.diagflat(x), M),
    "diagonal": (lambda x: np.diagonal(x, 1), S),
    "trace": (lambda x: np.trace(x), S),
    "tril": (lambda x: np.tril(x, -1), S),
    "triu": (lambda x: np.triu(x), S),
    "fancy_repeats": (lambda x: x[[0, 0, 3, 0]] ** 2, X),
    "mask": (lambda x: x[x > 0] ** 2, X),
    "newaxis_ellipsis": (lambda x: x[..., None, 1:] ** 2, T),
    "negative_step": (lambda x: x[::-2], X),
    "mixed_index": (lambda x: x[1, [0, 2], 1:3], T),
    "meshgrid": (lambda x: np.meshgrid(x, x[:2])[0], X),
    "atleast": (lambda x: np.atleast_2d(x), X),
    "sliding_window": (lambda x: np.lib.stride_tricks.sliding_window_view(x, 2), X),
    "astype": (lambda x: x.astype(float), X),
    "real_of_real": (lambda x: np.real(x), X),
    "fill_diagonal": (lambda x: _filled_diagonal(x), S),
    "frexp": (lambda x: np.frexp(x)[0] * np.frexp(x)[1], X),
    "modf": (lambda x: np.modf(3 * x)[0], X),
    "divmod": (lambda x: np.divmod(3 * x, np.sqrt(x))[1], P),
    "ldexp": (lambda x: np.ldexp(x, 3), X),
    "heaviside": (lambda x: np.heaviside(x, 0.5) * x + np.heaviside(0.0 * x, x), X),
    "bincount": (lambda x: np.bincount([0, 2, 2, 3], weights=x), X),
    "unique": (lambda x: np.unique(x), X),
    "i0": (lambda x: np.i0(x), X),
    "nan_to_num": (lambda x: np.nan_to_num(np.where(x > 0, x, np.nan), nan=2.0), X),
    "broadcast_product": (lambda x: x[:, None] * x[None, :], X),
}


def _filled_diagonal(x):
    y = x.copy()
    np.fill_diagonal(y, 2.0)
    return y * y


@pytest.mark.parametrize("case", MOVES)
def test_moves_data(case, oracle):
    f, x = MOVES[case]
    # Composed with a square, so that second derivatives are not all zero.
    check_grads(f, (x,), engine=oracle)
    check_grads(lambda x: f(x) ** 2, (x,), order=2, engine=oracle)


REDUCTIONS = {
    "sum": (lambda x: np.sum(x**2), T),
    "sum_axis": (lambda x: np.sum(x**2, axis=1), T),
    "sum_axes_keep": (lambda x: (x**2).sum(axis=(0, -1), keepdims=True), T),
    "sum_where": (lambda x: np.sum(x**2, where=x > 0, initial=2.0), T),
    "mean": (lambda x: np.mean(x**2, axis=-1), T),
    "average": (lambda x: np.average(x, weights=x**2), P),
    "average_axis": (lambda x: np.average(x, axis=1, weights=np.array([1.0, 2.0, 3.0])), M),
    "var": (lambda x: np.var(x, axis=0, ddof=1), T),
    "std": (lambda x: x.std(), M),
    "max": (lambda x: np.max(x**2, axis=1), M),
    "min": (lambda x: x.min() ** 2, M),
    "ptp": (lambda x: np.ptp(x) ** 2, M),
    "prod": (lambda x: np.prod(x), X),
    "prod_axis": (lambda x: np.prod(x, axis=0, keepdims=True), M),
    "prod_with_zero": (lambda x: np.prod(x), np.array([2.0, 0.0, 3.0])),
    "prod_with_two_zeros": (lambda x: np.prod(x), np.array([0.0, 2.0, 0.0])),
    "cumsum": (lambda x: np.cumsum(x**2), M),
    "cumsum_axis": (lambda x: np.cumsum(x**2, axis=1), M),
    "cumprod": (lambda x: np.cumprod(x, axis=1), M),
    "diff": (lambda x: np.diff(x**2, n=2), X),
    "diff_prepend": (lambda x: np.diff(x**2, prepend=0.0), X),
    "ediff1d": (lambda x: np.ediff1d(x**2, to_end=1.0), X),
    "trapezoid": (lambda x: np.trapezoid(x**2, np.cumsum(x**2)), X),
    "trapezoid_dx": (lambda x: np.trapezoid(x**2, dx=0.5), X),
    "gradient": (lambda x: np.gradient(x**2, 0.5), X),
    "median_odd": (lambda x: np.median(x[:3] ** 2), X),
    "median_even": (lambda x: np.median(x**2), X),
    "quantile": (lambda x: np.quantile(x**2, 0.3), X),
    "percentile_axis": (lambda x: np.percentile(x**2, 30, axis=1), M),
    "nansum": (lambda x: np.nansum(np.where(x > 0, x, np.nan) ** 2), M),
    "nanmean": (lambda x: np.nanmean(np.where(x > 0, x, np.nan) ** 2), M),
    "nanstd": (lambda x: np.nanstd(np.where(x > 0, x, np.nan)), M),
    "add_reduce": (lambda x: np.add.reduce(x**2), M),
    "multiply_reduce": (lambda x: np.multiply.reduce(x, axis=1), M),
    "maximum_reduce": (lambda x: np.maximum.reduce(x**2), M),
    "add_accumulate": (lambda x: np.add.accumulate(x**2, axis=1), M),
    "subtract_outer": (lambda x: np.subtract.outer(x, x[:2]) ** 2, X),
    "cov": (lambda x: np.cov(x), M),
    "count_is_constant": (lambda x: np.sum(x) * np.count_nonzero(x > 0) + np.argmax(x), X),
}


@pytest.mark.parametrize("case", REDUCTIONS)
def test_reduces(case, oracle):
    f, x = REDUCTIONS[case]
    check_grads(f, (x,), order=2, engine=oracle, rtol=1e-9)


PRODUCTS = {
    "dot_vectors": (lambda x, y: np.dot(x, y), X, P),
    "dot_matrix_vector": (lambda x, y: x.dot(y), M, X[:3]),
    "dot_scalar": (lambda x, y: np.dot(x, y), M, 2.5),
    "dot_rank_three": (lambda x, y: np.dot(x, y), T[:, :, :3], T[:, :, :2]),
    "matmul_matrices": (lambda x, y: x @ y, M, N),
    "matmul_vector_left": (lambda x, y: x @ y, X[:3], N),
    "matmul_vector_right": (lambda x, y: x @ y, M, X[:3]),
    "matmul_vectors": (lambda x, y: x @ y, X, P),
    "matmul_batch": (lambda x, y: x @ y, T, T[0].T),
    "matmul_batch_vector": (lambda x, y: x @ y, T, X),
    "inner": (lambda x, y: np.inner(x, y), M, S),
    "outer": (lambda x, y: np.outer(x, y), X, M),
    "vdot": (lambda x, y: np.vdot(x, y), M, N.T),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([1, 0], [0, 1])), T, M.T),
    "tensordot_count": (lambda x, y: np.tensordot(x, y, 1), M, S),
    "kron": (lambda x, y: np.kron(x, y), M, N),
    "kron_ranks": (lambda x, y: np.kron(x, y), X, N),
    "cross": (lambda x, y: np.cross(x, y), S, X[:3]),
    "einsum": (lambda x, y: np.einsum("ij,jk->ki", x, y), M, N),
    "einsum_implicit": (lambda x, y: np.einsum("ij,jk", x, y), M, N),
    "einsum_summed_letter": (lambda x, y: np.einsum("ij,k->k", x, y), M, X),
    "einsum_trace": (lambda x, y: np.einsum("ii,i->", x, y), S, X[:3]),
    "einsum_diagonal": (lambda x, y: np.einsum("ii->i", x) * y, S, X[:3]),
    "einsum_ellipsis": (lambda x, y: np.einsum("...ij,...j->...i", x, y), T, T[:, 0]),
    "einsum_lists": (lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2, 0]), M, N),
    "einsum_three": (lambda x, y: np.einsum("ij,jk,ij->k", x, y, x), M, N),
    "convolve": (lambda x, y: np.convolve(x, y), X, X[:3]),
    "convolve_same": (lambda x, y: np.convolve(x, y, "same"), X, X[:3]),
    "convolve_same_even": (lambda x, y: np.convolve(x, y, "same"), X, X[:2]),
    "convolve_valid": (lambda x, y: np.convolve(x, y, "valid"), X[:2], X),
    "correlate": (lambda x, y: np.correlate(x, y, "full"), X, P[:3]),
    "correlate_same_even": (lambda x, y: np.correlate(x, y, "same"), X, P[:2]),
    "correlate_valid": (lambda x, y: np.correlate(x, y), X, P[:2]),
    "polyval": (lambda x, y: np.polyval(x, y), X, P),
    "interp": (lambda x, y: np.interp(x, np.array([0.0, 1.0, 2.0]), y), P, X[:3]),
    "vander": (lambda x, y: np.vander(x) @ y, P, X),
}


@pytest.mark.parametrize("case", PRODUCTS)
def test_products(case, oracle):
    f, x, y = PRODUCTS[case]
    out = np.asarray(lift(f)(Variable(x), Variable(y)).data)
    np.testing.assert_allclose(out, f(x, y), rtol=1e-13, atol=1e-14)
    check_grads(f, (x, y), order=2, engine=oracle, rtol=1e-9)


SPD = S @ S.T + np.eye(3)
LINALG = {
    "inv": (lambda a: np.linalg.inv(a), S),
    "inv_batch": (lambda a: np.linalg.inv(a), STACK),
    "det": (lambda a: np.linalg.det(a), S),
    "det_batch": (lambda a: np.linalg.det(a), STACK),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], S),
    "slogdet_negative": (lambda a: np.linalg.slogdet(a).logabsdet, -S),
    "solve": (lambda a: np.linalg.solve(a, a[0] ** 2), S),
    "solve_matrix": (lambda a: np.linalg.solve(a, a[:, :2] ** 2), S),
    "norm": (lambda a: np.linalg.norm(a), M),
    "norm_axis": (lambda a: np.linalg.norm(a, axis=1), M),
    "norm_1": (lambda a: np.linalg.norm(a**2, 1, axis=0, keepdims=True), M),
    "norm_3": (lambda a: np.linalg.norm(a, 3, axis=0), M),
    "norm_inf": (lambda a: np.linalg.norm(a**2, np.inf, axis=1), M),
    "norm_fro": (lambda a: np.linalg.norm(a, "fro"), M),
    "norm_matrix_1": (lambda a: np.linalg.norm(a**2, 1), M),
    "norm_matrix_inf": (lambda a: np.linalg.norm(a**2, np.inf), M),
    "norm_nuclear": (lambda a: np.linalg.norm(a, "nuc"), M),
    "norm_spectral": (lambda a: np.linalg.norm(a, 2), M),
    "cholesky": (lambda a: np.linalg.cholesky(a @ a.T + np.eye(3)), S),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a + a.T), S),
    "eigh_upper": (lambda a: np.linalg.eigh(a + a.T, UPLO="U")[0], S),
    "eigh_vectors": (lambda a: np.linalg.eigh(a + a.T)[1] ** 2, S),
    "eigh_function": (lambda a: _matrix_exp(a + a.T), S),
    "svdvals": (lambda a: np.linalg.svd(a, compute_uv=False), M),
    "pinv": (lambda a: np.linalg.pinv(a), M),
    "lstsq": (lambda a: np.linalg.lstsq(a.T, a[0] ** 2, rcond=None)[0], M),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, 3), S),
    "matrix_power_negative": (lambda a: np.linalg.matrix_power(a, -2), S),
    "multi_dot": (lambda a: np.linalg.multi_dot([a, a.T, a]), M),
    "cond": (lambda a: np.linalg.cond(a), S),
    "fft": (lambda a: np.abs(np.fft.fft(a)) ** 2, X),
    "rfft": (lambda a: np.abs(np.fft.rfft(a, n=5)), X),
    "irfft": (lambda a: np.fft.irfft(np.fft.rfft(a) ** 2), X),
    "irfft_odd": (lambda a: np.fft.irfft(np.fft.rfft(a[:3]) ** 2, n=3), X),
    "ifft_ortho": (lambda a: np.fft.ifft(a**2, norm="ortho").imag, X),
    "fft2": (lambda a: np.fft.fft2(a).real ** 2, M),
    "fftshift": (lambda a: np.fft.fftshift(a) ** 2, M),
}


def _matrix_exp(a):
    w, v = np.linalg.eigh(a)
    return v @ np.diag(np.exp(0.3 * w)) @ v.T


@pytest.mark.parametrize("case", LINALG)
def test_linear_algebra(case, oracle):
    f, x = LINALG[case]
    out = np.asarray(lift(f)(Variable(x)).data)
    np.testing.assert_allclose(out, f(x), rtol=1e-11, atol=1e-13)
    check_grads(f, (x,), order=2, engine=oracle, rtol=1e-8)


def test_det_of_a_singular_matrix_has_the_cofactors(oracle):
    singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 5.0]])
    check_grads(lambda a: np.linalg.det(a), (singular,), order=2, engine=oracle, rtol=1e-9)


def test_cholesky_and_eigh_read_one_triangle(oracle):
    check_grads(lambda a: np.linalg.cholesky(a), (SPD,), engine=oracle)
    check_grads(lambda a: np.linalg.eigvalsh(a), (SPD,), engine=oracle)


SPECIAL = [
    "erf",
    "erfc",
    "gammaln",
    "gamma",
    "psi",
    "expit",
    "log_expit",
    "logit",
    "entr",
    "erfinv",
]


@pytest.mark.parametrize("name", [*SPECIAL, "ndtr"])
def test_special(name, oracle):
    f = getattr(scipy.special, name)
    x = np.array([0.21, 0.52, 0.83])
    check_grads(lambda x: f(x), (x,), order=2, engine=oracle, rtol=1e-9)


def test_xlogy(oracle):
    f = scipy.special.xlogy
    check_grads(lambda x, y: f(x, y), (P, P + 1), order=2, engine=oracle)


MATH = {
    "sin": 0.4, "cos": 0.4, "tan": 0.4, "asin": 0.4, "acos": 0.4, "atan": 0.4, "sinh": 0.4,
    "cosh": 0.4, "tanh": 0.4, "asinh": 0.4, "acosh": 1.4, "atanh": 0.4, "exp": 0.4, "expm1": 0.4,
    "log": 0.4, "log1p": 0.4, "log2": 0.4, "log10": 0.4, "sqrt": 0.4, "fabs": -0.4, "degrees": 0.4,
    "radians": 0.4, "exp2": 0.4, "cbrt": 0.4, "erf": 0.4, "erfc": 0.4, "gamma": 1.4, "lgamma": 1.4,
}  # fmt: skip


@pytest.mark.parametrize("name", MATH)
def test_math(name, oracle):
    f = getattr(math, name)
    check_grads(lambda x: f(x), (MATH[name],), order=2, engine=oracle, rtol=1e-9)


MATH_2 = {
    "atan2": lambda x, y: math.atan2(x, y),
    "pow": lambda x, y: math.pow(x, y),
    "fmod": lambda x, y: math.fmod(x * 5, y),
    "copysign": lambda x, y: math.copysign(x, -y) * x,
    "hypot": lambda x, y: math.hypot(x, y, x * y),
    "dist": lambda x, y: math.dist([x, y], [y, 1.0]),
    "log_base": lambda x, y: math.log(x, y + 1),
    "modf": lambda x, y: math.modf(x * 5)[0] * y,
    "fsum": lambda x, y: math.fsum([x * x, y, x * y]),
    "prod": lambda x, y: math.prod([x, y, x]),
    "remainder": lambda x, y: math.remainder(x * 5, y) * y,
    "ldexp": lambda x, y: math.ldexp(x * y, 3),
    "floor": lambda x, y: x * math.floor(5 * y) + math.ceil(x),
    "builtins": lambda x, y: max(x, y) * min(x, y) + abs(-x) + sum([x, y]) + round(x) + int(5 * y),
    "divmod": lambda x, y: divmod(5 * x, y)[1] * x,
    "conditional": lambda x, y: x * y if x > y else x / y,
}


@pytest.mark.parametrize("case", MATH_2)
def test_python_numbers(case, oracle):
    check_grads(MATH_2[case], (0.43, 0.91), order=2, engine=oracle, rtol=1e-9)
