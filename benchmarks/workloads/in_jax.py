"""Workloads as one writes them for JAX: whole arrays, `scan` for steps, masks for while loops.

What is not here is the same text, with `jax.numpy` as `np`. Arguments of the type int are static.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular
from jax.scipy.special import erf, logsumexp

from benchmarks.workloads import loops

jax.config.update("jax_enable_x64", True)


def chain(x: Any) -> Any:
    for _ in range(5):
        x = jnp.exp(jnp.sin(x) * x) * 0.3
    return jnp.sum(x)


def rosenbrock(x: Any) -> Any:
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def lotka_volterra(a: Any, b: Any, c: Any, d: Any, dt: Any, steps: int) -> Any:
    """With `jax.checkpoint` around a step of two numbers it takes a small part of the time."""

    def slope(z: Any) -> Any:
        return jnp.stack(loops.rates(z[0], z[1], a, b, c, d))

    def step(z: Any, _: Any) -> Any:
        k1 = slope(z)
        k2 = slope(z + 0.5 * dt * k1)
        k3 = slope(z + 0.5 * dt * k2)
        k4 = slope(z + dt * k3)
        return z + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    (x, y), _ = lax.scan(step, jnp.array([10.0, 5.0]), None, length=steps)
    return x * x + y


def n_body(q: Any, v: Any, m: Any, dt: Any, steps: int) -> Any:
    def step(state: Any, _: Any) -> Any:
        q, v = state
        d = q[None, :, :] - q[:, None, :]
        r2 = jnp.sum(d * d, axis=2) + 0.01
        v = v + dt * jnp.sum((m / (r2 * jnp.sqrt(r2)))[:, :, None] * d, axis=1)
        return (q + dt * v, v), None

    (q, _), _ = lax.scan(step, (q.reshape(-1, 2), v.reshape(-1, 2)), None, length=steps)
    return jnp.sum(q * q)


def kepler(eccentricity: Any, anomaly: Any) -> Any:
    """A while loop has no reverse mode: a number of steps that is enough for all, masked."""

    def step(state: Any, _: Any) -> Any:
        x, goes_on = state
        error = x - eccentricity * jnp.sin(x) - anomaly
        change = error / (1.0 - eccentricity * jnp.cos(x))
        x = jnp.where(goes_on, x - change, x)
        return (x, goes_on & (jnp.abs(change) > 1e-11)), None

    start = (anomaly, jnp.ones(anomaly.shape, bool))
    (x, _), _ = lax.scan(step, start, None, length=12)
    return jnp.sum(jnp.cos(x) ** 2)


def american_put(spot: Any, strike: Any, rate: Any, volatility: Any, years: Any, n: int) -> Any:
    dt = years / n
    step_up = volatility * jnp.sqrt(dt)
    up = jnp.exp(step_up)
    growth = jnp.exp(rate * dt)
    p = (growth - 1.0 / up) / (up - 1.0 / up)
    j = jnp.arange(n + 1)

    def at_once(level: Any) -> Any:
        return strike - spot * jnp.exp(step_up * (2 * j - level))

    def back(values: Any, level: Any) -> Any:
        wait = (p * jnp.roll(values, -1) + (1.0 - p) * values) / growth
        return jnp.where(j <= level, jnp.maximum(wait, at_once(level)), values), None

    values, _ = lax.scan(back, jnp.maximum(at_once(n), 0.0), jnp.arange(n - 1, -1, -1))
    return values[0]


def black_scholes(spots: Any, strikes: Any, rate: Any, volatility: Any, years: Any) -> Any:
    def cumulative(z: Any) -> Any:
        return 0.5 * (1.0 + erf(z / jnp.sqrt(2.0)))

    spread = volatility * jnp.sqrt(years)
    d = (jnp.log(spots / strikes) + rate * years) / spread + 0.5 * spread
    discount = jnp.exp(-rate * years)
    return jnp.sum(spots * cumulative(d) - strikes * discount * cumulative(d - spread))


def heat(u: Any, alpha: Any, steps: int) -> Any:
    def step(u: Any, _: Any) -> Any:
        return u.at[1:-1].add(alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])), None

    u, _ = lax.scan(step, u, None, length=steps)
    return jnp.sum(u * u)


def heat_2d(u: Any, k: Any, steps: int) -> Any:
    def step(u: Any, _: Any) -> Any:
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(k * (around - 4.0 * u[1:-1, 1:-1])), None

    u, _ = lax.scan(step, u, None, length=steps)
    return jnp.sum(u * u)


def lstm(wx: Any, wh: Any, b: Any, wo: Any, x: Any, y: Any) -> Any:
    n = wh.shape[0]

    def step(state: Any, inner: Any) -> Any:
        h, c = state
        z = inner + h @ wh
        i, f, o = jnp.split(jax.nn.sigmoid(z[:, : 3 * n]), 3, axis=1)
        c = f * c + i * jnp.tanh(z[:, 3 * n :])
        return (o * jnp.tanh(c), c), None

    zero = jnp.zeros((x.shape[1], n))
    (h, _), _ = lax.scan(step, (zero, zero), x @ wx + b)
    r = h @ wo - y
    return jnp.mean(r * r)


def hmm(start: Any, move: Any, emit: Any, seen: Any) -> Any:
    a = jax.nn.softmax(move, axis=1)
    b = jax.nn.softmax(emit, axis=1).T

    def step(state: Any, symbol: Any) -> Any:
        alpha, total = state
        s = jnp.sum(alpha)
        return ((alpha / s) @ a * b[symbol], total + jnp.log(s)), None

    first = (jax.nn.softmax(start) * b[seen[0]], 0.0)
    (alpha, total), _ = lax.scan(step, first, seen[1:])
    return total + jnp.log(jnp.sum(alpha))


def gmm(alphas: Any, means: Any, logdiag: Any, x: Any) -> Any:
    q = jnp.exp(logdiag) * (x[:, None, :] - means)
    terms = alphas + jnp.sum(logdiag, axis=1) - 0.5 * jnp.sum(q * q, axis=2)
    return jnp.sum(logsumexp(terms, axis=1))


def gaussian_process(log_length: Any, log_noise: Any, x: Any, y: Any) -> Any:
    z = x / jnp.exp(log_length)
    d = z[:, None, :] - z[None, :, :]
    k = jnp.exp(-0.5 * jnp.sum(d * d, axis=2)) + jnp.exp(log_noise) * jnp.eye(len(x))
    c = jnp.linalg.cholesky(k)
    a = solve_triangular(c, y, lower=True)
    return 0.5 * jnp.sum(a * a) + jnp.sum(jnp.log(jnp.diag(c)))


def gauss_seidel(a: Any, sweeps: int) -> Any:
    """A sweep goes over rows; in a row, each element needs its left neighbour."""

    def along(left: Any, known: Any) -> Any:
        new = known + 0.25 * left
        return new, new

    def row(above: Any, here_and_below: Any) -> Any:
        here, below = here_and_below
        known = 0.25 * (above[1:-1] + here[2:] + below[1:-1])
        _, new = lax.scan(along, here[0], known, unroll=8)
        whole = here.at[1:-1].set(new)
        return whole, whole

    def sweep(a: Any, _: Any) -> Any:
        _, rows = lax.scan(row, a[0], (a[1:-1], a[2:]))
        return a.at[1:-1].set(rows), None

    a, _ = lax.scan(sweep, a, None, length=sweeps)
    return jnp.sum(a * a)


def jacobi(a: Any, b: Any, steps: int) -> Any:
    def mean(u: Any) -> Any:
        return 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])

    def step(state: Any, _: Any) -> Any:
        a, b = state
        b = b.at[1:-1, 1:-1].set(mean(a))
        a = a.at[1:-1, 1:-1].set(mean(b))
        return (a, b), None

    (a, b), _ = lax.scan(step, (a, b), None, length=steps)
    return jnp.sum(a * a) + jnp.sum(b * b)


def triangular_solve(l: Any, b: Any) -> Any:
    return jnp.sum(solve_triangular(l, b, lower=True) ** 2)


def cholesky(a: Any) -> Any:
    """A column in each step, and what it adds to the columns that follow, masked."""
    place = jnp.arange(len(a))

    def step(a: Any, k: Any) -> Any:
        diagonal = jnp.sqrt(a[k, k])
        below = jnp.where(place > k, a[:, k] / diagonal, 0.0)
        a = a - below[:, None] * below[None, :]
        return a, jnp.where(place == k, diagonal, below)

    _, columns = lax.scan(step, a, place)
    return jnp.sum(columns**2)


def lu(a: Any) -> Any:
    place = jnp.arange(len(a))

    def step(a: Any, k: Any) -> Any:
        below = place > k
        column = jnp.where(below, a[:, k] / a[k, k], 0.0)
        row = jnp.where(below, a[k], 0.0)
        a = a - column[:, None] * row[None, :]
        return a.at[:, k].set(jnp.where(below, column, a[:, k])), None

    a, _ = lax.scan(step, a, place)
    return jnp.sum(a * a)


def durbin(r: Any) -> Any:
    """The part of y that is not there yet is zero, so whole arrays are combined."""
    n = len(r)
    place = jnp.arange(n)

    def step(state: Any, k: Any) -> Any:
        y, alpha, beta = state
        beta = (1.0 - alpha * alpha) * beta
        reverse = jnp.where(place < k, y[(k - 1 - place) % n], 0.0)
        alpha = -(r[k] + r @ reverse) / beta
        y = (y + alpha * reverse).at[k].set(alpha)
        return (y, alpha, beta), None

    first = (jnp.zeros(n).at[0].set(-r[0]), -r[0], 1.0)
    (y, _, _), _ = lax.scan(step, first, jnp.arange(1, n))
    return jnp.sum(y * y)


def gemm(alpha: Any, beta: Any, c: Any, a: Any, b: Any) -> Any:
    return jnp.sum((beta * c + alpha * (a @ b)) ** 2)


def syrk(alpha: Any, beta: Any, c: Any, a: Any) -> Any:
    lower = jnp.tril(jnp.ones(c.shape, bool))
    return jnp.sum(jnp.where(lower, beta * c + alpha * (a @ a.T), c) ** 2)
