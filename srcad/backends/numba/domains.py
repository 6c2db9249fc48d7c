"""Functions of numbers are checked where Python raises: compiled, they return nan or inf.

    y = sqrt(x)          |  t = lt(x, 0.0)
    z = exp(y)           |  y = sqrt(x)
                         |  z = exp(y); t.2 = isfinite(z); t.3 = not_(t.2)
                         |  t.4 = or(t, t.3)
                         |  if t.4
                         |    raise Unforeseen

A nan that goes into a comparison would be a wrong branch without a word.  Where a check fails the
plain code is run: it raises, or has the value.  One check stands for all of a block, before what
repeats or chooses: a branch for each would keep the compiler from rearranging what is between.
Of a loop that ends whatever is computed in it the check is made after it, so that the loop may be
vectorised:

    for i in …               |  bad.3 = for i in … with bad = False
      y = exp(x[i])          |    y = exp(x[i])
                             |    bad.2 = or(bad, not isfinite(y))
                             |  if bad.3
                             |    raise Unforeseen

A power with a positive integer is a product, which is infinite where ``**`` raises OverflowError.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.backends.numba.writing import Writer
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    Function,
    If,
    Literal,
    Loc,
    Op,
    Try,
    Value,
    While,
    With,
)
from srcad.ir.core import raise_error
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, FLOAT, Number, NumPyScalar
from srcad.ir.walk import blocks, map_blocks

_BELOW: dict[Callable[..., object], tuple[Callable[..., object], float]] = {
    math.sqrt: (operator.lt, 0.0),
    math.log: (operator.le, 0.0),
    math.log2: (operator.le, 0.0),
    math.log10: (operator.le, 0.0),
    math.log1p: (operator.le, -1.0),
    math.acosh: (operator.lt, 1.0),
}
"""Functions that raise for what is less than a number, or is it."""

_WITHIN: dict[Callable[..., object], Callable[..., object]] = {
    math.asin: operator.gt,
    math.acos: operator.gt,
    math.atanh: operator.ge,
}
"""Functions that raise for what is further from 0 than 1, or as far."""

_PARTIAL = {
    math.sin, math.cos, math.tan, math.exp, math.expm1, math.sinh, math.cosh, math.gamma,
    math.lgamma, math.pow, math.fmod, math.hypot, cmath.exp, cmath.log, cmath.sin, cmath.cos,
    cmath.tan, cmath.sqrt, cmath.sinh, cmath.cosh,
}  # fmt: skip
"""Functions that raise for some numbers, where compiled code has a result that is not finite."""

_TO_INTEGER = {builtins.int, builtins.round, math.floor, math.ceil, math.trunc}
_LARGEST = float(2**62)
_CHECKED = {*_BELOW, *_WITHIN, *_PARTIAL, *_TO_INTEGER}


def check_domains(function: Function) -> Function:
    """The function with checks of what functions of numbers are given, or return."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    checker = _Checker()
    for op in block.ops:
        checker.add(op)
    checker.flush()
    return Block(block.params, tuple(checker.writer.ops), block.yields)


def _later(block: Block) -> tuple[Block, Value | None]:
    """The block, and whether a check in it fails: to be asked later."""
    checker = _Checker(waits=True)
    for op in block.ops:
        checker.add(op)
    bad = checker.bad_now()
    return Block(block.params, tuple(checker.writer.ops), block.yields), bad


def _ends(op: Op) -> bool:
    """Whether an operation ends, and soon, whatever the numbers are that it computes with."""
    if isinstance(op, (While, With, Try, Call)):
        return False
    if isinstance(op, Apply) and any(op.callee is callee for callee in _TO_INTEGER):
        return False  # how often a loop runs
    return all(_ends(inner) for block in blocks(op) for inner in block.ops)


