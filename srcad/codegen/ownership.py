"""How an accumulation is written: in place where nobody else sees the memory, else as a new value.

    x_bar += t               the array is owned, or a number
    x_bar[i] += t            owned, the index picks each element once
    np.add.at(x_bar, i, t)   owned, the index may repeat elements of a vector
    runtime.add_at(x_bar, …) owned, the index may repeat rows: `np.add.at` takes them one by one
    x_bar = x_bar + t        not owned, or its shape or dtype may change

``x_bar`` is owned if it was made in this function by an operation whose result shares no memory
(``np.broadcast_to`` and other views do not qualify), through whatever branches and loops it came;
and if, after the write, no other value that may share its memory is read any more.
"""

from __future__ import annotations

import operator
from enum import Enum, auto

import numpy as np

from srcad.codegen.disjoint import Disjoint
from srcad.codegen.liveness import Liveness
from srcad.codegen.memory import Memory, has_memory
from srcad.codegen.survey import Survey
from srcad.ir.core import Accumulate, Apply, Atom, For, If, Literal, Update, Value, make_tuple
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    Unknown,
)
from srcad.ir.walk import all_ops


class Reach(Enum):
    """What an index picks."""

    BASIC = auto()
    """Every element at most once."""
    REPEATING = auto()
    """Perhaps an element several times."""
    UNKNOWN = auto()
    """Not known."""


class Form(Enum):
    """The statement an accumulation prints as."""

    ADD = auto()
    """``x = x + t``"""
    ADD_IN_PLACE = auto()
    """``x += t``"""
    ITEM_IN_PLACE = auto()
    """``x[i] += t``"""
    ITEM_ADD = auto()
    """``x[i] = x[i] + t``"""
    KEY_ADD = auto()
    """``d[k] = d.get(k, 0.0) + t``"""
    ADD_AT = auto()
    """``np.add.at(x, i, t)``"""
    RUNTIME_ADD_AT = auto()
    """``runtime.add_at(x, i, t)``"""


class Ownership:
    """Answers for the accumulations of one function."""

    def __init__(self, survey: Survey, memory: Memory, liveness: Liveness) -> None:
        self.survey = survey
        self.memory = memory
        self.liveness = liveness
        self.disjoint = Disjoint(survey, memory)
        self._in_place: dict[Accumulate | Update, bool] = {}
        self._carried: dict[Value, tuple[For, int]] = {}
        """The loop that a parameter is carried through, and its place in what is carried."""
        for op in all_ops(survey.function.body):
            if isinstance(op, For):
                self._carried.update((p, (op, k)) for k, p in enumerate(op.carried_params))

    def in_place(self, op: Accumulate | Update) -> bool:
        """Whether the memory of the target may be written."""
        if op not in self._in_place:
            self._in_place[op] = self._is_in_place(op)
        return self._in_place[op]

    def _is_in_place(self, op: Accumulate | Update) -> bool:
        target = op.target
        if not isinstance(target, Value):
            return False
        if not has_memory(target.type):
            return True
        if not self.memory.is_owned(target):
            return False
        number = self.survey.number
        alive = self.liveness.after[op] & ~(1 << number[op.version])
        own = self.memory.identity(target)
        if not self.memory.sees(alive, own):
            return True
        made = self._made_since(target, number[op.version])
        if made is not None and not self.memory.sees_since(made[0], alive, made[1]):
            return True
        return self.disjoint.from_all(target, alive)

    def _made_since(self, target: Value, end: int) -> tuple[int, int] | None:
        """Since when the memory of a target is there, and its roots; None if older has got it.

        The time is the number of a value: what has a smaller one, and is still there, was made
        before that memory was, in this iteration of the loops around it.  ``end`` is the number of
        the version that is made from the target.
        """
        number = self.survey.number
        since, own = len(number), 0
        work, seen, looped = [target], {target}, False
        while work:
            value = work.pop()
            own |= self.memory.identity(value)
            op = self.survey.definition.get(value)
            sources: tuple[Atom | None, ...]
            match op:
                case Accumulate() if not looped and not self.in_place(op):
                    since, sources = min(since, number[value]), ()  # memory of its own
                case Accumulate(version=version) | Update(version=version) if version is value:
                    sources = (op.target,)
                case Apply():
                    since, sources = min(since, number[value]), ()
                case If():
                    place = op.results.index(value)
                    sources = tuple(side.yields[place] for side in (op.then, op.orelse))
                case For():
                    place = op.results.index(value) + len(op.streams)
                    sources, looped = (op.body.params[place],), True
                case None if value in self._carried:
                    # of an earlier iteration may be what the loop's own parameters are
                    loop, place = self._carried[value]
                    since = min(since, number[loop.body.params[0]])
                    sources, looped = (loop.carried[place], loop.body.yields[place]), True
                case _:
                    return None
            for source in sources:
                if isinstance(source, Value) and source not in seen:
                    seen.add(source)
                    work.append(source)
        stored = self.memory.stored_between(since, len(number) if looped else end)
        return None if self.memory.sees(stored, own) else (since, own)

    def form(self, op: Accumulate) -> Form:
        """How to print an accumulation; forms with an index may need a copy first."""
        kind = op.target.type if isinstance(op.target, Value) else op.version.type
        if op.index is None:
            if isinstance(kind, (Number, NumPyScalar)):
                return Form.ADD_IN_PLACE
            if isinstance(kind, Array) and self._is_steady(op) and self.in_place(op):
                return Form.ADD_IN_PLACE
            return Form.ADD
        reach = self.reach(op.index)
        match kind:
            case DictType():
                return Form.KEY_ADD
            case ListType() | TupleType():
                if reach is not Reach.BASIC or not self._is_integer(op.index):
                    return Form.RUNTIME_ADD_AT
                return Form.ITEM_IN_PLACE if _holds_numbers(kind) else Form.ITEM_ADD
            case Array() if reach is Reach.BASIC:
                return Form.ITEM_IN_PLACE
            case Array(dims=(_,)) if reach is Reach.REPEATING and _is_vector(op.index):
                return Form.ADD_AT
        return Form.RUNTIME_ADD_AT

    def _is_steady(self, op: Accumulate) -> bool:
        """Whether adding cannot change the shape or dtype."""
        kind = op.version.type
        if (
            not isinstance(kind, Array)
            or not isinstance(op.target, Value)
            or op.target.type != kind
        ):
            return False
        return kind.dtype is not None and kind.dims is not None and None not in kind.dims

    def shares_memory(self, target: Atom, term: Atom) -> bool:
        """Whether a term may share memory with the target it is added to."""
        if not isinstance(target, Value) or not isinstance(term, Value):
            return False
        return bool(self.memory.identity(target) & self.memory.reach(term))

    # ---- indices

    def reach(self, index: Atom) -> Reach:
        """What an index of an array picks."""
        if isinstance(index, Literal):
            return _reach_of_object(index.value)
        op = self.survey.definition.get(index)
        if isinstance(op, Apply) and op.callee is make_tuple:
            return _reach_of_items([self.reach(a) for a in op.args])
        if isinstance(op, Apply) and op.callee is slice:
            return Reach.BASIC
        return _reach_of_type(index.type)

    def _is_integer(self, index: Atom) -> bool:
        if isinstance(index, Literal):
            return isinstance(index.value, (int, np.integer))
        match index.type:
            case Number(kind="int" | "bool"):
                return True
            case NumPyScalar(dtype=dtype):
                return np.dtype(dtype).kind in "iu"
        return False


