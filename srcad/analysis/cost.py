"""What running a block costs, estimated from its operations, to choose between two derivatives.

The unit is a nanosecond of CPython 3.11; what matters is how one operation compares with another: a
product of floats with one of arrays, an item of a list with one of an array.  A loop costs its body
as often as it runs, as far as types and literals tell; a branch its dearer side.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping

import numpy as np

from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    For,
    If,
    Items,
    Literal,
    Op,
    Range,
    Stream,
    Update,
    Value,
    While,
)
from srcad.ir.core import literal_values, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Dim, ListType, Number, NumPyScalar, TupleType, Type, dims_of
from srcad.ir.walk import all_ops, blocks, operands, results

TRIPS = 10.0
"""How often a loop runs whose length is not known."""
SIDE = 10.0
"""The size of an axis that is not known."""

_FLOAT, _MATH, _CALL = 15.0, 35.0, 60.0
_ITEM_OF_LIST, _ITEM_OF_ARRAY = 12.0, 60.0
_ADD_TO_LIST, _ADD_TO_ARRAY = 30.0, 140.0
_ARRAY, _ENTRY = 500.0, 0.6
_PRODUCT = 0.3
_ITERATION, _APPEND = 25.0, 20.0


class Costs:
    """Costs at the sizes of an example: ``sizes`` has them by symbol."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes: dict[object, int] = dict(sizes.items())
        self.made: dict[Value, Op] = {}
        self.trips: dict[Value, float] = {}
        """How long the lists are that loops fill."""

    def of(self, block: Block) -> float:
        """The cost of running a block once."""
        for op in all_ops(block):
            for result in results(op):
                self.made[result] = op
        return self._block(block)

    def entries(self, kinds: list[Type]) -> float | None:
        """How many numbers there are in all; None where that is not known."""
        total = 0.0
        for kind in kinds:
            dims = dims_of(kind)
            known = None if dims is None else [self._known(d) for d in dims]
            if known is None or None in known:
                return None
            total += math.prod(k for k in known if k is not None)
        return total

    def _known(self, size: object) -> float | None:
        is_known = isinstance(size, int) or (isinstance(size, Dim) and size.base in self.sizes)
        return self._side(size) if is_known else None

    def _block(self, block: Block) -> float:
        return sum(map(self._op, block.ops))

    def _op(self, op: Op) -> float:
        match op:
            case Apply():
                return self._apply(op)
            case Accumulate(target=target, index=index):
                return self._write(atom_type(target), op.version.type, index)
            case Update(callee=callee, target=target):
                if callee in (list.append, list.pop):
                    return _APPEND
                return self._write(target.type, target.type, op.args[0] if op.args else None)
            case If(then=then, orelse=orelse):
                return _FLOAT + max(self._block(then), self._block(orelse))
            case For(streams=streams, body=body):
                trips = min(map(self._length, streams), default=TRIPS)
                for result in op.results:
                    if isinstance(result.type, ListType):
                        self.trips[result] = trips
                return _ITERATION + trips * (_ITERATION + self._block(body))
            case While(test=test, body=body):
                for result in op.results:
                    if isinstance(result.type, ListType):
                        self.trips[result] = TRIPS
                return TRIPS * (_ITERATION + self._block(test) + self._block(body))
            case Call():
                return 100 * _CALL
        return _CALL + sum(self._block(b) for b in blocks(op))

    def _apply(self, op: Apply) -> float:
        if op.callee is make_tuple:
            return _FLOAT
        kinds = [atom_type(a) for a in operands(op)]
        if op.callee is operator.getitem:
            source = kinds[0]
            if isinstance(source, (ListType, TupleType)):
                return _ITEM_OF_LIST
            if isinstance(source, Array):
                return _ITEM_OF_ARRAY if not isinstance(op.result.type, Array) else 150.0
        size = max([self._size(k) for k in (*kinds, op.result.type)], default=0.0)
        if size == 0.0:
            if isinstance(op.result.type, Number) and op.callee in _PLAIN:
                return _FLOAT
            return _MATH if getattr(op.callee, "__module__", "") == math.__name__ else _CALL
        if op.callee in (operator.matmul, np.matmul, np.dot):
            return _ARRAY + _PRODUCT * self._work(kinds)
        return _ARRAY + _ENTRY * size * (8.0 if _is_dear(op.callee) else 1.0)

    def _work(self, kinds: list[Type]) -> float:
        """The multiplications of a matrix product."""
        shapes = [[self._side(d) for d in dims_of(k) or (None,)] for k in kinds[:2]]
        return math.prod(shapes[0]) * math.prod(shapes[-1][1:])

    def _write(self, target: Type, result: Type, index: Atom | None) -> float:
        if index is None:
            size = self._size(result)
            return _ARRAY + _ENTRY * size if size else _FLOAT
        if isinstance(target, (ListType, TupleType)):
            return _ADD_TO_LIST
        return _ADD_TO_ARRAY if _is_scalar_index(index) else 3 * _ADD_TO_ARRAY

    # ---- sizes

    def _size(self, kind: Type) -> float:
        """The number of entries of an array; 0 for numbers and what is no array."""
        if not isinstance(kind, Array) or kind.dims == ():
            return 0.0
        return math.prod(map(self._side, kind.dims)) if kind.dims is not None else SIDE * SIDE

    def _side(self, size: object) -> float:
        match size:
            case int():
                return float(size)
            case Dim(base=base, drop=drop) if base in self.sizes:
                return float(max(self.sizes[base] - drop, 0))
        return SIDE

    def _length(self, stream: Stream) -> float:
        match stream:
            case Range():
                known = literal_values((stream.start, stream.stop, stream.step))
                if known is not None:
                    return float(len(range(*known)))
                ends = self._number(stream.start), self._number(stream.stop)
                step = self._number(stream.step)
                if None in ends or not step:
                    return TRIPS
                return max(math.ceil((ends[1] - ends[0]) / step), 0)  # type: ignore[operator]
            case Items(sequence=Value() as sequence):
                return self._items(sequence)
        return TRIPS

    def _items(self, sequence: Value) -> float:
        if sequence in self.trips:
            return self.trips[sequence]
        dims = dims_of(sequence.type)
        if dims:
            return self._side(dims[0])
        if isinstance(sequence.type, TupleType):
            return float(len(sequence.type.items))
        op = self.made.get(sequence)
        if isinstance(op, Apply) and op.callee is np.ndarray.tolist:
            return self._items(op.args[0]) if isinstance(op.args[0], Value) else TRIPS
        return TRIPS

    def _number(self, atom: Atom) -> float | None:
        """An integer, as far as it is known."""
        if isinstance(atom, Literal):
            return float(atom.value) if isinstance(atom.value, int) else None
        kind = atom.type
        if isinstance(kind, Number) and kind.size is not None and kind.size.base in self.sizes:
            return self._side(kind.size)
        op = self.made.get(atom)
        if not isinstance(op, Apply):
            return None
        if op.callee is len and isinstance(op.args[0], Value):
            return self._items(op.args[0])
        if op.callee in (operator.add, operator.sub, operator.mul):
            parts = [self._number(a) for a in op.args]
            if None not in parts:
                return float(op.callee(*parts))
        return None


_PLAIN = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    }
)


def _is_dear(callee: object) -> bool:
    return isinstance(callee, np.ufunc) and callee.__name__ in (
        "exp", "log", "sin", "cos", "tan", "tanh", "log1p", "expm1", "arctan", "power", "sinh",
        "cosh", "arcsin", "arccos", "logaddexp",
    )  # fmt: skip


def _is_scalar_index(index: Atom) -> bool:
    kind = atom_type(index)
    if isinstance(kind, TupleType):
        return all(isinstance(k, (Number, NumPyScalar)) for k in kind.items)
    return isinstance(kind, (Number, NumPyScalar))
