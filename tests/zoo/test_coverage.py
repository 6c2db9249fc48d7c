"""What the zoo promises: each construct has a function, and no example stands on a kink."""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.zoo import CASES, Case, holds_floats, leaves

TREES = {
    path.stem: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem not in ("__init__", "registry", Path(__file__).stem)
}

LOOPS = (ast.For, ast.While)


def nodes(*kinds: type[ast.AST]) -> Iterator[Any]:
    for tree in TREES.values():
        yield from (node for node in ast.walk(tree) if isinstance(node, kinds))


def called(call: ast.AST) -> str:
    """Last name of what is called: `append` for `stack.append(x)`, else the empty string."""
    if not isinstance(call, ast.Call):
        return ""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def loops_over(name: str) -> bool:
    return any(called(node.iter) == name for node in nodes(ast.For))


def calls(name: str) -> bool:
    return any(called(node) == name for node in nodes(ast.Call))


def inside(outer: tuple[type[ast.AST], ...], inner: type[ast.AST]) -> bool:
    return any(
        isinstance(node, inner) for loop in nodes(*outer) for node in ast.walk(loop) if node != loop
    )


def stores(kind: type[ast.AST]) -> bool:
    return any(isinstance(node.ctx, ast.Store) for node in nodes(kind))


def functions() -> Iterator[ast.FunctionDef]:
    yield from nodes(ast.FunctionDef)


def callees(function: ast.FunctionDef) -> set[str]:
    return {called(node) for node in ast.walk(function)}


CONSTRUCTS: dict[str, Callable[[], bool]] = {
    "if": lambda: any(nodes(ast.If)),
    "elif": lambda: any(
        len(n.orelse) == 1 and isinstance(n.orelse[0], ast.If) for n in nodes(ast.If)
    ),
    "ternary": lambda: any(nodes(ast.IfExp)),
    "and": lambda: any(nodes(ast.And)),
    "or": lambda: any(nodes(ast.Or)),
    "not": lambda: any(nodes(ast.Not)),
    "chained comparison": lambda: any(len(n.ops) > 1 for n in nodes(ast.Compare)),
    "walrus": lambda: any(nodes(ast.NamedExpr)),
    "match": lambda: any(nodes(ast.Match)),
    "for over range": lambda: loops_over("range"),
    "for over range with a step": lambda: any(
        called(n.iter) == "range" and len(n.iter.args) == 3 for n in nodes(ast.For)
    ),
    "for over an argument": lambda: any(isinstance(n.iter, ast.Name) for n in nodes(ast.For)),
    "for over items": lambda: loops_over("items"),
    "for over zip": lambda: loops_over("zip"),
    "for over enumerate": lambda: loops_over("enumerate"),
    "for over reversed": lambda: loops_over("reversed"),
    "for in for": lambda: inside((ast.For,), ast.For),
    "while": lambda: any(nodes(ast.While)),
    "while in while": lambda: inside((ast.While,), ast.While),
    "break": lambda: any(nodes(ast.Break)),
    "continue": lambda: any(nodes(ast.Continue)),
    "else of for": lambda: any(n.orelse for n in nodes(ast.For)),
    "else of while": lambda: any(n.orelse for n in nodes(ast.While)),
    "return in a loop": lambda: inside(LOOPS, ast.Return),
    "tuple unpacking": lambda: stores(ast.Tuple),
    "star unpacking": lambda: stores(ast.Starred),
    "chained assignment": lambda: any(len(n.targets) > 1 for n in nodes(ast.Assign)),
    "augmented assignment": lambda: any(nodes(ast.AugAssign)),
    "annotated assignment": lambda: any(nodes(ast.AnnAssign)),
    "list display": lambda: any(nodes(ast.List)),
    "tuple display": lambda: any(nodes(ast.Tuple)),
    "dict display": lambda: any(nodes(ast.Dict)),
    "set display": lambda: any(nodes(ast.Set)),
    "store into an item": lambda: stores(ast.Subscript),
    "list comprehension": lambda: any(nodes(ast.ListComp)),
    "dict comprehension": lambda: any(nodes(ast.DictComp)),
    "generator expression": lambda: any(nodes(ast.GeneratorExp)),
    "keyword in a call": lambda: any(n.keywords for n in nodes(ast.Call)),
    "star in a call": lambda: any(
        isinstance(a, ast.Starred) for n in nodes(ast.Call) for a in n.args
    ),
    "double star in a call": lambda: any(
        k.arg is None for n in nodes(ast.Call) for k in n.keywords
    ),
    "default": lambda: any(f.args.defaults for f in functions()),
    "keyword-only": lambda: any(f.args.kwonlyargs for f in functions()),
    "positional-only": lambda: any(f.args.posonlyargs for f in functions()),
    "*args": lambda: any(f.args.vararg for f in functions()),
    "**kwargs": lambda: any(f.args.kwarg for f in functions()),
    "nested function": lambda: inside((ast.FunctionDef,), ast.FunctionDef),
    "nonlocal": lambda: any(nodes(ast.Nonlocal)),
    "global": lambda: any(nodes(ast.Global)),
    "lambda": lambda: any(nodes(ast.Lambda)),
    "recursion": lambda: any(f.name in callees(f) for f in functions()),
    "mutual recursion": lambda: any(
        f is not g and f.name in callees(g) and g.name in callees(f)
        for tree in TREES.values()
        for f in tree.body
        if isinstance(f, ast.FunctionDef)
        for g in tree.body
        if isinstance(g, ast.FunctionDef)
    ),
    "method": lambda: inside((ast.ClassDef,), ast.FunctionDef),
    "with": lambda: any(nodes(ast.With)),
    "np.errstate": lambda: calls("errstate"),
    "try and except": lambda: any(n.handlers for n in nodes(ast.Try)),
    "else of try": lambda: any(n.orelse for n in nodes(ast.Try)),
    "finally": lambda: any(n.finalbody for n in nodes(ast.Try)),
    "assert": lambda: any(nodes(ast.Assert)),
    "raise": lambda: any(nodes(ast.Raise)),
    "f-string": lambda: any(nodes(ast.JoinedStr)),
    "del": lambda: any(nodes(ast.Delete)),
    "unicode name": lambda: any(not n.id.isascii() for n in nodes(ast.Name)),
    "matrix product": lambda: any(nodes(ast.MatMult)),
    "new axis": lambda: any(
        isinstance(n.slice, ast.Tuple)
        and any(isinstance(e, ast.Constant) and e.value is None for e in n.slice.elts)
        for n in nodes(ast.Subscript)
    ),
    "ellipsis": lambda: any(
        isinstance(n.slice, ast.Tuple)
        and any(isinstance(e, ast.Constant) and e.value is ... for e in n.slice.elts)
        for n in nodes(ast.Subscript)
    ),
}
CALLED = """
    append pop insert extend get sum min max abs len float int round pow divmod any all sorted map
    filter print partial wraps update dot matmul einsum outer where maximum clip concatenate stack
    reshape copy astype zeros ones eye full arange linspace zeros_like array asarray solve
""".split()
OPERATORS = [
    kind
    for base in (ast.operator, ast.unaryop, ast.cmpop)
    for kind in base.__subclasses__()
    if kind.__module__ == "ast"  # gast derives its own from them
]


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_construct_has_a_function(construct: str) -> None:
    assert CONSTRUCTS[construct](), f"no zoo function uses: {construct}"


