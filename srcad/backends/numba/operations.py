"""Operations that Numba does not know, or means otherwise, in words that it knows.

    y = max(a, b)               |  y = select(gt(b, a), b, a)         (nan, as Python has it)
    y = float(test)             |  y = select(test, 1.0, 0.0)
    assert_true(test, text)     |  if not_(test)
                                |    raise AssertionError
    raise_error(error)          |  raise ValueError

What is raised has no text: where compiled code raises, the function itself is run, and raises with
its own.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.backends.classes import Places
from srcad.backends.numba.writing import Writer, rewritten
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Effect,
    Function,
    If,
    Literal,
    Op,
    Value,
)
from srcad.ir.core import assert_true, make_list, make_tuple, raise_error, select
from srcad.ir.infer import atom_type
from srcad.ir.sharing import Sharing, views
from srcad.ir.types import BOOL, Array, Number, Opaque, TupleType, Type, dtype_of, rank
from srcad.ir.walk import all_ops, blocks, map_blocks, operands, without_ops


def in_other_words(function: Function) -> Function:
    """The function with the operations that Numba knows."""
    made = replace(function, body=_Rewriter(function).block(function.body))
    return _without_texts(made)


_OF_TUPLES = (
    *(np.concatenate, np.stack, np.hstack, np.vstack),
    *(np.reshape, np.broadcast_to, np.zeros, np.ones, np.empty, np.full),
)
"""What takes a list where a tuple does."""


def _joined(function: Function) -> set[Op]:
    """The lists that are shapes, or made to be joined: tuples do, and take items of any rank."""
    places = Places(function)
    found: set[Op] = set()
    for value, made in places.made.items():
        if isinstance(made, Apply) and made.callee is make_list and made.args:
            users = places.users.get(value, [])
            joins = (isinstance(u, Apply) and u.callee in _OF_TUPLES for u in users)
            if users and all(joins) and not places.yielded.get(value):
                found.add(made)
    return found


class _Rewriter:
    def __init__(self, function: Function) -> None:
        self.made: dict[Value, Apply] = {
            op.result: op for op in all_ops(function.body) if isinstance(op, Apply)
        }
        self.joined = _joined(function)
        self.names: dict[Value, Value] = {}
        """The tuples in place of lists."""

    def block(self, block: Block) -> Block:
        return rewritten(block, self._op)

    def _op(self, op: Op, writer: Writer) -> None:
        match op:
            case Apply():
                self._apply(op, writer)
            case Effect(callee=callee) if callee is raise_error:
                writer.ops.append(self._raise(op))
            case Effect(callee=callee) if callee is assert_true:
                failed = writer.apply(operator.not_, op.args[0], kind=BOOL)
                error = Effect(raise_error, (Literal(AssertionError()),), (), None, op.loc)
                empty = Block((), (), ())
                writer.ops.append(If(failed, Block((), (error,), ()), empty, (), op.loc))
            case Effect(callee=callee) if callee is runtime.require_disjoint:
                writer.ops.append(op)
            case _:
                writer.ops.append(map_blocks(op, self.block))

    def _may_have_gaps(self, atom: Atom) -> bool:
        """Whether an array may be a view that Numba does not reshape."""
        if not isinstance(atom, Value) or not isinstance(atom.type, Array):
            return False
        made = self.made.get(atom)
        return made is None or any(s is not Sharing.NEVER for s in views(made).values())

    def _has_gaps(self, atom: Atom) -> bool:
        """Whether an array is a view with gaps: BLAS does not take it, and Numba says so."""
        made = self.made.get(atom) if isinstance(atom, Value) else None
        if made is None or not isinstance(made.result.type, Array):
            return False
        if made.callee is np.broadcast_to:
            return True
        if made.callee in (np.transpose, np.ndarray.T):
            return self._has_gaps(made.args[0]) or len(made.result.type.dims or ()) > 2
        if made.callee is not operator.getitem or not isinstance(atom_type(made.args[0]), Array):
            return False
        index = self.made.get(made.args[1]) if isinstance(made.args[1], Value) else None
        parts: list[Atom] = [made.args[1]]
        if index is not None and index.callee is make_tuple:
            parts = list(index.args)
        elif isinstance(made.args[1], Literal) and isinstance(made.args[1].value, tuple):
            parts = [Literal(v) for v in made.args[1].value]
        *leading, last = parts
        is_plain = _is_number(last) or self._is_plain_slice(last)
        return self._has_gaps(made.args[0]) or not is_plain or not all(map(_is_number, leading))

    def _is_plain_slice(self, atom: Atom) -> bool:
        """Whether an index is a slice without a step."""
        if isinstance(atom, Literal):
            return isinstance(atom.value, slice) and atom.value.step in (None, 1)
        made = self.made.get(atom)
        if made is None or made.callee is not slice:
            return False
        step = made.args[2] if len(made.args) > 2 else Literal(None)
        return isinstance(step, Literal) and step.value in (None, 1)

    def _raise(self, op: Effect) -> Effect:
        """The error without its text."""
        error = op.args[0]
        if isinstance(error, Literal) and error.value is runtime.Unforeseen:
            return op
        made = self.made.get(error) if isinstance(error, Value) else None
        kind: Any = made.callee if made is not None else None
        if isinstance(error, Literal):
            kind = error.value if isinstance(error.value, type) else type(error.value)
        found = kind() if kind in _PLAIN_ERRORS else RuntimeError()
        return replace(op, args=(Literal(found),))

    def _apply(self, op: Apply, writer: Writer) -> None:
        if op in self.joined:
            kind = TupleType(tuple(map(atom_type, op.args)))
            made = self.names[op.result] = Value(op.result.hint, kind)
            writer.ops.append(Apply(make_tuple, op.args, (), made, op.loc))
            return
        if op.callee in _OF_TUPLES:
            args = (self.names.get(a, a) if isinstance(a, Value) else a for a in op.args)
            op = replace(op, args=tuple(args))
        if op.callee in (np.reshape, np.ndarray.reshape) and self._may_have_gaps(op.args[0]):
            op = replace(op, args=(_dense(op.args[0], op, writer), *op.args[1:]))
        if op.callee in _MAKERS:
            op = replace(
                op,
                args=tuple(map(_as_dtype, op.args)),
                keywords=tuple((name, _as_dtype(a)) for name, a in op.keywords),
            )
        if op.callee in _PRODUCTS:
            op = replace(op, args=tuple(_of_one_dtype(op, writer)))
        if op.callee in _PRODUCTS and isinstance(op.result.type, Array):
            args = (_dense(a, op, writer) if self._has_gaps(a) else a for a in op.args)
            op = replace(op, args=tuple(args))
        rewrite = _REWRITES.get(op.callee)
        atom = None if rewrite is None or op.keywords else rewrite(op, writer)
        if atom is None:
            writer.ops.append(op)
            return
        last = writer.ops[-1] if writer.ops else None
        if isinstance(last, Apply) and last.result is atom:
            writer.ops[-1] = replace(last, result=op.result)
            return
        writer.ops.append(Apply(operator.pos, (atom,), (), op.result, op.loc))


_PRODUCTS = (operator.matmul, np.dot)
_MAKERS = (
    *(np.zeros, np.ones, np.empty, np.full, np.array, np.asarray, np.ndarray.astype),
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like),
)
"""Functions that are given a dtype, for which Numba does not take Python's types."""
_DTYPES = {float: np.float64, int: np.int64, bool: np.bool_, complex: np.complex128}


