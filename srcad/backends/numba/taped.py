"""Which lists are tapes, and what of their items has to be kept.

A tape is a list that is made before a loop, that the loop appends one item to at a time, and that
other loops read, from either end; or that another tape keeps, if the loop runs within a loop.  What
of an item can be had again where it is read is not kept: what does not change, the counter of the
loop, and sums and products of what is had.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcad.backends.classes import Classes, Places, variables
from srcad.backends.numba.writing import is_int
from srcad.ir import (
    Apply,
    Atom,
    Call,
    For,
    Function,
    If,
    Items,
    Literal,
    Op,
    Range,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import Undefined, is_undefined, make_list, make_tuple
from srcad.ir.types import Array, ListType, Number, NumPyScalar, Opaque, TupleType, Type
from srcad.ir.walk import all_ops, blocks

_ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.neg}
"""What costs no more than to keep its result, and never raises."""
_PACKING = (slice, make_tuple, make_list, np.array)
_SMALL = 16
"""Arrays of so few numbers are put together again."""


@dataclass(eq=False)
class Tape:
    """A list that a loop appends to, and what becomes of it."""

    key: Value
    """The representative of its values."""
    creation: Apply
    append: Update
    loop: For | While
    """The loop that appends."""
    parent: Tape | None = None
    """The tape that keeps it, if it is made in each iteration of another loop."""
    children: list[Tape] = field(default_factory=list)
    kept: dict[Value, Type] = field(default_factory=dict)
    """What has an array of its own, or a list if it is no number."""
    named: dict[Value, Value] = field(default_factory=dict)
    """By what a branch hands on: what is kept, if the other branch has nothing to hand on."""
    starts: bool = False
    """Whether the loop's own counter is the position."""
    range: Range | None = None
    """What the loop counts through, once for each item, if that is known where it is read."""

    @property
    def root(self) -> Tape:
        return self if self.parent is None else self.parent.root

    @property
    def item(self) -> Atom:
        return self.append.args[0]


