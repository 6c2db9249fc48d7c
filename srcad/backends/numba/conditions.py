"""Loops that end in the middle go on while a flag holds.

    … = while with x = x0 do          |  go = t(x0)
      yield t(x)                      |  … = while with x = x0, go = go do
    do with x … stops                 |    yield go
      …                               |  do with x, go …
      yield x.2, flag                 |    …
                                      |    go.2 = if flag: False else: t(x.2)
                                      |    yield x.2, go.2

Printed, the loop on the left is ``while True`` with a ``break``; this one has its end at its head,
and a test of any length.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad.backends.numba.writing import Writer
from srcad.ir import Apply, Atom, Block, Function, If, Literal, Op, Value, While
from srcad.ir.types import BOOL
from srcad.ir.walk import copy_block, map_blocks, operands


def loops_by_flags(function: Function) -> Function:
    """The function with no ``while`` that is left by ``break``."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    writer = Writer()
    for op in block.ops:
        match op:
            case While():
                inner = replace(op, test=_block(op.test), body=_block(op.body))
                if op.stops or not _is_expression(inner.test):
                    _by_flag(inner, writer)
                else:
                    writer.ops.append(inner)
            case _:
                writer.ops.append(map_blocks(op, _block))
    return Block(block.params, tuple(writer.ops), block.yields)


def _is_expression(test: Block) -> bool:
    """Whether a test is printed between ``while`` and the colon."""
    uses: dict[Value, int] = {}
    for op in test.ops:
        if not isinstance(op, Apply) or op.result.hint:
            return False
        for atom in operands(op):
            if isinstance(atom, Value):
                uses[atom] = uses.get(atom, 0) + 1
    for atom in test.yields:
        if isinstance(atom, Value):
            uses[atom] = uses.get(atom, 0) + 1
    return len(test.ops) <= 4 and all(uses.get(_made(op), 0) == 1 for op in test.ops)


def _made(op: Op) -> Value:
    assert isinstance(op, Apply)
    return op.result


def _by_flag(op: While, writer: Writer) -> None:
    first = _tested(op.test, op.carried, writer)
    count = len(op.test.params)
    following, flag = op.body.yields[:count], op.body.yields[count] if op.stops else None
    body = Writer()
    body.ops += op.body.ops
    go: Atom
    if flag is None:
        go = _tested(op.test, following, body)
    else:
        go = _unless(flag, op.test, following, body)
    tested = tuple(Value(p.hint, p.type) for p in op.test.params)
    asked, held, ended = (Value("go", BOOL) for _ in range(3))
    writer.ops.append(
        While(
            (*op.carried, first),
            Block((*tested, asked), (), (asked,)),
            Block((*op.body.params, held), tuple(body.ops), (*following, go)),
            (*op.results, ended),
            False,
            op.loc,
        )
    )


def _tested(test: Block, atoms: tuple[Atom, ...], writer: Writer) -> Atom:
    """The test of given values."""
    names = dict(zip(test.params, atoms, strict=True))
    made = copy_block(Block((), test.ops, test.yields), names)
    writer.ops += made.ops
    return made.yields[0]


def _unless(flag: Atom, test: Block, atoms: tuple[Atom, ...], writer: Writer) -> Atom:
    """The test, or False if the flag is set."""
    if isinstance(flag, Literal):
        return Literal(False) if flag.value else _tested(test, atoms, writer)
    inner = Writer()
    found = _tested(test, atoms, inner)
    if isinstance(found, Literal) and found.value is True and not inner.ops:
        return writer.apply(operator.not_, flag, kind=BOOL, hint="go")
    go = Value("go", BOOL)
    orelse = Block((), tuple(inner.ops), (found,))
    writer.ops.append(If(flag, Block((), (), (Literal(False),)), orelse, (go,), None))
    return go
