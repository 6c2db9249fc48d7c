"""Imports point one way, and third-party packages come in by their own doors.

Every import counts, those inside functions and under TYPE_CHECKING too: what is lazy still depends.
"""

import ast
import sys
from pathlib import Path

import pytest

import srcad

PACKAGE = Path(srcad.__file__).parent

ORDER = (
    "errors",
    "private_files",
    "recent",
    "options",
    "runtime",
    "ir",
    "frontend",
    "rules",
    "analysis",
    "passes",
    "transform",
    "codegen",
    "backends",
    "cache",
    "guards",
    "dispatch",
    "pipeline",
    "codes",
    "primal",
    "stored",
    "derivative",
    "points",
    "api",
    "testing",
    "report",
    "cli",
    "__main__",
)
"""A layer may import itself and those before it."""

ONLY = {
    "runtime": {"runtime"},
    "codegen": {"errors", "private_files", "options", "runtime", "ir", "codegen"},
    "testing.tape": {"testing.tape", "testing.lifting", "testing.tracing"},
    "testing.lifting": {"testing.tape", "testing.lifting", "testing.tracing"},
    "testing.tracing": {"testing.tape", "testing.lifting", "testing.tracing"},
}
"""What may import less: generated code's runtime, the printer, and the oracle, which must be wrong
independently of the compiler."""

DOORS = {
    "numpy": ("",),  # everywhere
    "gast": ("frontend", "codegen"),
    "astor": ("codegen.printer",),
    "beniget": ("frontend.scopes",),
    "scipy": ("rules", "backends"),
    "numba": ("backends",),
    "llvmlite": ("backends",),
}
"""Third-party packages to the modules that may import them."""


def imported(tree, module, is_package):
    """The dotted names that a module imports, absolute; of `from a import b` it is `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parts, base] if base else parts)
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def within(name, package):
    return package == "" or name == package or name.startswith(package + ".")


def violations(text, path):
    """What is wrong with the imports of a module; `path` is relative to the package."""
    parts = [*path.parts[:-1], *([] if path.stem == "__init__" else [path.stem])]
    inner = ".".join(parts)  # without "srcad"
    tree = ast.parse(text)
    is_package = path.stem == "__init__"
    for name, line in imported(tree, ".".join(["srcad", *parts]), is_package):
        top, _, rest = name.partition(".")
        if top == "srcad":
            if inner and not may_import(inner, rest):
                yield f"{path}:{line}: {inner} must not import {name}"
        elif top in DOORS:
            if not any(within(inner, door) for door in DOORS[top]):
                yield f"{path}:{line}: {inner} must not import {top}"
        elif top not in sys.stdlib_module_names:
            yield f"{path}:{line}: {top} is not a dependency"


def may_import(inner, target):
    layer = target.partition(".")[0]
    own_layer = inner.partition(".")[0]
    assert own_layer in ORDER, f"{own_layer} has no place in ORDER"
    if layer not in ORDER:  # the front of the package, or what it defines
        return ORDER.index(own_layer) > ORDER.index("api")
    for package, only in ONLY.items():
        if within(inner, package):
            return any(within(target, allowed) for allowed in only)
    return ORDER.index(layer) <= ORDER.index(own_layer)


MODULES = sorted(file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_point_one_way(path):
    text = (PACKAGE / path).read_text(encoding="utf-8")
    assert list(violations(text, path)) == []


def test_modules_were_found():
    assert Path("errors.py") in MODULES
    assert Path("frontend/source.py") in MODULES


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("frontend/a.py", "from srcad.rules import registry"),
        ("frontend/a.py", "import srcad.rules.registry as r"),
        ("frontend/a.py", "def f():\n    from srcad import rules"),
        ("frontend/a.py", "from ..rules import registry"),
        ("frontend/__init__.py", "from ..rules import registry"),
        ("frontend/__init__.py", "from .. import rules"),
        ("frontend/a.py", "from .. import rules"),
        ("frontend/a.py", "if TYPE_CHECKING:\n    from srcad.api import grad"),
        ("frontend/a.py", "from srcad import grad"),
        ("frontend/a.py", "import srcad"),
        ("frontend/a.py", "import beniget"),
        ("frontend/a.py", "import requests"),
        ("ir/core.py", "import gast"),
        ("errors.py", "import srcad.ir"),
        ("runtime/a.py", "from srcad.errors import Place"),
        ("runtime/a.py", "import scipy.special"),
        ("codegen/a.py", "from srcad.frontend import source"),
        ("codegen/a.py", "import srcad.rules"),
        ("codegen/a.py", "import astor"),
        ("transform/a.py", "from srcad.codegen import printer"),
        ("testing/tape/a.py", "from srcad.errors import Place"),
        ("testing/tape/a.py", "import srcad.testing.check"),
        ("testing/tape/a.py", "from srcad.ir import Value"),
        ("testing/tape/a.py", "import scipy"),
        ("testing/a.py", "import srcad.cli"),
        ("backends/python.py", "import srcad.cache"),
        ("__init__.py", "import jax"),
    ],
)
def test_wrong_imports_are_seen(path, text):
    assert len(list(violations(text, Path(path)))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", "from srcad.api import grad\nfrom .errors import *"),
        ("rules/a.py", "from srcad.frontend.source import read_function\nimport scipy.special"),
        ("frontend/a.py", "from . import scopes\nfrom .lower import f\nfrom ..ir import core"),
        ("frontend/__init__.py", "from .lower import f\nfrom . import lower"),
        ("frontend/scopes.py", "import beniget, gast"),
        ("codegen/printer.py", "import astor\nimport gast\nimport ast\nfrom srcad.ir import Value"),
        ("runtime/a.py", "import numpy as np, math\nfrom srcad.runtime import b"),
        ("testing/tape/a.py", "import numpy.linalg\nfrom srcad.testing.tape import b"),
        ("testing/check.py", "from srcad.testing import tape\nimport srcad\nimport srcad.api"),
        ("cli/__init__.py", "from srcad.report import html\nfrom srcad import grad"),
        ("backends/numba.py", "import numba\nfrom srcad.codegen import emit"),
        ("cache.py", "from srcad.private_files import read_private"),
    ],
)
def test_right_imports_are_let_through(path, text):
    assert list(violations(text, Path(path))) == []


def test_a_new_layer_needs_a_place():
    with pytest.raises(AssertionError, match="no place in ORDER"):
        list(violations("import srcad.errors", Path("helpers.py")))
