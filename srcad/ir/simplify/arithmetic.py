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
from srcad.ir.known import number_kind
from srcad.ir.numbers import is_real_number, number_of, real_power
from srcad.ir.simplify.choices import joined_choice
from srcad.ir.simplify.masks import is_no_mask, masked_product, masked_quotient, narrowed
from srcad.ir.simplify.shortcuts import constant_product, scalar_of, total
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
    if any(isinstance(atom_type(a), (ListType, TupleType)) for a in (x, y)):
        return None  # it is repeated
    for this, other in ((x, y), (y, x)):
        if (real := _made_complex(b, this)) is not None and is_complex(atom_type(other)):
            return (
                b.apply(operator.mul, real, other) if this is x else b.apply(operator.mul, x, real)
            )
        number = number_of(this)
        if number == 1 and _keeps_type(b, operator.mul, (x, y), other):
            if isinstance(other, Value) and b.given and is_no_mask(b, other):
                b.unmasked.add(other)
            return other
        if number == -1 and _keeps_type(b, operator.mul, (x, y), other):
            return b.apply(operator.neg, other)
    protected = masked_product(b, x, y)
    if protected is not None:
        return protected
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None:
        return b.apply(operator.mul, p, q)
    if p is not None:
        return b.apply(operator.neg, b.apply(operator.mul, p, y))
    if q is not None:
        return b.apply(operator.neg, b.apply(operator.mul, x, q))
    shorter = (constant_product(b, x, y) or _quotient(b, x, y)) if b.shorten else None
    return shorter or _narrowed(b, operator.mul, x, y)


def _made_complex(b: Builder, x: Atom) -> Atom | None:
    """The real array that a complex zero has been added to."""
    op = b.recipe(x)
    if op is None or op.callee is not operator.add or is_complex(atom_type(op.args[0])):
        return None
    zero = op.args[1]
    is_zero = isinstance(zero, Literal) and type(zero.value) is complex and zero.value == 0
    return op.args[0] if is_zero and dtype_of(op.result.type) == "complex128" else None


