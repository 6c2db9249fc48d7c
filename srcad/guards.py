"""What compiled code is valid for: keys of arguments, and checks of all else that it relies on.

A key is equal for two values that one code serves: dtype and pattern of sizes for arrays, item by
item for containers, the type for numbers and instances.  What a function refers to besides its
arguments is described by its captures; their checks are written out as one Python function, since
they run at each call.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.codegen.load import is_generated
from srcad.frontend.live import Capture, is_code
from srcad.ir.types import LONG
from srcad.options import Options
from srcad.passes.blocks import is_large

SCALARS = frozenset({float, int, complex, np.float64, np.float32})
"""Types that are their own key."""

_CONSTANTS = frozenset({type(None), bool, str, bytes})


class AnyValue:
    """The example of an argument of which nothing is known."""

    __slots__ = ()


class Identity:
    """A key that is equal for the same object only, and keeps it alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and same_code(other.value, self.value)

    def __hash__(self) -> int:
        value = self.value
        return hash(value) if isinstance(value, types.MethodType) else id(value)


def same_code(one: Any, other: Any) -> bool:
    """Whether two names have the same function, class or module; methods are bound each time."""
    return one is other or (
        isinstance(one, types.MethodType)
        and isinstance(other, types.MethodType)
        and one.__func__ is other.__func__
        and one.__self__ is other.__self__
    )


def key_of(value: Any, sizes: dict[int, int]) -> Any:
    """What code is compiled for: two values with one key can share it.

    ``sizes`` numbers the sizes seen, so that equal sizes have equal numbers.
    """
    kind = type(value)
    if kind in SCALARS:
        return kind
    if kind is np.ndarray:
        shape = value.shape
        if len(shape) == 1 and (size := shape[0]) > 1:
            return value.dtype, sizes.setdefault(size, len(sizes) + 2)
        numbers = [-s if s < 2 else sizes.setdefault(s, len(sizes) + 2) for s in shape]
        return value.dtype, tuple(numbers)
    if kind in _CONSTANTS:
        return kind, value
    if kind is tuple:
        return tuple, tuple([key_of(v, sizes) for v in value])
    if kind is list:
        kinds = [*map(type, value)]  # most lists hold numbers, and may be long
        if kinds and kinds[0] in SCALARS and kinds.count(kinds[0]) == len(kinds):
            return list, kinds[0]
        return list, tuple([key_of(v, sizes) for v in value])
    if kind is dict:
        return dict, tuple([(type(k), k, key_of(v, sizes)) for k, v in value.items()])
    if isinstance(value, np.generic):
        return kind
    if is_code(value):
        return "code", Identity(value)
    if isinstance(value, tuple):
        return kind, tuple([key_of(v, sizes) for v in value])
    if isinstance(value, dict):
        return kind, tuple([(type(k), k, key_of(v, sizes)) for k, v in value.items()])
    if isinstance(value, np.ndarray):
        return kind, value.dtype, value.shape
    if isinstance(value, (int, float, complex, str, bytes, enum.Enum)) or callable(value):
        return kind, Identity(value)
    # an instance: what is read of it has guards of its own
    return kind


def key_of_all(values: Sequence[Any], sizes: dict[int, int], options: Options) -> tuple[Any, ...]:
    """What code is compiled for by all arguments: their keys, and which sizes of them are large."""
    keys = tuple([key_of(v, sizes) for v in values])
    if not options.depends_on_sizes:
        return keys
    long = [number for size, number in sizes.items() if size >= LONG] if options.recompute else []
    large = [k for k, v in enumerate(values) if is_large(v)] if options.blocks else []
    return (*keys, ("large", tuple(long), tuple(large))) if long or large else keys


def constant_key(value: Any) -> Any:
    """The key of something that code was compiled *with*: a constant or a function."""
    if value is None or isinstance(value, (bool, str, bytes, int)):
        return type(value), value
    if isinstance(value, (float, complex)):
        return type(value), repr(value)  # 0.0 is not -0.0, and nan is nan
    if type(value) in (tuple, list):
        return type(value), tuple(map(constant_key, value))
    if type(value) is dict:
        # a copy: generated modules may leave `sys.modules` while it is gone through
        parts = value.copy().items()
        return dict, tuple((k, constant_key(v)) for k, v in parts if not is_generated(v))
    return Identity(value)


