"""Which calls work element by element."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime

_ELEMENTWISE = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg,
    operator.pos, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.abs, builtins.abs, operator.and_, operator.or_, operator.invert,
    np.where, np.clip, runtime.over, runtime.times, runtime.strong, runtime.excess,
    runtime.off_zero, runtime.modulus_squared,
}  # fmt: skip
"""What works element by element, beside ufuncs."""


def is_elementwise(callee: Callable[..., Any]) -> bool:
    """Whether a call works element by element."""
    if isinstance(callee, np.ufunc):
        return callee.signature is None and callee.nout == 1
    try:
        return callee in _ELEMENTWISE
    except TypeError:
        return False
