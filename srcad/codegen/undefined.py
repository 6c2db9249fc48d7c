"""Where a name without a value must become None.

A branch that yields ``UNDEFINED`` prints nothing: the name stays unbound.  That will not do if the
name is read where it may be unbound: by a test whether it is bound, or by storing it on a tape.
What is computed inside a further branch is taken to be guarded, as it is in the primal.
"""

from __future__ import annotations

from collections.abc import Iterator

from srcad import runtime
from srcad.codegen.liveness import Liveness
from srcad.codegen.names import Variables
from srcad.codegen.survey import Survey
from srcad.ir.core import (
    Apply,
    Atom,
    Block,
    For,
    If,
    Op,
    Try,
    Value,
    While,
    With,
    is_undefined,
)
from srcad.ir.walk import blocks, stream_atoms


def needs_none(survey: Survey, liveness: Liveness, variables: Variables) -> frozenset[Value]:
    """The targets of copies that must become None where their source is ``UNDEFINED``."""
    search = _Search(survey, liveness, variables)
    starts = [t for t, s in search.copies if is_undefined(s)]
    if not starts:
        return frozenset()
    return frozenset(t for t in starts if search.needs(t, set()))


class _Search:
    def __init__(self, survey: Survey, liveness: Liveness, variables: Variables) -> None:
        self.survey = survey
        self.liveness = liveness
        self.variables = variables
        self.copies: list[tuple[Value, Atom]] = []
        self.parents: dict[Block, tuple[Block, bool]] = {}
        self._visit(survey.function.body)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            for inner in blocks(op):
                self.parents[inner] = (block, isinstance(op, If))
                self._visit(inner)
            for target, source in _copies(op):
                if target in self.liveness.needed:
                    self.copies.append((target, source))

    def needs(self, value: Value, seen: set[Value]) -> bool:
        """Whether a value is read where it may be unbound."""
        if value in seen:
            return False
        seen.add(value)
        for target, source in self.copies:
            if source is not value:
                continue
            if self.variables[target] != self.variables[value] or self.needs(target, seen):
                return True
        return any(
            not self._guarded(value, block) or _takes_none(block, position)
            for block, position in self._reads(value)
        )

    def _reads(self, value: Value) -> Iterator[tuple[Block, int]]:
        for block, position in self.survey.uses[value]:
            if position == len(block.ops):
                if block is self.survey.function.body:
                    yield block, position
                continue
            op = block.ops[position]
            if isinstance(op, (For, While)) and value in op.carried and not _in_streams(op, value):
                continue
            yield block, position

    def _guarded(self, value: Value, block: Block) -> bool:
        home = self.survey.home[value]
        while block is not home and block in self.parents:
            block, branch = self.parents[block]
            if branch:
                return True
        return False


def _takes_none(block: Block, position: int) -> bool:
    """Whether an operation asks for the zero of what may not exist: it is read on every path."""
    op = block.ops[position] if position < len(block.ops) else None
    return isinstance(op, Apply) and op.callee is runtime.zeros_like


def _in_streams(op: Op, value: Value) -> bool:
    return isinstance(op, For) and any(value in stream_atoms(s) for s in op.streams)


def _copies(op: Op) -> Iterator[tuple[Value, Atom]]:
    """The copies an operation stands for."""
    match op:
        case If(then=then, orelse=orelse, results=results):
            yield from zip(results, then.yields, strict=True)
            yield from zip(results, orelse.yields, strict=True)
        case For(carried=carried, body=body, results=results):
            yield from _loop_copies(op.carried_params, carried, body, results)
        case While(carried=carried, test=test, body=body, results=results):
            yield from _loop_copies(test.params, carried, body, results)
            yield from zip(body.params, test.params, strict=True)
        case With(body=body, results=results):
            yield from zip(results, body.yields, strict=True)
        case Try(body=body, handlers=handlers, results=results):
            for inner in (body, *(h.body for h in handlers)):
                yield from zip(results, inner.yields, strict=True)


def _loop_copies(
    params: tuple[Value, ...], carried: tuple[Atom, ...], body: Block, results: tuple[Value, ...]
) -> Iterator[tuple[Value, Atom]]:
    yield from zip(params, carried, strict=True)
    yield from zip(params, body.yields, strict=False)
    yield from zip(results, params, strict=True)
