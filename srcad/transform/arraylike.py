"""What calls of NumPy mean: arrays for lists, and the functions that are compositions written out.

Lists given to NumPy where it takes arrays: they are made arrays first.

    np.linalg.norm([x, y])      ->      np.linalg.norm(np.array([x, y]))

NumPy does the same inside; outside of the call it has a derivative of its own, and rules see arrays
only.  Arguments that are sequences of arrays (``np.concatenate``) stay what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad import rules
from srcad.errors import MissingRule
from srcad.frontend import arrays, calls, containers
from srcad.frontend.abstract import Abstract, ListRef, Static, TupleRef
from srcad.frontend.lowering import Lowering, Unreachable
from srcad.ir import Effect, Literal, Value
from srcad.ir.types import ListType, TupleType


def rewritten(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The result of a call that is made in other words; NotImplemented for one that is not."""
    found = with_arrays(low, function, args, keywords)
    return composed(low, function, args, keywords) if found is NotImplemented else found


def composed(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The call of a composition, written out; NotImplemented if it is none, or without data.

    A composition that returns NotImplemented leaves its arguments to another rule.
    """
    rule = rules.lookup_composition(function)
    if rule is None or not any(_has_data(low, a) for a in (*args, *keywords.values())):
        return NotImplemented
    try:
        found = calls.call(low, Static(rule.body), args, keywords)
    except Unreachable:  # the body raises for such arguments
        if low.internal:
            raise
        low.refuse(
            f"the derivative of {getattr(function, '__name__', rule.name)} is not known for these"
            f" arguments{_reason(low)}",
            "cut it with srcad.stop_gradient if it does not matter, or declare a rule",
            kind=MissingRule,
        )
    if isinstance(found, Static) and found.value is NotImplemented:
        return NotImplemented
    return arrays.made_here(low, found)


def _reason(low: Lowering) -> str:
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
    return not calls.is_inert(value)


def with_arrays(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Any:
    """The call with arrays for lists; NotImplemented if there is none to replace."""
    if not any(map(_is_list, (*args, *keywords.values()))) or not _is_numpy(function):
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
        return calls.call(low, Static(np.array), [value], {})

    for name in rule.wrt:
        value = bound.arguments.get(name)
        if name not in rule.sequences and value is not None:
            several = isinstance(value, tuple)  # *name: each of them
            bound.arguments[name] = tuple(map(made, value)) if several else made(value)
    if not changed:
        return NotImplemented
    return calls.call(low, Static(function), list(bound.args), dict(bound.kwargs))


def _is_numpy(function: Any) -> bool:
    return isinstance(function, np.ufunc) or (
        getattr(function, "__module__", None) or ""
    ).startswith("numpy")


def _is_list(value: Any) -> bool:
    match value:
        case ListRef() | TupleRef() | Value(type=ListType() | TupleType()):
            return True
        case Static(value=list() | tuple()):
            return True
    return False
