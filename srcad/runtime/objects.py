"""Objects that are put together from their parts."""

from __future__ import annotations

from typing import Any


def dataclass_of(cls: type, fields: dict[str, Any]) -> Any:
    """An instance of a dataclass with the given fields, without running its ``__init__``."""
    instance: Any = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(instance, name, value)
    return instance
