"""Random programs with arrays that are written, viewed, shared and handed on.

The generator knows the shape of everything. A *place* is a text that denotes an array: a name, an
item of a list, a field of an object.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.fuzz.arrays.program import ArrayProgram, Shape, Tree, lines
from tests.fuzz.choices import Choices

SHAPES: tuple[Shape, ...] = ((5,), (3,), (4,), (3, 4), (2, 3), (3, 3))
_ONE = ("1", "0", "-1", "-2", "2")
_SLICES = (
    "1:", ":-1", "1:-1", ":2", "1:3", "-2:", "::2", "1::2", "::-1", "2:0:-1", "-1:0:-2", ":", "0:1",
)  # fmt: skip
_LISTS = ("[0, 2]", "[1, 0]", "np.array([0, 1])", "[1, 1, 0]", "np.array([2, 0, 2])", "[-1, 0]",
          "np.array([1])")  # fmt: skip
_CLASSES: list[Tree] = [
    (
        "class Box:",
        [
            ("def __init__(self, a, b):", ["self.a = a", "self.b = b", "self.s = 0.5"]),
            ("def step(self, s):", ["self.a *= s", "self.b[0] = self.a[-1] * s", "self.s += s"]),
            ("def swap(self):", ["self.a, self.b = self.b, self.a"]),
            ("def inner(self):", ["return self.a[1:]"]),
        ],
    )
]


@dataclass(slots=True)
class Helper:
    """A function that the program may call."""

    name: str
    params: tuple[Shape, ...]
    """Of its arrays; a number follows them."""
    result: Shape | None
    """The shape of what it returns, `()` for a number; None for nothing."""
    is_array: bool = True


@dataclass(slots=True)
class Scope:
    """What may be mentioned here."""

    places: dict[str, Shape] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    """Places that cannot be bound again."""
    numbers: list[str] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    """Integers from 0 to below a bound."""
    lists: dict[str, list[Shape]] = field(default_factory=dict)
    boxes: dict[str, tuple[Shape, Shape]] = field(default_factory=dict)
    closures: dict[str, int] = field(default_factory=dict)
    """Closures that write into an array of so many rows: `put(i, v)`."""
    depth: int = 0
    in_loop: bool = False

    def child(self, in_loop: bool = False) -> Scope:
        return Scope(
            dict(self.places), set(self.fixed), list(self.numbers), dict(self.counters),
            dict(self.lists), dict(self.boxes), dict(self.closures), self.depth + 1,
            self.in_loop or in_loop,
        )  # fmt: skip


def generate(choices: Choices, most: int = 9) -> ArrayProgram:
    """A program; it may turn out not to run."""
    return _Generator(choices).program(most)


class _Generator:
    def __init__(self, choices: Choices) -> None:
        self.c = choices
        self.count: dict[str, int] = {}
        self.helpers: list[Helper] = []
        self.budget = 0
        self.in_helper = False

    def fresh(self, stem: str) -> str:
        number = self.count.get(stem, 0)
        self.count[stem] = number + 1
        return f"{stem}{number}"

    # ---- programs

    def program(self, most: int) -> ArrayProgram:
        c = self.c
        shapes = [c.pick(SHAPES) for _ in range(c.integer(1, 2))]
        names = [("x", "m")[len(s) > 1] + str(k) for k, s in enumerate(shapes)]
        prelude: list[Tree] = []
        for _ in range(c.integer(0, 2)):
            prelude.append(self.helper())
        scope = Scope(dict(zip(names, shapes, strict=True)), set(), ["s"])
        self.budget = c.integer(2, most)
        stmts: list[Tree] = self.fresh_array(scope)
        while self.budget > 0:
            stmts += self.statement(scope)
        stmts.append(self.returned(scope))
        body: list[Tree] = [*prelude, (f"def f({', '.join(names)}, s):", stmts)]
        if "Box(" in "\n".join(lines(body)):
            body = [*_CLASSES, *body]
        text = "\n".join(["import numpy as np", "", *lines(body)]) + "\n"
        args = tuple(
            np.array([c.real(0.2, 1.4) * c.pick((1, -1)) for _ in range(int(np.prod(shape)))])
            .reshape(shape) for shape in shapes
        )  # fmt: skip
        known = {k: s for k, s in scope.places.items() if k.isidentifier()}
        return ArrayProgram(text, (*args, c.real(0.3, 1.3)), known)

    def helper(self) -> Tree:
        c = self.c
        title = self.fresh("helper")
        shapes = tuple(c.pick(SHAPES) for _ in range(c.integer(1, 2)))
        params = [self.fresh("p") for _ in shapes]
        scope = Scope(dict(zip(params, shapes, strict=True)), set(), ["t"])
        self.in_helper, self.budget = True, c.integer(1, 3)
        stmts: list[Tree] = []
        while self.budget > 0:
            stmts += self.statement(scope)
        helper = Helper(title, shapes, None)
        match c.integer(0, 5):
            case 0 | 1:
                pass
            case 2:
                helper.result = shapes[0]
                stmts.append(f"return {params[0]}")
            case 3:
                index, shape = self.basic_index(scope, shapes[0])
                if shape:
                    helper.result = shape
                    stmts.append(f"return {params[0]}[{index}]")
            case 4:
                helper.result = shapes[-1]
                stmts.append(f"return {self.expr(scope, shapes[-1], 2)}")
            case _:
                helper.result, helper.is_array = (), False
                stmts.append(f"return {self.expr(scope, (), 2)}")
        self.in_helper = False
        self.helpers.append(helper)
        return (f"def {title}({', '.join(params)}, t):", stmts)

    def returned(self, scope: Scope) -> Tree:
        c = self.c
        last = list(scope.places)[-5:]
        match c.integer(0, 5):
            case 0:
                return f"return {c.pick(last)}"
            case 1:
                place = c.pick(last)
                return f"return {place} * {self.expr(scope, scope.places[place], 2)}"
            case 2 if len(last) > 1:
                return f"return {last[-1]}, {c.pick(last)} * s"
            case _:
                terms = [
                    f"np.sum({place} * {self.expr(scope, scope.places[place], 1)})"
                    for place in list(scope.places) if place in last or c.chance(50)
                ]  # fmt: skip
                return f"return {' + '.join(terms)} + {c.pick(scope.numbers)}"

    # ---- expressions

    def constant(self) -> str:
        return str(self.c.real(0.31, 1.47))

    def number(self, scope: Scope) -> str:
        c = self.c
        match c.integer(0, 5):
            case 0:
                return self.constant()
            case 1 | 2:
                return c.pick(scope.numbers)
            case 3:
                return f"np.sum({c.pick(list(scope.places))}) * 0.2"
            case _:
                place = c.pick(list(scope.places))
                return f"{place}[{self.element(scope, scope.places[place])}]"

    def element(self, scope: Scope, shape: Shape) -> str:
        return ", ".join(self.integer(scope, n) for n in shape)

    def integer(self, scope: Scope, n: int) -> str:
        c = self.c
        fitting = [k for k, bound in scope.counters.items() if bound <= n]
        larger = [k for k, bound in scope.counters.items() if bound > n]
        if fitting and c.chance(60):
            name = c.pick(fitting)
            return c.pick((name, name, f"{n - 1} - {name}", f"{name} - 1"))
        if larger and c.chance(40):
            return f"{c.pick(larger)} % {n}"
        return str(c.integer(-n, n - 1))

    def leaf(self, scope: Scope, shape: Shape) -> str:
        """An array of the shape: a place, or a part of one."""
        c = self.c
        whole = [p for p, s in scope.places.items() if s == shape]
        if whole and c.chance(60):
            return c.pick(whole)
        found: list[str] = []
        for _ in range(6):
            place = c.pick(list(scope.places))
            index, part = self.index(scope, scope.places[place])
            if part == shape:
                found.append(f"{place}[{index}]")
            if scope.places[place][::-1] == shape and len(shape) == 2:
                found.append(f"{place}.T")
        if found:
            return c.pick(found)
        if whole:
            return c.pick(whole)
        size = int(np.prod(shape))
        if len(shape) == 1 and c.chance(50):
            return f"(np.arange({float(size)}) * {self.number(scope)})"
        return f"np.full({shape}, {self.number(scope)})"

    def expr(self, scope: Scope, shape: Shape, depth: int) -> str:
        """A float expression, an array unless the shape is `()`."""
        c = self.c
        if shape == ():
            return self.scalar(scope, depth)
        if depth == 0:
            return self.leaf(scope, shape)
        one = self.expr(scope, shape, depth - 1)
        if c.chance(40):
            one = self.leaf(scope, shape)
        match c.integer(0, 13):
            case 0 | 1:
                return f"np.{c.pick(('sin', 'tanh', 'cos'))}({one})"
            case 2:
                return f"({one} * {self.number(scope)})"
            case 3:
                return f"({one}) ** 2"
            case 4 | 5:
                return f"({one} * {self.leaf(scope, shape)})"
            case 6 | 7:
                other = self.expr(scope, shape, depth - 1)
                return f"({one} {c.pick('+-')} {other})"
            case 8:
                return f"({one} / (1.5 + {self.leaf(scope, shape)} ** 2))"
            case 9:
                other = self.leaf(scope, shape)
                return f"np.where({self.leaf(scope, shape)} > 0.3127, {one}, {other})"
            case 10 if len(shape) == 1:
                return c.pick((f"np.cumsum({one})", f"np.roll({one}, 1)", f"({one})[::-1]"))
            case 11:
                return f"(1.0 - {one})"
            case 12:
                row = self.leaf(scope, shape[-1:])
                return f"({one} + {row})"
            case _:
                return self.leaf(scope, shape)

    def scalar(self, scope: Scope, depth: int) -> str:
        c = self.c
        if depth == 0:
            return self.number(scope)
        one, other = self.scalar(scope, depth - 1), self.number(scope)
        place = c.pick(list(scope.places))
        match c.integer(0, 7):
            case 0:
                return f"np.{c.pick(('sin', 'tanh', 'cos'))}({one})"
            case 1:
                return f"({one} {c.pick('+-')} {other})"
            case 2 | 3:
                return f"{one} * {other}"
            case 4:
                return f"np.sum({self.expr(scope, scope.places[place], 1)})"
            case 5:
                return f"{one} / (1.5 + ({other}) ** 2)"
            case 6:
                return f"np.mean({place} * {place})"
            case _:
                return other

    # ---- indices

    def index(self, scope: Scope, shape: Shape) -> tuple[str, Shape]:
        """An index of any kind, and the shape of what it picks."""
        return self._index(scope, shape, self.c.integer(0, 99) < 35)

    def basic_index(self, scope: Scope, shape: Shape) -> tuple[str, Shape]:
        return self._index(scope, shape, False)

    def _index(self, scope: Scope, shape: Shape, advanced: bool) -> tuple[str, Shape]:
        c = self.c
        for _ in range(20):
            parts = [self.axis(scope, n, advanced) for n in shape]
            match c.integer(0, 11):
                case 0:
                    parts = ["..."]
                case 1 if not advanced:
                    parts.insert(c.integer(0, len(parts)), "None")
                case 2 | 3 if len(parts) > 1:
                    parts = parts[:1]
                case 4 if len(parts) > 1:
                    parts = ["...", parts[-1]]
                case 5 if len(shape) == 2 and advanced:
                    parts = [c.pick(("[0, 1]", "[1, 1]", "np.array([1, 0])")) for _ in parts]
                case 6 if len(shape) == 2 and advanced:
                    parts = ["np.ix_([1, 0], [0, 2])"]
                case 7 if advanced and len(shape) == 1:
                    parts = [f"np.array({[bool(k % 2) for k in range(shape[0])]})"]
                case _:
                    pass
            text = ", ".join(parts)
            try:
                names = {**dict.fromkeys(scope.counters, 0), "np": np}
                part = np.zeros(shape)[eval(f"np.index_exp[{text}]", names)].shape
            except IndexError:
                continue
            if 0 not in part and len(part) <= 2:
                return text, part
        return "...", shape

    def axis(self, scope: Scope, n: int, advanced: bool) -> str:
        c = self.c
        if advanced and c.chance(55):
            return c.pick(_LISTS)
        if c.chance(40):
            return self.integer(scope, n)
        fitting = [k for k, bound in scope.counters.items() if bound <= n]
        if fitting and c.chance(30):
            name = c.pick(fitting)
            return f"{name}:{name} + 1"
        return c.pick(_SLICES)

    # ---- statements

    def block(self, scope: Scope, most: int = 3) -> list[Tree]:
        out: list[Tree] = []
        for _ in range(self.c.integer(1, most)):
            out += self.statement(scope)
        return out

    def statement(self, scope: Scope) -> list[Tree]:
        self.budget -= 1
        forms = [
            (12, self.fresh_array), (13, self.view), (30, self.write), (10, self.augmented),
            (9, self.numpy_write), (8, self.number_bound), (3, self.rebound), (5, self.container),
            (4, self.container_use), (3, self.masked),
        ]  # fmt: skip
        if self.helpers and not self.in_helper:
            forms.append((9, self.helper_call))
        if scope.depth == 0 and not self.in_helper:
            forms.append((4, self.closure))
        if scope.closures:
            forms.append((5, self.closure_call))
        if scope.depth < 2:
            forms += [(10, self.for_), (4, self.rows), (3, self.while_), (8, self.if_),
                      (2, self.wrapped)]  # fmt: skip
        if scope.in_loop:
            forms.append((7, self.swap))
        return self.c.weighted(forms)(scope)

    def fresh_array(self, scope: Scope) -> list[Tree]:
        c = self.c
        name = self.fresh("u")
        shape = c.pick([*scope.places.values(), c.pick(SHAPES)])
        same = [p for p, s in scope.places.items() if s == shape]
        like = c.pick(same) if same else ""
        forms = [f"np.zeros({shape})", f"{self.expr(scope, shape, 2)} * 1.0",
                 f"np.ones({shape})", f"np.full({shape}, {self.number(scope)})",
                 self.expr(scope, shape, 2)]  # fmt: skip
        if like:
            forms += [f"{like}.copy()", f"np.zeros_like({like})", f"np.array({like})",
                      f"{like} + 0.0", f"np.copy({like})"]  # fmt: skip
        form = c.pick(forms)
        if c.chance(15):
            kind = f"np.empty_like({like})" if like and c.chance(50) else f"np.empty({shape})"
            out: list[Tree] = [f"{name} = {kind}"]
            if c.chance(50):
                i = self.fresh("i")
                inner = scope.child()
                inner.counters[i] = shape[0]
                value = self.expr(inner, shape[1:], 2)
                out.append((f"for {i} in range({shape[0]}):", [f"{name}[{i}] = {value}"]))
            else:
                out.append(f"{name}[...] = {self.expr(scope, shape, 2)}")
        else:
            out = [f"{name} = {form}"]
        scope.places[name] = shape
        return out

    def view(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        name = self.fresh("v")
        size = int(np.prod(shape))
        text, part = place, shape
        match c.integer(0, 13):
            case 0 | 1 | 2 | 3:
                index, part = self.basic_index(scope, shape)
                text = f"{place}[{index}]"
            case 4:
                text, part = f"{place}.T", shape[::-1]
            case 5:
                text, part = c.pick((f"{place}.reshape(-1)", f"{place}.ravel()",
                                     f"np.ravel({place})")), (size,)  # fmt: skip
            case 6:
                text = c.pick((f"np.asarray({place})", f"np.atleast_1d({place})"))
            case 7:
                text, part = (
                    c.pick((f"np.transpose({place})", f"np.swapaxes({place}, 0, -1)")),
                    (shape[::-1]),
                )
            case 8:
                text, part = f"{place}[None]", (1, *shape)
            case 9:
                text = c.pick((f"{place}[::-1]", f"np.flip({place}, 0)", f"{place}[...]"))
            case 10 if size % 2 == 0:
                text, part = f"{place}.reshape(2, {size // 2})", (2, size // 2)
            case 11 if shape[0] % 2 == 0:
                other = self.fresh("v")
                half = (shape[0] // 2, *shape[1:])
                scope.places[name] = scope.places[other] = half
                return [f"{name}, {other} = np.split({place}, 2)"]
            case 12:
                index, part = self.basic_index(scope, shape)
                others = [p for p, s in scope.places.items() if s == part]
                if others and part:
                    test = self.test(scope)
                    text = f"{place}[{index}] if {test} else {c.pick(others)}"
                else:
                    part = shape
            case _:
                pass
        if not part or len(part) > 2:
            name = self.fresh("a")
            if not part:
                scope.numbers.append(name)
            return [f"{name} = {text}"]
        scope.places[name] = part
        return [f"{name} = {text}"]

    def write(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        index, part = self.index(scope, scope.places[place])
        return [self.written(scope, f"{place}[{index}]", part)]

    def written(self, scope: Scope, target: str, part: Shape) -> str:
        c = self.c
        op = c.weighted([(10, "="), (6, "+="), (3, "-="), (5, "*="), (2, "/="), (1, "**=")])
        if op == "**=":
            return f"{target} **= 2"
        shape = part
        if part and c.chance(25):
            shape = c.pick(((), part[1:], (1,) * len(part)))
        value = self.constant() if c.chance(10) else self.expr(scope, shape, c.integer(0, 2))
        if c.chance(3):
            value = str(c.integer(0, 2)) if op != "/=" else "2"
        elif op == "/=":
            value = f"1.5 + ({value}) ** 2"
        elif op == "*=" and c.chance(50):
            value = f"np.sin({value}) + 1.0"
        return f"{target} {op} {value}"

    def augmented(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        op = c.weighted([(6, "+="), (3, "-="), (5, "*="), (2, "/=")])
        value = self.expr(scope, c.pick((shape, shape, (), shape[1:])), 1)
        if op == "/=":
            value = f"1.5 + ({value}) ** 2"
        if place in scope.fixed:
            return [f"{place}[...] {op} {value}"]
        return [f"{place} {op} {value}"]

    def rebound(self, scope: Scope) -> list[Tree]:
        places = [p for p in scope.places if p not in scope.fixed]
        if not places:
            return self.write(scope)
        place = self.c.pick(places)
        shape = scope.places[place]
        value = self.expr(scope, shape, 2)
        if self.c.chance(40):
            value = self.leaf(scope, shape)
        return [f"{place} = {value}"]

    def masked(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        name = self.fresh("k")
        threshold = c.pick(("0.3127", "0.0913", "-0.2131"))
        out: list[Tree] = [f"{name} = {self.leaf(scope, shape)} > {threshold}"]
        match c.integer(0, 3):
            case 0:
                out.append(self.written(scope, f"{place}[{name}]", ()))
            case 1:
                out.append(f"{place}[{name}] = ({self.expr(scope, shape, 1)})[{name}]")
            case 2:
                out.append(f"{place}[{name}] *= {self.leaf(scope, shape)}[{name}]")
            case _:
                out.append(f"{place}[~{name}] += {self.expr(scope, (), 1)}")
        return out

    def numpy_write(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        target = place
        if c.chance(35):
            index, part = self.basic_index(scope, shape)
            if part:
                target, shape = f"{place}[{index}]", part
        value, other = self.expr(scope, shape, 1), self.leaf(scope, shape)
        match c.integer(0, 11):
            case 0 | 1:
                name = c.pick(("add", "multiply", "subtract"))
                return [f"np.{name}({value}, {other}, out={target})"]
            case 2:
                name = c.pick(("sin", "tanh", "square"))
                return [f"np.{name}({value}, out={target})"]
            case 3:
                mask = f"{self.leaf(scope, shape)} > 0.3127"
                return [f"np.multiply({value}, {other}, out={target}, where={mask})"]
            case 4 | 5:
                return [f"np.copyto({target}, {value})"]
            case 6:
                return [f"{target}.fill({self.expr(scope, (), 1)})"]
            case 7:
                n = shape[0]
                where = [c.integer(0, n - 1) for _ in range(3)]
                amount = self.expr(scope, c.pick(((), (3, *shape[1:]), shape[1:])), 1)
                name = c.pick(("add", "add", "subtract"))
                return [f"np.{name}.at({target}, {where}, {amount})"]
            case 8:
                if target == place and len(shape) == 1:
                    return [f"{target}.sort()"]
                return [f"np.put({target}, [0, 1], {self.expr(scope, (2,), 1)})"]
            case 9 if len(shape) == 2 and shape[0] == shape[1]:
                return [f"np.fill_diagonal({target}, {self.expr(scope, shape[:1], 1)})"]
            case 10:
                name = self.fresh("v")
                scope.places[name] = shape
                return [f"{name} = np.multiply({value}, {other}, out={target})"]
            case _:
                mask = f"{self.leaf(scope, shape)} > 0.0913"
                return [f"np.copyto({target}, {value}, where={mask})"]

    def number_bound(self, scope: Scope) -> list[Tree]:
        value = self.expr(scope, (), 2)
        if len(scope.numbers) > 1 and self.c.chance(35):
            name = self.c.pick(scope.numbers[1:])
            return [f"{name} = {value}" if self.c.chance(50) else f"{name} += {value}"]
        name = self.fresh("a")
        scope.numbers.append(name)
        return [f"{name} = {value}"]

    def swap(self, scope: Scope) -> list[Tree]:
        places = [p for p in scope.places if p not in scope.fixed]
        pairs = [(p, q) for p in places for q in places
                 if p < q and scope.places[p] == scope.places[q]]  # fmt: skip
        if not pairs:
            return self.write(scope)
        p, q = self.c.pick(pairs)
        return [f"{p}, {q} = {q}, {p}"]

    # ---- containers

    def container(self, scope: Scope) -> list[Tree]:
        c = self.c
        one, other = c.pick(list(scope.places)), c.pick(list(scope.places))
        shapes = [scope.places[one], scope.places[other]]
        items = [one, other]
        for k in (0, 1):
            if c.chance(40):
                items[k] = self.expr(scope, shapes[k], 1)
        match c.integer(0, 4):
            case 0 | 1:
                name = self.fresh("l")
                scope.lists[name] = shapes
                slots = [f"{name}[0]", f"{name}[1]"]
                out: Tree = f"{name} = [{', '.join(items)}]"
            case 2:
                name = self.fresh("d")
                slots = [f'{name}["a"]', f'{name}["b"]']
                out = f'{name} = {{"a": {items[0]}, "b": {items[1]}}}'
            case 3:
                name = self.fresh("t")
                slots = [f"{name}[0]", f"{name}[1]"]
                scope.fixed |= set(slots)
                out = f"{name} = ({', '.join(items)})"
            case _:
                name = self.fresh("o")
                scope.boxes[name] = (shapes[0], shapes[1])
                slots = [f"{name}.a", f"{name}.b"]
                out = f"{name} = Box({', '.join(items)})"
        for slot, shape in zip(slots, shapes, strict=True):
            scope.places[slot] = shape
        return [out]

    def container_use(self, scope: Scope) -> list[Tree]:
        c = self.c
        if scope.boxes and c.chance(50):
            name = c.pick(list(scope.boxes))
            first, second = scope.boxes[name]
            match c.integer(0, 2):
                case 0 if len(first) == len(second) == 1:
                    return [f"{name}.step({self.expr(scope, (), 1)})"]
                case 1 if first == second:
                    return [f"{name}.swap()"]
                case _:
                    view = self.fresh("v")
                    if first[0] > 1:
                        scope.places[view] = (first[0] - 1, *first[1:])
                        return [f"{view} = {name}.inner()"]
        same = [k for k, s in scope.lists.items() if s[0] == s[1]]
        if same and scope.depth < 2 and c.chance(60):
            name, item = c.pick(same), self.fresh("w")
            inner = scope.child(in_loop=True)
            inner.places[item] = scope.lists[name][0]
            body = [*self.block(inner, 1), *self.augmented(inner)]
            return [(f"for {item} in {name}:", body)]
        if scope.depth == 0:
            place = c.pick(list(scope.places))
            shape = scope.places[place]
            name, i = self.fresh("h"), self.fresh("i")
            inner = scope.child(in_loop=True)
            inner.counters[i] = 2
            inner.fixed.add(place)
            body = self.block(inner, 2)
            kept = c.pick((f"{place}.copy()", f"{place} * 1.0", place, f"{place}[::-1]"))
            body.append(f"{name}.append({kept})")
            for k in (0, 1):
                scope.places[f"{name}[{k}]"] = shape
            return [f"{name} = []", (f"for {i} in range(2):", body)]
        return self.container(scope)

    # ---- functions

    def helper_call(self, scope: Scope) -> list[Tree]:
        c = self.c
        helper = c.pick(self.helpers)
        given = [self.target(scope, shape) for shape in helper.params]
        call = f"{helper.name}({', '.join([*given, self.number(scope)])})"
        if helper.result is None or c.chance(15):
            return [call]
        if not helper.is_array:
            name = self.fresh("a")
            scope.numbers.append(name)
            return [f"{name} = {call}"]
        if c.chance(20):
            return [self.written(scope, f"{call}[0]", helper.result[1:])]
        name = self.fresh("v")
        scope.places[name] = helper.result
        return [f"{name} = {call}"]

    def target(self, scope: Scope, shape: Shape) -> str:
        """An array of the shape that can be written."""
        c = self.c
        whole = [p for p, s in scope.places.items() if s == shape]
        if whole and c.chance(70):
            return c.pick(whole)
        for _ in range(8):
            place = c.pick(list(scope.places))
            index, part = self.basic_index(scope, scope.places[place])
            if part == shape:
                return f"{place}[{index}]"
        return c.pick(whole) if whole else f"{self.leaf(scope, shape)} * 1.0"

    def closure(self, scope: Scope) -> list[Tree]:
        c = self.c
        name = self.fresh("put")
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        inner = Scope(dict(scope.places), set(scope.fixed), ["q", "s"], {"i": shape[0]}, depth=2)
        body: list[Tree] = [self.written(inner, f"{place}[i]", shape[1:])]
        if c.chance(40):
            body += self.write(inner)
        if c.chance(40):
            body.append(f"return {self.expr(inner, (), 1)}")
            scope.closures[f"{name}()"] = shape[0]
        else:
            scope.closures[name] = shape[0]
        return [(f"def {name}(i, q):", body)]

    def closure_call(self, scope: Scope) -> list[Tree]:
        name = self.c.pick(list(scope.closures))
        rows = scope.closures[name]
        args = f"({self.integer(scope, rows)}, {self.expr(scope, (), 1)})"
        if name.endswith("()"):
            bound = self.fresh("a")
            scope.numbers.append(bound)
            return [f"{bound} = {name[:-2]}{args}"]
        return [f"{name}{args}"]

    # ---- compound statements

    def test(self, scope: Scope) -> str:
        return f"{self.expr(scope, (), 1)} {self.c.pick('<>')} {self.c.pick(('0.4127', '-0.1713'))}"

    def for_(self, scope: Scope) -> list[Tree]:
        c = self.c
        i = self.fresh("i")
        inner = scope.child(in_loop=True)
        place = c.pick(list(scope.places))
        bound = scope.places[place][0]
        match c.integer(0, 4):
            case 0 | 1:
                bound = c.integer(1, 4)
                head = f"for {i} in range({bound}):"
            case 2:
                head = f"for {i} in range(len({place})):"
            case 3:
                head = f"for {i} in range({bound - 1}, -1, -1):"
            case _:
                head = f"for {i} in range(1, {bound}):"
        inner.counters[i] = bound
        body = self.block(inner)
        if c.chance(12):
            leave = c.pick(("break", "continue"))
            body.insert(c.integer(0, len(body)), (f"if {i} == 1:", [leave]))
        return [(head, body)]

    def rows(self, scope: Scope) -> list[Tree]:
        c = self.c
        place = c.pick(list(scope.places))
        shape = scope.places[place]
        inner = scope.child(in_loop=True)
        if len(shape) == 1:
            i, a = self.fresh("i"), self.fresh("a")
            inner.counters[i] = shape[0]
            inner.numbers.append(a)
            head = f"for {i}, {a} in enumerate({place}):"
        else:
            w = self.fresh("w")
            others = [p for p, s in scope.places.items() if s[0] == shape[0] and len(s) == 2]
            inner.places[w] = shape[1:]
            if others and c.chance(40):
                z, other = self.fresh("w"), c.pick(others)
                inner.places[z] = scope.places[other][1:]
                head = f"for {w}, {z} in zip({place}, {other}):"
            else:
                head = f"for {w} in {place}:"
            return [(head, [*self.augmented_row(inner, w), *self.block(inner, 2)])]
        return [(head, self.block(inner, 2))]

    def augmented_row(self, scope: Scope, row: str) -> list[Tree]:
        index, part = self.index(scope, scope.places[row])
        return [self.written(scope, f"{row}[{index}]", part)]

    def while_(self, scope: Scope) -> list[Tree]:
        k = self.fresh("n")
        inner = scope.child(in_loop=True)
        bound = self.c.integer(1, 3)
        inner.counters[k] = bound
        test = f"{k} < {bound}"
        if self.c.chance(40):
            test += f" and {self.test(scope)}"
        return [f"{k} = 0", (f"while {test}:", [*self.block(inner, 2), f"{k} += 1"])]

    def if_(self, scope: Scope) -> list[Tree]:
        out: list[Tree] = [(f"if {self.test(scope)}:", self.block(scope.child(), 2))]
        if self.c.chance(55):
            out.append(("else:", self.block(scope.child(), 2)))
        return out

    def wrapped(self, scope: Scope) -> list[Tree]:
        body = self.block(scope.child(), 2)
        if self.c.chance(50):
            return [('with np.errstate(divide="ignore"):', body)]
        return [("try:", body), ("finally:", self.write(scope))]
