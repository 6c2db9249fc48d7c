"""Derivatives of functions that stay functions: a pair for reverse mode, one for forward mode.

The pair of a function is an augmented primal, which returns what the reverse reads (``saved``)
beside its results, and a reverse, which takes it back.  Both are made once for each set of active
arguments; a recursive function calls its own pair.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from srcad import rules
from srcad.analysis.activity import varied_values
from srcad.analysis.existence import missing_values
from srcad.ir import Apply, Block, Call, Function, FunctionRef, Literal, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_tuple
from srcad.ir.naming import name_of
from srcad.ir.types import UNKNOWN, TupleType, is_differentiable
from srcad.ir.walk import all_ops, rename_values, results
from srcad.options import DEFAULTS, Options
from srcad.passes.dce import prune_block
from srcad.transform import spaces
from srcad.transform.forward import Pusher
from srcad.transform.reverse import Reverser, sweep_block


@dataclass(frozen=True, slots=True)
class Pair:
    """The reverse-mode functions of a function."""

    forward: FunctionRef
    reverse: FunctionRef


class Functions:
    """The derivative functions made so far."""

    def __init__(self, *, exact: bool, options: Options = DEFAULTS) -> None:
        self.exact = exact
        self.options = options
        self.pairs: dict[Any, Pair] = {}
        self.tangents: dict[Any, FunctionRef] = {}

    # ---- reverse mode

    def pull_call(self, reverser: Reverser, op: Call, adjoints: Any) -> list[Op]:
        """The reverse of a call; the forward call of the augmented primal."""
        wanted = tuple(k for k, r in enumerate(op.results) if adjoints.active(r))
        if all(adjoints.get(op.results[k]) is None for k in wanted):
            return [op]
        given = tuple(
            k for k, a in enumerate(op.args) if isinstance(a, Value) and adjoints.active(a)
        )
        pair = self.pair(op.function, given, wanted)
        function = op.function.function
        assert function is not None
        saved = Value(f"{op.function.name}_saved", UNKNOWN)
        b = adjoints.builder
        cts = []
        for k in wanted:
            state = adjoints.get(op.results[k])
            result = op.results[k]
            cts.append(spaces.zeros(b, result) if state is None else adjoints.atom(state, result))
        bars = tuple(Value("", spaces.tangent_type(function.params[k].type)) for k in given)
        b.append(Call(pair.reverse, (saved, *cts), bars, b.loc))
        for k, bar in zip(given, bars, strict=True):
            adjoints.add(op.args[k], bar)
        # what is saved may be an argument or a view of one, whose memory is written later
        volatile = reverser.restoring.volatile
        moving = [a for a in dict.fromkeys(op.args) if isinstance(a, Value) and a in volatile]
        copies = {a: reverser.restoring.copy(a) for a in moving}
        args = tuple(copies[a].result if a in moving else a for a in op.args)
        return [*copies.values(), Call(pair.forward, args, (*op.results, saved), op.loc)]

    def pair(self, ref: FunctionRef, given: tuple[int, ...], wanted: tuple[int, ...]) -> Pair:
        """The pair of a function for its active arguments and results."""
        key = (ref, given, wanted)
        if key not in self.pairs:
            pair = Pair(FunctionRef(f"{ref.name}_fwd"), FunctionRef(f"{ref.name}_rev"))
            self.pairs[key] = pair
            self._derive(ref, given, wanted, pair)
        return self.pairs[key]

    def _derive(
        self, ref: FunctionRef, given: tuple[int, ...], wanted: tuple[int, ...], pair: Pair
    ) -> None:
        function = ref.function
        assert function is not None
        inputs = [function.params[k] for k in given]
        yields = function.body.yields
        outputs = [yields[k] for k in wanted]
        swept = sweep_block(
            function.body,
            tuple(inputs),
            tuple(outputs),
            self._builder,
            self,
            params=function.params,
            options=self.options,
        )
        ops, reverse, seeds = swept.forward, swept.reverse, swept.reverse.params
        inside = dict.fromkeys((*function.params, *(r for op in ops for r in results(op))))
        needed = [v for v in swept.kept if v in inside]
        saved = Value("saved", TupleType(tuple(v.type for v in needed)))
        pack = Apply(make_tuple, tuple(swept.kept[v] for v in needed), (), saved, None)
        forward_block = Block((), (*ops, pack), (*yields, saved))
        pair.forward.function = Function(
            pair.forward.name, function.params, prune_block(forward_block), function.loc
        )
        param = Value("saved", saved.type)
        names: dict[Value, Any] = {}
        head: list[Op] = []
        made = {r: op for op in all_ops(forward_block) for r in results(op)}
        for k, value in enumerate(needed):
            fresh = Value(name_of(value, made), value.type)
            names[value] = fresh
            head.append(Apply(operator.getitem, (param, Literal(k)), (), fresh, None))
        renamed = rename_values(reverse, names)
        body = Block((), (*head, *renamed.ops), renamed.yields)
        pair.reverse.function = Function(
            pair.reverse.name, (param, *seeds), prune_block(body), function.loc
        )

    def _builder(self) -> Builder:
        b = Builder(exact=self.exact, simplify=True)
        b.shorten = self.options.shorten
        return b

    # ---- forward mode

    def push_call(self, pusher: Pusher, op: Call, b: Builder) -> None:
        """A call with tangents."""
        given = tuple(k for k, a in enumerate(op.args) if pusher.tangent(a) is not None)
        wanted = tuple(
            k for k, r in enumerate(op.results) if pusher.active(r) and is_differentiable(r.type)
        )
        if not given or not wanted:
            b.append(op)
            return
        ref = self.tangent(op.function, given, wanted)
        dots = tuple(
            Value(spaces.value_hint(op.results[k], "_dot"), spaces.tangent_type(op.results[k].type))
            for k in wanted
        )
        tangents = tuple(t for k in given if (t := pusher.tangent(op.args[k])) is not None)
        b.append(Call(ref, (*op.args, *tangents), (*op.results, *dots), op.loc))
        for k, dot in zip(wanted, dots, strict=True):
            pusher.set(op.results[k], dot)

    def tangent(
        self, ref: FunctionRef, given: tuple[int, ...], wanted: tuple[int, ...]
    ) -> FunctionRef:
        """The tangent function of a function for its active arguments."""
        key = (ref, given, wanted)
        if key not in self.tangents:
            made = FunctionRef(f"{ref.name}_jvp")
            self.tangents[key] = made
            function = ref.function
            assert function is not None
            inputs = [function.params[k] for k in given]
            varied = varied_values(function.body, inputs, rules.is_constant)
            b = self._builder()
            b.missing = missing_values(function.body, function.params)
            b.steep = True  # nothing is known of what is done around the function
            pusher = Pusher(lambda v: v in varied, self)
            dots = []
            for value in inputs:
                dot = Value(spaces.value_hint(value, "_dot"), spaces.tangent_type(value.type))
                dots.append(dot)
                pusher.tangents[value] = dot
            pusher.push_ops(function.body.ops, b)
            ends = tuple(pusher._end(b, function.body.yields[k]) for k in wanted)
            block = prune_block(b.block((), (*function.body.yields, *ends)))
            made.function = Function(made.name, (*function.params, *dots), block, function.loc)
        return self.tangents[key]


def reachable(function: Function) -> tuple[FunctionRef, ...]:
    """The functions that a function calls, directly or not, in the order of first use."""
    found: dict[FunctionRef, None] = {}

    def visit(block: Block) -> None:
        for op in all_ops(block):
            if isinstance(op, Call) and op.function not in found:
                found[op.function] = None
                assert op.function.function is not None
                visit(op.function.function.body)

    visit(function.body)
    return tuple(found)
