"""Loops that only add up are run in the order of memory, and add to one place in a number.

    x.5 = for i in range(n - 1, -1, -1) with x    |  x.5 = for i in range(0, n, 1) with x
      x.4 = for j in range(m - 1, -1, -1) …       |    x.4 = for k in range(0, p, 1) …
        x.3 = for k in range(p - 1, -1, -1) …     |      b = getitem(v, (i, k))
          t = getitem(x.1, (i, k))                |      s = for j in range(0, m, 1) with s = 0.0
          x.2 = setitem(x.1, (i, k), t + …)       |        s.2 = add(s, …)
                                                  |      x.2 = setitem(x.1, (i, k), … + s)

The iterations of a loop nest that does nothing but add to elements and numbers may come in any
order: a sum is the same, up to rounding.  So the counters that go through an array by single steps
are put innermost, and all of them count upwards: downwards, Numba cannot tell that an index is not
negative, and the loop is not vectorised (Allen and Kennedy, "Optimizing Compilers for Modern
Architectures", 2001, section 5.2).

What does not change in the innermost loop is read before it, and what is added to one place is
added there after it: LLVM does not know that arrays do not share their memory.  A loop that does
not run at all must not read what it would not have read; so there is a test of that, if it is not
proven that it runs.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import dataclass, replace

import numpy as np

from srcad.analysis.integers import Facts
from srcad.backends.numba.chains import Addition, Chains, is_whole, makes_memory, parts_of
from srcad.backends.numba.distribution import distributed
from srcad.backends.numba.writing import ONE, Writer, is_int, tuple_of
from srcad.codegen.memory import Memory, has_memory
from srcad.codegen.survey import Survey
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Literal,
    Op,
    Range,
    Stream,
    Update,
    Value,
)
from srcad.ir.core import make_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, FLOAT, Array, TupleType
from srcad.ir.walk import all_ops, map_atoms, map_blocks, operands, renaming, results, values_read

_INTEGERS = (
    operator.add, operator.sub, operator.mul, operator.neg, operator.lt, operator.gt, operator.le,
    operator.ge, operator.eq, operator.ne, builtins.max, builtins.min, select, make_tuple,
)  # fmt: skip
"""What may be computed of integers where it would not have been computed: it cannot fail."""
_OF_SHAPES = (len, np.shape, np.ndarray.shape)
_FAR, _GATHERED, _NEAR = 8, 3, 1
"""What an access costs whose place moves by rows with the innermost counter, anyhow, by one."""
_FEW = 8
"""A loop of no more iterations stays where it is."""


def in_order_of_memory(function: Function) -> Function:
    """The function with loops that add up in the best order."""
    if not any(isinstance(op, For) for op in all_ops(function.body)):
        return function
    return replace(function, body=_Nests(function).block(function.body))


@dataclass(frozen=True, slots=True, eq=False)
class _Nest:
    """Loops, each in the one before, which does nothing else but compute."""

    loops: list[For]
    ops: list[Op]
    """All operations in the loops, without the loops."""
    additions: list[Addition]
    """To arrays that are otherwise neither read nor written."""
    commutes: bool
    """Whether the iterations may come in any order."""

    @property
    def other_ops(self) -> list[Op]:
        """The operations that are no part of an addition."""
        own = {o for a in self.additions for o in a.ops}
        return [o for o in self.ops if o not in own]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an operation goes: before the nest at depth 0, in its k-th loop at depth k."""

    depth: int
    is_guarded: bool = False
    """Whether it may only be run if the innermost loop runs."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """An order of the loops, from the outermost to the innermost."""

    order: tuple[int, ...]
    places: dict[Atom, _Place]


class _Nests:
    def __init__(self, function: Function) -> None:
        self.memory = Memory(Survey(function))
        self.origins: dict[Value, Value] = {}
        """For values in loops that were taken apart: what they were before."""
        self.facts = Facts()
        self.facts.note(function.body)

    def block(self, block: Block) -> Block:
        """The block with its loops in order."""
        writer = Writer()
        for op in block.ops:
            if not isinstance(op, For) or not self._loop(op, writer):
                writer.ops.append(map_blocks(op, self.block))
        return replace(block, ops=tuple(writer.ops))

    def _loop(self, op: For, writer: Writer) -> bool:
        """Write a loop in a better way, if there is one."""
        nest = self._nest(op)
        if nest is not None:
            return self._write(nest, writer)
        found = distributed(op, self.facts.made, self._shared)
        if found is None:
            return False
        parts, origins = found
        for new, old in origins.items():
            self.origins.setdefault(new, self.origins.get(old, old))
        for part in parts:
            self.facts.note(Block((), (part,), ()))
        if not any(map(self._gains, parts)):
            return False
        writer.ops += self.block(Block((), tuple(parts), ())).ops
        return True

    def _gains(self, loop: For) -> bool:
        """Whether the loops of a nest change places."""
        nest = self._nest(loop)
        plan = self._best(nest) if nest is not None and nest.commutes else None
        return plan is not None and plan.order != tuple(range(len(plan.order)))

    # ---- what is there

    def _nest(self, op: For) -> _Nest | None:
        """A nest down to a loop without loops; None if there are branches or more than one."""
        loops: list[For] = []
        ops: list[Op] = []
        loop: For | None = op
        while loop is not None:
            self.facts.enter_loop(loop)
            if len(loop.streams) != 1 or not isinstance(loop.streams[0], Range) or loop.stops:
                return None
            if not all(isinstance(o, Apply | Update | Accumulate | For) for o in loop.body.ops):
                return None
            if loops and not _is_handed_on(loops[-1], loop):
                return None
            loops.append(loop)
            ops += [o for o in loop.body.ops if not isinstance(o, For)]
            inner = [o for o in loop.body.ops if isinstance(o, For)]
            if len(inner) > 1 or (inner and any(map(makes_memory, loop.body.ops))):
                return None
            loop = inner[0] if inner else None
        return self._with_additions(loops, ops)

    def _with_additions(self, loops: list[For], ops: list[Op]) -> _Nest:
        last = loops[-1]
        chains = Chains(last.body, self.facts)
        found: list[Addition] = []
        own: set[Op] = set()
        written: list[Value] = []
        """Arrays of which an iteration has an element to itself."""
        commutes = True
        for slot, (param, end) in enumerate(
            zip(last.carried_params, last.body.yields, strict=True)
        ):
            if not isinstance(param.type, Array):
                commutes = commutes and chains.is_sum(param, end)
            elif (additions := chains.additions(slot, param, end)) is not None:
                found += additions
                own.update(o for a in additions for o in a.ops)
            elif elements := chains.one_element(param, end, [lp.targets[0] for lp in loops]):
                written.append(param)
                own.update(elements)
            else:
                commutes = False
        touched = [v for o in ops if o not in own for v in _arrays(o)]
        apart = [a for a in found if not self._shared(a.array, [*touched, *written])]
        commutes = commutes and len(apart) == len(found)
        for k, array in enumerate(written):
            others = [*touched, *written[:k], *written[k + 1 :]]
            commutes = commutes and not self._shared(array, others)
        return _Nest(loops, ops, apart, commutes)

    def _shared(self, array: Value, others: list[Value]) -> bool:
        return any(self._reach(array) & self._reach(other) for other in others)

    def _reach(self, value: Value) -> int:
        return self.memory.reach(self.origins.get(value, value))

    # ---- what is made of it

    def _write(self, nest: _Nest, writer: Writer) -> bool:
        """Write the nest in a better way, if there is one."""
        plan = self._best(nest) if nest.commutes else None
        if not nest.commutes and len(nest.loops) == 1:
            plan = self._plan(nest, (0,))
        if plan is None:
            return False
        depth = len(nest.loops)
        counter = nest.loops[plan.order[-1]].targets[0]
        after = [a for a in nest.additions if not self._depends(a.index, counter)]
        gone = {o for a in after for o in a.ops}
        levels: list[list[Op]] = [[] for _ in range(depth + 1)]
        guarded: list[Op] = []
        for op in nest.ops:
            if op not in gone:
                place = _place(op, plan, depth)
                (guarded if place.is_guarded else levels[place.depth]).append(op)
        streams = [nest.loops[k].streams[0] for k in plan.order]
        as_it_is = plan.order == tuple(range(depth)) and not (
            nest.commutes and any(_is_downwards(s) for s in streams)
        )
        if as_it_is and not after and not (self._writes(nest) and any(map(_is_load, guarded))):
            return False
        _Writing(nest, plan, levels, guarded, after, self.facts).loops(0, writer)
        return True

    def _writes(self, nest: _Nest) -> bool:
        """Whether there are writes, which LLVM thinks may change whatever is read."""
        return any(isinstance(o, Update | Accumulate) for o in nest.ops)

    def _best(self, nest: _Nest) -> _Plan | None:
        """The order that goes through memory by the smallest steps in the innermost loop."""
        usual = tuple(range(len(nest.loops)))
        best, plan = self._cost(nest, usual[-1]), self._plan(nest, usual)
        for k in reversed(usual[:-1]):
            order = (*usual[:k], *usual[k + 1 :], k)
            cost = self._cost(nest, k)
            if cost < best and not _is_short(nest.loops[k].streams[0]):
                other = self._plan(nest, order)
                if other is not None:
                    best, plan = cost, other
        return plan

    def _cost(self, nest: _Nest, k: int) -> int:
        """What the accesses to memory cost if a loop is the innermost."""
        counter = nest.loops[k].targets[0]
        cost = sum(2 * self._step(a.index, counter) for a in nest.additions)
        loads = (o for o in nest.other_ops if isinstance(o, Apply) and _is_load(o))
        return cost + sum(self._step(o.args[1], counter) for o in loads)

    def _step(self, index: Atom, counter: Value) -> int:
        parts = parts_of(index, self.facts.made)
        if any(self._depends(p, counter) for p in parts[:-1]):
            return _FAR
        if not parts or not self._depends(parts[-1], counter):
            return 0
        factors = dict(self.facts.form(parts[-1]).terms)
        own = [f for symbol, f in factors.items() if self._depends(symbol.value, counter)]
        return _NEAR if own in ([1], [-1]) else _GATHERED

    def _depends(self, atom: Atom, on: Value) -> bool:
        if atom is on:
            return True
        op = self.facts.made.get(atom) if isinstance(atom, Value) else None
        return op is not None and any(self._depends(a, on) for a in operands(op))

    def _plan(self, nest: _Nest, order: tuple[int, ...]) -> _Plan | None:
        """Where operations go if the loops are in an order; None if they cannot be.

        What may fail, or reads memory, goes no further out than just before the innermost loop.
        """
        depth = len(order)
        inside = _Place(depth)
        places: dict[Atom, _Place] = {}
        for place, k in enumerate(order):
            places[nest.loops[k].targets[0]] = _Place(place + 1)
        for loop in nest.loops:
            places |= dict.fromkeys(loop.carried_params, inside)
        carried = [v for v in nest.loops[-1].carried_params if isinstance(v.type, Array)]
        for op in nest.ops:
            if not isinstance(op, Apply):
                places |= dict.fromkeys(results(op), inside)
                continue
            read = [places[a] for a in operands(op) if a in places]
            place = max((p.depth for p in read), default=0)
            guarded = any(p.is_guarded for p in read) or not _is_harmless(op)
            if guarded:
                place = max(place, depth - 1)
            stays = makes_memory(op) or (_is_load(op) and self._shared_with(op, carried))
            if place == depth or stays:
                places[op.result] = inside
            else:
                places[op.result] = _Place(place, guarded)
        for place, k in enumerate(order):
            stream = nest.loops[k].streams[0]
            assert isinstance(stream, Range)
            for bound in (stream.start, stream.stop, stream.step):
                at = places.get(bound, _Place(0))
                if at.depth > place or at.is_guarded:
                    return None
        return _Plan(order, places)

    def _shared_with(self, op: Op, carried: list[Value]) -> bool:
        return any(self._shared(v, carried) for v in _arrays(op))


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes a nest by a plan."""

    nest: _Nest
    plan: _Plan
    levels: list[list[Op]]
    guarded: list[Op]
    after: list[Addition]
    """The additions that are made after the innermost loop."""
    facts: Facts

    def loops(self, depth: int, out: Writer) -> None:
        """Write the loops from a depth on."""
        loop, counting = self.nest.loops[depth], self.nest.loops[self.plan.order[depth]]
        out.ops += self.levels[depth]
        stream = counting.streams[0]
        assert isinstance(stream, Range)
        if self.nest.commutes and _is_downwards(stream):
            stream = self._upwards(stream, out)
        if depth == len(self.nest.loops) - 1:
            self._innermost(loop, counting, stream, out)
            return
        inner = Writer()
        self.loops(depth + 1, inner)
        params = (counting.targets[0], *loop.carried_params)
        body = Block(params, tuple(inner.ops), loop.body.yields)
        out.ops.append(
            replace(
                counting, streams=(stream,), carried=loop.carried, body=body, results=loop.results
            )
        )

    def _upwards(self, stream: Range, out: Writer) -> Range:
        return Range(self._next(stream.stop, out), self._next(stream.start, out), ONE)

    def _next(self, atom: Atom, out: Writer) -> Atom:
        op = self.facts.made.get(atom) if isinstance(atom, Value) else None
        if op is not None and op.callee is operator.sub and is_int(op.args[1], 1):
            return op.args[0]
        return out.add(atom, ONE)

    def _innermost(self, loop: For, counting: For, stream: Range, out: Writer) -> None:
        if self._runs(stream):
            self._loop(loop, counting, stream, out, loop.results)
            return
        inner = Writer()
        ends = tuple(Value(r.hint, r.type) for r in loop.results)
        self._loop(loop, counting, stream, inner, ends)
        low, high = stream.start, stream.stop
        if _is_downwards(stream):
            low, high = high, low
        test = out.apply(operator.lt, low, high, kind=BOOL)
        then, orelse = Block((), tuple(inner.ops), ends), Block((), (), loop.carried)
        out.ops.append(If(test, then, orelse, loop.results, counting.loc))

    def _runs(self, stream: Range) -> bool:
        """Whether the innermost loop is proven to run, or nothing depends on that."""
        if not self.guarded and not self.after:
            return True
        low, high = self.facts.form(stream.start), self.facts.form(stream.stop)
        if _is_downwards(stream):
            low, high = high, low
        return self.facts.is_positive(high - low - 1)

    def _loop(
        self, loop: For, counting: For, stream: Range, out: Writer, ends: tuple[Value, ...]
    ) -> None:
        out.ops += self.guarded
        names: dict[Value, Atom] = {}
        for addition in self.after:
            names[addition.version] = names.get(addition.array, addition.array)
        read = renaming(names)
        body = Writer()
        body.ops += [map_atoms(o, read, lambda v: v) for o in self.levels[-1]]
        sums = tuple(Value("", FLOAT) for _ in self.after)
        terms = [
            body.apply(operator.add, s, a.term, kind=FLOAT, loc=a.loc)
            for s, a in zip(sums, self.after, strict=True)
        ]
        params = (counting.targets[0], *loop.carried_params, *sums)
        yields = (*map(read, loop.body.yields), *terms)
        block = Block(params, tuple(body.ops), yields)
        last = {a.slot: a for a in self.after}
        now = [Value(v.hint, v.type) if k in last else v for k, v in enumerate(ends)]
        totals = tuple(Value("", FLOAT) for _ in self.after)
        carried = (*loop.carried, *(Literal(0.0) for _ in self.after))
        looped = replace(
            counting, streams=(stream,), carried=carried, body=block, results=(*now, *totals)
        )
        out.ops.append(looped)
        for a, total in zip(self.after, totals, strict=True):
            array = now[a.slot]
            parts = list(parts_of(a.index, self.facts.made))
            item = out.apply(operator.getitem, array, tuple_of(parts, out), kind=FLOAT, loc=a.loc)
            new = out.apply(a.sign, item, total, kind=FLOAT, loc=a.loc)
            version = ends[a.slot] if last[a.slot] is a else Value(array.hint, array.type)
            args = (tuple_of(parts, out), new)
            out.ops.append(Update(operator.setitem, array, args, version, None, a.loc))
            now[a.slot] = version


