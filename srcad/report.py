"""What a derivative keeps for its reverse sweep, computes again, fuses and writes in place.

All of it is read off the finished code: a tape is a list that a loop appends to and a reverse loop
reads from its end; what is computed again has the place of a primal statement, in a reverse loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from srcad.codegen import emit
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    For,
    Function,
    If,
    Items,
    Literal,
    Loc,
    Op,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import Try, make_tuple
from srcad.ir.naming import name_of
from srcad.ir.sharing import SHAPE, views
from srcad.ir.types import Array, ListType, Number, NumPyScalar, TupleType, Type, dims_of
from srcad.ir.walk import all_ops, blocks, operands, results, values_read

SLOT, TUPLE, NUMBER, SCALAR, ARRAY, LIST = 8, 40, 24, 32, 112, 56
"""Bytes in CPython: of an entry of a list or tuple, and of objects without what is in them."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One value that the reverse sweep reads."""

    name: str
    kind: str
    bytes: str
    """How many, as an expression in the sizes of the arguments."""
    how: str
    """'by reference', 'copied', 'a number', 'a list'."""
    why: str
    """The primal line whose adjoint reads it."""


@dataclass(frozen=True, slots=True)
class KeptByLoop:
    """What each iteration of a loop keeps."""

    where: str
    fixed: int
    """Bytes of each iteration that do not depend on sizes."""
    sizes: tuple[str, ...]
    """Bytes that do."""
    values: tuple[Kept, ...]

    @property
    def bytes(self) -> str:
        """Bytes of each iteration."""
        return " + ".join([str(self.fixed), *self.sizes])


@dataclass(slots=True)
class Explanation:
    """The decisions that a derivative shows."""

    loops: list[KeptByLoop] = field(default_factory=list)
    once: list[Kept] = field(default_factory=list)
    """Arrays that are kept outside of loops."""
    recomputed: dict[str, None] = field(default_factory=dict)
    fused: dict[str, None] = field(default_factory=dict)
    in_place: dict[str, None] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [
            _section("kept by each iteration", _loop_lines(self.loops)),
            _section("kept once", [_line(k) for k in self.once]),
            _section("computed again", list(self.recomputed)),
            _section("fused: the reverse runs in the loop", list(self.fused)),
            _section("written in place", list(self.in_place)),
        ]
        return "\n".join(parts)


def _section(title: str, lines: list[str]) -> str:
    if not lines:
        return f"{title}: nothing"
    return "\n".join([f"{title}:", *(f"    {line}" for line in lines)])


def _loop_lines(loops: list[KeptByLoop]) -> list[str]:
    lines = []
    for loop in loops:
        lines.append(f"{loop.where}  ({loop.bytes} bytes)")
        lines += [f"    {_line(k)}" for k in loop.values]
    return lines


def _line(kept: Kept) -> str:
    return f"{kept.name}: {kept.kind}, {kept.bytes} bytes, {kept.how}; {kept.why}"


def explain(function: Function) -> Explanation:
    """What the derivative that a function of the IR is keeps, computes again, fuses and writes."""
    found = Explanation()
    names = emit(function).names
    for ref in function.calls:
        if ref.function is not None:
            _Explainer(ref.function, found, names)
    _Explainer(function, found, names)
    return found


