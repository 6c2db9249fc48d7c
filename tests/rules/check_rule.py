"""Hold a rule to the function it belongs to, by running its body as plain Python.

- A differential is compared with differences of the function, extrapolated to the limit.
- A linear function applied to the differentials (in each argument alone, if it is multilinear) is
  its differential: that is how the forward mode evaluates it.
- A transpose or a pullback is held to duality: `<ct, f'(x) dx> == <pullback(ct), dx>`.
- The body of a linear rule is run once more with nan in place of the arguments it is linear in:
  it may ask them for their shape alone.
- A composition is compared with the function it takes the place of.
"""

import inspect
import itertools
import types

import numpy as np

from srcad import rules
from srcad.rules.registry import Rule, is_sourced

TOLERANCE = 1e-9


def check_rule(function, *args, **keywords):
    """Check every rule of `function` at these arguments. Raises AssertionError."""
    main = rule_of(function, args, keywords)
    bound = _bind(main, args, keywords)
    if main.kind == "composition":
        found = main.body(*args, **keywords)
        assert_same(found, call(function, main, bound), f"value of {main.name}", None, 1e-12)
        return
    active = [n for n in main.wrt if n in bound and is_active(bound[n])]
    if not active:
        return
    seed = np.random.default_rng(7)
    primal = bound
    tangents = {n: _direction(primal[n], seed) for n in active}
    out = call(function, main, primal)
    change = _difference(function, main, primal, tangents)
    if main.kind == "differential":
        _check_differential(main, primal, tangents, out, change)
    else:
        _check_linear(function, main, primal, tangents, out, change)
    for rule in (rules.lookup_transpose(function), rules.lookup_pullback(function)):
        if rule is not None:
            names = [n for n in active if n in rule.wrt]
            only = {n: tangents[n] for n in names}
            _check_transpose(function, main, rule, primal, only, out, seed)


def rule_of(function, args, keywords):
    """What the compiler uses: a composition, unless it leaves these arguments to a rule."""
    composition = rules.lookup_composition(function)
    if composition is not None:
        try:
            bound = composition.parameters.bind(*args, **keywords)
        except TypeError:
            bound = None
        if bound is not None and composition.body(*args, **keywords) is not NotImplemented:
            return composition
    rule = rules.lookup(function)
    if rule is not None:
        return rule
    assert is_sourced(function), f"no rule for {function}"
    return by_source(function)


def by_source(function):
    """A function that has no rule as one that is made of others: itself."""
    names = tuple(inspect.signature(function).parameters)
    parameters = inspect.signature(function)
    return Rule(
        *(function.__name__, "composition", function, (function,), names, parameters),
        *(False, False, "real", (), ()),
    )


# ---- the checks


def _check_differential(rule, primal, tangents, out, change):
    given = run_differential(rule, primal, tangents, out)
    assert_same(given, change, f"differential of {rule.name}", out)
    twice = run_differential(rule, primal, {n: _scaled(2.0, t) for n, t in tangents.items()}, out)
    assert_same(twice, _scaled(2.0, given), f"{rule.name} is not linear", out, 1e-12)


def _check_linear(function, rule, primal, tangents, out, change):
    if rule.kind == "linear":
        zeros = {n: _zero(primal[n]) for n in rule.wrt if n in primal and n not in tangents}
        given = call(function, rule, {**primal, **zeros, **tangents})
    else:
        terms = []
        for name, t in tangents.items():
            if rule.parameters.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                for k in range(len(t)):
                    mixed = (*primal[name][:k], t[k], *primal[name][k + 1 :])
                    terms.append(call(function, rule, {**primal, name: mixed}))
            else:
                terms.append(call(function, rule, {**primal, name: t}))
        given = terms[0]
        for term in terms[1:]:
            given = _map(lambda a, b: a + b, given, term)
    assert_same(given, change, f"{rule.name} of the differentials", out)


def _check_transpose(function, main, rule, primal, tangents, out, seed):
    if not tangents:
        return
    change = _difference(function, main, primal, tangents)
    ct = _direction(_map(lambda v: np.asarray(v)[()], out), seed)
    bars = run_transpose(rule, ct, primal, out)
    expected = inner(ct, change)
    found = sum(inner(bars[n], tangents[n]) for n in tangents)
    scale = max(1.0, abs(expected))
    assert abs(found - expected) < TOLERANCE * scale, f"{rule.name}: {found} instead of {expected}"
    for name in tangents:
        _same_structure(bars[name], primal[name], f"{rule.name}: cotangent of {name}")
    if rule.kind == "linear":
        hidden = {n: _hidden(v) if n in tangents else v for n, v in primal.items()}
        blind = run_transpose(rule, ct, hidden, out)
        for name in tangents:
            assert_same(blind[name], bars[name], f"{rule.name} reads the value of {name}", None, 0)


