"""Which variable each value lives in: the way out of SSA.

Values are merged into one variable while they do not clash: first the versions of what is written
in place, then what loops and branches hand on, then what a reverse sweep reads back of a forward
one, then values with the same name.  A value with a
user's name merges only with its namesakes and with nameless values; what cannot merge is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from srcad.codegen.liveness import Liveness
from srcad.codegen.survey import Survey, is_derived, is_reverse
from srcad.ir.core import (
    Accumulate,
    Atom,
    Block,
    For,
    If,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.naming import BUILTINS, identifier, name_after
from srcad.ir.walk import blocks


def _numbered(base: str, count: int) -> str:
    return f"{base}_{count}" if base[-1].isdigit() else f"{base}{count}"


def user_names(survey: Survey) -> set[str]:
    """All names that values ask for; the emitter's own names stay clear of them."""
    return {identifier(value.hint) for value in survey.values if value.hint}


class Variables:
    """The variable of each value that is printed under a name."""

    def __init__(
        self,
        survey: Survey,
        liveness: Liveness,
        is_free: Callable[[str], bool],
        alone: frozenset[Value],
    ) -> None:
        """``is_free`` says whether a name nobody asked for may be used; ``alone`` never merge."""
        self._survey = survey
        self._liveness = liveness
        self._parent = list(range(len(survey.values)))
        self._members = [1 << n for n in self._parent]
        self._clashes = list(liveness.clashes)
        self._hints = [value.hint for value in survey.values]
        self._asked = [bool(hint) for hint in self._hints]
        self._alone = {survey.number[v] for v in alone}
        self._params = {survey.number[p] for p in survey.function.params}
        self._visit(survey.function.body)
        self._merge_kept()
        self._merge_namesakes()
        self.names = self._choose(is_free)

    def __getitem__(self, value: Value) -> str:
        return self.names[self._survey.number[value]]

    def sharing(self, value: Value) -> list[Value]:
        """All values that live in the variable of ``value``."""
        number = self._survey.number[value]
        return list(self._values_in(self._members[self._find(number)]))

    def by_value(self) -> dict[Value, str]:
        """The names of the values that are printed under one."""
        number = self._survey.number
        return {v: self.names[number[v]] for v in self._survey.values if number[v] in self.names}

    def taken(self) -> set[str]:
        """All names in use."""
        return set(self.names.values())

    # ---- merging

    def _find(self, number: int) -> int:
        parent = self._parent
        while parent[number] != number:
            number = parent[number]
        return number

    def _try_merge(self, value: Value, atom: Atom, close: bool = False) -> None:
        nested = self._liveness.nested
        if not isinstance(atom, Value) or atom in nested or value in nested:
            return
        number = self._survey.number
        self._merge(self._find(number[value]), self._find(number[atom]), close)

    def _merge(self, a: int, b: int, close: bool) -> bool:
        if a == b:
            return True
        if a in self._alone or b in self._alone:
            return False
        if self._clashes[a] & self._members[b] or self._clashes[b] & self._members[a]:
            return False
        if self._hints[a] != self._hints[b] and self._hints[a] and self._hints[b]:
            return False
        params = (a in self._params) + (b in self._params)
        if params == 2 or (params and not close and self._hints[a] != self._hints[b]):
            return False
        if b in self._params or (a not in self._params and b < a):
            a, b = b, a
        self._parent[b] = a
        self._members[a] |= self._members[b]
        self._clashes[a] |= self._clashes[b]
        self._hints[a] = self._hints[a] or self._hints[b]
        self._asked[a] = self._asked[a] or self._asked[b]
        return True

    def _visit(self, block: Block) -> None:
        """Versions first, inner blocks before outer ones; then what is handed on."""
        for op in block.ops:
            if op in self._survey.skipped:
                continue
            if isinstance(op, Update) or (
                isinstance(op, Accumulate) and not self._is_primal(op.target)
            ):
                self._try_merge(op.version, op.target, close=True)
            for inner in blocks(op):
                self._visit(inner)
            self._visit_copies(op)

    def _is_primal(self, atom: Atom) -> bool:
        """Whether a value is no adjoint: no variable changes from one to the other."""
        if not isinstance(atom, Value) or is_derived(atom):
            return False
        op = self._survey.definition.get(atom)
        return op is None or not is_reverse(op.loc)

    def _visit_copies(self, op: Op) -> None:
        match op:
            case If(then=then, orelse=orelse, results=results):
                for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                    self._try_merge(result, a)
                    self._try_merge(result, b)
            case For(streams=streams, carried=carried, body=body, results=results):
                self._loop(body.params[len(streams) :], carried, body.yields, results)
            case While(carried=carried, test=test, body=body, results=results):
                for param, tested in zip(body.params, test.params, strict=True):
                    self._try_merge(param, tested)
                self._loop(test.params, carried, body.yields, results)
            case With(body=body, results=results):
                for result, atom in zip(results, body.yields, strict=True):
                    self._try_merge(result, atom)
            case Try(body=body, handlers=handlers, results=results):
                for inner in (body, *(h.body for h in handlers)):
                    for result, atom in zip(results, inner.yields, strict=True):
                        self._try_merge(result, atom)

    def _loop(
        self,
        params: tuple[Value, ...],
        carried: tuple[Atom, ...],
        yields: tuple[Atom, ...],
        results: tuple[Value, ...],
    ) -> None:
        for param, start, following, result in zip(params, carried, yields, results, strict=False):
            self._try_merge(param, following)
            self._try_merge(param, result)
            self._try_merge(param, start)

    def _merge_kept(self) -> None:
        """What is read back from a tape goes where it was."""
        for value, kept in self._survey.kept.items():
            self._try_merge(value, kept)

    def _merge_namesakes(self) -> None:
        families: dict[str, list[int]] = {}
        for number in range(len(self._parent)):
            if self._find(number) != number or not self._is_printed(number):
                continue
            self._hints[number] = self._hints[number] or self._name_of(number)
            family = families.setdefault(self._hints[number], [])
            for other in family:
                if self._merge(other, number, close=False):
                    break
            else:
                family.append(number)

    def _is_printed(self, number: int) -> bool:
        needed = self._liveness.needed
        return number in self._params or any(
            value in needed for value in self._values_in(self._members[number])
        )

    def _name_of(self, number: int) -> str:
        """A name for nameless values: of what was kept, or after the operation that makes one."""
        for value in self._values_in(self._members[number]):
            value = self._survey.kept.get(value, value)
            hint = self._hints[self._find(self._survey.number[value])]
            name = hint or name_after(value, self._survey.definition)
            if name:
                return name
        return "value"

    def _values_in(self, members: int) -> Iterator[Value]:
        while members:
            low = members & -members
            yield self._survey.values[low.bit_length() - 1]
            members ^= low

    # ---- names

    def _choose(self, is_free: Callable[[str], bool]) -> dict[int, str]:
        names: dict[int, str] = {}
        used: set[str] = set()
        asked = user_names(self._survey)
        for number in sorted(self._params):
            base = name = self._hints[number] or f"arg{number}"
            count = 1
            while name in used:  # parts of one argument of a function that is not inlined
                count += 1
                name = _numbered(base, count)
            names[number] = name
            used.add(name)
        for number in range(len(self._parent)):
            root = self._find(number)
            if root not in names and self._is_printed(root):
                base = identifier(self._hints[root])
                name, count = base, 1
                wins = self._asked[root]
                while name in used or not (wins or self._may_take(name, is_free, asked)):
                    count, wins = count + 1, False
                    name = _numbered(base, count)
                names[root] = name
                used.add(name)
            if root in names:
                names[number] = names[root]
        return names

    def _may_take(self, name: str, is_free: Callable[[str], bool], asked: set[str]) -> bool:
        return name not in asked and name not in BUILTINS and is_free(name)
