"""What is added to zeros is written there.

    z_bar = zeros(s)                 |    z_bar = zeros(s)
    z_bar[n:] += t                   |    z_bar[n:] = t
    z_bar[:n] += u                   |    z_bar[:n] = u

An addition reads what it adds to.  Additions that follow are to places that overlap none of those
before, for sure: slices where one ends before the other starts.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from srcad.ir import Accumulate, Apply, Atom, Block, Function, Literal, Op, Update, Value
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.numbers import number_of
from srcad.ir.sharing import is_basic_index
from srcad.ir.types import Array, Number, dtype_of
from srcad.ir.walk import all_ops, map_blocks, operands, results

_LENGTHS = (len, np.size)


def written_first(function: Function) -> Function:
    """The function with first additions to zeros as writes."""
    found = _Firsts(function)
    return replace(function, body=found.block(function.body)) if found.zeros else function


class _Firsts:
    def __init__(self, function: Function) -> None:
        self.made: dict[Value, Op] = {}
        self.reads: dict[Value, int] = {}
        self.zeros = False
        for atom in function.body.yields:
            self._read(atom)
        for op in all_ops(function.body):
            self.zeros = self.zeros or _is_zeros(op)
            for value in results(op):
                self.made[value] = op
            for atom in operands(op):
                self._read(atom)
            map_blocks(op, self._yields)

    def _yields(self, block: Block) -> Block:
        for atom in block.yields:
            self._read(atom)
        return block

    def _read(self, atom: Atom) -> None:
        if isinstance(atom, Value):
            self.reads[atom] = self.reads.get(atom, 0) + 1

    def block(self, block: Block) -> Block:
        """The block with such additions as writes."""
        written: dict[Value, list[Atom]] = {}
        """By version of what was zeros: where it may not be zero any more."""
        ops: list[Op] = []
        for op in block.ops:
            op = map_blocks(op, self.block)
            if _is_zeros(op):
                assert isinstance(op, Apply)
                written[op.result] = []
            elif isinstance(op, Accumulate) and op.index is not None and op.target in written:
                assert isinstance(op.target, Value)
                before = written.pop(op.target)
                if self.reads[op.target] == 1 and is_basic_index(op.index):
                    written[op.version] = [*before, op.index]
                    if all(self._apart(op.index, i) for i in before) and self._fits(op):
                        value = (op.index, op.term)
                        op = Update(operator.setitem, op.target, value, op.version, None, op.loc)
            ops.append(op)
        return Block(block.params, tuple(ops), block.yields)

    def _fits(self, op: Accumulate) -> bool:
        """Whether a term is written as it is: the zero has its dtype, and its sign is its own."""
        made = self.made.get(op.term) if isinstance(op.term, Value) else None
        if isinstance(made, Apply) and made.callee in (operator.neg, np.negative):
            return False
        have, given = dtype_of(op.version.type), atom_type(op.term)
        if isinstance(given, Number):
            return given.kind in ("float", "int") and have is not None and have[0] in "fc"
        return have is not None and dtype_of(given) == have

    # ---- places

    def _apart(self, one: Atom, other: Atom) -> bool:
        """Whether two indices have no element in common."""
        p, q = self._parts(one), self._parts(other)
        return any(self._before(a, b) or self._before(b, a) for a, b in zip(p, q, strict=False))

    def _parts(self, index: Atom) -> list[tuple[Atom, Atom]]:
        """Start and stop along each axis, as far as that is known."""
        found = []
        for part in self._items(index):
            ends = self._ends(part)
            if ends is None:
                break
            found.append(ends)
        return found

    def _items(self, index: Atom) -> Iterator[Atom]:
        made = self.made.get(index) if isinstance(index, Value) else None
        if isinstance(made, Apply) and made.callee is make_tuple:
            yield from made.args
        elif isinstance(index, Literal) and type(index.value) is tuple:
            yield from map(Literal, index.value)
        else:
            yield index

    def _ends(self, part: Atom) -> tuple[Atom, Atom] | None:
        made = self.made.get(part) if isinstance(part, Value) else None
        if isinstance(made, Apply) and made.callee is slice and len(made.args) == 3:
            start, stop, step = made.args
            plain = isinstance(step, Literal) and step.value in (None, 1)
            return (start, stop) if plain else None
        if isinstance(part, Literal):
            value = part.value
            if isinstance(value, slice) and value.step in (None, 1):
                return Literal(value.start), Literal(value.stop)
            if type(value) is int:
                return Literal(value), Literal(value + 1 if value != -1 else None)
        return None

    def _before(self, one: tuple[Atom, Atom], other: tuple[Atom, Atom]) -> bool:
        """Whether one stretch of an axis ends before another one starts."""
        stop, start = one[1], other[0]
        if stop is start and isinstance(stop, Value):
            return True
        low, high = number_of(stop), number_of(start)
        if low is not None and high is not None:
            return (low < 0) == (high < 0) and low <= high
        p, q = self._multiple(stop), self._multiple(start)
        return p is not None and q is not None and p[0] is q[0] and p[1] <= q[1]

    def _multiple(self, atom: Atom) -> tuple[Value, int] | None:
        """A length and what it is multiplied with."""
        op = self.made.get(atom) if isinstance(atom, Value) else None
        if not isinstance(op, Apply):
            return None
        if op.callee is operator.mul:
            for factor, rest in (op.args, op.args[::-1]):
                number = number_of(factor)
                if type(number) is int and number >= 0 and isinstance(rest, Value):
                    return (rest, number) if self._is_length(rest) else None
            return None
        assert isinstance(atom, Value)
        return (atom, 1) if self._is_length(atom) else None

    def _is_length(self, value: Value) -> bool:
        op = self.made.get(value)
        if not isinstance(op, Apply):
            return False
        if op.callee is operator.getitem and isinstance(op.args[0], Value):
            op = self.made.get(op.args[0])
            return isinstance(op, Apply) and op.callee is np.shape
        return op.callee in _LENGTHS


def _is_zeros(op: Op) -> bool:
    return isinstance(op, Apply) and op.callee is np.zeros and isinstance(op.result.type, Array)
