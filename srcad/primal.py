"""The plain function: its name, what it raises when it is run, and where exceptions stem from."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from srcad.errors import Place, SrcadError, add_primal_note
from srcad.ir.places import place_of
from srcad.pipeline import Compiled

F = TypeVar("F", bound=Callable[..., Any])


def name_of(function: Any) -> str:
    """What a function is called in generated code."""
    name = getattr(function, "__name__", None)
    if name is None:
        inner = getattr(function, "func", None)  # functools.partial
        return name_of(inner) if callable(inner) else type(function).__name__
    return "lambda" if name == "<lambda>" else str(name)


def run_primal(function: Any, args: list[Any], keywords: dict[str, Any]) -> None:
    """Run a function without effects; an exception gets a note of the line that raised it."""
    try:
        function(*args, **keywords)
    except Exception as error:
        trace, last = error.__traceback__, None
        while trace is not None:
            last = trace if _is_users(trace.tb_frame.f_code.co_filename) else last
            trace = trace.tb_next
        if last is not None and not getattr(error, "__notes__", ()):
            file, line = last.tb_frame.f_code.co_filename, last.tb_lineno
            text = linecache.getline(file, line, last.tb_frame.f_globals)
            add_primal_note(error, Place(file, line, 0, text))
        raise


_LIBRARIES = tuple(str(Path(m.__file__ or "").parent) + os.sep for m in (np, sys.modules["srcad"]))


def _is_users(file: str) -> bool:
    return not is_own(file) and not file.startswith(_LIBRARIES)


def is_own(file: str) -> bool:
    """Whether a file belongs to srcad, or is text that it has written."""
    return file.startswith(("<srcad dispatch>", "<srcad door>", "<srcad guards>", _LIBRARIES[1]))


class _WithoutOwnFrames:
    """An exception that leaves the block does not show how srcad came to what raised it."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            while trace is not None and _is_in_between(trace.tb_frame.f_code.co_filename):
                trace = trace.tb_next
            if trace is not None or isinstance(error, SrcadError):  # else a fault of srcad itself
                error.__traceback__ = trace


_without_own_frames = _WithoutOwnFrames()


def _is_in_between(file: str) -> bool:
    return is_own(file) or file == contextlib.__file__


def hides_own_frames(function: F) -> F:
    """The function, whose exceptions show the frames of the user's code alone."""

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        with _without_own_frames:
            return function(*args, **keywords)

    return call  # type: ignore[return-value]  # of the same signature


def copied(value: Any) -> Any:
    """An argument that a function may write without the caller noticing."""
    match value:
        case np.ndarray():
            return value.copy()
        case list() if type(value) is list:
            return [copied(v) for v in value]
        case dict() if type(value) is dict:
            return {k: copied(v) for k, v in value.items()}
        case tuple() if type(value) is tuple:
            return tuple(map(copied, value))
    return value


def annotate(error: BaseException, compiled: Compiled) -> None:
    """Note on an exception which line of the primal it stems from."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == compiled.file:
            loc = compiled.emitted.line_map.get(trace.tb_lineno)
            if loc is None and compiled.function is not None:
                loc = compiled.function.loc  # a line of several: the function at least
            if (place := place_of(loc)) is not None:
                add_primal_note(error, place)
        trace = trace.tb_next
