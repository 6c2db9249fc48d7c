"""``jacfwd`` and ``jacrev`` agree on the whole zoo, by all arguments at once."""

import dataclasses

import numpy as np
import pytest

import srcad
from srcad.errors import NotDifferentiable
from tests.zoo import CASES


def same(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif dataclasses.is_dataclass(one):
        same(vars(one), vars(other))
    else:
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_both_modes_give_one_jacobian(case, capsys):
    found = []
    for transform in (srcad.jacfwd, srcad.jacrev):
        args, keywords = case.fresh()
        try:
            found.append(transform(case.function, case.argnums)(*args, **keywords))
        except NotDifferentiable:
            found.append("refused")
    if "refused" in found:
        assert found == ["refused", "refused"]
    else:
        same(*found)
