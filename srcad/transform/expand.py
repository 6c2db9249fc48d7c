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
from typing import Any, NoReturn

import numpy as np

from srcad import rules, runtime
from srcad.analysis.activity import varied_values
from srcad.analysis.existence import missing_values
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
    Array,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    Optional,
    Type,
    Unknown,
    dims_of,
    is_complex,
    is_differentiable,
    is_text,
    may_hide,
)
from srcad.ir.walk import all_ops, copy_block, free_values
from srcad.transform import spaces
from srcad.transform.adjoints import refuse_hidden
from srcad.transform.dce import prune_block
from srcad.transform.forward import Pusher
from srcad.transform.functions import Functions
from srcad.transform.reverse import (
    defined_in,
    everything_in,
    rename_values,
    sweep_block,
)
from srcad.transform.signatures import argument_name


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
    contents: dict[Any, Any]
    """What the containers of the result hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Pulled:
    """The value of a function and the reverse of its block."""

    value: Abstract
    inner: Inner
    pattern: Abstract
    """The part of the result that has a cotangent, in values of the inner block."""
    seeds: tuple[Value, ...]
    reverse: Block
    """Parameters are the seeds, yields the adjoints of the leaves; it reads the forward sweep."""


class Differentiator:
    """Takes derivatives of abstract functions in one lowering."""

    def __init__(self) -> None:
        self.functions: Functions | None = None
        self.buffers: list[ArrayRef] = []
        """The arguments of the function being lowered that it writes."""

    def _functions(self, low: Lowering) -> Functions:
        if self.functions is None:
            self.functions = Functions(exact=low.session.exact)
        return self.functions

    # ---- the function as a block

    def lower_inner(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
    ) -> Inner:
        """Lower a call of ``function`` as a block of the leaves of the arguments ``wrt``."""
        params: list[Value] = []
        inits: list[Atom] = []
        state = dict(low.state)

        def leaf(name: str, atom: Atom) -> Value:
            kind = atom_type(atom)
            check_input(low, name, kind)
            if isinstance(kind, Number) and kind.kind != "complex":
                kind = Number("float")
            param = Value(atom.hint if isinstance(atom, Value) else name, kind)
            params.append(param)
            inits.append(atom)
            if isinstance(atom, Value) and atom in low.session.importer.vectors:
                low.session.importer.vectors[param] = None
            return param

        outer_lists = dict(low.session.importer.lists)
        outer_elements = dict(low.session.importer.elements)
        # what is not differentiated by is read only inside, unless it is copied there
        positional = [self._detached(low, a, k) for k, a in enumerate(args)]
        named = {n: self._detached(low, a, n) for n, a in keywords.items()}
        inputs = []
        for which in wrt:
            label = argument_name(function, which)
            source = keywords[which] if isinstance(which, str) else args[which]
            if isinstance(source, Static):
                check_constant(low, label, source.value)
            fresh = self._fresh(low, source, label, leaf)
            inputs.append(fresh)
            if isinstance(which, str):
                named[which] = fresh
            else:
                positional[which] = fresh
        buffers, self.buffers = self.buffers, []
        box: list[Abstract] = []
        session = low.session
        prelude = session.prelude
        written, session.written = session.written, {}

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
            session.prelude = prelude
            session.written, changed = {**written, **session.written}, session.written
            session.importer.lists = outer_lists
            session.importer.elements = outer_elements
        if region.dead:  # it always raises, and so does its derivative
            raising = Block((), tuple(region.builder.ops), ())
            for op in rename_values(raising, dict(zip(params, inits, strict=True))).ops:
                low.builder.append(op)
            raise Unreachable
        refuse_twins(low, [*positional, *named.values()], changed)
        result = box[0]
        with low.inside(region):
            result = settle(low, result)
            leaves = leaf_atoms(low, result)
        contents = region.state
        for key in state:
            if key[0] == "variable" and region.state.get(key) is not state[key] and key[1] != 0:
                low.refuse(
                    "the differentiated function changes a variable of the function around it",
                    "return the value instead",
                )
        block = region.builder.block(tuple(params), tuple(leaves))
        check_scopes(block)
        return Inner(block, tuple(inits), tuple(inputs), result, contents)

    def _detached(self, low: Lowering, value: Abstract, which: int | str) -> Abstract:
        """An argument that the function may write into, without a trace outside."""
        if not isinstance(value, ArrayRef):
            return value
        atom = low.read(value)
        assert isinstance(atom, Value)
        found = arrays.argument(low, atom, ("inner", which, low.site()))
        if isinstance(found, ArrayRef):
            self.buffers.append(found)
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
        raise NotDifferentiable(
            low.place(),
            f"{name} is a {_kind_of(value)}: a derivative by it is not defined",
            "differentiate by floats, float arrays, or containers of them",
        )

    # ---- reverse mode

    def vjp(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
        *,
        has_aux: bool = False,
        unit: bool = False,
    ) -> Pulled:
        """The value of a call, and its reverse: from the cotangent of the value (of its first item
        with ``has_aux``) to a tuple of gradients.

        With ``unit`` the value has to be a real scalar and its cotangent is 1, without a seed.
        """
        inner = self.lower_inner(low, function, args, keywords, wrt)
        outputs = inner.block.yields
        pattern = inner.result
        if has_aux:
            if not isinstance(pattern, TupleRef) or len(pattern.items) != 2:
                raise NotDifferentiable(
                    low.place(),
                    "has_aux=True needs a function that returns (value, auxiliary data)",
                    "return a tuple of two, or leave has_aux out",
                )
            pattern = pattern.items[0]
        params, count = inner.block.params, len(leaves_of(low, pattern, inner.contents))
        seed = unit_seed(low, settle(low, pattern)) if unit else None

        def builder() -> Builder:
            b = Builder(low.builder, exact=low.session.exact)
            b.parent = None
            b.simplify = True
            return b

        swept = sweep_block(
            inner.block,
            params,
            outputs[:count],
            builder,
            self._functions(low),
            seed=seed,
            managers=_managers(inner.block),
        )
        names: dict[Value, Any] = dict(zip(params, inner.inits, strict=True))
        body = rename_values(Block((), swept.forward, outputs), names)
        for op in body.ops:
            low.builder.append(op)
        copied = {v: k for v, k in swept.kept.items() if v is not k}
        reverse = rename_values(rename_values(swept.reverse, copied), names)
        return Pulled(self._out(low, inner, names), inner, pattern, reverse.params, reverse)

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

    def _out(self, low: Lowering, inner: Inner, names: dict[Value, Any]) -> Abstract:
        """The result of the inner function, in the state outside."""
        found: Abstract = transplant(low, inner.result, inner.contents, names)
        return found

    def cotangents(self, low: Lowering, pulled: Pulled, ct: Abstract) -> list[Atom]:
        """The leaves of a cotangent, in the types of the result."""
        found = match_leaves(low, pulled.pattern, pulled.inner.contents, ct)
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
                if isinstance(kind, Array) and kind.dims == () and not _is_array(bar):
                    bar = low.builder.apply(np.asarray, bar)  # as the argument has no axes
                elif isinstance(kind, (Number, NumPyScalar)) and _is_array(bar):
                    bar = low.builder.apply(operator.getitem, bar, Literal(()))
                return containers.wrap(low, bar)
            case ArrayRef(place=place):
                held = low.state[("place", place, "")]  # what it was at the call
                return self._gradient(low, held.value, inner, bars)
            case TupleRef(items=items, cls=cls):
                return TupleRef(tuple(self._gradient(low, i, inner, bars) for i in items), cls)
            case ListRef() | DictRef() | ObjectRef():
                contents = inner.contents[("place", value.place, "")]
                initial = self._initial(low, value, contents)
                match initial:
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

    def _initial(self, low: Lowering, ref: Any, final: Any) -> Any:
        """What a container argument held when the function was called."""
        return low.state.get(("place", ref.place, ""), final)

    # ---- forward mode

    def jvp(
        self,
        low: Lowering,
        function: Abstract,
        args: list[Abstract],
        keywords: dict[str, Abstract],
        wrt: tuple[int | str, ...],
        tangents: list[Abstract],
    ) -> tuple[Abstract, Abstract]:
        """The value of a call, and its tangent for tangents of the arguments ``wrt``."""
        inner = self.lower_inner(low, function, args, keywords, wrt)
        params = inner.block.params
        varied = varied_values(inner.block, params, rules.is_constant)
        b = Builder(low.builder, exact=low.session.exact)
        b.parent = None
        b.simplify = True
        b.missing = missing_values(inner.block)
        pusher = Pusher(lambda v: v in varied, self._functions(low))
        found: list[Atom] = []
        for given, tangent in zip(inner.inputs, tangents, strict=True):
            found += match_leaves(low, given, low.state, tangent)
        for param, atom in zip(params, found, strict=True):
            pusher.tangents[param] = atom
        pusher.push_ops(inner.block.ops, b)
        outputs = inner.block.yields
        ends = []
        for output in outputs:
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
        block = prune_block(b.block((), (*outputs, *ends)))
        names: dict[Value, Any] = dict(zip(params, inner.inits, strict=True))
        made = rename_values(block, names)
        for op in made.ops:
            low.builder.append(op)
        count = len(outputs)
        value = transplant(low, inner.result, inner.contents, dict(names))
        tangent_of = {
            o: e for o, e in zip(outputs, made.yields[count:], strict=True) if isinstance(o, Value)
        }
        literal = iter(made.yields[count:])
        return value, tangents_of(low, inner.result, inner.contents, tangent_of, literal)


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


def refuse_twins(low: Lowering, args: list[Abstract], changed: dict[Any, None]) -> None:
    """Refuse to change a container that several arguments have in them."""
    seen: dict[Any, int] = {}
    work: list[Any] = list(args)
    while work:
        value = work.pop()
        if isinstance(value, (ListRef, DictRef, ObjectRef)):
            identity = low.session.identities.get(value.place, value.place)
            if seen.setdefault(identity, value.place) != value.place and identity in changed:
                low.refuse(*refusal("aliased change"))
            work.append(low.held_in(low.state, value.place))
        work.extend(abstract_parts(value))


def refuse_input(low: Lowering, name: str, what: str, hint: str) -> NoReturn:
    """Refuse a derivative by an argument that has none."""
    raise NotDifferentiable(
        low.place(),
        f"{name} is {what}: a derivative by it is not defined",
        f"{hint}, or leave {name} out of argnums",
    )


def check_input(low: Lowering, name: str, kind: Type) -> None:
    """Refuse a derivative by what has none."""
    if is_differentiable(kind):
        return
    match kind:
        case Number(kind=k):
            article = "an" if k == "int" else "a"
            refuse_input(low, name, f"{article} {k}", "pass a float: 3.0 instead of 3")
        case NumPyScalar(dtype=dtype):
            refuse_input(low, name, f"a NumPy {dtype}", f"pass float({name})")
        case Array(dtype=dtype):
            refuse_input(low, name, f"an array of dtype {dtype}", f"pass {name}.astype(float)")
        case ListType(item=Number(kind=k)):
            refuse_input(low, name, f"a list of {k}", "write 1.0 for 1")
    refuse_input(low, name, f"of type {kind}", "pass floats, float arrays or containers of them")


def check_constant(low: Lowering, name: str, known: Any) -> None:
    """Refuse a derivative by a string, a flag or None."""
    if known is None or isinstance(known, (bool, str, bytes)):
        what = "None" if known is None else f"a {type(known).__name__}"
        refuse_input(low, name, what, "pass floats, float arrays or containers of them")


def check_result(low: Lowering, value: Abstract) -> None:
    """Refuse the Jacobian of what is no float."""
    match value:
        case Value(type=kind) if is_differentiable(kind):
            require_present(low, value)
            return
        case Static(value=known) if isinstance(known, (int, float, complex)) and not isinstance(
            known, bool
        ):
            return
        case Value(type=kind):
            what = f"the type {kind}"
        case Static(value=known):
            what = "None" if known is None else f"a {type(known).__name__}"
        case _:
            what = f"a {type(value).__name__.removesuffix('Ref').lower()}"
    raise NotDifferentiable(
        low.place(), f"the function returns {what}, which has no derivative", "return floats"
    )


def require_present(low: Lowering, value: Abstract) -> None:
    """Refuse at run time what may be None."""
    if isinstance(value, Value) and isinstance(value.type, Optional):
        low.builder.effect(runtime.require_present, value)


def _kind_of(value: Abstract) -> str:
    match value:
        case Static(value=known):
            return type(known).__name__
        case ObjectRef(cls=cls):
            return cls.__name__
    return type(value).__name__


# ---- structures


def settle(low: Lowering, value: Abstract) -> Abstract:
    """A result without variables that may be unbound."""
    match value:
        case MaybeUnbound():
            return settle(low, low.bound(value))
        case ArrayRef():
            return low.read(value)
        case ListRef() | DictRef() | ObjectRef() if ("place", value.place, "") in low.state:
            contents = low.contents(value)
            match contents:
                case Items(items=items):
                    low.restate(value, Items(tuple(settle(low, i) for i in items)))
                case Entries(keys=keys, values=values):
                    low.restate(value, Entries(keys, tuple(settle(low, v) for v in values)))
                case Fields(names=names, values=values, origin=None):
                    low.restate(value, Fields(names, tuple(settle(low, v) for v in values), None))
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(settle(low, i) for i in items), cls)
    return value


def _is_array(atom: Atom) -> bool:
    return isinstance(atom_type(atom), Array)


def leaf_atoms(low: Lowering, value: Abstract) -> list[Atom]:
    """The leaves of a result, left to right."""
    return [low.atom(v) for v in leaves_of(low, value, low.state)]


def leaves_of(low: Lowering, value: Abstract, state: dict[Any, Any]) -> list[Abstract]:
    match value:
        case TupleRef(items=items):
            return [leaf for i in items for leaf in leaves_of(low, i, state)]
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", value.place, "")]
            match contents:
                case Held(value=held):
                    return [held]
                case Items(items=items) | Entries(values=items):
                    return [leaf for i in items for leaf in leaves_of(low, i, state)]
                case Fields(values=items, origin=origin):
                    if origin is not None:
                        low.refuse(
                            "the function returns an object that it was given",
                            "return the numbers and arrays in it",
                        )
                    return [leaf for i in items for leaf in leaves_of(low, i, state)]
        case Value():
            return [value]
        case Static(value=known):
            numeric = isinstance(known, (int, float, complex)) and not isinstance(known, bool)
            return [value] if numeric else []
    low.refuse(
        f"the differentiated function returns a {type(value).__name__.lower()}",
        "return numbers, arrays, or containers of them",
    )


def transplant(low: Lowering, value: Any, state: dict[Any, Any], names: dict[Value, Any]) -> Any:
    """A value of a region's state in the current one, its containers in fresh places."""
    match value:
        case Value():
            found = names.get(value, value)
            return containers.wrap(low, found) if isinstance(found, Literal) else found
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(transplant(low, i, state, names) for i in items), cls)
        case ListRef():
            return low.new_list(
                _transplant_contents(low, state[("place", value.place, "")], state, names)
            )
        case DictRef():
            return low.new_dict(
                _transplant_contents(low, state[("place", value.place, "")], state, names)
            )
        case ObjectRef(cls=cls):
            contents = _transplant_contents(low, state[("place", value.place, "")], state, names)
            return low.new_object(cls, contents)
    return value


