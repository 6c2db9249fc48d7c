"""Operators of user classes: which method of which operand is asked, in the order of Python.

The left operand's method comes first, unless the class of the right one is a subclass with a
reflected method of its own; ``NotImplemented`` passes on to the other operand.  (The Python
Language Reference, section 3.3.8, Emulating numeric types.)
"""

from __future__ import annotations

import enum
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcad.errors import UnsupportedValue
from srcad.frontend import attributes, calls, classes, expressions
from srcad.frontend.abstract import Abstract, ObjectRef, Static, TupleRef
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering
from srcad.ir import Value
from srcad.ir.tree import is_generated
from srcad.ir.types import Array

_ARITHMETIC = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
    operator.floordiv: "floordiv", operator.mod: "mod", operator.pow: "pow",
    operator.matmul: "matmul", operator.and_: "and", operator.or_: "or", operator.xor: "xor",
    operator.lshift: "lshift", operator.rshift: "rshift",
}  # fmt: skip
_UNARY = {
    operator.neg: "neg", operator.pos: "pos", operator.invert: "invert", operator.abs: "abs",
}  # fmt: skip
_COMPARISONS = {
    operator.lt: "lt", operator.le: "le", operator.gt: "gt", operator.ge: "ge",
    operator.eq: "eq", operator.ne: "ne",
}  # fmt: skip
_MIRRORED = {
    operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt,
    operator.ge: operator.le, operator.eq: operator.eq, operator.ne: operator.ne,
}  # fmt: skip


def own_class(value: Abstract) -> type | None:
    """The user's class of an instance or a namedtuple; None for what is built in."""
    match value:
        case ObjectRef(cls=cls):
            return cls
        case TupleRef(cls=cls) if cls is not tuple:
            return cls
    return None


def _method(cls: type | None, name: str) -> Any:
    """What a user's class defines as a special method; None for what comes from elsewhere."""
    found = inspect.getattr_static(cls, name, None) if cls is not None else None
    if getattr(found, "__module__", None) == "collections":
        return None  # what every namedtuple has
    base = tuple if cls is not None and issubclass(cls, tuple) else object
    return None if found is inspect.getattr_static(base, name, None) else found


def has(value: Abstract, name: str) -> bool:
    """Whether a user's class has a special method for a value."""
    return _method(own_class(value), name) is not None


def ask(low: Lowering, value: Abstract, *names: str) -> Abstract | None:
    """What the first of some special methods without arguments says that a user's class has."""
    cls = own_class(value)
    for name in names:
        if _method(cls, name) is not None:
            return calls.call(low, attributes.get_attribute(low, value, name), [], {})
    return None


def _asked(low: Lowering, obj: Abstract, name: str, args: list[Abstract]) -> Abstract | None:
    """What a special method returns; None if it does not take such operands."""
    found = calls.call(low, attributes.get_attribute(low, obj, name), args, {})
    return None if isinstance(found, Static) and found.value is NotImplemented else found


