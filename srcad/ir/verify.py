"""What a valid function of the IR is; checked after each pass.

- A value is defined once, and each use is dominated by the definition.
- Yields, results, parameters and carried values agree in number; a stop flag is the last yield.
- A version that an ``Update`` has consumed is not read afterwards: not later in the block or around
  it, and not in the next iteration of a loop.  (An ``Accumulate`` makes a new value, and its
  target may still be read: whether it is written in place is decided when it is printed.)
- Literals hold data, never values of the IR; ``UNDEFINED`` is handed on, but not computed with.
"""

from __future__ import annotations

import operator
from typing import NoReturn

from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    Function,
    FunctionRef,
    If,
    Literal,
    Op,
    Range,
    Try,
    Undefined,
    Update,
    Value,
    While,
    With,
    check_bound,
    make_tuple,
)
from srcad.ir.sharing import SHAPE, holds_arrays, views
from srcad.ir.text import format_function
from srcad.ir.types import Array, Type
from srcad.ir.walk import all_ops, operands, results


class InvalidIR(AssertionError):
    """A function breaks a rule of the IR; the text of the function follows the message."""


def verify(function: Function) -> None:
    """Raise ``InvalidIR`` unless the function is valid."""
    _Verifier(function).run()


class _Verifier:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.defined: set[Value] = set()
        """Everything defined so far, anywhere."""
        self.visible: set[Value] = set()
        self.consumed: dict[Value, Op] = {}
        """Versions that an update has written over, on the path that leads here."""
        self.sources: dict[Value, tuple[Value, ...]] = {}
        """For each view, and for lists of views, the arrays whose memory is shared."""
        self.op: Op | None = None

    def run(self) -> None:
        function = self.function
        if function.body.params:
            self.fail("the body of a function has no parameters of its own")
        hints = [p.hint for p in function.params if p.hint]
        if len(set(hints)) != len(hints):
            self.fail("two parameters have one name")
        for param in function.params:
            self.define(param)
        self.block(function.body)

    def fail(self, message: str) -> NoReturn:
        try:
            text = format_function(self.function)
        except (ValueError, TypeError, AttributeError) as error:
            text = f"(the text cannot be written: {error})\n"
        where = "" if self.op is None else f" in {type(self.op).__name__}"
        if self.op is not None and self.op.loc is not None:
            where += f" of line {self.op.loc.line}: {self.op.loc.text}"
        raise InvalidIR(f"{self.function.name}{where}: {message}\n{text}")

    # ---- definitions and uses

    def define(self, value: object) -> None:
        if not isinstance(value, Value):
            self.fail(f"{value!r} is defined but is not a value")
        if not isinstance(value.hint, str) or not isinstance(value.type, Type):
            self.fail(f"{value!r} has no proper name or type")
        if value in self.defined:
            self.fail(f"{value!r} is defined twice")
        self.defined.add(value)
        self.visible.add(value)

    def read(self, atom: object, handed_on: bool = False) -> None:
        match atom:
            case Value():
                if atom not in self.visible:
                    state = (
                        "outside the block that defines it" if atom in self.defined else "undefined"
                    )
                    self.fail(f"{atom!r} is read, but is {state}")
                if self.is_stale(atom) and not self.reads_shape(atom):
                    self.fail(f"{atom!r} is read after it was written over")
            case Literal(value=value):
                self.check_literal(value, handed_on)
            case _:
                self.fail(f"{atom!r} is neither a value nor a literal")

    def consume(self, array: Value, op: Op) -> None:
        """Note that a container is written, and the array that an array is a view of."""
        if array not in self.consumed:
            self.consumed[array] = op
            if isinstance(array.type, Array):
                for source in self.sources.get(array, ()):
                    self.consume(source, op)

    def is_stale(self, value: Value) -> bool:
        """Whether a value, or an array it is a view of, has been written over."""
        if value in self.consumed:
            return True
        return isinstance(value.type, Array) and any(
            map(self.is_stale, self.sources.get(value, ()))
        )

    def reads_shape(self, value: Value) -> bool:
        """Whether only the shape is asked for, which no write changes."""
        op = self.op
        return isinstance(value.type, Array) and isinstance(op, Apply) and op.callee in SHAPE

    def check_literal(self, value: object, handed_on: bool) -> None:
        if isinstance(value, Undefined) and not handed_on:
            self.fail("UNDEFINED is computed with")
        if isinstance(value, (Value, Literal, Block)):
            self.fail("a literal holds a part of the IR")
        if type(value) in (tuple, list):
            assert isinstance(value, (tuple, list))
            for item in value:
                self.check_literal(item, False)
        if isinstance(value, slice):
            for item in (value.start, value.stop, value.step):
                self.check_literal(item, False)

    def count(self, what: str, found: int, expected: int) -> None:
        if found != expected:
            self.fail(f"{found} {what}, expected {expected}")

    # ---- blocks

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op = op
            self.visit(op)
        for atom in block.yields:
            self.read(atom, handed_on=True)

    def inner(self, op: Op, block: Block) -> None:
        """A block inside an operation: what it defines is not visible after it."""
        visible, self.visible = self.visible, set(self.visible)
        for param in block.params:
            self.define(param)
        self.block(block)
        self.visible = visible
        self.op = op

    def paths(self, op: Op, blocks: list[Block]) -> None:
        """Blocks of which one is run: each starts from the same state."""
        before, after = self.consumed, dict(self.consumed)
        for block in blocks:
            self.consumed = dict(before)
            self.inner(op, block)
            after |= self.consumed
        self.consumed = after

    def loop(self, op: For | While, blocks: list[Block]) -> None:
        before, around = set(self.consumed), set(self.visible)
        for block in blocks:
            self.inner(op, block)
        for value in self.consumed:
            if value not in before and value in around:
                self.fail(f"{value!r} is written over in a loop that does not carry it")
        for block in blocks:
            params = block.params[len(block.params) - len(op.carried) :]
            for param, init in zip(params, op.carried, strict=True):
                if param in self.consumed and isinstance(init, Value):
                    self.consumed[init] = op
        for block in blocks:  # what the loop starts from is stale in its second iteration
            for inner in all_ops(block):
                self.op = inner
                for atom in operands(inner):
                    if atom in around and self.is_stale(atom) and not self.reads_shape(atom):
                        self.fail(f"{atom!r} is read in a loop that writes over it")
        self.op = op

    def visit(self, op: Op) -> None:
        handed_on = isinstance(op, (Call, For, While)) or (
            isinstance(op, (Apply, Effect)) and op.callee in (make_tuple, check_bound)
        )
        handed_on = handed_on or (isinstance(op, Update) and op.callee is not operator.setitem)
        for atom in operands(op):
            self.read(atom, handed_on)
        match op:
            case Apply() | Effect():
                if not callable(op.callee) and not hasattr(op.callee, "__objclass__"):
                    self.fail(f"{op.callee!r} cannot be called")
                names = [name for name, _ in op.keywords]
                if len(set(names)) != len(names) or not all(map(str.isidentifier, names)):
                    self.fail(f"bad keywords {names}")
            case Update(target=target):
                if not isinstance(target, Value):
                    self.fail("the target of an update is not a value")
                self.consume(target, op)
            case Accumulate():
                pass
            case If():
                for branch in (op.then, op.orelse):
                    self.count("parameters of a branch", len(branch.params), 0)
                    self.count("yields of a branch", len(branch.yields), len(op.results))
                self.paths(op, [op.then, op.orelse])
            case For():
                self.for_(op)
            case While():
                self.while_(op)
            case With():
                if len(op.body.params) > 1:
                    self.fail("more than one target")
                self.count("yields", len(op.body.yields), len(op.results))
                self.inner(op, op.body)
            case Try():
                self.try_(op)
            case Call():
                self.call(op)
        for value in results(op):
            self.define(value)
        if isinstance(op, Apply) and holds_arrays(op.result.type):
            # an item of a list is no view of the list, but of what arrays in it are views of
            found: dict[Value, None] = {}
            for atom in views(op):
                if isinstance(atom.type, Array):
                    found[atom] = None
                else:
                    found.update(dict.fromkeys(self.sources.get(atom, ())))
            if found:
                self.sources[op.result] = tuple(found)

    def for_(self, op: For) -> None:
        carried = len(op.carried)
        if not op.streams:
            self.fail("a loop over nothing")
        for stream in op.streams:
            if isinstance(stream, Range) and _is_zero(stream.step):
                self.fail("a range with step 0")
        self.count("parameters of the body", len(op.body.params), len(op.streams) + carried)
        self.count("yields of the body", len(op.body.yields), carried + op.stops)
        self.count("results", len(op.results), carried)
        self.loop(op, [op.body])

    def while_(self, op: While) -> None:
        carried = len(op.carried)
        self.count("parameters of the test", len(op.test.params), carried)
        self.count("yields of the test", len(op.test.yields), 1)
        self.count("parameters of the body", len(op.body.params), carried)
        self.count("yields of the body", len(op.body.yields), carried + op.stops)
        self.count("results", len(op.results), carried)
        self.loop(op, [op.test, op.body])

    def try_(self, op: Try) -> None:
        blocks = [op.body, *(h.body for h in op.handlers)]
        self.count("parameters of a try body", len(op.body.params), 0)
        for handler in op.handlers:
            if len(handler.body.params) > 1:
                self.fail("a handler has more than one name")
        for block in blocks:
            self.count("yields of a block of try", len(block.yields), len(op.results))
        self.paths(op, blocks)
        if op.final is not None:
            self.count("yields of finally", len(op.final.yields), 0)
            self.inner(op, op.final)

    def call(self, op: Call) -> None:
        if not isinstance(op.function, FunctionRef):
            self.fail(f"{op.function!r} is no reference to a function")
        called = op.function.function
        if called is not None:
            self.count(f"arguments of {op.function.name}", len(op.args), len(called.params))
            self.count(f"results of {op.function.name}", len(op.results), len(called.body.yields))


def _is_zero(atom: Atom) -> bool:
    return isinstance(atom, Literal) and type(atom.value) is int and atom.value == 0
