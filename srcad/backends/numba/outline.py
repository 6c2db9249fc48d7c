"""The part of a function that Numba compiles, as a function of numbers, arrays and tuples.

    def f_grad(params, x):                  |  def f_grad(params, x):
        w = params["w"]                     |      w = params["w"]
        …                                   |      w_bar = f_grad_loop(w, x)
        return {"w": w_bar}                 |      return {"w": w_bar}

Containers are taken apart before it and put together after it, in plain Python: what Numba does
with lists and dicts of arguments is slow where it is possible at all.  Lists of numbers are handed
over as arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from srcad import runtime
from srcad.backends.numba.lists import vector_of
from srcad.backends.numba.writing import Writer
from srcad.ir import Apply, Atom, Block, Call, Effect, Function, FunctionRef, Literal, Value
from srcad.ir.core import make_dict, make_list, make_tuple
from srcad.ir.types import Array, DictType, ListType, Opaque, TupleType
from srcad.ir.walk import free_values, map_atoms, operands, renaming, results

_QUESTIONS = (runtime.require_disjoint, runtime.require_distinct)
"""What only Python can tell of arguments: whether two are one."""
_PACKING = (make_tuple, make_list, make_dict, runtime.dataclass_of)


@dataclass(frozen=True, slots=True)
class Outlined:
    """A function in two parts."""

    entry: Function
    """Called by the user; it may be the kernel itself."""
    kernel: Function
    """What is to be compiled."""
    is_whole: bool
    """Whether the kernel is all of it."""


def outline(function: Function) -> Outlined:
    """The function, with what is to be compiled in a function of its own."""
    body = function.body
    before = _unpacking(function)
    after = _packing(function, before)
    if not before and all(map(_is_handed_over, function.params)) and _is_simple(after):
        return Outlined(function, function, True)
    inner = tuple(op for op in body.ops if op not in before and op not in after)
    made = {r: None for op in inner for r in results(op)}
    wanted: dict[Value, None] = {}
    for op in after:
        wanted.update((a, None) for a in operands(op) if isinstance(a, Value) and a in made)
    wanted.update((a, None) for a in body.yields if isinstance(a, Value) and a in made)
    inside: dict[Value, Value] = {}
    handed = tuple(free_values(Block((), inner, tuple(wanted))))
    writer, head, tail, packed = Writer(), Writer(), Writer(), Writer()
    writer.ops += before
    args: list[Atom] = []
    params: list[Value] = []
    for value in handed:
        kind = vector_of(value.type)
        if kind is None:
            args.append(value)
            params.append(Value(value.hint, value.type))
            inside[value] = params[-1]
        else:
            args.append(writer.apply(np.array, value, kind=kind, hint=value.hint))
            param = Value(value.hint, kind)
            params.append(param)
            listed = head.apply(np.ndarray.tolist, param, kind=value.type, hint=value.hint)
            inside[value] = listed
    outs: list[Value] = []
    yields: list[Atom] = []
    names: dict[Value, Atom] = {}
    for value in wanted:
        kind = vector_of(value.type)
        if kind is None:
            outs.append(value)
            yields.append(value)
        else:
            yields.append(tail.apply(np.array, value, kind=kind))
            out = Value(value.hint, kind)
            outs.append(out)
            names[value] = packed.apply(np.ndarray.tolist, out, kind=value.type, hint=value.hint)
    name_apart(params)
    read = renaming(inside)
    body_ops = tuple(map_atoms(op, read, lambda v: v) for op in (*inner, *tail.ops))
    kernel = Function(
        f"{function.name}_kernel",
        tuple(params),
        Block((), (*head.ops, *body_ops), tuple(map(read, yields))),
        function.loc,
        function.doc,
        function.calls,
    )
    ref = FunctionRef(kernel.name)
    ref.function = kernel
    writer.ops.append(Call(ref, tuple(args), tuple(outs), None))
    writer.ops += packed.ops
    for op in after:
        args_ = tuple(names.get(a, a) if isinstance(a, Value) else a for a in op.args)
        writer.ops.append(replace(op, args=args_))
    results_ = tuple(names.get(a, a) if isinstance(a, Value) else a for a in body.yields)
    entry = replace(
        function, body=Block((), tuple(writer.ops), results_), calls=(*function.calls, ref)
    )
    return Outlined(entry, kernel, False)


def _unpacking(function: Function) -> dict[Apply | Effect, None]:
    """What takes arguments apart, and what they are asked for."""
    known = {p for p in function.params if not _is_handed_over(p)}
    found: dict[Apply | Effect, None] = {}
    for op in function.body.ops:
        if isinstance(op, Effect) and op.callee in _QUESTIONS:
            if all(a in known or a in function.params for a in op.args if isinstance(a, Value)):
                found[op] = None
            continue
        if not isinstance(op, Apply) or op.callee not in (operator.getitem, getattr):
            continue
        base, *rest = op.args
        if base in known and all(isinstance(a, Literal) for a in rest):
            assert isinstance(base, Value)
            if vector_of(base.type) is None:
                found[op] = None
                known.add(op.result)
    return found


def _packing(function: Function, before: dict[Apply | Effect, None]) -> dict[Apply, None]:
    """What puts results together."""
    used: dict[Value, int] = {}
    for op in function.body.ops:
        for value in free_values(Block((), (op,), ())):
            used[value] = used.get(value, 0) + 1
    found: dict[Apply, None] = {}
    sunk: dict[Value, int] = {}
    for op in reversed(function.body.ops):
        if not isinstance(op, Apply) or op.callee not in _PACKING or op in before:
            continue
        if used.get(op.result, 0) == sunk.get(op.result, 0):
            found[op] = None
            for atom in {a for a in op.args if isinstance(a, Value)}:
                sunk[atom] = sunk.get(atom, 0) + 1
    return dict.fromkeys(reversed(found))


def _is_simple(after: dict[Apply, None]) -> bool:
    """Whether results are put together of tuples only, and these of numbers."""
    return all(op.callee is make_tuple for op in after) and not any(
        isinstance(a, Value) and (vector_of(a.type) is not None or isinstance(a.type, Array))
        for op in after
        for a in op.args
    )


def _is_handed_over(param: Value) -> bool:
    """Whether Numba takes an argument as it is."""
    return not isinstance(param.type, (TupleType, ListType, DictType, Opaque))


def name_apart(params: Iterable[Value]) -> None:
    """Give parameters names of their own: parts of two arguments may have one name."""
    taken: set[str] = set()
    for param in params:
        name, count = param.hint, 1
        while param.hint and param.hint in taken:
            count += 1
            param.hint = f"{name}{count}"
        taken.add(param.hint)
