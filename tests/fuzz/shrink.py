"""Make a failing program small: take parts away while it still fails in the same way.

Greedy and structural. The largest cuts are tried first: whole statements, compound
statements replaced by what is in them, parameters, then expressions replaced by a part, a name
or a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.fuzz.expressions import build
from tests.fuzz.tree import (
    Block,
    Expr,
    Path,
    Program,
    Stmt,
    at,
    const,
    name,
    put,
    reads,
    size,
    transform,
    walk,
)  # fmt: skip

_PLAIN = {
    "S": [const("1.0", "S"), const("0.5", "S")],
    "V": [const("np.array([0.3, 0.7, 1.2])", "V")],
    "W": [const("np.array([0.3, 0.7])", "W")],
    "M": [const("np.array([[0.3, 0.7, 1.2], [0.6, 0.2, 0.9]])", "M")],
    "I": [const("0", "I"), const("1", "I"), const("2", "I")],
    "B": [const("True", "B"), const("False", "B")],
    "L": [const("[0.3, 0.7]", "L")],
    "T": [const("(0.3, 0.7)", "T")],
    "D": [const('{"a": 0.3, "b": 0.7}', "D")],
    "iI": [build("range", const("2", "I")), build("range", const("1", "I"))],
}
"""The plainest expressions of each type."""


def shrink(
    program: Program, fails: Callable[[Program], bool], most_runs: int = 1500
) -> Program:  # fmt: skip
    """A smaller program for which `fails` still holds. `fails` must hold for `program`."""
    runs = 0
    smaller = True
    while smaller:
        smaller = False
        for candidates in (
            _statement_cuts, _parameter_cuts, _expression_cuts, _inlined, _rounder_args,
        ):  # fmt: skip
            position = 0
            while True:
                options = list(candidates(program))[position:]
                for option in options:
                    if runs >= most_runs:
                        return program
                    runs += 1
                    if fails(option):
                        program = option
                        smaller = True
                        break
                    # What failed to help before this point is not tried again in this round.
                    position += 1
                else:
                    break
    return program


def _statement_cuts(program: Program) -> Iterator[Program]:
    found = [(path, node) for path, node in walk(program) if isinstance(node, Block)]
    for path, block in found:
        stmts = block.stmts
        fixed = 1 if path == (0,) else 0  # The last statement of a module is f itself.
        for start in range(len(stmts) - 1 - fixed, -1, -1):
            yield put(program, path, Block(stmts[:start] + stmts[start + 1 :]))
        for position, stmt in enumerate(stmts):
            for inside in _unwrapped(stmt):
                yield put(program, path, Block(stmts[:position] + inside + stmts[position + 1 :]))
        for position, stmt in enumerate(stmts):
            for simpler in _simpler(stmt):
                cut = (*stmts[:position], simpler, *stmts[position + 1 :])
                yield put(program, path, Block(cut))


def _unwrapped(stmt: Stmt) -> Iterator[tuple[Stmt, ...]]:
    """What a compound statement may be replaced by."""
    if stmt.kind != "def":
        for block in stmt.blocks:
            yield block.stmts


def _simpler(stmt: Stmt) -> Iterator[Stmt]:
    """The statement with a part less."""
    match stmt:
        case Stmt(kind="assign", names=names, exprs=exprs) if len(names) == len(exprs) > 1:
            for position in range(len(names)):
                yield replace(stmt, names=(names[position],), exprs=(exprs[position],))
        case Stmt(kind="aug", names=names, exprs=exprs):
            yield Stmt("assign", names, exprs)
        case Stmt(kind="pop" | "star", names=names, exprs=exprs):
            yield Stmt("assign", (names[0],), exprs)
        case Stmt(kind="for" | "while" | "halve" | "if", blocks=(body, orelse)) if orelse.stmts:
            yield replace(stmt, blocks=(body, Block()))
        case Stmt(kind="while", text=limit) if limit != "1":
            yield replace(stmt, text=str(int(limit) - 1))
        case Stmt(kind="def", exprs=defaults) if defaults:
            yield replace(stmt, exprs=defaults[1:])
        case _:
            pass


def _parameter_cuts(program: Program) -> Iterator[Program]:
    """Unread parameters: of `f` with their arguments, of helpers with those of their calls."""
    for path, node in list(walk(program)):
        if not (isinstance(node, Stmt) and node.kind == "def"):
            continue
        used = reads(node.blocks[0])
        for position in range(1, len(node.names)):
            if node.names[position] in used or (node is program.main and len(node.names) == 2):
                continue
            cut = replace(node, names=_without(node.names, position))
            if node.exprs:
                first = len(node.names) - len(node.exprs)
                if position >= first:
                    cut = replace(cut, exprs=_without(node.exprs, position - first))
            if node.text and position == len(node.names) - 1:
                cut = replace(cut, text="")
            new: Program = put(program, path, cut)
            if node is program.main:
                yield replace(
                    new, types=_without(program.types, position - 1),
                    args=_without(program.args, position - 1),
                )  # fmt: skip
            else:
                yield _drop_argument(new, node.names[0], position, node.names[position])


def _drop_argument(program: Program, callee: str, position: int, parameter: str) -> Program:
    def change(node: Program | Block | Stmt | Expr) -> Program | Block | Stmt | Expr:
        if not (isinstance(node, Expr) and node.op == "call" and node.names[0] == callee):
            return node
        if parameter in node.names[1:]:
            gone = node.names.index(parameter)
        elif position < len(node.names) and not node.names[position]:
            gone = position
        else:
            return node
        return replace(
            node, names=_without(node.names, gone), args=_without(node.args, gone - 1)
        )  # fmt: skip

    changed: Program = transform(program, change)
    return changed


def _inlined(program: Program) -> Iterator[Program]:
    """`a = E` deleted, and E where `a` was read."""
    for path, node in list(walk(program)):
        match node:
            case Stmt(kind="assign", names=(target,), exprs=(value,)) if value.op != "lambda":
                block = at(program, path[:-1])
                assert isinstance(block, Block)
                rest = block.stmts[: path[-1]] + block.stmts[path[-1] + 1 :]
                shorter: Program = put(program, path[:-1], Block(rest))
                yield _substituted(shorter, target, value)
            case _:
                pass


def _substituted(program: Program, target: str, value: Expr) -> Program:
    def change(node: Program | Block | Stmt | Expr) -> Program | Block | Stmt | Expr:
        if isinstance(node, Expr) and node.op == "name" and node.names[0] == target:
            return value
        return node

    changed: Program = transform(program, change)
    return changed


def _expression_cuts(program: Program) -> Iterator[Program]:
    found: list[tuple[Path, Expr]] = [
        (path, node) for path, node in walk(program) if isinstance(node, Expr)
    ]
    found.sort(key=lambda item: -size(item[1]))
    parameters = [
        name(parameter, kind)
        for parameter, kind in zip(program.main.names[1:], program.types, strict=True)
    ]
    for path, expr in found:
        for simpler in _simpler_expressions(expr):
            if simpler != expr:
                yield put(program, path, simpler)
        if expr.op != "const":
            # A parameter gives way to an earlier one only, so that this ends.
            last = parameters.index(expr) if expr in parameters else len(parameters)
            for parameter in parameters[:last]:
                if parameter.type == expr.type:
                    yield put(program, path, parameter)


def _simpler_expressions(expr: Expr) -> Iterator[Expr]:
    if expr.op == "const":
        if expr not in _PLAIN.get(expr.type, []):
            yield from _PLAIN.get(expr.type, [])
        return
    inside = [
        node for path, node in walk(expr)
        if path and isinstance(node, Expr) and node.type == expr.type
    ]  # fmt: skip
    if expr.op != "name":
        yield from (node for node in inside if node.op == "name")
    yield from _PLAIN.get(expr.type, [])
    yield from (node for node in inside if node.op != "name")
    if expr.type == "S" and expr.op != "item_V":
        for _, node in walk(expr):
            if isinstance(node, Expr) and node.op == "name" and node.type == "V":
                yield build("item_V", node, const("0", "I"))


def _rounder_args(program: Program) -> Iterator[Program]:
    """Arguments with fewer digits."""
    for position, arg in enumerate(program.args):
        for digits in (0, 1):
            rounded = _rounded(arg, digits)
            if repr(rounded) != repr(arg):
                args = (*program.args[:position], rounded, *program.args[position + 1 :])
                yield replace(program, args=args)


def _rounded(arg: object, digits: int) -> object:
    match arg:
        case float():
            return round(arg, digits) or 1.0
        case np.ndarray():
            rounded = np.round(arg, digits)
            return np.where(rounded == 0, 1.0, rounded)
        case list() | tuple():
            return type(arg)(_rounded(item, digits) for item in arg)
        case dict():
            return {key: _rounded(item, digits) for key, item in arg.items()}
        case _:
            return arg


def _without(items: tuple, position: int) -> tuple:  # type: ignore[type-arg]
    return items[:position] + items[position + 1 :]
