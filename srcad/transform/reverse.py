"""Reverse mode: the adjoint of a block, written after it.

The adjoint of a loop is a loop, of an ``if`` an ``if``.  Statements are taken by descending
generation (see ``schedule``).  What the reverse sweep reads of the forward sweep is found by
looking at it (``kept``): values of a branch become results of the forward ``if``, values of a loop
body go on a tape (``reverse_loops``).  The tape is an ordinary list of the IR, so the result can be
differentiated again.  Arrays that are written over are put back on the way (``restoring``).

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapters 3, 4 and 6; Hascoët and Pascual, The
Tapenade Automatic Differentiation Tool (2013), for the treatment of control flow.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from srcad import rules
from srcad.analysis.activity import active_values
from srcad.analysis.existence import missing_values
from srcad.analysis.saving import is_array_arithmetic, is_dear, recomputed
from srcad.analysis.steepness import is_steep
from srcad.analysis.versions import chained
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
    Literal,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.build import Builder
from srcad.ir.core import Handler
from srcad.ir.infer import atom_type
from srcad.ir.simplify.masks import is_masked, is_zero
from srcad.ir.types import (
    INT,
    Array,
    DictType,
    ListType,
    Number,
    Opaque,
    Optional,
    Type,
    is_differentiable,
)
from srcad.ir.walk import all_ops, free_values, rename_values, results
from srcad.options import DEFAULTS, Options
from srcad.passes.dce import prune_block
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints, refuse_hidden
from srcad.transform.kept import (
    Forward,
    defined_in,
    everything_in,
    flat_ops,
    shapes_kept,
    with_copies,
)
from srcad.transform.pullback import Transposer, missing_rule, pull_accumulate
from srcad.transform.restoring import Restoring
from srcad.transform.reverse_loops import LoopPlan
from srcad.transform.schedule import reverse_order
from srcad.transform.updates import pull_update
from srcad.transform.writes import in_order, pull_write


@dataclass(eq=False)
class Reverser:
    """Writes the reverse sweep of blocks; ``functions`` makes the pairs for calls."""

    transposer: Transposer
    functions: Any = None
    restoring: Restoring = field(default_factory=Restoring)
    options: Options = DEFAULTS
    managers: dict[Value, Effect] = field(default_factory=dict)
    """The effects that made the context managers of ``with`` blocks."""
    depth: int = 0

    def sweep(self, block: Block, adjoints: Adjoints) -> Forward:
        """Write the reverse of a block into the builder of ``adjoints``; what the block becomes."""
        if not self.depth:
            self.restoring.begin(block)
        volatile = self.restoring.volatile
        calls = [op for op in block.ops if isinstance(op, Apply) and op.result not in volatile]
        for call in calls if self.options.reuse else ():
            if is_dear(call) or (not self.depth and is_array_arithmetic(call)):
                adjoints.builder.know(call)
        self.depth += 1
        forward: Forward = [[op] for op in block.ops]
        for k, op in reverse_order(block):
            self._pull(forward, k, op, adjoints)
        self.depth -= 1
        return forward

    def _pull(self, forward: Forward, k: int, op: Op, adjoints: Adjoints) -> None:
        before = self.restoring.before(op, adjoints)
        restores = bool(self.restoring.versions)
        mark, states = len(adjoints.builder.ops), dict(adjoints.states) if restores else {}
        self._pull_op(forward, k, op, adjoints)
        forward[k] = [*before, *forward[k]]
        if restores:
            self.restoring.settle(mark, states, adjoints)

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
                    result = op.result
                    if result is None or not adjoints.active(result):
                        return
                    if adjoints.get(result) is not None:
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
        return not self.restoring.touches(op)

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
            and not isinstance(item := _stored(kind, op.args[0]), Number)
            and adjoints.get(op.version) is not None
        ):
            # the zero left behind has the shape of the item that was overwritten, if there was one
            missing = spaces.may_be_missing(adjoints.builder, op.target)
            whole = isinstance(item, Optional) or not missing
            old = Value("", item if whole else Optional(item))
            read = Apply(operator.getitem, (op.target, op.args[0]), (), old, op.loc)
            pull_update(op, adjoints, old)
            return [read, op]
        if (
            op.callee in (list.pop, dict.pop)
            and op.result is None
            and isinstance(kind, (ListType, DictType))
            and not isinstance(kind.item, Number)
        ):  # nobody has asked for it, but the zero put back has its shape
            popped = Value("", kind.item)
            pull_update(op, adjoints, popped)
            return [replace(op, result=popped)]
        pull_update(op, adjoints, None)
        return [op]

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
            results=(*op.results, *extra),
        )

    def _branch(self, block: Block, results_: tuple[Value, ...], adjoints: Adjoints) -> _Region:
        child = Adjoints(Builder(adjoints.builder), adjoints.active, adjoints)
        self.restoring.remember(results_, block, adjoints, child)
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
    ) -> tuple[list[Block], _Extra, tuple[Value, ...]]:
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
        inner = [(region.adjoints, region.inside) for region in regions]
        memories = self.restoring.join(inner, adjoints, outcomes, yields)
        blocks, extra = [], _Extra()
        for k, (region, column) in enumerate(zip(regions, yields, strict=True)):
            block = prune_block(region.adjoints.builder.block((), tuple(column)))
            needed = [v for v in free_values(block) if v in region.inside]
            ops = flat_ops(region.forward)
            if self.options.recompute:
                block, needed = recomputed(
                    block, needed, ops, region.inside, (), self.restoring.volatile, indices=True
                )
            block, needed, shapes = shapes_kept(block, needed, self.restoring.missing)
            mapping = region.keep(needed, block)
            region.copies += shapes
            exports = region.handed_over(results_)
            for kept in mapping.values():
                if kept not in exports:
                    exports[kept] = extra.hand_over(kept, k)
            blocks.append(rename_values(block, {v: exports[kept] for v, kept in mapping.items()}))
        for export, made in extra.items():
            if len(made) < len(regions):
                self.restoring.missing[export] = None  # the other regions have no such value
        for k, (value, outcome) in enumerate(zip(changed, outcomes, strict=False)):
            adjoints.set(value, outcome)
            ends = zip(regions, yields, strict=True)
            outcome.masked = any(
                is_zero(region.adjoints.builder, column[k])
                or is_masked(region.adjoints.builder, column[k])
                for region, column in ends
            )
        if memories:
            for result in results_:
                adjoints.memory.pop(result, None)
        adjoints.memory.update(memories)
        return blocks, extra, tuple(outcomes)

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
            results=(*op.results, *extra),
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
                results=(*op.results, *extra),
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
        return replace(op, body=made[0], handlers=handlers, results=(*op.results, path, *extra))

    # ---- loops

    def _pull_loop(self, op: For | While, adjoints: Adjoints) -> list[Op]:
        if self._idle(op, adjoints):
            return [op]
        plan = LoopPlan(self, op, adjoints)
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
        mapping, self.copies = self.reverser.restoring.protect(needed, block)
        return mapping

    def handed_over(self, results_: tuple[Value, ...]) -> dict[Value, Value]:
        """What the block hands over already, and the result outside that is the same."""
        return {
            end: result
            for result, end in zip(results_, self.block.yields, strict=False)
            if isinstance(end, Value) and end.type == result.type
        }

    def forward_block(self, extra: _Extra, which: int, first: tuple[Atom, ...] = ()) -> Block:
        """The forward block, handing over what the reverse reads."""
        ops = with_copies(flat_ops(self.forward), self.block.params, self.copies)
        more = tuple(ends.get(which, UNDEFINED) for ends in extra.values())
        return Block((), ops, (*self.block.yields, *first, *more))


class _Extra(dict[Value, dict[int, Value]]):
    """What branches hand over to the reverse sweep: a result, and what each branch calls it.

    What stands in different branches and is of one type shares a result.
    """

    def hand_over(self, kept: Value, which: int) -> Value:
        """The result by which a value of one of the branches is known outside."""
        free = [v for v, ends in self.items() if v.type == kept.type and which not in ends]
        found = next((v for v in free if v.hint == kept.hint), free[0] if free else None)
        if found is None:
            found = Value(kept.hint, kept.type)
        elif found.hint != kept.hint or not kept.hint:
            found.hint = "kept"
        self.setdefault(found, {})[which] = kept
        return found


def _stored(kind: ListType, index: Atom) -> Type:
    """The type of what stands at an index of a list: an item, or a part of it."""
    match atom_type(index):
        case Opaque(name="slice"):
            return kind
    return kind.item


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
        b.steep = bool(params) or is_steep(block)  # a function does not know what is done around it
        adjoints = Adjoints(b, lambda v: v in active)
        adjoints.in_order = in_order(block)
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
        reverser.restoring.versions = restore
        reverser.restoring.missing = b.missing
        forward = reverser.sweep(block, adjoints)
        bars = [adjoints.take(v) or spaces.zeros(b, v) for v in inputs]
        reverse = prune_block(b.block(tuple(seeds), tuple(bars)))
        made = {*block.params, *(r for op in flat_ops(forward) for r in results(op))}
        moving = [v for v in free_values(reverse) if v in made and v in reverser.restoring.volatile]
        rest = [v for v in free_values(reverse) if v not in moving]
        reverse, moved, shapes = shapes_kept(reverse, moving, b.missing)
        kept, copies = reverser.restoring.protect([*rest, *moved], reverse)
        wanted = {v for v in reverser.restoring.wanted if isinstance(v.type, Array)}
        if wanted <= restore:
            ops = with_copies(flat_ops(forward), block.params, copies + shapes)
            return Swept(ops, reverse, kept)
        restore |= chained(block, wanted)
