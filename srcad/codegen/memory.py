"""Which values may share memory, and which operations make memory of their own.

Memory is named by the value that makes it: a *root*.  What a value *reaches* are the roots that may
be read through it: those of an array behind a view, of a list and of what may be in it.  What a
value *is* are the roots whose memory may be the object itself, so that a write through the value
changes them.  Numbers and strings cannot be written, so they reach nothing.  The order of
operations is not regarded; that no old version is read after a write is a rule of the IR.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.codegen.survey import Survey, ids
from srcad.ir.core import (
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
    Try,
    Undefined,
    Update,
    Value,
    While,
    With,
    assert_true,
    check_bound,
    make_dict,
    make_list,
    make_tuple,
    raise_error,
)
from srcad.ir.sharing import OF_MATRICES
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Optional,
    TupleType,
    Type,
    Unknown,
)
from srcad.ir.walk import operands

_ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.matmul, operator.neg, operator.pos, operator.abs, operator.invert,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip

_FRESH_NAMES = """
    zeros ones full empty zeros_like ones_like full_like empty_like eye identity arange linspace
    copy where sum prod mean std var max min amax amin cumsum cumprod dot matmul outer
    tensordot inner kron concatenate stack vstack column_stack repeat tile roll sort argsort clip
    nan_to_num take tril triu cross convolve
