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
    module = gast.gast_to_ast(gast.Module(body, []))
    ast.fix_missing_locations(module)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            text: str = astor.to_source(module, pretty_string=_plain_string, pretty_source="".join)
    except AttributeError as error:  # "No defined handler for node of type ..."
        if "handler" not in str(error):
            raise
        text = ast.unparse(module) + "\n"
    return text


def _plain_string(text: str, *_: Any, **__: Any) -> str:
    return repr(text)
