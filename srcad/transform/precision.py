"""The precision of a composition: that of the function in the place of which it is written out.

    poch32(x: f4)      ->      poch(x.astype(np.float64))       where the function returns doubles
    mean(x: f4)        ->      mean(x).astype(np.float32)       where the body would

What a function makes of single precision no formula tells: SciPy computes the determinant of a
matrix in double precision, and NumPy interpolates between quantiles in single. So the function is
asked, by samples. Where there is no single precision among the arguments nothing is to be decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from srcad.frontend import attributes, calls, containers
from srcad.frontend.abstract import Abstract, ListRef, Static, TupleRef
from srcad.frontend.lowering import Lowering
from srcad.ir import Value
from srcad.ir.infer import result_type
from srcad.ir.types import UNKNOWN, Array, Number, NumPyScalar, TupleType, Type


def precision_of(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Type | None:
    """The type of what a function returns, where the arguments leave its precision open."""
    given = (*args, *keywords.values())
    if not any(_is_single(k) for a in given for k in _kinds(low, a)):
        return None
    if any(isinstance(a, Static) and _is_code(a.value) for a in given):
        return None  # of the user, who has not asked for calls of it
    named = tuple((name, low.peek(a)) for name, a in keywords.items())
    return result_type(function, tuple(map(low.peek, args)), named)


def raised(low: Lowering, value: Abstract, wanted: Type | None) -> Abstract:
    """An argument in double precision, if all that is wanted is in that."""
    kinds = list(_parts(wanted))
    if not kinds or any(_bits(k) != 64 for k in kinds):
        return value
    return _cast(low, value, 64)


def fitted(low: Lowering, found: Abstract, wanted: Type | None) -> Abstract:
    """The result in the precision that is wanted."""
    if isinstance(found, TupleRef) and isinstance(wanted, TupleType):
        if len(found.items) == len(wanted.items):
            pairs = zip(found.items, wanted.items, strict=True)
            return TupleRef(tuple(fitted(low, f, w) for f, w in pairs), found.cls)
    elif isinstance(wanted, Array) and isinstance(found, Value) and found.type == UNKNOWN:
        if _bits(wanted) is not None:
            dtype = Static(np.dtype(wanted.dtype).type)
            return calls.call(low, Static(np.asarray), [found, dtype], {})
    elif isinstance(wanted, (Array, NumPyScalar)):
        return _cast(low, found, _bits(wanted))
    return found


def _cast(low: Lowering, value: Abstract, bits: int | None) -> Abstract:
    if not isinstance(value, Value) or not isinstance(value.type, (Array, NumPyScalar)):
        return value
    if bits is None or value.type.dtype is None or _bits(value.type) in (None, bits):
        return value
    real = np.float64 if bits == 64 else np.float32
    whole = np.complex128 if bits == 64 else np.complex64
    dtype = Static(whole if np.dtype(value.type.dtype).kind == "c" else real)
    return calls.call(low, attributes.get_attribute(low, value, "astype"), [dtype], {})


def _kinds(low: Lowering, value: Abstract) -> Iterator[Type]:
    match value:
        case Value(type=kind):
            yield kind
        case TupleRef(items=items):
            for item in items:
                yield from _kinds(low, item)
        case ListRef():
            for item in containers.items_of(low, value) or ():
                yield from _kinds(low, item)
        case Static(value=np.ndarray() | np.generic()):
            yield Array(str(value.value.dtype), None)


def _parts(kind: Type | None) -> Iterator[Type]:
    """The numbers and arrays of a result that have a precision."""
    if isinstance(kind, TupleType):
        for item in kind.items:
            yield from _parts(item)
    elif kind is not None and _bits(kind) is not None:
        yield kind


def _bits(kind: Type) -> int | None:
    """The size of a real part."""
    if isinstance(kind, Number):
        return 64 if kind.kind in ("float", "complex", "real") else None
    if not isinstance(kind, (Array, NumPyScalar)) or kind.dtype is None:
        return None
    return {"float32": 32, "complex64": 32, "float64": 64, "complex128": 64}.get(kind.dtype)


def _is_single(kind: Type) -> bool:
    return isinstance(kind, (Array, NumPyScalar)) and _bits(kind) == 32


def _is_code(value: object) -> bool:
    return callable(value) and not isinstance(value, (type, np.ufunc))
