"""How long it takes from a function of 50 lines to its compiled gradient, nothing cached."""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import srcad
from benchmarks.fifty_lines import TEXT

TARGET = 0.1
TITLE = "compile"


def measure(rounds: int) -> dict[str, Any]:
    """The seconds of each first call: of functions that differ in their name alone.

    The first function is not counted: its call imports and reads the rules.
    """
    before = os.environ.get("SRCAD_CACHE_DIR")
    os.environ["SRCAD_CACHE_DIR"] = "off"
    try:
        with tempfile.TemporaryDirectory() as folder:
            functions = fresh_functions(Path(folder), rounds + 1)
            taken = [first_call(f) for f in functions][1:]
    finally:
        if before is None:
            del os.environ["SRCAD_CACHE_DIR"]
        else:
            os.environ["SRCAD_CACHE_DIR"] = before
    return {"target": TARGET, "median": statistics.median(taken), "best": min(taken), "all": taken}


def first_call(function: Callable[..., Any]) -> float:
    """The seconds of the first call of a gradient."""
    gradient = srcad.grad(function, argnums=(0, 1))
    start = time.process_time()
    gradient(0.7, 1.3, 5)
    return time.process_time() - start


def fresh_functions(folder: Path, count: int) -> list[Callable[..., Any]]:
    """Copies of the function, each in a module of its own."""
    return [_module(folder, k).model for k in range(count)]


def _module(folder: Path, k: int) -> ModuleType:
    name = f"_srcad_benchmark_{os.getpid()}_{k}"
    file = folder / f"{name}.py"
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    return [
        f"{result['median'] * 1e3:6.1f} ms  median of {len(result['all'])} functions of 50 lines "
        f"(target: {TARGET * 1e3:g} ms at most); best {result['best'] * 1e3:.1f} ms"
    ]
