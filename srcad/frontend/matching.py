"""``match``: each pattern is a test and the names it binds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gast

from srcad.frontend import (
    attributes,
    calls,
    containers,
    expressions,
    statements,
    typequeries,
)
from srcad.frontend.abstract import (
    Abstract,
    DictRef,
    Entries,
    Items,
    ListRef,
    Static,
    TupleRef,
)
from srcad.frontend.control import branch, choose
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Value
from srcad.ir.types import TupleType

Bindings = dict[str, Abstract]


def lower_match(
    low: Lowering, subject: Abstract, cases: list[Any], rest: Callable[[], None] | None
) -> bool | None:
    """Lower the cases from the first on; True if what follows the statement was lowered too."""
    if not cases:
        return None
    case = cases[0]
    bindings: Bindings = {}
    matched = pattern(low, subject, case.pattern, bindings)

    def bind() -> None:
        for name, value in bindings.items():
            low.state[low.variable(name)] = value

    if matched is not False and case.guard is not None:
        bind()
        guard = expressions.condition(low, case.guard)
        matched = both(low, matched, guard)
    if matched is False:
        return lower_match(low, subject, cases[1:], rest)

    def then() -> None:
        bind()
        statements.run_block(low, case.body)

    if matched is True:
        then()
        return None

    def otherwise() -> None:
        lower_match(low, subject, cases[1:], None)

    return branch(low, matched, then, otherwise, rest)


def both(low: Lowering, x: bool | Atom, y: bool | Atom) -> bool | Atom:
    """``x and y`` of two tests without effects."""
    if isinstance(x, bool):
        return y if x else False
    if isinstance(y, bool):
        return x if y else False
    return low.atom(choose(low, x, partial(containers.wrap, low, y), lambda: Static(False)))


def pattern(low: Lowering, subject: Abstract, node: Any, bindings: Bindings) -> bool | Atom:
    """Whether a pattern matches; adds what it binds."""
    match node:
        case gast.MatchValue(value=value):
            wanted = expressions.evaluate(low, value)
            return expressions.truth(low, expressions.compare(low, gast.Eq(), subject, wanted))
        case gast.MatchSingleton(value=value):
            same = expressions.identical(low, subject, Static(value))
            return same if isinstance(same, bool) else expressions.truth(low, same)
        case gast.MatchAs(pattern=inner, name=name):
            matched: bool | Atom = True if inner is None else pattern(low, subject, inner, bindings)
            if name is not None and matched is not False:
                bindings[_name(name)] = subject
            return matched
        case gast.MatchOr(patterns=patterns):
            return _any(low, subject, patterns, bindings)
        case gast.MatchSequence(patterns=patterns):
            return _sequence(low, subject, patterns, bindings)
        case gast.MatchClass():
            return _class(low, subject, node, bindings)
        case gast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            return _mapping(low, subject, keys, patterns, rest, bindings)
    low.refuse(*refusal("pattern"), node)


def _name(name: Any) -> str:
    return name.id if isinstance(name, gast.Name) else str(name)


def _any(low: Lowering, subject: Abstract, patterns: list[Any], bindings: Bindings) -> bool | Atom:
    first = pattern(low, subject, patterns[0], bindings)
    if first is True or len(patterns) == 1:
        return first
    if first is False:
        return _any(low, subject, patterns[1:], bindings)
    second = _any(low, subject, patterns[1:], bindings)
    if isinstance(second, bool):
        return True if second else first
    return low.atom(choose(low, first, lambda: Static(True), partial(containers.wrap, low, second)))


def _sequence(
    low: Lowering, subject: Abstract, patterns: list[Any], bindings: Bindings
) -> bool | Atom:
    if not isinstance(subject, (TupleRef, ListRef)) and not _is_tuple(subject):
        if _is_no(low, subject, Sequence):
            return False
        low.refuse(*refusal("pattern"))
    items = containers.items_of(low, subject)
    if items is None:
        low.refuse(*refusal("changing length", type="list"))
    stars = [k for k, p in enumerate(patterns) if isinstance(p, gast.MatchStar)]
    if (not stars and len(items) != len(patterns)) or len(items) < len(patterns) - len(stars):
        return False
    matched: bool | Atom = True
    before = stars[0] if stars else len(patterns)
    after = len(patterns) - before - len(stars)
    end = len(items) - after
    pairs = [*zip(items[:before], patterns[:before], strict=True)]
    pairs += [*zip(items[end:], patterns[len(patterns) - after :], strict=True)] if stars else []
    for item, inner in pairs:
        matched = both(low, matched, pattern(low, item, inner, bindings))
    if stars and (name := patterns[before].name) is not None:
        bindings[_name(name)] = low.new_list(Items(tuple(items[before:end])))
    return matched


def _is_tuple(subject: Abstract) -> bool:
    """Whether a run-time value is a tuple of known length, such as a shape."""
    return isinstance(subject, Value) and isinstance(subject.type, TupleType)


def _class(low: Lowering, subject: Abstract, node: Any, bindings: Bindings) -> bool | Atom:
    cls = expressions.evaluate(low, node.cls)
    is_instance = calls.call(low, Static(isinstance), [subject, cls], {})
    matched = expressions.truth(low, is_instance)
    if matched is False:
        return False
    if node.patterns and isinstance(cls, Static) and cls.value in (int, float, str, bool):
        return both(low, matched, pattern(low, subject, node.patterns[0], bindings))
    names = list(getattr(cls.value, "__match_args__", ())) if isinstance(cls, Static) else []
    pairs = [
        *zip(names, node.patterns, strict=False),
        *zip(node.kwd_attrs, node.kwd_patterns, strict=True),
    ]
    for name, inner in pairs:
        matched = both(
            low,
            matched,
            pattern(low, attributes.get_attribute(low, subject, name), inner, bindings),
        )
    return matched


def _is_no(low: Lowering, subject: Abstract, kind: type) -> bool:
    """Whether a value is surely no sequence, or no mapping; text counts as neither."""
    cls = typequeries.class_of(low, subject)
    return cls is not None and (not issubclass(cls, kind) or issubclass(cls, (str, bytes)))


def _mapping(
    low: Lowering,
    subject: Abstract,
    keys: list[Any],
    patterns: list[Any],
    rest: Any,
    bindings: Bindings,
) -> bool | Atom:
    if _is_no(low, subject, Mapping):
        return False
    if not isinstance(subject, DictRef) or not isinstance(low.contents(subject), Entries):
        low.refuse(*refusal("pattern"))
    contents = low.contents(subject)
    assert isinstance(contents, Entries)
    matched: bool | Atom = True
    used = []
    for key, inner in zip(keys, patterns, strict=True):
        known = expressions.evaluate(low, key)
        if not isinstance(known, Static):
            return False
        found = contents.get(known.value)
        if found is None:
            return False
        used.append(known.value)
        matched = both(low, matched, pattern(low, found, inner, bindings))
    if rest is not None:
        pairs = [
            (k, v) for k, v in zip(contents.keys, contents.values, strict=True) if k not in used
        ]
        bindings[_name(rest)] = low.new_dict(
            Entries(tuple(k for k, _ in pairs), tuple(v for _, v in pairs))
        )
    return matched
