"""Rule bodies as IR: lowered by the frontend, with the types of the arguments known, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from srcad import rules
from srcad.errors import MissingRule
from srcad.frontend import builtin, calls, containers
from srcad.frontend.abstract import Abstract, AccumulatorRef, Held, ListRef, Static, TupleRef
from srcad.frontend.live import Importer, current
from srcad.frontend.lower import NoSource
from srcad.frontend.lowering import Frame, Lowering, Session, Unreachable
from srcad.frontend.scopes import Scope
from srcad.ir import Atom, Literal, Value
from srcad.ir.build import Builder
from srcad.ir.places import place_of
from srcad.ir.types import ListType, Number, NumPyScalar, TupleType
from srcad.transform import arraylike, replay


class RuleLibrary:
    """What rule bodies may call: functions that have rules themselves."""

    def is_known(self, function: object) -> bool:
        """Whether a function is a primitive."""
        return rules.is_known(function)

    def is_effect(self, function: object) -> bool:
        """Whether a call has to stay in order."""
        return rules.is_effect(function)

    def is_opaque(self, function: object) -> bool:
        """No function in a rule is opaque."""
        return False

    def expand(self, low: Any, function: object, args: Any, keywords: Any) -> Any:
        """What a rule computes of known arguments is computed now."""
        found = ahead(low, function, args, keywords)
        return (
            arraylike.composed(low, function, args, keywords) if found is NotImplemented else found
        )


_AHEAD = ("srcad.rules", "srcad.runtime.contractions")
"""The modules whose functions are run ahead of time where their arguments are known."""


def ahead(low: Any, function: object, args: Any, keywords: Any) -> Any:
    """What rules ask of types, and compute of known arguments; NotImplemented for other calls."""
    if not (getattr(function, "__module__", None) or "").startswith(_AHEAD):
        return NotImplemented
    if function is rules.is_literal:
        return Static(isinstance(args[0], Static) and rules.is_literal(args[0].value))
    if function is rules.is_sequence:
        return Static(_nesting(low, args[0]) > 0)
    if function is rules.of_numbers:
        return Static(_of_numbers(low, args[0]))
    if function is rules.nesting:
        return Static(_nesting(low, args[0]))
    return builtin.run_static(low, function, [_as_tuple(low, a) for a in args], keywords)


def _as_tuple(low: Any, value: Abstract) -> Abstract:
    items = containers.items_of(low, value) if isinstance(value, ListRef) else None
    return value if items is None else TupleRef(items)


def _of_numbers(low: Any, value: Any) -> bool:
    """Whether a value holds numbers, at its deepest level."""
    match value:
        case TupleRef(items=items) | TupleType(items=items):
            return all(_of_numbers(low, i) for i in items)
        case ListRef():
            known = containers.items_of(low, value)
            if known is not None:
                return all(_of_numbers(low, i) for i in known)
            return _of_numbers(low, low.atom(value).type)
        case Static(value=constant):
            return rules.of_numbers(constant)
        case Value(type=kind):
            return _of_numbers(low, kind)
        case ListType(item=item):
            return _of_numbers(low, item)
    return isinstance(value, (Number, NumPyScalar))


def _nesting(low: Any, value: Any) -> int:
    """The levels of lists and tuples of a value."""
    match value:
        case TupleRef(items=items):
            return 1 + max((_nesting(low, i) for i in items), default=0)
        case ListRef():
            items_ = containers.items_of(low, value)
            if items_ is not None:
                return 1 + max((_nesting(low, i) for i in items_), default=0)
            return _nesting(low, low.atom(value).type)
        case Static(value=known):
            return rules.nesting(known)
        case Value(type=kind):
            return _nesting(low, kind)
        case ListType(item=item):
            return 1 + _nesting(low, item)
        case TupleType(items=kinds):
            return 1 + max((_nesting(low, k) for k in kinds), default=0)
    return 0


_EMPTY = Scope(frozenset(), frozenset(), frozenset())


def lowering_into(builder: Builder) -> Lowering:
    """A cursor that writes at the end of a builder."""
    around = current.get()
    importer = Importer(builder.exact) if around is None else around.for_rule()
    session = Session(RuleLibrary(), builder.exact, builder, importer, unrolls=True)
    importer.session = session
    frame = Frame(0, "<rule>", NoSource(), _EMPTY, {}, None)  # type: ignore[arg-type]  # stands in for a FunctionSource
    return Lowering(session, builder, frame)


_by_numpy: ContextVar[bool] = ContextVar("_by_numpy", default=False)


@contextmanager
def numpy_arithmetic(wanted: bool) -> Iterator[None]:
    """Let derivatives that are lowered meanwhile be infinite or nan where they are not finite.

    Arithmetic of Python floats raises there; it is that of NumPy scalars in rule bodies then.
    """
    token = _by_numpy.set(wanted)
    try:
        yield
    finally:
        _by_numpy.reset(token)


def abstract_of(low: Lowering, atom: Any) -> Abstract:
    """An argument of a rule body."""
    if isinstance(atom, (tuple, list)):
        items = tuple(abstract_of(low, a) for a in atom)
        return TupleRef(items)
    if isinstance(atom, Literal):
        return containers.wrap(low, atom)
    assert isinstance(atom, Value)
    number = isinstance(atom.type, Number) and atom.type.kind in ("float", "real")
    if number and _by_numpy.get():
        atom = low.builder.apply_typed(np.float64, (atom,), NumPyScalar("float64"))
    return containers.wrap(low, atom, element=True)


def inline(
    builder: Builder, body: Any, args: list[Any], keywords: dict[str, Any]
) -> tuple[Lowering, Abstract]:
    """Lower a body at the end of a builder; the cursor, and what the body returns."""
    low = lowering_into(builder)
    before = builder.loc
    arguments = [abstract_of(low, a) for a in args]
    named = {k: abstract_of(low, v) for k, v in keywords.items()}
    try:
        result = replay.run_body(low, body, arguments, named)
    except Unreachable:  # the body raises for such arguments
        place = place_of(before)
        raise MissingRule(
            place,
            f"the derivative of {body.__name__} is not known for these arguments"
            f"{arraylike.reason_given(low)}",
            "cut it with srcad.stop_gradient if it does not matter, or declare a rule",
        ) from None
    builder.loc = before
    return low, result


def accumulate(
    builder: Builder,
    rule: rules.Rule,
    args: list[Any],
    keywords: dict[str, Any],
    start: Atom,
    add: Callable[[Builder, Value, Atom, Atom], Value] = Builder.accumulate,
) -> tuple[Value, Atom | None]:
    """Lower a body that adds to an adjoint (``x_bar[i] += ct``), or returns what is to be added.

    The adjoint afterwards, and what has been returned.
    """
    low = lowering_into(builder)
    ref = AccumulatorRef(low.session.new_place(), add)
    assert isinstance(start, Value)
    low.state[("place", ref.place, "")] = Held(start)
    named = {k: abstract_of(low, v) for k, v in keywords.items()}
    named[rule.accumulates[0]] = ref
    before = builder.loc
    returned = calls.call(low, Static(rule.body), [abstract_of(low, a) for a in args], named)
    builder.loc = before
    held = low.state[("place", ref.place, "")]
    assert isinstance(held, Held)
    nothing = isinstance(returned, Static) and returned.value is None
    return held.value, None if nothing else low.atom(returned)
