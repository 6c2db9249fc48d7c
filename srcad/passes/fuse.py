"""Put the reverse of a loop that only adds up into the loop itself.

    for v in x:                        |    for v in x:
        t = sin(v)                     |        t = sin(v)
        stack.append(t)                |        s += t * t
        s += t * t                     |        x_bar.append(2 * t * cos(v))
    for t, v in reversed(stack):       |
        x_bar.append(2 * t * cos(v))   |

The adjoint of a sum is the same in each iteration, and known before the loop.  So where a reverse
loop carries sums alone, whose order does not matter, and reads nothing that the loop ends with, its
body may as well run at the end of each iteration, and nothing is kept (Hascoët, Naumann and
Pascual, "To be recorded" analysis in reverse-mode AD, 2005, have it for parallel loops).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

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
    Items,
    Literal,
    Op,
    Range,
    Stream,
    Try,
    Update,
    Value,
    While,
    With,
)
from srcad.ir.core import is_int, literal_values, make_list, make_tuple
from srcad.ir.infer import atom_type
from srcad.ir.types import INT, ListType, Number
from srcad.ir.walk import (
    all_ops,
    blocks,
    map_atoms,
    map_blocks,
    operands,
    renaming,
    results,
    values_read,
)
from srcad.passes.choices import merged_choices
from srcad.passes.common import without_recomputed

_BACKWARD = slice(None, None, -1)


def fused(function: Function) -> Function:
    """The function with such loops put together."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    changed = True
    while changed:
        changed = False
        for k, op in enumerate(block.ops):
            if isinstance(op, For) and op.loc is not None and op.loc.reverse:
                made = _with_fused(block, k) or _straightened(block, k)
                if made is not None:
                    block, changed = made, True
                    break
    return Block(block.params, tuple(map_blocks(op, _block) for op in block.ops), block.yields)


# ---- which loop a loop is the reverse of


@dataclass(frozen=True, slots=True)
class _Pair:
    """A loop, its reverse, and what the reverse reads of it."""

    forward: For
    reverse: For
    tape: int | None
    """The place of the tape among what the loop carries; None if there is none."""
    item: Atom | None
    """What an iteration keeps."""
    targets: dict[Value, Atom]
    """What the targets of the reverse loop are in the loop; None for the item of the tape."""
    position: Value | None
    """The target that counts the iterations, if the loop does not count them itself."""


def _with_fused(block: Block, at: int) -> Block | None:
    reverse = block.ops[at]
    assert isinstance(reverse, For)
    made = {r: op for op in block.ops for r in results(op)}
    for k in range(at - 1, -1, -1):
        forward = block.ops[k]
        if isinstance(forward, For) and _is_of(forward, reverse):
            pair = _pair(forward, reverse, block, made)
            if pair is not None:
                return _put_together(block, k, at, pair)
    return None


def _is_of(forward: For, reverse: For) -> bool:
    """Whether two loops stem from one statement, the second from its reverse."""
    a, b = forward.loc, reverse.loc
    if a is None or b is None:
        return False
    return (a.file, a.line, a.column) == (b.file, b.line, b.column) and a.reverse < b.reverse


def _pair(forward: For, reverse: For, block: Block, made: dict[Value, Op]) -> _Pair | None:
    if forward.stops or reverse.stops:
        return None
    inner = reverse.body.params
    tape: int | None = None
    item: Atom | None = None
    targets: dict[Value, Atom] = {}
    position: Value | None = None
    for stream, target in zip(reverse.streams, inner, strict=False):
        match stream:
            case Items(sequence=Value() as sequence, backward=True) if (
                sequence in forward.results and tape is None
            ):
                tape = forward.results.index(sequence)
                item = _kept(forward, tape, sequence, block, made)
                if item is None:
                    return None
                targets[target] = item
            case Items(sequence=sequence, backward=True):
                place = _same_items(forward, sequence)
                if place is None:
                    return None
                targets[target] = forward.body.params[place]
            case Range():
                place = _same_range(forward, stream, made)
                if place is not None:
                    targets[target] = forward.body.params[place]
                elif position is None and _counts(forward, stream, made):
                    position = target
                else:
                    return None
            case _:
                return None
    return _Pair(forward, reverse, tape, item, targets, position) if targets else None