def run_differential(rule, primal, tangents, out):
    """The differential of the result."""
    arguments, keywords = _arguments(rule, primal)
    for name in rule.wrt:
        value = primal.get(name, rule.parameters.parameters[name].default)
        keywords["d" + name] = tangents[name] if name in tangents else _zero(value)
    if rule.needs_out:
        keywords["out"] = out
    # Terms of inactive arguments, which a compiler drops, are evaluated here.
    with np.errstate(all="ignore"):
        return rule.body(*arguments, **keywords)


def run_transpose(rule, ct, primal, out):
    """The cotangents over `rule.wrt`, in the shapes of the arguments if it is elementwise."""
    arguments, keywords = _arguments(rule, primal)
    if rule.needs_out:
        keywords["out"] = out
    shadows = {}
    for name in rule.accumulates:
        shadows[name] = keywords[name] = Shadow(_zero(primal[name.removesuffix("_bar")]))
    result = rule.body(ct, *arguments, **keywords)
    if shadows and result is None:
        return {name.removesuffix("_bar"): s.value for name, s in shadows.items()}
    if len(rule.wrt) == 1 and rule.kind != "pullback":
        result = (result,)
    assert len(result) == len(rule.wrt)
    bars = dict(zip(rule.wrt, result, strict=True))
    if rule.elementwise:
        bars = {n: reduce_to(b, primal[n]) if n in primal else b for n, b in bars.items()}
    return bars


# ---- calling


def call(function, rule, primal):
    """The result of the primitive itself."""
    positional, keywords = [], {}
    for name, parameter in rule.parameters.parameters.items():
        if name not in primal:
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(primal[name])
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            keywords.update(primal[name])
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[name] = primal[name]
        elif len(positional) == list(rule.parameters.parameters).index(name):
            positional.append(primal[name])
        else:
            keywords[name] = primal[name]
    if isinstance(function, types.GetSetDescriptorType):
        return function.__get__(positional[0])
    return function(*positional, **keywords)


def _bind(rule, args, keywords):
    return dict(rule.parameters.bind(*args, **keywords).arguments)


def _arguments(rule, primal):
    positional, keywords = [], {}
    for name, parameter in inspect.signature(rule.body).parameters.items():
        if name not in rule.parameters.parameters:
            continue
        value = primal.get(name, parameter.default)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(primal.get(name, ()))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[name] = value
        else:
            positional.append(value)
    return positional, keywords


class Shadow:
    """An adjoint that is added to: `shadow[i] += term`, with every repeated index counted."""

    def __init__(self, value):
        self.value = value

    def __getitem__(self, index):
        return _Slot(self, index)

    def __setitem__(self, index, slot):
        assert isinstance(slot, _Slot)
        assert slot.shadow is self

    def add(self, index, term):
        if isinstance(self.value, np.generic):
            self.value = self.value + np.sum(term)
        elif isinstance(self.value, np.ndarray):
            np.add.at(self.value, index, term)
        else:
            if isinstance(self.value, tuple):
                self.value = list(self.value)
            self.value[index] = self.value[index] + term


class _Slot:
    def __init__(self, shadow, index):
        self.shadow, self.index = shadow, index

    def __iadd__(self, term):
        self.shadow.add(self.index, term)
        return self


# ---- values and their differences


