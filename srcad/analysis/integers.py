"""What is known of integers: sums of multiples of sizes, arguments and counters, and their bounds.

for i in range(0, n - 1, 1)         0 <= i and i <= n - 2 in the loop
  t = add(i, 1)                     t is i + 1
  y = getitem(x, t)                 n - 1 - (i + 1) >= 0: the index is within x
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from srcad.analysis.affine import Affine, Symbol, only
from srcad.ir import Apply, Atom, Block, For, Literal, Range, Update, Value, While
from srcad.ir.core import is_int
from srcad.ir.infer import atom_type
from srcad.ir.linear import Linear, of_size, term
from srcad.ir.types import INT, Array, Dim, Number
from srcad.ir.walk import all_ops

_SMALLEST = 2
"""A size with a name is none of 0 and 1: those are known as numbers."""


@dataclass(slots=True)
class Bounds:
    """Sums that a counter is never below, and never above."""

    low: list[Affine] = field(default_factory=list)
    high: list[Affine] = field(default_factory=list)


class Facts:
    """What is known at a place in a function."""

    def __init__(self) -> None:
        self.made: dict[Value, Apply] = {}
        self.bounds: dict[Value, Bounds] = {}
        self.known: list[Affine] = []
        """Sums that are not negative here."""
        self.assumed: list[Affine] = []
        """The same, everywhere."""
        self.same_shape: dict[Value, Value] = {}
        """For a version of an array: the first one."""
        self.integers: set[Value] = set()
        """Those that have been defined."""
        self._symbols: dict[tuple[Value | Dim | Literal, int | None], Symbol] = {}
        self._dims: dict[Symbol, Dim] = {}

    def note(self, block: Block) -> None:
        """Note what a block makes, and which arrays are versions of others."""
        for op in all_ops(block):
            if isinstance(op, Apply):
                self.made[op.result] = op
            elif isinstance(op, Update) and isinstance(op.target.type, Array):
                self.same_shape[op.version] = op.target

    # ---- symbols

    def symbol(self, of: Value | Literal, axis: int | None = None) -> Affine:
        """An integer, or the size of an axis of an array, as itself."""
        value = of if isinstance(of, Value) else Value(str(of), INT)
        return only(self._symbol((of, axis), value, axis))

    def _of_dim(self, size: Dim) -> Affine:
        """A size as a sum of sizes with names, or as the integer of the function that gave it."""
        if isinstance(size.base, Value) and not size.drop and size.base in self.integers:
            return self.form(size.base)
        exact = of_size(size)
        return self.dim(size) if exact is None or exact == term(size) else self._sum(exact)

    def _sum(self, count: Linear) -> Affine:
        found = Affine(count.number)
        for base, times in count.terms:
            match base:
                case Value():
                    part = self.form(base)
                case Dim():
                    part = self._of_dim(base)
                case _:
                    part = self.dim(Dim(base))
            found += part.times(times)
        return found

    def dim(self, size: Dim) -> Affine:
        """A size with a name."""
        symbol = self._symbol((size, None), Value(str(size), INT), None)
        self._dims[symbol] = size
        return only(symbol)

    def name_of(self, part: Symbol) -> str | None:
        """The name of a size that has one."""
        dim = self._dims.get(part)
        return dim.base if dim is not None and isinstance(dim.base, str) and not dim.drop else None

    def is_value(self, part: Symbol) -> bool:
        """Whether a symbol is a value of the program, or the size of an array in it."""
        return part not in self._dims

    def _symbol(
        self, key: tuple[Value | Dim | Literal, int | None], value: Value, axis: int | None
    ) -> Symbol:
        if key not in self._symbols:
            self._symbols[key] = Symbol(len(self._symbols), value, axis)
        return self._symbols[key]

    # ---- sums

    def form(self, atom: Atom) -> Affine:
        """An integer as a sum."""
        if isinstance(atom, Literal):
            whole = isinstance(atom.value, int)
            return Affine(int(atom.value)) if whole else self.symbol(atom)
        if isinstance(atom.type, Number) and (size := atom.type.size) is not None:
            # what else an integer has the size of, it may be less than
            named = isinstance(size.base, str) and size.drop <= _SMALLEST
            if named or (isinstance(size.base, Value) and not size.drop):
                return self._of_dim(size)
        op = self.made.get(atom)
        if op is not None and not op.keywords:
            found = self._made_form(op)
            if found is not None:
                return found
        return self.symbol(atom)

    def _made_form(self, op: Apply) -> Affine | None:
        args = op.args
        if op.callee is operator.add:
            return self.form(args[0]) + self.form(args[1])
        if op.callee is operator.sub:
            return self.form(args[0]) - self.form(args[1])
        if op.callee is operator.neg:
            return self.form(args[0]).times(-1)
        if op.callee is operator.pos:
            return self.form(args[0])
        if op.callee is operator.mul:
            for this, other in (args, args[::-1]):
                if isinstance(this, Literal) and type(this.value) is int:
                    return self.form(other).times(this.value)
        if op.callee is len and isinstance(args[0], Value) and isinstance(args[0].type, Array):
            return self.size(args[0], 0)
        if op.callee is operator.getitem and isinstance(args[0], Value):
            shape = self.made.get(args[0])
            whole = shape is not None and shape.callee in (np.shape, np.ndarray.shape)
            if whole and shape is not None and isinstance(args[1], Literal):
                array = shape.args[0]
                if isinstance(array, Value) and isinstance(array.type, Array):
                    return self.size(array, args[1].value)
        return None

    def size(self, array: Value, axis: int) -> Affine:
        """The size of an axis of an array."""
        assert isinstance(array.type, Array)
        dims = array.type.dims
        if dims is not None and -len(dims) <= axis < len(dims):
            axis %= len(dims)
            size = dims[axis]
            if isinstance(size, int):
                return Affine(size)
            if isinstance(size, Dim):
                return self._of_dim(size)
        root = self.root(array)
        op = self.made.get(root)
        if op is not None and op.callee in (np.zeros, np.ones, np.empty, np.full) and axis == 0:
            first = op.args[0]
            if isinstance(atom_type(first), Number):
                return self.form(first)
        return self.symbol(root, axis)

    def root(self, array: Value) -> Value:
        """The first version of an array."""
        while array in self.same_shape:
            array = self.same_shape[array]
        return array

    # ---- loops

    def enter_loop(self, op: For | While) -> None:
        """Note what holds in the body of a loop."""
        if not isinstance(op, For):
            return
        for stream, target in zip(op.streams, op.body.params, strict=False):
            if not isinstance(stream, Range):
                continue
            start, stop = self.form(stream.start), self.form(stream.stop)
            if isinstance(stream.step, Literal) and stream.step.value > 0:
                self.bounds[target] = Bounds([start], [stop - 1, *self._running(stop, -1)])
            elif isinstance(stream.step, Literal):
                highs = [start]
                if is_int(stream.stop, -1):
                    highs += self._running(start, 0)
                self.bounds[target] = Bounds([stop + 1], highs)

    def _running(self, end: Affine, moved: int) -> Iterator[Affine]:
        """What ``max(a, 0)`` in the end of a loop that runs at all is: ``a``."""
        for part, factor in end.terms:
            op = self.made.get(part.value) if part.axis is None else None
            positive = op is not None and op.callee is builtins.max and is_int(op.args[1], 0)
            if positive and factor == 1 and len(end.terms) == 1 and op is not None:
                yield end.put(part, self.form(op.args[0])) + moved

    # ---- proofs

    def is_positive(self, form: Affine, depth: int = 8) -> bool:
        """Whether a sum is proven not to be negative."""
        least = form.const
        for part, factor in form.terms:
            smallest = self._smallest(part)
            if factor < 0 or smallest is None:
                break
            least += factor * smallest
        else:
            if least >= 0:
                return True
        if depth == 0:
            return False
        for part, factor in reversed(form.terms):
            for bound in self.bounds_of(part, factor):
                if self.is_positive(form.put(part, bound), depth - 1):
                    return True
        return any(
            self.is_positive(form - other, min(depth - 1, 1))
            for other in (*self.known, *self.assumed)
            if _share(form, other)
        )

    def bounds_of(self, part: Symbol, factor: int) -> Iterator[Affine]:
        """Sums that may stand for a symbol without making the whole greater."""
        dim = self._dims.get(part)
        if dim is not None:
            if factor > 0 and (dim.drop or isinstance(dim.base, (Linear, Value))):
                whole = dim.base if isinstance(dim.base, Linear) else term(dim.base)
                yield self._sum(whole) - dim.drop
            return
        if part.axis is not None:
            return
        found = self.bounds.get(part.value)
        if found is not None:
            yield from found.low if factor > 0 else found.high
        op = self.made.get(part.value)
        if op is None or op.keywords or len(op.args) != 2:
            return
        if (op.callee is builtins.max and factor > 0) or (op.callee is builtins.min and factor < 0):
            yield self.form(op.args[0])
            yield self.form(op.args[1])

    def _smallest(self, part: Symbol) -> int | None:
        dim = self._dims.get(part)
        if dim is not None:
            return max(_SMALLEST - dim.drop, 0) if isinstance(dim.base, str) else 0
        return None if part.axis is None else 0


def _share(one: Affine, other: Affine) -> bool:
    parts = set(one.symbols)
    return any(s in parts for s in other.symbols)
