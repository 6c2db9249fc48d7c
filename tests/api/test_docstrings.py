"""The examples in docstrings are run, and every public function has one."""

import doctest
import sys

import pytest

import srcad
from srcad import api, options

MODULES = (api, options, sys.modules["srcad.derivative"])
FOUND = [t for m in MODULES for t in doctest.DocTestFinder().find(m, m.__name__)]
EXAMPLES = [test for test in FOUND if test.examples]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples(example):
    report = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert result.failed == 0, "".join(report)


PUBLIC = [name for name in api.__all__ if name not in ("Derivative", "stop_gradient")]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_have_an_example(name):
    assert ">>> " in getattr(srcad, name).__doc__
