"""Writes into arrays and lists, said shorter.

In the primal, so that its adjoint has nothing to set to zero:

    t = getitem(u, i)                 |
    s = add(t, v)                     |
    u[i] = s                          |    u[i] += v

In the reverse sweep, where an adjoint is read, set to zero and added to:

    t = copy(getitem(u_bar, i))       |    t = getitem(u_bar, i)
    u_bar[i] = 0.0                    |
    u_bar[i] += mul(t, c)             |    u_bar[i] = mul(t, c)
"""

from __future__ import annotations

import operator

import numpy as np

from srcad.ir import Accumulate, Apply, Atom, Block, Function, Literal, Op, Update, Value
from srcad.ir.core import make_tuple, same_literal
from srcad.ir.sharing import is_basic_index, views
from srcad.ir.types import Array, ListType, dtype_of, rank
from srcad.ir.walk import (
    all_ops,
    map_blocks,
    operands,
    rename_values,
    results,
    values_read,
)


class _Uses:
    """Who reads what, in a block and the blocks in it."""

    def __init__(self, block: Block) -> None:
        self.count: dict[Value, int] = {}
        self.made: dict[Value, Op] = {}
        self._note(block)

    def _note(self, block: Block) -> None:
        for atom in block.yields:
            self._use(atom)
        for op in block.ops:
            for atom in operands(op):
                self._use(atom)
            for result in results(op):
                self.made[result] = op
            map_blocks(op, self._inner)

    def _inner(self, block: Block) -> Block:
        self._note(block)
        return block

    def _use(self, atom: Atom) -> None:
        if isinstance(atom, Value):
            self.count[atom] = self.count.get(atom, 0) + 1

    def once(self, value: Atom) -> bool:
        """Whether a value is read once."""
        return isinstance(value, Value) and self.count.get(value) == 1

    def same(self, a: Atom, b: Atom) -> bool:
        """Whether two indices are surely equal."""
        if a is b:
            return True
        if isinstance(a, Literal) and isinstance(b, Literal):
            return same_literal(a.value, b.value)
        if not isinstance(a, Value) or not isinstance(b, Value):
            return False
        one, other = self.made.get(a), self.made.get(b)
        if not isinstance(one, Apply) or not isinstance(other, Apply):
            return False
        if one.callee is not other.callee or one.callee not in (make_tuple, slice):
            return False
        pairs = zip(one.args, other.args, strict=True) if len(one.args) == len(other.args) else ()
        return bool(one.args) and bool(pairs) and all(self.same(p, q) for p, q in pairs)


# ---- the primal


def sums_in_place(block: Block) -> Block:
    """The block with ``u[i] = u[i] + v`` written ``u[i] += v``."""
    return _sums(block, _Uses(block))


def _sums(block: Block, uses: _Uses) -> Block:
    inner = [map_blocks(op, lambda b: _sums(b, uses)) for op in block.ops]
    made: list[Op] = []
    here = set(block.ops)
    dead: set[Op] = set()
    for op in inner:
        found = _as_sum(op, uses, here)
        if found is None:
            made.append(op)
            continue
        shorter, parts = found
        dead.update(parts)
        made.append(shorter)
    return Block(block.params, tuple(op for op in made if op not in dead), block.yields)


def _as_sum(op: Op, uses: _Uses, here: set[Op]) -> tuple[Op, tuple[Op, ...]] | None:
    if not isinstance(op, Update) or op.callee is not operator.setitem or op.path:
        return None
    kind = op.target.type
    if not isinstance(kind, Array) or kind.dtype is None or len(op.args) != 2:
        return None
    index, value = op.args
    total = uses.made.get(value) if isinstance(value, Value) else None
    if not isinstance(total, Apply) or total not in here or not uses.once(value):
        return None
    if total.callee not in (operator.add, operator.sub) or total.result.hint:
        return None
    if not is_basic_index(index) or not _is_of_dtype(total.result, kind.dtype):
        return None
    sides = [total.args] if total.callee is operator.sub else [total.args, total.args[::-1]]
    for old, term in sides:
        read = uses.made.get(old) if isinstance(old, Value) else None
        if (
            isinstance(read, Apply)
            and read in here
            and read.callee is operator.getitem
            and read.args[0] is op.target
            and uses.once(old)
            and not read.result.hint
            and uses.same(read.args[1], index)
        ):
            callee = operator.iadd if total.callee is operator.add else operator.isub
            made = Update(callee, op.target, (index, term), op.version, op.result, op.loc)
            return made, (total, read)
    return None


