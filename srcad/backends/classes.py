"""Which values are one variable of the program: versions, and what loops and branches hand on.

x.2 = update append(x, v)         x and x.2 are one list
r = for with p = a: … yield b     a, p, b and r are one variable
"""

from __future__ import annotations

from collections.abc import Iterator

from srcad.ir import (
    Accumulate,
    Atom,
    Block,
    For,
    Function,
    If,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.walk import all_ops, blocks, operands, results


class Classes:
    """A union-find over values."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}

    def find(self, value: Value) -> Value:
        """The representative of the class of a value."""
        parent = self._parent
        while (up := parent.get(value, value)) is not value:
            parent[value] = parent.get(up, up)
            value = up
        return value

    def join(self, a: Atom, b: Atom) -> bool:
        """Make two values one variable; whether they were not."""
        if not isinstance(a, Value) or not isinstance(b, Value):
            return False
        x, y = self.find(a), self.find(b)
        if x is y:
            return False
        self._parent[y] = x
        return True


def variables(function: Function) -> Classes:
    """The classes of all values."""
    found = Classes()
    for op in all_ops(function.body):
        for a, b in handed_on(op):
            found.join(a, b)
    return found


def handed_on(op: Op) -> Iterator[tuple[Value, Atom]]:
    """Pairs of atoms that an operation makes one variable."""
    match op:
        case Update(version=version, target=target) | Accumulate(version=version, target=target):
            yield version, target
        case If(results=made, then=then, orelse=orelse):
            for result, a, b in zip(made, then.yields, orelse.yields, strict=True):
                yield result, a
                yield result, b
        case For(carried=carried, body=body, results=made):
            yield from _loop(carried, op.carried_params, body.yields, made)
        case While(carried=carried, body=body, results=made):
            yield from zip(op.test.params, body.params, strict=True)
            yield from _loop(carried, body.params, body.yields, made)
        case With(body=body, results=made):
            yield from zip(made, body.yields, strict=True)
        case Try(results=made):
            for inner in (op.body, *(h.body for h in op.handlers)):
                yield from zip(made, inner.yields, strict=True)


def _loop(
    carried: tuple[Atom, ...],
    params: tuple[Value, ...],
    yields: tuple[Atom, ...],
    made: tuple[Value, ...],
) -> Iterator[tuple[Value, Atom]]:
    for param, start, following, result in zip(params, carried, yields, made, strict=False):
        yield param, start
        yield param, following
        yield param, result


class Places:
    """Where the values of a function are made and used."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.made: dict[Value, Op] = {}
        """The operation that defines a value; parameters have none."""
        self.home: dict[Value, Block] = {}
        """The block that a value is defined in, as a result or as a parameter."""
        self.block_of: dict[Op, Block] = {}
        self.owner: dict[Block, Op] = {}
        """The operation that a block belongs to."""
        self.users: dict[Value, list[Op]] = {}
        """The operations that read a value themselves, in order."""
        self.yielded: dict[Value, list[Block]] = {}
        for param in function.params:
            self.home[param] = function.body
        self._visit(function.body)

    def _visit(self, block: Block) -> None:
        for param in block.params:
            self.home[param] = block
        for op in block.ops:
            self.block_of[op] = block
            for atom in operands(op):
                if isinstance(atom, Value):
                    self.users.setdefault(atom, []).append(op)
            for inner in blocks(op):
                self.owner[inner] = op
                self._visit(inner)
            for result in results(op):
                self.made[result] = op
                self.home[result] = block
        for atom in block.yields:
            if isinstance(atom, Value):
                self.yielded.setdefault(atom, []).append(block)

    def around(self, block: Block) -> Iterator[Op]:
        """The operations that a block is in, inmost first."""
        while (op := self.owner.get(block)) is not None:
            yield op
            block = self.block_of[op]

    def sees(self, block: Block, value: Value) -> bool:
        """Whether a value is defined in a block or in one around it."""
        home = self.home[value]
        while block is not home:
            owner = self.owner.get(block)
            if owner is None:
                return False
            block = self.block_of[owner]
        return True
