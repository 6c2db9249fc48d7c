"""What ``np.errstate`` says of warnings is left out: compiled code gives none.

    with errstate(divide="ignore")  |
      [1] y = truediv(a, b)         |  [1] y = truediv(a, b)
      yield y                       |

Where it asks for exceptions, it stays, and is refused.
"""

from __future__ import annotations

from dataclasses import replace

from srcad.backends.numba.written_out import renamed
from srcad.frontend.managers import is_quiet
from srcad.ir import Atom, Block, Effect, Function, Op, Value, With
from srcad.ir.walk import all_ops, map_blocks


def without_errstate(function: Function) -> Function:
    """The function without what only decides which warnings there are."""
    managers: set[Atom | None] = {
        op.result for op in all_ops(function.body) if isinstance(op, Effect) and is_quiet(op)
    }
    if not managers:
        return function
    names: dict[Value, Atom] = {}

    def opened(block: Block) -> Block:
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, With) and op.manager in managers:
                inner = opened(op.body)
                ops += inner.ops
                names.update(zip(op.results, inner.yields, strict=True))
            elif not (isinstance(op, Effect) and op.result in managers and is_quiet(op)):
                ops.append(map_blocks(op, opened))
        return Block(block.params, tuple(ops), block.yields)

    return replace(function, body=renamed(opened(function.body), names))
