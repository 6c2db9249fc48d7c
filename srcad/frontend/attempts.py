"""``with`` and ``try``: the path taken is a path like any other.

Statements at the start of a ``try`` that cannot raise are lowered before it.  A handler starts from
what is certain at every statement of the rest that may raise: a variable that may have been
assigned by then or not is poisoned, and reading it is the error.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from srcad.frontend.abstract import (
    FALSE,
    TRUE,
    Abstract,
    Closure,
    Held,
    Items,
    Lazy,
    MaybeUnbound,
    Poison,
    Static,
    is_static,
    parts,
)
from srcad.frontend.control import Thunk, branch, changed_keys, join_regions, run_sequence
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import EXITS, RETURN, Key, Lowering, Region, State, Watch
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Effect,
    Handler,
    If,
    Literal,
    Op,
    Try,
    Update,
    Value,
    With,
    core,
)
from srcad.ir.infer import atom_type
from srcad.ir.sharing import is_basic_index
from srcad.ir.types import (
    EXCEPTION,
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
)
from srcad.ir.walk import all_ops, free_values


def lower_with(
    low: Lowering, manager: Atom, target: Value | None, body: Callable[[], None]
) -> None:
    """Lower ``with manager as target: body``."""
    region = low.region(body)
    outside = Region(low.builder, low.state, True)
    results, yields = join_regions(low, [region, outside])
    params = () if target is None else (target,)
    low.builder.append(
        With(manager, region.builder.block(params, yields[0]), results, low.builder.loc)
    )


# ---- what can raise

_SAFE = {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.not_,
    operator.is_, operator.is_not,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.or_, operator.and_, builtins.abs, core.select, core.make_tuple, core.make_list,
}  # fmt: skip

_QUOTIENTS = {operator.truediv, operator.floordiv, operator.pow}


def raised_by(op: Op) -> tuple[type[BaseException], ...]:
    """The exceptions that an operation may raise; ``BaseException`` where that is not known."""
    match op:
        case Apply(callee=core.make_tuple | core.make_list | core.select):
            return ()
        case Apply(callee=operator.add | builtins.list, args=args) if all(map(_is_list, args)):
            return ()
        case Apply(callee=operator.getitem, args=(container, index)):
            return _lookup_errors(atom_type(container), index)
        case Apply(callee=callee, args=args, keywords=()) if all(map(_is_scalar, args)):
            if getattr(callee, "__module__", "") == "math":
                return (ValueError, OverflowError)
            plain = all(map(_is_plain, args))
            if callee in _SAFE or callee in _QUOTIENTS:
                if not plain:  # among NumPy's floats of a list there may be Python's
                    numpys = (FloatingPointError, OverflowError, Warning)
                    return numpys if callee in _SAFE else (*numpys, ZeroDivisionError)
                return () if callee in _SAFE else (ZeroDivisionError, OverflowError)
        case Update(callee=list.append, target=Value(type=ListType())):
            return ()
        case Update(callee=operator.setitem, args=(index, value)):
            if not isinstance(op.target.type, Array):
                return _lookup_errors(op.target.type, index)
            if isinstance(atom_type(value), (Number, NumPyScalar)) and not op.path:
                return _lookup_errors(op.target.type, index)
        case If(test=test, then=then, orelse=orelse) if _is_plain(test):
            inner = (raised_by(o) for o in (*then.ops, *orelse.ops))
            return tuple(dict.fromkeys(error for errors in inner for error in errors))
        case Effect(callee=core.raise_error, args=(Literal(value=error), *_)):
            return (error if isinstance(error, type) else type(error),)
    return (BaseException,)


def _lookup_errors(kind: Type, index: Atom) -> tuple[type[BaseException], ...]:
    """What asking a container for an item may raise."""
    if isinstance(kind, DictType):
        return (KeyError,) if isinstance(index, Literal) or _is_plain(index) else (BaseException,)
    if isinstance(kind, Array):
        return (IndexError,) if is_basic_index(index) else (BaseException,)
    known = isinstance(kind, (ListType, TupleType)) and isinstance(atom_type(index), Number)
    return (IndexError,) if known else (BaseException,)


def may_raise(op: Op) -> bool:
    """Whether an operation can raise: arithmetic of Python numbers cannot, nor can displays."""
    return bool(raised_by(op))


def _is_list(atom: Atom) -> bool:
    return isinstance(atom_type(atom), ListType)


def _is_scalar(atom: Atom) -> bool:
    """Whether this is a Python number, or a float of NumPy's, which may warn and raise."""
    kind = atom_type(atom)
    if isinstance(kind, NumPyScalar):
        return np.dtype(kind.dtype).kind in "fc"
    return _is_plain(atom)


