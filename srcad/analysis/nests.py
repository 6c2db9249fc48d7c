"""Nests of loops: which elements of arrays their operations read and write, and in which order.

    for i in range(0, n, 1)              counters i, k with 0 <= i < n, i + 1 <= k < n
      for k in range(i + 1, n, 1)
        t = getitem(b, (k, 0))           reads b[k, 0]
      b.2 = setitem(b, (i, 0), …)        writes b[i, 0]: k is never less than i + 1,
                                         so each element is read before it is written

Elementwise operations on slices count through them, by a counter that has no loop.  The test of
order is that of Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter
3: for each loop around both accesses it is asked whether they meet if its counter differs first.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace

import numpy as np

from srcad.analysis.affine import Affine, Symbol
from srcad.analysis.integers import Bounds, Facts
from srcad.ir import Apply, Atom, For, Literal, Op, Range, Update, Value
from srcad.ir.core import is_int, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import INT, Array, Number, NumPyScalar, Opaque, TupleType
from srcad.ir.walk import results, values_read


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """What counts from ``low`` up to ``high``, without that, or downwards through the same."""

    value: Value
    low: Affine
    high: Affine
    downwards: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """Elements of an array: one of each axis, by sums of counters; some of them through slices."""

    base: Value
    axes: tuple[Affine, ...]
    free: tuple[tuple[int, Affine], ...] = ()
    """The axes that are left, in order: which of the base it is, and how many elements it has."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """Where an operation reads or writes an array that the nest writes."""

    op: Op
    chain: int
    counters: tuple[Counter, ...]
    """Of the loops around it, and of the slices."""
    loops: int
    """How many of them are of loops."""
    axes: tuple[Affine, ...] | None
    """None if it may be any element."""
    writes: bool
    adds: bool = False
    """Whether it adds to elements, and does nothing else."""


@dataclass(slots=True)
class Nest:
    """A loop with all that is in it."""

    loop: For
    facts: Facts
    around: dict[Op, tuple[Counter, ...]] = field(default_factory=dict)
    """The loops around each operation."""
    position: dict[Op, int] = field(default_factory=dict)
    """The order of the operations in the text."""
    chain: dict[Value, int] = field(default_factory=dict)
    """Versions of arrays that the nest carries: which carried value of the loop they are."""
    accesses: list[Access] = field(default_factory=list)
    inside: set[Value] = field(default_factory=set)
    """What is defined in the nest."""
    parent: dict[Op, For] = field(default_factory=dict)
    """The loop that an operation is in."""

    # ---- elements

    def region(self, atom: Atom) -> Region | None:
        """The elements of an array that a value is a view of; None if that is not known."""
        kind = atom_type(atom)
        if not isinstance(atom, Value) or not isinstance(kind, Array) or kind.dims is None:
            return None
        op = self.facts.made.get(atom)
        if op is not None and not op.keywords:
            if op.callee is operator.getitem:
                whole = self.region(op.args[0])
                return None if whole is None else self.part(whole, op.args[1])
            if op.callee is np.ndarray.T or (op.callee is np.transpose and len(op.args) == 1):
                whole = self.region(op.args[0])
                return None if whole is None else replace(whole, free=whole.free[::-1])
        sizes = (self.facts.size(atom, k) for k in range(len(kind.dims)))
        return Region(atom, (Affine(0),) * len(kind.dims), tuple(enumerate(sizes)))

    def part(self, whole: Region, index: Atom) -> Region | None:
        """The elements of a region under an index of integers and slices that lie within it."""
        axes = list(whole.axes)
        left = list(whole.free)
        free: list[tuple[int, Affine]] = []
        parts = parts_of(index, self.facts.made)
        if parts is None or len(parts) > len(left):
            return None
        for part in parts:
            axis, size = left.pop(0)
            if _is_whole(part):
                form = self.facts.form(part)
                if not self._within(form, size):
                    return None
                axes[axis] += form
                continue
            ends = self._ends(part)
            if ends is None:
                return None
            start = Affine(0) if ends[0] is None else self.facts.form(ends[0])
            stop = size if ends[1] is None else self.facts.form(ends[1])
            positive = self.facts.is_positive
            if not (positive(start) and positive(stop) and positive(size - stop)):
                return None
            axes[axis] += start
            free.append((axis, stop - start))
        return Region(whole.base, tuple(axes), (*free, *left))

    def _within(self, form: Affine, size: Affine) -> bool:
        return self.facts.is_positive(form) and self.facts.is_positive(size - form - 1)

    def _ends(self, part: Atom) -> tuple[Atom | None, Atom | None] | None:
        """The ends of a slice by single steps."""
        if isinstance(part, Literal) and isinstance(part.value, slice):
            ends = part.value.start, part.value.stop, part.value.step
            if ends[2] not in (None, 1) or not all(
                e is None or (type(e) is int and e >= 0) for e in ends[:2]
            ):
                return None
            start, stop = (None if e is None else Literal(e) for e in ends[:2])
            return start, stop
        op = self.facts.made.get(part) if isinstance(part, Value) else None
        if op is None or op.callee is not slice or len(op.args) != 3:
            return None
        start_, stop_, step = op.args
        if not isinstance(step, Literal) or step.value not in (None, 1):
            return None
        if not all(_is_none(a) or _is_whole(a) for a in (start_, stop_)):
            return None
        return None if _is_none(start_) else start_, None if _is_none(stop_) else stop_

    def along(self, region: Region, counters: list[Counter]) -> tuple[Affine, ...] | None:
        """The element of a region where counters go through what is left of its axes.

        Counters are made for the first region, and are the index of that; the lengths of the others
        have to be the same.
        """
        if not region.free:
            return region.axes
        axes = list(region.axes)
        fresh = not counters
        if not fresh and len(counters) != len(region.free):
            return None
        for place, (axis, size) in enumerate(region.free):
            start = axes[axis]
            if fresh:
                counter = Counter(Value("", INT), start, start + size)
                counters.append(counter)
                self.facts.bounds[counter.value] = Bounds([start], [start + size - 1])
            counter = counters[place]
            if counter.high - counter.low != size:
                return None
            axes[axis] = self.facts.form(counter.value) + (start - counter.low)
        return tuple(axes)

    # ---- order

    def comes_before(self, first: Access, second: Access) -> bool:
        """Whether an element that two accesses meet in is proven to be in the first one before."""
        common = 0
        for one, other in zip(
            first.counters[: first.loops], second.counters[: second.loops], strict=False
        ):
            if one is not other:
                break
            common += 1
        if not all(self._apart(first, second, level) for level in range(common)):
            return False
        if self.position[first.op] < self.position[second.op]:
            return True
        return self._apart(first, second, common)

    def _apart(self, first: Access, second: Access, level: int) -> bool:
        """Whether there is no element that the second has in an earlier turn of a loop.

        If there is no such loop: in the same turn.
        """
        if first.axes is None or second.axes is None:
            return False
        facts = self.facts
        names: dict[Symbol, Affine] = {}
        for place, counter in enumerate(second.counters):
            if place < level:
                continue
            turn = Value("", INT)
            low, high = counter.low.replaced(names), counter.high.replaced(names)
            bounds = Bounds([low], [high - 1])
            this = facts.form(counter.value)
            is_common = place == level and level < min(first.loops, second.loops)
            if is_common and first.counters[place] is counter:
                if counter.downwards:
                    bounds.low.insert(0, this + 1)
                else:
                    bounds.high.insert(0, this - 1)
            facts.bounds[turn] = bounds
            (symbol,) = this.symbols
            names[symbol] = facts.form(turn)
        for one, other in zip(first.axes, second.axes, strict=True):
            gap = one - other.replaced(names)
            if facts.is_positive(gap - 1) or facts.is_positive(gap.times(-1) - 1):
                return True
        return False


def nest_of(loop: For, facts: Facts) -> Nest | None:
    """The nest of a loop; None if there is something in it other than loops and computations."""
    nest = Nest(loop, facts)
    for slot, atom in enumerate(loop.carried):
        if isinstance(atom_type(atom), Array):
            nest.chain[loop.carried_params[slot]] = slot
            if isinstance(atom, Value):
                facts.same_shape[loop.carried_params[slot]] = atom
    return nest if _enter(nest, loop, ()) else None


def _enter(nest: Nest, loop: For, around: tuple[Counter, ...]) -> bool:
    if len(loop.streams) != 1 or loop.stops:
        return False
    (stream,) = loop.streams
    if not isinstance(stream, Range):
        return False
    upwards = is_int(stream.step, 1)
    if not upwards and not is_int(stream.step, -1):
        return False
    facts = nest.facts
    facts.enter_loop(loop)
    start, stop = facts.form(stream.start), facts.form(stream.stop)
    low, high = (start, stop) if upwards else (stop + 1, start + 1)
    counter = Counter(loop.targets[0], low, high, not upwards)
    inner = (*around, counter)
    nest.inside.update(loop.body.params)
    for op in loop.body.ops:
        nest.position[op] = len(nest.position)
        nest.around[op] = inner
        nest.parent[op] = loop
        nest.inside.update(results(op))
        match op:
            case Apply():
                facts.made[op.result] = op
                _note_reads(nest, op)
            case Update():
                if not _note_write(nest, op):
                    return False
            case For():
                if not _hands_on(nest, op) or not _enter(nest, op, inner):
                    return False
                for slot, (param, end) in enumerate(
                    zip(op.carried_params, op.body.yields, strict=True)
                ):
                    if nest.chain.get(param) is None:
                        continue
                    if not isinstance(end, Value) or nest.chain.get(end) != nest.chain[param]:
                        return False
                    nest.chain[op.results[slot]] = nest.chain[param]
            case _:
                return False
    return all(
        nest.chain.get(param) is None
        or (isinstance(end, Value) and nest.chain.get(end) == nest.chain[param])
        for param, end in zip(loop.carried_params, loop.body.yields, strict=True)
    )


def _hands_on(nest: Nest, loop: For) -> bool:
    """Whether the arrays that a loop in the nest carries are carried by the nest."""
    for param, atom in zip(loop.carried_params, loop.carried, strict=True):
        if isinstance(param.type, Array):
            if not isinstance(atom, Value) or atom not in nest.chain:
                return False
            nest.chain[param] = nest.chain[atom]
            nest.facts.same_shape[param] = atom
    return True


def _note_reads(nest: Nest, op: Apply) -> None:
    if op.callee in SHAPE or op.callee is np.ndarray.shape:
        return
    if isinstance(op.result.type, Array) and _is_view(op, nest.facts.made):
        return
    for value in values_read(op):
        if isinstance(value.type, Array):
            region = nest.region(value)
            if region is not None and op.callee is operator.getitem:
                region = nest.part(region, op.args[1])
            base = _base(value, nest.facts.made)
            if base in nest.chain:
                _note(nest, op, base, region, writes=False)
        elif not isinstance(value.type, (Number, NumPyScalar, TupleType, Opaque)):
            for slot in set(nest.chain.values()):  # whatever that may hold
                nest.accesses.append(_anywhere(nest, op, slot))


def _anywhere(nest: Nest, op: Op, slot: int, *, writes: bool = False) -> Access:
    around = nest.around[op]
    return Access(op, slot, around, len(around), None, writes)


def _note(
    nest: Nest, op: Op, base: Value, region: Region | None, *, writes: bool, adds: bool = False
) -> None:
    around, slot = nest.around[op], nest.chain[base]
    if region is None or region.base is not base:
        nest.accesses.append(_anywhere(nest, op, slot, writes=writes))
        return
    counters: list[Counter] = []
    axes = nest.along(region, counters)
    nest.accesses.append(
        Access(op, slot, (*around, *counters), len(around), axes, writes, adds=adds)
    )


def _note_write(nest: Nest, op: Update) -> bool:
    if op.target not in nest.chain or not isinstance(op.version.type, Array):
        return False
    nest.facts.same_shape[op.version] = op.target
    nest.chain[op.version] = nest.chain[op.target]
    whole = nest.region(op.target)
    is_known = op.callee in (operator.setitem, operator.iadd, operator.isub) and not op.path
    region = nest.part(whole, op.args[0]) if whole is not None and is_known else None
    adds = is_known and op.callee is not operator.setitem
    _note(nest, op, op.target, region, writes=True, adds=adds)
    for atom in op.args[1:]:
        if isinstance(atom, Value) and isinstance(atom.type, Array):
            base = _base(atom, nest.facts.made)
            if base in nest.chain:
                _note(nest, op, base, nest.region(atom), writes=False)
    return True


def _is_view(op: Apply, made: dict[Value, Apply]) -> bool:
    """Whether a call makes a view, which is read where it is used."""
    if op.callee is operator.getitem:
        return parts_of(op.args[1], made) is not None
    return op.callee in (np.ndarray.T, np.transpose)


def _base(value: Value, made: dict[Value, Apply]) -> Value:
    """The array that a value is a view of, as far as that is seen."""
    op = made.get(value)
    while op is not None and _is_view(op, made) and isinstance(op.args[0], Value):
        value = op.args[0]
        op = made.get(value)
    return value


def parts_of(index: Atom, made: dict[Value, Apply]) -> tuple[Atom, ...] | None:
    """The integers and slices of an index; None if there is anything else."""
    parts: tuple[Atom, ...] = (index,)
    op = made.get(index) if isinstance(index, Value) else None
    if isinstance(index, Literal) and isinstance(index.value, tuple):
        parts = tuple(map(Literal, index.value))
    elif op is not None and op.callee is make_tuple:
        parts = op.args
    return parts if all(_is_whole(p) or _is_slice(p) for p in parts) else None


def _is_slice(atom: Atom) -> bool:
    return atom_type(atom) == Opaque("slice")


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None


def _is_whole(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind == "int"
