"""Fit a curve to measured data, with the Jacobian of the residuals.

The data and the certified answer are NIST's (see data/misra1a.csv). The method is Levenberg's: a
Gauss-Newton step, damped until it makes the fit better.
"""

from pathlib import Path

import numpy as np

import srcad

VOLUME, PRESSURE = np.loadtxt(Path(__file__).parent / "data" / "misra1a.csv", delimiter=",").T
CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])


def residuals(b):
    return b[0] * (1 - np.exp(-b[1] * PRESSURE)) - VOLUME


def fit(b, steps=200):
    jacobian = srcad.jacobian(residuals)
    damping = 1.0
    for _ in range(steps):
        r, j = residuals(b), jacobian(b)
        normal = j.T @ j
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), j.T @ r)
        better = np.sum(residuals(b - step) ** 2) < np.sum(r**2)
        b, damping = (b - step, damping / 10) if better else (b, damping * 10)
        if better and np.max(np.abs(step / b)) < 1e-12:
            break
    return b


if __name__ == "__main__":
    start = np.array([500.0, 0.0001])  # the harder of NIST's two starting points
    found = fit(start)
    print("volume = b1 * (1 - exp(-b2 * pressure))")
    for k, (mine, theirs) in enumerate(zip(found, CERTIFIED, strict=True), 1):
        print(f"b{k}  fitted {mine:.10e}  certified {theirs:.10e}")
    print(f"sum of squares  {np.sum(residuals(found) ** 2):.10f}  certified 0.1245513889")
