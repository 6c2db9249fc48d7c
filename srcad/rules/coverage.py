"""What the rules cover of NumPy, SciPy and Python: counted, and as text."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.frontend.arrays import WRITERS
from srcad.rules import registry

_HOMES = (
    "numpy", "numpy.ufunc", "numpy.ndarray", "numpy.linalg", "numpy.fft",
    "numpy.polynomial.polynomial",
    "numpy.polynomial.chebyshev", "numpy.polynomial.legendre", "numpy.polynomial.hermite",
    "numpy.polynomial.hermite_e", "numpy.polynomial.laguerre", "numpy.random", "math", "cmath",
    "scipy.special", "scipy.linalg",
)  # fmt: skip

_DESCRIPTORS = (types.GetSetDescriptorType, types.MethodDescriptorType)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is declared of the public callables of one module or class, each named once."""

    home: str
    derivatives: tuple[str, ...]
    """With a rule."""
    sourced: tuple[str, ...]
    """Differentiated by their own source, which is tested as the rules are."""
    writers: tuple[str, ...]
    """Writing into arrays, which is what the compiler itself does."""
    constants: tuple[str, ...]
    """Declared to have a zero derivative."""
    effects: tuple[str, ...]
    """Declared to act on the outside: drawing of random numbers, output."""
    others: tuple[str, ...]
    """Without a declaration: read from their source where that can be, else refused."""


def coverage() -> Iterator[Coverage]:
    """Of each module and class that the rules are about; of SciPy's where it is installed."""
    for home in _HOMES:
        if home == "numpy.ufunc":
            yield _of(home, _methods_of_ufuncs())
        elif home == "numpy.ndarray":
            yield _of(home, _callables(np.ndarray))
        else:
            try:
                yield _of(home, _callables(importlib.import_module(home)))
            except ModuleNotFoundError:
                continue


def total(home: str) -> tuple[int, int]:
    """How many callables of a package have a derivative, and how many are declared constant."""
    found = [one for one in coverage() if one.home.partition(".")[0] == home]
    active = sum(len(one.derivatives) + len(one.sourced) + len(one.writers) for one in found)
    return active, sum(len(one.constants) for one in found)


def _of(home: str, found: Iterator[tuple[str, Any]]) -> Coverage:
    kinds = ("derivatives", "sourced", "writers", "constants", "effects", "others")
    lists: dict[str, list[str]] = {kind: [] for kind in kinds}
    for name, function in found:
        if registry.lookup(function) is not None:
            lists["derivatives"].append(name)
        elif registry.is_sourced(function):
            lists["sourced"].append(name)
        elif registry.hashable(function) and function in WRITERS:
            lists["writers"].append(name)
        elif registry.is_constant(function):
            lists["constants"].append(name)
        elif registry.is_effect(function):
            lists["effects"].append(name)
        else:
            lists["others"].append(name)
    return Coverage(home, **{k: tuple(v) for k, v in lists.items()})


def _callables(home: Any) -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []
    for name in sorted(n for n in dir(home) if not n.startswith("_")):
        function = getattr(home, name)
        if isinstance(function, type) and issubclass(function, (BaseException, np.generic)):
            continue
        if not (callable(function) or isinstance(function, _DESCRIPTORS)):
            continue
        if any(function is one for one in seen):
            continue
        seen.append(function)
        yield name, function


def _methods_of_ufuncs() -> Iterator[tuple[str, Any]]:
    """Of elementwise functions of two arguments: those of others raise."""
    for name, ufunc in _callables(np):
        if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout, ufunc.signature) == (2, 1, None):
            for method in (ufunc.reduce, ufunc.accumulate, ufunc.reduceat, ufunc.outer):
                yield f"{name}.{method.__name__}", method
    yield "at", np.ufunc.at


# ---- as text


def name_of(function: Any) -> str:
    """A function as one writes it."""
    name = getattr(function, "__name__", str(function))
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if owner is not None and type(owner).__module__.startswith("scipy.stats"):
        named = getattr(owner, "name", type(owner).__name__.removesuffix("_gen"))
        return f"scipy.stats.{named}.{name}"
    if isinstance(owner, type):
        return f"{'np.' if owner.__module__ == 'numpy' else ''}{owner.__name__}.{name}"
    if isinstance(function, np.ufunc):
        homes = {"np": np, "scipy.special": sys.modules.get("scipy.special")}
        known = (f"{home}.{name}" for home, m in homes.items() if getattr(m, name, 0) is function)
        return next(known, name)
    module = (getattr(function, "__module__", None) or "").partition("._")[0]
    short = {"numpy": "np", "builtins": "", "_operator": "operator", "": ""}
    home = short.get(module, module.replace("numpy", "np", 1))
    return f"{home}.{name}" if home else name


def formula(rule: registry.Rule) -> str:
    """The body of a rule; of one that is a single expression, that."""
    source = textwrap.dedent(inspect.getsource(rule.body))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    body = [s for s in function.body if not _is_docstring(s)]
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return ast.unparse(body[0].value)
    lines = source.splitlines()[body[0].lineno - 1 :]
    return textwrap.dedent("\n".join(lines))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def described(wanted: Callable[[str], bool]) -> Iterator[str]:
    """The rules of functions whose names are wanted, one text each; SciPy's too, if installed."""
    for home in ("scipy.special", "scipy.linalg", "scipy.stats", "scipy.integrate"):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(home)
    for rule in registry.rules():
        if not rule.body.__module__.startswith("srcad.rules."):
            continue
        names = list(dict.fromkeys(name_of(f) for f in rule.functions))
        if any(map(wanted, names)):
            head = f"{', '.join(names)}: {rule.kind} in {', '.join(rule.wrt)}"
            doc = inspect.getdoc(rule.body)
            notes = [] if doc is None else textwrap.indent(doc, "    # ").splitlines()
            yield "\n".join([head, *notes, textwrap.indent(formula(rule), "    ")])


def _in_order(one: Coverage) -> tuple[tuple[str, ...], ...]:
    return one.derivatives, one.sourced, one.writers, one.constants, one.effects, one.others


def page() -> str:
    """The page of the documentation on what is covered."""
    found = list(coverage())
    titles = (
        *("With a rule", "By its source", "Writing into arrays"),
        *("Constant", "Random or output", "No declaration"),
    )
    lines = [
        "# What has a rule",
        "",
        "Made from the registry by `srcad rules --coverage`: the public callables of each module,",
        "each named once whatever its aliases. What has no rule is read from its source where that",
        "is Python, and refused otherwise; where a test samples that as it does the rules, it is",
        "counted. `srcad rules NAME` prints the rules themselves.",
        "",
        f"Of NumPy, {' callables have a derivative and '.join(map(str, total('numpy')))} are"
        " constant.",
        "",
        f"| | {' | '.join(titles).lower()} |",
        "|---" * (len(titles) + 1) + "|",
    ]
    for one in found:
        counts = (len(names) for names in _in_order(one))
        lines.append(f"| `{one.home}` | {' | '.join(map(str, counts))} |")
    for one in found:
        lines += ["", f"## {one.home}", ""]
        for title, names in zip(titles, _in_order(one), strict=True):
            if names:
                text = f"{title}: " + ", ".join(f"`{n}`" for n in names) + "."
                lines += [*textwrap.wrap(text, 100, break_long_words=False), ""]
        lines.pop()
    return "\n".join(lines) + "\n"
