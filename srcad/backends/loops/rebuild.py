"""From items back to the IR: what a loop writes it carries.

t = alloc                    |    t = empty(n)
for i in range(n):           |    t.3 = for i in range(0, n, 1) with t.1 = t
    t[i] = s                 |        t.2 = update setitem(t.1, i, s)
                             |        yield t.2
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np

from srcad import runtime
from srcad.analysis.affine import Affine, Symbol
from srcad.backends.loops.items import (
    Alloc,
    Buffer,
    Define,
    Index,
    Item,
    Keep,
    Let,
    Load,
    Loop,
    Measure,
    Require,
    Store,
    all_items,
    same,
)
from srcad.backends.loops.known import Check
from srcad.ir import Apply, Atom, Block, For, If, Literal, Op, Range, Update, Value
from srcad.ir.core import Effect, make_tuple, raise_error
from srcad.ir.types import BOOL, FLOAT, INT, Array, NumPyScalar, TupleType, Type
from srcad.ir.walk import map_atoms


class Entry:
    """What is measured once, at the top of the function."""

    def __init__(self, params: tuple[Value, ...]) -> None:
        self.params = frozenset(params)
        self.ops: list[Op] = []
        self._sizes: dict[Symbol, Value] = {}

    def measure(self, size: Affine, ops: list[Op]) -> Atom:
        """A sum of sizes of parameters."""
        made = Rebuilder(self, {}, {})
        atom = made.sum(size)
        ops += made.ops
        return atom

    def size(self, symbol: Symbol) -> Value:
        """The size of an axis of a parameter."""
        found = self._sizes.get(symbol)
        if found is None:
            found = self._sizes[symbol] = measured(symbol, symbol.value, self.ops)
        return found


def measured(symbol: Symbol, array: Atom, ops: list[Op]) -> Value:
    """The size of an axis."""
    assert symbol.axis is not None
    kind = array.type if isinstance(array, Value) else None
    rank = len(kind.dims) if isinstance(kind, Array) and kind.dims is not None else 1
    shape = Value("", TupleType((INT,) * max(rank, symbol.axis + 1)))
    size = Value("", INT)
    ops.append(Apply(np.shape, (array,), (), shape))
    ops.append(Apply(operator.getitem, (shape, Literal(symbol.axis)), (), size))
    return size


class Rebuilder:
    """The operations of a block."""

    def __init__(
        self, entry: Entry, alias: Mapping[Value, Value], start: Mapping[Buffer, Value | None]
    ) -> None:
        self.entry = entry
        self.alias = alias
        self.start = start
        self.names: dict[Value, Atom] = {}
        self.current: dict[Buffer, Atom] = {}
        self.ops: list[Op] = []
        self._sums: list[dict[Affine, Atom]] = [{}]
        self._sizes: list[dict[Symbol, Atom]] = [{}]

    def read(self, atom: Atom) -> Atom:
        """What an atom of the block is called now."""
        if not isinstance(atom, Value):
            return atom
        atom = self.alias.get(atom, atom)
        return self.names.get(atom, atom)

    def items(self, items: list[Item]) -> None:
        """Append operations."""
        for item in items:
            self._item(item)

    def _apply(self, callee: Callable[..., Any], kind: Type, *args: Atom, hint: str = "") -> Value:
        result = Value(hint, kind)
        self.ops.append(Apply(callee, args, (), result))
        return result

    def _item(self, item: Item) -> None:
        match item:
            case Let(result=result, callee=callee, args=args):
                read = tuple(map(self.read, args))
                if callee is same:
                    self.names[result] = read[0]
                else:
                    self.ops.append(Apply(callee, read, (), result))
            case Measure(result=result, size=size):
                self.names[result] = self.sum(size)
            case Load(result=result, buffer=buffer, index=index):
                array = self._buffer(buffer)
                if buffer.is_cell:
                    self.names[result] = array
                else:
                    args = (array, self._index(index))
                    self.ops.append(Apply(operator.getitem, args, (), result))
            case Store(buffer=buffer, index=index, value=value):
                if buffer.is_cell:
                    self.current[buffer] = self.read(value)
                else:
                    old = self._buffer(buffer)
                    assert isinstance(old, Value)
                    version = Value(old.hint, old.type)
                    args = (self._index(index), self.read(value))
                    self.ops.append(Update(operator.setitem, old, args, version))
                    self.current[buffer] = version
            case Alloc(buffer=buffer, zeros=zeros):
                if not buffer.is_cell:
                    self.current[buffer] = self._memory(buffer, np.zeros if zeros else np.empty)
            case Define(value=value, buffer=buffer):
                self.names[value] = self._buffer(buffer)
            case Require(check=check):
                self.require(check)
            case Keep(op=op, writes=written):
                self.ops.append(map_atoms(op, self.read, lambda v: v))
                if written is not None:
                    assert isinstance(op, Update)
                    self.current[written] = op.version
            case Loop():
                self._loop(item)
            case _:
                assert_never(item)

    def given(self, buffer: Buffer) -> Value:
        """A parameter that the memory of a buffer comes in by."""
        assert buffer.like is not None
        param = Value(buffer.like.hint, buffer.like.type)
        self.current[buffer] = param
        return param

    def now(self, buffer: Buffer) -> Atom:
        """What a buffer is called now."""
        return self._buffer(buffer)

    def _buffer(self, buffer: Buffer) -> Atom:
        found = self.current.get(buffer)
        if found is None:
            start = self.start[buffer]
            assert start is not None
            found = self.current[buffer] = self.read(start)
        return found

    def _memory(self, buffer: Buffer, callee: Callable[..., Any]) -> Value:
        sizes = [self.sum(s) for s in buffer.sizes]
        assert buffer.like is not None
        shape = sizes[0]
        if len(sizes) > 1:
            shape = self._apply(make_tuple, TupleType((INT,) * len(sizes)), *sizes)
        args: tuple[Atom, ...] = (shape,)
        if buffer.dtype != "float64":
            args = (shape, Literal(np.dtype(buffer.dtype).type))
        return self._apply(callee, buffer.like.type, *args, hint=buffer.like.hint)

    # ---- sums

    def sum(self, size: Affine) -> Atom:
        """The atom of a sum of sizes and indices."""
        if size.is_known:
            return Literal(size.const)
        for known in reversed(self._sums):
            if size in known:
                return known[size]
        total: Atom | None = None
        for symbol, count in size.terms:
            part = self._symbol(symbol)
            if abs(count) != 1:
                part = self._apply(operator.mul, INT, Literal(abs(count)), part)
            if total is None:
                total = part if count > 0 else self._apply(operator.neg, INT, part)
            else:
                total = self._apply(operator.add if count > 0 else operator.sub, INT, total, part)
        assert total is not None
        if size.const > 0:
            total = self._apply(operator.add, INT, total, Literal(size.const))
        elif size.const < 0:
            total = self._apply(operator.sub, INT, total, Literal(-size.const))
        self._sums[-1][size] = total
        return total

    def _symbol(self, symbol: Symbol) -> Atom:
        if symbol.axis is None:
            return self.read(symbol.value)
        if symbol.value in self.entry.params:
            return self.entry.size(symbol)
        for known in reversed(self._sizes):
            if symbol in known:
                return known[symbol]
        size = measured(symbol, self.read(symbol.value), self.ops)
        self._sizes[-1][symbol] = size
        return size

    def _index(self, index: Index) -> Atom:
        places = [self.sum(a) for a in index]
        if len(places) == 1:
            return places[0]
        if all(isinstance(p, Literal) for p in places):
            return Literal(tuple(p.value for p in places if isinstance(p, Literal)))
        return self._apply(make_tuple, TupleType((INT,) * len(places)), *places)

    def require(self, check: Check) -> None:
        """A check that raises."""
        left, right = self.sum(check.left), self.sum(check.right)
        callee = operator.ne if check.same else operator.lt
        test = self._apply(callee, BOOL, left, right)
        error = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None)
        self.ops.append(If(test, Block((), (error,), ()), Block((), (), ()), ()))

    # ---- loops

    def _loop(self, loop: Loop) -> None:
        inside = {i.buffer for i in all_items(loop.body) if isinstance(i, Alloc)}
        stored = {
            i.buffer: None
            for i in all_items(loop.body)
            if isinstance(i, Store) and i.buffer not in inside
        }
        size = self.sum(loop.size)
        for array in {i.buffer: None for i in all_items(loop.body) if isinstance(i, Load)}:
            if array not in inside:
                self._buffer(array)
        before = [self._buffer(b) for b in stored]
        params = [Value(_hint(a), _carried_type(b, a)) for b, a in zip(stored, before, strict=True)]
        outer, self.ops = self.ops, []
        kept = dict(self.current)
        self.current.update(zip(stored, params, strict=True))
        self._sums.append({})
        self._sizes.append({})
        self.items(loop.body)
        yields = tuple(self._buffer(b) for b in stored)
        body = Block((loop.variable.value, *params), tuple(self.ops), yields)
        self._sums.pop()
        self._sizes.pop()
        self.ops = outer
        self.current = kept
        results = [Value(p.hint, p.type) for p in params]
        stream = Range(Literal(0), size, Literal(1))
        self.ops.append(For((stream,), tuple(before), body, tuple(results)))
        self.current.update(zip(stored, results, strict=True))


def _hint(atom: Atom) -> str:
    return atom.hint if isinstance(atom, Value) else ""


def _carried_type(buffer: Buffer, atom: Atom) -> Type:
    if not buffer.is_cell and isinstance(atom, Value):
        return atom.type
    return FLOAT if buffer.dtype == "float64" else NumPyScalar(buffer.dtype)
