"""Which calls may raise although the types of their arguments are right.

Such a call of the primal stays in a derivative that does not need its value: where a function
raises it has no derivative.  What is broadcast needs no mention: its adjoint is fitted to the
argument again, and raises there.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from srcad.ir.core import Apply, Value
from srcad.ir.samples import sampled_type
from srcad.ir.types import Array

_BY_CONTENTS = frozenset(
    getattr(math, name)
    for name in (
        "log", "log2", "log10", "log1p", "sqrt", "asin", "acos", "acosh", "atanh", "pow", "fmod",
        "gamma", "lgamma", "exp", "cosh", "sinh", "expm1",
    )
) | {np.choose}  # fmt: skip

_BY_SIZES = frozenset(
    {
        operator.matmul, np.matmul, np.linalg.matmul, np.dot, np.ndarray.dot, np.inner, np.vdot,
        np.tensordot, np.linalg.tensordot, np.linalg.vecdot, np.linalg.multi_dot, np.einsum,
        np.cross, np.linalg.cross,
    }
) | {getattr(np, name, None) for name in ("vecdot", "matvec", "vecmat")}  # fmt: skip
"""Products, where two axes have to be of one size that is in neither the result nor its adjoint."""

_OF_NUMBERS = frozenset(f for f in vars(math).values() if callable(f)) | {float, complex, int}
"""What takes an array only if it has one entry."""


def may_raise(op: Apply) -> bool:
    """Whether an operation is known to raise for some arguments of the types of its own."""
    if op.callee in _BY_CONTENTS:
        return True
    if op.callee in _OF_NUMBERS:
        return any(isinstance(a.type, Array) for a in op.args if isinstance(a, Value))
    return op.callee in _BY_SIZES and sampled_type(op.callee, op.args, op.keywords) is None
