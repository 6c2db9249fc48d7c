"""Code on whole arrays: networks, likelihoods, mechanics, steps of differential equations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.workloads.workload import Workload, normal, uniform, weights


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Two layers and the cross-entropy of a softmax."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    m = np.max(z, axis=1, keepdims=True)
    lse = m[:, 0] + np.log(np.sum(np.exp(z - m), axis=1))
    return np.mean(lse - np.sum(z * y, axis=1))


def logistic(w: Any, b: Any, x: Any, y: Any) -> Any:
    """Logistic regression with a penalty."""
    t = -y * (x @ w + b)
    loss = np.maximum(t, 0.0) + np.log1p(np.exp(-np.abs(t)))
    return np.mean(loss) + 0.01 * np.sum(w * w)


def ten_dear(x: Any) -> Any:
    """Ten transcendental operations."""
    a = np.sin(x)
    b = np.exp(-a)
    c = np.tanh(b + x)
    d = np.log(1.5 + c)
    e = np.sqrt(d * d + 1.0)
    f = np.cos(e)
    g = np.exp(f * 0.5)
    h = np.arctan(g)
    i = np.log1p(h)
    return np.sum(np.tanh(i))


def ten_cheap(x: Any) -> Any:
    t = x * x + 1.0
    t = t * 0.5 - x
    t = t * t + 3.0
    t = t * x - 1.0
    t = (t + x) * 0.25
    return np.sum(t)


def rod(p: Any, q: Any, v: Any) -> Any:
    """About thirty operations on vectors of three."""
    d = q - p
    r2 = np.sum(d * d)
    n = d / np.sqrt(r2 + 1e-6)
    along = np.sum(v * n)
    across = v - along * n
    a = 0.5 * across + 0.1 * d
    b = a * n + v
    c = b - 0.3 * a * p
    e = c * c + 0.1
    f = np.sqrt(e) * n
    g = f - along * b
    h = g * 0.7 + across * c
    return np.sum(h * h) + 0.5 * along * along + np.sum(a * f)


def robot_arm(angles: Any, offsets: Any, goal: Any) -> Any:
    """How far the tip is from a goal; joints turn about the first and the third axis in turn."""
    frame = np.eye(3)
    tip = np.zeros(3)
    for k in range(len(angles)):
        c, s = np.cos(angles[k]), np.sin(angles[k])
        if k % 2:
            turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        else:
            turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        frame = frame @ turn
        tip = tip + frame @ offsets[k]
    miss = tip - goal
    return np.sum(miss * miss)


def heat(u0: Any, alpha: Any, steps: int) -> Any:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_2d(u0: Any, k: Any, steps: int) -> Any:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(wx: Any, wh: Any, b: Any, wo: Any, x: Any, y: Any) -> Any:
    """A recurrent network with gates, over the rows of x."""
    n = wh.shape[0]
    h = np.zeros((x.shape[1], n))
    c = np.zeros((x.shape[1], n))
    for t in range(len(x)):
        z = x[t] @ wx + h @ wh + b
        i, f, o = sigmoid(z[:, :n]), sigmoid(z[:, n : 2 * n]), sigmoid(z[:, 2 * n : 3 * n])
        c = f * c + i * np.tanh(z[:, 3 * n :])
        h = o * np.tanh(c)
    r = h @ wo - y
    return np.mean(r * r)


def hmm(start: Any, move: Any, emit: Any, seen: Any) -> Any:
    """The log-likelihood of a hidden Markov model, scaled at each step."""
    a = np.exp(move)
    a = a / np.sum(a, axis=1, keepdims=True)
    b = np.exp(emit)
    b = b / np.sum(b, axis=1, keepdims=True)
    alpha = np.exp(start) / np.sum(np.exp(start)) * b[:, seen[0]]
    total = 0.0
    for t in range(1, len(seen)):
        s = np.sum(alpha)
        total += np.log(s)
        alpha = (alpha / s) @ a * b[:, seen[t]]
    return total + np.log(np.sum(alpha))


def gmm(alphas: Any, means: Any, logdiag: Any, x: Any) -> Any:
    """The log-likelihood of a mixture of Gaussians with diagonal covariances."""
    k = len(alphas)
    terms = np.zeros((len(x), k))
    for j in range(k):
        q = np.exp(logdiag[j]) * (x - means[j])
        terms[:, j] = alphas[j] + np.sum(logdiag[j]) - 0.5 * np.sum(q * q, axis=1)
    m = np.max(terms, axis=1)
    return np.sum(m + np.log(np.sum(np.exp(terms - m[:, None]), axis=1)))


def gaussian_process(log_length: Any, log_noise: Any, x: Any, y: Any) -> Any:
    """The negative log marginal likelihood with a squared exponential kernel."""
    d = x[:, None, :] - x[None, :, :]
    k = np.exp(-0.5 * np.sum((d / np.exp(log_length)) ** 2, axis=2))
    k = k + np.exp(log_noise) * np.eye(len(x))
    c = np.linalg.cholesky(k)
    a = np.linalg.solve(c, y)
    return 0.5 * np.sum(a * a) + np.sum(np.log(np.diag(c)))


def softmax(x: Any, w: Any) -> Any:
    m = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - m)
    return np.sum(e / np.sum(e, axis=-1, keepdims=True) * w)


def _network(h: int) -> tuple[Any, ...]:
    batch = h // 2 + 1
    return (
        weights(3 * h, h),
        normal(h),
        weights(h, 10),
        normal(10),
        normal(batch, 3 * h),
        np.eye(10)[np.arange(batch) % 10],
    )


def _regression(n: int) -> tuple[Any, ...]:
    width = n // 100 + 1
    return 0.1 * normal(width), 0.1, normal(n, width), np.sign(normal(n))


def _one(n: int) -> tuple[Any, ...]:
    return (uniform(0.1, 2.0, n),)


def _arm(n: int) -> tuple[Any, ...]:
    return uniform(-1.0, 1.0, n), uniform(0.2, 0.5, n, 3), np.array([0.6, 0.4, 0.5])


def _bar(steps: int) -> tuple[Any, ...]:
    return normal(10 * steps), 0.2, steps


def _plate(steps: int) -> tuple[Any, ...]:
    return normal(2 * steps, 2 * steps), 0.1, steps


def _recurrent(h: int) -> tuple[Any, ...]:
    steps, half = (50, h // 2) if h > 4 else (3, 2)
    return (
        weights(half, 4 * h),
        weights(h, 4 * h),
        0.1 * normal(4 * h),
        weights(h, 1),
        normal(steps, half, half),
        normal(half, 1),
    )


def _states(n: int) -> tuple[Any, ...]:
    return normal(n), normal(n, n), normal(n, 20), np.arange(10 * n) * 7 % 20


def _mixture(k: int) -> tuple[Any, ...]:
    return normal(k), normal(k, 10), 0.3 * normal(k, 10), normal(100 * k, 10)


def _points(n: int) -> tuple[Any, ...]:
    return np.array([0.1, -0.2, 0.3]), -2.0, normal(n, 3), normal(n)


MILLION = 1_000_000

ARRAYS = tuple(
    replace(workload, autograd=1.0)
    for workload in (
        Workload(mlp, _network, 256, 4, (0, 1, 2, 3), plain=2.0),
        Workload(logistic, _regression, 10_000, 20, (0, 1), plain=1.6),
        Workload(ten_dear, _one, MILLION, 5, (0,), plain=1.4),
        Workload(ten_cheap, _one, MILLION, 5, (0,), plain=1.2),
        Workload(
            ten_cheap, _one, MILLION, 5, (0,), "ten_cheap, fastmath", compiled=0.1, fastmath=True
        ),
        Workload(
            rod,
            lambda n: tuple(normal(n, seed=k) for k in range(3)),
            3,
            3,
            (0, 1, 2),
            plain=2.8,
            compiled=0.3,
        ),
        Workload(robot_arm, _arm, 6, 2, (0,), compiled=0.05, jax=10.0),
        Workload(heat, _bar, 100, 4, (0,), "heat, by u", plain=2.1, compiled=0.4),
        Workload(heat, _bar, 100, 4, (0, 1), "heat, by u and alpha", plain=2.1, compiled=0.4),
        Workload(heat_2d, _plate, 100, 4, (0, 1), plain=2.4, compiled=0.5),
        Workload(lstm, _recurrent, 32, 4, (0, 1, 2, 3), plain=2.5),
        Workload(hmm, _states, 20, 3, (0, 1, 2), plain=2.5, compiled=0.1, jax=3.5),
        Workload(gmm, _mixture, 10, 2, (0, 1, 2), plain=2.5),
        Workload(gaussian_process, _points, 200, 5, (0, 1), plain=2.5, jax=2.0),
        Workload(
            softmax,
            lambda n: (normal(8, 8, n, n), normal(8, 8, n, n, seed=1)),
            64,
            3,
            (0,),
            plain=2.5,
        ),
    )
)
