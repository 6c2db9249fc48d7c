"""What every pass asks of an operation: what it reads, what it defines, which blocks it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from typing import Any, assert_never

from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    Handler,
    If,
    Items,
    Op,
    Range,
    Stream,
    Try,
    Update,
    Value,
    View,
    While,
    With,
)


def operands(op: Op) -> tuple[Atom, ...]:
    """The atoms an operation reads itself, outside its blocks."""
    match op:
        case Apply() | Effect():
            if not op.keywords:
                return op.args
            return (*op.args, *(atom for _, atom in op.keywords))
        case Update():
            return (op.target, *op.args, *path_atoms(op.path))
        case Accumulate(index=None):
            return (op.target, op.term)
        case Accumulate():
            assert op.index is not None
            return (op.target, op.index, op.term)
        case If():
            return (op.test,)
        case For():
            return (*(atom for stream in op.streams for atom in stream_atoms(stream)), *op.carried)
        case While():
            return op.carried
        case With():
            return (op.manager,)
        case Try():
            return tuple(h.kinds for h in op.handlers if h.kinds is not None)
        case Call():
            return op.args
        case _:
            assert_never(op)


def path_atoms(path: tuple[View, ...]) -> tuple[Atom, ...]:
    """The atoms a path reads."""
    return tuple(a for v in path for a in (*v.args, *(atom for _, atom in v.keywords)))


def map_path(path: tuple[View, ...], read: Callable[[Atom], Atom]) -> tuple[View, ...]:
    """A path with its atoms renamed."""
    return tuple(
        View(v.callee, tuple(map(read, v.args)), tuple((n, read(a)) for n, a in v.keywords))
        for v in path
    )


def stream_atoms(stream: Stream) -> tuple[Atom, ...]:
    """The atoms a stream reads."""
    match stream:
        case Range():
            return (stream.start, stream.stop, stream.step)
        case Items():
            return (stream.sequence,)
        case _:
            assert_never(stream)


def results(op: Op) -> tuple[Value, ...]:
    """The values an operation defines in the block it stands in."""
    match op:
        case Apply():
            return (op.result,)
        case Effect():
            return () if op.result is None else (op.result,)
        case Update():
            return (op.version,) if op.result is None else (op.version, op.result)
        case Accumulate():
            return (op.version,)
        case If() | For() | While() | With() | Try() | Call():
            return op.results
        case _:
            assert_never(op)


def blocks(op: Op) -> tuple[Block, ...]:
    """The blocks of an operation, in the order they are printed."""
    match op:
        case Apply() | Effect() | Update() | Accumulate() | Call():
            return ()
        case If():
            return (op.then, op.orelse)
        case For():
            return (op.body,)
        case While():
            return (op.test, op.body)
        case With():
            return (op.body,)
        case Try():
            final = () if op.final is None else (op.final,)
            return (op.body, *(h.body for h in op.handlers), *final)
        case _:
            assert_never(op)


def all_ops(block: Block) -> Iterator[Op]:
    """All operations of a block and of the blocks in it, in the order they are printed."""
    for op in block.ops:
        yield op
        for inner in blocks(op):
            yield from all_ops(inner)


def without_ops(block: Block, gone: Container[Op]) -> Block:
    """The block without some operations, in the blocks in it too."""
    ops = tuple(
        map_blocks(op, lambda b: without_ops(b, gone)) for op in block.ops if op not in gone
    )
    return Block(block.params, ops, block.yields)


def map_blocks(op: Op, change: Callable[[Block], Block]) -> Op:
    """The operation with its blocks changed."""
    match op:
        case If():
            return replace(op, then=change(op.then), orelse=change(op.orelse))
        case While():
            return replace(op, test=change(op.test), body=change(op.body))
        case For() | With():
            return replace(op, body=change(op.body))
        case Try():
            handlers = tuple(Handler(h.kinds, change(h.body)) for h in op.handlers)
            final = None if op.final is None else change(op.final)
            return replace(op, body=change(op.body), handlers=handlers, final=final)
    return op


def free_values(block: Block) -> dict[Value, None]:
    """The values a block reads and does not define, in the order of first use."""
    free: dict[Value, None] = {}
    _collect_free(block, set(), free)
    return free


def read_counts(block: Block) -> Counter[Value]:
    """How often each value is read in a block and in those within it."""
    reads = Counter(a for a in block.yields if isinstance(a, Value))
    for op in block.ops:
        reads.update(a for a in operands(op) if isinstance(a, Value))
        for inner in blocks(op):
            reads += read_counts(inner)
    return reads


def values_read(op: Op) -> dict[Value, None]:
    """The values an operation and its blocks read from around it, in the order of first use."""
    free: dict[Value, None] = {a: None for a in operands(op) if isinstance(a, Value)}
    for block in blocks(op):
        _collect_free(block, set(), free)
    return free


def _collect_free(block: Block, defined: set[Value], free: dict[Value, None]) -> None:
    defined.update(block.params)
    for op in block.ops:
        for atom in operands(op):
            if isinstance(atom, Value) and atom not in defined:
                free[atom] = None
        for inner in blocks(op):
            inner_free: dict[Value, None] = {}
            _collect_free(inner, set(), inner_free)
            free.update((v, None) for v in inner_free if v not in defined)
        defined.update(results(op))
    for atom in block.yields:
        if isinstance(atom, Value) and atom not in defined:
            free[atom] = None


def map_atoms(
    op: Op,
    read: Callable[[Atom], Atom],
    define: Callable[[Value], Value],
    skip: Callable[[Op], bool] | None = None,
) -> Op:
    """A copy of an operation with its operands and results renamed, in its blocks too.

    Operations for which ``skip`` holds stay as they are.
    """
    if skip is not None and skip(op):
        return op

    def block(b: Block) -> Block:
        params = tuple(map(define, b.params))
        ops = tuple(map_atoms(o, read, define, skip) for o in b.ops)
        return Block(params, ops, tuple(map(read, b.yields)))

    def keywords(pairs: tuple[tuple[str, Atom], ...]) -> tuple[tuple[str, Atom], ...]:
        return tuple((name, read(atom)) for name, atom in pairs)

    # operands are renamed before results: a result never reads itself
    match op:
        case Apply():
            args, kw, made = tuple(map(read, op.args)), keywords(op.keywords), define(op.result)
            if made is op.result and args == op.args and kw == op.keywords:
                return op
            return Apply(op.callee, args, kw, made, op.loc)
        case Effect():
            args, kw = tuple(map(read, op.args)), keywords(op.keywords)
            return Effect(
                op.callee, args, kw, None if op.result is None else define(op.result), op.loc
            )
        case Update():
            target, args = read(op.target), tuple(map(read, op.args))
            assert isinstance(target, Value)
            result = None if op.result is None else define(op.result)
            path = map_path(op.path, read)
            return Update(op.callee, target, args, define(op.version), result, op.loc, path)
        case Accumulate():
            target, term = read(op.target), read(op.term)
            index = None if op.index is None else read(op.index)
            version = define(op.version)
            if (target, index, term, version) == (op.target, op.index, op.term, op.version):
                return op
            return Accumulate(target, index, term, version, op.loc)
        case If():
            test = read(op.test)
            then, orelse = block(op.then), block(op.orelse)
            return If(test, then, orelse, tuple(map(define, op.results)), op.loc)
        case For():
            streams = tuple(_map_stream(s, read) for s in op.streams)
            carried = tuple(map(read, op.carried))
            body = block(op.body)
            return For(streams, carried, body, tuple(map(define, op.results)), op.stops, op.loc)
        case While():
            carried = tuple(map(read, op.carried))
            test_block, body = block(op.test), block(op.body)
            results_ = tuple(map(define, op.results))
            return While(carried, test_block, body, results_, op.stops, op.loc)
        case With():
            manager = read(op.manager)
            return With(manager, block(op.body), tuple(map(define, op.results)), op.loc)
        case Try():
            body = block(op.body)
            handlers = tuple(
                Handler(None if h.kinds is None else read(h.kinds), block(h.body))
                for h in op.handlers
            )
            final = None if op.final is None else block(op.final)
            return Try(body, handlers, final, tuple(map(define, op.results)), op.loc)
        case Call():
            args = tuple(map(read, op.args))
            return replace(op, args=args, results=tuple(map(define, op.results)))
        case _:
            assert_never(op)


def _map_stream(stream: Stream, read: Callable[[Atom], Atom]) -> Stream:
    match stream:
        case Range():
            return Range(read(stream.start), read(stream.stop), read(stream.step))
        case Items():
            return Items(read(stream.sequence), stream.backward)
        case _:
            assert_never(stream)


def renaming(names: Mapping[Value, Any]) -> Callable[[Atom], Atom]:
    """What is read instead of an atom, where values have other names; they may get more later."""

    def read(atom: Atom) -> Atom:
        return names.get(atom, atom) if isinstance(atom, Value) else atom

    return read


def rename_values(block: Block, names: Mapping[Value, Any]) -> Block:
    """The block, reading other atoms for some values."""
    if not names:
        return block
    read = renaming(names)
    ops = tuple(map_atoms(op, read, lambda v: v) for op in block.ops)
    return Block(block.params, ops, tuple(map(read, block.yields)))


def copy_block(block: Block, mapping: dict[Value, Atom]) -> Block:
    """A copy of a block with fresh values; ``mapping`` gives what free values become."""
    mapping = dict(mapping)

    read = renaming(mapping)

    def define(value: Value) -> Value:
        fresh = Value(value.hint, value.type, masked=value.masked)
        mapping[value] = fresh
        return fresh

    params = tuple(map(define, block.params))
    ops = tuple(map_atoms(op, read, define) for op in block.ops)
    return Block(params, ops, tuple(map(read, block.yields)))


def overwritten(op: Op) -> dict[Value, None]:
    """The versions from around an operation that it, or a block in it, writes over."""
    if isinstance(op, Update):
        return {op.target: None}
    found: dict[Value, None] = {}
    for block in blocks(op):
        for inner in block.ops:
            found.update(overwritten(inner))
    if isinstance(op, (For, While)):
        for block in blocks(op):
            params = block.params[len(block.params) - len(op.carried) :]
            for param, init in zip(params, op.carried, strict=True):
                if param in found and isinstance(init, Value):
                    found[init] = None
    return found
