"""Lists that get an array in each round of a loop are arrays with a row for each.

    s = make_list()                          |  s = empty((n, m))
    s.3 = for i in range(0, n, 1) with s.1   |  s.3 = for i in range(0, n, 1) with s.1
        t = mul(x, i)                        |      t = mul(x, i)
        s.2 = update append(s.1, t)          |      s.2 = update setitem(s.1, i, t)
    y = getitem(s.3, k)                      |    y = getitem(s.3, k)

The arrays must be of one size, known before the loop, and written by nobody afterwards.  What is
made to be put into a row is made there (``lower``), and memory for all rows is asked for once.
``array(s.3)`` is a copy of it, or is the array if nobody else asks for that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Set
from dataclasses import dataclass, replace

import numpy as np

from srcad import runtime
from srcad.analysis.affine import Affine, Sizes
from srcad.backends.classes import variables
from srcad.backends.loops.elements import DTYPES
from srcad.backends.loops.sizes import Shapes
from srcad.codegen.memory import Memory
from srcad.codegen.survey import Survey
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Literal,
    Op,
    Range,
    Update,
    Value,
)
from srcad.ir.core import make_list, make_tuple, raise_error
from srcad.ir.types import BOOL, INT, Array, TupleType
from srcad.ir.walk import all_ops, blocks, map_atoms, map_blocks

Measurer = Callable[[Affine, list[Op]], Atom]


@dataclass(frozen=True, slots=True)
class _Rows:
    """A list that becomes an array."""

    made: Apply
    loop: For
    append: Update
    place: int
    """Which of the carried values it is."""
    sizes: Sizes

    @property
    def kept(self) -> Value:
        """The array that a round keeps."""
        kept = self.append.args[0]
        assert isinstance(kept, Value)
        return kept

    @property
    def dtype(self) -> str:
        kind = self.kept.type
        assert isinstance(kind, Array)
        assert kind.dtype is not None
        return kind.dtype


def lists_to_rows(
    function: Function, survey: Survey, memory: Memory, shapes: Shapes, measure: Measurer
) -> Function:
    """The function with arrays in place of such lists."""
    found: dict[For, list[_Rows]] = {}
    missing = _missing(function)
    writes = {
        op: memory.reach(op.target)
        for op in all_ops(function.body)
        if isinstance(op, (Update, Accumulate))
        and isinstance(op.target, Value)
        and isinstance(op.target.type, Array)
    }
    for op in all_ops(function.body):
        if isinstance(op, For) and not op.stops:
            for place, atom in enumerate(op.carried):
                rows = _rows(op, place, atom, survey, shapes)
                if rows is None or missing(rows.kept):
                    continue
                written = {w for w, reached in writes.items() if reached & memory.reach(rows.kept)}
                if written and not _is_done(rows, written, survey):
                    continue
                found.setdefault(op, []).append(rows)
    if not found:
        return function
    ends = {op.results[r.place] for op, rows in found.items() for r in rows}
    sole = {value for value in ends if len(survey.uses[value]) == 1}
    return replace(function, body=_Rewriter(found, ends, sole, measure).block(function.body))


def _rows(loop: For, place: int, atom: Atom, survey: Survey, shapes: Shapes) -> _Rows | None:
    made = survey.definition.get(atom) if isinstance(atom, Value) else None
    if not isinstance(made, Apply) or made.callee is not make_list or made.args:
        return None
    if len(survey.uses[made.result]) != 1 or _counter(loop) is None:
        return None
    param = loop.carried_params[place]
    uses = survey.uses[param]
    if len(uses) != 1 or uses[0][0] is not loop.body or uses[0][1] >= len(loop.body.ops):
        return None
    append = loop.body.ops[uses[0][1]]
    if not isinstance(append, Update) or append.callee is not list.append or append.result:
        return None
    if loop.body.yields[place] is not append.version or len(survey.uses[append.version]) != 1:
        return None
    kept = append.args[0]
    if not isinstance(kept, Value) or not isinstance(kept.type, Array):
        return None
    sizes = shapes.of_arguments(kept)
    if not sizes or kept.type.dtype not in DTYPES:
        return None
    if not all(_is_read(b, k, loop.results[place]) for b, k in survey.uses[loop.results[place]]):
        return None
    return _Rows(made, loop, append, place, sizes)


def _is_done(rows: _Rows, writes: Set[Op], survey: Survey) -> bool:
    """Whether an array is written in the round that makes it only, before it is kept."""
    if len(survey.uses[rows.kept]) != 1:
        return False
    before = rows.loop.body.ops[: rows.loop.body.ops.index(rows.append)]
    return writes <= set(all_ops(Block((), before, ())))


def _missing(function: Function) -> Callable[[Value], bool]:
    """Whether an array may stand for one that is not there, which nobody must look at."""
    classes = variables(function)
    found: set[Value] = set()
    hidden = False
    for op in all_ops(function.body):
        if isinstance(op, Apply) and op.callee is np.empty and isinstance(op.args[0], Literal):
            shape = op.args[0].value
            if isinstance(shape, tuple) and not any(shape):
                found.add(op.result)
        elif isinstance(op, Apply) and op.callee is make_tuple:
            hidden = hidden or not found.isdisjoint(a for a in op.args if isinstance(a, Value))
    bad = {classes.find(v) for v in found}
    return lambda value: hidden or classes.find(value) in bad


def _counter(loop: For) -> Value | None:
    """What counts the rounds of a loop from 0."""
    for stream, target in zip(loop.streams, loop.body.params, strict=False):
        if len(loop.streams) == 1 and isinstance(stream, Range):
            start, step = stream.start, stream.step
            if isinstance(start, Literal) and isinstance(step, Literal) and step.value == 1:
                return target
    return None


def _is_read(block: Block, position: int, value: Value) -> bool:
    """Whether a use of the list in the end only asks for an item or the length."""
    if position >= len(block.ops):
        return False
    user = block.ops[position]
    if not isinstance(user, Apply) or user.args[0] is not value:
        return False
    if user.callee is len or _is_array_of(user):
        return True
    return user.callee is operator.getitem and user.args[1] is not value and _is_int(user.args[1])


def _is_array_of(op: Apply) -> bool:
    """Whether a call makes an array of a list."""
    return op.callee in (np.array, np.asarray) and len(op.args) == 1 and not op.keywords


def _is_int(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return type(atom.value) is int
    return getattr(atom.type, "kind", None) == "int"


class _Rewriter:
    def __init__(
        self, found: dict[For, list[_Rows]], ends: set[Value], sole: set[Value], measure: Measurer
    ) -> None:
        self.found = found
        self.ends = ends
        """The lists in the end; ``sole`` are those that one operation reads."""
        self.sole = sole
        self.measure = measure
        self.gone = {r.made for rows in found.values() for r in rows}
        self.names: dict[Value, Value] = {}
        self.appends: dict[Op, Atom] = {}
        """The appends, and the row that each goes to."""

    def read(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, Value) else atom

    def block(self, block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            self._op(op, ops)
        params = tuple(self.names.get(p, p) for p in block.params)
        return Block(params, tuple(ops), tuple(map(self.read, block.yields)))

    def _op(self, op: Op, ops: list[Op]) -> None:
        if op in self.gone:
            return
        if isinstance(op, For) and op in self.found:
            self._loop(op, ops)
        elif isinstance(op, Apply) and _is_array_of(op) and op.args[0] in self.ends:
            source = op.args[0]
            made = self.read(source)
            assert isinstance(made, Value)
            if source in self.sole:
                self.names[op.result] = made
            else:
                ops.append(Apply(np.ndarray.copy, (made,), (), op.result, op.loc))
        elif op in self.appends:
            assert isinstance(op, Update)
            target = self.read(op.target)
            assert isinstance(target, Value)
            args = (self.appends[op], op.args[0])
            version = self.names[op.version] = Value("", target.type)
            ops.append(Update(operator.setitem, target, args, version, None, op.loc))
        elif blocks(op):
            ops.append(map_atoms(map_blocks(op, self.block), self.read, lambda v: v))
        else:
            ops.append(map_atoms(op, self.read, lambda v: v))

    def _loop(self, op: For, ops: list[Op]) -> None:
        stream = op.streams[0]
        counter = _counter(op)
        assert isinstance(stream, Range)
        assert counter is not None
        count = _count(stream, self.read, ops)
        carried = list(map(self.read, op.carried))
        head: list[Op] = []
        row: Atom = counter
        if stream.start != Literal(0) and getattr(stream.start, "value", 0) != 0:
            row = Value("", INT)
            head.append(Apply(operator.sub, (counter, stream.start), (), row))
        for rows in self.found[op]:
            kind = rows.append.args[0]
            assert isinstance(kind, Value)
            assert isinstance(kind.type, Array)
            dims = kind.type.dims or (None,) * len(rows.sizes)
            array = Array(rows.dtype, (None, *dims))
            sizes = [self.measure(s, ops) for s in rows.sizes]
            shape = Value("", TupleType((INT,) * (1 + len(sizes))))
            ops.append(Apply(make_tuple, (count, *sizes), (), shape))
            memory = Value(rows.made.result.hint, array)
            args: tuple[Atom, ...] = (shape,)
            if rows.dtype != "float64":
                args = (shape, Literal(np.dtype(rows.dtype).type))
            ops.append(Apply(np.empty, args, (), memory))
            carried[rows.place] = memory
            param = op.carried_params[rows.place]
            self.names[param] = Value("", array)
            result = op.results[rows.place]
            self.names[result] = Value(result.hint, array)
            self.appends[rows.append] = row
        body = self.block(op.body)
        body = replace(body, ops=(*head, *body.ops))
        results = tuple(self.names.get(r, r) for r in op.results)
        stream = Range(self.read(stream.start), self.read(stream.stop), self.read(stream.step))
        ops.append(For((stream,), tuple(carried), body, results, op.stops, op.loc))


def _count(stream: Range, read: Callable[[Atom], Atom], ops: list[Op]) -> Atom:
    """The number of rounds, which is checked not to be negative."""
    assert isinstance(stream.start, Literal)
    stop = read(stream.stop)
    count: Atom = stop
    if stream.start.value != 0:
        if isinstance(stop, Literal):
            return Literal(max(stop.value - stream.start.value, 0))
        count = Value("", INT)
        ops.append(Apply(operator.sub, (stop, stream.start), (), count))
    if isinstance(count, Literal):
        return Literal(max(count.value, 0))
    test = Value("", BOOL)
    ops.append(Apply(operator.lt, (count, Literal(0)), (), test))
    error = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None)
    ops.append(If(test, Block((), (error,), ()), Block((), (), ()), ()))
    return count
