"""A sum of outer products that a loop adds up is one product of matrices after the loop.

    a = for … with c = zeros     |    us, vs = for … with us = [], vs = []
      t = mul(p[:, None], x)     |      us = append(us, p)
      d = c += t                 |      vs = append(vs, x)
      yield d                    |      yield us, vs
                                 |    a = matmul(array(us).T, array(vs))

Each outer product is written, and read again to be added.  The adjoint of a matrix that vectors are
multiplied with step after step is such a sum: of a recurrent network, of a differential equation.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from srcad.ir import Accumulate, Apply, Atom, Block, For, Function, Literal, Op, Update, Value
from srcad.ir.build import Builder
from srcad.ir.core import make_list, make_tuple
from srcad.ir.sharing import views
from srcad.ir.types import Array, ListType, dims_of, same_shape
from srcad.ir.walk import all_ops, map_blocks, read_counts
from srcad.passes.outer import Factors, columns_of, factors_of


def outer_products_after_loops(function: Function) -> Function:
    """The function with products of matrices for sums of outer products over loops."""
    columns = columns_of(function)
    if not columns:
        return function
    return replace(function, body=_block(function.body, columns, read_counts(function.body)))


def _block(block: Block, columns: dict[Value, Value], reads: Counter[Value]) -> Block:
    ops: list[Op] = []
    made: dict[Value, Apply] = {}
    for plain in block.ops:
        op = map_blocks(plain, lambda b: _block(b, columns, reads))
        after: list[Op] = []
        if isinstance(op, Apply):
            made[op.result] = op
        if isinstance(op, For) and op.loc is not None and op.loc.reverse:
            for k in reversed(range(len(op.carried))):
                sums = _sums(op, k, columns, reads)
                if sums:
                    before, op, product = _gathered(op, k, sums, made)
                    ops += before
                    after += product
        ops += [op, *after]
    return Block(block.params, tuple(ops), block.yields)


def _settled(block: Block) -> Callable[[Value], bool]:
    """Which arrays a block does not write: that they are kept does not change what they hold."""
    written: dict[Value, Value] = {}
    """The arrays that are written here, with the first version of each."""
    for op in all_ops(block):
        if isinstance(op, Update) and isinstance(op.target.type, Array):
            written[op.version] = written.setdefault(op.target, op.target)
    last = {first: version for version, first in written.items()}
    made = {op.result: op for op in block.ops if isinstance(op, Apply)}
    fresh = all(first in made and not views(made[first]) for first in last)

    def is_settled(vector: Value) -> bool:
        first = written.get(vector)
        if first is not None:
            return fresh and last[first] is vector
        viewed = views(made[vector]) if vector in made else {}
        return fresh and all(v not in written and is_settled(v) for v in viewed)

    return is_settled


def _sums(
    op: For, k: int, columns: dict[Value, Value], reads: Counter[Value]
) -> dict[Accumulate, Factors]:
    """What is added to a carried matrix, if that is outer products and nothing else."""
    kind = op.carried_params[k].type
    if not isinstance(kind, Array) or kind.dtype != "float64":
        return {}
    products = {
        o.result: factors_of(o, columns)
        for o in op.body.ops
        if isinstance(o, Apply) and o.callee is operator.mul and reads[o.result] == 1
    }
    found: dict[Accumulate, Factors] = {}
    total: Atom = op.carried_params[k]
    for inner in op.body.ops:
        if isinstance(inner, Accumulate) and inner.target is total and _once(total, reads):
            factors = products.get(inner.term) if isinstance(inner.term, Value) else None
            if inner.index is not None or not factors:
                return {}
            found[inner] = factors[0]
            total = inner.version
    if not found or op.body.yields[k] is not total or not _once(total, reads):
        return {}
    pairs, is_settled = list(found.values()), _settled(op.body)
    if not all(is_settled(vector) for pair in pairs for vector in pair):
        return {}
    for vectors in zip(*pairs, strict=True):
        if not all(same_shape(v.type, vectors[0].type) for v in vectors):
            return {}
    return found


def _once(atom: Atom, reads: Counter[Value]) -> bool:
    return isinstance(atom, Value) and reads[atom] == 1


def _gathered(
    op: For, k: int, sums: dict[Accumulate, Factors], made: dict[Value, Apply]
) -> tuple[list[Op], For, list[Op]]:
    """What stands before the loop, the loop, and what stands after it."""
    first = next(iter(sums.values()))
    before: list[Op] = []
    starts, params, ends, results = [], [], [], []
    for name, vector in zip(("columns", "rows"), first, strict=True):
        start, param, result = (Value(name, ListType(vector.type)) for _ in range(3))
        before.append(Apply(make_list, (), (), start, op.loc))
        starts.append(start)
        params.append(param)
        results.append(result)
    ends = list(params)
    ops: list[Op] = []
    for inner in op.body.ops:
        factors = sums.get(inner) if isinstance(inner, Accumulate) else None
        if factors is None:
            ops.append(inner)
            continue
        for side, vector in enumerate(factors):
            version = Value(ends[side].hint, ends[side].type)
            ops.append(Update(list.append, ends[side], (vector,), version, None, inner.loc))
            ends[side] = version
    count, targets = len(op.carried), len(op.streams)
    yields, flag = op.body.yields[:count], op.body.yields[count:]
    body = Block(
        (*op.body.params[: targets + k], *op.body.params[targets + k + 1 :], *params),
        tuple(ops),
        (*yields[:k], *yields[k + 1 :], *ends, *flag),
    )
    loop = replace(
        op,
        carried=(*op.carried[:k], *op.carried[k + 1 :], *starts),
        body=body,
        results=(*op.results[:k], *op.results[k + 1 :], *results),
    )
    return before, loop, _product(op, k, results, first, made)


def _product(
    op: For, k: int, lists: list[Value], vectors: Factors, made: dict[Value, Apply]
) -> list[Op]:
    """The matrix that is added up; with no step there are no rows, but the sizes are known."""
    b = Builder(simplify=True)
    b.loc = op.loc
    start, whole = op.carried[k], op.results[k]
    zeros = made.get(start) if isinstance(start, Value) else None
    shape = zeros.args[0] if _is_of_zeros(zeros) and zeros else b.apply(np.shape, start)
    sides = []
    for axis, (several, vector) in enumerate(zip(lists, vectors, strict=True)):
        (size,) = dims_of(vector.type) or (None,)
        known = type(size) is int
        length = Literal(size) if known else b.apply(operator.getitem, shape, Literal(axis))
        rows = b.apply_typed(np.array, (several,), Array("float64", (None, size)))
        sizes = b.apply(make_tuple, b.apply(builtins.len, several), length)
        sides.append(b.apply_typed(np.reshape, (rows, sizes), rows.type))
    (size,) = dims_of(vectors[0].type) or (None,)
    turned = b.apply_typed(np.ndarray.T, (sides[0],), Array("float64", (size, None)))
    if _is_of_zeros(zeros):
        return [*b.ops, Apply(operator.matmul, (turned, sides[1]), (), whole, op.loc)]
    term = b.apply_typed(operator.matmul, (turned, sides[1]), whole.type)
    return [*b.ops, Accumulate(start, None, term, whole, op.loc)]


def _is_of_zeros(op: Apply | None) -> bool:
    return op is not None and op.callee is np.zeros and len(op.args) == 1
