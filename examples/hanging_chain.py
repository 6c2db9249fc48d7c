"""Newton's method with an exact Hessian: how a chain of weights on springs hangs.

The chain is fixed at both ends. Its places of rest are where the energy has no gradient; near one,
each step of Newton's method doubles the number of right digits.
"""

import numpy as np

import srcad

LINKS = 8
STIFFNESS = 40.0
WEIGHT = 1.0


def energy(free):
    """Of springs and weights, for the places of the weights as x1, y1, x2, y2, ..."""
    ends = np.array([[0.0, 0.0]]), np.array([[4.0, 0.0]])
    points = np.concatenate([ends[0], free.reshape(-1, 2), ends[1]])
    links = points[1:] - points[:-1]
    lengths = np.sqrt(np.sum(links**2, axis=1))
    return 0.5 * STIFFNESS * np.sum((lengths - 0.6) ** 2) + WEIGHT * np.sum(points[:, 1])


def rest(free):
    gradient, hessian = srcad.grad(energy), srcad.hessian(energy)
    for step in range(1, 30):
        g, h = gradient(free), hessian(free)
        print(f"step {step:2}  energy {energy(free):.12f}  largest slope {np.max(np.abs(g)):.1e}")
        if np.max(np.abs(g)) < 1e-12:
            break
        # Away from the minimum the Hessian may bend down: lift it until it does not.
        lift = max(0.0, 1.0 - np.linalg.eigvalsh(h)[0])
        free = free - np.linalg.solve(h + lift * np.eye(len(h)), g)
    return free


if __name__ == "__main__":
    along = np.arange(1, LINKS) / LINKS
    start = np.stack([4 * along, -2 * np.sin(np.pi * along)], axis=1).ravel()
    places = rest(start).reshape(-1, 2)
    print(f"lowest weight at x = {places[LINKS // 2 - 1, 0]:.6f}, y = {places[:, 1].min():.6f}")
