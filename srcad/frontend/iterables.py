"""Python's functions of iterables: ``range``, ``zip``, ``sum``, ``any``, those of ``itertools``."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import math
import operator
from functools import partial
from typing import Any

import numpy as np

from srcad.frontend import (
    calls,
    comprehensions,
    containers,
    expressions,
    iterators,
    orderings,
    statements,
    subscripts,
)
from srcad.frontend.abstract import (
    FALSE,
    NONE,
    Abstract,
    DictRef,
    DictView,
    Entries,
    Enumerate,
    Held,
    Items,
    IteratorRef,
    Lazy,
    ListRef,
    Poison,
    RangeRef,
    Reversed,
    SliceRef,
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
from srcad.ir.types import Array, ListType, Number, TupleType, is_differentiable, rank

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
    return low.new_iterator(Zip(tuple(args), keywords.get("strict", FALSE)))


def zip_rows(low: Lowering, rows: Abstract, keywords: Keywords) -> Abstract:
    """``zip(*rows)``: of rows that run time counts, but that are of one length, the columns."""
    rows = iterators.consumed(low, rows)
    kind = atom_type(low.peek(rows)) if isinstance(rows, ListRef) else None
    row = kind.item if isinstance(kind, ListType) else None
    if containers.items_of(low, rows) is not None or not isinstance(row, TupleType):
        parts = tuple(containers.unpack(low, rows))
        return low.new_iterator(Zip(parts, keywords.get("strict", FALSE)))
    there = low.builder.apply(bool, low.atom(containers.length(low, rows)))
    statements.require(low, there, ValueError("zip(*rows) of no rows has no columns"))
    columns = [
        comprehensions.transform(low, rows, partial(_item, low, Static(k)))
        for k in range(len(row.items))
    ]
    return low.new_iterator(TupleRef(tuple(_tuple(low, [c], {}) for c in columns)))


def _item(low: Lowering, index: Static, row: Abstract) -> Abstract:
    return subscripts.get_item(low, row, index)


def _enumerate(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    return low.new_iterator(Enumerate(args[0], start))


def _reversed(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    # it starts at the end that there is now
    return low.new_iterator(Reversed(args[0]), iterators.reads(low, args[0]))


def _list(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return containers.to_list(low, args[0]) if args else low.new_list(Items(()))


def _tuple(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    if not args:
        return TupleRef(())
    args = [iterators.consumed(low, args[0])]
    items = containers.items_of(low, args[0])
    if items is not None:
        return TupleRef(items)
    # a tuple of run-time length is read like a list that nothing can change
    listed = containers.to_list(low, args[0])
    atom = low.peek(listed)
    return low.builder.apply_typed(tuple, (atom,), as_dynamic(atom_type(atom)))


def _tuple_new(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``tuple.__new__(cls, items)``, as namedtuples call it."""
    if not (len(args) == 2 and isinstance(args[0], Static)):
        return NotImplemented
    return TupleRef(tuple(containers.unpack(low, args[1])), args[0].value)


