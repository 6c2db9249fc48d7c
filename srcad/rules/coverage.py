"""What the rules cover of NumPy, SciPy and Python: counted, and as text."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.rules import registry

_HOMES = (
    "numpy", "numpy.ndarray", "numpy.linalg", "numpy.fft", "numpy.polynomial.polynomial",
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
    constants: tuple[str, ...]
    """Declared to have a zero derivative."""
    effects: tuple[str, ...]
    """Declared to act on the outside: drawing of random numbers, output."""
    others: tuple[str, ...]
    """Without a declaration: read from their source where that can be, else refused."""


def coverage() -> Iterator[Coverage]:
    """Of each module and class that the rules are about; of SciPy's where it is installed."""
    for home in _HOMES:
        try:
            found: Any = importlib.import_module(home)
        except ModuleNotFoundError:
            if home != "numpy.ndarray":
                continue
            found = np.ndarray
        yield _of(home, found)


def _of(home: str, found: Any) -> Coverage:
    lists: dict[str, list[str]] = {"derivatives": [], "constants": [], "effects": [], "others": []}
    for name, function in _callables(found):
        if registry.lookup(function) is not None:
            lists["derivatives"].append(name)
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


# ---- as text


def name_of(function: Any) -> str:
    """A function as one writes it."""
    name = getattr(function, "__name__", str(function))
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if isinstance(owner, type):
        return f"{'np.' if owner.__module__ == 'numpy' else ''}{owner.__name__}.{name}"
    if isinstance(function, np.ufunc):
        return f"np.{name}" if getattr(np, name, None) is function else f"scipy.special.{name}"
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
    """The rules of functions whose names are wanted, one text each."""
    for rule in registry.rules():
        if not rule.body.__module__.startswith("srcad.rules."):
            continue
        names = list(dict.fromkeys(name_of(f) for f in rule.functions))
        if any(map(wanted, names)):
            head = f"{', '.join(names)}: {rule.kind} in {', '.join(rule.wrt)}"
            doc = inspect.getdoc(rule.body)
            notes = [] if doc is None else textwrap.indent(doc, "    # ").splitlines()
            yield "\n".join([head, *notes, textwrap.indent(formula(rule), "    ")])


def page() -> str:
    """The page of the documentation on what is covered."""
    found = list(coverage())
    lines = [
        "# What has a rule",
        "",
        "Made from the registry by `srcad rules --coverage`: the public callables of each module,",
        "each named once whatever its aliases. What has no rule is read from its source where that",
        "is Python, and refused otherwise. `srcad rules NAME` prints the rules themselves.",
        "",
        "| | with a derivative | constant | random or output | no declaration |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        counts = (one.derivatives, one.constants, one.effects, one.others)
        lines.append(f"| `{one.home}` | {' | '.join(str(len(c)) for c in counts)} |")
    for one in found:
        lines += ["", f"## {one.home}", ""]
        for title, names in (
            ("With a derivative", one.derivatives),
            ("Constant", one.constants),
            ("Random or output", one.effects),
            ("No declaration", one.others),
        ):
            if names:
                text = f"{title}: " + ", ".join(f"`{n}`" for n in names) + "."
                lines += [*textwrap.wrap(text, 100, break_long_words=False), ""]
        lines.pop()
    return "\n".join(lines) + "\n"
