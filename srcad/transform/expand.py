"""Derivatives where they are taken: ``vjp`` and ``jvp`` of a function, at the cursor of a lowering.

The function is lowered as a block whose parameters are the leaves to differentiate by; what else it
reads are values around it, which its derivative takes as constant.  So a derivative inside a
function is code like any other, and taking the derivative of that is no special case: perturbations
of different derivatives cannot be confused, since each is a block of its own.

Pearlmutter and Siskind, Reverse-Mode AD in a Functional Framework (2008), state the requirement.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad import rules, runtime
from srcad.analysis.activity import varied_values
from srcad.analysis.existence import missing_values
from srcad.analysis.steepness import is_steep
from srcad.errors import NotDifferentiable
from srcad.frontend import arrays, calls, containers
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
    ObjectRef,
    Static,
    TupleRef,
)
from srcad.frontend.abstract import parts as abstract_parts
from srcad.frontend.attributes import get_attribute
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Lowering, Unreachable
from srcad.ir import Atom, Block, Effect, Literal, Value
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    FLOAT,
    Array,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Type,
    is_differentiable,
    is_text,
    may_hide,
)
from srcad.ir.walk import all_ops, copy_block, free_values, results, values_read
from srcad.options import DEFAULTS, Options
from srcad.passes.dce import prune_block
from srcad.passes.prepare import prepared
from srcad.transform import spaces
from srcad.transform.adjoints import refuse_hidden
from srcad.transform.calls import DifferentiatedCall
from srcad.transform.defined import (
    check_constant,
    check_input,
    kind_name,
    refuse_input,
    require_present,
    unit_seed,
)
from srcad.transform.forward import Pusher
from srcad.transform.functions import Functions
from srcad.transform.kept import defined_in, everything_in, only_for_shape, rename_values
from srcad.transform.reverse import Swept, sweep_block
from srcad.transform.signatures import argument_name
from srcad.transform.structures import (
    leaf_atoms,
    match_leaves,
    settle,
    tangents_of,
    transplant,
)
from srcad.transform.writes import is_view_of


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


@dataclass(frozen=True, slots=True, eq=False)
class Pulled:
    """The value of a function and the reverse of its block."""

    value: Abstract
    aux: Abstract | None
    inner: Inner
    seeds: tuple[Value, ...]
    reverse: Block
    """Parameters are the seeds, yields the adjoints of the leaves; it reads the forward sweep."""


@dataclass(frozen=True, slots=True, eq=False)
class Pushed:
    """The value of a function and its tangent."""

    value: Abstract
    tangent: Abstract
    aux: Abstract | None


_NARROW = {"float16": np.float16, "float32": np.float32, "complex64": np.complex64}


def _narrow(low: Lowering, bar: Atom, kind: NumPyScalar | Array) -> Atom:
    """The gradient by what has single precision in that: what it was multiplied with may have
    been wider, as numbers of double precision do not differ from Python's here."""
    cast = _NARROW[kind.dtype or ""]
    if isinstance(kind, Array):
        return low.builder.apply_typed(np.array, (bar, Literal(cast)), kind)
    made = low.builder.definition(bar)
    if made is not None and made.callee is cast:
        return bar
    return low.builder.apply_typed(cast, (bar,), kind)


def _may_widen(block: Block) -> bool:
    """Whether there are numbers in a block that may be Python's, or NumPy's of double precision."""
    return any(v.type == FLOAT for op in all_ops(block) for v in (*results(op), *values_read(op)))


def _without_axes(low: Lowering, bar: Atom, kind: Array) -> Atom:
    """The gradient by an array without axes, of which the number may be an integer 0."""
    if kind.dtype is None or atom_type(bar) == FLOAT:
        return low.builder.apply(np.asarray, bar)
    return low.builder.apply(np.asarray, bar, Literal(np.dtype(kind.dtype).type))


