"""Writing operations: what all passes of this back end need to make new code."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from srcad.ir import Apply, Atom, Block, Items, Literal, Loc, Op, Range, Stream, Update, Value
from srcad.ir.core import is_int as is_int
from srcad.ir.types import INT, Type

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
