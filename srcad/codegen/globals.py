"""What the generated module refers to by name: imports, functions, and objects bound to names.

Names of the user's variables win: where one is called ``np`` the module imports NumPy under another
name, and where one is called ``range`` the built-in is reached as ``builtins.range``.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from functools import cache
from typing import Any

import numpy as np

from srcad.ir.naming import identifier

_NUMPY_SPACES = ("", "linalg", "fft", "random", "lib.stride_tricks", "polynomial.polynomial")


class GlobalNames:
    """Names at module level, given out as the text asks for them."""

    def __init__(self, taken: set[str]) -> None:
        """``taken`` are the names that variables ask for."""
        self.bindings: dict[str, Any] = {}
        self._taken = set(taken)
        self._imports: dict[str, str] = {}
        """From the import statement to the name it binds."""
        self._bound: dict[int, str] = {}
        self._given: set[str] = set()

    # ---- names

    def is_free(self, name: str) -> bool:
        """Whether a variable may take the name."""
        return name not in self._given and name not in (
            "np",
            "math",
            "runtime",
            "operator",
            "builtins",
        )

    def reserve(self, names: set[str]) -> None:
        """Keep clear of names that variables have taken."""
        self._taken |= names

    def new_name(self, wish: str) -> str:
        """A name at module level that no variable uses."""
        name, count = wish, 1
        while name in self._taken or name in self._given or hasattr(builtins, name):
            count += 1
            name = f"{wish}_" if count == 2 else f"{wish}_{count}"
        self._given.add(name)
        return name

    # ---- references

    def path(self, obj: Any) -> tuple[str, ...]:
        """The names that reach an object from the module: ``("np", "linalg", "inv")``."""
        if isinstance(obj, types.ModuleType):
            if sys.modules.get(obj.__name__) is obj and obj.__name__ != "__main__":
                return self._module(obj.__name__)
            return (self.bind(obj, obj.__name__.rpartition(".")[2]),)
        found = numpy_path(obj)
        if found is not None:
            return (*self._module("numpy"), *found)
        owner = getattr(obj, "__self__", None)
        name = getattr(obj, "__name__", None)
        bound = isinstance(obj, (types.BuiltinMethodType, types.MethodType))
        if bound and isinstance(owner, (np.ufunc, type)) and isinstance(name, str):
            return (*self.path(owner), name)
        module, qualname = _home(obj)
        if module == "builtins":
            if qualname in self._taken:
                return (*self._module("builtins"), qualname)
            return (qualname,)
        if module is not None:
            return (*self._module(module), *qualname.split("."))
        return (self.bind(obj, name if isinstance(name, str) else type(obj).__name__.lower()),)

    def builtin(self, name: str) -> tuple[str, ...]:
        """The names that reach a built-in."""
        return self.path(getattr(builtins, name))

    def runtime(self, name: str) -> tuple[str, ...]:
        """The names that reach a function of the run-time library."""
        return (*self._module("srcad.runtime"), name)

    def bind(self, obj: Any, wish: str) -> str:
        """The name under which the module finds an object that cannot be imported."""
        name = self._bound.get(id(obj))
        if name is None:
            wish = "function" if wish == "<lambda>" else identifier(wish)
            name = self._bound[id(obj)] = self.new_name(wish)
            self.bindings[name] = obj
        return name

    def _module(self, module: str) -> tuple[str, ...]:
        match module:
            case "numpy":
                return (self._import("import numpy as {}", "np"),)
            case "srcad.runtime":
                return (self._import("from srcad import {}", "runtime"),)
            case _ if "." in module:
                package = module.partition(".")[0]
                if package in self._taken:
                    return (self._import(f"import {module} as {{}}", module.rpartition(".")[2]),)
                self._given.add(package)
                self._imports.setdefault(f"import {module}", package)
                return tuple(module.split("."))
            case _:
                return (self._import(f"import {module} as {{}}", module),)

    def _import(self, template: str, wish: str) -> str:
        name = self._imports.get(template)
        if name is None:
            name = self._imports[template] = wish if wish in self._given else self.new_name(wish)
        return name

    def import_lines(self) -> list[str]:
        """The import statements, in order."""
        lines = []
        for template, name in self._imports.items():
            line = template.format(name)
            words = line.split()
            if words[:1] == ["import"] and len(words) == 4 and words[1] == words[3]:
                line = f"import {name}"
            if template == "from srcad import {}" and name != "runtime":
                line = f"from srcad import runtime as {name}"
            lines.append(line)
        return sorted(lines, key=lambda line: (line.split()[0] == "from", line))


@cache
def _numpy_paths() -> dict[int, tuple[str, ...]]:
    """Public functions and types of NumPy by identity, at their own names or shortest paths."""
    paths: dict[int, tuple[str, ...]] = {}
    for space in _NUMPY_SPACES:
        module: Any = operator.attrgetter(space)(np) if space else np
        prefix = tuple(space.split(".")) if space else ()
        for name in sorted(vars(module), key=lambda n: (len(n), n)):
            if name.startswith("_"):
                continue
            obj = vars(module)[name]
            if not callable(obj) or isinstance(obj, types.ModuleType):
                continue
            known = paths.get(id(obj))
            own = getattr(obj, "__name__", None) == name
            if known is None or (own and len(known) == len(prefix) + 1 and known[-1] != name):
                paths[id(obj)] = (*prefix, name)
    return paths


def numpy_path(obj: Any) -> tuple[str, ...] | None:
    """The path of a function or type in NumPy's public name space."""
    path = _numpy_paths().get(id(obj))
    # identities may be reused by objects that die; public NumPy objects do not
    return path if path is not None and operator.attrgetter(".".join(path))(np) is obj else None


def _home(obj: Any) -> tuple[str | None, str]:
    """Module and qualified name under which an object is found; None if it is not."""
    qualname = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if not isinstance(qualname, str) or "<" in qualname:
        return None, ""
    name = "scipy.special" if isinstance(obj, np.ufunc) else getattr(obj, "__module__", None)
    if not isinstance(name, str) or name == "__main__":
        return None, ""
    name = {"_operator": "operator"}.get(name, name)
    parts = name.split(".")
    # the shortest path that leads there is the public one
    for candidate in (".".join(parts[:k]) for k in range(1, len(parts) + 1)):
        found: Any = sys.modules.get(candidate)
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if found is obj:
            return candidate, qualname
    return None, ""
