"""Adjoints and tangents of writes into arrays, and what is restored of overwritten memory.

The adjoint of a written array is an array of the same shape that is written too: a view of the one
has the same view of the other as its adjoint.

    u[i] = v       v_bar += u_bar[i]; u_bar[i] = 0
    u[i] += v      v_bar += u_bar[i]

What a reverse sweep reads of an array may have been written over by then.  Only the overwritten
part is kept, and put back on the way (``restore``): after the reverse of a write the memory holds
what it held before it (Griewank and Walther, Evaluating Derivatives, 2nd ed., section 4.2).
"""

from __future__ import annotations

import operator
from collections.abc import Container
from typing import Any

import numpy as np

from srcad import runtime
from srcad.analysis.versions import chained
from srcad.ir import Apply, Atom, Block, Literal, Op, Update, Value
from srcad.ir.build import Builder
from srcad.ir.core import View
from srcad.ir.infer import atom_type
from srcad.ir.sharing import Sharing, holds_arrays, picks_once, sharing, views, views_in_order
from srcad.ir.types import Array, ListType, is_differentiable
from srcad.ir.walk import all_ops
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints

ADDING = {operator.iadd: 1, operator.isub: -1, np.add.at: 1, np.subtract.at: -1}
"""Writes that add to what is there, and with which sign."""


def is_write(op: Op) -> bool:
    """Whether an operation writes into an array."""
    return isinstance(op, Update) and isinstance(op.target.type, Array)


def writes_arrays(block: Block) -> bool:
    """Whether a block, or one in it, writes into an array."""
    return any(map(is_write, all_ops(block)))


def part_of(b: Builder, array: Atom, op: Update) -> Atom:
    """What a write writes, of another array of the same shape."""
    for step in op.path:
        array = b.view(step, array)
    if _is_whole(op.args[0]):
        return array
    return b.apply(operator.getitem, array, op.args[0])


def _is_whole(index: Atom) -> bool:
    return isinstance(index, Literal) and index.value is Ellipsis


def covers(op: Update) -> bool:
    """Whether a write replaces the whole array."""
    return op.callee is operator.setitem and not op.path and _is_whole(op.args[0])


def copied_part(b: Builder, array: Atom, op: Update) -> Atom:
    """The same, as memory of its own."""
    return _own(b, part_of(b, array, op), not _picks_copies(op.args[0]))


# ---- reverse mode


def pull_write(op: Update, adjoints: Adjoints) -> None:
    """Move the adjoint of an array back over a write."""
    if adjoints.get(op.version) is None:
        return
    b = adjoints.builder
    value = op.args[1]
    wanted = isinstance(value, Value) and adjoints.active(value)
    if covers(op):
        if wanted:
            item = adjoints.take(op.version)
            assert item is not None
            adjoints.add(value, spaces.conform(b, item, value, elementwise=True))
        adjoints.drop(op.version)
        return
    bar = adjoints.own(op.version)
    sign = ADDING.get(op.callee)
    term: Atom | None = None
    if wanted:
        item = part_of(b, bar, op)
        if sign is None and not picks_once(op.args[0]):
            shape = b.apply(np.shape, _viewed(b, bar, op))
            item = b.apply_typed(runtime.last_writes, (op.args[0], shape, item), atom_type(item))
        term = _apart(b, spaces.conform(b, item, value, elementwise=True), bar)
        if (sign == -1) != _is_turned(op):
            term = b.apply(operator.neg, term)
    if sign is None:
        check_view(b, bar, op)
        ordered = adjoints.is_ordered(bar)
        bar = b.update(operator.setitem, bar, op.args[0], Literal(0.0), path=op.path)
        bar.masked = True
        adjoints.owned.add(bar)
        if ordered:
            adjoints.ordered.add(bar)
    adjoints.drop(op.version)
    adjoints.set(op.target, bar)
    if term is not None:
        adjoints.add(value, term)  # the value may be the array itself


def in_order(block: Block) -> frozenset[Value]:
    """The versions of arrays whose adjoints and tangents have to be in C order.

    ``np.reshape`` is a view of contiguous memory only, and a write to a copy would be lost.
    """
    wrote = (op for op in all_ops(block) if isinstance(op, Update) and is_write(op))
    return chained(block, {op.version for op in wrote if _reshapes(op)})


def check_view(b: Builder, array: Value, op: Update) -> None:
    """See to it that a write's path has views of an array in C order."""
    reshapes = _reshapes(op)
    if not reshapes:
        return
    (first, step), *others = reshapes
    if first or others or not views_in_order(step.callee, (array, *step.args), step.keywords):
        b.effect(runtime.require_view, _viewed(b, array, op), array)