class _Explainer:
    def __init__(self, function: Function, found: Explanation, names: Mapping[Value, str]) -> None:
        self.found = found
        self.names = names
        self.made = {r: op for op in all_ops(function.body) for r in results(op)}
        self.readers = _reverse_readers(function.body)
        self._visit(function.body, in_reverse=False)
        self._once(function)

    # ---- what loops keep

    def _visit(self, block: Block, *, in_reverse: bool) -> None:
        for op in block.ops:
            if isinstance(op, (For, While)):
                self._loop(op)
            reverse = in_reverse or (isinstance(op, (For, While)) and _is_reverse(op.loc))
            if in_reverse and isinstance(op, Apply) and _is_primal(op.loc) and _is_number(op):
                self.found.recomputed[f"{self._name(op.result)}, {_place(op.loc)}"] = None
            if isinstance(op, (Accumulate, Update)) and _is_reverse(op.loc):
                self._written(op)
            for inner in blocks(op):
                self._visit(inner, in_reverse=reverse)

    def _loop(self, op: For | While) -> None:
        if _is_reverse(op.loc):
            return
        if any(_is_reverse(inner.loc) for inner in op.body.ops):
            self.found.fused[_place(op.loc)] = None
        for place, param in enumerate(op.carried_params):
            end = op.body.yields[place]
            last = self.made.get(end) if isinstance(end, Value) else None
            if (
                isinstance(last, Update)
                and last.callee is list.append
                and last.target is param
                and op.results[place] in self.readers
                and not _is_reverse(last.loc)
            ):
                self._tape(op, op.results[place], last.args[0])

    def _tape(self, op: For | While, tape: Value, item: Atom) -> None:
        packed = self.made.get(item) if isinstance(item, Value) else None
        parts: tuple[Atom, ...] = (item,)
        fixed = SLOT
        if isinstance(packed, Apply) and packed.callee is make_tuple and not item.hint:  # type: ignore[union-attr]
            parts = packed.args
            fixed += TUPLE + SLOT * len(parts)
        values, sizes = [], []
        readers = self.readers[tape]
        for place, part in enumerate(parts):
            if not isinstance(part, Value):
                continue
            reader = readers.get(place if len(parts) > 1 or parts is not (item,) else None)
            kept = self._kept(part, reader)
            if _is_kept_before(op, part, parts):
                kept = replace(kept, bytes="0", how="as the iteration before has kept it")
            values.append(kept)
            own, size = (0, "") if kept.bytes == "0" else _bytes(part.type)
            fixed += own
            if size and kept.how != "a view":
                sizes.append(size)
        self.found.loops.append(KeptByLoop(_place(op.loc), fixed, tuple(sizes), tuple(values)))

    def _kept(self, value: Value, reader: Loc | None) -> Kept:
        own, size = _bytes(value.type)
        made = self.made.get(value)
        how = "a number"
        if isinstance(value.type, Array):
            how = "by reference"
            if isinstance(made, Apply) and made.callee is np.ndarray.copy and made.loc is None:
                how = "copied, since it is written over later"
            elif isinstance(made, Apply) and views(made):
                how = "a view"
        elif isinstance(value.type, (ListType, TupleType)):
            how = "a list" if isinstance(value.type, ListType) else "a tuple"
        why = (
            "read in the reverse sweep"
            if reader is None
            else f"for the adjoint of {_place(reader)}"
        )
        total = str(own) if not size or how == "a view" else f"{own} + {size}"
        return Kept(self._name(value), str(value.type), total, how, why)

    # ---- what is kept outside of loops

    def _once(self, function: Function) -> None:
        body = function.body
        defined = [r for op in body.ops if not _is_reverse(op.loc) for r in results(op)]
        reads: dict[Value, Loc] = {}
        for op in body.ops:
            if _is_reverse(op.loc) and not (isinstance(op, Apply) and op.callee in SHAPE):
                for value in values_read(op):
                    if op.loc is not None:
                        reads.setdefault(value, op.loc)
        for value in defined:
            if isinstance(value.type, Array) and value in reads:
                self.found.once.append(self._kept(value, reads[value]))

    def _written(self, op: Accumulate | Update) -> None:
        target = op.target
        if isinstance(target, Value) and isinstance(target.type, (Array, ListType)):
            if isinstance(op, Update) and op.callee is list.append:
                return
            if isinstance(op, Accumulate) and op.index is None and not _is_reverse(op.loc):
                return
            self.found.in_place[f"{self._name(op.version)}, {_place(op.loc)}"] = None

    def _name(self, value: Value) -> str:
        """What a value is called in the generated code; what has no name there, by its origin."""
        return self.names.get(value) or name_of(value, self.made) or "value"


def _is_kept_before(op: For | While, value: Value, parts: tuple[Atom, ...]) -> bool:
    """Whether a carried value is one that the iteration before keeps under its next name."""
    carried = op.carried_params
    return value in carried and op.body.yields[carried.index(value)] in parts


def _reverse_readers(block: Block) -> dict[Value, dict[int | None, Loc]]:
    """For each list that is read from its end: which item is read where first."""
    found: dict[Value, dict[int | None, Loc]] = {}
    for op in all_ops(block):
        if not isinstance(op, For):
            continue
        for stream, target in zip(op.streams, op.targets, strict=True):
            if isinstance(stream, Items) and stream.backward and isinstance(stream.sequence, Value):
                found[stream.sequence] = _first_reads(op.body, target)
    # a list of a branch is read under the name of its result
    for op in reversed(list(all_ops(block))):
        if isinstance(op, (If, With, Try)):
            for inner in blocks(op):
                for result, end in zip(op.results, inner.yields, strict=False):
                    if result in found and isinstance(end, Value):
                        found.setdefault(end, found[result])
    return _through_tapes(block, found)


