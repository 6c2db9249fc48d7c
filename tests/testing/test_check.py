"""check_grads: it accepts what is right, names what is wrong, and says what it compared."""

import dataclasses
import math
import subprocess
import sys
import types

import numpy as np
import pytest

from srcad.testing import (
    GradientMismatch,
    NoOracle,
    check_grads,
    check_rule,
    reference_gradients,
    reference_jvp,
    trees,
)

X = np.array([0.3, -0.8, 1.1])


def energy(x, n):
    total = 0.0
    for k in range(n):
        total += math.sin(float(x[k])) * x[k]
    return total


def scaled(tree, factor):
    return trees.map_leaves(lambda leaf: leaf * factor, tree)


@pytest.fixture
def wrong(oracle):
    """Engines with one derivative scaled by 1.001."""

    def make(which):
        def jvp(f, primals, tangents):
            out, tangent = oracle.jvp(f, primals, tangents)
            return out, scaled(tangent, 1.001 if which == "jvp" else 1.0)

        def vjp(f, *primals):
            out, pullback = oracle.vjp(f, *primals)
            return out, lambda ct: scaled(pullback(ct), 1.001 if which == "vjp" else 1.0)

        def grad(f, argnums=0):
            g = oracle.grad(f, argnums)
            return lambda *args: scaled(g(*args), 1.001 if which == "grad" else 1.0)

        return types.SimpleNamespace(jvp=jvp, vjp=vjp, grad=grad)

    return make


@pytest.mark.parametrize("which", ["jvp", "vjp", "grad"])
def test_a_derivative_off_by_a_thousandth_is_caught(which, wrong):
    check_grads(energy, (X, 3), engine=wrong("none"))
    with pytest.raises(GradientMismatch, match=which):
        check_grads(energy, (X, 3), engine=wrong(which))


@pytest.mark.parametrize("order", [1, 2])
def test_the_message_names_argument_entry_and_methods(oracle, order):
    def vjp(f, *primals):
        out, pullback = oracle.vjp(f, *primals)

        def off(ct):
            a, p = pullback(ct)
            p["w"][1, 0] *= 1.001
            return a, p

        return out, off

    engine = types.SimpleNamespace(jvp=oracle.jvp, vjp=vjp, grad=oracle.grad)

    def f(a, p):
        return np.sum(np.sin(a * p["w"]))

    with pytest.raises(GradientMismatch) as caught:
        check_grads(f, (1.5, {"w": np.ones((2, 2))}), ("rev",), order, engine=engine)
    message = str(caught.value)
    assert "argument 1['w'][1, 0]" in message
    assert "engine" in message
    assert "tape" in message
    assert isinstance(caught.value, AssertionError)


def test_a_zero_where_there_is_none_is_caught(oracle):
    engine = types.SimpleNamespace(
        jvp=lambda f, x, v: (f(*x), 0.0 * f(*x)), vjp=oracle.vjp, grad=oracle.grad
    )
    with pytest.raises(GradientMismatch):
        check_grads(energy, (X, 3), ("fwd",), engine=engine)


@pytest.mark.parametrize(
    "answer", [np.zeros((1, 3)), None, np.zeros(3, int), np.zeros(3, complex)], ids=repr
)
def test_shapes_and_types_are_checked(oracle, answer):
    engine = types.SimpleNamespace(
        jvp=oracle.jvp, grad=oracle.grad, vjp=lambda f, *x: (f(*x), lambda ct: (answer,))
    )
    with pytest.raises(GradientMismatch):
        check_grads(lambda x: np.sum(x) * 0.0, (X,), ("rev",), engine=engine)


@pytest.mark.parametrize("which", ["jvp", "vjp"])
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_wrong_second_derivatives_are_caught(oracle, which, mode):
    # Right at first order: only a derivative of a derivative is off.
    depth = 0

    def nested(method):
        def run(f, *args):
            nonlocal depth
            depth += 1
            try:
                return getattr(oracle, method)(f, *args)
            finally:
                depth -= 1

        return run

    def jvp(f, primals, tangents):
        out, tangent = nested("jvp")(f, primals, tangents)
        return out, tangent if which == "vjp" or not inner(f) else scaled(tangent, 1.001)

    def vjp(f, *primals):
        out, pullback = nested("vjp")(f, *primals)
        if which == "jvp" or not inner(f):
            return out, pullback
        return out, lambda ct: scaled(pullback(ct), 1.001)

    def inner(f):
        return f is not energy_of_array

    outer = {"jvp": "fwd", "vjp": "rev"}[which]
    engine = types.SimpleNamespace(jvp=jvp, vjp=vjp, grad=oracle.grad)
    modes = tuple(dict.fromkeys((outer, mode)))
    check_grads(energy_of_array, (X,), modes, engine=engine)
    with pytest.raises(GradientMismatch, match=f"{which} over"):
        check_grads(energy_of_array, (X,), modes, order=2, engine=engine)


def energy_of_array(x):
    return np.sum(np.sin(x) * x**2)


def test_the_report_lists_what_was_compared(oracle):
    report = check_grads(energy, (X, 3), order=2, engine=oracle)
    assert set(report.compared) == {
        "jvp", "<ct, jvp>", "vjp", "<vjp, v>", "grad",
        "jvp over jvp", "vjp over jvp", "jvp over vjp", "vjp over vjp",
    }  # fmt: skip
    assert report.compared["jvp"] == ("dual numbers", "complex step", "differences")
    assert not report.skipped
    assert "agrees with" in str(report)


