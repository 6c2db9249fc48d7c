"""The pullback and the pushforward of one call, from its rule.

A linear or multilinear rule *is* its transpose.  A differential is lowered where it is needed, as a
block in the differentials, and transposed: a linear block is transposed by the rules of the linear
functions it calls, in reverse order.  So each rule is written once, and the two modes agree.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from srcad import rules, runtime
from srcad.analysis.activity import hidden_operand, makes_container
from srcad.errors import MissingRule, NotDifferentiable, Place, RuleError
from srcad.frontend import containers
from srcad.frontend.abstract import Static, TupleRef
from srcad.ir import Accumulate, Apply, Atom, If, Literal, Loc, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_dict, make_list, make_tuple, makes_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.places import place_of
from srcad.ir.samples import draws
from srcad.ir.types import (
    Array,
    DictType,
    ListType,
    Optional,
    TupleType,
    Type,
    Unknown,
    dims_of,
    dtype_of,
    is_complex,
    is_differentiable,
    rank,
)
from srcad.ir.walk import blocks, map_atoms, renaming, results, values_read
from srcad.options import is_opaque
from srcad.rules import Rule
from srcad.rules.coverage import name_of
from srcad.transform import bodies, spaces
from srcad.transform.adjoints import Adjoints, Parts, hidden, refuse_hidden
from srcad.transform.updates import dict_item


def missing_rule(op: Any, callee: Any) -> MissingRule | NotDifferentiable:
    """The error of a function without a rule."""
    if callee is operator.call:
        return hidden(place_of(op.loc))
    name = name_of(callee)
    what = f"{name} has no derivative rule and no source to read"
    if draws(callee) is not None:
        hint = (
            "draw numbers that depend on nothing and compute with them: m + s * rng.normal(),"
            " x[rng.permutation(n)]"
        )
        return MissingRule(place_of(op.loc), what, hint)
    advice = rules.instead_of(callee)
    if advice is not None:
        return MissingRule(place_of(op.loc), f"{name} has no derivative rule", advice)
    if is_opaque(callee):
        what = f"{name} is marked srcad.opaque and has no derivative rule"
    given, changes = _parameters(op)
    short = getattr(callee, "__name__", "function")
    return MissingRule(
        place_of(op.loc),
        what,
        f"declare one:\n{_declaration(callee, given, changes)}\n"
        f"or cut the derivative: srcad.stop_gradient({short}(…))",
    )


def _declaration(callee: Any, given: Sequence[str], changes: Sequence[str], more: str = "") -> str:
    """How a rule of a function is declared: its parameters, and those that are differentials."""
    name, short = name_of(callee), getattr(callee, "__name__", "function")
    written = name if name.startswith("np.") else short
    elementwise = ", elementwise=True" if isinstance(callee, np.ufunc) else ""
    return (
        f"@srcad.rules.differential({written}{elementwise}{more})\n"
        f"def {short}_rule({', '.join((*given, '*', *changes))}):\n"
        f"    return ...  # linear in {', '.join(changes)}"
    )


def _parameters(op: Any) -> tuple[list[str], list[str]]:
    """The parameters of a rule for a call, and the differentials that it may need."""
    args, keywords = getattr(op, "args", ()), dict(getattr(op, "keywords", ()))
    few = len(args) <= 3
    names = [("xyz"[k] if few else f"x{k + 1}") for k in range(len(args))]
    given = dict(zip((*names, *keywords), (*args, *keywords.values()), strict=True)) or {"x": None}
    moving = [n for n, a in given.items() if isinstance(a, Value) and is_differentiable(a.type)]
    return list(given), [f"d{n}" for n in moving or list(given)[:1]]


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A call matched with the parameters of its rule."""

    rule: Rule
    arguments: inspect.BoundArguments
    op: Apply

    def atom(self, name: str) -> Any:
        """The argument a parameter stands for; a tuple of atoms for ``*args``."""
        return self.arguments.arguments.get(name)


@functools.lru_cache(maxsize=1024)
def _positional_names(rule: Rule) -> tuple[str, ...] | None:
    """The parameters of a rule if all can be given by position; `bind` itself is slow."""
    parameters = rule.parameters.parameters.values()
    plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return tuple(p.name for p in parameters) if plain else None


