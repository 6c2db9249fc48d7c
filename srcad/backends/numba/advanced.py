"""Indices that are arrays, as loops over their entries.

    y = getitem(x, k)            |  y = empty(size(k))
                                 |  for i in range(size(k)):
                                 |      y[i] = x[k[i]]
    x_bar[k] += t                |  for i in range(size(k)): x_bar[k[i]] += t[i]
    x[k] += t                    |  s = getitem(x, k); x[k] = add(s, t)      (the last one counts)

A mask is the places where it is true.  Numba has some of these, with one array of one axis, and is
slow to compile them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from srcad import runtime
from srcad.backends.numba.writing import (
    ZERO,
    Writer,
    nest,
    number_of,
    require_same,
    rewritten,
    size_of,
    sizes_together,
    tuple_of,
)
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Function,
    Literal,
    Loc,
    Op,
    Update,
    Value,
)
from srcad.ir.core import make_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    BOOL,
    INT,
    Array,
    Number,
    Size,
    TupleType,
    Type,
)
from srcad.ir.walk import all_ops, map_blocks


def array_indices_as_loops(function: Function) -> Function:
    """The function with loops in place of indices that are arrays."""
    return replace(function, body=_Indices(function).block(function.body))


@dataclass(frozen=True, slots=True)
class _Index:
    """The parts of an index: integers and arrays of them, and whole axes."""

    array: Value
    """What is indexed."""
    parts: tuple[Atom | None, ...]
    """One for each axis of the array; None for all of it."""
    entries: tuple[Atom, ...]
    """How many entries the arrays have together, along each of their axes."""
    sizes: tuple[Size, ...]
    """The same, as the types have it."""
    place: int
    """Where the axes of the entries are among those of the result."""
    loc: Loc | None

    @property
    def is_whole(self) -> bool:
        """Whether one item of the array is left for each entry."""
        return None not in self.parts

    def item(self, at: tuple[Atom, ...], writer: Writer) -> Atom:
        """The index of the item, or of the items, of one entry."""
        return tuple_of(
            [WHOLE if p is None else _entry(p, at, self.loc, writer) for p in self.parts], writer
        )

    def within(self, at: tuple[Atom, ...], writer: Writer) -> Atom:
        """The index of the same in what the array is read to, or in what is written."""
        rest = [WHOLE] * self.parts.count(None)
        return tuple_of([*rest[: self.place], *at, *rest[self.place :]], writer)

    def shape(self, writer: Writer) -> Atom:
        """The shape of what is read."""
        rest = [size_of(self.array, axis, writer) for axis, p in enumerate(self.parts) if p is None]
        return tuple_of([*rest[: self.place], *self.entries, *rest[self.place :]], writer)

    def rank(self) -> int:
        """How many axes there are of what is read."""
        return len(self.entries) + self.parts.count(None)


WHOLE = Literal(slice(None))


class _Indices:
    def __init__(self, function: Function) -> None:
        self.made = {op.result: op for op in all_ops(function.body) if isinstance(op, Apply)}

    def block(self, block: Block) -> Block:
        return rewritten(block, self._op)

    def _op(self, op: Op, writer: Writer) -> None:
        written = Writer()
        if self._written(op, written):
            writer.ops += written.ops
        else:
            writer.ops.append(map_blocks(op, self.block))

    def _written(self, op: Op, writer: Writer) -> bool:
        """Write an operation as loops; whether its index has arrays."""
        match op:
            case Apply(callee=operator.getitem, args=(Value() as array, index)):
                found = self._index(array, index, op.loc, writer)
                if found is not None:
                    self._read(found, op.result, writer)
            case Apply(callee=runtime.last_writes, args=(index, shape, kept)):
                found = self._last_writes(op, index, shape, kept, writer)
            case Accumulate(target=Value() as target, index=index) if index is not None:
                found = self._index(target, index, op.loc, writer)
                if found is not None:
                    self._add(found, op.term, op.version, writer)
            case Update(target=target, args=(index, term), path=(), result=None):
                write = _WRITES.get(op.callee)
                found = None if write is None else self._index(target, index, op.loc, writer)
                if found is not None and write is not None:
                    write(self, found, term, op.version, writer)
            case _:
                return False
        return found is not None

    def _apart(self, term: Atom, writer: Writer) -> Atom:
        """What is written, in memory of its own: it may be a view of what it is written to."""
        if not isinstance(atom_type(term), Array):
            return term
        return writer.apply(np.copy, term, kind=atom_type(term))

    # ---- what an index is

    def _parts(self, index: Atom) -> list[Atom]:
        if isinstance(index, Literal) and isinstance(index.value, tuple):
            return [Literal(v) for v in index.value]
        made = self.made.get(index) if isinstance(index, Value) else None
        if made is not None and made.callee is make_tuple:
            return list(made.args)
        return [index]

    def _index(self, array: Value, index: Atom, loc: Loc | None, writer: Writer) -> _Index | None:
        kind = array.type
        if not isinstance(kind, Array) or kind.dims is None:
            return None
        parts = self._parts(index)
        if not any(isinstance(atom_type(p), Array) for p in parts):
            return None
        rank = len(kind.dims)
        used = sum(_axes(p) for p in parts)
        if not any(map(_is_ellipsis, parts)):
            parts.append(Literal(Ellipsis))
        at = next(k for k, p in enumerate(parts) if _is_ellipsis(p))
        if used > rank or not all(map(_is_simple, (*parts[:at], *parts[at + 1 :]))):
            return None
        parts = [*parts[:at], *[WHOLE] * (rank - used), *parts[at + 1 :]]
        spread: list[Atom | None] = []
        for part in parts:
            of = atom_type(part)
            if isinstance(of, Array) and of.dtype == "bool":
                spread += self._places(part, array, len(spread), loc, writer)
            else:
                spread.append(None if _is_whole(part) else part)
        entries = _entries(spread, loc, writer)
        if entries is None:
            return None
        chosen = [k for k, p in enumerate(spread) if p is not None]
        together = chosen == list(range(chosen[0], chosen[-1] + 1))
        place = chosen[0] if together else 0
        return _Index(array, tuple(spread), *entries, place, loc)

    def _places(
        self, mask: Atom, array: Value, axis: int, loc: Loc | None, writer: Writer
    ) -> list[Atom | None]:
        """The indices where a mask is true, along each of its axes."""
        kind = atom_type(mask)
        assert isinstance(kind, Array)
        assert isinstance(array.type, Array)
        dims = kind.dims or ()
        for k, size in enumerate(dims):
            if size is None or size != (array.type.dims or ())[axis + k]:
                sizes = (size_of(mask, k, writer), size_of(array, axis + k, writer))
                require_same(*sizes, loc, writer)
        one = Array("int64", (None,))
        found = writer.apply(np.nonzero, mask, kind=TupleType((one,) * len(dims)), loc=loc)
        return [
            writer.apply(operator.getitem, found, Literal(k), kind=one) for k in range(len(dims))
        ]

    # ---- loops

    def _read(self, index: _Index, result: Value, writer: Writer) -> None:
        kind = _read_type(index)
        dtype = getattr(index.array.type, "dtype", None)
        extra = () if dtype == "float64" else (Literal(np.dtype(dtype).type),)
        shape = index.shape(writer)
        start = writer.apply(np.empty, shape, *extra, kind=kind, hint=result.hint)
        item = _item_type(index)

        def leaf(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
            read = inner.apply(
                operator.getitem, index.array, index.item(at, inner), kind=item, loc=index.loc
            )
            return inner.set_item(out, index.within(at, inner), read, index.loc)

        nest(index.entries, start, leaf, result, index.loc, writer)

    def _add(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        term = _fitting(index, term, writer)

        def leaf(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
            after = Value(out.hint, out.type)
            part = _part(index, term, at, inner)
            inner.ops.append(Accumulate(out, index.item(at, inner), part, after, index.loc))
            return after

        nest(index.entries, index.array, leaf, version, index.loc, writer)

    def _set(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        term = _fitting(index, term, writer)

        def leaf(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
            part = _part(index, term, at, inner)
            return inner.set_item(out, index.item(at, inner), part, index.loc)

        nest(index.entries, index.array, leaf, version, index.loc, writer)

    def _set_apart(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        self._set(index, self._apart(term, writer), version, writer)

    def _add_apart(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        self._add(index, self._apart(term, writer), version, writer)

    def _subtract_apart(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        less = writer.apply(operator.neg, term, kind=atom_type(term), loc=index.loc)
        self._add_apart(index, less, version, writer)

    def _set_sum(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        self._set(index, self._combined(operator.add, index, term, writer), version, writer)

    def _set_difference(self, index: _Index, term: Atom, version: Value, writer: Writer) -> None:
        self._set(index, self._combined(operator.sub, index, term, writer), version, writer)

    def _combined(
        self, callee: Callable[..., object], index: _Index, term: Atom, writer: Writer
    ) -> Value:
        """What is there, and a term: all read before anything is written."""
        kind = _read_type(index)
        read = Value("", kind)
        self._read(index, read, writer)
        return writer.apply(callee, read, term, kind=kind, loc=index.loc)

    def _last_writes(
        self, op: Apply, index: Atom, shape: Atom, kept: Atom, writer: Writer
    ) -> _Index | None:
        """What was written and stayed: each entry notes its number, and the last one is found."""
        masks = [p for p in self._parts(index) if getattr(atom_type(p), "dtype", None) == "bool"]
        kind = atom_type(kept)
        sizes = atom_type(shape)
        if masks or not isinstance(kind, Array) or not isinstance(sizes, TupleType):
            return None
        whole = Array("int64", (None,) * len(sizes.items))
        stamps = writer.apply(np.empty, shape, Literal(np.int64), kind=whole)
        found = self._index(stamps, index, op.loc, writer)
        if found is None or not found.is_whole:
            return None

        def number(at: tuple[Atom, ...], inner: Writer) -> Atom:
            total: Atom = ZERO
            for size, place in zip(found.entries, at, strict=True):
                total = inner.add(ZERO if total is ZERO else inner.mul(total, size), place)
            return total

        def stamp(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
            return inner.set_item(out, found.item(at, inner), number(at, inner), op.loc)

        stamped = Value("stamp", whole)
        nest(found.entries, stamps, stamp, stamped, found.loc, writer)
        start = writer.apply(np.zeros_like, kept, kind=kind)
        number_type = number_of(kind)

        def choose(inner: Writer, at: tuple[Atom, ...], out: Value) -> Value:
            last = inner.apply(operator.getitem, stamped, found.item(at, inner), kind=INT)
            is_last = inner.apply(operator.eq, last, number(at, inner), kind=BOOL)
            part = _part(found, kept, at, inner)
            chosen = inner.apply(select, is_last, part, Literal(0.0), kind=number_type)
            return inner.set_item(out, found.within(at, inner), chosen, op.loc)

        nest(found.entries, start, choose, op.result, found.loc, writer)
        return found


_WRITES: dict[Callable[..., object], Callable[[_Indices, _Index, Atom, Value, Writer], None]] = {
    operator.setitem: _Indices._set_apart,
    operator.iadd: _Indices._set_sum,
    operator.isub: _Indices._set_difference,
    np.add.at: _Indices._add_apart,
    np.subtract.at: _Indices._subtract_apart,
}


def _entries(
    parts: list[Atom | None], loc: Loc | None, writer: Writer
) -> tuple[tuple[Atom, ...], tuple[Size, ...]] | None:
    """The sizes that arrays have together; None if their ranks are not known."""
    arrays = [p for p in parts if p is not None and isinstance(atom_type(p), Array)]
    shapes = [atom_type(a).dims for a in arrays]  # type: ignore[attr-defined]  # arrays
    if any(s is None for s in shapes):
        return None
    return sizes_together(arrays, shapes, loc, writer)


def _entry(part: Atom, at: tuple[Atom, ...], loc: Loc | None, writer: Writer) -> Atom:
    """The number that an array of an index has for one entry."""
    kind = atom_type(part)
    if not isinstance(kind, Array):
        return part
    dims = kind.dims or ()
    own = at[len(at) - len(dims) :]
    places = [ZERO if size == 1 else a for size, a in zip(dims, own, strict=True)]
    return writer.apply(operator.getitem, part, tuple_of(places, writer), kind=INT, loc=loc)


def _part(index: _Index, term: Atom, at: tuple[Atom, ...], writer: Writer) -> Atom:
    """What a term has for one entry."""
    kind = atom_type(term)
    if not isinstance(kind, Array):
        return term
    item = number_of(kind) if index.is_whole else _item_type(index)
    return writer.apply(operator.getitem, term, index.within(at, writer), kind=item)


def _fitting(index: _Index, term: Atom, writer: Writer) -> Atom:
    """A term in the shape of what is written."""
    kind = atom_type(term)
    if not isinstance(kind, Array):
        return term
    wanted = _read_type(index).dims or ()
    if kind.dims is None or len(kind.dims) != len(wanted) or 1 in kind.dims:
        shape = index.shape(writer)
        return writer.apply(np.broadcast_to, term, shape, kind=Array(kind.dtype, wanted))
    sizes = index.shape(writer)
    for axis, (have, size) in enumerate(zip(kind.dims, wanted, strict=True)):
        if have is None or have != size:
            size_now = size_of(term, axis, writer)
            expected: Atom = sizes
            if len(wanted) > 1:
                expected = writer.apply(operator.getitem, sizes, Literal(axis), kind=INT)
            require_same(size_now, expected, index.loc, writer)
    return term


# ---- types


def _read_type(index: _Index) -> Array:
    kind = index.array.type
    assert isinstance(kind, Array)
    rest = [d for d, p in zip(kind.dims or (), index.parts, strict=True) if p is None]
    return Array(kind.dtype, (*rest[: index.place], *index.sizes, *rest[index.place :]))


def _item_type(index: _Index) -> Type:
    kind = index.array.type
    assert isinstance(kind, Array)
    rest = tuple(d for d, p in zip(kind.dims or (), index.parts, strict=True) if p is None)
    return Array(kind.dtype, rest) if rest else number_of(kind)


def _axes(part: Atom) -> int:
    """How many axes a part of an index takes."""
    kind = atom_type(part)
    if _is_ellipsis(part) or (isinstance(part, Literal) and part.value is None):
        return 0
    if isinstance(kind, Array) and kind.dtype == "bool":
        return len(kind.dims or (0,))
    return 1


def _is_ellipsis(part: Atom) -> bool:
    return isinstance(part, Literal) and part.value is Ellipsis


def _is_whole(part: Atom) -> bool:
    return isinstance(part, Literal) and part.value == slice(None)


def _is_simple(part: Atom) -> bool:
    """Whether a part is a whole axis, an integer, or an array of known rank."""
    kind = atom_type(part)
    if isinstance(kind, Array):
        return kind.dims is not None and len(kind.dims) > 0 and kind.dtype in ("bool", "int64")
    if isinstance(part, Literal):
        is_int = isinstance(part.value, (int, np.integer)) and not isinstance(part.value, bool)
        return _is_whole(part) or is_int
    return kind == INT or (isinstance(kind, Number) and kind.kind == "int")
