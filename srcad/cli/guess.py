"""Example arguments from what a function says of its parameters: annotations, then the docstring.

The numbers are of no account; they are all different, so that no term of a derivative hides.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMBERS = (1.3, 0.7, 0.8, 1.9, 1.2)
"""The point of SciPy's own example for `rosen`."""


class NotGuessed(Exception):
    """Nothing says what a parameter is."""


class Guesser:
    """Examples for the parameters of one function, each with other numbers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._hints = _hints(function)
        self._described = _described(inspect.getdoc(function) or "")
        self._made = 0

    def guess(self, name: str, parameter: inspect.Parameter) -> tuple[Any, str]:
        """An example, and what it is taken from."""
        if name in ("self", "cls"):
            raise NotGuessed("it is a method, and its object is not known")
        annotation = self._hints.get(name, parameter.annotation)
        if annotation is not parameter.empty:
            try:
                return self._of_type(annotation), "its annotation"
            except NotGuessed:
                pass
        if name in self._described:
            return self._of_words(name, self._described[name]), "its docstring"
        if annotation is parameter.empty:
            raise NotGuessed(f"{name} has no annotation, no default and no line in the docstring")
        raise NotGuessed(f"nothing is known to pass for {name}: {_title(annotation)}")

    # ---- numbers

    def _numbers(self, count: int) -> list[float]:
        """As many numbers; the next call starts one number further on."""
        places = range(self._made, self._made + count)
        self._made += 1
        return [_NUMBERS[k % 5] + 0.25 * (k // 5) for k in places]

    # ---- annotations

    def _of_type(self, kind: Any) -> Any:
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return self._first_of(parts)
        if origin is typing.Literal:
            return parts[0]
        if origin is typing.Annotated:
            return self._of_type(parts[0])
        plain = origin or kind
        match plain:
            case _ if plain in (float, np.floating, np.float64):
                return self._numbers(1)[0]
            case _ if plain in (int, np.integer, np.int64):
                return 3
            case _ if plain is bool:
                return True
            case _ if plain is np.ndarray or "ArrayLike" in _title(kind):
                return np.array(self._numbers(5))
            case _ if plain is tuple and parts:
                if parts[-1] is Ellipsis:
                    parts = parts[:1] * 3
                return tuple(self._of_type(part) for part in parts)
            case _ if plain in _LISTS:
                if not parts:
                    return self._numbers(3)
                return [self._of_type(parts[0]) for _ in range(3)]
            case _ if dataclasses.is_dataclass(plain) and isinstance(plain, type):
                return self._of_dataclass(plain)
        raise NotGuessed(_title(kind))

    def _first_of(self, kinds: tuple[Any, ...]) -> Any:
        for kind in kinds:
            try:
                return self._of_type(kind)
            except NotGuessed:
                continue
        raise NotGuessed(" | ".join(map(_title, kinds)))

    def _of_dataclass(self, kind: type) -> Any:
        hints = _hints(kind)
        values = {
            field.name: self._of_type(hints.get(field.name, field.type))
            for field in dataclasses.fields(kind)
            if field.init
            and field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        }
        return kind(**values)

    # ---- docstrings

    def _of_words(self, name: str, words: str) -> Any:
        kind = words.partition("\n")[0]
        if re.search(r"callable|function|dict|str\b|string", kind):
            raise NotGuessed(f"nothing is known to pass for {name}: {kind}")
        if re.search(r"array|sequence|vector|matrix|list|\d-?d\b", kind):
            if re.search(r"\b(2|two)-?d|matrix|\(\w+, ?\w+\)", words):
                return np.array(self._numbers(9)).reshape(3, 3)
            return np.array(self._numbers(5))
        if re.search(r"float|scalar|real|number", kind):
            return self._numbers(1)[0]
        if re.search(r"\bint", kind):
            return 3
        if re.search(r"\bbool", kind):
            return True
        raise NotGuessed(f"nothing is known to pass for {name}: {kind}")


_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # annotations may hold anything, names that are gone included
        return {}


def _title(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).removeprefix("typing.")


def _described(doc: str) -> dict[str, str]:
    """Parameters of a docstring in the style of NumPy or of Google: type and text, lower case."""
    found: dict[str, str] = {}
    numpy = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}|\Z)", doc, re.M | re.S)
    if numpy:
        for names, text in re.findall(
            r"^(\w[\w, ]*?) *: *([^\n]*(?:\n+[ \t]+[^\n]*)*)", numpy[1], re.M
        ):
            found.update(dict.fromkeys(re.split(r", *", names), text.lower()))
    google = re.search(r"^Arg(?:ument)?s:\n(.*?)(?=^\S|\Z)", doc, re.M | re.S)
    if google:
        for name, kind, text in re.findall(r"^\s+(\w+) *\((.*?)\): *([^\n]*)", google[1], re.M):
            found[name] = f"{kind}\n{text}".lower()
    return found