def _is_of_dtype(value: Value, dtype: str) -> bool:
    """Whether a sum is of the dtype of the array that it is written into."""
    return (dtype_of(value.type) or "float64") == dtype and np.dtype(dtype).kind in "fc"


# ---- the reverse sweep


def tidy_writes(function: Function) -> Function:
    """The function with its adjoints written over where they stand."""
    body = _tidied(function.body)
    return Function(
        function.name, function.params, body, function.loc, function.doc, function.calls
    )


def _tidied(block: Block) -> Block:
    ops = [map_blocks(op, _tidied) for op in block.ops]
    block = Block(block.params, tuple(ops), block.yields)
    tried: set[Value] = set()
    while (zero := next((o for o in block.ops if _is_zeroing(o, tried)), None)) is not None:
        assert isinstance(zero, Update)
        tried.add(zero.version)
        block = _merged(block, zero, _Uses(block))
    return _without_copies(block)


def _is_zeroing(op: Op, tried: set[Value]) -> bool:
    return (
        isinstance(op, Update)
        and op.callee is operator.setitem
        and op.version not in tried
        and op.loc is not None
        and op.loc.reverse > 0
        and not op.path
        and isinstance(op.args[1], Literal)
        and type(op.args[1].value) is float
        and op.args[1].value == 0.0
        and isinstance(op.target.type, (Array, ListType))
        and is_basic_index(op.args[0])
    )


def _merged(block: Block, zero: Update, uses: _Uses) -> Block:
    """Put what is added to a zero in its place."""
    chain: list[Accumulate] = []
    version = zero.version
    while True:
        user = _only_user(block, version)
        if not isinstance(user, Accumulate) or user.target is not version or user.index is None:
            break
        if not uses.once(version) or not is_basic_index(user.index):
            break
        chain.append(user)
        version = user.version
        if uses.same(user.index, zero.args[0]):
            break
    else:  # pragma: no cover
        return block
    if not chain or not uses.same(chain[-1].index, zero.args[0]):  # type: ignore[arg-type]  # has one
        return _delayed(block, zero, chain[0] if chain else _only_user(block, zero.version))
    last = chain[-1]
    if not _may_wait(block, chain):
        return block
    moved: list[Op] = []
    if _is_item(last.term, zero, uses):
        before = zero.target
    else:
        before = last.version if len(chain) == 1 else zero.version
        written = (zero.args[0], last.term)
        moved.append(Update(operator.setitem, zero.target, written, before, None, last.loc))
    for k, early in enumerate(chain[:-1]):
        after = last.version if k == len(chain) - 2 else early.version
        moved.append(Accumulate(before, early.index, early.term, after, early.loc))
        before = after
    made: list[Op] = []
    for op in block.ops:
        if op is zero or op in chain[:-1]:
            continue
        made += moved if op is last else [op]
    block = Block(block.params, tuple(made), block.yields)
    return block if moved else rename_values(block, {last.version: zero.target})


def _may_wait(block: Block, chain: list[Accumulate]) -> bool:
    """Whether all that is added may be added where the last is: nothing of it is written first."""
    if all(not isinstance(op.term, Value) or rank(op.term.type) == 0 for op in chain[:-1]):
        return True
    start, end = block.ops.index(chain[0]), block.ops.index(chain[-1])
    return all(isinstance(op, Apply) or op in chain for op in block.ops[start:end])


