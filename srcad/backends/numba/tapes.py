"""Tapes become arrays, indexed by how many items there are.

    stack = make_list()                     |  diff_stack = empty(n)
    … = for i in range(0, n, 1) with s …    |  … = for i in range(0, n, 1) with s …
      t = make_tuple(diff, i)               |    diff_stack.2 = update setitem(diff_stack, i, diff)
      stack.2 = update append(stack, t)     |
    … = for t in reversed(stack.3) …        |  … = for k in range(n - 1, -1, -1) …
      diff = getitem(t, 0)                  |    diff = getitem(diff_stack.3, k)
      i = getitem(t, 1)                     |    (i is k)

A list of tuples costs Numba an allocation per item, and reading it back a copy; an array per kept
number costs a store and a load.  What can be had again from the position alone is not kept: the
counter of the loop, a slice or an index made of it, a part of an argument.

The tape of a loop within a loop is a stretch of arrays that are made once, before the outer loop:
the outer tape keeps where it starts and ends.  Where the number of items is not known beforehand
the arrays grow, to twice their size.  What each round of a loop keeps for itself is written where
that of the last round was.  A tape of which something else is asked stays a list.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srcad.backends.numba.stores import Stores, mapped
from srcad.backends.numba.taped import Tape, Tapes
from srcad.backends.numba.writing import MINUS_ONE, ONE, ZERO, Writer, is_int, rewritten
from srcad.ir import (
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Items,
    Literal,
    Op,
    Range,
    Stream,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_list, make_tuple
from srcad.ir.types import (
    INT,
    Array,
    TupleType,
)
from srcad.ir.walk import all_ops, blocks, map_atoms, map_blocks, values_read


def tapes_to_arrays(function: Function) -> Function:
    """The function with its tapes as arrays."""
    function = _sizes_apart(function)
    found = Tapes(function)
    if not found.tapes:
        return function
    return _Rewriter(found).function()


def _sizes_apart(function: Function) -> Function:
    """The function with shapes that go into tuples as tuples of sizes: those are numbers."""
    packed = {
        atom
        for op in all_ops(function.body)
        if isinstance(op, Apply) and op.callee is make_tuple
        for atom in op.args
    }

    def block(old: Block) -> Block:
        return rewritten(old, each)

    def each(op: Op, writer: Writer) -> None:
        if (
            not isinstance(op, Apply)
            or op.callee not in (np.shape, np.ndarray.shape)
            or op.result not in packed
            or not isinstance(op.result.type, TupleType)
        ):
            writer.ops.append(map_blocks(op, block))
            return
        shape = writer.apply(op.callee, *op.args, kind=op.result.type, loc=op.loc)
        sizes = tuple(
            writer.apply(operator.getitem, shape, Literal(k), kind=kind)
            for k, kind in enumerate(op.result.type.items)
        )
        writer.ops.append(Apply(make_tuple, sizes, (), op.result, op.loc))

    return replace(function, body=block(function.body)) if packed else function


# ---- the tape written out


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What a list has become: the positions of its first item, and after its last."""

    start: Atom
    end: Atom | None
    """None if it is known from what its loop counts through."""
    around: _Reading | None = None
    """Where the tape is read that keeps the two."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """An iteration of a loop over a tape."""

    tape: Tape
    position: Atom
    start: Atom
    around: _Reading | None
    counter: Value | None = None
    """What the loop that wrote the item counted with."""
    had: dict[Value, Atom] = field(default_factory=dict)
    """What has been had again."""


class _Rewriter:
    def __init__(self, found: Tapes) -> None:
        self.found = found
        self.names: dict[Value, Atom] = {}
        self.stretches: dict[Value, _Stretch] = {}
        self.readings: dict[Value, _Reading] = {}
        """By target: the iteration whose item it is."""
        self.stores = Stores(found, self._read, self._length)
        self.appending: dict[Op, list[Tape]] = {}
        for tape in found.tapes.values():
            for op in found.places.around(found.places.block_of[tape.append]):
                self.appending.setdefault(op, []).append(tape)

    def function(self) -> Function:
        function = self.found.function
        block = self._block(function.body)
        calls = function.calls
        if self.stores.grown is not None:
            calls = (*calls, self.stores.grown)
        return replace(function, body=block, calls=calls)

    def _read(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, Value) else atom

    def _block(self, block: Block) -> Block:
        writer = Writer()
        for op in self._in_order(block.ops):
            self._op(op, writer)
        return Block(block.params, tuple(writer.ops), tuple(map(self._read, block.yields)))

    def _in_order(self, ops: tuple[Op, ...]) -> list[Op]:
        """The operations, with lists made where they are used first: their length is known then."""
        waiting: dict[Value, Op] = {}
        made: list[Op] = []
        for op in ops:
            if isinstance(op, Apply) and op.callee is make_list and self.found.tape_of(op.result):
                waiting[op.result] = op
                continue
            made += [waiting.pop(v) for v in values_read(op) if v in waiting]
            made.append(op)
        return [*made, *waiting.values()]

    def _op(self, op: Op, writer: Writer) -> None:
        tape_of = self.found.tape_of
        match op:
            case Apply(callee=callee) if callee is make_list and (tape := tape_of(op.result)):
                if tape.parent is None:
                    self._start(tape, writer)
                top = self.stores.states[tape].top
                self.stretches[op.result] = _Stretch(top, top)
            case Apply(callee=callee, args=(Value() as target, *_)) if (
                callee is operator.getitem and target in self.readings
            ):
                pass  # read back at the head of the loop
            case Apply(callee=callee, args=(Value() as listed, *_)) if callee is len and tape_of(
                listed
            ):
                self.names[op.result] = self._length(listed, writer)
            case Apply(callee=callee) if callee is make_tuple and any(map(tape_of, op.args)):
                pass  # the item of a tape
            case Update() if tape := tape_of(op.target):
                self._append(op, tape, writer)
            case For():
                self._stand_before(op, writer)
                self._for(op, writer)
            case While():
                self._stand_before(op, writer)
                self._while(op, writer)
            case If():
                self._if(op, writer)
            case With() | Try():
                writer.ops.append(map_blocks(self._outside(op), self._block))
            case _:
                writer.ops.append(map_atoms(op, self._read, lambda v: v))

    def _start(self, tape: Tape, writer: Writer) -> None:
        """Memory for a tape; what a loop has been given it writes again in each round."""
        if tape in self.stores.states:
            self.stores.empty(tape)
        else:
            self.stores.allocate(tape, writer)

    def _stand_before(self, op: For | While, writer: Writer) -> None:
        """Make the memory of tapes that each round of a loop has for itself."""
        for tape in self.appending.get(op, ()):
            own = tape.parent is None and tape not in self.stores.states
            around = self.found.places.around(self.found.places.block_of[tape.creation])
            if own and op in around and self.stores.can_stand_before(tape, op):
                self.stores.allocate(tape, writer, op)

    def _outside(self, op: With | Try) -> With | Try:
        """With what it reads itself; no tape is written in its blocks."""
        return replace(op, manager=self._read(op.manager)) if isinstance(op, With) else op

    def _length(self, listed: Value, writer: Writer) -> Atom:
        stretch = self.stretches[listed]
        tape = self.found.tape_of(listed)
        assert tape is not None
        if stretch.end is not None:
            return writer.sub(stretch.end, stretch.start)
        assert tape.range is not None
        start, stop, step = (
            self._again(a, stretch.around, writer)
            for a in (tape.range.start, tape.range.stop, tape.range.step)
        )
        return writer.count(Range(start, stop, step))

    # ---- writing

    def _append(self, op: Update, tape: Tape, writer: Writer) -> None:
        state = self.stores.states[tape]
        if not isinstance(tape.loop, For):
            self.stores.grow(tape, ONE, writer)
        for key, store in list(state.stores.items()):
            value: Atom
            if isinstance(key, tuple):
                child, end = key
                stretch = self._stretch_of(child, tape)
                value = stretch.start if end == "start" else self._end_of(stretch)
            else:
                assert isinstance(key, Value)
                value = self._read(key)
            if isinstance(store.type, Array):
                state.stores[key] = writer.set_item(store, state.top, value, op.loc)
            else:
                version = Value(store.hint, store.type)
                writer.ops.append(Update(list.append, store, (value,), version, None, op.loc))
                state.stores[key] = version
        before = self.stretches[op.target]
        if not tape.starts:
            state.top = writer.add(state.top, ONE)
        self.stretches[op.version] = _Stretch(before.start, state.top)

    def _stretch_of(self, child: Tape, tape: Tape) -> _Stretch:
        for leaf in self.found.leaves(tape):
            if self.found.tape_of(leaf) is child:
                assert isinstance(leaf, Value)
                return self.stretches[leaf]
        raise AssertionError("a tape that is not kept")

    # ---- reading

    def _read_back(self, op: Apply, reading: _Reading, writer: Writer) -> None:
        """A part of an item, had again."""
        found = self.found
        item = reading.tape.item
        path = op.args[1]
        assert isinstance(path, Literal)
        made = found.places.made.get(item) if isinstance(item, Value) else None
        assert isinstance(made, Apply)
        self._have(op.result, made.args[path.value], reading, writer)

    def _have(self, result: Value, part: Atom, reading: _Reading, writer: Writer) -> None:
        inner = self.found.tape_of(part)
        if inner is not None:
            stores = self.stores.states[reading.tape].stores
            start, end = (
                writer.apply(operator.getitem, stores[inner, e], reading.position, kind=INT)
                if (inner, e) in stores
                else None
                for e in ("start", "end")
            )
            assert start is not None
            self.stretches[result] = _Stretch(start, end, reading)
            return
        atom = self._again(part, reading, writer)
        if isinstance(atom, Value) and result.hint and not atom.hint:
            atom.hint = result.hint
        self.names[result] = atom

    def _again(self, part: Atom, reading: _Reading | None, writer: Writer) -> Atom:
        """A value of the forward sweep, where its tape is read."""
        if not isinstance(part, Value):
            return part
        assert reading is not None
        if part not in reading.had:
            reading.had[part] = self._made_again(part, reading, writer)
        return reading.had[part]

    def _made_again(self, part: Value, reading: _Reading, writer: Writer) -> Atom:
        found = self.found
        tape = reading.tape
        part = tape.named.get(part, part)
        if part in tape.kept:
            store = self.stores.states[tape].stores[part]
            return writer.apply(operator.getitem, store, reading.position, kind=part.type)
        inner = found.handed(part)
        if inner is not None and found.is_had(inner, tape):
            return self._again(inner, reading, writer)
        if found.is_fixed(part, tape):
            return self._read(part)
        stream = found.counter(part, tape)
        if stream is not None and reading.counter is not None:
            return reading.counter
        if stream is not None:
            start = self._again(stream.start, reading, writer)
            step = self._again(stream.step, reading, writer)
            number = writer.sub(reading.position, reading.start)
            return writer.add(start, writer.mul(number, step))
        made = found.places.made.get(part)
        if (
            isinstance(made, Apply)
            and found.is_made_again(made, tape)
            and all(found.is_had(a, tape) for a in made.args)
        ):
            args = tuple(self._again(a, reading, writer) for a in made.args)
            return writer.apply(made.callee, *args, kind=part.type)
        return self._again(part, reading.around, writer)

    # ---- loops and branches

    def _touched(self, op: Op) -> list[Tape]:
        """The tapes that an operation appends to and that exist before it."""
        return [t for t in self.appending.get(op, ()) if t in self.stores.states]

    def _open(self, tapes: list[Tape]) -> tuple[list[Atom], list[Value]]:
        """What a loop carries of tapes: as it is, and the parameters for it."""
        starts: list[Atom] = []
        params: list[Value] = []
        for tape in tapes:
            state = self.stores.states[tape]
            if not tape.starts:
                starts.append(state.top)
                top = Value("top", INT)
                params.append(top)
                state.top = top
            for key, store in state.stores.items():
                starts.append(store)
                param = Value(store.hint, store.type)
                params.append(param)
                state.stores[key] = param
        return starts, params

    def _now(self, tapes: list[Tape]) -> list[Atom]:
        """The present versions of what is carried."""
        now: list[Atom] = []
        for tape in tapes:
            state = self.stores.states[tape]
            if not tape.starts:
                now.append(state.top)
            now += state.stores.values()
        return now

    def _close(self, tapes: list[Tape]) -> list[Value]:
        """Fresh versions for after a loop or branch."""
        made: list[Value] = []
        for tape in tapes:
            state = self.stores.states[tape]
            if not tape.starts:
                top = Value("top", INT)
                made.append(top)
                state.top = top
            for key, store in state.stores.items():
                fresh = Value(store.hint, store.type)
                made.append(fresh)
                state.stores[key] = fresh
        return made

    def _for(self, op: For, writer: Writer) -> None:
        tapes = self._touched(op)
        for tape in tapes:
            if tape.loop is op and tape not in self.stores.fixed:
                more = self.stores.count(op, writer)
                self.stores.grow(tape, more, writer)
        count = len(op.streams)
        streams: list[Stream] = []
        targets: list[Value] = []
        head = Writer()
        for stream, target in zip(op.streams, op.body.params, strict=False):
            read = self.found.tape_of(stream.sequence) if isinstance(stream, Items) else None
            if read is None or not isinstance(stream, Items):
                streams.append(mapped(stream, self._read))
                targets.append(target)
            else:
                streams.append(self._reading(read, stream, target, targets, writer, head))
        for tape in tapes:
            if tape.starts and tape.loop is op:
                unused = op.body.params[0].hint.strip("_") == ""  # "_" says that it is not used
                if unused and targets[0] is op.body.params[0]:
                    targets[0] = Value("k", INT)
                    self.names[op.body.params[0]] = targets[0]
                self.stores.states[tape].top = targets[0]
        params, carried = self._carried(op.body.params[count:], op.carried)
        starts, extra = self._open(tapes)
        body = self._loop_body(op.body, (*targets, *params, *extra), tapes, op.stops, head)
        kept = self._after(op, op.results, op.body.params[count:], tapes)
        made_ = [r for r in op.results if self.found.tape_of(r) is None]
        writer.ops.append(
            For(
                tuple(streams),
                (*carried, *starts),
                body,
                (*made_, *kept),
                op.stops,
                op.loc,
            )
        )
        for tape in tapes:
            if tape.starts and tape.loop is op:
                last = self.stores.counts[tape]
                assert last is not None
                self.stores.states[tape].top = last
                for result in op.results:
                    if self.found.tape_of(result) is tape:
                        self.stretches[result] = _Stretch(ZERO, last)

    def _reading(
        self,
        tape: Tape,
        stream: Items,
        target: Value,
        targets: list[Value],
        writer: Writer,
        head: Writer,
    ) -> Range:
        """The range in place of a tape; ``head`` gets what is read of each item."""
        assert isinstance(stream.sequence, Value)
        stretch = self.stretches[stream.sequence]
        if tape.range is not None:
            through, reading = self._counted(tape, stretch, stream.backward, writer, head)
            assert reading.counter is not None
            targets.append(reading.counter)
        else:
            position = Value("k", INT)
            targets.append(position)
            reading = _Reading(tape, position, stretch.start, stretch.around)
            through = Range(stretch.start, self._end_of(stretch), ONE)
            if stream.backward:
                through = _reversed(through, writer)
        made = self.found.places.made.get(tape.item) if isinstance(tape.item, Value) else None
        if isinstance(made, Apply) and made.callee is make_tuple:
            self.readings[target] = reading
            for part in self.found.places.users.get(target, ()):
                assert isinstance(part, Apply)
                self._read_back(part, reading, head)
        else:
            self._have(target, tape.item, reading, head)
        return through

    def _counted(
        self, tape: Tape, stretch: _Stretch, backward: bool, writer: Writer, head: Writer
    ) -> tuple[Range, _Reading]:
        """A loop over a tape as one over what the loop that wrote it counted through."""
        assert tape.range is not None
        assert isinstance(tape.loop, For)
        start, stop = (
            self._read(a) if tape.parent is None else self._again(a, stretch.around, writer)
            for a in (tape.range.start, tape.range.stop)
        )
        through = Range(start, stop, tape.range.step)
        counter = Value(tape.loop.body.params[0].hint.strip("_") or "k", INT)
        up = is_int(tape.range.step, 1)
        number = head.sub(counter, start) if up else head.sub(start, counter)
        position = head.add(stretch.start, number)
        reading = _Reading(tape, position, stretch.start, stretch.around, counter)
        return _reversed(through, writer) if backward else through, reading

    def _end_of(self, stretch: _Stretch) -> Atom:
        assert stretch.end is not None
        return stretch.end

    def _carried(
        self, params: tuple[Value, ...], carried: tuple[Atom, ...]
    ) -> tuple[list[Value], list[Atom]]:
        """The carried values that are no tapes."""
        kept, starts = [], []
        for param, start in zip(params, carried, strict=True):
            tape = self.found.tape_of(param)
            if tape is None:
                kept.append(param)
                starts.append(self._read(start))
            elif isinstance(start, Value):
                before = self.stretches[start]
                self.stretches[param] = before
            else:
                self.stretches[param] = _Stretch(ZERO, ZERO)
        return kept, starts

    def _loop_body(
        self,
        block: Block,
        params: tuple[Value, ...],
        tapes: list[Tape],
        stops: bool,
        head: Writer,
    ) -> Block:
        for op in self._in_order(block.ops):
            self._op(op, head)
        yields = block.yields[:-1] if stops else block.yields
        handed: list[Atom] = [self._read(a) for a in yields if not self._is_tape(a)]
        handed += self._now(tapes)
        if stops:
            handed.append(self._read(block.yields[-1]))
        return Block(params, tuple(head.ops), tuple(handed))

    def _is_tape(self, atom: Atom) -> bool:
        return self.found.tape_of(atom) is not None

    def _after(
        self, op: For | While, results: tuple[Value, ...], params: tuple[Value, ...], tapes: Any
    ) -> list[Value]:
        made = self._close(tapes)
        for result, param in zip(results, params, strict=True):
            tape = self.found.tape_of(result)
            if tape is not None:
                start = self.stretches[param].start
                end = self.stores.states[tape].top if tape in tapes else self.stretches[param].end
                self.stretches[result] = _Stretch(start, end, self.stretches[param].around)
        return made

    def _while(self, op: While, writer: Writer) -> None:
        tapes = self._touched(op)
        params, carried = self._carried(op.test.params, op.carried)
        starts, extra = self._open(tapes)
        tested = self._loop_body(op.test, (*params, *extra), [], False, Writer())
        inner, _ = self._carried(op.body.params, op.test.params)
        _, again = self._open(tapes)
        body = self._loop_body(op.body, (*inner, *again), tapes, op.stops, Writer())
        kept = self._after(op, op.results, op.body.params, tapes)
        made = [r for r in op.results if self.found.tape_of(r) is None]
        writer.ops.append(
            While((*carried, *starts), tested, body, (*made, *kept), op.stops, op.loc)
        )

    def _if(self, op: If, writer: Writer) -> None:
        tapes = self._touched(op)
        before = {t: s.copy() for t, s in self.stores.states.items()}
        sides = []
        for block in blocks(op):
            self.stores.states = {t: s.copy() for t, s in before.items()}
            inner = Writer()
            for inside in self._in_order(block.ops):
                self._op(inside, inner)
            yields: list[Atom] = []
            for atom, result in zip(block.yields, op.results, strict=True):
                if self._is_tape(result):
                    yields += self._ends(atom)
                else:
                    yields.append(self._read(atom))
            yields += self._now(tapes)
            sides.append(Block((), tuple(inner.ops), tuple(yields)))
        self.stores.states = dict(before)
        made: list[Value] = []
        for result in op.results:
            if self._is_tape(result):
                start, end = Value("start", INT), Value("end", INT)
                made += [start, end]
                self.stretches[result] = _Stretch(start, end)
            else:
                made.append(result)
        made += self._close(tapes)
        writer.ops.append(If(self._read(op.test), sides[0], sides[1], tuple(made), op.loc))

    def _ends(self, atom: Atom) -> list[Atom]:
        if not isinstance(atom, Value):
            return [ZERO, ZERO]
        stretch = self.stretches[atom]
        return [stretch.start, self._end_of(stretch)]


def _reversed(through: Range, writer: Writer) -> Range:
    """A range in steps of one from its end."""
    start, stop = through.start, through.stop
    if is_int(through.step, 1):
        return Range(writer.sub(stop, ONE), writer.sub(start, ONE), MINUS_ONE)
    return Range(writer.add(stop, ONE), writer.add(start, ONE), ONE)
