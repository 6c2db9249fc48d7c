"""Bodies that have been lowered before: what they asked of the builder is asked again.

The course of lowering a rule body depends on what its arguments are, and on what the builder
answers to each operation (it may fold it, or know its value already).  A recording is what was
asked, with the answers.  It holds as long as the answers are of the same kind; where one is not,
what has been written is taken back, and the body is lowered as if there were no recording.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcad import rules
from srcad.frontend import calls
from srcad.frontend.abstract import Abstract, Static, TupleRef
from srcad.frontend.lowering import Lowering
from srcad.ir import Atom, Literal, Op, Value
from srcad.ir.build import Builder
from srcad.ir.core import literal_key
from srcad.ir.infer import with_bases
from srcad.recent import Recent

_PLAIN = (
    bool, int, float, complex, str, types.NoneType, types.EllipsisType, slice, type, np.dtype,
)  # fmt: skip


class _NotPlain(Exception):
    """Something that a recording cannot hold: a container that may change, an array, a loop."""


@dataclass(frozen=True, slots=True, eq=False)
class _Slot:
    """Stands for the atom of that number: the arguments come first, then the answers."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """One operation, and the kind of the answer."""

    callee: Callable[..., Any]
    args: tuple[_Slot | Literal, ...]
    keywords: tuple[tuple[str, _Slot | Literal], ...]
    hint: str
    answer: object


@dataclass(frozen=True, slots=True, eq=False)
class _Recording:
    asked: tuple[_Asked, ...]
    result: Any
    """The abstract result, with slots for its values."""


_recordings: Recent[object, _Recording | None] = Recent(4096)
"""By body and kinds of arguments; None where lowering does what cannot be recorded."""


@dataclass(eq=False)
class _Atoms:
    """The atoms of one run of a body."""

    found: list[Atom] = field(default_factory=list)
    numbers: dict[Value, int] = field(default_factory=dict)
    bases: dict[object, int] = field(default_factory=dict)
    """What sizes are named after, numbered as they are met: names last for one run."""

    def add(self, atom: Atom) -> object:
        """Number an atom; what of it the course of lowering can depend on."""
        number = len(self.found)
        self.found.append(atom)
        if isinstance(atom, Literal):
            return _plain_key(atom.value)
        return self.numbers.setdefault(atom, number), with_bases(atom.type, self._numbered)

    def _numbered(self, base: object) -> object:
        if isinstance(base, str):
            return base
        return self.bases.setdefault(base, len(self.bases))

    def slot(self, atom: Atom) -> _Slot | Literal:
        """What a recording has for an atom."""
        if isinstance(atom, Literal):
            return atom
        if atom not in self.numbers:
            raise _NotPlain
        return _Slot(self.numbers[atom])

    def atom(self, part: _Slot | Literal) -> Atom:
        """What it stands for in this run."""
        return self.found[part.number] if isinstance(part, _Slot) else part


class _Recorder(Builder):
    """Writes into another builder, and keeps what it was asked."""

    def __init__(self, target: Builder, atoms: _Atoms) -> None:
        vars(self).update(vars(target))  # the operations and the tables are those of the target
        self.target = target
        self.atoms = atoms
        self.written: list[Op] = []
        self.asked: list[_Asked] = []
        self.plain = True

    def apply(
        self, callee: Callable[..., Any], *args: Atom, hint: str = "", **keywords: Atom
    ) -> Atom:
        if self.loc is not self.target.loc:  # the body goes on in someone else's source
            self.plain, self.target.loc = False, self.loc
        before = len(self.ops)
        answer = self.target.apply(callee, *args, hint=hint, **keywords)
        self.written += self.ops[before:]
        if self.plain:
            try:
                parts = tuple(map(self.atoms.slot, args))
                named = tuple((k, self.atoms.slot(a)) for k, a in keywords.items())
                kind = self.atoms.add(answer)
                self.asked.append(_Asked(callee, parts, named, hint, kind))
            except _NotPlain:
                self.plain = False
        return answer


def run_body(
    low: Lowering, body: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    """What a body returns, its operations written at the end of the cursor's builder."""
    if not (getattr(body, "__module__", None) or "").startswith("srcad.rules."):
        return calls.call(low, Static(body), args, keywords)  # it may change
    atoms = _Atoms()
    try:
        kinds = tuple(_kind(a, atoms) for a in args)
        named = tuple((k, _kind(a, atoms)) for k, a in keywords.items())
    except _NotPlain:
        return calls.call(low, Static(body), args, keywords)
    builder = low.builder
    key = (body, builder.exact, builder.simplify, rules.digest(), kinds, named)
    recording = _recordings.get(key)
    if recording is not None:
        result = _replay(recording, builder, atoms)
        if result is not None:
            return result
    if key in _recordings:
        return calls.call(low, Static(body), args, keywords)
    mark, captures = len(builder.ops), len(low.session.importer.captures)
    low.builder = recorder = _Recorder(builder, atoms)
    try:
        result = calls.call(low, Static(body), args, keywords)
    finally:
        low.builder = builder
    if len(low.session.importer.captures) > captures:
        recorder.plain = False
    _recordings[key] = _recorded(recorder, result, mark)
    return result


def _recorded(recorder: _Recorder, result: Abstract, mark: int) -> _Recording | None:
    if not recorder.plain or recorder.ops[mark:] != recorder.written:
        return None
    try:
        return _Recording(tuple(recorder.asked), _with_slots(result, recorder.atoms))
    except _NotPlain:
        return None


def _replay(recording: _Recording, builder: Builder, atoms: _Atoms) -> Abstract | None:
    """The result; None, and nothing written, where the recording does not hold."""
    mark = builder.mark()
    for asked in recording.asked:
        args = map(atoms.atom, asked.args)
        keywords = {k: atoms.atom(a) for k, a in asked.keywords}
        answer = builder.apply(asked.callee, *args, hint=asked.hint, **keywords)
        try:
            kind = atoms.add(answer)
        except _NotPlain:
            kind = None
        if kind != asked.answer:
            builder.rewind(mark)
            return None
    found: Abstract = _filled(recording.result, atoms)
    return found


def _kind(value: Abstract, atoms: _Atoms) -> object:
    """What of an argument the course of lowering can depend on."""
    match value:
        case Value():
            return atoms.add(value)
        case Static(value=known):
            return _plain_key(known)
        case TupleRef(items=items, cls=cls):
            return cls, tuple(_kind(i, atoms) for i in items)
    raise _NotPlain


def _plain_key(value: object) -> object:
    if not _is_plain(value):
        raise _NotPlain
    return literal_key(value)


def _is_plain(value: object) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _with_slots(value: Abstract, atoms: _Atoms) -> Any:
    match value:
        case Value():
            return atoms.slot(value)
        case Static():
            return value
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_with_slots(i, atoms) for i in items), cls)
    raise _NotPlain


def _filled(value: Any, atoms: _Atoms) -> Any:
    match value:
        case _Slot(number=number):
            return atoms.found[number]
        case TupleRef(items=items, cls=cls):
            return TupleRef(tuple(_filled(i, atoms) for i in items), cls)
    return value