@pytest.mark.parametrize("name", CALLED)
def test_call_has_a_function(name: str) -> None:
    assert calls(name), f"no zoo function calls {name}"


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.__name__)
def test_operator_has_a_function(kind: type[ast.AST]) -> None:
    assert any(nodes(kind)), f"no zoo function uses {kind.__name__}"


def test_a_missing_construct_is_noticed() -> None:
    assert not any(nodes(ast.AsyncFor, ast.Yield, ast.Await))
    assert not calls("no_such_function")
    assert not loops_over("no_such_function")


def test_the_zoo_is_large() -> None:
    names = {case.id.partition("[")[0] for case in CASES}
    scalar = {case.id.partition("[")[0] for case in CASES if "scalar" in case.tags}
    assert len(names) >= 250
    assert len(scalar) >= 25


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


SCALAR = [case for case in CASES if "scalar" in case.tags]


@pytest.mark.parametrize("case", SCALAR, ids=lambda case: case.id)
def test_scalar_functions_are_scalar(case: Case) -> None:
    assert all(type(arg) in (float, int) for arg in case.args)
    args, kwargs = case.fresh()
    assert type(case.function(*args, **kwargs)) is float


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_function_is_smooth_at_its_example(case: Case) -> None:
    """Finite, and its one-sided differences agree: on a kink there is nothing to compare."""
    step = 1e-6 if case.rtol < 1e-9 else 1e-2
    slack = 1e-3 if case.rtol < 1e-9 else 1e-1
    active = [case.args[i] for i in case.argnums]
    assert all(holds_floats(value) or not list(leaves(value)) for value in active)
    value = displaced_result(case, 0.0, 0)
    assert np.all(np.isfinite(value))
    for entry in range(flattened(active).size):
        above = displaced_result(case, step, entry)
        below = displaced_result(case, -step, entry)
        assert above.shape == value.shape == below.shape
        right, left = (above - value) / step, (value - below) / step
        scale = 1 + abs(right) + abs(left) + abs(value)
        assert np.all(abs(right - left) < slack * scale), f"entry {entry}: {left} but {right}"


def flattened(value: Any) -> np.ndarray:
    parts = [np.ravel(np.asarray(leaf, dtype=float)) for leaf in leaves(value)]
    return np.concatenate([np.zeros(0), *parts])


def displaced_result(case: Case, step: float, entry: int) -> np.ndarray:
    """The function's value, flattened, with one entry of the active arguments moved by `step`."""
    args, kwargs = case.fresh()
    before = 0
    for i in case.argnums:
        size = flattened(args[i]).size
        if before <= entry < before + size:
            # Copied on its own: an array that two arguments share must move in one of them only.
            moved = displaced(copy.deepcopy(args[i]), step, entry - before)
            args = (*args[:i], moved, *args[i + 1 :])
            break
        before += size
    with contextlib.redirect_stdout(io.StringIO()):
        return flattened(case.function(*args, **kwargs))


def displaced(value: Any, step: float, entry: int) -> Any:
    match value:
        case float():
            return type(value)(value + step)
        case np.ndarray() | np.generic():
            unit = np.zeros(value.size)
            unit[entry] = step
            return (value + unit.reshape(value.shape)).astype(value.dtype)
        case dict():
            return dict(zip(value, displaced(list(value.values()), step, entry), strict=True))
        case tuple() | list():
            moved = list(value)
            for k, part in enumerate(moved):
                size = flattened(part).size
                if entry < size:
                    moved[k] = displaced(part, step, entry)
                    break
                entry -= size
            if hasattr(value, "_fields"):
                return type(value)(*moved)
            return type(value)(moved)
        case _:
            names = [field.name for field in dataclasses.fields(value)]
            moved = displaced([getattr(value, name) for name in names], step, entry)
            return dataclasses.replace(value, **dict(zip(names, moved, strict=True)))
