"""Names without a value have one, which nobody looks at: Numba knows no None among numbers.

y, … = if t                     |    y, … = if t
  yield y.2, …                  |      yield y.2, …
else                            |    else
  yield UNDEFINED, …            |      yield 0.0, …
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.analysis.existence import missing_values
from srcad.backends.numba.stores import dtype_of_number
from srcad.backends.numba.writing import Writer
from srcad.ir import Apply, Atom, Block, For, Function, If, Literal, Op, Try, Value, While, With
from srcad.ir.core import Undefined
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, TupleType, Type
from srcad.ir.walk import map_blocks

_ZEROS = {"bool": False, "int": 0, "real": 0.0, "float": 0.0, "complex": 0j}


def define_all(function: Function) -> Function:
    """The function with zeros for what has no value.

    Copies of arrays that are surely there are plain ones from now on: of the others it cannot be
    seen any more that a loop over them would run too far.
    """
    missing = missing_values(function.body)

    def plain(op: Op) -> Op:
        match op:
            case Apply(callee=runtime.copied, args=(source,)) if source not in missing:
                is_array = isinstance(atom_type(source), Array)
                return replace(op, callee=np.ndarray.copy) if is_array else op
        return map_blocks(op, inner)

    def inner(block: Block) -> Block:
        return replace(block, ops=tuple(map(plain, block.ops)))

    return replace(function, body=_block(inner(function.body), ()))


def _block(block: Block, kinds: tuple[Type, ...]) -> Block:
    """The block; ``kinds`` are the types of what it hands on."""
    writer = Writer()
    for op in block.ops:
        writer.ops.append(_op(op, writer))
    yields = list(block.yields)
    for place, kind in enumerate(kinds):
        yields[place] = _defined(yields[place], kind, writer)
    return Block(block.params, tuple(writer.ops), tuple(yields))


def _op(op: Op, writer: Writer) -> Op:
    kinds = tuple(r.type for r in op.results) if isinstance(op, (If, For, While)) else ()
    match op:
        case If(then=then, orelse=orelse):
            return replace(op, then=_block(then, kinds), orelse=_block(orelse, kinds))
        case For(carried=carried, body=body):
            start = tuple(_defined(a, k, writer) for a, k in zip(carried, kinds, strict=True))
            return replace(op, carried=start, body=_block(body, kinds))
        case While(carried=carried, test=test, body=body):
            start = tuple(_defined(a, k, writer) for a, k in zip(carried, kinds, strict=True))
            return replace(op, carried=start, test=_block(test, ()), body=_block(body, kinds))
        case With(body=body):
            return replace(op, body=_block(body, ()))
        case Try(body=body, handlers=handlers, final=final):
            return replace(
                op,
                body=_block(body, ()),
                handlers=tuple(replace(h, body=_block(h.body, ())) for h in handlers),
                final=None if final is None else _block(final, ()),
            )
    return op


def _defined(atom: Atom, kind: Type, writer: Writer) -> Atom:
    if isinstance(atom, Value) or not isinstance(atom.value, Undefined):
        return atom
    zero = nothing_of(kind, writer)
    return atom if zero is None else zero


def nothing_of(kind: Type, writer: Writer) -> Atom | None:
    """A value of a type."""
    match kind:
        case Number(kind=name):
            return Literal(_ZEROS[name])
        case Array(dtype=str() as dtype, dims=tuple() as dims):
            sizes = tuple(d if isinstance(d, int) else 0 for d in dims)  # known ones are relied on
            return writer.apply(np.empty, Literal(sizes), Literal(np.dtype(dtype).type), kind=kind)
        case TupleType(items=items, cls=cls) if cls is tuple:
            from srcad.ir.core import make_tuple

            parts = [nothing_of(i, writer) for i in items]
            if all(p is not None for p in parts):
                return writer.apply(make_tuple, *(p for p in parts if p is not None), kind=kind)
    if dtype_of_number(kind) is not None:
        return Literal(dtype_of_number(kind)(0))
    return None
