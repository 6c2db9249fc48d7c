"""Random functions of the IR: what is printed computes what the IR means."""

import copy
import warnings

import numpy as np
import pytest

from srcad.codegen import copies, emit, plan
from srcad.codegen.liveness import Liveness
from srcad.codegen.memory import Memory
from srcad.codegen.ownership import Ownership
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


def always(answer):
    return lambda *_: answer


FAULTS = {
    "all memory is owned": (Ownership, "in_place", always(True)),
    "nobody else sees memory": (Memory, "sees", always(False)),
    "writes hit nothing": (Memory, "identity", always(0)),
    "no write shows in a copy": (copies._Writes, "shows", always(False)),
    "iterators hold nothing": (Liveness, "_iterated", always(0)),
    "unbound names stay unbound": (plan, "needs_none", always(frozenset())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_random_functions_show_faults(fault, monkeypatch):
    """The functions are hard enough: a printer with one decision broken is found out."""
    monkeypatch.setattr(*FAULTS[fault])
    found = 0
    for seed in range(150):
        try:
            check(random_function(seed, size=40))
        except (AssertionError, NameError, TypeError, ValueError):
            found += 1
            break
    assert found
