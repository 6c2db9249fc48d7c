"""Which values may share memory, and which operations make memory of their own.

Values are put in classes that may share memory, without regard to the order of operations: a view
with its array, a container with its items, the versions of what is written in place, what branches
and loops hand on.  Numbers and strings cannot be written, so they have no class.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

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
    Op,
    Range,
    Try,
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

_ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.matmul, operator.neg, operator.pos, operator.abs, operator.invert,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip

_FRESH_NAMES = """
    zeros ones full empty zeros_like ones_like full_like empty_like eye identity arange linspace
    copy where sum prod mean std var max min amax amin cumsum cumprod diff dot matmul outer
    tensordot inner kron concatenate stack vstack column_stack repeat tile roll sort argsort clip
    nan_to_num take tril triu cross convolve
"""
"""NumPy functions whose array result shares no memory with anything, whatever their arguments."""

_FRESH_METHODS = "copy sum prod mean std var max min cumsum dot repeat"

_FRESH = ids(
    *_ARITHMETIC,
    *(getattr(np, name) for name in _FRESH_NAMES.split()),
    *(getattr(np.ndarray, name) for name in _FRESH_METHODS.split()),
    *(np.linalg.inv, np.linalg.solve, np.linalg.cholesky, np.linalg.pinv),
)
_COPIERS = ids(np.array, np.ndarray.astype)
_CONTAINERS = ids(
    make_list,
    make_dict,
    make_tuple,
    list,
    dict,
    sorted,
    list.copy,
    dict.copy,
    operator.add,
    operator.mul,
)
_HARMLESS = ids(print, raise_error, assert_true, check_bound)
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
    if id(callee) in _COPIERS:
        return "copy" not in names
    return id(callee) in _FRESH and "out" not in names


def makes_container(callee: Callable[..., Any]) -> bool:
    """Whether the result, if it is a list or dict, is a new one (its items may be shared)."""
    return id(callee) in _CONTAINERS


class Memory:
    """Classes of values that may share memory, and which values own theirs."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self._parent = list(range(len(survey.values)))
        self._has = [has_memory(v.type) for v in survey.values]
        self._disowned: list[int] = []
        self._flows: dict[int, list[int]] = {}
        self.escaped = 0
        """Bits of values that something outside the function may refer to, and write or read."""
        for param in survey.function.params:
            self._disown(param)
            if is_container(param.type):
                self.escaped |= 1 << survey.number[param]
        self._visit(survey.function.body)
        self.masks: dict[int, int] = {}
        for number in range(len(survey.values)):
            if self._has[number]:
                root = self._find(number)
                self.masks[root] = self.masks.get(root, 0) | 1 << number
        self._not_owned = self._spread()

    # ---- answers

    def root(self, value: Value) -> int | None:
        """The class of a value; None if it has no memory that could be written."""
        number = self.survey.number[value]
        return self._find(number) if self._has[number] else None

    def mask(self, value: Value) -> int:
        """The bits of all values in the class."""
        root = self.root(value)
        return 0 if root is None else self.masks[root]

    def is_owned(self, value: Value) -> bool:
        """Whether the value is memory made in this function, not a view or part of other memory."""
        return self.survey.number[value] not in self._not_owned

    # ---- building

    def _find(self, number: int) -> int:
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def _join(self, a: Value, b: Atom) -> None:
        if isinstance(b, Value):
            i, j = self.survey.number[a], self.survey.number[b]
            if self._has[i] and self._has[j]:
                self._parent[self._find(i)] = self._find(j)

    def _disown(self, value: Value) -> None:
        self._disowned.append(self.survey.number[value])

    def _flow(self, target: Value, source: Atom) -> None:
        """``target`` may be the very object ``source`` is."""
        self._join(target, source)
        if isinstance(source, Value):
            number = self.survey.number
            self._flows.setdefault(number[source], []).append(number[target])
        elif has_memory(target.type) and not isinstance(
            source.value, (int, float, complex, str, type(None), np.generic)
        ):
            self._disown(target)

    def _spread(self) -> set[int]:
        found: set[int] = set()
        work = list(self._disowned)
        while work:
            number = work.pop()
            if number not in found:
                found.add(number)
                work.extend(self._flows.get(number, ()))
        return found

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            self._visit_op(op)

    def _visit_op(self, op: Op) -> None:
        match op:
            case Apply(callee=callee, result=result):
                self._apply(callee, result, op)
            case Effect(callee=callee, result=result):
                harmless = id(callee) in _HARMLESS
                for atom in (*op.args, *(a for _, a in op.keywords)):
                    if isinstance(atom, Value) and not harmless:
                        self.escaped |= 1 << self.survey.number[atom]
                    if result is not None:
                        self._join(result, atom)
                if result is not None:
                    self._disown(result)
            case Update(target=target, version=version, result=result):
                self._flow(version, target)
                if not isinstance(target.type, Array):
                    for atom in op.args:
                        self._join(target, atom)
                if result is not None:
                    self._join(result, target)
                    self._disown(result)
            case Accumulate(target=target, version=version):
                # in place only if the target is owned, new otherwise: the version is owned
                self._join(version, target)
            case If(then=then, orelse=orelse, results=results):
                self._visit(then)
                self._visit(orelse)
                for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                    self._flow(result, a)
                    self._flow(result, b)
            case For(streams=streams, carried=carried, body=body, results=results):
                count = len(streams)
                for stream, target in zip(streams, body.params[:count], strict=True):
                    match stream:
                        case Items(sequence=sequence):
                            self._join(target, sequence)
                            self._disown(target)
                        case Range():
                            pass
                self._visit(body)
                self._loop(body.params[count:], carried, body.yields, results)
            case While(carried=carried, test=test, body=body, results=results):
                self._visit(test)
                self._visit(body)
                self._loop(test.params, carried, body.yields, results)
                for param, tested in zip(body.params, test.params, strict=True):
                    self._flow(param, tested)
            case With(manager=manager, body=body, results=results):
                if isinstance(manager, Value):
                    self.escaped |= 1 << self.survey.number[manager]
                for param in body.params:
                    self._join(param, manager)
                    self._disown(param)
                self._visit(body)
                for result, atom in zip(results, body.yields, strict=True):
                    self._flow(result, atom)
            case Try(body=body, handlers=handlers, final=final, results=results):
                for inner in (body, *(h.body for h in handlers)):
                    for param in inner.params:
                        self._disown(param)
                    self._visit(inner)
                    for result, atom in zip(results, inner.yields, strict=True):
                        self._flow(result, atom)
                if final is not None:
                    self._visit(final)
            case Call(args=args, results=results):
                for result in results:
                    self._disown(result)
                    for atom in args:
                        self._join(result, atom)
                for result in results[1:]:
                    self._join(result, results[0])

    def _loop(
        self,
        params: tuple[Value, ...],
        carried: tuple[Atom, ...],
        yields: tuple[Atom, ...],
        results: tuple[Value, ...],
    ) -> None:
        # the stop flag, if any, is the last yield and flows nowhere
        for param, start, following, result in zip(params, carried, yields, results, strict=False):
            self._flow(param, start)
            self._flow(param, following)
            self._flow(result, param)

    def _apply(self, callee: Callable[..., Any], result: Value, op: Apply) -> None:
        if not has_memory(result.type):
            return
        if isinstance(result.type, (Array, Unknown)):
            if makes_array(callee, op):
                return
            self._disown(result)
        elif isinstance(result.type, (ListType, DictType, TupleType)):
            if not makes_container(callee):
                self._disown(result)
        else:
            self._disown(result)
        for atom in op.args:
            self._join(result, atom)
        for _, atom in op.keywords:
            self._join(result, atom)
