"""`lift`: a copy of a function, and of what it reaches, in a world that knows handles."""

from __future__ import annotations

import builtins
import contextlib
import copy
import functools
import math
import os
import sys
import sysconfig
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeVar, cast

import numpy as np

from srcad.testing.lifting.arrays import CREATION, OBJECTS, LiftedModule, lifted_function
from srcad.testing.lifting.scalars import ABSTRACT, MATH, TYPES, TypeOf
from srcad.testing.tracing.handle import FUNCTIONS, Handle

F = TypeVar("F", bound=Callable[..., Any])

_LIBRARY_FOLDERS = tuple(
    os.path.realpath(p) + os.sep
    for key in ("stdlib", "platstdlib", "purelib", "platlib")
    if (p := sysconfig.get_paths().get(key))
)


def lift(f: F) -> F:
    """A copy of `f` that runs on handles.

    Functions, methods and classes of user modules it reaches are copied too. If `f` belongs to a
    library itself, so are those of that library.
    """
    return cast(F, _World(_package(f)).value(f))


def lift_value(x: Any) -> Any:
    """A copy of an argument: its functions and methods are lifted."""
    return _World().value(x)


def is_library(module: str | None, file: str | None = None) -> bool:
    """Whether code belongs to an installed library or to this one, and is left as it is."""
    top = (module or "").partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return True
    if top == "srcad":
        return True
    if file is None:
        file = getattr(sys.modules.get(module or ""), "__file__", None)
    return file is not None and os.path.realpath(file).startswith(_LIBRARY_FOLDERS)


def _package(f: Any) -> str:
    """The top-level package that code to be lifted belongs to."""
    while isinstance(f, functools.partial):
        f = f.func
    top = (getattr(f, "__module__", None) or "").partition(".")[0]
    return "" if top in ("numpy", "srcad") or top in sys.stdlib_module_names else top


class _Globals(dict[str, Any]):
    """The globals of a module, each lifted when it is first read; writes stay here."""

    def __init__(self, original: dict[str, Any], world: _World) -> None:
        super().__init__(__builtins__=world.builtins, __name__=original.get("__name__"))
        self.original = original
        self.world = world

    def __missing__(self, name: str) -> Any:
        return self.world.value(self.original[name])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.original


