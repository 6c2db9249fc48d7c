"""Rules of `np.fft`: the matrix of a Fourier transform is symmetric, so it is its own transpose."""

import numpy as np

from srcad.rules.intrinsics import fitted
from srcad.rules.registry import linear


@linear(np.fft.fft, wrt="a")
def fft(ct, a, n=None, axis=-1, norm=None):
    to_a = fitted(np.fft.fft(ct, axis=axis, norm=norm), np.shape(a)[axis], axis)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.ifft, wrt="a")
def ifft(ct, a, n=None, axis=-1, norm=None):
    to_a = fitted(np.fft.ifft(ct, axis=axis, norm=norm), np.shape(a)[axis], axis)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.rfft, wrt="a")
def rfft(ct, a, n=None, axis=-1, norm=None):
    """The half of the spectrum that is left out has no cotangent."""
    size = np.shape(a)[axis] if n is None else n
    return fitted(np.real(np.fft.fft(ct, size, axis, norm)), np.shape(a)[axis], axis)


@linear(np.fft.irfft, wrt="a")
def irfft(ct, a, n=None, axis=-1, norm=None):
    """All but the first and, of even lengths, the middle frequency stand for two."""
    size = np.shape(ct)[axis]
    half = size // 2 + 1
    spectrum = fitted(np.fft.ifft(ct, axis=axis, norm=norm), half, axis)
    k = np.arange(half)
    twice = np.where((k == 0) | (2 * k == size), 1, 2).astype(ct.dtype)
    shape = [-1 if j == axis % np.ndim(a) else 1 for j in range(np.ndim(a))]
    to_a = fitted(spectrum * np.reshape(twice, shape), np.shape(a)[axis], axis)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.fft2, wrt="a")
def fft2(ct, a, *, axes=(-2, -1), norm=None):
    to_a = np.fft.fft2(ct, axes=axes, norm=norm)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.ifft2, wrt="a")
def ifft2(ct, a, *, axes=(-2, -1), norm=None):
    to_a = np.fft.ifft2(ct, axes=axes, norm=norm)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.fftn, wrt="a")
def fftn(ct, a, *, axes=None, norm=None):
    to_a = np.fft.fftn(ct, axes=axes, norm=norm)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.ifftn, wrt="a")
def ifftn(ct, a, *, axes=None, norm=None):
    to_a = np.fft.ifftn(ct, axes=axes, norm=norm)
    return to_a if np.iscomplexobj(a) else np.real(to_a)


@linear(np.fft.fftshift, wrt="x")
def fftshift(ct, x, axes=None):
    return np.fft.ifftshift(ct, axes)


@linear(np.fft.ifftshift, wrt="x")
def ifftshift(ct, x, axes=None):
    return np.fft.fftshift(ct, axes)