def _dict(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    ref = low.new_dict(Entries((), ()))
    if args:
        if isinstance(args[0], DictRef):
            copied = containers.call_method(low, args[0], "copy", [], {})
            assert isinstance(copied, DictRef)
            ref = copied
        else:
            rows = containers.followed(low, iterators.consumed(low, args[0]))
            if rows is None:
                low.refuse(*refusal("changing keys"))
            for row in rows:
                key, value = containers.unpack(low, row, 2)
                subscripts.set_item(low, ref, key, value)
    for name, value in keywords.items():
        subscripts.set_item(low, ref, Static(name), value)
    return ref


def _fromkeys(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``dict.fromkeys(keys, value)``"""
    ref = low.new_dict(Entries((), ()))
    for key in containers.unpack(low, args[0]):
        subscripts.set_item(low, ref, key, args[1] if len(args) > 1 else NONE)
    return ref


def _sum(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    start = args[1] if len(args) > 1 else keywords.get("start", Static(0))
    args = [iterators.consumed(low, args[0]), *args[1:]]
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
    if isinstance(args[0], (Zip, Enumerate, Reversed, DictView)):
        return _reduce_list(low, args[0], start)
    if isinstance(args[0], ListRef) and isinstance(c := low.contents(args[0]), Held):
        kind = c.value.type
        if isinstance(kind, ListType) and isinstance(kind.item, Number):
            return calls.primitive(low, sum, args, keywords)
        return _reduce_list(low, args[0], start)
    if isinstance(args[0], Value) and isinstance(args[0].type, Array):
        return _reduce_list(low, args[0], start)
    return calls.primitive(low, sum, args, keywords)


def _reduce_list(low: Lowering, iterable: Abstract, start: Abstract) -> Abstract:
    """``sum`` of a run-time list of arrays: a loop."""

    def add(total: Abstract, item: Abstract) -> Abstract:
        return expressions.binary(low, operator.add, total, item)

    return comprehensions.fold(low, iterable, start, add)


def _any_all(wanted: bool) -> Handler:
    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        stopped = iterators.iterators_in(args[0])
        source = iterators.consumed(low, args[0])
        iterators.pause(low, stopped)  # at the first item that decides
        items = None if isinstance(source, Value) else containers.items_of(low, source)
        if items is None:
            if isinstance(source, (Zip, Enumerate, Reversed, DictView)):
                source = containers.to_list(low, source)
            return calls.primitive(low, any if wanted else all, [source], keywords)
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
    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        return comprehensions.map_list(low, given[0], list(given[1:]))

    return low.new_iterator(Lazy(make, tuple(args)))


def _filter(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        return comprehensions.filter_list(low, given[0], given[1])

    return low.new_iterator(Lazy(make, tuple(args)))


def _iter(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    if isinstance(args[0], IteratorRef):
        return args[0]
    if len(args) > 1:
        low.refuse("iter() of a function is not supported", "write a while loop")
    return low.new_iterator(args[0])


def _next(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    if isinstance(args[0], Poison):
        low.refuse(args[0].message, args[0].hint)
    if isinstance(args[0], IteratorRef):
        iterable, position = iterators.take_next(low, args[0])
    else:
        iterable, position = args[0], 0  # a generator expression: it was made for this call
    read = partial(subscripts.get_item, low, iterable, Static(position))
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
    step, rest = args[0], iterators.consumed(low, args[1], interleaved=True)
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
    first = subscripts.get_item(low, listed, Static(0))
    return _folded(low, step, first, subscripts.get_item(low, listed, Static(slice(1, None))))


def _folded(low: Lowering, step: Abstract, start: Abstract, rest: Abstract) -> Abstract:
    def add(total: Abstract, item: Abstract) -> Abstract:
        return calls.call(low, step, [total, item], {})

    return comprehensions.fold(low, rest, start, add)


def _accumulate(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``itertools.accumulate``"""
    step = args[1] if len(args) > 1 else keywords.get("func", Static(operator.add))
    if isinstance(step, Static) and step.value is None:
        step = Static(operator.add)

    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        return _partial_results(low, *given)

    start = keywords.get("initial", NONE)
    return low.new_iterator(Lazy(make, (args[0], step, start)))


def _partial_results(low: Lowering, rest: Abstract, step: Abstract, start: Abstract) -> Abstract:
    result = low.new_list(Items(()))

    def add(total: Abstract, item: Abstract) -> Abstract:
        made = calls.call(low, step, [total, item], {})
        containers.call_method(low, result, "append", [made], {})
        return made

    rest = iterators.consumed(low, rest, interleaved=True)
    if isinstance(start, Static) and start.value is None:
        listed = rest if isinstance(rest, (ListRef, Value)) else containers.to_list(low, rest)
        count = containers.length(low, listed)
        if isinstance(count, Static) and count.value == 0:
            return result
        start = subscripts.get_item(low, listed, Static(0))
        rest = subscripts.get_item(low, listed, Static(slice(1, None)))
    containers.call_method(low, result, "append", [start], {})
    comprehensions.fold(low, rest, start, add, (("place", result.place, ""),))
    return result


def _chain(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return low.new_iterator(Lazy(_chained, tuple(args)))


def _chained(low: Lowering, args: tuple[Abstract, ...]) -> Abstract:
    args = tuple(iterators.consumed(low, a) for a in args)
    parts = [containers.items_of(low, a) for a in args]
    if all(p is not None for p in parts):
        return TupleRef(tuple(i for p in parts if p is not None for i in p))
    joined: Abstract = low.new_list(Items(()))
    for arg in args:
        joined = expressions.binary(low, operator.add, joined, containers.to_list(low, arg))
    return joined


def _from_iterable(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        return _chained(low, tuple(containers.unpack(low, given[0])))

    return low.new_iterator(Lazy(make, (args[0],)))


def _product(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    repeat = keywords.get("repeat", Static(1))
    if not isinstance(repeat, Static):
        low.refuse("the number of factors of itertools.product depends on data", "nest the loops")
    args = [iterators.consumed(low, a) for a in args] * repeat.value
    parts = [containers.items_of(low, a) for a in args]
    if all(p is not None for p in parts):
        known = [p for p in parts if p is not None]
        return low.new_iterator(TupleRef(tuple(TupleRef(row) for row in itertools.product(*known))))
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
    return low.new_iterator(Zip(tuple(columns)))


def _places(lists: list[ListRef]) -> set[Any]:
    return {("place", ref.place, "") for ref in lists}


def _combinations(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    size = args[1] if len(args) > 1 else keywords["r"]
    if not isinstance(size, Static):
        low.refuse("the size of itertools.combinations depends on data", "nest the loops")
    source = iterators.consumed(low, args[0])
    items = containers.items_of(low, source)
    if items is not None:
        rows = itertools.combinations(items, size.value)
        return low.new_iterator(TupleRef(tuple(map(TupleRef, rows))))
    listed = containers.to_list(low, source)
    columns = [low.new_list(Items(())) for _ in range(size.value)]
    count = low.atom(containers.length(low, listed))

    def level(row: tuple[Abstract, ...], first: Abstract) -> None:
        if len(row) == size.value:
            for column, item in zip(columns, row, strict=True):
                containers.call_method(low, column, "append", [item], {})
            return

        def at(index: Abstract) -> None:
            after = expressions.binary(low, operator.add, index, Static(1))
            level((*row, subscripts.get_item(low, listed, index)), after)

        comprehensions.each(low, RangeRef(low.atom(first), count, Literal(1)), at, _places(columns))

    level((), Static(0))
    return low.new_iterator(Zip(tuple(columns)))


def _pairwise(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        listed = containers.to_list(low, given[0])
        return Zip((listed, subscripts.get_item(low, listed, Static(slice(1, None)))))

    return low.new_iterator(Lazy(make, (args[0],)))


def _permutations(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return _arranged(low, itertools.permutations, args, keywords)


def _with_replacement(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return _arranged(low, itertools.combinations_with_replacement, args, keywords)


def _arranged(low: Lowering, arrange: Any, args: Arguments, keywords: Keywords) -> Abstract:
    """The arrangements of known items."""
    items = containers.items_of(low, iterators.consumed(low, args[0]))
    size = args[1] if len(args) > 1 else keywords.get("r", NONE)
    if items is None or not isinstance(size, Static):
        low.refuse(f"itertools.{arrange.__name__} of as many items as data tells", "nest the loops")
    rows = arrange(items, size.value)
    return low.new_iterator(TupleRef(tuple(map(TupleRef, rows))))


def _starmap(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        function, rows = given
        return comprehensions.transform(
            low, rows, lambda row: calls.call(low, function, containers.unpack(low, row), {})
        )

    return low.new_iterator(Lazy(make, tuple(args)))


def _islice(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    where = slice(*(a.value if isinstance(a, Static) else ... for a in args[1:]))
    if ... in (where.start, where.stop, where.step):
        low.refuse("bounds of itertools.islice that depend on data", "slice a list: xs[a:b]")
    if iterators.iterators_in(args[0]):
        low.refuse("a part of an iterator is taken by itertools.islice", "slice a list: xs[a:b]")

    def make(low: Lowering, given: tuple[Abstract, ...]) -> Abstract:
        listed = given[0]
        if not isinstance(listed, (ListRef, Value, TupleRef)):
            listed = containers.to_list(low, listed)
        return subscripts.get_item(low, listed, Static(where))

    return low.new_iterator(Lazy(make, (args[0],)))


def _repeat(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    times = args[1] if len(args) > 1 else keywords.get("times", NONE)
    if not (isinstance(times, Static) and isinstance(times.value, int)):
        low.refuse("itertools.repeat without a known number", "write [x] * n, or the loop")
    return low.new_iterator(TupleRef((args[0],) * times.value))


def _zip_longest(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    columns = [containers.items_of(low, iterators.consumed(low, a)) for a in args]
    if any(c is None for c in columns):
        low.refuse("itertools.zip_longest of as many items as data tells", "write the loop")
    known = [c for c in columns if c is not None]
    rows = itertools.zip_longest(*known, fillvalue=keywords.get("fillvalue", NONE))
    return low.new_iterator(TupleRef(tuple(map(TupleRef, rows))))


def _insort(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``bisect.insort(xs, x)``: after what is equal to it."""
    listed = args[0]
    if len(args) != 2 or keywords or not isinstance(listed, ListRef):
        low.refuse(*refusal("array method", name="bisect.insort"))
    place = low.builder.apply(bisect.bisect_right, low.peek(listed), low.atom(args[1]))
    return containers.call_method(low, listed, "insert", [containers.wrap(low, place), args[1]], {})


def _extremes(backward: bool) -> Handler:
    """``heapq.nlargest`` and ``nsmallest``: the first of the sorted items."""

    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        count, iterable, key = (*args, keywords.get("key", NONE))[:3]
        order = {"key": key, "reverse": Static(backward)}
        listed = orderings.sort_call(low, [iterable], order)
        if isinstance(count, Static):
            return subscripts.get_item(low, listed, Static(slice(0, max(count.value, 0))))
        return subscripts.get_item(low, listed, SliceRef(Static(0), count, NONE))

    return handler


def _ndindex(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``np.ndindex(shape)``: the product of ranges."""
    sizes = args
    if len(args) == 1 and not (isinstance(args[0], Value) and rank(args[0].type) == 0):
        sizes = [args[0]] if isinstance(args[0], Static) else containers.unpack(low, args[0])
    ranges: Arguments = [RangeRef(Literal(0), low.atom(s), Literal(1)) for s in sizes]
    return _product(low, ranges, {})


def _ndenumerate(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    shape = calls.call(low, Static(np.shape), args, {})
    entries = calls.call(low, Static(np.ravel), args, {})
    return low.new_iterator(Zip((_ndindex(low, [shape], {}), entries)))


def _fromiter(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    """``np.fromiter(iterable, dtype)``"""
    dtype = args[1] if len(args) > 1 else keywords["dtype"]
    listed = containers.to_list(low, args[0])
    return calls.primitive(low, np.array, [listed], {"dtype": dtype})


def _of_all_items(function: Any, number: int = 0) -> Handler:
    """A primitive that takes all items of the iterable that is its argument of a number."""

    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        if not iterators.iterators_in(args[number]):
            return NotImplemented
        listed = containers.to_list(low, args[number])
        return calls.primitive(
            low, function, [*args[:number], listed, *args[number + 1 :]], keywords
        )

    return handler


def _set(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
    return low.new_set(containers.unpack(low, args[0]) if args else [])


def _unsupported(name: str, instead: str = "write the loop") -> Handler:
    def handler(low: Lowering, args: Arguments, keywords: Keywords) -> Any:
        low.refuse(f"{name} of run-time data is not supported", instead)

    return handler


_WHOLE = (
    list, tuple, dict, set, sum, max, min, any, all, sorted, next, functools.reduce, math.fsum,
    math.prod, np.fromiter,
)  # fmt: skip


def takes_all(callee: Abstract) -> bool:
    """Whether a function takes all items of an iterable at once and keeps none."""
    return isinstance(callee, Static) and any(callee.value is f for f in _WHOLE)


ITERABLES: dict[Any, Handler] = {
    range: _range,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    list: _list,
    tuple: _tuple,
    tuple.__new__: _tuple_new,
    dict: _dict,
    dict.fromkeys: _fromkeys,
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
    itertools.permutations: _permutations,
    itertools.combinations_with_replacement: _with_replacement,
    itertools.starmap: _starmap,
    itertools.islice: _islice,
    itertools.repeat: _repeat,
    itertools.zip_longest: _zip_longest,
    bisect.insort_right: _insort,
    heapq.nlargest: _extremes(True),
    heapq.nsmallest: _extremes(False),
    np.ndindex: _ndindex,
    np.ndenumerate: _ndenumerate,
    np.fromiter: _fromiter,
    np.nditer: _unsupported("np.nditer", "loop over np.ndindex(a.shape), or over a.flat"),
    math.fsum: _of_all_items(math.fsum),
    math.prod: _of_all_items(math.prod),
    str.join: _of_all_items(str.join, 1),
    **{
        getattr(itertools, n): _unsupported(f"itertools.{n}")
        for n in ("takewhile", "dropwhile", "groupby", "cycle", "count", "compress", "filterfalse",
                  "tee")
    },
}  # fmt: skip
"""The handlers of this module."""
