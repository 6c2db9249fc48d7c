"""Arrays that are written in place: whose memory a name refers to, and how it is changed.

Most arrays are never written and are plain values.  One that is written is a *buffer*: its memory
is a place, the state holds its present version there, and names hold an ``ArrayRef``: the place,
and the path of views that leads from the whole to what the name stands for.  Two names for one
array, a view of a view and a row bound by a loop are different paths to one place, so a write
through one of them is seen through all.  Every read makes the view anew, from the present version:
the IR knows versions and no aliases.

Which arrays are buffers shows only when a write is met.  Then the function is lowered again with
the expression that made the memory marked (``NeedsBuffer``); so code that writes nothing pays
nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from srcad import runtime
from srcad.frontend import (
    calls,
    containers,
    elements,
    expressions,
    subscripts,
)
from srcad.frontend.abstract import (
    FALSE,
    NONE,
    Abstract,
    ArrayRef,
    Held,
    Items,
    ListRef,
    SliceRef,
    Static,
    TupleRef,
)
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, NeedsBuffer, NeedsUnroll
from srcad.ir import Apply, Atom, Call, Literal, Value, View
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import Sharing, holds_arrays, is_basic_index, picks_once, sharing, views
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    Unknown,
    dims_of,
    is_complex,
    rank,
    same_shape,
)

WHOLE = Literal(Ellipsis)
_LAST, _RAISE = Static(-1), Static("raise")


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where the memory of an array value comes from."""

    site: Any
    """The expression that made it."""
    op: Apply | Call | None = None
    merged: tuple[Atom, ...] = ()
    """The values of several paths, of which it is one."""
    owner: str = ""
    """The name of the object outside the function that it belongs to."""
    releases: frozenset[Any] = frozenset()
    """The statements that would leave the paths apart: see ``NeedsRelease``."""
    recursion: str = ""
    """The name of the recursive function that it is handed to."""


# ---- which arrays are buffers


def made(low: Lowering, value: Value, site: Any = None) -> Abstract:
    """An array that has just come into being: a buffer if its memory is known to be written."""
    session = low.session
    if low.internal and site is None:
        return value
    op = low.builder.definition(value) if site is None else None
    if value in session.made:
        return value
    site = low.site() if site is None else site
    session.made[value] = Origin(site, op)
    if site not in session.buffers or (op is not None and views(op)):
        return value
    return new_buffer(low, value, op)


def collected(low: Lowering, values: tuple[Value, ...], loop: Any) -> None:
    """Note the lists that a loop over known items has made: unrolled, they would be known too."""
    for value in values:
        if isinstance(value.type, (ListType, DictType)) and holds_arrays(value.type):
            low.session.collected[value] = loop


def made_here(low: Lowering, found: Abstract) -> Abstract:
    """The result of code of srcad's own, which stands for a call: its arrays are made by that."""
    if low.internal:
        return found
    match found:
        case Value(type=Array()) if found not in low.session.made:
            site = low.site()
            if all(
                s is not None and s.op and not s.site and not s.owner for s in _sources(low, found)
            ):
                low.session.made[found] = Origin(site)
                if site in low.session.buffers:
                    return new_buffer(low, _own(low, found))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(made_here(low, i) for i in items), cls)
    return found


def _own(low: Lowering, value: Value) -> Value:
    """An array as memory of its own: a view is copied."""
    op = low.builder.definition(value)
    if op is not None and not views(op):
        return value
    copy = low.builder.apply(np.array, value)
    assert isinstance(copy, Value)
    return copy


def several(low: Lowering, value: Value, items: tuple[Type, ...], cls: type) -> Abstract:
    """A tuple that a call has just made: of buffers, if arrays in it are known to be written.

    They are copies, since the tuple itself may be read later.
    """
    op = low.builder.definition(value)
    site = low.site()
    if low.internal or value in low.session.made or op is None or views(op):
        return value
    low.session.made[value] = Origin(site, op)
    if site not in low.session.buffers:
        return value
    parts: list[Abstract] = []
    for k, kind in enumerate(items):
        part = low.builder.apply(operator.getitem, value, Literal(k))
        assert isinstance(part, Value)
        parts.append(new_buffer(low, _own(low, part)) if isinstance(kind, Array) else part)
    return TupleRef(tuple(parts), cls)