class Differentiator:
    """Takes derivatives of abstract functions in one lowering."""

    def __init__(self, options: Options = DEFAULTS) -> None:
        self.options = options
        self.functions: Functions | None = None
        self.buffers: list[ArrayRef] = []
        """The arguments of the function being lowered that it writes, to be copied in it."""
        self.copied: list[Value] = []
        """The arrays of which the function writes a copy."""

    def _functions(self, low: Lowering) -> Functions:
        if self.functions is None:
            self.functions = Functions(exact=low.session.exact, options=self.options)
        return self.functions

    # ---- the function as a block

    def lower_inner(
        self,
        call: DifferentiatedCall,
    ) -> Inner:
        """Lower a call as a block of the leaves of the arguments it is differentiated by."""
        low, function, args, keywords, wrt = (
            call.low,
            call.function,
            call.args,
            call.keywords,
            call.wrt,
        )
        params: list[Value] = []
        inits: list[Atom] = []
        state = dict(low.state)
        session = low.session
        outside = {k[1] for k in state if k[0] == "place"} | set(session.initial)
        given = reached(low, [*args, *keywords.values()])
        for place in given:  # what the function changes of its arguments is noted
            session.identities.setdefault(place, place)

        def leaf(name: str, atom: Atom) -> Value:
            kind = atom_type(atom)
            check_input(low, name, kind)
            if isinstance(kind, Number) and kind.kind != "complex":
                kind = Number("float")
            param = Value(atom.hint if isinstance(atom, Value) else name, kind)
            params.append(param)
            low.session.leaves.add(param)
            inits.append(atom)
            importer = low.session.importer
            if isinstance(atom, Value) and atom in importer.vectors:
                importer.vectors[param] = None
            if isinstance(atom, Value) and atom in importer.sized:
                importer.sized[param] = importer.sized[atom]
            return param

        outer_lists = dict(low.session.importer.lists)
        outer_elements = dict(low.session.importer.elements)
        # what is not differentiated by is read only inside, unless it is copied there
        positional = [a if k in wrt else self._detached(low, a, k) for k, a in enumerate(args)]
        named = {n: a if n in wrt else self._detached(low, a, n) for n, a in keywords.items()}
        inputs = []
        for which in wrt:
            label = argument_name(function, which)
            source = call.argument(which)
            if isinstance(source, Static):
                check_constant(low, label, source.value)
            fresh = self._fresh(low, source, label, leaf)
            inputs.append(fresh)
            if isinstance(which, str):
                named[which] = fresh
            else:
                positional[which] = fresh
        before = dict(low.state)
        buffers, self.buffers = self.buffers, []
        copied, self.copied = self.copied, []
        box: list[Abstract] = []
        prelude = session.prelude
        written, session.written = session.written, {}
        read, session.read = session.read, set()
        closed, session.closed = session.closed, session.closed | (outside - given)

        def run() -> None:
            # reads of the leaves that are hoisted go to the head of this block, not of the function
            session.prelude = low.builder
            head = Builder(low.builder.parent)
            head.depth = low.builder.depth
            session.prelude = head
            try:
                for ref in buffers:
                    arrays.own(low, ref)
                box.append(calls.call(low, function, positional, named))
            finally:
                low.builder.ops[:0] = head.ops

        try:
            region = low.region(run)
        finally:
            session.prelude, session.closed = prelude, closed
            session.written, changed = {**written, **session.written}, session.written
            session.read, seen = read | session.read, session.read
            session.importer.lists = outer_lists
            session.importer.elements = outer_elements
        if region.dead:  # it always raises, and so does its derivative
            raising = Block((), tuple(region.builder.ops), ())
            for op in rename_values(raising, dict(zip(params, inits, strict=True))).ops:
                low.builder.append(op)
            raise Unreachable
        refuse_twins(low, [*positional, *named.values()], changed, seen)
        result = box[0]
        with low.inside(region):
            result, aux = settle(low, result), None
            if call.has_aux:
                result, aux = _with_aux(low, result)
            leaves = leaf_atoms(low, result)
            count = len(leaves)
            leaves += [] if aux is None else leaf_atoms(low, aux)
        contents = region.state
        for key in state:
            if key[0] == "variable" and region.state.get(key) is not state[key] and key[1] != 0:
                low.refuse(
                    "the differentiated function changes a variable of the function around it",
                    "return the value instead",
                )
        block = prepared(region.builder.block(tuple(params), tuple(leaves)), self.options)
        check_scopes(block)
        require_disjoint(low, copied, [*free_values(block), *inits])
        outputs = block.yields[:count]
        return Inner(block, tuple(inits), tuple(inputs), result, aux, outputs, contents, before)

    def _detached(self, low: Lowering, value: Abstract, which: int | str) -> Abstract:
        """An argument that the function may write into, without a trace outside."""
        if not isinstance(value, ArrayRef):
            return value
        atom = low.read(value)
        assert isinstance(atom, Value)
        found = arrays.argument(low, atom, ("inner", which, low.site()))
        if isinstance(found, ArrayRef):
            arrays.own(low, found)
            self.copied.append(atom)
        return found

    def _fresh(
        self, low: Lowering, value: Abstract, name: str, leaf: Callable[[str, Atom], Value]
    ) -> Abstract:
        """An argument with its leaves replaced by parameters."""
        if isinstance(value, MaybeUnbound):
            return self._fresh(low, low.bound(value), name, leaf)
        made = self._copied(low, value, name, leaf)
        if isinstance(value, (ListRef, DictRef, ObjectRef)):
            assert isinstance(made, (ListRef, DictRef, ObjectRef))
            identities = low.session.identities
            identities[made.place] = identities.get(value.place, value.place)
        return made

    def _copied(
        self, low: Lowering, value: Abstract, name: str, leaf: Callable[[str, Atom], Value]
    ) -> Abstract:
        match value:
            case Value():
                param = leaf(name, value)
                if not isinstance(param.type, Array):
                    return param
                found = arrays.argument(low, param, ("leaf", name))
                if isinstance(found, ArrayRef):
                    self.buffers.append(found)
                    self.copied.append(value)
                    low.session.importer.vectors.pop(param, None)
                    if value in low.session.importer.arrays:
                        low.session.owned.append(value)
                return found
            case ArrayRef():
                return self._fresh(low, low.read(value), name, leaf)
            case Static(value=known):
                if isinstance(known, (int, float, complex)) and not isinstance(known, bool):
                    return leaf(name, Literal(known))
                if known is None or isinstance(known, (str, bool)) or callable(known):
                    if isinstance(known, (bool, str)):
                        check_constant(low, name, known)
                    return value
            case TupleRef(items=items, cls=cls):
                return TupleRef(
                    tuple(self._fresh(low, i, f"{name}[{k}]", leaf) for k, i in enumerate(items)),
                    cls,
                )
            case ListRef():
                contents = low.contents(value)
                if isinstance(contents, Held):
                    held = contents.value
                    if contents.borrowed == "argument" and held.type == ListType(Number("real")):
                        refuse_input(low, name, "a list with integers in it", "write 1.0 for 1")
                    return low.new_list(Held(leaf(name, held), "argument"))
                assert isinstance(contents, Items)
                return low.new_list(
                    Items(
                        tuple(
                            self._fresh(low, i, f"{name}[{k}]", leaf)
                            for k, i in enumerate(contents.items)
                        )
                    )
                )
            case DictRef():
                entries = low.contents(value)
                if isinstance(entries, Held):
                    low.refuse(
                        "a derivative by a dict with run-time keys is taken", "use fixed keys"
                    )
                assert isinstance(entries, Entries)
                return low.new_dict(
                    Entries(
                        entries.keys,
                        tuple(
                            self._fresh(low, v, f"{name}[{k!r}]", leaf)
                            for k, v in zip(entries.keys, entries.values, strict=True)
                        ),
                    )
                )
            case ObjectRef(cls=cls):
                if dataclasses.is_dataclass(cls):
                    names = tuple(f.name for f in dataclasses.fields(cls))
                    values = tuple(
                        self._fresh(low, get_attribute(low, value, n), f"{name}.{n}", leaf)
                        for n in names
                    )
                    return low.new_object(cls, Fields(names, values, None))
        hint = "differentiate by floats, float arrays, or containers of them"
        if isinstance(value, ObjectRef):
            hint = (
                f"make {kind_name(value)} a dataclass of floats and float arrays, "
                "or write a function that takes these as arguments and makes the object"
            )
        raise NotDifferentiable(
            low.place(), f"{name} is a {kind_name(value)}: a derivative by it is not defined", hint
        )

    # ---- reverse mode

    def vjp(
        self,
        call: DifferentiatedCall,
        *,
        unit: bool = False,
    ) -> Pulled:
        """The value of a call, and its reverse: from the cotangent of the value to a tuple of
        gradients.

        With ``unit`` the value has to be a real scalar and its cotangent is 1, without a seed.
        """
        low, inner = call.low, self.lower_inner(call)
        params = inner.block.params
        seed = unit_seed(low, settle(low, inner.result)) if unit else None

        swept = sweep_block(
            inner.block,
            params,
            inner.outputs,
            lambda: self._builder(low),
            self._functions(low),
            seed=seed,
            managers=_managers(inner.block),
            options=self.options,
        )
        names: dict[Value, Any] = dict(zip(params, inner.inits, strict=True))
        body = rename_values(Block((), swept.forward, inner.block.yields), names)
        for op in body.ops:
            low.builder.append(op)
        copied = {v: k for v, k in swept.kept.items() if v is not k}
        reverse = rename_values(rename_values(swept.reverse, copied), names)
        return Pulled(*self._out(low, inner, names), inner, reverse.params, reverse)

    def pull(self, low: Lowering, pulled: Pulled, ct: Abstract | None) -> Abstract:
        """Write the reverse for a cotangent (None: there is no seed); a tuple of gradients."""
        atoms = [] if ct is None else self.cotangents(low, pulled, ct)
        made = copy_block(
            Block((), pulled.reverse.ops, pulled.reverse.yields),
            dict(zip(pulled.seeds, atoms, strict=True)),
        )
        for op in made.ops:
            low.builder.append(op)
        return self.gradients(low, pulled.inner, made.yields)

    def value(self, call: DifferentiatedCall) -> tuple[Abstract, Abstract | None]:
        """The value of a call, and its auxiliary data."""
        low, inner = call.low, self.lower_inner(call)
        names: dict[Value, Any] = dict(zip(inner.block.params, inner.inits, strict=True))
        for op in rename_values(Block((), inner.block.ops, inner.block.yields), names).ops:
            low.builder.append(op)
        return self._out(low, inner, names)

    def _out(
        self, low: Lowering, inner: Inner, names: dict[Value, Any]
    ) -> tuple[Abstract, Abstract | None]:
        """The result and the auxiliary data of the inner function, in the state outside."""
        value: Abstract = transplant(low, inner.result, inner.contents, names)
        if inner.aux is None:
            return value, None
        return value, transplant(low, inner.aux, inner.contents, names)

    def cotangents(self, low: Lowering, pulled: Pulled, ct: Abstract) -> list[Atom]:
        """The leaves of a cotangent, in the types of the result."""
        found = match_leaves(low, pulled.inner.result, pulled.inner.contents, ct)
        atoms = []
        for seed, atom in zip(pulled.seeds, found, strict=True):
            if isinstance(seed.type, ListType) and isinstance(atom, Value):
                atom = low.builder.apply_typed(
                    list, (atom,), seed.type
                )  # the caller's list stays as it is
            atoms.append(atom)
        return atoms

    def gradients(self, low: Lowering, inner: Inner, bars: tuple[Atom, ...]) -> Abstract:
        """Gradients in the structure of the arguments."""
        order = dict(zip(inner.block.params, bars, strict=True))
        return TupleRef(tuple(self._gradient(low, i, inner, order) for i in inner.inputs))

    def _gradient(
        self, low: Lowering, value: Abstract, inner: Inner, bars: dict[Value, Atom]
    ) -> Abstract:
        match value:
            case Value(type=kind) if value in bars:
                bar = bars[value]
                if (
                    isinstance(kind, Array)
                    and kind.dims == ()
                    and not isinstance(atom_type(bar), Array)
                ):
                    bar = _without_axes(low, bar, kind)
                elif isinstance(kind, (NumPyScalar, Array)) and kind.dtype in _NARROW:
                    if isinstance(kind, NumPyScalar) or _may_widen(inner.block):
                        bar = _narrow(low, bar, kind)
                elif isinstance(kind, (Number, NumPyScalar)) and isinstance(atom_type(bar), Array):
                    bar = low.builder.apply(operator.getitem, bar, Literal(()))
                return containers.wrap(low, bar)
            case ArrayRef(place=place):
                return self._gradient(low, inner.given["place", place, ""].value, inner, bars)
            case TupleRef(items=items, cls=cls):
                return TupleRef(tuple(self._gradient(low, i, inner, bars) for i in items), cls)
            case ListRef() | DictRef() | ObjectRef():
                match inner.given["place", value.place, ""]:
                    case Held(value=held):
                        return containers.wrap(low, bars[held])
                    case Items(items=items):
                        return low.new_list(
                            Items(tuple(self._gradient(low, i, inner, bars) for i in items))
                        )
                    case Entries(keys=keys, values=values):
                        made = tuple(self._gradient(low, v, inner, bars) for v in values)
                        return low.new_dict(Entries(keys, made))
                    case Fields(names=names, values=values):
                        assert isinstance(value, ObjectRef)
                        made = tuple(self._gradient(low, v, inner, bars) for v in values)
                        return low.new_object(value.cls, Fields(names, made, None))
        return value

    # ---- forward mode

    def _pushed(self, low: Lowering, inner: Inner, tangents: list[Atom]) -> Block:
        """The block of a function with the tangents of its outputs after its yields."""
        block, params = inner.block, inner.block.params
        varied = varied_values(block, params, rules.is_constant)
        b = self._builder(low)
        b.given = {**everything_in(block), **dict.fromkeys(free_values(block))}
        b.missing = missing_values(block)
        b.steep = is_steep(block)
        pusher = Pusher(lambda v: v in varied, self._functions(low))
        pusher.tangents.update(zip(params, tangents, strict=True))
        pusher.push_ops(block.ops, b)
        ends = []
        for output in inner.outputs:
            hides = may_hide(atom_type(output)) and not is_text(atom_type(output))
            if isinstance(output, Value) and hides and output in varied:
                refuse_hidden(low.builder.loc, output.type)
            end = pusher.tangent(output)
            if end is None:
                end = (
                    spaces.zeros(b, output)
                    if is_differentiable(atom_type(output))
                    else _zero(output)
                )
            ends.append(end)
        return prune_block(b.block((), (*block.yields, *ends)))

    def _builder(self, low: Lowering) -> Builder:
        """A builder of derivative code, with nothing around it."""
        b = Builder(low.builder, exact=low.session.exact)
        b.parent = None
        b.simplify = True
        b.shorten = self.options.shorten
        return b

    def sweeps(
        self,
        call: DifferentiatedCall,
    ) -> tuple[Inner, Block, Swept]:
        """A call as a block, that with one tangent, and its two sweeps, to be compared."""
        low, inner = call.low, self.lower_inner(call)
        block = inner.block
        directions: list[Atom] = [Value("", spaces.tangent_type(p.type)) for p in block.params]
        swept = sweep_block(
            block,
            block.params,
            inner.outputs,
            lambda: self._builder(low),
            self._functions(low),
            managers=_managers(block),
            options=self.options,
        )
        return inner, self._pushed(low, inner, directions), swept

    def jvp(
        self,
        call: DifferentiatedCall,
        tangents: list[Abstract],
    ) -> Pushed:
        """The value of a call, and its tangent for tangents of the arguments."""
        low, inner = call.low, self.lower_inner(call)
        outputs = inner.outputs
        found: list[Atom] = []
        for given, tangent in zip(inner.inputs, tangents, strict=True):
            found += match_leaves(low, given, low.state, tangent)
        block = self._pushed(low, inner, found)
        names: dict[Value, Any] = dict(zip(inner.block.params, inner.inits, strict=True))
        made = rename_values(block, names)
        for op in made.ops:
            low.builder.append(op)
        ends = made.yields[len(inner.block.yields) :]
        value, aux = self._out(low, inner, dict(names))
        tangent_of = {o: e for o, e in zip(outputs, ends, strict=True) if isinstance(o, Value)}
        tangent = tangents_of(low, inner.result, inner.contents, tangent_of, iter(ends))
        return Pushed(value, tangent, aux)

    def tangent(self, call: DifferentiatedCall, directions: list[Abstract]) -> Abstract:
        """The derivative of a call in one direction."""
        found = self.jvp(call, directions)
        require_present(call.low, found.value)
        return found.tangent


