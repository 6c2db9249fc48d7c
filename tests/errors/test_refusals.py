"""What has no derivative is refused: the argument by its name, the function by its place."""

import contextlib
import dataclasses
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import traceback
from collections import defaultdict, deque
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sc

import srcad
from srcad.errors import (
    MissingRule,
    NotDifferentiable,
    SourceUnavailable,
    UnsupportedSyntax,
    UnsupportedValue,
)


def f(x, y, mode="a"):
    return x * x * y


def squares(x):
    return x * x


def of_dict(p, n):
    return p["a"][0] * p["b"]


@dataclasses.dataclass
class Settings:
    scale: float
    count: int


def refused(attempt, *parts, place="def "):
    with pytest.raises(NotDifferentiable) as found:
        attempt()
    error = found.value
    text = str(error)
    for part in parts:
        assert part in text, text
    assert error.file == __file__
    assert place in error.text
    assert error.hint
    assert error.__cause__ is None
    return error


@pytest.mark.parametrize(
    ("argnums", "args", "parts"),
    [
        (0, (3, 2.0), ("x is an int", "3.0 instead of 3", "leave x out")),
        ("y", (3.0, 2), ("y is an int",)),
        (-1, (3.0, 2), ("mode is a str",)),
        (2, (3.0, 2.0, "b"), ("mode is a str",)),
        (0, (True, 2.0), ("x is a bool",)),
        (0, (None, 2.0), ("x is None",)),
        (0, (np.int64(3), 2.0), ("x is a NumPy int64", "float(x)")),
        (0, (np.arange(3), 2.0), ("x is an array of dtype int64", "x.astype(float)")),
        (0, (np.ones(3, bool), 2.0), ("x is an array of dtype bool",)),
        (0, (np.array([1.0], object), 2.0), ("x is of type object",)),
        (0, (Fraction(1, 2), 2.0), ("x is of type Fraction",)),
        ((0, "x"), (3.0, 2.0), ("has x twice",)),
        (5, (3.0, 2.0), ("argnums is 5",)),
        ("q", (3.0, 2.0), ("'q'", "its arguments are x, y")),
    ],
)
def test_arguments(argnums, args, parts):
    for transform in (srcad.grad, srcad.jacfwd, srcad.jacrev, srcad.derivative):
        error = refused(lambda: transform(f, argnums)(*args), *parts)
        assert error.line == f.__code__.co_firstlineno


def test_arguments_in_containers():
    def grad(p):
        return srcad.grad(of_dict)(p, 1)

    refused(lambda: grad({"a": [1, 2.0], "b": 2.0}), "p['a'] is a list with integers")
    refused(lambda: grad({"a": [1, 2], "b": 2.0}), "p['a'] is a list of int", "1.0 for 1")
    refused(lambda: grad({"a": (1.0, 2), "b": 2.0}), "p['a'][1] is an int")
    refused(
        lambda: grad({"a": (1.0, "s"), "b": 2.0}),
        "p['a'][1] is a str",
        "pass p['a'][1] in an argument of its own",
    )
    refused(lambda: grad({"a": (1.0, False), "b": 2.0}), "p['a'][1] is a bool")
    refused(lambda: grad({"a": (1.0,), "b": np.arange(2)}), "p['b'] is an array of dtype int64")
    refused(lambda: srcad.grad(lambda s: s.scale)(Settings(1.0, 2)), "s.count is an int", place="s")


