"""What calls of NumPy mean: arrays for lists, and the functions that are compositions written out.

Lists given to NumPy where it takes arrays: they are made arrays first.

    np.linalg.norm([x, y])      ->      np.linalg.norm(np.array([x, y]))

NumPy does the same inside; outside of the call it has a derivative of its own, and rules see arrays
only.  Arguments that are sequences of arrays (``np.concatenate``) stay what they are.
"""

from __future__ import annotations

import inspect
import types
from functools import cache, partial
from typing import Any, NoReturn

import numpy as np

from srcad import rules
from srcad.errors import MissingRule
from srcad.frontend import arrays, attributes, calls, comprehensions, containers
from srcad.frontend.abstract import (
    NONE,
    Abstract,
    ArrayRef,
    Held,
    Items,
    ListRef,
    ObjectRef,
    RangeRef,
    Static,
    TupleRef,
)
from srcad.frontend.lowering import Lowering, Unreachable
from srcad.ir import Effect, Literal, Value
from srcad.ir.types import (
    Array,
    ListType,
    Number,
    NumPyScalar,
    TupleType,
    Type,
    is_differentiable,
)
from srcad.transform.precision import fitted, precision_of, raised


def rewritten(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The result of a call that is made in other words; NotImplemented for one that is not."""
    rest = without_defaults(function, keywords)
    if rest.keys() != keywords.keys():
        return calls.call(low, Static(function), args, rest)
    if function in (np.array, np.asarray) and args and _is_range(args[0]):
        return calls.call(low, Static(function), [_counted(low, args[0]), *args[1:]], keywords)
    if any(map(_is_arraylike, args)) and _takes_lists(function):
        return calls.call(low, Static(function), [_as_array(low, a) for a in args], keywords)
    if isinstance(function, np.ufunc) and keywords:
        plain, rest = without_dtype(low, function, args, keywords)
        if rest.keys() != keywords.keys():
            return calls.call(low, Static(function), plain, rest)
    if _takes_lists(function) and any(_has_gap(low, a) for a in (*args, *keywords.values())):
        made = [_of_floats(low, a) for a in args]
        named = {name: _of_floats(low, a) for name, a in keywords.items()}
        return calls.call(low, Static(function), made, named)
    found = with_arrays(low, function, args, keywords)
    return composed(low, function, args, keywords) if found is NotImplemented else found


def without_defaults(function: Any, keywords: dict[str, Abstract]) -> dict[str, Abstract]:
    """The keywords but for those that no rule takes, and that are what they are by default."""
    rule = (rules.lookup_composition(function) or rules.lookup(function)) if keywords else None
    if rule is None:
        return keywords
    taken = rule.parameters.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in taken):
        return keywords
    names, defaults = {p.name for p in taken}, _defaults(function)

    def is_default(name: str, value: Abstract) -> bool:
        if name in names or name not in defaults or not isinstance(value, Static):
            return False
        default = defaults[name]
        return type(value.value) is type(default) and value.value == default

    return {name: value for name, value in keywords.items() if not is_default(name, value)}


@cache
def _defaults(function: Any) -> dict[str, Any]:
    """What the arguments of a function are that are not given, as far as that is plain."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    plain = (type(None), bool, int, float, str)
    return {p.name: p.default for p in parameters if type(p.default) in plain}


def composed(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The call of a composition, written out; NotImplemented if it is none, or without data.

    A composition that returns NotImplemented leaves its arguments to another rule.
    """
    rule = rules.lookup_composition(function)
    if rule is None:
        return NotImplemented
    data = any(_has_data(low, a) for a in (*args, *keywords.values()))
    if not data and function not in _TAKE_FUNCTIONS:
        return NotImplemented
    try:
        rule.parameters.bind(*args, **keywords)
    except TypeError as error:
        _refuse(low, function, f": {error}")
    wanted = None if rule.of_view else precision_of(low, function, args, keywords)
    if wanted is not None:
        args = [raised(low, a, wanted) for a in args]
        keywords = {name: raised(low, a, wanted) for name, a in keywords.items()}
    try:
        found = calls.call(low, Static(rule.body), args, keywords)
    except Unreachable:  # the body raises for such arguments
        if low.internal:
            raise
        _refuse(low, function, reason_given(low))
    if isinstance(found, Static) and found.value is NotImplemented:
        return NotImplemented
    found = fitted(low, found, wanted)
    if rule.of_view and not isinstance(found, ArrayRef):
        for value in (*args, *keywords.values()):
            low.freeze(value)
        return found
    return arrays.made_here(low, found)


def _refuse(low: Lowering, function: Any, reason: str) -> NoReturn:
    name = getattr(function, "__name__", repr(function))
    low.refuse(
        f"the derivative of {name} is not known for these arguments{reason}",
        "cut it with srcad.stop_gradient if it does not matter, or declare a rule",
        kind=MissingRule,
    )


_TAKE_FUNCTIONS = {np.vectorize}
"""What is written out for the functions it is given, whether there is data or not."""


def reason_given(low: Lowering) -> str:
    """What the error says that was about to be raised."""
    op = low.builder.ops[-1]
    error = op.args[0] if isinstance(op, Effect) and op.args else None
    made = low.builder.definition(error) if isinstance(error, Value) else None
    texts = [a.value for a in made.args if isinstance(a, Literal)] if made is not None else []
    said = [text for text in texts if isinstance(text, str)]
    return f": {said[0]}" if said else ""


def _has_data(low: Lowering, value: Abstract) -> bool:
    if isinstance(value, TupleRef):
        return any(_has_data(low, item) for item in value.items)
    if isinstance(value, ListRef):
        items = containers.items_of(low, value)
        if items is not None:
            return any(_has_data(low, item) for item in items)
    if isinstance(value, Value):
        return _may_vary(low, value)
    return not calls.is_inert(value)


def _may_vary(low: Lowering, value: Value) -> bool:
    """Whether a value may depend on something that a derivative is taken by.

    What is computed from arguments that none is taken by stays the call that it is.
    """
    session = low.session
    seen: set[Value] = set()
    left: list[object] = [value]
    while left:
        atom = left.pop()
        if isinstance(atom, tuple):
            left.extend(atom)
        elif isinstance(atom, Value) and atom not in seen and not calls.is_inert(atom):
            seen.add(atom)
            op = low.builder.definition(atom)
            if atom in session.leaves or (op is None and atom not in session.given):
                return True
            if op is not None:
                left.extend(op.args)
                left.extend(atom for _, atom in op.keywords)
    return False


_OF_MEMORY = ("casting", "order", "subok")
"""Arguments of ufuncs that change no value."""


def without_dtype(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[list[Abstract], dict[str, Abstract]]:
    """The arguments of a ufunc in the type in which it is to compute."""
    if rules.lookup(function) is None or any(
        not isinstance(keywords.get(name, NONE), Static) for name in (*_OF_MEMORY, "dtype")
    ):
        return args, keywords
    wanted = keywords.get("dtype", NONE)
    assert isinstance(wanted, Static)
    rest = {k: v for k, v in keywords.items() if k != "dtype" and k not in _OF_MEMORY}
    if wanted.value is None:
        return args, rest

    def cast(value: Abstract) -> Abstract:
        kind = value.type if isinstance(value, Value) else None
        if isinstance(kind, (Array, NumPyScalar)) and kind.dtype == np.dtype(wanted.value):
            return value
        literal = isinstance(value, Static) and rules.is_literal(value.value)
        if literal and np.issubdtype(wanted.value, np.inexact):
            return value
        return calls.call(low, Static(np.asarray), [value, wanted], {})

    return list(map(cast, args)), rest


def with_arrays(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The call with arrays for lists; NotImplemented if there is none to replace."""
    if not any(map(_is_list, (*args, *keywords.values()))) or not _takes_lists(function):
        return NotImplemented
    rule = rules.lookup(function)
    if rule is None:
        return NotImplemented
    try:
        bound = rule.parameters.bind(*args, **keywords)
    except TypeError:
        return NotImplemented
    changed = False

    def made(value: Any) -> Any:
        nonlocal changed
        if not _is_list(value):
            return value
        changed = True
        return (
            _counted(low, value)
            if _is_range(value)
            else calls.call(low, Static(np.array), [value], {})
        )

    def is_empty(value: Abstract) -> bool:
        return _is_list(value) and containers.items_of(low, value) == ()

    def without_empty(sequence: Abstract) -> Abstract:
        """An empty list among arrays is an array of no floats: it has a tangent like others."""
        items = (containers.items_of(low, sequence) if _is_list(sequence) else None) or ()
        if not any(map(is_empty, items)):
            return sequence
        return TupleRef(tuple(made(item) if is_empty(item) else item for item in items))

    for name in rule.parameters.parameters if rule.elementwise else rule.wrt:
        value = bound.arguments.get(name)
        if name in rule.sequences and value is not None:
            bound.arguments[name] = without_empty(value)
        elif value is not None:
            several = isinstance(value, tuple)  # *name: each of them
            bound.arguments[name] = tuple(map(made, value)) if several else made(value)
    if not changed:
        return NotImplemented
    return calls.call(low, Static(function), list(bound.args), dict(bound.kwargs))


def _is_arraylike(value: Abstract) -> bool:
    return isinstance(value, ObjectRef) and hasattr(value.cls, "__array__")


def _as_array(low: Lowering, value: Abstract) -> Abstract:
    """An object that NumPy would ask for the array that it stands for, as that array."""
    if not _is_arraylike(value):
        return value
    return calls.call(low, attributes.get_attribute(low, value, "__array__"), [], {})


def _is_range(value: Abstract) -> bool:
    return isinstance(value, RangeRef) or (
        isinstance(value, Static) and isinstance(value.value, range)
    )


def _counted(low: Lowering, value: Abstract) -> Abstract:
    """The array of the numbers of a range."""
    if isinstance(value, RangeRef):
        ends = [containers.wrap(low, a) for a in (value.start, value.stop, value.step)]
    else:
        assert isinstance(value, Static)
        ends = [Static(n) for n in (value.value.start, value.value.stop, value.value.step)]
    return calls.call(low, Static(np.arange), ends, {})


def _of_floats(low: Lowering, value: Abstract) -> Abstract:
    """Lists of run-time length with floats for the integers in their tuples, as in the array.

    [(v, 1), (w, 2), ...]      ->      [(v, 1.0), (w, 2.0), ...]

    The tangent of a tuple has None for an integer, and no array is made of that.
    """
    again = partial(_of_floats, low)
    match value:
        case ListRef() if isinstance(contents := low.contents(value), Items):
            return low.new_list(Items(tuple(map(again, contents.items))))
        case ListRef() if _has_gap(low, value):
            return comprehensions.transform(low, value, partial(_floats, low))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(map(again, items)), cls)
    return value


def _floats(low: Lowering, value: Abstract) -> Abstract:
    again = partial(_floats, low)
    match value:
        case ListRef():
            return comprehensions.transform(low, value, again)
        case TupleRef() | Value(type=TupleType()):
            return TupleRef(tuple(map(again, containers.unpack(low, value))))
        case Value(type=kind) if _is_integer(kind):
            return calls.call(low, Static(float), [value], {})
    return value


def _has_gap(low: Lowering, value: Abstract) -> bool:
    """Whether it is, or holds, a list of run-time length with integers in tuples of numbers."""
    match value:
        case TupleRef(items=items):
            return any(_has_gap(low, item) for item in items)
        case ListRef():
            contents = low.contents(value)
            if isinstance(contents, Items):
                return any(_has_gap(low, item) for item in contents.items)
            assert isinstance(contents, Held)
            return is_differentiable(contents.value.type) and _has_integer(contents.value.type)
    return False


def _has_integer(kind: Type) -> bool:
    match kind:
        case ListType(item=item):
            return _has_integer(item)
        case TupleType(items=items):
            return any(map(_has_integer, items))
    return _is_integer(kind)


def _is_integer(kind: Type) -> bool:
    return isinstance(kind, (Number, NumPyScalar)) and not is_differentiable(kind)


def _takes_lists(function: Any) -> bool:
    """Whether it is one of NumPy or SciPy, which take lists where they take arrays."""
    if isinstance(function, types.FunctionType) and "." in function.__qualname__:
        return False  # a method written in Python, of an object that is no array itself
    owner = getattr(function, "__objclass__", function)
    home = (getattr(owner, "__module__", None) or "").partition(".")[0]
    return isinstance(owner, np.ufunc) or home in ("numpy", "scipy")


def _is_list(value: Any) -> bool:
    match value:
        case ListRef() | TupleRef() | Value(type=ListType() | TupleType()):
            return True
        case Static(value=list() | tuple()):
            return True
    return _is_range(value)