def _is_handed_on(outer: For, inner: For) -> bool:
    """Whether a loop hands all that it carries to a loop in it, and does nothing else with it."""
    params, yields = outer.carried_params, outer.body.yields
    if len(params) != len(inner.carried) or len(set(inner.carried)) != len(params):
        return False
    results_of = dict(zip(inner.carried, inner.results, strict=True))
    if any(results_of.get(p) is not y for p, y in zip(params, yields, strict=True)):
        return False
    own = {*params, *inner.results}
    return not any(v in own for o in outer.body.ops if o is not inner for v in values_read(o))


def _place(op: Op, plan: _Plan, depth: int) -> _Place:
    return plan.places[op.result] if isinstance(op, Apply) else _Place(depth)


def _is_load(op: Op) -> bool:
    """Whether an operation reads an array."""
    return (
        isinstance(op, Apply)
        and op.callee is operator.getitem
        and not isinstance(atom_type(op.args[0]), TupleType)
    )


def _is_harmless(op: Apply) -> bool:
    """Whether it may be computed where the primal would not do so: of integers, without failing."""
    if op.callee is operator.getitem:
        return isinstance(atom_type(op.args[0]), TupleType)
    if op.callee in _OF_SHAPES:
        return True
    return op.callee in _INTEGERS and all(map(is_whole, operands(op)))


def _arrays(op: Op) -> list[Value]:
    """What an operation reads or writes that has memory."""
    return [v for v in values_read(op) if has_memory(v.type)]


def _is_downwards(stream: Stream) -> bool:
    return isinstance(stream, Range) and is_int(stream.step, -1)


def _is_short(stream: Stream) -> bool:
    """Whether a loop is known to have few iterations only."""
    if not isinstance(stream, Range):
        return False
    bounds = stream.start, stream.stop, stream.step
    numbers = [b.value for b in bounds if isinstance(b, Literal)]
    return len(numbers) == 3 and len(range(*numbers)) <= _FEW
