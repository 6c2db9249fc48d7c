"""Random functions of the IR: what is printed computes what the IR means."""

import copy
import warnings

import numpy as np
import pytest

from srcad.codegen import emit
from srcad.ir import format_function
from srcad.ir.verify import verify
from tests.codegen.interpret import run
from tests.codegen.random_ir import log, random_function

ARGS = (0.7, -1.3, np.array([0.5, -0.25, 1.0]), np.array([2.0, 0.125, -1.5]))


def outcome(call):
    """What a call returns, does to its arguments, and records; or the error it raises."""
    args = copy.deepcopy(ARGS)
    log.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = call(*args)
    return copy.deepcopy(out), args, copy.deepcopy(log)


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, str):
        return a == b
    return np.array_equal(a, b, equal_nan=True)


def load(emitted):
    namespace = dict(emitted.bindings)
    exec(compile(emitted.source, "<generated>", "exec"), namespace)
    return namespace[emitted.name]


def check(function):
    verify(function)
    expected, _, expected_log = outcome(lambda *args: run(function, *args))
    emitted = emit(function)
    found, args, found_log = outcome(load(emitted))
    if len(function.body.yields) == 1:
        found = (found,)
    report = f"{format_function(function)}\n{emitted.source}\nexpected {expected}\nfound    {found}"
    assert same(expected, found), report
    assert same(expected_log, found_log), report
    assert same(ARGS, args), f"an argument was written\n{report}"
    assert emit(function).source == emitted.source


@pytest.mark.parametrize("start", range(0, 240, 20))
def test_random_functions(start):
    for seed in range(start, start + 20):
        check(random_function(seed, size=5 + seed % 40))