class _World:
    """One copy of everything that a function reaches."""

    def __init__(self, package: str = "") -> None:
        self.package = package
        """Not a library, wherever it is installed."""
        self.done: dict[int, tuple[Any, Any]] = {}
        self.globals: dict[int, _Globals] = {}
        self.cells: dict[int, tuple[CellType, CellType]] = {}
        self.builtins: dict[str, Any] = {
            **vars(builtins),
            "float": TYPES[float],
            "complex": TYPES[complex],
            "type": TypeOf,
            "__import__": self._import,
        }

    def is_library(self, module: str | None, file: str | None = None) -> bool:
        top = (module or "").partition(".")[0]
        return not (self.package and top == self.package) and is_library(module, file)

    def _import(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.value(builtins.__import__(name, *args, **kwargs))

    def value(self, x: Any) -> Any:
        """What stands for x in this world; x itself where nothing has to change."""
        if isinstance(x, (str, bytes, int, float, complex, np.ndarray, np.generic, Handle)):
            return x
        if x is None or isinstance(x, (range, slice)):
            return x
        known = self.done.get(id(x))
        if known is not None:
            return known[1]
        new = self._make(x)
        self.done[id(x)] = (x, new)  # x is kept, so that its id stays its own
        return new

    def _make(self, x: Any) -> Any:
        match x:
            case ModuleType():
                return self._module(x)
            case type():
                return self._class(x)
            case FunctionType():
                if x in CREATION or x in FUNCTIONS or (x.__module__ or "").startswith("numpy"):
                    return lifted_function(x)
                return self._function(x)
            case MethodType():
                return MethodType(self.value(x.__func__), self.value(x.__self__))
            case BuiltinFunctionType():
                return MATH.get(x) or (lifted_function(x) if _hashable_in(x) else x)
            case np.ufunc():
                return lifted_function(x)
            case functools.partial():
                return functools.partial(
                    self.value(x.func),
                    *(self.value(a) for a in x.args),
                    **{k: self.value(v) for k, v in x.keywords.items()},
                )
            case staticmethod():
                return staticmethod(self.value(x.__func__))
            case classmethod():
                return classmethod(self.value(x.__func__))
            case property():
                return property(
                    *(None if f is None else self.value(f) for f in (x.fget, x.fset, x.fdel))
                )
            case functools.cached_property():
                new = functools.cached_property(self.value(x.func))
                new.attrname = x.attrname
                return new
            case list() | tuple() | dict():
                return self._container(x)
            case _:
                return self._object(x)

    # ---- kinds of things

    def _function(self, f: FunctionType) -> Any:
        if self.is_library(f.__module__, _file(f)):
            inner = getattr(f, "__wrapped__", None)
            return (
                self.value(inner)
                if isinstance(inner, FunctionType)
                and not self.is_library(inner.__module__, _file(inner))
                and f.__code__.co_filename == functools.__file__
                else f
            )
        cells = tuple(self._cell(c) for c in f.__closure__ or ())
        new = FunctionType(
            f.__code__.replace(),
            self._globals(f.__globals__),
            f.__name__,
            None,
            tuple(c[0] for c in cells),
        )
        self.done[id(f)] = (f, new)  # before its closure is filled: it may hold f itself
        for cell, fill in cells:
            fill(cell)
        new.__defaults__ = self.value(f.__defaults__)
        new.__kwdefaults__ = self.value(f.__kwdefaults__)
        new.__dict__.update(f.__dict__)
        new.__qualname__ = f.__qualname__
        new.__module__ = f.__module__
        new.__doc__ = f.__doc__
        return new

    def _globals(self, original: dict[str, Any]) -> _Globals:
        if id(original) not in self.globals:
            self.globals[id(original)] = _Globals(original, self)
        return self.globals[id(original)]

    def _cell(self, cell: CellType) -> tuple[CellType, Callable[[CellType], None]]:
        known = self.cells.get(id(cell))
        if known is not None:
            return known[1], lambda _: None
        new = CellType()
        self.cells[id(cell)] = (cell, new)

        def fill(target: CellType) -> None:
            with contextlib.suppress(ValueError):  # an empty cell stays empty
                target.cell_contents = self.value(cell.cell_contents)

        return new, fill

    def _module(self, m: ModuleType) -> Any:
        if m is math or m.__name__ in (
            "cmath",
            "numpy",
            "numpy.linalg",
            "numpy.fft",
            "scipy.special",
        ):
            return LiftedModule(m, self.value)
        if m.__name__ == "scipy":
            return LiftedModule(m, self.value)
        return (
            m
            if self.is_library(m.__name__, getattr(m, "__file__", None))
            else LiftedModule(m, self.value)
        )

    def _class(self, c: type) -> Any:
        if c is type:
            return TypeOf
        stand_in = TYPES.get(c) or ABSTRACT.get(c)
        if stand_in is not None:
            return stand_in
        if c in CREATION:
            return CREATION[c]
        if c is np.vectorize:
            return CREATION[np.vectorize]
        if self.is_library(c.__module__) or type(c) is not type or hasattr(c, "_fields"):
            return c
        if issubclass(c, (BaseException, tuple)):
            return c
        skipped = ("__dict__", "__weakref__")
        space = {
            name: member
            for name, member in vars(c).items()
            if name not in skipped
            and not isinstance(member, (MemberDescriptorType, GetSetDescriptorType))
        }
        bases = tuple(self.value(b) for b in c.__bases__)
        try:
            new = type(c.__name__, bases, {"__module__": c.__module__, **_slots(space)})
        except TypeError:
            return c
        self.done[id(c)] = (c, new)
        for name, member in space.items():
            if name not in ("__slots__", "__doc__", "__qualname__", "__module__"):
                setattr(new, name, self.value(member))
        return new

    def _container(self, x: Any) -> Any:
        if isinstance(x, dict):
            changed = {k: self.value(v) for k, v in x.items()}
            if all(changed[k] is v for k, v in x.items()):
                return x
            return changed if type(x) is dict else x
        parts = [self.value(e) for e in x]
        if all(a is b for a, b in zip(parts, x, strict=True)):
            return x
        if isinstance(x, list):
            return parts if type(x) is list else x
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)

    def _object(self, x: Any) -> Any:
        if id(x) in OBJECTS:
            return OBJECTS[id(x)]
        kernel = getattr(x, "py_func", None)  # a Numba dispatcher
        if isinstance(kernel, FunctionType):
            return self.value(kernel)
        inner = getattr(x, "__wrapped__", None)
        if isinstance(inner, FunctionType) and type(x).__module__ == "functools":
            return self.value(inner)  # a cache: it must not keep handles
        if _hashable_in(x):
            return lifted_function(x)
        if self.is_library(type(x).__module__):
            return x
        lifted = self.value(type(x))
        if lifted is type(x):
            return x
        try:
            new = copy.copy(x)
            object.__setattr__(new, "__class__", lifted)
        except (TypeError, AttributeError):
            return x
        self.done[id(x)] = (x, new)
        for name, member in getattr(new, "__dict__", {}).items():
            new.__dict__[name] = self.value(member)
        return new


def _slots(space: dict[str, Any]) -> dict[str, Any]:
    return {k: space[k] for k in ("__slots__", "__doc__", "__qualname__") if k in space}


def _file(f: FunctionType) -> str | None:
    name = f.__code__.co_filename
    return name if os.path.sep in name else None


def _hashable_in(x: Any) -> bool:
    try:
        return x in CREATION or x in FUNCTIONS or type(x).__name__ == "_ArrayFunctionDispatcher"
    except TypeError:
        return False
