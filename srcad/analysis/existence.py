"""Existence: which values may be missing at run time.

A branch hands over nothing for what only the other one computes, what a loop body computes does not
exist before the first iteration, and a variable may be None.  Containers pass that on: what is kept
of an iteration is a tuple, and an item of it may be missing.  The shape of such a value can only be
asked at run time, of what is there.

    t = if c: yield a else: yield UNDEFINED     |    t may be missing,
    p = make_tuple(t, x)                        |    so may an item of p
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from srcad import runtime
from srcad.ir import (
    UNDEFINED,
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    If,
    Items,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import make_dict, make_list, make_tuple, select
from srcad.ir.infer import atom_type
from srcad.ir.types import (
    NONE,
    DictType,
    ListType,
    Optional,
    TupleType,
    Type,
    Unknown,
    is_differentiable,
)

Values = dict[Value, None]

_PASSING: frozenset[Any] = frozenset(
    {
        *(make_tuple, make_list, make_dict, select, operator.getitem, list, tuple, dict),
        *(dict.get, runtime.copied, runtime.own, runtime.zeros_like, runtime.shadow, runtime.add),
    }
)
"""Calls that also go through with what is missing, and hand it on."""


def missing_values(block: Block, params: Iterable[Value] = ()) -> Values:
    """The values of a block, and of the blocks in it, that may be missing or have missing items.

    ``params`` are the parameters of a function that stays one: what is packed into them is unknown.
    """
    missing: Values = {p: None for p in params if _packs(p.type)}
    _collect(block, missing)
    return missing


def _packs(kind: Type) -> bool:
    return isinstance(kind, (TupleType, ListType, DictType, Unknown))


def _any(atoms: Iterable[Atom], missing: Values) -> bool:
    return any(a is UNDEFINED or a in missing or _may_lack(atom_type(a)) for a in atoms)


def _may_lack(kind: Type) -> bool:
    """Whether a value of a type may be None, or an item of it."""
    match kind:
        case Optional():
            return True
        case ListType(item=item) | DictType(item=item):
            return _may_lack(item)
        case TupleType(items=items):
            return any(map(_may_lack, items))
    return False


def _lacks_zeros(op: Apply) -> bool:
    """Whether the zeros of a list of None are None, where numbers come later."""
    return op.callee in (runtime.zeros_like, runtime.shadow) and _lacks(
        atom_type(op.args[0]), op.result.type
    )


def _lacks(have: Type, kind: Type) -> bool:
    """Whether a value has None where values of a type have numbers."""
    if have == NONE:
        return is_differentiable(kind)
    if not isinstance(have, TupleType):
        return False
    if isinstance(kind, ListType):
        return any(_lacks(item, kind.item) for item in have.items)
    return isinstance(kind, TupleType) and any(map(_lacks, have.items, kind.items))


def _collect(block: Block, missing: Values) -> None:
    for op in block.ops:
        _visit(op, missing)


def _visit(op: Op, missing: Values) -> None:
    match op:
        case Apply():
            if op.callee in _PASSING and (_any(op.args, missing) or _lacks_zeros(op)):
                missing[op.result] = None
        case Effect():
            pass
        case Update():
            held = op.args if _packs(op.version.type) else ()  # an array holds numbers alone
            if _any((op.target, *held), missing):
                missing[op.version] = None
                if op.result is not None:
                    missing[op.result] = None
        case Accumulate():
            if _any((op.target,), missing):
                missing[op.version] = None
        case Call():
            missing.update((r, None) for r in op.results if _packs(r.type))
        case If():
            _branches((op.then, op.orelse), op.results, missing)
        case With():
            _branches((op.body,), op.results, missing)
        case Try():
            _branches((op.body, *(h.body for h in op.handlers)), op.results, missing)
        case For() | While():
            _loop(op, missing)


def _branches(inner: tuple[Block, ...], results: tuple[Value, ...], missing: Values) -> None:
    for block in inner:
        _collect(block, missing)
    for k, result in enumerate(results):
        if _any((b.yields[k] for b in inner if b.yields), missing):
            missing[result] = None


def _loop(op: For | While, missing: Values) -> None:
    if isinstance(op, For):
        for target, stream in zip(op.targets, op.streams, strict=True):
            if isinstance(stream, Items) and _any((stream.sequence,), missing):
                missing[target] = None
    params = op.carried_params
    pairs = [(p, (init,)) for p, init in zip(params, op.carried, strict=True)]
    ends = [(p, (end,)) for p, end in zip(params, op.body.yields, strict=False)]
    before = -1
    while len(missing) > before:
        before = len(missing)
        for param, atoms in (*pairs, *ends):
            if _any(atoms, missing):
                missing[param] = None
        _collect(op.body, missing)
    for param, result in zip(params, op.results, strict=True):
        if param in missing:
            missing[result] = None
    if isinstance(op, While):
        for param, inside in zip(params, op.test.params, strict=True):
            if param in missing:
                missing[inside] = None
