"""Functions of NumPy and SciPy that Numba does not have: in other words, with the same derivative.

The code for Numba runs as plain Python here, all of it; a few functions are compiled.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcad
from tests.backends.compiled import Numba, uncompiled
from tests.backends.test_numba import same

pytest.importorskip("numba")
pytestmark = pytest.mark.numba

R = np.random.default_rng(0)
x, y = R.normal(size=5), R.normal(size=5)
X, Y = R.normal(size=(4, 3)), R.normal(size=(3, 4))
S = X.T @ X + np.eye(3)
idx = np.array([0, 2, 2, 1])
CASES = []


def case(*args):
    def register(function):
        CASES.append((function, args))
        return function

    return register


@case(X)
def std_axis(X):
    return np.sum(np.std(X, axis=0) ** 2 * np.arange(3.0))


@case(X)
def var_axis_ddof(X):
    return np.sum(np.var(X, axis=1, ddof=1) ** 2)


@case(X)
def meth_std(X):
    return X.std()


@case(x)
def astype(x):
    return np.sum(x.astype(float) * x)


@case(x)
def astype_mask(x):
    return np.sum((x > 0).astype(np.float64) * x)


@case(x)
def astype_int(x):
    return np.sum((x * 3).astype(int) * x)


@case(X)
def swapaxes(X):
    return np.sum(np.swapaxes(X, 0, 1) @ X)


@case(X)
def meth_swapaxes(X):
    return np.sum(X.swapaxes(0, 1) * Y)


@case(X)
def moveaxis(X):
    return np.sum(np.moveaxis(X, 0, -1) * Y)


@case(X)
def transposed(X):
    return np.sum(np.transpose(X, (1, 0)) * Y)


@case(X[:, :, None] * np.ones(2))
def trans3(A):
    return np.sum(np.transpose(A, (2, 0, 1)) * np.arange(24.0).reshape(2, 4, 3))


@case(x, idx)
def gather1(x, idx):
    return np.sum(x[idx] ** 2)


@case(X, idx)
def gather_rows(X, idx):
    return np.sum(X[idx] ** 3)


@case(X, idx)
def gather_cols(X, idx):
    return np.sum(X[:, idx] ** 3)


@case(X, np.array([0, 1]), np.array([2, 2]))
def gather_pairs(X, i, j):
    return np.sum(X[i, j] ** 3)


@case(x, y[:4], idx)
def add_at(x, y, idx):
    z = x * 1.0
    np.add.at(z, idx, y * x[0])
    return np.sum(z**2)


@case(x, y[:4], np.array([0, 1, 3, 4]))
def set_at(x, y, idx):
    z = x * 2.0
    z[idx] = y * x[0]
    return np.sum(z**2)


@case(x, y[:4], np.array([0, 1, 3, 4]))
def iadd_at(x, y, idx):
    z = x * 2.0
    z[idx] += y * x[0]
    return np.sum(z**2)


@case(X)
def eye_dtype(X):
    return np.sum((S @ X.T + np.eye(3, 4, dtype=float)) ** 2)


@case(x)
def mask_read(x):
    return np.sum(x[x > 0] ** 2)


@case(X)
def mask2_read(X):
    return np.sum(X[X > 0] ** 2)


@case(x)
def mask_write(x):
    z = x * x
    z[x < 0] = 0.0
    return np.sum(z)


@case(X)
def mask2_write(X):
    z = X * X
    z[X < 0] = 0.0
    return np.sum(z)


@case(x)
def mask_iadd(x):
    z = x * x
    z[x < 0] += 1.0
    z[x < 0] *= 3.0
    return np.sum(z)


@case(x)
def cumsum(x):
    return np.sum(np.cumsum(x) ** 2)


@case(X)
def cumsum_axis(X):
    return np.sum(np.cumsum(X, axis=1) ** 2)


@case(x)
def cumprod(x):
    return np.sum(np.cumprod(x) ** 2)


@case(x)
def diff(x):
    return np.sum(np.diff(x) ** 2)


@case(x)
def diff2(x):
    return np.sum(np.diff(x, 2) ** 2)


@case(X)
def diff_axis(X):
    return np.sum(np.diff(X, axis=0) ** 2)


@case(X)
def norm_axis(X):
    return np.sum(np.linalg.norm(X, axis=1) ** 3)


@case(X)
def softmax2(X):
    e = np.exp(X - np.max(X, axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.sum(np.log(p[np.arange(4), np.array([0, 1, 2, 0])]))


@case(x)
def logsumexp_sp(x):
    from scipy.special import logsumexp

    return logsumexp(x)


@case(X, Y)
def einsum(X, Y):
    return np.sum(np.einsum("ij,jk->ik", X, Y) ** 2)


@case(X)
def einsum_tr(X):
    return np.einsum("ij,ij->", X, X)


@case(X, Y)
def tensordot(X, Y):
    return np.sum(np.tensordot(X, Y, axes=1) ** 2)


@case(x, y)
def inner(x, y):
    return np.inner(x, y) ** 2


@case(x)
def roll(x):
    return np.sum(np.roll(x, 1) * x)


@case(X)
def roll_axis(X):
    return np.sum(np.roll(X, 1, axis=0) * X)


@case(x)
def flip(x):
    return np.sum(np.flip(x) * x**2)


@case(x)
def tile(x):
    return np.sum(np.tile(x, 2) ** 2)


@case(x)
def repeat(x):
    return np.sum(np.repeat(x, 2) ** 2)


@case(x)
def pad(x):
    return np.sum(np.pad(x, 1) ** 2)


@case(x)
def pad_edge(x):
    return np.sum(np.pad(x, 1, mode="edge") ** 2)


@case(x)
def squeeze(x):
    return np.sum(np.squeeze(x[None, :]) ** 2)


@case(X)
def reshape(X):
    return np.sum(X.reshape(-1)[::2] ** 2)


@case(x)
def concat(x):
    return np.sum(np.concatenate([x, x**2, [1.0]]) ** 2)


@case(X)
def stack_axis(X):
    return np.sum(np.stack([X, X**2], axis=1) ** 2)


@case(X)
def concat_axis(X):
    return np.sum(np.concatenate([X, X**2], axis=1) ** 2)


@case(x)
def minmax(x):
    return np.max(x) * np.min(x) + np.ptp(x)


@case(X)
def argmax_axis(X):
    return np.sum(X[np.arange(4), np.argmax(X, axis=1)] ** 2)


@case(x)
def sort(x):
    return np.sum(np.sort(x) * np.arange(5.0))


@case(x)
def median(x):
    return np.median(x) ** 2


@case(X)
def prod_axis(X):
    return np.sum(np.prod(X, axis=0))


@case(X)
def trace(X):
    return np.trace(X.T @ X)


@case(S)
def diag(S):
    return np.sum(np.diag(S) ** 2)


@case(S)
def trilu(S):
    return np.sum(np.tril(S) ** 2) + np.sum(np.triu(S, 1) ** 3)


@case(S, np.arange(3.0))
def solve(S, b):
    return np.sum(np.linalg.solve(S, b) ** 2)


@case(S)
def chol(S):
    return np.sum(np.linalg.cholesky(S) ** 2 * np.arange(9.0).reshape(3, 3))


@case(S)
def slogdet(S):
    return np.linalg.slogdet(S)[1]


@case(S)
def logdet(S):
    s, l = np.linalg.slogdet(S)
    return l * s


@case(S)
def eigvalsh(S):
    return np.sum(np.linalg.eigvalsh(S) ** 3)


@case(S)
def mpow(S):
    return np.sum(np.linalg.matrix_power(S, 3))


@case(x)
def interp(x):
    return np.sum(np.interp(x, np.linspace(-3, 3, 7), np.arange(7.0) ** 2) * x)


@case(x)
def polyval(x):
    return np.sum(np.polyval([1.0, 2.0, 3.0], x))


@case(x)
def convolve(x):
    return np.sum(np.convolve(x, [1.0, 2.0, 1.0]) ** 2)


@case(x)
def maximum_reduce(x):
    return np.maximum.reduce(x) * np.add.reduce(x)


@case(x)
def logaddexp(x):
    return np.sum(np.logaddexp(x, 0.0)) + np.logaddexp.reduce(x)


@case(x)
def sinc(x):
    return np.sum(np.sinc(x))


@case(x)
def nan_to_num(x):
    return np.sum(np.nan_to_num(x) ** 2)


@case(x)
def meshgrid(x):
    a, b = np.meshgrid(x, x)
    return np.sum(a * b**2)


@case(x)
def isfin(x):
    return np.sum(x[np.isfinite(x)])


@case(X, x[:3])
def unbroadcast(X, b):
    return np.sum(np.tanh(X * b) * b)


@case(x)
def vstack(x):
    return np.sum(np.vstack([x, x * 2]) ** 2)


@case(x)
def gradient(x):
    return np.sum(np.gradient(x) ** 2)


@case(x)
def gradient_by_a_step(x):
    return np.sum(np.gradient(x, 0.5) ** 2)


@case(x)
def cross(x):
    return np.sum(np.cross(x[:3], x[2:]) ** 2)


@case(X)
def matmul3(X):
    A = X[None] * np.ones((2, 1, 1))
    return np.sum((A @ X.T) ** 2)


T = R.normal(size=(2, 4, 3))


@case(T, Y)
def stack_by_matrix(T, Y):
    return np.sum(np.sin(T @ Y))


@case(T, T[::-1] ** 2)
def stack_by_stack(T, U):
    return np.sum(np.sin(T @ U.transpose(0, 2, 1)))


@case(X, T)
def matrix_by_stack(X, T):
    return np.sum(np.sin(X.T @ T))


@case(T[:1], np.swapaxes(T, 1, 2))
def one_by_stack(T, U):
    return np.sum(np.sin(T @ U))


@case(T, R.normal(size=(3, 1, 3, 2)))
def stacks_of_several_ranks(T, U):
    return np.sum(np.sin(T @ U))


@case(T)
def tensordot_of_leading_axes(T):
    return np.sum(np.sin(np.tensordot(T, T, axes=([0, 1], [0, 1]))))


@case(T, X)
def tensordot_of_middle_axes(T, X):
    return np.sum(np.sin(np.tensordot(T, X, [[1], [0]])))


@case(T)
def tensordot_of_all_axes(T):
    return np.tensordot(T, T, 3) ** 2


@case(T, X)
def einsum_product(T, X):
    return np.sum(np.einsum("bij,ik->kbj", T, X) ** 2)


@case(T)
def einsum_by_stacks(T):
    return np.sum(np.einsum("bij,bik->bjk", T, T) ** 2)


@case(X, 3)
def both_triangles_by_rows(X, n):
    C = np.eye(n)
    for i in range(n - 1):
        C[i + 1 :, i] = C[i, i + 1 :] = X[:, i] @ X[:, i + 1 :]
    return np.sum(C * C) + C[0] @ C[1]


@case(x)
def shapes_by_name(x):
    y = np.ndarray((len(x), 2), dtype=x.dtype)
    y[:, 0] = x * x
    z = np.empty(shape=len(x))
    z[:] = np.sin(x)
    y[:, 1] = z * x
    w = np.zeros(shape=(len(x), 2), dtype=float)
    w[:, 1] = x
    return np.sum(y * w + np.full(fill_value=2.0, shape=(len(x), 2)) * w)


@case(x, X)
def outer_of_ufuncs(x, X):
    return np.sum(np.add.outer(x, X) ** 2 * np.minimum.outer(x, X) - np.multiply.outer(x, X))


@case(X, X[::-1] ** 2)
def vdot_of_matrices(X, Y):
    return np.vdot(X * X, Y) + np.vdot(X, Y.T) + np.vdot(X[0], Y[1])


@case(x)
def count_nonzero(x):
    return np.count_nonzero(x > 0) * x[0]


@case(x)
def types_of_python_as_dtypes(x):
    places = np.zeros((len(x), 2), dtype=int)
    places[1:, 1] = 1
    chosen = np.zeros(len(x), dtype=bool)
    chosen[1] = True
    z = np.zeros(len(x), dtype=complex)
    z[:] = x * 1j
    turned = np.array([1, -1]).astype(complex)
    return np.sum(x[places[:, 1]] * np.full(len(x), 2, dtype=float)) + np.sum(
        np.abs(z[chosen] * turned[0])
    )


@case(x)
def integers_in_products(x):
    k = np.arange(5)
    return x @ k + (k @ x) ** 2 + np.sum(np.dot(np.arange(10).reshape(2, 5), x) ** 2)


@case(S, x[:3])
def diagonals(S, x):
    return np.sum(np.diagonal(S) * x) + np.sum(np.diagflat(x) @ S) + np.trace(np.diag(x) @ S)


@case(X, x[:4])
def average_of_rows(X, x):
    mean = np.average(X, axis=0, weights=x**2)
    return mean @ mean


@case(X)
def covariance(X):
    return np.sum(np.cov(X, rowvar=False) ** 2)


@case(x)
def joined_by_r_(x):
    ends = np.r_[x[-1], x, 0.0]
    return np.sum(ends[1:] * ends[:-1]) + np.bincount(np.r_[idx, idx], minlength=5) @ x


@case(X)
def taken(X):
    return np.sum(np.take(X, idx, axis=0) ** 2) + np.sum(X.take(idx, axis=1))


@case(X)
def windows(X):
    seen = np.lib.stride_tricks.sliding_window_view(X, (2, 2))
    return np.sum(seen[:, :, 0, 1] ** 2 * seen[:, :, 1, 0])


@case(x)
def tapers(x):
    n = len(x)
    return np.sum(np.hamming(n) * x) ** 2 + np.sum(np.hanning(n) * x**2) + np.blackman(5) @ x


@case(x)
def powers_side_by_side(x):
    return np.sum(np.vander(x, 3)) ** 2 + np.sum(np.vander(x, 4, increasing=True)[:, 2])


@case(x)
def under_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(np.abs(x) > 0.1, 1 / x, 0.0)
        total = 0.0
        for v in x:
            total += v * v
    return np.sum(y) * total


@case(x)
def clipped_numbers(x):
    k = int(np.clip(x[0] * 3, 0, 2))
    return x[k] ** 2 + np.clip(x[1], -1, 1)


@case(x)
def conjugated_by_method(x):
    z = x * (1 + 2j)
    return np.abs(np.sum(z.conj() * z * z[0]))


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_in_other_words(function, args, monkeypatch):
    plain = srcad.value_and_grad(function)(*args)
    with uncompiled(monkeypatch):
        same(plain, srcad.value_and_grad(function, backend="numba")(*args))


def curl(x):
    return np.sin(x) * x[0]


def of_a_matrix(X):
    return np.sum(np.sin(X) @ X.T)


def turned_and_reshaped(T):
    n, rows, columns = T.shape
    flat = np.sin(T).transpose(1, 0, 2).reshape(rows, n * columns)
    return np.sum(flat.T.reshape(n * columns * rows)[1:] * flat.T.reshape(-1)[:-1])


def chain(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += (x[i + 1] - x[i] ** 2) ** 2
    return total


def scattered(x, idx):
    z = x * 1.0
    np.add.at(z, idx, x[: len(idx)] * x[0])
    z[idx] = z[idx] * x[1]
    return np.sum(np.diff(z) ** 2)


@pytest.mark.parametrize(
    ("transform", "function", "args"),
    [
        (srcad.jacfwd, curl, (x,)),
        (srcad.jacrev, curl, (x,)),
        (srcad.jacobian, np.sin, (X,)),
        (srcad.hessian, of_a_matrix, (X,)),
        (srcad.hessian, chain, (x,)),
        (srcad.value_and_grad, scattered, (x, idx)),
        (srcad.value_and_grad, types_of_python_as_dtypes, (x,)),
        (srcad.value_and_grad, integers_in_products, (x,)),
        (srcad.value_and_grad, under_errstate, (x,)),
        (srcad.value_and_grad, turned_and_reshaped, (T,)),
    ],
)
def test_compiled(transform, function, args):
    same(transform(function)(*args), transform(function, backend="numba")(*args))


def test_indices_out_of_bounds_raise(monkeypatch):
    def picked(x, k):
        return np.sum(x[k] ** 2)

    with uncompiled(monkeypatch):
        gradient = srcad.grad(picked, backend="numba")
        same(srcad.grad(picked)(x, np.array([-1, 4])), gradient(x, np.array([-1, 4])))
        with pytest.raises(IndexError):
            gradient(x, np.array([0, 5]))


def test_products_of_vectors_are_sums_where_they_stand(monkeypatch):
    def factored(A):
        A = A.copy()
        for i in range(A.shape[0]):
            for j in range(i):
                A[i, j] -= A[i, :j] @ A[:j, j]
                A[i, j] /= A[j, j]
            for j in range(i, A.shape[0]):
                A[i, j] -= A[i, :i] @ A[:i, j]
        return np.sum(A * A)

    with uncompiled(monkeypatch):
        gradient = srcad.grad(factored, backend="numba")
        same(srcad.grad(factored)(S), gradient(S))
        lines = gradient.source_for(S).splitlines()
    code = [line for line in lines if not line.lstrip().startswith("#")]
    assert not any("@ " in line or "ascontiguousarray" in line for line in code)


# ---- triangular systems


def by_cholesky(a, b):
    c = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return np.sum(np.linalg.solve(c.T, np.linalg.solve(c, b)) * b) + np.sum(np.tril(a, -1) ** 2)


@pytest.mark.parametrize(
    "right", [R.normal(size=4), R.normal(size=(4, 3)), R.normal(size=(3, 4)).T]
)
def test_systems_with_a_factor_are_solved_by_substitution(right):
    a = R.normal(size=(4, 4))
    gradient = srcad.value_and_grad(by_cholesky, argnums=(0, 1), backend="numba")
    source = gradient.source_for(a, right)
    assert "runtime.solve_lower(" in source
    assert "runtime.solve_upper(" in source
    assert "= np.linalg.solve(" not in source
    same(gradient(a, right), srcad.value_and_grad(by_cholesky, argnums=(0, 1))(a, right))


def test_inverses_of_large_triangles():
    from srcad import runtime
    from srcad.backends.numba.matrices import _LARGE, _inverse_of_large, _inverse_of_lower

    a = np.tril(R.normal(size=(30, 30))) + 8.0 * np.eye(30)
    full = a + np.triu(R.normal(size=(30, 30)), 1)
    assert len(a) < _LARGE
    assert np.allclose(_inverse_of_lower(full), runtime.inverse_of_lower(a), rtol=1e-12)
    assert np.allclose(_inverse_of_large(full), runtime.inverse_of_lower(a), rtol=1e-12)


def determinant(a):
    return np.log(np.abs(np.linalg.det(a))) * a[0, 0]


def test_cofactors_are_compiled():
    numba = Numba()
    a = np.random.default_rng(7).normal(size=(4, 4))  # whatever other tests have drawn
    same(numba.grad(determinant)(a), srcad.grad(determinant)(a))
    assert not numba.slow
    singular = np.ones((3, 3))
    same(numba.grad(np_det)(singular), srcad.grad(np_det)(singular))
    assert numba.slow  # by the singular values, in plain code


def np_det(a):
    return np.linalg.det(a)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 97])
def test_the_adjoint_and_the_change_of_a_factor_of_cholesky(n):
    from srcad import runtime
    from srcad.backends.numba.matrices import _cholesky_adjoint, _cholesky_change

    rng = np.random.default_rng(0)
    factor = np.tril(rng.normal(size=(n, n))) / (n + 1) + 2.0 * np.eye(n)
    other = rng.normal(size=(n, n))
    same = {"rtol": 1e-10, "atol": 1e-12}
    made = _cholesky_adjoint(factor, other)
    np.testing.assert_allclose(made, runtime.cholesky_adjoint(factor, other), **same)
    made = _cholesky_change(factor, other)
    np.testing.assert_allclose(made, runtime.cholesky_change(factor, other), **same)
    np.testing.assert_allclose(
        _cholesky_adjoint(factor.T.copy().T, other.T),
        _cholesky_adjoint(factor, other.T.copy()),
        **same,
    )
