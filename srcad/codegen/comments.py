"""Comments in generated code: the sweeps, and the primal lines that statements stem from.

Comments are no part of a syntax tree.  They are put in as marker statements, ``__comment_0__``, and
replaced in the printed text.  Docstrings take the same way, so that they print as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gast

from srcad.codegen.literals import name
from srcad.codegen.survey import is_reverse
from srcad.ir.core import Loc

_MARKER = re.compile(r"^( *)__comment_(\d+)__$", re.MULTILINE)
_WIDTH = 96


class Comments:
    """Markers and their texts."""

    def __init__(self) -> None:
        self._texts: list[list[str]] = []
        self._last: tuple[str, int, str] | None = None
        self._state = ""
        self._opened = False

    def start_function(self, has_reverse: bool, has_forward: bool) -> None:
        """Forget the last primal line; the sweeps are titled if there are both."""
        self._last = None
        self._state = "forward" if has_reverse and has_forward else ""
        self._opened = False

    def marker(self, lines: list[str]) -> Any:
        """A statement that becomes the given lines."""
        self._texts.append(lines)
        return gast.Expr(name(f"__comment_{len(self._texts) - 1}__"))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The statements of a block: what follows it belongs to the line that its head does."""
        last = self._last
        yield
        self._last = last

    def before(self, loc: Loc | None, top: bool) -> list[Any]:
        """Markers to put before a statement of this origin; ``top`` if it is not inside another."""
        markers = []
        if top and self._state == "forward":
            if not self._opened and not is_reverse(loc):
                markers.append(self.marker(["# ---- forward sweep"]))
            self._opened = True
            if is_reverse(loc):
                markers.append(self.marker(["# ---- reverse sweep"]))
                self._state = ""
        if loc is not None and is_reverse(loc):
            key = (loc.file, loc.line, loc.text)
            if key != self._last:
                self._last = key
                text = loc.text.strip().partition("\n")[0]
                markers.append(self.marker([_shorten(f"# line {loc.line}: {text}")]))
        return markers

    def mark(self) -> tuple[Any, ...]:
        """A point to which ``forget`` can return."""
        return self._last, self._state, self._opened

    def forget(self, point: tuple[Any, ...]) -> None:
        """Take back the markers made since, which were not used."""
        self._last, self._state, self._opened = point

    def insert(self, text: str) -> str:
        """The printed text with the comments in place of the markers."""

        def replace(match: re.Match[str]) -> str:
            pad = match[1]
            lines = self._texts[int(match[2])]
            return "\n".join(f"{pad}{line}" if line else "" for line in lines)

        return _MARKER.sub(replace, text)


def is_marker(node: Any) -> bool:
    """Whether a statement stands for a comment."""
    match node:
        case gast.Expr(value=gast.Name(id=identifier)):
            return bool(_MARKER.match(identifier))
    return False


def docstring_lines(text: str) -> list[str]:
    """A docstring as lines of source."""
    body = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = f'{body[:-1]}\\"'
    lines = body.split("\n")
    if len(lines) == 1:
        return [f'"""{lines[0]}"""']
    return [f'"""{lines[0]}', *(line.strip() and line for line in lines[1:]), '"""']


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 4]} ..."