def test_the_place_inside_a_function_is_that_of_the_call():
    def outer(x):
        return srcad.grad(f)(2, x)

    refused(lambda: srcad.grad(outer)(2.0), "x is an int", place="srcad.grad(f)(2, x)")


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (lambda x: x * np.ones(3), "an array"),
        (lambda x: x * np.ones(1), "an array"),
        (lambda x: None, "None"),
        (lambda x: "a", "a str"),
        (lambda x: f"{x}", "a str"),
        (lambda x: x * 1j, "a complex number"),
        (lambda x: (x, x), "a tuple"),
        (lambda x: [x, x], "a list"),
        (lambda x: {"a": x}, "a dict"),
        (lambda x: int(x), "an int"),
        (lambda x: x > 1, "a bool"),
        (lambda x: np.array([1, 2]), "an array"),
    ],
)
def test_results(result, part):
    error = refused(lambda: srcad.grad(result)(1.5), "one real scalar", part, place="lambda")
    assert error.line == result.__code__.co_firstlineno
    refused(lambda: srcad.value_and_grad(result)(1.5), part, place="lambda")


def test_results_of_jacobians():
    refused(lambda: srcad.jacrev(lambda x: None)(1.5), "returns None", place="lambda")
    refused(lambda: srcad.jacrev(lambda x: np.array([1, 2]))(1.5), "i8", place="lambda")
    parts = "a list whose length is known at run time only", "pass one"
    refused(lambda: srcad.hessian(lambda xs: xs[0] ** 3)([1.5, 2.0]), *parts, place="lambda")


def test_aux_that_is_missing():
    refused(lambda: srcad.grad(squares, has_aux=True)(1.5), "has_aux=True")


def test_derivative_is_by_a_number():
    refused(lambda: srcad.derivative(squares)(np.ones(2)), "x is f8", "jacobian")


def test_points():
    refused(lambda: srcad.vjp(f, 1.0, 2), "y is an int")
    refused(lambda: srcad.jvp(f, (1.0, 2), (1.0, 1)), "y is an int")
    refused(lambda: srcad.hvp(squares, (np.ones(2),), (np.ones(2),)), "one real scalar")


def test_cotangents_and_tangents_of_another_structure():
    x = np.ones(3)
    for value, ct in [
        (x, np.ones(2)),
        (2.0, np.ones(2)),
        (x, 1.0),
        (x, x * 1j),
        (x, None),
        (x, "s"),
    ]:
        with pytest.raises(UnsupportedValue, match="cotangent"):
            srcad.vjp(squares, value)[1](ct)
        with pytest.raises(UnsupportedValue, match="tangent"):
            srcad.jvp(squares, (value,), (ct,))
    with pytest.raises(UnsupportedValue, match="tuple of 2"):
        srcad.vjp(lambda x: (x, x), 2.0)[1]((1.0,))
    with pytest.raises(UnsupportedValue, match="keys"):
        srcad.vjp(lambda x: {"a": x}, 2.0)[1]({"b": 1.0})
    with pytest.raises(TypeError, match="one for each"):
        srcad.jvp(f, (1.0, 2.0), (1.0,))
    with pytest.raises(TypeError, match="tuple of primals"):
        srcad.jvp(squares, 1.0, 1.0)


@pytest.mark.parametrize("cls", [np.matrix, np.ma.MaskedArray])
def test_arrays_whose_operators_differ(cls):
    array = np.array([[1.0, 2.0]]).view(cls)
    with pytest.raises(UnsupportedValue, match=r"np\.asarray\(x\)"):
        srcad.grad(lambda x: np.sum(x * x))(array)


def test_what_is_no_function():
    with pytest.raises(UnsupportedValue, match=r"srcad.grad\(f\)\(x\)"):
        srcad.grad(3.0)


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (3.0, float),
        (np.float64(3.0), float),
        (np.float32(3.0), np.float32),
        (np.longdouble(3.0), np.longdouble),
        (np.array(3.0), np.ndarray),
    ],
)
def test_kinds_of_gradients_of_numbers(x, kind):
    gradient = srcad.grad(squares)(x)
    assert isinstance(gradient, kind)
    assert gradient == 6.0
    assert np.shape(gradient) == ()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_dtypes_of_gradients_of_arrays(dtype):
    x = np.ones(2, dtype)
    gx, gy = srcad.grad(lambda x, y: np.sum(x * y), (0, 1))(x, np.ones(2))
    assert (gx.dtype, gy.dtype) == (dtype, np.float64)
    assert srcad.grad(lambda x: np.sum(x * x))(x).dtype == dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s: np.sum(x) * s,
        lambda x, s: np.max(x * x) * np.float64(3),
        lambda x, s: np.sum(np.array([s]) * x),
        lambda x, s: x[0] * s + np.sum(np.sin(x)),
    ],
)
@pytest.mark.parametrize("s", [2.0, np.float64(2.0)])
def test_gradients_by_arrays_of_single_precision_stay_so(function, s):
    x = np.array([1.0, 2.0], np.float32)
    gradient = srcad.grad(function)(x, s)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, srcad.grad(function)(x.astype(float), s), rtol=1e-6)


