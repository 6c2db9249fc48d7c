"""What lowering knows of a Python object while it runs a function without its data.

A number or an array is an IR value.  Whatever decides the *structure* of the program — functions,
modules, tuples, the lists and dicts a function builds, ranges — is known as such and leaves no
trace in the IR until it has to exist at run time.  Mutable containers are places: two names for one
list are two equal ``ListRef``, and what the list holds stands in the state under its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, overload

from srcad.ir import Atom, Literal, Value, View
from srcad.ir.build import Builder
from srcad.ir.core import same_literal
from srcad.ir.immutable import immutable, immutable_value


@immutable
class Static:
    """A known object: a constant, a module, a function, a class."""

    value: Any


@immutable
class TupleRef:
    """A tuple (or namedtuple) of known length."""

    items: tuple[Abstract, ...]
    cls: type = tuple


@immutable_value
class ListRef:
    """A list; the state holds ``Items`` or a run-time list under its place."""

    place: int


@immutable_value
class DictRef:
    """A dict; the state holds ``Entries`` or a run-time dict under its place."""

    place: int


@immutable_value
class ObjectRef:
    """An instance of a Python class; the state holds ``Fields`` under its place."""

    place: int
    cls: type


@immutable
class ArrayRef:
    """An array whose memory is written, or a view of it.

    The state holds the present version of the whole array under its place; ``path`` leads from
    there to the view.
    """

    place: int
    path: tuple[View, ...] = ()


@immutable_value
class SetRef:
    """A set of constants; the state holds its ``Members`` under its place."""

    place: int


@immutable_value
class IteratorRef:
    """An iterator; the state holds a ``Cursor`` under its place."""

    place: int


@immutable
class SuperRef:
    """``super()``: the attributes of ``receiver`` as the classes after ``cls`` have them."""

    cls: type
    receiver: Abstract


@immutable_value
class AccumulatorRef:
    """An adjoint that a rule body adds to: ``x_bar[i] += ct``; the state holds what has arrived."""

    place: int
    add: Callable[[Builder, Value, Atom, Atom], Value]
    """The adjoint with a term added at an index."""


@immutable
class Closure:
    """A function defined inside the function being lowered."""

    name: str
    node: Any
    frame: Any
    """The frame it was defined in: names are looked up there when it is called."""
    defaults: tuple[Abstract, ...]
    keyword_defaults: tuple[Abstract | None, ...]


@immutable
class Method:
    """A function with its first argument."""

    function: Abstract
    receiver: Abstract


@immutable
class Partial:
    """``functools.partial`` of known things."""

    function: Abstract
    args: tuple[Abstract, ...]
    keywords: tuple[tuple[str, Abstract], ...]


@immutable
class RangeRef:
    """``range(start, stop, step)``"""

    start: Atom
    stop: Atom
    step: Atom


@immutable
class SliceRef:
    """A slice with a part known only at run time."""

    start: Abstract
    stop: Abstract
    step: Abstract


@immutable
class Zip:
    """Iterables in lockstep."""

    parts: tuple[Abstract, ...]
    strict: Abstract = Static(False)


@immutable
class Enumerate:
    """``enumerate(part, start)``"""

    part: Abstract
    start: Abstract


@immutable
class Reversed:
    """``reversed(part)``"""

    part: Abstract


@immutable
class Lazy:
    """Items that are made when something asks for them: ``map(f, xs)``, ``(v * v for v in xs)``."""

    make: Callable[[Any, tuple[Abstract, ...]], Abstract]
    """Takes the cursor and the parts: the iterable of all items, as they are there."""
    parts: tuple[Abstract, ...]
    node: Any = None
    frame: Any = None
    """The syntax of a generator expression, and the frame in which it looks up names."""


@immutable_value
class DictView:
    """The keys, values or items of a dict, as they are when something asks for them."""

    ref: DictRef
    kind: str


@immutable
class MaybeUnbound:
    """A variable bound on some paths only; a read checks it at run time."""

    name: str
    value: Abstract
    there: Value | None = None
    """What has a value where the variable has one, if that is none of its own."""


@immutable
class Poison:
    """A variable that cannot be followed; reading it is the error."""

    message: str
    hint: str
    releases: frozenset[Any] = frozenset()
    """The statements after which it could be followed: see ``NeedsRelease``."""


@immutable
class Transformed:
    """A derivative of a function, made inside the function being lowered.

    ``transform`` is what made it (``srcad.grad`` …), ``function`` what it was made from.
    """

    transform: Any
    function: Abstract
    options: Any


@immutable
class Intrinsic:
    """A function that the compiler implements, such as the pullback that ``vjp`` returns."""

    name: str
    call: Callable[[Any, list[Any], dict[str, Any]], Any]
    """Takes the cursor, the arguments and the keywords."""


Abstract = (
    Value
    | Static
    | TupleRef
    | ListRef
    | DictRef
    | ObjectRef
    | ArrayRef
    | SetRef
    | IteratorRef
    | SuperRef
    | AccumulatorRef
    | Closure
    | Method
    | Partial
    | RangeRef
    | SliceRef
    | Zip
    | Enumerate
    | Reversed
    | Lazy
    | DictView
    | MaybeUnbound
    | Poison
    | Transformed
    | Intrinsic
)


# ---- what a place holds


@immutable
class Items:
    """The items of a list whose length is known."""

    items: tuple[Abstract, ...]


@immutable
class Entries:
    """The entries of a dict whose keys are known."""

    keys: tuple[Any, ...]
    values: tuple[Abstract, ...]

    def get(self, key: Any) -> Abstract | None:
        """The entry of a key, if there is one."""
        for known, value in zip(self.keys, self.values, strict=True):
            if known is key or known == key:
                return value
        return None

    def set(self, key: Any, value: Abstract) -> Entries:
        """The entries with one replaced or added."""
        if self.get(key) is None:
            return Entries((*self.keys, key), (*self.values, value))
        pairs = zip(self.keys, self.values, strict=True)
        return Entries(self.keys, tuple(value if k is key or k == key else v for k, v in pairs))


@immutable
class Fields:
    """The attributes of an instance that are known; others are read from ``origin``."""

    names: tuple[str, ...]
    values: tuple[Abstract, ...]
    origin: Origin | None

    def get(self, name: str) -> Abstract | None:
        """The attribute, if it is known."""
        return self.values[self.names.index(name)] if name in self.names else None

    def set(self, name: str, value: Abstract) -> Fields:
        """The attributes with one replaced or added."""
        if name not in self.names:
            return Fields((*self.names, name), (*self.values, value), self.origin)
        pairs = zip(self.names, self.values, strict=True)
        return Fields(self.names, tuple(value if n == name else v for n, v in pairs), self.origin)


@immutable
class Origin:
    """A live object and the value that it is at run time."""

    obj: Any
    value: Value
    access: Any
    """How it is reached: ``frontend.access.Access``."""


@immutable
class Held:
    """A run-time list or dict, or the present version of an array.

    ``borrowed`` is why it may not be written as it is: 'argument' (the caller's: it is copied
    before the first write) or the reason for which a write is refused; empty if it may be written.
    """

    value: Value
    borrowed: str = ""
    count: int | None = None
    """How many items it has, if that is known."""


@immutable_value
class Members:
    """The members of a set of constants."""

    values: tuple[Any, ...]


@immutable
class Cursor:
    """Where an iterator stands."""

    source: Abstract
    position: int
    since: Mapping[Any, Any] = field(default_factory=dict)
    """What the items that were made early depend on, as it was then."""


Contents = Items | Entries | Fields | Held | Members | Cursor


def constant(value: Any) -> Static:
    """A known object."""
    return Static(value)


NONE = Static(None)
TRUE, FALSE = Static(True), Static(False)

SCALARS = (bool, int, float, complex, str, bytes, type(None), type(...))


def is_static(value: Abstract, *, equal: Any = ...) -> bool:
    """Whether a value is known, and equal to ``equal`` if that is given."""
    if not isinstance(value, Static):
        return False
    return equal is ... or (type(value.value) is type(equal) and value.value == equal)


def known_values(values: Iterable[Abstract]) -> tuple[Any, ...] | None:
    """The objects that values are; None if not all are known."""
    found = []
    for value in values:
        if not isinstance(value, Static):
            return None
        found.append(value.value)
    return tuple(found)


def parts(value: Any) -> tuple[Any, ...]:
    """What an abstract value or the contents of a place refer to directly."""
    match value:
        case TupleRef(items=items) | Items(items=items) | Zip(parts=items) | Lazy(parts=items):
            return items
        case Entries(values=values) | Fields(values=values):
            return values
        case Method(function=function, receiver=receiver):
            return (function, receiver)
        case Closure(defaults=defaults, keyword_defaults=keyword):
            return (*defaults, *(d for d in keyword if d is not None))
        case Partial(function=function, args=args, keywords=keywords):
            return (function, *args, *(v for _, v in keywords))
        case MaybeUnbound(value=inner) | SuperRef(receiver=inner) | Cursor(source=inner):
            return (inner,)
        case Enumerate(part=part) | Reversed(part=part) | DictView(ref=part):
            return (part,)
        case Transformed(function=function):
            return (function,)
    return ()


_KnownContents = Items | Entries | Fields
Nest = TupleRef | _KnownContents
"""What keeps its structure when its parts are replaced."""


@overload
def with_parts(value: TupleRef, items: Iterable[Any]) -> TupleRef: ...
@overload
def with_parts(value: _KnownContents, items: Iterable[Any]) -> _KnownContents: ...
def with_parts(value: Nest, items: Iterable[Any]) -> Nest:
    """A tuple, or the contents of a place, with other ``parts``."""
    items = tuple(items)
    match value:
        case TupleRef(cls=cls):
            return TupleRef(items, cls)
        case Items():
            return Items(items)
        case Entries(keys=keys):
            return Entries(keys, items)
        case Fields(names=names, origin=origin):
            return Fields(names, items, origin)


def labels(value: Nest) -> tuple[Any, ...]:
    """By what each of the ``parts`` is asked for: an index, a key, the name of an attribute."""
    match value:
        case TupleRef(items=items) | Items(items=items):
            return tuple(range(len(items)))
        case Entries(keys=keys):
            return keys
        case Fields(names=names):
            return names


def is_number(value: object) -> bool:
    """Whether a known object is a number: one of those that calculations are made of, no flag."""
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def same_path(a: tuple[View, ...], b: tuple[View, ...]) -> bool:
    """Whether two paths surely lead from one array to one view."""
    return same_steps(a, b) and all(
        same_atom(p, q)
        for s, t in zip(a, b, strict=True)
        for p, q in zip(s.args, t.args, strict=True)
    )


def same_steps(a: tuple[View, ...], b: tuple[View, ...]) -> bool:
    """Whether two paths consist of the same calls, perhaps with other indices."""
    return len(a) == len(b) and all(
        s.callee is t.callee
        and len(s.args) == len(t.args)
        and len(s.keywords) == len(t.keywords)
        and all(
            n == m and same_atom(p, q)
            for (n, p), (m, q) in zip(s.keywords, t.keywords, strict=True)
        )
        for s, t in zip(a, b, strict=True)
    )


def same_atom(a: Atom, b: Atom) -> bool:
    """Whether two atoms surely are one object, or equal constants."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return same_literal(a.value, b.value)
    return a is b