def _quotient(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A reciprocal of a number times an array, as the quotient that it is."""
    for this, other in ((x, y), (y, x)):
        op = b.recipe(this)
        if op is None or op.callee is not operator.truediv or number_of(op.args[0]) != 1:
            continue
        if not isinstance(op.result.type, Number) or not isinstance(atom_type(other), Array):
            continue
        made = b.apply(operator.truediv, other, op.args[1])
        if isinstance(made, Value) and b.given and is_no_mask(b, other):
            b.unmasked.add(made)
        return made
    return None


def simplify_matmul(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """Signs go out, the identity too; a diagonal matrix multiplies rows or columns."""
    for k, atom in enumerate((x, y)):
        turned = b.negated(atom)
        if turned is not None:
            args = (turned, y) if k == 0 else (x, turned)
            return b.apply(operator.neg, b.apply(operator.matmul, *args))
    for this, other in ((x, y), (y, x)):
        op, kind = b.recipe(this), atom_type(other)
        square = op is not None and op.callee is np.eye and len(op.args) == 1 and not op.keywords
        if square and len(dims_of(kind) or ()) == 2 and dtype_of(kind) == "float64":
            return other
    left, right = _diagonal(b, x), _diagonal(b, y)
    if right is not None and len(dims_of(atom_type(x)) or ()) == 2:
        return b.apply(operator.mul, x, right)
    if left is not None and len(dims_of(atom_type(y)) or ()) == 2:
        return b.apply(operator.mul, b.apply(operator.getitem, left, Literal(_COLUMN)), y)
    return _summed(b, x, y) if b.shorten else None


def _summed(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A product with a vector that repeats a number sums rows or columns."""
    ranks = tuple(len(dims_of(atom_type(a)) or ()) for a in (x, y))
    for vector, matrix, shape, axis in ((x, y, (1, 2), 0), (y, x, (2, 1), 1)):
        number = scalar_of(b, vector)
        same = dtype_of(atom_type(vector)) == dtype_of(atom_type(matrix))
        if number is not vector and ranks == shape and same:
            return b.apply(operator.mul, number, total(b, matrix, axis=Literal(axis)))
    return None


_COLUMN = (slice(None), None)


def _diagonal(b: Builder, x: Atom) -> Atom | None:
    """The diagonal that a matrix is made of."""
    op = b.recipe(x)
    if op is None or op.callee is not np.diag or len(op.args) != 1 or op.keywords:
        return None
    return op.args[0] if len(dims_of(atom_type(op.args[0])) or ()) == 1 else None


def is_tuple(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, TupleType) and kind.cls is tuple


def _narrowed(b: Builder, callee: Callable[..., Any], x: Atom, y: Atom) -> Atom | None:
    """Leave out a broadcast that the operation does by itself, or do it afterwards."""
    found = narrowed(b, callee, x, y)
    if found is not None:
        return found
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
    protected = masked_quotient(b, x, y)
    if protected is not None:
        return protected
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
        if isinstance(this, Literal) and type(this.value) is tuple and is_tuple(other):
            return other if not this.value else None
        if number_of(this) == 0 and _keeps_type(b, operator.add, (x, y), other):
            return other
    p, q = b.negated(x), b.negated(y)
    if p is not None and q is not None and b.shorten:
        return b.apply(operator.neg, b.apply(operator.add, p, q))
    if q is not None:
        return b.apply(operator.sub, x, q)
    if p is not None:
        return b.apply(operator.sub, y, p)
    joined = joined_choice(b, operator.add, x, y) if b.shorten else None
    return joined or _narrowed(b, operator.add, x, y)


def simplify_sub(b: Builder, x: Atom, y: Atom) -> Atom | None:
    if number_of(y) == 0 and _keeps_type(b, operator.sub, (x, y), x):
        return x
    if number_of(x) == 0 and _keeps_type(b, operator.sub, (x, y), y):
        return b.apply(operator.neg, y)
    p, q = b.negated(x), b.negated(y)
    if q is not None:
        return b.apply(operator.add, x, q)
    if p is not None and b.shorten and isinstance(atom_type(x), Array):
        return b.apply(operator.neg, b.apply(operator.add, p, y))
    joined = joined_choice(b, operator.sub, x, y) if b.shorten else None
    return joined or _narrowed(b, operator.sub, x, y)


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
    small = _small_power(b, x, y)
    return real_power(b, x, y) if small is None and not b.exact else small


def simplify_math_pow(b: Builder, x: Atom, y: Atom) -> Atom | None:
    return _small_power(b, x, y) if number_kind(x) == "float" else None


def _small_power(b: Builder, x: Atom, y: Atom) -> Atom | None:
    number = number_of(y)
    if number == 1 and _keeps_type(b, operator.pow, (x, y), x):
        return x
    if number == 2 and not isinstance(atom_type(x), (ListType, TupleType)):
        return b.apply(operator.mul, x, x)
    return None


def simplify_where(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    if isinstance(test, Literal) and isinstance(test.value, bool):
        return x if test.value else y
    if (identity := _identity(b, test, x, y)) is not None:
        return identity
    if isinstance(atom_type(test), Number) and is_real_number(x) and is_real_number(y):
        kinds = {number_kind(x), number_kind(y)}
        if "float" in kinds and "bool" in kinds:
            x, y = (b.apply(float, a) if number_kind(a) == "bool" else a for a in (x, y))
        return b.apply(select, test, x, y)
    return _narrow_choice(b, test, x, y)


def _identity(b: Builder, test: Atom, x: Atom, y: Atom) -> Atom | None:
    """The identity matrix, as a choice between 1 and 0."""
    op = b.recipe(test)
    if op is None or op.callee is not np.eye or number_of(x) != 1.0 or number_of(y) != 0:
        return None
    kinds = [a.value for name, a in op.keywords if name == "dtype" and isinstance(a, Literal)]
    is_float = isinstance(x, Literal) and type(x.value) is float
    return b.apply(np.eye, *op.args) if kinds == [bool] and is_float else None


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
