"""Hold a rule to what the compiler makes of it: the second check over the samples.

Each sample becomes a function in a file of its own, so that its source can be read:

    def sample(a, axis_0):
        return target(a, axis_0, keepdims=True)

- The tangent of `srcad.jvp` is compared with differences of the function.
- The cotangents of `srcad.vjp` are held to duality with that tangent, and to the shapes and dtypes
  of the arguments.
- The gradient of `<ct, f(x)>` is differentiated once more, and compared with its differences.
"""

import importlib.util
import inspect
import itertools
import re
import types
from pathlib import Path

import numpy as np

import srcad
from srcad.runtime import cofactors
from tests.rules.check_rule import (
    STEP,
    TOLERANCE,
    _bind,
    _difference,
    _direction,
    _map,
    _zero,
    assert_same,
    extrapolated,
    inner,
    is_active,
    rule_of,
)

_numbers = itertools.count()


class Program:
    """A sample as functions of its active arguments, imported from a file."""

    def __init__(self, case, directory: Path):
        self.case = case
        self.rule = rule_of(case.function, case.args, case.keywords)
        self.primal = _bind(self.rule, case.args, case.keywords)
        self.constants = {"np": np}
        self.names: list[str] = []
        self.values: list[object] = []
        self.keys: list[tuple[str, int | None]] = []
        call = self._call()
        parameters = ", ".join(self.names)
        text = (
            f"def sample({parameters}):\n    return {call}\n\n\n"
            f"def paired({', '.join((*self.names, 'cts'))}):\n"
            f"    out = {call}\n    return {{pairing}}\n\n\n"
            f"def line(t):\n    return paired({self._moved()})\n"
        )
        with np.errstate(all="ignore"):
            out = _map(lambda v: np.asarray(v)[()], self._run_primal())
        seed = np.random.default_rng(11)
        self.out = out
        self.ct = _direction(out, seed)
        text = text.replace("{pairing}", self._pairing(out))
        self.constants["CTS"] = self._flat_cts()
        text = text.replace(", cts):", "):").replace("(cts):", "():").replace("cts[", "CTS[")
        self.text = text
        path = directory / f"sample_{next(_numbers)}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(self.constants)
        spec.loader.exec_module(module)
        self.sample, self.paired, self.line = module.sample, module.paired, module.line

    def _argument(self, key, value):
        if isinstance(value, tuple) and is_active(value) and not all(map(is_active, value)):
            parts = [self._argument((key[0], k), v) for k, v in enumerate(value)]
            return f"({', '.join(parts)})"
        if is_active(value):
            name = f"{key[0]}{'' if key[1] is None else key[1]}"
            self.names.append(name)
            self.values.append(value)
            self.keys.append(key)
            return name
        if value is None or isinstance(value, (bool, int, float, str)):
            return repr(value).replace("inf", "np.inf")
        if isinstance(value, (tuple, list, slice)) and not re.search("array|<", repr(value)):
            return repr(value)
        name = f"constant_{len(self.constants)}"
        self.constants[name] = value
        return name

    def _call(self):
        function, parts = self.case.function, []
        placed = list(self.rule.parameters.parameters)
        for name, parameter in self.rule.parameters.parameters.items():
            if name not in self.primal:
                continue
            value = self.primal[name]
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                parts += [self._argument((name, k), v) for k, v in enumerate(value)]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                parts += [f"{k}={self._argument((name, k), v)}" for k, v in value.items()]
            elif parameter.kind is parameter.KEYWORD_ONLY or len(parts) < placed.index(name):
                parts.append(f"{name}={self._argument((name, None), value)}")
            else:
                parts.append(self._argument((name, None), value))
        home = getattr(function, "__objclass__", None)
        if isinstance(function, types.GetSetDescriptorType):
            return f"{parts[0]}.{function.__name__}"
        if home in (np.ndarray, np.generic):
            return f"{parts[0]}.{function.__name__}({', '.join(parts[1:])})"
        self.constants["target"] = function
        return f"target({', '.join(parts)})"

    def _moved(self):
        """The text of the arguments, moved along a line."""
        parts = []
        for name, value in zip(self.names, self.values, strict=True):
            self.constants[f"AT_{name}"] = value
            self.constants[f"ALONG_{name}"] = _direction(value, np.random.default_rng(8))
            parts.append(f"AT_{name} + t * ALONG_{name}")
        return ", ".join(parts)

    def _run_primal(self):
        from tests.rules.check_rule import call

        return call(self.case.function, self.rule, self.primal)

    def _pairing(self, out):
        """The text of `<ct, out>`, a real number."""
        terms, count = [], 0

        def walk(value, path):
            nonlocal count
            if isinstance(value, dict):
                for k, v in value.items():
                    walk(v, f"{path}[{k!r}]")
            elif isinstance(value, (list, tuple)):
                for k, v in enumerate(value):
                    walk(v, f"{path}[{k}]")
            elif is_active(value):
                term = f"CTS[{count}] * {path}"
                count += 1
                if np.ndim(value):
                    term = f"np.sum({term})"
                if np.iscomplexobj(value):
                    term = f"np.real({term})"
                terms.append(term)

        walk(out, "out")
        return " + ".join(terms) or "0.0"

    def _flat_cts(self):
        cts = []

        def at(v, ct):
            if is_active(v):
                cts.append(float(ct) if np.ndim(ct) == 0 and not np.iscomplexobj(ct) else ct)

        _map(at, self.out, self.ct)
        return cts

    def by_name(self, values):
        """Values of the parameters as arguments of the primitive."""
        found = {}
        for (name, k), value in zip(self.keys, values, strict=True):
            if k is None:
                found[name] = value
            else:
                found.setdefault(name, _changeable(_zero(self.primal[name])))[k] = value
        return {n: tuple(v) if isinstance(self.primal[n], tuple) else v for n, v in found.items()}