def test_methods_that_can_not_run_are_reported(oracle):
    def with_qr(x):
        return np.linalg.qr(x.reshape(1, 3).T)[1][0, 0]

    engine = types.SimpleNamespace(
        jvp=lambda f, x, v: (f(*x), np.float64(x[0] @ v[0] / f(*x))),
        vjp=lambda f, x: (f(x), lambda ct: (ct * x / f(x),)),
        grad=lambda f, argnums: lambda x: (x / f(x),),
    )
    report = check_grads(with_qr, (X,), engine=engine)
    assert report.compared["jvp"] == ("differences",)
    assert {"tape", "dual numbers", "complex step"} <= set(report.skipped)
    assert "qr" in report.skipped["tape"]


def test_nothing_compared_is_an_error(oracle):
    def jumps(x):
        return np.linalg.qr(np.floor(x.reshape(1, 3)).T)[1][0, 0]

    with pytest.raises(NoOracle):
        check_grads(jumps, (np.array([1.0, 2.0, 3.0]),), engine=oracle)


def test_a_lifted_function_that_takes_another_way_is_not_trusted(oracle):
    def sees_through(x):
        return x * (2.0 if type(x).__name__ == "Handle" or hasattr(x, "content") else 1.0)

    report = check_grads(
        sees_through,
        (X,),
        engine=types.SimpleNamespace(
            jvp=lambda f, x, v: (f(*x), v[0]), vjp=lambda f, x: (f(x), lambda ct: (ct,))
        ),
    )
    assert "another value" in report.skipped["dual numbers"]
    assert report.compared["jvp"] == ("differences",)


@dataclasses.dataclass
class Params:
    w: np.ndarray
    steps: int
    scale: float


def model(p, data, flag):
    w, out = p.w, []
    for _ in range(p.steps):
        w = np.tanh(w * p.scale + data[0])
        out.append(w.sum())
    return {"out": out, "last": (w, data[1]["n"]), "flag": flag}


def test_nested_arguments_and_outputs(oracle):
    p = Params(X, 2, 0.7)
    check_grads(model, (p, (0.4, {"n": 3}), "yes"), order=2, engine=oracle)
    check_grads(model, (p, (0.4, {"n": 3}), "yes"), argnums=0, engine=oracle)
    check_grads(model, (p, (0.4, {"n": 3})), kwargs={"flag": None}, engine=oracle)


@pytest.mark.parametrize("argnums", [0, 2, (0, 2), (2,), None, -1])
def test_argnums(argnums, oracle):
    def f(x, n, y):
        return x**n * y

    report = check_grads(f, (1.2, 3, 0.8), argnums=argnums, order=2, engine=oracle)
    assert "jvp over vjp" in report.compared


def test_single_precision_is_compared_as_such(oracle):
    check_grads(lambda x: np.sum(np.sin(x) * x), (X.astype(np.float32),), engine=oracle)


def test_wrong_requests():
    with pytest.raises(ValueError, match="order"):
        check_grads(energy, (X, 3), order=3)
    with pytest.raises(ValueError, match="modes"):
        check_grads(energy, (X, 3), modes=("backwards",))
    with pytest.raises(ValueError, match="nothing|anything"):
        check_grads(lambda n: n, (3,), engine=object())


def test_references():
    gradient = reference_gradients(energy, (X, 3))
    np.testing.assert_allclose(gradient, np.sin(X) + X * np.cos(X), rtol=1e-14)
    assert reference_gradients(lambda x, y: x * y, (2.0, 3.0), (0, 1)) == (3.0, 2.0)
    assert reference_gradients(lambda x, y: x * x, (2.0, 3.0), 1) == 0.0
    assert reference_jvp(lambda x: x * x, (3.0,), (1.0,)) == (9.0, 6.0)
    with pytest.raises(TypeError, match="one number"):
        reference_gradients(lambda x: x, (X,))


def test_the_oracle_does_not_import_the_compiler():
    # The package itself is imported on the way, so its parts are hidden first.
    code = """
import sys, types
root = types.ModuleType("srcad")
root.__path__ = [sys.argv[1]]
sys.modules["srcad"] = root
import srcad.testing
loaded = {m for m in sys.modules if m.startswith("srcad.")}
assert all(m.split(".")[1] == "testing" for m in loaded), loaded
third = {m.partition(".")[0] for m in sys.modules} - set(sys.stdlib_module_names)
print(sorted(m for m in third if not m.startswith("_")))
"""
    import srcad

    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {sys.path!r}\n{code}",
            srcad.__path__[0],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(eval(done.stdout)) <= {"numpy", "srcad"}


def by_rule(x, y=2.0):
    return np.hypot(x, y)


def test_a_rule_is_checked_to_second_order():
    from srcad import rules

    report = check_rule(np.hypot, 3.0, np.array([4.0, 0.5]))
    assert "differences" in report.compared["jvp of that"]
    check_rule(np.sum, np.ones((2, 3)), axis=1)

    def at(factor):
        @rules.differential(by_rule, replace=True)
        def by_rule_differential(x, y=2.0, *, dx, out):
            return factor(x) * over_out(x, out) * dx

    def over_out(x, out):
        return x / out

    at(lambda x: 1.0)
    check_rule(by_rule, np.array([4.0, 0.5]), y=0.7)
    at(lambda x: 1.001)
    with pytest.raises(GradientMismatch):
        check_rule(by_rule, np.array([4.0, 0.5]), y=0.7)