def _is_plain(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) or (isinstance(kind, Opaque) and kind.name in ("str", "None"))


# ---- try


@dataclass(frozen=True, slots=True, eq=False)
class Except:
    """One handler to lower."""

    kinds: Atom | None
    name: str | None
    body: Callable[[Abstract | None], None]
    """Takes the exception, if it has a name."""

    def may_catch(self, op: Op) -> bool:
        """Whether it may handle an exception that an operation raises."""
        if self.kinds is None or not isinstance(self.kinds, Literal):
            return may_raise(op)
        kinds = self.kinds.value if isinstance(self.kinds.value, tuple) else (self.kinds.value,)
        pairs = ((e, k) for e in raised_by(op) for k in kinds)
        return any(
            not isinstance(k, type) or issubclass(e, k) or issubclass(k, e) for e, k in pairs
        )

    def catches(self, error: type[BaseException]) -> bool:
        """Whether it surely handles an exception of this class."""
        if self.kinds is None:
            return True
        kinds = self.kinds.value if isinstance(self.kinds, Literal) else None
        return isinstance(kinds, (type, tuple)) and issubclass(error, kinds)


def lower_try(
    low: Lowering,
    steps: list[Thunk],
    handlers: list[Except],
    orelse: list[Thunk],
    final: list[Thunk],
) -> None:
    """Lower ``try``/``except``/``else``/``finally``."""
    if not final:
        _lower_try(low, steps, handlers, orelse, final)
        return
    frame = low.frame
    frame.finals += 1
    try:
        with low.bit_by_bit():  # an exception passes through `finally`
            _lower_try(low, steps, handlers, orelse, final)
    finally:
        frame.finals -= 1


def _lower_try(
    low: Lowering,
    steps: list[Thunk],
    handlers: list[Except],
    orelse: list[Thunk],
    final: list[Thunk],
) -> None:
    def caught_here(op: Op) -> bool:
        return any(h.may_catch(op) for h in handlers)

    # what follows an exception that nobody catches here is `finally` alone
    rest = _hoist(low, steps, may_raise if final else caught_here) if handlers else steps
    if not rest:
        run_sequence(low, orelse)
        _run_final(low, final)
        return
    before = dict(low.state)
    watch = Watch(lambda op: not _is_of_parts(op) and caught_here(op))
    main = low.region(partial(_watched, low, rest, watch))
    if not main.builder.ops and not main.dead:  # all of it is known: nothing can raise
        low.state = main.state
        run_sequence(low, orelse)
        _run_final(low, final)
        return
    caught = _known_raise(main)
    if caught is not None:
        for handler in handlers:
            if handler.catches(type(caught)):
                low.state = main.state
                handler.body(None if handler.name is None else Static(caught))
                _run_final(low, final)
                return
            if not _never_catches(handler, type(caught)):
                break
    if not handlers and not _acts(low, main, final):
        for op in main.builder.ops:
            low.builder.append(op)
        low.state, low.dead = main.state, main.dead
        if not low.dead:
            run_sequence(low, orelse)
        _run_final(low, final)
        return
    flag: Key = ("temporary", low.session.new_place(), "")
    guarded = bool(orelse) and not _joins(low, main, orelse, flag)
    start = _handler_state(low, before, watch.states, main)
    if guarded:
        start[flag] = TRUE
    regions = [main]
    names: list[Value | None] = []
    for handler in handlers:
        name = None if handler.name is None else Value(handler.name, EXCEPTION)
        names.append(name)
        regions.append(low.region(partial(handler.body, name), start))
    unknown = [k for k, v in start.items() if isinstance(v, Poison) and before.get(k) is not v]
    left = {k for region in regions[1:] for k in _leave_behind(low, region, unknown)}
    # one more, dead region: what the blocks define is handed over even where it is the same
    regions.append(Region(low.builder, low.state, True))
    results, yields = join_regions(low, regions)
    for key in left:
        _rebind(low, key, regions)
    final_block = _final_block(low, final, results)
    blocks = [r.builder.block((), y) for r, y in zip(regions[:-1], yields[:-1], strict=True)]
    made = tuple(
        Handler(h.kinds, Block(() if name is None else (name,), b.ops, b.yields))
        for h, name, b in zip(handlers, names, blocks[1:], strict=True)
    )
    low.builder.append(Try(blocks[0], made, final_block, results, low.builder.loc))
    raised = low.state.pop(flag, FALSE)
    if guarded and not low.dead:
        _run_else(low, orelse, raised)
    if final and final_block is None:
        _run_final(low, final)


