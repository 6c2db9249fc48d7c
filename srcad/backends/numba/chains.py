"""What a loop does to the values that it carries: sums, and additions to elements of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcad.analysis.integers import Facts
from srcad.codegen.memory import has_memory
from srcad.ir import Accumulate, Apply, Atom, Block, Literal, Loc, Op, Update, Value
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import FLOAT, Array, Number, NumPyScalar, TupleType
from srcad.ir.walk import operands, values_read

_SIGNS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.iadd: operator.add, operator.isub: operator.sub
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """``array[index] = array[index] + term``, or with minus, in the innermost loop."""

    slot: int
    """Which carried value of the loop the array is."""
    ops: tuple[Op, ...]
    array: Value
    index: Atom
    term: Atom
    version: Value
    sign: Callable[..., Any]
    """``operator.add`` or ``operator.sub``."""
    loc: Loc | None


class Chains:
    """What happens to the carried values of a loop, from its start to its end."""

    def __init__(self, body: Block, facts: Facts) -> None:
        self.body = body
        self.facts = facts
        self.readers: dict[Value, list[Op]] = {}
        for op in body.ops:
            for value in values_read(op):
                self.readers.setdefault(value, []).append(op)

    def is_sum(self, param: Value, end: Atom) -> bool:
        """Whether terms are added to a number, and nothing else is done with it."""
        value = param
        while value is not end:
            users = self.readers.get(value, [])
            if len(users) != 1 or value in self.body.yields:
                return False
            match users[0]:
                case Apply(callee=operator.add, args=args, result=result):
                    if args.count(value) != 1:
                        return False
                    value = result
                case Accumulate(target=target, index=None, term=term, version=version):
                    if target is not value or term is value:
                        return False
                    value = version
                case _:
                    return False
        return value not in self.readers and self.body.yields.count(value) == 1

    def additions(self, slot: int, param: Value, end: Atom) -> list[Addition] | None:
        """The additions to elements that lead to the end, if nothing else is done with an array."""
        found: list[Addition] = []
        value = param
        while value is not end:
            addition = None if value in self.body.yields else self._addition(slot, value)
            if addition is None:
                return None
            found.append(addition)
            value = addition.version
        if value in self.readers or self.body.yields.count(value) != 1:
            return None
        return found

    def one_element(self, param: Value, end: Atom, counters: list[Value]) -> list[Op]:
        """What reads and writes an array, if each iteration does so at an element of its own."""
        found: list[Op] = []
        index: Atom | None = None
        value = param
        while True:
            stores = [o for o in self.readers.get(value, []) if isinstance(o, Update)]
            for op in self.readers.get(value, []):
                match op:
                    case Apply(callee=operator.getitem, args=(array, at)) if array is value:
                        pass
                    case Update(callee=operator.setitem, target=target, args=(at, new), path=()):
                        if target is not value or new is value:
                            return []
                    case _:
                        return []
                index = at if index is None else index
                if not self._same(index, at):
                    return []
                found.append(op)
            if value is end:
                break
            if len(stores) != 1 or value in self.body.yields:
                return []
            value = stores[0].version
        if index is None or self.body.yields.count(value) != 1:
            return []
        parts = parts_of(index, self.facts.made)
        return found if all(c in parts for c in counters) else []

    def _addition(self, slot: int, array: Value) -> Addition | None:
        if not isinstance(array.type, Array) or array.type.dtype != "float64":
            return None
        users = self.readers.get(array, [])
        match users:
            case [Accumulate(target=target, index=Value() | Literal() as index, term=term) as op]:
                if target is not array or not self._is_element(array, index, term):
                    return None
                return Addition(slot, (op,), array, index, term, op.version, operator.add, op.loc)
            case [Update(callee=callee, target=target, args=(index, term), path=()) as op]:
                sign = _SIGNS.get(callee)
                if sign is None or target is not array or not self._is_element(array, index, term):
                    return None
                return Addition(slot, (op,), array, index, term, op.version, sign, op.loc)
            case [Apply() as load, Update(callee=operator.setitem, path=()) as store]:
                return self._load_and_store(slot, array, load, store)
        return None

    def _load_and_store(
        self, slot: int, array: Value, load: Apply, store: Update
    ) -> Addition | None:
        index, new = store.args
        if store.target is not array or load.callee is not operator.getitem:
            return None
        if load.args[0] is not array or not self._same(load.args[1], index):
            return None
        (total,) = self.readers.get(load.result, [None]) if self._once(load.result) else (None,)
        if not isinstance(total, Apply) or total.result is not new or not self._once(new):
            return None
        match total:
            case Apply(callee=operator.add, args=(a, b)):
                term = b if a is load.result else a
            case Apply(callee=operator.sub, args=(a, term)) if a is load.result:
                pass
            case _:
                return None
        if term is load.result or not self._is_element(array, index, term):
            return None
        ops = (load, total, store)
        return Addition(slot, ops, array, index, term, store.version, total.callee, store.loc)

    def _once(self, value: Atom) -> bool:
        """Whether a value is read by one operation, once."""
        if not isinstance(value, Value) or value in self.body.yields:
            return False
        users = self.readers.get(value, [])
        return len(users) == 1 and operands(users[0]).count(value) == 1

    def _same(self, one: Atom, other: Atom) -> bool:
        made, form = self.facts.made, self.facts.form
        if one is other:
            return True
        first, second = parts_of(one, made), parts_of(other, made)
        return len(first) == len(second) and all(
            map(lambda a, b: form(a) == form(b), first, second)
        )

    def _is_element(self, array: Value, index: Atom, term: Atom) -> bool:
        """Whether an index is that of one element, and the term a real number."""
        assert isinstance(array.type, Array)
        parts = parts_of(index, self.facts.made)
        return (
            array.type.dims is not None
            and len(parts) == len(array.type.dims)
            and all(map(is_whole, parts))
            and (atom_type(term) == FLOAT or atom_type(term) == NumPyScalar("float64"))
        )


def parts_of(index: Atom, made: dict[Value, Apply]) -> tuple[Atom, ...]:
    """The integers of an index."""
    if isinstance(index, Literal) and isinstance(index.value, tuple):
        return tuple(map(Literal, index.value))
    op = made.get(index) if isinstance(index, Value) else None
    return op.args if op is not None and op.callee is make_tuple else (index,)


def is_whole(atom: Atom) -> bool:
    """Whether a value is an integer."""
    kind = atom_type(atom)
    if isinstance(kind, NumPyScalar):
        return kind.dtype in ("int64", "bool")
    return isinstance(kind, Number) and kind.kind in ("int", "bool")


def makes_memory(op: Op) -> bool:
    """Whether each run of an operation makes an array, or another view of one."""
    if not isinstance(op, Apply) or isinstance(op.result.type, TupleType):
        return False
    return has_memory(op.result.type)
