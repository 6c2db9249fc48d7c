"""Where paths meet: one abstract value for several.

At the end of an ``if`` each branch has a state of its own; around a loop, the state before it and
the state after an iteration.  What is equal on all paths stays as it is.  Numbers and arrays that
differ become one run-time value, which the paths hand over (``leaf`` makes it).  Containers of one
structure merge item by item, lists of different lengths become run-time lists.  What has no common
form, such as two different functions, is poisoned: only reading it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from srcad.frontend import arrays
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    Closure,
    Cursor,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    IteratorRef,
    Lazy,
    ListRef,
    MaybeUnbound,
    Members,
    Method,
    ObjectRef,
    Partial,
    Poison,
    RangeRef,
    SetRef,
    SliceRef,
    Static,
    Transformed,
    TupleRef,
    parts,
    references,
    references_from,
    same_atom,
    same_steps,
    with_parts,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import LEFT, Key, Lowering, Region, State, is_leaf
from srcad.ir import Atom, Literal, Value, View
from srcad.ir.core import make_dict, make_list, same_literal
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    NONE,
    NOTHING,
    UNKNOWN,
    Array,
    DictType,
    ListType,
    Optional,
    TupleType,
    Type,
    can_join,
    join_all,
)
from srcad.ir.walk import map_path

Leaf = Callable[[str, list[Atom | None], Type], Value]
"""Makes the value that paths hand over: hint, the atom of each path (None: no value), type."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop where what an iteration starts with and what it ends with meet.

    What an iteration binds before it reads it does not count: the next one binds it anew.
    """

    site: Any
    carried: Collection[Key]
    outer: Collection[Key]
    """What there is around the loop."""

    def sharing(self, low: Lowering, state: State, place: int) -> frozenset[Any] | None:
        """Whether something else in a state may refer to a place: as for a ``Merger``."""

        def lookup(key: Key) -> Any:
            found = state.get(key)
            return low.session.initial.get(key[1]) if found is None and key[0] == "place" else found

        visited = {key[1] for key in self.carried if key[0] == "place"}
        own = references_from(self.carried, place, lookup, visited)
        others = [k for k in self.outer if k not in self.carried and k[0] != "place"]
        if self.released(low):  # it lets go of the others, and is not asked again
            return frozenset() if own > 1 else None
        shared = own > 1 or references_from(others, place, lookup, visited) > 0
        return frozenset({self.site}) if shared else None

    def released(self, low: Lowering) -> bool:
        """Whether it lets go of other names for the arrays it hands on."""
        return self.site in low.session.released


@dataclass(eq=False)
class Merger:
    """Merges values of several paths.

    ``force`` hands over run-time values even where they are equal (the path they come from is a
    block, and they may be defined in it); ``force_constants`` does so for known numbers too.
    """

    low: Lowering
    sides: list[Region]
    leaf: Leaf
    force: bool = False
    force_constants: bool = False
    again: bool = False
    """Whether a side is an attempt that will be discarded: its places do not outlive it."""
    renewed: Container[int] = ()
    """Places that stand for something else where paths have met: what they are now is copied."""
    loop: Loop | None = None
    """The loop that hands the values on, if it is one."""
    site: Any = None
    """What stands for the statement after which paths meet."""
    lets_go: bool = False
    """Whether arrays that differ are let go of: nothing reads them where paths have met."""
    spent: set[int] = field(default_factory=set)
    """Places that nothing refers to any more: what they held is in a place made here."""

    def atom(self, side: int, value: Abstract) -> Atom:
        """The run-time object of a value at the end of one path."""
        with self.low.inside(self.sides[side]):
            return self.low.atom(value)

    def merge(self, values: list[Any], hint: str) -> Any:
        """The value that stands for all; None marks a path on which there is none."""
        narrowed = self.low.session.narrowed
        origins = [narrowed.get(v, v) if isinstance(v, Value) else v for v in values]
        if any(v is not values[0] for v in values) and all(v is origins[0] for v in origins):
            values = origins
        present = [v for v in values if v is not None]
        first = present[0]
        if any(isinstance(v, MaybeUnbound) for v in present) or len(present) < len(values):
            inner = [v.value if isinstance(v, MaybeUnbound) else v for v in values]
            bound = [None if v is None or _is_nothing(v) else v for v in inner]
            inner = bound if any(v is not None for v in bound) else inner
            if all(isinstance(v, MaybeUnbound) and v is first for v in values) and not self.force:
                return first
            merged = self._present(inner, hint)
            return merged if isinstance(merged, Poison) else MaybeUnbound(hint, merged)
        return self._present(values, hint)

    def _present(self, values: list[Any], hint: str) -> Any:
        present = [v for v in values if v is not None]
        first = present[0]
        partial = len(present) < len(values)
        for value in present:
            if isinstance(value, Poison):
                return self._still_poison(value)
        if all(map(is_leaf, present)):
            keep = not self.force_constants if isinstance(first, Static) else not self.force
            if keep and not partial and all(_same(first, v) for v in present[1:]):
                return first
            return self._leaf(values, hint)
        if any(isinstance(v, ArrayRef) for v in present):
            return self._arrays(values, hint)
        if not self.force and not partial and all(v == first for v in present[1:]):
            return first
        match first:
            case Static(value=known) if all(
                isinstance(v, Static) and v.value is known for v in present
            ):
                return first
            case TupleRef(items=items, cls=cls) if all(
                isinstance(v, TupleRef) and v.cls is cls and len(v.items) == len(items)
                for v in present
            ):
                return TupleRef(self._each(values, "items", len(items), hint), cls)
            case ListRef() | DictRef() | ObjectRef() | SetRef() | IteratorRef() if all(
                type(v) is type(first) for v in present
            ):
                known = not partial or ("place", first.place, "") in self.low.state
                kept = (known or not self.again) and first.place not in self.renewed
                if kept and all(v == first for v in present):
                    return first
                if isinstance(first, ObjectRef) and any(v.cls is not first.cls for v in present):
                    return self._poison(hint)
                return self._places(values, hint)
            case Method(function=function) if all(isinstance(v, Method) for v in present):
                if all(v.function is function or _same(v.function, function) for v in present):
                    receivers = [None if v is None else v.receiver for v in values]
                    return Method(function, self._present(receivers, hint))
            case Closure(node=node, frame=frame) if all(
                isinstance(v, Closure) and v.node is node and v.frame is frame for v in present
            ):
                defaults = self._each(values, "defaults", len(first.defaults), hint)
                return Closure(first.name, node, frame, defaults, first.keyword_defaults)
            case RangeRef() if all(isinstance(v, RangeRef) for v in present) and not partial:
                atoms = [[getattr(v, part) for v in values] for part in ("start", "stop", "step")]
                merged = [
                    self._leaf([Static(a.value) if isinstance(a, Literal) else a for a in p], hint)
                    for p in atoms
                ]
                bounds = [p for p in merged if isinstance(p, Value)]
                return RangeRef(*bounds) if len(bounds) == len(merged) else self._poison(hint)
            case SliceRef() if all(isinstance(v, SliceRef) for v in present) and not partial:
                names = ("start", "stop", "step")
                return SliceRef(
                    *(self._present([getattr(v, n) for v in values], hint) for n in names)
                )
        if _is_maybe_there(present):
            return self._handed_over(values, hint)
        if self.low.internal and not partial and all(map(self._is_untyped, present)):
            # in a rule, what an unknown array becomes as a list is as unknown as itself
            return self.leaf(hint, [self._peek(k, v) for k, v in enumerate(values)], UNKNOWN)
        if any(map(_is_function, present)):
            return Poison(*refusal("function choice"))
        return self._poison(hint)

    def _arrays(self, values: list[Any], hint: str) -> Any:
        """Buffers and views of them: one path in one place, or whole arrays of several places."""
        present = [v for v in values if v is not None]
        first = present[0]
        for side, value in enumerate(values):
            if isinstance(value, Value) and isinstance(value.type, Array):
                with self.low.inside(self.sides[side]):
                    arrays.become_buffers(self.low, value)
        whole = all(isinstance(v, ArrayRef) for v in present)
        if not whole and not all(isinstance(v, ArrayRef) or is_leaf(v) for v in present):
            return self._poison(hint)
        if whole and all(
            v.place == first.place and same_steps(v.path, first.path) for v in present
        ):
            known = ("place", first.place, "") in self.low.state
            if known or not self.again:
                return ArrayRef(first.place, self._path([v and v.path for v in values]))
        if whole and not any(v.path for v in present):
            return self._places(values, hint)
        return self._let_go(hint) if self.lets_go else self._handed_over(values, hint)

    def _handed_over(self, values: list[Any], hint: str) -> Abstract:
        """One run-time value for several."""
        atoms = [None if v is None else self.handed_over(k, v) for k, v in enumerate(values)]
        return self._joined(atoms, hint)

    def handed_over(self, side: int, value: Abstract) -> Atom:
        """A value at the end of one path, of which nothing is changed from then on."""
        with self.low.inside(self.sides[side]):
            before = set(self.low.session.frozen)
            self.low.freeze(value)
            for place in self.low.session.frozen - before:
                self._freeze(place, self._sites)
            return self.low.atom(value)

    def _path(self, paths: list[Any]) -> tuple[View, ...]:
        """Paths of the same steps, their indices merged."""
        first = next(p for p in paths if p is not None)
        made = []
        for k, step in enumerate(first):
            args: list[Any] = []
            for j in range(len(step.args)):
                atoms = [None if p is None else p[k].args[j] for p in paths]
                args.append(self._index(atoms))
            made.append(View(step.callee, tuple(args), step.keywords))
        return tuple(made)

    def _index(self, atoms: list[Atom | None]) -> Atom:
        kind = join_all(tuple(atom_type(a) for a in atoms if a is not None))
        first, *rest = (a for a in atoms if a is not None)
        # an index that one path alone has may be made in it
        fixed = isinstance(first, Literal) or not (self.force or None in atoms)
        if fixed and all(same_atom(a, first) for a in rest):
            return first
        return self.leaf("", atoms, kind)

    def _is_untyped(self, value: Any) -> bool:
        if isinstance(value, Value):
            return value.type == UNKNOWN
        if not isinstance(value, ListRef):
            return False
        key = ("place", value.place, "")
        held = [s.state[key] for s in self.sides if key in s.state]
        return all(isinstance(c, Held) and c.value.type == UNKNOWN for c in held)

    def _peek(self, side: int, value: Abstract) -> Atom:
        with self.low.inside(self.sides[side]):
            return self.low.peek(value)

    def _each(self, values: list[Any], part: str, count: int, hint: str) -> tuple[Any, ...]:
        return tuple(
            self._present([None if v is None else getattr(v, part)[k] for v in values], hint)
            for k in range(count)
        )

    def _leaf(self, values: list[Any], hint: str) -> Abstract:
        atoms: list[Atom | None] = [
            None if v is None else v if isinstance(v, Value) else Literal(v.value) for v in values
        ]
        return self._joined(atoms, hint)

    def _joined(self, atoms: list[Atom | None], hint: str) -> Abstract:
        kinds = [atom_type(a) for a in atoms if a is not None]
        kind = join_all(tuple(kinds))
        if not all(can_join(kind, k) for k in kinds):
            names = list(dict.fromkeys(map(str, kinds)))
            what = f"'{hint}'" if hint else "a value"
            return Poison(*refusal("kind change", name=what, one=names[0], other=names[-1]))
        return self.leaf(hint, atoms, kind)

    def _let_go(self, hint: str) -> Poison:
        return Poison(
            f"which array {hint or 'this'} is depends on data: it differs between paths",
            "use it inside each branch",
            self._sites,
        )

    def _still_poison(self, value: Poison) -> Poison:
        """What has been let go of would be known if the paths stayed apart here too."""
        if not value.releases or self.loop is not None:
            return value
        return Poison(value.message, value.hint, value.releases | self._sites)

    def _poison(self, hint: str) -> Poison:
        return Poison(
            f"which object {hint or 'this'} is depends on data: it differs between paths",
            "use it inside each branch, or give it one structure on all paths",
        )

    def _places(self, values: list[Any], hint: str) -> Any:
        """One place for several; it can be changed if nothing else refers to any of them."""
        contents = [
            None if v is None else self.low.held_in(self.sides[k].state, v.place)
            for k, v in enumerate(values)
        ]
        merged = self.merge_contents(contents, hint)
        if isinstance(merged, Poison):
            return merged
        first = next(v for v in values if v is not None)
        ref: Any = (
            ArrayRef(self.low.session.new_place())
            if isinstance(first, ArrayRef)
            else type(first)(
                self.low.session.new_place(), *([first.cls] if isinstance(first, ObjectRef) else [])
            )
        )
        self.low.restate(ref, merged)
        sources = [(self.sides[k], v) for k, v in enumerate(values) if v is not None]
        shared = [self._sharing(side.state, v) for side, v in sources]
        if any(s is not None for s in shared):
            if self.lets_go and isinstance(ref, ArrayRef):
                return self._let_go(hint)
            loops = [s for s in shared if s is not None]
            common = frozenset[Any]() if frozenset() in loops else frozenset[Any]().union(*loops)
            for place in (ref.place, *(v.place for _, v in sources)):
                self._freeze(place, common)
        else:
            self.spent.update(v.place for _, v in sources)
        return ref

    @property
    def _sites(self) -> frozenset[Any]:
        """Where paths meet, if that can be told from other places."""
        return frozenset() if self.site is None else frozenset({self.site})

    def _freeze(self, place: int, loops: frozenset[Any]) -> None:
        self.low.session.frozen.add(place)
        self.low.session.releasable[place] = loops

    def _sharing(self, state: State, ref: Any) -> frozenset[Any] | None:
        """Whether something else may refer to a place: the loops that could let go of that."""
        session = self.low.session
        if self.low.is_shared(ref.place):
            return session.releasable.get(ref.place, frozenset())
        if self.loop is None or not isinstance(ref, ArrayRef):
            return self._sites if references(state, ref.place) > 1 else None
        return self.loop.sharing(self.low, state, ref.place)

    def merge_contents(self, contents: list[Any], hint: str, name: str = "") -> Any:
        """What a place holds, of what it holds on each path; ``name`` is that of the container."""
        present = [c for c in contents if c is not None]
        first = present[0]
        for held in present:
            if isinstance(held, Poison):
                return held
        if not self.force and len(present) == len(contents) and all(c is first for c in present):
            return first
        match first:
            case Members() if all(c == first for c in present):
                return first
            case Cursor(source=source, position=position) if all(
                isinstance(c, Cursor) and c.source is source and c.position == position
                for c in present
            ):
                # made in a block, it may run over what only that block has
                return self._poison(hint) if self.force and not _is_spent(first) else first
            case Items(items=items) if all(
                isinstance(c, Items) and len(c.items) == len(items) for c in present
            ):
                return Items(self._each(contents, "items", len(items), hint))
            case Entries(keys=keys) if all(
                isinstance(c, Entries) and c.keys == keys for c in present
            ):
                return Entries(keys, self._each(contents, "values", len(keys), hint))
            case Fields(origin=origin) if all(
                isinstance(c, Fields) and c.origin is origin for c in present
            ):
                names = tuple(n for n in first.names if all(n in c.names for c in present))
                if origin is None and any(c.names != names for c in present):
                    return self._poison(hint)
                values = tuple(
                    self._present([None if c is None else c.get(n) for c in contents], n)
                    for n in names
                )
                return Fields(names, values, origin)
        if all(isinstance(c, (Items, Entries, Held)) for c in present):
            atoms = [
                None if c is None else self._contents_atom(k, c) for k, c in enumerate(contents)
            ]
            kinds = tuple(as_dynamic(atom_type(a)) for a in atoms if a is not None)
            kind = join_all(kinds)
            if not all(can_join(kind, k) for k in kinds):
                return self._poison(hint)
            borrowed = {c.borrowed for c in present if isinstance(c, Held)} - {""}
            counts = {count_of(c) for c in present}
            count = counts.pop() if len(counts) == 1 else None
            why = sorted(borrowed)[-1] if borrowed else ""
            return Held(self.leaf(name or hint, atoms, kind), why, count)
        return self._poison(hint)

    def _contents_atom(self, side: int, contents: Any) -> Atom:
        if isinstance(contents, Held):
            return contents.value
        with self.low.inside(self.sides[side]):
            low = self.low
            if isinstance(contents, Items):
                return low.builder.apply(make_list, *map(low.atom, contents.items))
            pairs = zip(contents.keys, contents.values, strict=True)
            return low.builder.apply(
                make_dict, *(a for k, v in pairs for a in (Literal(k), low.atom(v)))
            )


def _is_spent(cursor: Cursor) -> bool:
    return isinstance(cursor.source, TupleRef) and not cursor.source.items[cursor.position :]


def _is_maybe_there(present: list[Any]) -> bool:
    """Whether values are a container on some paths, None or what may be one on others."""
    held = (TupleRef, ListRef, DictRef)
    kinds = {type(v) for v in present if isinstance(v, held)}
    return len(kinds) == 1 and all(
        v.value is None
        if isinstance(v, Static)
        else isinstance(v, held) or (isinstance(v, Value) and _is_none_or_container(v.type))
        for v in present
    )


def is_of_containers(kind: Type) -> bool:
    """Whether values of a type are containers at run time, or may be."""
    return isinstance(kind, (Optional, TupleType, ListType, DictType))


def _is_none_or_container(kind: Type) -> bool:
    return kind == NONE or is_of_containers(kind)


def _is_nothing(value: Any) -> bool:
    """Whether this stands for a variable that no iteration has bound yet."""
    return isinstance(value, Value) and value.type == NOTHING


def _is_function(value: Any) -> bool:
    if isinstance(value, Static):
        return callable(value.value)
    return isinstance(value, (Closure, Method, Partial, Transformed))


def count_of(contents: Any) -> int | None:
    """How many items a list has, if that is known."""
    match contents:
        case Items(items=items):
            return len(items)
        case Held(count=count):
            known: int | None = count
            return known
    return None


def as_dynamic(kind: Type) -> Type:
    """The type of a run-time list for that of a display."""
    if isinstance(kind, TupleType) and kind.cls is list:
        return ListType(join_all(kind.items))
    return kind


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Static) and isinstance(b, Static):
        return same_literal(a.value, b.value)
    return a is b


def relocated(value: Any, places: Mapping[int, int | None]) -> Any:
    """An abstract value or contents with the places of arrays replaced; None: it is in none."""
    match value:
        case ArrayRef(place=place, path=path) if place in places:
            moved = places[place]
            return LEFT if moved is None else ArrayRef(moved, path)
        case TupleRef() | Items() | Entries() | Fields():
            return with_parts(value, (relocated(p, places) for p in parts(value)))
        case MaybeUnbound(name=name, value=inner):
            found = relocated(inner, places)
            return found if isinstance(found, Poison) else MaybeUnbound(name, found, value.there)
    return LEFT if any(relocated(p, places) is not p for p in parts(value)) else value


def substitute(value: Any, mapping: dict[Value, Any]) -> Any:
    """An abstract value or contents with run-time values replaced."""
    match value:
        case Value():
            return mapping.get(value, value)
        case TupleRef() | Items() | Entries() | Fields():
            return with_parts(value, (substitute(p, mapping) for p in parts(value)))
        case MaybeUnbound(name=name, value=inner, there=there):
            there = None if there is None else mapping.get(there, there)
            return MaybeUnbound(name, substitute(inner, mapping), there)
        case ArrayRef(place=place, path=path):
            return ArrayRef(place, map_path(path, lambda a: substitute(a, mapping)))
        case Held(value=held, borrowed=borrowed):
            return Held(mapping.get(held, held), borrowed, value.count)
        case Method(function=function, receiver=receiver):
            return Method(substitute(function, mapping), substitute(receiver, mapping))
        case Closure(
            name=name, node=node, frame=frame, defaults=defaults, keyword_defaults=keyword
        ):
            return Closure(
                name,
                node,
                frame,
                tuple(substitute(d, mapping) for d in defaults),
                tuple(None if d is None else substitute(d, mapping) for d in keyword),
            )
        case RangeRef(start=start, stop=stop, step=step):
            bounds = (start, stop, step)
            return RangeRef(*(mapping.get(a, a) if isinstance(a, Value) else a for a in bounds))
        case SliceRef(start=start, stop=stop, step=step):
            return SliceRef(*(substitute(p, mapping) for p in (start, stop, step)))
        case Lazy(make=make, parts=given, node=node, frame=owner):
            return Lazy(make, tuple(substitute(p, mapping) for p in given), node, owner)
    return value
