"""The page on what is covered is what the registry says, and covers what it has to."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy

from srcad import rules
from srcad.cli import main
from srcad.rules.coverage import coverage, page, total

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
MADE_WITH = ("2.4", "1.17")


def test_the_page_is_made_from_the_registry():
    if os.environ.get("SRCAD_UPDATE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")
    versions = tuple(v.rpartition(".")[0] for v in (np.__version__, scipy.__version__))
    text = PAGE.read_text(encoding="utf-8")
    if versions == MADE_WITH:
        assert text == page()
    else:  # other versions have other functions: all the page names are still covered
        named = set(re.findall("`([a-zA-Z0-9_.]+)`", text))
        assert {one.home for one in coverage()} <= named


def test_enough_is_covered():
    found = {one.home: one for one in coverage()}
    assert total("numpy")[0] >= 400
    assert set(found["math"].others) == set()
    assert set(found["cmath"].others) == set()
    assert set(found["numpy.linalg"].others) <= {"test"}
    assert set(found["numpy.fft"].others) <= {"test"}
    assert len(found["scipy.special"].derivatives) >= 80
    assert len(found["scipy.linalg"].derivatives) >= 30


def test_rules_as_text(capsys):
    assert main(["rules", "tanh"]) == 0
    text = capsys.readouterr().out
    assert "np.tanh, math.tanh, cmath.tanh, " in text
    assert ": differential in x\n    (1 - out * out) * dx\n" in text
    assert main(["rules"]) == 0
    text = capsys.readouterr().out
    assert text.count(": differential in") > 150
    assert "np.sum" in text
    assert main(["rules", "numpy.tanh"]) == 0
    assert capsys.readouterr().out.startswith("np.tanh, ")
    command = [sys.executable, "-m", "srcad", "rules", "struve"]  # where SciPy is not imported yet
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.startswith("scipy.special.struve: ")
    assert main(["rules", "no_such_function"]) == 2
    assert main(["rules", "--coverage"]) == 0
    assert capsys.readouterr().out.startswith("# What has a rule")


def test_half_of_the_rules_are_short():
    lengths = []
    for rule in rules.rules():
        if rule.body.__module__.startswith("srcad.rules."):
            code = rule.body.__code__
            lines = {line for _, _, line in code.co_lines() if line is not None}
            lengths.append(len(lines) - 1)
    assert np.median(lengths) <= 4
