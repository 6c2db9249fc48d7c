"""The command line: what it prints, and the status it ends with."""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import rosen_der

from srcad.cli import main

MODEL = '''
"""A module to be differentiated."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

import srcad

scale = 2.0


def energy(w: np.ndarray, x: np.ndarray, steps: int = 3) -> float:
    h = x
    for _ in range(steps):
        h = np.tanh(w * h + x)
    return np.sum(h * w) * scale


def wave(x: np.ndarray, a: float = 2.0):
    return np.sin(x) * a


def plain(x, y):
    return x * y


def cube(x: float) -> float:
    return x**3


def cube_grad(x):
    return 3 * x * x


def wrong(x: float) -> float:
    return x**3


def wrong_der(x):
    return 2 * x**2


def other(x: float) -> float:
    return x**3


def other_jac(x, y):
    return x * y


@dataclass
class Model:
    a: float

    def loss(self, x: float) -> float:
        return self.a * x**2


def of_model(m: Model, k: Literal[2, 3], p: tuple[float, float], q: float | None) -> float:
    return m.a**k * p[0] + p[1] * q


def described(x, n, m):
    """Something.

    Parameters
    ----------
    x, m : ndarray
        Vectors
    n : int
        A count.

    Returns
    -------
    y : float
    """
    return np.sum(x * m) * n


def googled(m, c):
    """Something.

    Args:
        m (array, shape (3, 3)): a matrix
        c (float): a number
    """
    return np.trace(m @ m) * c


def matrix(m):
    """Something.

    Parameters
    ----------
    m : (N, N) array_like
        A matrix.
    """
    return np.trace(m @ m)


def keyword(x: float, *, k: float = 2.0):
    return x * k * k


def count(n: int):
    return n


def logarithm(x: float):
    return np.log(-x)


def raises(x: float):
    if x > 0:
        raise ValueError("x is positive")
    return x


def called(f, x: float):
    return f(x)


def yields(x: float):
    yield x


def prints(x: float):
    print("hello")
    return x * x


def many(x):
    return np.sum(x**2) * x


df = srcad.grad(plain, argnums=1)
number = 3
'''


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "cli_model.py"
    file.write_text(MODEL)
    return file


def run(*argv):
    """The status, and what went to the two outputs."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(a) for a in argv])
    return status, out.getvalue(), err.getvalue()


def table(text):
    """From the method to the other cells of its row."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("---"))
    header = lines[start - 1]
    places = [header.index(title) for title in ("value", "max abs", "max rel", "verdict")]
    rows = {}
    for line in lines[start + 1 :]:
        if line[:1].isupper() or line.startswith("compared"):
            break
        cells = [line[a:b].strip() for a, b in zip([0, *places], [*places, None], strict=True)]
        rows[cells[0]] = cells[1:]
    return rows


# ---- the main job


def test_show_rosen_with_check():
    status, out, err = run("show", "scipy.optimize:rosen", "--check")
    assert (status, err) == (0, "")
    assert "def rosen_grad(x):" in out
    assert "x = array([1.3, 0.7, 0.8, 1.9, 1.2])" in out
    rows = table(out)
    assert list(rows) == ["srcad, reverse", "tape", "complex step", "rosen_der"]
    for method, (value, _, relative, verdict) in rows.items():
        assert value == "[515.4, -285.4, -341.6, 2085.4, -482]"
        if method != "srcad, reverse":
            assert verdict == "agrees"
            assert float(relative) < 1e-14
    assert "All that ran agree" in out
    np.testing.assert_allclose(
        rosen_der(np.array([1.3, 0.7, 0.8, 1.9, 1.2])), [515.4, -285.4, -341.6, 2085.4, -482.0]
    )


