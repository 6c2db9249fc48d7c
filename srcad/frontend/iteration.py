"""Iteration: a loop at run time if the items have a common form, else each iteration by itself."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import gast
import numpy as np

from srcad.frontend import arrays, containers, iterators, statements
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    DictRef,
    DictView,
    Enumerate,
    Held,
    Items,
    ListRef,
    RangeRef,
    Reversed,
    Static,
    TupleRef,
    Zip,
    parts,
)
from srcad.frontend.control import run_sequence
from srcad.frontend.fence import refusal
from srcad.frontend.loops import lower_loop
from srcad.frontend.lowering import Key, Lowering, NeedsUnroll, State, is_leaf, leaf_type
from srcad.frontend.merge import count_of
from srcad.ir import Atom, For, Literal, Range, Stream, Value, View
from srcad.ir import Items as ItemStream
from srcad.ir.core import literal_values, make_list
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

Names: TypeAlias = "str | tuple[Names, ...]"
"""A name, or those of the parts; empty for what has none."""

_UNROLL = 64


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
        statements.assign(low, target, item)

    iterate_with(low, iterable, bind, body, assigned, _names_in(target), unrolled)


def iterate_with(
    low: Lowering,
    iterable: Abstract,
    bind: Callable[[Abstract], None],
    body: Callable[[], None],
    assigned: set[Key],
    names: Names = "",
    unrolled: bool = False,
) -> None:
    """Run ``body`` for every item.

    It is a loop at run time if the items have a common form, else unrolled.

    ``names``: what the items, or their parts, are called.
    ``unrolled``: what the loop makes must have a known length, if that is possible.
    """
    refs = iterators.iterators_in(iterable)
    since = iterators.reads(low, iterable)
    with low.bit_by_bit():
        iterable = iterators.consumed(low, iterable, interleaved=True)
        after = iterators.pause(low, refs)
        _iterate_over(low, iterable, bind, body, assigned, names, unrolled, since)
    if low.exits(("broke", "returned")) is False:
        low.state.update(after)


def _iterate_over(
    low: Lowering,
    iterable: Abstract,
    bind: Callable[[Abstract], None],
    body: Callable[[], None],
    assigned: set[Key],
    names: Names,
    unrolled: bool,
    since: iterators.Dependences,
) -> None:
    frozen = set(low.session.frozen)
    before, mark = dict(low.state), low.builder.mark()
    plan = _Streams(low)
    count = _known_count(low, iterable)
    only, short = count is None, count is not None and count <= _UNROLL
    loop = ("loop", low.site(), getattr(low.node, "lineno", 0), low.frame.source.file)
    unrolled = unrolled or loop in low.session.buffers
    if not _unrolls(low, iterable, unrolled) and _loops(low, iterable, only):
        low.session.unrollable += not only
        low.session.short += short
        try:
            item = plan.open(iterable, names)
            own = _containers_of(low, before)
            arrays_read = TupleRef(tuple(ArrayRef(a.place) for a in _arrays_in(item)))
            key: Key = ("temporary", low.session.new_place(), "")
            if arrays_read.items:  # the loop refers to them, whatever becomes of their names
                low.state[key] = arrays_read

            def iteration() -> None:
                low.state.update(own)
                bind(arrays.settled(low, item))
                body()

            lower_loop(
                low,
                assigned=assigned,
                body=iteration,
                streams=tuple(plan.streams),
                targets=tuple(plan.targets),
            )
            if not only and isinstance(made := low.builder.ops[-1], For):
                arrays.collected(low, made.results, loop)
            iterators.check_unchanged(low, since, NeedsUnroll)
        except NeedsUnroll:
            low.state = before
            low.session.frozen = frozen
            low.builder.rewind(mark)
            if _known_count(low, iterable) is None:
                raise
        else:
            low.state.pop(key, None)
            return
        finally:
            low.session.unrollable -= not only
            low.session.short -= short
    _unroll(low, iterable, bind, body, since)


def _containers_of(low: Lowering, before: State) -> State:
    """The lists and dicts that the items of a loop are: taken out of the state before the loop."""
    found: State = {}
    for key in [k for k in low.state if k not in before and k[0] == "place"]:
        held = low.state[key]
        if not (isinstance(held, Held) and isinstance(held.value.type, Array)):
            found[key] = low.state.pop(key)
    return found


def _arrays_in(item: Abstract) -> list[ArrayRef]:
    if isinstance(item, ArrayRef):
        return [item]
    if isinstance(item, TupleRef):
        return [a for i in item.items for a in _arrays_in(i)]
    return []


def _unroll(
    low: Lowering,
    iterable: Abstract,
    bind: Callable[[Abstract], None],
    body: Callable[[], None],
    since: iterators.Dependences,
) -> None:
    """Lower a loop over known items one iteration after the other."""
    items = containers.followed(low, iterable)
    count = _known_count(low, iterable) if items is None else len(items)
    if items is None and count is not None and count <= _UNROLL:
        items = tuple(containers.unpack(low, iterable))
    if count is None:
        low.refuse(*refusal("iteration", type="this object"))
    if items is None:
        low.refuse(
            f"a loop over {count} items of different kinds would be unrolled",
            "use arrays, or lists of numbers",
        )

    known, written = items, _reads_buffers(iterable)

    def once(number: int, rest: Callable[[], None] | None) -> None:
        current = known
        if iterators.moved(low, since) or (written and number):
            current = tuple(containers.unpack(low, iterable))
        low.state.pop(("flag", low.frame.number, "continued"), None)
        bind(current[number])
        body()
        low.state.pop(("flag", low.frame.number, "continued"), None)

    run_sequence(low, [partial(once, k) for k in range(len(items))], ("returned", "broke"))
    if not low.dead and low.exits(("returned", "broke")) is not True:
        iterators.moved(low, since)  # what has grown by now would be gone on with


def _reads_buffers(iterable: Abstract) -> bool:
    """Whether items are read of an array that is written: each is read when it is its turn."""
    return isinstance(iterable, ArrayRef) or any(map(_reads_buffers, parts(iterable)))


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
        case ArrayRef():
            count = containers.length(low, iterable)
            return count.value if isinstance(count, Static) else None
        case Value(type=TupleType(items=kinds)):
            return len(kinds)
        case Value(type=Array(dims=(int() as first, *_))):
            return first
        case Value():
            return None
        case ListRef():
            return count_of(low.contents(iterable))
    items = containers.items_of(low, iterable)
    return None if items is None else len(items)


def _unrolls(low: Lowering, iterable: Abstract, wanted: bool) -> bool:
    """Whether a loop is better unrolled: in rules, and where a result of known length is wanted."""
    if not (low.internal or low.session.unrolls or wanted):
        return False
    count = _known_count(low, iterable)
    return count is not None and count <= _UNROLL


def _loops(low: Lowering, iterable: Abstract, only: bool) -> bool:
    """Whether the items of an iterable have a common form at run time.

    ``only``: there is no other way, how many there are is not known.
    """
    match iterable:
        case RangeRef() | ArrayRef():
            return True
        case Zip(parts=parts):
            known = [containers.items_of(low, p) for p in parts if not isinstance(p, RangeRef)]
            return all(_loops(low, p, only) for p in parts) and bool(parts) and known != [()]
        case Enumerate(part=part) | Reversed(part=part):
            return _loops(low, part, only)
        case TupleRef(items=items):
            return _alike(items, only)
        case ListRef():
            contents = low.contents(iterable)
            return _alike(contents.items, only) if isinstance(contents, Items) else True
        case DictRef():
            return isinstance(low.contents(iterable), Held)
        case DictView(ref=ref):
            return isinstance(low.contents(ref), Held)
        case Static(value=known):
            return isinstance(known, range)
        case Value(type=TupleType()):
            return False
        case Value(type=Array(dims=())):
            low.refuse(*refusal("iteration", type="an array without axes"))
        case Value():
            return True
    return False


def _alike(items: tuple[Abstract, ...], only: bool) -> bool:
    """Whether items are of one kind; numbers alone are better as a loop than unrolled."""
    if not items or not all(map(is_leaf, items)):
        return False
    kinds = [leaf_type(i) for i in items]
    joined = join_all(tuple(kinds))
    if joined == OBJECT or not all(can_join(joined, k) for k in kinds):
        return False
    if only:
        return True
    return (
        len(items) > 1
        and joined != UNKNOWN
        and not any(isinstance(k, (Array, Unknown, Opaque)) for k in kinds)
    )


def _names_in(target: Any) -> Names:
    match target:
        case gast.Name(id=name):
            return str(name)
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            starred = any(isinstance(e, gast.Starred) for e in elts)
            return "" if starred else tuple(map(_names_in, elts))
    return ""


def _names_of_parts(names: Names, count: int) -> tuple[Names, ...]:
    """What the parts of an item are called; they have no names where it has one as a whole."""
    return names if isinstance(names, tuple) and len(names) == count else ("",) * count


class _Streams:
    """The streams of a loop over an iterable, and the abstract item they make up."""

    def __init__(self, low: Lowering) -> None:
        self.low = low
        self.streams: list[Stream] = []
        self.targets: list[Value] = []

    def _target(self, stream: Stream, kind: Type, names: Names) -> Value:
        value = Value(names if isinstance(names, str) else "", kind)
        self.streams.append(stream)
        self.targets.append(value)
        return value

    def open(self, iterable: Abstract, names: Names, backward: bool = False) -> Abstract:
        """The item, or a part of one."""
        low = self.low
        apply = low.builder.apply
        match iterable:
            case RangeRef(start=start, stop=stop, step=step):
                if backward:
                    start, stop, step = self._reversed(start, stop, step)
                return self._target(Range(start, stop, step), INT, names)
            case Static(value=range() as known):
                ends = (known.start, known.stop, known.step)
                return self.open(RangeRef(*map(Literal, ends)), names, backward)
            case Zip(parts=parts):
                each = _names_of_parts(names, len(parts))
                return TupleRef(tuple(map(self.open, parts, each)))
            case Enumerate(part=part, start=start_):
                first = low.atom(start_)
                count = low.atom(containers.length(low, self._first(part)))
                stop = (
                    count
                    if isinstance(first, Literal) and first.value == 0
                    else apply(operator.add, first, count)
                )
                counter, rest = _names_of_parts(names, 2)
                number = self._target(Range(first, stop, Literal(1)), INT, counter)
                return TupleRef((number, self.open(part, rest)))
            case Reversed(part=part):
                return self.open(part, names, backward=True)
            case ListRef():
                contents = low.contents(iterable)
                if isinstance(contents, Held):
                    kind = contents.value.type
                    inner = kind.item if isinstance(kind, ListType) else UNKNOWN
                    item = self._target(ItemStream(contents.value, backward), inner, names)
                    arrays.handed_on(low, item, (contents.value,))
                    return containers.wrap(low, item, element=True)
                assert isinstance(contents, Items)
                return self._display(contents.items, names, backward)
            case TupleRef(items=items):
                return self._display(items, names, backward)
            case DictRef():
                return self.open(containers.keys_of(low, iterable), names)
            case ArrayRef(place=place, path=path):
                # the items are those of the moment: a write in the loop changes them
                index = self._position(low.atom(containers.length(low, iterable)), backward)
                return ArrayRef(place, (*path, View(operator.getitem, (index,))))
            case DictView():
                return self.open(iterators.shown(low, iterable), names)
            case Value():
                return self._array(iterable, names, backward)
        low.refuse(*refusal("iteration", type="this object"))

    def _position(self, count: Atom, backward: bool) -> Value:
        bounds: tuple[Atom, Atom, Atom] = (Literal(0), count, Literal(1))
        if backward:
            bounds = self._reversed(*bounds)
        index = Value("", INT)
        self.streams.append(Range(*bounds))
        self.targets.append(index)
        return index

    def _first(self, part: Abstract) -> Abstract:
        while isinstance(part, Zip) and part.parts:
            part = part.parts[0]
        return part.part if isinstance(part, (Reversed, Enumerate)) else part

    def _display(self, items: tuple[Abstract, ...], names: Names, backward: bool) -> Abstract:
        low = self.low
        atoms = tuple(map(low.atom, items))
        kind = join_all(tuple(map(atom_type, atoms)))
        known = literal_values(atoms)
        sequence: Atom = (
            low.builder.apply_typed(make_list, atoms, ListType(kind))
            if known is None
            else Literal(known)
        )
        return self._target(ItemStream(sequence, backward), kind, names)

    def _array(self, value: Value, names: Names, backward: bool) -> Abstract:
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
            if value not in session.importer.lists:
                made = session.prelude.apply(np.ndarray.tolist, value, hint=f"{value.hint}_list")
                session.importer.lists[value] = made
            listed = session.importer.lists[value]
            return self._target(ItemStream(listed, backward), listed.type.item, names)
        if isinstance(kind, ListType):
            return self._target(ItemStream(value, backward), kind.item, names)
        if isinstance(kind, Array) and kind.dims is not None:
            inner: Type = low.builder.typed(operator.getitem, (value, Literal(0)))
        elif isinstance(kind, Array):
            inner = UNKNOWN
        else:
            inner = UNKNOWN if isinstance(kind, Unknown) else OBJECT
        if isinstance(kind, NumPyScalar):
            low.refuse(*refusal("iteration", type="a number"))
        item = self._target(ItemStream(value, backward), inner, names)
        arrays.handed_on(low, item, (value,))
        return item

    def _reversed(self, start: Atom, stop: Atom, step: Atom) -> tuple[Atom, Atom, Atom]:
        known = literal_values((start, stop, step))
        if known is not None:
            back = range(*known)[::-1]
            return Literal(back.start), Literal(back.stop), Literal(back.step)
        return reversed_range(self.low, start, stop, step)


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
