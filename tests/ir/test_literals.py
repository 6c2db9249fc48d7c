"""When two constants are one."""

import math

import numpy as np
import pytest

from srcad.ir.core import same_literal


@pytest.mark.parametrize(
    "one, other",
    [
        (0.0, 0.0),
        (math.nan, float("nan")),
        ((1, 2.0), (1, 2.0)),
        (slice(1), slice(1)),
        (np.sin, np.sin),
    ],
)
def test_equal_constants(one, other):
    assert same_literal(one, other)


@pytest.mark.parametrize(
    "one, other",
    [(0.0, -0.0), (1, 1.0), (1, True), ((0.0,), (-0.0,)), (0j, -0j), (np.sin, np.cos)],
)
def test_other_constants(one, other):
    assert not same_literal(one, other)


def test_what_has_no_hash_is_only_itself():
    # the text of a long array shows its ends alone
    one, other = np.zeros(2000), np.zeros(2000)
    other[1000] = 1.0
    assert same_literal(one, one)
    assert not same_literal(one, other)
