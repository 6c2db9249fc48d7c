"""The intermediate representation: structured SSA.

Python is structured and the output must be, so regions are nested blocks and not jumps, and block
parameters take the place of phi nodes (Appel, "SSA is functional programming", 1998).  A value is
defined once and compared by identity.  What writes in place (``Update``, ``Accumulate``) consumes
the old version of its target and defines the next one: memory is a chain of values, each read
before the next is made, so the printed code may use one variable for the whole chain.

The derivative of a function is a function of the same kind: it can be differentiated again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from srcad.ir.immutable import immutable, immutable_value
from srcad.ir.types import Type


@immutable_value
class Loc:
    """Where a statement of the primal stands."""

    file: str
    line: int
    column: int
    text: str
    """The primal statement (its first line), quoted in comments and errors."""
    reverse: int = 0
    """How many reverse sweeps lie between the statement and the operation: 0 in the primal."""
    caller: Loc | None = field(default=None, compare=False, repr=False)
    """Where the function was called that the statement is in; None in the outermost."""

    def one_sweep_further(self) -> Loc:
        """The place of what a reverse sweep makes of the operation."""
        return replace(self, reverse=self.reverse + 1)


@dataclass(slots=True, eq=False)
class Value:
    """A value at run time, defined once."""

    hint: str
    """The name to print it under: the user's, if there is one.  Set once its role is known; it says
    nothing of what the value is."""
    type: Type
    serial: int = field(default_factory=itertools.count().__next__)
    """Values made later have larger numbers."""
    masked: bool = False
    """A differential of which a branch or an index is known to make a part 0.  As the hint, set by
    who makes it: a product with what may be infinite is protected then."""

    def __repr__(self) -> str:
        return f"<{self.hint or '_'}: {self.type}>"


@immutable
class Literal:
    """Static data: a number, a string, a slice, a dtype, a function."""

    value: Any

    def __repr__(self) -> str:
        return f"Literal({self.value!r})"


Atom = Value | Literal


def literal_values(atoms: Iterable[Atom]) -> tuple[Any, ...] | None:
    """What literals stand for; None if not all atoms are literals."""
    found = []
    for atom in atoms:
        if not isinstance(atom, Literal):
            return None
        found.append(atom.value)
    return tuple(found)


def is_int(atom: Atom, number: int) -> bool:
    """Whether an atom is this integer."""
    return isinstance(atom, Literal) and type(atom.value) is int and atom.value == number


def literal_key(value: object) -> object:
    """Equal for literals that mean the same: ``0.0`` is neither ``0`` nor ``-0.0``."""
    if type(value) is tuple:
        return tuple(map(literal_key, value))
    if isinstance(value, (float, complex, slice)):
        return type(value), repr(value)
    return type(value), value


def same_literal(one: object, other: object) -> bool:
    """Whether two static objects are one, or surely mean the same."""
    if one is other:
        return True
    key, other_key = literal_key(one), literal_key(other)
    return hashable(key) and hashable(other_key) and key == other_key


def hashable(obj: object) -> bool:
    """Whether an object has a hash."""
    try:
        hash(obj)
    except TypeError:
        return False
    return True


@immutable
class Block:
    """A region: parameters, operations in order, and the atoms it hands out."""

    params: tuple[Value, ...]
    ops: tuple[Op, ...]
    yields: tuple[Atom, ...]


@immutable
class Apply:
    """A pure call: an operator, a NumPy function, a getitem, a display, a method."""

    callee: Callable[..., Any]
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...]
    result: Value
    loc: Loc | None = None


@immutable
class Effect:
    """A call kept in order and executed once: print, assert, raise, a draw of random numbers."""

    callee: Callable[..., Any]
    args: tuple[Atom, ...]
    keywords: tuple[tuple[str, Atom], ...]
    result: Value | None
    loc: Loc | None = None


@immutable
class View:
    """One step from an array to a view of it: ``callee(array, *args)`` shares its memory."""

    callee: Callable[..., Any]
    args: tuple[Atom, ...] = ()
    keywords: tuple[tuple[str, Atom], ...] = ()


@immutable
class Update:
    """A write in place: ``callee(target, *args)``; ``version`` is the target afterwards.

    ``callee`` is ``operator.setitem``, ``operator.delitem`` or a method such as ``list.append``;
    of an array also ``operator.iadd`` or the like of an index and a term
    (``target[index] += term``) and ``np.add.at``.  ``result`` is what the call returns
    (``list.pop``), if that is used.  With a ``path`` an array is written through that view of it.
    """

    callee: Callable[..., Any]
    target: Value
    args: tuple[Atom, ...]
    version: Value
    result: Value | None = None
    loc: Loc | None = None
    path: tuple[View, ...] = ()


@immutable
class Accumulate:
    """``version = target; version[index] += term``; without an index ``version = target + term``.

    Repeated indices all add, so the transpose of ``x[i]`` is one of these for every ``i``.
    """

    target: Atom
    index: Atom | None
    term: Atom
    version: Value
    loc: Loc | None = None


@immutable
class If:
    """Both blocks yield as many atoms as there are results; ``UNDEFINED`` leaves a name unbound."""

    test: Atom
    then: Block
    orelse: Block
    results: tuple[Value, ...]
    loc: Loc | None = None


@immutable
class Range:
    """The integers of ``range(start, stop, step)``."""

    start: Atom
    stop: Atom
    step: Atom


@immutable
class Items:
    """The items of a sequence or array, from its end if ``backward``."""

    sequence: Atom
    backward: bool = False


Stream = Range | Items


@immutable
class For:
    """A loop over streams in lockstep, as ``zip`` has it: it ends with the shortest.

    ``body.params`` are one target per stream, then the carried values; ``body.yields`` the carried
    values of the next iteration, then the stop flag if ``stops``: the loop ends after an iteration
    whose flag is true.  ``results`` are the carried values in the end.
    """

    streams: tuple[Stream, ...]
    carried: tuple[Atom, ...]
    body: Block
    results: tuple[Value, ...]
    stops: bool = False
    loc: Loc | None = None

    @property
    def targets(self) -> tuple[Value, ...]:
        """The items of the streams in the body."""
        return self.body.params[: len(self.streams)]

    @property
    def carried_params(self) -> tuple[Value, ...]:
        """The carried values in the body."""
        return self.body.params[len(self.streams) :]


@immutable
class While:
    """A loop while ``test`` (a block of the carried values, yielding one atom) holds.

    ``body`` is as in ``For``, without targets.
    """

    carried: tuple[Atom, ...]
    test: Block
    body: Block
    results: tuple[Value, ...]
    stops: bool = False
    loc: Loc | None = None

    @property
    def targets(self) -> tuple[Value, ...]:
        """None: see ``For``."""
        return ()

    @property
    def carried_params(self) -> tuple[Value, ...]:
        """The carried values in the body."""
        return self.body.params


@immutable
class With:
    """``with manager as target: body``; ``body.params`` is (target,) or ()."""

    manager: Atom
    body: Block
    results: tuple[Value, ...]
    loc: Loc | None = None


@immutable
class Handler:
    """``except kinds as name``; ``body.params`` is (name,) or ()."""

    kinds: Atom | None
    body: Block


@immutable
class Try:
    """``try: body except …: handler``; all blocks yield as many atoms as there are results.

    ``final`` holds effects only and yields nothing.
    """

    body: Block
    handlers: tuple[Handler, ...]
    final: Block | None
    results: tuple[Value, ...]
    loc: Loc | None = None


@immutable
class Call:
    """A call of a function that stays a function, such as a recursive one."""

    function: FunctionRef
    args: tuple[Atom, ...]
    results: tuple[Value, ...]
    loc: Loc | None = None


Op = Apply | Effect | Update | Accumulate | If | For | While | With | Try | Call


class FunctionRef:
    """A function by name, so that functions can call each other; its body is set when known."""

    __slots__ = ("function", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.function: Function | None = None

    def __repr__(self) -> str:
        return f"FunctionRef({self.name!r})"


@immutable
class Function:
    """A function: what it takes, does and returns (``body.yields``)."""

    name: str
    params: tuple[Value, ...]
    body: Block
    loc: Loc | None = None
    doc: str = ""
    calls: tuple[FunctionRef, ...] = field(default=())
    """Functions that the body refers to, directly or not, in the order of first use."""


class Undefined:
    """The value of a name without a value: yielded by a branch that does not bind it."""

    _instance: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = Literal(Undefined())


def is_undefined(atom: Atom) -> bool:
    """Whether an atom is no value."""
    return isinstance(atom, Literal) and isinstance(atom.value, Undefined)


# ---- displays and checks: callees that are syntax, not functions, when printed


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """``(a, b)``"""
    return items


def make_list(*items: Any) -> list[Any]:
    """``[a, b]``"""
    return list(items)


def make_dict(*items: Any) -> dict[Any, Any]:
    """``{k: v}`` from k, v, k, v, …"""
    return dict(zip(items[::2], items[1::2], strict=True))


def make_fstring(*parts: Any) -> str:
    """An f-string from strings and (value, conversion, format) triples made by ``format_value``."""
    return "".join(map(str, parts))


def format_value(value: Any, conversion: int, spec: str) -> str:
    """One replacement field of an f-string."""
    conversions: dict[int, Callable[[Any], Any]] = {115: str, 114: repr, 97: ascii}
    return format(value if conversion == -1 else conversions[conversion](value), spec)


def select(test: Any, then: Any, orelse: Any) -> Any:
    """``then if test else orelse`` of two values that exist already."""
    return then if test else orelse


def makes_tuple(callee: Any) -> bool:
    """Whether a call makes a tuple of its arguments: that of a namedtuple's class does too."""
    return callee is make_tuple or (
        isinstance(callee, type) and issubclass(callee, tuple) and hasattr(callee, "_fields")
    )


def raise_error(error: BaseException | type[BaseException], cause: Any = None) -> None:
    """``raise error from cause``"""
    raise error


def assert_true(test: Any, message: Any = None) -> None:
    """``assert test, message``"""


def check_bound(value: Any, name: str) -> None:
    """Raise UnboundLocalError if a variable that may be unbound is (printed as such a test)."""
