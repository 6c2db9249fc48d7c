"""The functions whose generated derivatives are kept as text beside this file.

Each shows one construct and is as short as that allows. Generated code quotes their lines and
numbers, so new functions go to the end.
"""

import math

import numpy as np

G = 9.81


def straight_line(x, y):
    z = math.sin(x * y)
    return z + math.exp(x) / (y + 2.0)


def overwritten(x):
    y = x * x
    y = math.sin(y)
    y = y * x
    return y


def branches(x, y):
    if x > y:
        z = x * y
    elif x > 0.0:
        z = math.sin(x) + y
    else:
        z = y
    return z * x


def guard_clauses(x):
    if x < 0.0:
        return 0.0
    root = math.sqrt(x)
    if root < 1.0:
        return root
    return x * x


def ternary(x, slope):
    return (x if x > 0.0 else slope * x) * x


def counted_loop(x, n):
    y = x
    for _ in range(n):
        y = y * math.cos(y) + x
    return y


def reduction_loop(x):
    total = 0.0
    for k in range(len(x) - 1):
        total += (1.0 - x[k]) ** 2 + 100.0 * (x[k + 1] - x[k] ** 2) ** 2
    return total


def nested_loops(x, w, n):
    h = x
    for _ in range(n):
        for k in range(3):
            h = math.tanh(w * h + k)
        h = h * x
    return h


def branch_in_loop(x, n):
    y = x
    for k in range(n):
        if y > 1.0:
            y = y / 2.0
        else:
            y = y * y + 0.5 * k
    return y


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def break_out(x):
    term = x
    total = x
    for k in range(1, 50):
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        if abs(term) < 1e-10:
            break
        total += term
    return total


def return_from_loop(x, xs):
    total = 0.0
    for v in xs:
        total += v * x
        if total > 3.0:
            return total * x
    return total


def list_appended(x, n):
    terms = [x]
    for _ in range(n):
        terms.append(terms[-1] * x)
    return sum(terms)


def list_comprehension(xs, w):
    scaled = [w * v for v in xs if v > 0.0]
    return sum(scaled) / len(scaled)


def dict_of_parameters(params, x):
    hidden = math.tanh(params["w"] * x + params["b"])
    return hidden * params["out"]


def closure(x, y):
    def shifted(t):
        return t * t + y

    return shifted(x) * shifted(2.0 * x)


def square(v):
    return v * v


def helper_calls(x, y):
    return square(x) + math.sqrt(square(y) + 1.0)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


def module_constant(t, v):
    return v * t - 0.5 * G * t**2


def elementwise(x, w):
    return np.sum(np.exp(-w * x) * np.sin(x))


def reductions(m):
    centred = m - np.mean(m, axis=0)
    return np.sqrt(np.sum(centred**2)) + np.max(m)


def broadcasting(m, row, s):
    return np.sum((m + row) * s)


def softmax_loss(z, label):
    z = z - np.max(z)
    return np.log(np.sum(np.exp(z))) - z[label]


def indexing(x, idx):
    return np.sum(x[idx] ** 2) + x[0] * x[-1]


def network(w1, b1, w2, x):
    hidden = np.tanh(x @ w1 + b1)
    return np.sum((hidden @ w2) ** 2)


