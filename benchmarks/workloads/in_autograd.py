"""Workloads as one writes them for autograd, which has no assignment to elements.

Loops over numbers stay what they are. What is not here is the same text, with `autograd.numpy`
as `np` and as `math`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import autograd.numpy as np
from autograd.scipy.linalg import solve_triangular
from autograd.scipy.special import erf, logsumexp

MATH = SimpleNamespace(sin=np.sin, cos=np.cos, exp=np.exp, log=np.log, sqrt=np.sqrt, erf=erf)
"""What the workloads have from math."""


def heat(u: Any, alpha: Any, steps: int) -> Any:
    for _ in range(steps):
        u = u + np.pad(alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2]), 1, "constant")
    return np.sum(u * u)


def heat_2d(u: Any, k: Any, steps: int) -> Any:
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u = u + np.pad(k * (around - 4.0 * u[1:-1, 1:-1]), 1, "constant")
    return np.sum(u * u)


def gmm(alphas: Any, means: Any, logdiag: Any, x: Any) -> Any:
    q = np.exp(logdiag) * (x[:, None, :] - means)
    terms = alphas + np.sum(logdiag, axis=1) - 0.5 * np.sum(q * q, axis=2)
    return np.sum(logsumexp(terms, axis=1))


def jacobi(a: Any, b: Any, steps: int) -> Any:
    def mean(u: Any) -> Any:
        inner = u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1]
        return np.pad(0.2 * inner, 1, "constant")

    inside = np.pad(np.ones((a.shape[0] - 2, a.shape[1] - 2)), 1, "constant")
    rim_a, rim_b = a * (1.0 - inside), b * (1.0 - inside)
    for _ in range(steps):
        b = rim_b + mean(a)
        a = rim_a + mean(b)
    return np.sum(a * a) + np.sum(b * b)


def triangular_solve(l: Any, b: Any) -> Any:
    return np.sum(solve_triangular(l, b, lower=True) ** 2)


def lu(a: Any) -> Any:
    """By what is left of the matrix after each step."""
    total = 0.0
    while len(a):
        column = a[1:, 0] / a[0, 0]
        total = total + np.sum(column**2) + np.sum(a[0] ** 2)
        a = a[1:, 1:] - np.outer(column, a[0, 1:])
    return total


def cholesky(a: Any) -> Any:
    """By what is left of the matrix after each step."""
    total = 0.0
    while len(a):
        column = a[:, 0] / np.sqrt(a[0, 0])
        total = total + np.sum(column**2)
        a = a[1:, 1:] - np.outer(column[1:], column[1:])
    return total


def gemm(alpha: Any, beta: Any, c: Any, a: Any, b: Any) -> Any:
    return np.sum((beta * c + alpha * np.dot(a, b)) ** 2)


def syrk(alpha: Any, beta: Any, c: Any, a: Any) -> Any:
    lower = np.tril(np.ones(c.shape))
    return np.sum((c * (1.0 - lower) + lower * (beta * c + alpha * np.dot(a, a.T))) ** 2)