def _is_of_parts(op: Op) -> bool:
    """Whether what an operation raises is raised by the operations in its blocks."""
    return isinstance(op, Try) or (isinstance(op, If) and _is_plain(op.test))


def _hoist(low: Lowering, steps: list[Thunk], stays: Callable[[Op], bool]) -> list[Thunk]:
    """Lower the first statements in which no operation has to stay; the others."""
    for k, step in enumerate(steps):
        region = low.region(partial(_alone, step))
        ops = region.builder.ops
        if region.dead or any(map(stays, ops)) or _left(low, region.state):
            return steps[k:]
        for op in ops:
            low.builder.append(op)
        low.state = region.state
    return []


def _alone(step: Thunk) -> None:
    step(None)


def _left(low: Lowering, state: State) -> bool:
    return any(state.get(("flag", low.frame.number, name), FALSE) is not FALSE for name in EXITS)


def _watched(low: Lowering, steps: list[Thunk], watch: Watch) -> None:
    """Lower the body of a ``try``, and note where it may raise."""
    low.builder.watch = low.note
    low.watches.append(watch)
    try:
        run_sequence(low, steps)
    finally:
        low.watches.pop()


def _known_raise(region: Region) -> BaseException | None:
    """The exception that a region raises, if it does nothing else and the exception is known."""
    ops = region.builder.ops
    if not region.dead or len(ops) != 1 or not isinstance(ops[0], Effect):
        return None
    args = ops[0].args
    if ops[0].callee is core.raise_error and len(args) == 1 and isinstance(args[0], Literal):
        error = args[0].value
        if isinstance(error, type) and issubclass(error, BaseException):
            return error()
        return error if isinstance(error, BaseException) else None
    return None


def _never_catches(handler: Except, error: type[BaseException]) -> bool:
    kinds = handler.kinds.value if isinstance(handler.kinds, Literal) else None
    return isinstance(kinds, (type, tuple)) and not issubclass(error, kinds)


def _handler_state(low: Lowering, before: State, states: list[State], main: Region) -> State:
    """What is certain in all states in which the body may have raised."""
    start = dict(before)
    lists = {
        op.result: op
        for op in main.builder.ops
        if isinstance(op, Apply) and op.callee is core.make_list
    }
    for key in changed_keys(before, states):
        if key[0] in ("flag", "temporary") or key[2] == RETURN:
            continue  # what raises has not returned
        imported = low.session.initial.get(key[1]) if key[0] == "place" else None
        held = before.get(key, imported)
        found = [state.get(key, imported) for state in states]
        if key[0] == "place" and all(_holds_same(held, f, lists) for f in found):
            continue  # only read, at a place known at run time
        if isinstance(found[0], Static) and all(f is found[0] for f in found):
            start[key] = found[0]
        else:
            start[key] = _poison(key)
    return start


def _holds_same(old: Any, new: Any, lists: dict[Value, Apply]) -> bool:
    """Whether a list has only been made a run-time list: no version of it has been written."""
    if not (isinstance(old, Items) and isinstance(new, Held) and new.value in lists):
        return new is old
    args = lists[new.value].args
    return len(args) == len(old.items) and all(
        a is i or (isinstance(a, Literal) and isinstance(i, Static) and a.value is i.value)
        for a, i in zip(args, old.items, strict=True)
    )


