"""Small programs in which several constructs meet, of the kind people write."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from .registry import case


@case((0.6, 1.2), (1.6, 0.3))
def break_in_if_in_for_in_while(x, y):
    n = 0
    while True:
        for k in range(4):
            if x > y:
                if k == 2:
                    y = y + x
                    break
                x = x * 0.7
            else:
                x = x + 0.3 * y
        else:
            y = y * 1.1
        n += 1
        if n == 3 or x * y > 50:
            return x * y + n


@case((0.7, 0), (0.7, 3))
def value_from_the_last_trip_or_from_before(x, n):
    v = x * x
    i = -1
    for i in range(n):
        w = v * (i + 1)
        v = math.sin(w)
    if i >= 0:
        v = v * w
    return v + i * x


@case((0.7,))
def integer_then_float_then_branch(x):
    y = 0
    for k in range(3):
        if k == 0:
            y = 1
        elif k == 1:
            y = y + x
        else:
            y *= x
    return y


@case((0.7, 1.3))
def closures_over_a_loop_carried_value(x, y):
    callbacks = []
    state = x
    for k in range(3):
        state = state * y + k
        callbacks.append(lambda v, s=state: v * s)
        callbacks.append(lambda v: v * state)
    return sum(f(x) for f in callbacks)


@case((0.7,))
def early_return_from_a_nested_function_in_a_loop(x):
    def first_above(limit):
        y = x
        for k in range(20):
            y = y * 1.3
            if y > limit:
                return y, k
        return y, -1

    total = 0.0
    for limit in (1.0, 2.0, 1e9):
        y, k = first_above(limit)
        total += y * k
    return total


@case((np.array([0.4, 1.7, -0.3]), 1.1))
def bookkeeping_in_a_dict(x, scale):
    stats = {"n": 0, "sum": 0.0, "best": None}
    for v in x:
        w = v * scale
        stats["n"] += 1
        stats["sum"] += w * w
        if stats["best"] is None or w > stats["best"]:
            stats["best"] = w
    return stats["sum"] / stats["n"] * stats["best"]


@case((np.array([0.3, -0.2]),))
def gradient_descent(x):
    def slope(p):
        return np.array([4.0 * p[0] ** 3 + p[1], p[0] + 2.0 * p[1]])

    velocity = np.zeros(2)
    for k in range(6):
        velocity = 0.5 * velocity - 0.1 * slope(x)
        x = x + velocity
        if np.sum(velocity**2) < 1e-12:
            break
    return x


@case((1.2, 0.5, 0.3))
def runge_kutta(y, a, b):
    def f(t, v):
        return a * v * (1.0 - v) - b * math.sin(t)

    t, h = 0.0, 0.2
    for _ in range(4):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


@case((np.array([0.1, 0.5, 0.2]), np.array([0.8, -0.4])))
def recurrent_network(inputs, weights):
    h = 0.0
    outputs = []
    for u in inputs:
        h = np.tanh(weights[0] * h + weights[1] * u)
        outputs.append(h)
    return np.array(outputs) * h


@case((np.array([1.0, 2.0, 4.0, 3.0]), 0.3))
def exponential_smoothing(series, alpha):
    level = series[0]
    error = 0.0
    for v in series[1:]:
        error += (v - level) ** 2
        level = alpha * v + (1 - alpha) * level
    return error


@case((100.0, 95.0, 0.2))
def option_price_on_a_tree(spot, strike, volatility):
    n = 4
    dt = 1.0 / n
    up = math.exp(volatility * math.sqrt(dt))
    p = (math.exp(0.01 * dt) - 1.0 / up) / (up - 1.0 / up)
    values = [max(spot * up ** (2 * j - n) - strike, 0.0) for j in range(n + 1)]
    for step in range(n, 0, -1):
        values = [
            math.exp(-0.01 * dt) * (p * values[j + 1] + (1 - p) * values[j]) for j in range(step)
        ]
    return values[0]


@case(([0.5, 1.5, 0.2, 0.9],))
def bubble_sort(p):
    q = list(p)
    for i in range(len(q)):
        for j in range(len(q) - 1 - i):
            if q[j] > q[j + 1]:
                q[j], q[j + 1] = q[j + 1], q[j]
    return q[0] + 2 * q[1] ** 2 + 3 * q[2] ** 3 + q[3] * q[0]


@case(([[4.0, 1.0], [1.0, 3.0]],))
def cholesky_of_lists(a):
    n = len(a)
    low = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j] - sum(low[i][k] * low[j][k] for k in range(j))
            low[i][j] = math.sqrt(s) if i == j else s / low[j][j]
    return low[0][0] * low[1][1] + low[1][0]


@case((np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([0.7, -0.4])))
def conjugate_gradient_steps(a, b):
    a = a @ a.T
    x = np.zeros(2)
    r = b
    p = r
    for _ in range(2):
        alpha = (r @ r) / (p @ a @ p)
        x = x + alpha * p
        new = r - alpha * (a @ p)
        if new @ new < 1e-20:
            break
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


@case((2.5, 0.4))
def memo_in_a_dict(x, y):
    memo = {}

    def walk(n):
        if n in memo:
            return memo[n]
        memo[n] = x if n < 2 else walk(n - 1) * y + walk(n - 2)
        return memo[n]

    return walk(5) + len(memo)


@case((0.7, 1.3))
def state_machine(x, y):
    state = "grow"
    steps = 0
    while state != "done":
        match state:
            case "grow":
                x = x * 1.5
                if x > 2 * y:
                    state = "shrink"
            case "shrink":
                x = x - y * 0.7
                if x < y:
                    state = "done"
        steps += 1
    return x * y * steps


@case((0.7, "+*-", 1.3))
def interpreter(x, program, y):
    stack = [x, y, x * y, 2.0]
    for op in program:
        b = stack.pop()
        a = stack.pop()
        if op == "+":
            stack.append(a + b)
        elif op == "*":
            stack.append(a * b)
        else:
            stack.append(a - b)
    (result,) = stack
    return result


@dataclass
class Particle:
    position: float
    speed: float

    def kicked(self, force, dt):
        speed = self.speed + force * dt
        return Particle(self.position + speed * dt, speed)


@case((0.7, -0.2, 3.0))
def particle_on_a_spring(position, speed, stiffness):
    p = Particle(position, speed)
    for _ in range(5):
        p = p.kicked(-stiffness * p.position, 0.1)
        if p.position < 0:
            p = Particle(-p.position, -0.8 * p.speed)
    return p.position**2 + 0.5 * p.speed**2


@case(([0.5, 0.7, 0.1],))
def pipeline_of_functions(p):
    stages = [
        functools.partial(map, lambda v: v * v),
        lambda vs: [a + b for a, b in zip(vs, p)],
        lambda vs: filter(lambda v: v > 0.2, vs),
        sum,
    ]
    return functools.reduce(lambda value, stage: stage(value), stages, p) * p[1]


@case((0.7, 1.3))
def accumulators_updated_out_of_order(x, y):
    a = b = c = 0.0
    for k in range(4):
        c = c + a * y
        a = a + x
        if k % 2:
            b, a = a, b + c
        c *= 0.5
    return a + b * c


@case((0.7,))
def used_before_and_after_overwriting_in_a_branch_in_a_loop(x):
    t = x
    total = 0.0
    for k in range(4):
        total = total + t * t
        if k != 2:
            t = math.sin(t * (k + 1))
            total = total * t
        total = total + t
    return total


@case((np.array([0.3, 0.9, 1.4, 0.2]), 0.8))
def kernel_sum_over_pairs(x, width):
    total = 0.0
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            d = x[i] - x[j]
            if abs(d) > 1.0:
                break
            total += math.exp(-d * d / width)
    return total


@case(({"a": [0.5, 0.7], "b": [1.5]}, 0.3))
def parameters_by_name(params, x):
    out = {}
    for name, values in params.items():
        acc = x
        for v in values:
            acc = acc * v + x
        out[name] = acc
    return {**out, "total": out["a"] * out["b"]}


@case((np.array([0.2, 0.5, 0.3]), np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])))
def forward_algorithm(start, emission):
    alpha = start[:2] / np.sum(start[:2])
    scale = 0.0
    for row in emission:
        alpha = alpha * row
        norm = np.sum(alpha)
        scale = scale + np.log(norm)
        alpha = np.array([[0.7, 0.4], [0.3, 0.6]]) @ (alpha / norm)
    return scale


@case((3.0, 0.5))
def secant_method(a, guess):
    def f(v):
        return v**3 - a

    x0, x1 = guess, guess + 1.0
    for _ in range(4):
        f0, f1 = f(x0), f(x1)
        if abs(f1 - f0) < 1e-4:
            break
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
    return x1


@case((1.5,), (0.2,), tags="scalar")
def piecewise_spline(x):
    knots = (0.0, 0.5, 1.0, 2.0)
    total = 0.0
    for k in range(3):
        if knots[k] <= x < knots[k + 1]:
            t = (x - knots[k]) / (knots[k + 1] - knots[k])
            total += t * t * (3.0 - 2.0 * t)
        elif x >= knots[k + 1]:
            total += 1.0
    return total * x


@case((0.3, 0.6, 1.2), tags="scalar")
def kepler_equation(mean, eccentricity, axis):
    anomaly = mean
    for _ in range(6):
        error = anomaly - eccentricity * math.sin(anomaly) - mean
        anomaly -= error / (1.0 - eccentricity * math.cos(anomaly))
    return axis * (1.0 - eccentricity * math.cos(anomaly))


@case((100.0, 0.05, 0.2, 1.5), tags="scalar")
def black_scholes(spot, rate, volatility, years):
    strike = 110.0
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
    n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
    return spot * n1 - strike * math.exp(-rate * years) * n2


@case((1.0, 0.5, 0.1), tags="scalar")
def lotka_volterra(prey, predator, dt):
    for _ in range(10):
        growth = prey * (1.1 - 0.4 * predator)
        loss = predator * (0.1 * prey - 0.4)
        prey = prey + dt * growth
        predator = predator + dt * loss
    return prey * predator


@case((0.5, 0.2, 2.0, 1.0), tags="scalar")
def pendulum_with_damping(angle, speed, length, damping):
    energy = 0.0
    for _ in range(8):
        speed = speed + 0.05 * (-9.81 / length * math.sin(angle) - damping * speed)
        angle = angle + 0.05 * speed
        energy = energy + 0.5 * speed * speed * length
    return energy + math.cos(angle)


@case((0.7, 1.2, 0.3), tags="scalar")
def lorenz(x, y, z):
    for _ in range(6):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x * y * z


# ---- lists, dicts and helpers in loops


@case((0.7, 1.1, 4))
def list_left_behind_by_its_variable(x, y, n):
    xs, total = [x, y], 0.0
    for _ in range(n):
        last = xs
        xs = [last[0] * y, x + total]
        total += last[0] * xs[0]
    return total * last[1] + xs[1]


@case((0.7, 1.1, 4))
def list_left_behind_and_changed(x, y, n):
    xs, total = [x, y], 0.0
    for _ in range(n):
        last = xs
        xs = [last[0] * y, x]
        last[1] = total + x
        total += last[0] * last[1] * xs[0]
    return total * last[1] + xs[1]


@case((0.7, 1.1, 4))
def list_left_behind_under_two_names(x, y, n):
    xs, kept, total = [x, y], [y, y], 0.0
    for _ in range(n):
        one = xs
        other = xs
        xs = [total * x, y]
        total += kept[0] * one[1] + other[0]
        kept = other
    return total * kept[0] + xs[0] * one[0] * other[1]


@case((0.7, 1.1, 4))
def list_left_behind_in_a_tuple(x, y, n):
    xs, total = [x, y], 0.0
    for k in range(n):
        pair = (xs, k)
        xs = [total * x, xs[0]]
        total += xs[1] * pair[0][1]
    pair[0][0] = total * x
    return total * pair[0][0] + xs[0]


@case(([1.0, 2.0], 0.4, 3))
def list_changed_and_bound_anew(xs, z, n):
    xs, total = list(xs), 0.0
    for k in range(n):
        xs.append(total * z)
        total += sum(xs)
        xs = [z, 0.7 * k]
    return sum(xs) * total


@case(({"a": 1.0, "b": 2.0}, 0.4, 3))
def dict_changed_and_bound_anew(table, z, n):
    table, total = dict(table), 0.0
    for _ in range(n):
        table["a"] = total * z + 1.0
        total += table["a"] * table["b"]
        table = {"a": 0.3, "b": 0.7 * z}
    return total * table["b"]


@case((np.array([1.0, 2.0]), np.array([1.5, 2.0, 0.3]), 0.3))
def helper_with_a_closure_called_in_a_loop(x, y, scale):
    def weigh(a):
        for _ in range(2):
            weight = lambda d: d * a * scale  # noqa: E731
        return weight(a)

    for a in y:
        for c, d in zip([a for _ in range(2)], x, strict=True):
            scale += weigh(d * c) * weigh(d)
    return scale


@case((np.array([0.3, 2.0, 1.0]), 0.4))
def zip_of_a_short_list_and_an_array(x, y):
    total = 0.0
    for a, b in zip([0.9], x, strict=False):
        total += a * b * b
    for a, b in zip([y * v for v in (0.3, 0.8)], [y for _ in range(2)], strict=True):
        total += a * b
    for a, b in zip([x], [x * y for _ in x], strict=False):
        total += np.sum(a * b)
    return total


@case((0.7, 1.1, 4))
def list_left_behind_in_an_inner_loop(x, y, n):
    xs, total = [x, y], 0.0
    for _ in range(n):
        for j in range(2):
            last = xs
            xs = [xs[1] + j * x, xs[0] * y + total]
        total += last[0] * xs[0]
        kept = last
        xs = [total, y]
    return total * last[1] + xs[0] * kept[0]


@case((np.array([0.7, 1.1]), 1.0))
def comparison_of_arrays_of_unknown_rank(v, y):
    low = np.stack([v, v]) < np.stack([v * y, v]) ** 3
    w = np.where(low, np.stack([v, v]) ** 2, np.stack([v, v * y]))[-1]
    if (np.stack([v, v]) < 2 * y).all():
        w = w * v
    return math.sin(w[1] * w[0])


@case((np.array([0.7, -1.3, 0.4]), 2.0))
def vectorized(x, scale):
    bent = np.vectorize(lambda s, t: s * t * t if s > 0 else t * math.sin(s))
    return bent(x, scale)


class Holder:
    def __init__(self, held):
        self.held = held


@case((np.array([-0.2, 0.38, -0.25]), np.array([-0.78, -1.34, -0.76])))
def object_made_by_a_loop_in_a_branch(m, x):
    u = x * 1.0
    u[0] = 0.5
    if m[0] < 5:
        for i in range(3):
            m[i] += m[-1] * u[0]
            holder = Holder(u)
            u = np.cos(holder.held * x)
    return np.sum(m * m * m) + np.sum(u * x)
