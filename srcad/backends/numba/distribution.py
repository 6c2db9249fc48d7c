"""A loop around another one, and other writes, is a loop for each: then the two can change places.

    for j in range(m)                     |  for j in range(m)
      c[i, j] = 0.0                       |    c[i, j] = 0.0
      for k in range(n)                   |  for j in range(m)
        c[i, j] = c[i, j] + a[i, k] * …   |    for k in range(n)
                                          |      c[i, j] = c[i, j] + a[i, k] * …

Each iteration has to have what it writes to itself: all indices of an array that is written in two
of the parts have the counter in one place (Allen and Kennedy, section 2.5).  Numbers that are made
before the inner loop and read in it or after it are made again there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace

from srcad.backends.numba.chains import makes_memory, parts_of
from srcad.ir import Apply, Atom, Block, For, Op, Range, Update, Value
from srcad.ir.sharing import SHAPE
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, map_atoms, renaming, values_read

Shared = Callable[[Value, list[Value]], bool]


def distributed(
    loop: For, made: dict[Value, Apply], shared: Shared
) -> tuple[list[For], dict[Value, Value]] | None:
    """The loops that a loop is taken apart into, and what values in them were in that loop.

    ``shared`` is whether an array may share memory with one of others.
    """
    places = [k for k, op in enumerate(loop.body.ops) if isinstance(op, For)]
    if len(places) != 1 or len(loop.streams) != 1 or loop.stops:
        return None
    (place,) = places
    ops = loop.body.ops
    inner = ops[place]
    assert isinstance(inner, For)
    parts = [ops[:place], (inner,), ops[place + 1 :]]
    if not isinstance(loop.streams[0], Range) or not any(
        isinstance(op, Update) for part in (parts[0], parts[2]) for op in part
    ):
        return None
    if not all(isinstance(op, Apply | Update | For) for op in ops) or any(map(makes_memory, ops)):
        return None
    versions = _versions(loop, parts)
    if versions is None or not _is_legal(loop, parts, made, shared):
        return None
    origins: dict[Value, Value] = {}
    return list(_loops(loop, parts, versions, origins)), origins


def _versions(loop: For, parts: list[tuple[Op, ...]]) -> list[list[Value]] | None:
    """For each array that is carried: what it is before each part and after the last."""
    found = []
    for param, end in zip(loop.carried_params, loop.body.yields, strict=True):
        if not isinstance(param.type, Array):
            return None
        chain = [param]
        for part in parts:
            value = chain[-1]
            for op in part:
                match op:
                    case Update(target=target, version=version) if target is value:
                        value = version
                    case For(carried=carried, results=results) if value in carried:
                        value = results[carried.index(value)]
            chain.append(value)
        if chain[-1] is not end:
            return None
        found.append(chain)
    return found


def _is_legal(
    loop: For, parts: list[tuple[Op, ...]], made: dict[Value, Apply], shared: Shared
) -> bool:
    """Whether no iteration reads or writes what another one does in another part."""
    counter = loop.targets[0]
    accesses = [list(_accesses(part)) for part in parts]
    if any(index is None for part in accesses for _, index, _ in part):
        return False
    for number, part in enumerate(accesses):
        for array, _, writes in part:
            if not writes:
                continue
            alike = [[a for a in other if shared(array, [a[0]])] for other in accesses]
            if all(not found or k == number for k, found in enumerate(alike)):
                continue
            indices = [parts_of(i, made) for found in alike for _, i, _ in found if i is not None]
            if not any(
                all(len(index) > axis and index[axis] is counter for index in indices)
                for axis in range(len(indices[0]))
            ):
                return False
    # what is read before the inner loop, and again later, must be what it was
    written = [[a for a, _, writes in part if writes] for part in accesses]
    again: set[Value] = set()
    for number in (1, 2):
        for op in parts[number]:
            again.update(values_read(op))
        for op in reversed(parts[0]):
            if isinstance(op, Apply) and op.result in again:
                again.update(values_read(op))
                changed = written[0] if number == 1 else [*written[0], *written[1]]
                read = (v for v in values_read(op) if isinstance(v.type, Array))
                if op.callee is operator.getitem and any(shared(v, changed) for v in read):
                    return False
    return True


def _accesses(ops: tuple[Op, ...]) -> Iterator[tuple[Value, Atom | None, bool]]:
    """The arrays that are read and written, at which index; None if that is not one of an item."""
    for op in all_ops(Block((), ops, ())):
        match op:
            case Apply(callee=operator.getitem, args=(Value(type=Array()) as array, index)):
                yield array, index, False
            case Update(callee=operator.setitem, target=target, args=(index, _), path=()):
                yield target, index, True
            case Apply(callee=callee) if callee not in SHAPE:
                for value in values_read(op):
                    if isinstance(value.type, Array):
                        yield value, None, False
            case Apply():
                pass
            case For():
                pass
            case _:
                for value in values_read(op):
                    yield value, None, True


def _loops(
    loop: For,
    parts: list[tuple[Op, ...]],
    versions: list[list[Value]],
    origins: dict[Value, Value],
) -> Iterator[For]:
    now = list(loop.carried)
    again = tuple(op for op in parts[0] if isinstance(op, Apply))
    for number, part in enumerate(parts):
        slots = [k for k, chain in enumerate(versions) if chain[number] is not chain[number + 1]]
        if not slots:
            continue
        names: dict[Value, Atom] = {}
        for k, chain in enumerate(versions):
            names[chain[number]] = now[k]
        params = [Value(versions[k][number].hint, versions[k][number].type) for k in slots]
        names.update({versions[k][number]: p for k, p in zip(slots, params, strict=True)})
        counter = Value(loop.targets[0].hint, loop.targets[0].type)
        names[loop.targets[0]] = counter
        ops = _needed(part if number == 0 else (*again, *part))
        yields = tuple(versions[k][number + 1] for k in slots)
        read = renaming(names)

        def define(value: Value, names: dict[Value, Atom] = names) -> Value:
            fresh = Value(value.hint, value.type, masked=value.masked)
            names[value] = fresh
            return fresh

        made = tuple(map_atoms(op, read, define) for op in ops)
        body = Block((counter, *params), made, tuple(map(read, yields)))
        origins.update((new, old) for old, new in names.items() if isinstance(new, Value))
        last = [all(c is versions[k][-1] for c in versions[k][number + 1 :]) for k in slots]
        ends = tuple(
            loop.results[k] if is_last else Value(loop.results[k].hint, loop.results[k].type)
            for k, is_last in zip(slots, last, strict=True)
        )
        origins.update((end, loop.results[k]) for k, end in zip(slots, ends, strict=True))
        yield replace(
            loop,
            carried=tuple(now[k] for k in slots),
            body=body,
            results=ends,
        )
        for k, end in zip(slots, ends, strict=True):
            now[k] = end


def _needed(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """The writes, and what they are made of."""
    needed: set[Value] = set()
    found: list[Op] = []
    for op in reversed(ops):
        if not isinstance(op, Apply) or op.result in needed:
            needed.update(values_read(op))
            found.append(op)
    return tuple(reversed(found))
