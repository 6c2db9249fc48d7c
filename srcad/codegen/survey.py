"""What of a function is printed, and as which form: uses, dead operations, patterns.

The survey numbers the values of a function, finds who uses them, and recognises what Python has
its own form for: tuples that are unpacked (``a, b = f(x)``), ``enumerate``, ``break``.  What such a
form covers is not printed a second time.  The function itself is not changed.
"""

from __future__ import annotations

import operator

from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Items,
    Literal,
    Loc,
    Op,
    Range,
    Try,
    Update,
    Value,
    While,
    is_int,
    make_tuple,
)
from srcad.ir.types import TupleType
from srcad.ir.walk import blocks, operands, results

Site = tuple[Block, int]
"""Where a value is used: a block, and the operation's position; its length for the yields."""

Pattern = tuple["Value | None", ...]
"""The parts a tuple is unpacked to; None where a part is not used."""


def is_reverse(loc: Loc | None) -> bool:
    """Whether an operation belongs to a reverse sweep."""
    return loc is not None and loc.reverse > 0


def is_derived(value: Value) -> bool:
    """Whether a value is a tangent or an adjoint, by its name."""
    return value.hint.endswith(("_bar", "_dot"))


def ids(*objects: object) -> frozenset[int]:
    """The identities of objects that live as long as the process; callables may have no hash."""
    return frozenset(map(id, objects))


