"""Work on large arrays block by block: what is computed in between stays in the cache.

    t = mul(x, x)               |    x_bar = empty(shape(x)); parts = make_list()
    u = mul(2.0, t)             |    … = for start in range(0, size(x), 16384) with x_bar, parts
    y = sum(u)                  |      x.2 = getitem(x, slice(start, start + 16384))
    x_bar = mul(4.0, x)         |      t = mul(x.2, x.2)
                                |      u = mul(2.0, t)
                                |      parts.2 = update append(parts, sum(u))
                                |      x_bar.2 = update setitem(x_bar, slice(…), mul(4.0, x.2))
                                |    y = sum(parts.3)

An array of a million numbers that has a name is eight megabytes which are fetched from the system
and cleared page by page; that takes longer than most arithmetic.  Elements of one block do not
depend on those of another, so operations on arrays of one shape go through all of them together,
up to a sum.  What needs the sum, or a whole array, comes after the loop; then another loop may
begin.  Sums are those of the sums of blocks, in the order that NumPy adds numbers: pairwise.
Results are written over operands that nothing else reads (``t *= 2.0``): fewer blocks are in use.

Code in blocks is right for arrays of any size, and slower for small ones: a derivative has it for
calls with large arrays alone (``large_shapes``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Literal,
    Loc,
    Op,
    Range,
    Update,
    Value,
    While,
)
from srcad.ir.core import hashable, make_list
from srcad.ir.elementwise import is_elementwise
from srcad.ir.infer import atom_type
from srcad.ir.sharing import SHAPE
from srcad.ir.types import INT, Array, Dim, ListType, Opaque, Size, Type, dims_of, rank
from srcad.ir.walk import map_atoms, map_blocks, read_counts, results, values_read

LARGE = 2**18
"""Arrays of so many elements are worked on in blocks: from there on it is no slower, whatever the
allocator of the system has kept of earlier calls."""
BLOCK = 16384
"""Elements of a block: a few arrays of so many doubles fit a second-level cache."""

_FEWEST = 4
"""Operations of a loop; fewer leave nothing in between that is worth it."""
_PER_ARRAY = 3
"""Operations for each array that the loop has to write."""

Shape = tuple[Size, ...]

_REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **dict.fromkeys((np.sum, np.ndarray.sum, np.mean, np.ndarray.mean), np.sum),
    **dict.fromkeys((np.vdot, np.dot, operator.matmul, runtime.inner), np.sum),
    np.max: np.max,
    np.min: np.min,
}
"""What makes a number of arrays, and what makes it of the numbers of blocks."""
_MEANS = (np.mean, np.ndarray.mean)
_OF_VECTORS = (np.dot, operator.matmul)
_DTYPES = ("float64", "int64", "bool")


def is_large(value: object) -> bool:
    """Whether work on an argument is worth it in blocks."""
    return type(value) is np.ndarray and value.size >= LARGE


def large_shapes(params: Iterable[Value], given: Iterable[object]) -> frozenset[Shape]:
    """The shapes of parameters that are given large arrays."""
    found = (dims_of(p.type) for p, v in zip(params, given, strict=False) if is_large(v))
    return frozenset(dims for dims in found if dims is not None and None not in dims)


def in_blocks(function: Function, shapes: frozenset[Shape]) -> Function:
    """The function with operations on arrays of some shapes done block by block."""
    whole = {s: p for p in reversed(function.params) for s in shapes if dims_of(p.type) == s}
    return replace(function, body=_Blocks(whole).block(function.body)) if whole else function


@dataclass(slots=True)
class _Loop:
    """Operations that go through arrays of one shape together."""

    shape: Shape
    ops: list[Op]
    arrays: list[Value]
    """What has to be written, since somebody else reads it."""

    @property
    def pays(self) -> bool:
        """Whether most of what is computed is forgotten within a block."""
        count = sum(not _is_reduction(op) for op in self.ops)
        return count >= max(_FEWEST, _PER_ARRAY * len(self.arrays))


class _Blocks:
    def __init__(self, whole: dict[Shape, Value]) -> None:
        self.whole = whole
        """For each shape, a parameter that has it."""

    def block(self, block: Block) -> Block:
        """The block with its stretches of calculation done in loops, in the blocks in it too."""
        readers: dict[Value, list[Op | None]] = {}
        for op in block.ops:
            for value in values_read(op):
                readers.setdefault(value, []).append(op)
        for atom in block.yields:
            if isinstance(atom, Value):
                readers.setdefault(atom, []).append(None)
        made: list[Op] = []
        run: list[Op] = []
        for op in block.ops:
            if isinstance(op, (Apply, Accumulate)):
                run.append(op)
                continue
            made += self._run(run, readers)
            run = []
            made.append(map_blocks(op, self.block) if isinstance(op, (For, While, If)) else op)
        made += self._run(run, readers)
        return Block(block.params, tuple(made), block.yields)

    def _run(self, ops: list[Op], readers: dict[Value, list[Op | None]]) -> list[Op]:
        """Operations without effects, in an order in which those on large arrays stand together."""
        ops = list(map(self._of_whole, ops))
        stages = self._stages(ops)
        self._delay(ops, stages, readers)
        last = max(stages.values(), default=0)
        ordered: list[Op] = []
        found = False
        for stage in range(last + 1):
            here = [op for op in ops if stages[op] == stage]
            shapes = {op: self._shape(op) for op in here}
            ordered += [op for op in here if shapes[op] is None]
            for shape in dict.fromkeys(s for s in shapes.values() if s is not None):
                members = [op for op in here if shapes[op] == shape]
                loop = _Loop(shape, members, _read_outside(members, readers))
                found = found or loop.pays
                ordered += _Writer(loop).written() if loop.pays else members
        return ordered if found else ops

    def _of_whole(self, op: Op) -> Op:
        """A question for the size of an array, asked of a parameter of that shape."""
        if not isinstance(op, Apply) or op.callee not in SHAPE or not op.args:
            return op
        other = self.whole.get(dims_of(atom_type(op.args[0])) or ())
        return op if other is None else replace(op, args=(other, *op.args[1:]))

    def _stages(self, ops: list[Op]) -> dict[Op, int]:
        """After how many loops an operation comes."""
        stages: dict[Op, int] = {}
        made: dict[Value, Op] = {}
        for op in ops:
            shape, stage = self._shape(op), 0
            for value in values_read(op):
                source = made.get(value)
                if source is None:
                    continue
                own = self._shape(source)
                waits = own is not None and (own != shape or _is_reduction(source))
                stage = max(stage, stages[source] + waits)
            stages[op] = stage
            made.update(dict.fromkeys(results(op), op))
        return stages

    def _delay(
        self, ops: list[Op], stages: dict[Op, int], readers: dict[Value, list[Op | None]]
    ) -> None:
        """Compute elements in the first loop that needs them."""
        for op in reversed(ops):
            shape = self._shape(op)
            if shape is None or _is_reduction(op):
                continue
            users = [user for value in results(op) for user in readers.get(value, [])]
            inside = [u for u in users if u in stages and self._shape(u) == shape]
            if users and len(inside) == len(users):
                stages[op] = max(stages[op], min(stages[u] for u in inside))

    def _shape(self, op: Op) -> Shape | None:
        """The large arrays that an operation goes through; None if it does something else."""
        match op:
            case Apply(callee=callee, args=args, keywords=(), result=result):
                if is_elementwise(callee):
                    shape = _shape_of(result.type)
                elif _is_reduction(op):
                    shape = _shape_of(atom_type(args[0]))
                else:
                    return None
            case Accumulate(target=target, index=None, term=term, version=version):
                args, shape = (target, term), _shape_of(version.type)
            case _:
                return None
        if shape not in self.whole or not all(_shape_of(atom_type(a)) in (shape, ()) for a in args):
            return None
        return shape if any(_shape_of(atom_type(a)) == shape for a in args) else None


def _shape_of(kind: Type) -> Shape | None:
    """The shape of an array of a plain dtype, or of a number."""
    if isinstance(kind, Array):
        return kind.dims if kind.dtype in _DTYPES else None
    return () if rank(kind) == 0 else None


def _is_reduction(op: Op) -> bool:
    """Whether an operation makes a number of all elements of arrays of doubles."""
    if not isinstance(op, Apply) or op.keywords or rank(op.result.type) != 0:
        return False
    kinds = [atom_type(a) for a in op.args]
    if not all(isinstance(k, Array) and k.dtype == "float64" for k in kinds):
        return False
    if not hashable(op.callee) or op.callee not in _REDUCTIONS:
        return False
    return op.callee not in _OF_VECTORS or all(rank(k) == 1 for k in kinds)


def _read_outside(members: Sequence[Op], readers: dict[Value, list[Op | None]]) -> list[Value]:
    """The arrays of which something besides a loop reads an element."""
    mine = set(members)
    return [
        value
        for op in members
        if not _is_reduction(op)
        for value in results(op)
        if any(user not in mine for user in readers.get(value, []))
    ]


def _with_targets(loop: _Loop) -> list[Value]:
    """The arrays that a loop writes, and what is added to on the way."""
    found = list(loop.arrays)
    for op in reversed(loop.ops):
        if isinstance(op, Accumulate) and op.version in found and isinstance(op.target, Value):
            found.append(op.target)
    return found


class _Writer:
    """Writes one loop."""

    def __init__(self, loop: _Loop) -> None:
        self.loop = loop
        self.before: list[Op] = []
        self.after: list[Op] = []
        self.body: list[Op] = []
        self.start = Value("start", INT)
        self.dims: Shape = (Dim(Value("", INT)),)
        self.flat: Shape = loop.shape if len(loop.shape) == 1 else (Dim(Value("", INT)),)
        self.parts: dict[Value, Value] = {}
        """For arrays around the loop and in it: the block of elements."""
        made = {v for op in loop.ops for v in results(op)}
        self.outer = [v for op in loop.ops for v in values_read(op) if v not in made]
        self.outer = [v for v in dict.fromkeys(self.outer) if _shape_of(v.type) == loop.shape]
        self.whole = {*self.outer, *_with_targets(loop)}
        """What has a name outside the loop: within it, that is the name of all elements."""
        self.carried: list[tuple[Value, Value, Value, Value]] = []
        """What the loop writes into: before it, at its head, at its end and after it."""

    def written(self) -> list[Op]:
        """The loop, and what goes before and after it."""
        like = self.outer[0]
        size = self._apply(self.before, np.size, like, kind=INT)
        ends = self.start, Literal(BLOCK)
        stop = self._apply(self.body, operator.add, *ends, kind=INT, hint="stop")
        for array in self.outer:
            self._cut(array, stop)
        for op in self.loop.ops:
            if _is_reduction(op):
                assert isinstance(op, Apply)
                self._reduce(op, size)
            else:
                self._compute(op, stop, like)
        befores, heads, lasts, afters = zip(*self.carried, strict=True)
        body = _written_over(Block((self.start, *heads), tuple(self.body), lasts))
        stream = Range(Literal(0), size, Literal(BLOCK))
        return [*self.before, For((stream,), befores, body, afters), *self.after]

    def _apply(
        self,
        ops: list[Op],
        callee: Callable[..., Any],
        *args: Atom,
        kind: Type,
        hint: str = "",
        loc: Loc | None = None,
    ) -> Value:
        result = Value(hint, kind)
        ops.append(Apply(callee, args, (), result, loc))
        return result

    def _index(self, stop: Value) -> Value:
        kind = Opaque("slice")
        return self._apply(self.body, slice, self.start, stop, Literal(None), kind=kind)

    def _cut(self, array: Value, stop: Value) -> None:
        """The block of an array that the loop reads."""
        assert isinstance(array.type, Array)
        source = array
        if len(self.loop.shape) > 1:
            kind = Array(array.type.dtype, self.flat)
            source = self._apply(self.before, np.ndarray.reshape, array, Literal(-1), kind=kind)
            source.hint = f"{array.hint}_flat" if array.hint else ""
        part = self._part(array)
        self.body.append(Apply(operator.getitem, (source, self._index(stop)), (), part))

    def _part(self, value: Value) -> Value:
        """The elements of an array that are in a block."""
        assert isinstance(value.type, Array)
        part = Value(value.hint, Array(value.type.dtype, self.dims))
        if value in self.whole:
            part.hint = _of_block(value.hint)
        self.parts[value] = part
        return part

    def _read(self, atom: Atom) -> Atom:
        return self.parts.get(atom, atom) if isinstance(atom, Value) else atom

    def _compute(self, op: Op, stop: Value, like: Value) -> None:
        self.body.append(map_atoms(op, self._read, self._part))
        (value,) = results(op)
        if value in self.loop.arrays:
            array, after = self._memory(value, like)
            head, end = (Value(value.hint, array.type) for _ in range(2))
            written = (self._index(stop), self.parts[value])
            self.body.append(Update(operator.setitem, head, written, end, None, op.loc))
            self.carried.append((array, head, end, after))

    def _memory(self, value: Value, like: Value) -> tuple[Value, Value]:
        """The array that blocks are written into, and what it is after the loop."""
        assert isinstance(value.type, Array)
        several = len(self.loop.shape) > 1
        array = Value(value.hint, Array(value.type.dtype, self.flat))
        if several:
            sized = self._apply(self.before, np.size, like, kind=INT)
        else:
            sized = self._apply(self.before, np.shape, like, kind=_SHAPE)
        is_double = value.type.dtype == "float64"
        dtype = () if is_double else (("dtype", Literal(np.dtype(value.type.dtype))),)
        self.before.append(Apply(np.empty, (sized,), dtype, array))
        if not several:
            return array, value
        after = Value(value.hint, array.type)
        shape = self._apply(self.after, np.shape, like, kind=_SHAPE)
        self.after.append(Apply(np.ndarray.reshape, (after, shape), (), value))
        return array, after

    def _reduce(self, op: Apply, size: Value) -> None:
        """The number of a block goes into a list, of which the whole is made."""
        kind = ListType(op.result.type)
        before, head, end, after = (Value("parts", kind) for _ in range(4))
        callee: Callable[..., Any] = op.callee if op.callee not in _MEANS else np.sum
        args = tuple(map(self._read, op.args))
        part = self._apply(self.body, callee, *args, kind=op.result.type, loc=op.loc)
        self.before.append(Apply(make_list, (), (), before))
        self.body.append(Update(list.append, head, (part,), end, None, op.loc))
        self.carried.append((before, head, end, after))
        combine = _REDUCTIONS[op.callee]
        if op.callee in _MEANS:
            total = self._apply(self.after, combine, after, kind=op.result.type, loc=op.loc)
            self.after.append(replace(op, callee=operator.truediv, args=(total, size)))
        else:
            self.after.append(replace(op, callee=combine, args=(after,)))


_SHAPE = Opaque("tuple")
_OVER = {
    operator.add: operator.iadd, operator.sub: operator.isub, operator.mul: operator.imul,
    operator.truediv: operator.itruediv,
}  # fmt: skip


def _written_over(body: Block) -> Block:
    """The body of a loop with results of arithmetic written over those that nothing else reads.

    A result keeps to its name: what the user calls otherwise is another array.
    """
    reads, names = read_counts(body), _names(body)
    made: set[Atom] = set()

    def is_free(atom: Atom, name: str) -> bool:
        return (
            atom in made
            and isinstance(atom, Value)
            and reads[atom] == 1
            and atom.hint in ("", name)
        )

    def written(op: Op) -> Op:
        if not isinstance(op, Apply) or op.callee not in _OVER or not _is_doubles(op.result):
            return op
        made.add(op.result)
        places = (0, 1) if op.callee in (operator.add, operator.mul) else (0,)
        place = next((k for k in places if is_free(op.args[k], names[op.result])), None)
        if place is None:
            return op
        target, args = op.args[place], (Literal(Ellipsis), op.args[1 - place])
        assert isinstance(target, Value)
        return Update(_OVER[op.callee], target, args, op.result, None, op.loc)

    return replace(body, ops=tuple(map(written, body.ops)))


def _names(body: Block) -> dict[Value, str]:
    """What arithmetic is part of: `t * 0.5` in `t = t * 0.5 - x` is of `t`."""
    names: dict[Value, str] = {}
    for op in reversed(body.ops):
        if isinstance(op, Apply):
            names[op.result] = op.result.hint or names.get(op.result, "")
            if op.callee in _OVER:
                names |= {a: names[op.result] for a in op.args if isinstance(a, Value)}
    return names


def _is_doubles(value: Value) -> bool:
    return isinstance(value.type, Array) and value.type.dtype == "float64"


def _of_block(name: str) -> str:
    """The name of a block of an array: that of an adjoint is still an adjoint's."""
    for ending in ("_bar", "_dot"):
        if name.endswith(ending):
            return f"{_of_block(name.removesuffix(ending))}{ending}"
    return f"{name}_block" if name else ""