def new_buffer(low: Lowering, value: Value, op: Apply | None = None) -> ArrayRef:
    """A place for the memory of an array."""
    ref = ArrayRef(low.session.new_place())
    low.restate(ref, Held(value))
    if op is not None and op.callee in _CONTIGUOUS and not op.keywords:
        low.session.contiguous.add(ref.place)
    return ref


def argument(low: Lowering, value: Value, site: Any) -> Abstract:
    """An array that is handed in: a buffer, still the caller's, if the function writes into it."""
    low.session.made[value] = Origin(site)
    return new_buffer(low, value) if site in low.session.buffers else value


def own(low: Lowering, ref: ArrayRef) -> None:
    """Copy the caller's array: from here on it is the function's."""
    held = low.contents(ref)
    assert isinstance(held, Held)
    copy = low.builder.apply(np.array, held.value, hint=held.value.hint)
    assert isinstance(copy, Value)
    low.restate(ref, Held(copy))


def outside(low: Lowering, value: Value, name: str) -> None:
    """Note an array that exists outside the function: it is read only."""
    low.session.made[value] = Origin(None, owner=name)


def require_disjoint(low: Lowering) -> None:
    """Check at the start of the function that no argument shares memory with one it writes."""
    session = low.session
    others = session.importer.arrays
    seen: set[frozenset[Value]] = set()
    for value in session.owned:
        for other in others:
            pair = frozenset((value, other))
            if other is not value and pair not in seen:
                seen.add(pair)
                session.prelude.effect(runtime.require_disjoint, value, other)


_CONTIGUOUS = {
    np.zeros,
    np.ones,
    np.empty,
    np.full,
    np.arange,
    np.linspace,
    np.ndarray.copy,
    np.eye,
}


def written(low: Lowering, value: Abstract) -> NoReturn:
    """A plain array is written: lower the function again, with its memory as a place."""
    owner = outside_owner(low, value)
    if owner:
        low.refuse(*refusal("array outside", name=owner))
    for source in _sources(low, value):
        if source is not None and source.recursion:
            low.refuse(*refusal("recursive write", name=source.recursion))
    become_buffers(low, value)
    low.require_release(_releases(low, value))
    if _sites(low, value):
        low.refuse(*refusal("shared array"), kind=NeedsUnroll)
    is_array = isinstance(value, Value) and isinstance(value.type, Array)
    low.refuse(*refusal("index write" if is_array else "object write"), kind=NeedsUnroll)


def become_buffers(low: Lowering, value: Abstract) -> None:
    """Lower again with the memory of a plain array as a place; return where that cannot be."""
    fresh = frozenset(_sites(low, value) or ()) - low.session.buffers
    if fresh:
        raise NeedsBuffer(fresh)


def outside_owner(low: Lowering, value: Abstract) -> str:
    """The name of the object outside the function that an array belongs to, if there is one."""
    for source in _sources(low, value):
        if source is not None and source.owner:
            return source.owner
    return ""


def is_fresh(low: Lowering, value: Value) -> bool:
    """Whether all memory of a value was made in this function."""
    return all(source is not None and source.op is not None for source in _sources(low, value))


def surely_disjoint(low: Lowering, x: Value, y: Value) -> bool:
    """Whether two arrays share no memory: one was made in this function, and is not the other."""
    ops = [{None if s is None else s.op for s in _sources(low, v)} for v in (x, y)]
    return not ops[0] & ops[1] and any(None not in made for made in ops)


def _sites(low: Lowering, value: Abstract) -> dict[Any, None] | None:
    """The expressions that make the memory of an array; None if they are not all known."""
    found: dict[Any, None] = {}
    for source in _sources(low, value):
        if source is None or source.site is None:
            return None
        found[source.site] = None
    return found


def _releases(low: Lowering, value: Abstract) -> frozenset[Any]:
    """The statements that have made an array one of several."""
    found: set[Any] = set()
    _sources(low, value, found)
    return frozenset(found)


