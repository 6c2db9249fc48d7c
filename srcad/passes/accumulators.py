"""An element that a loop adds to, while it reads others of the array, is a number meanwhile.

    b.3 = for k in range(i + 1, n) with b     |  s = getitem(b, i)
      t = getitem(b.1, k)                     |  s.3 = for k in range(i + 1, n) with s
      b.2 = b.1[i] += mul(t, a)               |    t = getitem(b, k)
                                              |    s.2 = add(s, mul(t, a))
                                              |  b.3 = b[i] = s.3

The order of the additions is the same.  The reverse of a sum keeps nothing, where each write into
an array that is read would have to be undone; and a number is read and written in less time than an
element.  It has to be proven that the loop reads other elements, and that the element is there: a
loop that does not run at all would not read it.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad.analysis.integers import Facts
from srcad.analysis.versions import connected, version_links
from srcad.ir import Apply, Atom, Block, For, If, Items, Literal, Op, Update, Value, While
from srcad.ir.core import make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.sharing import views
from srcad.ir.types import FLOAT, Array, Number, NumPyScalar, TupleType
from srcad.ir.walk import all_ops, blocks, map_atoms, map_blocks, operands, renaming, results

_CALLEES = {operator.iadd: operator.add, operator.isub: operator.sub}


def sums_in_numbers(block: Block) -> Block:
    """The block with elements that loops add to as numbers."""
    if not any(isinstance(op, Update) and op.callee in _CALLEES for op in all_ops(block)):
        return block
    return _Pass(block).block(block)


class _Pass:
    def __init__(self, block: Block) -> None:
        self.links = version_links(block)
        self.facts = Facts()
        self.readers: dict[Value, list[Op]] = {}
        self.makers: dict[Value, Op] = {}
        for op in all_ops(block):
            if isinstance(op, Apply):
                self.facts.made[op.result] = op
            self.makers.update(dict.fromkeys(results(op), op))
            for atom in operands(op):
                if isinstance(atom, Value):
                    self.readers.setdefault(atom, []).append(op)

    def block(self, block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, For):
                self.facts.enter_loop(op)
                if not any(blocks(o) for o in op.body.ops):
                    ops += self._loop(op)
                    continue
            ops.append(map_blocks(op, self.block))
        return replace(block, ops=tuple(ops))

    def _loop(self, loop: For) -> list[Op]:
        """A loop without blocks in it, with what has to be done before and after it."""
        before: list[Op] = []
        after: list[Op] = []
        for slot, param in enumerate(loop.carried_params):
            found = self._additions(loop, slot, param)
            if found is None:
                continue
            parts, additions = found
            array, loc = loop.carried[slot], additions[0].loc
            assert isinstance(array, Value)
            index = parts[0]
            if len(parts) > 1:
                index = Value("", TupleType(tuple(map(atom_type, parts))))
                before.append(Apply(make_tuple, parts, (), index, loc))
            start, end, result = Value("", FLOAT), Value("", FLOAT), loop.results[slot]
            before.append(Apply(operator.getitem, (array, index), (), start, loc))
            after.append(Update(operator.setitem, array, (index, end), result, None, loc))
            loop = _with_number(loop, slot, array, additions, start, end)
        return [*before, loop, *after]

    def _additions(
        self, loop: For, slot: int, param: Value
    ) -> tuple[tuple[Atom, ...], list[Update]] | None:
        """The element that a loop adds to, and the additions to it."""
        if not isinstance(param.type, Array) or param.type.dtype != "float64":
            return None
        if not isinstance(loop.carried[slot], Value) or loop.stops:
            return None
        inside = {*loop.body.params, *(r for op in loop.body.ops for r in results(op))}
        found: list[Update] = []
        reads: list[Apply] = []
        value = param
        while value is not loop.body.yields[slot]:
            written = None
            for op in self.readers.get(value, []):
                match op:
                    case Apply(callee=operator.getitem, args=(_, index)) if index is not value:
                        reads.append(op)
                    case Update(callee=callee, target=target, args=(_, term), path=()) if (
                        callee in _CALLEES and target is value and written is None
                    ):
                        if atom_type(term) not in (FLOAT, NumPyScalar("float64")):
                            return None
                        written = op
                    case _:
                        return None
            if written is None or value in loop.body.yields:
                return None
            found.append(written)
            value = written.version
        if not found or not reads or self.readers.get(value):
            return None
        if loop.body.yields.count(value) != 1:
            return None
        index = found[0].args[0]
        parts = self._parts(index)
        here = all(not isinstance(a, Value) or a not in inside for a in parts)
        same = all(self._same(parts, self._parts(u.args[0])) for u in found)
        if not here or not same or not self._is_there(param, parts):
            return None
        if not all(self._differ(param, parts, self._parts(r.args[1])) for r in reads):
            return None
        return (parts, found) if self._is_alone(param) else None

    def _parts(self, index: Atom) -> tuple[Atom, ...]:
        if isinstance(index, Literal) and isinstance(index.value, tuple):
            return tuple(map(Literal, index.value))
        op = self.facts.made.get(index) if isinstance(index, Value) else None
        return op.args if op is not None and op.callee is make_tuple else (index,)

    def _same(self, one: tuple[Atom, ...], other: tuple[Atom, ...]) -> bool:
        form = self.facts.form
        return len(one) == len(other) and all(
            form(a) == form(b) for a, b in zip(one, other, strict=True)
        )

    def _is_there(self, array: Value, parts: tuple[Atom, ...]) -> bool:
        """Whether an index is surely that of one element, counted from the start."""
        assert isinstance(array.type, Array)
        if array.type.dims is None or len(parts) != len(array.type.dims):
            return False
        positive, form = self.facts.is_positive, self.facts.form
        return all(map(_is_integer, parts)) and all(
            positive(form(p)) and positive(self.facts.size(array, k) - form(p) - 1)
            for k, p in enumerate(parts)
        )

    def _differ(self, array: Value, one: tuple[Atom, ...], other: tuple[Atom, ...]) -> bool:
        """Whether two indices are surely those of two elements."""
        if not self._is_there(array, other):
            return False
        positive, form = self.facts.is_positive, self.facts.form
        return any(
            positive(form(a) - form(b) - 1) or positive(form(b) - form(a) - 1)
            for a, b in zip(one, other, strict=True)
        )

    def _is_alone(self, param: Value) -> bool:
        """Whether an array is no view, and nothing is a view of it."""
        versions = connected(self.links, {param})
        for value in versions:
            match self.makers.get(value):
                case Apply(callee=operator.getitem):
                    return False
                case Apply() as maker:
                    if views(maker):
                        return False
                case Update() | For() | While() | If() | None:
                    pass
                case _:
                    return False
            for op in self.readers.get(value, []):
                match op:
                    case Apply():
                        if value in views(op) and _may_be_view(op):
                            return False
                    case For():
                        if any(isinstance(s, Items) and s.sequence is value for s in op.streams):
                            return False
                    case Update(target=target):
                        if target not in versions or op.path:
                            return False
                    case While() | If():
                        pass
                    case _:
                        return False
        return True


def _with_number(
    loop: For, slot: int, array: Value, additions: list[Update], start: Value, end: Value
) -> For:
    """The loop with a number in place of an array, which is read from around the loop."""
    at = len(loop.streams) + slot
    number = Value("", start.type)
    versions = {u.version for u in additions}
    names: dict[Value, Atom] = dict.fromkeys((loop.body.params[at], *versions), array)
    read = renaming(names)
    ops: list[Op] = []
    now = number
    for op in loop.body.ops:
        if isinstance(op, Update) and op.version in versions:
            version = Value("", start.type)
            ops.append(Apply(_CALLEES[op.callee], (now, read(op.args[1])), (), version, op.loc))
            now = version
        else:
            ops.append(map_atoms(op, read, lambda v: v))
    params = (*loop.body.params[:at], number, *loop.body.params[at + 1 :])
    yields = [*map(read, loop.body.yields)]
    yields[slot] = now
    return replace(
        loop,
        carried=(*loop.carried[:slot], start, *loop.carried[slot + 1 :]),
        body=Block(params, tuple(ops), tuple(yields)),
        results=(*loop.results[:slot], end, *loop.results[slot + 1 :]),
    )


def _may_be_view(op: Apply) -> bool:
    return isinstance(op.result.type, Array) or not isinstance(
        op.result.type, (Number, NumPyScalar)
    )


def _is_integer(atom: Atom) -> bool:
    kind = atom_type(atom)
    return isinstance(kind, Number) and kind.kind == "int"
