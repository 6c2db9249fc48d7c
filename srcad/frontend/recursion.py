"""Recursive functions stay functions: each is lowered once for its arguments' types, and called.

It is lowered again until the type of its result is settled: at first only the paths that do not
call it again are known.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from srcad.frontend import arrays, calls, iterators
from srcad.frontend.abstract import (
    SCALARS,
    Abstract,
    ArrayRef,
    Closure,
    DictRef,
    Entries,
    Fields,
    Held,
    Items,
    ListRef,
    Method,
    ObjectRef,
    SetRef,
    Static,
    TupleRef,
    parts,
    with_parts,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, Region, Unreachable, is_leaf
from srcad.frontend.merge import Merger
from srcad.ir import Atom, Call, Function, FunctionRef, Value
from srcad.ir.build import Builder
from srcad.ir.core import literal_key
from srcad.ir.infer import atom_type, name_sizes
from srcad.ir.sharing import holds_arrays
from srcad.ir.types import Array, Type, without_sizes
from srcad.ir.walk import free_values

_PASSES = 8


@dataclass(eq=False)
class Outlined:
    """A recursive function, lowered for one kind of arguments."""

    ref: FunctionRef
    around: iterators.Dependences
    """What its code reads of the functions around it, as it was when it was lowered."""
    result: Any = None
    """The abstract result, in values of its own; None until a path returns."""
    leaves: tuple[Value, ...] = ()
    extras: tuple[Value, ...] = ()
    """Values of the surrounding function that it reads."""
    shares: bool = False
    """Whether arrays in its result may be those that it is given."""
    done: bool = False

    def is_stale(self, low: Lowering) -> bool:
        """Whether what it reads is something else by now."""
        return self.done and any(d.differs(low.state.get(k)) for k, d in self.around.items())


def _all_around(
    low: Lowering, code: calls.Code, bound: dict[str, Abstract]
) -> iterators.Dependences:
    given = [v for v in bound.values() if not isinstance(v, (ListRef, DictRef))]
    if code.parent is not None:
        given.append(Closure(code.name, code.node, code.parent, (), ()))
    return iterators.all_reads(low, TupleRef(tuple(given)))


def call_outlined(
    low: Lowering, code: calls.Code, bound: dict[str, Abstract], key: Any
) -> Abstract:
    """A call of a recursive function."""
    session = low.session
    given = [value for value in bound.values() if isinstance(value, ArrayRef)]
    bound = {name: low.read(value) for name, value in bound.items()}  # it may not write them
    made: Outlined | None = session.outlined.get(key)
    if made is None or made.is_stale(low):
        made = Outlined(FunctionRef(code.name), _all_around(low, code, bound))
        session.outlined[key] = made
        try:
            lower_outlined(low, code, bound, key, made)
        except BaseException:
            del session.outlined[key]  # it is begun anew when it is called again
            raise
    inits = _arguments(low, bound)[1]
    if made.result is None:
        raise Unreachable  # so far no path is known on which it returns
    results, mapping = [], {}
    for leaf in made.leaves:
        value = Value("", name_sizes(leaf.type))
        results.append(value)
        mapping[leaf] = value
    op = Call(made.ref, (*inits, *made.extras), tuple(results), low.builder.loc)
    low.builder.append(op)
    session.calls[made.ref] = None
    for value in results:
        if made.shares:
            arrays.handed_on(low, value, op.args)
        else:
            session.made[value] = arrays.Origin(None, op)
    result = _own(low, made.result, mapping)
    if made.shares:
        given += [ArrayRef(place) for place in _held(low, made.extras)]
        for ref in given:
            low.freeze(ref)
    if any(isinstance(v, (ListRef, DictRef, ObjectRef, TupleRef)) for v in bound.values()):
        for shared in (result, *bound.values()):  # the result may be an argument
            low.freeze(shared)
    return result


def _own(low: Lowering, value: Any, mapping: dict[Value, Any]) -> Abstract:
    """The result of a call in fresh places."""
    match value:
        case _ResultList(contents=contents):
            return low.new_list(_own_contents(low, contents, mapping))
        case _ResultDict(contents=contents):
            return low.new_dict(_own_contents(low, contents, mapping))
        case TupleRef(items=items):
            return with_parts(value, (_own(low, i, mapping) for i in items))
        case Value():
            found: Abstract = mapping.get(value, value)
            return found
    result: Abstract = value
    return result


def _own_contents(low: Lowering, contents: Any, mapping: dict[Value, Any]) -> Any:
    match contents:
        case Items() | Entries():
            return with_parts(contents, (_own(low, p, mapping) for p in parts(contents)))
        case Held(value=value):
            return Held(mapping.get(value, value), "element")
    return contents


@dataclass(frozen=True, slots=True, eq=False)
class _ResultList:
    contents: Any


@dataclass(frozen=True, slots=True, eq=False)
class _ResultDict:
    contents: Any


def _detached(low: Lowering, value: Any) -> Any:
    """A result with the contents of its containers in it, for use outside this state."""
    match value:
        case ListRef():
            return _ResultList(_detached_contents(low, low.contents(value)))
        case DictRef():
            return _ResultDict(_detached_contents(low, low.contents(value)))
        case TupleRef(items=items):
            return with_parts(value, (_detached(low, i) for i in items))
    return value


def _detached_contents(low: Lowering, contents: Any) -> Any:
    match contents:
        case Items() | Entries():
            return with_parts(contents, (_detached(low, p) for p in parts(contents)))
    return contents


def _arguments(
    low: Lowering, bound: dict[str, Abstract]
) -> tuple[dict[str, Any], list[Atom], list[Value]]:
    """Parameters for all numbers and arrays in the arguments, and what they are in this call."""
    params: list[Value] = []
    inits: list[Atom] = []

    def leaf(hint: str, atoms: list[Atom | None], kind: Type) -> Value:
        param = Value(hint, name_sizes(without_sizes(kind)))
        params.append(param)
        assert atoms[0] is not None
        inits.append(atoms[0])
        return param

    here = Region(low.builder, low.state, low.dead)
    merger = Merger(low, [here], leaf, force=True, force_constants=True)
    inside: dict[str, Any] = {}
    for name, value in bound.items():
        if isinstance(value, (ListRef, DictRef)):
            contents = low.contents(value)
            merged = merger.merge_contents([contents], name)
            inside[name] = (type(value), merged, low.outside(value.place))
        elif (
            is_leaf(value)
            and isinstance(value, Static)
            and not isinstance(value.value, (int, float))
        ):
            inside[name] = value
        else:
            inside[name] = merger.merge([value], name)
    return inside, inits, params


def lower_outlined(
    low: Lowering, code: calls.Code, bound: dict[str, Abstract], key: Any, made: Outlined
) -> None:
    """Lower a recursive function; again until the type of its result is settled."""
    session = low.session
    for _ in range(_PASSES):
        inside, _, params = _arguments(low, bound)
        builder = Builder(None, exact=low.builder.exact, simplify=low.builder.simplify)
        builder.loc = low.builder.loc
        # closures in the body read variables of the functions around it: their state is there
        before = (low.builder, low.state, low.dead, low.loops)
        low.builder, low.state, low.dead, low.loops = builder, dict(before[1]), False, []
        outer = dict(before[1])
        try:
            arguments: dict[str, Abstract] = {}
            for name, value in inside.items():
                if isinstance(value, tuple):
                    kind, contents, outside = value
                    ref = kind(session.new_place())
                    low.restate(ref, contents)
                    low.freeze(ref)  # the caller would not see a change of it
                    session.foreign[ref.place] = outside or ("recursive change", code.name)
                    arguments[name] = ref
                else:
                    low.freeze(value)
                    if isinstance(value, Value) and isinstance(value.type, Array):
                        session.made[value] = arrays.Origin(None, recursion=code.name)
                    arguments[name] = value
            try:
                result = calls.run_body(low, code, arguments, key)
            except Unreachable:
                low.refuse(
                    f"{code.name} never returns: every path calls it again", "add a base case"
                )
            for changed in outer:
                if low.state.get(changed) is not outer[changed]:
                    low.refuse(*refusal("recursive change", name=code.name))
            leaves: list[Value] = []
            atoms: list[Atom] = []

            def leaf(
                hint: str,
                found: list[Atom | None],
                kind: Type,
                leaves: list[Value] = leaves,
                atoms: list[Atom] = atoms,
            ) -> Value:
                value = Value(hint, without_sizes(kind))
                leaves.append(value)
                assert found[0] is not None
                atoms.append(found[0])
                return value

            here = Region(low.builder, low.state, False)
            template = _detached(
                low,
                _forced(Merger(low, [here], leaf, force=True, force_constants=True), low, result),
            )
            made.shares, shared = _shares(low, atoms), made.shares
        finally:
            low.builder, low.state, low.dead, low.loops = before
        kinds = [v.type for v in leaves]
        block = builder.block(tuple(params), tuple(atoms))
        extras = tuple(v for v in free_values(block) if v not in params)
        settled = (
            made.result is not None
            and made.shares == shared
            and [v.type for v in made.leaves] == kinds
            and made.extras == extras
        )
        if settled:
            body = dataclasses.replace(block, params=())
            made.ref.function = Function(code.name, (*params, *extras), body, low.loc(code.node))
            made.done = True
            return
        made.result, made.leaves, made.extras = template, tuple(leaves), extras
    low.refuse(*refusal("recursion"))


def _held(low: Lowering, values: tuple[Value, ...]) -> list[int]:
    """The places that hold values."""
    state = low.state.items()
    return [k[1] for k, c in state if k[0] == "place" and isinstance(c, Held) and c.value in values]


def _shares(low: Lowering, atoms: list[Atom]) -> bool:
    """Whether results may share memory with what the function was given, or has around it."""
    arrays_ = [a for a in atoms if isinstance(a, Value) and holds_arrays(a.type)]
    return not all(arrays.is_fresh(low, a) for a in arrays_)


def _of_arrays(low: Lowering, value: Abstract) -> Abstract:
    """A result with arrays in place of buffers: their places are of no meaning outside."""
    match value:
        case ArrayRef():
            low.freeze(value)
            return low.read(value)
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_of_arrays(low, item) for item in items), cls)
    return value


def _forced(merger: Merger, low: Lowering, value: Abstract) -> Any:
    value = _of_arrays(low, value)
    if isinstance(value, (ListRef, DictRef)):
        merged = merger.merge_contents([low.contents(value)], "out")
        return low.new_list(merged) if isinstance(value, ListRef) else low.new_dict(merged)
    if isinstance(value, Static) and not isinstance(value.value, (int, float)):
        return value
    return merger.merge([value], "out")


# ---- descriptions of arguments


class _Known:
    """A known object, equal to itself only."""

    __slots__ = ("obj",)

    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.obj is self.obj

    def __hash__(self) -> int:
        return id(self.obj)


def describe(
    low: Lowering, value: Abstract, *, exactly: bool = False, around: tuple[int, ...] = ()
) -> Any:
    """What a function is lowered for: types of data, identity of code; exactly, known numbers.

    Sizes do not count: each call may have its own, as in ``f(x[1:])``.  ``around`` are the places
    of the objects that the value is a part of.  What is told by identity is kept alive: the code
    stands for it as long as there is a description.
    """

    def of(part: Any) -> Any:
        return describe(low, part, exactly=exactly, around=inside)

    inside = around

    match value:
        case Value(type=kind):
            return without_sizes(kind)
        case ArrayRef():
            return without_sizes(arrays.kind_of(low, value))
        case Static(value=known):
            if isinstance(known, (int, float)) and not isinstance(known, bool):
                return literal_key(known) if exactly else atom_type(low.atom(value))
            return literal_key(known) if isinstance(known, SCALARS) else _Known(known)
        case TupleRef(items=items, cls=cls):
            return (cls, tuple(of(i) for i in items))
        case SetRef():
            return ("set", low.state.get(("place", value.place, "")))
        case ListRef() | DictRef() | ObjectRef():
            if value.place in around:
                return ("around", around.index(value.place))
            inside = (*around, value.place)
            contents = low.state.get(("place", value.place, ""))
            match contents:
                case Held(value=held):
                    return without_sizes(held.type)
                case Items(items=items):
                    return ("list", tuple(of(i) for i in items))
                case Entries(keys=keys, values=values):
                    return ("dict", keys, tuple(of(v) for v in values))
                case Fields(names=names, values=values, origin=origin):
                    return ("object", origin, names, tuple(of(v) for v in values))
        case Closure(node=node, frame=frame):
            return ("closure", node, frame.number)
        case Method(function=function, receiver=receiver):
            return ("method", of(function), of(receiver))
    return value
