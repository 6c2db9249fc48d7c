"""Program trees to Python text, in the dialects of the grammar.

The same program and dialect give the same bytes, in every process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from tests.fuzz.grammar import OPS
from tests.fuzz.tree import Block, Expr, Program, Stmt

Dialect = Literal["plain", "traced"]

_INDENT = "    "


def source(program: Program, dialect: Dialect = "plain") -> str:
    """The text of a module that defines `f`."""
    lines = ["import math", "", "import numpy as np", ""]
    for stmt in program.body.stmts:
        if stmt.kind == "def":
            lines.append("")
        lines.extend(_statement(stmt, dialect))
        if stmt.kind == "def":
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def expression(expr: Expr, dialect: Dialect = "plain") -> str:
    match expr.op:
        case "name":
            return expr.names[0]
        case "const":
            return expr.text
        case "call":
            callee, *keywords = expr.names
            parts = [
                f"{keyword}={expression(arg, dialect)}" if keyword else expression(arg, dialect)
                for keyword, arg in zip(keywords, expr.args, strict=True)
            ]
            return f"{callee}({', '.join(parts)})"
        case "lambda":
            return f"lambda {', '.join(expr.names)}: {expression(expr.args[0], dialect)}"
        case _:
            form = getattr(OPS[expr.op], dialect)
            texts = [expression(arg, dialect) for arg in expr.args]
            spots = _spots(form)
            args = [
                f"({text})" if _loose(arg) and (position in spots) else text
                for position, (arg, text) in enumerate(zip(expr.args, texts, strict=True))
            ]
            filled: str = form.format(*args, n=expr.names)
            return filled


def _loose(expr: Expr) -> bool:
    """Whether the text needs parentheses next to an operator."""
    match expr.op:
        case "const":
            return expr.text.startswith("-")
        case "lambda":
            return True
        case "name" | "call":
            return False
        case op:
            return OPS[op].infix


@cache
def _spots(form: str) -> frozenset[int]:
    """Positions of a form whose argument stands next to more than a bracket or a comma."""
    spots = set()
    for match in re.finditer(r"\{(\d)\}", form):
        before, after = form[: match.start()], form[match.end() :]
        if not (re.search(r"(\(|\[|, )$", before) and re.match(r"[)\],]", after)):
            spots.add(int(match[1]))
    return frozenset(spots)


def _block(block: Block, dialect: Dialect) -> Iterator[str]:
    if not block.stmts:
        yield _INDENT + "pass"
    for stmt in block.stmts:
        for line in _statement(stmt, dialect):
            yield _INDENT + line


def _statement(stmt: Stmt, dialect: Dialect) -> Iterator[str]:
    texts = [expression(expr, dialect) for expr in stmt.exprs]
    names = stmt.names
    match stmt.kind:
        case "assign":
            yield f"{', '.join(names)} = {', '.join(texts)}"
        case "star":
            yield f"{names[0]}, *{names[1]} = {texts[0]}"
        case "aug":
            yield f"{names[0]} {stmt.text}= {texts[0]}"
        case "expr":
            yield texts[0]
        case "append":
            yield f"{names[0]}.append({texts[0]})"
        case "store":
            yield f"{names[0]}[{texts[0]}] = {texts[1]}"
        case "pop":
            yield f"{names[0]} = {names[1]}.pop() if len({names[1]}) > 1 else {texts[0]}"
        case "return":
            yield f"return {texts[0]}"
        case "break" | "continue" | "pass":
            yield stmt.kind
        case "nonlocal":
            yield f"nonlocal {', '.join(names)}"
        case "assert":
            # Always true, and not a decision that a small step could change.
            yield f"assert {texts[0]} < 1e6"
        case "if":
            yield from _if(stmt, texts[0], "if", dialect)
        case "for":
            yield f"for {', '.join(names)} in {texts[0]}:"
            yield from _block(stmt.blocks[0], dialect)
            yield from _orelse(stmt, dialect)
        case "while":
            yield f"{names[0]} = 0"
            yield f"while {names[0]} < {stmt.text} and {_grouped(stmt.exprs[0], texts[0])}:"
            yield f"{_INDENT}{names[0]} += 1"
            yield from _body(stmt.blocks[0], dialect)
            yield from _orelse(stmt, dialect)
        case "halve":
            if dialect == "traced":
                yield f"while trace.less({stmt.text}, {names[0]}):"
            else:
                yield f"while {names[0]} > {stmt.text}:"
            yield f"{_INDENT}{names[0]} = 0.5 * {names[0]}"
            yield from _body(stmt.blocks[0], dialect)
            yield from _orelse(stmt, dialect)
        case "with":
            yield 'with np.errstate(all="ignore"):'
            yield from _block(stmt.blocks[0], dialect)
        case "finally":
            yield "try:"
            yield from _block(stmt.blocks[0], dialect)
            yield "finally:"
            yield from _block(stmt.blocks[1], dialect)
        case "def":
            yield f"def {names[0]}({', '.join(_parameters(stmt, texts))}):"
            yield from _block(stmt.blocks[0], dialect)
        case kind:
            raise AssertionError(f"no text for a statement of kind {kind!r}")


def _body(block: Block, dialect: Dialect) -> Iterator[str]:
    """The rest of a block that has a statement already."""
    if block.stmts:
        yield from _block(block, dialect)


def _orelse(stmt: Stmt, dialect: Dialect) -> Iterator[str]:
    if stmt.blocks[1].stmts:
        yield "else:"
        yield from _block(stmt.blocks[1], dialect)


def _if(stmt: Stmt, test: str, keyword: str, dialect: Dialect) -> Iterator[str]:
    yield f"{keyword} {test}:"
    yield from _block(stmt.blocks[0], dialect)
    match stmt.blocks[1].stmts:
        case (Stmt(kind="if") as inner,):
            yield from _if(inner, expression(inner.exprs[0], dialect), "elif", dialect)
        case _:
            yield from _orelse(stmt, dialect)


def _parameters(stmt: Stmt, defaults: list[str]) -> list[str]:
    names = list(stmt.names[1:])
    if stmt.text:
        # '*' or '**', for the last.
        return [*names[:-1], stmt.text + names[-1]]
    plain = len(names) - len(defaults)
    return names[:plain] + [
        f"{name}={default}" for name, default in zip(names[plain:], defaults, strict=True)
    ]


def _grouped(expr: Expr, text: str) -> str:
    return f"({text})" if _loose(expr) else text
