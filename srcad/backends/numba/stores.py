"""The memory of tapes: an array, or a list, for each value that is kept.

Where the number of items is known before the loop there is room for all of them; where it is not,
the arrays grow to twice their size.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.backends import ROOM
from srcad.backends.numba.taped import Tape, Tapes
from srcad.backends.numba.writing import ONE, ZERO, Writer
from srcad.ir import (
    Atom,
    Block,
    Call,
    For,
    Function,
    FunctionRef,
    If,
    Items,
    Literal,
    Op,
    Range,
    Stream,
    Value,
    While,
)
from srcad.ir.core import make_list
from srcad.ir.types import BOOL, INT, Array, ListType, Number, NumPyScalar, Opaque, Type
from srcad.ir.walk import stream_atoms, values_read

_FIRST_SIZE = 64
"""Items that an array which may grow has room for at first."""

DTYPES = {"bool": np.bool_, "int": np.int64, "real": np.float64, "float": np.float64}
DTYPES["complex"] = np.complex128


@dataclass(slots=True)
class State:
    """The present versions of a tape's memory."""

    top: Atom
    """How many items there are."""
    stores: dict[object, Value]
    """The array or list of each value that is kept, and of the ends of inner tapes."""

    def copy(self) -> State:
        """A state that changes by itself."""
        return State(self.top, dict(self.stores))


class Stores:
    """The memory of all tapes of a function, as it is at a place in it."""

    def __init__(
        self,
        found: Tapes,
        read: Callable[[Atom], Atom],
        length: Callable[[Value, Writer], Atom],
    ) -> None:
        self.found = found
        self.read = read
        """What an atom of the function is called now."""
        self.length = length
        """How many items a list that has become a tape has."""
        self.states: dict[Tape, State] = {}
        self.counts: dict[Tape, Atom | None] = {}
        """How many items an outermost tape gets at most."""
        self.fixed: set[Tape] = set()
        """Tapes whose arrays have room for all items from the start."""
        self.grown: FunctionRef | None = None

    def allocate(self, tape: Tape, writer: Writer, before: Op | None = None) -> None:
        """The arrays of a tape, and of those that it keeps, before its loop or one around it."""
        self.counts[tape] = outer = self._count(tape, writer, before)
        self._allocate_one(tape, outer, writer, before)

    def empty(self, tape: Tape) -> None:
        """Let a tape, and what it keeps, start at its beginning."""
        self.states[tape].top = ZERO
        for child in tape.children:
            self.empty(child)

    def can_stand_before(self, tape: Tape, op: Op) -> bool:
        """Whether the arrays of a tape can be made before a loop around it, once for all rounds."""
        if any(dtype_of_number(kind) is None for kind in tape.kept.values()):
            return False
        if tape.starts and self._range_before(tape, op) is None:
            return False
        return all(self.can_stand_before(child, op) for child in tape.children)

    def _range_before(self, tape: Tape, op: Op) -> Range | None:
        """What the loop of a tape counts through, if that is known before an operation."""
        if not isinstance(tape.loop, For):
            return None
        stream = shortest(tape.loop)
        known = all(self._is_there(a, op) for a in stream_atoms(stream))
        return stream if isinstance(stream, Range) and known else None

    def _is_there(self, atom: Atom, op: Op) -> bool:
        """Whether a value is there before an operation."""
        if not isinstance(atom, Value):
            return True
        block = self.found.places.block_of[op]
        if not self.found.places.sees(block, atom):
            return False
        made = self.found.places.made.get(atom)
        if made is None or self.found.places.block_of[made] is not block:
            return True
        return block.ops.index(made) < block.ops.index(op)

    def _allocate_one(
        self, tape: Tape, size: Atom | None, writer: Writer, before: Op | None
    ) -> None:
        if size is not None:
            self.fixed.add(tape)
        room = Literal(_FIRST_SIZE) if size is None else size
        stores: dict[object, Value] = {}
        for value, kind in tape.kept.items():
            stores[value] = self._store(kind, value.hint, room, writer)
        for child in tape.children:
            for end in ("start", "end") if child.range is None else ("start",):
                stores[child, end] = self._store(INT, end, room, writer)
        self.states[tape] = State(ZERO, stores)
        for child in tape.children:
            inner = None
            if size is not None and (count := self._count(child, writer, before)) is not None:
                inner = writer.mul(size, count)
            self._allocate_one(child, inner, writer, before)

    def _store(self, kind: Type, hint: str, room: Atom, writer: Writer) -> Value:
        hint = f"{hint}_stack" if hint else "stack"
        dtype = dtype_of_number(kind)
        if dtype is None:
            return writer.apply(make_list, kind=ListType(kind), hint=hint)
        made = Array(np.dtype(dtype).name, (ROOM,))
        if dtype is np.float64:
            return writer.apply(np.empty, room, kind=made, hint=hint)
        return writer.apply(np.empty, room, Literal(dtype), kind=made, hint=hint)

    def _count(self, tape: Tape, writer: Writer, before: Op | None) -> Atom | None:
        """How many items a tape gets at most each time that it is made, if known before."""
        if not isinstance(tape.loop, For):
            return None
        if tape.parent is not None and self._is_run_again(tape, tape.parent):
            return None
        if before is not None and self._range_before(tape, before) is None:
            return None
        stream = shortest(tape.loop)
        if not all(self._is_before(a, tape.root) for a in stream_atoms(stream)):
            return None
        return self.count(tape.loop, writer)

    def count(self, loop: For, writer: Writer) -> Atom:
        """How often a loop runs at most."""
        stream = shortest(loop)
        if isinstance(stream, Items) and self.found.tape_of(stream.sequence):
            assert isinstance(stream.sequence, Value)
            return self.length(stream.sequence, writer)
        return writer.count(mapped(stream, self.read))

    def _is_run_again(self, tape: Tape, parent: Tape) -> bool:
        """Whether a loop between the two tapes runs the inner one more than once."""
        for op in self.found.places.around(self.found.places.block_of[tape.loop]):
            if op is parent.loop:
                return False
            if isinstance(op, (For, While)):
                return True
        return False

    def _is_before(self, atom: Atom, root: Tape) -> bool:
        """Whether a value is there when a tape is made: where it is used first."""
        block = self.found.places.block_of[root.creation]
        if not isinstance(atom, Value):
            return True
        if not self.found.places.sees(block, atom):
            return False
        made = self.found.places.made.get(atom)
        if made is None or self.found.places.block_of[made] is not block:
            return True
        listed = root.creation.result
        first = next(k for k, op in enumerate(block.ops) if listed in values_read(op))
        return block.ops.index(made) < first

    def grow(self, tape: Tape, more: Atom, writer: Writer) -> None:
        """Make room for more items."""
        state = self.states[tape]
        arrays = {k: v for k, v in state.stores.items() if isinstance(v.type, Array)}
        if tape in self.fixed or not arrays:
            return
        need = writer.add(state.top, more)
        first = next(iter(arrays.values()))
        size = writer.apply(len, first, kind=INT)
        full = writer.apply(operator.gt, need, size, kind=BOOL)
        then = Writer()
        bigger = []
        for array in arrays.values():
            made = Value(array.hint, array.type)
            then.ops.append(Call(self._growing(), (array, need), (made,), None))
            bigger.append(made)
        fresh = {k: Value(v.hint, v.type) for k, v in arrays.items()}
        writer.ops.append(
            If(
                full,
                Block((), tuple(then.ops), tuple(bigger)),
                Block((), (), tuple(arrays.values())),
                tuple(fresh.values()),
                None,
            )
        )
        state.stores.update(fresh)

    def _growing(self) -> FunctionRef:
        if self.grown is None:
            self.grown = FunctionRef("grown")
            self.grown.function = _growing_function()
        return self.grown


