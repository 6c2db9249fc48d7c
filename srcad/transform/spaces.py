"""The spaces adjoints and tangents live in: their types, zeros, sums and shapes.

The adjoint of a number is a number, of an array an array of its shape and dtype, of a list the list
of its items' adjoints, of a tuple a tuple with None where an item carries no derivative.
"""

from __future__ import annotations

import operator

import numpy as np

from srcad import runtime
from srcad.ir import Atom, Literal, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_dict, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.simplify.shapes import simplify_unbroadcast
from srcad.ir.types import (
    COMPLEX,
    FLOAT,
    NONE,
    UNKNOWN,
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
    if isinstance(kind, Optional) and isinstance(kind.item, (Number, NumPyScalar)):
        kind = kind.item
    if may_be_missing(b, like) and not isinstance(kind, (Number, NumPyScalar)):
        # its shape can be asked of what is there at run time only
        return b.apply_typed(runtime.zeros_like, (like,), tangent_type(kind), hint)
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
        case ListType(item=item) if (zero := _zero_of_numbers(b, item)) is not None:
            one = b.apply_typed(make_list, (zero,), tangent_type(kind))
            return b.apply_typed(operator.mul, (one, b.apply(len, like)), tangent_type(kind), hint)
        case DictType():
            return b.apply_typed(make_dict, (), tangent_type(kind), hint)
    may_be_tuple = isinstance(kind, (Unknown, ListType))
    maker = runtime.shadow if may_be_tuple else runtime.zeros_like
    return b.apply_typed(maker, (like,), tangent_type(kind), hint)


def _zero_of_numbers(b: Builder, kind: Type) -> Atom | None:
    """The zero of a number, or of a tuple of numbers; None for other types."""
    match kind:
        case Number():
            return Literal(0j if is_complex(kind) else 0.0)
        case TupleType(items=items) if kind.cls is not list and all(map(_is_number, items)):
            parts = (_zero_of_numbers(b, k) if is_differentiable(k) else None for k in items)
            return b.apply(make_tuple, *(Literal(None) if p is None else p for p in parts))
    return None


def _is_number(kind: Type) -> bool:
    return isinstance(kind, Number)


def copied(b: Builder, array: Atom, kind: Type, hint: str, *, in_order: bool) -> Value:
    """A copy of an array; in C order it stays one, whatever is known of who else has the array."""
    if is_complex(kind) and not is_complex(atom_type(array)):  # its imaginary part may be written
        array = b.apply(operator.add, array, Literal(0j))
    if in_order:
        return b.apply_typed(np.copy, (array, Literal("C")), kind, hint)
    return b.apply_typed(np.ndarray.copy, (array,), kind, hint)


def may_be_missing(b: Builder, value: Atom) -> bool:
    """Whether a value may not exist at run time, or be None: it, or what it is an item of."""
    if isinstance(atom_type(value), Optional):
        return True
    while isinstance(value, Value) and value not in b.missing:
        made = b.definition(value)
        if made is None or made.callee is not operator.getitem:
            return False
        value = made.args[0]
    return isinstance(value, Value)


def filled(b: Builder, tangent: Atom, primal: Atom) -> Atom:
    """The tangent of a list for a function that makes an array of it: zeros instead of None."""
    kind = atom_type(primal)
    if not isinstance(kind, TupleType) or _has_all(kind):
        return tangent
    parts: list[Atom] = []
    for k, item in enumerate(kind.items):
        value = b.apply(operator.getitem, primal, Literal(k))
        if is_differentiable(item):
            parts.append(filled(b, b.apply(operator.getitem, tangent, Literal(k)), value))
        else:
            parts.append(Literal(0.0) if dims_of(item) == () else b.apply(np.zeros_like, value))
    return b.apply(make_list if kind.cls is list else make_tuple, *parts)


def filled_type(kind: Type) -> Type:
    """The type of a tangent that is filled."""
    match kind:
        case TupleType(items=items, cls=cls) if is_differentiable(kind):
            made = list if cls is list else tuple
            return TupleType(tuple(map(_filled_item, items)), made)
    return tangent_type(kind)


def _filled_item(kind: Type) -> Type:
    if is_differentiable(kind):
        return filled_type(kind)
    return FLOAT if dims_of(kind) == () else shaped_type(FLOAT, kind)


def _has_all(kind: Type) -> bool:
    """Whether every number in a tuple has a derivative."""
    if isinstance(kind, TupleType):
        return all(map(_has_all, kind.items))
    return is_differentiable(kind)


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


def spread(b: Builder, term: Atom, like: Value) -> Atom:
    """An adjoint of an array in the full shape of the array."""
    if same_shape(atom_type(term), like.type):
        return term
    return b.apply_typed(np.broadcast_to, (term, shape_of(b, like)), like.type)


def add(b: Builder, x: Atom, y: Atom, like: Atom, hint: str = "") -> Atom:
    """The sum of two adjoints of the value ``like``."""
    kind = atom_type(x)
    if may_be_missing(b, like) and kind != NONE:
        return b.apply_typed(runtime.add, (x, y), kind, hint)
    if (total := sum_of_numbers(b, x, y)) is not None:
        return total
    match kind:
        case ListType() | TupleType() | DictType() | Unknown() | Optional():
            return b.apply_typed(runtime.add, (x, y), kind, hint)
    if kind == NONE:
        return y
    total = b.accumulate(x, None, y, hint)
    whole = atom_type(like)
    if isinstance(whole, Array) and kind == whole and dtype_of(atom_type(y)) == whole.dtype:
        total.type = whole  # whatever sizes of a term are not known: it is an adjoint of the same
    return total


def sum_of_numbers(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """The sum of two adjoints of a tuple, written out; None if more than numbers are in them."""
    kind = atom_type(y)
    if not isinstance(kind, TupleType) or atom_type(x) != kind or kind.cls is not tuple:
        return None
    if not all(isinstance(item, Number) or item == NONE for item in kind.items):
        return None
    terms: list[Atom] = []
    for k, item in enumerate(kind.items):
        p, q = (b.apply(operator.getitem, part, Literal(k)) for part in (x, y))
        terms.append(Literal(None) if item == NONE else b.apply(operator.add, p, q))
    return b.apply(make_tuple, *terms)


def widened(b: Builder, tangent: Atom, value: Atom, kind: Type) -> Atom:
    """A tangent or adjoint of ``value`` in the space of a type that its own was joined to.

    An item that carries no derivative has None, and a number where it stands among floats.
    """
    have = atom_type(value)
    if not _is_wider(kind, have):
        return tangent
    assert isinstance(have, TupleType)
    parts: list[Atom] = []
    for k, (item, wanted) in enumerate(zip(have.items, _items(kind, have), strict=True)):
        inner = b.apply(operator.getitem, value, Literal(k))
        if not is_differentiable(wanted):
            parts.append(Literal(None))
        elif is_differentiable(item):
            part = b.apply(operator.getitem, tangent, Literal(k))
            parts.append(widened(b, part, inner, wanted))
        elif isinstance(item, Number):
            parts.append(Literal(0.0))
        else:
            parts.append(b.apply_typed(runtime.zeros_like, (inner,), tangent_type(wanted)))
    of_list = isinstance(kind, ListType) or have.cls is list
    return b.apply_typed(make_list if of_list else make_tuple, tuple(parts), tangent_type(kind))


def _items(kind: Type, have: TupleType) -> tuple[Type, ...]:
    if isinstance(kind, ListType):
        return (kind.item,) * len(have.items)
    return kind.items if isinstance(kind, TupleType) else have.items


def _is_wider(kind: Type, have: Type) -> bool:
    """Whether values of a type may carry derivatives where those of a part of it do not."""
    if not is_differentiable(have):
        return is_differentiable(kind)
    if not isinstance(have, TupleType):
        return False
    items = _items(kind, have)
    return len(items) == len(have.items) and any(map(_is_wider, items, have.items))


def conform(b: Builder, term: Atom, primal: Atom, *, elementwise: bool) -> Atom:
    """``term`` as an adjoint of ``primal``: its shape, where it was broadcast, and its dtype."""
    kind = atom_type(primal)
    if isinstance(kind, Optional):
        kind = kind.item
    if not elementwise:
        return of_space(b, term, kind)
    return match_dtype(b, _reduce(b, term, primal, kind), kind)


def of_complex(b: Builder, term: Atom, result: Type, kind: Type) -> Atom:
    """The real part of a term for a real argument of a complex result: its type may not tell."""
    if not is_complex(result) or is_complex(kind) or dtype_of(atom_type(term)) is not None:
        return term
    if isinstance(atom_type(term), (Array, Unknown)) and dtype_of(kind) is not None:
        return b.apply(np.real, term)
    return term


def of_space(b: Builder, term: Atom, kind: Type) -> Atom:
    """``term`` as an adjoint of its own shape, which is that of the primal: rules warrant it."""
    term = match_dtype(b, term, kind)
    found = atom_type(term)
    if (
        isinstance(term, Value)
        and isinstance(found, Array)
        and isinstance(kind, Array)
        and kind.dims is not None
        and b.made_here(term)
    ):
        known = found.dims if found.dims is not None else (None,) * len(kind.dims)
        dims = (k if f is None else f for f, k in zip(known, kind.dims, strict=False))
        term.type = Array(found.dtype, tuple(dims))
    return term


def _reduce(b: Builder, term: Atom, primal: Atom, kind: Type) -> Atom:
    """Sum over the axes along which the primal was broadcast."""
    found = atom_type(term)
    if same_shape(found, kind):
        return term
    containers = (ListType, TupleType, DictType)
    if isinstance(found, containers) or isinstance(kind, containers):
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
        # what is not known may be wider than single precision
        double = kind.dtype if kind.dtype in ("float64", "complex128") else None
        return Array(dtype if dtype is not None else double, kind.dims)
    if isinstance(kind, NumPyScalar) and dtype != kind.dtype:
        return UNKNOWN if dtype is None else NumPyScalar(dtype)
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
        cast = np.dtype(want).type
        unknown = have is None and isinstance(term, Value)
        return b.apply_typed(cast, (term,), kind) if unknown else b.apply(cast, term)
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
