"""Names that may have no value where they are read go with a flag that says whether they have.

b.2 = if t                   |    b.2, flag = if t
  yield b                    |      yield b, True
else                         |    else
  yield UNDEFINED            |      yield UNDEFINED, False
effect check_bound(b.2)      |    t.2 = not_(flag)
                             |    if t.2
                             |      raise Unforeseen
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad import runtime
from srcad.backends.classes import Places
from srcad.backends.numba.writing import Writer
from srcad.ir import Atom, Block, Effect, For, Function, If, Literal, Op, Value, While
from srcad.ir.core import Undefined, check_bound, raise_error
from srcad.ir.types import BOOL
from srcad.ir.walk import all_ops, map_blocks


def flag_unbound(function: Function) -> Function:
    """The function with flags for names that are asked whether they have a value."""
    asked = [
        op.args[0]
        for op in all_ops(function.body)
        if isinstance(op, Effect) and op.callee is check_bound
    ]
    if not asked:
        return function
    flags = _Flags(function)
    for atom in asked:
        flags.need(atom)
    return replace(function, body=flags.block(function.body))


class _Flags:
    def __init__(self, function: Function) -> None:
        self.places = Places(function)
        self.flags: dict[Value, Value] = {}
        """The flags of the values that may be none."""

    def need(self, atom: Atom) -> None:
        """Note that a value, and all that it may be, get flags."""
        todo = [atom]
        while todo:
            value = todo.pop()
            if not isinstance(value, Value) or value in self.flags:
                continue
            sources = self._sources(value)
            if sources:
                self.flags[value] = Value("has_value", BOOL)
                todo += sources

    def _sources(self, value: Value) -> list[Atom]:
        """What a value is handed on from, and what it goes with; nothing if it is made."""
        owner = self.places.made.get(value)
        place = None
        if isinstance(owner, (If, For, While)):
            place = owner.results.index(value)
        elif owner is None and value not in self.places.function.params:
            block = self.places.home[value]
            owner = self.places.owner[block]
            place = block.params.index(value)
            if isinstance(owner, For):
                place -= len(owner.streams)
        match owner:
            case If():
                assert place is not None
                return [owner.then.yields[place], owner.orelse.yields[place]]
            case For() | While() if place is not None and place >= 0:
                params = [owner.carried_params[place]]
                if isinstance(owner, While):
                    params.append(owner.test.params[place])
                return [
                    owner.carried[place], owner.body.yields[place], owner.results[place], *params,
                ]  # fmt: skip
        return []

    def of(self, atom: Atom) -> Atom:
        """The flag of an atom."""
        if isinstance(atom, Literal):
            return Literal(not isinstance(atom.value, Undefined))
        return self.flags.get(atom, Literal(True))

    def block(self, block: Block, handed: tuple[int, ...] = (), at: int | None = None) -> Block:
        """The block with flags for some of what it hands on, put at a place."""
        writer = Writer()
        for op in block.ops:
            self._op(op, writer)
        more = tuple(self.of(block.yields[k]) for k in handed)
        at = len(block.yields) if at is None else at
        yields = (*block.yields[:at], *more, *block.yields[at:])
        return Block(block.params, tuple(writer.ops), yields)

    def _op(self, op: Op, writer: Writer) -> None:
        match op:
            case Effect(callee=callee) if callee is check_bound:
                self._check(op, writer)
            case If():
                places = self._flagged(op.results)
                more = tuple(self.flags[op.results[k]] for k in places)
                then, orelse = self.block(op.then, places), self.block(op.orelse, places)
                writer.ops.append(
                    replace(op, then=then, orelse=orelse, results=(*op.results, *more))
                )
            case For() | While():
                writer.ops.append(self._loop(op))
            case _:
                writer.ops.append(map_blocks(op, self.block))

    def _flagged(self, values: tuple[Value, ...]) -> tuple[int, ...]:
        return tuple(k for k, v in enumerate(values) if v in self.flags)

    def _loop(self, op: For | While) -> Op:
        places = self._flagged(op.results)
        body = self._params(
            self.block(op.body, places, len(op.results)), len(op.targets), places, op.body
        )
        carried = (*op.carried, *(self.of(op.carried[k]) for k in places))
        results = (*op.results, *(self.flags[op.results[k]] for k in places))
        if isinstance(op, For):
            return replace(op, carried=carried, body=body, results=results)
        test = self._params(self.block(op.test), 0, places, op.test)
        return replace(op, carried=carried, test=test, body=body, results=results)

    def _params(self, made: Block, first: int, places: tuple[int, ...], of: Block) -> Block:
        flags = tuple(self.flags[of.params[first + k]] for k in places)
        return replace(made, params=(*made.params, *flags))

    def _check(self, op: Effect, writer: Writer) -> None:
        flag = self.of(op.args[0])
        if flag == Literal(True):
            return
        absent = writer.apply(operator.not_, flag, kind=BOOL)
        raising = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, op.loc)
        writer.ops.append(If(absent, Block((), (raising,), ()), Block((), (), ()), (), op.loc))
