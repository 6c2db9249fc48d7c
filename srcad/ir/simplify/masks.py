"""Protected products and quotients of differentials, where nothing needs protection.

``runtime.over`` and ``runtime.times`` keep an entry that a branch has masked at zero, whatever its
coefficient is; they are plain operators where no branch can have been.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from srcad import runtime
from srcad.ir.core import (
    Atom,
    Literal,
    Value,
    select,
)
from srcad.ir.infer import atom_type
from srcad.ir.numbers import is_real_number, number_of
from srcad.ir.simplify.shortcuts import is_bounded, is_off_zero
from srcad.ir.types import (
    is_complex,
)

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def simplify_over(b: Builder, n: Atom, d: Atom) -> Atom | None:
    # Python floats raise where the quotient has no value, and exact code takes over
    if not b.exact and is_real_number(n) and is_real_number(d):
        return b.apply(operator.truediv, n, d)
    if (isinstance(d, Literal) and d.value) or _is_unmasked(b, n):
        return b.apply(operator.truediv, n, d)
    if b.shorten and is_off_zero(b, d) and not is_complex(atom_type(d)):
        return b.apply(operator.truediv, n, d)
    return None


def simplify_times(b: Builder, w: Atom, v: Atom) -> Atom | None:
    turned = b.negated(v)
    if turned is not None:
        return b.apply(operator.neg, b.apply(runtime.times, w, turned))
    if (not b.exact and is_real_number(w) and is_real_number(v)) or _is_unmasked(b, v):
        return b.apply(operator.mul, w, v)
    if b.shorten and is_bounded(b, w) and not is_complex(atom_type(w)):
        return b.apply(operator.mul, w, v)
    return None


_KEEP_ZEROS_OUT = frozenset(
    {
        *(operator.neg, operator.pos, np.negative, np.broadcast_to, np.reshape, np.expand_dims),
        *(np.transpose, np.swapaxes, np.moveaxis, np.sum, operator.truediv, np.divide),
    }
)


_PRODUCTS = frozenset({operator.mul, np.multiply, operator.matmul, np.matmul})


_ARITHMETIC = frozenset(
    {*_KEEP_ZEROS_OUT, *_PRODUCTS, operator.add, operator.sub, np.add, np.subtract, operator.pow}
)


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
    factor is, and the divisor too, the primal has no value either: nothing is there to protect.
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
    if op is None:
        return factor in b.given
    if op.callee in _MASKS:
        return False
    if op.callee not in _ARITHMETIC and factor in b.given:
        return True
    return all(isinstance(a, Literal) or is_no_mask(b, a) for a in op.args)
