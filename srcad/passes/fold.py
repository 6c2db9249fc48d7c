"""Fold what control flow and types make known.

    t = if c: yield True else: yield False     |    t is c
    u = if c: yield x else: yield x            |    u is x
    v: f8[n] = asarray(x: f8[n])               |    v is x
    for … carried y = 1.0: yield y             |    y is 1.0; also where it yields 1.0

The adjoint of a sum is the same in each iteration, and often 1: products with it are folded too.
An ``if`` left without results and operations goes away with dead code.
"""

from __future__ import annotations

import operator
from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Atom, Block, For, Function, If, Literal, Op, Value, While
from srcad.ir.core import same_literal
from srcad.ir.folding import fold_literals
from srcad.ir.infer import atom_type
from srcad.ir.types import BOOL, Array, Number
from srcad.ir.walk import all_ops, blocks, map_blocks, operands, rename_values, results


def fold_control(function: Function) -> Function:
    """The function with values replaced that are known to be another."""
    while True:
        made = _folded(function)
        if made is function:
            return made
        function = made


def _folded(function: Function) -> Function:
    found: dict[Value, Atom] = {}
    _collect(function.body, found, _choices(function.body))
    read_at_all = _read_values(function.body)
    mapping = {v: a for v, a in found.items() if v in read_at_all}
    if not mapping:
        return function
    for value, atom in mapping.items():
        while isinstance(atom, Value) and atom in mapping:
            atom = mapping[atom]
        mapping[value] = atom
    _rename(function, mapping, set(found))

    return replace(function, body=rename_values(function.body, mapping))


def _read_values(block: Block) -> set[Value]:
    found = {a for a in block.yields if isinstance(a, Value)}
    for op in block.ops:
        found.update(a for a in operands(op) if isinstance(a, Value))
        for inner in blocks(op):
            found |= _read_values(inner)
    return found


_CONVERSIONS = (np.asarray, np.asanyarray)


def _choices(block: Block) -> dict[Value, If]:
    """The results of all branches, with what makes them."""
    return {r: op for op in all_ops(block) if isinstance(op, If) for r in op.results}


def _collect(block: Block, mapping: dict[Value, Atom], choices: dict[Value, If]) -> None:
    for op in block.ops:
        for inner in blocks(op):
            _collect(inner, mapping, choices)
        if isinstance(op, Apply) and op.callee in _CONVERSIONS and _is_conversion_to_same(op):
            mapping[op.result] = op.args[0]
        elif isinstance(op, Apply) and op.callee is runtime.settled:
            mapping[op.result] = op.args[0]  # it was for the reverse of it, and is its argument
        elif isinstance(op, Apply) and (known := _known(op)) is not None:
            mapping[op.result] = known
        elif isinstance(op, (For, While)):
            _collect_steady(op, mapping, choices)
        if isinstance(op, If):
            for k, result in enumerate(op.results):
                found = _agreed(op, op.then.yields[k], op.orelse.yields[k])
                if found is not None:
                    mapping[result] = found


def _collect_steady(op: For | While, mapping: dict[Value, Atom], choices: dict[Value, If]) -> None:
    """What a loop carries and never changes, or sets to what it was before the loop."""

    def stays(end: Atom, param: Value, init: Atom) -> bool:
        pending, seen = [end], set()
        while pending:
            atom = pending.pop()
            if isinstance(atom, Value):
                atom = mapping.get(atom, atom)
            if atom is param or _is_same_number(atom, init) or atom in seen:
                continue
            choice = choices.get(atom) if isinstance(atom, Value) else None
            if choice is None:
                return False
            seen.add(atom)
            k = next(k for k, result in enumerate(choice.results) if result is atom)
            pending += choice.then.yields[k], choice.orelse.yields[k]
        return True

    for k, param in enumerate(op.carried_params):
        end, init = op.body.yields[k], op.carried[k]
        if isinstance(init, Literal) and not isinstance(init.value, (int, float)):
            continue
        if not stays(end, param, init):
            continue
        if isinstance(op, While):
            mapping[op.test.params[k]] = init
        mapping[param] = mapping[op.results[k]] = init


def _is_same_number(one: Atom, other: Atom) -> bool:
    if isinstance(one, Literal) and isinstance(other, Literal):
        return same_literal(one.value, other.value)
    return one is other and isinstance(one.type, Number)  # type: ignore[union-attr]  # no literal


def without_steady(block: Block) -> Block:
    """The block with the bodies of loops reading from outside what the loops never change.

    They still carry it, since what a loop ends with is known by its name.
    """
    loops = [op for op in all_ops(block) if isinstance(op, (For, While))]
    steady: dict[Value, Atom] = {}
    choices = _choices(block)
    while True:
        count = len(steady)
        for op in reversed(loops):
            _collect_steady(op, steady, choices)
        if len(steady) == count:
            break
    ends = {r for op in loops for r in op.results}
    known = {value: atom for value, atom in steady.items() if value not in ends}
    if not known:
        return block
    for value, atom in known.items():
        while isinstance(atom, Value) and atom in steady:
            atom = steady[atom]
        known[value] = atom
    return _carrying(rename_values(block, known), {op.results: op for op in loops}, steady)


def _carrying(
    block: Block, loops: dict[tuple[Value, ...], For | While], steady: Container[Value]
) -> Block:
    """The block with loops handing on what is steady as they did."""

    def carrying(op: Op) -> Op:
        op = map_blocks(op, lambda b: _carrying(b, loops, steady))
        if not isinstance(op, (For, While)) or not any(r in steady for r in op.results):
            return op
        before, count = loops[op.results], len(op.results)

        def chosen(old: tuple[Atom, ...], new: tuple[Atom, ...]) -> tuple[Atom, ...]:
            each = zip(op.results, old, new, strict=False)
            return (*(o if r in steady else n for r, o, n in each), *new[count:])

        body = replace(op.body, yields=chosen(before.body.yields, op.body.yields))
        return replace(op, carried=chosen(before.carried, op.carried), body=body)

    return Block(block.params, tuple(map(carrying, block.ops)), block.yields)


def _known(op: Apply) -> Atom | None:
    """What a product is, or whether a number is None."""
    if op.callee in (operator.is_, operator.is_not):
        return fold_literals(op.callee, op.args, op.keywords)
    return _product(op)


def _product(op: Apply) -> Atom | None:
    """A product in a reverse sweep that is one of its factors, or known."""
    if op.callee is not operator.mul or op.loc is None or not op.loc.reverse:
        return None
    known = fold_literals(op.callee, op.args, op.keywords)
    if known is not None:
        return known
    for one, other in (op.args, op.args[::-1]):
        if isinstance(one, Literal) and isinstance(one.value, float) and one.value == 1.0:
            same = isinstance(other, Value) and other.type == op.result.type
            return other if same and isinstance(op.result.type, Number) else None
    return None


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


def _rename(function: Function, mapping: dict[Value, Atom], gone: set[Value]) -> None:
    """Derivatives of a value that is another are called after that."""
    made = (r for op in all_ops(function.body) for r in results(op))
    values = [v for v in (*function.params, *made) if v not in gone]
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
