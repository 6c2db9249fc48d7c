"""Scalars: which are Python floats, and what a power of them is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcad.ir.core import (
    Atom,
    Literal,
)
from srcad.ir.infer import atom_type
from srcad.ir.known import number_kind
from srcad.ir.types import (
    BOOL,
    FLOAT,
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Optional,
    TupleType,
    Type,
)

if TYPE_CHECKING:
    from srcad.ir.build import Builder


def number_of(atom: Atom) -> float | None:
    """The number that a literal is."""
    value = atom.value if isinstance(atom, Literal) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)


def in_floats(callee: Callable[..., Any], args: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The operands of arithmetic, whole numbers beside floats as floats: ``2.0 * x``.

    The result is the same, and sooner there: Python and NumPy have to convert an int each time.
    """
    if callee not in _ARITHMETIC or len(args) != 2:
        return args
    x, y = args
    if isinstance(x, Literal) and _is_inexact(y):
        return _as_float(x), y
    if isinstance(y, Literal) and _is_inexact(x):
        return x, _as_float(y)
    return args


def _is_inexact(atom: Atom) -> bool:
    match atom_type(atom):
        case Number(kind="float"):
            return True
        case Array(dtype=str() as dtype) | NumPyScalar(dtype=dtype):
            return np.dtype(dtype).kind in "fc"
    return False


def _as_float(literal: Literal) -> Literal:
    value = literal.value
    exact = type(value) is int and abs(value) <= 2**53
    return Literal(float(value)) if exact else literal


def scalars_as_python(kind: Type) -> Type:
    """The type with NumPy float64 scalars counted as Python floats."""
    match kind:
        case NumPyScalar(dtype="float64"):
            return FLOAT
        case NumPyScalar(dtype="bool"):
            return BOOL
        case TupleType(items=items, cls=cls):
            return TupleType(tuple(map(scalars_as_python, items)), cls)
        case ListType(item=item):
            return ListType(scalars_as_python(item))
        case DictType(item=item):
            return DictType(scalars_as_python(item))
        case Optional(item=item):
            return Optional(scalars_as_python(item))
    return kind


def is_real_number(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return isinstance(atom.value, (int, float)) and not isinstance(atom.value, np.generic)
    return isinstance(atom.type, Number) and atom.type.kind != "complex"


def is_narrow(atom: Atom) -> bool:
    """Whether an atom is a NumPy scalar of single precision, or was computed beside one."""
    kind = atom_type(atom)
    narrow = ("float16", "float32", "complex64", "float64")
    return isinstance(kind, NumPyScalar) and kind.dtype in narrow


def real_power(b: Builder, x: Atom, y: Atom) -> Atom | None:
    """A power by what raises where Python gives a complex number; None where it never does."""
    if not may_be_complex(x, y):
        return None
    return b.apply(math.sqrt, x) if number_of(y) == 0.5 else b.apply(math.pow, x, y)


def may_be_complex(x: Atom, y: Atom) -> bool:
    """Whether a power of Python's numbers is complex where the base is negative."""
    if not (is_real_number(x) and is_real_number(y)):
        return False
    known, base = number_of(y), number_of(x)
    if known is not None:
        return known != int(known) if abs(known) < float("inf") else False
    return (
        number_kind(y) in ("float", "real")
        and "float" in (number_kind(x), number_kind(y))
        and (base is None or base < 0)
    )
