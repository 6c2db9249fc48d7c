"""Memory that the forward sweep writes over and the reverse sweep reads.

Only what is written over is kept, and put back on the way back, so that the memory holds at each
statement of the reverse sweep what it held at that statement of the primal.  Which versions of an
array that is needed for shows when a reverse sweep has been written (``Restoring.wanted``); it is
then written again, restoring them (see ``reverse.sweep_block``).

A number that is read in more loops than there are around the writes is not kept either: there are
fewer of what is written over.

Griewank and Walther, Evaluating Derivatives, 2nd ed., section 4.2.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.analysis.versions import connected, overwritten_later, version_links, written_values
from srcad.ir import UNDEFINED, Apply, Atom, Block, For, If, Op, Try, Update, Value, While, With
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import Array, Number, NumPyScalar, TupleType, dims_of
from srcad.ir.walk import blocks, map_atoms, overwritten, renaming, results
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints
from srcad.transform.kept import only_for_shape
from srcad.transform.writes import Volatile, covers, current, is_view_of, restore, saved_part


@dataclass(eq=False)
class Restoring:
    """What one reverse sweep restores, and what it turns out to need restored."""

    versions: frozenset[Value] = frozenset()
    """Versions of arrays to be restored in the reverse sweep."""
    wanted: dict[Value, None] = field(default_factory=dict)
    """Versions of written arrays that the reverse sweep reads and does not restore."""
    written: dict[Value, None] = field(default_factory=dict)
    """Versions of containers that are written somewhere."""
    volatile: Volatile = field(default_factory=lambda: Volatile({}))
    missing: dict[Value, None] = field(default_factory=dict)
    """Values that may not exist at run time."""
    first: dict[Value, None] = field(default_factory=dict)
    """The copies of last versions that restoring begins with."""
    loads: dict[Value, Apply] = field(default_factory=dict)
    """Numbers that are read again of restored memory, rather than kept; and how."""

    def begin(self, block: Block) -> None:
        """Look at the writes of the whole block that is swept."""
        self.written.update(written_values(block))
        self.volatile = Volatile(overwritten_later(block))
        self.volatile.note(block)
        self.loads = frequent_loads(block)

    def touches(self, op: Op) -> bool:
        """Whether restoring has something to do in the blocks of an operation."""
        return any(v in self.versions for v in overwritten(op))

    def before(self, op: Op, adjoints: Adjoints) -> list[Op]:
        """Write the restoring of what a write has overwritten; what that keeps, for before it."""
        if not isinstance(op, Update):
            for result in results(op):
                if result in self.versions and self._outlives(op, result, adjoints):
                    self.memory(result, adjoints)
            return []
        if op.version not in self.versions:
            return []
        before, saved = saved_part(op)
        b = adjoints.builder
        loc = op.loc
        with b.at(None if loc is None else replace(loc, reverse=loc.reverse + 1)):
            if covers(op):
                kind, hint = op.target.type, op.target.hint
                adjoints.memory[op.target] = b.apply_typed(np.ndarray.copy, (saved,), kind, hint)
            else:
                restore(op, saved, adjoints, self.memory(op.version, adjoints))
        return before

    def _outlives(self, op: Op, result: Value, adjoints: Adjoints) -> bool:
        """Whether a block hands on memory that was there before it, or that is restored later."""
        if adjoints.restored(result) is not None or not isinstance(op, (For, While)):
            return True
        return op.carried[op.results.index(result)] is not UNDEFINED

    def settle(self, mark: int, states: dict[Value, Any], adjoints: Adjoints) -> None:
        """Let what was just written read restored memory where the primal's is written over."""
        b = adjoints.builder
        made = b.ops[mark:]
        read: dict[Value, None] = {}

        def note(atom: Atom) -> Atom:
            if isinstance(atom, Value):
                read[atom] = None
            return atom

        def stays(op: Op) -> bool:
            return isinstance(op, Apply) and (op.callee in SHAPE or op.result in self.first)

        def changed_op(op: Op, change: Callable[[Atom], Atom]) -> Op:
            # what is in a block was settled there, when memory was what it is there
            match op:
                case If():
                    return replace(op, test=change(op.test))
                case For() | While():
                    return replace(op, carried=tuple(map(change, op.carried)))
                case With() | Try():
                    return op
            return map_atoms(op, change, lambda v: v, stays)

        for op in made:
            changed_op(op, note)
        changed = {v: s for v, s in adjoints.states.items() if states.get(v) is not s}
        both = (*read, *changed.values())
        stale = [v for v in both if v in self.volatile or v in self.loads]
        if not stale:
            return
        del b.ops[mark:]
        mapping: dict[Value, Any] = {}
        for value in stale:
            found = self._now(value, adjoints)
            if found is not None:
                mapping[value] = found
        for op in made:
            b.append(changed_op(op, renaming(mapping)))
        # no adjoint is a view of memory that goes on changing
        moving = {*mapping.values(), *self._memories(adjoints)}
        for key, state in changed.items():
            state = mapping.get(state, state)
            if isinstance(state, Value) and is_view_of(state, moving, b):
                adjoints.states[key] = b.apply(np.ndarray.copy, state)

    def _now(self, value: Value, adjoints: Adjoints) -> Value | None:
        """What stands in for a value of the primal; None if that has to be kept."""
        op = self.loads.get(value)
        if op is None:
            return current(value, self.volatile, adjoints)
        array, index = op.args
        assert isinstance(array, Value)
        memory = adjoints.restored(array)
        if memory is None:
            return None
        return adjoints.builder.apply_typed(op.callee, (memory, index), value.type, value.hint)

    def _memories(self, adjoints: Adjoints | None) -> Iterator[Value]:
        """All memory that is restored at this point."""
        while adjoints is not None:
            yield from adjoints.memory.values()
            adjoints = adjoints.outer

    def memory(self, version: Value, adjoints: Adjoints) -> Value:
        """Memory that holds a version of a written array; of the last one, a copy."""
        found = adjoints.restored(version)
        if found is None:
            missing = spaces.may_be_missing(adjoints.builder, version)
            copier = runtime.copied if missing else np.ndarray.copy
            found = adjoints.builder.apply_typed(copier, (version,), version.type, version.hint)
            adjoints.memory[version] = found
            self.first[found] = None
        return found

    def remember(
        self, results_: tuple[Value, ...], block: Block, adjoints: Adjoints, child: Adjoints
    ) -> None:
        """At the end of a block, what it hands on is what its results are restored to."""
        for result, end in zip(results_, block.yields, strict=False):
            if result in self.versions and isinstance(end, Value):
                child.memory[end] = self.memory(result, adjoints)

    def join(
        self,
        regions: list[tuple[Adjoints, dict[Value, None]]],
        adjoints: Adjoints,
        outcomes: list[Value],
        yields: list[list[Atom]],
    ) -> dict[Value, Value]:
        """Restored memory of arrays from around that branches write."""
        around: dict[Value, None] = {}
        for child, inside in regions:
            around.update((v, None) for v in child.memory if v not in inside)
        kept: dict[Value, Value] = {}
        for value in around:
            found = [self.memory(value, child) for child, _ in regions]
            if all(f is found[0] for f in found) and adjoints.restored(value) is found[0]:
                continue
            outcome = Value(value.hint, value.type)
            kept[value] = outcome
            outcomes.append(outcome)
            for column, end in zip(yields, found, strict=True):
                column.append(end)
        return kept

    def protect(
        self, needed: list[Value], block: Block
    ) -> tuple[dict[Value, Value], list[tuple[Value, Apply]]]:
        """Copies of values that are read in the reverse sweep and written in the forward one."""
        mapping: dict[Value, Value] = {}
        copies: list[tuple[Value, Apply]] = []
        for value in needed:
            mapping[value] = value
            if (load := self.loads.get(value)) is not None:
                array = load.args[0]
                assert isinstance(array, Value)
                self.wanted[array] = None
            if value not in self.volatile:
                continue
            surely = isinstance(value.type, Array) and value not in self.missing
            if surely and only_for_shape(value, block):
                continue
            for root in self.volatile.roots(value):
                self.wanted[root] = None
            copy = self.copy(value)
            copies.append((value, copy))
            mapping[value] = copy.result
        return mapping, copies

    def copy(self, value: Value) -> Apply:
        """A copy of memory that is written later."""
        surely = isinstance(value.type, Array) and value not in self.missing
        copier = np.ndarray.copy if surely else runtime.copied
        return Apply(copier, (value,), (), Value(value.hint, value.type), None)


