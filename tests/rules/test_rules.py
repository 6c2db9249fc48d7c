"""Every rule, at every sample of its functions, by its own body.

`test_rule` runs the body as Python, `test_compiled` what the compiler makes of it.
"""

import builtins
import inspect
import math
import operator
import textwrap
import types

import gast
import numpy as np
import pytest
from scipy.stats.distributions import rv_frozen

from srcad import rules
from srcad.rules.coverage import name_of
from srcad.rules.registry import Rule, is_sourced, sourced_functions
from tests.rules import samples_scipy  # noqa: F401  (adds to the cases)
from tests.rules.check_rule import (
    _bind,
    _direction,
    _map,
    call,
    check_rule,
    is_active,
    rule_of,
    run_differential,
    run_transpose,
)
from tests.rules.compiled import (
    Program,
    first_order,
    parts,
    second_order,
    single_precision,
    third_order,
)
from tests.rules.samples import CASES, Case

RULES = [r for r in rules.rules() if r.body.__module__.startswith("srcad.")]
NOT_SAMPLED = {
    # Single precision is too coarse for differences.
    np.float32,
    np.float16,
    np.complex64,
    # Twins with other restrictions on the same arguments.
    np.linalg.outer,
    np.linalg.tensordot,
    np.asfortranarray,
    # Makes a function, whose calls are sampled.
    np.vectorize,
    # Makes an object, whose methods are called in test_stats.py.
    rv_frozen.__init__,
    # Deprecated: every call warns.
    getattr(np, "trapz", None),
    np.fabs,
    math.fabs,
}


def _home(function):
    return getattr(function, "__objclass__", None) or getattr(function, "__module__", None)


def _suits(function, case):
    """Whether a case written for another name of the rule can be run for `function`."""
    if function is case.function:
        return True
    if _home(function) is np.generic or function in NOT_SAMPLED:
        return False
    first = case.args[0]
    if isinstance(first, np.ndarray) and first.dtype.kind == "f" and np.isnan(first).any():
        return function.__name__.startswith("nan")
    if any(isinstance(a, (list, tuple)) for a in case.args) and case.function is operator.mul:
        return function is operator.mul
    if _home(case.function) == "_operator" and isinstance(first, (list, tuple, dict)):
        return _home(function) == "_operator"
    if function is operator.concat or case.function is operator.concat:
        return False
    if function is np.split and case.function is np.array_split:
        return False
    if _home(function) is np.ndarray:
        return isinstance(first, np.ndarray)
    if _home(function) == "cmath" or _home(case.function) == "cmath":
        return _home(function) == "cmath" and np.ndim(first) == 0 and np.iscomplexobj(first)
    if _home(function) in ("math", "builtins"):
        scalars = all(np.ndim(a) == 0 and not isinstance(a, (list, tuple)) for a in case.args)
        return scalars and not any(np.iscomplexobj(a) for a in case.args)
    return True


def _cases():
    for case in CASES:
        rule = rule_of(case.function, case.args, case.keywords)
        for function in rule.functions:
            if _suits(function, case):
                yield Case(function, case.args, case.keywords)


COVERED = list(_cases())


def by_function(cases):
    """The cases of each function together: one test, whose failures name their cases."""
    groups = {}
    for case in cases:
        groups.setdefault(name_of(case.function), []).append(case)
    return pytest.mark.parametrize("cases", groups.values(), ids=groups)


def check_each(cases, check):
    failures = []
    for case in cases:
        try:
            check(case)
        except Exception as error:
            error.add_note(f"of {case}")
            failures.append(error)
    if failures:
        raise failures[0] if len(failures) == 1 else ExceptionGroup("samples", failures)


@by_function(COVERED)
def test_rule(cases):
    check_each(cases, lambda case: check_rule(case.function, *case.args, **case.keywords))


# ---- the same cases, compiled

REFUSED = {
    "concatenate([f[2], i[2]])": "a derivative by an array of integers",
    "tuple(f[2, 2])": "a tuple of run-time length",
}
COMPILED = [c for c in COVERED if str(c) not in REFUSED]
OWN_NAME = [c for c in CASES if str(c) not in REFUSED]


