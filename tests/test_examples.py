"""Each example runs by itself, without a warning, and prints what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def outputs():
    return {}


def output(outputs, name):
    if name not in outputs:
        done = subprocess.run(
            [sys.executable, "-W", "error", FOLDER / f"{name}.py"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        outputs[name] = done.stdout
    return outputs[name]


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?", text)]


def test_fit_adsorption(outputs):
    text = output(outputs, "fit_adsorption")
    for line in text.splitlines()[1:3]:
        _, fitted, certified = numbers(line)
        assert fitted == pytest.approx(certified, rel=1e-9)
    squares, certified = numbers(text.splitlines()[3])
    assert squares == pytest.approx(certified, abs=1e-10)


def test_throw_a_ball(outputs):
    lines = output(outputs, "throw_a_ball").splitlines()
    by_angle, by_differences = numbers(lines[2])
    assert by_angle == pytest.approx(by_differences, abs=2e-6)
    assert numbers(lines[3])[1] >= numbers(lines[0])[1]


def test_hanging_chain(outputs):
    lines = output(outputs, "hanging_chain").splitlines()
    slopes = [numbers(line)[2] for line in lines[:-1]]
    assert slopes[-1] < 1e-12
    # Each step squares the error: right digits double.
    assert slopes[-2] > 1e-9 or slopes[-3] > 1e-9
    x, y = numbers(lines[-1])
    assert x == pytest.approx(2.0, abs=1e-6)
    assert y < 0


def test_train_a_network(outputs):
    losses = [numbers(line)[1] for line in output(outputs, "train_a_network").splitlines()]
    assert losses[-1] < losses[0] / 100


def test_option_prices(outputs):
    lines = output(outputs, "option_prices").splitlines()
    # The textbook formulas at these terms.
    assert numbers(lines[0]) == [5.376621]
    assert numbers(lines[1]) == [0.447871, 0.022375]
    assert numbers(lines[2]) == [27.968309, 0.487008]


def test_read_and_save(outputs):
    text = output(outputs, "read_and_save")
    assert "def swing_grad(angles, k):" in text
    saved, own, needs = text.splitlines()[-3:]
    assert saved.removeprefix("saved") == own.removeprefix("srcad")
    assert needs == "needs srcad: False"


def test_every_example_is_run(outputs, request):
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")} - {
        "test_every_example_is_run".removeprefix("test_")
    }
    assert {file.stem for file in FOLDER.glob("*.py")} == tested