def dtype_of_number(kind: Type) -> Any:
    """The dtype of an array of numbers of a type; None for what is no number."""
    match kind:
        case Number(kind=name):
            return DTYPES[name]
        case NumPyScalar(dtype=name):
            return np.dtype(name).type
    return None


def shortest(loop: For) -> Stream:
    """A stream of a loop whose length says how often it runs at most."""
    ranges = [s for s in loop.streams if isinstance(s, Range)]
    return ranges[0] if ranges else loop.streams[0]


def mapped(stream: Stream, read: Callable[[Atom], Atom]) -> Stream:
    """A stream with its atoms under other names."""
    match stream:
        case Range(start=start, stop=stop, step=step):
            return Range(read(start), read(stop), read(step))
        case Items(sequence=sequence, backward=backward):
            return Items(read(sequence), backward)


def _growing_function() -> Function:
    """``grown(array, size)``: the array with room for ``size`` items and more."""
    array = Value("array", Array("float64", (ROOM,)))
    size = Value("size", INT)
    writer = Writer()
    length = writer.apply(len, array, kind=INT)
    double = writer.apply(operator.mul, Literal(2), length, kind=INT)
    room = writer.apply(builtins.max, size, double, kind=INT)
    dtype = writer.apply(np.ndarray.dtype, array, kind=Opaque("dtype"))
    bigger = writer.apply(np.empty, room, dtype, kind=array.type, hint="bigger")
    k, before = Value("k", INT), Value("bigger", array.type)
    body = Writer()
    item = body.apply(operator.getitem, array, k, kind=Number("float"))
    after = body.set_item(before, k, item)
    result = Value("bigger", array.type)
    writer.ops.append(
        For(
            (Range(ZERO, length, ONE),),
            (bigger,),
            Block((k, before), tuple(body.ops), (after,)),
            (result,),
        )
    )
    return Function(
        "grown",
        (array, size),
        Block((), tuple(writer.ops), (result,)),
        None,
        "The array with room for as many items, and not less than twice its own.\n",
    )
