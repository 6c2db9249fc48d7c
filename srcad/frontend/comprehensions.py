"""Comprehensions and generator expressions: loops that build a list, or reduce as they go."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import gast

from srcad.frontend import containers, statements
from srcad.frontend.abstract import (
    FALSE,
    TRUE,
    Abstract,
    DictRef,
    Entries,
    Items,
    ListRef,
    Static,
    TupleRef,
)
from srcad.frontend.control import branch, run_sequence
from srcad.frontend.lowering import EXITS, Frame, Key, Lowering
from srcad.frontend.scopes import scope_of


def list_of(low: Lowering, node: Any, unrolled: bool = False) -> ListRef:
    """``[elt for …]``; a generator expression is evaluated to a list at once."""
    from srcad.frontend.expressions import evaluate

    result = low.new_list(Items(()))

    def append() -> None:
        containers.call_method(low, result, "append", [evaluate(low, node.elt)], {})

    generate(low, node, append, {("place", result.place, "")}, unrolled)
    return result


def dict_of(low: Lowering, node: Any) -> DictRef:
    """``{key: value for …}``"""
    from srcad.frontend.expressions import evaluate

    result = low.new_dict(Entries((), ()))

    def store() -> None:
        key = evaluate(low, node.key)
        containers.set_item(low, result, key, evaluate(low, node.value))

    generate(low, node, store, {("place", result.place, "")})
    return result


def generate(
    low: Lowering, node: Any, each: Callable[[], None], changed: set[Key], unrolled: bool = False
) -> None:
    """Run ``each`` for every item of a comprehension, in a scope of its own."""
    from srcad.frontend.expressions import evaluate, truth

    first = evaluate(low, node.generators[0].iter)
    outer = low.frame
    frame = Frame(
        low.session.new_frame(), "<comprehension>", outer.source, scope_of(node), outer.globals, outer
    )
    low.frame = frame
    try:

        def level(k: int) -> None:
            if k == len(node.generators):
                each()
                return
            generator = node.generators[k]
            iterable = first if k == 0 else evaluate(low, generator.iter)

            def body() -> None:
                filtered(generator.ifs, 0, k)

            assigned = {low.variable(n) for n in frame.scope.locals} | changed
            statements.iterate(low, iterable, generator.target, body, assigned, unrolled)

        def filtered(tests: list[Any], j: int, k: int) -> None:
            if j == len(tests):
                level(k + 1)
                return
            known = truth(low, evaluate(low, tests[j]))
            if isinstance(known, bool):
                if known:
                    filtered(tests, j + 1, k)
                return
            branch(low, known, lambda: filtered(tests, j + 1, k), lambda: None)

        level(0)
    finally:
        low.frame = outer
    if frame.keeps:  # a function made here reads its variables when it is called
        outer.keeps = True
        return
    for key in [k for k in low.state if k[1] == frame.number and k[0] != "place"]:
        del low.state[key]


_REDUCTIONS = {builtins.sum, builtins.any, builtins.all}


def reduce_generator(
    low: Lowering, func: Any, args: list[Any], keywords: list[Any]
) -> Abstract | None:
    """``sum``, ``any`` or ``all`` of a generator expression, without the list."""
    from srcad.frontend.expressions import binary, evaluate, load, truth

    if not (args and isinstance(args[0], gast.GeneratorExp) and isinstance(func, gast.Name)):
        return None
    callee = load(low, func.id, func)
    if not (isinstance(callee, Static) and _hashable(callee.value) and callee.value in _REDUCTIONS):
        return None
    if keywords or len(args) > 2 or (len(args) == 2 and callee.value is not builtins.sum):
        return None
    node = args[0]
    key: Key = ("variable", low.session.new_frame(), "total")
    if callee.value is builtins.sum:
        low.state[key] = evaluate(low, args[1]) if len(args) == 2 else Static(0)

        def add() -> None:
            low.state[key] = binary(low, operator.add, low.state[key], evaluate(low, node.elt))

        generate(low, node, add, {key})
        total: Abstract = low.state.pop(key)
        return total
    # any and all stop at the first item that decides: a loop with a break
    decides = callee.value is builtins.any
    key = ("variable", key[1], "found")
    low.state[key] = FALSE if decides else TRUE

    def test() -> None:
        value = truth(low, evaluate(low, node.elt))

        def stop() -> None:
            low.state[key] = TRUE if decides else FALSE
            low.set_flag("broke", TRUE)

        if isinstance(value, bool):
            if value == decides:
                stop()
        elif decides:
            branch(low, value, stop, lambda: None)
        else:
            branch(low, low.negate(value), stop, lambda: None)

    if len(node.generators) > 1:
        return None
    generate(low, node, test, {key})
    found: Abstract = low.state.pop(key)
    return found


def _hashable(obj: Any) -> bool:
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def collect(low: Lowering, iterable: Abstract) -> ListRef:
    """``list(iterable)`` of what is known at run time only."""
    result = low.new_list(Items(()))
    key: Key = ("temporary", low.session.new_place(), "")

    def bind(item: Abstract) -> None:
        low.state[key] = item

    def body() -> None:
        containers.call_method(low, result, "append", [low.state.pop(key)], {})

    statements.iterate_with(low, iterable, bind, body, {("place", result.place, "")})
    return result


def map_list(low: Lowering, function: Abstract, iterables: list[Abstract]) -> ListRef:
    """``list(map(function, …))``"""
    from srcad.frontend import calls
    from srcad.frontend.abstract import Zip

    result = low.new_list(Items(()))
    key: Key = ("temporary", low.session.new_place(), "")
    iterable = Zip(tuple(iterables))

    def bind(item: Abstract) -> None:
        low.state[key] = item

    def body() -> None:
        item = low.state.pop(key)
        value = calls.call(low, function, containers.unpack(low, item), {})
        containers.call_method(low, result, "append", [value], {})

    statements.iterate_with(low, iterable, bind, body, {("place", result.place, "")})
    return result


def filter_list(low: Lowering, function: Abstract, iterable: Abstract) -> ListRef:
    """``list(filter(function, iterable))``"""
    from srcad.frontend import calls
    from srcad.frontend.expressions import truth

    result = low.new_list(Items(()))
    key: Key = ("temporary", low.session.new_place(), "")

    def bind(item: Abstract) -> None:
        low.state[key] = item

    def body() -> None:
        item = low.state.pop(key)
        kept = item if isinstance(function, Static) and function.value is None else calls.call(
            low, function, [item], {}
        )
        known = truth(low, kept)

        def append() -> None:
            containers.call_method(low, result, "append", [item], {})

        if isinstance(known, bool):
            if known:
                append()
        else:
            branch(low, known, append, lambda: None)

    statements.iterate_with(low, iterable, bind, body, {("place", result.place, "")})
    return result


_ = (EXITS, TupleRef, run_sequence)