class Survey:
    """Facts about a function that do not depend on names."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.number: dict[Value, int] = {}
        self.values: list[Value] = []
        self.definition: dict[Value, Op] = {}
        """The operation that defines a value; parameters of blocks have none."""
        self.home: dict[Value, Block] = {}
        self.uses: dict[Value, list[Site]] = {}
        self.skipped: set[Op] = set()
        """Operations that are not printed: dead, or covered by a pattern."""
        self.unpacked: dict[Value, Pattern] = {}
        self.enumerated: set[Op] = set()
        self.breaks: set[Op] = set()
        """Loops whose stop flag is decided by an ``If`` at their end: it prints as ``break``."""
        self.booleans: set[Op] = set()
        """Branches that say ``a and b`` or ``a or b``."""
        self.flags: set[Value] = set()
        """Results of branches that decide such a ``break``."""
        self.kept: dict[Value, Value] = {}
        """What is read back from a tape, and the value that was put there."""
        self._watched: dict[Block, None] = {}
        self._tuples: list[Value] = []
        self._loops: list[For | While] = []
        self._branches: dict[If, None] = {}

        for param in function.params:
            self._define(param, function.body, None)
        self._visit(function.body)
        self._find_enumerate()
        self._find_breaks()
        self._find_booleans()
        self._find_unpacked()
        self._find_kept(function.body)
        self._find_dead()

    # ---- collecting

    def _define(self, value: Value, block: Block, op: Op | None) -> None:
        self.number[value] = len(self.values)
        self.values.append(value)
        self.home[value] = block
        self.uses.setdefault(value, [])
        if op is not None:
            self.definition[value] = op
        if isinstance(value.type, TupleType) and len(value.type.items) > 1:
            self._tuples.append(value)

    def _visit(self, block: Block) -> None:
        for param in block.params:
            if param not in self.number:
                self._define(param, block, None)
        uses = self.uses
        for position, op in enumerate(block.ops):
            for atom in operands(op):
                if isinstance(atom, Value):
                    uses.setdefault(atom, []).append((block, position))
            for inner in blocks(op):
                self._visit(inner)
            for value in results(op):
                self._define(value, block, op)
            if isinstance(op, Try):
                self._watch(op.body)
            if isinstance(op, (For, While)):
                self._loops.append(op)
            elif isinstance(op, If) and len(op.results) == 1:
                self._branches[op] = None
        for atom in block.yields:
            if isinstance(atom, Value):
                uses.setdefault(atom, []).append((block, len(block.ops)))

    # ---- patterns

    def _find_enumerate(self) -> None:
        for op in self._loops:
            if not isinstance(op, For) or len(op.streams) < 2:
                continue
            first, *others = op.streams
            if (
                not isinstance(first, Range)
                or not is_int(first.start, 0)
                or not is_int(first.step, 1)
            ):
                continue
            length = self.definition.get(first.stop) if isinstance(first.stop, Value) else None
            if not isinstance(length, Apply) or length.callee is not len:
                continue
            if any(isinstance(s, Items) and s.sequence is length.args[0] for s in others):
                self.enumerated.add(op)
                self._drop_use(first.stop, op)

    def _drop_use(self, atom: Atom, op: Op) -> None:
        assert isinstance(atom, Value)
        for site in self.uses[atom]:
            block, position = site
            if position < len(block.ops) and block.ops[position] is op:
                self.uses[atom].remove(site)
                return
        raise AssertionError("use not found")

    def _find_breaks(self) -> None:
        for op in self._loops:
            if not op.stops:
                continue
            body = op.body
            flag = body.yields[-1]
            if isinstance(flag, Literal) or self.ends_with_flag(body, flag) is not None:
                self.breaks.add(op)
                self._mark_flags(body, flag)
                if isinstance(flag, Value):
                    self.uses[flag].remove((body, len(body.ops)))

    def _mark_flags(self, block: Block, flag: Atom) -> None:
        place = self.ends_with_flag(block, flag)
        if place is not None and isinstance(flag, Value):
            self.flags.add(flag)
            last = block.ops[-1]
            for side in blocks(last):
                self._mark_flags(side, side.yields[place])

    def ends_with_flag(self, block: Block, flag: Atom) -> int | None:
        """Which result of the ``If`` at the end of a block is the flag."""
        if not block.ops or not isinstance(flag, Value):
            return None
        last = block.ops[-1]
        if not isinstance(last, If) or flag not in last.results:
            return None
        place = last.results.index(flag)
        sides = (last.then.yields[place], last.orelse.yields[place])
        if not any(isinstance(side, Literal) for side in sides):
            return None
        return place

    def _find_booleans(self) -> None:
        """``a and b`` is an ``If`` of a that hands on a itself: that is no second use of a."""
        for op in self._branches:
            sides = (op.then, op.orelse)
            for side, other in (sides, sides[::-1]):
                if side.yields[0] is op.test and not side.ops and self._is_chain(other):
                    assert isinstance(op.test, Value)
                    self.uses[op.test].remove((side, 0))
                    self.booleans.add(op)
                    break

    def _is_chain(self, block: Block) -> bool:
        """Whether a block can be expected to print as one expression."""
        return all(
            (isinstance(op, Apply) and not op.result.hint and len(self.uses[op.result]) == 1)
            or (isinstance(op, If) and op in self._branches)
            for op in block.ops
        )

    def _find_unpacked(self) -> None:
        for value in self._tuples:
            assert isinstance(value.type, TupleType)
            op = self.definition.get(value)
            if op is None:
                if not self._is_target(value):
                    continue
            elif not isinstance(op, Apply) and not (isinstance(op, Update) and value is op.result):
                continue
            if value.hint and not (op is None or is_reverse(op.loc)):
                continue
            parts = self._parts(value, len(value.type.items))
            if parts is None or not issubclass(value.type.cls, tuple):
                continue
            if isinstance(op, Apply) and sum(p is not None for p in parts) < 2:
                continue
            if value in self.function.params and not _are_named(parts):
                continue
            self.unpacked[value] = parts
            for block, position in self.uses[value]:
                self.skipped.add(block.ops[position])

    def _is_target(self, value: Value) -> bool:
        body = self.home[value]
        if value in self.function.params:
            return True
        for op in self._loops:
            if op.body is body and isinstance(op, For):
                return value in op.targets and (not value.hint or is_reverse(op.loc))
        return False

    def _parts(self, value: Value, length: int) -> Pattern | None:
        parts: list[Value | None] = [None] * length
        if not self.uses[value]:
            return None
        for block, position in self.uses[value]:
            user = block.ops[position] if position < len(block.ops) else None
            if not isinstance(user, Apply) or user.callee is not operator.getitem:
                return None
            index = user.args[1]
            if (
                user.args[0] is not value
                or not isinstance(index, Literal)
                or type(index.value) is not int
            ):
                return None
            place = index.value
            if not -length <= place < length or parts[place] is not None:
                return None
            parts[place] = user.result if self.uses[user.result] else None
        return tuple(parts)

    def parts(self, value: Value) -> tuple[Value, ...]:
        """The values that are defined where a tuple is unpacked; the value itself otherwise."""
        pattern = self.unpacked.get(value)
        if pattern is None:
            return (value,)
        return tuple(v for part in pattern if part is not None for v in self.parts(part))

    # ---- tapes

    def _find_kept(self, block: Block) -> None:
        """Match what a loop over a tape reads with what was put on the tape."""
        for op in block.ops:
            if isinstance(op, For):
                for stream, target in zip(op.streams, op.body.params, strict=False):
                    if isinstance(stream, Items) and stream.backward and is_reverse(op.loc):
                        self._match_kept(target, self._put_on(stream.sequence))
            for inner in blocks(op):
                self._find_kept(inner)

    def _match_kept(self, target: Value, item: Atom | None) -> None:
        if not isinstance(item, Value):
            return
        packed = self.definition.get(item)
        pattern = self.unpacked.get(target)
        if pattern is None:
            self.kept[target] = item
        elif isinstance(packed, Apply) and packed.callee is make_tuple:
            for part, atom in zip(pattern, packed.args, strict=True):
                if part is not None and isinstance(atom, Value):
                    self.kept[part] = atom

    def _put_on(self, tape: Atom) -> Atom | None:
        """What a loop appended to a list that it made for that, and only that."""
        if not isinstance(tape, Value):
            return None
        tape = self.kept.get(tape, tape)
        op = self.definition.get(tape)
        if isinstance(op, If):  # the loop may not have been reached
            place = op.results.index(tape)
            found = (self._put_on(side.yields[place]) for side in blocks(op))
            return next((item for item in found if item is not None), None)
        if not isinstance(op, (For, While)):
            return None
        end = op.body.yields[op.results.index(tape)]
        last = self.definition.get(end) if isinstance(end, Value) else None
        if isinstance(last, Update) and last.callee is list.append and not is_reverse(last.loc):
            return last.args[0]
        return None

    # ---- dead operations

    def is_watched(self, value: Value) -> bool:
        """Whether the function catches what the operation that defines a value raises."""
        return self.home[value] in self._watched

    def _watch(self, block: Block) -> None:
        """Note the blocks whose exceptions are caught."""
        self._watched[block] = None
        for op in block.ops:
            for inner in blocks(op):
                self._watch(inner)

    def _find_dead(self) -> None:
        work = [v for v in reversed(self.values) if not self.uses[v]]
        while work:
            value = work.pop()
            op = self.definition.get(value)
            if self.is_watched(value):  # that it raises may be all it does
                continue
            if isinstance(op, (Apply, Accumulate)) and op not in self.skipped:
                self.skipped.add(op)
                for atom in operands(op):
                    if isinstance(atom, Value):
                        self._drop_use(atom, op)
                        if not self.uses[atom]:
                            work.append(atom)


def _are_named(parts: Pattern) -> bool:
    """Whether the parts of a tuple have names of their own: else ``p[0]`` says more."""
    named = [part for part in parts if part is not None]
    return len(named) > 1 and all(part.hint for part in named)
