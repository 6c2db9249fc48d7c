"""Statements: what a function does, line by line."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from srcad.frontend import (
    arrays,
    attributes,
    calls,
    containers,
    elements,
    expressions,
    iteration,
    iterators,
    operators,
    subscripts,
)
from srcad.frontend.abstract import (
    NONE,
    TRUE,
    Abstract,
    AccumulatorRef,
    ArrayRef,
    DictRef,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Poison,
    Static,
    TupleRef,
)
from srcad.frontend.attempts import Except, lower_try, lower_with
from srcad.frontend.control import Thunk, branch, branch_apart, run_sequence, stays_apart
from srcad.frontend.fence import refusal
from srcad.frontend.loops import lower_loop
from srcad.frontend.lowering import RETURN, Key, Lowering, Unreachable
from srcad.frontend.managers import reads_exception
from srcad.frontend.matching import lower_match
from srcad.frontend.narrowing import narrow
from srcad.frontend.scopes import bound_names
from srcad.ir import Atom, Effect, Literal, Value
from srcad.ir.core import assert_true, raise_error
from srcad.ir.types import (
    OBJECT,
    Array,
    Unknown,
)
from srcad.runtime import require_number

_UNROLL = 64


def run_block(low: Lowering, body: list[Any]) -> None:
    """Lower a block of statements."""
    run_sequence(low, [partial(run_statement, low, s) for s in body])


def run_statement(low: Lowering, node: Any, rest: Callable[[], None] | None) -> bool | None:
    """Lower one statement; True if it lowered what follows it too."""
    with low.statement(node):
        match node:
            case gast.If(test=test, body=body, orelse=orelse):
                known = expressions.condition(low, test)
                if isinstance(known, bool):
                    run_block(low, body if known else orelse)
                    return None
                if rest is not None and stays_apart(low):
                    one = [lambda _: narrow(low, test, True), *_thunks(low, body)]
                    two = [lambda _: narrow(low, test, False), *_thunks(low, orelse)]
                    return branch_apart(low, known, one, two, rest)
                then = partial(_run_narrowed, low, test, True, body)
                other = partial(_run_narrowed, low, test, False, orelse)
                return branch(low, known, then, other, rest)
            case gast.Assign(value=gast.IfExp()) | gast.AnnAssign(value=gast.IfExp()) if (
                rest is not None and stays_apart(low)
            ):
                return run_assign_apart(low, node, rest)
            case gast.Assign(targets=targets, value=value):
                run_assign(low, targets, value)
            case gast.AnnAssign(target=target, value=value):
                if value is not None:
                    found = expressions.evaluate(low, value)
                    if isinstance(target, gast.Name):
                        found = low.hinted(found, target.id)
                    assign(low, target, found)
            case gast.AugAssign(target=target, op=op, value=value):
                augment(low, target, expressions.BINARY[type(op)], value)
            case gast.For(target=target, iter=iterable, body=body, orelse=orelse):
                run_for(low, target, iterable, body)
                after_loop(low, orelse)
            case gast.While(test=test, body=body, orelse=orelse):
                run_while(low, test, body)
                after_loop(low, orelse)
            case gast.Return(value=value):
                found = NONE if value is None else expressions.evaluate(low, value)
                low.state[low.variable(RETURN)] = found
                low.set_flag("returned", TRUE)
            case gast.Break():
                low.set_flag("broke", TRUE)
            case gast.Continue():
                low.set_flag("continued", TRUE)
            case gast.Pass() | gast.Global() | gast.Nonlocal():
                pass
            case gast.Expr(value=value):
                if not isinstance(value, gast.Constant):
                    _drop(low, expressions.evaluate(low, value))
            case gast.Assert(test=test, msg=message):
                run_assert(low, test, message)
            case gast.Raise(exc=error, cause=cause):
                run_raise(low, error, cause)
            case gast.With(items=items, body=body):
                run_with(low, items, body)
            case gast.Try():
                run_try(low, node)
            case gast.FunctionDef(name=name, decorator_list=decorators):
                made: Abstract = expressions.make_closure(low, name, node)
                for decorator in reversed(decorators):
                    made = calls.call(low, expressions.evaluate(low, decorator), [made], {})
                low.state[low.variable(name)] = made
            case gast.Delete(targets=targets):
                for target in targets:
                    delete(low, target)
            case gast.Match(subject=subject, cases=cases):
                return lower_match(low, expressions.evaluate(low, subject), cases, rest)
            case gast.Import(names=names):
                for alias in names:
                    run_import(low, alias)
            case gast.ImportFrom(module=name, names=names, level=level):
                run_import_from(low, name or "", names, level or 0)
            case _:
                what = f"a statement of kind {type(node).__name__}"
                low.refuse(*refusal("node", what=what), node)
    return None


def run_assign_apart(low: Lowering, node: Any, rest: Callable[[], None]) -> bool:
    """``target = x if test else y``, with what follows it in two branches."""
    targets = node.targets if isinstance(node, gast.Assign) else [node.target]

    def assigned(value: Any) -> list[Thunk]:
        return [lambda _: run_assign(low, targets, value)]

    choice = node.value
    known = expressions.condition(low, choice.test)
    if not isinstance(known, bool):
        return branch_apart(low, known, assigned(choice.body), assigned(choice.orelse), rest)
    run_assign(low, targets, choice.body if known else choice.orelse)
    rest()
    return True


def run_assign(low: Lowering, targets: list[Any], value: Any) -> None:
    """``a = b, c = value``"""
    unpacks = isinstance(targets[0], (gast.Tuple, gast.List))
    evaluate = expressions.evaluate_known if unpacks else expressions.evaluate
    found = evaluate(low, value)
    if isinstance(targets[0], gast.Name):
        found = low.hinted(found, targets[0].id)
    for target in targets:
        assign(low, target, found)


def run_for(low: Lowering, target: Any, iterable: Any, body: list[Any]) -> None:
    """A ``for`` loop without its ``else``."""
    found = expressions.evaluate(low, iterable)
    names = bound_names([*body, gast.Assign([target], gast.Constant(0, None), None)])
    iteration.iterate(low, found, target, partial(run_block, low, body), variables(low, names))


def run_import(low: Lowering, alias: Any) -> None:
    """``import a.b`` binds the package, ``import a.b as c`` the module."""
    module = importlib.import_module(alias.name)
    name = alias.asname
    if not name:
        name = alias.name.split(".")[0]
        module = importlib.import_module(name)
    low.state[low.variable(name)] = Static(module)


def run_import_from(low: Lowering, name: str, aliases: list[Any], level: int) -> None:
    """``from name import ...``, with ``level`` dots before the name."""
    package = low.frame.globals.get("__package__")
    module = importlib.import_module("." * level + name, package)
    for alias in aliases:
        found = low.session.importer.module_attribute(low, module, alias.name)
        low.state[low.variable(alias.asname or alias.name)] = found


def _drop(low: Lowering, result: Abstract) -> None:
    """Nobody gets the result of a statement that is a call: what is run as it is has none."""
    ops = low.builder.ops
    for k, op in enumerate(ops):
        if isinstance(op, Effect) and op.result is result:
            ops[k] = dataclasses.replace(op, result=None)


def _run_narrowed(low: Lowering, test: Any, holds: bool, body: list[Any]) -> None:
    narrow(low, test, holds)
    run_block(low, body)


def variables(low: Lowering, names: set[str]) -> set[Key]:
    """The keys of the variables that assignments to these names bind."""
    keys = set()
    for name in sorted(names):
        if name in low.frame.scope.nonlocals or name in low.frame.scope.locals:
            keys.add(low.variable(name, expressions.owner_of(low, name)))
    return keys


# ---- assignment


def assign(low: Lowering, target: Any, value: Abstract) -> None:
    """Bind a target."""
    match target:
        case gast.Name(id=name):
            low.state[low.variable(name, expressions.owner_of(low, name))] = value
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            assign_all(low, elts, value)
        case gast.Subscript(value=obj, slice=index):
            container = expressions.evaluate(low, obj)
            subscripts.set_item(low, container, expressions.evaluate_index(low, index), value)
        case gast.Attribute(value=obj, attr=name):
            attributes.set_attribute(low, expressions.evaluate(low, obj), name, value)
        case _:
            low.refuse(*refusal("node", what=f"a target of kind {type(target).__name__}"), target)


def assign_all(low: Lowering, elts: list[Any], value: Abstract) -> None:
    """Bind the targets of a tuple, one of which may be starred."""
    stars = [k for k, e in enumerate(elts) if isinstance(e, gast.Starred)]
    value = iterators.consumed(low, value)
    if stars and containers.items_of(low, value) is None:
        assign_ends(low, elts, stars[0], value)
        return
    items = containers.unpack(low, value, None if stars else len(elts))
    if not stars:
        if len(items) != len(elts):
            low.raise_known(ValueError(f"expected {len(elts)} values to unpack, got {len(items)}"))
        for elt, item in zip(elts, items, strict=True):
            named = low.hinted(item, elt.id) if isinstance(elt, gast.Name) else item
            assign(low, elt, named)
        return
    before, after = stars[0], len(elts) - stars[0] - 1
    if len(items) < before + after:
        low.raise_known(ValueError(f"expected at least {before + after} values to unpack"))
    end = len(items) - after
    for elt, item in zip(elts[:before], items[:before], strict=True):
        assign(low, elt, item)
    assign(low, elts[before].value, low.new_list(Items(tuple(items[before:end]))))
    for elt, item in zip(elts[before + 1 :], items[end:], strict=True):
        assign(low, elt, item)


def assign_ends(low: Lowering, elts: list[Any], star: int, value: Abstract) -> None:
    """Bind targets of which one is starred to a sequence of run-time length."""
    if not isinstance(value, (Value, ListRef)):
        value = containers.to_list(low, value)
    after = len(elts) - star - 1
    enough = expressions.binary_compare(
        low, operator.ge, containers.length(low, value), Static(len(elts) - 1)
    )
    error = ValueError(f"expected at least {len(elts) - 1} values to unpack")
    require(low, expressions.truth(low, enough), error)
    for k, elt in enumerate(elts):
        if k == star:
            middle = subscripts.get_item(low, value, Static(slice(star, -after if after else None)))
            assign(low, elt.value, containers.to_list(low, middle))
        else:
            assign(
                low, elt, subscripts.get_item(low, value, Static(k if k < star else k - len(elts)))
            )


def augment(low: Lowering, target: Any, op: Any, node: Any) -> None:
    """``target op= value``: numbers are rebound, lists extended, arrays written."""
    match target:
        case gast.Name(id=name):
            current = expressions.load(low, name, target)
            value = expressions.evaluate(low, node)
            found = low.hinted(augmented(low, op, current, value), name)
            low.state[low.variable(name, expressions.owner_of(low, name))] = found
        case gast.Subscript(value=obj, slice=index):
            container = expressions.evaluate(low, obj)
            if isinstance(container, AccumulatorRef) and op is operator.add:
                held = low.state[("place", container.place, "")]
                index = low.atom(expressions.evaluate_index(low, index))
                term = low.atom(expressions.evaluate(low, node))
                version = container.add(low.builder, held.value, index, term)
                low.state[("place", container.place, "")] = Held(version)
                return
            where = expressions.evaluate_index(low, index)
            if isinstance(container, MaybeUnbound):
                container = low.bound(container)
            if isinstance(container, Value):
                arrays.written(low, container)
            if isinstance(container, ArrayRef):
                place = low.peek(where)
                before = arrays.Before(low, container, place)
                value = expressions.evaluate(low, node)
                if before.is_stale(low):
                    current = before.item(low)
                    arrays.store(low, container, place, expressions.binary(low, op, current, value))
                else:
                    arrays.augment(low, container, op, place, value)
                return
            current = subscripts.get_item(low, container, where)
            value = expressions.evaluate(low, node)
            fresh = isinstance(container, ObjectRef) and container.cls is elements.Flat
            found = (expressions.binary if fresh else augmented)(low, op, current, value)
            if found is not current or not isinstance(container, (ListRef, DictRef)):
                subscripts.set_item(low, container, where, found)
        case gast.Attribute(value=obj, attr=name):
            owner = expressions.evaluate(low, obj)
            current = attributes.get_attribute(low, owner, name)
            value = expressions.evaluate(low, node)
            attributes.set_attribute(low, owner, name, augmented(low, op, current, value))


def augmented(low: Lowering, op: Any, current: Abstract, value: Abstract) -> Abstract:
    """The new value of an augmented assignment."""
    if isinstance(current, MaybeUnbound):
        current = low.bound(current)
    if isinstance(current, Value) and isinstance(current.type, Array):
        arrays.written(low, current)
    if isinstance(current, ArrayRef):
        arrays.augment(low, current, op, arrays.WHOLE, value)
        return current
    if isinstance(current, Value) and isinstance(current.type, Unknown):
        low.builder.effect(require_number, current)
    special = operators.in_place(low, op, current, value)
    if special is not None:
        return special
    if containers.changed_in_place(low, op, current, value):
        return current
    return expressions.binary(low, op, current, value)


def delete(low: Lowering, target: Any) -> None:
    """``del target``"""
    match target:
        case gast.Name(id=name):
            key = low.variable(name, expressions.owner_of(low, name))
            low.state[key] = Poison(f"{name} has been deleted", "use it before the del statement")
        case gast.Subscript(value=obj, slice=index):
            container = expressions.evaluate(low, obj)
            subscripts.delete_item(low, container, expressions.evaluate_index(low, index))
        case gast.Tuple(elts=elts):
            for elt in elts:
                delete(low, elt)
        case _:
            low.refuse(*refusal("delete"), target)


def require(low: Lowering, holds: bool | Atom, error: BaseException) -> None:
    """Raise unless a condition holds."""

    def fail() -> None:
        low.raise_known(error)

    if holds is False:
        fail()
    elif holds is not True:
        branch(low, low.negate(holds), fail, lambda: None)


# ---- loops


def after_loop(low: Lowering, orelse: list[Any]) -> None:
    """The ``else`` of a loop: it runs unless the loop was left by ``break`` (or ``return``)."""
    left = low.exits(("broke", "returned"))
    low.state.pop(("flag", low.frame.number, "broke"), None)
    if not orelse or left is True or low.dead:
        return
    if left is False:
        run_block(low, orelse)
    else:
        branch(low, low.negate(left), partial(run_block, low, orelse), lambda: None)


def run_while(low: Lowering, test: Any, body: list[Any]) -> None:
    """A ``while`` loop."""
    names = bound_names([*body, gast.Expr(test)])

    def head() -> Atom:
        known = expressions.condition(low, test)
        return Literal(known) if isinstance(known, bool) else known

    lower_loop(low, assigned=variables(low, names), body=partial(run_block, low, body), test=head)


# ---- assert, raise, with, try


def run_assert(low: Lowering, test: Any, message: Any) -> None:
    """``assert test, message``"""
    known = expressions.condition(low, test)
    if known is True:
        return
    run_check(low, known, message)
    narrow(low, test, True)


def run_check(low: Lowering, known: bool | Atom, message: Any) -> None:
    """Raise an AssertionError unless a test holds."""

    def fail() -> None:
        args = () if message is None else (low.atom(expressions.evaluate(low, message)),)
        error = low.builder.apply_typed(AssertionError, args, OBJECT)
        low.builder.effect(raise_error, error)
        raise Unreachable

    if known is False:
        fail()
    elif message is None and not isinstance(known, bool):
        low.builder.effect(assert_true, known)
    else:
        assert not isinstance(known, bool)
        branch(low, low.negate(known), fail, lambda: None)


def run_raise(low: Lowering, error: Any, cause: Any) -> None:
    """``raise error from cause``"""
    args: tuple[Atom, ...] = ()
    if error is not None:
        raised = expressions.evaluate(low, error)
        args = (low.atom(raised),)
        if cause is not None:
            args = (*args, low.atom(expressions.evaluate(low, cause)))
    low.builder.effect(raise_error, *args)
    raise Unreachable


def run_with(low: Lowering, items: list[Any], body: list[Any]) -> None:
    """``with``: the context is entered in the primal; the body is differentiated as it stands."""
    if not items:
        run_block(low, body)
        return
    first, others = items[0], items[1:]
    manager = expressions.evaluate_manager(low, first.context_expr)
    if isinstance(manager, Static) and manager.value is contextlib.suppress:
        kinds = [low.atom(expressions.evaluate(low, a)) for a in first.context_expr.args]
        handlers = [Except(kind, None, lambda error: None) for kind in kinds]
        lower_try(low, _steps(low, others, body), handlers, [], [])
        return
    if isinstance(manager, TupleRef):  # contextlib.nullcontext(value)
        if first.optional_vars is not None:
            assign(low, first.optional_vars, manager.items[0])
        run_with(low, others, body)
        return
    if isinstance(manager, ObjectRef):
        contents = low.contents(manager)
        if isinstance(contents, Fields) and contents.origin is None:
            _run_within(low, manager, first.optional_vars, others, body)
            return
    target = None
    if first.optional_vars is not None:
        name = first.optional_vars.id if isinstance(first.optional_vars, gast.Name) else ""
        target = Value(name, OBJECT)

    def inner() -> None:
        if target is not None:
            assign(low, first.optional_vars, target)
        run_with(low, others, body)

    lower_with(low, low.atom(manager), target, inner)


def _run_within(
    low: Lowering, manager: ObjectRef, target: Any, others: list[Any], body: list[Any]
) -> None:
    """``with`` of an object made in the function: its methods are lowered as they stand."""
    if reads_exception(manager.cls):
        low.refuse(*refusal("reading manager", name=manager.cls.__name__))

    def leave(rest: Callable[[], None] | None) -> None:
        method = attributes.get_attribute(low, manager, "__exit__")
        calls.call(low, method, [NONE, NONE, NONE], {})

    found = calls.call(low, attributes.get_attribute(low, manager, "__enter__"), [], {})
    if target is not None:
        assign(low, target, found)
    lower_try(low, _steps(low, others, body), [], [], [leave])


def _steps(low: Lowering, others: list[Any], body: list[Any]) -> list[Thunk]:
    """What a context manager looks after: the statements, or those that come after it in one."""
    return [lambda _: run_with(low, others, body)] if others else _thunks(low, body)


def _jumps(body: list[Any]) -> bool:
    """Whether statements leave by break, continue or return, other than inside functions."""
    work = [(node, False) for node in body]
    while work:
        node, looped = work.pop()
        if isinstance(node, gast.Return):
            return True
        if isinstance(node, (gast.Break, gast.Continue)) and not looped:
            return True
        if isinstance(node, (gast.For, gast.While)):
            work += [(inner, True) for inner in node.body]
            work += [(inner, looped) for inner in node.orelse]
        elif not isinstance(node, (gast.FunctionDef, gast.Lambda)):
            work += [(inner, looped) for inner in gast.iter_child_nodes(node)]
    return False


def run_try(low: Lowering, node: Any) -> None:
    """``try``/``except``/``else``/``finally``"""
    if node.finalbody and _jumps(node.finalbody):
        low.refuse(*refusal("jump in finally"), node=node.finalbody[0])
    if node.orelse and _jumps(node.body):
        low.refuse(*refusal("try"), node=node)  # else runs only where the body falls through
    handlers = []
    for handler in node.handlers:
        kinds = None if handler.type is None else low.atom(expressions.evaluate(low, handler.type))
        name = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
        handlers.append(Except(kinds, name, partial(_handle, low, handler.body, name)))
    orelse, final = _thunks(low, node.orelse), _thunks(low, node.finalbody)
    lower_try(low, _thunks(low, node.body), handlers, orelse, final)


def _thunks(low: Lowering, body: list[Any]) -> list[Thunk]:
    return [partial(run_statement, low, s) for s in body]


def _handle(low: Lowering, body: list[Any], name: str | None, error: Abstract | None) -> None:
    if name is None or error is None:
        run_block(low, body)
        return
    low.state[low.variable(name)] = error
    run_block(low, body)
    low.state[low.variable(name)] = Poison(
        f"{name} is unbound after its handler", "give the exception another name in the handler"
    )
