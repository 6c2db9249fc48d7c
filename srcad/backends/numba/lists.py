"""Lists of numbers that keep their length are arrays.

    x_list = tolist(x)                  |    (x_list is x)
    x_list_bar = mul(make_list(0.0), n) |    x_list_bar = zeros(n)
    x_bar = array(x_list_bar)           |    (x_bar is x_list_bar)

Plain Python is faster on lists; Numba is not, and hands lists over item by item.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.backends.classes import Classes, Places, variables
from srcad.backends.numba.stores import dtype_of_number
from srcad.backends.numba.writing import Writer
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
    Literal,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_list
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, ListType, Number, Type
from srcad.ir.walk import map_atoms

_MAKE_LISTS = (operator.mul, runtime.copied, builtins.list)
"""What makes a list of a list."""


def lists_to_arrays(function: Function) -> Function:
    """The function with arrays for lists of numbers that nothing is added to or taken from.

    A parameter or result that is such a list becomes an array too.
    """
    found = _Analysis(function)
    return function if not found.members else _Rewriter(found).function()


def array_of(kind: Type) -> Array | None:
    """What a list becomes."""
    rank = 0
    while isinstance(kind, ListType):
        kind, rank = kind.item, rank + 1
    if not rank or not isinstance(kind, Number):
        return None
    if kind.kind == "real":  # integers among floats stay what they are
        return None
    return Array(np.dtype(dtype_of_number(kind)).name, (None,) * rank)


def vector_of(kind: Type) -> Array | None:
    """What a list of numbers becomes."""
    found = array_of(kind)
    return found if found is not None and found.dims == (None,) else None


class _Analysis:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.places = Places(function)
        self.classes: Classes = variables(function)
        self.members: dict[Value, list[Value]] = {}
        self.written: set[Value] = set()
        """Classes that are written."""
        every: dict[Value, list[Value]] = {}
        for value in self.places.home:
            every.setdefault(self.classes.find(value), []).append(value)
        for key, members in every.items():
            kinds = {array_of(v.type) for v in members}
            if len(kinds) == 1 and None not in kinds:
                self.members[key] = members
        bad = [k for k, members in self.members.items() if not all(map(self._is_plain, members))]
        for key in bad:
            del self.members[key]
        # a copy between a list that stays one and one that does not has no form
        while bad := [
            k for k, members in self.members.items() if not all(map(self._joins, members))
        ]:
            for key in bad:
                del self.members[key]

    def is_array(self, atom: Atom) -> bool:
        return isinstance(atom, Value) and self.classes.find(atom) in self.members

    def _joins(self, value: Value) -> bool:
        made = self.places.made.get(value)
        if vector_of(value.type) is None and self.classes.find(value) in self.written:
            return False
        read = isinstance(made, Apply) and made.callee is operator.getitem
        if read and self.classes.find(value) in self.written:
            return False
        if isinstance(made, Apply) and read and not self.is_array(made.args[0]):
            return False
        if any(
            isinstance(op, Apply)
            and op.callee is operator.getitem
            and array_of(op.result.type) is not None
            and not self.is_array(op.result)
            for op in self.places.users.get(value, ())
        ):
            return False
        if isinstance(made, Apply) and made.callee in (runtime.copied, builtins.list):
            source = made.args[0]
            if not self.is_array(source) and array_of(atom_type(source)) is not None:
                return False
        if (
            isinstance(made, Apply)
            and made.callee is operator.mul
            and not self.is_array(made.args[0])
        ):
            return False
        return all(
            self.is_array(op.result)
            for op in self.places.users.get(value, ())
            if isinstance(op, Apply) and op.callee in _MAKE_LISTS
        )

    def _is_plain(self, value: Value) -> bool:
        made = self.places.made.get(value)
        match made:
            case None if self._is_item(value):
                return False
            case None | If() | For() | While():
                pass
            case Update() | Accumulate():
                self.written.add(self.classes.find(value))
            case Apply():
                if not self._makes(made):
                    return False
            case _:
                return False
        return all(self._use_is_plain(op, value) for op in self.places.users.get(value, ()))

    def _is_item(self, value: Value) -> bool:
        """Whether a loop hands a value out of a sequence."""
        owner = self.places.owner.get(self.places.home[value])
        return isinstance(owner, For) and value in owner.targets

    def _makes(self, op: Apply) -> bool:
        if op.callee is np.ndarray.tolist:
            kind = atom_type(op.args[0])
            wanted = array_of(op.result.type)
            return isinstance(kind, Array) and wanted is not None and kind.dtype == wanted.dtype
        if op.callee is operator.getitem:
            return array_of(atom_type(op.args[0])) is not None
        if vector_of(op.result.type) is None:
            return False
        if op.callee is make_list:
            return bool(op.args) and all(isinstance(atom_type(a), Number) for a in op.args)
        if op.callee is operator.mul:
            first = self.places.made.get(op.args[0]) if isinstance(op.args[0], Value) else None
            return (
                isinstance(first, Apply)
                and first.callee is make_list
                and len(first.args) == 1
                and isinstance(atom_type(first.args[0]), Number)
            )
        return op.callee in (runtime.copied, builtins.list) and (
            isinstance(atom_type(op.args[0]), (ListType, Array))
        )

    def _use_is_plain(self, op: Op, value: Value) -> bool:
        match op:
            case For() | While() | If():
                return True
            case Update(callee=operator.setitem, target=target, args=args, result=None):
                return target is value and _is_integer(args[0]) and value not in args
            case Accumulate(target=target, index=index):
                return target is value and index is not None and _is_integer(index)
            case Apply(callee=callee, args=args):
                if callee is operator.getitem:
                    return args[0] is value and _is_integer(args[1])
                return callee in (len, np.array, *_MAKE_LISTS)
        return False


def _is_integer(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind == "int"


class _Rewriter:
    def __init__(self, found: _Analysis) -> None:
        self.found = found
        self.names: dict[Value, Atom] = {}

    def function(self) -> Function:
        function = self.found.function
        params = tuple(map(self._define, function.params))
        return replace(function, params=params, body=self._block(function.body))

    def _define(self, value: Value) -> Value:
        if not self.found.is_array(value):
            return value
        kind = array_of(value.type)
        assert kind is not None
        made = Value(value.hint, kind)
        self.names[value] = made
        return made

    def _read(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, Value) else atom

    def _block(self, block: Block) -> Block:
        params = tuple(map(self._define, block.params))
        writer = Writer()
        for op in block.ops:
            self._op(op, writer)
        return Block(params, tuple(writer.ops), tuple(map(self._read, block.yields)))

    def _op(self, op: Op, writer: Writer) -> None:
        match op:
            case Apply(result=result) if self.found.is_array(result):
                self._make(op, writer)
            case Apply(callee=np.array, args=(Value() as listed,), keywords=()) if (
                self.found.is_array(listed)
            ):
                self._to_array(op, listed, writer)
            case For(body=body):
                inner = map_atoms(replace(op, body=Block((), (), ())), self._read, lambda v: v)
                made = self._block(body)
                assert isinstance(inner, For)
                results = tuple(map(self._define, op.results))
                writer.ops.append(replace(inner, body=made, results=results))
            case While(test=test, body=body):
                carried = tuple(map(self._read, op.carried))
                tested, made = self._block(test), self._block(body)
                results = tuple(map(self._define, op.results))
                writer.ops.append(
                    replace(op, carried=carried, test=tested, body=made, results=results)
                )
            case If(then=then, orelse=orelse):
                test_ = self._read(op.test)
                sides = self._block(then), self._block(orelse)
                results = tuple(map(self._define, op.results))
                writer.ops.append(
                    replace(op, test=test_, then=sides[0], orelse=sides[1], results=results)
                )
            case With() | Try():
                writer.ops.append(map_atoms(op, self._read, self._define))
            case Update() | Accumulate():
                writer.ops.append(map_atoms(op, self._read, self._define))
            case Apply() | Effect() | Call():
                writer.ops.append(map_atoms(op, self._read, lambda v: v))

    def _make(self, op: Apply, writer: Writer) -> None:
        found = self.found
        is_written = found.classes.find(op.result) in found.written
        args = tuple(map(self._read, op.args))
        if op.callee is np.ndarray.tolist and not is_written and args[0] in found.function.params:
            self.names[op.result] = args[0]
            return
        made = self._define(op.result)
        if op.callee is make_list:
            if self._is_repeated(op):
                self.names[op.result] = args[0]  # the item, until it is repeated
                return
            listed = writer.apply(make_list, *args, kind=op.result.type, loc=op.loc)
            writer.ops.append(Apply(np.array, (listed,), (), made, op.loc))
        elif op.callee is operator.mul:
            first = found.places.made[op.args[0]]  # type: ignore[index]
            assert isinstance(first, Apply)
            item = self._read(first.args[0])
            if isinstance(item, Literal) and repr(item.value) == "0.0":
                writer.ops.append(Apply(np.zeros, (args[1],), (), made, op.loc))
            else:
                writer.ops.append(Apply(np.full, (args[1], item), (), made, op.loc))
        elif op.callee is operator.getitem:
            writer.ops.append(Apply(op.callee, args, (), made, op.loc))
        else:
            writer.ops.append(Apply(np.ndarray.copy, (args[0],), (), made, op.loc))

    def _is_repeated(self, op: Apply) -> bool:
        users = self.found.places.users.get(op.result, ())
        return bool(users) and all(isinstance(u, Apply) and u.callee is operator.mul for u in users)

    def _to_array(self, op: Apply, listed: Value, writer: Writer) -> None:
        """``np.array(xs)``: the list itself, if nobody else has it."""
        source = self._read(listed)
        assert isinstance(source, Value)
        users = self.found.places.users[listed]
        alone = len(users) == 1 and listed not in self.found.places.yielded
        made = self.found.places.made.get(listed)
        written = self.found.classes.find(listed) in self.found.written
        if alone and written and isinstance(made, (For, While, Accumulate, Update)):
            self.names[op.result] = source
            return
        writer.ops.append(Apply(np.ndarray.copy, (source,), (), op.result, op.loc))
