"""`math`, `cmath` and the number types of Python, for functions that run on handles."""

from __future__ import annotations

import cmath
import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported, is_complex
from srcad.testing.tracing.elementwise import CONTINUED, PARTIALS, Elementwise, cast
from srcad.testing.tracing.handle import Handle, apply, has_handle, plain
from srcad.testing.tracing.special import gamma, gammaln, polygamma

SAME_AS: dict[str, Any] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "exp": np.exp, "expm1": np.expm1,
    "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "fabs": np.fabs,
    "degrees": np.degrees, "radians": np.radians, "atan2": np.arctan2, "pow": np.power,
    "fmod": np.fmod, "copysign": np.copysign, "exp2": np.exp2, "cbrt": np.cbrt,
}  # fmt: skip

CUT = (
    "isnan", "isinf", "isfinite", "isclose", "floor", "ceil", "trunc", "ulp",
    "factorial", "comb", "perm", "gcd", "lcm", "isqrt",
)  # fmt: skip


def _number(x: Any) -> Any:
    return cast(x, float) if isinstance(x, Handle) else x


def _on_handles(original: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if not has_handle(args):
            return original(*args, **kwargs)
        return traced(*args, **kwargs)

    run.__name__ = getattr(original, "__name__", "?")
    return run


def _same_as(name: str, ufunc: Any) -> Callable[..., Any]:
    continued = CONTINUED.get(ufunc, ufunc)
    primitive = Elementwise(getattr(math, name), *PARTIALS[ufunc], continued=continued)
    return lambda *args: apply(primitive, *(_number(x) for x in args))


_LOG = Elementwise(math.log, lambda x: 1 / x, continued=np.log)
_ERF = Elementwise(math.erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), continued=None)
_ERFC = Elementwise(math.erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x), continued=None)
_GAMMA = Elementwise(math.gamma, lambda x: gamma(x) * polygamma(0)(x))
_LGAMMA = Elementwise(math.lgamma, polygamma(0))
del gammaln


def _log(x: Any, base: Any = math.e) -> Any:
    if isinstance(x, Handle):
        top = apply(_LOG, _number(x))
    else:
        top = math.log(x)
    if not isinstance(base, Handle) and base == math.e:
        return top
    return top / (apply(_LOG, _number(base)) if isinstance(base, Handle) else math.log(base))


def _hypot(*xs: Any) -> Any:
    size = math.hypot(*plain(xs))
    if size == 0:
        return 0.0 * sum(_number(x) for x in xs)
    total = sum((_number(x) / size) ** 2 for x in xs)
    return size * _same_sqrt(total)


def _modf(x: Any) -> Any:
    whole = float(math.trunc(plain(x)))
    return _number(x) - whole, whole


def _frexp(x: Any) -> Any:
    exponent = math.frexp(plain(x))[1]
    return _number(x) * 2.0**-exponent, exponent


def _fsum(xs: Any) -> Any:
    # Summed in plain data first, so that the value is the exact one; the tangent needs no such
    # care.
    xs = [_number(x) for x in xs]
    total = sum(xs)
    return total + (math.fsum(plain(xs)) - plain(total))


def _prod(xs: Any, *, start: Any = 1) -> Any:
    for x in xs:
        start = start * x
    return start


def _sumprod(p: Any, q: Any) -> Any:
    return sum(a * b for a, b in zip(p, q, strict=True))


def _remainder(x: Any, y: Any) -> Any:
    times = round(plain(x) / plain(y))
    return _number(x) - times * _number(y)


MATH: dict[Any, Callable[..., Any]] = {
    getattr(math, name): _on_handles(getattr(math, name), _same_as(name, ufunc))
    for name, ufunc in SAME_AS.items()
    if hasattr(math, name)
}
_same_sqrt = MATH[math.sqrt]