def _as_dtype(atom: Atom) -> Atom:
    """NumPy's type for one of Python's."""
    if isinstance(atom, Literal) and isinstance(atom.value, type):
        return Literal(_DTYPES.get(atom.value, atom.value))
    return atom


def _of_one_dtype(op: Apply, writer: Writer) -> Iterator[Atom]:
    """The factors of a real product, integers among them as floats: BLAS has no others."""
    kinds = [dtype_of(atom_type(a)) for a in op.args]
    for atom, kind in zip(op.args, kinds, strict=True):
        made = atom_type(atom)
        if kind in ("int64", "bool") and "float64" in kinds and isinstance(made, Array):
            whole = Array("float64", made.dims)
            yield writer.apply(operator.mul, atom, Literal(1.0), kind=whole, loc=op.loc)
        else:
            yield atom


def _dense(atom: Atom, op: Apply, writer: Writer) -> Atom:
    """The same array without gaps."""
    return writer.apply(np.ascontiguousarray, atom, kind=atom_type(atom), loc=op.loc)


_PLAIN_ERRORS = (
    ArithmeticError, AssertionError, IndexError, KeyError, LookupError, NotImplementedError,
    OverflowError, RuntimeError, StopIteration, TypeError, ValueError, ZeroDivisionError,
)  # fmt: skip


# ---- one operation each: the atom that it becomes, or None if it stays


