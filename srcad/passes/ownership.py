"""Results that are arrays of their own.

A gradient may be a view (``np.broadcast_to``), an argument, a cotangent or another gradient.  What
is returned must be none of these: whoever gets it may write into it.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Call,
    For,
    Function,
    If,
    Literal,
    Op,
    Update,
    Value,
    While,
)
from srcad.ir.core import make_dict, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import OF_MATRICES, READ_ONLY, views
from srcad.ir.types import Array, Number, NumPyScalar, Unknown
from srcad.ir.walk import all_ops, results

_FRESH = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul,
    operator.pow, operator.floordiv, operator.mod, operator.abs, abs, np.zeros, np.ones, np.full,
    np.zeros_like, np.dot, np.matmul, np.outer, np.where, np.array, np.ndarray.copy, np.concatenate,
    np.stack, np.take, np.cumsum, np.einsum, np.diff, np.pad, np.tensordot,
    np.linalg.solve, np.linalg.inv, np.ndarray.sum, runtime.over, runtime.times, runtime.strong,
    runtime.excess, runtime.polygamma, *OF_MATRICES,
}  # fmt: skip
_VIEWS = {
    np.reshape, np.moveaxis, np.transpose, np.swapaxes, np.expand_dims, np.ndarray.T,
    np.ndarray.reshape, np.flip, np.ravel, np.squeeze,
}  # fmt: skip
"""What may be a view of its first argument, all of it: the memory is that argument's."""
_PACKING = (make_tuple, make_list, make_dict, runtime.dataclass_of)


def own_results(function: Function) -> Function:
    """The function with a copy of each returned array that is not one of its own."""
    made: dict[Value, Op] = {r: op for op in function.body.ops for r in results(op)}
    every = made_by(function)
    seen: set[Value] = set()
    """What the arrays returned so far were traced to."""
    extra: list[Op] = []

    def own(atom: Atom) -> Atom:
        if not isinstance(atom, Value):
            return atom
        op = made.get(atom)
        if isinstance(op, Apply) and op.callee in _PACKING:
            args = tuple(map(own, op.args))
            if all(a is b for a, b in zip(args, op.args, strict=True)):
                return atom
            packed = Value(atom.hint, atom.type)
            extra.append(Apply(op.callee, args, op.keywords, packed, None))
            return packed
        if not isinstance(atom.type, (Array, Unknown)):
            return atom
        root = _viewed(atom, every)
        traced: set[Value] = set()
        is_own = is_fresh(root, every, traced) and not traced & seen
        seen.update(traced)
        return atom if is_own else _copy(atom, op, extra)

    yields = tuple(map(own, function.body.yields))
    ops = (*function.body.ops, *extra)
    return replace(function, body=replace(function.body, ops=ops, yields=yields))


def _copy(atom: Value, op: Op | None, extra: list[Op]) -> Value:
    copy = Value(atom.hint, atom.type)
    if isinstance(op, Apply) and op.callee is np.broadcast_to:
        scalar, shape = op.args
        kind = atom_type(scalar)
        if isinstance(kind, (Number, NumPyScalar)) and isinstance(atom.type, Array):
            extra.append(Apply(np.full, (shape, scalar), (), copy, None))
            return copy
    callee = np.array if isinstance(atom.type, Array) else runtime.own
    extra.append(Apply(callee, (atom,), (), copy, None))
    return copy


def _viewed(atom: Value, made: dict[Value, Op]) -> Value:
    """The array that a value is a view of, as a whole."""
    op = made.get(atom)
    while isinstance(op, Apply) and op.callee in _VIEWS and isinstance(op.args[0], Value):
        atom = op.args[0]
        op = made.get(atom)
    return atom


def _makes_arrays(op: Apply) -> bool:
    """Whether all memory of a result is new, or that of arguments: NumPy keeps none of it."""
    if op.callee is operator.getitem:
        return isinstance(atom_type(op.args[0]), Array)
    if op.callee in READ_ONLY:
        return False
    home = getattr(op.callee, "__objclass__", None)
    module = getattr(op.callee, "__module__", None) or ""
    return home is np.ndarray or module.partition(".")[0] in ("numpy", "scipy")


def made_by(function: Function) -> dict[Value, Op]:
    """The operation that each value is a result of; of a carried parameter it is the loop."""
    made: dict[Value, Op] = {}
    for op in all_ops(function.body):
        made.update((r, op) for r in results(op))
        if isinstance(op, (For, While)):
            made.update((p, op) for p in op.carried_params)
    return made


def is_fresh(atom: Atom, made: dict[Value, Op], seen: set[Value]) -> bool:
    """Whether an array is surely nobody else's; ``seen`` grows by what it is traced to."""
    if isinstance(atom, Literal):
        return True
    if not isinstance(atom.type, (Array, Unknown)):
        return True
    if atom in seen:
        return True
    seen.add(atom)
    op = made.get(atom)
    match op:
        case Apply():
            if op.callee is np.sum or isinstance(op.callee, np.ufunc):
                return True
            if not isinstance(atom.type, Array):
                return False
            return op.callee in _FRESH or (_makes_arrays(op) and not views(op))
        case Accumulate(index=None):
            return isinstance(atom.type, Array)
        case Accumulate(target=target) | Update(target=target):
            return is_fresh(target, made, seen)
        case If():
            k = op.results.index(atom)
            return is_fresh(op.then.yields[k], made, seen) and is_fresh(
                op.orelse.yields[k], made, seen
            )
        case For() | While():
            k = (op.results if atom in op.results else op.carried_params).index(atom)
            first, last = op.carried[k], op.body.yields[k]
            return is_fresh(first, made, seen) and is_fresh(last, made, seen)
        case Call():
            return False
    return False
