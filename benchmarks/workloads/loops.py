"""Loops over numbers."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.workloads.workload import Workload, uniform


def chain(x: Any) -> Any:
    """Twenty operations one after the other, for each of a list."""
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


def rates(x: Any, y: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """How fast prey and predators multiply."""
    return a * x - b * x * y, d * x * y - c * y


def lotka_volterra(a: Any, b: Any, c: Any, d: Any, dt: Any, steps: int) -> Any:
    """By the Runge-Kutta method of fourth order."""
    x, y = 10.0, 5.0
    for _ in range(steps):
        k1x, k1y = rates(x, y, a, b, c, d)
        k2x, k2y = rates(x + 0.5 * dt * k1x, y + 0.5 * dt * k1y, a, b, c, d)
        k3x, k3y = rates(x + 0.5 * dt * k2x, y + 0.5 * dt * k2y, a, b, c, d)
        k4x, k4y = rates(x + dt * k3x, y + dt * k3y, a, b, c, d)
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


def american_put(spot: Any, strike: Any, rate: Any, volatility: Any, years: Any, n: int) -> Any:
    """The price of an option, by a binomial tree."""
    dt = years / n
    up = math.exp(volatility * math.sqrt(dt))
    growth = math.exp(rate * dt)
    p = (growth - 1.0 / up) / (up - 1.0 / up)
    values = [max(strike - spot * up ** (2 * j - n), 0.0) for j in range(n + 1)]
    for level in range(n - 1, -1, -1):
        for j in range(level + 1):
            wait = (p * values[j + 1] + (1.0 - p) * values[j]) / growth
            values[j] = max(wait, strike - spot * up ** (2 * j - level))
    return values[0]


def cumulative(z: Any) -> Any:
    """The distribution function of the normal distribution."""
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def black_scholes(spots: Any, strikes: Any, rate: Any, volatility: Any, years: Any) -> Any:
    """What a list of calls is worth together."""
    total = 0.0
    spread = volatility * math.sqrt(years)
    discount = math.exp(-rate * years)
    for spot, strike in zip(spots, strikes):  # noqa: B905  # as a user writes it
        d = (math.log(spot / strike) + rate * years) / spread + 0.5 * spread
        total += spot * cumulative(d) - strike * discount * cumulative(d - spread)
    return total


def _list(n: int) -> tuple[Any, ...]:
    return (uniform(0.1, 1.0, n).tolist(),)


def _bodies(n: int) -> tuple[Any, ...]:
    q = [f(0.7 * k) * (1.0 + 0.3 * k) for k in range(n) for f in (math.cos, math.sin)]
    return q, [0.1 * v for v in q[1:] + q[:1]], [1.0 / (k + 1) for k in range(n)]


def _orbits(n: int) -> tuple[Any, ...]:
    return uniform(0.0, 0.9, n).tolist(), uniform(0.1, 3.0, n, seed=1).tolist()


def _options(n: int) -> tuple[Any, ...]:
    spots, strikes = uniform(80.0, 120.0, n).tolist(), uniform(80.0, 120.0, n, seed=1).tolist()
    return spots, strikes, 0.03, 0.25, 1.5


LOOPS = (
    Workload(chain, _list, 10, 3, (0,), "chain, n = 10", plain=2.8, njit=1.3),
    Workload(chain, _list, 100, 3, (0,), "chain, n = 100", plain=2.8, njit=1.3),
    Workload(chain, _list, 1000, 3, (0,), "chain, n = 1000", plain=2.8, njit=1.3),
    Workload(rosenbrock, _list, 1000, 4, (0,), "rosenbrock, list", plain=2.0, njit=2.2),
    Workload(
        rosenbrock,
        lambda n: (uniform(-1.5, 1.5, n),),
        1000,
        4,
        (0,),
        "rosenbrock, array",
        plain=1.0,
        njit=2.2,
    ),
    Workload(
        lotka_volterra,
        lambda steps: (1.1, 0.4, 0.4, 0.1, 0.01, steps),
        1000,
        2,
        (0, 1, 2, 3),
        plain=3.2,
        njit=2.2,
    ),
    Workload(n_body, lambda steps: (*_bodies(5), 0.01, steps), 20, 2, (0, 1), plain=3.5, njit=2.5),
    Workload(kepler, _orbits, 200, 3, (0, 1), plain=3.5),
    Workload(
        american_put,
        lambda n: (100.0, 103.0, 0.03, 0.25, 1.0, n),
        60,
        4,
        (0, 1, 2, 3, 4),
        plain=3.5,
    ),
    Workload(black_scholes, _options, 1000, 3, (0, 1, 2, 3, 4)),
)