def bind(rule: Rule, op: Apply) -> Bound:
    """Match the arguments of a call with its rule."""
    names = _positional_names(rule)
    if not op.keywords and names is not None and len(op.args) == len(names):
        arguments = dict(zip(names, op.args, strict=True))
        return Bound(rule, inspect.BoundArguments(rule.parameters, arguments), op)
    try:
        bound = rule.parameters.bind(*op.args, **dict(op.keywords))
    except TypeError as error:
        name = getattr(op.callee, "__name__", repr(op.callee))
        raise MissingRule(
            place_of(op.loc),
            f"the derivative of {name} is not known for these arguments: {error}",
            "leave out the argument, or declare a rule that takes it",
        ) from None
    return Bound(rule, bound, op)


class Transposer:
    """Pullbacks of single calls; ``linear`` in the transposition of a differential block."""

    def __init__(self, active: Callable[[Any], bool], *, linear: bool = False) -> None:
        self.active = active
        self.linear = linear

    # ---- pullback

    def pull(self, op: Apply, ct: Any, adjoints: Adjoints) -> None:
        """Add the contributions of a call to the adjoints of its arguments."""
        structural = _structural(op.callee)
        if structural is not None:
            structural(self, op, ct, adjoints)
            return
        if rules.is_constant(op.callee):
            if makes_container(op):
                raise missing_rule(op, op.callee)
            return
        hiding = hidden_operand(op, self.active)
        if hiding is not None:
            refuse_hidden(op.loc, hiding.type)
        with adjoints.builder.at(_reversed(op.loc, adjoints.builder)):
            self._pull(op, ct, adjoints)

    def _pull(self, op: Apply, state: Any, adjoints: Adjoints) -> None:
        rule = self._reverse_of(op)
        if rule.kind == "differential":
            self._transpose_differential(bind(rule, op), state, adjoints)
            return
        ct = adjoints.atom(state, op.result)
        self._transpose(bind(rule, op), ct, adjoints, always_tuple=rule.kind == "pullback")

    def _reverse_of(self, op: Apply) -> Rule:
        """The rule that says what the cotangents of the arguments of a call are."""
        own = None if self.linear else rules.lookup_pullback(op.callee)
        if own is not None:
            return own
        transpose = rules.lookup_transpose(op.callee)
        if transpose is not None and (self.linear or rules.lookup(op.callee) is transpose):
            return transpose
        rule = rules.lookup(op.callee)
        if rule is None or rule.kind != "differential":
            raise missing_rule(op, op.callee)
        if self.linear:
            raise RuleError(
                place_of(op.loc),
                f"{rule.name} is not linear, but a differential goes through it",
                "write the rule with functions that are linear in the differentials",
            )
        return rule

    def _active_names(self, bound: Bound) -> list[str]:
        names = []
        for name in bound.rule.wrt:
            value = bound.atom(name)
            parts = value if isinstance(value, tuple) else (value,)
            if any(isinstance(p, Value) and self.active(p) for p in parts):
                names.append(name)
        return names

    def _transpose(
        self, bound: Bound, ct: Atom, adjoints: Adjoints, *, always_tuple: bool = False
    ) -> None:
        """The transpose of a linear or multilinear rule."""
        rule, b = bound.rule, adjoints.builder
        names = self._active_names(bound)
        if not names:
            self.refuse_lost(bound)
            return
        self.refuse_lost(bound)
        if rule.accumulates:
            self._accumulate(bound, ct, adjoints)
            return
        args, keywords = _body_arguments(bound, (ct,))
        if rule.needs_out:
            keywords["out"] = bound.op.result
        low, result = bodies.inline(b, rule.body, args, keywords)
        single = len(rule.wrt) == 1 and not always_tuple
        bars = [result] if single else containers.unpack(low, result, len(rule.wrt))
        for name, bar in zip(rule.wrt, bars, strict=True):
            if name in names:
                self._give(bound, name, low, bar, adjoints)

    def _give(self, bound: Bound, name: str, low: Any, bar: Any, adjoints: Adjoints) -> None:
        """Hand a cotangent to an argument; a tuple of them to ``*args`` or a sequence."""
        target = bound.atom(name)
        if isinstance(target, tuple):
            parts = containers.unpack(low, bar, len(target))
            for item, part in zip(target, parts, strict=True):
                self._hand(bound, item, low, part, adjoints)
            return
        self._hand(bound, target, low, bar, adjoints)

    def _hand(self, bound: Bound, target: Any, low: Any, bar: Any, adjoints: Adjoints) -> None:
        if not isinstance(target, Value) or not is_differentiable(target.type):
            return
        if isinstance(bar, Static) and (bar.value is None or bar.value == 0):
            return
        b = adjoints.builder
        if isinstance(target.type, TupleType):
            items = containers.unpack(low, bar, len(target.type.items))
            for k, item in enumerate(items):
                if is_differentiable(target.type.items[k]):
                    if isinstance(item, Static) and (item.value is None or item.value == 0):
                        continue
                    inner = Value("", target.type.items[k])
                    term = low.atom(item)
                    if bound.rule.elementwise is False:
                        term = spaces.of_space(b, term, inner.type)
                    adjoints.add_part(target, k, term)
            return
        term = spaces.of_complex(b, low.atom(bar), bound.op.result.type, target.type)
        term = spaces.conform(b, term, target, elementwise=bound.rule.elementwise)
        adjoints.add(target, term)

    def _accumulate(self, bound: Bound, ct: Atom, adjoints: Adjoints) -> None:
        """A transpose that adds to an adjoint in place: of an index, of ``np.take``."""
        b = adjoints.builder
        if bound.op.callee is operator.getitem:
            target, index = bound.op.args
            assert isinstance(target, Value)
            kind = target.type.item if isinstance(target.type, Optional) else target.type
            match kind, index:
                case TupleType(items=items), Literal(value=int(place)):
                    adjoints.add_part(target, place % len(items), ct)
                    return
                case TupleType(items=items), Literal(value=slice() as places):
                    for k, place in enumerate(range(len(items))[places]):
                        adjoints.add_part(target, place, b.apply(operator.getitem, ct, Literal(k)))
                    return
            if not isinstance(kind, (TupleType, ListType)) or not _is_slice(b, index):
                adjoints.add_at(target, index, spaces.match_dtype(b, ct, _item_type(bound.op)))
                return
        name = bound.rule.accumulates[0].removesuffix("_bar")
        target = bound.atom(name)
        if not isinstance(target, Value) or not self.active(target):
            return
        state = adjoints.get(target)
        start = (
            spaces.zeros(b, target, spaces.value_hint(target, "_bar"))
            if state is None
            else adjoints.atom(state, target)
        )
        args, keywords = _body_arguments(bound, (ct,))
        if bound.rule.needs_out:
            keywords["out"] = bound.op.result
        if rank(target.type) == 0:  # a number has no places to add to: an array of one does
            fallback = complex if is_complex(target.type) else float
            dtype = np.dtype(dtype_of(target.type) or fallback)
            shape = (Literal(()), Literal(dtype.type))
            cell = b.apply_typed(np.zeros, shape, Array(dtype.name, ()))
            cell, term = bodies.accumulate(b, bound.rule, args, keywords, cell)
            whole = b.apply(operator.getitem, cell, Literal(())) if term is None else term
            adjoints.add(target, whole)
            return
        add = functools.partial(adjoints.with_term, target)
        total, term = bodies.accumulate(b, bound.rule, args, keywords, start, add)
        if term is None:
            adjoints.set(target, total)
        else:
            adjoints.add(target, spaces.conform(b, term, target, elementwise=False))

    def refuse_lost(self, bound: Bound) -> None:
        """An active argument that the rule has no derivative for is an error, not a zero."""
        known = bound.rule.wrt
        for name, value in bound.arguments.arguments.items():
            if name in known:
                continue
            parts = value if isinstance(value, tuple) else (value,)
            for part in parts:
                if isinstance(part, Value) and self.active(part) and is_differentiable(part.type):
                    callee = bound.op.callee
                    function = getattr(callee, "__name__", bound.rule.name)
                    given = bound.rule.parameters.parameters
                    changes = [f"d{n}" for n in given if n in known or n == name]
                    listed = [*map(str, given.values())]
                    raise NotDifferentiable(
                        place_of(bound.op.loc),
                        f"the derivative of {function} by its argument {name!r} is not known",
                        "declare a rule that has it:\n"
                        f"{_declaration(callee, listed, changes, ', replace=True')}\n"
                        f"or cut it if it does not matter: srcad.stop_gradient({name})",
                    )

    # ---- differentials

    def differential_block(
        self, bound: Bound, b: Builder
    ) -> tuple[Builder, dict[str, Any], Any, Any]:
        """The differential of a call as operations in a builder of their own.

        The builder, the differentials by argument, the cursor and the result.
        """
        inner = Builder(b)
        inner.loc = b.loc
        inner.steep = False  # a differential is only a symbol yet
        differentials: dict[str, Any] = {}
        for name in bound.rule.wrt:
            value = bound.atom(name)
            if isinstance(value, tuple):
                differentials[name] = tuple(_differential_of(v) for v in value)
            else:
                differentials[name] = _differential_of(value)
        args, keywords = _body_arguments(bound, ())
        for name, d in differentials.items():
            like = None if bound.rule.elementwise else bound.atom(name)
            keywords[f"d{name}"] = _or_zero(inner, d, like)
        if bound.rule.needs_out:
            keywords["out"] = bound.op.result
        low, result = bodies.inline(inner, bound.rule.body, args, keywords)
        check_linear(bound.rule, inner, differentials, low, result)
        return inner, differentials, low, result

    def _transpose_differential(self, bound: Bound, state: Any, adjoints: Adjoints) -> None:
        names = self._active_names(bound)
        self.refuse_lost(bound)
        if not names:
            return
        b = adjoints.builder
        inner, differentials, low, result = self.differential_block(bound, b)
        standing: dict[Value, Atom] = {}
        wanted: dict[Value, Value] = {}
        for name, ds in differentials.items():
            vs = bound.atom(name)
            pairs = zip(ds, vs, strict=True) if isinstance(ds, tuple) else [(ds, vs)]
            for d, v in pairs:
                if isinstance(d, Value):
                    standing[d] = v
                    if name in names and isinstance(v, Value) and self.active(v):
                        wanted[d] = v
        outputs = self._outputs(low, result, state, bound, adjoints)
        bars = transpose_block(inner, outputs, wanted, standing, b)
        for d, primal in wanted.items():
            bar = bars.take(d)
            if bar is not None:
                bar = spaces.of_complex(b, bar, bound.op.result.type, primal.type)
                bar = spaces.conform(b, bar, primal, elementwise=bound.rule.elementwise)
                adjoints.add(primal, bar)

    def _outputs(
        self, low: Any, result: Any, state: Any, bound: Bound, adjoints: Adjoints
    ) -> list[tuple[Atom, Atom]]:
        """Pairs of an output of the differential and its cotangent, where one has arrived."""
        kind = bound.op.result.type
        if not isinstance(kind, TupleType):
            return [(low.atom(result), adjoints.atom(state, bound.op.result))]
        pairs: list[tuple[Atom, Atom]] = []
        for k, item in enumerate(containers.unpack(low, result, len(kind.items))):
            atom, ct = low.atom(item), adjoints.part_of(state, bound.op.result, k)
            if isinstance(atom, Value) and ct is not None:
                pairs.append((atom, ct))
        return pairs


