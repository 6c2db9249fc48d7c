"""The exceptions of srcad: what is wrong, where in the user's source, and what to write instead.

A `SourceError` prints as

    model.py:14: 'yield' is not supported in differentiated functions
            yield x
            ^
        collect the values in a list and return it

Every class can be pickled and copied, so an error crosses process boundaries as it is.
"""

from __future__ import annotations

import os
import sysconfig
import unicodedata
from dataclasses import dataclass, field, replace
from pathlib import Path

__all__ = [
    "MissingBackend",
    "MissingRule",
    "NotCompilable",
    "NotDifferentiable",
    "Place",
    "RuleError",
    "SlowFallback",
    "SourceChanged",
    "SourceError",
    "SourceUnavailable",
    "SrcadError",
    "UnsupportedSyntax",
    "UnsupportedValue",
    "add_primal_note",
]

_TAB = 4

_LIBRARY = """\
this is a library's code: declare a rule for what you call of it (docs/rules.md),
or cut the derivative with srcad.stop_gradient"""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the user's source."""

    file: str
    line: int
    """Counted from 1."""
    column: int = 0
    """Counted from 0, in characters of `text` (the `ast` module counts UTF-8 bytes)."""
    text: str = ""
    """The whole source line, with its indentation; empty where no source is at hand."""
    caller: Place | None = field(default=None, compare=False, repr=False)
    """Where the function was called that the line is in; None in the function differentiated."""

    @property
    def is_library(self) -> bool:
        """Whether the line is in an installed package, or in Python's own library."""
        folders = Path(self.file).parts
        installed = "site-packages" in folders or "dist-packages" in folders
        return installed or self.file.startswith(sysconfig.get_path("stdlib") + os.sep)

    @property
    def callers(self) -> tuple[Place, ...]:
        """The calls that led here, the innermost first."""
        return () if self.caller is None else (self.caller, *self.caller.callers)

    def __str__(self) -> str:
        return f"{_shown_path(self.file)}:{self.line}"

    def marked(self, indent: str) -> str:
        """The source line and a caret under the column, or an empty string without source."""
        text = self.text.rstrip()
        code = text.lstrip()
        if not code:
            return ""
        before = code[: max(self.column - (len(text) - len(code)), 0)]
        code, before = code.expandtabs(_TAB), before.expandtabs(_TAB)
        return f"{indent}{code}\n{indent}{' ' * _cells(before)}^"


class SrcadError(Exception):
    """The base of every error that srcad raises on purpose."""


class SourceError(SrcadError):
    """A mistake or a limit that belongs to one place in the user's source.

    `place` is None where the user's code has no place that srcad could name.
    """

    def __init__(self, place: Place | None, message: str, hint: str = "") -> None:
        super().__init__(place, message, hint)  # `args` is what pickle and copy call us with
        self.place = place
        self.message = message
        self.hint = hint

    def called_at(self, caller: Place | None) -> SourceError:
        """The same error, met where a function was called."""
        if self.place is None or caller is None:
            return self
        return type(self)(replace(self.place, caller=caller), self.message, self.hint)

    @property
    def file(self) -> str | None:
        return None if self.place is None else self.place.file

    @property
    def line(self) -> int | None:
        return None if self.place is None else self.place.line

    @property
    def column(self) -> int | None:
        return None if self.place is None else self.place.column

    @property
    def text(self) -> str | None:
        return None if self.place is None else self.place.text

    def __str__(self) -> str:
        lines = [self.message if self.place is None else f"{self.place}: {self.message}"]
        if self.place is not None and (marked := self.place.marked(" " * 8)):
            lines.append(marked)
        if self.place is not None:
            lines += [f"    {call}" for call in _shown_calls(self.place.callers)]
        lines += [f"    {line}" for line in self._way_out.splitlines()]
        return "\n".join(lines)

    @property
    def _way_out(self) -> str:
        """The hint; in the code of a library, which the user does not write, what he can do."""
        place = self.place
        if place is None or place.caller is None or not place.is_library or not self.hint:
            return self.hint
        return f"{_LIBRARY}\n(there: {self.hint.splitlines()[0]})"


class UnsupportedSyntax(SourceError):
    """The source uses a part of Python that cannot be differentiated."""


class UnsupportedValue(SourceError, TypeError):
    """A value (an argument, a captured object, a result) is of a kind that srcad cannot handle."""


class NotDifferentiable(SourceError, TypeError):
    """A derivative was asked for where there is none: by an integer, or of a vector by `grad`."""


class MissingRule(SourceError):
    """An active value reaches a function that has neither a rule nor Python source."""


class NotCompilable(SourceError):
    """The chosen back end cannot compile a part of the derivative."""


class MissingBackend(SrcadError, ImportError):
    """The chosen back end is not installed."""


class SlowFallback(UserWarning):
    """A derivative, or a call of it, runs as plain Python, not by the back end that was chosen."""


class RuleError(SourceError):
    """A derivative rule is not well formed."""


class SourceUnavailable(SourceError):
    """The function's source text cannot be found."""


class SourceChanged(SourceError):
    """The source text on disk is not the text the function was made from."""


def add_primal_note(error: BaseException, place: Place) -> None:
    """Add to `error` a note that names the primal line, once however often it is asked.

    An exception passes through the frames of several generated functions on its way out, and each
    may ask; two different primal lines (caller and callee) give two notes.
    """
    note = f"in the derivative of {place}"
    if code := place.text.strip():
        note += f": {code}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


_CALLS = 3
"""So many calls are shown of either end of a longer chain."""


def _shown_calls(calls: tuple[Place, ...]) -> list[str]:
    shown = [f"called at {call}: {call.text.strip()}" for call in calls]
    between = len(calls) - 2 * _CALLS
    if between > 1:
        shown[_CALLS:-_CALLS] = [f"… {between} calls"]
    return shown


def _shown_path(file: str) -> str:
    """Relative where that is shorter to read: below the working directory."""
    try:
        here = os.getcwd()
    except FileNotFoundError:  # the working directory was removed
        return file
    prefix = os.path.join(here, "")
    return file[len(prefix) :] if file.startswith(prefix) else file


def _cells(text: str) -> int:
    """How many terminal cells `text` takes: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
