"""Statements: what a function does, line by line."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from srcad.frontend import attributes, calls, containers, expressions
from srcad.frontend.abstract import (
    NONE,
    TRUE,
    Abstract,
    AccumulatorRef,
    DictRef,
    Enumerate,
    Held,
    Items,
    IteratorRef,
    ListRef,
    MaybeUnbound,
    ObjectRef,
    Poison,
    RangeRef,
    Reversed,
    Static,
    TupleRef,
    Zip,
)
from srcad.frontend.attempts import Except, Step, lower_try, lower_with
from srcad.frontend.control import Thunk, branch, run_sequence
from srcad.frontend.fence import refusal
from srcad.frontend.loops import lower_loop
from srcad.frontend.lowering import Key, Lowering, NeedsUnroll, Unreachable, is_leaf
from srcad.frontend.matching import lower_match
from srcad.frontend.narrowing import narrow
from srcad.frontend.scopes import bound_names
from srcad.ir import Atom, Literal, Range, Stream, Value
from srcad.ir import Items as ItemStream
from srcad.ir.core import assert_true, make_tuple, raise_error
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    INT,
    OBJECT,
    UNKNOWN,
    Array,
    ListType,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    Unknown,
    can_join,
    join_all,
)

_UNROLL = 64
_FEW = 8


def run_block(low: Lowering, body: list[Any]) -> None:
    """Lower a block of statements."""
    run_sequence(low, [partial(run_statement, low, s) for s in body])


def run_statement(low: Lowering, node: Any, rest: Callable[[], None] | None) -> bool | None:
    """Lower one statement; True if it lowered what follows it too."""
    with low.statement(node):
        match node:
            case gast.If(test=test, body=body, orelse=orelse):
                known = expressions.truth(low, expressions.evaluate(low, test))
                if isinstance(known, bool):
                    run_block(low, body if known else orelse)
                    return None
                then = partial(_run_narrowed, low, test, True, body)
                other = partial(_run_narrowed, low, test, False, orelse)
                return branch(low, known, then, other, rest)
            case gast.Assign(targets=targets, value=value):
                unpacks = isinstance(targets[0], (gast.Tuple, gast.List))
                found = (expressions.evaluate_known if unpacks else expressions.evaluate)(low, value)
                if isinstance(targets[0], gast.Name):
                    found = low.hinted(found, targets[0].id)
                for target in targets:
                    assign(low, target, found)
            case gast.AnnAssign(target=target, value=value):
                if value is not None:
                    found = expressions.evaluate(low, value)
                    if isinstance(target, gast.Name):
                        found = low.hinted(found, target.id)
                    assign(low, target, found)
            case gast.AugAssign(target=target, op=op, value=value):
                augment(low, target, expressions.BINARY[type(op)], value)
            case gast.For(target=target, iter=iterable, body=body, orelse=orelse):
                found = expressions.evaluate(low, iterable)
                names = bound_names([*body, gast.Assign([target], gast.Constant(0, None), None)])
                assigned = variables(low, names)
                iterate(low, found, target, partial(run_block, low, body), assigned)
                after_loop(low, orelse)
            case gast.While(test=test, body=body, orelse=orelse):
                run_while(low, test, body)
                after_loop(low, orelse)
            case gast.Return(value=value):
                found = NONE if value is None else expressions.evaluate(low, value)
                low.state[low.variable("<return>")] = found
                low.set_flag("returned", TRUE)
            case gast.Break():
                low.set_flag("broke", TRUE)
            case gast.Continue():
                low.set_flag("continued", TRUE)
            case gast.Pass() | gast.Global() | gast.Nonlocal():
                pass
            case gast.Expr(value=value):
                if not isinstance(value, gast.Constant):
                    expressions.evaluate(low, value)
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
                import importlib

                for alias in names:
                    module = importlib.import_module(alias.name)
                    top = module if alias.asname else importlib.import_module(alias.name.split(".")[0])
                    low.state[low.variable(alias.asname or alias.name.split(".")[0])] = Static(top)
            case gast.ImportFrom(module=name, names=names, level=0):
                import importlib

                module = importlib.import_module(name)
                for alias in names:
                    found = low.session.importer.module_attribute(low, module, alias.name)
                    low.state[low.variable(alias.asname or alias.name)] = found
            case _:
                low.refuse(
                    f"{type(node).__name__} statements are not supported in differentiated functions",
                    "move it out of the function",
                    node,
                )
    return None


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
            containers.set_item(low, container, expressions.evaluate_index(low, index), value)
        case gast.Attribute(value=obj, attr=name):
            attributes.set_attribute(low, expressions.evaluate(low, obj), name, value)
        case _:
            low.refuse(f"assignment to {type(target).__name__} is not supported", "", target)


def assign_all(low: Lowering, elts: list[Any], value: Abstract) -> None:
    """Bind the targets of a tuple, one of which may be starred."""
    stars = [k for k, e in enumerate(elts) if isinstance(e, gast.Starred)]
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
    enough = expressions.binary_compare(low, operator.ge, containers.length(low, value), Static(len(elts) - 1))
    error = ValueError(f"expected at least {len(elts) - 1} values to unpack")
    require(low, expressions.truth(low, enough), error)
    for k, elt in enumerate(elts):
        if k == star:
            middle = containers.get_item(low, value, Static(slice(star, -after if after else None)))
            assign(low, elt.value, containers.to_list(low, middle))
        else:
            assign(low, elt, containers.get_item(low, value, Static(k if k < star else k - len(elts))))


def augment(low: Lowering, target: Any, op: Any, node: Any) -> None:
    """``target op= value``: numbers are rebound, lists extended, arrays refused."""
    match target:
        case gast.Name(id=name):
            current = expressions.load(low, name, target)
            value = expressions.evaluate(low, node)
            if isinstance(current, ListRef) and op is operator.add:
                containers.call_method(low, current, "extend", [value], {})
                return
            found = low.hinted(augmented(low, op, current, value), name)
            low.state[low.variable(name, expressions.owner_of(low, name))] = found
        case gast.Subscript(value=obj, slice=index):
            container = expressions.evaluate(low, obj)
            if isinstance(container, AccumulatorRef) and op is operator.add:
                held = low.state[("place", container.place, "")]
                index = low.atom(expressions.evaluate_index(low, index))
                term = low.atom(expressions.evaluate(low, node))
                version = low.builder.accumulate(held.value, index, term)
                low.state[("place", container.place, "")] = Held(version)
                return
            if isinstance(container, Value):
                containers.refuse_array_write(low, container)
            where = expressions.evaluate_index(low, index)
            current = containers.get_item(low, container, where)
            value = expressions.evaluate(low, node)
            containers.set_item(low, container, where, augmented(low, op, current, value))
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
        low.refuse(
            "an augmented assignment writes an array in place",
            "write x = x + y instead of x += y",
        )
    if isinstance(current, Value) and isinstance(current.type, Unknown):
        from srcad.runtime import require_number

        low.builder.effect(require_number, current)
    if isinstance(current, ObjectRef):
        names = {operator.add: "iadd", operator.sub: "isub", operator.mul: "imul"}
        method = f"__{names.get(op, '')}__"
        if hasattr(current.cls, method):
            return calls.call(low, attributes.get_attribute(low, current, method), [value], {})
    if isinstance(current, ListRef) and op is operator.add:
        low.refuse("a list inside a container is extended in place", "use append or extend on a name")
    return expressions.binary(low, op, current, value)


def delete(low: Lowering, target: Any) -> None:
    """``del target``"""
    match target:
        case gast.Name(id=name):
            key = low.variable(name, expressions.owner_of(low, name))
            low.state[key] = Poison(f"{name} has been deleted", "use it before the del statement")
        case gast.Subscript(value=obj, slice=index):
            container = expressions.evaluate(low, obj)
            containers.delete_item(low, container, expressions.evaluate_index(low, index))
        case gast.Tuple(elts=elts):
            for elt in elts:
                delete(low, elt)
        case _:
            low.refuse("an attribute is deleted", "leave the attribute alone", target)


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
        known = expressions.truth(low, expressions.evaluate(low, test))
        return Literal(known) if isinstance(known, bool) else known

    lower_loop(low, assigned=variables(low, names), body=partial(run_block, low, body), test=head)


def iterate(
    low: Lowering,
    iterable: Abstract,
    target: Any,
    body: Callable[[], None],
    assigned: set[Key],
    unrolled: bool = False,
) -> None:
    """Run ``body`` for every item, bound to the target."""

    def bind(item: Abstract) -> None:
        assign(low, target, item)

    iterate_with(low, iterable, bind, body, assigned, _target_names(target), unrolled)


def _target_names(target: Any) -> list[str]:
    match target:
        case gast.Name(id=name):
            return [name]
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return [n for e in elts for n in _target_names(e)]
        case gast.Starred(value=value):
            return _target_names(value)
    return [""]


def iterate_with(
    low: Lowering,
    iterable: Abstract,
    bind: Callable[[Abstract], None],
    body: Callable[[], None],
    assigned: set[Key],
    names: list[str] | None = None,
    unrolled: bool = False,
) -> None:
    """Run ``body`` for every item: a loop at run time if the items have a common form, else unrolled.

    ``unrolled``: what the loop makes must have a known length, if that is possible.
    """
    if isinstance(iterable, MaybeUnbound):
        iterable = low.bound(iterable)
    if isinstance(iterable, IteratorRef):
        rest = containers.rest_of(low, iterable)
        low.state["place", iterable.place, ""] = Poison(
            "an iterator is used again after a loop over it", "loop over the list itself"
        )
        iterable = rest
    frozen = set(low.session.frozen)
    before, mark = dict(low.state), len(low.builder.ops)
    plan = _Streams(low, list(names or []))
    if not _unrolls(low, iterable, unrolled) and _loops(low, iterable):
        try:
            item = plan.open(iterable)

            def iteration() -> None:
                bind(item)
                body()

            lower_loop(
                low,
                assigned=assigned,
                body=iteration,
                streams=tuple(plan.streams),
                targets=tuple(plan.targets),
            )
        except NeedsUnroll:
            low.state = before
            low.session.frozen = frozen
            del low.builder.ops[mark:]
            if _known_count(low, iterable) is None:
                raise
        else:
            plan.check_unchanged(before)
            return
    unroll(low, iterable, bind, body)


def unroll(
    low: Lowering, iterable: Abstract, bind: Callable[[Abstract], None], body: Callable[[], None]
) -> None:
    """Lower a loop over known items one iteration after the other."""
    count = _known_count(low, iterable)
    items = None if count is None or count > _UNROLL else containers.items_of(low, iterable)
    if count is None:
        low.refuse(*refusal("iteration", type="this object"))
    if items is None:
        low.refuse(
            f"a loop over {count} items of different kinds would be unrolled",
            "use arrays, or lists of numbers",
        )

    def once(item: Abstract, rest: Callable[[], None] | None) -> None:
        low.state.pop(("flag", low.frame.number, "continued"), None)
        bind(item)
        body()
        low.state.pop(("flag", low.frame.number, "continued"), None)

    run_sequence(low, [partial(once, item) for item in items], ("returned", "broke"))


def _known_count(low: Lowering, iterable: Abstract) -> int | None:
    """How many items an iterable has, if that is known."""
    match iterable:
        case RangeRef(start=Literal(value=a), stop=Literal(value=b), step=Literal(value=c)):
            return len(range(a, b, c))
        case Static(value=range() as known):
            return len(known)
        case Enumerate(part=part) | Reversed(part=part):
            return _known_count(low, part)
        case Zip(parts=parts):
            counts = [_known_count(low, p) for p in parts]
            known_counts = [c for c in counts if c is not None]
            return min(known_counts, default=0) if len(known_counts) == len(counts) else None
        case Value(type=TupleType(items=kinds)):
            return len(kinds)
        case Value(type=Array(dims=(int() as first, *_))):
            return first
        case Value():
            return None
    items = containers.items_of(low, iterable)
    return None if items is None else len(items)


def _unrolls(low: Lowering, iterable: Abstract, wanted: bool) -> bool:
    """Whether a loop is better unrolled: in rules, and where a result of known length is wanted."""
    if not (low.internal or wanted):
        return False
    count = _known_count(low, iterable)
    return count is not None and count <= _UNROLL


def _loops(low: Lowering, iterable: Abstract) -> bool:
    """Whether the items of an iterable have a common form at run time."""
    if low.session.unrolls and _few(low, iterable):
        return False
    match iterable:
        case RangeRef():
            return True
        case Zip(parts=parts):
            known = [containers.items_of(low, p) for p in parts if not isinstance(p, RangeRef)]
            return all(_loops(low, p) for p in parts) and bool(parts) and known != [()]
        case Enumerate(part=part) | Reversed(part=part):
            return _loops(low, part)
        case TupleRef(items=items):
            return _numbers(items)
        case ListRef():
            contents = low.contents(iterable)
            return _numbers(contents.items) if isinstance(contents, Items) else True
        case DictRef():
            return isinstance(low.contents(iterable), Held)
        case Static(value=known):
            return isinstance(known, range)
        case Value(type=TupleType()):
            return False
        case Value(type=Array(dims=())):
            low.refuse("iteration over a 0-d array", "use the number itself")
        case Value():
            return True
    return False


def _few(low: Lowering, iterable: Abstract) -> bool:
    """Whether the items are known, and at most eight."""
    match iterable:
        case Zip(parts=parts):
            return all(_few(low, p) for p in parts)
        case Enumerate(part=part) | Reversed(part=part):
            return _few(low, part)
        case RangeRef() | TupleRef() | ListRef() | Static():
            items = containers.items_of(low, iterable)
            return items is not None and len(items) <= _FEW
    return False


def _numbers(items: tuple[Abstract, ...]) -> bool:
    """Whether items are numbers of one kind: better as a loop than unrolled."""
    if len(items) < 2 or not all(map(is_leaf, items)):
        return False
    kinds = [atom_type(i if isinstance(i, Value) else Literal(i.value)) for i in items]  # type: ignore[union-attr]
    if any(isinstance(k, (Array, Unknown, Opaque)) for k in kinds):
        return False
    joined = join_all(tuple(kinds))
    return joined not in (OBJECT, UNKNOWN) and all(can_join(joined, k) for k in kinds)


class _Streams:
    """The streams of a loop over an iterable, and the abstract item they make up."""

    def __init__(self, low: Lowering, names: list[str]) -> None:
        self.low = low
        self.names = names
        self.streams: list[Stream] = []
        self.targets: list[Value] = []
        self.lists: list[ListRef] = []

    def _target(self, stream: Stream, kind: Type) -> Value:
        name = self.names.pop(0) if self.names else ""
        value = Value(name, kind)
        self.streams.append(stream)
        self.targets.append(value)
        return value

    def open(self, iterable: Abstract, backward: bool = False) -> Abstract:
        low = self.low
        apply = low.builder.apply
        match iterable:
            case RangeRef(start=start, stop=stop, step=step):
                if backward:
                    start, stop, step = self._reversed(start, stop, step)
                return self._target(Range(start, stop, step), INT)
            case Static(value=range() as known):
                ends = (known.start, known.stop, known.step)
                return self.open(RangeRef(*map(Literal, ends)), backward)
            case Zip(parts=parts):
                return TupleRef(tuple(self.open(p) for p in parts))
            case Enumerate(part=part, start=start_):
                first = low.atom(start_)
                count = low.atom(containers.length(low, self._first(part)))
                stop = count if isinstance(first, Literal) and first.value == 0 else apply(
                    operator.add, first, count
                )
                number = self._target(Range(first, stop, Literal(1)), INT)
                return TupleRef((number, self.open(part)))
            case Reversed(part=part):
                return self.open(part, backward=True)
            case ListRef():
                contents = low.contents(iterable)
                if isinstance(contents, Held):
                    self.lists.append(iterable)
                    kind = contents.value.type
                    inner = kind.item if isinstance(kind, ListType) else UNKNOWN
                    target = self._target(ItemStream(contents.value, backward), inner)
                    return containers.wrap(low, target, element=True)
                assert isinstance(contents, Items)
                return self._display(contents.items, backward)
            case TupleRef(items=items):
                return self._display(items, backward)
            case DictRef():
                return self.open(containers.keys_of(low, iterable))
            case Value():
                return self._array(iterable, backward)
        low.refuse("iteration over this object is not supported", "iterate over a list, a range or an array")

    def _first(self, part: Abstract) -> Abstract:
        while isinstance(part, Zip) and part.parts:
            part = part.parts[0]
        return part.part if isinstance(part, (Reversed, Enumerate)) else part

    def _display(self, items: tuple[Abstract, ...], backward: bool) -> Abstract:
        low = self.low
        atoms = tuple(map(low.atom, items))
        kind = join_all(tuple(map(atom_type, atoms)))
        if all(isinstance(a, Literal) for a in atoms):
            sequence: Atom = Literal(tuple(a.value for a in atoms))  # type: ignore[union-attr]
        else:
            sequence = low.builder.apply(make_tuple, *atoms)
        return self._target(ItemStream(sequence, backward), kind)

    def _array(self, value: Value, backward: bool) -> Abstract:
        low = self.low
        kind = value.type
        session = low.session
        if (
            not session.exact
            and value in session.importer.vectors
            and isinstance(kind, Array)
            and kind.dtype == "float64"
            and kind.dims is not None
            and len(kind.dims) == 1
        ):
            import numpy as np

            if value not in session.importer.lists:
                made = session.prelude.apply(np.ndarray.tolist, value, hint=f"{value.hint}_list")
                session.importer.lists[value] = made
            listed = session.importer.lists[value]
            return self._target(ItemStream(listed, backward), listed.type.item)
        if isinstance(kind, ListType):
            return self._target(ItemStream(value, backward), kind.item)
        if isinstance(kind, Array) and kind.dims is not None:
            inner: Type = low.builder.typed(operator.getitem, (value, Literal(0)))
        elif isinstance(kind, Array):
            inner = UNKNOWN
        else:
            inner = UNKNOWN if isinstance(kind, Unknown) else OBJECT
        if isinstance(kind, NumPyScalar):
            low.refuse("iteration over a number", "iterate over an array or a list")
        return self._target(ItemStream(value, backward), inner)

    def _reversed(self, start: Atom, stop: Atom, step: Atom) -> tuple[Atom, Atom, Atom]:
        if all(isinstance(a, Literal) for a in (start, stop, step)):
            back = range(start.value, stop.value, step.value)[::-1]  # type: ignore[union-attr]
            return Literal(back.start), Literal(back.stop), Literal(back.step)
        return reversed_range(self.low, start, stop, step)

    def check_unchanged(self, before: dict[Key, Any]) -> None:
        """A list must not change while a loop runs over it."""
        for ref in self.lists:
            key: Key = ("place", ref.place, "")
            now = self.low.state.get(key)
            old = before.get(key)
            if isinstance(now, Held) and isinstance(old, Held) and now.value is not old.value:
                self.low.refuse(
                    "a list changes while a loop runs over it", "loop over a copy: for v in list(xs)"
                )


def reversed_range(low: Lowering, start: Atom, stop: Atom, step: Atom) -> tuple[Atom, Atom, Atom]:
    """The bounds of ``reversed(range(start, stop, step))``."""
    apply = low.builder.apply
    if isinstance(step, Literal) and step.value == 1:
        return (
            apply(operator.sub, stop, Literal(1)),
            apply(operator.sub, start, Literal(1)),
            Literal(-1),
        )
    back = apply(operator.getitem, apply(range, start, stop, step), Literal(slice(None, None, -1)))
    parts = ("start", "stop", "step")
    found = tuple(low.builder.apply_typed(getattr, (back, Literal(p)), INT) for p in parts)
    return found[0], found[1], found[2]


# ---- assert, raise, with, try


def run_assert(low: Lowering, test: Any, message: Any) -> None:
    """``assert test, message``"""
    known = expressions.truth(low, expressions.evaluate(low, test))
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
    elif message is None:
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
    """``with``: the context is entered in the primal; the derivative of the body is that of the body."""
    if not items:
        run_block(low, body)
        return
    import contextlib

    first, others = items[0], items[1:]
    manager = expressions.evaluate_manager(low, first.context_expr)
    if isinstance(manager, Static) and manager.value is contextlib.suppress:
        kinds = [low.atom(expressions.evaluate(low, a)) for a in first.context_expr.args]
        handlers = [Except(kind, None, lambda error: None) for kind in kinds]
        if others:
            lower_try(low, [_whole(low, others, body)], handlers, [], [])
        else:
            lower_try(low, steps_of(low, body), handlers, [], [])
        return
    if isinstance(manager, TupleRef):  # contextlib.nullcontext(value)
        if first.optional_vars is not None:
            assign(low, first.optional_vars, manager.items[0])
        run_with(low, others, body)
        return
    target = None
    if first.optional_vars is not None:
        name = _target_names(first.optional_vars)[0]
        target = Value(name, OBJECT)

    def inner() -> None:
        if target is not None:
            assign(low, first.optional_vars, target)
        run_with(low, others, body)

    lower_with(low, low.atom(manager), target, inner)


def run_try(low: Lowering, node: Any) -> None:
    """``try``/``except``/``else``/``finally``"""
    handlers = []
    for handler in node.handlers:
        kinds = None if handler.type is None else low.atom(expressions.evaluate(low, handler.type))
        name = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
        handlers.append(Except(kinds, name, partial(_handle, low, handler.body, name)))
    orelse, final = _thunks(low, node.orelse), _thunks(low, node.finalbody)
    lower_try(low, steps_of(low, node.body), handlers, orelse, final)


def _thunks(low: Lowering, body: list[Any]) -> list[Thunk]:
    return [partial(run_statement, low, s) for s in body]


def steps_of(low: Lowering, body: list[Any]) -> list[Step]:
    """The statements of a ``try``, with what they assign."""
    return [
        Step(
            partial(run_statement, low, s),
            frozenset(variables(low, bound_names([s]))),
            frozenset(variables(low, set(_assigned_last(s)))),
        )
        for s in body
    ]


def _whole(low: Lowering, items: list[Any], body: list[Any]) -> Step:
    def run(rest: Callable[[], None] | None) -> None:
        run_with(low, items, body)

    return Step(run, frozenset(variables(low, bound_names(body))), frozenset())


def _assigned_last(node: Any) -> list[str]:
    """The names that a statement assigns once all in it that may raise has been evaluated."""
    match node:
        case gast.Assign(targets=targets):
            parts = targets
            if len(targets) == 1 and isinstance(targets[0], (gast.Tuple, gast.List)):
                parts = targets[0].elts
            if not all(isinstance(t, gast.Name) for t in parts):
                return []
            inner = bound_names([gast.Expr(node.value)])
            return [t.id for t in parts if t.id not in inner]
        case gast.AnnAssign(target=gast.Name(id=name)) | gast.AugAssign(target=gast.Name(id=name)):
            return [name]
    return []


def _handle(low: Lowering, body: list[Any], name: str | None, error: Abstract | None) -> None:
    if name is None or error is None:
        run_block(low, body)
        return
    low.state[low.variable(name)] = error
    run_block(low, body)
    low.state[low.variable(name)] = Poison(
        f"{name} is unbound after its handler", "give the exception another name in the handler"
    )