def none_after_all(x):
    for k in range(3):
        if x * k > 10.0:
            return x * x


@pytest.mark.parametrize(
    "derivative", [srcad.grad, srcad.value_and_grad, srcad.derivative, srcad.jacfwd, srcad.jacrev]
)
def test_a_result_that_is_none_at_run_time(derivative):
    assert np.max(derivative(none_after_all)(20.0)) in (40.0, 400.0)
    with pytest.raises(TypeError, match="returned None"):
        derivative(none_after_all)(2.0)


def triangular(a):
    return np.sum(sl.schur(a)[0])


def beside_a_constant(a):
    return np.sum(sl.schur(np.eye(2))[0] @ a)


def test_what_is_known_to_have_no_rule_says_what_to_write_instead():
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    with pytest.raises(MissingRule, match="schur has no derivative rule") as found:
        srcad.grad(triangular)(a)
    assert found.value.hint == "use eigh of a symmetric matrix, else eig"
    assert found.value.file == __file__
    assert np.array_equal(srcad.grad(beside_a_constant)(a), np.ones((2, 2)))


def deviates(x):
    y = 2 * x
    return statistics.NormalDist(0.0, 1.0).inv_cdf(y)


@pytest.mark.parametrize("derivative", [srcad.grad, srcad.derivative, srcad.jacobian])
def test_what_is_refused_in_a_library_tells_the_line_that_called_it(derivative):
    with pytest.raises(MissingRule) as found:
        derivative(deviates)(0.2)
    assert found.value.file == statistics.__file__
    (call,) = found.value.place.callers
    assert (call.file, call.text.strip()) == (
        __file__,
        "return statistics.NormalDist(0.0, 1.0).inv_cdf(y)",
    )
    assert f"called at {call}: {call.text.strip()}" in str(found.value)
    assert "declare a rule for what you call of it" in str(found.value)
    frames = traceback.extract_tb(found.tb)
    assert not any("frontend" in frame.filename for frame in frames)


_made = {}
exec("def made(x):\n    return x * x\n", _made)


def calls_what_has_no_source(x):
    return _made["made"](x) + 1


def test_what_has_no_source_is_told_where_it_is_called():
    with pytest.raises(SourceUnavailable, match="source of 'made' cannot be found") as found:
        srcad.grad(calls_what_has_no_source)(0.2)
    assert (found.value.file, found.value.text.strip()) == (
        __file__,
        'return _made["made"](x) + 1',
    )


class Spring:
    def __init__(self, k, x):
        self.k = k
        self.x = np.asarray(x)

    def energy(self):
        return self.k * np.sum(self.x**2)


@dataclasses.dataclass
class Coil(Spring):
    k: float
    x: np.ndarray


def of_a_spring(spring):
    return spring.energy()


def of_its_numbers(k, x):
    return Spring(k, x).energy()


