"""Text from a syntax tree: gast to ast to astor.

astor is imported here only.  It knows no syntax newer than Python 3.9; nodes it does not know
print by ``ast.unparse``.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

import gast

with warnings.catch_warnings():
    # astor mentions ast.Num, which Python 3.12 deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def print_module(body: list[Any]) -> str:
    """The source of a module of these gast statements; every simple statement is one line."""
    module = ast.Module(_as_ast(body), [])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            text: str = astor.to_source(module, pretty_string=_plain_string, pretty_source="".join)
    except AttributeError as error:  # "No defined handler for node of type ..."
        if "handler" not in str(error):
            raise
        text = ast.unparse(module) + "\n"
    return text


_LOAD = ast.Load()


def _as_ast(node: Any) -> Any:
    """What a gast node prints as: ``gast_to_ast`` without positions and contexts, which cost."""
    if isinstance(node, list):
        return [_as_ast(n) for n in node]
    kind = type(node)
    if not issubclass(kind, ast.AST):
        return node
    if kind is gast.Name:
        return ast.Name(node.id, _LOAD)
    if kind is gast.Constant:
        return ast.Constant(node.value)
    if issubclass(kind, ast.expr_context):
        return _LOAD
    if kind is gast.arguments or kind is gast.ExceptHandler:
        return gast.gast_to_ast(node)
    made = getattr(ast, kind.__name__)
    return made(*[_as_ast(getattr(node, field, None)) for field in made._fields])


def _plain_string(text: str, *_: Any, **__: Any) -> str:
    return repr(text)
