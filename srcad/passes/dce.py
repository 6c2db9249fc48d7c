"""Remove operations whose results nobody reads.

    t = mul(x, x)          |
    y = sin(x)             |    y = sin(x)
    yield y                |    yield y

Effects are kept, and what of the primal may raise: the derivative of ``math.log`` at -1 raises as
the function does.  What a loop carries is kept only if a later
iteration or the rest of the function reads it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    Function,
    If,
    Op,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.partial import may_raise
from srcad.ir.walk import all_ops, blocks, operands, results


def remove_dead_code(function: Function) -> Function:
    """The function without what does not matter to its results."""
    return replace(function, body=prune_block(function.body))


def prune_block(block: Block) -> Block:
    """The block without what does not matter to its yields."""
    ops, _ = _prune(block, tuple(range(len(block.yields))))
    return Block(block.params, ops, block.yields)


Live = dict[Value, None]


def _read(live: Live, atoms: tuple[Atom, ...]) -> None:
    for atom in atoms:
        if isinstance(atom, Value):
            live[atom] = None


def _prune(
    block: Block, kept: tuple[int, ...], watched: bool = False
) -> tuple[tuple[Op, ...], Live]:
    """The operations that the kept yields need, and what they read, from outside too.

    In a block that is ``watched``, inside the body of a ``try``, whatever an operation is for, it
    may raise, and that decides what happens: all of them stay.
    """
    live: Live = {}
    _read(live, tuple(block.yields[k] for k in kept))
    ops: list[Op] = []
    for op in reversed(block.ops):
        found = _prune_op(op, live, watched)
        if found is not None:
            ops.append(found)
    ops.reverse()
    return tuple(ops), live


def _acts(op: Op) -> bool:
    if isinstance(op, Effect):
        return True
    if isinstance(op, Apply):
        return (op.loc is None or op.loc.reverse == 0) and may_raise(op)
    if isinstance(op, Call):
        function = op.function.function
        return function is None or any(isinstance(o, Effect) for o in all_ops(function.body))
    return any(_acts(inner) for block in blocks(op) for inner in block.ops)


def _prune_op(op: Op, live: Live, watched: bool) -> Op | None:
    used = [k for k, value in enumerate(results(op)) if value in live]
    match op:
        case Apply() | Accumulate():
            if not (used or watched or _acts(op)):
                return None
            _read(live, operands(op))
            if not used and not watched and isinstance(op, Apply):
                return Effect(op.callee, op.args, op.keywords, None, op.loc)
            return op
        case Update():
            if not (used or watched):
                return None
            _read(live, operands(op))
            if op.result is not None and op.result not in live:
                return replace(op, result=None)
            return op
        case Effect():
            _read(live, operands(op))
            if op.result is not None and op.result not in live:
                return replace(op, result=None)
            return op
        case Call():
            if not (used or watched or _acts(op)):
                return None
            _read(live, op.args)
            return op
        case If():
            if not (used or watched or _acts(op)):
                return None
            keep = tuple(used)
            then, a = _prune(op.then, keep, watched)
            orelse, b = _prune(op.orelse, keep, watched)
            live.update(a)
            live.update(b)
            _read(live, (op.test,))
            return replace(
                op,
                then=Block((), then, tuple(op.then.yields[k] for k in keep)),
                orelse=Block((), orelse, tuple(op.orelse.yields[k] for k in keep)),
                results=tuple(op.results[k] for k in keep),
            )
        case For() | While():
            return _prune_loop(op, used, live, watched)
        case With():
            if not (used or watched or any(map(_acts, op.body.ops))):
                return None
            body, inner = _prune(op.body, tuple(used), watched)
            live.update(inner)
            _read(live, (op.manager,))
            return replace(
                op,
                body=Block(op.body.params, body, tuple(op.body.yields[k] for k in used)),
                results=tuple(op.results[k] for k in used),
            )
        case Try():
            return _prune_try(op, used, live, watched)
        case _:
            assert_never(op)


def _prune_loop(op: For | While, used: list[int], live: Live, watched: bool) -> Op | None:
    if not (used or watched or _acts(op)):
        return None
    carried = op.carried_params
    keep = set(used)
    stop = (len(carried),) if op.stops else ()
    while True:
        body, inner = _prune(op.body, (*sorted(keep), *stop), watched)
        needed = {k for k, p in enumerate(carried) if p in inner}
        if isinstance(op, While):
            _, tested = _prune(op.test, (0,), watched)
            needed |= {k for k, p in enumerate(op.test.params) if p in tested}
        if needed <= keep:
            break
        keep |= needed
    order = sorted(keep)
    live.update(inner)
    block = Block(
        (*op.targets, *(carried[k] for k in order)),
        body,
        tuple(op.body.yields[k] for k in (*order, *stop)),
    )
    inits = tuple(op.carried[k] for k in order)
    kept = tuple(op.results[k] for k in order)
    if isinstance(op, While):
        test, tested = _prune(op.test, (0,), watched)
        live.update(tested)
        test_block = Block(tuple(op.test.params[k] for k in order), test, op.test.yields)
        made: Op = replace(op, carried=inits, test=test_block, body=block, results=kept)
    else:
        made = replace(op, carried=inits, body=block, results=kept)
    _read(live, operands(made))
    return made


def _prune_try(op: Try, used: list[int], live: Live, watched: bool) -> Op | None:
    inner_blocks = (op.body, *(h.body for h in op.handlers))
    if not (used or watched or any(_acts(o) for b in inner_blocks for o in b.ops)):
        # what may raise decides which handler runs, but no handler does anything
        return None
    keep = tuple(used)
    made = []
    for block in inner_blocks:
        ops, free = _prune(block, keep, watched or block is op.body)
        live.update(free)
        made.append(Block(block.params, ops, tuple(block.yields[k] for k in keep)))
    for handler in op.handlers:
        if handler.kinds is not None:
            _read(live, (handler.kinds,))
    final = op.final
    if final is not None:
        ops, free = _prune(final, (), watched)
        live.update(free)
        final = Block(final.params, ops, ())
    handlers = tuple(replace(h, body=b) for h, b in zip(op.handlers, made[1:], strict=True))
    return replace(
        op,
        body=made[0],
        handlers=handlers,
        final=final,
        results=tuple(op.results[k] for k in keep),
    )
