"""From generated text to a module that Python, its tools and Numba treat as any other.

Generated code lives in a real file and in a module in `sys.modules` whose `__dict__` is the
namespace it ran in. Only this way tracebacks, `inspect.getsource`, pdb, coverage, pickling by
reference and Numba's `cache=True` all work. The module goes with the last that holds it. The
file is named by what is in it and is not written again, since Numba compares its time stamp.
"""

from __future__ import annotations

import hashlib
import importlib.util
import linecache
import re
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcad.codegen.allocation import keep_freed_memory
from srcad.private_files import private_directory, read_private, write_private

__all__ = ["Loaded", "is_generated", "load"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Loaded:
    """A module of generated code. It is in `sys.modules` as long as this is held.

    What was taken from the module works on after that, and still shows its lines.
    """

    module: ModuleType
    source: str
    bindings: dict[str, object]


class _Lines:
    """Every namespace that ran text of one file holds this: while it lives, the lines are shown."""


_PREFIX = "_srcad_"
"""How the names of generated modules begin."""

_lock = threading.RLock()  # generated code may itself load more
_loaded: weakref.WeakValueDictionary[str, Loaded] = weakref.WeakValueDictionary()
"""By the names of the modules."""
_lines: weakref.WeakValueDictionary[str, _Lines] = weakref.WeakValueDictionary()
"""By file."""


def is_generated(value: object) -> bool:
    """Whether something is a module of generated code: no function depends on which there are."""
    return type(value) is ModuleType and value.__name__.startswith(_PREFIX)


def load(source: str, name: str, bindings: Mapping[str, object], directory: Path | None) -> Loaded:
    """Run `source` in a module of its own, where the names in `bindings` are globals.

    The same text with the same objects gives the same module. `name` is what file and module are
    called, before their digest. Without a directory, or where it cannot be written or trusted, the
    text is known to `linecache` alone.
    """
    stem = f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_{_digest(source, name, bindings)}"
    with _lock:
        _clear_up()
        module_name = _free_name(f"{_PREFIX}{stem}", source, bindings)
        known = _loaded.get(module_name)
        if known is not None:
            return known
        keep_freed_memory()
        file = _write(source, stem, directory)
        code = compile(source, file, "exec", dont_inherit=True)
        module = _new_module(module_name, file)
        module.__dict__.update(bindings)
        module.__dict__["__lines__"] = _shown(file, source)
        sys.modules[module_name] = module
        try:
            exec(code, module.__dict__)
        except BaseException:
            del sys.modules[module_name]
            raise
        loaded = _loaded[module_name] = Loaded(module, source, dict(bindings))
        _when_gone(loaded, _unregister, module)
        return loaded


# ---- what is let go of

_gone: deque[tuple[Callable[[Any], None], Any]] = deque()
"""What is to be done for objects that are gone, and with what."""


def _when_gone(obj: object, then: Callable[[Any], None], what: object) -> None:
    weakref.finalize(obj, _note, then, what).atexit = False


def _note(then: Callable[[Any], None], what: object) -> None:
    """Called in the midst of anything: it must not wait for a thread that is loading."""
    _gone.append((then, what))
    if _lock.acquire(blocking=False):
        try:
            _clear_up()
        finally:
            _lock.release()


def _clear_up() -> None:
    while _gone:
        then, what = _gone.popleft()
        then(what)


def _unregister(module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module:  # not loaded again meanwhile
        del sys.modules[module.__name__]


def _shown(file: str, source: str) -> _Lines:
    """What keeps the lines of a file shown; `linecache` reads those of a real file itself."""
    lines = _lines.get(file)
    if lines is None:
        lines = _lines[file] = _Lines()
        _when_gone(lines, _hide, file)
    if file.startswith("<"):
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    return lines


def _hide(file: str) -> None:
    if file not in _lines:
        linecache.cache.pop(file, None)


# ---- names and files


def _free_name(name: str, source: str, bindings: Mapping[str, object]) -> str:
    """The name of a module that has this text and these objects, or one that no module has.

    Modules with equal text differ where they are bound to different objects: each gets a number.
    """
    candidate, number = name, 1
    while (known := _loaded.get(candidate)) is not None:
        if known.source == source and _same_objects(known.bindings, bindings):
            return candidate
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _same_objects(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one.keys() == other.keys() and all(one[name] is other[name] for name in one)


def _write(source: str, stem: str, directory: Path | None) -> str:
    """Make the text available under a file name, and return the name."""
    if directory is not None and private_directory(directory):
        file = directory / f"{stem}.py"
        content = source.encode()
        if read_private(file) == content or write_private(file, content):
            return str(file.absolute())
    return f"<srcad {stem}>"


def _new_module(name: str, file: str) -> ModuleType:
    spec: ModuleSpec | None = None
    if not file.startswith("<"):
        spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        module = ModuleType(name)
        module.__file__ = file
        return module
    return importlib.util.module_from_spec(spec)


def _digest(source: str, name: str, bindings: Mapping[str, object]) -> str:
    """What the file is named by: the text, and of the bindings what compiled code may rely on.

    Numba compiles global numbers, arrays and functions in as constants, but its cache knows only
    the file: other values need another file.
    """
    parts = [sys.version, name, source]
    for key in sorted(bindings):
        parts += [key, _fingerprint(bindings[key])]
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(whole.encode()).hexdigest()[:20]


def _fingerprint(value: object) -> str:
    match value:
        case ModuleType():
            return f"module {value.__name__}"
        case FunctionType():
            return f"function {value.__module__}.{value.__qualname__} {_code_text(value.__code__)}"
        case type():
            return f"class {value.__module__}.{value.__qualname__}"
        case bool() | int() | float() | complex() | str() | bytes() | None:
            return f"{type(value).__name__} {value!r}"
        case tuple():
            return f"({', '.join(map(_fingerprint, value))})"
    if isinstance(compiled := getattr(value, "py_func", None), FunctionType):  # by Numba
        return f"compiled {_fingerprint(compiled)}"
    if isinstance(value, np.ndarray | np.generic):
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    return f"object {type(value).__module__}.{type(value).__qualname__}"


def _code_text(code: CodeType) -> str:
    constants: list[str] = []
    for constant in code.co_consts:
        match constant:
            case CodeType():
                constants.append(_code_text(constant))
            case frozenset():
                constants.append(repr(sorted(map(repr, constant))))
            case _:
                constants.append(repr(constant))
    return f"{code.co_code.hex()} {code.co_names} {constants}"
