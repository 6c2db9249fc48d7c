"""Protected products and quotients of differentials, where nothing needs protection.

``runtime.over`` and ``runtime.times`` keep an entry that a branch has masked at zero, whatever its
coefficient is; they are plain operators where no branch can have been.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad import runtime
from srcad.ir.core import (
    Atom,
    Literal,
    Value,
    make_list,
    make_tuple,
    select,
)
from srcad.ir.infer import atom_type
from srcad.ir.numbers import is_real_number, number_of
from srcad.ir.sharing import SHAPE
from srcad.ir.simplify.choices import chosen_factor
from srcad.ir.simplify.shortcuts import is_bounded, is_off_zero
from srcad.ir.types import Array, Number, NumPyScalar, dtype_of, is_complex

if TYPE_CHECKING:
    from srcad.ir.build import Builder

_DEPTH = 8
"""How far back it is looked for what a differential or a coefficient is made of."""


def simplify_over(b: Builder, n: Atom, d: Atom) -> Atom | None:
    # Python floats raise where the quotient has no value, and exact code takes over
    if not b.exact and is_real_number(n) and is_real_number(d):
        if is_masked(b, n) and not is_off_zero(b, d):
            return _where_not_zero(b, (n,), operator.truediv, n, d)
        return b.apply(operator.truediv, n, d)
    if (isinstance(d, Literal) and d.value) or _is_unmasked(b, n):
        return b.apply(operator.truediv, n, d)
    if b.shorten and is_off_zero(b, d) and not is_complex(atom_type(d)):
        return b.apply(operator.truediv, n, d)
    return narrowed(b, runtime.over, n, d)


def simplify_times(b: Builder, w: Atom, v: Atom) -> Atom | None:
    turned = b.negated(v)
    if turned is not None:
        return b.apply(operator.neg, b.apply(runtime.times, w, turned))
    if b.shorten and (chosen := chosen_factor(b, w, v)) is not None:
        return chosen
    if not b.exact and is_real_number(w) and is_real_number(v):
        if is_masked(b, v) and may_be_infinite(b, w):
            return _where_not_zero(b, (v,), operator.mul, w, v)
        return b.apply(operator.mul, w, v)
    if _is_unmasked(b, v):
        return b.apply(operator.mul, w, v)
    if b.shorten and is_bounded(b, w) and not is_complex(atom_type(w)):
        return b.apply(operator.mul, w, v)
    return narrowed(b, runtime.times, w, v)


def narrowed(b: Builder, callee: Callable[..., Any], x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast that the operation does by itself."""
    left, right = b.narrow(x, y), b.narrow(y, x)
    if left is not x:
        return b.apply(callee, left, y)
    return b.apply(callee, x, right) if right is not y else None


def simplify_strong(b: Builder, u: Atom, v: Atom) -> Atom | None:
    if b.exact or not (is_real_number(u) and is_real_number(v)):
        return None
    suspects = [p for p, q in ((u, v), (v, u)) if is_masked(b, p) and may_be_infinite(b, q)]
    if not suspects:
        return b.apply(operator.mul, u, v)
    return _where_not_zero(b, tuple(suspects), operator.mul, u, v)


def simplify_require_settled(b: Builder, ct: Atom, merged: Atom) -> Atom | None:
    """What an index or a branch leaves out need not exist."""
    parts = ct
    while (added := b.accumulation(parts)) is not None and added.index is not None:
        if is_masked(b, parts):
            break
        parts = added.target
    masked = is_masked(b, parts) or is_zero(b, parts)
    return b.apply(runtime.require_settled_where_used, ct, merged) if masked else None