def _through_tapes(
    block: Block, found: dict[Value, dict[int | None, Loc]]
) -> dict[Value, dict[int | None, Loc]]:
    """A list that lies in the tuple of a loop around it is read under the name it has there."""
    made = {r: op for op in all_ops(block) for r in results(op)}
    appended: dict[Value, Atom] = {}
    for op in all_ops(block):
        if isinstance(op, (For, While)):
            for place in range(len(op.carried)):
                end = op.body.yields[place]
                last = made.get(end) if isinstance(end, Value) else None
                if isinstance(last, Update) and last.callee is list.append:
                    appended[op.results[place]] = last.args[0]
    changed = True
    while changed:
        changed = False
        for op in all_ops(block):
            if not isinstance(op, For):
                continue
            for stream, target in zip(op.streams, op.targets, strict=True):
                if not isinstance(stream, Items) or not isinstance(stream.sequence, Value):
                    continue
                held = appended.get(stream.sequence)
                for value, item in _matched(op.body, target, held, made):
                    if value in found and item not in found:
                        found[item] = found[value]
                        appended.setdefault(value, appended.get(item, item))
                        changed = True
    return found


def _matched(
    body: Block, target: Value, item: Atom | None, made: dict[Value, Op]
) -> Iterator[tuple[Value, Value]]:
    """What a reverse loop has got of an item, and what was put there."""
    if not isinstance(item, Value):
        return
    yield target, item
    packed = made.get(item)
    if isinstance(packed, Apply) and packed.callee is make_tuple:
        for op in body.ops:
            if isinstance(op, Apply) and op.args[:1] == (target,) and len(op.args) == 2:
                index = op.args[1]
                if isinstance(index, Literal) and isinstance(index.value, int):
                    part = packed.args[index.value]
                    if isinstance(part, Value):
                        yield op.result, part


def _first_reads(body: Block, target: Value) -> dict[int | None, Loc]:
    parts: dict[Value, int | None] = {target: None}
    found: dict[int | None, Loc] = {}
    for op in all_ops(body):
        read = [a for a in operands(op) if isinstance(a, Value) and a in parts]
        if (
            isinstance(op, Apply)
            and read == [target]
            and len(op.args) == 2
            and isinstance(op.args[1], Literal)
            and isinstance(op.args[1].value, int)
            and isinstance(target.type, TupleType)
        ):
            parts[op.result] = op.args[1].value
            continue
        for value in read:
            if op.loc is not None:
                found.setdefault(parts[value], op.loc)
    return found


def _bytes(kind: Type) -> tuple[int, str]:
    """The bytes of an object: a number of them, and those that depend on sizes."""
    match kind:
        case Number(kind="int"):
            return NUMBER + 4, ""
        case Number(kind="bool"):
            return 0, ""
        case Number():
            return NUMBER, ""
        case NumPyScalar():
            return SCALAR, ""
        case Array(dtype=dtype):
            width = np.dtype(dtype).itemsize if dtype is not None else 8
            dims = dims_of(kind)
            if dims is None:
                return ARRAY, f"{width}*?"
            known = [d for d in dims if isinstance(d, int)]
            factors = [_size(d) for d in dims if not isinstance(d, int)]
            width *= int(np.prod(known, dtype=int)) if known else 1
            if not factors:
                return ARRAY + width, ""
            return ARRAY, "*".join([str(width), *factors])
        case TupleType(items=items):
            parts = [_bytes(k) for k in items]
            sizes = " + ".join(s for _, s in parts if s)
            return TUPLE + SLOT * len(items) + sum(n for n, _ in parts), sizes
        case ListType():
            return LIST, ""
    return 0, ""


def _size(dim: object) -> str:
    text = "?" if dim is None else str(dim)
    return f"({text})" if "-" in text else text


def _is_reverse(loc: Loc | None) -> bool:
    return loc is not None and loc.reverse > 0


def _is_primal(loc: Loc | None) -> bool:
    return loc is not None and loc.reverse == 0


def _is_number(op: Apply) -> bool:
    return isinstance(op.result.type, (Number, NumPyScalar))


def _place(loc: Loc | None) -> str:
    if loc is None:
        return "an added statement"
    text = loc.text.strip().partition("\n")[0]
    return f"line {loc.line}: {text if len(text) <= 60 else text[:57] + '...'}"
