"""Whether a function may have a value where its derivative is infinite: at the root of 0.

There a choice on the way has to drop what is infinite, and not to multiply it by 0: the derivative
of ``sqrt(maximum(v, 0))`` at -1 is 0.  Where no such function is called, a product will do.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Block
from srcad.ir.build import Builder
from srcad.ir.core import hashable
from srcad.ir.numbers import number_of
from srcad.ir.simplify.shortcuts import is_off_zero
from srcad.ir.walk import all_ops

_ROOTS = {np.sqrt, math.sqrt, np.cbrt, getattr(math, "cbrt", None)}
_POWERS = {operator.pow, math.pow, np.power, np.float_power}
_ARCS = {np.arcsin, np.arccos, np.arccosh, math.asin, math.acos, math.acosh}
_OF_DERIVATIVES = {runtime.over, runtime.times, runtime.strong, runtime.inner, runtime.off_zero}
"""What they protect may be infinite, and what is divided by `off_zero` has a kink."""


def is_steep(block: Block) -> bool:
    """Whether a block calls a function whose derivative may be infinite where it has a value."""
    b = Builder()
    b.primal = {op.result: op for op in all_ops(block) if isinstance(op, Apply)}
    return any(_is_steep(b, op) for op in b.primal.values())


def _is_steep(b: Builder, op: Apply) -> bool:
    if not hashable(op.callee):
        return True  # an object of the user's
    if op.callee in _ARCS or op.callee in _OF_DERIVATIVES:
        return True
    if op.callee in _ROOTS:
        return not is_off_zero(b, op.args[0])
    if op.callee in _POWERS:
        power = number_of(op.args[1])
        whole = isinstance(power, int) or (power is not None and power.is_integer())
        smooth = whole or (power is not None and power > 1)
        return not smooth and not is_off_zero(b, op.args[0])
    # Of functions of other libraries nothing is known.
    return isinstance(op.callee, np.ufunc) and getattr(np, op.callee.__name__, None) != op.callee