def _sources(
    low: Lowering, value: Abstract, releases: set[Any] | None = None
) -> list[Origin | None]:
    """Where the memory of an array comes from, through views and on all paths."""
    found: list[Origin | None] = []
    seen: set[Value] = set()
    work: list[Any] = [value]
    while work:
        atom = work.pop()
        if atom in seen:
            continue
        if not isinstance(atom, Value):
            found.append(None)
            continue
        seen.add(atom)
        if atom in low.session.collected:
            found.append(Origin(low.session.collected[atom]))
            continue
        op = low.builder.definition(atom)
        origin = low.session.made.get(atom) or (None if op is None else Origin(None, op))
        if origin is not None and releases is not None:
            releases |= origin.releases
        if origin is not None and origin.merged:
            work += [a for a in origin.merged if isinstance(a, Value)]
        elif origin is not None and isinstance(origin.op, Apply) and (shared := views(origin.op)):
            work += shared
        else:
            found.append(origin)
    return found


def handed_on(
    low: Lowering, value: Value, atoms: tuple[Atom | None, ...], site: Any = None
) -> None:
    """Note the values of several paths that one value stands for, and where they have met."""
    if holds_arrays(value.type):
        merged = tuple(a for a in atoms if a is not None)
        releases = frozenset[Any]() if site is None else frozenset({site})
        low.session.made[value] = Origin(None, merged=merged, releases=releases)


# ---- reading and viewing


def kind_of(low: Lowering, ref: ArrayRef) -> Type:
    """The type of the array or view that a reference stands for."""
    return atom_type(low.atom(ref))


def get_item(low: Lowering, ref: ArrayRef, index: Abstract) -> Abstract:
    """``ref[index]``: a view where NumPy makes one."""
    where = low.atom(index)
    if is_basic_index(where):
        array = low.atom(ref)
        if isinstance(low.builder.typed(operator.getitem, (array, where)), Array):
            return ArrayRef(ref.place, (*ref.path, View(operator.getitem, (where,))))
    array = low.atom(ref)
    found = low.builder.apply(operator.getitem, array, where)
    if holds_arrays(atom_type(found)) and array in sharing(operator.getitem, (array, where)):
        low.freeze(ref)  # perhaps a view, of which nothing else is known
    return containers.wrap(low, found)


def attribute(low: Lowering, ref: ArrayRef, descriptor: Any) -> Abstract:
    """An attribute that is data, such as ``.T``."""
    return called(low, descriptor, [ref], {})