def masked_product(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A product in which what a branch has made 0 meets what may be infinite there."""
    of_x, of_y = (
        is_masked(b, this) and not _is_unmasked(b, this) and _may_be_infinite_alone(b, other)
        for this, other in ((x, y), (y, x))
    )
    if of_x and of_y:
        return b.apply(runtime.strong, x, y)
    if of_x or of_y:
        return b.apply(runtime.times, y, x) if of_x else b.apply(runtime.times, x, y)
    return None


def masked_quotient(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A quotient of what a branch has made 0, by what may be 0 there."""
    if number_of(y) or is_off_zero(b, y) or _is_count(b, y):
        return None
    if not is_masked(b, x) or _is_unmasked(b, x):
        return None
    return b.apply(runtime.over, x, y)


def _where_not_zero(
    b: Builder, tested: tuple[Atom, ...], callee: Callable[..., Any], x: Atom, y: Atom
) -> Atom:
    """A product or quotient of numbers, and 0 where a factor is."""
    made: Atom = b.apply_typed(callee, (x, y), b.typed(callee, (x, y)))
    for factor in tested:
        test = b.apply(operator.ne, factor, Literal(0.0))
        made = b.apply(select, test, made, Literal(0.0))
    return made


_PASSES_MASKS = frozenset(
    {
        *(operator.neg, operator.pos, np.negative, np.broadcast_to, np.reshape, np.expand_dims),
        *(np.transpose, np.swapaxes, np.moveaxis, np.ndarray.T, operator.truediv, np.divide),
        *(runtime.over, operator.getitem, runtime.unbroadcast, np.roll, np.flip, np.take),
        *(np.ndarray.copy, np.asarray, np.split, np.diagonal, np.pad),
        *(np.real, np.imag, np.conjugate, np.ndarray.astype, np.delete, np.take_along_axis),
        *(np.diff, runtime.evened, float),
    }
)
_JOINS = frozenset({np.where, select, make_list, make_tuple, np.array, np.concatenate, np.stack})
_MAKES_ZEROS = frozenset({np.triu, np.tril, np.diag, np.diagflat, np.heaviside})
_MASKED_PRODUCTS = frozenset({operator.mul, np.multiply, runtime.times, runtime.strong})


def is_masked(b: Builder, ct: Atom, depth: int = _DEPTH) -> bool:
    """Whether a branch, a choice or an index is seen to make a differential, or parts of it, 0."""
    if not isinstance(ct, Value):
        return False
    if not ct.masked and depth:
        ct.masked = _has_zeros(b, ct, depth - 1)
    return ct.masked


def _has_zeros(b: Builder, ct: Value, depth: int) -> bool:
    if dtype_of(ct.type) == "bool":
        return True
    if (added := b.accumulation(ct)) is not None:
        some = _is_zero_or_masked(b, added.target, depth)
        return some and (added.index is not None or is_masked(b, added.term, depth))
    op = b.origin(ct)
    if op is None:
        return False
    if op.callee in _MAKES_ZEROS:
        return True
    if op.callee in _JOINS:
        parts = op.args[1:] if op.callee in (np.where, select) else op.args
        return any(_is_zero_or_masked(b, a, depth) for a in parts)
    if op.callee in _SUMS:
        # what a mask leaves of 1 is one too
        return all(is_masked(b, a, depth) for a in op.args if not isinstance(a, Literal))
    if op.callee in _MASKED_PRODUCTS:
        return any(is_masked(b, a, depth) for a in op.args)
    return op.callee in _PASSES_MASKS and is_masked(b, op.args[0], depth)


def _is_zero_or_masked(b: Builder, ct: Atom, depth: int) -> bool:
    return is_zero(b, ct) or is_masked(b, ct, depth)


def is_zero(b: Builder, atom: Atom) -> bool:
    """Whether an adjoint is 0 by construction."""
    if isinstance(atom, Literal):
        return number_of(atom) == 0
    op = b.definition(atom)
    zeros = (np.zeros, np.zeros_like, runtime.zeros_like, runtime.shadow)
    return op is not None and op.callee in zeros


_FINITE = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.matmul),
        *(np.add, np.subtract, np.multiply, np.negative, operator.getitem, operator.abs, abs),
        *(np.sin, np.cos, np.tanh, np.arctan, np.sqrt, np.absolute, np.sign, np.square, np.hypot),
        *(math.sin, math.cos, math.tanh, math.atan, math.sqrt, math.hypot, math.fabs, np.copysign),
        *(np.maximum, np.minimum, np.clip, np.where, select, np.floor, np.ceil, np.rint, np.array),
        *(np.sum, np.mean, np.max, np.min, np.ndarray.sum, np.ndarray.mean, np.dot, np.einsum),
        *(np.reshape, np.broadcast_to, np.expand_dims, np.transpose, np.swapaxes, np.moveaxis),
        *(np.ndarray.T, np.concatenate, np.stack, np.take, np.real, np.imag, np.conjugate),
        *(make_tuple, make_list, np.ndarray.tolist, list, float, np.asarray, np.ndarray.copy),
        *(runtime.times, runtime.strong, runtime.unbroadcast, np.cumsum, np.zeros, np.ones),
        *(np.prod, np.cumprod, np.triu, np.tril),
        *(runtime.inner, runtime.off_zero, np.vdot),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, len),
        *(np.shape, np.size, np.arange, np.eye, np.linspace, np.ndarray.astype, np.diff),
    }
)
"""What is finite where its arguments are, unless they are huge."""


def may_be_infinite(b: Builder, x: Atom, depth: int = _DEPTH) -> bool:
    """Whether a coefficient may be infinite or nan though the arguments are finite."""
    if not isinstance(x, Value):
        number = number_of(x)
        return number is not None and not math.isfinite(number)
    if not depth or dtype_of(x.type) == "bool":
        return False
    added = b.accumulation(x) if b.steep else None
    if added is not None:
        return any(may_be_infinite(b, a, depth - 1) for a in (added.target, added.term))
    op = b.origin(x)
    if op is None:
        return b.steep and x not in b.given  # what an adjoint will be is not known yet
    if op.callee in (operator.truediv, np.divide):
        if number_of(op.args[1]) or is_off_zero(b, op.args[1]) or _is_count(b, op.args[1]):
            return may_be_infinite(b, op.args[0], depth - 1)
        return True
    if op.callee in (operator.pow, np.power):
        power = number_of(op.args[1])
        if power is not None and power >= 0:
            return may_be_infinite(b, op.args[0], depth - 1)
        return True
    if op.callee in _FINITE:
        return any(may_be_infinite(b, a, depth - 1) for a in op.args)
    return isinstance(atom_type(x), (Array, Number, NumPyScalar))


