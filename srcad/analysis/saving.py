"""What the reverse sweep of a loop body keeps, and what it computes again.

A value is computed again where that is cheap and all it is computed from is at hand: literals,
values from outside the loop, the loop's counter, or values that are kept anyway.  Cheap are the
arithmetic of integers and comparisons, arithmetic of Python floats, reads of single items of what
the loop does not write, sizes of arrays, indices made of integers and slices, which may take
several steps, and arithmetic of long arrays in few steps: an operation in the cache takes less time
than fresh memory for each iteration.
This is the "to be recorded" question of Griewank and Walther, section 12.2, answered per value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Container

import numpy as np

from srcad.ir import Apply, Atom, Block, Literal, Op, Value
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Dim, LongAxis, Number, NumPyScalar, Opaque, TupleType
from srcad.ir.walk import map_atoms, renaming

_CHEAP = {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_,
}  # fmt: skip
_INTEGER = {operator.floordiv, operator.mod, operator.lshift, operator.rshift, abs, min, max}

_STEPS = 3

_OF_LONG_ARRAYS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum,
}  # fmt: skip

_DEAR = {
    getattr(module, name)
    for module in (math, np)
    for name in (
        "sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sqrt",
        "sinh", "cosh", "tanh", "power", "pow", "hypot", "arctan", "atan", "arctan2", "atan2",
    )
    if hasattr(module, name)
}  # fmt: skip


_OF_ARRAYS = {operator.mul, operator.truediv, operator.matmul, operator.add, operator.sub}


def is_dear(op: Apply) -> bool:
    """Whether the reverse sweep rather reads what the forward sweep has computed than repeats it.

    The adjoint of ``math.cos(x)`` wants ``math.sin(x)``, which the primal may have computed.
    """
    return op.callee in _DEAR and not op.keywords


def is_array_arithmetic(op: Apply) -> bool:
    """Whether a call computes an array of others, which costs nothing to keep outside of loops."""
    return op.callee in _OF_ARRAYS and isinstance(op.result.type, Array) and not op.keywords


def recomputed(
    body: Block,
    needed: list[Value],
    forward: tuple[Op, ...],
    inside: dict[Value, None],
    targets: tuple[Value, ...],
    written: Container[object],
    *,
    indices: bool = False,
    long_arrays: bool = False,
    compiled: bool = False,
) -> tuple[Block, list[Value]]:
    """The reverse body with cheap values computed again, and the values that remain to be kept.

    With ``indices`` only integers and what is made of them: a branch hands on numbers for nothing.
    With ``long_arrays`` also arithmetic of arrays that have a long axis.  In ``compiled`` code
    numbers take several steps too: memory is slower.
    """
    made = {op.result: op for op in forward if isinstance(op, Apply)}
    order = {op.result: k for k, op in enumerate(forward) if isinstance(op, Apply)}
    again: dict[Value, None] = {}
    keep = dict.fromkeys(needed)

    def steps(value: Value, depth: int = 0) -> dict[Value, None] | None:
        """What has to be computed for a value, itself last; None if that is dear."""
        op = made.get(value)
        if op is None or depth > _STEPS:
            return None
        if not (_is_cheap(op, written, inside) or (long_arrays and _is_long(op, written, inside))):
            return None
        if indices and not _is_index(value):
            return None
        found: dict[Value, None] = {}
        for atom in op.args:
            if not isinstance(atom, Value) or atom not in inside or atom in found:
                continue
            if (atom in keep and atom is not value) or (atom in targets and _is_integer(atom)):
                if isinstance(atom.type, Array) and atom in written:
                    return None
                continue
            is_array = isinstance(atom.type, Array)
            through = _is_index(atom) or (long_arrays if is_array else compiled)
            more = steps(atom, depth + 1) if through else None
            if more is None:
                return None
            found.update(more)
        return {**found, value: None}

    for value in sorted(needed, key=lambda v: order.get(v, -1), reverse=True):
        found = steps(value)
        if found is None:
            continue
        del keep[value]
        for part in found:
            for atom in made[part].args:
                if isinstance(atom, Value) and atom in targets:
                    keep[atom] = None  # the loop's counter
        again.update(found)
    if not again:
        return body, needed
    ops: list[Op] = []
    mapping: dict[Value, Atom] = {}

    read = renaming(mapping)

    def define(value: Value) -> Value:
        fresh = Value(value.hint, value.type)
        mapping[value] = fresh
        return fresh

    for value in sorted(again, key=lambda v: order[v]):
        ops.append(map_atoms(made[value], read, define))
    rest_ops = tuple(map_atoms(op, read, lambda v: v) for op in body.ops)
    kept = [v for v in (*needed, *keep) if v in keep]
    return Block(body.params, (*ops, *rest_ops), tuple(map(read, body.yields))), list(
        dict.fromkeys(kept)
    )


def _is_cheap(op: Apply, written: Container[object], inside: dict[Value, None]) -> bool:
    if op.keywords:
        return False
    if op.callee is make_tuple or op.callee is slice:
        return all(map(_is_index, op.args))
    if op.callee in (np.shape, len) and isinstance(atom_type(op.args[0]), Array):
        return op.args[0] not in inside and op.args[0] not in written
    if not isinstance(op.result.type, (Number, NumPyScalar)):
        return False
    if op.callee is operator.getitem:
        target = op.args[0]
        if _is_index(target):
            return True
        return isinstance(target, Value) and target not in inside and target not in written
    kind = op.result.type
    if isinstance(kind, Number) and kind.kind in ("int", "bool"):
        return op.callee in _CHEAP or op.callee in _INTEGER
    if op.callee is operator.truediv:  # it does not raise
        return isinstance(op.args[1], Literal) and bool(op.args[1].value)
    return op.callee in _CHEAP


def _is_long(op: Apply, written: Container[object], inside: Container[object]) -> bool:
    """Whether a call is arithmetic of long arrays, or a view of one that stays as it is."""
    kind = op.result.type
    if op.keywords or not isinstance(kind, Array) or op.result in written:
        return False
    if not any(isinstance(d, Dim) and isinstance(d.base, LongAxis) for d in kind.dims or ()):
        return False
    if op.callee is operator.getitem:
        return op.args[0] not in inside and op.args[0] not in written and _is_index(op.args[1])
    arrays = [a for a in op.args if isinstance(atom_type(a), Array)]
    return op.callee in _OF_LONG_ARRAYS and not any(a in written for a in arrays)


def _is_index(atom: Atom) -> bool:
    """Whether a value is an integer, a slice or a tuple of such."""
    match atom_type(atom):
        case TupleType(items=items):
            return bool(items) and all(_is_index(Value("", k)) for k in items)
        case Opaque(name="slice" | "None" | "ellipsis" | "NoneType"):
            return True
    return _is_integer(atom)


def _is_integer(atom: Atom) -> bool:
    match atom_type(atom):
        case Number(kind=kind):
            return kind == "int"
        case NumPyScalar(dtype=dtype):
            return np.dtype(dtype).kind in "iu"
    return False
