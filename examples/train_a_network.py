"""An optimiser made of closures trains a small network, whose parameters are in a dict.

`make_loss` closes over the data, `make_adam` over the state of Adam (Kingma and Ba, 2015). The
gradient of a dict of arrays is a dict of arrays.
"""

import numpy as np

import srcad


def make_loss(x, target):
    def loss(p):
        hidden = np.tanh(x @ p["w1"] + p["b1"])
        out = hidden @ p["w2"] + p["b2"]
        return np.mean((out - target) ** 2)

    return loss


def make_adam(loss, params, rate=0.05):
    value_and_grad = srcad.value_and_grad(loss)
    mean = {name: np.zeros_like(p) for name, p in params.items()}
    square = {name: np.zeros_like(p) for name, p in params.items()}
    count = 0

    def step(params):
        nonlocal count, mean, square
        count += 1
        value, g = value_and_grad(params)
        mean = {k: 0.9 * mean[k] + 0.1 * g[k] for k in g}
        square = {k: 0.999 * square[k] + 0.001 * g[k] ** 2 for k in g}
        m = {k: mean[k] / (1 - 0.9**count) for k in g}
        s = {k: square[k] / (1 - 0.999**count) for k in g}
        return value, {k: params[k] - rate * m[k] / (np.sqrt(s[k]) + 1e-8) for k in g}

    return step


if __name__ == "__main__":
    random = np.random.default_rng(1)
    x = np.linspace(-2.0, 2.0, 40).reshape(-1, 1)
    params = {
        "w1": random.normal(size=(1, 12)),
        "b1": np.zeros(12),
        "w2": random.normal(size=(12, 1)) * 0.3,
        "b2": np.zeros(1),
    }
    step = make_adam(make_loss(x, np.sin(2 * x)), params)
    for k in range(601):
        value, params = step(params)
        if k % 150 == 0:
            print(f"step {k:3}  loss {value:.6f}")