def kept(low: Lowering, pulled: Pulled) -> Pulled:
    """The reverse of a call for later: it reads copies of arrays that may be written until then."""
    held = [c.value for k, c in low.state.items() if k[0] == "place" and isinstance(c, Held)]
    copies: dict[Value, Any] = {}
    for value in free_values(pulled.reverse):
        if only_for_shape(value, pulled.reverse):
            continue
        if isinstance(value.type, Array) and is_view_of(value, held, low.builder):
            copies[value] = low.builder.apply(np.array, value, hint=value.hint)
    return dataclasses.replace(pulled, reverse=rename_values(pulled.reverse, copies))


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


def check_scopes(block: Block) -> None:
    """A value read outside the block it is defined in would silently have no derivative."""
    top = defined_in(block)
    hidden = {v for v in everything_in(block) if v not in top}
    for value in free_values(block):
        assert value not in hidden, f"{value!r} is read outside its block"


def _zero(atom: Atom) -> Atom:
    """The tangent of what has none: of an integer or a constant."""
    kind = atom_type(atom)
    if isinstance(kind, Number):
        return Literal(0.0)
    return Literal(None)


def _managers(block: Block) -> dict[Value, Any]:
    return {
        op.result: op
        for op in all_ops(block)
        if isinstance(op, Effect) and op.result is not None and op.callee is np.errstate
    }


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
        work.extend(abstract_parts(value))
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
        work.extend(abstract_parts(value))


