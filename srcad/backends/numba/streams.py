"""Loops over what Numba has no iterator for count instead.

for v in reversed(xs)          |    for k in range(len(xs) - 1, -1, -1)
                               |      v = getitem(xs, k)
for i, v in range(n), xs       |    for k in range(0, min(n, len(xs)), 1)
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace

from srcad.backends.numba.writing import MINUS_ONE, ONE, ZERO, Writer, is_int
from srcad.ir import (
    Apply,
    Atom,
    Block,
    For,
    Function,
    Items,
    Literal,
    Range,
    Stream,
    Value,
)
from srcad.ir.types import INT, Array
from srcad.ir.walk import map_blocks


def count_through_arrays(function: Function) -> Function:
    """The function with ranges for loops over arrays and constants: tapes know their length."""
    return replace(function, body=_block(function.body, _has_no_list))


def count_through_streams(function: Function) -> Function:
    """The function with each loop over one range, or over one sequence from its start."""
    return replace(function, body=_block(function.body, _is_not_plain))


Wanted = Callable[[For], bool]


def _has_no_list(op: For) -> bool:
    sequences = [s.sequence for s in op.streams if isinstance(s, Items)]
    known = all(isinstance(s, Literal) or isinstance(s.type, Array) for s in sequences)
    return known and (len(op.streams) > 1 or bool(sequences))


def _is_not_plain(op: For) -> bool:
    first = op.streams[0]
    return len(op.streams) > 1 or (
        isinstance(first, Items) and (first.backward or isinstance(first.sequence, Literal))
    )


def _block(block: Block, wanted: Wanted) -> Block:
    writer = Writer()
    for op in block.ops:
        if isinstance(op, For) and wanted(op):
            made = counted(op, writer)
            writer.ops.append(replace(made, body=_block(made.body, wanted)))
        else:
            writer.ops.append(map_blocks(op, lambda b: _block(b, wanted)))
    return Block(block.params, tuple(writer.ops), block.yields)


def counted(op: For, writer: Writer) -> For:
    """A loop as one over a range; what goes before it is written."""
    head = Writer()
    targets = op.targets
    if len(targets) == 1 and isinstance(stream := op.streams[0], Items):
        length = writer.count(stream)
        counter = Value("k", INT)
        if stream.backward:
            range_ = Range(writer.sub(length, ONE), MINUS_ONE, MINUS_ONE)
        else:
            range_ = Range(ZERO, length, ONE)
        head.ops.append(_item(stream.sequence, counter, targets[0]))
    else:
        lengths = [writer.count(s) for s in op.streams]
        length = lengths[0]
        for other in lengths[1:]:
            if other is not length:
                length = writer.apply(builtins.min, length, other, kind=INT)
        counter = Value("k", INT)
        for place, stream in enumerate(op.streams):
            if isinstance(stream, Range) and is_int(stream.start, 0) and is_int(stream.step, 1):
                counter = targets[place]
        range_ = Range(ZERO, length, ONE)
        for stream, size, target in zip(op.streams, lengths, targets, strict=True):
            if target is not counter:
                _read(stream, size, counter, target, head)
    params = (counter, *op.carried_params)
    body = Block(params, (*head.ops, *op.body.ops), op.body.yields)
    return replace(op, streams=(range_,), body=body)


def _read(stream: Stream, length: Atom, counter: Value, target: Value, writer: Writer) -> None:
    match stream:
        case Range(start=start, step=step):
            steps = counter if is_int(step, 1) else writer.mul(counter, step)
            if is_int(start, 0):
                writer.ops.append(Apply(operator.pos, (steps,), (), target, None))
            else:
                writer.ops.append(Apply(operator.add, (start, steps), (), target, None))
        case Items(sequence=sequence, backward=True):
            last = writer.sub(length, ONE)
            writer.ops.append(_item(sequence, writer.sub(last, counter), target))
        case Items(sequence=sequence):
            writer.ops.append(_item(sequence, counter, target))


def _item(sequence: Atom, index: Atom, target: Value) -> Apply:
    return Apply(operator.getitem, (sequence, index), (), target, None)
