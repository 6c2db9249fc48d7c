"""Generated text from one process to the next, without lowering the function again.

An entry is found by the differentiated function (its code and where it stands), the transform, the
kinds of the arguments, and the digest of all rules.  It lists what the text was made from: the
files of everything inlined, and every object that a name led to, with the way there
(``frontend.access``) and a description.  All of that is looked at again, in this process, before
the text is used, and becomes the guards of the loaded code.

Whatever cannot be described beyond doubt (an object without a name, a function typed into a shell)
is not kept: such code is generated anew in each process.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import operator
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from srcad import rules
from srcad.cache import Cache, CacheKey, Entry, default_cache
from srcad.codegen import Emitted
from srcad.errors import SrcadError
from srcad.frontend import access as ways
from srcad.frontend.access import Access, Argument
from srcad.frontend.live import Capture
from srcad.guards import Identity, key_of, key_of_all
from srcad.ir import Loc, Value
from srcad.ir.types import UNKNOWN
from srcad.options import DEFAULTS, Options, is_opaque
from srcad.pipeline import Compiled, Named, loaded


class _Unknown(Exception):
    """Something has no description."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is to be compiled."""

    primal: Any
    spec: Any
    positional: Named
    named: Named
    exact: bool
    options: Options = DEFAULTS

    @property
    def values(self) -> tuple[Any, ...]:
        """The arguments, in order."""
        return tuple(v for _, v in (*self.positional, *self.named))


def fetch(request: Request) -> tuple[Compiled, ...] | None:
    """What an earlier process generated for this request, if all that it relied on is as it was."""
    cache = default_cache()
    if cache.directory is None:
        return None
    try:
        entry = cache.get(_key(request))
        if entry is None:
            return None
        return _restored(entry, request)
    except (_Unknown, LookupError, AttributeError, ValueError):
        return None


def keep(request: Request, parts: tuple[Compiled, ...]) -> None:
    """Keep generated text for later processes, if that can be done without doubt."""
    cache: Cache = default_cache()
    if cache.directory is None:
        return
    try:
        describer = _Describer()
        key = _key(request)
        described = [_part(describer, request, part) for part in parts]
        functions = [describer.constant(f) for part in parts for f in part.inlined]
    except (_Unknown, SrcadError, LookupError, AttributeError, ValueError):
        return
    metadata = {"parts": described, "functions": functions, "files": describer.files}
    cache.put(key, Entry("\n".join(part.source for part in parts), metadata))


# ---- descriptions: equal text for equal objects, in every process