def test_what_show_prints_is_python_with_the_derivative_in_it(model):
    status, out, _ = run("show", f"{model}:cube")
    assert status == 0
    names = {}
    exec(compile(out, "shown", "exec"), names)
    assert names["cube_grad"](2.0) == 12.0


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", ["energy", "wave", "cube", "described", "googled", "matrix", "df"])
def test_check_agrees(model, name, mode):
    given = ["--args", "2.0, 3.0"] if name == "df" else []
    status, out, err = run("check", f"{model}:{name}", "--mode", mode, *given)
    assert (status, err) == (0, "")
    rows = table(out)
    assert rows["tape"][-1] == rows["complex step"][-1] == "agrees"
    assert "def " not in out


def test_both_modes_are_compared_with_each_other(model):
    status, out, _ = run("check", f"{model}:energy", "--mode", "both", "--wrt", "w,x")
    assert status == 0
    assert list(table(out)) == ["srcad, reverse", "srcad, forward", "tape", "complex step"]


def test_a_jacobian(model):
    status, out, _ = run("check", f"{model}:wave", "--args", "np.zeros(2), 3.0")
    assert status == 0
    assert out.startswith("Jacobian of")
    assert table(out)["tape"][0] == "[[3, 0], [0, 3]]"


def test_of_a_large_jacobian_a_part_is_compared(model):
    status, out, _ = run("check", f"{model}:many", "--args", "np.linspace(1.0, 2.0, 100)")
    assert status == 0
    assert "compared: 40 of 100 rows, 40 of 100 columns" in out


def test_ir(model):
    status, out, _ = run("show", f"{model}:cube", "--ir")
    assert status == 0
    assert "function cube_grad(x: float)" in out
    assert "yield x_bar" in out
    assert "def " not in out


def test_show_runs_nothing_without_check(model):
    assert run("show", f"{model}:raises", "--args", "1.0")[0] == 0
    assert run("show", f"{model}:raises", "--args", "1.0", "--check")[0] == 2


def test_what_the_function_prints_is_not_in_the_way(model):
    status, out, _ = run("check", f"{model}:prints")
    assert status == 0
    assert "hello" not in out


# ---- disagreement


def test_a_difference_is_seen_and_the_status_says_so(model):
    status, out, _ = run("check", f"{model}:wrong")
    assert status == 1
    assert table(out)["wrong_der"][-1] == "DIFFERS"
    assert table(out)["tape"][-1] == "agrees"
    assert "There are differences" in out


def test_a_wrong_engine_is_seen(model, monkeypatch):
    import srcad.cli.compare as compare_module

    own = compare_module._Check.own
    monkeypatch.setattr(compare_module._Check, "own", lambda self, shown: own(self, shown) * 1.001)
    status, out, _ = run("check", f"{model}:cube")
    assert status == 1
    assert {row[-1] for name, row in table(out).items() if name != "srcad, reverse"} == {"DIFFERS"}


def test_a_derivative_beside_the_function_is_compared(model):
    status, out, _ = run("check", f"{model}:cube")
    assert status == 0
    assert table(out)["cube_grad"][-1] == "agrees"


def test_one_with_other_arguments_is_not(model):
    status, out, _ = run("check", f"{model}:other")
    assert status == 0
    assert table(out)["other_jac"][-1].startswith("not run: TypeError")


# ---- arguments


def test_the_point_is_stated_with_where_it_comes_from(model):
    _, out, _ = run("check", f"{model}:described")
    assert "x = array([1.3, 0.7, 0.8, 1.9, 1.2]), n = 3, m = array([" in out
    assert "x by its docstring" in out
    _, out, _ = run("check", f"{model}:wave")
    assert "a = 2.0" in out
    assert "a by its default" in out


def test_examples_for_nested_annotations(model):
    status, out, _ = run("check", f"{model}:of_model", "--wrt", "p,q,m")
    assert status == 0
    assert "m = Model(a=1.3), k = 2, p = (0.7, 0.8), q = 1.9" in out


def test_arguments_by_expression(model):
    status, out, _ = run(
        "check", f"{model}:Model.loss", "--args", "Model(2.0), x=1.5", "--wrt", "x"
    )
    assert status == 0
    assert table(out)["tape"][0] == "6"