def test_a_method_by_its_object():
    x = np.array([1.0, 2.0])
    for function in (Spring.energy, of_a_spring):
        with pytest.raises(NotDifferentiable, match="is a Spring: a derivative by it") as found:
            srcad.grad(function)(Spring(3.0, x))
        assert "make Spring a dataclass of floats" in found.value.hint
        assert "a function that takes these as arguments" in found.value.hint
    slope, slopes = srcad.grad(of_its_numbers, argnums=(0, 1))(3.0, x)
    assert slope == 5.0
    for function in (Coil.energy, of_a_spring):  # as the message says
        by_fields = srcad.grad(function)(Coil(3.0, x))
        assert type(by_fields) is Coil
        assert by_fields.k == 5.0
        np.testing.assert_array_equal(by_fields.x, slopes)
    for thing in (Spring(3.0, x), Coil(3.0, x)):
        with pytest.raises(NotDifferentiable, match="number of positional arguments is 0") as found:
            srcad.grad(thing.energy)()
        assert found.value.hint.endswith("make it an argument: Spring.energy")


def mean(x):
    return statistics.fmean([x, 2 * x])


@pytest.mark.parametrize("derivative", [srcad.grad, srcad.derivative])
def test_what_syntax_rules_out_in_a_library_tells_the_line_that_called_it(derivative):
    with pytest.raises(UnsupportedSyntax, match="'yield' is not supported") as found:
        derivative(mean)(0.2)
    assert found.value.file == statistics.__file__
    (call,) = found.value.place.callers
    assert (call.file, call.text.strip()) == (__file__, "return statistics.fmean([x, 2 * x])")
    assert f"called at {call}: {call.text.strip()}" in str(found.value)
    assert "declare a rule for what you call of it" in str(found.value)


def order_of(v):
    return sc.jv(v, 1.0)


