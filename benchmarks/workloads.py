"""The functions whose gradients are timed, as a user writes them, and their arguments by size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# ---- loops over numbers


def chain(x: Any) -> Any:
    s = 0.0
    for v in x:
        for _ in range(5):
            v = math.exp(math.sin(v) * v) * 0.3
        s += v
    return s


def rosenbrock(x: Any) -> Any:
    s = 0.0
    for i in range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


def _rates(x: Any, y: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * x - b * x * y, d * x * y - c * y


def lotka_volterra(a: Any, b: Any, c: Any, d: Any, dt: Any, steps: int) -> Any:
    x, y = 10.0, 5.0
    for _ in range(steps):
        k1x, k1y = _rates(x, y, a, b, c, d)
        k2x, k2y = _rates(x + 0.5 * dt * k1x, y + 0.5 * dt * k1y, a, b, c, d)
        k3x, k3y = _rates(x + 0.5 * dt * k2x, y + 0.5 * dt * k2y, a, b, c, d)
        k4x, k4y = _rates(x + dt * k3x, y + dt * k3y, a, b, c, d)
        x = x + dt / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + dt / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
    return x * x + y


def n_body(q: Any, v: Any, m: Any, dt: Any, steps: int) -> Any:
    """Bodies in the plane, as lists of x, y, x, y, …"""
    n = len(m)
    q, v = list(q), list(v)
    for _ in range(steps):
        for i in range(n):
            ax, ay = 0.0, 0.0
            for j in range(n):
                if j != i:
                    dx, dy = q[2 * j] - q[2 * i], q[2 * j + 1] - q[2 * i + 1]
                    r2 = dx * dx + dy * dy + 0.01
                    w = m[j] / (r2 * math.sqrt(r2))
                    ax += w * dx
                    ay += w * dy
            v[2 * i] += dt * ax
            v[2 * i + 1] += dt * ay
        for k in range(2 * n):
            q[k] += dt * v[k]
    s = 0.0
    for k in range(2 * n):
        s += q[k] * q[k]
    return s


def kepler(eccentricity: Any, anomaly: Any) -> Any:
    """Kepler's equation by Newton's method, for each of a list."""
    total = 0.0
    for e, m in zip(eccentricity, anomaly):  # noqa: B905  # as a user writes it
        x, step = m, 1.0
        while abs(step) > 1e-11:
            step = (x - e * math.sin(x) - m) / (1.0 - e * math.cos(x))
            x = x - step
        total += math.cos(x) ** 2
    return total


def american_put(s: Any, k: Any, rate: Any, sigma: Any, t: Any, n: int) -> Any:
    """By a binomial tree."""
    dt = t / n
    u = math.exp(sigma * math.sqrt(dt))
    disc = math.exp(-rate * dt)
    p = (math.exp(rate * dt) - 1.0 / u) / (u - 1.0 / u)
    v = [max(k - s * u ** (2 * j - n), 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = disc * (p * v[j + 1] + (1.0 - p) * v[j])
            v[j] = max(hold, k - s * u ** (2 * j - i))
    return v[0]


# ---- arrays


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Two layers and the cross-entropy of a softmax."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    m = np.max(z, axis=1, keepdims=True)
    lse = m[:, 0] + np.log(np.sum(np.exp(z - m), axis=1))
    return np.mean(lse - np.sum(z * y, axis=1))


def logistic(w: Any, b: Any, x: Any, y: Any) -> Any:
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


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(wx: Any, wh: Any, b: Any, wo: Any, x: Any, y: Any) -> Any:
    h = np.zeros((x.shape[1], wh.shape[0]))
    c = np.zeros((x.shape[1], wh.shape[0]))
    n = wh.shape[0]
    for t in range(len(x)):
        z = x[t] @ wx + h @ wh + b
        i, f, o = _sigmoid(z[:, :n]), _sigmoid(z[:, n : 2 * n]), _sigmoid(z[:, 2 * n : 3 * n])
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


# ---- loops that write into arrays


def gauss_seidel(a0: Any, steps: int) -> Any:
    a = a0.copy()
    n = len(a)
    for _ in range(steps):
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
    a = a0.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a * a)


def lu(a0: Any) -> Any:
    a = a0.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * a)


def atax(a: Any, x: Any) -> Any:
    y = (a @ x) @ a
    return np.sum(y * y)


def syrk(alpha: Any, beta: Any, c0: Any, a: Any) -> Any:
    c = c0.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return np.sum(c * c)


def softmax(x: Any, w: Any) -> Any:
    m = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - m)
    return np.sum(e / np.sum(e, axis=-1, keepdims=True) * w)


# ---- their arguments


def _random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def _uniform(low: float, high: float, *shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


def _weights(*shape: int, seed: int = 0) -> Any:
    return _random(*shape, seed=seed) / math.sqrt(shape[0])


def _bodies(n: int) -> tuple[Any, ...]:
    q = [f(0.7 * k) * (1.0 + 0.3 * k) for k in range(n) for f in (math.cos, math.sin)]
    return q, [0.1 * v for v in q[1:] + q[:1]], [1.0 / (k + 1) for k in range(n)]


@dataclass(frozen=True)
class Workload:
    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    """The arguments at a size."""
    size: int
    tiny: int
    argnums: tuple[int, ...]
    target: float
    """The most that value and gradient may cost, in units of the function."""
    label: str = ""
    group: str = "arrays"

    @property
    def name(self) -> str:
        return self.label or self.function.__name__


def _scalar(function: Any, arguments: Any, *rest: Any, label: str = "") -> Workload:
    return Workload(function, arguments, *rest, label=label, group="numbers")


def _written(function: Any, arguments: Any, *rest: Any) -> Workload:
    return Workload(function, arguments, *rest, group="written")


def _list(n: int) -> tuple[Any, ...]:
    return (_uniform(0.1, 1.0, n).tolist(),)


def _square(n: int) -> Any:
    return _random(n, n) / math.sqrt(n) + 3.0 * np.eye(n)


WORKLOADS = (
    _scalar(chain, _list, 10, 3, (0,), 2.8, label="chain, n = 10"),
    _scalar(chain, _list, 100, 3, (0,), 2.8, label="chain, n = 100"),
    _scalar(chain, _list, 1000, 3, (0,), 2.8, label="chain, n = 1000"),
    _scalar(rosenbrock, _list, 1000, 4, (0,), 2.0, label="rosenbrock, a list"),
    _scalar(
        rosenbrock, lambda n: (_uniform(0, 1, n),), 1000, 4, (0,), 1.0, label="rosenbrock, an array"
    ),
    _scalar(lotka_volterra, lambda n: (1.1, 0.4, 0.4, 0.1, 0.01, n), 1000, 2, (0, 1, 2, 3), 3.2),
    _scalar(n_body, lambda n: (*_bodies(5), 0.01, n), 20, 2, (0, 1), 3.5),
    _scalar(
        kepler,
        lambda n: (_uniform(0, 0.9, n).tolist(), _uniform(0.1, 3, n, seed=1).tolist()),
        200, 3, (0, 1), 3.5,
    ),
    _scalar(
        american_put, lambda n: (100.0, 103.0, 0.03, 0.25, 1.0, n), 60, 4, (0, 1, 2, 3, 4), 3.5
    ),
    Workload(
        mlp,
        lambda h: (
            _weights(3 * h, h), _random(h), _weights(h, 10), _random(10),
            _random(h // 2 + 1, 3 * h), np.eye(10)[np.arange(h // 2 + 1) % 10],
        ),
        256, 4, (0, 1, 2, 3), 2.0,
    ),
    Workload(
        logistic,
        lambda n: (0.1 * _random(n // 100 + 1), 0.1, _random(n, n // 100 + 1), np.sign(_random(n))),
        10_000, 20, (0, 1), 1.6,
    ),
    Workload(ten_dear, lambda n: (_uniform(0.1, 2, n),), 1_000_000, 5, (0,), 1.4),
    Workload(ten_cheap, lambda n: (_uniform(0.1, 2, n),), 1_000_000, 5, (0,), 1.2),
    Workload(rod, lambda n: tuple(_random(n, seed=k) for k in range(3)), 3, 3, (0, 1, 2), 2.8),
    Workload(heat, lambda n: (_random(10 * n), 0.2, n), 100, 4, (0,), 2.1),
    Workload(
        heat, lambda n: (_random(10 * n), 0.2, n), 100, 4, (0, 1), 2.5, label="heat, by alpha too"
    ),
    Workload(heat_2d, lambda n: (_random(2 * n, 2 * n), 0.1, n), 100, 4, (0,), 2.4),
    Workload(
        lstm,
        lambda h: (
            _weights(h // 2, 4 * h), _weights(h, 4 * h), 0.1 * _random(4 * h), _weights(h, 1),
            _random(50 if h > 4 else 3, h // 2, h // 2), _random(h // 2, 1),
        ),
        32, 4, (0, 1, 2, 3), 2.5,
    ),
    Workload(
        hmm,
        lambda n: (_random(n), _random(n, n), _random(n, 20), np.arange(10 * n) * 7 % 20),
        20, 3, (0, 1, 2), 2.5,
    ),
    Workload(
        gmm,
        lambda k: (_random(k), _random(k, 10), 0.3 * _random(k, 10), _random(100 * k, 10)),
        10, 2, (0, 1, 2), 2.5,
    ),
    Workload(
        gaussian_process,
        lambda n: (np.array([0.1, -0.2, 0.3]), -2.0, _random(n, 3), _random(n)),
        200, 5, (0, 1), 2.5,
    ),
    Workload(
        softmax, lambda n: (_random(8, 8, n, n), _random(8, 8, n, n, seed=1)), 64, 3, (0,), 2.5
    ),
    Workload(atax, lambda n: (_random(n, n), _random(n)), 1000, 4, (0, 1), 5.0),
    _written(gauss_seidel, lambda n: (_random(n, n), 5), 40, 4, (0,), 5.0),
    _written(jacobi, lambda n: (_random(n, n), _random(n, n), 50), 150, 4, (0, 1), 2.5),
    _written(triangular_solve, lambda n: (np.tril(_square(n)), _random(n)), 300, 4, (0, 1), 5.0),
    _written(cholesky, lambda n: (_square(n) @ _square(n).T,), 60, 4, (0,), 5.0),
    _written(lu, lambda n: (_square(n),), 50, 4, (0,), 5.0),
    _written(syrk, lambda n: (1.5, 1.2, _random(n, n), _random(n, n)), 60, 4, (0, 1, 2, 3), 5.0),
)  # fmt: skip