def _holds_numbers(kind: Type) -> bool:
    match kind:
        case ListType(item=item):
            return isinstance(item, (Number, NumPyScalar))
        case TupleType(items=items):
            return all(isinstance(item, (Number, NumPyScalar)) for item in items)
    return False


def _is_vector(index: Atom) -> bool:
    """Whether an index is one array of one axis, the case for which `np.add.at` is made."""
    if isinstance(index, Literal):
        return np.ndim(index.value) == 1
    return isinstance(index.type, Array) and len(index.type.dims or ()) == 1


def _reach_of_items(parts: list[Reach]) -> Reach:
    if all(part is Reach.BASIC for part in parts):
        return Reach.BASIC
    return Reach.UNKNOWN if Reach.UNKNOWN in parts else Reach.REPEATING


def _reach_of_object(value: object) -> Reach:
    match value:
        case None | bool() | int() | slice() | np.integer() | np.bool_():
            return Reach.BASIC
        case tuple():
            return _reach_of_items([_reach_of_object(v) for v in value])
        case np.ndarray():
            return Reach.BASIC if value.dtype.kind == "b" else Reach.REPEATING
        case list():
            return Reach.REPEATING
    return Reach.BASIC if value is Ellipsis else Reach.UNKNOWN


def _reach_of_type(kind: Type) -> Reach:
    match kind:
        case (
            Number(kind="int" | "bool") | NumPyScalar() | Opaque(name="slice" | "None" | "ellipsis")
        ):
            return Reach.BASIC
        case Array(dtype="bool"):
            return Reach.BASIC
        case Array() | ListType():
            return Reach.REPEATING if not isinstance(kind, Array) or kind.dtype else Reach.UNKNOWN
        case TupleType(items=items, cls=cls):
            if cls is list:
                return Reach.REPEATING
            return _reach_of_items([_reach_of_type(item) for item in items])
    return Reach.UNKNOWN


def negated(op: object) -> Atom | None:
    """What a negation negates; None for other operations."""
    match op:
        case Apply(callee=callee, args=(inner,), keywords=()):
            return inner if callee is operator.neg or callee is np.negative else None
    return None


def copies_by_method(kind: Type) -> bool:
    """Whether values of this type have a ``copy`` method."""
    return isinstance(kind, (Array, ListType, DictType, TupleType)) and not isinstance(
        kind, Unknown
    )