def _changeable(value):
    return dict(value) if isinstance(value, dict) else list(value)


def first_order(program, *, exact=False):
    """`srcad.jvp` and `srcad.vjp` of the sample."""
    if not program.names:
        return
    seed = np.random.default_rng(5)
    primals = tuple(program.values)
    tangents = tuple(_direction(v, seed) for v in primals)
    change = _difference(
        program.case.function, program.rule, program.primal, program.by_name(tangents)
    )
    with np.errstate(all="ignore"):
        if exact:
            maker = srcad.points.VjpMaker(program.sample)
            pair = maker.pair_for(primals, exact=True)
            out, saved = pair.forward.run(*primals, *pair.forward.data(primals))
            pullback = srcad.points.Pullback(pair, saved, out)
            dout = change
        else:
            out, dout = srcad.jvp(program.sample, primals, tangents)
            assert_same(out, program.out, "value by jvp", program.out)
            assert_same(_plain(dout), change, "tangent", program.out)
            out, pullback = srcad.vjp(program.sample, *primals)
        assert_same(out, program.out, "value by vjp", program.out)
        bars = pullback(program.ct)
    expected = inner(program.ct, change)
    found = sum(inner(b, t) for b, t in zip(bars, tangents, strict=True))
    scale = max(1.0, abs(expected))
    assert abs(found - expected) < TOLERANCE * scale, f"vjp: {found} is not {expected}"
    for name, bar, value in zip(program.names, bars, primals, strict=True):
        same_space(bar, value, f"cotangent of {name}")


def _plain(dout):
    return _map(lambda v: 0.0 if v is None else v, dout)


def second_order(program):
    """`srcad.jvp` of `srcad.grad` of `<ct, f>`."""
    if not program.names:
        return
    seed = np.random.default_rng(6)
    primals = tuple(program.values)
    tangents = tuple(_direction(v, seed) for v in primals)
    gradient = srcad.grad(program.paired, tuple(range(len(primals))))
    with np.errstate(all="ignore"):
        grads, changes = srcad.jvp(gradient, primals, tangents)

        def at(h):
            there = [
                _map(lambda v, d: v + h * d if is_active(v) else v, p, t)
                for p, t in zip(primals, tangents, strict=True)
            ]
            return gradient(*there)

        wanted = extrapolated(at, WIDE if program.case.function in POLYNOMIALS else STEP)
    for name, bar, value in zip(program.names, grads, primals, strict=True):
        same_space(bar, value, f"gradient by {name}")
    assert_same(_plain(changes), wanted, "second derivative")


POLYNOMIALS = (cofactors, np.linalg.det)
"""Of the entries: their differences are exact, and wide ones do not lose digits."""
WIDE = 0.5


def third_order(program):
    """The third derivative along a line, in both modes, of a sample that is elementwise."""
    if not program.names:
        return
    second = srcad.derivative(srcad.derivative(program.line))
    with np.errstate(all="ignore"):
        wanted = extrapolated(second)
        assert_same(srcad.derivative(second)(0.0), wanted, "third derivative")
        assert_same(srcad.grad(second)(0.0), wanted, "third derivative in reverse")


CUTS = (
    lambda v: v.reshape(-1)[:0],
    lambda v: v.reshape(-1)[:1],
    lambda v: np.array(v.flat[0]),
)