def _transplant_contents(
    low: Lowering, contents: Any, state: dict[Any, Any], names: dict[Value, Any]
) -> Any:
    match contents:
        case Held(value=held, borrowed=borrowed):
            return Held(names.get(held, held), borrowed or "shared")
        case Items(items=items):
            return Items(tuple(transplant(low, i, state, names) for i in items))
        case Entries(keys=keys, values=values):
            return Entries(keys, tuple(transplant(low, v, state, names) for v in values))
        case Fields(names=fields, values=values, origin=origin):
            return Fields(fields, tuple(transplant(low, v, state, names) for v in values), origin)
    return contents


def tangents_of(
    low: Lowering, value: Any, state: dict[Any, Any], tangents: dict[Value, Atom], literals: Any
) -> Any:
    """The tangent of a result, in its structure."""
    match value:
        case TupleRef(items=items, cls=cls):
            return TupleRef(
                tuple(tangents_of(low, i, state, tangents, literals) for i in items), cls
            )
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", value.place, "")]
            match contents:
                case Held(value=held):
                    return containers.wrap(low, tangents[held])
                case Items(items=items):
                    return low.new_list(
                        Items(tuple(tangents_of(low, i, state, tangents, literals) for i in items))
                    )
                case Entries(keys=keys, values=values):
                    made = tuple(tangents_of(low, v, state, tangents, literals) for v in values)
                    return low.new_dict(Entries(keys, made))
                case Fields(names=names, values=values):
                    assert isinstance(value, ObjectRef)
                    made = tuple(tangents_of(low, v, state, tangents, literals) for v in values)
                    return low.new_object(value.cls, Fields(names, made, None))
        case Value():
            return containers.wrap(low, tangents[value])
        case Static(value=known):
            zero = 0.0 if isinstance(known, (int, float)) and not isinstance(known, bool) else None
            return Static(zero)
    return value


