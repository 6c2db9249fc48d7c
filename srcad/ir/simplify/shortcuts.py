"""Shorter ways to the same value, for derivative code: what saves an operation.

    2 * (0.5 * x)                  |    x
    2 * ((0.5 * x)[:, None] * y)   |    x[:, None] * y
    np.sum(-x)                     |    -np.sum(x)
    np.sum(x * y)                  |    x @ y              vectors of equal length
    np.sum(x * y)                  |    np.vdot(x, y)      arrays of equal shapes
    np.expand_dims(x, 1)           |    x[:, None]
    np.sum(x, axis=0)              |    x.sum(axis=0)      an array for certain

Each answers None where it does not apply.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad import runtime
from srcad.ir.core import Apply, Atom, Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.numbers import number_of
from srcad.ir.types import FLOAT, Array, Number, Type, dims_of, same_shape

if TYPE_CHECKING:
    from srcad.ir.build import Builder

_ALL = slice(None)


def constant_product(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A number times a product with a number, or a quotient of one.

    One of them is a power of two, so that rounding is the same in either order.
    """
    for this, other in ((x, y), (y, x)):
        factor = number_of(this)
        found = _scaled(b, factor, other, 1) if factor else _scaled_quotient(b, this, other)
        if found is not None:
            return found
    return _without_factor(b, x, y) or _without_factor(b, y, x)