def references(state: Mapping[Any, Any], place: int) -> int:
    """How often a state refers to a place, from variables and from other places."""
    count = 0
    pending = list(state.values())
    while pending:
        value = pending.pop()
        if getattr(value, "place", None) == place:
            count += 1
        pending.extend(parts(value))
    return count


def references_from(
    keys: Iterable[Any], place: int, lookup: Callable[[Any], Any], visited: set[int]
) -> int:
    """How often keys, and the places they lead to, refer to a place.

    ``visited``: the places that are not looked into again; it grows.
    """
    count = 0
    pending = list(map(lookup, keys))
    while pending:
        value = pending.pop()
        found = getattr(value, "place", None)
        if found == place:
            count += 1
        elif found is not None and found not in visited:
            visited.add(found)
            pending.append(lookup(("place", found, "")))
        pending.extend(parts(value))
    return count


def first_leaf(value: Any, state: Mapping[Any, Any]) -> Value | None:
    """The first run-time value in an abstract one."""
    match value:
        case Value():
            return value
        case TupleRef(items=items):
            return next((f for i in items if (f := first_leaf(i, state)) is not None), None)
        case (
            ListRef(place=place)
            | DictRef(place=place)
            | ObjectRef(place=place)
            | ArrayRef(place=place)
        ):
            contents = state.get(("place", place, ""))
            match contents:
                case Held(value=held):
                    return held
                case Items(items=items) | Entries(values=items) | Fields(values=items):
                    return next((f for i in items if (f := first_leaf(i, state)) is not None), None)
    return None