def match_leaves(low: Lowering, pattern: Any, state: dict[Any, Any], value: Abstract) -> list[Atom]:
    """The leaves of ``value`` where ``pattern`` has its own; the structures must agree."""
    if isinstance(value, MaybeUnbound):
        value = low.bound(value)
    match pattern:
        case TupleRef(items=items):
            parts = containers.items_of(low, value)
            if parts is None or len(parts) != len(items):
                _mismatch(low, f"a tuple of {len(items)}")
            return [
                a for p, v in zip(items, parts, strict=True) for a in match_leaves(low, p, state, v)
            ]
        case ListRef() | DictRef() | ObjectRef():
            contents = state[("place", pattern.place, "")]
            match contents:
                case Held():
                    return [low.atom(value)]
                case Items(items=items):
                    parts = containers.items_of(low, value)
                    if parts is None or len(parts) != len(items):
                        _mismatch(low, f"a list of {len(items)}")
                    pairs = zip(items, parts, strict=True)
                    return [a for p, v in pairs for a in match_leaves(low, p, state, v)]
                case Entries(keys=keys, values=items):
                    pairs_ = containers.entries(low, value)
                    given = dict(pairs_)
                    if set(given) != set(keys):
                        _mismatch(low, f"a dict with the keys {list(keys)}")
                    return [
                        a
                        for k, p in zip(keys, items, strict=True)
                        for a in match_leaves(low, p, state, given[k])
                    ]
                case Fields(names=names, values=items):
                    return [
                        a
                        for n, p in zip(names, items, strict=True)
                        for a in match_leaves(low, p, state, get_attribute(low, value, n))
                    ]
        case Static(value=known) if not isinstance(known, (int, float, complex)) or isinstance(
            known, bool
        ):
            return []
    return [low.atom(value)]