def like(low: Lowering, pulled: Pulled) -> tuple[Abstract, Value]:
    """A parameter for the cotangent of a result, and its abstract value."""
    kinds = iter([s.type for s in pulled.seeds])

    def build(pattern: Any, make: Callable[[Type], Value], own: Callable[[], Value]) -> Abstract:
        match pattern:
            case TupleRef(items=items, cls=cls):
                whole = own()
                return TupleRef(
                    tuple(
                        _part(build, whole, i, k, operator.getitem, low)
                        for k, i in enumerate(items)
                    ),
                    cls,
                )
            case ListRef() | DictRef() | ObjectRef():
                contents = pulled.inner.contents[("place", pattern.place, "")]
                match contents:
                    case Items(items=items):
                        whole = own()
                        parts = [
                            _part(build, whole, i, k, operator.getitem, low)
                            for k, i in enumerate(items)
                        ]
                        return low.new_list(Items(tuple(parts)))
                    case Entries(keys=keys, values=values):
                        whole = own()
                        parts = [
                            _part(build, whole, v, k, operator.getitem, low)
                            for k, v in zip(keys, values, strict=True)
                        ]
                        return low.new_dict(Entries(keys, tuple(parts)))
                    case Fields(names=names, values=values):
                        whole = own()
                        parts = [
                            _part(build, whole, v, n, getattr, low)
                            for n, v in zip(names, values, strict=True)
                        ]
                        assert isinstance(pattern, ObjectRef)
                        return low.new_object(pattern.cls, Fields(names, tuple(parts), None))
                    case Held():
                        return low.new_list(Held(make(next(kinds)), "argument"))
            case Static(value=known) if not isinstance(known, (int, float, complex)) or isinstance(
                known, bool
            ):
                return pattern
        return make(next(kinds))

    param = Value("out_bar", Opaque("object"))

    def top(kind: Type) -> Value:
        param.type = kind
        return param

    return build(pulled.inner.result, top, lambda: param), param


def _part(build: Any, whole: Value, pattern: Any, key: Any, callee: Any, low: Lowering) -> Abstract:
    def make(kind: Type) -> Value:
        return low.builder.apply_typed(callee, (whole, Literal(key)), kind)

    def own() -> Value:
        return low.builder.apply_typed(callee, (whole, Literal(key)), Opaque("object"))

    found: Abstract = build(pattern, make, own)
    return found
