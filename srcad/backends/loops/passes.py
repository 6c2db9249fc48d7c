"""The passes, in order.

rows      lists of arrays of one size become arrays
reuse     small arrays stay in the memory that they have
sizes     the sizes of all arrays, and what has to be assumed for them (indexing, known)
gather    which additions to several places of an array are made at once
lower     operations become loops over elements, one by one (reduce, matrices, lists)
fuse      loops over the same range become one (aliases)
scalars   elements at hand are not read again; arrays that nobody reads are not made
narrow    memory that each iteration has for itself is used by all of them
rebuild   loops become operations of the IR

Between lowering and rebuilding a block is a list of ``items``.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad.backends.loops.aliases import Aliases
from srcad.backends.loops.fuse import Fuser
from srcad.backends.loops.gather import gathers
from srcad.backends.loops.items import Alloc, Define, Item, Keep, Require, all_items
from srcad.backends.loops.known import Check
from srcad.backends.loops.lower import Lowering
from srcad.backends.loops.narrow import narrowed
from srcad.backends.loops.rebuild import Entry, Rebuilder
from srcad.backends.loops.reuse import reuse_memory
from srcad.backends.loops.rows import lists_to_rows
from srcad.backends.loops.scalars import contract, forward, without_lost_stores
from srcad.backends.loops.sizes import Shapes
from srcad.codegen.copies import without_idle_copies
from srcad.codegen.liveness import Liveness
from srcad.codegen.memory import Memory
from srcad.codegen.ownership import Ownership
from srcad.codegen.survey import Survey
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Op,
    Update,
    Value,
    While,
)
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import ListType, TupleType
from srcad.ir.walk import map_atoms, map_blocks, results, values_read
from srcad.passes.dce import remove_dead_code


def to_loops(function: Function, *, assume: bool = True, checked: bool = False) -> Function:
    """The function with loops over elements in place of array operations.

    Where its indices have been ``checked``, no checks are made of them here.
    """
    function = without_idle_copies(function)
    if assume:
        shapes = Shapes(function, assume=True, checked=checked)
        sizes = Entry(function.params)
        survey = Survey(function)
        function = lists_to_rows(function, survey, Memory(survey), shapes, sizes.measure)
        body = replace(function.body, ops=(*sizes.ops, *function.body.ops))
        function = reuse_memory(remove_dead_code(replace(function, body=body)))
    survey = Survey(function)
    memory = Memory(survey)
    ownership = Ownership(survey, memory, Liveness(survey, {}, memory.escaped))
    shapes = Shapes(function, assume=assume, checked=checked)
    entry = Entry(function.params)
    body = _Blocks(Lowering(shapes, memory, ownership), memory, entry).block(function.body)
    top = Rebuilder(entry, {}, {})
    for check in shapes.entry:
        top.require(check)
    made = Block(body.params, (*entry.ops, *top.ops, *body.ops), body.yields)
    return remove_dead_code(replace(function, body=made))


class _Blocks:
    """Turns the blocks of a function into blocks with loops, the inner ones first."""

    def __init__(self, lowering: Lowering, memory: Memory, entry: Entry) -> None:
        self.lowering = lowering
        self.memory = memory
        self.entry = entry
        self.gathered: set[Op] = set()

    def block(self, block: Block, reused: list[Alloc] | None = None) -> Block:
        """The block with loops.

        With a list for memory to be ``reused`` the block is the body of a loop: what every
        iteration makes for itself alone becomes more parameters and yields, in that order.
        """
        lowering = self.lowering
        outer, lowering.aliases = lowering.aliases, Aliases()
        aliases = lowering.aliases
        groups = gathers(block, self.memory.survey, lowering.shapes, lowering.ownership)
        first = {group.ops[0]: group for group in groups}
        items: list[Item] = []
        for op in block.ops:
            aliases.now += 1
            aliases.born.update((v, aliases.now) for v in results(op))
            if op in first and lowering.can_gather(first[op]):
                self.gathered.update(first[op].ops)
            items += self._items(op)
            for group in groups:
                if op is group.last and group.ops[0] in self.gathered:
                    names = [i for i in items if isinstance(i, Define) and i.value is op.version]
                    items = [i for i in items if i not in names]
                    items += lowering.gather(group)
        fuser = Fuser(self.memory, aliases)
        needed = dict.fromkeys(a for a in map(self._read, block.yields) if isinstance(a, Value))
        items = _wanted(_without_repeated_checks(items), needed, fuser)
        is_needed = needed.__contains__
        items = contract(forward(fuser.fuse(items), aliases, is_needed), is_needed)
        items = narrowed(contract(without_lost_stores(items, aliases), is_needed))
        made = Rebuilder(self.entry, lowering.alias, aliases.start)
        params: list[Value] = []
        if reused is not None:
            reused += _working_memory(items, {*block.params, *aliases.born})
            items = [i for i in items if i not in reused]
            params = [made.given(alloc.buffer) for alloc in reused]
        made.items(items)
        yields = list(map(made.read, block.yields))
        yields += [made.now(alloc.buffer) for alloc in reused or ()]
        for buffer, value in aliases.start.items():
            if value is not None:
                buffer.latest = value
        lowering.aliases = outer
        return Block((*block.params, *params), tuple(made.ops), tuple(yields))

    def _read(self, atom: Atom) -> Atom:
        return self.lowering.alias.get(atom, atom) if isinstance(atom, Value) else atom

    def _items(self, op: Op) -> list[Item]:
        if op in self.gathered and isinstance(op, Accumulate) and isinstance(op.target, Value):
            self.lowering.version(op.version, op.target)
            return []
        items = self.lowering.lower(op)
        if items is not None:
            return [self._renamed(i) if isinstance(i, Keep) else i for i in items]
        if isinstance(op, (For, While)):
            return self._loop(op)
        if isinstance(op, If) and not op.results:
            taken = self.lowering.shapes.truth(op.test)
            if taken is not None and not (op.then if taken else op.orelse).ops:
                return []  # a check that is proven, now that sizes are known
        kept = self._renamed(Keep(map_blocks(op, self.block)))
        if isinstance(op, Apply) and _reads_no_elements(op):
            return [replace(kept, is_view=True)]
        if isinstance(op, Update):
            return [replace(kept, writes=self.lowering.version(op.version, op.target))]
        return [kept]

    def _loop(self, op: For | While) -> list[Item]:
        """A loop carries the memory that its iterations work in, made once before it."""
        reused: list[Alloc] = []
        body = self.block(op.body, reused)
        items: list[Item] = []
        memory: list[Value] = []
        for alloc in reused:
            made, value = self.lowering.memory_like(alloc)
            items += made
            memory.append(value)
        if op.stops:  # the flag is the last yield
            at = len(op.body.yields) - 1
            yields = (*body.yields[:at], *body.yields[at + 1 :], body.yields[at])
            body = replace(body, yields=yields)
        carried = (*op.carried, *memory)
        ends = (*op.results, *(Value("", v.type) for v in memory))
        if isinstance(op, While):
            test = self.block(op.test)
            test = replace(test, params=(*test.params, *(Value("", v.type) for v in memory)))
            looped: Op = replace(op, carried=carried, test=test, body=body, results=ends)
        else:
            looped = replace(op, carried=carried, body=body, results=ends)
        return [*items, self._renamed(Keep(looped))]

    def _renamed(self, kept: Keep) -> Keep:
        return replace(kept, op=map_atoms(kept.op, self._read, lambda v: v))


def _working_memory(items: list[Item], own: set[Value]) -> list[Alloc]:
    """The memory that is used in this block only, of sizes that do not depend on what it has."""
    known = {i.buffer for i in all_items(items) if isinstance(i, Define)}
    return [
        item
        for item in items
        if isinstance(item, Alloc)
        and not item.buffer.is_cell
        and item.buffer not in known
        and not any(s.value in own for size in item.buffer.sizes for s in size.symbols)
    ]


def _without_repeated_checks(items: list[Item]) -> list[Item]:
    seen: set[Check] = set()
    made: list[Item] = []
    for item in items:
        if isinstance(item, Require):
            if item.check in seen:
                continue
            seen.add(item.check)
        made.append(item)
    return made


def _reads_no_elements(op: Apply) -> bool:
    """Whether a call reads shapes, or takes arrays out of tuples and puts them in."""
    if op.callee is operator.getitem:
        return isinstance(atom_type(op.args[0]), (TupleType, ListType))
    return any(op.callee is f for f in (*SHAPE, make_tuple, make_list, slice))


def _wanted(items: list[Item], needed: dict[Value, None], fuser: Fuser) -> list[Item]:
    """The items without views and names that nobody asks for; ``needed`` grows."""
    made: list[Item] = []
    for item in reversed(items):
        match item:
            case Keep(op=Apply(result=result), is_view=True) if result not in needed:
                continue
            case Define(value=value) if value not in needed:
                continue
            case Keep(op=op):
                needed.update(values_read(op))
            case _:
                needed.update(fuser.touched(item).uses)
        made.append(item)
    return made[::-1]