def _cut(original: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: original(*plain(args), **plain(kwargs))


MATH.update({getattr(math, name): _cut(getattr(math, name)) for name in CUT})
MATH.update(
    {
        math.log: _on_handles(math.log, _log),
        math.hypot: _on_handles(math.hypot, _hypot),
        math.dist: _on_handles(
            math.dist, lambda p, q: _hypot(*(a - b for a, b in zip(p, q, strict=True)))
        ),
        math.frexp: _on_handles(math.frexp, _frexp),
        math.modf: _on_handles(math.modf, _modf),
        math.fsum: lambda xs: _fsum(list(xs)),
        math.prod: _prod,
        math.remainder: _on_handles(math.remainder, _remainder),
        math.ldexp: _on_handles(math.ldexp, lambda x, i: _number(x) * 2.0**i),
        math.erf: _on_handles(math.erf, lambda x: apply(_ERF, _number(x))),
        math.erfc: _on_handles(math.erfc, lambda x: apply(_ERFC, _number(x))),
        math.gamma: _on_handles(math.gamma, lambda x: apply(_GAMMA, _number(x))),
        math.lgamma: _on_handles(math.lgamma, lambda x: apply(_LGAMMA, _number(x))),
    }
)
for _name, _function in (
    ("sumprod", _sumprod),
    ("fma", lambda x, y, z: x * y + z),
):
    if hasattr(math, _name):
        MATH[getattr(math, _name)] = _on_handles(getattr(math, _name), _function)


def _complex_same(name: str, ufunc: Any) -> Callable[..., Any]:
    primitive = Elementwise(getattr(cmath, name), *PARTIALS[ufunc], continued=ufunc)
    return lambda x: apply(primitive, cast(x, complex) if not is_complex(plain(x)) else x)


MATH.update(
    {
        getattr(cmath, name): _on_handles(getattr(cmath, name), _complex_same(name, ufunc))
        for name, ufunc in {**SAME_AS, "log": np.log}.items()
        if hasattr(cmath, name)
    }
)
MATH.update(
    {
        cmath.phase: _on_handles(cmath.phase, np.angle),
        cmath.polar: _on_handles(cmath.polar, lambda z: (abs(z), np.angle(z))),
        cmath.rect: _on_handles(cmath.rect, lambda r, p: r * np.cos(p) + 1j * (r * np.sin(p))),
    }
)


# ---- number types: called they convert, in isinstance() they know handles


class _Number(type):
    """A type that stands for a type of numbers."""

    original: type
    kinds: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Handle):
            return cls.convert(args[0])
        if has_handle(args):
            return cls.combine(*args)
        return cls.original(*args, **kwargs)

    def convert(cls, x: Handle) -> Any:
        return cast(x, cls.original)

    def combine(cls, *args: Any) -> Any:
        raise Unsupported(f"{cls.original.__name__} of several traced values")

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(plain(x) if isinstance(x, Handle) else x, cls.original)

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(getattr(other, "original", other), cls.original)

    def __getattr__(cls, name: str) -> Any:
        if name in ("original", "dtype", "__wrapped__"):
            raise AttributeError(name)
        return getattr(cls.original, name)

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, np.dtype):
            return bool(other == cls.original)
        return other is cls or other is cls.original

    def __hash__(cls) -> int:
        return hash(cls.original)


class _Complex(_Number):
    def combine(cls, *args: Any) -> Any:
        return cast(args[0] + 1j * args[1], complex)


class _Array(_Number):
    def convert(cls, x: Handle) -> Any:
        raise Unsupported("np.ndarray() of a traced value")


class _Type(type):
    """`type`, for which a number on a handle has the type it stands for."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1:
            kind = type(plain(args[0])) if isinstance(args[0], Handle) else type(args[0])
            return TYPES.get(kind, kind)
        return type(*args, **kwargs)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, type)


class TypeOf(metaclass=_Type):
    """Stands for `type`."""


def stand_in(original: type, meta: type = _Number) -> Any:
    """A type that behaves as `original` does, also for handles."""
    space: dict[str, Any] = {"original": original}
    if original is not np.ndarray and original is not object:
        with contextlib.suppress(TypeError):
            space["dtype"] = np.dtype(original)  # so that NumPy takes it for a type of entries
    return meta(original.__name__, (), space)


TYPES: dict[type, Any] = {
    float: stand_in(float),
    complex: stand_in(complex, _Complex),
    np.ndarray: stand_in(np.ndarray, _Array),
}
for _t in (np.float64, np.float32, np.complex128, np.complex64):
    TYPES[_t] = stand_in(_t)
ABSTRACT: dict[type, Any] = {
    t: stand_in(t) for t in (np.generic, np.number, np.inexact, np.floating, np.complexfloating)
}
