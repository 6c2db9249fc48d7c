"""Random expressions of a wanted type, kept within bounds."""

from __future__ import annotations

from tests.fuzz.choices import Choices
from tests.fuzz.grammar import BY_RESULT, OPS, SQUASHERS, Op
from tests.fuzz.scope import Scope, Signature
from tests.fuzz.tree import LIMIT, Expr, const, name

_WORST = 200.0
"""A larger intermediate result is squashed at once."""

# An operation that compares its first two arguments: never a thing with itself.
_COMPARING = ("lt", "gt", "le", "ge", "chain", "max", "min", "where")

_ARRAY_ENTRIES = {"V": 3, "W": 2}


class Names:
    """Fresh names for one function; different functions may use the same ones."""

    _POOL = ("a", "b", "c", "d", "e", "g", "h", "p", "q", "r", "s", "u", "w", "z")

    def __init__(self) -> None:
        self._count = 0
        self.reserved: set[str] = set()

    def fresh(self) -> str:
        while True:
            round_, position = divmod(self._count, len(self._POOL))
            self._count += 1
            found = self._POOL[position] + (str(round_ + 1) if round_ else "")
            if found not in self.reserved:
                return found


def build(op: str, *args: Expr, names: tuple[str, ...] = ()) -> Expr:
    entry = OPS[op]
    return Expr(op, entry.result, args, names, bound=entry.bound(*(arg.bound for arg in args)))


def call(signature: Signature, args: list[Expr], keywords: list[str]) -> Expr:
    return Expr("call", signature.result, tuple(args), (signature.name, *keywords))


