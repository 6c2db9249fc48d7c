"""Lists that grow or shrink by a number in each round of a loop keep their length instead.

    s = make_list()                     |  n = len(xs); z = make_list(0.0); s = mul(z, n)
    s.3 = for x in xs with s.1 = s      |  s.3 = for k in range(0, n, 1) with s.1 = s
        t = mul(x, x)                   |      x = getitem(xs, k); t = mul(x, x)
        s.2 = update append(s.1, t)     |      s.2 = update setitem(s.1, k, t)
    y = array(s.3)                      |  y = array(s.3)

    s.3 = for x in xs with s.1 = s      |  for k in range(0, n, 1)
        s.2, t = update pop(s.1)        |      t = getitem(s, len(s) - 1 - k)

Of a list that is turned around (``s.3[::-1]``) the last item is written first.
A list that keeps its length becomes an array (lists); to append and to pop are calls that no loop
is vectorised around.  What a reverse sweep reads back is left to the tapes.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np

from srcad import runtime
from srcad.backends.classes import Places
from srcad.backends.numba.streams import counted
from srcad.backends.numba.writing import ONE, Writer, is_int
from srcad.ir import (
    Apply,
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Items,
    Literal,
    Op,
    Range,
    Update,
    Value,
)
from srcad.ir.core import make_list, raise_error
from srcad.ir.types import BOOL, INT, ListType, Number
from srcad.ir.walk import map_blocks

_ZEROS = {"int": Literal(0), "float": Literal(0.0), "complex": Literal(0j)}
_READERS = (np.array, operator.getitem, len)
"""What may be asked of a list in the end."""


def of_fixed_length(function: Function) -> Function:
    """The function with such lists made as long as they will be."""
    places = Places(function)
    return replace(function, body=_block(function.body, places))


@dataclass(frozen=True, slots=True)
class _Changing:
    """A list that a loop appends to, or pops from."""

    place: int
    """Which of the carried values it is."""
    update: Update
    made: Apply | None
    """What makes the list that is appended to; None if items are popped."""
    turned: Apply | None = None
    """What turns the list around in the end, if that is all that is done with it."""


def _block(block: Block, places: Places) -> Block:
    writer = Writer()
    gone: set[Op] = set()
    for op in block.ops:
        found = _changing(op, block, places) if isinstance(op, For) and _is_simple(op) else []
        if found:
            assert isinstance(op, For)
            gone |= {o for f in found for o in (f.made, f.turned) if o is not None}
            _write(op, found, writer, places)
        else:
            writer.ops.append(map_blocks(op, lambda b: _block(b, places)))
    ops = tuple(op for op in writer.ops if op not in gone)
    return Block(block.params, ops, block.yields)


def _changing(op: For, block: Block, places: Places) -> list[_Changing]:
    found = []
    for place, start in enumerate(op.carried):
        result = op.results[place]
        update = _update(op, place, places) if _zero(result) is not None else None
        if update is None or not isinstance(start, Value) or op.carried.count(start) != 1:
            continue
        if update.callee is list.pop:
            if not update.args and update.result is not None and not _is_used(result, places):
                found.append(_Changing(place, update, None))
        elif update.callee is list.append:
            made = places.made.get(start)
            if (
                isinstance(made, Apply)
                and made.callee is make_list
                and not made.args
                and places.block_of[made] is block
                and places.users[start] == [op]
                and start not in places.yielded
                and update.result is None
            ):
                turned = _turned(result, block, places)
                if turned is not None or _is_only_read(result, places):
                    found.append(_Changing(place, update, made, turned))
    return found


def _update(op: For, place: int, places: Places) -> Update | None:
    """What changes a list, if each round does it once, and nothing else with the list."""
    body = op.body
    param, end = op.carried_params[place], body.yields[place]
    users = places.users.get(param, [])
    update = users[0] if len(users) == 1 else None
    if not isinstance(update, Update) or update.target is not param or update.version is not end:
        return None
    if places.block_of[update] is not body or body.yields.count(end) != 1:
        return None
    return update if param not in places.yielded and end not in places.users else None


def _zero(listed: Value) -> Literal | None:
    kind = listed.type
    item = kind.item if isinstance(kind, ListType) else None
    return _ZEROS.get(item.kind) if isinstance(item, Number) else None


def _is_used(listed: Value, places: Places) -> bool:
    return bool(places.users.get(listed)) or listed in places.yielded


def _turned(listed: Value, block: Block, places: Places) -> Apply | None:
    users = places.users.get(listed, [])
    op = users[0] if len(users) == 1 and listed not in places.yielded else None
    if not isinstance(op, Apply) or op.callee is not operator.getitem or op.args[0] is not listed:
        return None
    index = op.args[1].value if isinstance(op.args[1], Literal) else None
    is_turned = isinstance(index, slice) and index == slice(None, None, -1)
    return op if is_turned and places.block_of[op] is block else None


def _is_only_read(listed: Value, places: Places) -> bool:
    users = places.users.get(listed, [])
    return all(isinstance(u, Apply) and u.callee in _READERS for u in users)


def _write(op: For, found: list[_Changing], writer: Writer, places: Places) -> None:
    (stream,) = op.streams
    length = writer.count(stream)
    if isinstance(stream, Items):
        op = counted(op, writer)
    head = Writer()
    carried, results = list(op.carried), list(op.results)
    items: dict[Op, Writer] = {}
    for each in found:
        update, start = each.update, op.carried[each.place]
        item = items[update] = Writer()
        if each.made is None:
            size = writer.apply(len, start, kind=INT)
            _check(size, length, writer, op)
            last = item.sub(writer.sub(size, ONE), _position(op, head))
            assert update.result is not None
            item.ops.append(Apply(operator.getitem, (start, last), (), update.result, update.loc))
        else:
            carried[each.place] = _zeros(op.results[each.place], each.made, length, writer)
            written = (_position(op, head, each.turned is not None), *update.args)
            if each.turned is not None:
                results[each.place] = each.turned.result
            item.ops.append(replace(update, callee=operator.setitem, args=written))
    inner = _block(op.body, places)
    ops = list(head.ops)
    for inner_op in inner.ops:
        ops += items[inner_op].ops if inner_op in items else [inner_op]
    popped = {f.place for f in found if f.made is None}
    keep = [k for k in range(len(carried)) if k not in popped]
    params = (inner.params[0], *(inner.params[1 + k] for k in keep))
    body = Block(params, tuple(ops), tuple(inner.yields[k] for k in keep))
    kept, made = tuple(carried[k] for k in keep), tuple(results[k] for k in keep)
    writer.ops.append(replace(op, carried=kept, body=body, results=made))


def _position(op: For, writer: Writer, from_end: bool = False) -> Atom:
    """How many rounds of a loop over a range have been, or are to come."""
    (stream,) = op.streams
    assert isinstance(stream, Range)
    counter = op.body.params[0]
    if is_int(stream.step, 1):
        if from_end:
            return writer.sub(writer.sub(stream.stop, ONE), counter)
        return writer.sub(counter, stream.start)
    if from_end:
        return writer.sub(counter, writer.add(stream.stop, ONE))
    return writer.sub(stream.start, counter)


def _is_simple(op: For) -> bool:
    """Whether it is known which round a loop is in."""
    if op.stops or len(op.streams) != 1:
        return False
    (stream,) = op.streams
    if isinstance(stream, Items):
        return not stream.backward
    return is_int(stream.step, 1) or is_int(stream.step, -1)


def _zeros(listed: Value, made: Apply, length: Atom, writer: Writer) -> Atom:
    zero = _zero(listed)
    assert zero is not None
    one = writer.apply(make_list, zero, kind=listed.type)
    hint = made.result.hint
    return writer.apply(operator.mul, one, length, kind=listed.type, hint=hint, loc=made.loc)


def _check(size: Atom, length: Atom, writer: Writer, op: For) -> None:
    """Raise if there are less items than rounds."""
    short = writer.apply(operator.gt, length, size, kind=BOOL)
    raising: Op = Effect(raise_error, (Literal(runtime.Unforeseen),), (), None, op.loc)
    then, orelse = Block((), (raising,), ()), Block((), (), ())
    writer.ops.append(If(short, then, orelse, (), op.loc))