def _may_be_infinite_alone(b: Builder, x: Atom) -> bool:
    """Whether a factor may be infinite where the function has a value.

    Of differentials that is so only behind a root or its like.
    """
    return may_be_infinite(b, x) and (b.steep or not _is_differential(b, x))


_OF_DIFFERENTIALS = frozenset({runtime.over, runtime.times, runtime.strong, runtime.inner})


def _is_differential(b: Builder, x: Atom, depth: int = _DEPTH) -> bool:
    if not isinstance(x, Value) or x in b.given or not depth:
        return False
    op = b.definition(x)
    if op is None or op.callee in _OF_DIFFERENTIALS:
        return True
    return any(_is_differential(b, a, depth - 1) for a in op.args)


def _is_count(b: Builder, x: Atom) -> bool:
    """Whether a divisor counts: entries, as for a mean, or equal values, as for their shares."""
    op = b.origin(x)
    if op is not None and op.callee is operator.getitem:
        op = b.origin(op.args[0])
    if op is None or op.callee in SHAPE:
        return op is not None
    return op.callee in (np.sum, np.ndarray.sum) and dtype_of(atom_type(op.args[0])) == "bool"


def simplify_excess(b: Builder, x: Atom, total: Atom) -> Atom | None:
    """Of Python's numbers, a choice."""
    if b.exact or not (is_real_number(x) and is_real_number(total)):
        return None
    infinite = b.apply(operator.eq, x, Literal(-math.inf))
    same = b.apply(select, infinite, x, Literal(0.0))
    plain = b.apply(operator.sub, x, total)
    return b.apply(select, b.apply(operator.eq, x, total), same, plain)


_KEEP_ZEROS_OUT = frozenset(
    {
        *(operator.neg, operator.pos, np.negative, np.broadcast_to, np.reshape, np.expand_dims),
        *(np.transpose, np.swapaxes, np.moveaxis, np.ndarray.T, np.sum, operator.truediv),
        np.divide,
    }
)


_PRODUCTS = frozenset({operator.mul, np.multiply, operator.matmul, np.matmul})


_SUMS = frozenset({operator.add, operator.sub, np.add, np.subtract})
_ARITHMETIC = frozenset({*_KEEP_ZEROS_OUT, *_PRODUCTS, *_SUMS, operator.pow})


_MASKS = frozenset(
    {
        *(
            np.where,
            select,
            np.sign,
            np.heaviside,
            np.eye,
            np.zeros,
            np.zeros_like,
            np.tril,
            np.triu,
        ),
        *(
            np.less,
            np.less_equal,
            np.greater,
            np.greater_equal,
            np.equal,
            np.not_equal,
            np.isfinite,
        ),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, np.isnan),
        *(
            np.logical_and,
            np.logical_or,
            np.logical_not,
            runtime.over,
            runtime.times,
            operator.getitem,
        ),
    }
)


def _is_unmasked(b: Builder, ct: Atom) -> bool:
    """Whether no branch can have made entries of a differential zero.

    It stems from a literal seed through arithmetic. Where such a differential is zero because a
    factor is, or because terms cancel, and the divisor too, the primal has no value either, or its
    derivative is no number that rules give: nothing is there to protect.
    """
    if isinstance(ct, Literal):
        return bool(number_of(ct))
    if ct in b.unmasked:
        return True
    op = b.recipe(ct)
    if op is None or not op.args:
        return False
    if op.callee in _PRODUCTS:
        x, y = op.args
        return (_is_unmasked(b, x) and is_no_mask(b, y)) or (
            _is_unmasked(b, y) and is_no_mask(b, x)
        )
    if op.callee in _SUMS:
        return all(_is_unmasked(b, a) for a in op.args)
    return op.callee in _KEEP_ZEROS_OUT and _is_unmasked(b, op.args[0])


def is_no_mask(b: Builder, factor: Atom) -> bool:
    """Whether a coefficient is a number of the primal, not a choice between branches.

    A differential is none: what it stems from may be masked.
    """
    if isinstance(factor, Literal):
        return bool(number_of(factor))
    if factor not in b.masks:
        b.masks[factor] = not _is_from_primal(b, factor)
    return not b.masks[factor]


def _is_from_primal(b: Builder, factor: Value) -> bool:
    op = b.origin(factor)
    if dtype_of(factor.type) == "bool" or (op is not None and op.callee in _MASKS):
        return False
    if op is None:
        return factor in b.given
    if op.callee not in _ARITHMETIC and factor in b.given:
        return True
    return all(isinstance(a, Literal) or is_no_mask(b, a) for a in op.args)