def test_arguments_from_a_file(model, tmp_path):
    by_name, in_order = tmp_path / "named.npz", tmp_path / "ordered.npz"
    np.savez(by_name, w=np.ones(2), x=np.zeros(2), steps=1)
    np.savez(in_order, np.ones(2), np.zeros(2), 1)
    for file in (by_name, in_order):
        status, out, _ = run("check", f"{model}:energy", "--args", file)
        assert status == 0
        assert "w = array([1., 1.]), x = array([0., 0.]), steps = 1" in out


def test_wrt_by_name_by_position_and_by_keyword(model):
    by_name = table(run("check", f"{model}:plain", "--args", "2.0, 3.0", "--wrt", "y")[1])
    by_position = table(run("check", f"{model}:plain", "--args", "2.0, 3.0", "--wrt", "1")[1])
    assert by_name == by_position
    assert by_name["tape"][0] == "2"
    by_keyword = table(run("check", f"{model}:keyword", "--wrt", "k")[1])
    assert by_keyword["tape"][0] == "5.2"


def test_a_derivative_object_is_checked_as_the_function_it_belongs_to(model):
    _, out, _ = run("check", f"{model}:df", "--args", "2.0, 3.0")
    assert table(out)["tape"][0] == "2"
    assert out.splitlines()[0].endswith("by y")


# ---- emit


def test_emit_saves_a_module(model, tmp_path, monkeypatch):
    file = tmp_path / "saved_grad.py"
    status, out, _ = run("emit", f"{model}:energy", "-o", file)
    assert status == 0
    assert out == f"{file}: energy_grad\n"
    assert "What energy reads from outside comes last: scale" in file.read_text()
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = importlib.util.spec_from_file_location("saved_grad", file)
    saved = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(saved)
    w, x = np.array([0.5, 0.7]), np.array([0.1, 0.3])
    import srcad

    energy = sys.modules["cli_model"].energy
    np.testing.assert_array_equal(saved.energy_grad(w, x, 3, 2.0), srcad.grad(energy)(w, x, 3))


def test_emit_writes_exceptions_out(tmp_path):
    model = tmp_path / "raising.py"
    model.write_text(
        "def area(x):\n    a, b = x\n    if a < 0:\n        raise KeyError('side', 1)\n"
        "    return a * b\n"
    )
    file = tmp_path / "raising_grad.py"
    status, _, _ = run("emit", f"{model}:area", "--args", "np.array([2.0, 3.0])", "-o", file)
    assert status == 0
    text = file.read_text()
    assert "raise ValueError('expected 2 values to unpack')" in text
    namespace = {}
    exec(text, namespace)
    np.testing.assert_array_equal(namespace["area_grad"](np.array([2.0, 3.0])), [3.0, 2.0])
    for _ in range(2):
        with pytest.raises(ValueError, match="expected 2 values"):
            namespace["area_grad"](np.ones(3))


SAVED = """
import numpy as np

scale = 2.0


def wave(x, a=2.0, *, shift=None, n=3):
    return np.sin(x) * a * n


def scaled(x, a=2.0):
    return np.sin(x) * a * scale


def named(x, how="twice", a=2.0):
    return x * a * (2 if how == "twice" else 3)


def several(*xs, a=2.0):
    return sum(xs) * a
"""