def is_active(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fc"
    if isinstance(value, (list, tuple)):
        return any(map(is_active, value))
    if isinstance(value, dict):
        return any(map(is_active, value.values()))
    return False


def _map(f, value, *others):
    """`f` at the numbers and arrays of `value`, in its structure."""
    if isinstance(value, dict):
        return {k: _map(f, v, *(o[k] for o in others)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_map(f, v, *(o[k] for o in others)) for k, v in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return f(value, *others)


def _direction(value, seed):
    """Random, of the structure of `value`; zero where it is inactive."""

    def at(v):
        if not is_active(v):
            return _zero(v)
        d = seed.uniform(-1, 1, np.shape(v))
        if v.dtype.kind == "c":
            d = d + 1j * seed.uniform(-1, 1, np.shape(v))
        if np.ndim(v) == 0:
            return np.asarray(d, v.dtype)[()]
        like = np.empty_like(v)  # in the layout of `v`: what an order means depends on it
        like[...] = d
        return like

    return _map(at, value)


def _zero(value):
    def at(v):
        if v is None or isinstance(v, (str, type, np.dtype, slice)):
            return None
        if isinstance(v, np.ndarray):
            return np.zeros_like(v, v.dtype if v.dtype.kind in "fc" else float)
        return np.complex128(0) if isinstance(v, complex) else np.float64(0)

    return _map(at, value)


def _hidden(value):
    return _map(lambda v: v * np.nan if is_active(v) else v, value)


def _scaled(factor, value):
    return _map(lambda v: v if v is None else factor * v, value)


def _difference(function, rule, primal, tangents):
    """The directional derivative by differences of the function."""

    def at(h):
        there = dict(primal)
        for name, t in tangents.items():
            there[name] = _map(lambda v, d: v + h * d if is_active(v) else v, primal[name], t)
        return call(function, rule, there)

    return extrapolated(at)


STEP = 4e-4
"""Values in a sample are further apart."""


def extrapolated(at, step=STEP):
    """The derivative at 0 by central differences, extrapolated to the limit (Richardson).

    Of steps from 4e-4 on: what is left out is of order 1e-27, and rounding is some 1e-11.
    Of polynomials nothing is left out, whatever the step.
    """

    def change(h):
        return _map(
            lambda a, b: (np.asarray(a) * 1.0 - np.asarray(b) * 1.0) / (2 * h), at(h), at(-h)
        )

    rows = [change(step / 2**k) for k in range(4)]
    for order in (4, 16, 64):
        rows = [
            _map(lambda fine, coarse: (order * fine - coarse) / (order - 1), fine, coarse)
            for coarse, fine in itertools.pairwise(rows)
        ]
    return rows[0]


def inner(a, b):
    """The sum of products, without conjugation, its real part."""
    total = 0.0

    def at(v, w):
        nonlocal total
        if v is None or w is None:
            return
        v = np.asarray(v)
        w = np.asarray(w)
        if v.size and w.size:
            total += float(np.real(np.sum(v * w)))

    if isinstance(a, np.ndarray) and isinstance(b, (list, tuple)):
        a = list(a)
    if isinstance(b, np.ndarray) and isinstance(a, (list, tuple)):
        b = list(b)
    if isinstance(a, (int, float)) and a == 0 and isinstance(b, (list, tuple, dict)):
        return 0.0
    _map(at, a, b)
    return total


def reduce_to(ct, like):
    """The cotangent of something that was broadcast, of the shape and dtype of `like`."""
    if isinstance(like, (list, tuple, dict)):
        return ct
    ct = np.asarray(ct)
    extra = ct.ndim - np.ndim(like)
    ct = ct.sum(axis=tuple(range(max(extra, 0))))
    stretched = tuple(
        k for k in range(ct.ndim) if np.shape(like)[k + max(-extra, 0)] == 1 and ct.shape[k] != 1
    )
    ct = np.broadcast_to(ct.sum(axis=stretched, keepdims=True), np.shape(like))
    if np.iscomplexobj(ct) and not np.iscomplexobj(like):
        ct = ct.real
    return ct


def _same_structure(bar, value, what):
    if isinstance(value, (list, tuple)):
        if isinstance(bar, (int, float)) and bar == 0:
            return
        assert len(bar) == len(value), what
        for b, v in zip(bar, value, strict=True):
            _same_structure(b, v, what)
    elif isinstance(value, np.ndarray) and not (isinstance(bar, (int, float)) and bar == 0):
        assert np.shape(bar) == np.shape(value), f"{what}: {np.shape(bar)} for {np.shape(value)}"


def assert_same(found, expected, what, out=None, tolerance=TOLERANCE):
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), what
        for k in range(len(expected)):
            assert_same(found[k], expected[k], what, None if out is None else out[k], tolerance)
        return
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), what
        for k in expected:
            assert_same(found[k], expected[k], what, None, tolerance)
        return
    if out is not None:
        assert np.ndim(found) <= np.ndim(out), what
        found = np.broadcast_to(found, np.shape(out))
        expected = np.broadcast_to(expected, np.shape(out))
    np.testing.assert_allclose(
        np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance, err_msg=what
    )