def parts(program):
    """An elementwise function has the derivatives of the whole on parts: none, one, no axes."""
    tangents = tuple(_direction(v, np.random.default_rng(5)) for v in program.values)
    with np.errstate(all="ignore"):
        whole = _plain(srcad.jvp(program.sample, tuple(program.values), tangents)[1])
        for cut in CUTS:
            some, along = (tuple(map(cut, values)) for values in (program.values, tangents))
            dout = _plain(srcad.jvp(program.sample, some, along)[1])
            wanted = _map(lambda v, c=cut: c(v) if np.ndim(v) else v, whole)
            assert_same(dout, wanted, "tangent of a part")
            out, pullback = srcad.vjp(program.sample, *some)
            ones = _map(lambda v: np.ones_like(v)[()], out)
            bars = pullback(ones)
            for name, bar, value in zip(program.names, bars, some, strict=True):
                same_space(bar, value, f"cotangent of {name}")
            expected = inner(ones, dout)
            found = sum(inner(b, t) for b, t in zip(bars, along, strict=True))
            assert abs(found - expected) < TOLERANCE * max(1.0, abs(expected)), "vjp of a part"


def single_precision(program):
    """Arguments of single precision have gradients of single precision, and results of the
    precision that they have without a derivative."""
    small = [_map(_narrow, v) for v in program.values]
    if not any(_has_single(v) for v in small) or program.case.function is np.float_power:
        return  # `float_power` computes in double precision, whatever it is given
    seed = np.random.default_rng(6)
    with np.errstate(all="ignore"):
        plain = program.sample(*small)
        out, pullback = srcad.vjp(program.sample, *small)
        bars = pullback(_like(_direction(_map(lambda v: np.asarray(v)[()], out), seed), out))
        tangents = tuple(_direction(v, seed) for v in small)
        out, dout = srcad.jvp(program.sample, tuple(small), tangents)
    for name, bar, value in zip(program.names, bars, small, strict=True):
        same_space(bar, value, f"cotangent of {name}")
    _same_precision(dout, out)
    if not program.case.function.__name__.endswith(("div", "simpson")):
        _of_same_precision(out, plain)  # theirs is a matter of the number of elements


def _like(ct, out):
    """Cotangents of Python numbers as Python numbers."""
    return _map(lambda c, o: float(c) if type(o) is float else c, ct, out)


def _narrow(v):
    if isinstance(v, np.ndarray) and v.dtype.kind in "fc":
        return v.astype(np.float32 if v.dtype.kind == "f" else np.complex64)
    if isinstance(v, np.float64):
        return np.float32(v)
    return v


def _has_single(v):
    found = []
    _map(lambda x: found.append(getattr(x, "dtype", None) in (np.float32, np.complex64)), v)
    return any(found)


def _same_precision(dout, out):
    if isinstance(out, (list, tuple)):
        for d, o in zip(dout, out, strict=True):
            _same_precision(d, o)
    elif isinstance(out, np.ndarray) and out.dtype.kind in "fc" and isinstance(dout, np.ndarray):
        assert dout.dtype <= out.dtype, f"tangent {dout.dtype} of {out.dtype}"


def _of_same_precision(out, plain):
    if isinstance(plain, (list, tuple)):
        for o, p in zip(out, plain, strict=True):
            _of_same_precision(o, p)
    elif isinstance(plain, (np.ndarray, np.generic)) and plain.dtype.kind in "fc":
        assert np.asarray(out).dtype == plain.dtype, f"{np.asarray(out).dtype} for {plain.dtype}"


def same_space(bar, value, what):
    """`bar` lies in the space of cotangents of `value`: structure, shape, dtype."""
    if isinstance(value, dict):
        assert bar.keys() == value.keys(), what
        for k, v in value.items():
            same_space(bar[k], v, what)
    elif isinstance(value, (list, tuple)):
        assert type(bar) is type(value), f"{what}: {type(bar)} for {type(value)}"
        assert len(bar) == len(value), what
        for b, v in zip(bar, value, strict=True):
            if type(b) is not float:  # Python's numbers have one precision
                same_space(b, v, what)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        assert isinstance(bar, np.ndarray), f"{what}: {type(bar)} for an array"
        assert bar.shape == value.shape, f"{what}: {bar.shape} for {value.shape}"
        assert bar.dtype == value.dtype, f"{what}: {bar.dtype} for {value.dtype}"
    elif is_active(value):
        assert np.shape(bar) == (), what
        assert np.iscomplexobj(bar) <= np.iscomplexobj(value), f"{what} is complex"
        if value.dtype == np.float32:
            assert np.asarray(bar).dtype == np.float32, f"{what}: {np.asarray(bar).dtype}"
