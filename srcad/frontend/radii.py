"""Even powers of a radius, which are smooth where the radius itself has a kink.

    abs(x) ** 2, np.square(abs(x))     |    x * x
    abs(z) ** 2 of complex z           |    real(z) * real(z) + imag(z) * imag(z)
    hypot(x, y) ** 2                   |    x * x + y * y
    norm(x, axis=1) ** 2               |    sum(x * x, axis=1)
    std(x) * std(x)                    |    var(x)
    sqrt(x * x + y * y) ** 2           |    x * x + y * y

The chain rule meets the kink at 0, where the derivative of the radius is a convention or is none:
the second derivative of the power would not be found by it.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Atom, Literal
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.numbers import number_of
from srcad.ir.simplify.shortcuts import is_not_negative
from srcad.ir.types import Array, Number, dims_of, dtype_of, is_complex

_MODULUS = (operator.abs, abs, np.absolute, np.fabs, math.fabs)
_HYPOT = (np.hypot, math.hypot)
_ROOTS = (np.sqrt, math.sqrt)
_POWERS = (operator.pow, np.power, np.float_power, math.pow)
_PRODUCTS = (operator.mul, np.multiply)
_PARAMETERS = ("x", "ord", "axis", "keepdims")
"""Of `np.linalg.norm`."""


def even_power(b: Builder, function: Any, args: tuple[Atom, ...]) -> Atom | None:
    """A call that is an even power of a radius, from what the radius is made of."""
    match args:
        case (radius,) if function is np.square:
            times = 1
        case (radius, other) if function in _PRODUCTS and _is_same(b, radius, other):
            times = 1
        case (radius, exponent) if function in _POWERS and _is_even(exponent):
            times = int(number_of(exponent) or 0) // 2
        case _:
            return None
    square = _square(b, radius)
    if square is None or times == 1:
        return square
    return b.apply(operator.pow, square, Literal(times))


def _is_same(b: Builder, radius: Atom, other: Atom) -> bool:
    """Whether both are one value, or the same call."""
    first, second = b.recipe(radius), b.recipe(other)
    if radius is other or first is None or second is None:
        return radius is other
    what, again = ((op.callee, op.args, op.keywords) for op in (first, second))
    return what == again


def _is_even(exponent: Atom) -> bool:
    number = number_of(exponent)
    return number is not None and 2 <= number <= 1e6 and number % 2 == 0


def _square(b: Builder, radius: Atom) -> Atom | None:
    op = b.recipe(radius)
    if op is None or not all(map(_is_inexact, op.args[:1])):
        return None
    if any(isinstance(atom_type(a), Array) for a in op.args) and not b.made_here(op.result):
        return None  # arrays may be written before this block runs again
    if op.callee in _ROOTS and len(op.args) == 1 and is_not_negative(b, op.args[0]):
        return op.args[0]
    if op.callee in _MODULUS and len(op.args) == 1 and not op.keywords:
        return _modulus_squared(b, op.args[0])
    if op.callee in _HYPOT and len(op.args) == 2 and all(map(_is_inexact, op.args)):
        return b.apply(operator.add, *(b.apply(operator.mul, x, x) for x in op.args))
    if op.callee is np.linalg.norm:
        return _norm_squared(b, op)
    if op.callee is np.std:
        named: dict[str, Any] = dict(op.keywords)
        return b.apply(np.var, *op.args, **named)
    return None


def _is_inexact(x: Atom) -> bool:
    """Whether something is known to be of floats, or of complex numbers."""
    kind = atom_type(x)
    if isinstance(kind, Number):
        return kind.kind in ("float", "complex")
    return np.dtype(dtype_of(kind) or bool).kind in "fc"


def _modulus_squared(b: Builder, x: Atom) -> Atom:
    if is_complex(atom_type(x)):
        return b.apply(runtime.modulus_squared, x)
    return b.apply(operator.mul, x, x)


def _norm_squared(b: Builder, op: Apply) -> Atom | None:
    """Of the Euclidean norm of vectors and the Frobenius norm of matrices."""
    given = {**dict(zip(_PARAMETERS, op.args, strict=False)), **dict(op.keywords)}
    order, axis = given.get("ord", Literal(None)), given.get("axis", Literal(None))
    if not (isinstance(order, Literal) and isinstance(axis, Literal)):
        return None
    x = given["x"]
    is_vector = len(dims_of(atom_type(x)) or ()) == 1 or isinstance(axis.value, int)
    if order.value not in ((None, 2) if is_vector else (None, "fro")):
        return None
    named: dict[str, Any] = {k: v for k, v in given.items() if k in ("axis", "keepdims")}
    return b.apply(np.sum, _modulus_squared(b, x), **named)
