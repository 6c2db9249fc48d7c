"""From operations on arrays to loops, one operation at a time.

    y: f8[n-2] = add(u[1:-1], t)     |    y = empty(n - 2)
                                     |    for i in range(n - 2)
                                     |        y[i] = u[i + 1] + t[i]

A view has no loop: who reads it reads the array behind it.  A write is a loop of stores; what it
writes is read before, by a loop of its own, if it is in the memory that is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.analysis.affine import ONE, Affine, Sizes, Symbol
from srcad.backends.loops import joins, lists, matrices, reduce, views
from srcad.backends.loops.aliases import Aliases
from srcad.backends.loops.elements import DTYPES, Elements, common_dtype, scalar_dtype
from srcad.backends.loops.gather import Gather
from srcad.backends.loops.indexing import indexed
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
    same,
    variable,
)
from srcad.backends.loops.kinds import JOINS, reduction, scan
from srcad.backends.loops.sizes import Shapes
from srcad.backends.loops.views import Picture
from srcad.codegen.memory import Memory
from srcad.codegen.ownership import Ownership
from srcad.ir import Accumulate, Apply, Atom, Literal, Op, Update, Value
from srcad.ir.core import make_tuple
from srcad.ir.elementwise import is_elementwise
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import INT, Array, Number, NumPyScalar, dtype_of

UNROLLED = 9
"""Loops of so few elements in all are written out."""

_COPIES = (np.copy, np.ndarray.copy, runtime.own)
_PRODUCTS = (operator.matmul, np.matmul, np.dot)
Leaf = Callable[[Index], list[Item]]
Place = tuple[Buffer, Picture]


class Lowering:
    """Loops for the operations of a function."""

    def __init__(self, shapes: Shapes, memory: Memory, ownership: Ownership) -> None:
        self.shapes = shapes
        self.memory = memory
        self.ownership = ownership
        self.alias: dict[Value, Value] = {}
        """Results that are another value."""
        self.aliases = Aliases()
        """The buffers of the block."""
        self.places: dict[Value, Place] = {}
        """The arrays that are in buffers."""
        self.lists: dict[Value, Place] = {}
        """Lists of elements, and what they are the elements of."""
        self._repeated: dict[Value, Atom] = {}
        """Arrays that repeat a number."""
        self._serial = 10**6

    # ---- memory

    def place(self, value: Value) -> Place | None:
        """The buffer that an array is in, and what it is of it."""
        value = self.alias.get(value, value)
        found = self.places.get(value)
        if found is None:
            kind = value.type
            if not isinstance(kind, Array) or kind.dtype not in DTYPES:
                return None
            sizes = self.shapes.of(value)
            if not sizes:
                return None
            buffer = Buffer(kind.dtype, sizes, self.memory.identity(value), value, value)
            found = self.places[value] = (buffer, views.whole(sizes))
        self.aliases.touch(found[0])
        return found

    def new(self, value: Value, sizes: Sizes, dtype: str) -> Buffer:
        """The memory of a new array."""
        known = value in self.memory.survey.number
        mask = self.memory.identity(value) if known else 0
        buffer = Buffer(dtype, sizes, mask, None, value)
        self.aliases.make(buffer)
        self.places[value] = (buffer, views.whole(sizes))
        return buffer

    def memory_like(self, alloc: Alloc) -> tuple[list[Item], Value]:
        """Memory like that of a buffer, and its value."""
        like = alloc.buffer.like
        assert like is not None
        value = Value(like.hint, like.type)
        buffer = self.new(value, alloc.buffer.sizes, alloc.buffer.dtype)
        return [replace(alloc, buffer=buffer), self.defined(value, buffer)], value

    def version(self, version: Value, target: Value) -> Buffer | None:
        """Note that a write makes a value of another; the buffer that is written."""
        found = self.place(target)
        if found is None:
            return None
        self.places[version] = found
        found[0].latest = version
        found[0].mask |= self.memory.identity(version)
        return found[0]

    # ---- loops

    def _loop_variable(self, depth: int) -> Symbol:
        self._serial += 1
        return variable(self._serial, "ijkl"[depth] if depth < 4 else "i", INT)

    def nest(self, sizes: Sequence[Affine], leaf: Leaf, at: Index = ()) -> list[Item]:
        """Loops over all indices."""
        if not sizes:
            return leaf(at)
        count = 1
        for size in sizes:
            count *= size.const if size.is_known else UNROLLED + 1
        if count <= UNROLLED:
            return [
                item
                for k in range(sizes[0].const)
                for item in self.nest(sizes[1:], leaf, (*at, Affine(k)))
            ]
        loop = Loop(self._loop_variable(len(at)), sizes[0])
        here = Affine(0, ((loop.variable, 1),))
        loop.body.extend(self.nest(sizes[1:], leaf, (*at, here)))
        return [loop]

    def read(self, atom: Atom, at: Index, items: list[Item]) -> Atom:
        """The element of an array at an index of what it is broadcast to."""
        atom = self.alias.get(atom, atom) if isinstance(atom, Value) else atom
        if isinstance(atom, Literal) or isinstance(atom.type, (Number, NumPyScalar)):
            return atom
        if atom in self._repeated:
            return self._repeated[atom]
        buffer, picture = self.places[atom]
        self.aliases.touch(buffer)
        return self.load(buffer, self.index(picture, at), items)

    def load(self, buffer: Buffer, index: Index, items: list[Item]) -> Value:
        """An element of memory."""
        result = Value("", NumPyScalar(buffer.dtype))
        items.append(Load(result, buffer, index))
        return result

    @staticmethod
    def index(picture: Picture, at: Index) -> Index:
        """Where an element of a view is; an axis of size 1 is read at 0."""
        at = at[len(at) - len(picture.sizes) :]
        index = []
        for along in picture.indices:
            place = along.offset
            if along.axis is not None and picture.sizes[along.axis] != ONE:
                place += at[along.axis].times(along.step)
            index.append(place)
        return tuple(index)

    def is_readable(self, atom: Atom) -> bool:
        """Whether the elements can be read in loops."""
        if isinstance(atom, Literal):
            return isinstance(atom.value, (bool, int, float, np.generic))
        atom = self.alias.get(atom, atom)
        match atom.type:
            case Number(kind=kind):
                return kind != "complex"
            case NumPyScalar(dtype=dtype):
                return dtype in DTYPES
            case Array():
                return atom in self._repeated or self.place(atom) is not None
        return False

    # ---- operations

    def lower(self, op: Op) -> list[Item] | None:
        """Items that do what an operation does; None if it stays."""
        items = self._lower(op)
        if items is None:
            return None
        return [*map(Require, self.shapes.checks.get(op, ())), *items]

    def _lower(self, op: Op) -> list[Item] | None:
        if op in self.shapes.unsettled:
            return None
        match op:
            case Apply():
                return self._apply(op)
            case Update(target=Value(type=Array()), result=None):
                return self._update(op)
            case Accumulate(target=Value(type=Array()) as target) if isinstance(
                op.version.type, Array
            ):
                return self._accumulate(op, target)
        return None

    def _apply(self, op: Apply) -> list[Item] | None:
        if op.callee is runtime.unbroadcast:
            return reduce.unbroadcast(self, op)
        if reduction(op.callee) is not None:
            return reduce.reduced(self, op)
        if any(op.callee is f for f in SHAPE):
            return self._measure(op)
        if op.callee is np.ndarray.tolist:
            return lists.listed(self, op)
        if op.callee in (operator.getitem, runtime.copied) and op.args[0] in self.lists:
            return lists.list_item(self, op)
        if not isinstance(op.result.type, Array):
            if any(op.callee is f for f in _PRODUCTS):
                return matrices.inner(self, op)
            return self._element(op) if op.callee is operator.getitem else None
        picture = self.shapes.picture_of(op)
        if picture is not None:
            return self._view(op, picture)
        if is_elementwise(op.callee) or any(op.callee is f for f in _COPIES):
            return self._elementwise(op)
        if any(op.callee is f for f in JOINS):
            return joins.joined(self, op)
        if scan(op.callee) is not None:
            return joins.scanned(self, op)
        if op.callee is np.array:
            return matrices.display(self, op)
        if any(op.callee is f for f in _PRODUCTS):
            return matrices.product(self, op)
        return None

    def _measure(self, op: Apply) -> list[Item] | None:
        """The shape of an array that need not be there."""
        source = op.args[0]
        if not isinstance(source, Value) or not isinstance(source.type, Array):
            return None
        sizes = self.shapes.of(source)
        if not sizes or any(s.value is source for size in sizes for s in size.symbols):
            return None
        if op.callee is len:
            return [Measure(op.result, sizes[0])]
        if op.callee is np.ndim:
            return [Measure(op.result, Affine(len(sizes)))]
        values = [Value("", INT) for _ in sizes]
        items: list[Item] = [Measure(v, size) for v, size in zip(values, sizes, strict=True)]
        if op.callee is np.shape:
            return [*items, Let(op.result, make_tuple, tuple(values))]
        count: Atom = values[0]
        for value in values[1:]:
            count = self.times(count, value, items)
        return [*items, Let(op.result, same, (count,))]

    def _element(self, op: Apply) -> list[Item] | None:
        """An element that the function reads itself, by an index that has been checked."""
        source = op.args[0]
        if not self.shapes.checked or not isinstance(source, Value):
            return None
        place = self.place(source)
        if place is None or place[0].dtype != "float64":
            return None
        shown = indexed(self.shapes, op.args[1], place[1].sizes)
        if shown is None or shown.sizes:
            return None
        items: list[Item] = []
        value = self.load(place[0], self.index(place[1].then(shown), ()), items)
        return [*items, Let(op.result, same, (value,))]

    def _view(self, op: Apply, picture: Picture) -> list[Item] | None:
        source = op.args[0]
        if isinstance(source, Literal) or isinstance(source.type, (Number, NumPyScalar)):
            self._repeated[op.result] = source
            return [Keep(op, True)]
        source = self.alias.get(source, source)
        if source in self._repeated:
            self._repeated[op.result] = self._repeated[source]
        elif (found := self.place(source)) is not None:
            self.places[op.result] = (found[0], found[1].then(picture))
        return [Keep(op, True)]

    def sizes_of(self, value: Value) -> Sizes | None:
        """The sizes of a new array, if they are known before it is there."""
        sizes = self.shapes.of(value)
        if not sizes or any(s.value is value for size in sizes for s in size.symbols):
            return None
        return sizes

    def _elementwise(self, op: Apply) -> list[Item] | None:
        kind = op.result.type
        assert isinstance(kind, Array)
        sizes = self.sizes_of(op.result)
        common = common_dtype([atom_type(a) for a in op.args])
        if sizes is None or common is None or op.keywords or kind.dtype not in DTYPES:
            return None
        if not all(map(self.is_readable, op.args)):
            return None
        callee = None if any(op.callee is f for f in _COPIES) else op.callee
        return self.made(op.result, sizes, kind.dtype, callee, op.args, common)

    def made(
        self,
        result: Value,
        sizes: Sizes,
        dtype: str,
        callee: Callable[..., Any] | None,
        args: Sequence[Atom],
        common: str,
    ) -> list[Item] | None:
        """A new array, element by element; without a callee a copy."""
        scalars = [
            Value("", NumPyScalar(k.dtype or "")) if isinstance(k := atom_type(a), Array) else a
            for a in args
        ]
        if callee is not None and Elements().apply(callee, scalars, dtype, common) is None:
            return None
        buffer = self.new(result, sizes, dtype)

        def leaf(at: Index) -> list[Item]:
            items: list[Item] = []
            elements = Elements()
            read = [self.read(a, at, items) for a in args]
            value: Atom | None = elements.cast(read[0], dtype)
            if callee is not None:
                elements.lets.clear()
                value = elements.apply(callee, read, dtype, common)
            assert value is not None
            return [*items, *elements.lets, Store(buffer, at, value)]

        return [Alloc(buffer), *self.nest(sizes, leaf), self.defined(result, buffer)]

    def defined(self, value: Value, buffer: Buffer) -> Item:
        """An array that is made, as what is in the buffer."""
        buffer.latest = value
        return Define(value, buffer)

    # ---- writes

    def _update(self, op: Update) -> list[Item] | None:
        picture = self.shapes.picture_of(op)
        if picture is None or op.callee not in (operator.setitem, operator.iadd, operator.isub):
            return None
        callee = {operator.iadd: operator.add, operator.isub: operator.sub}.get(op.callee)
        return self._write(op.target, op.version, picture, callee, op.args[1])

    def _accumulate(self, op: Accumulate, target: Value) -> list[Item] | None:
        kind = op.version.type
        sizes = self.sizes_of(op.version)
        assert isinstance(kind, Array)
        common = common_dtype([atom_type(target), atom_type(op.term)])
        if sizes is None or common is None or kind.dtype not in DTYPES:
            return None
        if not self.is_readable(target) or not self.is_readable(op.term):
            return None
        in_place = self.ownership.in_place(op)
        if op.index is None:
            steady = self.shapes.of(target) == sizes and dtype_of(atom_type(target)) == kind.dtype
            if steady and in_place:
                whole = views.whole(sizes)
                return self._write(target, op.version, whole, operator.add, op.term)
            args = (target, op.term)
            return self.made(op.version, sizes, kind.dtype, operator.add, args, common)
        picture = self.shapes.picture_of(op)
        if picture is None:
            return None
        if in_place:
            return self._write(target, op.version, picture, operator.add, op.term)
        copied = Value(op.version.hint, kind)
        head = self.made(copied, sizes, kind.dtype, None, (target,), kind.dtype)
        tail = self._write(copied, op.version, picture, operator.add, op.term)
        return None if head is None or tail is None else [*head, *tail]

    def _write(
        self,
        target: Value,
        version: Value,
        picture: Picture,
        callee: Callable[..., Any] | None,
        term: Atom,
    ) -> list[Item] | None:
        """Stores to the elements of a view of the target."""
        found = self.place(target)
        if found is None or not self.is_readable(term):
            return None
        buffer = found[0]
        picture = found[1].then(picture)
        if buffer.dtype not in ("float64", "float32") and scalar_dtype(term) != buffer.dtype:
            return None
        items: list[Item] = []
        if self._overlaps(term, buffer, picture):
            assert isinstance(term, Value)
            sizes = self.shapes.of(term)
            if sizes is None:
                return None
            copied = Value("", term.type)
            kept = self.new(copied, sizes, self.places[self.alias.get(term, term)][0].dtype)

            def save(at: Index, term: Value = term) -> list[Item]:
                read: list[Item] = []
                value = self.read(term, at, read)
                return [*read, Store(kept, at, value)]

            items += [Alloc(kept), *self.nest(sizes, save)]
            term = copied

        def leaf(at: Index) -> list[Item]:
            made: list[Item] = []
            index = self.index(picture, at)
            elements = Elements()
            value = elements.cast(self.read(term, at, made), buffer.dtype)
            if callee is not None:
                old = self.load(buffer, index, made)
                value = elements.let(callee, buffer.dtype, old, value)
            return [*made, *elements.lets, Store(buffer, index, value)]

        items += self.nest(picture.sizes, leaf)
        self.version(version, target)
        return [*items, Define(version, buffer)]

    def _overlaps(self, term: Atom, buffer: Buffer, picture: Picture) -> bool:
        """Whether a term may be read where it has been written already."""
        if isinstance(term, Literal) or not isinstance(term.type, Array):
            return False
        term = self.alias.get(term, term)
        if term in self._repeated:
            return False
        other, seen = self.places[term]
        if other is buffer:
            return seen != picture
        return self.aliases.may(other, buffer)

    def can_gather(self, gather: Gather) -> bool:
        """Whether accumulations can be done at once."""
        target = gather.ops[0].target
        found = self.place(target) if isinstance(target, Value) else None
        sizes = self.shapes.of(gather.term)
        if found is None or not sizes or not self.is_readable(gather.term):
            return False
        buffer, picture = found
        if buffer.dtype not in ("float64", "float32") or dtype_of(gather.term.type) != buffer.dtype:
            return False
        return picture == views.whole(buffer.sizes) and len(sizes) == len(buffer.sizes)

    def gather(self, gather: Gather) -> list[Item]:
        """The accumulations of a gather, at the end of all accumulations to the buffer."""
        buffer = self.places[gather.last.version][0]
        sizes = self.shapes.of(gather.term)
        assert sizes is not None
        width = gather.width
        padded = tuple(s + 2 * w for s, w in zip(sizes, width, strict=True))
        kept = self.new(Value("", gather.term.type), padded, buffer.dtype)

        def save(at: Index) -> list[Item]:
            items: list[Item] = []
            value = self.read(gather.term, at, items)
            inner = tuple(a + w for a, w in zip(at, width, strict=True))
            return [*items, Store(kept, inner, value)]

        def add(at: Index) -> list[Item]:
            items: list[Item] = []
            elements = Elements()
            index = tuple(b + a for b, a in zip(gather.base, at, strict=True))
            total: Atom = self.load(buffer, index, items)
            for offset in gather.offsets:
                place = tuple(a + (w - d) for a, w, d in zip(at, width, offset, strict=True))
                part = self.load(kept, place, items)
                total = elements.let(operator.add, buffer.dtype, total, part)
            return [*items, *elements.lets, Store(buffer, index, total)]

        reached = tuple(s + w for s, w in zip(sizes, width, strict=True))
        items = [Alloc(kept, True), *self.nest(sizes, save), *self.nest(reached, add)]
        checks = dict.fromkeys(c for op in gather.ops for c in self.shapes.checks.get(op, ()))
        return [*map(Require, checks), *items, Define(gather.last.version, buffer)]

    def times(self, x: Atom, y: Atom, items: list[Item]) -> Value:
        """The product of two integers."""
        result = Value("", INT)
        items.append(Let(result, operator.mul, (x, y)))
        return result
