"""Adjoints of writes into lists and dicts: what a write does to the primal, its adjoint undoes.

``append`` is undone by ``pop``, ``pop`` by ``append``; a store takes the adjoint of the item and
leaves a zero.  The adjoint of a list changes length with it, so every read finds its item.
"""

from __future__ import annotations

import operator
from typing import Any

from srcad import runtime
from srcad.ir import Atom, Literal, Update, Value
from srcad.ir.build import Builder
from srcad.ir.infer import atom_type
from srcad.ir.types import INT, DictType, ListType, Number, is_differentiable
from srcad.transform import spaces
from srcad.transform.adjoints import Adjoints


def pull_update(op: Update, adjoints: Adjoints, overwritten: Value | None) -> None:
    """Move the adjoint of a container back over a write.

    ``overwritten`` is the item that a store replaced or a pop removed, where its shape matters.
    """
    state = adjoints.get(op.version)
    taken = None if op.result is None else adjoints.take(op.result)
    if state is None and taken is None:
        return
    b = adjoints.builder
    hint = spaces.value_hint(op.version, "_bar")
    bar = spaces.zeros(b, op.version, hint) if state is None else adjoints.atom(state, op.version)
    assert isinstance(bar, Value)
    item, before = _UNDO[op.callee](b, op, bar, taken, overwritten or op.result)
    if item is not None:
        value = op.args[-1]
        if isinstance(value, Value) and is_differentiable(value.type):
            adjoints.add(value, spaces.match_dtype(b, item, value.type))
    adjoints.add(op.target, before)


def _item_type(bar: Value) -> Any:
    kind = bar.type
    assert isinstance(kind, (ListType, DictType))
    return kind.item


def _append(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    item = Value("", _item_type(bar))
    return item, b.update(list.pop, bar, result=item)


def _insert(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    """A position counts from the end of the shorter list, or is beyond it, or before it."""
    item = Value("", _item_type(bar))
    index = op.args[0]
    if not (isinstance(index, Literal) and index.value == 0):
        before = b.apply(operator.sub, b.apply(len, bar), Literal(1))
        index = b.apply_typed(runtime.inserted_at, (index, before), INT)
    return item, b.update(list.pop, bar, index, result=item)


def _pop(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    item = taken if taken is not None else _zero_of(b, _item_type(bar), gone)
    if not op.args:
        return None, b.update(list.append, bar, item)
    index = op.args[0]
    if isinstance(index, Literal) and index.value < 0:
        # position -1 of the longer list is one before that of the shorter
        if index.value == -1:
            return None, b.update(list.append, bar, item)
        return None, b.update(list.insert, bar, Literal(index.value + 1), item)
    if not isinstance(index, Literal):  # it may count from the end
        before = b.apply(operator.add, b.apply(len, bar), Literal(1))
        index = b.apply(operator.mod, index, before)
    return None, b.update(list.insert, bar, index, item)


def _zero_of(b: Builder, kind: Any, gone: Value | None) -> Atom:
    if isinstance(kind, Number):
        return Literal(0.0)
    assert gone is not None
    return spaces.zeros(b, gone)


def _store(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    """``gone`` is the item that was overwritten: the zero left behind has its shape."""
    index = op.args[0]
    item = b.apply(operator.getitem, bar, index)
    zero: Atom = Literal(0.0) if gone is None else spaces.zeros(b, gone)
    return item, b.update(operator.setitem, bar, index, zero)


def _store_dict(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    """An entry that is missing in the adjoint is zero: the store takes it out."""
    index, value = op.args
    kind = _item_type(bar)
    item = Value("", kind)
    zero = spaces.zeros(b, value) if is_differentiable(atom_type(value)) else Literal(0.0)
    return item, b.update(dict.pop, bar, index, zero, result=item)


def dict_item(b: Builder, bar: Any, key: Atom, like: Atom) -> Atom:
    """The adjoint of one entry: zero where nothing has arrived."""
    kind = spaces.tangent_type(atom_type(like))
    if not is_differentiable(kind):
        kind = _item_type(bar)
        return b.apply_typed(dict.get, (bar, key, Literal(0.0)), kind)
    return b.apply_typed(dict.get, (bar, key, spaces.zeros(b, like)), kind)


def _set(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    if isinstance(op.target.type, DictType):
        return _store_dict(b, op, bar, taken, gone)
    return _store(b, op, bar, taken, gone)


def _pop_dict(
    b: Builder, op: Update, bar: Value, taken: Atom | None, gone: Value | None
) -> tuple[Atom | None, Value]:
    """What has arrived where there is no entry any more goes no further."""
    if taken is None:
        zero = _zero_of(b, _item_type(bar), gone)
        dropped = Value("", _item_type(bar))
        return None, b.update(dict.pop, bar, op.args[0], zero, result=dropped)
    return None, b.update(operator.setitem, bar, op.args[0], taken)


_UNDO: dict[Any, Any] = {
    list.append: _append,
    list.insert: _insert,
    list.pop: _pop,
    operator.setitem: _set,
    dict.pop: _pop_dict,
}