def _kept(
    forward: For, place: int, sequence: Value, block: Block, made: dict[Value, Op]
) -> Atom | None:
    """What each iteration appends to a tape that only the reverse loop reads."""
    body = forward.body
    param, end = forward.carried_params[place], body.yields[place]
    start = forward.carried[place]
    empty = made.get(start) if isinstance(start, Value) else None
    if not isinstance(empty, Apply) or empty.callee is not make_list or empty.args:
        return None
    last = next((op for op in body.ops if end in results(op)), None)
    if not isinstance(last, Update) or last.callee is not list.append or last.target is not param:
        return None
    readers = [op for op in block.ops if sequence in values_read(op)]
    lengths = [op for op in readers if isinstance(op, Apply) and op.callee is len]
    if len(readers) - len(lengths) != 1 or sequence in block.yields:
        return None
    if sum(param in values_read(op) for op in body.ops) != 1 or end in body.yields[:place]:
        return None
    return last.args[0] if not any(end in values_read(op) for op in body.ops) else None


def _same_items(forward: For, sequence: Atom) -> int | None:
    for place, stream in enumerate(forward.streams):
        if isinstance(stream, Items) and not stream.backward and stream.sequence is sequence:
            return place
    return None


def _same_range(forward: For, back: Range, made: dict[Value, Op]) -> int | None:
    """The stream whose integers a range has from the last to the first."""
    for place, stream in enumerate(forward.streams):
        if isinstance(stream, Range) and _is_backward(stream, back, made):
            return place
    return None


def _is_backward(stream: Range, back: Range, made: dict[Value, Op]) -> bool:
    """Whether a range is another backward, or the same: then its numbers are not asked for."""
    if stream == back:
        return True
    known = literal_values((stream.start, stream.stop, stream.step))
    turned = literal_values((back.start, back.stop, back.step))
    if known is not None and turned is not None:
        return range(*known)[::-1] == range(*turned)
    for step, callee in ((1, operator.sub), (-1, operator.add)):
        if is_int(stream.step, step) and is_int(back.step, -step):
            ends = (back.start, stream.stop), (back.stop, stream.start)
            return all(_is_next(atom, of, callee, made) for atom, of in ends)
    return False


def _is_next(atom: Atom, of: Atom, callee: object, made: dict[Value, Op]) -> bool:
    """Whether an integer is one less, or one more, than another."""
    if isinstance(of, Literal) and isinstance(atom, Literal):
        return bool(atom.value == (of.value - 1 if callee is operator.sub else of.value + 1))
    op = made.get(atom) if isinstance(atom, Value) else None
    return (
        isinstance(op, Apply)
        and op.callee is callee
        and (op.args[0] is of or _equal(op.args[0], of, made))
        and is_int(op.args[1], 1)
    )


def _equal(a: Atom, b: Atom, made: dict[Value, Op]) -> bool:
    """Whether two lengths are of the same sequence."""
    p = made.get(a) if isinstance(a, Value) else None
    q = made.get(b) if isinstance(b, Value) else None
    if not isinstance(p, Apply) or not isinstance(q, Apply):
        return False
    return p.callee is q.callee is len and p.args[0] is q.args[0]


def _counts(forward: For, back: Range, made: dict[Value, Op]) -> bool:
    """Whether a range counts the iterations of a loop over items, from the last to the first."""
    if not all(isinstance(s, Items) for s in forward.streams):
        return False
    if not is_int(back.step, -1) or not is_int(back.stop, -1):
        return False
    last = made.get(back.start) if isinstance(back.start, Value) else None
    if (
        not isinstance(last, Apply)
        or last.callee is not operator.sub
        or not is_int(last.args[1], 1)
    ):
        return False
    length = made.get(last.args[0]) if isinstance(last.args[0], Value) else None
    if not isinstance(length, Apply) or length.callee is not len:
        return False
    counted = length.args[0]
    single = len(forward.streams) == 1 and _same_items(forward, counted) == 0
    return single or counted in forward.results


# ---- whether the order matters


def _adds_up(block: Block, start: Value, end: Atom) -> bool:
    """Whether a block does nothing with a value but add to it."""
    now: Atom = start
    for op in block.ops:
        read = values_read(op)
        if now not in read:
            continue
        assert isinstance(now, Value)
        found = _next_sum(op, now)
        if found is None:
            return False
        now = found
    if now is not end:
        return False
    older = {start} if now is not start else set()
    return not any(a in older for a in block.yields)


