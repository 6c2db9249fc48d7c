"""Numba as an engine for the checks of derivatives, and its code without it."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import srcad
from srcad import codes, pipeline
from srcad.errors import SlowFallback


class Numba:
    """The transforms, compiled by Numba; what it cannot compile is refused.

    ``slow`` has the reasons for which compiled code left a call to plain code: that is right, and
    not what was asked for.
    """

    def __init__(self, **choices: Any) -> None:
        self.slow: list[str] = []
        self._choices = {"backend": "numba", **choices}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        transform = getattr(srcad, name)

        def compiled(*args: Any, **keywords: Any) -> Any:
            made = self._watched(lambda: transform(*args, **keywords, **self._choices))
            if name == "vjp":
                return made[0], self._watching(made[1]), *made[2:]
            return self._watching(made) if callable(made) else made

        return compiled

    def _watching(self, run: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **keywords: self._watched(lambda: run(*args, **keywords))

    def _watched(self, run: Callable[[], Any]) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", SlowFallback)
            out = run()
        self.slow += [str(w.message) for w in caught]
        return out


@contextlib.contextmanager
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """While this holds, the code for Numba runs as plain Python."""
    load = pipeline.load

    def without_decorators(source: str, *args: Any) -> Any:
        return load(re.sub(r"^@numba\.njit.*\n", "", source, flags=re.MULTILINE), *args)

    codes._forget_all()
    monkeypatch.setattr(pipeline, "load", without_decorators)
    yield
    codes._forget_all()
