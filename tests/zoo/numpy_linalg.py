"""Products of every pair of ranks, einsum, and the common solvers."""

import numpy as np

from .registry import case

S = np.array([[2.0, 0.3, -0.1], [0.2, 1.5, 0.4], [-0.3, 0.1, 1.8]])
M = np.array([[0.5, -1.0, 2.0], [0.3, 0.8, -0.6]])
V = np.array([0.7, -1.3, 0.4])
W = np.array([0.2, 0.9])
T = (np.arange(24.0).reshape(2, 3, 4) - 7.3) / 9
B = (np.arange(12.0).reshape(2, 3, 2) - 4.1) / 5


@case((V, V[::-1].copy()))
def dot_of_vectors(x, y):
    return np.dot(x, y) * x + x @ y


@case((M, V))
def matrix_times_vector(m, v):
    return np.dot(m, v) * (m @ v) + np.matmul(m, v)


@case((W, M))
def vector_times_matrix(w, m):
    return np.dot(w, m) * (w @ m) + np.matmul(w, m)


@case((M, S))
def matrix_times_matrix(m, s):
    return np.dot(m, s) * (m @ s) + np.matmul(m, s)


@case((S, V))
def power_iteration_from_a_vector_of_fixed_length(s, means):
    x = np.full(3, 0.5)
    total = 0.0
    for k in range(3):
        x = (x @ s) * np.exp(-((0.3 * k - means) ** 2))
        size = x.sum()
        x /= size
        total += np.log(size)
    return total * x


@case((V, 0.7))
def dot_with_scalars(v, s):
    return np.dot(v, s) * np.dot(s, v) + np.dot(s, s)


@case((T, B))
def stacked_matrices(t, b):
    return np.swapaxes(t, 1, 2) @ b


@case((S[:, :2].copy(), T))
def matrix_times_stack(m, t):
    return m.T @ t


@case((T, np.array([0.1, -0.2, 0.3, 0.4])))
def stack_times_vector(t, v):
    return t @ v


@case((V, T))
def vector_times_stack(v, t):
    return v @ t


@case((M[:, None, :], T))
def stack_broadcast(m, t):
    return m @ t


@case((T, T[0, :2].T.copy()))
def dot_of_higher_rank(t, m):
    return np.dot(t, m)


@case((V, W))
def outer_products(v, w):
    return np.outer(v, w) * np.multiply.outer(v, w) + np.outer(v * v, w)


@case((V, V[::-1].copy()))
def inner_products(x, y):
    return np.inner(x, y) * np.vdot(x, y) + np.inner(x, 2.0)


@case((M, S))
def inner_of_matrices(m, s):
    return np.inner(m, s)


@case((M, S))
def tensordot(m, s):
    return np.tensordot(m, s, axes=1) * np.tensordot(m, s, axes=([1], [0]))


@case((T, B))
def tensordot_over_pairs(t, b):
    return np.tensordot(t, b, axes=([0, 1], [0, 1]))


@case((V, V[::-1].copy()))
def cross_product(x, y):
    return np.cross(x, y) * x


@case((M, S))
def einsum_product(m, s):
    return np.einsum("ij,jk->ik", m, s) * np.einsum("ij,jk", m, s)


@case((M, V))
def einsum_of_many_forms(m, v):
    return (
        np.einsum("ij,j->i", m, v)
        + np.einsum("ij->i", m)
        + np.einsum("ij,ij->i", m, m)
        + np.einsum("j,j->", v, v)
        + np.einsum("ij,j,ij->i", m, v, m)
    )


@case((S,))
def einsum_of_one_operand(s):
    return np.einsum("ii", s) * np.einsum("ii->i", s) + np.einsum("ij->ji", s) @ V


@case((T, B))
def einsum_of_batches(t, b):
    return np.einsum("bij,bik->bjk", t, b) + np.einsum("...ij,...ik->...jk", t, b)


@case((V, W))
def einsum_outer(v, w):
    return np.einsum("i,j->ij", v, w) * np.einsum("i,j->ji", w, v)


@case((S, V))
def solve(s, v):
    return np.linalg.solve(s, v) * v


@case((S, M.T.copy()))
def solve_for_matrix(s, m):
    return np.linalg.solve(s, m)


@case((S,))
def inverse(s):
    return np.linalg.inv(s)


@case((S,))
def determinant(s):
    sign, logarithm = np.linalg.slogdet(s)
    return np.linalg.det(s) * sign + logarithm


@case((S,))
def cholesky(s):
    return np.linalg.cholesky(s @ s.T + np.eye(3))


@case((S,))
def trace_of_products(s):
    return np.trace(s @ s) * np.trace(s.T @ s)


@case((S, V))
def quadratic_form(s, v):
    return v @ s @ v + v @ (s.T @ v)


@case((S,))
def matrix_powers(s):
    return np.linalg.matrix_power(s, 3)


@case((S, V))
def power_iteration(s, v):
    for _ in range(4):
        v = s @ v
        v = v / np.sqrt(np.sum(v * v))
    return v @ s @ v


@case((M, V, W))
def two_layer_network(m, v, w):
    hidden = np.tanh(m @ v + w)
    return w @ hidden + 0.1 * np.sum(m * m)


@case((np.array([[1.0, 0.5], [1.0, -0.7], [1.0, 2.0]]), np.array([0.3, -0.8]), V))
def least_squares(a, x, b):
    r = a @ x - b
    return r @ r


@case((V,))
def vector_times_constant_matrix(v):
    return S @ v + v @ S * 2.0 + np.dot(S.T, v)


@case((S,))
def multi_dot(s):
    return np.linalg.multi_dot([s, s.T, s])


@case((V, W))
def vandermonde_by_powers(v, w):
    powers = v[:, None] ** np.arange(2)
    return powers @ w


@case((V, W))
def convolution(v, w):
    return np.convolve(v, w) * np.convolve(v, w, mode="full") + np.sum(np.convolve(v, w, "valid"))


@case((V,), (0.7,))
def polynomial_value(x):
    return np.polyval([2.0, -1.0, 0.5], x)