def _leave_behind(low: Lowering, region: Region, unknown: list[Key]) -> list[Key]:
    """Forget what a handler that returns does not know, where nobody can ask for it any more."""
    frame, state = low.frame, region.state
    returned = state.get(("flag", frame.number, "returned"), FALSE)
    if region.dead or not is_static(returned, equal=True) or frame.keeps or frame.finals:
        return []

    def is_own(key: Key) -> bool:
        return key[0] == "variable" and key[1] == frame.number and key[2] != RETURN

    seen: set[int] = set()
    work = [v for k, v in state.items() if k[0] != "place" and not is_own(k)]
    while work:
        value = work.pop()
        if isinstance(value, (Closure, Lazy)) and value.frame is frame:
            return []
        place = getattr(value, "place", None)
        if place is not None and place not in seen:
            seen.add(place)
            work.append(state.get(("place", place, "")))
        work.extend(parts(value))
    session = low.session
    seen |= {*session.initial, *session.identities}
    gone = [k for k in unknown if isinstance(state.get(k), Poison)]
    gone = [k for k in gone if is_own(k) or (k[0] == "place" and k[1] not in seen)]
    for key in gone:
        del state[key]
    return gone


def _rebind(low: Lowering, key: Key, regions: list[Region]) -> None:
    """A variable that is bound wherever the function goes on is no variable that may be unbound."""
    value = low.state.get(key)
    known = [r.state[key] for r in regions if not r.dead and key in r.state]
    if isinstance(value, MaybeUnbound) and not any(isinstance(v, MaybeUnbound) for v in known):
        low.state[key] = value.value


def _poison(key: Key) -> Poison:
    if key[0] == "place":
        return Poison(
            "a container may have been changed or not when the exception was raised",
            "compute in the try block, and change the container after it or in else",
        )
    return Poison(
        f"{key[2]} may have been assigned or not when the exception was raised",
        "assign it in the handler, or before the try and not in it",
    )


# ---- else


def _joins(low: Lowering, main: Region, orelse: list[Thunk], flag: Key) -> bool:
    """Lower ``else`` at the end of the body if nothing in it can raise; else mark that end."""
    if main.dead:
        return True
    state, mark = dict(main.state), main.builder.mark()
    with low.inside(main):
        run_sequence(low, orelse)
    if not main.dead and not any(map(may_raise, main.builder.ops[mark[0] :])):
        return True
    main.builder.rewind(mark)
    main.state, main.dead = state, False
    main.state[flag] = FALSE
    return False


def _run_else(low: Lowering, orelse: list[Thunk], raised: Abstract) -> None:
    if isinstance(raised, Static):
        if not raised.value:
            run_sequence(low, orelse)
        return
    left = low.exits()
    if left is True:
        return
    skip = low.atom(raised) if left is False else low.either(low.atom(raised), left)
    branch(low, low.negate(skip), partial(run_sequence, low, orelse), lambda: None)


# ---- finally


def _acts(low: Lowering, main: Region, final: list[Thunk]) -> bool:
    """Whether ``finally`` does something that is seen when an exception passes through."""
    with low.inside(main):
        trial = low.region(partial(run_sequence, low, final), _without_exits(low))
    return any(isinstance(op, Effect) for op in all_ops(trial.builder.block((), ())))


def _final_block(low: Lowering, final: list[Thunk], results: tuple[Value, ...]) -> Block | None:
    """``finally`` as a block of the ``try``, which also runs when an exception passes through."""
    if not final:
        return None
    dead, low.dead = low.dead, False
    effects = low.region(partial(run_sequence, low, final), _without_exits(low))
    low.dead = dead
    block = effects.builder.block((), ())
    if not any(isinstance(op, Effect) for op in all_ops(block)):
        return None  # only values change: nobody sees them when an exception passes through
    changes = changed_keys(_without_exits(low), [effects.state])
    reads = set(free_values(block))
    if not effects.dead and not changes and not reads.intersection(results):
        return block
    if any(isinstance(op, Effect) and op.callee not in _SILENT for op in all_ops(block)):
        low.refuse(*refusal("try"))
    return None


_SILENT = (print, core.check_bound, core.raise_error, core.assert_true)


def _without_exits(low: Lowering) -> State:
    frame = low.frame.number
    return {k: v for k, v in low.state.items() if not (k[0] == "flag" and k[1] == frame)}


def _run_final(low: Lowering, final: list[Thunk]) -> None:
    """``finally`` after the rest, whichever way that ended."""
    if not final:
        return
    frame = low.frame.number
    exits = {k: v for k, v in low.state.items() if k[0] == "flag" and k[1] == frame}
    dead = low.dead
    low.state, low.dead = _without_exits(low), False
    run_sequence(low, final)
    low.dead = low.dead or dead
    if not _left(low, low.state):
        low.state.update(exits)
