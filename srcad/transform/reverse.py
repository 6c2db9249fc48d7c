"""Reverse mode: the adjoint of a block, written after it.

The adjoint of a loop is a loop, of an ``if`` an ``if``.  Statements are taken by descending
generation (see ``schedule``).  What the reverse sweep reads of the forward sweep is found by
looking at it: values of a branch become results of the forward ``if``, values of a loop body are
kept, one tuple per iteration on a list local to the loop (a tape), and read back from its end.  The
tape is an ordinary list of the IR, so the result can be differentiated again.

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapters 3, 4 and 6; Hascoët and Pascual, The
Tapenade Automatic Differentiation Tool (2013), for the treatment of control flow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srcad import rules, runtime
from srcad.analysis.activity import active_values
from srcad.analysis.existence import missing_values
from srcad.analysis.saving import is_dear, recomputed
from srcad.analysis.versions import (
    chained,
    overwritten,
    overwritten_later,
    written_values,
)
from srcad.ir import (
    UNDEFINED,
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
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
from srcad.ir.build import Builder
from srcad.ir.core import Handler, literal_values, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import (
    INT,
    Array,
    ListType,
    Number,
    TupleType,
    is_differentiable,
)
from srcad.ir.walk import all_ops, blocks, free_values, map_atoms, operands, results, without_ops
from srcad.options import DEFAULTS, Options
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints, refuse_hidden
from srcad.transform.dce import prune_block
from srcad.transform.ownership import is_fresh
from srcad.transform.pullback import Transposer, missing_rule, pull_accumulate
from srcad.transform.schedule import reverse_order
from srcad.transform.updates import pull_update
from srcad.transform.writes import (
    Volatile,
    covers,
    current,
    is_view_of,
    pull_write,
    restore,
    saved_part,
)

Forward = list[list[Op]]
"""The forward sweep while the reverse is written: for each operation what it has become."""


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
            hint = spaces.value_hint(value, "_bar")
            self.carried[value] = Value(hint, spaces.tangent_type(value.type))
        return self.carried[value]


def defined_in(block: Block) -> dict[Value, None]:
    """The values a block itself defines, without those of the blocks in it."""
    found = dict.fromkeys(block.params)
    for op in block.ops:
        found.update(dict.fromkeys(results(op)))
    return found


def everything_in(block: Block) -> dict[Value, None]:
    """The values a block and the blocks in it define."""
    found = defined_in(block)
    for op in all_ops(block):
        found.update(dict.fromkeys(results(op)))
        for inner in blocks(op):
            found.update(dict.fromkeys(inner.params))
    return found


def flat_ops(forward: Forward) -> tuple[Op, ...]:
    """The operations of a forward sweep, in order."""
    return tuple(op for ops in forward for op in ops)


@dataclass(eq=False)
class Reverser:
    """Writes the reverse sweep of blocks; ``functions`` makes the pairs for calls."""

    transposer: Transposer
    functions: Any = None
    loops: int = field(default=0)
    restore: frozenset[Value] = frozenset()
    """Versions of arrays to be restored in the reverse sweep."""
    wanted: dict[Value, None] = field(default_factory=dict)
    """Versions of written arrays that the reverse sweep reads and does not restore."""

    def sweep(self, block: Block, adjoints: Adjoints) -> Forward:
        """Write the reverse of a block into the builder of ``adjoints``; what the block becomes."""
        if not self.depth:
            self.written.update(written_values(block))
            self.volatile = Volatile(overwritten_later(block))
            self.volatile.note(block)
        for op in block.ops if self.options.reuse else ():
            if isinstance(op, Apply) and is_dear(op) and op.result not in self.volatile:
                adjoints.builder.know(op)
        self.depth += 1
        forward: Forward = [[op] for op in block.ops]
        for k, op in reverse_order(block):
            self._pull(forward, k, op, adjoints)
        self.depth -= 1
        return forward

    def _pull(self, forward: Forward, k: int, op: Op, adjoints: Adjoints) -> None:
        before = self._restore(op, adjoints)
        mark, states = len(adjoints.builder.ops), dict(adjoints.states) if self.restore else {}
        self._pull_op(forward, k, op, adjoints)
        forward[k] = [*before, *forward[k]]
        if self.restore:
            self._settle(mark, states, adjoints)

    def _restore(self, op: Op, adjoints: Adjoints) -> list[Op]:
        """Write the restoring of what a write has overwritten; what that keeps, for before it."""
        if not isinstance(op, Update):
            for result in results(op):
                if result in self.restore and self._outlives(op, result, adjoints):
                    self.memory(result, adjoints)
            return []
        if op.version not in self.restore:
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

    def _settle(self, mark: int, states: dict[Value, Any], adjoints: Adjoints) -> None:
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

        def redirected(atom: Atom) -> Atom:
            return mapping.get(atom, atom) if isinstance(atom, Value) else atom

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
        stale = [v for v in (*read, *changed.values()) if v in self.volatile]
        if not stale:
            return
        del b.ops[mark:]
        mapping: dict[Value, Any] = {}
        for value in stale:
            found = current(value, self.volatile, adjoints)
            if found is not None:
                mapping[value] = found
        for op in made:
            b.append(changed_op(op, redirected))
        # no adjoint is a view of memory that goes on changing
        moving = {*mapping.values(), *self.restored_memory(adjoints)}
        for key, state in changed.items():
            state = mapping.get(state, state)
            if isinstance(state, Value) and is_view_of(state, moving, b):
                adjoints.states[key] = b.apply(np.ndarray.copy, state)

    def restored_memory(self, adjoints: Adjoints | None) -> Iterator[Value]:
        """All memory that is restored at this point."""
        while adjoints is not None:
            yield from adjoints.memory.values()
            adjoints = adjoints.outer

    def _pull_op(self, forward: Forward, k: int, op: Op, adjoints: Adjoints) -> None:
        b = adjoints.builder
        loc = op.loc
        with b.at(None if loc is None else loc.one_sweep_further()):
            match op:
                case Apply():
                    state = adjoints.get(op.result)
                    if state is not None:
                        self.transposer.pull(op, state, adjoints)
                        adjoints.drop(op.result)
                case Effect():
                    if op.result is not None and adjoints.get(op.result) is not None:
                        raise missing_rule(op, op.callee)
                case Update():
                    forward[k] = self._pull_update(op, adjoints)
                case Accumulate():
                    ct = adjoints.take(op.version)
                    if ct is not None:
                        pull_accumulate(op, ct, adjoints)
                case If():
                    forward[k] = [self.pull_if(op, adjoints)]
                case For() | While():
                    forward[k] = self._pull_loop(op, adjoints)
                case With():
                    forward[k] = [self._pull_with(op, adjoints)]
                case Try():
                    forward[k] = [self._pull_try(op, adjoints)]
                case Call():
                    forward[k] = self.functions.pull_call(self, op, adjoints)

    def _idle(self, op: Op, adjoints: Adjoints) -> bool:
        """Whether the reverse of an operation with blocks has nothing to do."""
        if any(adjoints.get(r) is not None for r in results(op)):
            return False
        return not any(v in self.restore for v in overwritten(op))

    # ---- writes

    def _pull_update(self, op: Update, adjoints: Adjoints) -> list[Op]:
        kind = op.target.type
        if isinstance(kind, Array):
            pull_write(op, adjoints)
            return [op]
        if (
            op.callee is operator.setitem
            and isinstance(kind, ListType)
            and is_differentiable(kind)
            and not isinstance(kind.item, Number)
            and adjoints.get(op.version) is not None
        ):
            # the zero left behind has the shape of the item that was overwritten
            old = Value("", kind.item)
            read = Apply(operator.getitem, (op.target, op.args[0]), (), old, op.loc)
            pull_update(op, adjoints, old)
            return [read, op]
        pull_update(op, adjoints, None)
        return [op]

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
            if result in self.restore and isinstance(end, Value):
                child.memory[end] = self.memory(result, adjoints)

    # ---- branches

    def pull_if(self, op: If, adjoints: Adjoints) -> If:
        """Write the reverse of an ``if``; the forward ``if`` with what the reverse reads of it."""
        if self._idle(op, adjoints):
            return op
        made = [self._branch(b, op.results, adjoints) for b in (op.then, op.orelse)]
        blocks, extra, results_ = self._join(made, op.results, adjoints)
        then, orelse = blocks
        adjoints.builder.append(If(op.test, then, orelse, results_, adjoints.builder.loc))
        return replace(
            op,
            then=made[0].forward_block(extra, 0),
            orelse=made[1].forward_block(extra, 1),
            results=(*op.results, *(v for v, _ in extra)),
        )

    def _branch(self, block: Block, results_: tuple[Value, ...], adjoints: Adjoints) -> _Region:
        child = Adjoints(Builder(adjoints.builder), adjoints.active, adjoints)
        self.remember(results_, block, adjoints, child)
        inside = defined_in(block)
        for result, end in zip(results_, block.yields, strict=False):
            state = adjoints.get(result)
            if state is not None and end is not UNDEFINED:
                child.add(end, state)
        forward = self.sweep(block, child)
        changed = {v: None for v in child.states if v not in inside}
        return _Region(block, forward, child, inside, changed, self)

    def _join(
        self, regions: list[_Region], results_: tuple[Value, ...], adjoints: Adjoints
    ) -> tuple[list[Block], list[tuple[Value, tuple[int, Value]]], tuple[Value, ...]]:
        """The reverse blocks of branches, what they need of the forward ones, and the results."""
        changed: dict[Value, None] = {}
        for region in regions:
            changed.update(region.changed)
        outcomes: list[Value] = []
        yields: list[list[Atom]] = [[] for _ in regions]
        before = {v: adjoints.get(v) for v in changed}
        for value in changed:
            hint = spaces.value_hint(value, "_bar")
            outcomes.append(Value(hint, spaces.tangent_type(value.type)))
            for region, column in zip(regions, yields, strict=True):
                child = region.adjoints
                state = child.states.get(value)
                if state is None:
                    state = before[value]
                if state is None:
                    column.append(spaces.zeros(child.builder, value))
                else:
                    column.append(child.atom(state, value))
        memories = self._join_memory(regions, adjoints, outcomes, yields)
        blocks, extra = [], []
        for k, (region, column) in enumerate(zip(regions, yields, strict=True)):
            block = prune_block(region.adjoints.builder.block((), tuple(column)))
            needed = [v for v in free_values(block) if v in region.inside]
            ops = flat_ops(region.forward)
            if self.options.recompute:
                block, needed = recomputed(
                    block, needed, ops, region.inside, (), self.volatile, indices=True
                )
            block, needed, shapes = shapes_kept(block, needed)
            mapping = region.keep(needed, block)
            region.copies += shapes
            exports = {v: Value(v.hint, v.type) for v in mapping.values()}
            for kept, export in exports.items():
                extra.append((export, (k, kept)))
            blocks.append(rename_values(block, {v: exports[kept] for v, kept in mapping.items()}))
        for value, outcome in zip(changed, outcomes, strict=False):
            adjoints.set(value, outcome)
        if memories:
            for result in results_:
                adjoints.memory.pop(result, None)
        adjoints.memory.update(memories)
        return blocks, extra, tuple(outcomes)

    def _join_memory(
        self,
        regions: list[_Region],
        adjoints: Adjoints,
        outcomes: list[Value],
        yields: list[list[Atom]],
    ) -> dict[Value, Value]:
        """Restored memory of arrays from around that branches write."""
        around: dict[Value, None] = {}
        for region in regions:
            around.update((v, None) for v in region.adjoints.memory if v not in region.inside)
        kept: dict[Value, Value] = {}
        for value in around:
            found = [self.memory(value, region.adjoints) for region in regions]
            if all(f is found[0] for f in found) and adjoints.restored(value) is found[0]:
                continue
            outcome = Value(value.hint, value.type)
            kept[value] = outcome
            outcomes.append(outcome)
            for column, end in zip(yields, found, strict=True):
                column.append(end)
        return kept

    # ---- with and try

    def _pull_with(self, op: With, adjoints: Adjoints) -> With:
        """The context is entered in the primal; its reverse runs outside it."""
        if self._idle(op, adjoints):
            return op
        if isinstance(op.manager, Value) and adjoints.active(op.manager):
            refuse_hidden(
                op.loc, op.manager.type
            )  # a manager made of active data may pass it on, anywhere
        region = self._branch(op.body, op.results, adjoints)
        blocks, extra, outcomes = self._join([region], op.results, adjoints)
        b = adjoints.builder
        manager = self._errstate(op, adjoints)
        if manager is not None:
            b.append(With(manager, blocks[0], outcomes, b.loc))
        else:
            self._splice(blocks[0], region, outcomes, adjoints)
        body = region.forward_block(extra, 0)
        return replace(
            op,
            body=Block(op.body.params, body.ops, body.yields),
            results=(*op.results, *(v for v, _ in extra)),
        )

    def _splice(
        self, block: Block, region: _Region, outcomes: tuple[Value, ...], adjoints: Adjoints
    ) -> None:
        """Write a reverse block as it is, without a region of its own."""
        for op in block.ops:
            adjoints.builder.append(op)
        for value, end in zip(region.changed, block.yields, strict=False):
            adjoints.set(value, end)
        for value, memory in list(adjoints.memory.items()):
            if memory in outcomes:
                end = block.yields[outcomes.index(memory)]
                assert isinstance(end, Value)
                adjoints.memory[value] = end

    def _errstate(self, op: With, adjoints: Adjoints) -> Value | None:
        """The reverse of code under ``np.errstate`` runs under it: it warns no more than that."""
        made = self.managers.get(op.manager) if isinstance(op.manager, Value) else None
        if made is None:
            return None
        assert made.result is not None
        manager = Value("", made.result.type)
        b = adjoints.builder
        b.effect(made.callee, *made.args, result=manager, **dict(made.keywords))
        return manager

    options: Options = DEFAULTS
    managers: dict[Value, Effect] = field(default_factory=dict)
    written: dict[Value, None] = field(default_factory=dict)
    """Versions of containers that are written somewhere."""
    volatile: Volatile = field(default_factory=lambda: Volatile({}))
    first: dict[Value, None] = field(default_factory=dict)
    """The copies of last versions that restoring begins with."""
    depth: int = 0

    def protect(
        self, needed: list[Value], block: Block
    ) -> tuple[dict[Value, Value], list[tuple[Value, Apply]]]:
        """Copies of values that are read in the reverse sweep and written in the forward one."""
        mapping: dict[Value, Value] = {}
        copies: list[tuple[Value, Apply]] = []
        for value in needed:
            mapping[value] = value
            if value not in self.volatile:
                continue
            if isinstance(value.type, Array) and only_for_shape(value, block):
                continue
            for root in self.volatile.roots(value):
                self.wanted[root] = None
            copy = Value(value.hint, value.type)
            copier = np.ndarray.copy if isinstance(value.type, Array) else runtime.copied
            copies.append((value, Apply(copier, (value,), (), copy, None)))
            mapping[value] = copy
        return mapping, copies

    def _pull_try(self, op: Try, adjoints: Adjoints) -> Try:
        """The path taken is noted, and the reverse takes it backwards."""
        if self._idle(op, adjoints):
            return op
        inner = (op.body, *(h.body for h in op.handlers))
        regions = [self._branch(b, op.results, adjoints) for b in inner]
        blocks, extra, outcomes = self._join(regions, op.results, adjoints)
        b = adjoints.builder
        if len(inner) == 1:  # only a `finally`: there is one path
            self._splice(blocks[0], regions[0], outcomes, adjoints)
            return replace(
                op,
                body=regions[0].forward_block(extra, 0),
                results=(*op.results, *(v for v, _ in extra)),
            )
        path = Value("path", INT)
        test_blocks = list(blocks)
        current = test_blocks[-1]
        for k in range(len(test_blocks) - 2, -1, -1):
            last = k == 0
            builder = Builder(b)
            test_builder = b if last else builder
            test = test_builder.apply(operator.eq, path, Literal(k))
            values = outcomes if last else tuple(Value(o.hint, o.type) for o in outcomes)
            op_if = If(test, test_blocks[k], current, values, b.loc)
            if last:
                b.append(op_if)
            else:
                builder.append(op_if)
                current = builder.block((), values)
        made = [r.forward_block(extra, k, (Literal(k),)) for k, r in enumerate(regions)]
        handlers = tuple(
            Handler(h.kinds, Block(h.body.params, m.ops, m.yields))
            for h, m in zip(op.handlers, made[1:], strict=True)
        )
        return replace(
            op,
            body=made[0],
            handlers=handlers,
            results=(*op.results, path, *(v for v, _ in extra)),
        )

    # ---- loops

    def _pull_loop(self, op: For | While, adjoints: Adjoints) -> list[Op]:
        if self._idle(op, adjoints):
            return [op]
        plan = _LoopPlan(self, op, adjoints)
        plan.write_body()
        return plan.finish()


@dataclass(eq=False)
class _Region:
    """A forward block and its reverse, while both are made."""

    block: Block
    forward: Forward
    adjoints: Adjoints
    inside: dict[Value, None]
    changed: dict[Value, None]
    reverser: Reverser
    copies: list[tuple[Value, Apply]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for ops in self.forward:
            for op in ops:
                self.inside.update(dict.fromkeys(results(op)))

    def keep(self, needed: list[Value], block: Block) -> dict[Value, Value]:
        """For each value the reverse reads, what to keep: a copy if it is overwritten later."""
        mapping, self.copies = self.reverser.protect(needed, block)
        return mapping

    def forward_block(
        self, extra: list[tuple[Value, tuple[int, Value]]], which: int, first: tuple[Atom, ...] = ()
    ) -> Block:
        """The forward block, handing over what the reverse reads."""
        ops = with_copies(flat_ops(self.forward), self.block.params, self.copies)
        more = tuple(kept if k == which else UNDEFINED for _, (k, kept) in extra)
        return Block((), ops, (*self.block.yields, *first, *more))


def only_for_shape(value: Value, block: Block) -> bool:
    """Whether a block reads nothing of an array but its shape."""
    return all(
        isinstance(op, Apply) and op.callee in SHAPE
        for op in all_ops(block)
        if value in operands(op)
    ) and not any(
        value in b.yields for b in (block, *(b for op in all_ops(block) for b in blocks(op)))
    )


def shapes_kept(
    body: Block, needed: list[Value]
) -> tuple[Block, list[Value], list[tuple[Value, Apply]]]:
    """Where a reverse loop reads nothing of an array but its shape, that is kept in its place."""
    asked: dict[Value, list[Apply]] = {}
    for op in all_ops(body):
        if isinstance(op, Apply) and op.callee in SHAPE and op.args[0] in needed:
            array = op.args[0]
            assert isinstance(array, Value)
            asked.setdefault(array, []).append(op)
    moved = {
        v: ops for v, ops in asked.items() if isinstance(v.type, Array) and only_for_shape(v, body)
    }
    if not moved:
        return body, needed, []
    gone = {op for ops in moved.values() for op in ops}
    rest = [v for v in needed if v not in moved]
    rest += [op.result for ops in moved.values() for op in ops]
    shapes = [(v, op) for v, ops in moved.items() for op in ops]
    return without_ops(body, gone), rest, shapes


def with_copies(
    ops: tuple[Op, ...], params: tuple[Value, ...], copies: list[tuple[Value, Apply]]
) -> tuple[Op, ...]:
    """The operations with each copy right after the value it is of."""
    if not copies:
        return ops
    waiting: dict[Value, list[Op]] = {}
    for value, copy in copies:
        waiting.setdefault(value, []).append(copy)
    made: list[Op] = [copy for p in params for copy in waiting.get(p, ())]
    for op in ops:
        made.append(op)
        made += [copy for r in results(op) for copy in waiting.get(r, ())]
    return tuple(made)


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """A block and its reverse."""

    forward: tuple[Op, ...]
    """The operations of the block, keeping what the reverse reads."""
    reverse: Block
    """Parameters are the cotangents of the outputs, yields the adjoints of the inputs."""
    kept: dict[Value, Value]
    """What the reverse reads of the block, and the values it finds that in."""


def sweep_block(
    block: Block,
    inputs: tuple[Value, ...],
    outputs: tuple[Atom, ...],
    builder: Callable[[], Builder],
    functions: Any,
    *,
    seed: Atom | None = None,
    managers: dict[Value, Effect] | None = None,
    params: tuple[Value, ...] = (),
    options: Options = DEFAULTS,
) -> Swept:
    """The reverse of a block, from ``outputs`` to ``inputs``; ``seed`` is the cotangent of the
    first output, if it is known, and ``params`` are the parameters of a function around the block.

    A sweep shows which written arrays it reads; if it has to restore some, it is done again.
    """
    active = active_values(
        block, inputs, [o for o in outputs if isinstance(o, Value)], rules.is_constant
    )
    active.update(dict.fromkeys(inputs))
    restore: frozenset[Value] = frozenset()
    while True:
        b = builder()
        b.primal = {op.result: op for op in all_ops(block) if isinstance(op, Apply)}
        b.given = {**everything_in(block), **dict.fromkeys(free_values(block))}
        b.missing = missing_values(block, params)
        adjoints = Adjoints(b, lambda v: v in active)
        seeds: list[Value] = []
        if seed is not None and isinstance(outputs[0], Value):
            adjoints.add(outputs[0], seed)
        for output in outputs if seed is None else ():
            hint = spaces.value_hint(output, "_bar") or "out_bar"
            cotangent = Value(hint, spaces.tangent_type(atom_type(output)))
            seeds.append(cotangent)
            adjoints.add(output, cotangent)
        reverser = Reverser(Transposer(adjoints.active), functions)
        reverser.managers = managers or {}
        reverser.options = options
        reverser.restore = restore
        forward = reverser.sweep(block, adjoints)
        bars = [adjoints.take(v) or spaces.zeros(b, v) for v in inputs]
        reverse = prune_block(b.block(tuple(seeds), tuple(bars)))
        made = {*block.params, *(r for op in flat_ops(forward) for r in results(op))}
        moving = [v for v in free_values(reverse) if v in made and v in reverser.volatile]
        rest = [v for v in free_values(reverse) if v not in moving]
        reverse, moved, shapes = shapes_kept(reverse, moving)
        kept, copies = reverser.protect([*rest, *moved], reverse)
        wanted = {v for v in reverser.wanted if isinstance(v.type, Array)}
        if wanted <= restore:
            ops = with_copies(flat_ops(forward), block.params, copies + shapes)
            return Swept(ops, reverse, kept)
        restore |= chained(block, wanted)


def rename_values(block: Block, mapping: dict[Value, Any]) -> Block:
    if not mapping:
        return block

    def read(atom: Atom) -> Atom:
        return mapping.get(atom, atom) if isinstance(atom, Value) else atom

    ops = tuple(map_atoms(op, read, lambda v: v) for op in block.ops)
    return Block(block.params, ops, tuple(map(read, block.yields)))


class _LoopPlan:
    """The reverse of one loop."""

    def __init__(self, reverser: Reverser, op: For | While, adjoints: Adjoints) -> None:
        self.reverser = reverser
        self.op = op
        self.adjoints = adjoints
        self.count = len(op.streams) if isinstance(op, For) else 0
        self.targets = op.body.params[: self.count]
        self.params = op.body.params[self.count :]
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
                self.bars[k] = Value(hint, spaces.tangent_type(result.type))
        if not self.bars:
            # results that no iteration reads back: only the last iteration matters to them
            pass
        for k in range(len(op.results)):
            if k in self.bars:
                if self.params[k] in self.reverser.written:
                    child.owned.add(self.bars[k])
                child.add(op.body.yields[k], self.bars[k])
        for k, (result, end) in enumerate(zip(op.results, op.body.yields, strict=False)):
            known = self.adjoints.restored(result) is not None
            if known and result in self.reverser.restore and isinstance(end, Value):
                self.memory[k] = child.memory[end] = Value(result.hint, result.type)
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
            elif self.params[k] in self.reverser.written and isinstance(bar.type, Array):  # type: ignore[union-attr]
                bar = child.own(self.params[k])
            self.next[k] = bar
        self.restored = {k: self.reverser.memory(self.params[k], child) for k in self.memory}

    def _loops_back(self, k: int) -> bool:
        return self.adjoints.active(self.params[k])

    def _like(self, k: int) -> Value:
        """A value of the shape of a carried one: its final value if shapes are proven constant."""
        result = self.op.results[k]
        kind = result.type
        if isinstance(kind, Number):
            return result
        if isinstance(kind, Array) and kind.dims is not None and None not in kind.dims:
            return result
        return self.params[k]

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
        """Whether the streams are a counter and one sequence, as ``enumerate`` has them."""
        if not isinstance(self.op, For):
            return False
        streams = self.op.streams
        return len(streams) == 2 and isinstance(streams[0], Range) and isinstance(streams[1], Items)

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
        ends += [version for _, version in self.appended.values()]
        ends += self.restored.values()
        body = prune_block(child.builder.block((), tuple(ends)))
        needed = [v for v in free_values(body) if v in self.inside]
        if self.reverser.options.recompute:
            made, volatile = flat_ops(self.forward), self.reverser.volatile
            body, needed = recomputed(body, needed, made, self.inside, self.targets, volatile)
        body, needed, shapes = shapes_kept(body, needed)
        mapping, copies = self.reverser.protect(needed, body)
        copies += shapes
        ops = with_copies(flat_ops(self.forward), op.body.params, copies)
        keep = [mapping[v] for v in needed]
        streams, bound, forward = self._tape(body, needed, keep, ops, mapping)
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
        self,
        body: Block,
        needed: list[Value],
        keep: list[Value],
        ops: tuple[Op, ...],
        mapping: dict[Value, Value],
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
            else:
                streams.append(backward_range(b, stream))
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
            elif op.results[k] in self.reverser.written and isinstance(op.results[k].type, Array):
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
            inits.append(self.reverser.memory(op.results[k], adjoints))
            adjoints.memory.pop(op.results[k], None)
        count = len(streams)
        outcomes = tuple(Value(p.hint, p.type) for p in block.params[count:])
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


def _is(atom: Atom, value: int) -> bool:
    return isinstance(atom, Literal) and atom.value == value


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
    count = len(op.streams) if isinstance(op, For) else 0
    carried = len(op.body.params) - count
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
