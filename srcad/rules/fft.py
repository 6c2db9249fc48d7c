"""Rules of `np.fft`: the matrix of a Fourier transform is symmetric, so it is its own transpose."""

import numpy as np

from srcad.rules.intrinsics import fitted
from srcad.rules.registry import composition, linear

INVERSE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The scaling of the inverse transform under the name of that of the other."""


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


@composition(np.fft.hfft, wrt="a")
def hfft(a, n=None, axis=-1, norm=None):
    return np.fft.irfft(np.conj(a), n, axis, INVERSE[norm])


@composition(np.fft.ihfft, wrt="a")
def ihfft(a, n=None, axis=-1, norm=None):
    return np.conj(np.fft.rfft(a, n, axis, INVERSE[norm]))


# ---- along several axes


def transformed(a, s, axes):
    """The axes along which an array is transformed."""
    if axes is not None:
        return axes
    return tuple(range(-np.ndim(a) if s is None else -len(s), 0))


def fitted_to(spectrum, a, axes):
    """The cotangent of `a`, which was cut or filled along the axes."""
    for k in axes:
        spectrum = fitted(spectrum, np.shape(a)[k], k)
    return spectrum if np.iscomplexobj(a) else np.real(spectrum)


@linear(np.fft.fftn, wrt="a")
def fftn(ct, a, s=None, axes=None, norm=None):
    along = transformed(a, s, axes)
    return fitted_to(np.fft.fftn(ct, axes=along, norm=norm), a, () if s is None else along)


@linear(np.fft.ifftn, wrt="a")
def ifftn(ct, a, s=None, axes=None, norm=None):
    along = transformed(a, s, axes)
    return fitted_to(np.fft.ifftn(ct, axes=along, norm=norm), a, () if s is None else along)


@composition(np.fft.fft2, wrt="a")
def fft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.fftn(a, s, axes, norm)


@composition(np.fft.ifft2, wrt="a")
def ifft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.ifftn(a, s, axes, norm)


@composition(np.fft.rfftn, wrt="a")
def rfftn(a, s=None, axes=None, norm=None):
    along = transformed(a, s, axes)
    sizes = (None,) * len(along) if s is None else s
    half = np.fft.rfft(a, sizes[-1], along[-1], norm)
    for k in range(len(along) - 2, -1, -1):
        half = np.fft.fft(half, sizes[k], along[k], norm)
    return half


@composition(np.fft.irfftn, wrt="a")
def irfftn(a, s=None, axes=None, norm=None):
    along = transformed(a, s, axes)
    sizes = (None,) * len(along) if s is None else s
    for k in range(len(along) - 1):
        a = np.fft.ifft(a, sizes[k], along[k], norm)
    return np.fft.irfft(a, sizes[-1], along[-1], norm)


@composition(np.fft.rfft2, wrt="a")
def rfft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.rfftn(a, s, axes, norm)


@composition(np.fft.irfft2, wrt="a")
def irfft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.irfftn(a, s, axes, norm)


@composition(np.fft.fftfreq, wrt="d")
def fftfreq(n, d=1.0):
    return np.fft.fftfreq(n) / d


@composition(np.fft.rfftfreq, wrt="d")
def rfftfreq(n, d=1.0):
    return np.fft.rfftfreq(n) / d


@linear(np.fft.fftshift, wrt="x")
def fftshift(ct, x, axes=None):
    return np.fft.ifftshift(ct, axes)


@linear(np.fft.ifftshift, wrt="x")
def ifftshift(ct, x, axes=None):
    return np.fft.fftshift(ct, axes)
