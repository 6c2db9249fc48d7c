"""Systems with a factor of Cholesky are solved by substitution.

    c = np.linalg.cholesky(a)       |  c = np.linalg.cholesky(a)
    x = np.linalg.solve(c, b)       |  x = runtime.solve_lower(c, b)
    y = np.linalg.solve(c.T, x)     |  y = runtime.solve_upper(c.T, x)

NumPy factorizes any matrix that it is given, which takes as many operations as Cholesky.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir import Apply, Atom, Block, Function, Op, Value
from srcad.ir.infer import atom_type
from srcad.ir.types import Array
from srcad.ir.walk import all_ops, map_blocks

_OTHER: dict[Callable[..., Any], Callable[..., Any]] = {
    runtime.solve_lower: runtime.solve_upper, runtime.solve_upper: runtime.solve_lower
}  # fmt: skip


def solve_by_substitution(function: Function) -> Function:
    """The function with triangular systems solved as such."""
    made = {op.result: op for op in all_ops(function.body) if isinstance(op, Apply)}
    if not any(op.callee is np.linalg.solve for op in made.values()):
        return function

    def block(old: Block) -> Block:
        return replace(old, ops=tuple(map(each, old.ops)))

    def each(op: Op) -> Op:
        if isinstance(op, Apply) and op.callee is np.linalg.solve and not op.keywords:
            solver = _solver(op.args[0], made)
            if solver is not None and _is_real(op.args[0], 2) and _is_real(op.args[1], 1, 2):
                return replace(op, callee=solver)
        return map_blocks(op, block)

    return replace(function, body=block(function.body))


def _is_real(atom: Atom, *ranks: int) -> bool:
    kind = atom_type(atom)
    dims = kind.dims if isinstance(kind, Array) and kind.dtype == "float64" else None
    return dims is not None and len(dims) in ranks


def _solver(atom: Atom, made: dict[Value, Apply]) -> Callable[..., Any] | None:
    """What solves a system with a matrix, by how that was made; None if it may be any."""
    op = made.get(atom) if isinstance(atom, Value) else None
    if op is None or len(op.args) != 1 or op.keywords:
        return None
    if op.callee is np.linalg.cholesky:
        return runtime.solve_lower
    if op.callee in (np.transpose, np.ndarray.T):
        solver = _solver(op.args[0], made)
        return None if solver is None else _OTHER[solver]
    return None
