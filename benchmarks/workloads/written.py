"""Kernels that write into arrays, by loops over elements, rows and slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.workload import Workload, normal, well_conditioned


def gauss_seidel(a0: Any, sweeps: int) -> Any:
    a = a0.copy()
    n = len(a)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j])
    return np.sum(a * a)


def jacobi(a0: Any, b0: Any, steps: int) -> Any:
    a, b = a0.copy(), b0.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )
    return np.sum(a * a) + np.sum(b * b)


def triangular_solve(l: Any, b: Any) -> Any:
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
    return np.sum(x * x)


def cholesky(a0: Any) -> Any:
    """The factor is written over the lower triangle."""
    a = a0.copy()
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))
    return np.sum(np.tril(a) ** 2)


def lu(a0: Any) -> Any:
    """Both factors are written over the matrix, row by row."""
    a = a0.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * a)


def durbin(r: Any) -> Any:
    """The equations of Yule and Walker, by the recursion of Levinson and Durbin."""
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
        y[:k] = y[:k] + alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(y * y)


def gemm(alpha: Any, beta: Any, c0: Any, a: Any, b: Any) -> Any:
    c = c0.copy()
    c *= beta
    c += alpha * (a @ b)
    return np.sum(c * c)


def gesummv(alpha: Any, beta: Any, a: Any, b: Any, x: Any) -> Any:
    y = alpha * (a @ x) + beta * (b @ x)
    return np.sum(y * y)


def atax(a: Any, x: Any) -> Any:
    y = (a @ x) @ a
    return np.sum(y * y)


def syrk(alpha: Any, beta: Any, c0: Any, a: Any) -> Any:
    """The lower triangle of a product of a matrix and its transpose, added to another."""
    c = c0.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


def _lower(n: int) -> tuple[Any, ...]:
    return np.tril(well_conditioned(n)), normal(n)


def _positive(n: int) -> tuple[Any, ...]:
    return (well_conditioned(n) @ well_conditioned(n).T,)


WRITTEN = (
    Workload(gauss_seidel, lambda n: (normal(n, n), 5), 40, 4, (0,), jax=5.0),
    Workload(
        jacobi,
        lambda n: (normal(n, n), normal(n, n, seed=1), n // 3),
        150,
        4,
        (0, 1),
        compiled=0.4,
    ),
    Workload(triangular_solve, _lower, 300, 4, (0, 1), jax=5.0),
    Workload(cholesky, _positive, 60, 4, (0,), jax=5.0),
    Workload(lu, lambda n: (well_conditioned(n),), 50, 4, (0,), jax=5.0),
    Workload(durbin, lambda n: (1.0 / np.arange(2.0, n + 2.0),), 200, 4, (0,), jax=5.0),
    Workload(
        gemm,
        lambda n: (1.5, 1.2, normal(n, n), normal(n, n, seed=1), normal(n, n, seed=2)),
        200,
        3,
        (0, 1, 2, 3, 4),
    ),
    Workload(
        gesummv,
        lambda n: (1.5, 1.2, normal(n, n), normal(n, n, seed=1), normal(n)),
        800,
        3,
        (0, 1, 2, 3, 4),
    ),
    Workload(atax, lambda n: (normal(n, n), normal(n)), 1000, 4, (0, 1)),
    Workload(syrk, lambda n: (1.5, 1.2, normal(n, n), normal(n, n, seed=1)), 60, 4, (0, 1, 2, 3)),
)
