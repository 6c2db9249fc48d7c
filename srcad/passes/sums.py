"""Factors that are the same all along a sum go out of it.

    t = mul(p, c)                |    s = sum(p, axis=0)
    y = sum(t, axis=0)           |    y = mul(s, c)

    t = over(n, d)               |    u = times(q, n)
    u = times(q, t)              |    s = sum(u, axis=0)
    y = sum(u, axis=0)           |    y = over(s, d)

``c`` and ``d`` are numbers, or arrays that lack the axes which are summed along.  The adjoint of
what was broadcast is such a sum: the product with it is one of sums then, not of all elements.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from srcad import runtime
from srcad.ir import Accumulate, Apply, Atom, Block, Function, Literal, Op, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, dims_of, rank, same_shape
from srcad.ir.walk import map_blocks, read_counts

_SUMS = (np.sum, np.ndarray.sum)
_QUOTIENTS = (operator.truediv, runtime.over)
_PRODUCTS = (operator.mul, runtime.times)


def factors_out_of_sums(function: Function) -> Function:
    """The function with such sums of fewer operations; what they were of is dead then."""
    return replace(function, body=_block(function.body, read_counts(function.body)))


def _block(block: Block, reads: dict[Value, int]) -> Block:
    once: dict[Atom, Apply] = {}
    """What makes a value that is read once, and whose operands are what they were."""
    ops: list[Op] = []
    for op in block.ops:
        if isinstance(op, Apply):
            ops += _sum(op, once)
            if reads.get(op.result) == 1:
                once[op.result] = op
            continue
        if not isinstance(op, Accumulate):
            once.clear()  # arrays may be written
        ops.append(map_blocks(op, lambda b: _block(b, reads)))
    return Block(block.params, tuple(ops), block.yields)


def _sum(op: Apply, once: dict[Atom, Apply]) -> list[Op]:
    """A sum, and then the product with what went out of it."""
    inner = once.get(op.args[0]) if op.callee in _SUMS and len(op.args) == 1 else None
    summed = _axes(op)
    if inner is None or inner.keywords or summed is None or op.loc is None or not op.loc.reverse:
        return [op]
    for rest, steady, outer in _split(inner, once):
        if not _is_whole(rest, inner.result) or not _is_steady(steady, inner.result, summed):
            continue
        before = [o for o in (rest,) if isinstance(o, Apply)]
        array = rest.result if isinstance(rest, Apply) else rest
        total = Value("", op.result.type)
        args = (total, steady)
        return [
            *before,
            replace(op, args=(array,), result=total),
            Apply(outer.callee, args, (), op.result, op.loc),
        ]
    return [op]


def _split(inner: Apply, once: dict[Atom, Apply]) -> Iterator[tuple[Atom | Apply, Atom, Apply]]:
    """What remains to be summed (perhaps to be computed), a factor or divisor, its operation."""
    if inner.callee in _QUOTIENTS:
        yield inner.args[0], inner.args[1], inner
    if inner.callee is operator.mul:
        for rest, steady in (inner.args, inner.args[::-1]):
            yield rest, steady, inner
    if inner.callee in _PRODUCTS:
        coefficient, part = inner.args
        quotient = once.get(part)
        if quotient is not None and quotient.callee in _QUOTIENTS:
            above, below = quotient.args
            product = replace(inner, args=(coefficient, above), result=Value("", inner.result.type))
            yield product, below, quotient


def _axes(op: Apply) -> int | None:
    """How many leading axes a sum goes along, and takes away; 0 if it goes along all."""
    given = dict(op.keywords)
    if not given:
        return 0
    axis = given.pop("axis", None)
    if given or not isinstance(axis, Literal):
        return None
    axes = axis.value if type(axis.value) is tuple else (axis.value,)
    return len(axes) if axes == tuple(range(len(axes))) else None


def _is_whole(rest: Atom | Apply, array: Value) -> bool:
    """Whether an array has the shape of a product, without the factor."""
    kind = rest.result.type if isinstance(rest, Apply) else atom_type(rest)
    if not isinstance(kind, Array) or kind.dtype != "float64" or kind != array.type:
        return False
    return bool(kind.dims) and same_shape(kind, array.type)


def _is_steady(factor: Atom, array: Value, summed: int) -> bool:
    """Whether a factor is the same along the axes of a sum."""
    kind = atom_type(factor)
    if isinstance(kind, Number):
        return kind.kind == "float"
    if not isinstance(kind, Array) or kind.dtype != "float64" or not summed:
        return False
    own, whole = rank(kind), len(dims_of(array.type) or ())
    return own is not None and 0 < own <= whole - summed
