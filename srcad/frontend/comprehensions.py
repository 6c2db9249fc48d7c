"""Comprehensions and generator expressions: loops that build a list, or reduce as they go."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import gast

from srcad.frontend import (
    calls,
    containers,
    expressions,
    iteration,
    subscripts,
)
from srcad.frontend.abstract import (
    FALSE,
    TRUE,
    Abstract,
    Closure,
    DictRef,
    Entries,
    Items,
    IteratorRef,
    Lazy,
    ListRef,
    MaybeUnbound,
    SetRef,
    Static,
    Zip,
    parts,
)
from srcad.frontend.control import branch
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Frame, Key, Lowering
from srcad.frontend.scopes import scope_of
from srcad.ir.core import hashable


def generator(low: Lowering, node: Any) -> IteratorRef:
    """``(elt for …)``: what it runs over is evaluated now, the rest when the items are taken."""
    frame = low.frame
    frame.keeps = True  # its variables are read later

    def make(low: Lowering, given: tuple[Abstract, ...]) -> ListRef:
        outer, nodes = low.frame, low.nodes
        low.frame, low.nodes = frame, []
        try:
            with low.statement(node):
                made = list_of(low, node, first=given[0])
                contents = low.contents(made)
                if isinstance(contents, Items) and any(map(_makes_function, contents.items)):
                    # called between the items, they read its variables as they are then
                    low.refuse(*refusal("generator of functions"))
                return made
        finally:
            low.frame, low.nodes = outer, nodes

    first = expressions.evaluate(low, node.generators[0].iter)
    return low.new_iterator(Lazy(make, (first,), node, frame))


def _makes_function(value: Any) -> bool:
    """Whether there is a function in a value that was defined in a comprehension."""
    if isinstance(value, Closure) and value.frame.name == "<comprehension>":
        return True
    return any(map(_makes_function, parts(value)))


def list_of(
    low: Lowering, node: Any, unrolled: bool = False, first: Abstract | None = None
) -> ListRef:
    """``[elt for …]``; ``first`` is what it runs over, if that has been evaluated."""
    result = low.new_list(Items(()))
    unrolled = unrolled or _makes_container(node.elt)

    def append() -> None:
        containers.call_method(low, result, "append", [expressions.evaluate(low, node.elt)], {})

    generate(low, node, append, {("place", result.place, "")}, unrolled, first)
    return result


def _makes_container(node: Any) -> bool:
    """Whether an expression makes a list or dict of its own, which may be changed later."""
    match node:
        case gast.List() | gast.ListComp() | gast.Dict() | gast.DictComp():
            return True
        case gast.BinOp(left=left, right=right):
            return _makes_container(left) or _makes_container(right)
    return False


def dict_of(low: Lowering, node: Any) -> DictRef:
    """``{key: value for …}``"""
    result = low.new_dict(Entries((), ()))

    def store() -> None:
        key = expressions.evaluate(low, node.key)
        subscripts.set_item(low, result, key, expressions.evaluate(low, node.value))

    generate(low, node, store, {("place", result.place, "")})
    return result


def generate(
    low: Lowering,
    node: Any,
    each: Callable[[], None],
    changed: set[Key],
    unrolled: bool = False,
    first: Abstract | None = None,
) -> None:
    """Run ``each`` for every item of a comprehension, in a scope of its own."""
    if first is None:
        first = expressions.evaluate(low, node.generators[0].iter)
    outer = low.frame
    frame = Frame(
        low.session.new_frame(),
        "<comprehension>",
        outer.source,
        scope_of(node),
        outer.globals,
        outer,
    )
    low.frame = frame
    try:

        def level(k: int) -> None:
            if k == len(node.generators):
                each()
                return
            generator = node.generators[k]
            iterable = first if k == 0 else expressions.evaluate(low, generator.iter)

            def body() -> None:
                filtered(generator.ifs, 0, k)

            assigned = {low.variable(n) for n in frame.scope.locals} | changed
            iteration.iterate(low, iterable, generator.target, body, assigned, unrolled)

        def filtered(tests: list[Any], j: int, k: int) -> None:
            if j == len(tests):
                level(k + 1)
                return
            known = expressions.condition(low, tests[j])
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
    if not (args and isinstance(args[0], gast.GeneratorExp) and isinstance(func, gast.Name)):
        return None
    callee = expressions.load(low, func.id, func)
    if not (isinstance(callee, Static) and hashable(callee.value) and callee.value in _REDUCTIONS):
        return None
    if keywords or len(args) > 2 or (len(args) == 2 and callee.value is not builtins.sum):
        return None
    node = args[0]
    key: Key = ("variable", low.session.new_frame(), "total")
    if callee.value is builtins.sum:
        low.state[key] = expressions.evaluate(low, args[1]) if len(args) == 2 else Static(0)

        def add() -> None:
            low.state[key] = expressions.binary(
                low, operator.add, low.state[key], expressions.evaluate(low, node.elt)
            )

        generate(low, node, add, {key})
        total: Abstract = low.state.pop(key)
        return total
    # any and all stop at the first item that decides: a loop with a break
    decides = callee.value is builtins.any
    key = ("variable", key[1], "found")
    low.state[key] = FALSE if decides else TRUE

    def test() -> None:
        value = expressions.condition(low, node.elt)

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


def each(
    low: Lowering, iterable: Abstract, run: Callable[[Abstract], None], changed: set[Key]
) -> None:
    """Run ``run`` on every item: a loop that changes the given variables and places."""
    key: Key = ("temporary", low.session.new_place(), "")

    def bind(item: Abstract) -> None:
        low.state[key] = item

    def body() -> None:
        run(low.state.pop(key))

    iteration.iterate_with(low, iterable, bind, body, changed)


def fold(
    low: Lowering,
    iterable: Abstract,
    start: Abstract,
    add: Callable[[Abstract, Abstract], Abstract],
    changed: tuple[Key, ...] = (),
) -> Abstract:
    """``add(… add(add(start, a), b) …)`` over all items."""
    key: Key = ("variable", low.session.new_frame(), "total")
    low.state[key] = start

    def step(item: Abstract) -> None:
        low.state[key] = add(low.state[key], item)

    each(low, iterable, step, {key, *changed})
    found: Abstract = low.state.pop(key)
    return low.bound(found) if isinstance(found, MaybeUnbound) else found


def transform(
    low: Lowering, iterable: Abstract, function: Callable[[Abstract], Abstract]
) -> ListRef:
    """The list of what a function makes of every item."""
    result = low.new_list(Items(()))

    def append(item: Abstract) -> None:
        containers.call_method(low, result, "append", [function(item)], {})

    each(low, iterable, append, {("place", result.place, "")})
    return result


def collect(low: Lowering, iterable: Abstract) -> ListRef:
    """``list(iterable)`` of what is known at run time only."""
    return transform(low, iterable, lambda item: item)


def map_list(low: Lowering, function: Abstract, iterables: list[Abstract]) -> ListRef:
    """``list(map(function, …))``"""

    def apply(item: Abstract) -> Abstract:
        return calls.call(low, function, containers.unpack(low, item), {})

    return transform(low, Zip(tuple(iterables)), apply)


def filter_list(low: Lowering, function: Abstract, iterable: Abstract) -> ListRef:
    """``list(filter(function, iterable))``"""
    result = low.new_list(Items(()))
    plain = isinstance(function, Static) and function.value is None

    def keep(item: Abstract) -> None:
        known = expressions.truth(low, item if plain else calls.call(low, function, [item], {}))

        def append() -> None:
            containers.call_method(low, result, "append", [item], {})

        if isinstance(known, bool):
            if known:
                append()
        else:
            branch(low, known, append, lambda: None)

    each(low, iterable, keep, {("place", result.place, "")})
    return result


def set_of(low: Lowering, node: Any) -> SetRef:
    """``{elt for …}`` of constants."""
    return low.new_set(containers.unpack(low, list_of(low, node, unrolled=True)))
