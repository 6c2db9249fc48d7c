"""Leave out copies that nothing could tell from the original.

    a_bar = copied(b_bar)        |
    t = pop(a_bar)               |    t = pop(b_bar)

A reverse sweep copies the adjoint of a container where it hands it on, since it cannot know who
else will have it, and what it reads of the forward sweep where that is written later.  Seen as a
whole, the function often does not use the original any more, or never writes to either: then the
two are one.  All copies are left out at first; where that lets a write show, the first of them
comes back, and then the next: often it was the first that the others are copies of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.codegen.liveness import Liveness
from srcad.codegen.memory import Memory
from srcad.codegen.ownership import Ownership
from srcad.codegen.survey import Survey, is_reverse
from srcad.ir.core import Accumulate, Apply, Atom, Function, Op, Update, Value
from srcad.ir.types import Array, DictType, ListType
from srcad.ir.walk import all_ops, rename_values, without_ops


def without_idle_copies(function: Function) -> Function:
    """The function with those copies left out that make no difference."""
    copies = [op for op in all_ops(function.body) if isinstance(op, Apply) and _is_copy(op)]
    tries = 0
    while copies:
        made = _merged(function, copies)
        writes = _Writes(made)
        shown = [op for op in copies if writes.shows(_end_of(op.result, copies))]
        if not shown:
            return made
        tries += 1
        back = set(shown if tries > _TRIES else _first_of_each(shown, copies, writes))
        copies = [op for op in copies if op not in back]
    return function


_TRIES = 8
"""How often one copy after the other comes back; then all do that show."""


def _first_of_each(shown: list[Apply], copies: list[Apply], writes: _Writes) -> list[Apply]:
    """The first copy of each memory, in the order of the text."""
    first, seen = [], 0
    for op in shown:
        own = writes.memory.identity(_end_of(op.result, copies))
        if not own & seen:
            first.append(op)
        seen |= own
    return first


def _is_copy(op: Apply) -> bool:
    source = op.args[0] if len(op.args) == 1 else None
    if not isinstance(source, Value) or source.type != op.result.type:
        return False
    if op.callee is np.ndarray.copy:  # the user's own stay as they are
        return isinstance(source.type, Array) and is_reverse(op.loc)
    return op.callee is runtime.copied and isinstance(source.type, (ListType, DictType))


def _end_of(value: Value, copies: list[Apply]) -> Value:
    """What a value is a copy of, of a copy of."""
    sources = {op.result: op.args[0] for op in copies}
    while value in sources:
        source = sources[value]
        assert isinstance(source, Value)
        value = source
    return value


def _merged(function: Function, copies: list[Apply]) -> Function:
    """The function without copies: their results are what they are of."""
    names = {op.result: _end_of(op.result, copies) for op in copies}

    body = without_ops(function.body, set[Op](copies))
    return replace(function, body=rename_values(body, names))


class _Writes:
    """The writes of a function that may show where they should not."""

    def __init__(self, function: Function) -> None:
        self.survey = Survey(function)
        self.memory = Memory(self.survey)
        liveness = Liveness(self.survey, {}, self.memory.escaped)
        ownership = Ownership(self.survey, self.memory, liveness)
        self.shown = 0
        """The memory, as roots, of which something else may see that it is written."""
        for op in all_ops(function.body):
            if isinstance(op, (Update, Accumulate)) and op not in self.survey.skipped:
                self._note(op, ownership)
        self._note_results(function)

    def _note(self, op: Update | Accumulate, ownership: Ownership) -> None:
        if isinstance(op.target, Value) and not ownership.in_place(op):
            self.shown |= self.memory.identity(op.target)

    def _note_results(self, function: Function) -> None:
        """Returned containers are nobody else's, and no two of them are one."""
        given = 0
        work: list[Atom] = list(function.body.yields)
        while work:
            atom = work.pop()
            if not isinstance(atom, Value) or not self.memory.has[self.survey.number[atom]]:
                continue
            op = self.survey.definition.get(atom)
            own = self.memory.identity(atom)
            if own & given or not self.memory.is_owned(atom):
                self.shown |= own
            given |= own
            if isinstance(op, Apply) and not isinstance(atom.type, Array):  # what it holds
                work += op.args

    def shows(self, value: Value) -> bool:
        """Whether a write to a value may show elsewhere."""
        return bool(self.memory.identity(value) & self.shown)