def is_same(value: Any, seen: Any) -> bool:
    """Whether a constant is what it was."""
    return bool(constant_key(value) == constant_key(seen))


# ---- the checks as a function

Enter = Callable[..., Any]
"""Takes the arguments and perhaps the sizes seen in them; runs the code, or returns ``MISS``."""


class _Miss:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<this code does not apply>"


MISS = _Miss()

WRONG = (LookupError, AttributeError, ValueError)
"""What is raised where something that the code relies on is no longer there."""


def make_entry(
    run: Callable[..., Any],
    count: int,
    captures: Sequence[Capture],
    sizes: dict[int, int],
    owner: object = None,
) -> tuple[Enter, Callable[..., Any]]:
    """How code is entered: ``(enter, collect)``.

    ``enter(*args)`` checks that what the code relies on is as it was, and runs it with the data
    that it refers to; or it returns ``MISS``.  ``collect(*args)`` returns that data as a tuple, or
    ``MISS``.  ``sizes`` are those of the arguments that the code was compiled for.  Both keep
    ``owner``, what the module of ``run`` goes with.
    """
    writer = _Writer([f"a{k}" for k in range(count)])
    writer.namespace["owner"] = owner
    for capture in captures:
        writer.check(capture, sizes)
    return writer.made(run)


def entered_with(enter: Enter, guards: Sequence[Capture], sizes: dict[int, int]) -> Enter:
    """The entry for arguments of known sizes, with which those of other arrays are compared."""
    if all(c.constant or type(c.seen) in SCALARS for c in guards):
        return enter
    return functools.partial(enter, sizes=dict(sizes))


class Door:
    """Where arrays come in: by dtypes and shapes, one look-up for all arguments.

    The arrays that came first are compared with, which is quicker than to look up.
    """

    MOST = 128
    """Of how many shapes the entries are kept."""

    def __init__(self, given: tuple[Any, ...], enter: Enter) -> None:
        self.known: dict[Any, Enter] = {}
        self.places = [k for k, v in enumerate(given) if type(v) is np.ndarray]
        self.first = [(given[k].shape, given[k].dtype) for k in self.places]
        listed = ", ".join(f"a{k}" for k in range(len(given)))
        same = [f"a{k}.shape == s{k} and a{k}.dtype is t{k}" for k in self.places]
        key = "".join(f"a{k}.dtype, a{k}.shape, " for k in self.places)
        text = (
            f"def enter({listed}):\n"
            f"    if {' and '.join(same)}:\n"
            f"        return first({listed})\n"
            f"    run = find(({key}))\n"
            f"    return MISS if run is None else run({listed})\n"
        )
        namespace: dict[str, Any] = {"first": enter, "find": self.known.get, "MISS": MISS}
        for k in self.places:
            namespace[f"s{k}"], namespace[f"t{k}"] = given[k].shape, given[k].dtype
        (self.enter,) = define(text, "<srcad door>", namespace)

    def has_first(self, given: tuple[Any, ...]) -> bool:
        """Whether arguments have the shapes that came first."""
        return self.first == [(given[k].shape, given[k].dtype) for k in self.places]

    def let_in(self, given: tuple[Any, ...], enter: Enter) -> None:
        """Know the entry for arguments of these shapes."""
        if len(self.known) >= self.MOST:
            self.known.clear()
        parts = [p for k in self.places for p in (given[k].dtype, given[k].shape)]
        self.known[tuple(parts)] = enter


@dataclass(frozen=True, slots=True)
class First:
    """What a call looks at before all else: whether it is like the first one.

    ``test`` holds if it is; ``call`` then runs the code.  Their own names start with ``_srcad_``.
    """

    test: str
    call: str
    namespace: dict[str, Any]


def like_first(
    names: Sequence[str],
    given: tuple[Any, ...],
    run: Callable[..., Any],
    captures: Sequence[Capture],
    valid: list[bool],
    owner: object = None,
) -> First | None:
    """What lets in numbers of the same types, and arrays of the same shapes.

    ``names`` are those of the arguments; ``valid`` holds whether the code may still be entered;
    ``owner`` is kept, as by an entry.
    None if what the code refers to has sizes to compare with.
    """
    writer = _Writer(names, "_srcad_")
    writer.namespace["_srcad_owner"] = owner
    writer.tests.append(f"{writer.name_of(valid)}[0]")
    for name, value in zip(names, given, strict=True):
        writer.like(name, value)
    for capture in captures:
        writer.check(capture, {})
    if writer.sized:
        return None
    return First(
        "\n            and ".join(writer.tests),
        f"{writer.name_of(run)}({', '.join([*names, *writer.data])})",
        writer.namespace,
    )