def _next_sum(op: Op, now: Value) -> Value | None:
    """What a sum is after an operation that reads it; None if that does more than add to it."""
    match op:
        case Accumulate(target=target, index=index, term=term, version=version):
            return version if target is now and index is not now and term is not now else None
        case Apply(callee=operator.add, args=(x, y), result=result):
            plain = isinstance(result.type, Number) and (x is now) != (y is now)
            return result if plain else None
        case Apply(callee=operator.sub, args=(x, y), result=result):
            return result if isinstance(result.type, Number) and x is now is not y else None
        case Update(callee=list.append, target=target, args=(item,), version=version):
            return version if target is now and item is not now else None
        case If(test=test, then=then, orelse=orelse):
            if test is now:
                return None
            return _common_sum(op, (then, orelse), now)
        case For(carried=carried, body=body):
            if list(operands(op)).count(now) != 1 or now not in carried:
                return None
            if any(now in values_read(o) for o in body.ops) or now in body.yields:
                return None
            place = carried.index(now)
            param = op.carried_params[place]
            ends = [k for k, a in enumerate(body.yields) if k != place and a is param]
            if ends or not _adds_up(body, param, body.yields[place]):
                return None
            return op.results[place]
    return None


def _common_sum(op: If, sides: tuple[Block, Block], now: Value) -> Value | None:
    for place, result in enumerate(op.results):
        if all(_adds_up(side, now, side.yields[place]) for side in sides):
            others = [a for side in sides for k, a in enumerate(side.yields) if k != place]
            return result if now not in others else None
    return None


# ---- putting the loops together


def _put_together(block: Block, start: int, at: int, pair: _Pair) -> Block | None:
    forward, reverse = pair.forward, pair.reverse
    lists = _appended_lists(reverse)
    if lists is None:
        return None
    between = block.ops[start + 1 : at]
    early = _moved_before(between, forward, pair)
    if early is None:
        return None
    turned = _turned_back(block, reverse, lists)
    if turned is None:
        return None
    counts = pair_lengths(pair, between)
    counted = {r for op in counts for r in results(op)}
    others = [op for op in block.ops if op not in counts and op is not reverse]
    if any(v in counted for op in others for v in values_read(op)):
        return None
    loop, more = _fused(pair)
    late = [op for op in between if op not in early and op not in counts]
    ops = [*block.ops[:start], *early, *more, loop, *late, *block.ops[at + 1 :]]
    tape_start = None if pair.tape is None else forward.carried[pair.tape]
    ops = [op for op in ops if not (isinstance(op, Apply) and op.result is tape_start)]
    return _in_order(Block(block.params, tuple(ops), block.yields), reverse, turned)


def _straightened(block: Block, at: int) -> Block | None:
    """A reverse loop whose order does not matter goes forward, if that saves turning lists round.

    It has no loop to go into, where nobody asks for what that computes.
    """
    reverse = block.ops[at]
    assert isinstance(reverse, For)
    match reverse.streams:
        case (Items(sequence=sequence, backward=True),) if not reverse.stops:
            lists = _appended_lists(reverse)
            turned = _turned_back(block, reverse, lists) if lists else None
            if turned is None:
                return None
            loop = replace(reverse, streams=(Items(sequence),))
            ops = (*block.ops[:at], loop, *block.ops[at + 1 :])
            return _in_order(Block(block.params, ops, block.yields), reverse, turned)
    return None


def _appended_lists(reverse: For) -> set[int] | None:
    """The lists that a loop appends to; None if its order matters."""
    body = reverse.body
    lists: set[int] = set()
    for k, param in enumerate(reverse.carried_params):
        if not _adds_up(body, param, body.yields[k]):
            return None
        if isinstance(param.type, ListType) and _is_appended(body, param):
            lists.add(k)
    if any(isinstance(op, (Effect, Call, With, Try)) for op in all_ops(body)):
        return None
    return lists


def _in_order(block: Block, reverse: For, turned: dict[Op, int]) -> Block:
    """The block with lists used as they are that it brings into order."""
    names: dict[Value, Atom] = {
        op.result: reverse.results[k] for op, k in turned.items() if isinstance(op, Apply)
    }

    read = renaming(names)

    made = tuple(map_atoms(op, read, lambda v: v) for op in block.ops if op not in turned)
    return Block(block.params, made, tuple(map(read, block.yields)))


def pair_lengths(pair: _Pair, ops: tuple[Op, ...]) -> list[Op]:
    """Operations that ask for the length of the tape, and count from it."""
    if pair.tape is None:
        return []
    found: dict[Value, Op] = {}
    tape = pair.forward.results[pair.tape]
    for op in ops:
        if isinstance(op, Apply) and any(a is tape or a in found for a in op.args):
            found[op.result] = op
    return list(found.values())


def _is_appended(body: Block, param: Value) -> bool:
    return any(isinstance(op, Update) and op.target is param for op in body.ops)


