"""Rewrites of a program that leave its value and its derivatives as they are.

Each takes a program and choices and gives a rewritten program, or None where it does not
apply. All are conservative: names decide, and two names that agree count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from tests.fuzz.choices import Choices
from tests.fuzz.expressions import build
from tests.fuzz.tree import (
    Block,
    Expr,
    Node,
    Path,
    Program,
    Stmt,
    assign,
    at,
    binds,
    const,
    has_kind,
    has_op,
    identifiers,
    name,
    put,
    reads,
    size,
    transform,
    walk,
)  # fmt: skip

T = TypeVar("T")
Rewrite = Callable[[Program, Choices], Program | None]

_AWKWARD = (
    "x_bar", "x_dot", "out", "out_bar", "dx", "h_stack", "if_taken", "k", "ct", "seed", "f_vjp",
    "runtime", "sum_", "größe", "lambda_", "self", "tape", "_", "__x", "a_bar", "a_bar2", "primal",
)  # fmt: skip


def rename(program: Program, choices: Choices) -> Program | None:
    """Every name but `f` becomes another, some of them such as generated code may want."""
    if any(isinstance(node, Stmt) and node.text == "**" for _, node in walk(program)):
        # Keywords become keys there, and the text of a key is not a name.
        return None
    names = identifiers(program)
    pool = list(_AWKWARD)
    mapping = {"": "", "f": "f"}
    for position, old in enumerate(names):
        if pool and choices.chance(60):
            mapping[old] = pool.pop(choices.integer(0, len(pool) - 1))
        else:
            mapping[old] = f"{old}_{position}"

    def change(node: Node) -> Node:
        if isinstance(node, Expr | Stmt) and node.names:
            return replace(node, names=tuple(mapping[old] for old in node.names))
        return node

    renamed: Program = transform(program, change)
    return renamed


def introduce_temporary(program: Program, choices: Choices) -> Program | None:
    """`a = sin(x) * y` becomes `t = sin(x)` and `a = t * y`."""
    spot = _pick(choices, _hoistable(program))
    if spot is None:
        return None
    block_path, position, expr_path = spot
    expr = at(program, expr_path)
    assert isinstance(expr, Expr)
    fresh = _fresh(program, "temp")
    new: Program = put(program, expr_path, name(fresh, expr.type))
    return _insert(new, block_path, position, (assign(fresh, expr),))


def outline_expression(program: Program, choices: Choices) -> Program | None:
    """`a = sin(x) * y` becomes `a = part(x) * y` with a new helper `part`."""
    spot = _pick(choices, _hoistable(program))
    if spot is None:
        return None
    expr = at(program, spot[2])
    assert isinstance(expr, Expr)
    free = _free_names(expr)
    title = _fresh(program, "part")
    body = Block((Stmt("return", exprs=(expr,)),))
    called = Expr(
        "call", expr.type, tuple(name(variable, "S") for variable in free),
        (title, *("" for _ in free)),
    )  # fmt: skip
    new: Program = put(program, spot[2], called)
    return _insert(new, (0,), len(new.body.stmts) - 1, (Stmt("def", (title, *free), (), (body,)),))


def outline_block(program: Program, choices: Choices) -> Program | None:
    """A run of assignments becomes a helper that returns what it bound."""
    runs: list[tuple[Path, int, int]] = []
    for path, block in _blocks_of_f(program):
        for start in range(len(block.stmts)):
            stop = start
            while stop < len(block.stmts) and _is_pure_assignment(block.stmts[stop]):
                stop += 1
            if stop > start:
                runs.append((path, start, stop))
    run = _pick(choices, runs)
    if run is None:
        return None
    path, start, stop = run
    block = _block_at(program, path)
    chosen = block.stmts[start:stop]
    bound = list(dict.fromkeys(variable for stmt in chosen for variable in stmt.names))
    needed: list[str] = []
    known: set[str] = set()
    for stmt in chosen:
        for expr in stmt.exprs:
            needed += [v for v in _free_names(expr) if v not in known and v not in needed]
        known.update(stmt.names)
    title = _fresh(program, "block")
    # A pair, or one value: what it returns must be a single expression of the tree.
    if len(bound) > 2:
        return None
    values = [name(variable, "S") for variable in bound]
    result = values[0] if len(values) == 1 else build("pair", *values)
    body = Block((*chosen, Stmt("return", exprs=(result,))))
    called = Expr(
        "call", "T", tuple(name(variable, "S") for variable in needed),
        (title, *("" for _ in needed)),
    )  # fmt: skip
    replaced = Block((*block.stmts[:start], Stmt("assign", tuple(bound), (called,)),
                      *block.stmts[stop:]))  # fmt: skip
    new: Program = put(program, path, replaced)
    helper = Stmt("def", (title, *needed), (), (body,))
    return _insert(new, (0,), len(new.body.stmts) - 1, (helper,))


def swap_independent(program: Program, choices: Choices) -> Program | None:
    """Two neighbouring assignments, neither of which needs or changes what the other binds."""
    spots: list[tuple[Path, int]] = []
    for path, block in _blocks_of_f(program):
        for position, (first, second) in enumerate(zip(block.stmts, block.stmts[1:], strict=False)):
            if _is_pure_assignment(first) and _is_pure_assignment(second):
                one, two = set(first.names), set(second.names)
                if not (one & two or one & reads(second) or two & reads(first)):
                    spots.append((path, position))
    spot = _pick(choices, spots)
    if spot is None:
        return None
    path, position = spot
    stmts = list(_block_at(program, path).stmts)
    stmts[position], stmts[position + 1] = stmts[position + 1], stmts[position]
    swapped: Program = put(program, path, Block(tuple(stmts)))
    return swapped


def negate_if(program: Program, choices: Choices) -> Program | None:
    """`if c: A else: B` becomes `if not c: B else: A`."""
    spots = [
        path for path, node in walk(program)
        if isinstance(node, Stmt) and node.kind == "if" and not has_op(node.exprs[0], "walrus")
    ]  # fmt: skip
    path = _pick(choices, spots)
    if path is None:
        return None
    stmt = at(program, path)
    assert isinstance(stmt, Stmt)
    then, orelse = stmt.blocks
    flipped = replace(stmt, exprs=(build("not", stmt.exprs[0]),), blocks=(orelse, then))
    negated: Program = put(program, path, flipped)
    return negated


def unroll(program: Program, choices: Choices) -> Program | None:
    """A loop over a constant range becomes its passes, one after the other."""
    spots = []
    for path, node in walk(program):
        match node:
            case Stmt(
                kind="for",
                exprs=(Expr(op="range", args=(Expr(op="const", text=count),)),),
                blocks=(body, Block(stmts=())),
            ) if int(count) > 0 and not (
                has_kind(body, "break", "continue", "def") or has_op(body, "lambda", "walrus")
            ):
                spots.append((path, int(count)))
            case _:
                pass
    spot = _pick(choices, spots)
    if spot is None:
        return None
    path, passes_count = spot
    loop = at(program, path)
    assert isinstance(loop, Stmt)
    passes: list[Stmt] = []
    for number in range(passes_count):
        passes.append(assign(loop.names[0], const(str(number), "I")))
        passes.extend(loop.blocks[0].stmts)
    block = _block_at(program, path[:-1])
    stmts = (*block.stmts[: path[-1]], *passes, *block.stmts[path[-1] + 1 :])
    unrolled: Program = put(program, path[:-1], Block(stmts))
    return unrolled


def wrap_in_loop(program: Program, choices: Choices) -> Program | None:
    """A statement `A` becomes `for once in range(1): A`."""
    spots = [
        (path, position)
        for path, block in _blocks_of_f(program)
        for position, stmt in enumerate(block.stmts)
        if not has_kind(stmt, "break", "continue", "def", "nonlocal")
    ]
    spot = _pick(choices, spots)
    if spot is None:
        return None
    path, position = spot
    block = _block_at(program, path)
    once = build("range", const("1", "I"))
    loop = Stmt("for", (_fresh(program, "once"),), (once,),
                (Block((block.stmts[position],)), Block()))  # fmt: skip
    stmts = (*block.stmts[:position], loop, *block.stmts[position + 1 :])
    wrapped: Program = put(program, path, Block(stmts))
    return wrapped


REWRITES: dict[str, Rewrite] = {
    rewrite.__name__: rewrite
    for rewrite in (
        rename,
        introduce_temporary,
        outline_expression,
        outline_block,
        swap_independent,
        negate_if,
        unroll,
        wrap_in_loop,
    )  # fmt: skip
}

# Operations inside which an expression is not evaluated exactly once, or not in this scope.
_LAZY = ("ternary", "ternary_V", "ternary_W", "ternary_M", "and", "or", "chain", "lambda", "walrus")


def _hoistable(program: Program) -> list[tuple[Path, int, Path]]:
    """Expressions that may run just before their statement: block, position, expression."""
    spots = []
    for block_path, block in _blocks_of_f(program):
        for position, stmt in enumerate(block.stmts):
            if stmt.kind not in ("assign", "return", "aug", "append", "star", "if"):
                continue
            for place, expr in enumerate(stmt.exprs):
                root = (*block_path, position, place)
                spots += [
                    (block_path, position, path)
                    for path, node in _eager(expr, root)
                    if node.op not in ("name", "const") and not has_op(node, *_UNMOVABLE)
                    and node.type in "SVWMLTD" and size(node) < 40
                ]  # fmt: skip
    return spots


_UNMOVABLE = ("call", "lambda", "walrus", "compose")


def _eager(expr: Expr, path: Path) -> list[tuple[Path, Expr]]:
    """The parts of an expression that it always evaluates, once, where it stands."""
    if has_op(expr, "call", "walrus"):
        # A call could change what a moved part reads, and a walrus does.
        return []
    found = [(path, expr)]
    if expr.op in _LAZY or (expr.names and expr.op != "call"):
        return found
    for position, arg in enumerate(expr.args):
        found += _eager(arg, (*path, position))
    return found


def _blocks_of_f(program: Program) -> list[tuple[Path, Block]]:
    """Blocks of `f` outside its inner functions and outside what these rebind."""
    root: Path = (0, len(program.body.stmts) - 1)
    inner = [
        path for path, node in walk(program.main, root)
        if path != root and isinstance(node, Stmt) and node.kind == "def"
    ]  # fmt: skip
    return [
        (path, node)
        for path, node in walk(program.main, root)
        if isinstance(node, Block) and not any(path[: len(there)] == there for there in inner)
    ]


def _is_pure_assignment(stmt: Stmt) -> bool:
    return stmt.kind == "assign" and not has_op(stmt, *_UNMOVABLE) and not any(
        expr.type in "LD" for expr in stmt.exprs
    )  # fmt: skip


def _free_names(expr: Expr) -> list[str]:
    """Names read in an expression that it does not bind itself, in order."""
    bound = {
        variable for _, node in walk(expr) if isinstance(node, Expr) and node.op != "name"
        for variable in node.names
    }  # fmt: skip
    found: dict[str, None] = {}
    for _, node in walk(expr):
        if isinstance(node, Expr) and node.op == "name" and node.names[0] not in bound:
            found[node.names[0]] = None
    return [variable for variable in found if variable not in ("SCALE", "TABLE")]


def _block_at(program: Program, path: Path) -> Block:
    block = at(program, path)
    assert isinstance(block, Block)
    return block


def _insert(program: Program, path: Path, position: int, stmts: tuple[Stmt, ...]) -> Program:
    block = _block_at(program, path)
    new = Block((*block.stmts[:position], *stmts, *block.stmts[position:]))
    inserted: Program = put(program, path, new)
    return inserted


def _fresh(program: Program, stem: str) -> str:
    taken = set(identifiers(program)) | binds(program)
    number = 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def _pick(choices: Choices, items: Sequence[T]) -> T | None:
    return choices.pick(items) if items else None
