"""Index an array at once, not row by row.

    row = getitem(a, i)          |
    x = getitem(row, j)          |    x = getitem(a, (i, j))
    a at [i] [j] = y             |    a[(i, j)] = y

The adjoint of an item is then added where it belongs, not to the zeros of a row of its own.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from srcad.ir import Apply, Atom, Block, Literal, Op, Update, Value
from srcad.ir.core import View, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, NumPyScalar, TupleType, Type, dims_of
from srcad.ir.walk import map_blocks


def without_rows(block: Block) -> Block:
    """The block with items of rows read and written as items of the array."""
    return _block(block, {})


def _block(block: Block, around: dict[Value, Apply]) -> Block:
    made = dict(around)
    ops: list[Op] = []
    for op in block.ops:
        match op:
            case Apply(callee=operator.getitem, args=(Value() as row, index), keywords=()):
                source = made.get(row)
                if source is not None and source.callee is operator.getitem:
                    at = _at_once(source.args, index, made, ops)
                    op = op if at is None else replace(op, args=(source.args[0], at))
                if _is_row(op.args):
                    made[op.result] = op
            case Apply(callee=callee) if callee is make_tuple:
                made[op.result] = op
            case Update(callee=operator.setitem, target=target, args=(index, value), path=path):
                if path and (at := _on_path(target, path, index, made, ops)) is not None:
                    op = replace(op, args=(at, value), path=())
        ops.append(map_blocks(op, lambda b: _block(b, made)))
    return Block(block.params, tuple(ops), block.yields)


def _is_row(args: tuple[Atom, ...]) -> bool:
    """Whether an item of an array is one of its rows: a view that an index goes on from."""
    array, index = args
    kind = atom_type(array)
    return isinstance(kind, Array) and len(dims_of(kind) or ()) > 1 and _is_integer(index)


def _on_path(
    target: Value, path: tuple[View, ...], index: Atom, made: dict[Value, Apply], ops: list[Op]
) -> Atom | None:
    """The index of an array by a path of one step, a row, and an index into that."""
    (step,) = path if len(path) == 1 else (None,)
    if step is None or step.callee is not operator.getitem or step.keywords:
        return None
    args = (target, *step.args)
    return _at_once(args, index, made, ops) if _is_row(args) else None


def _at_once(
    row: tuple[Atom, ...], index: Atom, made: dict[Value, Apply], ops: list[Op]
) -> Atom | None:
    """The index of an item of a row in the array; None if it takes more than integers to say."""
    array, first = row
    rest: tuple[Atom, ...] = (index,)
    if isinstance(index, Value) and index in made and made[index].callee is make_tuple:
        rest = made[index].args
    elif isinstance(index, Literal) and type(index.value) is tuple:
        rest = tuple(map(Literal, index.value))
    if 1 + len(rest) > len(dims_of(atom_type(array)) or ()) or not all(map(_is_integer, rest)):
        return None
    parts = (first, *rest)
    known = [a.value for a in parts if isinstance(a, Literal)]
    if len(known) == len(parts):
        return Literal(tuple(known))
    kinds: tuple[Type, ...] = tuple(map(atom_type, parts))
    whole = Value("", TupleType(kinds))
    ops.append(Apply(make_tuple, parts, (), whole, None))
    return whole


def _is_integer(atom: Atom) -> bool:
    if isinstance(atom, Literal):
        return type(atom.value) is int
    match atom.type:
        case Number(kind=kind):
            return kind == "int"
        case NumPyScalar(dtype=dtype):
            return dtype.startswith(("int", "uint"))
    return False