def _mismatch(low: Lowering, wanted: str) -> NoReturn:
    low.refuse(
        f"the cotangent or tangent has another structure: {wanted} is needed",
        "give it the structure of the value it belongs to",
    )


def unit_seed(low: Lowering, value: Abstract) -> Atom:
    """The cotangent 1 of a real scalar result; anything else is refused."""
    match value:
        case Value(type=Optional(item=item)):  # that it is not None is checked at run time
            return unit_seed(low, Value("", item))
        case Value(type=kind):
            if isinstance(kind, Unknown) or (isinstance(kind, Array) and kind.dims is None):
                return Literal(1.0)  # checked at run time
            if is_complex(kind):
                _not_scalar(low, "a complex number", "take its real part, or use vjp")
            if dims_of(kind) == () and is_differentiable(kind):
                if isinstance(kind, (NumPyScalar, Array)) and kind.dtype not in (None, "float64"):
                    return Literal(np.dtype(kind.dtype).type(1))
                return Literal(1.0)
            if dims_of(kind) == ():
                article = "an" if str(kind).startswith("int") else "a"
                _not_scalar(low, f"{article} {kind}, which has no derivative", "return a float")
            if isinstance(kind, Array):
                _not_scalar(
                    low, f"an array {kind}", "reduce it with np.sum, or use jacobian or vjp"
                )
            _not_scalar(low, f"a {kind}", "return one float")
        case Static(value=known) if isinstance(known, (int, float)) and not isinstance(known, bool):
            return Literal(1.0)
        case Static(value=None):
            _not_scalar(low, "None", "add a return statement")
        case Static(value=known):
            _not_scalar(low, f"a {type(known).__name__}", "return one float")
        case TupleRef():
            _not_scalar(
                low, "a tuple", "return one scalar, or use has_aux=True for (scalar, extra)"
            )
    _not_scalar(low, f"a {type(value).__name__.removesuffix('Ref').lower()}", "return one scalar")
    raise AssertionError


def _not_scalar(low: Lowering, what: str, hint: str) -> None:
    raise NotDifferentiable(
        low.place(),
        f"grad needs a function that returns one real scalar; this one returns {what}",
        hint,
    )


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

    return build(pulled.pattern, top, lambda: param), param


def _part(build: Any, whole: Value, pattern: Any, key: Any, callee: Any, low: Lowering) -> Abstract:
    def make(kind: Type) -> Value:
        return low.builder.apply_typed(callee, (whole, Literal(key)), kind)

    def own() -> Value:
        return low.builder.apply_typed(callee, (whole, Literal(key)), Opaque("object"))

    found: Abstract = build(pattern, make, own)
    return found