class _Writer:
    """The text of checks.  Its own names have a prefix where those of arguments are the user's."""

    def __init__(self, args: Sequence[str], prefix: str = "") -> None:
        self.args = args
        self.prefix = prefix
        self.names: dict[int, str] = {}
        self.namespace: dict[str, Any] = {}
        self.tests: list[str] = []
        self.data: list[str] = []
        self.sized = False

    def name_of(self, obj: Any) -> str:
        """The name under which the text has an object."""
        name = self.names.get(id(obj))
        if name is None:
            name = self.names[id(obj)] = f"{self.prefix}c{len(self.names)}"
            self.namespace[name] = obj
        return name

    def like(self, name: str, value: Any) -> None:
        """Add the check that an argument is like a given one: of its type, and of its shape."""
        self.tests.append(f"{self.name_of(type)}({name}) is {self.name_of(type(value))}")
        if isinstance(value, np.ndarray):
            self.tests.append(f"{name}.shape == {self.name_of(value.shape)}")
            self.tests.append(f"{name}.dtype is {self.name_of(value.dtype)}")

    def check(self, capture: Capture, sizes: dict[int, int]) -> None:
        """Add the check of one capture."""
        seen = capture.seen
        text = capture.access.text(lambda k: self.args[k], self.name_of)
        same, v = self.name_of(is_same), f"{self.prefix}v"
        if capture.constant:
            if type(seen) in (dict, list):
                self.tests.append(f"{same}({text}, {self.name_of(seen)})")
            elif seen is None or seen is True or seen is False:
                self.tests.append(f"{text} is {seen}")
            else:
                known = self.name_of(seen)
                self.tests.append(f"(({v} := {text}) is {known} or {same}({v}, {known}))")
            return
        place = f"{self.prefix}d{len(self.data)}"
        if capture.value is not None:
            self.data.append(place)
        else:
            place = v
        if type(seen) in SCALARS:
            kind = self.name_of(type(seen))
            self.tests.append(f"{self.name_of(type)}({place} := {text}) is {kind}")
        else:
            self.sized = True
            key = key_of(seen, sizes)
            found = f"{self.name_of(key_of)}({place} := {text}, sizes)"
            self.tests.append(f"{found} == {self.name_of(key)}")

    def made(self, run: Callable[..., Any]) -> tuple[Enter, Callable[..., Any]]:
        """The two functions."""
        self.namespace |= {"run": run, "MISS": MISS, "WRONG": WRONG}
        if not self.tests:
            self.tests.append("True")
        listed = ", ".join([*self.args, "sizes=None"])
        handed = ", ".join([*self.args, *self.data])
        kept = "".join(f"{d}, " for d in self.data)
        text = ""
        for name, result in (("enter", f"run({handed})"), ("collect", f"({kept})")):
            text += f"def {name}({listed}):\n    try:\n"
            if self.sized:
                text += "        sizes = {} if sizes is None else dict(sizes)\n"
            text += "        if not (\n            " + "\n            and ".join(self.tests)
            text += "\n        ):\n            return MISS\n"
            text += "    except WRONG:\n        return MISS\n"
            text += f"    return {result}\n"
        enter, collect = define(text, "<srcad guards>", self.namespace)
        return enter, collect


def define(text: str, file: str, namespace: dict[str, Any]) -> list[types.FunctionType]:
    """The functions that a text defines, in order; much of it is the same for many derivatives."""
    compiled = _compiled(text, file)
    exec(compiled, namespace)
    found = [namespace[c.co_name] for c in compiled.co_consts if isinstance(c, types.CodeType)]
    for function in found:
        # Python adapts code to the globals that it meets: each function needs its own
        function.__code__ = function.__code__.replace()
    return found


@functools.lru_cache(maxsize=256)
def _compiled(text: str, file: str) -> types.CodeType:
    return compile(text, file, "exec")