class _Describer:
    """Describes objects, and notes the files that define them."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def constant(self, obj: Any) -> str:
        """Something that code was compiled with."""
        match obj:
            case None | bool() | int() | float() | complex() | str() | bytes():
                if type(obj).__module__ != "builtins":
                    raise _Unknown
                return f"{type(obj).__name__} {obj!r}"
            case types.ModuleType():
                if sys.modules.get(obj.__name__) is not obj:
                    raise _Unknown
                return f"module {obj.__name__}"
            case types.FunctionType():
                self.file_of(obj.__code__.co_filename, obj.__module__)
                opaque = " opaque" if is_opaque(obj) else ""
                code = code_digest(obj.__code__)
                return f"function {obj.__module__}.{obj.__qualname__} {code}{opaque}"
            case types.CodeType():
                return f"code {code_digest(obj)}"
            case types.MethodType():
                return f"method {self.constant(obj.__func__)} of {self.kind(type(obj.__self__))}"
            case type():
                return f"class {self.kind(obj)}"
            case tuple() | list() if type(obj) in (tuple, list):
                return f"{type(obj).__name__} ({', '.join(map(self.constant, obj))})"
            case dict() if type(obj) is dict:
                pairs = (f"{self.constant(k)}: {self.constant(v)}" for k, v in obj.items())
                return f"dict ({', '.join(pairs)})"
            case property():
                return f"property {self.constant(obj.fget)}"
            case staticmethod() | classmethod():
                return f"{type(obj).__name__} {self.constant(obj.__func__)}"
            case functools.partial():
                names = ", ".join(obj.keywords)
                return f"partial {self.constant(obj.func)} {len(obj.args)} {names}"
            case enum.Enum():
                return f"member {self.kind(type(obj))} {obj.name}"
            case np.dtype():
                return f"dtype {obj.str} {obj.fields}"
        return self._other(obj)

    def _other(self, obj: Any) -> str:
        spec = getattr(obj, "spec", None)
        if getattr(type(obj), "__srcad_transform__", False):
            return f"derivative {spec!r} of {self.constant(obj.primal)}"
        name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
        module = getattr(obj, "__module__", None)
        if isinstance(obj, np.ufunc):
            return f"ufunc {obj.__name__}"
        if isinstance(name, str) and isinstance(module, str) and _is_library(module):
            return f"object {module}.{name}"
        raise _Unknown

    def kind(self, cls: type) -> str:
        """A class."""
        if "<" in cls.__qualname__ and cls.__module__ != "builtins":
            raise _Unknown
        if cls.__module__ != "builtins" and not _is_library(cls.__module__):
            for base in cls.__mro__:
                module = sys.modules.get(base.__module__)
                if not _is_library(base.__module__):
                    self.file_of(getattr(module, "__file__", None), base.__module__)
        return f"{cls.__module__}.{cls.__qualname__}"

    def key(self, key: Any) -> str:
        """The key of an argument or of captured data."""
        match key:
            case type():
                return self.kind(key)
            case Identity(value=value):
                return self.constant(value)
            case np.dtype():
                return self.constant(key)
            case tuple():
                return f"({', '.join(map(self.key, key))})"
        return self.constant(key)

    def callable(self, obj: Any) -> str:
        """The differentiated function, and where it stands."""
        match obj:
            case types.FunctionType():
                code = obj.__code__
                return f"{self.constant(obj)} {code.co_filename}:{code.co_firstlineno}"
            case types.MethodType():
                return f"method {self.callable(obj.__func__)} of {self.kind(type(obj.__self__))}"
            case functools.partial():
                names = ", ".join(obj.keywords)
                return f"partial {self.callable(obj.func)} {len(obj.args)} {names}"
        if getattr(type(obj), "__srcad_transform__", False):
            inner = self.callable(obj.primal)
            return f"derivative {obj.spec!r} {hasattr(obj, 'instance')} of {inner}"
        if isinstance(called := call_of(obj), types.FunctionType):
            return f"instance of {self.kind(type(obj))} {self.callable(called)}"
        return self.constant(obj)

    def file_of(self, name: str | None, module: str | None) -> None:
        """Note a file that something is defined in."""
        if module is not None and _is_library(module):
            return
        if name is None or name.startswith("<"):
            raise _Unknown
        self.files[name] = file_digest(name)


def call_of(obj: Any) -> Any:
    """What the class of an object does when the object is called."""
    return inspect.getattr_static(type(obj), "__call__", None)


_LIBRARIES = frozenset({"numpy", "scipy", "srcad", *sys.stdlib_module_names}) - {"__main__"}


def _is_library(module: str) -> bool:
    """Whether a module is what its version says: those are part of the key."""
    return module.partition(".")[0] in _LIBRARIES


@functools.lru_cache(maxsize=1024)
def _digest_at(name: str, stamp: tuple[int, int]) -> str:
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


def file_digest(name: str) -> str:
    """A digest of what is in a file now."""
    try:
        status = Path(name).stat()
        return _digest_at(name, (status.st_mtime_ns, status.st_size))
    except OSError:
        raise _Unknown from None


def code_digest(code: types.CodeType) -> str:
    """A digest of compiled code, equal in every process."""
    return hashlib.sha256(_code_text(code).encode("utf-8", "surrogatepass")).hexdigest()


def _code_text(code: types.CodeType) -> str:
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constants.append(_code_text(constant))
        elif isinstance(constant, frozenset):
            constants.append(repr(sorted(map(repr, constant))))
        else:
            constants.append(f"{type(constant).__name__} {constant!r}")
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return f"{code.co_name} {code.co_code.hex()} {names} {counts} {constants}"


def _key(request: Request) -> CacheKey:
    describer = _Describer()
    sizes: dict[int, int] = {}
    keys = list(map(describer.key, key_of_all(request.values, sizes, request.options)))
    names = [n for n, _ in request.positional], [n for n, _ in request.named]
    scipy = sys.modules.get("scipy")
    return CacheKey(
        (
            describer.callable(request.primal),
            repr(request.spec),
            repr(names),
            "\n".join(keys),
            "exact" if request.exact else "fast",
            repr(request.options),
            rules.digest(),
            getattr(scipy, "__version__", ""),
        )
    )


# ---- references: how an object is found again


_INWARD = ("func", "__func__", "__self__", "primal", "instance", "__wrapped__", "__call__")


def _roots(primal: Any) -> dict[int, list[Any]]:
    """What the differentiated function itself leads to, by identity."""
    found: dict[int, list[Any]] = {}
    work: list[tuple[Any, list[str]]] = [(primal, [])]
    while work:
        obj, path = work.pop(0)
        if id(obj) in found or len(path) > 6:
            continue
        found[id(obj)] = ["primal", path]
        for name in _INWARD:
            inner = inspect.getattr_static(obj, name, None)
            if inner is None and name not in ("__func__", "__self__", "func"):
                continue
            value = getattr(obj, name, None)
            if value is not None and not isinstance(value, types.MethodWrapperType):
                work.append((value, [*path, name]))
        if isinstance(call_of(obj), types.FunctionType):
            work.append((type(obj), [*path, "__class__"]))
    return found


class _References:
    """Finds ways to objects, from the differentiated function and from modules."""

    def __init__(self, describer: _Describer, request: Request, part: Compiled) -> None:
        self.describer = describer
        self.part = part
        self.roots = _roots(request.primal)
        self.open: set[int] = set()

    def to(self, obj: Any) -> list[Any]:
        """A reference to an object."""
        known = self.roots.get(id(obj))
        if known is not None:
            return known
        match obj:
            case types.ModuleType():
                self.describer.constant(obj)
                return ["module", obj.__name__]
            case dict():
                name = obj.get("__name__")
                module = sys.modules.get(name) if isinstance(name, str) else None
                if module is not None and module.__dict__ is obj:
                    return ["space", name]
                for function in self.part.inlined:
                    if function.__globals__ is obj:
                        return ["globals", self.to(function)]
                raise _Unknown
            case types.CellType():
                for function in self.part.inlined:
                    for k, cell in enumerate(function.__closure__ or ()):
                        if cell is obj:
                            return ["cell", self.to(function), function.__code__.co_freevars[k]]
                raise _Unknown
        if id(obj) in self.open:
            raise _Unknown
        self.open.add(id(obj))
        try:
            for capture in self.part.guards:
                if capture.constant and capture.seen is obj:
                    return ["access", self.way(capture.access)]
        finally:
            self.open.discard(id(obj))
        name, module_name = getattr(obj, "__qualname__", None), getattr(obj, "__module__", None)
        if isinstance(name, str) and isinstance(module_name, str):
            reference = ["import", module_name, name]
            if _resolve(reference, None, ()) is obj:
                return reference
        raise _Unknown

    def way(self, access: Access) -> list[Any]:
        """A way in terms of references."""
        if isinstance(access.root, Argument):
            root = ["argument", access.root.number]
        else:
            root = self.to(access.root)
        steps: list[list[Any]] = []
        for step in access.steps:
            if isinstance(step, ways.Times):
                steps.append(["Times", [step.count, self.way(step.other)]])
                continue
            key = step.key if isinstance(step, (ways.Item, ways.Size)) else step.name
            if type(key) not in (int, str):
                raise _Unknown
            steps.append([type(step).__name__, key])
        return [root, steps]


def _resolve(reference: list[Any], primal: Any, args: tuple[Any, ...]) -> Any:
    """The object that a reference leads to in this process."""
    match reference:
        case ["primal", path]:
            for name in path:
                primal = getattr(primal, name)
            return primal
        case ["module", name]:
            return sys.modules[name]
        case ["space", name]:
            return sys.modules[name].__dict__
        case ["globals", function]:
            return _resolve(function, primal, args).__globals__
        case ["cell", function, name]:
            found = _resolve(function, primal, args)
            return found.__closure__[found.__code__.co_freevars.index(name)]
        case ["access", way]:
            return _way(way, primal, args).read(args)
        case ["import", module, qualname]:
            return operator.attrgetter(qualname)(sys.modules[module])
    raise LookupError(reference)


def _way(described: list[Any], primal: Any, args: tuple[Any, ...]) -> Access:
    root, steps = described
    if root[0] == "argument":
        start: Any = Argument(root[1])
    else:
        start = _resolve(root, primal, args)
    made: list[ways.Step] = []
    for kind, key in steps:
        if kind == "Times":
            count, other = key
            made.append(ways.Times(count, _way(other, primal, args)))
        else:
            made.append(getattr(ways, kind)(key))
    return Access(start, tuple(made))


# ---- entries


def _part(describer: _Describer, request: Request, part: Compiled) -> dict[str, Any]:
    references = _References(describer, request, part)
    sizes = _sizes(request)
    return {
        "name": part.emitted.name,
        "source": part.source,
        "exact": part.exact,
        "backend": part.backend,
        "acts": part.acts,
        "ir": part.ir,
        "lines": [
            [line, loc.file, loc.line, loc.column, loc.text]
            for line, loc in part.emitted.line_map.items()
        ],
        "bindings": {n: references.to(o) for n, o in part.emitted.bindings.items()},
        "guards": [
            [
                guard.name,
                references.way(guard.access),
                guard.value is not None,
                guard.constant,
                _expected(describer, guard.seen, guard.constant, sizes),
            ]
            for guard in part.guards
        ],
    }


def _sizes(request: Request) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for value in request.values:
        key_of(value, sizes)
    return sizes


def _expected(describer: _Describer, obj: Any, constant: bool, sizes: dict[int, int]) -> str:
    return describer.constant(obj) if constant else describer.key(key_of(obj, sizes))


def _restored(entry: Entry, request: Request) -> tuple[Compiled, ...] | None:
    metadata = entry.metadata
    for name, digest in metadata["files"].items():
        if file_digest(name) != digest:
            return None
    args = request.values
    parts = []
    for part in metadata["parts"]:
        describer = _Describer()
        sizes = _sizes(request)
        guards = []
        for name, way, handed, constant, expected in part["guards"]:
            access = _way(way, request.primal, args)
            seen = access.read(args)
            if _expected(describer, seen, constant, sizes) != expected:
                return None
            value = Value(name, UNKNOWN) if handed else None
            seen = seen.copy() if constant and type(seen) in (dict, list) else seen
            guards.append(Capture(name, access, value, seen, constant))
        if not describer.files.keys() <= metadata["files"].keys():
            return None
        bindings = {n: _resolve(r, request.primal, args) for n, r in part["bindings"].items()}
        lines = {line: Loc(*where) for line, *where in part["lines"]}
        emitted = Emitted(part["source"], part["name"], bindings, lines)
        parts.append(
            loaded(
                emitted,
                tuple(guards),
                exact=part["exact"],
                acts=part["acts"],
                ir_text=part["ir"],
                backend=part["backend"],
            )
        )
    return tuple(parts)


__all__ = ["Request", "fetch", "keep"]
