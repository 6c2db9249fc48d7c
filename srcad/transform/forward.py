"""Forward mode: each operation followed by its tangent.

The tangent of a loop is the loop with tangents carried beside values, of an ``if`` the ``if``
handing over both.  A tangent that is zero is not computed: None stands for it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from srcad import rules, runtime
from srcad.analysis.activity import hidden_operand, makes_container
from srcad.analysis.versions import written_values
from srcad.errors import RuleError
from srcad.frontend import containers
from srcad.ir import (
    UNDEFINED,
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    If,
    Items,
    Literal,
    Op,
    Stream,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.build import Builder
from srcad.ir.core import Handler, make_dict, make_list, make_tuple, makes_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.places import place_of
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    dims_of,
    is_complex,
    is_differentiable,
    may_hide,
    same_shape,
)
from srcad.ir.walk import map_atoms, overwritten, renaming, results, values_read
from srcad.rules import Rule
from srcad.transform import spaces
from srcad.transform.adjoints import refuse_hidden
from srcad.transform.pullback import Bound, Transposer, bind, missing_rule
from srcad.transform.updates import dict_item
from srcad.transform.writes import Volatile, check_view, in_order, is_view_of, writes_arrays


class Pusher:
    """Writes tangents of blocks; ``active`` says which values have one."""

    def __init__(
        self, active: Callable[[Value], bool], functions: Any = None, *, linear: bool = False
    ) -> None:
        self.active = active
        self.functions = functions
        self.linear = linear
        self.flat = False
        """In the differential of an elementwise rule: its result alone gets its shape."""
        self.tangents: dict[Value, Atom] = {}
        self.owned: set[Value] = set()
        self.in_order: frozenset[Value] = frozenset()
        """Arrays whose tangents are written as if they had another shape (``writes.in_order``)."""
        """Tangents of written arrays that may be written in place."""
        self.volatile = Volatile({})
        self.moving: set[Value] = set()
        """Tangents of written arrays and of views of them."""
        self.transposer = Transposer(lambda v: v in self.tangents)

    # ---- tangents

    def tangent(self, atom: Atom) -> Atom | None:
        """The tangent of an atom; None if it is zero."""
        return self.tangents.get(atom) if isinstance(atom, Value) else None

    def full(self, b: Builder, atom: Atom, kind: Type | None = None) -> Atom:
        """The tangent of an atom, zeros written out; ``kind`` is the type of what holds it."""
        found = self.tangent(atom)
        if found is None:
            return spaces.zeros(b, atom, kind=kind)
        return found if kind is None else spaces.widened(b, found, atom, kind)

    def set(self, value: Value, tangent: Atom | None) -> None:
        """Note the tangent of a value."""
        if tangent is None or not is_differentiable(value.type):
            return
        if isinstance(tangent, Literal) and tangent.value is None:
            return
        if isinstance(tangent, Value) and not tangent.hint:
            tangent.hint = spaces.value_hint(value, "_dot")
        self.tangents[value] = tangent

    # ---- operations

    def push_ops(self, ops: tuple[Op, ...], b: Builder) -> None:
        """Write operations with their tangents."""
        block = Block((), ops, ())
        if not self.volatile.written and writes_arrays(block):
            self.volatile = Volatile(written_values(block))
            self.volatile.note(block)
            self.in_order = in_order(block)
        for op in ops:
            with b.at(op.loc):
                self._push(op, b)
                if self.volatile.written:
                    self._keep_apart(op, b)

    def _keep_apart(self, op: Op, b: Builder) -> None:
        """No tangent is a view of memory that goes on changing, except that of such a view."""
        for result in results(op):
            dot = self.tangent(result)
            if not isinstance(dot, Value) or not isinstance(dot.type, Array):
                continue
            shared = is_view_of(dot, self.volatile, b)
            if isinstance(op, Apply) and result not in self.volatile.views:
                shared = shared or is_view_of(dot, self.moving, b)
            if shared:
                self.tangents[result] = dot = b.apply_typed(np.ndarray.copy, (dot,), dot.type)
            if result in self.volatile:
                self.moving.add(dot)

    def _push(self, op: Op, b: Builder) -> None:
        match op:
            case Apply():
                b.append(op)
                self._refuse_hidden(op)
                if any(
                    self.tangent(a) is not None for a in (*op.args, *(k for _, k in op.keywords))
                ):
                    self.push_apply(op, b)
            case Effect():
                b.append(op)
                self._refuse_hidden(op)
                result = op.result
                if result is None or not is_differentiable(result.type) or not self.active(result):
                    return
                atoms = (*op.args, *(a for _, a in op.keywords))
                if any(self.tangent(a) is not None or self._hides(a) for a in atoms):
                    raise missing_rule(op, op.callee)
            case Update():
                self._push_update(op, b)
            case Accumulate():
                b.append(op)
                target, term = self.tangent(op.target), self.tangent(op.term)
                if target is None and term is None:
                    return
                start = self.full(b, op.target, op.version.type)
                if term is None:
                    self.set(op.version, start)
                else:
                    self.set(op.version, b.accumulate(start, op.index, term))
            case If():
                self._push_if(op, b)
            case For() | While():
                self._push_loop(op, b)
            case With():
                if isinstance(op.manager, Value) and self.active(op.manager):
                    refuse_hidden(op.loc, op.manager.type)
                block, extra = self._block(op.body, b, self._varied(op.results), op.results)
                outcomes = self._outcomes(op.results, extra)
                b.append(With(op.manager, block, (*op.results, *outcomes), op.loc))
            case Try():
                self._push_try(op, b)
            case Call():
                self.functions.push_call(self, op, b)

    def _refuse_hidden(self, op: Apply | Effect) -> None:
        """An object made of active data has no tangent: what is computed from it is refused."""
        if op.result is None:
            return
        if not is_differentiable(op.result.type) or not self.active(op.result):
            return
        if rules.is_constant(op.callee):
            return
        hiding = hidden_operand(op, self.active)
        if hiding is not None:
            refuse_hidden(op.loc, hiding.type)

    def _hides(self, atom: Atom) -> TypeGuard[Value]:
        return isinstance(atom, Value) and may_hide(atom.type) and self.active(atom)

    def push_apply(self, op: Apply, b: Builder) -> None:
        """The tangent of a call whose arguments have tangents."""
        structural = _STRUCTURAL.get(make_tuple if makes_tuple(op.callee) else op.callee)
        if structural is not None:
            self.set(op.result, structural(self, op, b))
            return
        if not is_differentiable(op.result.type):
            return
        if rules.is_constant(op.callee):
            if makes_container(op):
                raise missing_rule(op, op.callee)
            return
        if not self.active(op.result):
            return
        transpose = rules.lookup_transpose(op.callee)
        rule = rules.lookup(op.callee)
        if transpose is not None and (self.linear or rule is transpose):
            self.set(op.result, self._push_linear(bind(transpose, op), b))
            return
        if rule is None or rule.kind != "differential":
            raise missing_rule(op, op.callee)
        if self.linear:
            raise RuleError(
                place_of(op.loc), f"{rule.name} is not linear, but a differential goes through it"
            )
        self.set(op.result, self._push_differential(bind(rule, op), b))

    # ---- rules

    def _push_linear(self, bound: Bound, b: Builder) -> Atom | None:
        rule, op = bound.rule, bound.op
        self.transposer.refuse_lost(bound)
        names = [n for n in rule.wrt if self._has_tangent(bound.atom(n))]
        if not names:
            return None
        if rule.kind == "linear":
            replaced = {}
            for name in rule.wrt:
                value = bound.atom(name)
                for part in value if isinstance(value, tuple) else (value,):
                    if isinstance(part, (Value, Literal)):
                        replaced[part] = self._linear_argument(b, bound, part)
            return self._again(bound, op, replaced, b)
        total: Atom | None = None
        for name in names:
            value = bound.atom(name)
            if isinstance(value, tuple):  # *operands: the last positional arguments
                first = len(op.args) - len(value)
                places: list[Any] = [first + k for k in range(len(value))]
            else:
                value, places = (value,), self._position(bound, name)
            for part, place in zip(value, places, strict=False):
                tangent = self._for_rule(b, op, part)
                if tangent is not None:
                    term = self._again_at(bound, op, place, tangent, b)
                    total = term if total is None else b.apply(operator.add, total, term)
        return total

    def _position(self, bound: Bound, name: str) -> list[Any]:
        op = bound.op
        names = list(bound.rule.parameters.parameters)
        if name in dict(op.keywords):
            return [name]
        return [names.index(name)]

    def _has_tangent(self, value: Any) -> bool:
        parts = value if isinstance(value, tuple) else (value,)
        return any(self.tangent(p) is not None for p in parts if isinstance(p, Value))

    def _for_rule(self, b: Builder, op: Apply, part: Atom) -> Atom | None:
        """The tangent of an argument, without the None that stands in it for no derivative."""
        found = self.tangent(part)
        if found is None or isinstance(op.result.type, (ListType, TupleType)):
            return found
        return spaces.filled(b, found, part)

    def _linear_argument(self, b: Builder, bound: Bound, part: Atom) -> Atom:
        rule = bound.rule
        found = self._for_rule(b, bound.op, part)
        if found is not None:
            return found
        if isinstance(part, Literal) and not isinstance(part.value, (int, float, complex)):
            return part
        if isinstance(part, Literal) and isinstance(part.value, complex) and part.value == 0:
            return part  # `x + 0j` makes `x` complex, and its tangent
        sequence = isinstance(atom_type(part), (ListType, TupleType))
        if (rule.elementwise and not sequence) or isinstance(atom_type(part), Number):
            return Literal(0j if is_complex(atom_type(part)) else 0.0)
        if not is_differentiable(atom_type(part)):
            if isinstance(atom_type(part), Array):
                return b.apply(np.zeros_like, part)
            return _zero_structure(b, part)
        return spaces.zeros(b, part)

    def _again(self, bound: Bound, op: Apply, replaced: dict[Atom, Atom], b: Builder) -> Atom:
        wrt = [bound.atom(n) for n in bound.rule.wrt]
        flat = [p for v in wrt for p in (v if isinstance(v, tuple) else (v,))]

        def read(atom: Atom) -> Atom:
            return replaced[atom] if any(atom is f for f in flat) else atom

        args = tuple(map(read, op.args))
        keywords: dict[str, Any] = {k: read(v) for k, v in op.keywords}
        return self._shaped(b, b.apply(op.callee, *args, **keywords), op.result, bound.rule)

    def _again_at(self, bound: Bound, op: Apply, position: Any, tangent: Atom, b: Builder) -> Atom:
        args = tuple(tangent if k == position else a for k, a in enumerate(op.args))
        keywords: dict[str, Any] = {k: tangent if k == position else v for k, v in op.keywords}
        return self._shaped(b, b.apply(op.callee, *args, **keywords), op.result, bound.rule)

    def _shaped(self, b: Builder, tangent: Atom, result: Value, rule: Rule) -> Atom:
        """Broadcast a tangent to the shape of its value, where an inactive argument gave that."""
        if not rule.elementwise or isinstance(result.type, (Number, ListType, TupleType)):
            return tangent
        if self.flat:
            return tangent
        kind = atom_type(tangent)
        if same_shape(kind, result.type):
            return spaces.match_dtype(b, tangent, result.type)
        have, want = dims_of(kind), dims_of(result.type)
        if want == ():
            return tangent if have == () else spaces.match_dtype(b, tangent, result.type)
        shaped = spaces.shaped_type(kind, result.type)
        made = b.apply_typed(np.broadcast_to, (tangent, b.apply(np.shape, result)), shaped)
        return spaces.match_dtype(b, made, result.type)

    def _push_differential(self, bound: Bound, b: Builder) -> Atom | None:
        self.transposer.refuse_lost(bound)
        inner, differentials, low, result = self.transposer.differential_block(bound, b)
        pusher = Pusher(lambda v: True, linear=True)
        pusher.flat = bound.rule.elementwise
        standing: dict[Value, Atom] = {}
        for name, ds in differentials.items():
            vs = bound.atom(name)
            pairs = zip(ds, vs, strict=True) if isinstance(ds, tuple) else [(ds, vs)]
            for d, v in pairs:
                if isinstance(d, Value):
                    standing[d] = v
                    tangent = self._for_rule(b, bound.op, v)
                    if tangent is not None:
                        pusher.tangents[d] = tangent
        outcome = (
            containers.unpack(low, result, len(bound.op.result.type.items))
            if isinstance(bound.op.result.type, TupleType)
            else [result]
        )
        atoms = [low.atom(o) for o in outcome]
        mark = len(b.ops)
        pusher.push_linear_block(inner, standing, b)
        b.substitute(mark, standing)
        found = [pusher.tangent(a) for a in atoms]
        if isinstance(bound.op.result.type, TupleType):
            parts = [
                (
                    Literal(None)
                    if not is_differentiable(k)
                    else spaces.zeros(b, b.apply(operator.getitem, bound.op.result, Literal(i)))
                    if f is None
                    else f
                )
                for i, (f, k) in enumerate(zip(found, bound.op.result.type.items, strict=True))
            ]
            return b.apply(make_tuple, *parts)
        if found[0] is None:
            return None
        return self._shaped(b, found[0], bound.op.result, bound.rule)

    def push_linear_block(self, inner: Builder, standing: dict[Value, Atom], b: Builder) -> None:
        """Evaluate a linear block at the tangents of its differentials.

        The block itself goes along with each differential standing for its argument: for
        coefficients and shapes.
        """

        read = renaming(standing)

        for op in inner.ops:
            made = map_atoms(op, read, lambda v: v)
            b.adopt(made)
            match op:
                case Apply():
                    if any(
                        self.tangent(a) is not None
                        for a in (*op.args, *(k for _, k in op.keywords))
                    ):
                        self.push_apply(op, b)
                case If() | For() | Update() | Accumulate():
                    if any(self.tangent(v) is not None for v in values_read(op)):
                        b.ops.pop()
                        self._push(op, b)
                case _:
                    pass

    # ---- writes

    def _push_update(self, op: Update, b: Builder) -> None:
        target = self.tangent(op.target)
        values = [self.tangent(a) for a in op.args]
        idle = target is None and all(v is None for v in values)
        if idle or not (
            self.active(op.version) or (op.result is not None and self.active(op.result))
        ):
            b.append(op)
            return
        if isinstance(op.target.type, Array):
            # before the write: what is written there may be the very array
            item = self.item(b, op.args[1], op.target.type)
            dot = self._own(b, op.target)
            check_view(b, dot, op)
            dot = b.update(op.callee, dot, op.args[0], item, path=op.path)
            b.append(op)
            self.owned.add(dot)
            self.set(op.version, dot)
            return
        # a container without a tangent has the zero of its length before the write
        start = self.full(b, op.target, op.version.type)
        b.append(op)
        assert isinstance(start, Value)
        args = list(op.args)
        if op.callee in (list.append, list.insert, operator.setitem):
            args[-1] = self.item(b, op.args[-1], op.version.type)
        result = None
        if op.result is not None:
            kind = start.type
            result = Value(
                "", kind.item if isinstance(kind, (ListType, DictType)) else op.result.type
            )
        if op.callee is dict.pop:
            args[1:] = [self._end(b, d) for d in args[1:]] or [self._zero_entry(b, op)]
        version = b.update(
            op.callee, start, *args, kind=spaces.tangent_type(op.version.type), result=result
        )
        self.set(op.version, version)
        if result is not None and op.result is not None:
            self.set(op.result, result)

    def _own(self, b: Builder, value: Atom, kind: Type | None = None) -> Value:
        """The tangent of a written array as memory that may be written: a copy of a shared one."""
        found = self.tangent(value)
        if found in self.owned:
            assert isinstance(found, Value)
            return found
        made = self.full(b, value, kind)
        assert isinstance(made, Value)
        if found is not None:
            hint = spaces.value_hint(value, "_dot")
            known = kind if kind is not None else atom_type(value)
            ordered = value in self.in_order
            made = spaces.copied(b, made, spaces.tangent_type(known), hint, in_order=ordered)
        made.hint = made.hint or spaces.value_hint(value, "_dot")
        self.owned.add(made)
        return made

    def _zero_entry(self, b: Builder, op: Update) -> Atom:
        """What is taken out of a tangent that has no such entry."""
        if op.result is None or not is_differentiable(op.result.type):
            return Literal(0.0)
        return spaces.zeros(b, op.result)

    def item(self, b: Builder, value: Atom, container: Type) -> Atom:
        """The tangent of what goes into a list or dict."""
        kind = container.item if isinstance(container, (ListType, DictType)) else None
        if self.tangent(value) is not None or is_differentiable(atom_type(value)):
            return self.full(b, value, kind)
        if isinstance(kind, (Array, ListType, TupleType)) and is_differentiable(kind):
            return spaces.zeros(b, value, kind=kind)  # of integers, among what has derivatives
        return Literal(0.0)

    # ---- branches

    def _varied(self, results: tuple[Value, ...]) -> list[int]:
        return [k for k, r in enumerate(results) if self.active(r) and is_differentiable(r.type)]

    def _block(
        self, block: Block, b: Builder, ks: list[int], results: tuple[Value, ...]
    ) -> tuple[Block, list[int]]:
        kinds = [r.type for r in results]
        inner = Builder(b)
        self.push_ops(block.ops, inner)
        ends = tuple(self._end(inner, block.yields[k], kinds[k]) for k in ks)
        return inner.block(block.params, (*block.yields, *ends)), ks

    def _end(self, b: Builder, atom: Atom, kind: Type | None = None) -> Atom:
        if atom is UNDEFINED:
            return UNDEFINED
        if isinstance(atom, Literal):
            return Literal(0.0)
        return self.full(b, atom, kind)

    def _outcomes(self, results: tuple[Value, ...], ks: list[int]) -> tuple[Value, ...]:
        outcomes = []
        for k in ks:
            value = results[k]
            outcome = Value(spaces.value_hint(value, "_dot"), spaces.tangent_type(value.type))
            self.tangents[value] = outcome
            outcomes.append(outcome)
        return tuple(outcomes)

    def _push_if(self, op: If, b: Builder) -> None:
        ks = self._varied(op.results)
        then, _ = self._block(op.then, b, ks, op.results)
        orelse, _ = self._block(op.orelse, b, ks, op.results)
        outcomes = self._outcomes(op.results, ks)
        b.append(If(op.test, then, orelse, (*op.results, *outcomes), op.loc))

    def _push_try(self, op: Try, b: Builder) -> None:
        ks = self._varied(op.results)
        body, _ = self._block(op.body, b, ks, op.results)
        handlers = tuple(
            Handler(h.kinds, self._block(h.body, b, ks, op.results)[0]) for h in op.handlers
        )
        outcomes = self._outcomes(op.results, ks)
        b.append(Try(body, handlers, op.final, (*op.results, *outcomes), op.loc))

    # ---- loops

    def _push_loop(self, op: For | While, b: Builder) -> None:
        params = op.carried_params
        ks = [k for k, p in enumerate(params) if self.active(p) and is_differentiable(p.type)]
        inner = Builder(b)
        targets = list(op.targets)
        streams: list[Stream] = list(op.streams) if isinstance(op, For) else []
        if isinstance(op, For):
            for target, stream in zip(op.targets, op.streams, strict=True):
                if not isinstance(stream, Items):
                    continue
                if self.tangent(stream.sequence) is None:
                    continue
                tangents = self.full(b, stream.sequence, ListType(target.type))
                item = Value(spaces.value_hint(target, "_dot"), spaces.tangent_type(target.type))
                streams.append(Items(tangents, stream.backward))
                targets.append(item)
                self.tangents[target] = item
        written = set(written_values(Block((), (op,), ())))
        inits = [
            UNDEFINED
            if op.carried[k] is UNDEFINED or _is_none(op.carried[k])
            else self._own(b, op.carried[k], params[k].type)
            if params[k] in written and isinstance(params[k].type, Array)
            else Literal(0.0)
            if isinstance(op.carried[k], Literal)
            else self.full(b, op.carried[k], params[k].type)
            for k in ks
        ]
        dots = []
        for k in ks:
            dot = Value(spaces.value_hint(params[k], "_dot"), spaces.tangent_type(params[k].type))
            self.tangents[params[k]] = dot
            if params[k] in written:
                self.owned.add(dot)
                self.moving.add(dot)
            dots.append(dot)
        taken = overwritten(op)
        starts = zip(ks, inits, strict=True)
        dotted = [i for k, i in starts if params[k] in taken and isinstance(i, Value)]
        inner.write_over((*taken, *dotted))
        self.push_ops(op.body.ops, inner)
        ends = tuple(
            self._own(inner, op.body.yields[k], params[k].type)
            if params[k] in written and isinstance(params[k].type, Array)
            else self._end(inner, op.body.yields[k], params[k].type)
            for k in ks
        )
        carried = len(params)
        yields = (*op.body.yields[:carried], *ends, *op.body.yields[carried:])
        body = inner.block((*targets, *params, *dots), yields)
        outcomes = self._outcomes(op.results, ks)
        all_inits, results = (*op.carried, *inits), (*op.results, *outcomes)
        if isinstance(op, For):
            b.append(For(tuple(streams), all_inits, body, results, op.stops, op.loc))
        else:
            extra = tuple(Value(d.hint, d.type) for d in dots)
            test = Block((*op.test.params, *extra), op.test.ops, op.test.yields)
            b.append(While(all_inits, test, body, results, op.stops, op.loc))


def _with_zeros(b: Builder, part: Atom, kind: Type, tangent: Atom) -> Atom:
    if not isinstance(kind, TupleType) or all(map(_has_no_gap, kind.items)):
        return tangent
    items: list[Atom] = []
    for k, item in enumerate(kind.items):
        own = b.apply(operator.getitem, part, Literal(k))
        if is_differentiable(item):
            items.append(_with_zeros(b, own, item, b.apply(operator.getitem, tangent, Literal(k))))
        elif isinstance(item, (Array, ListType, TupleType)):
            items.append(b.apply(np.zeros_like, own))
        else:
            items.append(Literal(0.0 if isinstance(item, (Number, NumPyScalar)) else None))
    return b.apply(make_list if kind.cls is list else make_tuple, *items)


def _has_no_gap(kind: Type) -> bool:
    if isinstance(kind, TupleType):
        return all(map(_has_no_gap, kind.items))
    return is_differentiable(kind) or not isinstance(kind, (Number, NumPyScalar, Array, ListType))


def _zero_structure(b: Builder, part: Atom) -> Atom:
    return b.apply_typed(runtime.zeros_like, (part,), atom_type(part))


# ---- displays and other syntax


def _push_display(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    parts = []
    if isinstance(op.result.type, ListType):
        made = tuple(self.item(b, item, op.result.type) for item in op.args)
        return b.apply_typed(op.callee, made, spaces.tangent_type(op.result.type))
    for item in op.args:
        found = self.tangent(item)
        if found is not None:
            parts.append(found)
        elif is_differentiable(atom_type(item)):
            parts.append(spaces.zeros(b, item))
        else:
            parts.append(Literal(None))
    maker = make_tuple if makes_tuple(op.callee) else op.callee
    return b.apply_typed(maker, tuple(parts), spaces.tangent_type(op.result.type))


def _push_dict(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    parts: list[Atom] = []
    for key, item in zip(op.args[::2], op.args[1::2], strict=True):
        parts += [key, self.item(b, item, op.result.type)]
    return b.apply_typed(make_dict, tuple(parts), spaces.tangent_type(op.result.type))


def _push_select(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    test, then, orelse = op.args
    left, right = (self._end(b, atom, op.result.type) for atom in (then, orelse))
    return b.apply(select, test, left, right)


def _push_getitem(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    target, index = op.args
    if self.tangent(index) is not None:
        raise missing_rule(op, op.callee)  # np.r_[x, 1.0]: data in the index
    if self.tangent(target) is None or not is_differentiable(op.result.type):
        return None
    if isinstance(atom_type(target), DictType):  # an entry that is missing in a tangent is zero
        return dict_item(b, self.full(b, target), index, op.result)
    if isinstance(index, Literal):
        return b.apply(operator.getitem, self.full(b, target), index)
    kind = op.result.type
    slices = isinstance(kind, ListType) and atom_type(index) == Opaque("slice")
    return b.apply(
        operator.getitem, self.full(b, target, kind if slices else ListType(kind)), index
    )


def _push_same(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    if self.tangent(op.args[0]) is None:
        return None
    found = self.full(b, op.args[0], op.result.type)
    return b.apply_typed(op.callee, (found,), spaces.tangent_type(op.result.type))


def _push_get(self: Pusher, op: Apply, b: Builder) -> Atom | None:
    bar, key, *default = op.args
    found = self.tangent(bar)
    if found is None:
        return None
    args = (found, key, *(self._end(b, d) for d in default))
    return b.apply_typed(dict.get, args, spaces.tangent_type(op.result.type))


_STRUCTURAL: dict[Any, Callable[[Pusher, Apply, Builder], Atom | None]] = {
    make_tuple: _push_display,
    make_list: _push_display,
    make_dict: _push_dict,
    select: _push_select,
    operator.getitem: _push_getitem,
    list: _push_same,
    tuple: _push_same,
    dict: _push_same,
    runtime.copied: _push_same,
    dict.get: _push_get,
}


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None
