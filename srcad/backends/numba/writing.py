"""Writing operations: what all passes of this back end need to make new code."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Effect,
    For,
    If,
    Items,
    Literal,
    Loc,
    Op,
    Range,
    Stream,
    Update,
    Value,
)
from srcad.ir.core import is_int as is_int
from srcad.ir.core import make_tuple, raise_error
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, COMPLEX, FLOAT, INT, Array, NumPyScalar, Size, TupleType, Type

ZERO, ONE, MINUS_ONE = Literal(0), Literal(1), Literal(-1)


class Writer:
    """The operations of one block, in order."""

    def __init__(self) -> None:
        self.ops: list[Op] = []

    def apply(
        self,
        callee: Callable[..., Any],
        *args: Atom,
        kind: Type,
        hint: str = "",
        loc: Loc | None = None,
    ) -> Value:
        """The result of a call."""
        result = Value(hint, kind)
        self.ops.append(Apply(callee, args, (), result, loc))
        return result

    def set_item(self, target: Value, index: Atom, value: Atom, loc: Loc | None = None) -> Value:
        """``target[index] = value``; the next version of the target."""
        version = Value(target.hint, target.type)
        self.ops.append(Update(operator.setitem, target, (index, value), version, None, loc))
        return version

    # ---- integers

    def add(self, a: Atom, b: Atom) -> Atom:
        """``a + b``"""
        if is_int(a, 0):
            return b
        if is_int(b, 0):
            return a
        return self._integer(operator.add, a, b)

    def sub(self, a: Atom, b: Atom) -> Atom:
        """``a - b``"""
        return a if is_int(b, 0) else self._integer(operator.sub, a, b)

    def mul(self, a: Atom, b: Atom) -> Atom:
        """``a * b``"""
        if is_int(a, 1):
            return b
        return a if is_int(b, 1) else self._integer(operator.mul, a, b)

    def _integer(self, callee: Callable[..., Any], a: Atom, b: Atom) -> Atom:
        if isinstance(a, Literal) and isinstance(b, Literal):
            return Literal(callee(a.value, b.value))
        return self.apply(callee, a, b, kind=INT)

    def count(self, stream: Stream) -> Atom:
        """How many items a stream has."""
        match stream:
            case Items(sequence=Literal(value=value)):
                return Literal(len(value))
            case Items(sequence=sequence):
                return self.apply(len, sequence, kind=INT)
            case Range(start=Literal(value=a), stop=Literal(value=b), step=Literal(value=c)):
                return Literal(len(range(a, b, c)))
            case Range(start=start, stop=stop, step=step) if is_int(step, 1):
                return self._positive(self.sub(stop, start))
            case Range(start=start, stop=stop, step=step) if is_int(step, -1):
                return self._positive(self.sub(start, stop))
            case Range(start=start, stop=stop, step=step):
                made = self.apply(range, start, stop, step, kind=INT)
                return self.apply(len, made, kind=INT)
        raise TypeError(stream)

    def _positive(self, number: Atom) -> Atom:
        made = (op for op in self.ops if isinstance(op, Apply) and op.result is number)
        if any(op.callee is len for op in made):
            return number
        return self.apply(builtins.max, number, ZERO, kind=INT, hint="count")


def rewritten(block: Block, each: Callable[[Op, Writer], None]) -> Block:
    """The block with what ``each`` writes for its operations, one after the other."""
    writer = Writer()
    for op in block.ops:
        each(op, writer)
    return Block(block.params, tuple(writer.ops), block.yields)


# ---- arrays

Leaf = Callable[[Writer, tuple[Atom, ...], Value], Value]
"""What writes one iteration, at given counters: it has the array, and makes its next version."""
_NUMBERS: dict[str, Type] = {
    "float64": FLOAT, "int64": INT, "bool": BOOL, "complex128": COMPLEX
}  # fmt: skip


def nest(
    sizes: tuple[Atom, ...],
    start: Value,
    leaf: Leaf,
    result: Value,
    loc: Loc | None,
    writer: Writer,
) -> None:
    """A loop along each of some axes; they carry what is written."""

    def level(outer: Writer, at: tuple[Atom, ...], given: Value, out: Value | None) -> Value:
        if len(at) == len(sizes):
            return leaf(outer, at, given)
        counter, param = Value("ijkl"[min(len(at), 3)], INT), Value(given.hint, given.type)
        inner = Writer()
        after = level(inner, (*at, counter), param, None)
        made = Value(given.hint, given.type) if out is None else out
        body = Block((counter, param), tuple(inner.ops), (after,))
        stream = Range(ZERO, sizes[len(at)], ONE)
        outer.ops.append(For((stream,), (given,), body, (made,), False, loc))
        return made

    level(writer, (), start, result)


def size_of(array: Atom, axis: int, writer: Writer) -> Atom:
    """The size of an array along an axis."""
    if axis == 0:
        return writer.apply(len, array, kind=INT)
    kind = atom_type(array)
    assert isinstance(kind, Array)
    shape = writer.apply(np.shape, array, kind=TupleType((INT,) * len(kind.dims or ())))
    return writer.apply(operator.getitem, shape, Literal(axis), kind=INT)


def tuple_of(parts: list[Atom], writer: Writer) -> Atom:
    """A shape, or an index, of its parts; one part is itself."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(p, Literal) for p in parts):
        return Literal(tuple(p.value for p in parts if isinstance(p, Literal)))
    return writer.apply(make_tuple, *parts, kind=TupleType(tuple(map(atom_type, parts))))


def require_same(one: Atom, other: Atom, loc: Loc | None, writer: Writer) -> None:
    """Compiled code is made for sizes that are equal."""
    test = writer.apply(operator.ne, one, other, kind=BOOL)
    error = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, loc)
    writer.ops.append(If(test, Block((), (error,), ()), Block((), (), ()), (), loc))


def number_of(kind: Array) -> Type:
    """The type of an element."""
    return _NUMBERS.get(kind.dtype or "") or NumPyScalar(kind.dtype or "float64")


def sizes_together(
    arrays: Sequence[Atom], shapes: Sequence[tuple[Size, ...]], loc: Loc | None, writer: Writer
) -> tuple[tuple[Atom, ...], tuple[Size, ...]]:
    """The sizes that arrays have together, of whose axes ``shapes`` has the first ones."""
    rank = max(map(len, shapes))
    entries: list[Atom] = []
    sizes: list[Size] = []
    for k in range(rank):
        known: tuple[Size, Atom] | None = None
        for array, shape in zip(arrays, shapes, strict=True):
            axis = k - rank + len(shape)
            if axis < 0 or shape[axis] == 1:
                continue
            length = size_of(array, axis, writer)
            if known is None:
                known = shape[axis], length
            elif known[0] is None or known[0] != shape[axis]:
                require_same(known[1], length, loc, writer)
        sizes.append(1 if known is None else known[0])
        entries.append(Literal(1) if known is None else known[1])
    return tuple(entries), tuple(sizes)
