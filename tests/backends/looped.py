"""Compilation in which every function goes through the loops, run by the plain Python printer."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from srcad import pipeline, runtime
from srcad.backends.loops import to_loops
from srcad.codegen import emit
from srcad.ir import Function
from srcad.ir.verify import verify


def run_looped(function: Function) -> Callable[..., Any]:
    """The function with loops, as Python code."""
    made = to_loops(function)
    verify(made)
    emitted = emit(made)
    space: dict[str, Any] = dict(emitted.bindings)
    exec(compile(emitted.source, "<loops>", "exec"), space)
    run: Callable[..., Any] = space[emitted.name]
    return run


@contextlib.contextmanager
def looped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """While this holds, what is compiled is turned into loops; names where they did not serve."""
    unforeseen: list[str] = []
    plain = pipeline.loaded

    def loaded(*args: Any, **keywords: Any) -> Any:
        compiled = plain(*args, **keywords)
        function = keywords.get("function")
        if function is None or compiled.acts:
            return compiled
        run = run_looped(function)

        def checked(*values: Any) -> Any:
            try:
                with np.errstate(all="ignore"):
                    return run(*values)
            except runtime.Unforeseen:
                unforeseen.append(function.name)
                return compiled.run(*values)

        return dataclasses.replace(compiled, run=checked)

    monkeypatch.setattr(pipeline, "loaded", loaded)
    yield unforeseen
