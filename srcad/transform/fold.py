"""Fold what control flow and types make known.

    t = if c: yield True else: yield False     |    t is c
    u = if c: yield x else: yield x            |    u is x
    v: f8[n] = asarray(x: f8[n])               |    v is x

An ``if`` left without results and operations goes away with dead code.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from srcad.ir import Apply, Atom, Block, Function, If, Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, Array
from srcad.ir.walk import blocks, map_atoms


def fold_control(function: Function) -> Function:
    """The function with results of branches replaced where both branches agree on them."""
    mapping: dict[Value, Atom] = {}
    _collect(function.body, mapping)
    if not mapping:
        return function
    for value, atom in mapping.items():
        while isinstance(atom, Value) and atom in mapping:
            atom = mapping[atom]
        mapping[value] = atom

    def read(atom: Atom) -> Atom:
        return mapping.get(atom, atom) if isinstance(atom, Value) else atom

    ops = tuple(map_atoms(op, read, lambda v: v) for op in function.body.ops)
    yields = tuple(map(read, function.body.yields))
    return replace(function, body=Block(function.body.params, ops, yields))


_CONVERSIONS = (np.asarray, np.asanyarray)


def _collect(block: Block, mapping: dict[Value, Atom]) -> None:
    for op in block.ops:
        for inner in blocks(op):
            _collect(inner, mapping)
        if isinstance(op, Apply) and op.callee in _CONVERSIONS and _is_conversion_to_same(op):
            mapping[op.result] = op.args[0]
        if isinstance(op, If):
            for k, result in enumerate(op.results):
                found = _agreed(op, op.then.yields[k], op.orelse.yields[k])
                if found is not None:
                    mapping[result] = found


def _is_conversion_to_same(op: Apply) -> bool:
    """Whether an array is asked to be the array that it is; NumPy hands it back then."""
    source = op.args[0] if len(op.args) == 1 else None
    if not isinstance(source, Value) or not isinstance(source.type, Array):
        return False
    for keyword, atom in op.keywords:
        value = atom.value if isinstance(atom, Literal) else op
        if value is None:
            continue
        if keyword != "dtype" or source.type.dtype is None or value is op:
            return False
        try:
            if np.dtype(value).name != source.type.dtype:
                return False
        except TypeError:
            return False
    return source.type == op.result.type


def _agreed(op: If, then: Atom, orelse: Atom) -> Atom | None:
    if then is orelse and isinstance(then, Value):
        return then
    if isinstance(then, Literal) and isinstance(orelse, Literal):
        if then.value is True and orelse.value is False and atom_type(op.test) == BOOL:
            return op.test
        if type(then.value) is type(orelse.value) and isinstance(
            then.value, (bool, int, str, type(None))
        ):
            return then if then.value == orelse.value else None
    return None