def _is_slice(b: Builder, index: Atom) -> bool:
    if isinstance(index, Literal):
        return isinstance(index.value, slice)
    op = b.definition(index)
    return op is not None and op.callee is slice


def _item_type(op: Apply) -> Type:
    return op.result.type


def _differential_of(atom: Any) -> Value | None:
    kind = atom_type(atom) if isinstance(atom, (Value, Literal)) else None
    if kind is None or not is_differentiable(kind):
        return None
    return Value("", spaces.filled_type(kind))


def _or_zero(b: Builder, d: Any, like: Any) -> Any:
    """The differential of what has none is 0, also among several; of integers an array of them."""
    if isinstance(d, tuple):
        parts = like if isinstance(like, tuple) else (None,) * len(d)
        return tuple(_or_zero(b, one, other) for one, other in zip(d, parts, strict=True))
    if d is None and isinstance(like, Value) and isinstance(like.type, Array):
        return b.apply(np.zeros_like, like, Literal(np.int8))  # beside any float it is that float
    return Literal(0.0) if d is None else d


def _body_arguments(bound: Bound, first: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a body: positional ones in the order of its parameters, keywords by name."""
    args: list[Any] = list(first)
    keywords: dict[str, Any] = {}
    star = False
    for name, parameter in bound.rule.parameters.parameters.items():
        if name not in bound.arguments.arguments:
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                star = True  # from here on by name
            continue
        value = bound.arguments.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += list(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
        elif parameter.kind is parameter.KEYWORD_ONLY or star:
            keywords[name] = value
        else:
            args.append(value)
    return args, keywords


def _reversed(loc: Loc | None, b: Builder) -> Loc | None:
    """The place of a reverse operation: that of its primal, one sweep further."""
    if loc is None:
        return b.loc
    reverse = b.loc.reverse if b.loc is not None else 1
    return replace(loc, reverse=max(reverse, 1))


# ---- linearity of a differential


def check_linear(
    rule: Rule, inner: Builder, differentials: dict[str, Any], low: Any, result: Any
) -> None:
    """Refuse a body not linear in its differentials: a product of two, or a constant term."""
    parts = result.items if isinstance(result, TupleRef) else (result,)
    outcomes = [low.atom(item) for item in parts]
    dependent: dict[Value, None] = {}
    for d in differentials.values():
        for part in d if isinstance(d, tuple) else (d,):
            if isinstance(part, Value):
                dependent[part] = None
    for op in inner.ops:
        if not any(v in dependent for v in values_read(op)):
            continue
        if isinstance(op, Apply):
            if rules.is_constant(op.callee):
                continue
            _check_linear_call(rule, op, dependent, inner)
        dependent.update(dict.fromkeys(results(op)))
    for atom in outcomes:
        if not _is_zero(atom, inner) and atom not in dependent:
            _not_linear(rule, "it has a term without a differential")


def _check_linear_call(rule: Rule, op: Apply, dependent: dict[Value, None], inner: Builder) -> None:
    transpose = rules.lookup_transpose(op.callee)
    if transpose is None:
        if _structural(op.callee) is None:
            name = getattr(op.callee, "__name__", repr(op.callee))
            _not_linear(rule, f"a differential goes through {name}, which is not declared linear")
        return
    bound = bind(transpose, op)
    parts = {n: v if isinstance(v := bound.atom(n), tuple) else (v,) for n in transpose.wrt}
    moving = [
        n for n, vs in parts.items() if any(v in dependent for v in vs if isinstance(v, Value))
    ]
    if transpose.kind == "multilinear" and len(moving) > 1:
        _not_linear(rule, "two differentials are multiplied")
    if transpose.kind == "linear":
        still = [v for n, vs in parts.items() if n not in moving for v in vs]
        if any(isinstance(v, (Value, Literal)) and not _is_zero(v, inner) for v in still):
            _not_linear(rule, "a differential and a constant are added")


def _is_zero(atom: Any, inner: Builder) -> bool:
    """Whether an atom is zero by construction: the differential of what has none is."""
    if isinstance(atom, Literal):
        return not isinstance(atom.value, (int, float, complex)) or atom.value == 0
    if not isinstance(atom, Value):  # an argument that is not given
        return True
    op = inner.definition(atom)
    if op is None:
        return False
    if op.callee in (np.zeros, np.zeros_like, runtime.zeros_like, runtime.shadow):
        return True
    if op.callee in (make_tuple, make_list):
        return all(_is_zero(a, inner) for a in op.args)
    transpose = rules.lookup_transpose(op.callee)
    if transpose is None:
        return False
    bound = bind(transpose, op)
    parts = [bound.atom(n) for n in transpose.wrt]
    zeros = [all(_is_zero(p, inner) for p in (v if isinstance(v, tuple) else (v,))) for v in parts]
    return any(zeros) if transpose.kind == "multilinear" else all(zeros)


def _not_linear(rule: Rule, why: str) -> NoReturn:
    code = getattr(rule.body, "__code__", None)
    place = None if code is None else Place(code.co_filename, code.co_firstlineno)
    raise RuleError(
        place,
        f"the differential of {rule.name} is not linear: {why}",
        "write it as a sum of terms, each a coefficient times one differential",
    )


# ---- transposition of a linear block


def transpose_block(
    inner: Builder,
    outputs: list[tuple[Atom, Atom]],
    wanted: dict[Value, Value],
    standing: dict[Value, Atom],
    b: Builder,
) -> Adjoints:
    """Transpose a linear block at the end of ``b``; the adjoints of the differentials.

    The block itself goes there too, with every differential standing for its argument: coefficients
    are read from it, and shapes (a differential has that of its argument).  What is not read is
    removed later.
    """
    dependent: dict[Value, None] = dict.fromkeys(wanted)
    linear: list[Op] = []

    read = renaming(standing)

    for op in inner.ops:
        if any(v in dependent for v in values_read(op)):
            _note_dependent(op, dependent)
            linear.append(op)
    mark = len(b.ops)
    for op in inner.ops:
        b.adopt(map_atoms(op, read, lambda v: v))
    b.standing.update(standing)
    bars = Adjoints(b, lambda v: v in dependent)
    for output, ct in outputs:
        bars.add(output, ct)
    _transpose_ops(linear, bars, Transposer(bars.active, linear=True))
    b.substitute(mark, standing)
    return bars


def _note_dependent(op: Op, dependent: dict[Value, None]) -> None:
    """Add what an operation defines from dependent values, in its blocks too."""
    for block in blocks(op):
        for inner in block.ops:
            if any(v in dependent for v in values_read(inner)):
                _note_dependent(inner, dependent)
    dependent.update(dict.fromkeys(results(op)))


def _transpose_ops(ops: list[Op], bars: Adjoints, transposer: Transposer) -> None:
    from srcad.transform.reverse import Reverser  # which itself pulls calls back

    for op in reversed(ops):
        match op:
            case Apply():
                state = bars.get(op.result)
                if state is not None:
                    transposer.pull(op, state, bars)
            case If():
                _replace(bars.builder, op, Reverser(transposer).pull_if(op, bars))
            case Accumulate():
                ct = bars.take(op.version)
                if ct is not None:
                    pull_accumulate(op, ct, bars)
            case _:
                raise RuleError(
                    place_of(op.loc), "a rule's differential uses a loop", "write it with NumPy"
                )


def _replace(b: Builder, op: If, made: If) -> None:
    """Put the ``if`` that hands out what its reverse reads where the block's own stands."""
    if made is op:
        return
    for k, other in enumerate(b.ops):
        if isinstance(other, If) and other.results == op.results:
            b.ops[k] = made


def pull_accumulate(op: Accumulate, ct: Atom, adjoints: Adjoints) -> None:
    """The transpose of ``target[index] += term``."""
    b = adjoints.builder
    if isinstance(op.term, Value) and is_differentiable(op.term.type):
        if op.index is None or dims_of(atom_type(ct)) == ():
            term = ct  # the adjoint of an array without axes may be a number
        elif isinstance(atom_type(ct), DictType):
            term = dict_item(b, ct, op.index, op.term)
        else:
            term = b.apply(operator.getitem, ct, op.index)
        adjoints.add(op.term, spaces.conform(b, term, op.term, elementwise=True))
    if isinstance(op.target, Value):
        adjoints.add(op.target, spaces.conform(b, ct, op.target, elementwise=True))


# ---- displays and other syntax


def _pull_display(transposer: Transposer, op: Apply, ct: Any, adjoints: Adjoints) -> None:
    for k, item in enumerate(op.args):
        if not isinstance(item, Value) or not is_differentiable(item.type):
            continue
        if isinstance(ct, Parts):
            adjoints.add(item, ct.items[k])
        else:
            adjoints.add(item, adjoints.builder.apply(operator.getitem, ct, Literal(k)))


def _pull_dict(transposer: Transposer, op: Apply, ct: Any, adjoints: Adjoints) -> None:
    for key, item in zip(op.args[::2], op.args[1::2], strict=True):
        if isinstance(item, Value) and is_differentiable(item.type):
            adjoints.add(item, dict_item(adjoints.builder, ct, key, item))


def _pull_select(transposer: Transposer, op: Apply, ct: Any, adjoints: Adjoints) -> None:
    test, then, orelse = op.args
    b = adjoints.builder
    ct = adjoints.atom(ct, op.result)
    if isinstance(then, Value) and is_differentiable(then.type):
        adjoints.add(then, b.apply(select, test, ct, spaces.zeros(b, then)))
    if isinstance(orelse, Value) and is_differentiable(orelse.type):
        adjoints.add(orelse, b.apply(select, test, spaces.zeros(b, orelse), ct))


def _pull_same(transposer: Transposer, op: Apply, ct: Any, adjoints: Adjoints) -> None:
    if isinstance(atom_type(op.args[0]), (Array, Unknown)):  # a list of its items is none
        ct = adjoints.builder.apply(np.array, adjoints.atom(ct, op.result))
    adjoints.add(op.args[0], ct)


def _pull_get(transposer: Transposer, op: Apply, ct: Any, adjoints: Adjoints) -> None:
    """``d.get(key, zero)`` of an adjoint: the default is a zero."""
    entries, key, *_ = op.args
    if isinstance(entries, Value):
        adjoints.add_at(entries, key, adjoints.atom(ct, op.result))


def _structural(callee: Any) -> Callable[[Transposer, Apply, Any, Adjoints], None] | None:
    return _STRUCTURAL.get(make_tuple if makes_tuple(callee) else callee)


_STRUCTURAL: dict[Any, Callable[[Transposer, Apply, Any, Adjoints], None]] = {
    make_tuple: _pull_display,
    make_list: _pull_display,
    make_dict: _pull_dict,
    select: _pull_select,
    list: _pull_same,
    dict: _pull_same,
    runtime.copied: _pull_same,
    dict.get: _pull_get,
}
