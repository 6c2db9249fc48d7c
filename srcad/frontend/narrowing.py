"""What a test tells of a variable: after ``if y is not None`` it is a number.

The narrowed value is one of its own, a copy that costs nothing; where paths meet again it counts as
the value it was made from.
"""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from srcad.frontend.lowering import Lowering
from srcad.ir import Value
from srcad.ir.types import Array, Number, Optional, Type


def narrow(low: Lowering, test: Any, holds: bool) -> None:
    """Take note of what holds where a test came out as ``holds``."""
    match test:
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            narrow(low, operand, not holds)
        case gast.BoolOp(op=op, values=values):
            if isinstance(op, gast.And) == holds:
                for value in values:
                    narrow(low, value, holds)
        case gast.Compare(
            left=gast.Name(id=name),
            ops=[gast.Is() | gast.IsNot() as op],
            comparators=[gast.Constant(value=None)],
        ):
            if isinstance(op, gast.IsNot) == holds:
                _present(low, name)
        case gast.Name(id=name) if holds:
            _present(low, name)


def _present(low: Lowering, name: str) -> None:
    key = low.variable(name)
    value = low.state.get(key)
    if not (isinstance(value, Value) and isinstance(value.type, Optional)):
        return
    kind = value.type.item
    callee = _copy(kind)
    if callee is not None:
        made = low.builder.apply_typed(callee, (value,), kind, value.hint)
        low.session.narrowed[made] = value
        low.state[key] = made


def _copy(kind: Type) -> Any:
    match kind:
        case Number():
            return operator.pos
        case Array():
            return np.asarray
    return None
