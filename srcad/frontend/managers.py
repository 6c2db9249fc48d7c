"""Context managers: what they do with an exception in the body of a ``with``."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import numpy as np

from srcad.ir import Effect, Literal, Op


def may_suppress(made_by: Any) -> bool:
    """Whether the manager that a class, or a function, makes may keep exceptions to itself.

    What is not written in Python does not: no such manager of the standard library does.
    """
    if isinstance(made_by, type):
        exit_ = getattr(made_by, "__exit__", None)
        return inspect.isfunction(exit_) and _returns(_tree(exit_))
    generator = getattr(made_by, "__wrapped__", made_by)
    if not inspect.isfunction(generator):
        return False
    return not inspect.isgeneratorfunction(generator) or _catches(_tree(generator))


def reads_exception(cls: type) -> bool:
    """Whether ``__exit__`` of a class looks at the exception that leaves the block."""
    exit_ = getattr(cls, "__exit__", None)
    if not inspect.isfunction(exit_):
        return True
    tree = _tree(exit_)
    if tree is None:
        return True
    own = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)).args
    names = {a.arg for a in (*own.posonlyargs, *own.args)[1:]} | {
        own.vararg.arg if own.vararg else ""
    }
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(tree))


def is_quiet(op: Op) -> bool:
    """Whether an operation makes a manager that only decides which warnings NumPy gives."""
    return (
        isinstance(op, Effect)
        and op.callee is np.errstate
        and not op.args
        and all(isinstance(a, Literal) and a.value in ("ignore", "warn") for _, a in op.keywords)
    )


def _tree(function: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None


def _returns(tree: ast.AST | None) -> bool:
    """Whether a function returns anything that may count as true."""
    if tree is None:
        return True
    values = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return)]
    return any(v is not None and not (isinstance(v, ast.Constant) and not v.value) for v in values)


def _catches(tree: ast.AST | None) -> bool:
    """Whether a generator yields inside a ``try`` that handles exceptions, or inside a ``with``."""
    if tree is None:
        return True
    around = [n for n in ast.walk(tree) if isinstance(n, (ast.Try, ast.With))]
    return any(
        isinstance(inner, (ast.Yield, ast.YieldFrom))
        for n in around
        if isinstance(n, ast.With) or n.handlers
        for statement in n.body
        for inner in ast.walk(statement)
    )
