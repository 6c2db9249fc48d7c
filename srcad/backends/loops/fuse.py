"""Loops over the same range become one, where no element is read before it is made.

    for i in range(n): t[i] = x[i] * x[i]     |    for i in range(n):
    for i in range(n): y[i] = sin(t[i])       |        t[i] = x[i] * x[i]
                                              |        y[i] = sin(t[i])

A loop moves up to an earlier one if it depends on nothing between the two, or if what it depends on
can move up too.  Two loops that touch the same memory, one of them writing, fuse if both touch each
element in the same iteration.  Bodies are fused in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from srcad.analysis.affine import Affine, Symbol
from srcad.backends.loops.aliases import Aliases
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
)
from srcad.codegen.memory import Memory
from srcad.ir import Accumulate, Apply, Op, Value
from srcad.ir.types import Number, NumPyScalar
from srcad.ir.walk import operands, results, values_read


@dataclass(slots=True)
class Touched:
    """What an item and those in it do."""

    reads: dict[tuple[Buffer, Index], None] = field(default_factory=dict)
    writes: dict[tuple[Buffer, Index], None] = field(default_factory=dict)
    whole: dict[Buffer, None] = field(default_factory=dict)
    """Buffers that are made, or read as a whole."""
    uses: dict[Value, None] = field(default_factory=dict)
    makes: dict[Value, None] = field(default_factory=dict)
    looks: int = 0
    """Other memory that is read, as a mask."""
    is_barrier: bool = False


class Fuser:
    """Puts items in their place, one after the other."""

    def __init__(self, memory: Memory, aliases: Aliases) -> None:
        self.memory = memory
        self.aliases = aliases
        self._touched: dict[Item, Touched] = {}

    def fuse(self, items: list[Item]) -> list[Item]:
        """The items with loops fused."""
        made: list[Item] = []
        for item in items:
            if isinstance(item, Loop):
                self._place(item, made)
            else:
                made.append(item)
        return made

    def _place(self, loop: Loop, made: list[Item]) -> None:
        """Append a loop, or fuse it with one that is there."""
        moved: list[Item] = [loop]
        for place in range(len(made) - 1, -1, -1):
            other = made[place]
            free = not any(self.depends(m, other) for m in moved[1:])
            if free and isinstance(other, Loop) and self._go_together(other, loop):
                before = moved[:0:-1]
                rest = [m for m in made[place + 1 :] if m not in before]
                made[place:] = [*before, self._joined(other, loop), *rest]
                return
            if not free or self.depends(loop, other):
                if isinstance(other, (Loop, Require)) or self.touched(other).is_barrier:
                    break
                moved.append(other)
        made.append(loop)

    def _joined(self, first: Loop, second: Loop) -> Loop:
        names = {second.variable: Affine(0, ((first.variable, 1),))}
        values = {second.variable.value: first.variable.value}
        body = [*first.body, *(renamed(i, names, values) for i in second.body)]
        return Loop(first.variable, first.size, self.fuse(body))

    # ---- dependences

    def touched(self, item: Item) -> Touched:
        """What an item does, found once."""
        found = self._touched.get(item)
        if found is None:
            found = self._touched[item] = Touched()
            self._collect(item, found)
        return found

    def _collect(self, item: Item, into: Touched) -> None:
        match item:
            case Let():
                into.uses.update((a, None) for a in item.args if isinstance(a, Value))
                into.makes[item.result] = None
            case Measure():
                into.uses.update((s.value, None) for s in item.size.symbols)
                into.makes[item.result] = None
            case Load():
                into.reads[item.buffer, item.index] = None
                self._use(item, into)
                into.makes[item.result] = None
            case Store():
                into.writes[item.buffer, item.index] = None
                self._use(item, into)
                if isinstance(item.value, Value):
                    into.uses[item.value] = None
            case Alloc():
                into.whole[item.buffer] = None
                for size in item.buffer.sizes:
                    into.uses.update((s.value, None) for s in size.symbols)
            case Define():
                into.whole[item.buffer] = None
                into.makes[item.value] = None
            case Require(check=check):
                into.is_barrier = True
                for size in (check.left, check.right):
                    into.uses.update((s.value, None) for s in size.symbols)
            case Keep(op=op, is_view=is_view):
                into.uses.update(values_read(op))
                into.makes.update((v, None) for v in results(op))
                into.is_barrier = not isinstance(op, Apply) and not _adds_numbers(op)
                if not is_view:
                    for atom in operands(op):
                        if isinstance(atom, Value) and atom in self.memory.survey.number:
                            into.looks |= self.memory.reach(atom)
            case Loop():
                into.uses.update((s.value, None) for s in item.size.symbols)
                for inner in item.body:
                    part = self.touched(inner)
                    into.reads.update(part.reads)
                    into.writes.update(part.writes)
                    into.whole.update(part.whole)
                    into.uses.update(part.uses)
                    into.makes.update(part.makes)
                    into.is_barrier |= part.is_barrier

    def _use(self, item: Load | Store, into: Touched) -> None:
        start = self.aliases.start.get(item.buffer)
        if start is not None:
            into.uses[start] = None
        for place in item.index:
            into.uses.update((s.value, None) for s in place.symbols)

    def depends(self, later: Item, earlier: Item) -> bool:
        """Whether an item has to stay after another one."""
        x, y = self.touched(earlier), self.touched(later)
        if x.is_barrier or y.is_barrier or any(v in x.makes for v in y.uses):
            return True
        if any(v in y.makes for v in x.uses):
            return True
        return self._meet(x, y) or self._meet(y, x)

    def _meet(self, x: Touched, y: Touched) -> bool:
        """Whether what ``x`` writes may be what ``y`` touches."""
        for written, _ in x.writes:
            if written.mask & y.looks or any(self.aliases.may(written, b) for b in y.whole):
                return True
            if any(self.aliases.may(written, b) for b, _ in (*y.reads, *y.writes)):
                return True
        return any(b in y.whole for b in x.whole)

    def _go_together(self, first: Loop, second: Loop) -> bool:
        """Whether two loops may be one."""
        if first.size != second.size:
            return False
        x, y = self.touched(first), self.touched(second)
        if x.is_barrier or y.is_barrier or any(v in x.makes for v in y.uses):
            return False
        names = {second.variable: Affine(0, ((first.variable, 1),))}
        for one, other in ((x.writes, y.reads), (x.writes, y.writes), (x.reads, y.writes)):
            for buffer, index in one:
                for b, i in other:
                    if not self.aliases.may(buffer, b):
                        continue
                    renamed_index = tuple(a.replaced(names) for a in i)
                    if buffer is not b or not _in_step(index, renamed_index, first.variable):
                        return False
        return True


def _adds_numbers(op: Op) -> bool:
    return isinstance(op, Accumulate) and isinstance(op.version.type, (Number, NumPyScalar))


def _in_step(one: Index, other: Index, symbol: Symbol) -> bool:
    """Whether two accesses meet in the same iteration only."""
    return any(
        x == y and any(s is symbol for s, _ in x.terms) for x, y in zip(one, other, strict=True)
    )


def renamed(item: Item, names: dict[Symbol, Affine], values: dict[Value, Value]) -> Item:
    """The item with another loop variable."""

    def index(old: Index) -> Index:
        return tuple(a.replaced(names) for a in old)

    match item:
        case Let(args=args):
            new = tuple(values.get(a, a) if isinstance(a, Value) else a for a in args)
            return item if new == args else replace(item, args=new)
        case Measure():
            return replace(item, size=item.size.replaced(names))
        case Load() | Store():
            return replace(item, index=index(item.index))
        case Loop():
            body = [renamed(i, names, values) for i in item.body]
            return Loop(item.variable, item.size.replaced(names), body)
    return item