def binary(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract | None:
    """An operator that a user's class has; None if neither operand's class has it."""
    if op in _COMPARISONS:
        return _compared(low, op, x, y)
    name = _ARITHMETIC.get(op)
    one, other = own_class(x), own_class(y)
    if name is None or (one is None and other is None):
        return None
    here, there = f"__{name}__", f"__r{name}__"
    tries = [(x, here, y)] if _method(one, here) is not None else []
    if one is not other and (reflected := _method(other, there)) is not None:
        _require_deferring(low, x, other)
        first = one is not None and other is not None and issubclass(other, one)
        if first and reflected is not _method(one, there):
            tries.insert(0, (y, there, x))
        else:
            tries.append((y, there, x))
    for obj, method, operand in tries:
        found = _asked(low, obj, method, [operand])
        if found is not None:
            return found
    if tries:
        low.refuse(f"no operand of this operator takes the other in {here}", calls.RAISES)
    return None


def _require_deferring(low: Lowering, x: Abstract, cls: type | None) -> None:
    """Refuse an array on the left of an object to which NumPy would apply it entry by entry."""
    if not (isinstance(x, Value) and isinstance(x.type, Array)):
        return
    defers = getattr(cls, "__array_ufunc__", ...) is None or (
        not hasattr(cls, "__array_ufunc__") and getattr(cls, "__array_priority__", 0.0) > 0.0
    )
    if not defers:
        low.refuse(*refusal("array operator", name=getattr(cls, "__name__", "")))


def _compared(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract | None:
    """A comparison of which an instance is a part; None if there is none."""
    one, other = own_class(x), own_class(y)
    sides = [(x, op, y), (y, _MIRRORED[op], x)]
    if one is not other and one is not None and other is not None and issubclass(other, one):
        sides.reverse()
    tried = False
    for obj, by, operand in sides:
        for found in _answers(low, by, obj, operand):
            tried = True
            if found is not None:
                return found
    instances = isinstance(x, ObjectRef) or isinstance(y, ObjectRef)
    if op in (operator.eq, operator.ne) and (instances or tried):
        same = expressions.identical(low, x, y)
        if isinstance(same, bool):
            return Static(same == (op is operator.eq))
        return same if op is operator.eq else expressions.invert(low, expressions.truth(low, same))
    if instances or tried:
        low.refuse("these objects have no order", calls.RAISES)
    return None


def _answers(low: Lowering, op: Any, obj: Abstract, other: Abstract) -> Iterator[Abstract | None]:
    """What the comparison of an operand's class says, if it has one; None for NotImplemented."""
    cls, name = own_class(obj), f"__{_COMPARISONS[op]}__"
    method = _method(cls, name)
    if method is not None:
        if method is inspect.getattr_static(types.SimpleNamespace, name):
            low.refuse("a SimpleNamespace is compared", "compare its attributes")
        if isinstance(obj, ObjectRef) and _is_of_dataclass(method):
            found = classes.compared_dataclasses(low, op, obj, other)
            yield None if isinstance(found, Static) and found.value is NotImplemented else found
        else:
            yield _asked(low, obj, name, [other])
    elif op is operator.ne and _method(cls, "__eq__") is not None:
        for equal in _answers(low, operator.eq, obj, other):
            if equal is not None:
                yield expressions.invert(low, expressions.truth(low, equal))


def _is_of_dataclass(method: Any) -> bool:
    return isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>"


def in_place(low: Lowering, op: Any, x: Abstract, y: Abstract) -> Abstract | None:
    """``x op= y`` by a method for that; None if there is none, or it does not take ``y``."""
    name = f"__i{_ARITHMETIC.get(op)}__"
    if _method(own_class(x), name) is None:
        return None
    return _asked(low, x, name, [y])


def unary(low: Lowering, op: Any, x: Abstract) -> Abstract | None:
    """``op x`` of a user's class; None if it has none."""
    return ask(low, x, f"__{_UNARY.get(op)}__")


_SEQUENCE = (
    "__getitem__", "__iter__", "__contains__", "__getattribute__", "__getattr__", "__reversed__",
    "__array__",
)  # fmt: skip


_BUILT_IN = (tuple, list, dict, set, float, complex, int, str)


def require_plain(low: Lowering, cls: type, what: str) -> None:
    """Refuse an instance of a subclass of a built-in class that has operators of its own.

    It is followed as a value of the built-in class.  Operators of a namedtuple are asked, but what
    it does as a sequence is what a tuple does.
    """
    base = next((b for b in _BUILT_IN if issubclass(cls, b)), None)
    if base is None or cls is base or issubclass(cls, (np.generic, enum.Enum)):
        return
    for name in _SEQUENCE if base is tuple else (*_SEQUENCE, *_OTHERS):
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, types.FunctionType) and not is_generated(found):
            known = {"what": what, "name": cls.__name__, "method": name, "base": base.__name__}
            low.refuse(*refusal("own operators", **known), kind=UnsupportedValue)


_OTHERS = (
    "__len__", "__bool__", "__float__", "__int__", "__index__", "__setitem__", "__delitem__",
    "__missing__", "__round__",
    *(f"__{prefix}{name}__" for name in _ARITHMETIC.values() for prefix in ("", "r", "i")),
    *(f"__{name}__" for name in (*_UNARY.values(), *_COMPARISONS.values())),
)  # fmt: skip
