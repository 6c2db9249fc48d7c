"""Sums, products, powers and choices: neutral elements, signs, idle broadcasts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad.ir.core import (
    Apply,
    Atom,
    Literal,
    Value,
    select,
)
from srcad.ir.infer import atom_type
from srcad.ir.numbers import is_real_number, number_kind, number_of, real_power
from srcad.ir.simplify.masks import is_no_mask
from srcad.ir.simplify.shortcuts import constant_product
from srcad.ir.types import (
    COMPLEX,
    Array,
    ListType,
    Number,
    TupleType,
    dims_of,
    dtype_of,
    is_complex,
)

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def _keeps_type(
    builder: Builder, callee: Callable[..., Any], args: tuple[Atom, ...], kept: Atom
) -> bool:
    kind = atom_type(kept)
    if isinstance(kind, Array) and (kind.dtype is None or kind.dims is None or None in kind.dims):
        # a literal number changes neither the shape of an array nor the dtype of a float array
        return kind.dtype is not None and np.dtype(kind.dtype).kind in "fc"
    found = builder.typed(callee, args)
    if isinstance(kind, Number) and isinstance(found, Number):
        return kind.kind == found.kind
    return found == kind


def simplify_mul(b: Builder, x: Atom, y: Atom) -> Atom | None:
    for this, other in ((x, y), (y, x)):
        number = number_of(this)
        if number == 1 and _keeps_type(b, operator.mul, (x, y), other):
            if isinstance(other, Value) and b.given and is_no_mask(b, other):
                b.unmasked.add(other)
            return other
        if number == -1:
            return b.apply(operator.neg, other)
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None:
        return b.apply(operator.mul, p, q)
    if p is not None:
        return b.apply(operator.neg, b.apply(operator.mul, p, y))
    if q is not None:
        return b.apply(operator.neg, b.apply(operator.mul, x, q))
    shorter = constant_product(b, x, y) if b.shorten else None
    return shorter or _narrowed(b, operator.mul, x, y)


def _narrowed(b: Builder, callee: Callable[..., Any], x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast that the operation does by itself."""
    left, right = b.narrow(x, y), b.narrow(y, x)
    if left is not x:
        return b.apply(callee, left, y)
    if right is not y:
        return b.apply(callee, x, right)
    # a number and a broadcast: the number acts on what is broadcast
    for this, other in ((x, y), (y, x)):
        op = b.recipe(this)
        if op is not None and op.callee is np.broadcast_to and dims_of(atom_type(other)) == ():
            inner = op.args[0]
            made = b.apply(callee, inner, other) if this is x else b.apply(callee, other, inner)
            return _broadcast(b, made, op)
    return None


def _broadcast(b: Builder, x: Atom, like: Apply) -> Value:
    """``x`` broadcast as another value was."""
    kind = like.result.type
    if isinstance(kind, Array):
        found = atom_type(x)
        dtype = "complex128" if found == COMPLEX else dtype_of(found)
        kind = Array(dtype if dtype is not None else kind.dtype, kind.dims)
    return b.apply_typed(np.broadcast_to, (x, like.args[1]), kind)


def simplify_truediv(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if number_of(y) == 1 and _keeps_type(b, operator.truediv, (x, y), x):
        return x
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None:
        return b.apply(operator.truediv, p, q)
    if p is not None:
        return b.apply(operator.neg, b.apply(operator.truediv, p, y))
    if q is not None:
        return b.apply(operator.neg, b.apply(operator.truediv, x, q))
    return _narrowed(b, operator.truediv, x, y)


def simplify_add(b: Builder, x: Atom, y: Atom) -> Atom | None:
    for this, other in ((x, y), (y, x)):
        if number_of(this) == 0 and _keeps_type(b, operator.add, (x, y), other):
            return other
    p, q = b.negated(x), b.negated(y)
    if q is not None:
        return b.apply(operator.sub, x, q)
    if p is not None:
        return b.apply(operator.sub, y, p)
    return _narrowed(b, operator.add, x, y)


def simplify_sub(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if number_of(y) == 0 and _keeps_type(b, operator.sub, (x, y), x):
        return x
    if number_of(x) == 0 and _keeps_type(b, operator.sub, (x, y), y):
        return b.apply(operator.neg, y)
    q = b.negated(y)
    if q is not None:
        return b.apply(operator.add, x, q)
    return _narrowed(b, operator.sub, x, y)


def simplify_neg(b: Builder, x: Atom) -> Atom | None:
    inner = b.negated(x)
    if inner is not None:
        return inner
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to:
        return _broadcast(b, b.apply(operator.neg, op.args[0]), op)
    return _opposite(b, x)


def _opposite(b: Builder, x: Atom) -> Atom | None:
    """The negative of a number, or of a product that begins with a negative one."""
    number = number_of(x)
    if number is not None:
        return Literal(-number)
    op = b.recipe(x)
    if op is None or op.callee not in (operator.mul, operator.truediv) or op.keywords:
        return None
    left, right = op.args
    if isinstance(left, Literal) and (number_of(left) or 0) >= 0:
        return None
    turned = _opposite(b, left)
    return None if turned is None else b.apply(op.callee, turned, right)


def simplify_pow(b: Builder, x: Atom, y: Atom) -> Atom | None:
    number = number_of(y)
    if number == 1 and _keeps_type(b, operator.pow, (x, y), x):
        return x
    if number == 2 and not isinstance(atom_type(x), (ListType, TupleType)):
        return b.apply(operator.mul, x, x)
    return None if b.exact else real_power(b, x, y)


def simplify_where(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    if isinstance(test, Literal) and isinstance(test.value, bool):
        return x if test.value else y
    if isinstance(atom_type(test), Number) and is_real_number(x) and is_real_number(y):
        kinds = {number_kind(x), number_kind(y)}
        if "float" in kinds and "bool" in kinds:
            x, y = (b.apply(float, a) if number_kind(a) == "bool" else a for a in (x, y))
        return b.apply(select, test, x, y)
    return _narrow_choice(b, test, x, y)


def _narrow_choice(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast of what is chosen to the shape of the condition."""
    left, right = _narrow_to(b, x, test), _narrow_to(b, y, test)
    return b.apply(np.where, test, left, right) if left is not x or right is not y else None


def _narrow_to(b: Builder, x: Atom, other: Atom) -> Atom:
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to and dims_of(atom_type(op.args[0])) == ():
        return b.narrow(x, other)
    return x


def simplify_conjugate(b: Builder, x: Atom) -> Atom | None:
    kind = atom_type(x)
    if isinstance(kind, Number) and not is_complex(kind):
        return x
    return x if dtype_of(kind) is not None and not is_complex(kind) else None


def simplify_real(b: Builder, x: Atom) -> Atom | None:
    if isinstance(x, Literal) and isinstance(x.value, complex):
        return Literal(x.value.real)
    op = b.recipe(x)
    if op is not None and op.callee is np.broadcast_to:
        return _broadcast(b, b.apply(np.real, op.args[0]), op)
    return simplify_conjugate(b, x)
