"""Random programs: statements, helper functions, and arguments to call `f` with.

Everything generated runs: a name is read only where it is certainly bound to the type expected,
loops are bounded, lists that are iterated are not changed, arrays are never written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.fuzz.choices import Choices
from tests.fuzz.expressions import ExpressionGenerator, Names, build
from tests.fuzz.scope import Scope, Signature
from tests.fuzz.tree import LIMIT, Block, Expr, Program, Stmt, assign, const, name

_ARGUMENT_TYPES = [(8, "S"), (5, "V"), (2, "M"), (2, "L"), (1, "T"), (1, "D"), (2, "W")]
_VALUE_TYPES = [(8, "S"), (5, "V"), (2, "W"), (2, "M"), (2, "L"), (1, "T"), (1, "D"), (1, "I"),
                (1, "B")]  # fmt: skip
_TO_FLOAT = {"V": "np_sum_V", "W": "np_sum_W", "M": "np_sum_M", "L": "sum_L", "T": "first_T",
             "D": "sum_values"}  # fmt: skip
_SURELY_RUNS = ("iter_V", "iter_T", "iter_L", "iter_display", "range3", "range_down", "zip_VV")


def generate(choices: Choices, max_statements: int = 14) -> Program:
    """A program whose main function has at most about `max_statements` statements."""
    return _ProgramGenerator(choices, max_statements).program()


def sample_args(choices: Choices, types: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(_sample(choices, kind) for kind in types)


def _sample(choices: Choices, kind: str) -> Any:
    def real() -> float:
        return choices.real(-1.7, 1.7, digits=4)

    match kind:
        case "S":
            return np.float64(real()) if choices.chance(10) else real()
        case "V":
            return np.array([real() for _ in range(3)])
        case "W":
            return np.array([real() for _ in range(2)])
        case "M":
            return np.array([[real() for _ in range(3)] for _ in range(2)])
        case "L":
            return [real() for _ in range(choices.integer(1, 3))]
        case "T":
            return (real(), real())
        case "D":
            return {"a": real(), "b": real()}
        case _:
            raise AssertionError(f"no arguments of type {kind}")


class _ProgramGenerator(ExpressionGenerator):
    def __init__(self, choices: Choices, max_statements: int) -> None:
        super().__init__(choices)
        self.max_statements = max_statements
        self.budget = 0
        self.functions = 0
        self.restless = choices.chance(25)
        """Whether the program leaves its blocks often."""

    def program(self) -> Program:
        module = Scope()
        body: list[Stmt] = []
        if self.choices.chance(25):
            body.append(assign("SCALE", const(str(self.choices.real(0.3, 1.4)), "S")))
            module.bind("SCALE", "S")
        if self.choices.chance(10):
            body.append(assign("TABLE", const("np.array([0.4, -0.7, 1.1])", "V")))
            module.bind("TABLE", "V")
        for _ in range(self.choices.weighted([(4, 0), (4, 1), (2, 2)])):
            body.append(self.helper(module))
        types = tuple(
            self.choices.weighted(_ARGUMENT_TYPES) for _ in range(self.choices.integer(1, 3))
        )
        params = [("x", "y", "v")[position] for position in range(len(types))]
        self.names = Names()
        self.names.reserved |= {"x", "y", "v"}
        scope = module.child(nested=0, frozen=frozenset(module.variables))
        for param, kind in zip(params, types, strict=True):
            scope.bind(param, kind)
        self.budget = self.choices.integer(1, self.max_statements)
        stmts = self.sequence(scope, depth=3)
        stmts.append(Stmt("return", exprs=(self.total(scope, params),)))
        body.append(Stmt("def", ("f", *params), (), (Block(tuple(stmts)),)))
        return Program(Block(tuple(body)), types, sample_args(self.choices, types))

    def total(self, scope: Scope, params: list[str]) -> Expr:
        """A float that depends on several live variables, so that little of a program is dead."""
        live = [
            (variable, kind)
            for variable, kind in scope.variables.items()
            if (kind == "S" or kind in _TO_FLOAT) and variable not in ("SCALE", "TABLE")
        ]
        chosen = live[-4:] if len(live) > 4 else live
        terms = [
            name(variable, kind) if kind == "S" else build(_TO_FLOAT[kind], name(variable, kind))
            for variable, kind in chosen
        ]
        out = self.expression(scope, "S", 2)
        for term in terms:
            # A bare sum would leave most derivatives at 1.
            step = self.choices.weighted([(4, ""), (4, "math_sin"), (2, "math_tanh")])
            op = self.choices.weighted([(3, "add_S"), (3, "mul_S"), (1, "sub_S")])
            out = build(op, out, build(step, term) if step else term)
        return out

    # ---- functions

    def helper(self, module: Scope) -> Stmt:
        """A module-level function; the last form calls itself."""
        self.functions += 1
        title = f"helper{self.functions}"
        if self.choices.chance(25):
            return self.recursive(module, title)
        return self.function(module, title, statements=3)

    def function(self, outer: Scope, title: str, statements: int) -> Stmt:
        """A function with parameters, defaults and a body; it is callable afterwards."""
        saved_names, saved_budget = self.names, self.budget
        self.names = Names()
        self.names.reserved |= {*outer.variables, *outer.functions}
        count = self.choices.integer(1, 3)
        kinds = [self.choices.weighted([(8, "S"), (3, "V"), (1, "L"), (1, "F"), (1, "I")])
                 for _ in range(count)]  # fmt: skip
        rest = self.choices.weighted([(17, ""), (2, "*"), (1, "**")])
        # The keys of a dict are fixed, so these two are keywords that `**` catches.
        self.names.reserved |= {"a", "b"} if rest == "**" else set()
        shadowed = [v for v in outer.variables if v not in ("SCALE", "TABLE") and outer.inner == 0]
        if rest == "**":
            shadowed = []
        params = []
        for _ in kinds:
            if shadowed and self.choices.chance(20):
                params.append(shadowed.pop(self.choices.integer(0, len(shadowed) - 1)))
            else:
                params.append(self.names.fresh())
        defaults: list[Expr] = []
        if not rest and kinds[-1] == "S" and self.choices.chance(40):
            defaults.append(const(str(self.choices.real(0.2, 1.4)), "S"))
        result = self.choices.weighted([(6, "S"), (2, "V"), (1, "T"), (1, "L")])
        known = list(zip(params, kinds, strict=True))
        signature = Signature(title, tuple(known), len(defaults), result)
        if rest:
            caught = self.names.fresh()
            params.append(caught)
            known.append((caught, "T" if rest == "*" else "D"))
            signature = replace(
                signature, rest=rest, params=(*signature.params, ("a", "S"), ("b", "S"))
            )
        scope = self.function_scope(outer, known, result)
        self.budget = self.choices.integer(0, statements)
        stmts = self.sequence(scope, depth=2)
        stmts.append(Stmt("return", exprs=(self.fitted(scope, result, 3),)))
        self.names, self.budget = saved_names, saved_budget
        outer.functions[title] = signature
        return Stmt("def", (title, *params), tuple(defaults), (Block(tuple(stmts)),), rest)

    def function_scope(self, outer: Scope, params: list[tuple[str, str]], result: str) -> Scope:
        scope = outer.child(
            nested=0, in_loop=False, returns=result, inner=outer.inner + 1,
            frozen=frozenset(outer.variables) - {param for param, _ in params},
        )  # fmt: skip
        scope.functions = {k: s for k, s in scope.functions.items() if not s.impure}
        for param, kind in params:
            scope.bind(param, kind)
        return scope

    def recursive(self, module: Scope, title: str) -> Stmt:
        """`def r(x, n)` that calls `r(.., n - 1)` until n is 0."""
        self.names = Names()
        value, counter = self.names.fresh(), "n"
        kind = self.choices.weighted([(3, "S"), (1, "V")])
        scope = self.function_scope(module, [(value, kind), (counter, "I")], kind)
        scope.frozen |= {counter}
        stop = build("le_I", name(counter, "I"), const("0", "I"))
        first = Stmt("return", exprs=(self.fitted(scope, kind, 2),))
        self.budget = self.choices.integer(0, 2)
        stmts = [Stmt("if", (), (stop,), (Block((first,)), Block())), *self.sequence(scope, 1)]
        signature = Signature(title, ((value, kind), (counter, "I")), 0, kind)
        inner = Expr(
            "call", kind,
            (self.fitted(scope, kind, 2), build("dec", name(counter, "I"))), (title, "", ""),
        )  # fmt: skip
        joined = build(self.choices.pick((f"add_{kind}", f"mul_{kind}")), inner,
                       self.fitted(scope, kind, 1))  # fmt: skip
        stmts.append(Stmt("return", exprs=(self.tamed(joined, LIMIT),)))
        module.functions[title] = signature
        return Stmt("def", (title, value, counter), (), (Block(tuple(stmts)),))

    # ---- statements

    def sequence(self, scope: Scope, depth: int) -> list[Stmt]:
        out: list[Stmt] = []
        while self.budget > 0 and (not out or self.choices.chance(80 if scope.nested else 97)):
            self.budget -= 1
            out.extend(self.statement(scope, depth))
        if not out and scope.nested:
            out.extend(self.assignment(scope, 0))
        return out

    def statement(self, scope: Scope, depth: int) -> list[Stmt]:
        forms = [(30, self.assignment), (8, self.augmented), (6, self.unpacking)]
        if scope.assignable("L"):
            forms.append((14, self.list_change))
        if scope.assignable("D"):
            forms.append((5, self.dict_change))
        if any(signature.impure for signature in scope.functions.values()):
            forms.append((8, self.impure_call))
        if scope.inner < 2 and scope.nested < 2:
            forms.append((5, self.closure))
        if depth > 0:
            forms += [(16, self.if_), (14, self.for_), (7, self.while_), (2, self.wrapped)]
        return self.choices.weighted(forms)(scope, depth)

    def depth(self) -> int:
        return self.choices.weighted([(3, 1), (5, 2), (3, 3)])

    def target(self, scope: Scope, kind: str) -> str:
        """A name to bind: often one that is in use already."""
        known = scope.assignable(kind)
        if known and self.choices.chance(75 if scope.nested else 45):
            return self.choices.pick(known)
        if scope.nested == 0 and self.choices.chance(10):
            others = [
                variable
                for variable, its in scope.variables.items()
                if variable not in scope.frozen | scope.pinned and its != kind
            ]
            if others:
                return self.choices.pick(others)
        return self.names.fresh()

    def assignment(self, scope: Scope, depth: int) -> list[Stmt]:
        if self.choices.chance(6):
            value = self.function_value(scope, 2)
            if value.op == "lambda":
                # Its name is fresh: a closure that calls it may run later.
                target, parameter = self.names.fresh(), value.names[0]
                scope.functions[target] = Signature(target, ((parameter, "S"),), 0, "S")
                scope.pinned |= frozenset(scope.variables)
                return [assign(target, value)]
        kind = self.choices.weighted(_VALUE_TYPES)
        value = self.fitted(scope, kind, self.depth())
        target = self.target(scope, kind)
        scope.bind(target, kind)
        return [assign(target, value)]

    def augmented(self, scope: Scope, depth: int) -> list[Stmt]:
        known = scope.assignable("S")
        if not known:
            return self.assignment(scope, depth)
        target = self.choices.pick(known)
        # The factors keep the variable bounded without squashing it each time.
        symbol, op = self.choices.weighted(
            [(3, ("+", "sin")), (2, ("-", "cos")), (3, ("*", "tanh")), (1, ("/", "exp"))]
        )
        value = self.fitted(scope, "S", 2)
        match op:
            case "exp":
                value = build("add_S", const("1.5", "S"), build("square_S", value))
            case _:
                value = build(f"math_{op}", value)
        step = Stmt("aug", (target,), (value,), text=symbol)
        if symbol in "+-":
            return [step, assign(target, build("math_atan", name(target, "S")))]
        return [step]

    def unpacking(self, scope: Scope, depth: int) -> list[Stmt]:
        floats = scope.assignable("S")
        if len(floats) >= 2 and self.choices.chance(45):
            first = self.choices.pick(floats)
            second = self.choices.pick([variable for variable in floats if variable != first])
            values = (name(second, "S"), name(first, "S"))
            if self.choices.chance(40):
                values = (values[0], self.fitted(scope, "S", 2))
            return [Stmt("assign", (first, second), values)]
        kind, inside = self.choices.weighted([(4, ("T", "S")), (2, ("M", "V")), (1, ("W", "S"))])
        value = self.fitted(scope, kind, 2)
        if self.choices.chance(15):
            head, rest = self.names.fresh(), self.names.fresh()
            pair = build("list2", self.fitted(scope, "S", 1), self.fitted(scope, "S", 1))
            scope.bind(head, "S")
            scope.bind(rest, "L")
            return [Stmt("star", (head, rest), (pair,))]
        first = self.target(scope, inside)
        second = self.target(scope, inside)
        if first == second:
            second = self.names.fresh()
        scope.bind(first, inside)
        scope.bind(second, inside)
        return [Stmt("assign", (first, second), (value,))]

    def list_change(self, scope: Scope, depth: int) -> list[Stmt]:
        target = self.choices.pick(scope.assignable("L"))
        match self.choices.weighted([(4, "append"), (3, "store"), (2, "pop")]):
            case "append" if scope.nested < 3:
                return [Stmt("append", (target,), (self.fitted(scope, "S", 2),))]
            case "pop":
                other = self.fitted(scope, "S", 1)
                name_ = self.target(scope, "S")
                scope.bind(name_, "S")
                return [Stmt("pop", (name_, target), (other,))]
            case _:
                index = self.choices.pick(
                    (const("0", "I"), const("-1", "I"),
                     build("mod_len", self.leaf(scope, "I"), name(target, "L")))
                )  # fmt: skip
                return [Stmt("store", (target,), (index, self.fitted(scope, "S", 2)))]

    def dict_change(self, scope: Scope, depth: int) -> list[Stmt]:
        target = self.choices.pick(scope.assignable("D"))
        key = const(self.choices.pick(('"a"', '"b"', '"c"')), "K")
        return [Stmt("store", (target,), (key, self.fitted(scope, "S", 2)))]

    def impure_call(self, scope: Scope, depth: int) -> list[Stmt]:
        signature = self.choices.pick([s for s in scope.functions.values() if s.impure])
        value = self.calling(scope, signature, 2)
        if self.choices.chance(50):
            return [Stmt("expr", exprs=(value,))]
        target = self.target(scope, "S")
        scope.bind(target, "S")
        return [assign(target, value)]

    def closure(self, scope: Scope, depth: int) -> list[Stmt]:
        self.functions += 1
        title = f"inner{self.functions}"
        cells = [variable for variable in scope.assignable("S")]
        scope.pinned |= frozenset(scope.variables)
        if cells and self.choices.chance(30):
            cell, parameter = self.choices.pick(cells), self.names.fresh()
            inner = self.function_scope(scope, [(parameter, "S")], "S")
            change = assign(cell, self.fitted(inner, "S", 3))
            body = (Stmt("nonlocal", (cell,)), change, Stmt("return", exprs=(name(cell, "S"),)))
            scope.functions[title] = Signature(title, ((parameter, "S"),), 0, "S", impure=True)
            return [Stmt("def", (title, parameter), (), (Block(body),))]
        return [self.function(scope, title, statements=2)]

    # ---- compound statements

    def ending(self, scope: Scope) -> Stmt | None:
        """Sometimes a statement that leaves the block."""
        if scope.in_loop and self.choices.chance(45 if self.restless else 22):
            return Stmt(self.choices.pick(("break", "continue")))
        if self.choices.chance(40 if self.restless else 7):
            return Stmt("return", exprs=(self.fitted(scope, scope.returns, 2),))
        return None

    def if_(self, scope: Scope, depth: int) -> list[Stmt]:
        test = self.expression(scope, "B", 2)
        if self.choices.chance(8):
            target = self.target(scope, "S")
            value = build("walrus", self.fitted(scope, "S", 2), names=(target,))
            scope.bind(target, "S")
            test = build(self.choices.pick(("lt", "gt")), value, const("0.3", "S"))
        blocks, ends = [], []
        for present in (True, self.choices.chance(65)):
            inner = scope.child()
            stmts = self.sequence(inner, depth - 1) if present else []
            last = self.ending(inner) if present else None
            if last is not None:
                stmts.append(last)
            blocks.append(Block(tuple(stmts)))
            ends.append(None if last is not None else inner)
        if ends == [None, None]:
            blocks[1] = Block()
            ends[1] = scope.child()
        scope.merge(*ends)
        return [Stmt("if", (), (test,), tuple(blocks))]

    def for_(self, scope: Scope, depth: int) -> list[Stmt]:
        kind = self.choices.weighted([(8, "iI"), (6, "iS"), (3, "iSS"), (3, "iIS"), (2, "iKS")])
        iterable = self.expression(scope, kind, 2)
        if kind == "iI" and self.choices.chance(30):
            iterable = build("range", const(str(self.choices.integer(1, 3)), "I"))
        # Another name may be the same list: none is changed while one is iterated.
        iterated = frozenset(
            variable
            for container in "LD"
            if any(arg.op == "name" and arg.type == container for arg in iterable.args)
            for variable in scope.of_type(container)
        )
        targets = tuple(
            self.choices.pick(scope.assignable("S"))
            if item == "S" and scope.assignable("S") and self.choices.chance(20)
            else self.names.fresh()
            for item in kind[1:]
        )
        if len(set(targets)) < len(targets):
            targets = tuple(self.names.fresh() for _ in kind[1:])
        inner = scope.child(in_loop=True, frozen=scope.frozen | iterated)
        for target, item in zip(targets, kind[1:], strict=True):
            inner.bind(target, item)
        body = self.sequence(inner, depth - 1)
        orelse = self.orelse(scope, depth)
        if iterable.op in _SURELY_RUNS:
            for target, item in zip(targets, kind[1:], strict=True):
                if scope.variables.get(target, item) == item:
                    scope.bind(target, item)
        return [Stmt("for", targets, (iterable,), (Block(tuple(body)), orelse))]

    def while_(self, scope: Scope, depth: int) -> list[Stmt]:
        floats = scope.assignable("S")
        if floats and self.choices.chance(40):
            target = self.choices.pick(floats)
            inner = scope.child(in_loop=True, frozen=scope.frozen | {target})
            # An impure function could set the variable back.
            inner.functions = {k: s for k, s in inner.functions.items() if not s.impure}
            body = self.sequence(inner, depth - 1)
            threshold = str(self.choices.real(0.1, 0.9))
            blocks = (Block(tuple(body)), self.orelse(scope, depth))
            return [Stmt("halve", (target,), (), blocks, threshold)]
        counter = self.names.fresh()
        test = self.expression(scope, "B", 2)
        scope.bind(counter, "I")
        inner = scope.child(in_loop=True, frozen=scope.frozen | {counter})
        body = self.sequence(inner, depth - 1)
        limit = str(self.choices.integer(1, 4))
        blocks = (Block(tuple(body)), self.orelse(scope, depth))
        return [Stmt("while", (counter,), (test,), blocks, limit)]

    def orelse(self, scope: Scope, depth: int) -> Block:
        if not self.choices.chance(15):
            return Block()
        return Block(tuple(self.sequence(scope.child(), depth - 1)))

    def wrapped(self, scope: Scope, depth: int) -> list[Stmt]:
        if self.choices.chance(40):
            value = self.leaf(scope, "S")
            return [Stmt("assert", exprs=(value,))]
        before = scope.child()
        scope.nested += 1
        body = Block(tuple(self.sequence(scope, depth - 1)))
        scope.nested -= 1
        if self.choices.chance(50):
            return [Stmt("with", blocks=(body,))]
        # A return may leave the body early: the last part knows only what was bound before.
        last = Block(tuple(self.sequence(before, 0)))
        scope.merge(scope.child(), before)
        return [Stmt("finally", blocks=(body, last))]