def test_an_argument_that_a_rule_leaves_out_says_how_to_declare_it():
    with pytest.raises(NotDifferentiable, match="by its argument 'v' is not known") as found:
        srcad.grad(order_of)(2.0)
    hint = found.value.hint
    assert "srcad.stop_gradient(v)" in hint
    start, end = hint.index("@"), hint.index("\nor cut")
    declared = hint[start:end].replace("...", "100.0 * dv + (jv(v - 1, z) - jv(v + 1, z)) / 2 * dz")
    script = f"""
import scipy.special
import srcad
from scipy.special import jv
{declared}
def by_both(v, z):
    return jv(v, z)
print(*srcad.grad(by_both, argnums=(0, 1))(2.0, 1.0))
"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "declares.py"
        file.write_text(script)
        command = [sys.executable, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, env=in_this_tree())
    assert done.returncode == 0, done.stderr
    slope, other = map(float, done.stdout.split())
    assert slope == 100.0
    assert np.isclose(other, sc.jvp(2.0, 1.0), rtol=1e-14)


def in_this_tree():
    folder = str(Path(srcad.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": folder, "SRCAD_CACHE_DIR": "off"}


class Doubling(list):
    def __getitem__(self, place):
        return 2 * super().__getitem__(place)


class Percent(float):
    def __mul__(self, other):
        return float(self) * other / 100


class Table(dict):
    def __missing__(self, key):
        return 7.0


class Reversing(NamedTuple):
    x: float
    y: float

    def __getitem__(self, place):
        return self.y


class Powers:
    def __init__(self, x):
        self.x = x
        self.power = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.power == 3:
            raise StopIteration
        self.power += 1
        return self.x**self.power


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __rmul__(self, other):
        return other * self.factor


doubling, percent, table = Doubling([1.0, 2.0]), Percent(50.0), Table(a=1.0)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x * doubling[0], "Doubling has its own __getitem__"),
        (lambda x: percent * x, "Percent has its own __mul__"),
        (lambda x: table["b"] * x, "Table has its own __missing__"),
        (lambda x: Reversing(x, 2.0)[0], "Reversing has its own __getitem__"),
        (lambda x: sum(list(Powers(x))), "class Powers has __next__"),
        (lambda x: Powers(x).__dict__["x"], "attribute __dict__"),
        (lambda x: np.sum(np.ones(2) * Scale(x)), "array and a Scale"),
    ],
)
def test_classes_with_a_protocol_of_their_own(function, words):
    function(2.0)
    for derivative in (srcad.grad, srcad.derivative):
        with pytest.raises((UnsupportedValue, UnsupportedSyntax), match=words):
            derivative(function)(2.0)


@pytest.mark.parametrize("argument", [doubling, percent, Reversing(1.0, 2.0)])
def test_arguments_of_classes_with_operators_of_their_own(argument):
    with pytest.raises(UnsupportedValue, match="has its own"):
        srcad.grad(lambda a: a * 1.0 if isinstance(a, float) else a[0])(argument)


@contextlib.contextmanager
def doubled(x):
    yield x * 2.0


def in_a_generated_manager(x):
    with doubled(x) as y:
        return y * y


def hidden_in_a_list(x):
    return len(str(deque([1.0, 2.0]))) * x


@functools.singledispatch
def size_of(v):
    return v * 2.0


@pytest.mark.parametrize(
    ("function", "words", "hint"),
    [
        (in_a_generated_manager, "contextlib.contextmanager that is given data", "__enter__"),
        (lambda x: deque([x]), "a deque that is returned", "hand over list"),
        (lambda x: defaultdict(float, a=x), "a defaultdict that is returned", "hand over dict"),
        (hidden_in_a_list, "a deque that is returned, or given to code", "hand over list"),
        (lambda x: x * size_of(json.loads("[1.0]")), "a call of size_of, which asks", "registered"),
    ],
)
def test_what_is_of_the_standard_library(function, words, hint):
    with pytest.raises(UnsupportedSyntax, match=words) as found:
        srcad.vjp(function, 2.0)
    assert hint in found.value.hint


def test_what_is_registered_later_is_called():
    @functools.singledispatch
    def weight(v):
        return v * 2.0

    gradient = srcad.grad(lambda x: x * weight(x))
    assert gradient(3.0) == 12.0

    @weight.register
    def _(v: float):
        return v * 5.0

    assert gradient(3.0) == 30.0


def made_in_the_function(x):
    return x * Percent(50.0)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (made_in_the_function, "Percent has its own __mul__"),
        (lambda x: x(2), "a float is called"),
    ],
)
def test_what_is_no_plain_number(function, words):
    with pytest.raises((UnsupportedValue, UnsupportedSyntax), match=words):
        srcad.grad(function)(2.0)


def test_options_are_of_their_class():
    with pytest.raises(TypeError, match="options is a srcad.Options, not {'fuse': False}"):
        srcad.grad(squares, options={"fuse": False})


def writes_into_rows_that_were_picked(x):
    rows = [[x, 1.0], [2.0, x]]
    total, k = 0.0, 0
    while total < 9:
        row = rows[k % 2]
        total += row[0] * row[1]
        rows[0][1] = total
        k += 1
    return total


def test_a_row_picked_at_a_run_time_index_is_not_written_any_more():
    with pytest.raises(UnsupportedSyntax, match="something else may also refer to"):
        srcad.grad(writes_into_rows_that_were_picked)(1.1)


def kept_list(x):
    last, now, total = None, [0.0, 0.0], 0.0
    for k in range(len(x)):
        now[0] = x[k] ** 2
        if last is not None:
            total += last[0] * x[0]
        last = now
    return total


def kept_array_in_a_tuple(x):
    last, now, total = None, np.zeros(2), 0.0
    for k in range(len(x)):
        now[0] = x[k] ** 2
        if last is not None:
            total += last[0][0] * x[0]
        last = (now, k)
    return total


@pytest.mark.parametrize("function", [kept_list, kept_array_in_a_tuple])
def test_what_a_name_that_was_none_refers_to_is_not_changed(function):
    with pytest.raises(UnsupportedSyntax, match="something else may also refer to"):
        srcad.grad(function)(np.array([0.7, 0.6, 0.5]))
