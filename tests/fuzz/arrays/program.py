"""A program: its text, the arguments to call it with, and the shapes of its names."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Shape = tuple[int, ...]
Tree = str | tuple[str, list["Tree"]]
"""A statement: a line, or the head of a compound one and what is in it."""


@dataclass(frozen=True, slots=True)
class ArrayProgram:
    """The text of a module that defines `f`."""

    text: str
    args: tuple[Any, ...]
    shapes: Mapping[str, Shape] = field(default_factory=dict, compare=False)
    """Of each name of `f` that is always an array of one shape."""

    def fresh_args(self) -> tuple[Any, ...]:
        return copy.deepcopy(self.args)


def lines(trees: list[Tree], depth: int = 0) -> list[str]:
    """The text of statements."""
    out: list[str] = []
    for tree in trees:
        if isinstance(tree, str):
            out.append("    " * depth + tree)
        else:
            out += ["    " * depth + tree[0], *lines(tree[1], depth + 1)]
    return out


def run_text(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The `f` of a program, in a module where some names mean something else."""
    space: dict[str, Any] = {"__name__": "program", **names}
    body = "\n".join(line for line in text.splitlines() if line != "import numpy as np")
    exec(compile(body, "<program>", "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found
