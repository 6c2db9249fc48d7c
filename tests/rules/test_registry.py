"""The registry: what is entered, what is refused, and that its digest is stable."""

import math
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

from srcad import rules
from srcad.errors import RuleError


def fresh():
    """A function that nothing is declared for."""

    def primitive(x, y=1.0):
        return x * y

    return primitive


def test_a_differential_of_a_users_function():
    f = fresh()

    @rules.differential(f, domain="positive")
    def rule_of_f(x, y=1.0, *, dx, dy):
        return y * dx + x * dy

    rule = rules.lookup(f)
    assert rule.body is rule_of_f
    assert (rule.kind, rule.wrt, rule.needs_out, rule.domain) == (
        "differential",
        ("x", "y"),
        False,
        "positive",
    )
    assert list(rules.rules())[-1] is rule
    assert rules.is_known(f)
    assert not rules.is_constant(f)


def test_kinds_of_keyword_only_parameters():
    f = fresh()

    @rules.differential(f)
    def with_everything(x, *parts, scale=2, dtype=None, dx, dparts, dscale, out):
        return dx

    rule = rules.lookup(f)
    assert rule.wrt == ("x", "parts", "scale")
    assert list(rule.parameters.parameters) == ["x", "parts", "scale", "dtype"]
    assert rule.needs_out
    g = fresh()

    @rules.linear(g, wrt="x")
    def accumulating(ct, x, i, *, x_bar):
        x_bar[i] += ct

    assert rules.lookup(g).accumulates == ("x_bar",)
    assert rules.lookup(g).parameters.bind(1, 2).arguments == {"x": 1, "i": 2}


def test_a_second_rule_is_refused_unless_it_replaces():
    f = fresh()
    rules.differential(f)(lambda x, *, dx: dx)
    with pytest.raises(RuleError, match="already has the rule"):
        rules.differential(f)(lambda x, *, dx: 2 * dx)
    first = rules.lookup(f)
    rules.differential(f, replace=True)(lambda x, *, dx: 3 * dx)
    assert rules.lookup(f) is not first
    assert first not in list(rules.rules())
    with pytest.raises(RuleError):
        rules.constant(f)
    rules.constant(f, replace=True)
    assert rules.lookup(f) is None
    assert rules.is_constant(f)
    with pytest.raises(RuleError, match="constant"):
        rules.differential(f)(lambda x, *, dx: dx)


def test_bodies_that_are_no_rules():
    with pytest.raises(RuleError, match="no differential"):
        rules.differential(fresh())(lambda x: x)
    with pytest.raises(RuleError, match="`ct`"):
        rules.linear(fresh(), wrt="x")(lambda x: x)
    with pytest.raises(RuleError, match="no parameter 'z'"):
        rules.linear(fresh(), wrt="z")(lambda ct, x: ct)
    with pytest.raises(RuleError, match="neither a rule"):
        rules.pullback(fresh())(lambda ct, x: (ct,))


def test_a_transpose_beside_a_differential():
    assert rules.lookup(operator.truediv).kind == "differential"
    assert rules.lookup_transpose(operator.truediv).wrt == ("x",)
    assert rules.lookup(np.sum) is rules.lookup_transpose(np.sum)
    assert rules.lookup_transpose(np.exp) is None
    assert rules.lookup_pullback(np.cumprod).wrt == ("a",)


def test_names_of_one_primitive_share_a_rule():
    assert rules.lookup(np.sin) is rules.lookup(math.sin)
    assert rules.lookup(np.sum) is rules.lookup(np.ndarray.sum)
    assert rules.lookup(np.float64.sum) is rules.lookup(np.sum)
    assert rules.lookup(np.add.reduce) is not None
    assert rules.is_constant(np.ndarray.shape)


@pytest.mark.parametrize("thing", [[], {}, 1, "sum", None, (np.sin,)])
def test_what_is_no_function_is_unknown(thing):
    assert rules.lookup(thing) is None
    assert not rules.is_known(thing)


def test_arguments_bind_where_numpy_has_them():
    parameters = rules.lookup(np.sum).parameters
    assert parameters.bind("x", 0, keepdims=True).arguments == {
        "a": "x",
        "axis": 0,
        "keepdims": True,
    }
    with pytest.raises(TypeError):
        parameters.bind("x", 0, None, "out")
    with pytest.raises(TypeError):
        rules.lookup(np.ptp).parameters.bind("x", where="mask")
    with pytest.raises(TypeError):
        rules.lookup(np.exp).parameters.bind("x", "out")


def test_literals():
    assert rules.is_literal(2)
    assert rules.is_literal(2.0)
    for value in (True, np.float64(2), np.int64(2), np.ones(1), "2", None):
        assert not rules.is_literal(value)


def test_the_digest_is_the_same_in_every_process():
    program = "from srcad import rules; print(rules.digest())"
    found = set()
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_the_digest_follows_the_rules():
    before = rules.digest()
    f = fresh()
    rules.differential(f)(lambda x, *, dx: dx)
    middle = rules.digest()
    rules.differential(f, replace=True)(lambda x, *, dx: 2 * dx)
    assert len({before, middle, rules.digest()}) == 3


def test_nothing_is_both_constant_and_differentiable():
    for rule in rules.rules():
        for function in rule.functions:
            assert not rules.is_constant(function)
            assert not rules.is_effect(function)
