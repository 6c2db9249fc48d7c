"""The sizes of all arrays, as sums of what is known at run time.

Types leave sizes open: ``mul(k, t)`` of sizes m and n - 2 has size m if m is not 1, and then m and
n - 2 are the same, or NumPy raises.  Here they are assumed to be the same, which a check at run
time will have to say; the rest of the analysis knows it.  Sizes flow through tuples, lists and
loops, so that what a reverse sweep reads back of a shape is known to be that shape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, assert_never

import numpy as np

from srcad import runtime
from srcad.analysis.affine import ONE, Affine, Sizes, Symbol
from srcad.backends import ROOM
from srcad.backends.loops import views
from srcad.backends.loops.indexing import indexed, is_int, picture
from srcad.backends.loops.kinds import (
    JOINS,
    LIKE,
    OF_SOME,
    WRITES,
    joint,
    reduced_axes,
    reduction,
    scan,
    scanned_axis,
)
from srcad.backends.loops.known import Check, Each, Empty, Known, Several, join, shape_of
from srcad.backends.loops.views import Along, Picture
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
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
    View,
    While,
    With,
)
from srcad.ir.core import make_list, make_tuple
from srcad.ir.elementwise import is_elementwise
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Dim, ListType, Number, NumPyScalar, TupleType, Type

_PRODUCTS = (np.matmul, operator.matmul, np.dot)
_COMPARISONS: dict[Callable[..., Any], Callable[[int, int], bool]] = {
    f: f for f in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
}


class Unsettled(Exception):
    """A size is not known, and may not be assumed."""


class Shapes:
    """The sizes of the arrays of a function."""

    def __init__(self, function: Function, *, assume: bool, checked: bool = False) -> None:
        self.assume = assume
        self.checked = checked
        self.entry: dict[Check, None] = {}
        """What is assumed of the arguments."""
        self.checks: dict[Op, dict[Check, None]] = {}
        """What is assumed before an operation."""
        self.unsettled: set[Op] = set()
        """Operations of which sizes are not known."""
        self._pictures: dict[Op, Picture] = {}
        self._known: dict[Value, Known] = {}
        self._symbols: dict[tuple[Value, int | None], Symbol] = {}
        self._named: dict[str, Affine] = {}
        self._equal: dict[Symbol, Affine] = {}
        self._params = set(function.params)
        self._definitions: dict[Value, Apply] = {}
        self._scope: set[Value] = set()
        self._ranges: dict[Value, tuple[Affine | None, Affine | None]] = {}
        """The least and the greatest value of loop counters."""
        self._op: Op | None = None
        for param in function.params:
            self._define(param, None)
        for param in function.params:
            if isinstance(param.type, Array) and param.type.dims is not None:
                for axis, dim in enumerate(param.type.dims):
                    if isinstance(dim, Dim) and isinstance(dim.base, str) and not dim.drop:
                        self._named.setdefault(dim.base, self._symbol(param, axis))
        self._block(function.body)

    # ---- answers

    def settled(self, size: Affine) -> Affine:
        """The same size in the least number of symbols."""
        return size.replaced(self._equal)

    def of(self, value: Atom) -> Sizes | None:
        """The sizes of an array, none for a number; None if its rank is not known."""
        if isinstance(value, Literal):
            return () if isinstance(value.value, (bool, int, float, complex, np.generic)) else None
        if isinstance(value.type, (Number, NumPyScalar)):
            return ()
        if not isinstance(value.type, Array):
            return None
        found = self._sizes(value)
        return None if found is None else tuple(map(self.settled, found))

    def of_arguments(self, value: Value) -> Sizes | None:
        """The sizes of an array if they are sums of sizes of arguments."""
        sizes = self.of(value)
        if sizes is None or not all(map(self._is_of_arguments, sizes)):
            return None
        return sizes

    def _is_of_arguments(self, size: Affine) -> bool:
        return all(s.value in self._params and s.axis is not None for s in size.symbols)

    def integer(self, atom: Atom) -> Affine | None:
        """An integer as a sum."""
        if isinstance(atom, Literal):
            value = atom.value
            known = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            return Affine(int(value)) if known else None
        found = self._known.get(atom)
        if isinstance(found, Affine):
            return self.settled(found)
        if not is_int(atom):
            return None
        size = atom.type.size if isinstance(atom.type, Number) else None
        named = self._of_dim(size) if isinstance(size, Dim) and size.base is not atom else None
        return self._symbol(atom, None) if named is None else named

    def picture_of(self, op: Op) -> Picture | None:
        """What an operation shows, or writes, of its first argument; None if it is no view."""
        found = self._pictures.get(op)
        if found is None:
            return None
        indices = [Along(a.axis, a.step, self.settled(a.offset)) for a in found.indices]
        return Picture(tuple(map(self.settled, found.sizes)), tuple(indices))

    def definition(self, atom: Atom) -> Apply | None:
        """The call that makes a value."""
        return self._definitions.get(atom) if isinstance(atom, Value) else None

    def truth(self, test: Atom) -> bool | None:
        """Whether a test of sizes holds; None if that is not known."""
        made = self.definition(test)
        if made is None or len(made.args) != 2 or made.keywords:
            return None
        if made.callee is operator.or_:
            sides = [self.truth(a) for a in made.args]
            return True if True in sides else None if None in sides else False
        compare = _COMPARISONS.get(made.callee)
        x, y = (self.integer(a) if is_int(a) else None for a in made.args)
        if compare is None or x is None or y is None or not (x - y).is_known:
            return None
        return compare((x - y).const, 0)

    # ---- symbols

    def _symbol(self, value: Value, axis: int | None) -> Affine:
        key = (value, axis)
        if key not in self._symbols:
            self._symbols[key] = Symbol(len(self._symbols), value, axis)
        return Affine(0, ((self._symbols[key], 1),))

    def _of_dim(self, dim: Dim) -> Affine | None:
        if isinstance(dim.base, str):
            found = self._named.get(dim.base)
        elif isinstance(dim.base, Value) and dim.base in self._scope and not dim.drop:
            found = self.integer(dim.base)
        else:
            found = None
        if found is None:
            return None
        size = found - dim.drop
        if dim.drop and not self.require(Check(size, False, Affine(0))):
            return None
        return size

    def _sizes(self, value: Value) -> Sizes | None:
        kind = value.type
        assert isinstance(kind, Array)
        flow = self._known.get(value)
        if kind.dims == (ROOM,):
            return None
        if kind.dims is None:
            return flow if isinstance(flow, tuple) else None
        made = []
        for axis, dim in enumerate(kind.dims):
            size: Affine | None = None
            if isinstance(dim, int):
                size = Affine(dim)
            elif isinstance(flow, tuple) and len(flow) == len(kind.dims):
                size = flow[axis]
            elif isinstance(dim, Dim):
                size = self._of_dim(dim)
            made.append(self._symbol(value, axis) if size is None else size)
        return tuple(made)

    # ---- assumptions

    def require(self, check: Check) -> bool:
        """Assume something, unless it is proven; whether that is allowed."""
        left, right = self.settled(check.left), self.settled(check.right)
        gap = left - right
        if gap == Affine(0) or (not check.same and self.is_positive(gap)):
            return True
        if gap.is_known or not self.assume:
            return False
        made = Check(gap - gap.const, check.same, Affine(-gap.const))
        if self._is_of_arguments(gap):
            self.entry[made] = None
            if check.same:
                self._equate(gap)
        else:
            if any(s.value not in self._scope for s in gap.symbols) or self._op is None:
                return False
            self.checks.setdefault(self._op, {})[made] = None
        return True

    def is_positive(self, size: Affine) -> bool:
        """Whether a sum is proven not to be negative."""
        return self._least(size).is_positive

    def _least(self, size: Affine) -> Affine:
        """No more than a sum: with the first and last of their ranges for loop counters."""
        for symbol, count in reversed(size.terms):
            ends = self._ranges.get(symbol.value) if symbol.axis is None else None
            end = None if ends is None else ends[0 if count > 0 else 1]
            if end is not None:
                size = size.put(symbol, end)
        return self.settled(size)

    def _equate(self, gap: Affine) -> None:
        for symbol, count in reversed(gap.terms):
            if abs(count) == 1:
                rest = gap - Affine(0, ((symbol, count),))
                self._equal[symbol] = rest.times(-count)
                return

    def _same(self, left: Affine, right: Affine) -> Affine:
        left, right = self.settled(left), self.settled(right)
        if not self.require(Check(left, True, right)):
            raise Unsettled
        return self.settled(right if right.is_known else left)

    def _broadcast(self, shapes: Iterable[Sizes]) -> Sizes:
        shapes = list(shapes)
        rank = max(map(len, shapes))
        sizes = [ONE] * rank
        for shape in shapes:
            for k, size in enumerate(shape, start=rank - len(shape)):
                settled = self.settled(size)
                if settled == ONE:
                    continue
                sizes[k] = settled if sizes[k] == ONE else self._same(sizes[k], settled)
        return tuple(sizes)

    def _fits(self, sizes: Sizes, into: Sizes) -> bool:
        """Whether sizes may be broadcast into others, at the cost of an assumption."""
        if len(sizes) > len(into):
            return False
        try:
            for size, wanted in zip(sizes[::-1], into[::-1], strict=False):
                if self.settled(size) != ONE:
                    self._same(size, wanted)
        except Unsettled:
            return False
        return True

    # ---- the walk

    def _define(self, value: Value, known: Known) -> None:
        self._known[value] = known
        self._scope.add(value)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._visit(op)

    def _inside(self, block: Block, given: Iterable[Known]) -> list[Known]:
        """What is known of the yields of a block."""
        before = set(self._scope)
        for param, known in zip(block.params, given, strict=True):
            self._define(param, known)
        self._block(block)
        handed = [self.known(a) for a in block.yields]
        self._scope = before
        return [self._visible(k) for k in handed]

    def _visible(self, known: Known) -> Known:
        """Without what is out of scope."""
        match known:
            case Affine():
                settled = self.settled(known)
                return settled if all(s.value in self._scope for s in settled.symbols) else None
            case tuple():
                made = [self._visible(k) for k in known]
                return None if None in made else tuple(k for k in made if isinstance(k, Affine))
            case Several(items=items):
                return Several(tuple(map(self._visible, items)))
            case Each(item=item):
                return Each(self._visible(item))
        return known

    def known(self, atom: Atom) -> Known:
        """What is known of an atom."""
        if isinstance(atom, Literal):
            if isinstance(atom.value, tuple):
                return Several(tuple(self.known(Literal(v)) for v in atom.value))
            return self.integer(atom)
        if isinstance(atom.type, Array):
            return self._sizes(atom)
        return self.integer(atom) if is_int(atom) else self._known.get(atom)

    def _visit(self, op: Op) -> None:
        self.checks.pop(op, None)
        self.unsettled.discard(op)
        self._op = op
        match op:
            case Apply():
                self._definitions[op.result] = op
                known: Known = None
                try:
                    known = self._call(op)
                except Unsettled:
                    self.unsettled.add(op)
                    self.checks.pop(op, None)
                self._define(op.result, known)
            case Effect():
                if op.result is not None:
                    self._define(op.result, None)
            case Update():
                self._update(op)
            case Accumulate():
                self._define(op.version, self._accumulated(op))
            case If():
                sides = [self._inside(b, ()) for b in (op.then, op.orelse)]
                for result, *both in zip(op.results, *sides, strict=True):
                    self._define(result, join(both[0], both[1], self._is_same))
            case For():
                given = [self._item(s) for s in op.streams]
                for stream, target in zip(op.streams, op.body.params, strict=False):
                    if isinstance(stream, Range):
                        low, _ = self._ranges[target] = self._range(stream)
                        (counter,) = self._symbol(target, None).symbols
                        counter.is_positive = low is not None and self.is_positive(low)
                self._loop(op, given, [op.body])
            case While():
                self._loop(op, [], [op.test, op.body])
            case With():
                self._inside(op.body, [None] * len(op.body.params))
                for result in op.results:
                    self._define(result, None)
            case Try():
                for block in (op.body, *(h.body for h in op.handlers)):
                    self._inside(block, [None] * len(block.params))
                if op.final is not None:
                    self._inside(op.final, ())
                for result in op.results:
                    self._define(result, None)
            case Call():
                for result in op.results:
                    self._define(result, None)
            case _:
                assert_never(op)
        self._op = op

    def _item(self, stream: Range | Items) -> Known:
        if isinstance(stream, Range):
            return None
        known = self.known(stream.sequence)
        if isinstance(known, Each):
            return None if isinstance(known.item, Empty) else known.item
        if isinstance(known, tuple) and isinstance(stream.sequence, Value):
            return known[1:] if len(known) > 1 else None
        return None

    def _range(self, stream: Range) -> tuple[Affine | None, Affine | None]:
        """The least and the greatest number of a range that has one."""
        step = stream.step.value if isinstance(stream.step, Literal) else 0
        start, stop = self.integer(stream.start), self.integer(stream.stop)
        if step > 0:
            return start, None if stop is None else stop - 1
        if step < 0:
            return None if stop is None else stop + 1, start
        return None, None

    def _loop(self, op: For | While, given: list[Known], inner: list[Block]) -> None:
        carried = [self.known(a) for a in op.carried]
        saved = dict(self.entry), dict(self._equal)
        for attempt in range(4):
            self.entry, self._equal = dict(saved[0]), dict(saved[1])
            handed: list[Known] = []
            for block in inner:
                handed = self._inside(block, [*given, *carried])
            joined = [join(c, h, self._is_same) for c, h in zip(carried, handed, strict=False)]
            if joined == carried:
                break
            carried = joined if attempt < 2 else [None] * len(carried)
        for result, known in zip(op.results, carried, strict=True):
            self._define(result, self._visible(known))

    def _is_same(self, one: Affine, other: Affine) -> bool:
        return self.settled(one) == self.settled(other)

    def _update(self, op: Update) -> None:
        known = self._known.get(op.target)
        if isinstance(known, Each):
            if op.callee is list.append:
                known = Each(join(known.item, self.known(op.args[0]), self._is_same))
            elif op.callee is not list.pop:
                known = None
        if isinstance(op.target.type, Array):
            known = self.of(op.target)
            if known is not None and op.callee in WRITES and len(op.args) == 2:
                self._written(op, op.path, op.args[0], op.args[1], known)
        self._define(op.version, known)
        if op.result is not None:
            item = known.item if isinstance(known, Each) else None
            self._define(op.result, None if isinstance(item, Empty) else item)

    def _written(
        self, op: Op, path: tuple[View, ...], index: Atom, term: Atom, base: Sizes
    ) -> None:
        """Note where an operation writes, if its term goes there."""
        shown: Picture | None = views.whole(base)
        for view in path:
            if shown is not None:
                step = picture(self, view.callee, view.args, shown.sizes)
                shown = None if step is None or view.keywords else shown.then(step)
        if shown is not None:
            step = indexed(self, index, shown.sizes, from_start=bool(path))
            shown = None if step is None else shown.then(step)
        sizes = self.of(term)
        if shown is not None and sizes is not None and self._fits(sizes, shown.sizes):
            self._pictures[op] = shown
        else:
            self._pictures.pop(op, None)
            self.checks.pop(op, None)

    def _accumulated(self, op: Accumulate) -> Known:
        if not isinstance(op.version.type, Array):
            return None
        target = self.of(op.target)
        if target is None:
            return None
        if op.index is not None:
            self._written(op, (), op.index, op.term, target)
            return target
        term = self.of(op.term)
        try:
            return None if term is None else self._broadcast([target, term])
        except Unsettled:
            self.unsettled.add(op)
            return None

    # ---- calls

    def _call(self, op: Apply) -> Known:
        callee, args = op.callee, op.args
        if callee is make_tuple:
            return Several(tuple(map(self.known, args)))
        if callee is make_list:
            if not args:
                return Each(Empty()) if _is_list(op.result.type) else None
            return Several(tuple(map(self.known, args)))
        if callee is np.shape or callee is np.ndarray.shape:
            sizes = self.of(args[0])
            return None if sizes is None else Several(sizes)
        if callee is len:
            sizes = self.of(args[0])
            return sizes[0] if sizes else None
        if reduction(callee) is not None:
            return self._reduced(op)
        if isinstance(op.result.type, (Number, NumPyScalar)) and callee in _PRODUCTS:
            self._product(args)  # vectors are of one size
            return None
        if isinstance(op.result.type, Number):
            return self._integer_call(op)
        if not isinstance(op.result.type, Array) or (
            callee is operator.getitem and not isinstance(atom_type(args[0]), Array)
        ):
            return self._other_item(op)
        if is_elementwise(callee):
            shapes = [self.of(a) for a in args]
            if any(s is None for s in shapes) or op.keywords:
                return None
            return self._broadcast(s for s in shapes if s is not None)
        if callee is runtime.unbroadcast:
            wanted = self.known(args[1])
            shape = shape_of(wanted) if isinstance(wanted, Several) else None
            return shape if shape is None else self._unbroadcast(self.of(args[0]), shape)
        if callee in (np.zeros, np.ones, np.empty) and args:
            return shape_of(self.known(args[0]))
        if callee in _PRODUCTS:
            return self._product(args)
        if _among(callee, JOINS):
            return self._joined(op)
        sizes = self.of(args[0]) if args else None
        if sizes is None:
            return None
        if callee is np.reshape and not op.keywords:
            return self._reshaped(sizes, self.known(args[1]))
        if _among(callee, LIKE):
            return sizes
        if scan(callee) is not None:
            return self._scanned(op, sizes)
        named = tuple(a for k, a in op.keywords if k == "axis" and callee is np.squeeze)
        known = len(named) == len(op.keywords)
        shown = picture(self, callee, (*args[1:], *named), sizes) if known else None
        if shown is None:
            self._pictures.pop(op, None)
            return None
        self._pictures[op] = shown
        return shown.sizes

    def _unbroadcast(self, sizes: Sizes | None, wanted: Sizes) -> Sizes:
        """What is summed over is what has size 1 in the end; the rest is as it was."""
        for size, kept in zip((sizes or ())[::-1], wanted[::-1], strict=False):
            if self.settled(kept) != ONE != self.settled(size):
                self._same(size, kept)
        return wanted

    def _reduced(self, op: Apply) -> Known:
        sizes = self.of(op.args[0])
        found = None if sizes is None else reduced_axes(op, len(sizes))
        if sizes is None or found is None:
            return None
        axes, keep = found
        if reduction(op.callee) in OF_SOME:
            for k in sorted(axes):
                if not self.require(Check(sizes[k] - 1, False, Affine(0))):
                    raise Unsettled
        return tuple(ONE if k in axes else s for k, s in enumerate(sizes) if keep or k not in axes)

    def _reshaped(self, sizes: Sizes, wanted: Known) -> Known:
        shape = shape_of(wanted)
        if shape is None or Affine(-1) not in shape:
            return shape
        others = [s for s in shape if s != Affine(-1)]
        if len(sizes) == 1 and len(others) == len(shape) - 1 and all(s == ONE for s in others):
            return tuple(sizes[0] if s == Affine(-1) else s for s in shape)
        return None

    def _scanned(self, op: Apply, sizes: Sizes) -> Known:
        axis = scanned_axis(op, len(sizes))
        if axis is None:
            return None
        if not self.require(Check(sizes[axis] - 1, False, Affine(0))):
            raise Unsettled
        return sizes

    def _joined(self, op: Apply) -> Known:
        made = self.definition(op.args[0])
        if made is None or made.callee not in (make_tuple, make_list) or not made.args:
            return None
        shapes = [self.of(a) for a in made.args]
        first = shapes[0]
        found = None if first is None else joint(op, len(first))
        if first is None or found is None:
            return None
        axis, is_new = found
        along = Affine(0)
        for shape in shapes:
            if shape is None or len(shape) != len(first):
                return None
            for k, (size, wanted) in enumerate(zip(shape, first, strict=True)):
                if is_new or k != axis:
                    self._same(size, wanted)
            along += ONE if is_new else shape[axis]
        return (*first[:axis], along, *first[axis + (not is_new) :])

    def _other_item(self, op: Apply) -> Known:
        """An item of a tuple or a list, or a tuple that is made of others."""
        if op.callee is operator.add:
            parts = [self.known(a) for a in op.args]
            if all(isinstance(p, Several) for p in parts):
                return Several(tuple(k for p in parts if isinstance(p, Several) for k in p.items))
        if op.callee is not operator.getitem:
            return None
        known, index = self.known(op.args[0]), op.args[1]
        if isinstance(known, Several) and isinstance(index, Literal):
            place = index.value
            if isinstance(place, slice):
                return Several(known.items[place])
            if isinstance(place, int) and -len(known.items) <= place < len(known.items):
                return known.items[place]
        if isinstance(known, Each) and isinstance(index, Value):
            return None if isinstance(known.item, Empty) else known.item
        return None

    def _integer_call(self, op: Apply) -> Known:
        parts = [self.integer(a) if is_int(a) else None for a in op.args]
        match op.callee, parts:
            case operator.add, [Affine() as x, Affine() as y]:
                return x + y
            case operator.sub, [Affine() as x, Affine() as y]:
                return x - y
            case operator.mul, [Affine() as x, Affine() as y] if x.is_known:
                return y.times(x.const)
            case operator.mul, [Affine() as x, Affine() as y] if y.is_known:
                return x.times(y.const)
            case operator.neg, [Affine() as x]:
                return x.times(-1)
        if op.callee is operator.getitem:
            found = self._other_item(op)
            if found is not None:
                return found
        size = op.result.type.size if isinstance(op.result.type, Number) else None
        return self._of_dim(size) if isinstance(size, Dim) and size.base is not op.result else None

    def _product(self, args: tuple[Atom, ...]) -> Known:
        left, right = self.of(args[0]), self.of(args[1])
        if not left or not right or len(left) > 2 or len(right) > 2:
            return None
        self._same(left[-1], right[0])
        return (*left[:-1], *right[1:])


def _is_list(kind: Type) -> bool:
    return isinstance(kind, ListType) or (isinstance(kind, TupleType) and kind.cls is list)


def _among(callee: Callable[..., Any], known: Iterable[object]) -> bool:
    return any(callee is k for k in known)