class Tapes:
    """The tapes of a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.places = Places(function)
        self.classes: Classes = variables(function)
        self.slots: dict[tuple[Value, int], Value] = {}
        """By tape and position in its item: the class of what is there."""
        self.tapes: dict[Value, Tape] = {}
        self._members: dict[Value, list[Value]] = {}
        self._numbers = {value: n for n, value in enumerate(self.places.home)}
        while self._link():
            pass
        self._gather()
        while self._drop_bad():
            pass
        for tape in self.tapes.values():
            self._find_parent(tape)
        while self._drop_orphans():
            pass
        for tape in list(self.tapes.values()):
            if tape.parent is None:
                self._choose(tape)

    def tape_of(self, atom: Atom) -> Tape | None:
        """The tape that a value is, at some time."""
        if not isinstance(atom, Value) or not isinstance(atom.type, ListType):
            return None
        return self.tapes.get(self.classes.find(atom))

    # ---- classes

    def _link(self) -> bool:
        """Make a list that is read back of a tape one with what was kept; whether any was not."""
        changed = False
        items: dict[Value, list[Atom]] = {}
        for op in all_ops(self.function.body):
            if isinstance(op, Update) and op.callee is list.append:
                items.setdefault(self.classes.find(op.target), []).append(op.args[0])
        for op in all_ops(self.function.body):
            if not isinstance(op, For):
                continue
            for stream, target in zip(op.streams, op.body.params, strict=False):
                if not isinstance(stream, Items) or not isinstance(stream.sequence, Value):
                    continue
                for item in items.get(self.classes.find(stream.sequence), ()):
                    if isinstance(target.type, ListType):
                        changed |= self.classes.join(item, target)
                    made = self.places.made.get(item) if isinstance(item, Value) else None
                    if not isinstance(made, Apply) or made.callee is not make_tuple:
                        continue
                    for read in self.places.users.get(target, ()):
                        place = item_read(read, target)
                        if place is not None and 0 <= place < len(made.args):
                            assert isinstance(read, Apply)
                            part = made.args[place]
                            if isinstance(read.result.type, ListType):
                                changed |= self.classes.join(part, read.result)
        return changed

    def _gather(self) -> None:
        for value in self.places.home:
            if isinstance(value.type, ListType):
                self._members.setdefault(self.classes.find(value), []).append(value)
        for key, members in self._members.items():
            creations = [
                op
                for v in members
                if isinstance(op := self.places.made.get(v), Apply) and op.result is v
            ]
            own = [op for op in creations if op.callee is make_list and not op.args]
            appends = [
                op for v in members for op in self.places.users.get(v, ()) if _appends(op, v)
            ]
            if len(own) != 1 or len(appends) != 1:
                continue
            append = appends[0]
            assert isinstance(append, Update)
            around = list(self.places.around(self.places.block_of[append]))
            loop = next((o for o in around if isinstance(o, (For, While))), None)
            if loop is None or any(isinstance(o, (With, Try)) for o in around):
                continue
            creation_block = self.places.block_of[own[0]]
            if creation_block is not self.places.block_of[loop]:
                continue
            self.tapes[key] = Tape(key, own[0], append, loop)

    def _drop_bad(self) -> bool:
        bad = [k for k in self.tapes if not all(map(self._is_plain, self._members[k]))]
        bad += [k for k, t in self.tapes.items() if k not in bad and not self._can_keep(t)]
        for key in bad:
            del self.tapes[key]
        return bool(bad)

    def _is_plain(self, value: Value) -> bool:
        """Whether a value is nothing but a tape, as far as its uses tell."""
        made = self.places.made.get(value)
        if isinstance(made, (With, Try, Call)):
            return False
        if made is None and self.places.home[value] is self.function.body:
            return False  # an argument
        if isinstance(made, Apply) and made.args and self._reads_of(made) is None:
            return False
        if any(b is self.function.body for b in self.places.yielded.get(value, ())):
            return False
        return all(self._use_is_plain(op, value) for op in self.places.users.get(value, ()))

    def _reads_of(self, made: Apply) -> int | None:
        """Which part of a tape's item an operation reads."""
        target = made.args[0]
        if not isinstance(target, Value) or self._stream_of(target) is None:
            return None
        return item_read(made, target)

    def _stream_of(self, target: Value) -> Items | None:
        """The stream that a value is the target of."""
        owner = self.places.owner.get(self.places.home[target])
        if isinstance(owner, For) and target in owner.targets:
            stream = owner.streams[owner.body.params.index(target)]
            return stream if isinstance(stream, Items) else None
        return None

    def _use_is_plain(self, op: Op, value: Value) -> bool:
        match op:
            case For():
                if any(isinstance(a, Value) and a is value for a in op.carried):
                    return True
                return self._targets_are_plain(op, value)
            case While() | If():
                return True
            case Update():
                kept = op.callee is list.append and op.args[0] is value
                return _appends(op, value) or (
                    kept and op.target is not value and self.classes.find(op.target) in self.tapes
                )
            case Apply(callee=callee):
                if callee is len:
                    return True
                if callee is not make_tuple:
                    return False
                users = self.places.users.get(op.result, ())
                return bool(users) and all(
                    isinstance(u, Update)
                    and u.callee is list.append
                    and u.args[0] is op.result
                    and self.classes.find(u.target) in self.tapes
                    for u in users
                )
        return False

    def _targets_are_plain(self, op: For, value: Value) -> bool:
        tape = self.tapes.get(self.classes.find(value))
        if tape is None:
            return False
        for stream, target in zip(op.streams, op.body.params, strict=False):
            if not isinstance(stream, Items) or stream.sequence is not value:
                continue
            if isinstance(target.type, TupleType):
                made = self.places.made.get(tape.item) if isinstance(tape.item, Value) else None
                if not isinstance(made, Apply) or made.callee is not make_tuple:
                    return False
                if self.places.yielded.get(target) or not all(
                    item_read(read, target) is not None
                    for read in self.places.users.get(target, ())
                ):
                    return False
        return True

    def _can_keep(self, tape: Tape) -> bool:
        return all(self._leaf_is_kept(a) for a in self.leaves(tape))

    def _leaf_is_kept(self, atom: Atom) -> bool:
        match atom:
            case Literal(value=Undefined()):
                return False
            case Literal():
                return True
            case Value(type=Number() | NumPyScalar() | Array() | ListType()):
                return True
            case Value(type=Opaque(name="slice") | TupleType()):
                inner = self.handed(atom) or atom
                return isinstance(self.places.made.get(inner), Apply)
        return False

    def leaves(self, tape: Tape) -> list[Atom]:
        """What is to be had of each item, tuples taken apart."""
        return list(self._leaves(tape.item))

    def _leaves(self, atom: Atom) -> Any:
        if isinstance(atom, Value) and isinstance(atom.type, TupleType):
            made = self.places.made.get(atom)
            if isinstance(made, Apply) and made.callee is make_tuple and not made.keywords:
                for part in made.args:
                    yield from self._leaves(part)
                return
        yield atom

    # ---- tapes in tapes

    def _keepers(self, tape: Tape) -> list[Tape | None]:
        """The tapes that keep a tape."""
        writes: list[Op] = []
        for value in self._members[tape.key]:
            for op in self.places.users.get(value, ()):
                if isinstance(op, Apply) and op.callee is make_tuple:
                    writes += self.places.users[op.result]
                elif isinstance(op, Update) and op.args[0] is value:
                    writes.append(op)
        return [
            self.tapes.get(self.classes.find(op.target)) for op in writes if isinstance(op, Update)
        ]

    def _find_parent(self, tape: Tape) -> None:
        keepers = self._keepers(tape)
        tape.parent = keepers[0] if len(keepers) == 1 else None
        if len(keepers) == 1 and keepers[0] is not None:
            keepers[0].children.append(tape)

    def _drop_orphans(self) -> bool:
        """A tape that is kept by no tape, or made elsewhere than where that loop runs, stays."""
        bad = []
        for key, tape in self.tapes.items():
            made = tape.root.creation.result
            if not all(self.places.sees(self.places.home[v], made) for v in self._members[key]):
                bad.append(key)
            elif tape.parent is None:
                if self._keepers(tape):
                    bad.append(key)
            elif tape.parent.key not in self.tapes or tape.parent.loop not in self.places.around(
                self.places.block_of[tape.creation]
            ):
                bad.append(key)
        for key in bad:
            tape = self.tapes.pop(key)
            if tape.parent is not None:
                tape.parent.children.remove(tape)
        return bool(bad)

    # ---- what is kept

    def _choose(self, tape: Tape) -> None:
        tape.starts = (
            tape.parent is None
            and isinstance(tape.loop, For)
            and not tape.loop.stops
            and len(tape.loop.streams) == 1
            and isinstance(tape.loop.streams[0], Range)
            and is_int(tape.loop.streams[0].start, 0)
            and is_int(tape.loop.streams[0].step, 1)
            and self.places.block_of[tape.append] is tape.loop.body
        )
        tape.range = self._range_of(tape)
        later = []
        for leaf in sorted(self.leaves(tape), key=self._order):  # operands before results
            if not isinstance(leaf, Value) or self.is_had(leaf, tape):
                continue
            if isinstance(leaf.type, (Number, NumPyScalar)):
                self._keep(leaf, tape)
            else:
                later.append(leaf)
        for leaf in later:
            for part in self._numbers_of(leaf, tape):
                if not self.is_had(part, tape):
                    self._keep(part, tape)
        for leaf in later:
            inner = self.tape_of(leaf)
            if inner is None and not self.is_had(leaf, tape):
                self._keep(leaf, tape)
        for child in tape.children:
            self._choose(child)

    def _numbers_of(self, leaf: Value, tape: Tape) -> list[Value]:
        """The numbers that a slice, an index or a small array is made of, if that is all."""
        made = self.places.made.get(self.handed(leaf) or leaf)
        if not isinstance(made, Apply) or made.callee not in _PACKING or made.keywords:
            return []
        kept_in = self.places.block_of[tape.append]
        found: list[Value] = []
        for atom in made.args:
            if not isinstance(atom, Value) or self.is_had(atom, tape):
                continue
            if isinstance(atom.type, Number) and self.places.sees(kept_in, atom):
                found.append(atom)
            elif parts := self._numbers_of(atom, tape):
                found += parts
            else:
                return []
        return found

    def _range_of(self, tape: Tape) -> Range | None:
        loop = tape.loop
        if (
            not isinstance(loop, For)
            or loop.stops
            or len(loop.streams) != 1
            or self.places.block_of[tape.append] is not loop.body
        ):
            return None
        stream = loop.streams[0]
        if not isinstance(stream, Range) or not (is_int(stream.step, 1) or is_int(stream.step, -1)):
            return None
        for bound in (stream.start, stream.stop):
            if tape.parent is None:
                had = not isinstance(bound, Value) or self.is_fixed(bound, tape)
            else:
                had = self.is_had(bound, tape.parent)
            if not had:
                return None
        return stream

    def _order(self, atom: Atom) -> int:
        return self._numbers[atom] if isinstance(atom, Value) else -1

    def handed(self, value: Value) -> Value | None:
        """What a branch hands on where the other has nothing to hand on."""
        made = self.places.made.get(value)
        if not isinstance(made, If):
            return None
        place = made.results.index(value)
        sides = [b.yields[place] for b in blocks(made)]
        defined = [a for a in sides if not is_undefined(a)]
        if len(defined) == 1 and isinstance(defined[0], Value):
            return self.handed(defined[0]) or defined[0]
        return None

    def _keep(self, value: Value, tape: Tape) -> None:
        tape.kept[value] = value.type
        inner = self.handed(value)
        if inner is not None:
            tape.named.setdefault(inner, value)

    def is_had(self, atom: Atom, tape: Tape | None) -> bool:
        """Whether a value of an iteration can be had again where its tape is read."""
        if not isinstance(atom, Value):
            return not is_undefined(atom)
        if tape is None:
            return False
        if atom in tape.kept or atom in tape.named:
            return True
        if (inner := self.handed(atom)) is not None and self.is_had(inner, tape):
            return True
        if self.is_fixed(atom, tape):
            return True
        if self.counter(atom, tape) is not None:
            stream = self.counter(atom, tape)
            assert stream is not None
            return self.is_had(stream.start, tape) and self.is_had(stream.step, tape)
        made = self.places.made.get(atom)
        if isinstance(made, Apply) and self.is_made_again(made, tape):
            return all(self.is_had(a, tape) for a in made.args)
        return self.is_had(atom, tape.parent)

    def is_fixed(self, value: Value, tape: Tape) -> bool:
        """Whether a value is the same in all iterations, and still there afterwards."""
        block = self.places.block_of[tape.root.creation]
        if not self.places.sees(block, value):
            return False
        if isinstance(value.type, (Array, ListType)):
            return value in self.function.params
        return True

    def counter(self, value: Value, tape: Tape) -> Range | None:
        """The range that a value counts through, once for each item of the tape."""
        loop = tape.loop
        if not isinstance(loop, For) or self.places.block_of[tape.append] is not loop.body:
            return None
        for stream, target in zip(loop.streams, loop.body.params, strict=False):
            if target is value and isinstance(stream, Range):
                return stream
        return None

    def is_made_again(self, op: Apply, tape: Tape) -> bool:
        """Whether an operation is made again rather than its result kept."""
        if op.keywords:
            return False
        if op.callee is operator.getitem:
            base = op.args[0]
            return base in self.function.params and isinstance(op.result.type, Array)
        if op.callee in (np.array, make_list):
            return _count_numbers(op, self.places.made) <= _SMALL
        if op.callee in (slice, make_tuple, np.shape):
            return True
        if op.callee is operator.truediv:  # in a branch it may be safe only because of the test
            fixed = all(not isinstance(a, Value) or self.is_fixed(a, tape) for a in op.args)
            return fixed and self.places.block_of[op] is tape.loop.body
        return op.callee in _ARITHMETIC and isinstance(op.result.type, Number)


def _count_numbers(op: Apply, made: Mapping[Value, Op]) -> int:
    """Of how many numbers an array or list is made."""
    count = 0
    for atom in op.args:
        source = made.get(atom) if isinstance(atom, Value) else None
        if isinstance(source, Apply) and source.callee is make_list:
            count += _count_numbers(source, made)
        elif isinstance(atom, Value) and not isinstance(atom.type, Number):
            return _SMALL + 1
        else:
            count += 1
    return count


def item_read(op: Op, target: Value) -> int | None:
    """Which part of a tuple an operation reads."""
    if (
        isinstance(op, Apply)
        and op.callee is operator.getitem
        and op.args[0] is target
        and isinstance(op.args[1], Literal)
        and type(op.args[1].value) is int
        and op.args[1].value >= 0
    ):
        return op.args[1].value
    return None


def _appends(op: Op, value: Value) -> bool:
    return (
        isinstance(op, Update)
        and op.callee is list.append
        and op.target is value
        and op.args[0] is not value
        and op.result is None
        and not op.path
    )
