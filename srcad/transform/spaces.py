"""The spaces adjoints and tangents live in: their types, zeros, sums and shapes.

The adjoint of a number is a number, of an array an array of its shape and dtype, of a list the list
of its items' adjoints, of a tuple a tuple with None where an item carries no derivative.
"""

from __future__ import annotations

import operator

import numpy as np

from srcad import runtime
from srcad.ir import Atom, Literal, Value
from srcad.ir.build import Builder, simplify_unbroadcast
from srcad.ir.core import make_dict, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    COMPLEX,
    FLOAT,
    NONE,
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Optional,
    TupleType,
    Type,
    Unknown,
    dims_of,
    dtype_of,
    is_complex,
    is_differentiable,
    same_shape,
)


def tangent_type(kind: Type) -> Type:
    """The type of tangents and adjoints of values of a type."""
    if not is_differentiable(kind):
        return NONE
    match kind:
        case Number():
            return COMPLEX if is_complex(kind) else FLOAT
        case ListType(item=item):
            return ListType(tangent_type(item))
        case DictType(item=item):
            return DictType(tangent_type(item))
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(map(tangent_type, items)), list if cls is list else tuple)
        case Optional(item=item):
            return tangent_type(item)
    return kind


def zeros(b: Builder, like: Atom, hint: str = "", kind: Type | None = None) -> Atom:
    """The zero of a value's adjoints; ``kind`` is the type of the variable that holds it."""
    kind = atom_type(like) if kind is None else kind
    if not is_differentiable(kind):
        return Literal(None)
    match kind:
        case Number():
            return Literal(0j) if is_complex(kind) else Literal(0.0)
        case NumPyScalar(dtype=dtype):
            scalar = np.dtype(dtype).type
            if dtype == "float64":
                return Literal(0.0)
            return b.apply(scalar, Literal(0), hint=hint)
        case Array(dtype=dtype, dims=dims) if dtype is not None:
            shape = shape_of(b, like)
            if dims == ():
                return b.apply(np.zeros, Literal(()), *_dtype(dtype), hint=hint)
            return b.apply_typed(np.zeros, (shape, *_dtype(dtype)), kind, hint)
        case TupleType(items=items, cls=cls):
            parts = [
                zeros(b, b.apply(operator.getitem, like, Literal(k)))
                if is_differentiable(item)
                else Literal(None)
                for k, item in enumerate(items)
            ]
            return b.apply(make_list if cls is list else make_tuple, *parts)
        case ListType() if _is_empty(b.apply(len, like)):
            return b.apply_typed(make_list, (), tangent_type(kind), hint)
        case ListType(item=Number() as item):
            zero = Literal(0j if is_complex(item) else 0.0)
            one = b.apply_typed(make_list, (zero,), tangent_type(kind))
            return b.apply_typed(operator.mul, (one, b.apply(len, like)), tangent_type(kind), hint)
        case DictType():
            return b.apply_typed(make_dict, (), tangent_type(kind), hint)
    maker = runtime.shadow if isinstance(kind, Unknown) else runtime.zeros_like
    return b.apply_typed(maker, (like,), tangent_type(kind), hint)


def _is_empty(length: Atom) -> bool:
    return isinstance(length, Literal) and length.value == 0


def _dtype(dtype: str) -> tuple[Atom, ...]:
    return () if dtype == "float64" else (Literal(np.dtype(dtype).type),)


def shape_of(b: Builder, value: Atom) -> Atom:
    """The shape of a value: a literal if it is known."""
    dims = dims_of(atom_type(value))
    if dims is not None and all(isinstance(d, int) for d in dims):
        return Literal(dims)
    if dims is not None and len(dims) == 1:
        return b.apply(len, value)
    return b.apply(np.shape, value)


def add(b: Builder, x: Atom, y: Atom, hint: str = "") -> Atom:
    """The sum of two adjoints of one value."""
    kind = atom_type(x)
    match kind:
        case ListType() | TupleType() | DictType() | Unknown() | Optional():
            return b.apply_typed(runtime.add, (x, y), kind, hint)
    if kind == NONE:
        return y
    return b.accumulate(x, None, y, hint)


def conform(b: Builder, term: Atom, primal: Atom, *, elementwise: bool) -> Atom:
    """``term`` as an adjoint of ``primal``: its shape, where it was broadcast, and its dtype."""
    kind = atom_type(primal)
    if elementwise:
        term = _reduce(b, term, primal, kind)
    return match_dtype(b, term, kind)


def _reduce(b: Builder, term: Atom, primal: Atom, kind: Type) -> Atom:
    """Sum over the axes along which the primal was broadcast."""
    found = atom_type(term)
    if same_shape(found, kind):
        return term
    if isinstance(found, (ListType, TupleType)) or isinstance(kind, (ListType, TupleType)):
        return term
    simpler = simplify_unbroadcast(b, term, primal, dims_of(kind))
    if simpler is not None:
        return simpler
    if isinstance(kind, Number) and isinstance(found, Number):
        return term
    made = b.apply_typed(
        runtime.unbroadcast, (term, b.apply(np.shape, primal)), shaped_type(found, kind)
    )
    return made


def shaped_type(found: Type, kind: Type) -> Type:
    """The dtype of one type with the shape of another."""
    dtype = dtype_of(found)
    if isinstance(found, Number):
        dtype = "complex128" if is_complex(found) else "float64"
    if isinstance(kind, Array):
        return Array(dtype if dtype is not None else kind.dtype, kind.dims)
    return kind


def match_dtype(b: Builder, term: Atom, kind: Type) -> Atom:
    """Drop an imaginary part, and precision, that the primal does not have."""
    found = atom_type(term)
    may_drop = isinstance(kind, Number) or (
        isinstance(kind, (NumPyScalar, Array)) and dtype_of(kind) is not None
    )
    if may_drop and is_complex(found) and not is_complex(kind):
        term = b.apply(np.real, term)
        found = atom_type(term)
    want, have = dtype_of(kind), dtype_of(found)
    if isinstance(kind, NumPyScalar) and want not in (have, "float64", "complex128"):
        return b.apply(np.dtype(want).type, term)
    if isinstance(kind, Array) and want not in (None, "float64", "complex128") and have is None:
        # what the term is shows at run time, and may be wider
        return b.apply_typed(np.asarray, (term, Literal(np.dtype(want).type)), kind)
    if isinstance(kind, Array) and want is not None and have is not None and want != have:
        kinds = np.dtype(have).kind, np.dtype(want).kind
        if kinds[1] in "fc" and kinds != ("f", "c"):
            return b.apply(np.ndarray.astype, term, Literal(np.dtype(want).type))
    return term


def value_hint(value: Atom, suffix: str) -> str:
    """The name of an adjoint or tangent: that of its primal with a suffix."""
    return f"{value.hint}{suffix}" if isinstance(value, Value) and value.hint else ""
