"""Choices that change what is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_opaque: dict[Any, None] = {}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a derivative."""

    def is_opaque(self, function: Any) -> bool:
        """Whether a function was marked with ``srcad.opaque``."""
        return is_opaque(function)


def is_opaque(function: Any) -> bool:
    """Whether a function was marked with ``srcad.opaque``."""
    try:
        return function in _opaque
    except TypeError:
        return False


def mark_opaque(function: Any) -> Any:
    """Note that a function is to be run as it is."""
    _opaque[function] = None
    return function