@pytest.mark.parametrize(
    ("name", "given", "calls"),
    [
        ("wave", "1.5", [((0.0,), 6.0), ((0.0, 5.0), 15.0), ((0.0, 5.0, None, 1), 5.0)]),
        ("scaled", "1.5", [((0.0, 5.0, 3.0), 15.0)]),
        ("named", "1.5, 'thrice'", [((0.0, "thrice", 5.0), 15.0), ((0.0, "thrice"), 6.0)]),
        ("several", "1.5, 2.5", [((0.0, 0.0), 2.0), ((0.0, 0.0, 5.0), 5.0)]),
    ],
)
def test_emit_leaves_defaults_open(tmp_path, name, given, calls):
    model, file = tmp_path / f"with_defaults_{name}.py", tmp_path / "saved.py"
    model.write_text(SAVED)
    assert run("emit", f"{model}:{name}", "--args", given, "-o", file)[0] == 0
    space = {}
    exec(file.read_text(), space)
    derivative = space[f"{name}_grad"]
    for args, value in calls:
        assert derivative(*args) == value
    if name == "named":  # the text is for another word than the default
        with pytest.raises(TypeError, match="missing"):
            derivative(0.0)


def test_a_point_may_begin_with_a_minus(model):
    for given in (["--args", "-0.5,1.0"], ["--args=-0.5,1.0"], ["--args", "-np.ones(()),2.0"]):
        status, out, err = run("show", f"{model}:plain", *given)
        assert status == 0, err
        assert "x * y" in out or "return y" in out
    with pytest.raises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
        main(["show", f"{model}:plain", "--args", "--check"])
    assert "expected one argument" in said.getvalue()


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nothing"], "'nothing' names no function"),
        (["show", "no_such_module_here:f"], "there is no module 'no_such_module_here'"),
        (["show", "no_such_file.py:f"], "there is no file no_such_file.py"),
        (
            ["show", "{}:energi"],
            "module cli_model has no function 'energi'\n    it has energy,",
        ),
        (["show", "{}:number"], "is no function, but of type int"),
        (["show", "{}:plain"], "x has no annotation, no default and no line in the docstring"),
        (["show", "{}:Model.loss"], "it is a method"),
        (["show", "{}:called"], "no example arguments can be guessed"),
        (["show", "{}:count"], "no argument of"),
        (["show", "{}:plain", "--args", "1.0"], "missing a required argument: 'y'"),
        (["show", "{}:plain", "--args", "1.0,, 2"], "cannot be evaluated: SyntaxError"),
        (["show", "{}:plain", "--args", "unknown_name, 2"], "cannot be evaluated: NameError"),
        (["show", "{}:plain", "--args", "no_such_file.npz"], "cannot be read"),
        (["show", "{}:plain", "--args", "1.0, 2.0", "--wrt", "z"], "is called with x, y"),
        (["show", "{}:yields"], "'yield' is not supported in differentiated functions"),
        (["show", "{}:plain", "--args", "1, 2.0", "--wrt", "x"], "x is an int"),
        (["check", "{}:logarithm"], "choose other arguments"),
        (["check", "{}:raises"], "raises ValueError at x = 1.3: x is positive"),
    ],
)
def test_refused_with_a_message_and_status_2(model, arguments, message):
    status, out, err = run(*(a.format(model) for a in arguments))
    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_wrong_options():
    with pytest.raises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
        main(["show", "scipy.optimize:rosen", "--mode", "sideways"])
    assert ended.value.code == 2


# ---- as a command


def command(*argv, **options):
    return subprocess.run(
        [sys.executable, "-m", "srcad.cli", *map(str, argv)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        **options,
    )


def test_the_status_of_the_command(model):
    assert command("check", f"{model}:cube").returncode == 0
    assert command("check", f"{model}:wrong").returncode == 1
    done = command("check", f"{model}:nothing")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_modules_are_found_in_the_working_folder(model):
    assert command("check", "cli_model:cube", cwd=model.parent).returncode == 0


def test_a_file_next_to_the_module_can_be_imported(tmp_path):
    (tmp_path / "next_to_it.py").write_text("def double(x):\n    return 2 * x\n")
    file = tmp_path / "importing.py"
    file.write_text("import next_to_it\n\ndef f(x: float):\n    return next_to_it.double(x) * x\n")
    done = command("check", f"{file}:f", cwd=Path(__file__).parent)
    assert (done.returncode, done.stderr) == (0, "")
