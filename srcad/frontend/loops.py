"""Loops: a body is lowered until what it carries is stable.

First it carries the names it assigns, then whatever else it turned out to change, each with the
join of its types before and after an iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from srcad.frontend import arrays
from srcad.frontend.abstract import (
    FALSE,
    TRUE,
    ArrayRef,
    Closure,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    Members,
    ObjectRef,
    Poison,
    Static,
    TupleRef,
    references,
    same_atom,
    same_steps,
)
from srcad.frontend.control import branch, changed_keys, merge_key
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import EXITS, Key, Lowering, NeedsUnroll, Region, State, is_leaf
from srcad.frontend.merge import (
    Loop,
    Merger,
    as_dynamic,
    count_of,
    is_of_containers,
    relocated,
    substitute,
)
from srcad.ir import (
    UNDEFINED,
    Atom,
    Block,
    Effect,
    For,
    Literal,
    Op,
    Stream,
    Update,
    Value,
    While,
)
from srcad.ir.core import same_literal
from srcad.ir.infer import atom_type, name_sizes, without_later_names
from srcad.ir.types import BOOL, NOTHING, OBJECT, Type, join
from srcad.ir.walk import all_ops, copy_block

_PASSES = 16


class RetryLoop(Exception):
    """A loop body reads a variable that an earlier iteration bound: it has to be carried."""

    def __init__(self, loop: LoopContext, key: Key) -> None:
        super().__init__(key)
        self.loop = loop
        self.key = key


@dataclass(eq=False)
class LoopContext:
    """A loop being lowered, for reads of variables that only it binds."""

    assigned: set[Key]
    before: State
    frames: int
    """How many activations of functions there were before the loop."""
    since: int
    """The serial number of the last value made before the loop."""
    site: Any = None
    """What stands for the loop in every attempt to lower it."""
    carried: dict[Key, Any] = field(default_factory=dict)


@dataclass(eq=False)
class LoopPlan:
    """One attempt at a loop: the parameters of the body and what they start from."""

    params: list[Value]
    inits: list[Atom]
    state: State
    before: State
    """The state before the loop."""
    kinds: dict[Value, Type] = field(default_factory=dict)
    """The types of the parameters in all iterations: in one, their sizes have names."""

    def makes(self, key: Key) -> bool:
        """Whether merging made this place: what it holds is carried with what refers to it."""
        return key[0] == "place" and key in self.state and key not in self.before


def lower_loop(
    low: Lowering,
    *,
    assigned: set[Key],
    body: Callable[[], None],
    test: Callable[[], Atom] | None = None,
    streams: tuple[Stream, ...] = (),
    targets: tuple[Value, ...] = (),
) -> None:
    """Lower a loop: ``for`` over streams (``targets`` are their items), else ``while`` ``test``.

    ``body`` binds the targets and lowers one iteration.
    """
    with low.bit_by_bit():
        _lower_loop(low, assigned, body, test, streams, targets)


def _lower_loop(
    low: Lowering,
    assigned: set[Key],
    body: Callable[[], None],
    test: Callable[[], Atom] | None,
    streams: tuple[Stream, ...],
    targets: tuple[Value, ...],
) -> None:
    for name in EXITS:  # no exit has been taken where a loop begins
        low.state.pop(("flag", low.frame.number, name), None)
    before, mark = low.state, low.builder.mark()
    since = min((t.serial - 1 for t in targets), default=Value("", BOOL).serial)
    context = LoopContext(assigned, before, low.session.frames, since, low.statement_site())
    ends: dict[Key, Region] = {}
    for key in sorted(assigned):
        if key in before:
            context.carried[key] = None
    low.loops.append(context)
    try:
        frozen = set(low.session.frozen)
        for _ in range(_PASSES):
            low.builder.rewind(mark)
            low.state = dict(before)
            low.session.frozen = frozen | _made_within(low, before)
            plan = _plan(low, context, ends)
            try:
                if _attempt(low, context, ends, plan, body, test, streams, targets):
                    return
            except RetryLoop as retry:
                if retry.loop is not context:
                    raise
                context.carried[retry.key] = None
    finally:
        low.loops.pop()
    if context.site is not None:
        low.require_release(frozenset({context.site}))
    low.refuse(
        *refusal("changing types"),
        kind=NeedsUnroll,
    )


def _plan(low: Lowering, context: LoopContext, ends: dict[Key, Region]) -> LoopPlan:
    """The state at the start of an iteration: carried numbers and arrays become parameters."""
    plan = LoopPlan([], [], dict(low.state), dict(low.state))

    def leaf(hint: str, atoms: list[Atom | None], kind: Type) -> Value:
        kind = without_later_names(kind, context.since)
        param = Value(hint, name_sizes(kind))
        plan.params.append(param)
        plan.kinds[param] = kind
        init = atoms[0]
        arrays.handed_on(low, param, tuple(atoms), context.site)
        plan.inits.append(UNDEFINED if init is None else init)
        return param

    loop = Loop(context.site, tuple(context.carried), tuple(plan.before))
    here = Region(low.builder, low.state, False)
    outer = dict(low.state)
    spent: set[int] = set()
    for key in sorted(context.carried, key=lambda k: k[0] == "place"):
        if key[0] == "place" and key[1] in spent:  # the variables hand it on
            del context.carried[key]
            plan.state.pop(key, None)
            plan.before.pop(key, None)
            continue
        end = ends.get(key)
        start = outer.get(key)
        if end is None:
            merger = Merger(low, [here], leaf, force=True, force_constants=True, loop=loop)
            merger.site = context.site
            if start is None:
                plan.state[key] = MaybeUnbound(key[2], leaf(key[2], [None], NOTHING))
                continue
            merged = merge_key(merger, key, [start])
        else:
            merger = Merger(low, [here, end], leaf, force=True, force_constants=True, again=True)
            merger.loop, merger.site = loop, context.site
            merged = merge_key(merger, key, [start, end.state.get(key)])
        plan.state[key] = merged
        spent |= merger.spent
    # places made by merging stand in the current state: an iteration starts with them
    for key, value in low.state.items():
        if key not in outer:
            plan.state[key] = value
    low.session.left |= spent
    for place in spent:  # what else refers to them has been let go of
        for held in (context.carried, plan.state, plan.before):
            held.pop(("place", place, ""), None)
    return plan


def _made_within(low: Lowering, before: State) -> set[int]:
    """The frozen places of earlier attempts: what is handed on from them is shared too."""
    initial = low.session.initial
    return {p for p in low.session.frozen if ("place", p, "") not in before and p not in initial}


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """The test of a ``while`` loop, lowered before the body."""

    ops: tuple[Op, ...]
    outcome: Atom
    exhausts: bool
    """It does something, so it is the head of the body, which says when the loop is exhausted."""

    @property
    def always_holds(self) -> bool:
        """Whether the loop is left by an exit only."""
        known = isinstance(self.outcome, Literal) and self.outcome.value
        return bool(known) and not self.exhausts


def _lower_test(low: Lowering, test: Callable[[], Atom], plan: LoopPlan) -> _Test:
    outcomes: list[Atom] = []
    region = low.region(lambda: outcomes.append(test()), plan.state)
    if region.dead:
        test()  # it raises before the first iteration
    if changed_keys(plan.state, [region.state]) or _acts(region):
        return _Test((), Literal(True), True)
    return _Test(tuple(region.builder.ops), outcomes[0], False)


def _attempt(
    low: Lowering,
    context: LoopContext,
    ends: dict[Key, Region],
    plan: LoopPlan,
    body: Callable[[], None],
    test: Callable[[], Atom] | None,
    streams: tuple[Stream, ...],
    targets: tuple[Value, ...],
) -> bool:
    """Lower the loop by a plan; False if an iteration shows that more has to be carried."""
    exhausted: Key = ("flag", low.frame.number, "exhausted")
    frozen = set(low.session.frozen)
    tested = None if test is None else _lower_test(low, test, plan)

    def iteration() -> None:
        low.state.pop(exhausted, None)
        if tested is not None and tested.exhausts:
            assert test is not None
            branch(low, test(), body, lambda: low.set_flag("exhausted", TRUE))
        else:
            body()
        low.state.pop(("flag", low.frame.number, "continued"), None)

    region = low.region(iteration, plan.state)
    with low.inside(region):
        stop: bool | Atom = low.exits(("broke", "returned", "exhausted"))
    keys = changed_keys(plan.state, [region.state])
    before = dict(plan.before)
    met = _imported(low, keys, plan)
    if any(region.state.get(k) is not low.session.initial[k[1]] for k in met):
        for key in met:  # an imported container that the body changes is there before it
            context.before[key] = low.session.initial[key[1]]
        return False
    fresh = [k for k in keys if k not in plan.state and k not in met]
    missed = [] if region.dead else _missed(context, plan, region, keys, fresh)
    if missed:
        for key in missed:
            context.carried[key] = None
            ends[key] = region
        return False
    shared = low.session.frozen - frozen
    if any(k[0] == "place" and k[1] in shared for k in keys if k in plan.state):
        # changed in one iteration, handed on by then in the next
        low.refuse(*refusal("shared container"), kind=NeedsUnroll)
    yields: list[Atom] = []
    left: set[int] = set()
    if region.dead:
        yields = [UNDEFINED for _ in plan.params]
    else:
        fitting = _Fit(low, region, plan, context.since, yields)
        unfit = [k for k in context.carried if not fitting.fits(k)]
        if unfit:
            for key in unfit:
                ends[key] = region
            return False
        left = fitting.left
        for key in fresh:
            region.state[key] = relocated(region.state.get(key), fitting.places())
    params, inits = list(plan.params), list(plan.inits)
    exports = _exports(low, region, context.since, fresh, left, params, inits, yields)
    results = tuple(Value(p.hint, name_sizes(plan.kinds.get(p, p.type))) for p in params)
    for param, result in zip(params, results, strict=True):
        arrays.handed_on(low, result, (param,))
    body_yields = tuple(yields)
    stops = stop is not False
    if stops:
        body_yields = (*body_yields, Literal(True) if stop is True else _as_atom(stop))
    block = region.builder.block((*targets, *params), body_yields)
    loc = low.builder.loc
    if tested is None:
        low.builder.append(For(streams, tuple(inits), block, results, stops, loc))
    else:
        test_block = copy_block(Block(tuple(params), tested.ops, (tested.outcome,)), {})
        low.builder.append(While(tuple(inits), test_block, block, results, stops, loc))
    mapping: dict[Value, Any] = dict(zip(params, results, strict=True))
    _take_over(low, before, context, plan, exports, mapping)
    low.state.pop(exhausted, None)
    if tested is not None and tested.always_holds:
        _endless(low)
    return True


def _imported(low: Lowering, keys: Iterable[Key], plan: LoopPlan) -> list[Key]:
    """The places of imported containers that the plan does not know."""
    initial = low.session.initial
    return [k for k in keys if k not in plan.state and k[0] == "place" and k[1] in initial]


def _missed(
    context: LoopContext, plan: LoopPlan, region: Region, keys: Iterable[Key], fresh: list[Key]
) -> list[Key]:
    """What an iteration changes and has to be carried, but is not yet."""
    missed = [k for k in keys if k in plan.state and k not in context.carried and not plan.makes(k)]
    # what an iteration binds on some paths only keeps an earlier iteration's value on the others;
    # the variables of a function called in the body are new in every iteration
    return missed + [
        k
        for k in fresh
        if isinstance(region.state.get(k), MaybeUnbound)
        and not (k[0] == "variable" and k[1] > context.frames)
    ]


def _take_over(
    low: Lowering,
    before: State,
    context: LoopContext,
    plan: LoopPlan,
    exports: dict[Key, Any],
    mapping: dict[Value, Any],
) -> None:
    """The state after the loop: what it carries and exports, in terms of its results."""
    low.state = before
    for key in context.carried:
        low.state[key] = substitute(plan.state[key], mapping)
    for key, value in plan.state.items():
        if key not in low.state:
            low.state[key] = substitute(value, mapping)
    for key, value in exports.items():
        low.state[key] = substitute(value, mapping)


def _endless(low: Lowering) -> None:
    """After a loop whose test always holds: it was left by an exit, or never."""
    left = [n for n in ("broke", "returned") if low.flag(n) is not FALSE]
    if not left:
        low.dead = True
    elif len(left) == 1:
        low.set_flag(left[0], TRUE)


def _as_atom(stop: bool | Atom) -> Atom:
    return Literal(stop) if isinstance(stop, bool) else stop


def _acts(region: Region) -> bool:
    block = region.builder.block((), ())
    return any(isinstance(op, (Effect, Update)) for op in all_ops(block))


def _exports(
    low: Lowering,
    region: Region,
    since: int,
    fresh: list[Key],
    left: set[int],
    params: list[Value],
    inits: list[Atom],
    yields: list[Atom],
) -> dict[Key, Any]:
    """What the body binds for the first time, for reads after the loop.

    An object that a carried variable has left (``last = xs; xs = [...]``) gets a place of its own.
    """
    exports: dict[Key, Any] = {}
    if region.dead:
        return exports

    def leaf(hint: str, atoms: list[Atom | None], kind: Type) -> Value:
        param = Value(hint, without_later_names(kind, since))
        params.append(param)
        inits.append(Literal(False) if kind == BOOL and hint in EXITS else UNDEFINED)
        atom = atoms[-1]
        assert atom is not None
        arrays.handed_on(low, param, (atom,))
        yields.append(atom)
        return param

    known = set(low.state)
    merger = Merger(low, [region], leaf, force=True, force_constants=True, renewed=left)
    for key in fresh:
        value = region.state.get(key)
        if value is None or key[0] == "temporary":
            continue
        merged = merge_key(merger, key, [value])
        if key[0] == "variable" and not isinstance(merged, (Poison, MaybeUnbound)):
            # an array that is there without the loop does not tell whether the name has got it
            there = leaf(key[2], [Literal(True)], BOOL) if isinstance(merged, ArrayRef) else None
            merged = MaybeUnbound(key[2], merged, there)
        exports[key] = merged
    exports.update((k, v) for k, v in low.state.items() if k not in known)
    return exports


@dataclass(eq=False)
class _Fit:
    """Whether the end of an iteration fits the parameters; collects what it yields for them."""

    low: Lowering
    region: Region
    plan: LoopPlan
    since: int
    yields: list[Atom]
    left: set[int] = field(default_factory=set)
    """Places that their variable leaves for another object: they stand for that one from now on."""
    moved: dict[int, int] = field(default_factory=dict)
    """Places of arrays in the end of an iteration, and the places they stand in after it."""

    def __post_init__(self) -> None:
        self.order = {param: k for k, param in enumerate(self.plan.params)}
        self.yields[:] = list(self.plan.params)

    def places(self) -> dict[int, int | None]:
        """Where the arrays of moved places are after the loop; None: nothing carried has them."""
        lost = dict.fromkeys(p for p in self.moved.values() if p not in self.moved)
        return {**self.moved, **lost}

    def fits(self, key: Key) -> bool:
        start, end = self.plan.state.get(key), self.region.state.get(key)
        if start is None:
            return end is None
        if key[0] == "place":
            return end is not None and self.contents(start, end)
        if end is None:
            return False
        return self.value(start, end)

    def value(self, start: Any, end: Any) -> bool:
        if isinstance(start, Poison):
            return True
        if isinstance(end, Value) and self.low.session.narrowed.get(end) is start:
            end = start
        if isinstance(start, MaybeUnbound):
            return self.value(start.value, end.value if isinstance(end, MaybeUnbound) else end)
        if isinstance(end, (MaybeUnbound, Poison)):
            return False
        if isinstance(start, Value) and start in self.order:
            if isinstance(end, (TupleRef, ListRef, DictRef)) and is_of_containers(start.type):
                merger = Merger(self.low, [self.region], lambda *_: Value("", OBJECT))
                return self.put(start, merger.handed_over(0, end))
            if isinstance(end, ArrayRef) and self.is_read_only(end.place):
                merger = Merger(self.low, [self.region], lambda *_: Value("", OBJECT))
                return self.put(start, merger.handed_over(0, end))
            if not is_leaf(end):
                return False
            atom = end if isinstance(end, Value) else Literal(end.value)
            return self.put(start, atom)
        if start is end:
            return True
        match start, end:
            case Static(), Static():
                known = is_leaf(start) and same_literal(start.value, end.value)
                return known or start.value is end.value
            case TupleRef(), TupleRef():
                return (
                    start.cls is end.cls
                    and len(start.items) == len(end.items)
                    and all(self.value(s, e) for s, e in zip(start.items, end.items, strict=True))
                )
            case (ListRef(), ListRef()) | (DictRef(), DictRef()) | (ObjectRef(), ObjectRef()):
                place = ("place", start.place, "")
                if start == end and not self.plan.makes(place):
                    return True
                if place in self.plan.before:
                    return False  # bound to another object: the variable needs a place of its own
                if start != end:
                    shared = references(self.region.state, end.place) > 1
                    shared = shared or self.low.is_shared(end.place)
                    if shared and start.place not in self.low.session.frozen:
                        return False  # merging says that it must not change
                    self.left.add(start.place)
                held = self.low.held_in(self.plan.state, start.place)
                return self.contents(held, self.low.held_in(self.region.state, end.place))
            case ArrayRef(), ArrayRef():
                if start.place == end.place:
                    return self.path(start, end)
                if ("place", start.place, "") in self.plan.before or start.path or end.path:
                    return False
                if self.low.is_shared(end.place) and not self.low.is_shared(start.place):
                    return False
                self.moved[end.place] = start.place
                held = self.low.held_in(self.plan.state, start.place)
                return self.contents(held, self.low.held_in(self.region.state, end.place))
            case Closure(), Closure():
                return (
                    start.node is end.node
                    and start.frame is end.frame
                    and all(
                        self.value(s, e) for s, e in zip(start.defaults, end.defaults, strict=True)
                    )
                )
        return bool(start == end)

    def is_read_only(self, place: int) -> bool:
        """Whether no iteration writes into a place, or only the one that made it."""
        frozen = self.low.session.frozen
        return place in frozen or ("place", place, "") not in self.plan.state

    def path(self, start: ArrayRef, end: ArrayRef) -> bool:
        """Whether the view at the end of an iteration is that at its start, up to indices."""
        if not same_steps(start.path, end.path):
            return False
        pairs = (
            (a, b)
            for s, t in zip(start.path, end.path, strict=True)
            for a, b in zip(s.args, t.args, strict=True)
        )
        return all(
            self.put(a, b) if isinstance(a, Value) and a in self.order else same_atom(a, b)
            for a, b in pairs
        )

    def contents(self, start: Any, end: Any) -> bool:
        if start is end and not isinstance(start, Held):
            return True
        match start, end:
            case Members(), Members():
                return start == end
            case Held(value=param), _:
                if param not in self.order:
                    return start is end or (isinstance(end, Held) and end.value is param)
                merger = Merger(self.low, [self.region], lambda *_: Value("", OBJECT))
                if not isinstance(end, (Items, Entries, Held)):
                    return False
                if start.count is not None and count_of(end) != start.count:
                    return False
                if isinstance(end, Held) and end.borrowed != start.borrowed and end.borrowed:
                    return False
                atom = merger._contents_atom(0, end)
                return self.put(param, atom, as_dynamic(atom_type(atom)))
            case Items(items=a), Items(items=b):
                return len(a) == len(b) and all(self.value(s, e) for s, e in zip(a, b, strict=True))
            case Entries(keys=k, values=a), Entries(keys=l, values=b):
                return k == l and all(self.value(s, e) for s, e in zip(a, b, strict=True))
            case Fields(names=k, values=a), Fields(names=l, values=b):
                return k == l and all(self.value(s, e) for s, e in zip(a, b, strict=True))
        return False

    def put(self, param: Value, atom: Atom, kind: Type | None = None) -> bool:
        kind = without_later_names(atom_type(atom) if kind is None else kind, self.since)
        known = self.plan.kinds[param]
        if join(known, kind) != known:
            return False
        self.yields[self.order[param]] = atom
        return True
