"""The cursor of lowering: where code goes, what names mean there, and how regions are entered.

A ``Lowering`` runs a function on abstract values.  Its *state* maps keys to what they hold:
variables ``("variable", frame, name)``, the contents of lists, dicts and objects ``("place",
number)``, and the flags that early exits set ``("flag", frame, name)``.  A region (a branch, a loop
body) is lowered on a copy of the state, into a builder of its own; ``merge`` brings the copies
together.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from srcad import runtime
from srcad.errors import Place, SourceError, UnsupportedSyntax
from srcad.frontend.abstract import (
    FALSE,
    SCALARS,
    Abstract,
    AccumulatorRef,
    ArrayRef,
    Closure,
    Contents,
    Cursor,
    DictRef,
    DictView,
    Entries,
    Enumerate,
    Fields,
    Held,
    Intrinsic,
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
    Reversed,
    SetRef,
    SliceRef,
    Static,
    SuperRef,
    Transformed,
    TupleRef,
    Zip,
    first_leaf,
    parts,
)
from srcad.frontend.fence import refusal
from srcad.frontend.scopes import Scope
from srcad.frontend.source import FunctionSource
from srcad.frontend.stand_ins import STANDS_FOR
from srcad.ir import Atom, FunctionRef, Literal, Loc, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import (
    check_bound,
    literal_values,
    make_dict,
    make_list,
    make_tuple,
    raise_error,
)
from srcad.ir.infer import atom_type
from srcad.ir.places import place_of
from srcad.ir.types import OBJECT, Number, TupleType, Type

if TYPE_CHECKING:
    from srcad.frontend.live import Importer

Key = tuple[str, int, str]
State = dict[Key, Any]

EXITS = ("returned", "broke", "continued")
RETURN = "<return>"
"""The variable that holds what a function returns, where it has returned."""

_PACKAGE = str(Path(__file__).parent.parent) + os.sep


class NeedsExact(Exception):
    """The fast view of NumPy scalars as Python floats does not fit this function."""


LEFT = Poison(
    "which object this is depends on data: it differs between iterations",
    "use it inside the iteration that binds it, or bind it before the loop",
)
"""What is held by a place whose contents have gone to another one."""


class NeedsBuffer(Exception):
    """Arrays made by these expressions are written: lower again with their memory as places."""

    def __init__(self, sites: frozenset[Any]) -> None:
        super().__init__("an array is written")
        self.sites = sites


class NeedsRelease(Exception):
    """An array is written of which these statements have made one of several: lower again.

    A loop then lets go of what else refers to the arrays it hands on; an ``if`` takes what follows
    it into its branches, and lets go of the names that are different arrays at their ends.
    """

    def __init__(self, sites: frozenset[Any]) -> None:
        super().__init__("an array that may be one of several is written")
        self.sites = sites


class NeedsUnroll(UnsupportedSyntax):
    """Only an unrolled loop can do this; outside of one it is the error that the user sees."""


class Unreachable(Exception):
    """The rest of this path is never reached: what was just lowered always raises."""


class Library(Protocol):
    """What lowering has to know of the functions it does not look into."""

    def is_known(self, function: object) -> bool:
        """Whether a function is a primitive: it has a rule, or a declared zero derivative."""

    def is_effect(self, function: object) -> bool:
        """Whether a call has to stay in order and happen once."""

    def is_opaque(self, function: object) -> bool:
        """Whether the user asked for a function to be run as it is."""

    def expand(self, low: Lowering, function: object, args: Any, keywords: Any) -> Any:
        """The result of calling a transform or a derivative; NotImplemented for other functions."""


@dataclass(eq=False)
class Frame:
    """One activation of a function: where its variables live and where its names are looked up."""

    number: int
    name: str
    source: FunctionSource
    scope: Scope
    globals: dict[str, Any]
    parent: Frame | None
    cells: dict[str, Any] = field(default_factory=dict)
    caller: Loc | None = None
    """Where it was called; None in the outermost function."""
    keeps: bool = False
    """Whether a closure made here may outlive the activation."""
    finals: int = 0
    """How many ``finally`` blocks still run when it is left here."""


@dataclass(eq=False)
class Region:
    """A lowered region: its operations and the state at its end."""

    builder: Builder
    state: State
    dead: bool


@dataclass(eq=False)
class Session:
    """What is common to all of one lowered function."""

    library: Library
    exact: bool
    prelude: Builder
    importer: Importer
    """Brings live objects in."""
    root: Builder = field(init=False)
    """The prelude of the whole function: ``prelude`` may be that of a part, for a while."""
    unrolls: bool = False
    """Loops over few known items are written out: in the bodies of rules, where items are axes."""
    unrollable: int = 0
    """How many of the loops around the cursor could be unrolled."""
    short: int = 0
    """How many of those have so few items that they will be, if asked."""
    frames: int = 0
    places: int = 0
    frozen: set[int] = field(default_factory=set)
    """Places that something else may refer to as well: they are read, but not changed any more."""
    foreign: dict[int, tuple[str, str] | None] = field(default_factory=dict)
    """Places of objects that live on outside of the function: never changed, on no attempt.

    With the kind of refusal of a change, and the name; None for an argument with a second name.
    """
    closed: set[int] = field(default_factory=set)
    """Places outside of the function that is being differentiated: it does not change them."""
    container_names: dict[int, str] = field(default_factory=dict)
    """What the user calls the containers in places."""
    initial: dict[int, Contents] = field(default_factory=dict)
    """What the places of imported containers hold at first."""
    identities: dict[int, Value | int] = field(default_factory=dict)
    """What a place is at run time: an object from outside, or the place that it is a copy of."""
    written: dict[Value | int, None] = field(default_factory=dict)
    """Those of them that the function changes."""
    read: set[int] = field(default_factory=set)
    """The places that have been looked into."""
    active: list[tuple[Any, Any]] = field(default_factory=list)
    """The calls being inlined: (function, signature)."""
    nested_calls: int = 0
    """How many calls of functions within themselves have been inlined so far."""
    outlined: dict[Any, Any] = field(default_factory=dict)
    recursive: set[Any] = field(default_factory=set)
    calls: dict[FunctionRef, None] = field(default_factory=dict)
    narrowed: dict[Value, Value] = field(default_factory=dict)
    """Values that a test has shown not to be None, and what they are copies of."""
    buffers: frozenset[Any] = frozenset()
    """The expressions that make arrays that are written."""
    released: frozenset[Any] = frozenset()
    """The loops and branches that let go of names: see ``NeedsRelease``."""
    kept: frozenset[Any] = frozenset()
    """Those for which that was of no use."""
    left: set[int] = field(default_factory=set)
    """Places whose contents have gone to another one, whoever may still refer to them."""
    releasable: dict[int, frozenset[Any]] = field(default_factory=dict)
    """Frozen places, and the loops and branches that would leave them to one name."""
    copies: int = 1
    """How often what is being lowered is there, in branches that took it along."""
    made: dict[Value, Any] = field(default_factory=dict)
    """Where the memory of arrays comes from: ``arrays.Origin``."""
    collected: dict[Value, Any] = field(default_factory=dict)
    """Lists of arrays that a loop over known items has made, and what stands for the loop."""
    owned: list[Value] = field(default_factory=list)
    """The arguments that are written, and so are copied at first."""
    contiguous: set[int] = field(default_factory=set)
    """Places of arrays in C order."""
    leaves: set[Value] = field(default_factory=set)
    """What derivatives are taken by in this lowering."""
    given: set[Value] = field(default_factory=set)
    """The arguments of the whole function, which are none of them."""
    inlined: list[Any] = field(default_factory=list)
    """The live functions whose source went into this one, for the cache key."""

    def __post_init__(self) -> None:
        self.root = self.prelude

    def new_frame(self) -> int:
        """A fresh frame number."""
        self.frames += 1
        return self.frames

    def new_place(self) -> int:
        """A fresh place."""
        self.places += 1
        return self.places


@dataclass(slots=True, eq=False)
class Watch:
    """What is certain where the body of a ``try`` raises what its handlers may catch."""

    counts: Callable[[Op], bool]
    """Whether an operation may raise such an exception."""
    states: list[State] = field(default_factory=list)
    """The states in which one may be raised."""


class Lowering:
    """The cursor; see the module."""

    def __init__(self, session: Session, builder: Builder, frame: Frame) -> None:
        self.session = session
        self.builder = builder
        self.frame = frame
        self.state: State = {}
        self.dead = False
        """Whether this point cannot be reached: a statement before it always raises."""
        self.loops: list[Any] = []
        self.nodes: list[Any] = []
        self.expression: Any = None
        """The expression being evaluated."""
        self.watches: list[Watch] = []
        """The ``try`` blocks around the cursor."""
        self.ends: list[State] = []
        """The states at the ends of regions in what Python does bit by bit."""

    # ---- places in the source

    @property
    def node(self) -> Any:
        """The syntax node being lowered."""
        return self.nodes[-1] if self.nodes else self.frame.source.tree

    def statement(self, node: Any) -> _Statement:
        """Operations made meanwhile belong to this statement."""
        return _Statement(self, node)

    def loc(self, node: Any) -> Loc:
        """Where a node stands."""
        source = self.frame.source
        line = source.lines[node.lineno - 1].strip() if node.lineno <= len(source.lines) else ""
        return Loc(source.file, node.lineno, node.col_offset, line, caller=self.frame.caller)

    def site(self) -> Any:
        """What stands for the expression being evaluated, in every attempt to lower it."""
        return self._site_of(self.expression)

    def statement_site(self) -> Any:
        """What stands for the statement being lowered, in every attempt to lower it."""
        place = self._site_of(self.node)
        return None if place is None else ("statement", *place)

    def _site_of(self, node: Any) -> Any:
        if node is None or not hasattr(node, "lineno"):
            return None
        ends = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        return (self.frame.source.file, *ends)

    def place(self, node: Any = None) -> Place | None:
        """Where a node stands, for an error; of srcad's own source, the user's statement."""
        if self.internal:
            return place_of(self.builder.loc)
        node = self.node if node is None else node
        if not hasattr(node, "lineno"):
            return None
        place = self.frame.source.place(node)
        return place and replace(place, caller=place_of(self.frame.caller))

    def refuse(
        self,
        message: str,
        hint: str = "",
        node: Any = None,
        kind: type[SourceError] = UnsupportedSyntax,
    ) -> NoReturn:
        """Raise the error of a place in the user's source."""
        raise kind(self.place(node), message, hint)

    def raise_known(self, error: BaseException) -> NoReturn:
        """The program raises here, whatever its data."""
        self.builder.effect(raise_error, Literal(error))
        raise Unreachable

    # ---- regions

    def region(self, run: Callable[[], None], state: State | None = None) -> Region:
        """Lower ``run`` into a block of its own, on a copy of the state."""
        before = (self.builder, self.state, self.dead)
        self.builder = Builder(before[0])
        self.state = dict(before[1] if state is None else state)
        self.dead = False
        try:
            try:
                run()
            except Unreachable:
                self.dead = True
            if self.watches:
                self.ends.append(self.state)
            return Region(self.builder, self.state, self.dead)
        finally:
            self.builder, self.state, self.dead = before

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Go on lowering at the end of a region."""
        before = (self.builder, self.state, self.dead)
        self.builder, self.state, self.dead = region.builder, region.state, region.dead
        try:
            yield
        except Unreachable:
            self.dead = True
        finally:
            region.state, region.dead = self.state, self.dead
            self.builder, self.state, self.dead = before

    def note(self, op: Op) -> None:
        """Note the state in which an operation may raise."""
        for watch in self.watches:
            if watch.counts(op):
                watch.states.append(dict(self.state))

    @contextmanager
    def bit_by_bit(self) -> Iterator[None]:
        """Lower what Python does in steps: where one may raise, others may have been done."""
        if not self.watches:
            yield
            return
        counts = [len(w.states) for w in self.watches]
        around, self.ends = self.ends, []
        try:
            yield
        finally:
            self.ends.append(dict(self.state))
            for watch, count in zip(self.watches, counts, strict=True):
                if len(watch.states) > count:
                    watch.states += self.ends
            self.ends = [*around, *self.ends]

    # ---- variables and flags

    def variable(self, name: str, frame: Frame | None = None) -> Key:
        """The key of a variable."""
        return ("variable", (frame or self.frame).number, name)

    def flag(self, name: str, frame: Frame | None = None) -> Abstract:
        """The value of an exit flag."""
        found: Abstract = self.state.get(("flag", (frame or self.frame).number, name), FALSE)
        return found

    def set_flag(self, name: str, value: Abstract) -> None:
        """Set an exit flag."""
        self.state[("flag", self.frame.number, name)] = value

    def exits(self, names: tuple[str, ...] = EXITS) -> bool | Atom:
        """Whether one of the exits has been taken: known, or an atom."""
        flags = [self.flag(name) for name in names]
        if any(isinstance(f, Static) and f.value for f in flags):
            return True
        atoms = [f for f in flags if isinstance(f, Value)]
        if not atoms:
            return False
        result: Atom = atoms[0]
        for atom in atoms[1:]:
            result = self.either(result, atom)
        return result

    def either(self, x: Atom, y: Atom) -> Atom:
        """``x or y`` of two flags."""
        if isinstance(x, Literal):
            return x if x.value else y
        if isinstance(y, Literal):
            return y if y.value else x
        return self.builder.apply(operator.or_, x, y)

    def negate(self, x: Atom) -> Atom:
        """``not x`` of a flag."""
        return self.builder.apply(operator.not_, x)

    # ---- contents

    def contents(
        self, ref: ListRef | DictRef | ObjectRef | ArrayRef | SetRef | IteratorRef
    ) -> Contents:
        """What a container holds."""
        self.session.read.add(ref.place)
        held = self.held_in(self.state, ref.place)
        if isinstance(held, Poison):
            self.refuse(held.message, held.hint)
        return held

    def held_in(self, state: State, place: int) -> Contents | Poison:
        """What a place holds in a state."""
        key: Key = ("place", place, "")
        if key not in state:
            # of a place that merging has left behind nothing is known any more
            state[key] = self.session.initial.get(place, LEFT)
        found: Contents | Poison = state[key]
        return found

    def set_contents(
        self, ref: ListRef | DictRef | ObjectRef | SetRef | IteratorRef, contents: Contents
    ) -> None:
        """Change what a container holds."""
        if self.is_shared(ref.place):
            self.refuse_change(ref)
        if ref.place in self.session.identities:
            self.session.written[self.session.identities[ref.place]] = None
        self.restate(ref, contents)

    def restate(
        self,
        ref: ListRef | DictRef | ObjectRef | ArrayRef | SetRef | IteratorRef,
        contents: Contents | Poison,
    ) -> None:
        """Hold what a container holds in another form."""
        self.state[("place", ref.place, "")] = contents

    def is_shared(self, place: int) -> bool:
        """Whether something else may refer to what a place stands for."""
        session = self.session
        return place in session.frozen or place in session.foreign or place in session.closed

    def refuse_change(self, ref: ListRef | DictRef | ObjectRef | SetRef | IteratorRef) -> NoReturn:
        """Refuse to change what something else may refer to."""
        kind, name = self.outside(ref.place) or ("shared container", "")
        self.refuse(*refusal(kind, name=name))

    def require_release(self, sites: frozenset[Any]) -> None:
        """Lower again if loops or branches that have not tried it may let go of names."""
        fresh = sites - self.session.released - self.session.kept
        if fresh:
            raise NeedsRelease(fresh)

    def outside(self, place: int) -> tuple[str, str] | None:
        """How a change of what lives on outside of the function is refused: the kind and a name."""
        foreign = self.session.foreign
        twins = self.session.importer.names_of(place)
        return next((known for twin in twins if (known := foreign.get(twin)) is not None), None)

    def freeze(self, value: Any) -> None:
        """From now on containers in a value may be reached in other ways than by their places."""
        if isinstance(value, (ListRef, DictRef, SetRef, ObjectRef, ArrayRef)):
            if value.place in self.session.frozen:
                return
            self.session.frozen.add(value.place)
            value = self.held_in(self.state, value.place)
        for part in parts(value):
            self.freeze(part)

    def new_list(self, contents: Contents) -> ListRef:
        """A list of its own."""
        ref = ListRef(self.session.new_place())
        self.set_contents(ref, contents)
        return ref

    def new_dict(self, contents: Contents) -> DictRef:
        """A dict of its own."""
        ref = DictRef(self.session.new_place())
        self.set_contents(ref, contents)
        return ref

    def new_object(self, cls: type, contents: Contents) -> ObjectRef:
        """An instance of its own."""
        ref = ObjectRef(self.session.new_place(), cls)
        self.set_contents(ref, contents)
        return ref

    def new_like(self, ref: ListRef | DictRef | ObjectRef, contents: Contents) -> Abstract:
        """A container of its own, of the kind of another."""
        match ref:
            case ListRef():
                return self.new_list(contents)
            case DictRef():
                return self.new_dict(contents)
            case ObjectRef(cls=cls):
                return self.new_object(cls, contents)

    def new_set(self, items: list[Abstract]) -> SetRef:
        """A set of its own."""
        ref = SetRef(self.session.new_place())
        known: dict[Any, None] = {}
        for item in items:
            if not (isinstance(item, Static) and is_leaf(item)):
                self.refuse(*refusal("active set"), kind=NeedsUnroll)
            known.setdefault(item.value)
        self.set_contents(ref, Members(tuple(known)))
        return ref

    def new_iterator(self, source: Abstract, since: Mapping[Key, Any] | None = None) -> IteratorRef:
        """An iterator at its start; ``since``: what must not change before its items are taken."""
        ref = IteratorRef(self.session.new_place())
        self.set_contents(ref, Cursor(source, 0, since or {}))
        return ref

    def cursor(self, ref: IteratorRef) -> Cursor:
        """Where an iterator stands."""
        found = self.held_in(self.state, ref.place)
        if isinstance(found, Poison):  # an iterator moves on: each round of a loop is another
            self.refuse(found.message, found.hint, kind=NeedsUnroll)
        assert isinstance(found, Cursor)
        return found

    # ---- atoms

    def read(self, value: Abstract) -> Abstract:
        """A value for what looks only at its data: a buffer as it is now."""
        if isinstance(value, ArrayRef):
            atom = self.atom(value)
            assert isinstance(atom, Value)
            return atom
        return value

    def peek(self, value: Abstract) -> Atom:
        """The run-time object for what only looks at it: a list stays its owner's."""
        if isinstance(value, (ListRef, DictRef)):
            contents = self.contents(value)
            if isinstance(contents, Held):
                return contents.value
            if isinstance(contents, Items):
                items = map(self.peek, contents.items)
                return self.builder.apply(make_list, *items, hint=self.container_name(value.place))
            if isinstance(contents, Entries):
                return self._display(contents, self.peek)
        if isinstance(value, SetRef):
            contents = self.contents(value)
            assert isinstance(contents, Members)
            return Literal(set(contents.values))
        if isinstance(value, DictView):
            method = getattr(dict, value.kind)
            return self.builder.apply_typed(method, (self.peek(value.ref),), OBJECT)
        if isinstance(value, TupleRef) and value.cls is tuple:
            atoms = tuple(map(self.peek, value.items))
            if any(not isinstance(a, Literal) for a in atoms):
                return self.builder.apply(make_tuple, *atoms)
        return self.atom(value)

    def atom(self, value: Abstract) -> Atom:
        """The run-time object for an abstract one; containers are built by displays."""
        match value:
            case Value():
                return value
            case Static(value=known):
                return Literal(known)
            case MaybeUnbound():
                return self.atom(self.bound(value))
            case ArrayRef(path=path):
                held = self.contents(value)
                assert isinstance(held, Held)
                array: Atom = held.value
                for step in path:
                    array = self.builder.view(step, array)
                return array
            case TupleRef(items=items, cls=cls):
                for item in items:
                    if isinstance(item, (ArrayRef, SetRef)):
                        self.freeze(item)
                atoms = tuple(map(self.atom, items))
                if cls is not tuple:
                    kind = TupleType(tuple(map(atom_type, atoms)), cls)
                    return self.builder.apply_typed(cls, atoms, kind)
                known = literal_values(atoms)
                if known is not None:
                    return Literal(known)
                return self.builder.apply(make_tuple, *atoms)
            case ListRef():
                return self.list_atom(value)
            case DictRef():
                return self.dict_atom(value)
            case SliceRef(start=start, stop=stop, step=step):
                return self.builder.apply(slice, *map(self.atom, (start, stop, step)))
            case RangeRef(start=start, stop=stop, step=step):
                return self.builder.apply(range, start, stop, step)
            case ObjectRef():
                contents = self.contents(value)
                if isinstance(contents, Fields) and contents.origin is not None:
                    return contents.origin.value
                return self.instance_atom(value)
            case Poison(message=message, hint=hint):
                self.refuse(message, hint)
            case SuperRef():
                self.refuse(*refusal("super"))
            case AccumulatorRef():
                raise AssertionError("an adjoint that is added to is used as a value")
            case Closure() | Method() | Partial() | Transformed() | Intrinsic():
                self.refuse(*refusal("local function"), kind=NeedsUnroll)
            case SetRef():
                return self.peek(value)
            case Zip() | Enumerate() | Reversed() | Lazy() | DictView() | IteratorRef():
                self.refuse(*refusal("generator value"), kind=NeedsUnroll)

    def list_atom(self, ref: ListRef) -> Atom:
        """The run-time list; from then on it is shared with whatever got it."""
        made = self.peek(ref)
        self.freeze(ref)
        return made

    def dict_atom(self, ref: DictRef) -> Atom:
        """The run-time dict, shared from then on."""
        made = self.peek(ref)
        self.freeze(ref)
        return made

    def _display(self, contents: Entries, take: Callable[[Abstract], Atom]) -> Atom:
        pairs = zip(contents.keys, contents.values, strict=True)
        return self.builder.apply(make_dict, *(a for k, v in pairs for a in (Literal(k), take(v))))

    def instance_atom(self, ref: ObjectRef) -> Atom:
        """A run-time instance of a class made in the function, shared from then on."""
        if self.session.short:
            self.refuse(
                "an object among others that are known at run time only",
                "unrolled, each can be followed",
                kind=NeedsUnroll,
            )
        if ref.cls in STANDS_FOR:
            kept = "dict" if issubclass(STANDS_FOR[ref.cls], dict) else "list"
            self.refuse(*refusal("stand-in", name=STANDS_FOR[ref.cls].__name__, kept=kept))
        contents = self.contents(ref)
        assert isinstance(contents, Fields)
        self.freeze(ref)
        pairs = zip(contents.names, contents.values, strict=True)
        fields = [a for n, v in pairs for a in (Literal(n), self.atom(v))]
        return self.builder.apply(
            runtime.dataclass_of, Literal(ref.cls), self.builder.apply(make_dict, *fields)
        )

    def bound(self, value: MaybeUnbound) -> Abstract:
        """The value of a variable that may be unbound, with the check that it is not."""
        leaf = value.there or first_leaf(value.value, self.state)
        if leaf is not None:
            self.builder.effect(check_bound, leaf, Literal(value.name))
        return value.value

    def hinted(self, value: Abstract, hint: str) -> Abstract:
        """The value under the name the user gives it, if it has none yet."""
        if self.internal:
            return value
        if isinstance(value, Value) and not value.hint:
            value.hint = hint
        elif isinstance(value, ArrayRef) and not value.path:
            self.session.container_names.setdefault(value.place, hint)
            held = self.contents(value)
            if isinstance(held, Held) and not held.value.hint:
                held.value.hint = hint
        elif (inner := self.held_by(value)) is not None:
            self.hinted(inner, hint)
        elif isinstance(value, (ListRef, DictRef)):
            self.session.container_names.setdefault(value.place, hint)
            contents = self.state.get(("place", value.place, ""))
            if isinstance(contents, Held) and not contents.value.hint:
                contents.value.hint = hint
        return value

    def held_by(self, ref: Abstract) -> Abstract | None:
        """The list or dict that an instance of a stand-in works on."""
        if not isinstance(ref, ObjectRef) or ref.cls not in STANDS_FOR:
            return None
        contents = self.contents(ref)
        return contents.get("_held") if isinstance(contents, Fields) else None

    def require_python(self, *values: Abstract) -> None:
        """Leave fast code where a scalar is asked for what NumPy's and Python's do not share.

        ``~True`` is -2, ``True + True`` is 2, and ``True is True``: NumPy's comparisons differ.
        """
        fast = not self.session.exact and not self.internal
        if fast and any(isinstance(v, Value) and isinstance(v.type, Number) for v in values):
            raise NeedsExact

    def container_name(self, place: int) -> str:
        """What the user calls the container in a place; empty if it has no name."""
        return self.session.container_names.get(place, "")

    @property
    def internal(self) -> bool:
        """Whether the code being lowered is srcad's own: a rule."""
        return self.frame.source.file.startswith(_PACKAGE)


class _Statement:
    """A context: one is entered for each statement, so it is no generator."""

    __slots__ = ("at", "low", "node")

    def __init__(self, low: Lowering, node: Any) -> None:
        self.low = low
        self.node = node

    def __enter__(self) -> None:
        low = self.low
        low.nodes.append(self.node)
        # a rule's or a transform's own source is no place of the user's
        self.at = low.builder.at(low.builder.loc if low.internal else low.loc(self.node))
        self.at.__enter__()

    def __exit__(self, *error: object) -> None:
        self.at.__exit__()
        self.low.nodes.pop()


Handler = Callable[[Lowering, list[Abstract], dict[str, Abstract]], Any]
"""What a builtin does to abstract values; NotImplemented leaves the call as it is."""


def leaf_type(value: Abstract) -> Type:
    """The type of a leaf at run time."""
    if isinstance(value, Value):
        return value.type
    assert isinstance(value, Static)
    return atom_type(Literal(value.value))


def is_leaf(value: object) -> bool:
    """Whether an abstract value is one number, array or constant at run time."""
    return isinstance(value, Value) or (
        isinstance(value, Static) and isinstance(value.value, SCALARS)
    )
