"""Rewrites that keep what a program computes: its value and gradient must not change."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.fuzz.arrays.check import check
from tests.fuzz.arrays.program import ArrayProgram
from tests.fuzz.arrays.reference import Reference, flatten
from tests.fuzz.choices import Choices
from tests.fuzz.runner import Outcome


def compare(program: ArrayProgram, rewritten: ArrayProgram, name: str, folder: Path) -> Outcome:
    """Whether a rewritten program has the derivative of the program, which is known to be right."""
    before, after = Reference(program), Reference(rewritten)
    try:
        same = np.allclose(flatten(after.value()), flatten(before.value()), rtol=1e-10)
        if not same or not np.allclose(after.jacobian(), before.jacobian(), 1e-7, 1e-9):
            return Outcome("skipped", cause=f"rewrite {name} changes the value")
    except Exception as error:
        return Outcome("skipped", cause=f"rewrite {name} does not run: {type(error).__name__}")
    found = check(rewritten, folder, with_tape=False, reverse="vjp", forward=False)
    return found if found.kind == "ok" else replace(found, mode=f"rewrite {name}, {found.mode}")


def _main(tree: ast.Module) -> ast.FunctionDef:
    return next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f")


def _text(program: ArrayProgram, tree: ast.AST) -> ArrayProgram:
    return replace(program, text=ast.unparse(ast.fix_missing_locations(tree)) + "\n")


def renamed(program: ArrayProgram, choices: Choices) -> ArrayProgram:
    """Every local name of `f` gets another, in another order."""
    tree = ast.parse(program.text)
    main = _main(tree)
    nested = {n.name for n in ast.walk(main) if isinstance(n, ast.FunctionDef)}
    stored = {n.id for n in ast.walk(main) if isinstance(n, ast.Name)
              and isinstance(n.ctx, ast.Store)}  # fmt: skip
    params = {a.arg for n in ast.walk(main) if isinstance(n, ast.FunctionDef) for a in n.args.args}
    names = sorted((stored | params) - nested)
    new = {old: f"z{len(names) - k}_" for k, old in enumerate(names)}
    for node in ast.walk(main):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
    return _text(program, tree)


class _Copies(ast.NodeTransformer):
    """`a[1:]` and `a` in arithmetic become copies of themselves."""

    def __init__(self, shapes: set[str], choices: Choices) -> None:
        self.shapes, self.choices = shapes, choices
        self.done = 0

    def copied(self, node: ast.expr) -> ast.expr:
        whole = isinstance(node, ast.Name) and node.id in self.shapes
        part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if (whole or part) and self.choices.chance(60):
            self.done += 1
            return ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        node.left, node.right = self.copied(node.left), self.copied(node.right)
        return node


def copies_read(program: ArrayProgram, choices: Choices) -> ArrayProgram | None:
    """What arithmetic reads is copied first."""
    tree = ast.parse(program.text)
    copies = _Copies(set(program.shapes), choices)
    copies.visit(_main(tree))
    return _text(program, tree) if copies.done else None


class _Elements(ast.NodeTransformer):
    """`u[1:3] = e` becomes a loop over elements."""

    def __init__(self, program: ArrayProgram, choices: Choices) -> None:
        self.shapes, self.choices = program.shapes, choices
        self.done = 0

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        found = self.split(node.targets[0], node.value, "=") if len(node.targets) == 1 else None
        return found or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        symbols = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}
        symbol = symbols.get(type(node.op))
        return (symbol and self.split(node.target, node.value, symbol)) or node

    def split(self, target: ast.expr, value: ast.expr, op: str) -> list[ast.stmt] | None:
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return None
        shape = self.shapes.get(target.value.id)
        if shape is None or not isinstance(target.slice, ast.Slice):
            return None
        picked = np.arange(shape[0])[eval(f"np.index_exp[{ast.unparse(target.slice)}]", {"np": np})
                                     ] if _is_constant(target.slice) else None  # fmt: skip
        if picked is None:
            return None
        self.done += 1
        k, array = self.done, target.value.id
        rest = (len(picked), *shape[1:])
        text = (
            f"e{k}_ = np.zeros({rest}) + ({ast.unparse(value)})\n"
            f"for j{k}_ in range({len(picked)}):\n"
            f"    {array}[{picked.tolist()}[j{k}_]] {op} e{k}_[j{k}_]"
        )
        return ast.parse(text).body


def _is_constant(node: ast.AST) -> bool:
    return not any(isinstance(n, ast.Name) for n in ast.walk(node))


def elements_written(program: ArrayProgram, choices: Choices) -> ArrayProgram | None:
    """Slices are written element by element."""
    tree = ast.parse(program.text)
    elements = _Elements(program, choices)
    elements.visit(_main(tree))
    return _text(program, tree) if elements.done else None


def _binds_nothing(stmt: ast.stmt, arrays: set[str]) -> bool:
    match stmt:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name in arrays
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name)):
            return name in arrays
        case ast.Expr(value=ast.Call()):
            return True
        case ast.For(body=body, orelse=[]):
            return all(_binds_nothing(s, arrays) for s in body)
        case ast.If(body=body, orelse=orelse):
            return all(_binds_nothing(s, arrays) for s in [*body, *orelse])
    return False


def outlined(program: ArrayProgram, choices: Choices) -> ArrayProgram | None:
    """Statements that only write are moved into a function, which is called in their place."""
    tree = ast.parse(program.text)
    main = _main(tree)
    arrays = set(program.shapes)
    done = 0
    blocks = [b for n in ast.walk(main) for b in (getattr(n, "body", []), getattr(n, "orelse", []))
              if isinstance(b, list)]  # fmt: skip
    for block in blocks:
        for k, stmt in enumerate(list(block)):
            if not _binds_nothing(stmt, arrays) or not choices.chance(70):
                continue
            names = list(dict.fromkeys(n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)
                                       and isinstance(n.ctx, (ast.Load, ast.Store))))  # fmt: skip
            inner = {n.target.id for n in ast.walk(stmt) if isinstance(n, ast.For)
                     and isinstance(n.target, ast.Name)}  # fmt: skip
            if any(isinstance(n, ast.Tuple) and isinstance(n.ctx, ast.Store)
                   for n in ast.walk(stmt)):  # fmt: skip
                continue
            top = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            known = inner | top | {"np", "range", "len", "enumerate", "zip"}
            given = [n for n in names if n not in known]
            done += 1
            title = f"outlined{done}"
            new = ast.parse(f"def {title}({', '.join(given)}):\n    pass").body[0]
            assert isinstance(new, ast.FunctionDef)
            new.body = [copy.deepcopy(stmt)]
            tree.body.insert(tree.body.index(main), new)
            block[k] = ast.parse(f"{title}({', '.join(given)})").body[0]
    return _text(program, tree) if done else None


REWRITES: dict[str, Callable[[ArrayProgram, Choices], ArrayProgram | None]] = {
    "copies": copies_read,
    "elements": elements_written,
    "outlined": outlined,
    "renamed": renamed,
}
