"""What a loop computes in each iteration of the same values is computed before it.

    for t in …                   |  e = exp(m)
      e = exp(m)                 |  for t in …
      y = matmul(x, e)           |    y = matmul(x, e)

The reverse sweep has one derivative of it then, and nothing of it is kept.  A loop may have no
iteration: in plain code only arithmetic of arrays is moved, which does not raise unless a ``with``
statement around the loop asks for that.  Where compiled code raises, plain code is run: there all
goes out that costs more than an addition.
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace

import numpy as np

from srcad.ir import Apply, Atom, Block, For, Literal, Op, Value, While, With
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Opaque, TupleType, dims_of
from srcad.ir.walk import map_blocks, operands, results
from srcad.passes.common import VIEWS, is_arithmetic, seen_whole

_MAY_RAISE = {
    operator.matmul, np.dot, np.max, np.min, np.ndarray.max, np.ndarray.min, np.linalg.inv,
    np.linalg.det, np.linalg.solve, np.linalg.cholesky, np.linalg.norm,
}  # fmt: skip
_MADE = {np.eye, np.arange, np.ones, np.zeros, np.full, np.linspace}
_NUMBERS = {
    operator.add, operator.sub, operator.mul, operator.neg, operator.truediv, operator.pow, abs,
    float,
}  # fmt: skip
_SIZES = {len, np.shape, np.ndarray.shape, np.size}


def without_invariants(block: Block, *, compiled: bool) -> Block:
    """The block with loops that only compute what changes."""
    return _Pass(seen_whole(block), compiled).block(block)


class _Pass:
    def __init__(self, seen: set[Value], compiled: bool) -> None:
        """``seen`` may be written, held or compared."""
        self.seen = seen
        self.compiled = compiled

    def block(self, block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, With) and not self.compiled:
                ops.append(op)
                continue
            op = map_blocks(op, self.block)
            if isinstance(op, (For, While)):
                before = self._before(op)
                gone = {id(o) for o in before}
                kept = tuple(o for o in op.body.ops if id(o) not in gone)
                ops += before
                op = replace(op, body=replace(op.body, ops=kept)) if before else op
            ops.append(op)
        return replace(block, ops=tuple(ops))

    def _before(self, loop: For | While) -> list[Op]:
        """What goes out of a loop: what is worth it, and what that is computed of."""
        inside = {r for op in loop.body.ops for r in results(op)} | set(loop.body.params)
        made: dict[Value, Apply] = {}
        for op in loop.body.ops:
            if not isinstance(op, Apply) or not self._may_move(op):
                continue
            if all(a in made or a not in inside for a in operands(op) if isinstance(a, Value)):
                made[op.result] = op
        pending = [op for op in made.values() if self._is_dear(op)]
        wanted: set[Value] = set()
        while pending:
            op = pending.pop()
            wanted.add(op.result)
            pending += [made[a] for a in operands(op) if isinstance(a, Value) and a in made]
        return [op for op in made.values() if op.result in wanted]

    def _may_move(self, op: Apply) -> bool:
        if op.result in self.seen and isinstance(op.result.type, Array):
            return False
        if isinstance(op.result.type, Array):
            return self._is_array(op)
        return self.compiled and self._is_number(op)

    def _is_array(self, op: Apply) -> bool:
        if op.callee is operator.getitem:
            return self.compiled or _is_of_slices(op.args[1])
        if op.callee in VIEWS:
            return True
        if op.callee in _MADE:
            return self.compiled or all(isinstance(a, Literal) for a in operands(op))
        if not is_arithmetic(op) or None in (dims_of(op.result.type) or (None,)):
            return False
        return self.compiled or (op.callee not in _MAY_RAISE and not _is_of_integers(op.result))

    def _is_number(self, op: Apply) -> bool:
        if op.callee is operator.getitem:
            return isinstance(atom_type(op.args[0]), TupleType)
        if op.callee in _SIZES or op.callee in _NUMBERS:
            return True
        return isinstance(op.callee, np.ufunc) or _is_of_math(op)

    def _is_dear(self, op: Apply) -> bool:
        if isinstance(op.result.type, Array):
            return op.callee not in VIEWS
        return op.callee not in _NUMBERS or op.callee in (operator.truediv, operator.pow)


def _is_of_slices(index: Atom) -> bool:
    """Whether an index is right for any sizes: of integers and arrays some are not."""
    kind = atom_type(index)
    parts = kind.items if isinstance(kind, TupleType) else (kind,)
    return all(isinstance(p, Opaque) for p in parts)


def _is_of_integers(value: Value) -> bool:
    """Whether an array is of integers, which have no negative powers."""
    return isinstance(value.type, Array) and np.dtype(value.type.dtype).kind in "iu"


def _is_of_math(op: Apply) -> bool:
    return getattr(op.callee, "__module__", None) == math.__name__
