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

from srcad.frontend.abstract import FALSE, TRUE, Abstract, Held, Items, Poison, Static
from srcad.frontend.control import Thunk, branch, changed_keys, join_regions, run_sequence
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import EXITS, RETURN, Key, Lowering, Region, State
from srcad.ir import Apply, Atom, Block, Effect, Handler, If, Literal, Op, Try, Value, With, core
from srcad.ir.infer import atom_type
from srcad.ir.types import EXCEPTION, Number, Opaque
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


def may_raise(op: Op) -> bool:
    """Whether an operation can raise: arithmetic of Python numbers cannot, nor can displays."""
    match op:
        case Apply(callee=core.make_tuple | core.make_list | core.select):
            return False
        case Apply(callee=callee, args=args, keywords=()) if callee in _SAFE:
            return not all(_is_plain(a) for a in args)
        case If(then=then, orelse=orelse):
            return any(map(may_raise, (*then.ops, *orelse.ops)))
    return True


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

    def catches(self, error: type[BaseException]) -> bool:
        """Whether it surely handles an exception of this class."""
        if self.kinds is None:
            return True
        kinds = self.kinds.value if isinstance(self.kinds, Literal) else None
        return isinstance(kinds, (type, tuple)) and issubclass(error, kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One statement in a ``try``; ``last``: the names it assigns after all in it that may raise."""

    run: Thunk
    bound: frozenset[Key]
    """The variables that it may assign."""
    last: frozenset[Key]


@dataclass(slots=True, eq=False)
class _Trace:
    """A lowered statement: the states before, in and after it, and whether it may raise."""

    step: Step
    before: State
    later: list[State]
    raises: bool = True

    def keeps(self, key: Key) -> bool:
        """Whether a variable or container surely is as before wherever the statement may raise."""
        if key in self.step.last:
            return True
        if key in self.step.bound:
            return False
        return all(state.get(key) is self.before.get(key) for state in self.later)


def lower_try(
    low: Lowering,
    steps: list[Step],
    handlers: list[Except],
    orelse: list[Thunk],
    final: list[Thunk],
) -> None:
    """Lower ``try``/``except``/``else``/``finally``."""
    rest = _hoist(low, steps) if handlers else steps
    if not rest:
        run_sequence(low, orelse)
        _run_final(low, final)
        return
    before = dict(low.state)
    traces: list[_Trace] = []
    main = low.region(partial(run_sequence, low, [partial(_traced, low, s, traces) for s in rest]))
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
    start = _handler_state(before, traces, main)
    if guarded:
        start[flag] = TRUE
    regions = [main]
    names: list[Value | None] = []
    for handler in handlers:
        name = None if handler.name is None else Value(handler.name, EXCEPTION)
        names.append(name)
        regions.append(low.region(partial(handler.body, name), start))
    # one more, dead region: what the blocks define is handed over even where it is the same
    regions.append(Region(low.builder, low.state, True))
    results, yields = join_regions(low, regions)
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


def _hoist(low: Lowering, steps: list[Step]) -> list[Step]:
    """Lower the first statements that cannot raise; the others."""
    for k, step in enumerate(steps):
        region = low.region(partial(_alone, step))
        ops = region.builder.ops
        if region.dead or any(map(may_raise, ops)) or _left(low, region.state):
            return steps[k:]
        for op in ops:
            low.builder.append(op)
        low.state = region.state
    return []


def _alone(step: Step) -> None:
    step.run(None)


def _left(low: Lowering, state: State) -> bool:
    return any(state.get(("flag", low.frame.number, name), FALSE) is not FALSE for name in EXITS)


def _traced(
    low: Lowering, step: Step, traces: list[_Trace], rest: Callable[[], None] | None
) -> bool | None:
    watched, low.watched = low.watched, []
    trace = _Trace(step, dict(low.state), low.watched)
    traces.append(trace)
    builder, mark = low.builder, len(low.builder.ops)
    try:
        taken = step.run(rest)
        trace.raises = any(map(may_raise, builder.ops[mark:]))
        return taken
    finally:
        trace.later.append(dict(low.state))
        low.watched = watched
        if watched is not None:
            watched.extend(trace.later)


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


def _handler_state(before: State, traces: list[_Trace], main: Region) -> State:
    """What is certain wherever the body may have raised."""
    start = dict(before)
    lists = {
        op.result: op
        for op in main.builder.ops
        if isinstance(op, Apply) and op.callee is core.make_list
    }
    raising = [t for t in traces if t.raises]
    keys: dict[Key, None] = {}
    for trace in traces:
        keys.update(dict.fromkeys(changed_keys(before, [trace.before, *trace.later])))
    for key in keys:
        if key[0] in ("flag", "temporary") or key[2] == RETURN:
            continue  # what raises has not returned
        if not raising:
            continue
        states = [s for t in raising for s in (t.before, *t.later)]
        held = before.get(key)
        if key[0] == "place" and all(_holds_same(held, s.get(key), lists) for s in states):
            continue  # only read, at a place known at run time
        value = raising[0].before.get(key)
        known = value is before.get(key) or isinstance(value, Static)
        if known and all(t.before.get(key) is value and t.keeps(key) for t in raising):
            if value is not None:
                start[key] = value
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


def _poison(key: Key) -> Poison:
    if key[0] == "place":
        return Poison(
            "a container may be half-changed when the exception was raised",
            "change it outside the try block",
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
