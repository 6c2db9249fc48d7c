"""Checks that types could not settle."""

from __future__ import annotations

from typing import Any

import numpy as np


def require_number(value: Any) -> None:
    """Refuse an augmented assignment to an array: it would write in place."""
    if isinstance(value, np.ndarray):
        raise TypeError("an augmented assignment writes an array in place: write x = x + y")
