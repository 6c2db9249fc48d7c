"""Whether two code objects do the same.

This is how the text of a function is proved to be its text: compiled again, it gives the same code.
"""

from __future__ import annotations
import __future__ as futures

import ast
import dis
import functools
import inspect
import operator
from types import CodeType

__all__ = ["FUTURES", "same_code"]

FUTURES = functools.reduce(
    operator.or_, (getattr(futures, name).compiler_flag for name in futures.all_feature_names)
)
"""The flags of a code object that stand for `from __future__ import ...`."""

_FLAGS_OF_PLACE = FUTURES | inspect.CO_NESTED

_SHAPE = operator.attrgetter(
    "co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_freevars"
)
_BODY = operator.attrgetter(
    "co_code", "co_names", "co_varnames", "co_cellvars", "co_exceptiontable"
)
_JUMPS = frozenset([*dis.hasjrel, *dis.hasjabs])
_LAYOUT = frozenset(["NOP", "EXTENDED_ARG", "JUMP_FORWARD", "JUMP_BACKWARD"])
"""Instructions that come and go with the distances between the others."""


def same_code(live: CodeType, fresh: CodeType, definition: ast.AST) -> bool:
    """Whether two code objects do the same; where they stand and docstrings do not count.

    `definition` is what `fresh` was compiled from. pytest compiles asserts to other code than
    Python does: where it did so in `live`, the other lines are compared instruction by instruction.
    """
    if _SHAPE(live) != _SHAPE(fresh) or (live.co_flags ^ fresh.co_flags) & ~_FLAGS_OF_PLACE:
        return False
    if any(name.startswith("@pytest") for name in live.co_names):
        asserts = _assert_lines(definition)
        ours, theirs = _instructions(live, asserts), _instructions(fresh, asserts)
        return len(ours) == len(theirs) and all(
            name == other and _same_constant(value, other_value, definition)
            for (name, value), (other, other_value) in zip(ours, theirs, strict=True)
        )
    if _BODY(live) != _BODY(fresh) or len(live.co_consts) != len(fresh.co_consts):
        return False
    return all(
        _same_constant(one, other, definition)
        or (index == 0 and _is_docstring(one, live) and _is_docstring(other, fresh))
        for index, (one, other) in enumerate(zip(live.co_consts, fresh.co_consts, strict=True))
    )


def _same_constant(one: object, other: object, definition: ast.AST) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other, definition)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(
            _same_constant(a, b, definition) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return {(type(a), repr(a)) for a in one} == {(type(b), repr(b)) for b in other}
    return repr(one) == repr(other)  # tells -0.0 from 0.0, and nan equals itself


def _is_docstring(constant: object, code: CodeType) -> bool:
    """Whether the first constant of `code` is its docstring and nothing else."""
    return isinstance(constant, str) and not any(
        step.opcode in dis.hasconst and step.arg == 0 for step in dis.get_instructions(code)
    )


def _instructions(code: CodeType, without: frozenset[int]) -> list[tuple[str, object]]:
    """What `code` does on the lines not in `without`; how far it jumps is left out."""
    return [
        (step.opname, None if step.opcode in _JUMPS else step.argval)
        for step in dis.get_instructions(code)
        if step.opname not in _LAYOUT
        and (step.positions is None or step.positions.lineno not in without)
    ]


def _assert_lines(node: ast.AST) -> frozenset[int]:
    return frozenset(
        line
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assert)
        for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
    )