def _delayed(block: Block, zero: Update, until: Op | None) -> Block:
    """Set to zero as late as can be: what is read before then need not be copied."""
    ops = [op for op in block.ops if op is not zero]
    at = len(ops) if until is None else ops.index(until)
    read = {v for op in ops[at:] for v in values_read(op)} | set(block.yields)
    start = block.ops.index(zero)
    copies = [op.result for op in block.ops[:start] if isinstance(op, Apply)]
    if not any(c not in read for c in copies if _is_copy_of(block, c, zero)):
        return block
    return Block(block.params, (*ops[:at], zero, *ops[at:]), block.yields)


def _is_copy_of(block: Block, value: Value, zero: Update) -> bool:
    made = {r: op for op in block.ops for r in results(op)}
    op = made.get(value)
    if not isinstance(op, Apply) or op.callee is not np.ndarray.copy:
        return False
    part = made.get(op.args[0]) if isinstance(op.args[0], Value) else None
    return (
        isinstance(part, Apply) and part.callee is operator.getitem and part.args[0] is zero.target
    )


def _is_item(term: Atom, zero: Update, uses: _Uses) -> bool:
    """Whether what is put back is what was there."""
    op = uses.made.get(term) if isinstance(term, Value) else None
    if isinstance(op, Apply) and op.callee is np.ndarray.copy and isinstance(op.args[0], Value):
        op = uses.made.get(op.args[0])
    if not isinstance(op, Apply) or op.callee is not operator.getitem:
        return False
    return op.args[0] is zero.target and uses.same(op.args[1], zero.args[0])


def _only_user(block: Block, value: Value) -> Op | None:
    for op in block.ops:
        if value in values_read(op):
            return op
    return None


def _without_copies(block: Block) -> Block:
    """Leave out copies that are not read any more when what they are of is written."""
    position = {op: k for k, op in enumerate(block.ops)}
    made = {r: op for op in block.ops for r in results(op)}
    users: dict[Value, list[int]] = {}
    for k, op in enumerate(block.ops):
        for value in values_read(op):
            users.setdefault(value, []).append(k)
    yielded = {a for a in block.yields if isinstance(a, Value)}
    names: dict[Value, Value] = {}
    for op in block.ops:
        if not isinstance(op, Apply) or op.callee is not np.ndarray.copy:
            continue
        if op.loc is None or not op.loc.reverse or op.result in yielded:
            continue
        part = op.args[0]
        read = made.get(part) if isinstance(part, Value) else None
        if not isinstance(read, Apply) or read.callee is not operator.getitem:
            continue
        assert isinstance(part, Value)
        array = read.args[0]
        if not isinstance(array, Value) or not isinstance(array.type, Array):
            continue
        write = next((k for k in users[array] if _writes(block.ops[k], array)), None)
        last = max(users.get(op.result, [position[op]]))
        if (
            write is None
            or last > write
            or not all(_only_reads(block.ops[k], op.result) for k in users.get(op.result, []))
        ):
            continue
        names[op.result] = part
    rest = tuple(op for op in block.ops if not (isinstance(op, Apply) and op.result in names))
    return rename_values(Block(block.params, rest, block.yields), names) if names else block


def _writes(op: Op, array: Value) -> bool:
    """Whether an operation writes over a version of an array, itself or in a block."""
    if isinstance(op, Apply):
        return False
    if isinstance(op, (Update, Accumulate)):
        return op.target is array
    return array in operands(op) or any(
        isinstance(inner, (Update, Accumulate)) and inner.target is array
        for b in _blocks(op)
        for inner in all_ops(b)
    )


def _blocks(op: Op) -> list[Block]:
    found: list[Block] = []

    def note(b: Block) -> Block:
        found.append(b)
        return b

    map_blocks(op, note)
    return found


def _only_reads(op: Op, value: Value) -> bool:
    """Whether an operation reads an array and keeps no hold of it."""
    if isinstance(op, Apply):
        return value not in views(op) and op.callee is not make_tuple
    if isinstance(op, Accumulate):
        return op.term is value and op.target is not value
    return (
        isinstance(op, Update)
        and op.callee is operator.setitem
        and op.args[1] is value
        and (isinstance(op.target.type, Array))
    )