_NEVER = 1000
"""A depth that no loop has."""


def frequent_loads(block: Block) -> dict[Value, Apply]:
    """Reads of numbers in loops that have no write to the array in them, only around them.

    The numbers are more than what is written over: ``a[i, k]`` in a loop over ``k``, where
    ``a[i, j]`` is written after it.  Of an array that is written by more than an element at a time
    that is not known.
    """
    links = version_links(block)
    depths: dict[Value, int] = {}
    """How many loops are around the innermost write to a version."""
    loads: list[tuple[int, Apply]] = []

    def visit(inner: Block, depth: int) -> None:
        for op in inner.ops:
            match op:
                case Update(target=Value(type=Array()) as target):
                    here = depth if _writes_an_element(op) else _NEVER
                    depths[target] = max(here, depths.get(target, 0))
                case Apply(callee=operator.getitem, args=(Value(type=Array()), _)):
                    if isinstance(op.result.type, (Number, NumPyScalar)):
                        loads.append((depth, op))
            for each in blocks(op):
                visit(each, depth + isinstance(op, (For, While)))

    visit(block, 0)
    deepest: dict[Value, int] = {}
    for target in depths:
        if target not in deepest:
            versions = connected(links, {target})
            most = max(depths.get(v, 0) for v in versions)
            deepest.update(dict.fromkeys(versions, most))
    return {
        op.result: op
        for depth, op in loads
        if isinstance(op.args[0], Value) and depth > deepest.get(op.args[0], depth)
    }


def _writes_an_element(op: Update) -> bool:
    """Whether a write is to one element of an array."""
    if op.path or op.callee not in (operator.setitem, operator.iadd, operator.isub):
        return False
    kind = atom_type(op.args[0])
    parts = kind.items if isinstance(kind, TupleType) else (kind,)
    rank = len(dims_of(op.target.type) or ())
    return len(parts) == rank and all(isinstance(p, Number) and p.kind == "int" for p in parts)
