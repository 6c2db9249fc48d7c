"""Read a derivative, save it, and use it where srcad is not installed.

A generated module imports what it needs and nothing else: NumPy here; where code has to decide at
run time, `srcad.runtime` as well.
"""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np

import srcad


def swing(angles: np.ndarray, k: float) -> float:
    twist = angles[1:] - angles[:-1]
    return k * np.sum(1 - np.cos(twist)) - np.sum(np.cos(angles))


if __name__ == "__main__":
    angles = np.array([0.1, 0.4, -0.3, 0.2])
    gradient = srcad.grad(swing)
    source = gradient.source_for(angles, 2.0)
    print(source)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "swing_grad.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        saved = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(saved)
    print("saved:", saved.swing_grad(angles, 2.0))
    print("srcad:", gradient(angles, 2.0))
    print("needs srcad:", " import runtime" in source)
