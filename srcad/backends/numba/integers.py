"""Integers that may not fit in 64 bits are checked: Python's have no end, Numba's wrap around.

    f.2 = mul(f, k)      |  f.2 = mul(f, k)
                         |  t = mul(float(f), float(k)); t.2 = gt(abs(t), 9e18)
                         |  if t.2
                         |    raise OverflowError

How many bits an integer can have is found from what it is made of: a size has 40, an argument 50,
which is checked once, and a loop that counts is over before its counter has more.  What a loop
multiplies has no bound.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from srcad.backends.numba.taped import Tapes
from srcad.backends.numba.writing import Writer, rewritten
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Items,
    Literal,
    Loc,
    Op,
    Range,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_tuple, raise_error, select
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, FLOAT, Number, Type
from srcad.ir.walk import all_ops

_SIZE, _ARGUMENT, _STEPS, _MOST, _ANY = 40, 50, 50, 63, 64
_LARGEST = 9.2e18
_ERROR = OverflowError("integer of more than 64 bits")


def check_integers(function: Function) -> Function:
    """The function with checks of the integers that may not fit."""
    growing = any(isinstance(op, Apply) and op.callee in _GROWING for op in all_ops(function.body))
    if not growing:
        return function
    checker = _Checker(function)
    head = Writer()
    for param in function.params:
        if _is_int(param):
            checker.bits[param] = _ARGUMENT
            _refuse_beyond(param, float(2**_ARGUMENT), function.loc, head)
    body = checker.block(function.body)
    return replace(function, body=Block((), (*head.ops, *body.ops), body.yields))


_GROWING = {operator.add, operator.sub, operator.mul, operator.pow, operator.lshift}


class _Items:
    """How many bits the integers have that are kept in lists, and in tuples in lists."""

    def __init__(self, function: Function) -> None:
        tapes = Tapes(function)
        self.classes, self.places = tapes.classes, tapes.places
        self._left: dict[Value, int] = {}
        """How many more appends to a list there are."""
        self._bits: dict[tuple[Value, int | None], int] = {}
        for op in all_ops(function.body):
            if isinstance(op, Update) and op.callee is list.append:
                key = self.classes.find(op.target)
                self._left[key] = self._left.get(key, 0) + 1

    def keep(self, op: Update, of: Callable[[Atom], int]) -> None:
        """Note what is appended."""
        key, item = self.classes.find(op.target), op.args[0]
        self._left[key] -= 1
        made = self.places.made.get(item) if isinstance(item, Value) else None
        parts: list[tuple[int | None, Atom]] = [(None, item)]
        if isinstance(made, Apply) and made.callee is make_tuple:
            parts = list(enumerate(made.args))
        for place, atom in parts:
            if _is_int(atom):
                self._bits[key, place] = max(self._bits.get((key, place), 0), of(atom))

    def of(self, target: Value, place: int | None) -> int:
        """The bits of the items, or of a part of them, that a loop reads; all are known by then."""
        owner = self.places.owner.get(self.places.home[target])
        if not isinstance(owner, For) or target not in owner.targets:
            return _ANY
        stream = owner.streams[owner.body.params.index(target)]
        if not isinstance(stream, Items) or not isinstance(stream.sequence, Value):
            return _ANY
        key = self.classes.find(stream.sequence)
        return _ANY if self._left.get(key) != 0 else self._bits.get((key, place), _ANY)


class _Checker:
    def __init__(self, function: Function) -> None:
        self.bits: dict[Value, int] = {}
        self.items = _Items(function)

    def of(self, atom: Atom) -> int:
        """How many bits an integer has at most."""
        if isinstance(atom, Literal):
            value = atom.value
            return value.bit_length() if isinstance(value, int) else _ANY
        if isinstance(atom.type, Number) and atom.type.size is not None:
            return _SIZE
        return self.bits.get(atom, _ANY)

    def block(self, block: Block) -> Block:
        return rewritten(block, self._op)

    def _op(self, op: Op, writer: Writer) -> None:
        match op:
            case Apply(result=result):
                if op.callee is operator.pow and _is_int(*op.args):
                    self._power(op, writer)
                    return
                writer.ops.append(op)
                if _is_int(result):
                    bits = self._made(op)
                    if bits > _MOST and op.callee in _GROWING and _is_int(*op.args):
                        self._check(op, writer)
                        bits = _MOST
                    self.bits[result] = bits
            case For(streams=streams, body=body):
                for stream, target in zip(streams, body.params, strict=False):
                    match stream:
                        case Range(start=start, stop=stop, step=step):
                            most = min(self.of(stop), _STEPS + self.of(step))
                            self.bits[target] = min(max(self.of(start), most) + 1, _ANY)
                        case Items() if _is_int(target):
                            self.bits[target] = self.items.of(target, None)
                self._carried(body.params[len(streams) :], op.carried, body)
                writer.ops.append(replace(op, body=self.block(body)))
                self._results(op.results, op.body.params[len(streams) :])
            case While(test=test, body=body):
                self._carried(body.params, op.carried, body)
                for param, tested in zip(body.params, test.params, strict=True):
                    self.bits[tested] = self.of(param)
                writer.ops.append(replace(op, test=self.block(test), body=self.block(body)))
                self._results(op.results, body.params)
            case If(then=then, orelse=orelse):
                made = self.block(then), self.block(orelse)
                for result, a, b in zip(op.results, then.yields, orelse.yields, strict=True):
                    if _is_int(result):
                        self.bits[result] = max(self.of(a), self.of(b))
                writer.ops.append(replace(op, then=made[0], orelse=made[1]))
            case Update(callee=list.append):
                self.items.keep(op, self.of)
                writer.ops.append(op)
            case With(body=body):
                writer.ops.append(replace(op, body=self.block(body)))
            case Try(body=body, handlers=handlers, final=final):
                writer.ops.append(
                    replace(
                        op,
                        body=self.block(body),
                        handlers=tuple(replace(h, body=self.block(h.body)) for h in handlers),
                        final=None if final is None else self.block(final),
                    )
                )
            case _:
                writer.ops.append(op)

    def _carried(self, params: tuple[Value, ...], starts: tuple[Atom, ...], body: Block) -> None:
        """Counters: what a loop adds to, not more than some bits at a time."""
        made = {op.result: op for op in body.ops if isinstance(op, Apply)}
        for param, start, following in zip(params, starts, body.yields, strict=False):
            if not _is_int(param):
                continue
            op = made.get(following) if isinstance(following, Value) else None
            self.bits[param] = _ANY
            if following is param:
                self.bits[param] = self.of(start)
            elif op is not None and op.callee in (operator.add, operator.sub):
                others = [a for a in op.args if a is not param]
                if len(others) == 1 and isinstance(others[0], Literal):
                    steps = _STEPS + self.of(others[0])
                    self.bits[param] = min(max(self.of(start), steps) + 1, _ANY)

    def _results(self, results: tuple[Value, ...], params: tuple[Value, ...]) -> None:
        for result, param in zip(results, params, strict=True):
            if _is_int(result):
                self.bits[result] = min(self.of(param) + 1, _ANY)

    def _made(self, op: Apply) -> int:
        args = [self.of(a) for a in op.args if _is_int(a)]
        match op.callee:
            case operator.add | operator.sub:
                return max(args, default=_ANY) + 1
            case operator.mul:
                return sum(args) if len(args) == 2 else _ANY
            case operator.neg | operator.pos | operator.abs | builtins.abs | operator.mod:
                return max(args, default=_ANY)
            case operator.floordiv | builtins.max | builtins.min:
                return max(args, default=_ANY)
            case builtins.len | np.size | np.argmax | np.argmin:
                return _SIZE
            case operator.getitem if isinstance(op.args[0], Value) and isinstance(
                op.args[1], Literal
            ):
                place = op.args[1].value
                return self.items.of(op.args[0], place) if type(place) is int else _ANY
            case _ if op.callee is select:
                return max(self.of(op.args[1]), self.of(op.args[2]))
        return _ANY

    def _check(self, op: Apply, writer: Writer) -> None:
        floats = [_as_float(a, writer) for a in op.args]
        if op.callee is operator.lshift:
            power = writer.apply(operator.pow, Literal(2.0), floats[1], kind=FLOAT)
            around = writer.apply(operator.mul, floats[0], power, kind=FLOAT)
        else:
            around = writer.apply(op.callee, *floats, kind=FLOAT)
        _refuse_beyond(around, _LARGEST, op.loc, writer)

    def _power(self, op: Apply, writer: Writer) -> None:
        """A power of integers, which is no integer if the exponent is negative."""
        base, exponent = op.args
        known = isinstance(exponent, Literal) and exponent.value >= 0
        if not known:
            negative = writer.apply(operator.lt, exponent, Literal(0), kind=BOOL)
            _raise_if(negative, op.loc, writer)
        bits = self.of(base) * exponent.value if known and isinstance(exponent, Literal) else _ANY
        if bits > _MOST:
            floats = [_as_float(a, writer) for a in op.args]
            around = writer.apply(operator.pow, *floats, kind=FLOAT)
            _refuse_beyond(around, _LARGEST, op.loc, writer)
        writer.ops.append(op)
        self.bits[op.result] = min(bits, _MOST)


def _as_float(atom: Atom, writer: Writer) -> Atom:
    if isinstance(atom, Literal):
        return Literal(float(atom.value))
    return writer.apply(float, atom, kind=FLOAT)


def _refuse_beyond(atom: Atom, limit: float, loc: Loc | None, writer: Writer) -> None:
    size = writer.apply(builtins.abs, atom, kind=FLOAT)
    beyond = writer.apply(operator.gt, size, Literal(limit), kind=BOOL)
    _raise_if(beyond, loc, writer)


def _raise_if(test: Value, loc: Loc | None, writer: Writer) -> None:
    raising = Effect(raise_error, (Literal(_ERROR),), (), None, loc)
    writer.ops.append(If(test, Block((), (raising,), ()), Block((), (), ()), (), loc))


def _is_int(*atoms: Atom) -> bool:
    return all(_is_int_type(atom_type(a)) for a in atoms)


def _is_int_type(kind: Type) -> bool:
    return isinstance(kind, Number) and kind.kind == "int"