def called(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A pure call of which buffers are arguments: its result may be a view of one."""
    given = [*args, *keywords.values()]
    atoms = [low.peek(a) for a in args]
    named: dict[str, Any] = {k: low.peek(v) for k, v in keywords.items()}
    pairs = tuple(named.items())
    kind = low.builder.typed(function, tuple(atoms), pairs)
    shared = (
        {} if isinstance(kind, (Number, NumPyScalar)) else sharing(function, tuple(atoms), pairs)
    )
    pieces = zip(given, (*atoms, *named.values()), strict=True)
    which = [g for g, atom in pieces if isinstance(g, ArrayRef) and atom in shared]
    if not which:
        return containers.wrap(low, low.builder.apply(function, *atoms, **named))
    first = args[0] if args else None
    others = [a for a in (*atoms, *named.values()) if a in shared and a is not atoms[0]]
    if first is which[0] and isinstance(first, ArrayRef) and len(which) == 1 and not others:
        step = View(function, tuple(atoms[1:]), pairs)
        found = _viewed(low, first, step, kind)
        if found is not None:
            known = first.place in low.session.contiguous and not first.path and not pairs
            if shared[atoms[0]] is Sharing.SOMETIMES and not known:  # type: ignore[index]  # it is a value
                whole = low.atom(ArrayRef(first.place))
                part = found if isinstance(found, ArrayRef) else _first(low, found)
                low.builder.effect(runtime.require_view, low.atom(part), whole)
            return found
    for ref in which:  # several arrays, or a list of views: read from now on, but not written
        low.freeze(ref)
    return containers.wrap(low, low.builder.apply(function, *atoms, **named))


def _first(low: Lowering, parts: Abstract) -> Abstract:
    items = containers.items_of(low, parts)
    assert items
    return items[0]


def _viewed(low: Lowering, ref: ArrayRef, step: View, kind: Type) -> Abstract | None:
    match kind:
        case Array():
            return ArrayRef(ref.place, (*ref.path, step))
        case TupleType(items=items, cls=cls) if all(isinstance(i, Array) for i in items):
            parts = tuple(
                ArrayRef(ref.place, (*ref.path, step, View(operator.getitem, (Literal(k),))))
                for k in range(len(items))
            )
            return low.new_list(Items(parts)) if cls is list else TupleRef(parts)
    return None


def settled(low: Lowering, value: Abstract) -> Abstract:
    """An item of an iteration over a buffer: a number is read when it is its turn."""
    match value:
        case ArrayRef():
            found = low.atom(value)
            kind = atom_type(found)
            if isinstance(kind, Array) and kind.dims != ():
                return value
            return containers.wrap(low, found)
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(settled(low, i) for i in items), cls)
    return value


# ---- writing


def store(low: Lowering, ref: ArrayRef, index: Atom, value: Abstract) -> None:
    """``ref[index] = value``"""
    _write(low, ref, operator.setitem, index, _item(low, ref, value))


def _write(low: Lowering, ref: ArrayRef, callee: Any, index: Atom, item: Atom) -> None:
    if low.is_shared(ref.place):
        low.require_release(low.session.releasable.get(ref.place, frozenset()))
        low.refuse(*refusal("shared array"), kind=NeedsUnroll)
    held, path = low.contents(ref), ref.path
    assert isinstance(held, Held)
    if (
        index is WHOLE
        and path
        and path[-1].callee is operator.getitem
        and isinstance(kind_of(low, ArrayRef(ref.place, path[:-1])), Array)
    ):
        path, index = path[:-1], path[-1].args[0]
    one = isinstance(atom_type(item), (Number, NumPyScalar))
    with nullcontext() if one else low.bit_by_bit():
        version = low.builder.update(callee, held.value, index, item, path=path)
        low.restate(ref, Held(version))


def _item(low: Lowering, ref: ArrayRef, value: Abstract) -> Atom:
    """What is written, as an atom."""
    if isinstance(value, (ListRef, TupleRef)):
        item = low.builder.apply(np.asarray, low.peek(value))
    else:
        item = low.atom(value)
    kind, whole = atom_type(item), kind_of(low, ArrayRef(ref.place))
    if is_complex(kind) and not is_complex(whole):
        low.refuse(
            "a complex number is written into a real array", "make the array with dtype=complex"
        )
    if isinstance(kind, Opaque) or not isinstance(kind, (Number, NumPyScalar, Array, Unknown)):
        low.refuse(f"a value of type {kind} is written into an array", "write numbers or arrays")
    return item


_LINEAR = {operator.add: operator.iadd, operator.sub: operator.isub}


class Before:
    """What ``ref[index] op= value`` has read when ``value`` is evaluated.

    Nothing is read unless it has to be: most often ``value`` leaves the array as it is, and one
    update adds to it.
    """

    def __init__(self, low: Lowering, ref: ArrayRef, index: Atom) -> None:
        self.array = low.atom(ref)
        self.index = index
        self.ref = ref
        self.held = low.contents(ref)
        self.ops = low.builder.ops
        self.mark = len(self.ops)

    def is_stale(self, low: Lowering) -> bool:
        """Whether the array has been written since, and what was read of it was no view."""
        return low.contents(self.ref) is not self.held and not (
            is_basic_index(self.index) and isinstance(self._kind(low), Array)
        )

    def item(self, low: Lowering) -> Abstract:
        """What was read, as of then."""
        assert low.builder.ops is self.ops
        item = Value("", self._kind(low))
        args = (self.array, self.index)
        self.ops.insert(self.mark, Apply(operator.getitem, args, (), item, low.builder.loc))
        return containers.wrap(low, item)

    def _kind(self, low: Lowering) -> Type:
        return low.builder.typed(operator.getitem, (self.array, self.index))


def augment(low: Lowering, ref: ArrayRef, op: Any, index: Atom, value: Abstract) -> None:
    """``ref[index] op= value``"""
    part = low.builder.typed(operator.getitem, (low.atom(ref), index))
    with low.bit_by_bit() if isinstance(part, Array) else nullcontext():
        _augment(low, ref, op, index, value, part)


def _augment(
    low: Lowering, ref: ArrayRef, op: Any, index: Atom, value: Abstract, part: Type
) -> None:
    array = low.atom(ref)
    whole = kind_of(low, ArrayRef(ref.place))
    item = _item(low, ref, value)
    if op in _LINEAR and is_basic_index(index) and _is_inexact(whole):
        _write(low, ref, _LINEAR[op], index, item)
        return
    current = array if index is WHOLE else low.builder.apply(operator.getitem, array, index)
    found = expressions.binary(low, op, containers.wrap(low, current), containers.wrap(low, item))
    kind = atom_type(low.atom(found))
    if isinstance(part, Array) and not _is_inexact(whole) and _is_inexact(kind):
        low.refuse(
            "an array of integers is changed by floats in place",
            "the plain function raises TypeError here too: make the array with dtype=float",
        )
    store(low, ref, index, found)


def _is_inexact(kind: Type) -> bool:
    match kind:
        case Array(dtype=dtype) | NumPyScalar(dtype=dtype):
            return dtype is not None and np.dtype(dtype).kind in "fc"
        case Number(kind=name):
            return name in ("float", "complex")
    return False


# ---- functions that write


def target(low: Lowering, value: Abstract) -> ArrayRef:
    """The buffer that a call writes into."""
    if isinstance(value, ArrayRef):
        return value
    return written(low, value)


def write_out(
    low: Lowering,
    function: Any,
    args: list[Abstract],
    keywords: dict[str, Abstract],
    out: Abstract,
    call: Callable[[Lowering, Any, list[Abstract], dict[str, Abstract]], Abstract],
) -> Abstract:
    """``function(*args, out=out, where=…)``: what it returns is ``out``.

    A function of several results has a tuple of them, in which None stands for a new array.
    """
    outs = out.items if isinstance(out, TupleRef) else (out,)
    refs = tuple(o if _is_none(o) else target(low, o) for o in outs)
    rest = {k: v for k, v in keywords.items() if k not in ("out", "where", "casting")}
    where = keywords.get("where")
    if isinstance(where, Static) and where.value is True:
        where = None
    if where is not None and not isinstance(function, np.ufunc):
        low.refuse(*refusal("out argument", name=getattr(function, "__name__", "this call")))
    with low.bit_by_bit():
        result = call(low, function, args, rest)
        results = [result] if len(refs) == 1 else containers.items_of(low, result)
        assert results is not None
        written = []
        for ref, part in zip(refs, results, strict=True):
            written.append(ref if isinstance(ref, ArrayRef) else part)
            if isinstance(ref, ArrayRef):
                _require_castable(low, ref, part)
                store(low, ref, WHOLE, part if where is None else _where(low, where, part, ref))
    return written[0] if len(refs) == 1 else TupleRef(tuple(written))


def _is_none(value: Abstract) -> bool:
    return isinstance(value, Static) and value.value is None


def _require_castable(low: Lowering, ref: ArrayRef, value: Abstract) -> None:
    kind = atom_type(low.atom(value))
    if not _is_inexact(kind_of(low, ref)) and _is_inexact(kind):
        low.refuse(
            "floats are written into an array of integers by a function",
            "the plain function raises TypeError here too: make the array with dtype=float",
        )


def _where(low: Lowering, where: Abstract, value: Abstract, ref: ArrayRef) -> Abstract:
    atoms = (low.atom(where), low.atom(value), low.atom(ref))
    return containers.wrap(low, low.builder.apply(np.where, *atoms))


def _fill(low: Lowering, array: Abstract, value: Abstract) -> None:
    store(low, target(low, array), WHOLE, value)


def _sort(
    low: Lowering,
    array: Abstract,
    axis: Abstract = _LAST,
    kind: Abstract = NONE,
    order: Abstract = NONE,
    *,
    stable: Abstract = NONE,
) -> None:
    options = {"kind": kind, "order": order, "stable": stable}
    _replace(low, np.sort, array, (axis,), options)


def _partition(
    low: Lowering,
    array: Abstract,
    kth: Abstract,
    axis: Abstract = _LAST,
    kind: Abstract = NONE,
    order: Abstract = NONE,
) -> None:
    _replace(low, np.partition, array, (kth, axis), {"kind": kind, "order": order})


def _replace(
    low: Lowering,
    function: Any,
    array: Abstract,
    args: tuple[Abstract, ...],
    options: dict[str, Abstract],
) -> None:
    """Write what a function makes of an array into it."""
    ref = target(low, array)
    named: dict[str, Any] = {k: low.atom(v) for k, v in options.items() if not _is_none(v)}
    found = low.builder.apply(function, low.atom(ref), *map(low.atom, args), **named)
    store(low, ref, WHOLE, containers.wrap(low, found))


def _copyto(
    low: Lowering,
    dst: Abstract,
    src: Abstract,
    casting: Abstract | None = None,
    where: Abstract | None = None,
) -> None:
    ref = target(low, dst)
    if where is not None and not (isinstance(where, Static) and where.value is True):
        src = _where(low, where, src, ref)
    if casting is None:
        _require_castable(low, ref, src)
    store(low, ref, WHOLE, src)


def _cycled(low: Lowering, values: Abstract, count: Atom) -> Abstract:
    """As many of the values as are wanted, from the first again after the last."""
    atom = low.peek(values)
    if rank(atom_type(atom)) == 0:
        return containers.wrap(low, atom)
    apply = low.builder.apply
    flat = apply(np.ravel, atom)
    index = apply(operator.mod, apply(np.arange, count), apply(len, flat))
    return containers.wrap(low, apply(operator.getitem, flat, index))


def _put(low: Lowering, a: Abstract, ind: Abstract, v: Abstract, mode: Abstract = _RAISE) -> None:
    apply = low.builder.apply
    ref = target(low, a)
    index = apply(np.ravel, apply(np.asarray, low.peek(ind)))
    count = apply(len, index)
    how = mode.value if isinstance(mode, Static) else None
    if how not in ("raise", "wrap", "clip"):
        low.refuse("np.put with a mode that is known at run time only", "give it as a string")
    size = apply(np.size, low.atom(ref))
    place = index
    if how == "wrap":
        place = apply(operator.mod, index, size)
    elif how == "clip":
        place = apply(np.clip, index, Literal(0), apply(operator.sub, size, Literal(1)))
    if rank(kind_of(low, ref)) != 1:
        if how == "raise":
            back = apply(operator.add, index, size)
            place = apply(np.where, apply(operator.lt, index, Literal(0)), back, index)
        place = apply(np.unravel_index, place, apply(np.shape, low.atom(ref)))
    store(low, ref, place, _cycled(low, v, count))


def _put_method(
    low: Lowering,
    array: Abstract,
    indices: Abstract,
    values: Abstract,
    mode: Abstract = _RAISE,
) -> None:
    _put(low, array, indices, values, mode)


def _place(low: Lowering, arr: Abstract, mask: Abstract, vals: Abstract) -> None:
    chosen = low.builder.apply(np.asarray, low.peek(mask), Literal(bool))
    count = low.builder.apply(np.count_nonzero, chosen)
    store(low, target(low, arr), chosen, _cycled(low, vals, count))


def _putmask(low: Lowering, array: Abstract, mask: Abstract, values: Abstract) -> None:
    ref = target(low, array)
    atom = low.peek(values)
    kind, whole = atom_type(atom), kind_of(low, ref)
    if rank(kind) != 0 and not same_shape(kind, whole):
        atom = low.atom(_cycled(low, values, low.builder.apply(np.size, low.atom(ref))))
        atom = low.builder.apply(np.reshape, atom, low.builder.apply(np.shape, low.atom(ref)))
    store(low, ref, WHOLE, _where(low, mask, containers.wrap(low, atom), ref))


def _fill_diagonal(low: Lowering, a: Abstract, val: Abstract, wrap: Abstract = FALSE) -> None:
    ref = target(low, a)
    dims = dims_of(kind_of(low, ref))
    if dims is None or len(dims) < 2 or not isinstance(wrap, Static):
        low.refuse("np.fill_diagonal of this array", "write a loop")
    equal = None not in dims and len(set(dims)) == 1
    if len(dims) > 2 and not equal:
        low.refuse("np.fill_diagonal of an array whose sizes may differ", "write a loop")
    apply = low.builder.apply
    shape = apply(np.shape, low.atom(ref))
    sides = [apply(operator.getitem, shape, Literal(k)) for k in range(len(dims))]
    if len(dims) == 2 and wrap.value and not equal:
        step = containers.wrap(low, apply(operator.add, sides[1], Literal(1)))
        flat = calls.call(low, Static(elements.Flat), [ref], {})
        subscripts.set_item(low, flat, SliceRef(NONE, NONE, step), val)
        return
    size = sides[0] if equal else apply(min, *sides)
    place = apply(make_tuple, *[apply(np.arange, size)] * len(dims))
    store(low, ref, place, _cycled(low, val, size))


def _put_along_axis(
    low: Lowering, arr: Abstract, indices: Abstract, values: Abstract, axis: Abstract = NONE
) -> None:
    ref = target(low, arr)
    dims = dims_of(kind_of(low, ref))
    if dims is None or not isinstance(axis, Static) or type(axis.value) is not int:
        low.refuse("np.put_along_axis of this array", "write into an index of your own")
    apply = low.builder.apply
    shape, places = apply(np.shape, low.atom(ref)), []
    for k in range(len(dims)):
        if k == axis.value % len(dims):
            places.append(low.peek(indices))
        else:
            row = apply(np.arange, apply(operator.getitem, shape, Literal(k)))
            ones = [-1 if j == k else 1 for j in range(len(dims))]
            places.append(apply(np.reshape, row, Literal(tuple(ones))))
    store(low, ref, apply(make_tuple, *places), values)


def _at(
    low: Lowering, function: Abstract, array: Abstract, indices: Abstract, *values: Abstract
) -> None:
    ufunc = function.value if isinstance(function, Static) else None
    if not isinstance(ufunc, np.ufunc) or (ufunc.nin, ufunc.nout) != (len(values) + 1, 1):
        low.refuse(*refusal("array method", name=f"{getattr(ufunc, '__name__', 'a ufunc')}.at"))
    ref, index = target(low, array), low.peek(indices)
    if ufunc in _ADDING:
        _write(low, ref, _ADDING[ufunc], index, _item(low, ref, *values))
    elif picks_once(index):
        part = get_item(low, ref, indices)
        found = calls.call(low, function, [part, *values], {})
        _require_castable(low, ref, found)
        store(low, ref, index, found)
    else:
        calls.call(low, Static(elements.at), [function, ref, indices, *values], {})


def _setitem(low: Lowering, array: Abstract, index: Abstract, value: Abstract) -> None:
    subscripts.set_item(low, array, index, value)


_ADDING = {np.add: np.add.at, np.subtract: np.subtract.at}

_METHODS = np.ndarray
WRITERS: dict[Any, Callable[..., None]] = {
    _METHODS.fill: _fill,
    _METHODS.sort: _sort,
    _METHODS.partition: _partition,
    _METHODS.put: _put_method,
    np.copyto: _copyto,
    np.put: _put,
    np.place: _place,
    np.putmask: _putmask,
    np.put_along_axis: _put_along_axis,
    np.fill_diagonal: _fill_diagonal,
    np.ufunc.at: _at,
    operator.setitem: _setitem,
    _METHODS.__setitem__: _setitem,
}
"""Functions and methods that write into their first argument and return None."""


def write(
    low: Lowering, function: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """A call of one of ``WRITERS``."""
    with low.bit_by_bit():
        WRITERS[function](low, *args, **keywords)
    return NONE