def _without_factor(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """`(0.5 * v)[:, None] * (2 * w)`: the number goes to the other one, of fewer elements."""
    inner, column = b.recipe(y), b.recipe(x)
    if inner is None or inner.callee is not operator.mul or not _adds_axes(column):
        return None
    factor, rest = number_of(inner.args[0]), inner.args[1]
    if not factor or atom_type(rest) != atom_type(y):
        return None
    scaled = _scaled(b, factor, x, 1)
    return None if scaled is None else b.apply(operator.mul, scaled, rest)


def _adds_axes(op: Apply | None) -> bool:
    """Whether an operation gives an array new axes, and does nothing else."""
    if op is None or op.callee is not operator.getitem:
        return False
    return isinstance(atom_type(op.args[0]), Array) and without_new_axes(op.args[1]) is not None


def _scaled_quotient(b: Builder, quotient: Atom, product: Atom) -> Atom | None:
    """`(1 / n) * 2` or `(1 / n) * (2 * x)`: 2 goes to the 1.

    Of arrays, where division costs more, only `(1 / (2 * v)) * (2 * x)`: it goes.
    """
    op = b.recipe(quotient)
    if op is None or op.callee is not operator.truediv:
        return None
    above, below = number_of(op.args[0]), op.args[1]
    inner = b.recipe(product)
    factor, rest = number_of(product), None
    if factor is None and inner is not None and inner.callee is operator.mul:
        factor, rest = number_of(inner.args[0]), inner.args[1]
    if above is None or not factor or not _is_power_of_two(factor):
        return None
    if not isinstance(op.result.type, Number):
        double = b.recipe(below)
        if rest is None or double is None or double.callee is not operator.mul:
            return None
        if number_of(double.args[0]) != factor or atom_type(double.args[1]) != op.result.type:
            return None
        made = b.apply(operator.truediv, Literal(above), double.args[1])
        return b.apply(operator.mul, made, rest)
    made = b.apply(operator.truediv, Literal(above * factor), below)
    return made if rest is None else b.apply(operator.mul, made, rest)


def _scaled(b: Builder, factor: float, product: Atom, depth: int) -> Atom | None:
    op = b.recipe(product)
    if op is not None and _adds_axes(op):
        scaled = _scaled(b, factor, op.args[0], depth)
        return None if scaled is None else b.apply(operator.getitem, scaled, op.args[1])
    if op is None or op.callee is not operator.mul or not _is_of_floats(op.result.type):
        return None
    for inner, rest in (op.args, op.args[::-1]):
        known = number_of(inner)
        if known is None or not _is_of_floats(atom_type(rest)):
            continue
        if not (_is_power_of_two(factor) or _is_power_of_two(known)):
            return None
        both = factor * known
        if both == 1:
            return rest if atom_type(rest) == op.result.type else None
        if not math.isfinite(both) or both == 0:
            return None
        return b.apply(operator.mul, Literal(both), rest)
    if depth:
        left, right = op.args
        shorter = _scaled(b, factor, left, depth - 1)
        inner_op = b.recipe(left)
        if shorter is None or inner_op is None:
            return None
        if shorter in inner_op.args or _adds_axes(inner_op):
            return b.apply(operator.mul, shorter, right)
    return None


def _is_of_floats(kind: Type) -> bool:
    return isinstance(kind, Array) or kind == FLOAT


def _is_power_of_two(value: float) -> bool:
    return math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5


def total(b: Builder, x: Atom, **named: Any) -> Atom:
    """The sum of an array: of what it is the negative of, as an inner product, by the method."""
    if not b.shorten:
        return b.apply(np.sum, x, **named)
    number = scalar_of(b, x)
    if not named and number is not x and isinstance(atom_type(number), Number):
        return b.apply(operator.mul, number, b.apply(np.size, x))
    negative = b.negated(x)
    if negative is not None:
        return b.apply(operator.neg, total(b, negative, **named))
    op = b.recipe(x)
    if not named and op is not None and op.callee in (operator.mul, runtime.times):
        left, right = op.args
        kinds = atom_type(left), atom_type(right)
        if all(map(_is_of_doubles, kinds)) and kinds[0] == kinds[1] and same_shape(*kinds):
            if op.callee is runtime.times:
                return b.apply(runtime.inner, left, right)
            callee = operator.matmul if len(dims_of(kinds[0]) or ()) == 1 else np.vdot
            return b.apply(callee, left, right)
    if isinstance(atom_type(x), Array) and dims_of(atom_type(x)) != ():
        return b.apply(np.ndarray.sum, x, **named)
    return b.apply(np.sum, x, **named)


def _is_of_doubles(kind: Any) -> bool:
    return isinstance(kind, Array) and kind.dtype == "float64" and bool(kind.dims)


def new_axes(b: Builder, x: Atom, axes: Atom) -> Atom | None:
    """New axes of an array of known rank, by an index."""
    dims = dims_of(atom_type(x))
    if not dims or not isinstance(axes, Literal) or not isinstance(atom_type(x), Array):
        return None
    places = axes.value if isinstance(axes.value, tuple) else (axes.value,)
    if not all(type(p) is int for p in places):
        return None
    rank = len(dims) + len(places)
    new = {p % rank for p in places if -rank <= p < rank}
    if len(new) != len(places):
        return None
    last = max(k for k in range(rank) if k in new or k == 0)
    index = tuple(None if k in new else _ALL for k in range(last + 1))
    return b.apply(operator.getitem, x, Literal(index if len(index) > 1 else index[0]))


def without_new_axes(index: Atom) -> tuple[Any, ...] | None:
    """For an index that only adds axes: the index that takes them away again."""
    if not isinstance(index, Literal):
        return None
    parts = index.value if isinstance(index.value, tuple) else (index.value,)
    if not all(p is None or p is Ellipsis or (isinstance(p, slice) and p == _ALL) for p in parts):
        return None
    return tuple(0 if p is None else p for p in parts) if None in parts else None


def leading_axes(index: Atom) -> bool:
    """Whether an index adds axes before all others, and does nothing else."""
    if not isinstance(index, Literal):
        return False
    parts = index.value if isinstance(index.value, tuple) else (index.value,)
    new = [p is None for p in parts]
    rest = parts[sum(new) :]
    return any(new) and all(new[: sum(new)]) and all(type(p) is slice and p == _ALL for p in rest)


# ---- divisors that are not zero

_NOT_NEGATIVE = frozenset(
    {
        *(np.exp, math.exp, np.exp2, np.sqrt, math.sqrt, np.square, np.cosh, math.cosh),
        *(np.absolute, math.fabs, abs, operator.abs, np.hypot, math.hypot, np.linalg.norm),
        *(np.var, np.std, np.ndarray.var, np.ndarray.std, np.nanvar, np.nanstd),
    }
)
_OF_PARTS = frozenset(
    {
        *(np.sum, np.ndarray.sum, np.mean, np.ndarray.mean),
        *(operator.getitem, np.reshape, np.broadcast_to, np.expand_dims, np.transpose),
    }
)
_ROOTS_AND_PARTS = frozenset(
    {
        *(np.sqrt, math.sqrt, np.mean, np.ndarray.mean),
        *(operator.getitem, np.reshape, np.broadcast_to, np.expand_dims, np.transpose),
    }
)
_DEPTH = 6


def is_off_zero(b: Builder, x: Atom, depth: int = _DEPTH) -> bool:
    """Whether a number, or all of an array, is larger than some positive number: 1 + exp(x)."""
    value = number_of(x)
    if value is not None:
        return value > 0
    op = b.origin(x)
    if op is None or not depth or not op.args:
        return False
    if op.callee in (operator.add, np.add):
        left, right = op.args
        return any(
            is_off_zero(b, p, depth - 1) and is_not_negative(b, q, depth - 1)
            for p, q in ((left, right), (right, left))
        )
    if op.callee in (operator.mul, np.multiply):
        return all(is_off_zero(b, a, depth - 1) for a in op.args)
    if op.callee is np.maximum:
        return any(is_off_zero(b, a, depth - 1) for a in op.args)
    return op.callee in _ROOTS_AND_PARTS and is_off_zero(b, op.args[0], depth - 1)


def is_not_negative(b: Builder, x: Atom, depth: int = _DEPTH) -> bool:
    """Whether a number, or all of an array, is seen to be at least 0: a sum of squares."""
    value = number_of(x)
    if value is not None:
        return value >= 0
    op = b.origin(x)
    if op is None or not depth or not op.args:
        return False
    if op.callee in _NOT_NEGATIVE:
        return True
    if op.callee in (operator.mul, np.multiply) and op.args[0] is op.args[1]:
        return True
    if op.callee in (operator.pow, np.power):
        power = number_of(op.args[1])
        return power is not None and power == int(power) and int(power) % 2 == 0
    if op.callee in (operator.add, operator.mul, np.add, np.multiply):
        return all(is_not_negative(b, a, depth - 1) for a in op.args)
    return op.callee in _OF_PARTS and is_not_negative(b, op.args[0], depth - 1)


def is_bounded(b: Builder, x: Atom) -> bool:
    """Whether a coefficient cannot be infinite where what it is made of is finite."""
    op = b.origin(x)
    if op is None or op.callee not in (operator.truediv, np.divide):
        return False
    return number_of(op.args[0]) is not None and is_off_zero(b, op.args[1])


def repeated_number(b: Builder, atom: Atom) -> Atom | None:
    """The number that a broadcast with new axes repeats."""
    op = b.recipe(atom) if isinstance(atom, Value) else None
    while op is not None and (
        op.callee is np.expand_dims
        or (op.callee is operator.getitem and without_new_axes(op.args[1]) is not None)
    ):
        op = b.recipe(op.args[0])
        if op is not None and op.callee is np.broadcast_to:
            found = op.args[0]
            return found if dims_of(atom_type(found)) == () else None
    return None


def scalar_of(b: Builder, atom: Atom) -> Atom:
    """The number that a broadcast repeats; the atom itself if it is no such."""
    op = b.recipe(atom) if isinstance(atom, Value) else None
    if op is None or op.callee is not np.broadcast_to or dims_of(atom_type(op.args[0])) != ():
        return atom
    return op.args[0]
