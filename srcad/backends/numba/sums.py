"""Sums of the items of a list are loops: Numba knows no ``sum``.

y = sum(xs)          |    y = for x in xs with total = 0.0
                     |      total.2 = add(total, x)
                     |      yield total.2
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace

from srcad.backends.numba.writing import Writer
from srcad.ir import Apply, Atom, Block, For, Function, Items, Literal, Value
from srcad.ir.core import make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, ListType, Number, Type
from srcad.ir.walk import all_ops, map_blocks

_ZEROS = {"int": 0, "float": 0.0}


def write_out_sums(function: Function) -> Function:
    """The function with loops in place of sums of numbers."""
    made = {op.result: op for op in all_ops(function.body) if isinstance(op, Apply)}
    return replace(function, body=_block(function.body, made))


def _block(block: Block, made: dict[Value, Apply]) -> Block:
    writer = Writer()
    for op in block.ops:
        if not (isinstance(op, Apply) and op.callee is builtins.sum and _write(op, writer, made)):
            writer.ops.append(map_blocks(op, lambda b: _block(b, made)))
    return Block(block.params, tuple(writer.ops), block.yields)


def _write(op: Apply, writer: Writer, made: dict[Value, Apply]) -> bool:
    """Write a sum out; whether that can be done."""
    kind = op.result.type
    zero = _ZEROS.get(kind.kind) if isinstance(kind, Number) else None
    if zero is None or len(op.args) > 2 or op.keywords or not isinstance(op.args[0], Value):
        return False
    start = op.args[1] if len(op.args) == 2 else Literal(zero)
    if not isinstance(atom_type(start), Number):
        return False
    if isinstance(kind, Number) and kind.kind == "float" and isinstance(start, Literal):
        start = Literal(float(start.value))
    source = made.get(op.args[0])
    if source is not None and source.callee in (make_list, make_tuple) and source.args:
        if not all(isinstance(atom_type(a), Number) for a in source.args):
            return False
        total: Atom = start
        for atom in source.args[:-1]:
            total = writer.apply(operator.add, total, atom, kind=kind, loc=op.loc)
        writer.ops.append(Apply(operator.add, (total, source.args[-1]), (), op.result, op.loc))
        return True
    item = _item(op.args[0].type)
    if item is None or not isinstance(atom_type(start), Number) or atom_type(start) != kind:
        return False
    x, before, after = Value("item", item), Value("total", kind), Value("total", kind)
    add = Apply(operator.add, (before, x), (), after, op.loc)
    body = Block((x, before), (add,), (after,))
    writer.ops.append(For((Items(op.args[0]),), (start,), body, (op.result,), False, op.loc))
    return True


def _item(kind: Type) -> Number | None:
    """What a sequence of numbers has."""
    if isinstance(kind, ListType) and isinstance(kind.item, Number):
        return kind.item
    if isinstance(kind, Array) and kind.dims is not None and len(kind.dims) == 1:
        return {"float64": Number("float"), "int64": Number("int")}.get(kind.dtype or "")
    return None