def _reshapes(op: Update) -> list[tuple[int, View]]:
    """The steps of a write's path that have views of some layouts only, with their places."""
    found, part = [], op.target
    for k, step in enumerate(op.path):
        shared = sharing(step.callee, (part, *step.args), step.keywords)
        if shared.get(part) is Sharing.SOMETIMES:
            found.append((k, step))
        part = Value("", Builder().typed(step.callee, (part, *step.args), step.keywords))
    return found


def _apart(b: Builder, term: Atom, bar: Value) -> Atom:
    """A term that later writes into the adjoint do not change."""
    if not isinstance(term, Value) or not holds_arrays(term.type):
        return term
    op = b.definition(term)
    return _own(b, term, term is bar or op is None or bool(views(op)))


def _own(b: Builder, atom: Atom, shared: bool) -> Atom:
    """An array, copied if it may share memory."""
    if not shared or not isinstance(atom, Value) or not holds_arrays(atom.type):
        return atom
    copier = np.ndarray.copy if isinstance(atom.type, Array) else runtime.own
    return b.apply_typed(copier, (atom,), atom.type)


def _picks_copies(index: Atom) -> bool:
    """Whether an index surely picks a copy and not a view."""
    return isinstance(atom_type(index), (Array, ListType)) or (
        isinstance(index, Literal) and isinstance(index.value, list)
    )


def _is_turned(op: Update) -> bool:
    """Whether a write goes to imaginary parts: an adjoint has those with the other sign.

    The adjoint of ``z`` pairs with its differential as ``Re(z_bar * dz)``.
    """
    return any(step.callee in (np.imag, np.ndarray.imag) for step in op.path)


def _viewed(b: Builder, array: Atom, op: Update) -> Atom:
    for step in op.path:
        array = b.view(step, array)
    return array


# ---- restoring


def saved_part(op: Update) -> tuple[list[Op], Value]:
    """What a write is about to write over, as operations before it."""
    b = Builder()
    b.loc = op.loc
    part = copied_part(b, op.target, op)
    assert isinstance(part, Value)
    return list(b.ops), part


def restore(op: Update, saved: Value, adjoints: Adjoints, memory: Value) -> None:
    """Put back what a write has written over."""
    b = adjoints.builder
    check_view(b, memory, op)
    version = b.update(operator.setitem, memory, op.args[0], saved, path=op.path)
    adjoints.memory.pop(op.version, None)  # gone; of the last version there is the primal's own
    adjoints.memory[op.target] = version


class Volatile:
    """Arrays whose memory is written, and views of them: what a reverse sweep cannot just read."""

    def __init__(self, written: dict[Value, None]) -> None:
        self.written = written
        self.views: dict[Value, Apply] = {}
        """The calls that make views of written arrays."""

    def note(self, block: Block) -> None:
        """Find the views in a block and the blocks in it."""
        for op in all_ops(block):
            if isinstance(op, Apply) and holds_arrays(op.result.type):
                known = [a for a in op.args if isinstance(a, Value) and self._moves(a)]
                if known and any(a in known for a in views(op)):
                    self.views[op.result] = op

    def _moves(self, value: Value) -> bool:
        return value in self.views or (value in self.written and isinstance(value.type, Array))

    def __contains__(self, value: object) -> bool:
        return value in self.written or value in self.views

    def roots(self, value: Value) -> list[Value]:
        """The versions that a value is a view of."""
        if value in self.written:
            return [value]
        op = self.views.get(value)
        if op is None:
            return []
        return [r for a in op.args if isinstance(a, Value) for r in self.roots(a)]


def is_view_of(value: Atom, moving: Container[Value], b: Builder) -> bool:
    """Whether a value is, or is a view of, memory that changes."""
    if not isinstance(value, Value) or not holds_arrays(value.type):
        return False
    if value in moving:
        return True
    op = b.definition(value)
    return op is not None and any(is_view_of(a, moving, b) for a in views(op))


def current(value: Value, volatile: Volatile, adjoints: Adjoints) -> Value | None:
    """A volatile value in terms of restored memory; None where that is not kept."""
    if value in volatile.written:
        return adjoints.restored(value)
    op = volatile.views[value]
    args: list[Atom] = []
    for atom in op.args:
        found: Atom | None = atom
        if isinstance(atom, Value) and atom in volatile:
            found = current(atom, volatile, adjoints)
        if found is None:
            return None
        args.append(found)
    named: dict[str, Any] = dict(op.keywords)
    made = adjoints.builder.apply(op.callee, *args, **named)
    return made if isinstance(made, Value) else None


# ---- forward mode


def differentiable(op: Update) -> bool:
    """Whether the array that is written carries a derivative."""
    return is_differentiable(op.version.type)
