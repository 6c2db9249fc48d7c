"""Value and gradient together over the function alone, on Python floats."""

from __future__ import annotations

import contextlib
import io
import statistics
from collections.abc import Callable
from typing import Any

import srcad
from benchmarks.timing import seconds_per_call
from tests.zoo import CASES, Case

TARGET = 4.0
TITLE = "gradient over primal"


def measure(rounds: int, budget: float, most: int | None = None) -> dict[str, Any]:
    """Ratios by case: of a call, and of the generated code without the dispatch before it."""
    cases = [case for case in CASES if "scalar" in case.tags and "prints" not in case.tags]
    results: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for case in cases[:most]:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                results[case.id] = _measured(case, rounds, budget)
        except Exception as error:  # one that fails is reported, the others are still measured
            failed[case.id] = f"{type(error).__name__}: {error}".splitlines()[0]
    ratios = {name: r["call"] / r["primal"] for name, r in results.items()}
    bare = {name: r["code"] / r["primal"] for name, r in results.items()}
    return {
        "target": TARGET,
        "median": statistics.median(ratios.values()),
        "median of the code alone": statistics.median(bare.values()),
        "ratios": ratios,
        "ratios of the code alone": bare,
        "seconds": results,
        "failed": failed,
    }


def _measured(case: Case, rounds: int, budget: float) -> dict[str, float]:
    args, kwargs = case.fresh()
    primal = _call(case.function, args, kwargs)
    derivative = srcad.value_and_grad(case.function, argnums=case.argnums)
    gradient = _call(derivative, args, kwargs)
    gradient()
    code = _call(*compiled_code(derivative, args, kwargs), {})
    names = ("primal", "call", "code")
    times = seconds_per_call([primal, gradient, code], rounds, budget)
    return dict(zip(names, times, strict=True))


def compiled_code(
    derivative: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The generated function and its arguments, the captured ones included."""
    positional, named = derivative.bind(*args, **kwargs)
    compiled = derivative.compiled_for(positional, named)
    values = [value for _, value in (*positional, *named)]
    return compiled.run, (*values, *(c.read() for c in compiled.captures))


def _call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call without arguments of its own; lambdas of few arguments cost the least."""
    if kwargs:
        return lambda: f(*args, **kwargs)
    match args:
        case (x,):
            return lambda: f(x)
        case (x, y):
            return lambda: f(x, y)
        case (x, y, z):
            return lambda: f(x, y, z)
        case _:
            return lambda: f(*args)


def lines(result: dict[str, Any]) -> list[str]:
    """What to print."""
    ratios, bare = result["ratios"], result["ratios of the code alone"]
    ordered = sorted(ratios, key=lambda name: ratios[name])
    text = [
        f"{result['median']:6.2f}  median of {len(ratios)} functions (target: {TARGET:g} at most); "
        f"{result['median of the code alone']:.2f} for the generated code without its dispatch"
    ]
    text += [f"{ratios[n]:6.2f}  {bare[n]:6.2f} code alone  {n}" for n in ordered[-8:]]
    text += [f"failed  {name}: {why}" for name, why in result["failed"].items()]
    return text