@by_function(COMPILED)
def test_compiled(cases, tmp_path):
    check_each(cases, lambda case: first_order(Program(case, tmp_path)))


def _has_number(case):
    return any(isinstance(a, (np.generic, list)) for a in case.args)


@by_function([c for c in OWN_NAME if _has_number(c)])
def test_compiled_exact(cases, tmp_path):
    """The code that runs where Python's floats raise and NumPy's do not."""
    check_each(cases, lambda case: first_order(Program(case, tmp_path), exact=True))


@pytest.mark.slow
@by_function(OWN_NAME)
def test_compiled_twice(cases, tmp_path):
    check_each(cases, lambda case: second_order(Program(case, tmp_path)))


def _ends(cases):
    """Of each function the first and the last case: a number and arrays that broadcast."""
    groups = {}
    for case in cases:
        groups.setdefault(case.function, []).append(case)
    return [case for group in groups.values() for case in (group[0], *group[1:][-1:])]


def _has_list(case):
    return any(isinstance(a, (list, tuple)) for a in case.args)


def _is_elementwise(case):
    return rule_of(case.function, case.args, case.keywords).elementwise


@pytest.mark.slow
@by_function(_ends([c for c in OWN_NAME if _is_elementwise(c) and not _has_list(c)]))
def test_compiled_three_times(cases, tmp_path):
    check_each(cases, lambda case: third_order(Program(case, tmp_path)))


def _of_one_shape(case):
    shapes = {np.shape(a) for a in case.args if is_active(a) or isinstance(a, np.ndarray)}
    return len(shapes) == 1 and () not in shapes and all(map(is_active, case.args))


def _firsts(cases):
    return {case.function: case for case in reversed(cases)}.values()


@pytest.mark.slow
@by_function(_firsts([c for c in OWN_NAME if _is_elementwise(c) and _of_one_shape(c)]))
def test_compiled_parts(cases, tmp_path):
    check_each(cases, lambda case: parts(Program(case, tmp_path)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:non-integer arg n:DeprecationWarning")
@by_function(OWN_NAME)
def test_compiled_single_precision(cases, tmp_path):
    check_each(cases, lambda case: single_precision(Program(case, tmp_path)))


def test_every_rule_has_a_sample():
    sampled = {rules.lookup(c.function) for c in COVERED}
    sampled |= {rules.lookup_transpose(c.function) for c in COVERED}
    sampled |= {rules.lookup_pullback(c.function) for c in COVERED}
    sampled |= {rules.lookup_composition(c.function) for c in COVERED}
    missing = [r for r in RULES if r not in sampled]
    assert not [r.name for r in missing if not NOT_SAMPLED.issuperset(r.functions)]


def test_every_function_is_sampled():
    """Except for the methods of NumPy numbers, which share the bodies of those of arrays."""
    sampled = {c.function for c in COVERED} | NOT_SAMPLED
    sampled |= {f for r in RULES for f in r.functions if _home(f) is np.generic}
    assert not [(r.name, f) for r in RULES for f in r.functions if f not in sampled]
    assert not [f for f in sourced_functions() if f not in sampled]


# ---- closure: what a rule calls can be differentiated again

STRUCTURE = {"range", "zip", "len", "isinstance", "tuple", "list", "enumerate"}
METHODS_OF_LISTS = {"append", "get", "lower"}  # of dicts and texts, too


def _resolve(node, scope):
    """The object that a dotted name means in a body, None if it hangs on a local value."""
    match node:
        case gast.Name(id=name):
            if name in scope:
                return scope[name]
            return getattr(builtins, name, None)
        case gast.Attribute(value=value, attr=attr):
            owner = _resolve(value, scope)
            return None if owner is None else getattr(owner, attr)
    return None


def scope_of(body):
    """What the names in a body mean that are not its own."""
    return {**body.__globals__, **inspect.getclosurevars(body).nonlocals}


OPERATORS = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.USub: operator.neg,
    gast.Not: operator.not_,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
}


def called_by(rule: Rule):
    """The functions, operators and methods that a body uses, itself or through its helpers."""
    yield from called_in(rule.body, set())


def called_in(body, seen):
    seen.add(body)
    tree = gast.parse(textwrap.dedent(inspect.getsource(body)))
    scope = scope_of(body)
    raised = {id(n.exc) for n in gast.walk(tree) if isinstance(n, gast.Raise)}
    decorators = {id(m) for n in tree.body[0].decorator_list for m in gast.walk(n)}
    given = set(inspect.signature(body).parameters)
    for node in gast.walk(tree):
        if id(node) in decorators or id(node) in raised:
            continue
        match node:
            case gast.Call(func=func):
                function = _resolve(func, scope)
                home = getattr(function, "__module__", None) or ""
                if isinstance(func, gast.Name) and func.id in given:
                    continue  # a function of the user
                if home.startswith("srcad.rules.") and not rules.is_known(function):
                    if function not in seen:
                        yield from called_in(function, seen)
                elif function is not None:
                    yield gast.unparse(func), function
                else:
                    assert isinstance(func, gast.Attribute), gast.unparse(node)
                    if func.attr not in METHODS_OF_LISTS | {"pyfunc"}:
                        yield func.attr, getattr(np.ndarray, func.attr)
            case gast.Attribute(value=value, attr=attr, ctx=gast.Load()) if (
                _resolve(value, scope) is None
            ):
                if attr not in METHODS_OF_LISTS | {"fnc", *vars(np.vectorize(abs))}:
                    yield attr, getattr(np.ndarray, attr)
            case gast.BinOp(op=op) | gast.UnaryOp(op=op):
                yield type(op).__name__, OPERATORS[type(op)]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: f"{r.name}-{r.kind}")
