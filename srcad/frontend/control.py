"""Control flow: sequences, branches and early exits.

Early exits are flags.  A branch that always exits takes no flag: what follows the ``if`` moves into
the other branch.  Where an exit is taken on some paths only, the rest of the block is guarded by
the flag, and a loop ends after the iteration that sets it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from srcad.frontend import arrays
from srcad.frontend.abstract import FALSE, TRUE, Abstract, Static
from srcad.frontend.lowering import EXITS, RETURN, Key, Lowering, Region, State, Unreachable
from srcad.frontend.merge import Merger
from srcad.ir import UNDEFINED, Atom, If, Value
from srcad.ir.types import Type

Thunk = Callable[[Callable[[], None] | None], bool | None]
"""A statement to lower; given what follows it, it may lower that too and say so by True."""


_COPIES = 8
"""How often statements may be there in branches that take them along."""

# ---- sequences and branches


def run_sequence(low: Lowering, thunks: list[Thunk], flags: tuple[str, ...] = EXITS) -> None:
    """Lower statements in order; what follows one that may exit is guarded."""
    for k, thunk in enumerate(thunks):
        if low.dead:
            return
        rest = partial(run_sequence, low, thunks[k + 1 :], flags) if k + 1 < len(thunks) else None
        try:
            taken = thunk(rest)
        except Unreachable:
            low.dead = True
            return
        if taken:
            return
        if low.exits(flags) is not False:
            if rest is not None:
                _go_on(low, rest, flags)
            return


def _go_on(low: Lowering, rest: Callable[[], None], flags: tuple[str, ...] = EXITS) -> None:
    """Lower what follows statements, where none of them has exited."""
    left = low.exits(flags)
    if left is False:
        rest()
    elif left is not True:
        branch(low, low.negate(left), partial(_stayed, low, rest), partial(_left, low, flags))


def _stayed(low: Lowering, rest: Callable[[], None]) -> None:
    """Go on where no exit was taken."""
    for name in EXITS:
        if ("flag", low.frame.number, name) in low.state:
            low.set_flag(name, FALSE)
    rest()


def _left(low: Lowering, flags: tuple[str, ...]) -> None:
    """Where an exit was taken, the only one that can have been is known."""
    open_ = [name for name in flags if isinstance(low.flag(name), Value)]
    if len(open_) == 1:
        low.set_flag(open_[0], TRUE)


def exited(region: Region, frame: int) -> bool:
    """Whether a region always ends by an early exit."""
    flags = (region.state.get(("flag", frame, name), FALSE) for name in EXITS)
    return any(isinstance(f, Static) and bool(f.value) for f in flags)


def branch(
    low: Lowering,
    test: Atom,
    then: Callable[[], None],
    orelse: Callable[[], None],
    rest: Callable[[], None] | None = None,
) -> bool:
    """Lower an ``if`` whose test is known at run time only; whether it took ``rest`` along."""
    regions = [low.region(then), low.region(orelse)]
    consumed = False
    if rest is not None:
        left = [not r.dead and exited(r, low.frame.number) for r in regions]
        if left != [False, False] and all(l or r.dead for l, r in zip(left, regions, strict=True)):
            consumed = True
        elif any(left):
            stays = regions[left.index(False)]
            if not stays.dead:
                with low.inside(stays):
                    _go_on(low, rest)
            consumed = True
    results, yields = join_regions(low, regions)
    blocks = [r.builder.block((), y) for r, y in zip(regions, yields, strict=True)]
    if results or any(b.ops for b in blocks):
        low.builder.append(If(test, blocks[0], blocks[1], results, low.builder.loc))
    return consumed


def branch_apart(
    low: Lowering,
    test: Atom,
    then: list[Thunk],
    orelse: list[Thunk],
    rest: Callable[[], None],
) -> bool:
    """Lower an ``if`` with what follows it in both of its branches."""

    def side(thunks: list[Thunk]) -> Callable[[], None]:
        return partial(run_sequence, low, [*thunks, lambda _: rest()])

    low.session.copies *= 2
    try:
        branch(low, test, side(then), side(orelse))
    finally:
        low.session.copies //= 2
    return True


def stays_apart(low: Lowering) -> bool:
    """Whether what follows the statement being lowered is to be in its branches."""
    session = low.session
    return session.copies < _COPIES and low.statement_site() in session.released


def join_regions(
    low: Lowering, regions: list[Region]
) -> tuple[tuple[Value, ...], list[tuple[Atom, ...]]]:
    """Merge the states at the ends of regions into the current one; what they have to yield."""
    site = low.statement_site()
    lets_go = site in low.session.released
    alive = [k for k, r in enumerate(regions) if not r.dead]
    if not alive:
        low.dead = True
        return (), [() for _ in regions]
    results: list[Value] = []
    yields: list[list[Atom]] = [[] for _ in regions]

    def leaf(hint: str, atoms: list[Atom | None], kind: Type) -> Value:
        result = Value(hint, kind)
        results.append(result)
        arrays.handed_on(low, result, tuple(atoms), site)
        found = dict(zip(alive, atoms, strict=True))
        for k, column in enumerate(yields):
            atom = found.get(k)
            column.append(UNDEFINED if atom is None else atom)
        return result

    sides = [regions[k] for k in alive]
    merger = Merger(low, sides, leaf, force=len(alive) < len(regions), site=site)
    base = dict(low.state)
    changed = changed_keys(base, [s.state for s in sides])
    for key in sorted(changed, key=_is_place):  # variables first: they may leave places behind
        values = [s.state.get(key) for s in sides]
        if _is_place(key) and (key[1] in merger.spent or is_left(low, key, base, values)):
            low.state.pop(key, None)
            continue
        first = low.session.initial.get(key[1]) if key[0] == "place" else None
        if first is not None:  # imported: it is there on every path
            values = [first if v is None else v for v in values]
        if first is not None and all(v is first for v in values):
            low.state[key] = first
        else:
            merger.lets_go = lets_go and key[0] == "variable" and key[2] != RETURN
            low.state[key] = merge_key(merger, key, values)
    low.session.left |= merger.spent
    return tuple(results), [tuple(column) for column in yields]


def _is_place(key: Key) -> bool:
    return key[0] == "place"


def is_left(low: Lowering, key: Key, before: State, values: list[Any]) -> bool:
    """Whether a place was there before, and a path has left it behind for another one."""
    gone = key in before and any(v is None for v in values)
    return gone and key[1] in low.session.left and key[1] not in low.session.initial


def changed_keys(base: State, states: list[State]) -> list[Key]:
    """The keys that hold something else in one of the states, in a fixed order."""
    keys: dict[Key, None] = {}
    for state in states:
        for key, value in state.items():
            if base.get(key) is not value:
                keys[key] = None
        for key in base:
            if key not in state:
                keys[key] = None
    return list(keys)


def merge_key(merger: Merger, key: Key, values: list[Any]) -> Any:
    """The merged value of one key; ``values`` has None where a state lacks it."""
    kind, _, name = key
    if kind == "flag":
        values = [FALSE if v is None else v for v in values]
        return merger.merge(values, name)
    if all(v is None for v in values):
        return None
    if kind == "place":
        return merger.merge_contents(values, "", merger.low.container_name(key[1]))
    return merger.merge(values, "" if kind == "temporary" else "out" if name == RETURN else name)


def choose(
    low: Lowering, test: Atom, then: Callable[[], Abstract], orelse: Callable[[], Abstract]
) -> Abstract:
    """The value of a conditional expression whose test is known at run time only."""
    key: Key = ("temporary", low.session.new_place(), "")

    def put(value: Callable[[], Abstract]) -> None:
        low.state[key] = value()

    branch(low, test, partial(put, then), partial(put, orelse))
    if low.dead:
        raise Unreachable
    found: Abstract = low.state.pop(key)
    return found
