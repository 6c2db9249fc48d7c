"""Make a failing program small: cut statements and expressions while it fails in the same way."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.arrays.program import ArrayProgram


def shrink(
    program: ArrayProgram, fails: Callable[[ArrayProgram], bool], most_runs: int = 600
) -> ArrayProgram:
    """A smaller program for which `fails` still holds."""
    runs = 0
    smaller = True
    while smaller:
        smaller = False
        for cuts in (_without_statements, _unwrapped, _simpler_expressions, _without_parameters):
            position = 0
            while True:
                for option in list(cuts(program))[position:]:
                    if runs >= most_runs:
                        return program
                    runs += 1
                    if fails(option):
                        program = option
                        smaller = True
                        break
                    position += 1
                else:
                    break
    return program


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def _printed(program: ArrayProgram, tree: ast.AST) -> ArrayProgram:
    return replace(program, text=ast.unparse(ast.fix_missing_locations(tree)) + "\n")


def _without_statements(program: ArrayProgram) -> Iterator[ArrayProgram]:
    tree = ast.parse(program.text)
    for body in list(_bodies(tree)):
        for k in range(len(body) - 1, -1, -1):
            stmt = body.pop(k)
            if not isinstance(stmt, ast.Import) and (body or not isinstance(stmt, ast.Return)):
                if not body:
                    body.append(ast.Pass())
                    yield _printed(program, tree)
                    body.clear()
                else:
                    yield _printed(program, tree)
            body.insert(k, stmt)


def _unwrapped(program: ArrayProgram) -> Iterator[ArrayProgram]:
    tree = ast.parse(program.text)
    for body in list(_bodies(tree)):
        for k, stmt in enumerate(body):
            if isinstance(stmt, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
                bound: list[ast.stmt] = []
                if isinstance(stmt, ast.For) and isinstance(stmt.target, ast.Name):
                    if isinstance(stmt.iter, ast.Name):
                        bound = [ast.Assign([stmt.target], ast.Subscript(
                            stmt.iter, ast.Constant(0), ast.Load()))]  # fmt: skip
                    else:
                        bound = [ast.Assign([stmt.target], ast.Constant(0))]
                for inner in (stmt.body, getattr(stmt, "orelse", [])):
                    if inner:
                        body[k : k + 1] = [*bound, *inner]
                        yield _printed(program, tree)
                        body[k : k + len(bound) + len(inner)] = [stmt]


class _Replace(ast.NodeTransformer):
    def __init__(self, target: int, new: ast.expr) -> None:
        self.at, self.target, self.new = -1, target, new

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr):
            self.at += 1
            if self.at == self.target:
                return self.new
        return self.generic_visit(node)


class _List(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[ast.expr] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr):
            self.found.append(node)
        self.generic_visit(node)


def _simpler_expressions(program: ArrayProgram) -> Iterator[ArrayProgram]:
    tree = ast.parse(program.text)
    lister = _List()
    lister.visit(tree)
    for k, node in enumerate(lister.found):
        if isinstance(node, (ast.Name, ast.Constant)) or not isinstance(
            getattr(node, "ctx", ast.Load()), ast.Load
        ):
            continue
        options = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        if isinstance(node, ast.Call):
            options = [*node.args]
        if isinstance(node, ast.Subscript):
            options = [node.value]
        if not isinstance(node, (ast.UnaryOp, ast.Slice, ast.Tuple)):
            options.append(ast.Constant(1.0))
        for option in options:
            yield _printed(program, _Replace(k, copy.deepcopy(option)).visit(copy.deepcopy(tree)))


def _without_parameters(program: ArrayProgram) -> Iterator[ArrayProgram]:
    tree = ast.parse(program.text)
    main = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f")
    used = {n.id for n in ast.walk(main) if isinstance(n, ast.Name)}
    for k, arg in enumerate(main.args.args):
        if arg.arg not in used and len(main.args.args) > 1:
            del main.args.args[k]
            args = (*program.args[:k], *program.args[k + 1 :])
            yield replace(_printed(program, tree), args=args)
            main.args.args.insert(k, arg)
