"""Dataclasses that do not change after they are made, at the price of those that may.

What ``dataclass(frozen=True)`` forbids at run time, mypy forbids of these when it reads the code.
A compilation makes thousands of them, and the check would take half of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def immutable(cls: type[T]) -> type[T]:
    """A class whose instances have fields, do not change, and equal only themselves."""
    return dataclass(slots=True, eq=False)(cls)


@dataclass_transform(frozen_default=True)
def immutable_value(cls: type[T]) -> type[T]:
    """A class whose instances have fields, do not change, and are equal if all fields are."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
