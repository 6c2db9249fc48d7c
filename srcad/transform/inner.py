"""A differentiated function as a block: its parameters are the leaves it is differentiated by.

    srcad.grad(f)(p, n)       with p = {"w": 1.0, "x": np.ones(3)}

    block(w: float, x: f8[m]) with n and all else that f reads from around it

It is lowered like any call, at the cursor, and taken out of the code again: what it reads of the
code around it are free values of the block, which its derivative takes as constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from srcad import runtime
from srcad.errors import NotDifferentiable
from srcad.frontend import arrays, calls
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    MaybeUnbound,
    Nest,
    ObjectRef,
    Static,
    TupleRef,
    is_number,
    labels,
    parts,
    with_parts,
)
from srcad.frontend.attributes import get_attribute
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, Session, Unreachable
from srcad.ir import Atom, Block, Literal, Op, Value
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, ListType, Number
from srcad.ir.walk import free_values, rename_values
from srcad.options import Options
from srcad.passes.prepare import prepared
from srcad.transform.calls import DifferentiatedCall
from srcad.transform.defined import check_constant, check_input, kind_name, refuse_input
from srcad.transform.kept import defined_in, everything_in
from srcad.transform.signatures import argument_name
from srcad.transform.structures import leaf_atoms, settle


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """A function lowered as a block of the leaves it is differentiated by."""

    block: Block
    """Its parameters are the leaves, its yields the leaves of the result."""
    inits: tuple[Atom, ...]
    """What the leaves are in this call."""
    inputs: tuple[Abstract, ...]
    """The differentiated arguments, in terms of the parameters."""
    result: Abstract
    """The result, in values of the block."""
    aux: Abstract | None
    """The auxiliary data, whose leaves are yielded after those of the result."""
    outputs: tuple[Atom, ...]
    """The leaves of the result."""
    contents: dict[Any, Any]
    """What the containers of the result hold."""
    given: dict[Any, Any]
    """What the containers and arrays of the inputs hold when the function is called."""


def lower_inner(call: DifferentiatedCall, options: Options) -> Inner:
    """Lower a call as a block of the leaves of the arguments it is differentiated by."""
    low, session = call.low, call.low.session
    state = dict(low.state)
    outside = {k[1] for k in state if k[0] == "place"} | set(session.initial)
    given = reached(low, [*call.args, *call.keywords.values()])
    for place in given:  # what the function changes of its arguments is noted
        session.identities.setdefault(place, place)
    box: list[Abstract] = []
    with _imports_undone(session):
        inside = _Arguments(call)
        before = dict(low.state)

        def run() -> None:
            with _prelude_of_its_own(low):
                for ref in inside.buffers:
                    arrays.own(low, ref)
                box.append(calls.call(low, call.function, inside.positional, inside.named))

        with _apart(session, outside - given) as touched:
            region = low.region(run)
    if region.dead:
        _raise_always(low, tuple(region.builder.ops), inside)
    arguments = [*inside.positional, *inside.named.values()]
    refuse_twins(low, arguments, touched.written, touched.read)
    result = box[0]
    with low.inside(region):
        result, aux = settle(low, result), None
        if call.has_aux:
            result, aux = _with_aux(low, result)
        leaves = leaf_atoms(low, result)
        count = len(leaves)
        leaves += [] if aux is None else leaf_atoms(low, aux)
    _refuse_changed_variables(low, state, region.state)
    made = region.builder.block(tuple(inside.params), tuple(leaves))
    block = prepared(made, options)
    check_scopes(block)
    inits = tuple(inside.inits)
    require_disjoint(low, inside.copied, [*free_values(block), *inits])
    return Inner(
        block,
        inits,
        tuple(inside.inputs),
        result,
        aux,
        block.yields[:count],
        region.state,
        before,
    )


class _Arguments:
    """The arguments of a call, as the function has them inside.

    Where it is differentiated by one there is a parameter for each leaf of it.  What it is not
    differentiated by is read only inside, unless it is copied there.
    """

    def __init__(self, call: DifferentiatedCall) -> None:
        self.low = call.low
        self.params: list[Value] = []
        self.inits: list[Atom] = []
        """What the parameters are in this call."""
        self.buffers: list[ArrayRef] = []
        """The parameters that the function writes into, to be copied in it."""
        self.copied: list[Value] = []
        """The arrays of which the function writes a copy."""
        wrt = call.wrt
        self.positional = [a if k in wrt else self._detached(a, k) for k, a in enumerate(call.args)]
        self.named = {n: a if n in wrt else self._detached(a, n) for n, a in call.keywords.items()}
        self.inputs = [self._differentiated(call, which) for which in wrt]

    def _detached(self, value: Abstract, which: int | str) -> Abstract:
        """An argument that the function may write into, without a trace outside."""
        if not isinstance(value, ArrayRef):
            return value
        low = self.low
        atom = low.read(value)
        assert isinstance(atom, Value)
        found = arrays.argument(low, atom, ("inner", which, low.site()))
        if isinstance(found, ArrayRef):
            arrays.own(low, found)
            self.copied.append(atom)
        return found

    def _differentiated(self, call: DifferentiatedCall, which: int | str) -> Abstract:
        label = argument_name(call.function, which)
        source = call.argument(which)
        if isinstance(source, Static):
            check_constant(self.low, label, source.value)
        fresh = self._fresh(source, label)
        if isinstance(which, str):
            self.named[which] = fresh
        else:
            self.positional[which] = fresh
        return fresh

    def _fresh(self, value: Abstract, name: str) -> Abstract:
        """An argument with its leaves replaced by parameters; ``name`` is for errors."""
        if isinstance(value, MaybeUnbound):
            return self._fresh(self.low.bound(value), name)
        made = self._copied(value, name)
        if isinstance(value, (ListRef, DictRef, ObjectRef)):
            assert isinstance(made, (ListRef, DictRef, ObjectRef))
            identities = self.low.session.identities
            identities[made.place] = identities.get(value.place, value.place)
        return made

    def _copied(self, value: Abstract, name: str) -> Abstract:
        low = self.low
        match value:
            case Value():
                return self._value(value, name)
            case ArrayRef():
                return self._fresh(low.read(value), name)
            case Static(value=known) if is_number(known):
                return self._leaf(name, Literal(known))
            case Static(value=bool() | str() as known):
                check_constant(low, name, known)
            case Static(value=known) if known is None or callable(known):
                return value
            case TupleRef():
                return with_parts(value, self._fresh_parts(value, name))
            case ListRef():
                return low.new_list(self._items(value, name))
            case DictRef():
                return low.new_dict(self._entries(value, name))
            case ObjectRef(cls=cls) if dataclasses.is_dataclass(cls):
                names = tuple(f.name for f in dataclasses.fields(cls))
                fields = [self._fresh(get_attribute(low, value, n), f"{name}.{n}") for n in names]
                return low.new_object(cls, Fields(names, tuple(fields), None))
        self._refuse(value, name)

    def _leaf(self, name: str, atom: Atom) -> Value:
        """The parameter for a leaf."""
        kind = atom_type(atom)
        check_input(self.low, name, kind)
        if isinstance(kind, Number) and kind.kind != "complex":
            kind = Number("float")
        param = Value(atom.hint if isinstance(atom, Value) else name, kind)
        self.params.append(param)
        self.inits.append(atom)
        self.low.session.leaves.add(param)
        importer = self.low.session.importer
        if isinstance(atom, Value) and atom in importer.vectors:
            importer.vectors[param] = None
        if isinstance(atom, Value) and atom in importer.sized:
            importer.sized[param] = importer.sized[atom]
        return param

    def _value(self, value: Value, name: str) -> Abstract:
        """A number, or an array, which is a place of its own if the function writes into it."""
        param = self._leaf(name, value)
        if not isinstance(param.type, Array):
            return param
        session = self.low.session
        found = arrays.argument(self.low, param, ("leaf", name))
        if isinstance(found, ArrayRef):
            self.buffers.append(found)
            self.copied.append(value)
            session.importer.vectors.pop(param, None)
            if value in session.importer.arrays:
                session.owned.append(value)
        return found

    def _items(self, ref: ListRef, name: str) -> Held | Items:
        contents = self.low.contents(ref)
        if isinstance(contents, Held):
            held = contents.value
            if contents.borrowed == "argument" and held.type == ListType(Number("real")):
                refuse_input(self.low, name, "a list with integers in it", "write 1.0 for 1")
            return Held(self._leaf(name, held), "argument")
        assert isinstance(contents, Items)
        return Items(self._fresh_parts(contents, name))

    def _entries(self, ref: DictRef, name: str) -> Entries:
        contents = self.low.contents(ref)
        if isinstance(contents, Held):
            self.low.refuse("a derivative by a dict with run-time keys is taken", "use fixed keys")
        assert isinstance(contents, Entries)
        return Entries(contents.keys, self._fresh_parts(contents, name))

    def _fresh_parts(self, value: Nest, name: str) -> tuple[Abstract, ...]:
        named = zip(labels(value), parts(value), strict=True)
        return tuple(self._fresh(part, f"{name}[{label!r}]") for label, part in named)

    def _refuse(self, value: Abstract, name: str) -> NoReturn:
        what = kind_name(value)
        hint = "differentiate by floats, float arrays, or containers of them"
        if isinstance(value, ObjectRef):
            hint = (
                f"make {what} a dataclass of floats and float arrays, "
                "or write a function that takes these as arguments and makes the object"
            )
        raise NotDifferentiable(
            self.low.place(), f"{name} is a {what}: a derivative by it is not defined", hint
        )


# ---- a function of its own in the code around it


@contextmanager
def _imports_undone(session: Session) -> Iterator[None]:
    """Lists and elements of arrays that are read meanwhile are not known afterwards."""
    importer = session.importer
    lists, elements = dict(importer.lists), dict(importer.elements)
    try:
        yield
    finally:
        importer.lists, importer.elements = lists, elements


@contextmanager
def _prelude_of_its_own(low: Lowering) -> Iterator[None]:
    """Reads of the leaves that are hoisted go to the head of this block, not of the function."""
    head = Builder(low.builder.parent)
    head.depth = low.builder.depth
    low.session.prelude = head
    try:
        yield
    finally:
        low.builder.ops[:0] = head.ops


@dataclass(slots=True)
class _Touched:
    """The containers that code has changed and read."""

    written: dict[Any, None] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)


@contextmanager
def _apart(session: Session, closed: set[int]) -> Iterator[_Touched]:
    """Lower a function of its own: ``closed`` are the places it may not change."""
    prelude, around = session.prelude, session.closed
    written, read = session.written, session.read
    session.written, session.read, session.closed = {}, set(), around | closed
    touched = _Touched()
    try:
        yield touched
    finally:
        touched.written, touched.read = session.written, session.read
        session.prelude, session.closed = prelude, around
        session.written, session.read = {**written, **session.written}, read | session.read


def _refuse_changed_variables(
    low: Lowering, before: Mapping[Any, Any], after: Mapping[Any, Any]
) -> None:
    """Refuse an inner function that assigns to a variable of one around it."""
    for key, value in before.items():
        if key[0] == "variable" and after.get(key) is not value and key[1] != 0:
            low.refuse(
                "the differentiated function changes a variable of the function around it",
                "return the value instead",
            )


def _raise_always(low: Lowering, ops: tuple[Op, ...], inside: _Arguments) -> NoReturn:
    """A function that always raises: so does its derivative."""
    names: dict[Value, Any] = dict(zip(inside.params, inside.inits, strict=True))
    for op in rename_values(Block((), ops, ()), names).ops:
        low.builder.append(op)
    raise Unreachable


def _with_aux(low: Lowering, result: Abstract) -> tuple[Abstract, Abstract]:
    """The value and the auxiliary data that a function returns."""
    if not isinstance(result, TupleRef) or len(result.items) != 2:
        raise NotDifferentiable(
            low.place(),
            "has_aux=True needs a function that returns (value, auxiliary data)",
            "return a tuple of two, or leave has_aux out",
        )
    value, aux = result.items
    return value, aux


# ---- what is checked


def check_scopes(block: Block) -> None:
    """A value read outside the block it is defined in would silently have no derivative."""
    top = defined_in(block)
    hidden = {v for v in everything_in(block) if v not in top}
    for value in free_values(block):
        assert value not in hidden, f"{value!r} is read outside its block"


def reached(low: Lowering, args: list[Abstract]) -> set[int]:
    """The places of the containers in arguments."""
    found: set[int] = set()
    work: list[Any] = list(args)
    while work:
        value = work.pop()
        if isinstance(value, (ListRef, DictRef, ObjectRef)) and value.place not in found:
            found.add(value.place)
            work.append(low.held_in(low.state, value.place))
        elif isinstance(value, ArrayRef):
            found.add(value.place)
        work.extend(parts(value))
    return found


def require_disjoint(low: Lowering, copied: list[Value], read: list[Atom]) -> None:
    """Check that a function which writes into copies of arrays does not read these as well.

    ``read`` are what it reads from outside and all its array arguments: one of these is the copied
    array itself.  In the function, a write would be seen under the other name too.
    """
    for value in copied:
        others = list(read)
        if value in others:
            others.remove(value)
        checked = low.session.importer.arrays if value in low.session.owned else []
        for other in dict.fromkeys(others):
            if not isinstance(other, Value) or not isinstance(other.type, Array):
                continue
            outside = other in checked or arrays.outside_owner(low, other)
            if not (outside and checked) and not arrays.surely_disjoint(low, value, other):
                low.builder.effect(runtime.require_disjoint, value, other)


def refuse_twins(
    low: Lowering, args: list[Abstract], changed: dict[Any, None], read: set[int]
) -> None:
    """Refuse to change a container that is reached twice: by several arguments, or by a closure."""
    seen: dict[Any, int] = {}
    work: list[Any] = list(args)
    while work:
        value = work.pop()
        if isinstance(value, (ListRef, DictRef, ObjectRef)):
            identity = low.session.identities.get(value.place, value.place)
            copied = identity != value.place and identity in read
            twice = seen.setdefault(identity, value.place) != value.place or copied
            if twice and identity in changed:
                low.refuse(*refusal("aliased change"))
            work.append(low.held_in(low.state, value.place))
        work.extend(parts(value))
