"""Indices that are not proven to lie within their array are checked.

    y = getitem(x, k)        |  t = len(x); t.2 = ge(k, t); t.3 = lt(k, neg(t))
                             |  if or(t.2, t.3)
                             |    raise IndexError
                             |  y = getitem(x, k)

Numba reads and writes out of bounds without a word.  Its own checks (``boundscheck=True``) stand at
each index, proven or not, and a loop with one of them is not vectorised.  Where a check fails, the
function itself is run, so that its own exception comes from its own line.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from srcad.analysis.affine import Affine, Symbol
from srcad.analysis.integers import Facts
from srcad.backends import ROOM
from srcad.backends.numba.writing import Writer, rewritten
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
    Loc,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_tuple, raise_error
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, INT, Array, Dim, Number, NumPyScalar
from srcad.ir.walk import blocks

_ERROR = IndexError("index out of bounds")
Assumption = tuple[tuple[tuple[tuple[Value, int], int], ...], int]
"""A sum of multiples of sizes of arguments, and a number."""


def check_bounds(function: Function) -> Function:
    """The function with checks of the indices that are not proven to be right."""
    first = _Checker(function, {})
    first.block(function.body)
    checker = _Checker(function, first.wanted)
    body = checker.block(function.body)
    return replace(function, body=replace(body, ops=(*checker.entry(), *body.ops)))


class _Checker:
    """Checks the indices of a block.

    What only depends on the sizes of arguments is ``wanted``, and checked once, if the index is
    used on all paths: once that is assumed, other indices may be proven too.
    """

    def __init__(self, function: Function, assumed: dict[Assumption, None]) -> None:
        self.params = set(function.params)
        self.named = _named_sizes(function)
        self.facts = Facts()
        self.wanted: dict[Assumption, None] = {}
        self.assumed = assumed
        self.facts.assumed = [self._form(a) for a in assumed]
        self._choices = 0
        """How many branches and loops on conditions the present block is in."""

    # ---- assumptions

    def _form(self, assumption: Assumption) -> Affine:
        terms, number = assumption
        form = Affine(number)
        for (param, axis), count in terms:
            form += self.facts.size(param, axis).times(count)
        return form

    def _want(self, form: Affine) -> None:
        """Assume that a sum is not negative, if it says something of arguments alone."""
        if self._choices:
            return
        for found in self._of_arguments(form, 4):
            terms = tuple((place, c) for s, c in found.terms if (place := self._place(s)))
            if terms and found.const < 0:
                self.wanted[terms, found.const] = None
                return

    def _place(self, symbol: Symbol) -> tuple[Value, int] | None:
        """The argument and its axis whose size a symbol is."""
        name = self.facts.name_of(symbol)
        if name is not None:
            return self.named.get(name)
        if symbol.axis is not None and symbol.value in self.params:
            return symbol.value, symbol.axis
        return None

    def _of_arguments(self, form: Affine, depth: int) -> Iterator[Affine]:
        """Sums of sizes of arguments that are no more than a sum."""
        others = [s for s in form.symbols if self._place(s) is None]
        if not others:
            yield form
        elif depth:
            for bound in self.facts.bounds_of(others[-1], dict(form.terms)[others[-1]]):
                yield from self._of_arguments(form.put(others[-1], bound), depth - 1)

    def entry(self) -> list[Op]:
        """The checks of what is assumed."""
        writer = Writer()
        for terms, number in self.assumed:
            total: Atom = Literal(number)
            for (param, axis), count in terms:
                size = writer.mul(self._length(param, axis, writer), Literal(count))
                total = writer.add(total, size)
            _refuse([writer.apply(operator.lt, total, Literal(0), kind=BOOL)], None, writer)
        return writer.ops

    def block(self, block: Block) -> Block:
        return rewritten(block, self._op)

    def _op(self, op: Op, writer: Writer) -> None:
        for array, index, loc in _accesses(op):
            self._check(array, index, loc, writer)
        facts = self.facts
        match op:
            case Apply():
                facts.made[op.result] = op
                facts.integers.add(op.result)
                if op.callee is np.ndarray.copy and isinstance(op.args[0], Value):
                    facts.same_shape[op.result] = op.args[0]
                writer.ops.append(op)
            case (
                Update(target=target, version=version)
                | Accumulate(target=Value() as target, version=version)
            ):
                facts.same_shape[version] = target
                writer.ops.append(op)
            case For(body=body):
                self._carry(op, op.carried_params)
                facts.enter_loop(op)
                writer.ops.append(replace(op, body=self._inside(body, [])))
            case While(test=test, body=body):
                self._carry(op, op.test.params)
                for param, tested in zip(body.params, test.params, strict=True):
                    facts.same_shape[param] = tested
                self._choices += 1
                made = self._inside(test, [])
                holds = self._holds(test.yields[0], True) if len(test.ops) <= 4 else []
                for tested, param in zip(test.params, body.params, strict=True):
                    (symbol,) = facts.symbol(tested).symbols
                    holds = [form.put(symbol, facts.symbol(param)) for form in holds]
                writer.ops.append(replace(op, test=made, body=self._inside(body, holds)))
                self._choices -= 1
            case If(test=test, then=then, orelse=orelse):
                self._choices += 1
                sides = (
                    self._inside(then, self._holds(test, True)),
                    self._inside(orelse, self._holds(test, False)),
                )
                self._choices -= 1
                for result, a, b in zip(op.results, then.yields, orelse.yields, strict=True):
                    same = isinstance(a, Value) and isinstance(b, Value)
                    if same and isinstance(result.type, Array) and facts.root(a) is facts.root(b):  # type: ignore[arg-type]
                        facts.same_shape[result] = facts.root(a)  # type: ignore[arg-type]
                writer.ops.append(replace(op, then=sides[0], orelse=sides[1]))
            case With(body=body):
                writer.ops.append(replace(op, body=self._inside(body, [])))
            case Try(body=body, handlers=handlers, final=final):
                made_handlers = tuple(replace(h, body=self._inside(h.body, [])) for h in handlers)
                writer.ops.append(
                    replace(
                        op,
                        body=self._inside(body, []),
                        handlers=made_handlers,
                        final=None if final is None else self._inside(final, []),
                    )
                )
            case _:
                writer.ops.append(op)

    def _inside(self, block: Block, holds: list[Affine]) -> Block:
        """A block in which some sums are not negative."""
        before = list(self.facts.known)
        self.facts.known += holds
        made = self.block(block)
        self.facts.known = before
        return made

    def _carry(self, op: For | While, params: tuple[Value, ...]) -> None:
        """Arrays that a loop writes keep their shape."""
        for param, start, following, result in zip(
            params, op.carried, op.body.yields, op.results, strict=False
        ):
            if not isinstance(param.type, Array) or not isinstance(start, Value):
                continue
            if _root_in(op.body, following) in (param, *_twins(op, param)):
                self.facts.same_shape[param] = start
                self.facts.same_shape[result] = start

    def _holds(self, test: Atom, value: bool) -> list[Affine]:
        """Sums that are not negative where a test has a value."""
        op = self.facts.made.get(test) if isinstance(test, Value) else None
        if op is None or len(op.args) != 2 or op.keywords or not all(map(_is_integer, op.args)):
            return []
        a, b = map(self.facts.form, op.args)
        less, more = b - a, a - b  # a <= b, a >= b
        match op.callee, value:
            case (operator.lt, True) | (operator.ge, False):
                return [less - 1]
            case (operator.le, True) | (operator.gt, False):
                return [less]
            case (operator.gt, True) | (operator.le, False):
                return [more - 1]
            case (operator.ge, True) | (operator.lt, False):
                return [more]
            case (operator.eq, True) | (operator.ne, False):
                return [less, more]
        return []

    # ---- one access

    def _check(self, array: Value, index: Atom, loc: Loc | None, writer: Writer) -> None:
        for axis, part in self._parts(array, index):
            kind = atom_type(part)
            if isinstance(kind, Array) and kind.dtype != "bool":
                self._check_many(array, axis, part, loc, writer)
            elif _is_integer(part):
                self._check_one(array, axis, part, loc, writer)

    def _parts(self, array: Value, index: Atom) -> Iterator[tuple[int, Atom]]:
        """The axes of an array, and what picks items of them."""
        parts: tuple[Atom, ...] = (index,)
        if isinstance(index, Literal) and isinstance(index.value, tuple):
            parts = tuple(map(Literal, index.value))
        elif isinstance(index, Value):
            op = self.facts.made.get(index)
            if op is not None and op.callee is make_tuple:
                parts = op.args
        axis = 0
        assert isinstance(array.type, Array)
        for place, part in enumerate(parts):
            if isinstance(part, Literal) and part.value is None:
                continue
            if isinstance(part, Literal) and part.value is Ellipsis:
                later = sum(
                    not (isinstance(p, Literal) and p.value is None) for p in parts[place + 1 :]
                )
                axis = (len(array.type.dims) if array.type.dims else 0) - later
                continue
            yield axis, part
            axis += 1

    def _check_one(
        self, array: Value, axis: int, index: Atom, loc: Loc | None, writer: Writer
    ) -> None:
        facts = self.facts
        size, place = facts.size(array, axis), facts.form(index)
        below = size - place - 1
        above = place + size
        right = facts.is_positive(below)
        left = facts.is_positive(place) or facts.is_positive(above)
        if right and left:
            return
        if not right:
            self._want(below)
        length = self._length(array, axis, writer)
        tests: list[Value] = []
        if not right:
            tests.append(writer.apply(operator.ge, index, length, kind=BOOL))
        if not left:
            least = writer.apply(operator.neg, length, kind=INT)
            tests.append(writer.apply(operator.lt, index, least, kind=BOOL))
        _refuse(tests, loc, writer)
        facts.known += [f for f, ok in ((below, right), (above, left)) if not ok]

    def _check_many(
        self, array: Value, axis: int, index: Atom, loc: Loc | None, writer: Writer
    ) -> None:
        length = self._length(array, axis, writer)
        count = writer.apply(np.size, index, kind=INT)
        some = writer.apply(operator.gt, count, Literal(0), kind=BOOL)
        inner = Writer()
        least = inner.apply(operator.neg, length, kind=INT)
        low = inner.apply(np.min, index, kind=INT)
        high = inner.apply(np.max, index, kind=INT)
        _refuse(
            [
                inner.apply(operator.ge, high, length, kind=BOOL),
                inner.apply(operator.lt, low, least, kind=BOOL),
            ],
            loc,
            inner,
        )
        writer.ops.append(If(some, Block((), tuple(inner.ops), ()), Block((), (), ()), (), loc))

    def _length(self, array: Value, axis: int, writer: Writer) -> Value:
        if axis == 0:
            return writer.apply(len, array, kind=INT)
        shape = writer.apply(np.shape, array, kind=atom_type(Literal((1,))))
        return writer.apply(operator.getitem, shape, Literal(axis), kind=INT)


def _named_sizes(function: Function) -> dict[str, tuple[Value, int]]:
    """By name of a size: an argument that has it, and along which axis."""
    found: dict[str, tuple[Value, int]] = {}
    for param in function.params:
        dims = param.type.dims if isinstance(param.type, Array) else None
        for axis, dim in enumerate(dims or ()):
            if isinstance(dim, Dim) and isinstance(dim.base, str) and not dim.drop:
                found.setdefault(dim.base, (param, axis))
    return found


def _refuse(tests: list[Value], loc: Loc | None, writer: Writer) -> None:
    test = tests[0]
    for other in tests[1:]:
        test = writer.apply(operator.or_, test, other, kind=BOOL)
    raising = Effect(raise_error, (Literal(_ERROR),), (), None, loc)
    writer.ops.append(If(test, Block((), (raising,), ()), Block((), (), ()), (), loc))


def _accesses(op: Op) -> Iterator[tuple[Value, Atom, Loc | None]]:
    """The arrays that an operation reads or writes by an index."""
    match op:
        case Apply(callee=callee, args=(Value(type=Array()) as array, index)) if (
            callee is operator.getitem
        ):
            yield from _unless_tape(array, index, op.loc)
        case Update(target=Value(type=Array()) as array, args=(index, _), path=()):
            yield from _unless_tape(array, index, op.loc)
        case Accumulate(target=Value(type=Array()) as array, index=index) if index is not None:
            yield from _unless_tape(array, index, op.loc)


def _unless_tape(
    array: Value, index: Atom, loc: Loc | None
) -> Iterator[tuple[Value, Atom, Loc | None]]:
    assert isinstance(array.type, Array)
    if array.type.dims != (ROOM,):
        yield array, index, loc


def _root_in(block: Block, atom: Atom) -> Value | None:
    """The array that a version in a block was made of."""
    made: dict[Value, Op] = {}
    for op in block.ops:
        for result in (*_versions(op),):
            made[result] = op
    while isinstance(atom, Value):
        op_ = made.get(atom)
        match op_:
            case Update(target=target) | Accumulate(target=target):
                atom = target
            case Apply(callee=np.ndarray.copy, args=(source,)):
                atom = source
            case For() | While():
                place = op_.results.index(atom)
                atom = op_.carried[place]
            case If():
                place = op_.results.index(atom)
                sides = {_root_in(b, b.yields[place]) for b in blocks(op_)}
                if len(sides) != 1:
                    return None
                atom = sides.pop() or Literal(None)
            case _:
                return atom
    return None


def _versions(op: Op) -> tuple[Value, ...]:
    match op:
        case Update(version=version) | Accumulate(version=version):
            return (version,)
        case Apply(result=result):
            return (result,)
        case For() | While() | If():
            return op.results
    return ()


def _twins(op: For | While, param: Value) -> tuple[Value, ...]:
    if isinstance(op, While):
        return (op.body.params[op.test.params.index(param)],)
    return ()


def _is_integer(atom: Atom) -> bool:
    kind = atom_type(atom)
    if isinstance(kind, NumPyScalar):
        return np.dtype(kind.dtype).kind in "iu"
    return isinstance(kind, Number) and kind.kind == "int"
