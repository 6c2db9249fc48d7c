"""Where a derivative is defined: by what, of what; everything else is refused, with the way out."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from srcad import runtime
from srcad.errors import NotDifferentiable
from srcad.frontend import containers
from srcad.frontend.abstract import (
    Abstract,
    DictRef,
    ListRef,
    ObjectRef,
    Static,
    TupleRef,
    is_number,
)
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Literal, Value
from srcad.ir.types import (
    Array,
    ListType,
    Number,
    NumPyScalar,
    Optional,
    Type,
    Unknown,
    dims_of,
    is_complex,
    is_differentiable,
)


def refuse_input(low: Lowering, name: str, what: str, hint: str) -> NoReturn:
    """Refuse a derivative by an argument, or by a part of one, that has none."""
    apart = (
        f"leave {name} out of argnums"
        if name.isidentifier()
        else f"pass {name} in an argument of its own, which argnums leaves out"
    )
    raise NotDifferentiable(
        low.place(), f"{name} is {what}: a derivative by it is not defined", f"{hint}, or {apart}"
    )


def check_input(low: Lowering, name: str, kind: Type) -> None:
    """Refuse a derivative by what has none."""
    if is_differentiable(kind):
        return
    match kind:
        case Number(kind=k):
            article = "an" if k == "int" else "a"
            refuse_input(low, name, f"{article} {k}", "pass a float: 3.0 instead of 3")
        case NumPyScalar(dtype=dtype):
            refuse_input(low, name, f"a NumPy {dtype}", f"pass float({name})")
        case Array(dtype=dtype):
            refuse_input(low, name, f"an array of dtype {dtype}", f"pass {name}.astype(float)")
        case ListType(item=Number(kind=k)):
            refuse_input(low, name, f"a list of {k}", "write 1.0 for 1")
    refuse_input(low, name, f"of type {kind}", "pass floats, float arrays or containers of them")


def check_constant(low: Lowering, name: str, known: Any) -> None:
    """Refuse a derivative by a string, a flag or None."""
    if known is None or isinstance(known, (bool, str, bytes)):
        what = "None" if known is None else f"a {type(known).__name__}"
        refuse_input(low, name, what, "pass floats, float arrays or containers of them")


def check_result(low: Lowering, value: Abstract) -> None:
    """Refuse the Jacobian of what is no float."""
    match value:
        case Value(type=kind) if is_differentiable(kind):
            require_present(low, value)
            return
        case Static(value=known) if is_number(known):
            return
        case Value(type=kind):
            what = f"the type {kind}"
        case Static(value=known):
            what = "None" if known is None else f"a {type(known).__name__}"
        case ListRef() | DictRef():
            name = "list" if isinstance(value, ListRef) else "dict"
            raise NotDifferentiable(
                low.place(),
                f"a Jacobian of a {name} whose length is known at run time only is not supported",
                f"return an array, or pass one: the gradient by a {name} is a {name}",
            )
        case _:
            what = f"a {type(value).__name__.removesuffix('Ref').lower()}"
    raise NotDifferentiable(
        low.place(), f"the function returns {what}, which has no derivative", "return floats"
    )


def require_present(low: Lowering, value: Abstract) -> None:
    """Refuse at run time what may be None."""
    if isinstance(value, Value) and isinstance(value.type, Optional):
        low.builder.effect(runtime.require_present, value)


def kind_name(value: Abstract) -> str:
    """The class of a value, for an error."""
    match value:
        case Static(value=known):
            return type(known).__name__
        case ObjectRef(cls=cls):
            return cls.__name__
    return type(value).__name__


def unit_seed(low: Lowering, value: Abstract) -> Atom:
    """The cotangent 1 of a real scalar result; anything else is refused."""
    match value:
        case Value(type=Optional(item=item)):  # that it is not None is checked at run time
            return unit_seed(low, Value("", item))
        case Value(type=kind):
            if isinstance(kind, Unknown) or (isinstance(kind, Array) and kind.dims is None):
                return Literal(1.0)  # checked at run time
            if is_complex(kind):
                _not_scalar(low, "a complex number", "take its real part, or use vjp")
            if dims_of(kind) == () and is_differentiable(kind):
                if isinstance(kind, (NumPyScalar, Array)) and kind.dtype not in (None, "float64"):
                    return Literal(np.dtype(kind.dtype).type(1))
                return Literal(1.0)
            if dims_of(kind) == ():
                _not_scalar(low, f"{_one(kind)}, which has no derivative", "return a float")
            if isinstance(kind, Array):
                _not_scalar(
                    low, f"an array {kind}", "reduce it with np.sum, or use jacobian or vjp"
                )
            _not_scalar(low, _one(kind), "return one float")
        case Static(value=known) if isinstance(known, (int, float)) and not isinstance(known, bool):
            return Literal(1.0)
        case Static(value=None):
            _not_scalar(low, "None", "add a return statement")
        case Static(value=known):
            _not_scalar(low, _one(type(known).__name__), "return one float")
        case TupleRef():
            _not_scalar(
                low, "a tuple", "return one scalar, or use has_aux=True for (scalar, extra)"
            )
    _not_scalar(low, _one(type(value).__name__.removesuffix("Ref").lower()), "return one scalar")
    raise AssertionError


def _one(what: object) -> str:
    return f"{'an' if str(what)[0] in 'aeio' else 'a'} {what}"


def _not_scalar(low: Lowering, what: str, hint: str) -> None:
    raise NotDifferentiable(
        low.place(),
        f"grad needs a function that returns one real scalar; this one returns {what}",
        hint,
    )


def unit_tangent(low: Lowering, value: Abstract) -> Abstract:
    """The unit tangent of a number, of its kind: methods of NumPy are called on it."""
    kind = value.type if isinstance(value, Value) else None
    if isinstance(kind, Array):
        dtype = () if kind.dtype is None else (Literal(np.dtype(kind.dtype).type),)
        return containers.wrap(low, low.builder.apply(np.ones, Literal(()), *dtype))
    if isinstance(kind, NumPyScalar):
        return low.builder.apply_typed(np.dtype(kind.dtype).type, (Literal(1.0),), kind)
    return Static(1.0)
