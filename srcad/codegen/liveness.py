"""Which values are needed after each operation, and which can therefore not share a variable.

Sets of values are the bits of integers.  The walk goes backwards through the blocks.  A loop is
walked once: what its body reads from outside, and its parameters, live all through it.

Where values are handed on (the yields of a branch to its results, the values carried by a loop to
its parameters) stands a parallel copy.  A copy's target does not interfere with its source: they
hold the same (Chaitin, 1982).  Copies to values that nobody reads are left out.
"""

from __future__ import annotations

from srcad.codegen.nest import Nested, inputs, is_nested
from srcad.codegen.survey import Survey
from srcad.ir.core import (
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
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.walk import blocks, operands, results, stream_atoms

Copies = tuple[tuple[Value, Atom], ...]
"""A parallel copy: targets and their sources."""


class Liveness:
    """The result of the walk; all masks are over ``survey.number``."""

    def __init__(self, survey: Survey, nested: dict[Value, Nested], escaped: int) -> None:
        self.survey = survey
        self.nested = nested
        self.needed: set[Value] = set()
        """Values read after they are defined; other results and parameters are not printed."""
        self.after: dict[Op, int] = {}
        """What is alive, or held by an iterator or from outside, after an in-place operation."""
        self.clashes = [0] * len(survey.values)
        self._bits = {value: 1 << number for value, number in survey.number.items()}
        self._reads: dict[Value, int] = {}
        self._outer: dict[Block, int] = {}
        function = survey.function
        self._held = escaped
        live = self._block(function.body, 0)
        self._define_all(function.params, live, 0)

    # ---- masks

    def reads(self, atom: Atom) -> int:
        """The variables an atom reads when it is printed."""
        if isinstance(atom, Literal):
            return 0
        op = self.nested.get(atom)
        if op is None:
            return self._bits[atom]
        mask = self._reads.get(atom)
        if mask is None:
            mask = self._reads[atom] = self.reads_all(inputs(op))
        return mask

    def reads_all(self, atoms: tuple[Atom, ...]) -> int:
        """The variables some atoms read."""
        mask = 0
        for atom in atoms:
            mask |= self.reads(atom)
        return mask

    def _free(self, block: Block) -> int:
        """What a block reads from around it; its own parameters do not count."""
        mask = self._outer.get(block)
        if mask is None:
            reads, defined = self._block_masks(block)
            mask = self._outer[block] = reads & ~defined
        return mask

    def _block_masks(self, block: Block) -> tuple[int, int]:
        reads, defined = self.reads_all(block.yields), 0
        for param in block.params:
            for part in self.survey.parts(param):
                defined |= self._bits[part]
        for op in block.ops:
            if op in self.survey.skipped:
                continue
            if is_nested(op, self.nested):
                continue
            reads |= self.reads_all(operands(op))
            for value in results(op):
                for part in self.survey.parts(value):
                    defined |= self._bits[part]
            for inner in blocks(op):
                reads |= self._free(inner)
        return reads, defined

    # ---- definitions

    def _define(self, value: Value, live: int, source: int) -> None:
        """``value`` gets what ``source`` has, or something new; ``live`` is alive after it."""
        bit = self._bits[value]
        if live & bit:
            self.needed.add(value)
        self.clashes[self.survey.number[value]] |= live & ~bit & ~source

    def _define_all(self, values: tuple[Value, ...], live: int, others: int) -> int:
        """Several new values at once, parts of tuples included; they clash with each other.

        Returns what is alive before, without what the operation reads.
        """
        parts = [part for value in values for part in self.survey.parts(value)]
        together = live | others
        for part in parts:
            together |= self._bits[part]
        for part in parts:
            if live & self._bits[part]:
                self.needed.add(part)
            self.clashes[self.survey.number[part]] |= together & ~self._bits[part]
        for part in parts:
            live &= ~self._bits[part]
        return live

    def _copy(self, copies: Copies, live: int) -> int:
        """A parallel copy: what is alive before it."""
        before = live
        for target, source in copies:
            bit = self._bits[target]
            if not live & bit:
                continue
            same = 0
            if isinstance(source, Value) and source not in self.nested:
                same = self._bits[source]
            self._define(target, live, same)
            before &= ~bit
        for target, source in copies:
            if live & self._bits[target]:
                before |= self.reads(source)
        return before

    # ---- the walk

    def _block(self, block: Block, live: int, flag: Atom | None = None) -> int:
        """The walk through a block; what its yields are copied to is the caller's business."""
        if block is self.survey.function.body:
            live |= self.reads_all(block.yields)
        for op in reversed(block.ops):
            if op in self.survey.skipped or is_nested(op, self.nested):
                continue
            live = self._op(op, live, flag if op is block.ops[-1] else None)
        return live

    def _op(self, op: Op, live: int, flag: Atom | None) -> int:
        match op:
            case Apply(result=result):
                return self._define_all((result,), live, 0) | self.reads_all(operands(op))
            case Effect(result=result):
                if result is not None:
                    live = self._define_all((result,), live, 0)
                return live | self.reads_all(operands(op))
            case Update(target=target, version=version, result=result):
                self.after[op] = live | self._held
                given = self.reads_all(operands(op)[1:])
                early = given & ~self.reads(target)
                popped = () if result is None or result in self.nested else (result,)
                # the version may be copied before the arguments are read: no sharing with them
                live = self._define_all((version, *popped), live, early)
                return live | given | self.reads(target)
            case Accumulate(target=target, index=index, term=term, version=version):
                self.after[op] = live | self._held
                given = self.reads(term) | (0 if index is None else self.reads(index))
                early = 0 if index is None else given & ~self.reads(target)
                live = self._define_all((version,), live, early)
                return live | given | self.reads(target)
            case If():
                return self._if(op, live, flag)
            case For():
                return self._for(op, live)
            case While():
                return self._while(op, live)
            case With(manager=manager, body=body, results=results):
                live = self._copy(tuple(zip(results, body.yields, strict=True)), live)
                live = self._block(body, live)
                live = self._define_all(body.params, live, 0)
                return live | self.reads(manager)
            case Try():
                return self._try(op, live)
            case Call(args=args, results=results):
                return self._define_all(results, live, 0) | self.reads_all(args)

    def _flag_reads(self, block: Block, flag: Atom | None) -> int:
        """What deciding the break at the end of a block reads there."""
        if flag is None or isinstance(flag, Literal):
            return 0
        if self.survey.ends_with_flag(block, flag) is not None:
            return 0
        return self.reads(flag)

    def _if(self, op: If, live: int, flag: Atom | None) -> int:
        place = op.results.index(flag) if isinstance(flag, Value) and flag in op.results else None
        before = self.reads(op.test)
        for block in (op.then, op.orelse):
            inner = None if place is None else block.yields[place]
            end = live | self._flag_reads(block, inner)
            end = self._copy(tuple(zip(op.results, block.yields, strict=True)), end)
            before |= self._block(block, end, inner)
        return before

    def _for(self, op: For, live: int) -> int:
        targets, params = op.targets, op.carried_params
        live = self._copy(tuple(zip(op.results, params, strict=True)), live)
        mine = 0
        for param in params:
            mine |= self._bits[param]
        reads, defined = self._block_masks(op.body)
        header = live | reads & (~defined | mine)
        held, self._held = self._held, self._held | self._iterated(op)
        flag, stop_reads = self._stop(op)
        end = self._copy(tuple(zip(params, op.body.yields[: len(params)], strict=True)), header)
        end |= stop_reads
        start = self._block(op.body, end, flag)
        self._held = held
        # when the loop ends its targets are not assigned: what lives on in a parameter is safe
        live |= header | self._define_all(targets, start, 0)
        for stream in op.streams:
            live |= self.reads_all(stream_atoms(stream))
        return self._copy(tuple(zip(params, op.carried, strict=True)), live)

    def _iterated(self, op: For) -> int:
        """An iterator reads its sequence until the loop ends."""
        mask = 0
        for stream in op.streams:
            if isinstance(stream, Items):
                mask |= self.reads(stream.sequence)
        return mask

    def _stop(self, op: For | While) -> tuple[Atom | None, int]:
        """The flag that breaks inside a branch; or what a stop test at the end reads."""
        if not op.stops:
            return None, 0
        flag = op.body.yields[-1]
        return (flag, 0) if op in self.survey.breaks else (None, self.reads(flag))

    def _while(self, op: While, live: int) -> int:
        tested, params = op.test.params, op.body.params
        live = self._copy(tuple(zip(op.results, tested, strict=True)), live)
        test_reads, test_defined = self._block_masks(op.test)
        reads, defined = self._block_masks(op.body)
        header = live | test_reads & ~test_defined | reads & ~defined
        for test_param, param in zip(tested, params, strict=True):
            bit = self._bits[test_param]
            if reads & self._bits[param] or test_reads & bit:
                header |= bit
        flag, stop_reads = self._stop(op)
        end = self._copy(tuple(zip(tested, op.body.yields[: len(params)], strict=True)), header)
        end |= stop_reads
        start = self._block(op.body, end, flag)
        start = self._copy(tuple(zip(params, tested, strict=True)), start)
        before = live | start | self.reads_all(op.test.yields)
        before = self._block(op.test, before)
        return self._copy(tuple(zip(tested, op.carried, strict=True)), before | header)

    def _try(self, op: Try, live: int) -> int:
        if op.final is not None:
            live = self._block(op.final, live | self._free(op.final)) | live | self._free(op.final)
        caught = 0
        for handler in op.handlers:
            caught |= self._free(handler.body)
        end = self._copy(tuple(zip(op.results, op.body.yields, strict=True)), live | caught)
        before = self._block(op.body, end | caught) | caught
        for handler in op.handlers:
            end = self._copy(tuple(zip(op.results, handler.body.yields, strict=True)), live)
            start = self._block(handler.body, end)
            before |= self._define_all(handler.body.params, start, before)
            if handler.kinds is not None:
                before |= self.reads(handler.kinds)
        return before
