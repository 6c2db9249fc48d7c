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

from srcad import rules
from srcad.analysis.activity import varied_values
from srcad.analysis.existence import missing_values
from srcad.analysis.steepness import is_steep
from srcad.frontend import containers
from srcad.frontend.abstract import (
    Abstract,
    ArrayRef,
    DictRef,
    Fields,
    Held,
    ListRef,
    ObjectRef,
    Static,
    TupleRef,
    is_number,
    labels,
    parts,
    with_parts,
)
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Block, Effect, Literal, Value
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    FLOAT,
    OBJECT,
    Array,
    ListType,
    Number,
    NumPyScalar,
    Type,
    is_differentiable,
    is_text,
    may_hide,
)
from srcad.ir.walk import all_ops, copy_block, free_values, rename_values, results, values_read
from srcad.options import DEFAULTS, Options
from srcad.passes.dce import prune_block
from srcad.transform import spaces
from srcad.transform.adjoints import refuse_hidden
from srcad.transform.calls import DifferentiatedCall
from srcad.transform.defined import (
    require_present,
    unit_seed,
)
from srcad.transform.forward import Pusher
from srcad.transform.functions import Functions
from srcad.transform.inner import Inner, lower_inner
from srcad.transform.kept import everything_in, only_for_shape
from srcad.transform.reverse import Swept, sweep_block
from srcad.transform.structures import (
    match_leaves,
    rebuilt,
    settle,
    tangents_of,
    transplant,
)
from srcad.transform.writes import is_view_of


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


def _in_kind(low: Lowering, bar: Atom, kind: Type, block: Block) -> Atom:
    """The gradient by what is of a type, in that type: ``block`` is what it is a parameter of."""
    match kind:
        case Array(dims=()) if not isinstance(atom_type(bar), Array):
            return _without_axes(low, bar, kind)
        case NumPyScalar(dtype=dtype) | Array(dtype=dtype) if dtype in _NARROW:
            widened = isinstance(kind, NumPyScalar) or _may_widen(block)
            return _narrow(low, bar, kind) if widened else bar
        case Number() | NumPyScalar() if isinstance(atom_type(bar), Array):
            return low.builder.apply(operator.getitem, bar, Literal(()))
    return bar


class Differentiator:
    """Takes derivatives of abstract functions in one lowering."""

    def __init__(self, options: Options = DEFAULTS) -> None:
        self.options = options
        self.functions: Functions | None = None

    def _functions(self, low: Lowering) -> Functions:
        if self.functions is None:
            self.functions = Functions(exact=low.session.exact, options=self.options)
        return self.functions

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
        low, inner = call.low, lower_inner(call, self.options)
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
        low, inner = call.low, lower_inner(call, self.options)
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
        def gradient(leaf: Abstract) -> Abstract:
            match leaf:
                case ArrayRef(place=place):
                    return gradient(inner.given["place", place, ""].value)
                case Value(type=kind):
                    return containers.wrap(low, _in_kind(low, bars[leaf], kind, inner.block))
            return leaf

        return rebuilt(low, value, inner.given, gradient)

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
        low, inner = call.low, lower_inner(call, self.options)
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
        low, inner = call.low, lower_inner(call, self.options)
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
        tangent = tangents_of(low, inner.result, inner.contents, tangent_of)
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


def like(low: Lowering, pulled: Pulled) -> tuple[Abstract, Value]:
    """A parameter for the cotangent of a result, and its abstract value."""
    param = Value("out_bar", OBJECT)
    kinds = iter([s.type for s in pulled.seeds])

    def part(pattern: Any, read: Callable[[Type], Value]) -> Any:
        """The cotangent of a part of the result, which ``read`` gives as of a type."""
        match pattern:
            case Static(value=known) if not is_number(known):
                return pattern
            case TupleRef():
                return nested(pattern, read(OBJECT))
            case ListRef() | DictRef() | ObjectRef():
                contents = pulled.inner.contents["place", pattern.place, ""]
                if isinstance(contents, Held):
                    return low.new_list(Held(read(next(kinds)), "argument"))
                return low.new_like(pattern, nested(contents, read(OBJECT)))
        return read(next(kinds))

    def nested(pattern: Any, whole: Value) -> Any:
        get = getattr if isinstance(pattern, Fields) else operator.getitem

        def item(label: Any, pattern: Any) -> Any:
            return part(pattern, lambda kind: low.builder.apply_typed(get, (whole, label), kind))

        named = zip(labels(pattern), parts(pattern), strict=True)
        return with_parts(pattern, [item(Literal(label), p) for label, p in named])

    def parameter(kind: Type) -> Value:
        param.type = kind
        return param

    return part(pulled.inner.result, parameter), param