"""
"""NumPy functions whose array result shares no memory with anything, whatever their arguments."""

_FRESH_METHODS = "copy sum prod mean std var max min cumsum dot repeat"

_FRESH = ids(
    *_ARITHMETIC,
    *(getattr(np, name) for name in _FRESH_NAMES.split()),
    *(getattr(np.ndarray, name) for name in _FRESH_METHODS.split()),
    *(
        runtime.over,
        runtime.times,
        runtime.excess,
        runtime.strong,
        runtime.zeros_like,
        runtime.shadow,
        runtime.own,
        runtime.copied,
        *OF_MATRICES,
    ),
    *(np.array, np.ndarray.astype),
    *(np.linalg.inv, np.linalg.solve, np.linalg.cholesky, np.linalg.pinv),
)
_CONTAINERS = ids(
    make_list,
    make_dict,
    make_tuple,
    list,
    dict,
    sorted,
    list.copy,
    dict.copy,
    runtime.copied,
    runtime.add,
    runtime.zeros_like,
    np.ndarray.tolist,
    operator.add,
    operator.mul,
)
_UNWRITABLE = (int, float, complex, str, type(None), np.generic, Undefined)
_HARMLESS = ids(print, raise_error, assert_true, check_bound, runtime.require_view)
"""Effects that keep no reference to their arguments."""


def has_memory(kind: Type) -> bool:
    """Whether a value of this type can be written in place, or holds what can."""
    match kind:
        case Number() | NumPyScalar() | Opaque(name="str" | "None" | "slice" | "dtype"):
            return False
        case TupleType(items=items, cls=cls):
            return not issubclass(cls, tuple) or any(map(has_memory, items))
        case Optional(item=item):
            return has_memory(item)
    return True


def is_container(kind: Type) -> bool:
    """Whether a value of this type can hold what can be written in place."""
    return has_memory(kind) and not isinstance(kind, (Array, Unknown))


def makes_array(callee: Callable[..., Any], op: Apply) -> bool:
    """Whether the result, if it is an array, shares memory with nothing."""
    names = [name for name, _ in op.keywords]
    if isinstance(callee, np.ufunc):
        return "out" not in names and len(op.args) <= callee.nin
    if "out" in names or "copy" in names:
        return False
    return id(callee) in _FRESH


def makes_container(op: Apply) -> bool:
    """Whether the result, if it is a list or dict, is a new one (its items may be shared)."""
    if op.callee is operator.getitem:
        index = op.args[1]
        return isinstance(index, Literal) and isinstance(index.value, slice)
    return id(op.callee) in _CONTAINERS


class Memory:
    """What each value reaches and is, as bits of the numbers of roots."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        count = len(survey.values)
        self.has = [has_memory(v.type) for v in survey.values]
        """Whether a value has memory, by number."""
        self.escaped = 0
        """Bits of values that something outside the function may refer to, and write or read."""
        self._is_root = [False] * count
        self._reads: list[list[int]] = [[] for _ in range(count)]
        self._sources: dict[int, list[int]] = {}
        """What a value may be the same object as."""
        self._stores: list[tuple[int, list[int], int]] = []
        """Objects, what is put into them, and the version of the object that has it."""
        self._disowned: list[int] = []
        for param in survey.function.params:
            self._foreign(param)
            if is_container(param.type):
                self.escaped |= 1 << survey.number[param]
        self._visit(survey.function.body)
        self._not_owned = self._spread()
        self._reach = [1 << n if self._is_root[n] else 0 for n in range(count)]
        self._is = [0] * count
        self._solve()

    # ---- answers

    def reach(self, value: Value) -> int:
        """The roots that may be read through a value."""
        return self._reach[self.survey.number[value]]

    def identity(self, value: Value) -> int:
        """The roots whose memory is written by writing to a value."""
        return self._is[self.survey.number[value]]

    def sees(self, values: int, roots: int) -> bool:
        """Whether one of several values, given as bits, reaches one of the roots."""
        while values:
            low = values & -values
            if self._reach[low.bit_length() - 1] & roots:
                return True
            values ^= low
        return False

    def sees_since(self, start: int, values: int, roots: int) -> bool:
        """Whether one of several values reaches one of the roots through values from ``start`` on.

        In a loop, what is older refers to memory that an earlier iteration has made.
        """
        work = values >> start << start
        seen = work
        while work:
            low = work & -work
            work ^= low
            number = low.bit_length() - 1
            if self._is_root[number] and roots >> number & 1:
                return True
            for other in (*self._reads[number], *self._sources.get(number, ())):
                if other >= start and not seen >> other & 1:
                    seen |= 1 << other
                    work |= 1 << other
        return False

    def stored_between(self, start: int, end: int) -> int:
        """What is put into objects by the writes between two values, as bits."""
        mask = 0
        for _, stored, version in self._stores:
            if start < version < end:
                for number in stored:
                    mask |= 1 << number
        return mask

    def is_owned(self, value: Value) -> bool:
        """Whether the value is memory made in this function, not a view or part of other memory."""
        return self.survey.number[value] not in self._not_owned

    # ---- solving

    def _spread(self) -> set[int]:
        targets: dict[int, list[int]] = {}
        for target, sources in self._sources.items():
            for source in sources:
                targets.setdefault(source, []).append(target)
        found: set[int] = set()
        work = list(self._disowned)
        while work:
            number = work.pop()
            if number not in found:
                found.add(number)
                work.extend(targets.get(number, ()))
        return found

    def _solve(self) -> None:
        containers = 0
        numbers = [n for n, has in enumerate(self.has) if has]
        for number in numbers:
            if is_container(self.survey.values[number].type):
                containers |= 1 << number
        # an array holds no lists
        limits = [~0 if containers >> n & 1 else ~containers for n in range(len(self.has))]
        growing = True
        while growing:
            self._fix(numbers, limits)
            growing = False
            for target, stored, _ in self._stores:
                objects = self._is[target]
                while objects:
                    low = objects & -objects
                    reads = self._reads[low.bit_length() - 1]
                    fresh = [s for s in stored if s not in reads]
                    reads += fresh
                    growing = growing or bool(fresh)
                    objects ^= low

    def _fix(self, numbers: list[int], limits: list[int]) -> None:
        """The least solution for the present edges."""
        reach, same = self._reach, self._is
        changed = True
        while changed:
            changed = False
            for number in numbers:
                mask = reach[number]
                for other in self._reads[number]:
                    mask |= reach[other]
                for other in self._sources.get(number, ()):
                    mask |= reach[other]
                mask &= limits[number]
                own = 1 << number if self._is_root[number] else 0
                if number in self._sources:
                    for other in self._sources[number]:
                        own |= same[other]
                elif number in self._not_owned:
                    own |= mask
                if mask != reach[number] or own != same[number]:
                    reach[number], same[number] = mask, own
                    changed = True

    # ---- building

    def _root(self, value: Value) -> None:
        number = self.survey.number[value]
        self._is_root[number] = self.has[number]

    def _foreign(self, value: Value) -> None:
        """A value that is not made here, or not known to be."""
        self._root(value)
        self._disowned.append(self.survey.number[value])

    def _read(self, value: Value, atom: Atom) -> None:
        """``atom`` may be read through ``value``."""
        if isinstance(atom, Value):
            i, j = self.survey.number[value], self.survey.number[atom]
            if self.has[i] and self.has[j]:
                self._reads[i].append(j)

    def _flow(self, target: Value, source: Atom) -> None:
        """``target`` may be the very object ``source`` is."""
        number = self.survey.number
        if isinstance(source, Value):
            if self.has[number[target]] and self.has[number[source]]:
                self._sources.setdefault(number[target], []).append(number[source])
        elif has_memory(target.type) and not isinstance(source.value, _UNWRITABLE):
            self._foreign(target)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            if op not in self.survey.skipped:
                self._visit_op(op)
            elif isinstance(op, Apply):
                self._apply(op.callee, op.result, op)

    def _visit_op(self, op: Op) -> None:
        match op:
            case Apply(callee=callee, result=result):
                self._apply(callee, result, op)
            case Effect(callee=callee, result=result):
                harmless = id(callee) in _HARMLESS
                for atom in operands(op):
                    if isinstance(atom, Value) and not harmless:
                        self.escaped |= 1 << self.survey.number[atom]
                    if result is not None:
                        self._read(result, atom)
                if result is not None:
                    self._foreign(result)
            case Update(target=target, version=version, result=result):
                self._flow(version, target)
                if not isinstance(target.type, Array):
                    number = self.survey.number
                    stored = [
                        number[a] for a in op.args if isinstance(a, Value) and self.has[number[a]]
                    ]
                    if stored:
                        self._stores.append((number[target], stored, number[version]))
                if result is not None:
                    self._read(result, target)
                    self._foreign(result)
            case Accumulate(target=target, version=version):
                # in place only if the target is owned, new otherwise: the version is owned
                self._root(version)
                self._read(version, target)
                if isinstance(target, Value) and not isinstance(version.type, (Array, Unknown)):
                    self._read(version, op.term)
            case If(then=then, orelse=orelse, results=results):
                for side in (then, orelse):
                    self._visit(side)
                    self._hand_on(results, side.yields)
            case For(streams=streams, carried=carried, body=body, results=results):
                count = len(streams)
                for stream, target in zip(streams, body.params[:count], strict=True):
                    if isinstance(stream, Items):
                        self._read(target, stream.sequence)
                        self._foreign(target)
                self._visit(body)
                self._loop(body.params[count:], carried, body.yields, results)
            case While(carried=carried, test=test, body=body, results=results):
                self._visit(test)
                self._visit(body)
                self._loop(test.params, carried, body.yields, results)
                self._hand_on(body.params, test.params)
            case With(manager=manager, body=body, results=results):
                if isinstance(manager, Value):
                    self.escaped |= 1 << self.survey.number[manager]
                for param in body.params:
                    self._read(param, manager)
                    self._foreign(param)
                self._visit(body)
                self._hand_on(results, body.yields)
            case Try(body=body, handlers=handlers, final=final, results=results):
                for inner in (body, *(h.body for h in handlers)):
                    for param in inner.params:
                        self._foreign(param)
                    self._visit(inner)
                    self._hand_on(results, inner.yields)
                if final is not None:
                    self._visit(final)
            case Call(args=args, results=results):
                for result in results:
                    self._foreign(result)
                    for atom in (*args, *results):
                        self._read(result, atom)

    def _hand_on(self, targets: tuple[Value, ...], sources: tuple[Atom, ...]) -> None:
        for target, source in zip(targets, sources, strict=True):
            self._flow(target, source)

    def _loop(
        self,
        params: tuple[Value, ...],
        carried: tuple[Atom, ...],
        yields: tuple[Atom, ...],
        results: tuple[Value, ...],
    ) -> None:
        self._hand_on(params, carried)
        # the stop flag, if any, is the last yield and flows nowhere
        self._hand_on(params, yields[: len(params)])
        self._hand_on(results, params)

    def _apply(self, callee: Callable[..., Any], result: Value, op: Apply) -> None:
        if not has_memory(result.type):
            return
        self._root(result)
        match result.type:
            case Array() | Unknown():
                if makes_array(callee, op):
                    return
                self._foreign(result)
            case ListType() | DictType() | TupleType() if makes_container(op):
                pass
            case _:
                self._foreign(result)
        for atom in operands(op):
            self._read(result, atom)
