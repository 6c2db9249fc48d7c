"""Values that share no memory at a point where both are there, though their roots are the same.

    for _ in range(n):                 |  u, v and w are the three arrays in turn, so each of
        w[1:] = u[:-1] - v[1:]         |  them may be any: yet no two of them are ever one
        u, v, w = v, w, u              |

``Memory`` says which arrays a value may be over a whole run.  Here two values are compared as they
are at one time, by induction over the run: the one that is defined later is traced back by a step,
and it shares memory with the other only if what it comes from does.  Parameters of one loop are
compared as what the loop starts with and as what an iteration ends with; a pair that comes up again
holds by induction.
"""

from __future__ import annotations

from srcad.codegen.memory import Memory, has_memory, makes_array
from srcad.codegen.survey import Survey
from srcad.ir.core import Accumulate, Apply, Atom, For, If, Items, Update, Value, While
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, operands

Pair = tuple[Value, Value]


class Disjoint:
    """Answers for the values of one function."""

    def __init__(self, survey: Survey, memory: Memory) -> None:
        self.survey = survey
        self.memory = memory
        self._carried: dict[Value, tuple[object, tuple[Atom, ...]]] = {}
        """The loop of a parameter, and what it is at first and after an iteration."""
        self._items: dict[Value, Atom] = {}
        """The sequence that a target of a loop is an item of."""
        for op in all_ops(survey.function.body):
            if isinstance(op, (For, While)):
                tested = op.test.params if isinstance(op, While) else op.carried_params
                ends = op.body.yields[: len(tested)]
                for param, *sources in zip(tested, op.carried, ends, strict=True):
                    self._carried[param] = (op, tuple(sources))
            if isinstance(op, While):
                for param, source in zip(op.body.params, op.test.params, strict=True):
                    self._carried[param] = (op.body, (source,))
            if isinstance(op, For):
                for target, stream in zip(op.targets, op.streams, strict=True):
                    if isinstance(stream, Items):
                        self._items[target] = stream.sequence

    def from_all(self, value: Value, others: int) -> bool:
        """Whether a value shares no memory with several others, given as bits of their numbers."""
        own = self.memory.identity(value)
        if self.memory.sees(others & self.memory.escaped, own):
            return False  # what is outside may be of an earlier iteration
        pairs: list[tuple[Atom, Atom]] = []
        while others:
            low = others & -others
            others ^= low
            other = self.survey.values[low.bit_length() - 1]
            if self.memory.reach(other) & own:
                pairs.append((value, other))
        return self._hold(pairs)

    def _hold(self, work: list[tuple[Atom, Atom]]) -> bool:
        seen: set[Pair] = set()
        while work:
            one, other = work.pop()
            if not (isinstance(one, Value) and isinstance(other, Value)):
                continue
            number = self.survey.number
            pair = (one, other) if number[one] <= number[other] else (other, one)
            if pair in seen or not (has_memory(one.type) and has_memory(other.type)):
                continue
            seen.add(pair)
            sources = self._traced(*pair)
            if sources is None:
                return False
            work += sources
        return True

    def _traced(self, older: Value, newer: Value) -> list[tuple[Atom, Atom]] | None:
        """The pairs of which it is to be shown; None if the two may be one."""
        if older is newer or not (isinstance(older.type, Array) and isinstance(newer.type, Array)):
            return None
        if not self.memory.reach(older) & self.memory.reach(newer):
            return []
        one, other = self._sources(older), self._sources(newer)
        if other is None:
            return None
        where, sources = other
        if one is not None and where is not None and one[0] is where:
            return list(zip(one[1], sources, strict=True))
        return [(older, source) for source in sources]

    def _sources(self, value: Value) -> tuple[object, tuple[Atom, ...]] | None:
        """Where several values are handed on at once, and what a value comes from there."""
        if value in self._carried:
            return self._carried[value]
        if value in self._items:
            return None, (self._items[value],)
        op = self.survey.definition.get(value)
        match op:
            case Apply(callee=callee):
                return None, () if makes_array(callee, op) else operands(op)
            case Update(target=target, version=version) if version is value:
                return None, (target,)
            case Accumulate(target=target):
                return None, (target,)
            case If():
                place = op.results.index(value)
                return op, (op.then.yields[place], op.orelse.yields[place])
            case For(body=body):
                return body, (body.params[len(op.streams) + op.results.index(value)],)
            case While(test=test):
                return test, (test.params[op.results.index(value)],)
        return None
