"""From `MODULE:function` or `FILE.py:Class.method` to the function itself."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from srcad.api import Derivative
from srcad.cli.errors import CommandError

_FORM = "a target is MODULE:function or FILE.py:function, for example scipy.optimize:rosen"
_HAND_WRITTEN = ("{}_der", "{}_grad", "{}_jac", "{}_gradient", "{}_jacobian", "{}_prime", "grad_{}")


@dataclass(frozen=True, slots=True)
class Target:
    """The function that a command is about."""

    text: str
    """As it was given."""
    function: Callable[..., Any]
    module: ModuleType
    """Where it was looked up, which is not always where it was defined."""
    owner: Any
    """The module or the class that has it."""
    wrt: int | str | tuple[int | str, ...] | None = None
    """What an object made by `srcad.grad` and the like differentiates by."""

    @property
    def name(self) -> str:
        """The name of the function, without its module."""
        return self.text.rpartition(":")[2]

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        try:
            return inspect.signature(self.function)
        except (TypeError, ValueError):
            raise CommandError(f"{self.text} has no signature that could be read") from None

    def hand_written(self) -> tuple[str, Callable[..., Any]] | None:
        """A derivative that stands beside the function under a usual name, as `rosen_der`."""
        last = self.name.rpartition(".")[2]
        for pattern in _HAND_WRITTEN:
            name = pattern.format(last)
            found = getattr(self.owner, name, None)
            if callable(found) and not isinstance(found, Derivative):
                return name, found
        return None


def find_target(text: str) -> Target:
    """The function that `text` names."""
    place, colon, path = text.rpartition(":")
    if not colon or not place or not path:
        raise CommandError(f"{text!r} names no function", _FORM)
    module = _from_file(Path(place)) if _is_file(place) else _from_name(place)
    owner: Any = module
    found: Any = module
    for name in path.split("."):
        owner = found
        try:
            found = getattr(owner, name)
        except AttributeError:
            raise CommandError(
                f"{_title(owner)} has no function {name!r}", _alternatives(owner)
            ) from None
    if isinstance(found, Derivative):
        return Target(text, found.primal, module, owner, found.spec.argnums)
    if not callable(found):
        raise CommandError(f"{text} is no function, but of type {type(found).__name__}", _FORM)
    return Target(text, found, module, owner)


def _is_file(place: str) -> bool:
    return place.endswith(".py") or "/" in place or "\\" in place


def _from_name(name: str) -> ModuleType:
    _find_first(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        package = missing.partition(".")[0]
        hint = f"is it installed? python -m pip install {package}"
        if package == "scipy":
            hint = "SciPy comes with: python -m pip install '.[scipy]'"
        raise CommandError(f"there is no module {missing!r}", hint) from None


def _from_file(file: Path) -> ModuleType:
    """The module in a file, as if it were imported from its own folder.

    It goes by its own name, so that generated code can import what it refers to.
    """
    if not file.is_file():
        raise CommandError(f"there is no file {file}")
    path = file.resolve()
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if known is not None:  # a name that is taken, by `math` say
        name = f"{name}_from_file"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{file} is no Python file", "its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _find_first(path.parent)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _find_first(folder: Path) -> None:
    """Make the modules in a folder importable, for good: functions import when they run, too."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _title(owner: Any) -> str:
    if isinstance(owner, ModuleType):
        return f"the module {owner.__name__}"
    return f"{getattr(owner, '__qualname__', type(owner).__name__)}"


def _alternatives(owner: Any) -> str:
    own = [
        name
        for name, value in vars(owner).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__ == getattr(owner, "__name__", None)
    ]
    return f"it has {', '.join(own[:8])}{', …' if len(own) > 8 else ''}" if own else ""
