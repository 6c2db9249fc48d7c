"""Fourier transforms, by definition: a product with the matrix of the roots of unity."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.handle import FUNCTIONS, array
from srcad.testing.tracing.shaping import view


def _scale(n: int, norm: str | None, inverse: bool) -> float:
    if norm == "ortho":
        return float(1.0 / np.sqrt(n))
    return 1.0 / n if inverse == (norm in (None, "backward")) else 1.0


def _resized(a: Any, n: int, axis: int) -> Any:
    rows = np.moveaxis(array(a), axis, -1)
    have = np.shape(rows)[-1]
    if have < n:
        return np.pad(rows, [(0, 0)] * (np.ndim(rows) - 1) + [(0, n - have)])
    return rows[..., :n]


def _transform(a: Any, n: int, m: int, sign: int, axis: int, scale: float) -> Any:
    # n values in, m frequencies out.
    turns = np.outer(np.arange(m), np.arange(n)) % n
    matrix = np.exp(sign * 2j * np.pi * turns / n) * scale
    return np.moveaxis(np.einsum("...k,mk->...m", _resized(a, n, axis), matrix), -1, axis)


def _fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    n = np.shape(a)[axis] if n is None else n
    return _transform(a, n, n, -1, axis, _scale(n, norm, False))


def _ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    n = np.shape(a)[axis] if n is None else n
    return _transform(a, n, n, 1, axis, _scale(n, norm, True))


def _rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    n = np.shape(a)[axis] if n is None else n
    return _transform(a, n, n // 2 + 1, -1, axis, _scale(n, norm, False))


def _irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    n = 2 * (np.shape(a)[axis] - 1) if n is None else n
    rows = _resized(a, n // 2 + 1, axis)
    # Only the real part of the first and, for even n, of the last frequency is read.
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    turns = np.outer(np.arange(n), np.arange(n // 2 + 1)) % n
    matrix = np.exp(2j * np.pi * turns / n) * weights * _scale(n, norm, True)
    return np.moveaxis(np.real(np.einsum("...k,mk->...m", rows, matrix)), -1, axis)


def _along_axes(one: Any, default: tuple[int, ...] | None) -> Any:
    def run(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        if s is not None:
            raise Unsupported("a transform along several axes with s=")
        for axis in range(np.ndim(a)) if axes is None else axes:
            a = one(a, axis=axis, norm=norm)
        return a

    return run


def register() -> None:
    """Make the transforms known."""
    FUNCTIONS.update(
        {
            np.fft.fft: _fft,
            np.fft.ifft: _ifft,
            np.fft.rfft: _rfft,
            np.fft.irfft: _irfft,
            np.fft.fft2: _along_axes(_fft, (-2, -1)),
            np.fft.ifft2: _along_axes(_ifft, (-2, -1)),
            np.fft.fftn: _along_axes(_fft, None),
            np.fft.ifftn: _along_axes(_ifft, None),
            np.fft.fftshift: view(np.fft.fftshift),
            np.fft.ifftshift: view(np.fft.ifftshift),
        }
    )
