"""The reverse of a loop is a loop over the same iterations, backwards.

It reads what an iteration keeps from a tape: one tuple per iteration on a list local to the loop,
read from its end.  A loop that keeps nothing but its own targets runs its streams backwards
instead; one that keeps nothing at all counts.  Adjoints of values from outside the loop are carried
through it.

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 4; Hascoët and Pascual, The Tapenade
Automatic Differentiation Tool (2013), section 4.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from srcad.analysis.saving import recomputed
from srcad.ir import (
    Apply,
    Atom,
    Block,
    For,
    Items,
    Literal,
    Op,
    Range,
    Stream,
    Update,
    Value,
    While,
)
from srcad.ir.build import Builder
from srcad.ir.core import literal_values, make_list, make_tuple
from srcad.ir.simplify.masks import is_masked
from srcad.ir.types import INT, Array, ListType, Number, TupleType, Type, dims_of, same_shape
from srcad.ir.walk import free_values, rename_values, results
from srcad.options import Options
from srcad.passes.dce import prune_block
from srcad.passes.ownership import is_fresh
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints
from srcad.transform.kept import (
    Forward,
    defined_in,
    everything_in,
    flat_ops,
    shapes_kept,
    with_copies,
)
from srcad.transform.restoring import Restoring


class Sweeper(Protocol):
    """What writes the reverse of the body."""

    options: Options
    restoring: Restoring

    def sweep(self, block: Block, adjoints: Adjoints) -> Forward:
        """Write the reverse of a block into the builder of ``adjoints``; what the block becomes."""


class LoopAdjoints(Adjoints):
    """Adjoints of a loop body: those of values from outside are carried by the reverse loop."""

    def __init__(self, builder: Builder, outer: Adjoints, inside: dict[Value, None]) -> None:
        super().__init__(builder, outer.active, outer)
        self.inside = inside
        self.carried: dict[Value, Value] = {}

    def enter(self, value: Value) -> Any:
        """The parameter that carries what has arrived at a value from outside."""
        if value in self.inside:
            return None
        if value not in self.carried:
            param = Value(spaces.value_hint(value, "_bar"), spaces.tangent_type(value.type))
            assert self.outer is not None
            before = self.outer.get(value)
            param.masked = isinstance(param.type, Array) and (
                before is None or is_masked(self.outer.builder, before)
            )
            self.carried[value] = param
        return self.carried[value]


class LoopPlan:
    """The reverse of one loop."""

    def __init__(self, reverser: Sweeper, op: For | While, adjoints: Adjoints) -> None:
        self.reverser = reverser
        self.restoring = reverser.restoring
        self.op = op
        self.adjoints = adjoints
        self.targets = op.targets
        self.params = op.carried_params
        self.inside = defined_in(op.body)
        self.child = LoopAdjoints(Builder(adjoints.builder), adjoints, everything_in(op.body))
        self.bars: dict[int, Value] = {}
        self.appended: dict[int, tuple[Value, Value]] = {}
        self.memory: dict[int, Value] = {}
        """What carries the memory of restored arrays."""
        self.position: Value | None = None

    def write_body(self) -> None:
        """The reverse of the body, and what the reverse loop carries."""
        op, child = self.op, self.child
        for k, result in enumerate(op.results):
            live = self.adjoints.get(result) is not None or self._loops_back(k)
            if live and self.adjoints.active(self.params[k]):
                hint = spaces.value_hint(self.params[k], "_bar")
                self.bars[k] = Value(hint, spaces.tangent_type(self._end_type(k)))
        for k in range(len(op.results)):
            if k in self.bars:
                if self.params[k] in self.restoring.written:
                    child.owned.add(self.bars[k])
                    if self.params[k] in child.in_order:
                        child.ordered.add(self.bars[k])
                child.add(op.body.yields[k], self.bars[k])
        for k, (result, end) in enumerate(zip(op.results, op.body.yields, strict=False)):
            known = self.adjoints.restored(result)
            if known is not None and result in self.restoring.versions and isinstance(end, Value):
                self.memory[k] = child.memory[end] = Value(result.hint, self._end_type(k))
                child.builder.write_over([known])
        self.forward = self.reverser.sweep(op.body, child)
        for ops in self.forward:
            for inner in ops:
                self.inside.update(dict.fromkeys(results(inner)))
        self._pull_targets()
        self.next: dict[int, Atom] = {}
        for k in self.bars:
            bar = child.take(self.params[k])
            if bar is None:
                bar = spaces.zeros(child.builder, self._like(k))
            elif self.params[k] in self.restoring.written and isinstance(bar.type, Array):  # type: ignore[union-attr]
                bar = child.own(self.params[k])
            self.next[k] = bar
        self.restored = {k: self.restoring.memory(self.params[k], child) for k in self.memory}

    def _end_type(self, k: int) -> Type:
        """The type of a carried value at the end of the iteration: its sizes are of that one."""
        end, result = self.op.body.yields[k], self.op.results[k]
        kind = end.type if isinstance(end, Value) else result.type
        return kind if type(kind) is type(result.type) else result.type

    def _loops_back(self, k: int) -> bool:
        return self.adjoints.active(self.params[k])

    def _like(self, k: int) -> Value:
        """A value of the shape of a carried one: its final value if shapes are proven constant."""
        param, result = self.params[k], self.op.results[k]
        is_number = isinstance(result.type, Number)
        return result if is_number or same_shape(param.type, result.type) else param

    def _pull_targets(self) -> None:
        """Adjoints of loop targets go to the items of the sequences they come from."""
        op, child = self.op, self.child
        if not isinstance(op, For):
            return
        for k, (target, stream) in enumerate(zip(self.targets, op.streams, strict=True)):
            bar = child.take(target)
            if (
                bar is None
                or not isinstance(stream, Items)
                or not isinstance(stream.sequence, Value)
            ):
                continue
            sequence = stream.sequence
            kind = sequence.type
            whole = not op.stops and (len(op.streams) == 1 or self._enumerates())
            if (
                isinstance(kind, ListType)
                and whole
                and self.adjoints.get(sequence) is None
                and (sequence not in child.carried)
            ):
                made = Value(spaces.value_hint(sequence, "_bar"), spaces.tangent_type(kind))
                made.masked = is_masked(child.builder, bar)
                self.appended[k] = (made, child.builder.update(list.append, made, bar))
                continue
            index: Atom = self._position()
            if stream.backward:
                last = child.builder.apply(
                    operator.sub, child.builder.apply(len, sequence), Literal(1)
                )
                index = child.builder.apply(operator.sub, last, index)
            child.add_at(sequence, index, bar)

    def _enumerates(self) -> bool:
        """Whether the streams are a counter and one sequence, as ``enumerate`` has them.

        ``zip(range(n), x)`` is none: it ends with the shorter, and from their ends they go apart.
        """
        if not isinstance(self.op, For):
            return False
        match self.op.streams:
            case (Range() as counter, Items(sequence=sequence)):
                return self._counts(counter, sequence)
        return False

    def _counts(self, counter: Range, sequence: Atom) -> bool:
        """Whether a range has one integer for each item of a sequence."""
        b = self.adjoints.builder
        known = literal_values((counter.start, counter.stop, counter.step))
        if known is not None:
            return len(range(*known)) == _known_length(b, sequence)
        count: Atom = counter.stop
        if not _is(counter.start, 0):
            made = b.origin(count)
            if made is None or made.callee is not operator.add or made.args[0] is not counter.start:
                return False
            count = made.args[1]
        length = b.origin(count)
        if not _is(counter.step, 1) or length is None or length.callee is not len:
            return False
        listed = b.origin(sequence)
        same = listed is not None and listed.callee is np.ndarray.tolist
        counted = (sequence, *(listed.args if same and listed is not None else ()))
        return length.args[0] in counted

    def _position(self) -> Value:
        """The number of the iteration, in the reverse loop."""
        op = self.op
        assert isinstance(op, For)
        for target, stream in zip(self.targets, op.streams, strict=True):
            if isinstance(stream, Range) and _is(stream.start, 0) and _is(stream.step, 1):
                return target
        if self.position is None:
            self.position = Value("k", INT)
        return self.position

    # ---- putting it together

    def finish(self) -> list[Op]:
        """The reverse loop goes to the builder; the forward loop, keeping what that reads."""
        op, child = self.op, self.child
        accumulated = list(child.carried.items())
        ends: list[Atom] = [self.next[k] for k in self.bars]
        for value, param in accumulated:
            state = child.states.get(value)
            ends.append(param if state is None else child.atom(state, value))
            param.masked = param.masked and is_masked(child.builder, ends[-1])
        ends += [version for _, version in self.appended.values()]
        ends += self.restored.values()
        body = prune_block(child.builder.block((), tuple(ends)))
        needed = [v for v in free_values(body) if v in self.inside]
        if self.reverser.options.recompute:
            made, volatile = flat_ops(self.forward), self.restoring.volatile
            body, needed = recomputed(
                *(body, needed, made, self.inside, self.targets, volatile),
                long_arrays=self.reverser.options.depends_on_sizes,
                compiled=self.reverser.options.backend == "numba",
            )
        body, needed, shapes = shapes_kept(body, needed, self.restoring.missing)
        mapping, copies = self.restoring.protect(needed, body)
        copies += shapes
        ops = with_copies(flat_ops(self.forward), op.body.params, copies)
        keep = [mapping[v] for v in needed]
        streams, bound, forward = self._tape(needed, keep, ops)
        carried_params = (
            *self.bars.values(),
            *(p for _, p in accumulated),
            *(m for m, _ in self.appended.values()),
            *self.memory.values(),
        )
        targets = tuple(v for v, _ in bound)
        head = tuple(o for _, made in bound for o in made)
        renamed = rename_values(Block((), body.ops, body.yields), dict(self.mapping))
        block = Block((*targets, *carried_params), (*head, *renamed.ops), renamed.yields)
        self._emit(streams, block, accumulated)
        return forward

    def _tape(
        self, needed: list[Value], keep: list[Value], ops: tuple[Op, ...]
    ) -> tuple[tuple[Stream, ...], list[tuple[Value, list[Op]]], list[Op]]:
        """Streams of the reverse loop with their targets, and the forward loop."""
        op = self.op
        self.mapping: dict[Value, Value] = {}
        only_targets = all(v in self.targets for v in needed)
        if not only_targets or not isinstance(op, For) or op.stops:
            return self._stacked(needed, keep, ops)
        single = len(op.streams) == 1
        if single or (self._enumerates() and self.position is None):
            return self._replayed(needed, ops)
        return self._stacked(needed, keep, ops)

    def _replayed(
        self, needed: list[Value], ops: tuple[Op, ...]
    ) -> tuple[tuple[Stream, ...], list[tuple[Value, list[Op]]], list[Op]]:
        """Nothing is kept: the streams run backwards."""
        op = self.op
        assert isinstance(op, For)
        b = self.adjoints.builder
        streams: list[Stream] = []
        bound: list[tuple[Value, list[Op]]] = []
        wanted = list(needed)
        if self.position is None and not needed and isinstance(op.streams[0], Range):
            wanted = [self.targets[0]]
        for target, stream in zip(self.targets, op.streams, strict=True):
            if target not in wanted:
                continue
            fresh = Value(target.hint, target.type)
            self.mapping[target] = fresh
            bound.append((fresh, []))
            if isinstance(stream, Items):
                streams.append(Items(stream.sequence, not stream.backward))
            else:  # where nobody asks for the number, as often is enough
                streams.append(backward_range(b, stream) if target in needed else stream)
        if self.position is not None or not streams:
            sequence = next(s.sequence for s in op.streams if isinstance(s, Items))
            count = b.apply(len, sequence)
            target = self.position if self.position is not None else Value("k", INT)
            streams.insert(0, backward_range(b, Range(Literal(0), count, Literal(1))))
            bound.insert(0, (target, []))
        forward = replace(op, body=Block(op.body.params, ops, op.body.yields))
        return tuple(streams), bound, [forward]

    def _stacked(
        self, needed: list[Value], keep: list[Value], ops: tuple[Op, ...]
    ) -> tuple[tuple[Stream, ...], list[tuple[Value, list[Op]]], list[Op]]:
        """What each iteration keeps goes on a list; the reverse loop reads it from the end."""
        op = self.op
        b = self.adjoints.builder
        if not needed:
            return self._counted(ops)
        made: list[Op] = []
        if len(needed) == 1:
            item: Value = keep[0]
            kind = item.type
        else:
            kind = TupleType(tuple(v.type for v in keep))
            item = Value("", kind)
            made.append(Apply(make_tuple, tuple(keep), (), item, op.loc))
        tape = ListType(kind)
        name = f"{needed[0].hint or 'loop'}_stack" if len(needed) == 1 else "stack"
        param, version, result = (Value(name, tape) for _ in range(3))
        made.append(Update(list.append, param, (item,), version, None, op.loc))
        start = Value(name, tape)
        empty = Apply(make_list, (), (), start, op.loc)
        at = _after_last(ops, keep)  # at once: later, their names may have been given away
        forward = _carry(op, (*ops[:at], *made, *ops[at:]), start, param, version, result)
        head: list[Op] = []
        if len(needed) == 1:
            popped = Value(needed[0].hint, kind)
            self.mapping[needed[0]] = popped
        else:
            popped = Value("", kind)
            for k, value in enumerate(needed):
                fresh = Value(value.hint, value.type)
                self.mapping[value] = fresh
                head.append(Apply(operator.getitem, (popped, Literal(k)), (), fresh, b.loc))
        streams: list[Stream] = [Items(result, True)]
        bound = [(popped, head)]
        if self.position is not None:
            count = b.apply(len, result)
            streams.insert(0, backward_range(b, Range(Literal(0), count, Literal(1))))
            bound.insert(0, (self.position, []))
        return tuple(streams), bound, [empty, forward]

    def _counted(
        self, ops: tuple[Op, ...]
    ) -> tuple[tuple[Stream, ...], list[tuple[Value, list[Op]]], list[Op]]:
        """Only the number of iterations is kept."""
        op = self.op
        b = self.adjoints.builder
        param, version, result = (Value("trips", INT) for _ in range(3))
        add = Apply(operator.add, (param, Literal(1)), (), version, op.loc)
        forward = _carry(op, (*ops, add), Literal(0), param, version, result)
        stream: Range = Range(Literal(0), result, Literal(1))
        if self.position is not None:
            stream = backward_range(b, stream)
        target = self.position if self.position is not None else Value("_", INT)
        return (stream,), [(target, [])], [forward]

    def _owned(self, atom: Atom) -> Atom:
        """An array that the loop may add to in place: a copy, unless it was made for this."""
        b = self.adjoints.builder
        if not isinstance(atom, Value) or not isinstance(atom.type, Array):
            return atom
        op = b.definition(atom)
        if op is not None and is_fresh(atom, {atom: op}, set()):
            return atom
        return b.apply_typed(np.ndarray.copy, (atom,), atom.type, atom.hint)

    def _emit(self, streams: tuple[Stream, ...], block: Block, accumulated: list[Any]) -> None:
        op, adjoints = self.op, self.adjoints
        b = adjoints.builder
        inits: list[Atom] = []
        for k in self.bars:
            state = adjoints.get(op.results[k])
            if state is None:
                inits.append(spaces.zeros(b, op.results[k], self.bars[k].hint))
            elif op.results[k] in self.restoring.written and isinstance(op.results[k].type, Array):
                inits.append(adjoints.own(op.results[k]))
            else:
                inits.append(adjoints.atom(state, op.results[k]))
        for value, param in accumulated:
            state = adjoints.get(value)
            if state is None:
                inits.append(spaces.zeros(b, value, param.hint))
            else:
                inits.append(self._owned(adjoints.atom(state, value)))
        for made, _ in self.appended.values():
            inits.append(b.apply_typed(make_list, (), made.type, made.hint))
        for k in self.memory:
            inits.append(self.restoring.memory(op.results[k], adjoints))
            adjoints.memory.pop(op.results[k], None)
        befores = (
            *(op.carried[k] for k in self.bars),
            *[None] * (len(accumulated) + len(self.appended)),
            *(op.carried[k] for k in self.memory),
        )
        outcomes = tuple(
            Value(p.hint, _before(p.type, before), masked=p.masked)
            for p, before in zip(block.params[len(streams) :], befores, strict=True)
        )
        b.append(For(streams, tuple(inits), block, outcomes, False, b.loc))
        position = len(self.bars)
        for value, _ in accumulated:
            adjoints.set(value, outcomes[position])
            position += 1
        for k, outcome in zip(self.bars, outcomes, strict=False):
            init = op.carried[k]
            if isinstance(init, Value):
                adjoints.add(init, spaces.conform(b, outcome, init, elementwise=False))
        for k, (made, _) in self.appended.items():
            assert isinstance(op, For)
            stream = op.streams[k]
            assert isinstance(stream, Items)
            whole: Atom = outcomes[position]
            if not stream.backward:
                whole = b.apply_typed(
                    operator.getitem, (whole, Literal(slice(None, None, -1))), made.type, made.hint
                )
            adjoints.add(stream.sequence, whole)
            position += 1
        for k, outcome in zip(self.memory, outcomes[position:], strict=True):
            before = op.carried[k]
            if isinstance(before, Value):
                adjoints.memory[before] = outcome


def _before(kind: Type, before: Atom | None) -> Type:
    """The type of what has been carried through: it has the shape that it had before the loop."""
    if not isinstance(kind, Array) or not isinstance(before, Value):
        return kind
    return Array(kind.dtype, before.type.dims) if isinstance(before.type, Array) else kind


def _is(atom: Atom, value: int) -> bool:
    return isinstance(atom, Literal) and atom.value == value


def _known_length(b: Builder, sequence: Atom) -> int | None:
    """How many items a sequence has, if that is known."""
    if isinstance(sequence, Literal):
        return len(sequence.value)
    made = b.origin(sequence)
    if made is not None and made.callee is make_list:
        return len(made.args)
    if made is not None and made.callee is np.ndarray.tolist:
        return _known_length(b, made.args[0])
    dims = dims_of(sequence.type)
    return dims[0] if dims and isinstance(dims[0], int) else None


def _after_last(ops: tuple[Op, ...], values: list[Value]) -> int:
    """The position after the operation that defines the last of the values; 0 for parameters."""
    wanted = set(values)
    return max(
        (k + 1 for k, op in enumerate(ops) if any(r in wanted for r in results(op))), default=0
    )


def _carry(
    op: For | While, ops: tuple[Op, ...], init: Atom, param: Value, version: Value, result: Value
) -> Op:
    """The loop, carrying one more value."""
    carried = len(op.carried)
    yields = (*op.body.yields[:carried], version, *op.body.yields[carried:])
    body = Block((*op.body.params, param), ops, yields)
    inits, outcomes = (*op.carried, init), (*op.results, result)
    if isinstance(op, While):
        test = Block((*op.test.params, Value(param.hint, param.type)), op.test.ops, op.test.yields)
        return replace(op, carried=inits, test=test, body=body, results=outcomes)
    return replace(op, carried=inits, body=body, results=outcomes)


def backward_range(b: Builder, stream: Range) -> Range:
    """The same integers from the last to the first."""
    start, stop, step = stream.start, stream.stop, stream.step
    known = literal_values((start, stop, step))
    if known is not None:
        back = range(*known)[::-1]
        return Range(Literal(back.start), Literal(back.stop), Literal(back.step))
    if _is(step, 1):
        last = b.apply(operator.sub, stop, Literal(1))
        before = b.apply(operator.sub, start, Literal(1))
        return Range(last, before, Literal(-1))
    if _is(step, -1):
        first = b.apply(operator.add, stop, Literal(1))
        after = b.apply(operator.add, start, Literal(1))
        return Range(first, after, Literal(1))
    whole = b.apply(range, start, stop, step)
    back_ = b.apply(operator.getitem, whole, Literal(slice(None, None, -1)))
    parts = tuple(
        b.apply_typed(getattr, (back_, Literal(p)), INT) for p in ("start", "stop", "step")
    )
    return Range(*parts)