class ExpressionGenerator:
    """Builds expressions from choices; `names` is that of the function at work."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.names = Names()

    def expression(self, scope: Scope, kind: str, depth: int) -> Expr:
        if depth <= 0 or self.choices.chance(20 if kind != "I" or scope.of_type("I") else 70):
            return self.leaf(scope, kind)
        callable_here = [
            signature
            for signature in scope.functions.values()
            if signature.result == kind and not signature.impure
        ]
        if callable_here and self.choices.chance(25):
            return self.calling(scope, self.choices.pick(callable_here), depth - 1)
        entry = self._operation(scope, kind)
        if entry is None:
            return self.leaf(scope, kind)
        inner = scope
        bound_names: tuple[str, ...] = ()
        if entry.binds:
            bound_names = tuple(self.names.fresh() for _ in entry.binds)
            # What runs for each item must not change the list that gives them.
            inner = scope.child(frozen=scope.frozen.union(scope.of_type("L")))
            for bound_name, its_type in zip(bound_names, entry.binds, strict=True):
                inner.bind(bound_name, its_type)
        args = [
            self.expression(inner if position >= entry.scoped else scope, param, depth - 1)
            for position, param in enumerate(entry.params)
        ]
        if entry.name in ("range", "power_int"):
            args[-1] = self.small(args[-1])
        if len(args) > 1 and args[0] == args[1] and entry.name.startswith(_COMPARING):
            args[1] = const(str(self.choices.real(-0.9, 0.9)), "S")
        return self.tamed(build(entry.name, *args, names=bound_names), _WORST)

    def _operation(self, scope: Scope, kind: str) -> Op | None:
        usable = [
            (entry.weight, entry)
            for entry in BY_RESULT.get(kind, [])
            if entry.weight and ("F" not in entry.params or scope.of_type("F"))
        ]
        return self.choices.weighted(usable) if usable else None

    def small(self, expr: Expr) -> Expr:
        """An integer from 0 to 4, so that loops are short."""
        if expr.op in ("const", "mod4_I", "mod_I") or (expr.op == "name" and expr.names[0] != "n"):
            return expr
        return build("mod4_I", expr)

    def fitted(self, scope: Scope, kind: str, depth: int) -> Expr:
        """An expression that a variable may hold."""
        expr = self.expression(scope, kind, depth)
        if kind == "I":
            return self.small(expr)
        if kind in "LDT" and expr.bound > LIMIT:
            return self.leaf(scope, kind)
        return self.tamed(expr, LIMIT)

    def tamed(self, expr: Expr, limit: float) -> Expr:
        if expr.bound <= limit or expr.type not in SQUASHERS:
            return expr
        return build(self.choices.pick(SQUASHERS[expr.type]), expr)

    def leaf(self, scope: Scope, kind: str) -> Expr:
        known = scope.of_type(kind)
        local = [variable for variable in known if variable not in ("SCALE", "TABLE")]
        if local and self.choices.chance(90):
            return name(self.choices.pick(local), kind)
        if known and self.choices.chance(30):
            return name(self.choices.pick(known), kind)
        known_float = any(variable != "SCALE" for variable in scope.of_type("S"))
        match kind:
            case "V" | "W" if known_float and self.choices.chance(85):
                count = _ARRAY_ENTRIES[kind]
                return build(f"array_{kind}", *(self.leaf(scope, "S") for _ in range(count)))
            case "M" if scope.of_type("V") and self.choices.chance(85):
                return build("stack_M", self.leaf(scope, "V"), self.leaf(scope, "V"))
            case "L" if known_float and self.choices.chance(85):
                return build("list2", self.leaf(scope, "S"), self.leaf(scope, "S"))
            case "S" if scope.of_type("V") not in ([], ["TABLE"]) and self.choices.chance(85):
                index = const(str(self.choices.integer(0, 2)), "I")
                return build("item_V", self.leaf(scope, "V"), index)
            case "S" if scope.of_type("L") and self.choices.chance(85):
                return build("first_L", self.leaf(scope, "L"))
            case "S":
                literal = self.choices.real(-1.6, 1.6)
                return const(str(literal), "S", abs(literal))
            case "V" | "W":
                return const(f"np.array({self._numbers(_ARRAY_ENTRIES[kind])})", kind, 2.0)
            case "M":
                return const(f"np.array([{self._numbers(3)}, {self._numbers(3)}])", kind, 2.0)
            case "I":
                return const(str(self.choices.integer(0, 4)), "I")
            case "L":
                return const(self._numbers(self.choices.integer(1, 3)), "L", 2.0)
            case "K":
                return const(self.choices.pick(('"a"', '"b"')), "K")
            case "B":
                return build("lt", self.leaf(scope, "S"), const("0.4", "S"))
            case "T":
                return build("pair", self.leaf(scope, "S"), self.leaf(scope, "S"))
            case "D":
                return build("dict2", self.leaf(scope, "S"), self.leaf(scope, "S"))
            case "F":
                return self.function_value(scope, 1)
            case "iI":
                return build("range", const(str(self.choices.integer(0, 4)), "I"))
            case "iS":
                return build("iter_V", self.leaf(scope, "V"))
            case "iSS":
                return build("zip_LV", self.leaf(scope, "L"), self.leaf(scope, "V"))
            case "iIS":
                return build("enumerate_L", self.leaf(scope, "L"))
            case "iKS":
                return build("items_D", self.leaf(scope, "D"))
            case _:
                raise AssertionError(f"no leaf of type {kind}")

    def function_value(self, scope: Scope, depth: int) -> Expr:
        """A function from float to float: one that is known, or a lambda."""
        known = [
            signature.name
            for signature in scope.functions.values()
            if not signature.impure
            and [kind for _, kind in signature.params][:1] == ["S"]
            and signature.defaults == len(signature.params) - 1
            and signature.result == "S"
        ]
        if known and self.choices.chance(50):
            return name(self.choices.pick(known), "F")
        parameter = self.names.fresh()
        inner = scope.child()
        inner.bind(parameter, "S")
        body = self.tamed(self.expression(inner, "S", depth), LIMIT)
        return Expr("lambda", "F", (body,), (parameter,))

    def calling(self, scope: Scope, signature: Signature, depth: int) -> Expr:
        """A call: positional arguments, then keywords; some defaults are left out."""
        count = len(signature.params)
        given = count - self.choices.integer(0, signature.defaults)
        positional = given - (self.choices.integer(0, given) if self.choices.chance(35) else 0)
        if signature.rest == "*":
            positional = given
        elif signature.rest == "**":
            positional = min(positional, given - 2)
        args, keywords = [], []
        for position, (parameter, kind) in enumerate(signature.params[:given]):
            arg = self.fitted(scope, kind, depth) if kind != "F" else self.leaf(scope, "F")
            if kind == "I":
                arg = self.small(arg)
            if kind == "L" and arg.op == "name" and arg.names[0] in scope.frozen:
                # The callee may change its list.
                arg = build("copy_L", arg)
            args.append(arg)
            keywords.append(parameter if position >= positional else "")
        tail = list(zip(args, keywords, strict=True))[positional:]
        if len(tail) > 1 and self.choices.chance(40):
            tail.reverse()
        args = args[:positional] + [arg for arg, _ in tail]
        keywords = keywords[:positional] + [keyword for _, keyword in tail]
        return call(signature, args, keywords)

    def _numbers(self, count: int) -> str:
        return f"[{', '.join(str(self.choices.real(-1.6, 1.6)) for _ in range(count))}]"
