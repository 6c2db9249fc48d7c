"""Arrays that a call returns are made by its caller, in Python.

    def f_grad(x)                     |  def f_grad(x)
        b = empty(len(x))             |      b = empty(len(x))
        for i …                       |      f_grad_kernel(x, b)
            b[i] = …                  |      return b
        return b

Numba takes longer to hand an array over than to be given one; and NumPy asks the system for large
memory in large pages, which come faster.  Memory for tapes is not asked for here: kernels that were
given it took a tenth longer, where it is not larger than the caches.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

import numpy as np

from srcad.backends.numba.outline import name_apart
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Call,
    For,
    Function,
    FunctionRef,
    If,
    Literal,
    Op,
    Update,
    Value,
)
from srcad.ir.core import make_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.types import Array
from srcad.ir.walk import blocks, copy_block, map_atoms, operands, renaming, results

_MEMORY = (np.empty, np.zeros)
_SIZES = (
    np.shape, len, builtins.max, builtins.min, operator.add, operator.sub, operator.mul,
    operator.neg, operator.floordiv, operator.lt, operator.gt, operator.le, operator.ge, select,
    make_tuple, operator.getitem,
)  # fmt: skip
"""What sizes are computed with."""


def lend(entry: Function, kernel: Function, ref: FunctionRef) -> tuple[Function, Function]:
    """The two functions again: ``entry`` calls ``ref``, which is the kernel, once."""
    lent = _lent(kernel)
    if not lent:
        return entry, kernel
    origins = _Origins(kernel.body)
    returned = [origins.of(y) for y in kernel.body.yields]
    memory = set(lent.values())
    kept = tuple(y for y, b in zip(kernel.body.yields, returned, strict=True) if b not in lent)
    ops = tuple(op for op in kernel.body.ops if op not in memory)
    made = replace(kernel, params=(*kernel.params, *lent), body=Block((), ops, kept))
    name_apart(made.params)
    asked_for = Block((), _needed(kernel, lent), tuple(lent))
    called: list[Op] = []
    names: dict[Value, Atom] = {}
    for op in entry.body.ops:
        if not isinstance(op, Call) or op.function is not ref:
            called.append(op)
            continue
        asked = copy_block(asked_for, dict(zip(kernel.params, op.args, strict=True)))
        buffers = dict(zip(lent, asked.yields, strict=True))
        pairs = zip(op.results, returned, strict=True)
        names |= {r: buffers[b] for r, b in pairs if b in buffers}
        results_ = tuple(r for r in op.results if r not in names)
        called += asked.ops
        called.append(replace(op, args=(*op.args, *asked.yields), results=results_))
    read = renaming(names)
    ops = tuple(map_atoms(op, read, lambda v: v) for op in called)
    body = Block((), ops, tuple(map(read, entry.body.yields)))
    return replace(entry, body=body), made


def as_call(kernel: Function) -> tuple[Function, Function, FunctionRef]:
    """A function that does nothing but call the function, the function under another name, and
    what is called."""
    ref = FunctionRef(f"{kernel.name}_kernel")
    params = tuple(Value(p.hint, p.type, masked=p.masked) for p in kernel.params)
    outs = tuple(
        Value(y.hint if isinstance(y, Value) else "", atom_type(y)) for y in kernel.body.yields
    )
    body = Block((), (Call(ref, params, outs),), outs)
    return (
        replace(kernel, params=params, body=body, calls=(ref,)),
        replace(kernel, name=ref.name),
        ref,
    )


def _lent(kernel: Function) -> dict[Value, Apply]:
    """What the caller makes: the results whose sizes the arguments tell."""
    origins = _Origins(kernel.body)
    returned = {origins.of(y) for y in kernel.body.yields}
    known: set[Value] = set(kernel.params)
    found: dict[Value, Apply] = {}
    for op in kernel.body.ops:
        if not isinstance(op, Apply) or not _is_known(op, known):
            continue
        if op.callee in _SIZES and not isinstance(op.result.type, Array):
            known.add(op.result)
        elif op.callee in _MEMORY and op.result in returned:
            found[op.result] = op
    return found


def _is_known(op: Apply, known: set[Value]) -> bool:
    """Whether the operands are had before the kernel runs, without a look at numbers in arrays."""
    if op.callee is operator.getitem and isinstance(atom_type(op.args[0]), Array):
        return False
    return all(isinstance(a, Literal) or a in known for a in operands(op))


def _needed(kernel: Function, lent: dict[Value, Apply]) -> tuple[Op, ...]:
    """What asks for memory, and what it needs for that."""
    wanted: set[Atom] = set(lent)
    found: list[Op] = []
    for op in reversed(kernel.body.ops):
        if isinstance(op, Apply) and op.result in wanted:
            found.append(op)
            wanted.update(operands(op))
    return tuple(reversed(found))


class _Origins:
    """Which memory a value is in, where it is surely one and the same."""

    def __init__(self, block: Block) -> None:
        self.made: dict[Value, Op] = {}
        self._note(block)

    def _note(self, block: Block) -> None:
        for op in block.ops:
            self.made.update((r, op) for r in results(op))
            for inner in blocks(op):
                self._note(inner)

    def of(self, atom: Atom) -> Value | None:
        """What the value was when it was made, or as what it came into its block."""
        if not isinstance(atom, Value):
            return None
        match op := self.made.get(atom):
            case Update(callee=operator.setitem, target=target):
                return self.of(target)
            case For(carried=carried, body=body):
                place = op.results.index(atom)
                param = body.params[len(body.params) - len(carried) + place]
                return self.of(carried[place]) if self.of(body.yields[place]) is param else None
            case If(then=then, orelse=orelse):
                place = op.results.index(atom)
                one, other = self.of(then.yields[place]), self.of(orelse.yields[place])
                return one if one is other else None
            case Apply() | None:
                return atom
        return None
