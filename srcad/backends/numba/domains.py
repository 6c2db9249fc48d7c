"""Functions of numbers are checked where Python raises: compiled, they return nan or inf.

    y = sqrt(x)          |  t = lt(x, 0.0)
                         |  if t
                         |    raise Unforeseen
                         |  y = sqrt(x)

    y = exp(x)           |  y = exp(x); t = isfinite(y); t.2 = not_(t)
                         |  if t.2
                         |    raise Unforeseen

A nan that goes into a comparison would be a wrong branch without a word.  Where a check fails the
plain code is run: it raises, or has the value.  A power with a positive integer is a product, which
is infinite where ``**`` raises OverflowError.
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
from srcad.ir import Apply, Atom, Block, Effect, Function, If, Literal, Op, Value
from srcad.ir.core import raise_error
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, FLOAT, Number, NumPyScalar
from srcad.ir.walk import map_blocks

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
    writer = Writer()
    for op in block.ops:
        if isinstance(op, Apply):
            _apply(op, writer)
        elif isinstance(op, Effect) and isinstance(op.callee, np.ufunc):
            continue  # it would warn
        elif isinstance(op, Effect) and op.callee in _CHECKED:
            result = op.result or Value("", FLOAT)  # computed for what it raises
            _apply(Apply(op.callee, op.args, op.keywords, result, op.loc), writer)
        else:
            writer.ops.append(map_blocks(op, _block))
    return Block(block.params, tuple(writer.ops), block.yields)


def _apply(op: Apply, writer: Writer) -> None:
    callee, args = op.callee, op.args
    try:
        hash(callee)
    except TypeError:
        writer.ops.append(op)
        return
    if callee in _BELOW:
        compare, bound = _BELOW[callee]
        _refuse_if(writer.apply(compare, args[0], Literal(bound), kind=BOOL), op, writer)
    elif callee in _WITHIN:
        size = writer.apply(builtins.abs, args[0], kind=FLOAT)
        _refuse_if(writer.apply(_WITHIN[callee], size, Literal(1.0), kind=BOOL), op, writer)
    elif callee in _TO_INTEGER and _is_float(args[0]) and len(args) == 1:
        size = writer.apply(builtins.abs, args[0], kind=FLOAT)
        small = writer.apply(operator.lt, size, Literal(_LARGEST), kind=BOOL)
        _refuse_if(writer.apply(operator.not_, small, kind=BOOL), op, writer)
    writer.ops.append(op)
    if callee in _PARTIAL or (_is_power(callee) and _may_raise(op)):
        test = cmath.isfinite if atom_type(op.result) == Number("complex") else math.isfinite
        finite = writer.apply(test, op.result, kind=BOOL)
        _refuse_if(writer.apply(operator.not_, finite, kind=BOOL), op, writer)


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


def _refuse_if(test: Value, op: Apply, writer: Writer) -> None:
    raising: Op = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, op.loc)
    writer.ops.append(If(test, Block((), (raising,), ()), Block((), (), ()), (), op.loc))