def _moved_before(between: tuple[Op, ...], forward: For, pair: _Pair) -> list[Op] | None:
    """What the reverse loop needs of the operations before it, all of which can go first.

    None if some depend on the loop, or if an order would change that has to be kept.
    """
    late: set[Value] = set(forward.results)
    counts = pair_lengths(pair, between)
    later: list[Op] = []
    early: list[Op] = []
    for op in between:
        if op in counts:
            continue
        if isinstance(op, (Effect, Call, With, Try)):
            return None
        if any(v in late for v in values_read(op)):
            late.update(results(op))
            later.append(op)
        else:
            early.append(op)
    reverse = pair.reverse
    needed = dict(values_read(reverse))
    for stream in reverse.streams:
        for atom in _stream_values(stream):
            if isinstance(atom, Value):
                needed.pop(atom, None)
    if any(v in late for v in needed):
        return None
    written = {v for op in (*early, reverse) for v in _targets(op)}
    readers = (forward, *later)
    if any(v in written for op in readers for v in values_read(op)):
        return None
    return early


def _stream_values(stream: Stream) -> tuple[Atom, ...]:
    if isinstance(stream, Items):
        return (stream.sequence,)
    return (stream.start, stream.stop, stream.step)


def _targets(op: Op) -> list[Value]:
    """The versions of memory that an operation writes over."""
    found: list[Value] = []
    for inner in (op, *(o for b in blocks(op) for o in all_ops(b))):
        if isinstance(inner, (Update, Accumulate)) and isinstance(inner.target, Value):
            found.append(inner.target)
        if isinstance(inner, (For, While)):
            found += [v for v in inner.carried if isinstance(v, Value) and _is_memory(v)]
    return found


def _is_memory(value: Value) -> bool:
    return not isinstance(atom_type(value), Number)


def _turned_back(block: Block, reverse: For, lists: set[int]) -> dict[Op, int] | None:
    """The operations that bring appended lists into order, which they then have anyway."""
    found: dict[Op, int] = {}
    for k in lists:
        result = reverse.results[k]
        users = [op for op in block.ops if result in values_read(op)]
        if result in block.yields or len(users) != 1:
            return None
        user = users[0]
        if (
            not isinstance(user, Apply)
            or user.callee is not operator.getitem
            or user.args[0] is not result
            or not isinstance(user.args[1], Literal)
            or user.args[1].value != _BACKWARD
        ):
            return None
        found[user] = k
    return found


def _fused(pair: _Pair) -> tuple[For, list[Op]]:
    """The two loops as one, and what goes before it."""
    forward, reverse = pair.forward, pair.reverse
    names: dict[Value, Atom] = dict(pair.targets)
    kept = pair.tape
    body = forward.body
    last = None if kept is None else body.yields[kept]
    ops = [op for op in body.ops if last is None or last not in results(op)]
    packed = next((op for op in ops if pair.item in results(op)), None)
    parts = isinstance(packed, Apply) and packed.callee is make_tuple

    read = renaming(names)

    for op in reverse.body.ops:
        made = map_atoms(op, read, lambda v: v)
        if (
            parts
            and isinstance(packed, Apply)
            and isinstance(made, Apply)
            and made.callee is operator.getitem
            and made.args[0] is pair.item
            and isinstance(made.args[1], Literal)
        ):
            names[made.result] = packed.args[made.args[1].value]
        else:
            ops.append(made)
    if parts and not any(pair.item in values_read(op) for op in ops):
        ops = [op for op in ops if op is not packed]
    more: list[Op] = []
    streams = forward.streams
    targets = forward.targets
    if pair.position is not None:
        first = streams[0]
        assert isinstance(first, Items)
        length = Value("", INT)
        more.append(Apply(len, (first.sequence,), (), length, forward.loc))
        streams = (Range(Literal(0), length, Literal(1)), *streams)
        targets = (Value(pair.position.hint, INT), *targets)
        counted = renaming({pair.position: targets[0]})
        ops = [map_atoms(op, counted, lambda v: v) for op in ops]
    keep = [k for k in range(len(forward.carried)) if k != kept]
    block = Block(
        (*targets, *(forward.carried_params[k] for k in keep), *reverse.carried_params),
        tuple(ops),
        (*(body.yields[k] for k in keep), *map(read, reverse.body.yields)),
    )
    block = without_recomputed(merged_choices(without_recomputed(block)))
    carried = (*(forward.carried[k] for k in keep), *reverse.carried)
    outcomes = (*(forward.results[k] for k in keep), *reverse.results)
    return For(streams, carried, block, outcomes, False, forward.loc), more
