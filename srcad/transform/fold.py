"""Fold what control flow and types make known.

    t = if c: yield True else: yield False     |    t is c
    u = if c: yield x else: yield x            |    u is x
    v: f8[n] = asarray(x: f8[n])               |    v is x

An ``if`` left without results and operations goes away with dead code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from srcad.ir import Apply, Atom, Block, Function, If, Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, Array
from srcad.ir.walk import all_ops, blocks, map_atoms, results


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
    _rename(function, mapping)

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
        if not isinstance(atom, Literal) or (keyword != "dtype" and atom.value is not None):
            return False
        if atom.value is not None and not _is_dtype(atom.value, source.type.dtype):
            return False
    return source.type == op.result.type


def _is_dtype(value: Any, name: str | None) -> bool:
    try:
        return bool(np.dtype(value).name == name)
    except TypeError:
        return False


def _rename(function: Function, mapping: dict[Value, Atom]) -> None:
    """Derivatives of a value that is another are called after that."""
    made = (r for op in all_ops(function.body) for r in results(op))
    values = [v for v in (*function.params, *made) if v not in mapping]
    taken = {v.hint for v in values}
    for old, new in mapping.items():
        if not isinstance(new, Value) or not new.hint or not old.hint or old.hint in taken:
            continue
        for value in values:
            if value.hint.startswith((f"{old.hint}_bar", f"{old.hint}_dot")):
                value.hint = new.hint + value.hint.removeprefix(old.hint)


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
