"""The IR as text, for ``--ir``, for tests and for error reports.

function f(x: float, n: int)
  s: real = for i: int in range(0, n, 1) with s: real = 0
    t: float = mul(x, s)
    yield t
  yield s
"""

from __future__ import annotations

from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    Function,
    If,
    Items,
    Op,
    Range,
    Stream,
    Try,
    Update,
    Value,
    While,
    With,
)


def format_function(function: Function) -> str:
    """The whole function; values are numbered in the order they appear."""
    writer = _Writer()
    params = ", ".join(writer.define(p) for p in function.params)
    lines = [f"function {function.name}({params})", *writer.block_lines(function.body, "  ")]
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self) -> None:
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()

    def define(self, value: Value) -> str:
        base = value.hint or "t"
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}.{number}"
        self.taken.add(name)
        self.names[value] = name
        return f"{name}: {value.type}"

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, Value):
            return self.names.get(atom, f"?{atom.hint}")
        value = atom.value
        return getattr(value, "__name__", None) or repr(value)

    def atoms(self, atoms: tuple[Atom, ...]) -> str:
        return ", ".join(map(self.atom, atoms))

    def results(self, values: tuple[Value, ...]) -> str:
        return ", ".join(map(self.define, values)) + " = " if values else ""

    def call(
        self, callee: object, args: tuple[Atom, ...], keywords: tuple[tuple[str, Atom], ...]
    ) -> str:
        name = getattr(callee, "__name__", None) or repr(callee)
        parts = [*map(self.atom, args), *(f"{k}={self.atom(a)}" for k, a in keywords)]
        return f"{name}({', '.join(parts)})"

    def stream(self, stream: Stream) -> str:
        match stream:
            case Range():
                bounds = (stream.start, stream.stop, stream.step)
                return f"range({', '.join(map(self.atom, bounds))})"
            case Items(backward=True):
                return f"reversed({self.atom(stream.sequence)})"
            case Items():
                return self.atom(stream.sequence)

    def block_lines(self, block: Block, pad: str) -> list[str]:
        lines = [line for op in block.ops for line in self.op_lines(op, pad)]
        return [*lines, f"{pad}yield {self.atoms(block.yields)}"]

    def op_lines(self, op: Op, pad: str) -> list[str]:
        deeper = pad + "  "
        match op:
            case Apply():
                right = self.call(op.callee, op.args, op.keywords)
                return [f"{pad}{self.results((op.result,))}{right}"]
            case Effect():
                right = self.call(op.callee, op.args, op.keywords)
                left = "" if op.result is None else self.results((op.result,))
                return [f"{pad}{left}effect {right}"]
            case Update():
                path = "".join(f".{self.call(v.callee, v.args, v.keywords)}" for v in op.path)
                right = f"{self.call(op.callee, (op.target, *op.args), ())}{path and ' at ' + path}"
                defined = (op.version,) if op.result is None else (op.version, op.result)
                return [f"{pad}{self.results(defined)}update {right}"]
            case Accumulate():
                index = "" if op.index is None else f"[{self.atom(op.index)}]"
                right = f"{self.atom(op.target)}{index} += {self.atom(op.term)}"
                return [f"{pad}{self.results((op.version,))}{right}"]
            case If():
                head = f"if {self.atom(op.test)}"
                then = self.block_lines(op.then, deeper)
                orelse = self.block_lines(op.orelse, deeper)
                return [f"{pad}{self.results(op.results)}{head}", *then, f"{pad}else", *orelse]
            case For():
                streams = ", ".join(map(self.stream, op.streams))
                inits = [self.atom(a) for a in op.carried]
                targets = ", ".join(map(self.define, op.targets))
                carried = map(self.define, op.carried_params)
                with_ = ", ".join(f"{p} = {i}" for p, i in zip(carried, inits, strict=True))
                stops = " stops" if op.stops else ""
                body = self.block_lines(op.body, deeper)
                left = self.results(op.results)
                return [f"{pad}{left}for {targets} in {streams} with {with_}{stops}", *body]
            case While():
                inits = [self.atom(a) for a in op.carried]
                tests = ", ".join(
                    f"{self.define(p)} = {i}" for p, i in zip(op.test.params, inits, strict=True)
                )
                test = self.block_lines(op.test, deeper)
                params = ", ".join(map(self.define, op.body.params))
                body = self.block_lines(op.body, deeper)
                stops = " stops" if op.stops else ""
                left = self.results(op.results)
                return [
                    f"{pad}{left}while with {tests}{stops}",
                    *test,
                    f"{pad}do with {params}",
                    *body,
                ]
            case With():
                head = f"with {self.atom(op.manager)}"
                if op.body.params:
                    head += f" as {self.define(op.body.params[0])}"
                body = self.block_lines(op.body, deeper)
                return [f"{pad}{self.results(op.results)}{head}", *body]
            case Try():
                lines = [f"{pad}try", *self.block_lines(op.body, deeper)]
                for handler in op.handlers:
                    kinds = "" if handler.kinds is None else f" {self.atom(handler.kinds)}"
                    name = (
                        f" as {self.define(handler.body.params[0])}" if handler.body.params else ""
                    )
                    lines += [f"{pad}except{kinds}{name}", *self.block_lines(handler.body, deeper)]
                if op.final is not None:
                    lines += [f"{pad}finally", *self.block_lines(op.final, deeper)]
                return [*lines, f"{pad}{self.results(op.results)}end"]
            case Call():
                return [
                    f"{pad}{self.results(op.results)}call {op.function.name}({self.atoms(op.args)})"
                ]
