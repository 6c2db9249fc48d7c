"""The tree a random program is made of.

All nodes have one shape (a kind, names, children), so that shrinking and rewriting work on any
program without a case for each kind of statement:

    Program -> Block -> Stmt -> Expr, Block -> ...

A path is a tuple of child positions from the root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

LIMIT = 4.0
"""Every number that a variable holds is at most this large: programs cannot overflow."""


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: an operation of the grammar, or one of name, const, call, lambda."""

    op: str
    type: str
    args: tuple[Expr, ...] = ()
    names: tuple[str, ...] = ()
    """Names it binds or mentions. For a call: the callee, then one keyword per argument, or ''."""
    text: str = ""
    """The literal of a const."""
    bound: float = field(default=LIMIT, compare=False)
    """No entry of the value is larger than this, as long as variables keep to LIMIT."""


@dataclass(frozen=True, slots=True)
class Block:
    stmts: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Stmt:
    """A statement; the printer lists the kinds."""

    kind: str
    names: tuple[str, ...] = ()
    exprs: tuple[Expr, ...] = ()
    blocks: tuple[Block, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """Module-level statements, the last of which defines `f`, and the arguments to call it with."""

    body: Block
    types: tuple[str, ...]
    args: tuple[Any, ...] = field(compare=False)

    @property
    def main(self) -> Stmt:
        return self.body.stmts[-1]


Node = Program | Block | Stmt | Expr
Path = tuple[int, ...]


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Program(body=body):
            return (body,)
        case Block(stmts=stmts):
            return stmts
        case Stmt(exprs=exprs, blocks=blocks):
            return exprs + blocks
        case Expr(args=args):
            return args
        case _:
            assert_never(node)


def with_children(node: Node, new: tuple[Any, ...]) -> Node:
    match node:
        case Program():
            return replace(node, body=new[0])
        case Block():
            return Block(new)
        case Stmt(exprs=exprs):
            return replace(node, exprs=new[: len(exprs)], blocks=new[len(exprs) :])
        case Expr():
            return replace(node, args=new)
        case _:
            assert_never(node)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node with its path, parents first."""
    yield path, node
    for position, child in enumerate(children(node)):
        yield from walk(child, (*path, position))


def at(node: Node, path: Path) -> Node:
    for position in path:
        node = children(node)[position]
    return node


def put(node: Any, path: Path, new: Node) -> Any:
    """The tree with the node at `path` replaced."""
    if not path:
        return new
    parts = list(children(node))
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    return with_children(node, tuple(parts))


def transform(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with `change` applied to every node, children first."""
    parts = children(node)
    new = tuple(transform(part, change) for part in parts)
    if new != parts:
        node = with_children(node, new)
    return change(node)


def size(node: Node) -> int:
    return sum(1 for _ in walk(node))


def statements(node: Node) -> int:
    return sum(1 for _, part in walk(node) if isinstance(part, Stmt))


def reads(node: Node) -> set[str]:
    """Names whose value is read somewhere in `node`, bound there or not."""
    found: set[str] = set()
    for _, part in walk(node):
        match part:
            case Expr(op="name", names=names):
                found.update(names)
            case Expr(op="call", names=(callee, *_)):
                found.add(callee)
            case Stmt(kind="append" | "store" | "aug" | "halve" | "nonlocal", names=names):
                found.update(names)
            case Stmt(kind="pop", names=(_, popped)):
                found.add(popped)
            case _:
                pass
    return found


def binds(node: Node) -> set[str]:
    """Names that running `node` may bind or whose object it may change."""
    found: set[str] = set()
    for _, part in walk(node):
        match part:
            case Stmt(kind="def", names=(name, *_)):
                found.add(name)
            case Stmt(kind="return"):
                pass
            case Stmt(names=names):
                found.update(names)
            case Expr(op="walrus", names=names):
                found.update(names)
            case _:
                pass
    return found


def has_kind(node: Node, *kinds: str) -> bool:
    """Whether a statement of one of the kinds occurs in `node`."""
    return any(isinstance(part, Stmt) and part.kind in kinds for _, part in walk(node))


def has_op(node: Node, *ops: str) -> bool:
    return any(isinstance(part, Expr) and part.op in ops for _, part in walk(node))


def identifiers(program: Program) -> list[str]:
    """Every name the program mentions, in order of appearance, except `f`."""
    seen: dict[str, None] = {}
    for _, part in walk(program):
        if isinstance(part, Expr | Stmt):
            seen.update(dict.fromkeys(part.names))
    return [name for name in seen if name and name != "f"]


def name(identifier: str, kind: str) -> Expr:
    return Expr("name", kind, names=(identifier,))


def const(literal: str, kind: str, bound: float = LIMIT) -> Expr:
    return Expr("const", kind, text=literal, bound=bound)


def assign(target: str, value: Expr) -> Stmt:
    return Stmt("assign", (target,), (value,))