class _Checker:
    """Checks the operations of a block."""

    def __init__(self, waits: bool = False) -> None:
        """``waits``: the checks may be made after what the block is in."""
        self.waits = waits
        self.writer = Writer()
        self.bad: list[Value] = []
        """Tests that must not hold, and are not asked yet."""
        self.good: list[Value] = []
        """Tests that must."""
        self.loc: Loc | None = None

    def add(self, op: Op) -> None:
        """Append an operation."""
        writer = self.writer
        if isinstance(op, Apply):
            self._apply(op)
        elif isinstance(op, Effect) and isinstance(op.callee, np.ufunc):
            pass  # it would warn
        elif isinstance(op, Effect) and op.callee in _CHECKED:
            result = op.result or Value("", FLOAT)  # computed for what it raises
            self._apply(Apply(op.callee, op.args, op.keywords, result, op.loc))
        else:
            chooses = isinstance(op, (For, While, With, Try, Call)) or not _only_raises(op)
            if chooses and not self.waits:
                self.flush()
            if isinstance(op, For) and not op.stops and _ends(op):
                self._for(op)
            elif isinstance(op, If) and self.waits:
                self._if(op)
            else:
                writer.ops.append(map_blocks(op, _block))

    def _for(self, op: For) -> None:
        body, found = _later(op.body)
        if found is None:
            self.writer.ops.append(replace(op, body=body))
            return
        start, end = Value("bad", BOOL), Value("bad", BOOL)
        bad = Value("bad", BOOL)
        either = Apply(operator.or_, (start, found), (), bad, op.loc)
        params, yields = (*body.params, start), (*body.yields, bad)
        body = Block(params, (*body.ops, either), yields)
        carried, results = (*op.carried, Literal(False)), (*op.results, end)
        self.writer.ops.append(replace(op, carried=carried, body=body, results=results))
        self.loc = self.loc or op.loc
        self.bad.append(end)

    def _if(self, op: If) -> None:
        sides = _later(op.then), _later(op.orelse)
        results = op.results
        if any(bad is not None for _, bad in sides):
            found = Value("bad", BOOL)
            results = (*results, found)
            self.bad.append(found)
            sides = tuple(  # type: ignore[assignment]
                (replace(b, yields=(*b.yields, Literal(False) if bad is None else bad)), bad)
                for b, bad in sides
            )
        (then, _), (orelse, _) = sides
        self.writer.ops.append(replace(op, then=then, orelse=orelse, results=results))
        self.loc = self.loc or op.loc

    def bad_now(self) -> Value | None:
        """Whether one of the checks that have not been made fails; None if there are none."""
        bad = self.bad
        if self.good:
            good = self._all(operator.and_, self.good)
            bad = [*bad, self.writer.apply(operator.not_, good, kind=BOOL)]
        self.bad, self.good = [], []
        return self._all(operator.or_, bad) if bad else None

    def flush(self) -> None:
        """Write the check of what has not been checked."""
        test = self.bad_now()
        if test is None:
            return
        raising: Op = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, self.loc)
        empty = Block((), (), ())
        self.writer.ops.append(If(test, Block((), (raising,), ()), empty, (), self.loc))

    def _all(self, callee: Callable[..., object], tests: list[Value]) -> Value:
        made = tests[0]
        for test in tests[1:]:
            made = self.writer.apply(callee, made, test, kind=BOOL)
        return made

    def _apply(self, op: Apply) -> None:
        callee, args, writer = op.callee, op.args, self.writer
        try:
            hash(callee)
        except TypeError:
            writer.ops.append(op)
            return
        self.loc = op.loc or self.loc
        if callee in _BELOW:
            compare, bound = _BELOW[callee]
            self.bad.append(writer.apply(compare, args[0], Literal(bound), kind=BOOL))
        elif callee in _WITHIN:
            size = writer.apply(builtins.abs, args[0], kind=FLOAT)
            self.bad.append(writer.apply(_WITHIN[callee], size, Literal(1.0), kind=BOOL))
        elif callee in _TO_INTEGER and _is_float(args[0]) and len(args) == 1:
            size = writer.apply(builtins.abs, args[0], kind=FLOAT)
            self.good.append(writer.apply(operator.lt, size, Literal(_LARGEST), kind=BOOL))
            self.flush()  # it may be an index
        writer.ops.append(op)
        if callee in _PARTIAL or (_is_power(callee) and _may_raise(op)):
            is_complex = atom_type(op.result) == Number("complex")
            test = cmath.isfinite if is_complex else math.isfinite
            self.good.append(writer.apply(test, op.result, kind=BOOL))


def _only_raises(op: Op) -> bool:
    """Whether an operation is a check."""
    if not isinstance(op, If):
        return not isinstance(op, Effect)
    return not op.results and all(isinstance(o, Effect) for o in (*op.then.ops, *op.orelse.ops))


def _is_power(callee: Callable[..., object]) -> bool:
    return callee is operator.pow or callee is builtins.pow


def _may_raise(op: Apply) -> bool:
    """Whether a power is one of floats that may not be a float."""
    if not isinstance(op.result.type, Number) or op.result.type.kind in ("int", "bool"):
        return False
    exponent = op.args[1]
    whole = isinstance(exponent, Literal) and type(exponent.value) in (int, float)
    if whole and isinstance(exponent, Literal):
        return not (exponent.value >= 0 and exponent.value == int(exponent.value))
    return True


def _is_float(atom: Atom) -> bool:
    kind = atom_type(atom)
    if isinstance(kind, NumPyScalar):
        return kind.dtype.startswith("float")
    return isinstance(kind, Number) and kind.kind in ("float", "real")