def guarded_where(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def heat_steps(u, steps):
    for _ in range(steps):
        inner = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate((u[:1], inner, u[-1:]))
    return np.sum(u * u)


def array_of_entries(x, y):
    first = x * y
    out = np.array([first, x, first * x])
    return np.sum(out**2)


def recurrence(x, w):
    h = x
    for _ in range(4):
        h = np.tanh(w * h + x)
    return np.sum(h)


def polar(p):
    r, angle = p[0], p[1]
    return np.array([r * np.cos(angle), r * np.sin(angle), r * r])


def quartic(x, y):
    return x**4 * y + math.sin(x * y)


def objective(x):
    return np.sum(x[1:] * x[:-1] ** 2)


def pairs_of_rows(m):
    total = 0.0
    rows, cols = m.shape
    for i in range(rows):
        for j in range(i, cols):
            total += m[i, j] * m[rows - 1 - i, j]
    return total


def list_rewritten(x, n):
    table = [x, 1.0]
    for k in range(n):
        table.append(table[-1] * x + table[k])
        table[0] = table[0] * 0.5
    return table[-1] * table[1]


def running_sums(rows, w):
    out = []
    for row in rows:
        out.append(np.cumsum(row * w))
    return np.sum(np.array(out) ** 2)


def cholesky(a):
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = math.sqrt(s) if i == j else s / l[j, j]
    return np.sum(l)


def kalman(x, p, ys, f, h, q, r):
    nll = 0.0
    for y in ys:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        error = y - h @ x
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ error
        p = p - gain @ s @ gain.T
        nll += 0.5 * (error @ np.linalg.solve(s, error) + np.linalg.slogdet(s)[1])
    return nll


def two_buffers(u, f, n):
    old = u.copy()
    for _ in range(n):
        old, u = u, old
        u[1:-1] = 0.5 * (old[2:] + old[:-2] - f[1:-1])
    return np.sum(u**2)


def three_buffers(u0, c, n):
    up = u0.copy()
    u = u0.copy()
    un = np.zeros_like(u0)
    for _ in range(n):
        un[1:-1] = 2.0 * u[1:-1] - up[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        up, u, un = u, un, up
    return np.sum(u**2)


# ---- rules, a few in each: what the derivative of one call looks like


def rules_reductions(x, u, w):
    mean = np.mean(x, axis=0)
    spread = np.var(x, axis=0, ddof=1)
    largest = np.max(x, axis=1)
    product = np.prod(x, axis=1)
    return (mean + spread) @ u + (largest * product) @ w


def rules_norms(x, w):
    centred = x / np.std(x)
    lengths = np.linalg.norm(centred, axis=1)
    return lengths @ w / np.linalg.norm(w)


def rules_choices(x, y):
    low = np.clip(x, -1.0, 1.5)
    high = np.maximum(low, y)
    entropy = np.where(x > 0, x * np.log(np.abs(x)), 0)
    return np.sum(high * np.abs(y) + entropy)


def rules_elementwise(x, y):
    soft = np.logaddexp(x, y)
    turn = np.arctan2(y, x) * np.hypot(x, y)
    return np.sum(soft * turn + np.exp(x) ** y)


def rules_exponentials(x):
    share = np.exp(x - np.log(np.sum(np.exp(x))))
    return -np.sum(share * np.log1p(share)) + np.sum(np.tanh(x))


def rules_products(a, b, x):
    pairs = np.einsum("ij,jk->ik", a, b)
    return np.trace(pairs) + x @ pairs @ x + np.sum(np.outer(x, x) * pairs)


def rules_solvers(a, b):
    x = np.linalg.solve(a, b)
    return x @ x + np.trace(np.linalg.inv(a)) + np.linalg.slogdet(a)[1]


def rules_determinants(a):
    return np.linalg.det(a) + np.trace(np.linalg.matrix_power(a, 3))


def rules_factors(a, u):
    return np.linalg.cholesky(a)[-1] @ u


def rules_eigenvalues(a, u):
    values, _ = np.linalg.eigh(a)
    return np.log(values) @ u


def rules_eigenvectors(a, u):
    values, vectors = np.linalg.eigh(a)
    return vectors[:, 0] ** 2 @ u + values[-1]


def rules_singular_values(x):
    return np.sum(np.log(np.linalg.svd(x, compute_uv=False)))


def rules_joins(x, y, c):
    joined = np.concatenate((x, y))
    rows = np.stack((x, y), axis=-1)
    padded = np.pad(x, 1)
    return joined @ c + np.sum(rows @ rows.T) + np.tile(padded, 2) @ np.repeat(padded, 2)


def rules_matrices(a, x):
    weights = np.diag(x) @ a.T + np.tril(a)
    return np.sum(np.transpose(weights.reshape(3, 3, 1), (2, 0, 1)) ** 2)


def rules_scans(x, c):
    paths = np.cumsum(x) * np.cumprod(x)
    slopes = np.diff(x) * np.gradient(x)[1:]
    return np.trapezoid(paths, dx=0.5) + np.sum(slopes) + np.sum(np.convolve(x, c))


def rules_picks(x, i, f):
    chosen = np.take(x, i) * x[i]
    lines = np.interp(x, np.array([-2.0, 0.0, 2.5]), f)
    return np.sum(chosen) + np.sort(x) @ lines + np.median(x)


def rules_spectra(x):
    power = np.abs(np.fft.rfft(x)) ** 2
    return np.sum(np.log(1 + power))


def rules_grids(a, b, c):
    x = np.linspace(a, b, 5)
    return np.sum(np.polyval(c, x) * np.average(x, weights=x * x))


class Tank:
    def __init__(self, area, level):
        self.area = area
        self.level = level
        self.history = [level]

    def fill(self, inflow, dt):
        outflow = 0.3 * math.sqrt(self.level)
        self.level += dt * (inflow - outflow) / self.area
        self.history.append(self.level)


def levels_of_a_tank(area, level, n):
    tank = Tank(area, level)
    for i in range(n):
        tank.fill(0.2 + 0.01 * i, 0.1)
    return sum(h * h for h in tank.history)


def deviations(x, center):
    total = 0.0
    for i in range(10):
        d = x * i - center
        total += abs(d) if abs(d) < 1.5 else math.hypot(d, center, 1.0)
    return total


def energy_of_a_lattice(spins, field):
    energy = 0.0
    for i in range(spins.shape[0]):
        for j in range(spins.shape[1]):
            if i == j:
                energy -= field * abs(spins[i, j])
            else:
                energy += spins[i, j] ** 2 / (1 + abs(i - j))
    return energy


def mean_energy(x, n):
    v = 0.0
    path = []
    for _ in range(n):
        v = v - 0.1 * x
        x = x + 0.1 * v
        path.append((x, v))
    energy = 0.0
    for p, q in path:
        energy += 0.5 * (p * p + q * q)
    return energy / n


def flat_view_scaled(m, c):
    u = m.copy()
    for k in range(3):
        flat = u.reshape(-1)
        flat[k] *= c
    return np.sum(u**2)
