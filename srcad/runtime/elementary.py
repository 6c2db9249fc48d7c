"""Functions of one number that compiled loops have in a form that is vectorised.

Here they are NumPy's; the compiled ones are in `srcad.backends.numba.functions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FAR = 8e5
"""Compiled ``sin`` and ``cos`` are for smaller numbers."""


def sin(x: Any) -> Any:
    """`np.sin`"""
    return np.sin(x)


def cos(x: Any) -> Any:
    """`np.cos`"""
    return np.cos(x)


def exp(x: Any) -> Any:
    """`np.exp`"""
    return np.exp(x)


def expm1(x: Any) -> Any:
    """`np.expm1`"""
    return np.expm1(x)


def log(x: Any) -> Any:
    """`np.log`"""
    return np.log(x)


def log1p(x: Any) -> Any:
    """`np.log1p`"""
    return np.log1p(x)


def tanh(x: Any) -> Any:
    """`np.tanh`"""
    return np.tanh(x)
