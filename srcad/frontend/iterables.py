"""Python's functions of iterables: ``range``, ``zip``, ``sum``, ``any``, those of ``itertools``."""

from __future__ import annotations

import functools
import itertools
import operator
from functools import partial
from typing import Any

from srcad.frontend import calls, comprehensions, containers, expressions, orderings, statements
from srcad.frontend.abstract import (
    FALSE,
    NONE,
    Abstract,
    Cursor,
    DictRef,
    Entries,
    Enumerate,
    Held,
    Items,
    IteratorRef,
    ListRef,
    RangeRef,
    Reversed,
    SetRef,
    Static,
    TupleRef,
    Zip,
    is_static,
)
from srcad.frontend.control import choose
from srcad.frontend.fence import refusal
from srcad.frontend.lowering import Handler, Lowering
from srcad.frontend.merge import as_dynamic
from srcad.ir import Literal, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, ListType, Number, is_differentiable

Arguments = list[Abstract]
Keywords = dict[str, Abstract]


def _range(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    atoms = [low.atom(a) for a in args]
    zero, one = Literal(0), Literal(1)
    match atoms:
        case [stop]:
            return RangeRef(zero, stop, one)
        case [start, stop]:
            return RangeRef(start, stop, one)
    return RangeRef(atoms[0], atoms[1], atoms[2])


def _zip(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    strict = keywords.get("strict", FALSE)
    if expressions.truth(low, strict) is not False and args:
        counts = [containers.length(low, a) for a in args]
        for count in counts[1:]:
            same = expressions.binary_compare(low, operator.eq, counts[0], count)
            error = ValueError("zip() arguments have different lengths")
            statements.require(low, expressions.truth(low, same), error)
    return Zip(tuple(args))


def _enumerate(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    return Enumerate(args[0], start)


def _reversed(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return Reversed(args[0])


def _list(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return containers.to_list(low, args[0]) if args else low.new_list(Items(()))


def _tuple(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    if not args:
        return TupleRef(())
    items = containers.items_of(low, args[0])
    if items is not None:
        return TupleRef(items)
    # a tuple of run-time length is read like a list that nothing can change
    listed = containers.to_list(low, args[0])
    atom = low.peek(listed)
    return low.builder.apply_typed(tuple, (atom,), as_dynamic(atom_type(atom)))


def _dict(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    ref = low.new_dict(Entries((), ()))
    if args:
        if isinstance(args[0], DictRef):
            copied = containers.call_method(low, args[0], "copy", [], {})
            assert isinstance(copied, DictRef)
            ref = copied
        else:
            rows = containers.items_of(low, args[0])
            if rows is None:
                low.refuse(*refusal("changing keys"))
            for row in rows:
                key, value = containers.unpack(low, row, 2)
                containers.set_item(low, ref, key, value)
    for name, value in keywords.items():
        containers.set_item(low, ref, Static(name), value)
    return ref


def _sum(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
    if items is not None and not (isinstance(args[0], RangeRef) and len(items) > 8):
        total = start
        for item in items:
            if (
                is_static(total, equal=0)
                and isinstance(item, Value)
                and is_differentiable(item.type)
            ):
                total = item
            else:
                total = expressions.binary(low, operator.add, total, item)
        return total
    if isinstance(args[0], (Zip, Enumerate, Reversed, IteratorRef)):
        return _reduce_list(low, args[0], start)
    if isinstance(args[0], ListRef) and isinstance(c := low.contents(args[0]), Held):
        kind = c.value.type
        if isinstance(kind, ListType) and isinstance(kind.item, Number):
            return NotImplemented
        return _reduce_list(low, args[0], start)
    if isinstance(args[0], Value) and isinstance(args[0].type, Array):
        return _reduce_list(low, args[0], start)
    return NotImplemented


def _reduce_list(low: Lowering, iterable: Abstract, start: Abstract) -> Abstract:
    """``sum`` of a run-time list of arrays: a loop."""

    def add(total: Abstract, item: Abstract) -> Abstract:
        return expressions.binary(low, operator.add, total, item)

    return comprehensions.fold(low, iterable, start, add)


def _any_all(wanted: bool) -> Handler:
    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        items = None if isinstance(args[0], Value) else containers.items_of(low, args[0])
        if items is None:
            return NotImplemented
        result: Abstract = Static(not wanted)
        for item in reversed(items):
            known = expressions.truth(low, item)
            if isinstance(known, bool):
                result = Static(wanted) if known == wanted else result
            elif wanted:
                result = choose(low, known, lambda: Static(True), functools.partial(_same, result))
            else:
                result = choose(low, known, functools.partial(_same, result), lambda: Static(False))
        return result

    return handler


def _same(value: Abstract) -> Abstract:
    return value


def _map(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return comprehensions.map_list(low, args[0], args[1:])


def _filter(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return comprehensions.filter_list(low, args[0], args[1])


def _iter(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    if isinstance(args[0], IteratorRef):
        return args[0]
    if len(args) > 1:
        low.refuse("iter() of a function is not supported", "write a while loop")
    return low.new_iterator(args[0])


def _next(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    source, position = args[0], 0
    if isinstance(source, IteratorRef):
        cursor = low.cursor(source)
        position, iterable = cursor.position, cursor.source
        low.set_contents(source, Cursor(iterable, position + 1))
    else:
        iterable = source  # a generator expression: it was made for this call
    if isinstance(iterable, (Zip, Enumerate, Reversed)):
        iterable = containers.to_list(low, iterable)
    if isinstance(iterable, (DictRef, SetRef)):
        iterable = TupleRef(tuple(containers.unpack(low, iterable)))
    read = partial(containers.get_item, low, iterable, Static(position))
    count = containers.length(low, iterable)
    if isinstance(count, Static):
        if position < count.value:
            return read()
        if len(args) > 1:
            return args[1]
        low.raise_known(StopIteration())
    if len(args) == 1:
        return read()
    more = expressions.binary_compare(low, operator.gt, count, Static(position))
    return choose(low, low.atom(more), read, lambda: args[1])


def _reduce(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    step, rest = args[0], args[1]
    items = containers.items_of(low, rest)
    if items is not None:
        values = [*args[2:], *items]
        if not values:
            low.raise_known(TypeError("reduce() of empty iterable with no initial value"))
        total = values[0]
        for item in values[1:]:
            total = calls.call(low, step, [total, item], {})
        return total
    listed = rest if isinstance(rest, (ListRef, Value)) else containers.to_list(low, rest)
    if len(args) > 2:
        return _folded(low, step, args[2], listed)
    first = containers.get_item(low, listed, Static(0))
    return _folded(low, step, first, containers.get_item(low, listed, Static(slice(1, None))))


def _folded(low: Lowering, step: Abstract, start: Abstract, rest: Abstract) -> Abstract:
    def add(total: Abstract, item: Abstract) -> Abstract:
        return calls.call(low, step, [total, item], {})

    return comprehensions.fold(low, rest, start, add)


def _accumulate(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``itertools.accumulate``: the list of all partial results."""
    step = args[1] if len(args) > 1 else keywords.get("func", Static(operator.add))
    if isinstance(step, Static) and step.value is None:
        step = Static(operator.add)
    result = low.new_list(Items(()))

    def add(total: Abstract, item: Abstract) -> Abstract:
        made = calls.call(low, step, [total, item], {})
        containers.call_method(low, result, "append", [made], {})
        return made

    start, rest = keywords.get("initial", NONE), args[0]
    if isinstance(start, Static) and start.value is None:
        listed = rest if isinstance(rest, (ListRef, Value)) else containers.to_list(low, rest)
        count = containers.length(low, listed)
        if isinstance(count, Static) and count.value == 0:
            return result
        start = containers.get_item(low, listed, Static(0))
        rest = containers.get_item(low, listed, Static(slice(1, None)))
    containers.call_method(low, result, "append", [start], {})
    comprehensions.fold(low, rest, start, add, (("place", result.place, ""),))
    return result


def _chain(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    parts = [containers.items_of(low, a) for a in args]
    if all(p is not None for p in parts):
        return TupleRef(tuple(i for p in parts if p is not None for i in p))
    joined: Abstract = low.new_list(Items(()))
    for arg in args:
        joined = expressions.binary(low, operator.add, joined, containers.to_list(low, arg))
    return joined


def _from_iterable(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return _chain(low, containers.unpack(low, args[0]), keywords)


def _product(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    repeat = keywords.get("repeat", Static(1))
    if not isinstance(repeat, Static):
        low.refuse("the number of factors of itertools.product depends on data", "nest the loops")
    args = args * repeat.value
    parts = [containers.items_of(low, a) for a in args]
    if all(p is not None for p in parts):
        known = [p for p in parts if p is not None]
        return TupleRef(tuple(TupleRef(row) for row in itertools.product(*known)))
    lists = [containers.to_list(low, a) for a in args]
    columns = [low.new_list(Items(())) for _ in args]

    def level(row: tuple[Abstract, ...]) -> None:
        if len(row) == len(lists):
            for column, item in zip(columns, row, strict=True):
                containers.call_method(low, column, "append", [item], {})
            return
        comprehensions.each(
            low, lists[len(row)], lambda item: level((*row, item)), _places(columns)
        )

    level(())
    return Zip(tuple(columns))


def _places(lists: list[ListRef]) -> set[Any]:
    return {("place", ref.place, "") for ref in lists}


def _combinations(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    size = args[1] if len(args) > 1 else keywords["r"]
    if not isinstance(size, Static):
        low.refuse("the size of itertools.combinations depends on data", "nest the loops")
    items = containers.items_of(low, args[0])
    if items is not None:
        return TupleRef(tuple(map(TupleRef, itertools.combinations(items, size.value))))
    listed = containers.to_list(low, args[0])
    columns = [low.new_list(Items(())) for _ in range(size.value)]
    count = low.atom(containers.length(low, listed))

    def level(row: tuple[Abstract, ...], first: Abstract) -> None:
        if len(row) == size.value:
            for column, item in zip(columns, row, strict=True):
                containers.call_method(low, column, "append", [item], {})
            return

        def at(index: Abstract) -> None:
            after = expressions.binary(low, operator.add, index, Static(1))
            level((*row, containers.get_item(low, listed, index)), after)

        comprehensions.each(low, RangeRef(low.atom(first), count, Literal(1)), at, _places(columns))

    level((), Static(0))
    return Zip(tuple(columns))


def _pairwise(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    listed = containers.to_list(low, args[0])
    return Zip((listed, containers.get_item(low, listed, Static(slice(1, None)))))


def _set(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return low.new_set(containers.unpack(low, args[0]) if args else [])


def _unsupported(name: str) -> Handler:
    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        low.refuse(f"{name} of run-time data is not supported", "write the loop")

    return handler


ITERABLES: dict[Any, Handler] = {
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set,
    sum: _sum,
    max: orderings.extreme(max),
    min: orderings.extreme(min),
    any: _any_all(True),
    all: _any_all(False),
    sorted: orderings.sort_call,
    map: _map,
    filter: _filter,
    iter: _iter,
    next: _next,
    functools.reduce: _reduce,
    itertools.accumulate: _accumulate,
    itertools.chain: _chain,
    itertools.chain.from_iterable: _from_iterable,
    itertools.product: _product,
    itertools.combinations: _combinations,
    itertools.pairwise: _pairwise,
    **{
        getattr(itertools, n): _unsupported(f"itertools.{n}")
        for n in ("permutations", "starmap", "takewhile", "dropwhile", "groupby", "islice", "cycle",
                  "repeat", "count", "compress", "zip_longest", "filterfalse", "tee",
                  "combinations_with_replacement")
    },
}  # fmt: skip
"""The handlers of this module."""