def test_a_body_calls_only_what_has_a_derivative(rule):
    unknown = [n for n, f in called_by(rule) if n not in STRUCTURE and not _has_derivative(f)]
    assert not unknown


def _has_derivative(function):
    """By a rule, or by its source: as the formulas of distributions, which are methods."""
    if isinstance(function, types.MethodType):
        return function.__module__.startswith("scipy.stats.")
    return rules.is_known(function) or is_sourced(function)


# ---- types


def _single(value):
    def at(v):
        if is_active(v) and v.dtype.kind == "f":
            return v.astype(np.float32)
        return v

    return _map(at, value)


def _keeps_the_precision(case):
    rule = rule_of(case.function, case.args, case.keywords)
    bound = _bind(rule, case.args, case.keywords)
    active = [n for n in rule.wrt if n in bound and is_active(bound[n])]
    small = {n: _single(v) for n, v in bound.items()}
    with np.errstate(all="ignore"):
        out = call(case.function, rule, small)
    if not _is_single(out):
        return
    seed = np.random.default_rng(3)
    if rule.kind == "differential":
        tangents = {n: _direction(small[n], seed) for n in active}
        _keeps(run_differential(rule, small, tangents, out), out)
    for reverse in (rules.lookup_transpose(case.function), rules.lookup_pullback(case.function)):
        if reverse is not None and rule.kind != "composition":
            bars = run_transpose(reverse, _direction(out, seed), small, out)
            for name in set(active) & set(reverse.wrt):
                _keeps(bars[name], small[name])


@by_function([c for c in COVERED if not _is_elementwise(c)])
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:non-integer arg n:DeprecationWarning")
def test_single_precision_stays(cases):
    """A rule that is not elementwise keeps the precision itself; for others the compiler does.

    Where the function itself changes the precision of its argument, so may the rule.
    """
    check_each(cases, _keeps_the_precision)


def _is_single(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_single, value))
    return getattr(value, "dtype", None) == np.float32


def _keeps(found, like):
    if isinstance(found, int) and found == 0:
        return
    if isinstance(like, (list, tuple)):
        for k in range(len(like)):
            _keeps(found[k], like[k])
    elif isinstance(like, dict):
        for k in like:
            _keeps(found[k], like[k])
    elif isinstance(like, (np.ndarray, np.generic)) and like.dtype == np.float32:
        assert isinstance(found, (int, float)) or found.dtype == np.float32