def _is_number(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind != "complex"


def _extreme(compare: Callable[..., object]) -> Callable[[Apply, Writer], Atom | None]:
    def rewrite(op: Apply, writer: Writer) -> Atom | None:
        if len(op.args) < 2 or not all(map(_is_number, op.args)):
            return None
        best = op.args[0]
        for other in op.args[1:]:
            wins = writer.apply(compare, other, best, kind=BOOL, loc=op.loc)
            best = writer.apply(select, wins, other, best, kind=op.result.type, loc=op.loc)
        return best

    return rewrite


def _to_float(op: Apply, writer: Writer) -> Atom | None:
    return _of_bool(op, writer, 1.0, 0.0)


def _to_int(op: Apply, writer: Writer) -> Atom | None:
    return _of_bool(op, writer, 1, 0)


def _of_bool(op: Apply, writer: Writer, one: float, zero: float) -> Atom | None:
    if len(op.args) != 1 or not _is_bool(atom_type(op.args[0])):
        return None
    return writer.apply(
        select, op.args[0], Literal(one), Literal(zero), kind=op.result.type, loc=op.loc
    )


def _is_bool(kind: Type) -> bool:
    return isinstance(kind, Number) and kind.kind == "bool"


def _unbroadcast(op: Apply, writer: Writer) -> Atom | None:
    """A number needs no sum."""
    return op.args[0] if _is_number(op.args[0]) else None


def _added(op: Apply, writer: Writer) -> Atom | None:
    kinds = tuple(map(atom_type, op.args))
    if all(isinstance(k, (Number, Array)) for k in kinds):
        return writer.apply(operator.add, *op.args, kind=op.result.type, loc=op.loc)
    return None


def _zeros_like(op: Apply, writer: Writer) -> Atom | None:
    match atom_type(op.args[0]):
        case Number(kind="complex"):
            return Literal(0j)
        case Number():
            return Literal(0.0)
        case Array():
            return writer.apply(np.zeros_like, *op.args, kind=op.result.type, loc=op.loc)
    return None


def _copied(op: Apply, writer: Writer) -> Atom | None:
    match atom_type(op.args[0]):
        case Number():
            return op.args[0]
        case Array():
            return writer.apply(np.ndarray.copy, *op.args, kind=op.result.type, loc=op.loc)
    return None


def _copied_number(op: Apply, writer: Writer) -> Atom | None:
    return op.args[0] if _is_number(op.args[0]) else None


def _to_array(op: Apply, writer: Writer) -> Atom | None:
    if isinstance(atom_type(op.args[0]), Array) and len(op.args) == 1:
        return writer.apply(np.ndarray.copy, op.args[0], kind=op.result.type, loc=op.loc)
    return None


def _clip(op: Apply, writer: Writer) -> Atom | None:
    """Of a number: Numba has that of arrays."""
    if len(op.args) != 3 or any(rank(atom_type(a)) != 0 for a in op.args):
        return None
    kind = op.result.type
    low = writer.apply(np.maximum, op.args[0], op.args[1], kind=kind, loc=op.loc)
    return writer.apply(np.minimum, low, op.args[2], kind=kind, loc=op.loc)


def _to_list(op: Apply, writer: Writer) -> Atom | None:
    kind = atom_type(op.args[0])
    if isinstance(kind, Array) and kind.dims is not None and len(kind.dims) == 1:
        return writer.apply(list, op.args[0], kind=op.result.type, loc=op.loc)
    return None


_REWRITES: dict[Callable[..., object], Callable[[Apply, Writer], Atom | None]] = {
    builtins.max: _extreme(operator.gt),
    builtins.min: _extreme(operator.lt),
    builtins.float: _to_float,
    builtins.int: _to_int,
    runtime.unbroadcast: _unbroadcast,
    runtime.add: _added,
    runtime.zeros_like: _zeros_like,
    runtime.own: _copied,
    runtime.copied: _copied_number,
    np.array: _to_array,
    np.clip: _clip,
    np.ndarray.tolist: _to_list,
}


def _without_texts(function: Function) -> Function:
    """The function without text that nobody reads any more."""
    while True:
        used = {a for op in all_ops(function.body) for a in operands(op)}
        used.update(_all_yields(function.body))
        gone = {
            op
            for op in all_ops(function.body)
            if isinstance(op, Apply)
            and isinstance(op.result.type, Opaque)
            and op.result not in used
        }
        if not gone:
            return function
        function = replace(function, body=without_ops(function.body, gone))


def _all_yields(block: Block) -> list[Atom]:
    found = list(block.yields)
    for op in block.ops:
        for inner in blocks(op):
            found += _all_yields(inner)
    return found
