"""Elementwise functions: for each argument the partial derivative, as a book has it.

Both directions follow from the partials: forward sums `partial * tangent`, reverse multiplies the
cotangent by each partial. A partial is NumPy code, so it can be differentiated again.

The convention for complex numbers is that of a bilinear pairing: the cotangent `g` of `z` stands
for the change `Re(g * dz)`. So holomorphic functions need no conjugates, and a real argument takes
the real part.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Primitive, Unsupported, is_complex
from srcad.testing.tracing.handle import (
    FUNCTIONS,
    SEQUENCES,
    Handle,
    apply,
    array,
    constant,
    dtype_of,
    implements,
    plain,
)

Partial = Callable[..., Any]


class Elementwise(Primitive):
    """A function of each entry; `partials[i](*inputs)` is its derivative in input i."""

    def __init__(
        self,
        function: Callable[..., Any],
        *partials: Partial | None,
        continued: Callable[..., Any] | None = None,
    ) -> None:
        self.name = getattr(function, "__name__", str(function))
        self.function = function
        self.partials = partials
        self.continuation = continued

    def evaluate(self, *inputs: Any) -> Any:
        return self.function(*inputs)

    def continued(self, *inputs: Any) -> Any:
        if self.continuation is not None:
            return self.continuation(*inputs)
        if isinstance(self.function, np.ufunc):
            known = any("D" in kinds.partition("->")[0] for kinds in self.function.types)
        else:
            known = getattr(self.function, "__module__", "") in ("_operator", "numpy")
        if not known:
            raise Unsupported(f"{self.name} has no complex version")
        return self.function(*inputs)

    def _partial(self, wrt: int, inputs: Sequence[Any]) -> Any:
        partial = self.partials[wrt]
        if partial is None:
            raise Unsupported(f"{self.name} is not differentiated in argument {wrt}")
        with np.errstate(all="ignore"):
            return partial(*(as_numpy(x) for x in inputs))

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        total: Any = None
        for wrt, dx in enumerate(tangents):
            if dx is not None:
                term = times(dx, self._partial(wrt, inputs))
                total = term if total is None else total + term
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs))
        return total if np.shape(total) == shape else np.broadcast_to(total, shape)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        return times(ct, self._partial(wrt, inputs))


def as_numpy(x: Any) -> Any:
    """Python numbers as NumPy numbers, for which 1/0 is inf."""
    if isinstance(x, Handle) and type(plain(x)) in (float, complex):
        return apply(CAST, x, to=np.dtype(type(plain(x))))
    if isinstance(x, (float, int)) and not isinstance(x, np.generic):
        return np.float64(x)
    return np.complex128(x) if isinstance(x, complex) and not isinstance(x, np.generic) else x


def times(d: Any, partial: Any) -> Any:
    """`d * partial`, where an exact zero wins over an infinite or undefined partial.

    So a branch that was not taken, which gets the cotangent 0, does not poison the one that was.
    """
    p = plain(partial)
    with np.errstate(all="ignore"):
        if np.all(np.isfinite(p)):
            return d * partial
        dead = ~np.isfinite(p) & (plain(d) == 0)
        if not np.any(dead):
            return d * partial
        return np.where(dead, 0.0, d) * np.where(dead, 0.0, partial)


# ---- the table


def _power_x(x: Any, p: Any) -> Any:
    p = p * 1.0
    exponent = np.where(plain(p) == 0, 0.0, p - 1.0)
    return p * np.power(x, exponent)


def _power_p(x: Any, p: Any) -> Any:
    zero = plain(x) == 0
    return np.where(zero, 0.0, np.power(x * 1.0, p) * np.log(np.where(zero, 1.0, x)))


def _arctan2_continued(y: Any, x: Any) -> Any:
    # The angle of two numbers with small imaginary parts, by the addition theorem about the real
    # point.
    y0, x0 = np.real(y), np.real(x)
    return np.arctan2(y0, x0) + np.arctan((y * x0 - x * y0) / (x * x0 + y * y0))


def _larger(x: Any, y: Any) -> Any:
    x, y = plain(x), plain(y)
    return np.where(x > y, 1.0, np.where(x == y, 0.5, 0.0))


def _smaller(x: Any, y: Any) -> Any:
    return _larger(y, x)


def _sinc_dx(x: Any) -> Any:
    t = np.pi * x
    small = abs(plain(t)) < 1e-2
    safe = np.where(small, 1.0, t)
    exact = np.pi * (np.cos(safe) / safe - np.sin(safe) / safe**2)
    t2 = t * t
    series = (
        np.pi * t * (-1 / 3 + t2 * (1 / 30 + t2 * (-1 / 840 + t2 * (1 / 45360 - t2 / 3991680))))
    )
    return np.where(small, series, exact)


def _zero(*_: Any) -> Any:
    return 0.0


def _one(*_: Any) -> Any:
    return 1.0


LN2 = math.log(2.0)
LN10 = math.log(10.0)

_remainder = (_one, lambda x, y: -np.floor(x / y))
_fmod = (_one, lambda x, y: -np.trunc(x / y))
_larger_of = (_larger, lambda x, y: _larger(y, x))
_smaller_of = (_smaller, lambda x, y: _smaller(y, x))


def _by_real_part(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: np.where(choose(np.real(x), np.real(y)), x, y)


PARTIALS: dict[Any, tuple[Partial, ...]] = {
    np.positive: (_one,),
    np.negative: (lambda x: -1.0,),
    np.add: (_one, _one),
    np.subtract: (_one, lambda x, y: -1.0),
    np.multiply: (lambda x, y: y, lambda x, y: x),
    np.divide: (lambda x, y: 1 / y, lambda x, y: -x / y**2),
    np.power: (_power_x, _power_p),
    np.float_power: (_power_x, _power_p),
    np.square: (lambda x: 2 * x,),
    np.reciprocal: (lambda x: -1 / x**2,),
    np.sqrt: (lambda x: 0.5 / np.sqrt(x),),
    np.cbrt: (lambda x: 1 / (3 * np.cbrt(x) ** 2),),
    np.exp: (np.exp,),
    np.exp2: (lambda x: LN2 * np.exp2(x),),
    np.expm1: (np.exp,),
    np.log: (lambda x: 1 / x,),
    np.log2: (lambda x: 1 / (LN2 * x),),
    np.log10: (lambda x: 1 / (LN10 * x),),
    np.log1p: (lambda x: 1 / (1 + x),),
    np.sin: (np.cos,),
    np.cos: (lambda x: -np.sin(x),),
    np.tan: (lambda x: 1 + np.tan(x) ** 2,),
    np.arcsin: (lambda x: 1 / np.sqrt((1 - x) * (1 + x)),),
    np.arccos: (lambda x: -1 / np.sqrt((1 - x) * (1 + x)),),
    np.arctan: (lambda x: 1 / (1 + x**2),),
    np.sinh: (np.cosh,),
    np.cosh: (np.sinh,),
    np.tanh: (lambda x: 1 / np.cosh(x) ** 2,),
    np.arcsinh: (lambda x: 1 / np.sqrt(1 + x**2),),
    np.arccosh: (lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),),
    np.arctanh: (lambda x: 1 / ((1 - x) * (1 + x)),),
    np.arctan2: (lambda y, x: x / (x**2 + y**2), lambda y, x: -y / (x**2 + y**2)),
    np.hypot: (lambda x, y: x / np.hypot(x, y), lambda x, y: y / np.hypot(x, y)),
    np.logaddexp: (
        lambda x, y: np.exp(x - np.logaddexp(x, y)),
        lambda x, y: np.exp(y - np.logaddexp(x, y)),
    ),
    np.logaddexp2: (
        lambda x, y: np.exp2(x - np.logaddexp2(x, y)),
        lambda x, y: np.exp2(y - np.logaddexp2(x, y)),
    ),
    np.fabs: (np.sign,),
    np.degrees: (lambda x: 180 / np.pi,),
    np.rad2deg: (lambda x: 180 / np.pi,),
    np.radians: (lambda x: np.pi / 180,),
    np.deg2rad: (lambda x: np.pi / 180,),
    np.maximum: _larger_of,
    np.fmax: _larger_of,
    np.minimum: _smaller_of,
    np.fmin: _smaller_of,
    np.copysign: (lambda x, y: np.copysign(1.0, x) * np.copysign(1.0, y), _zero),
    np.remainder: _remainder,
    np.fmod: _fmod,
    np.sinc: (_sinc_dx,),
}
"""Partial derivatives. At a tie of maximum and minimum each argument gets one half."""

CONTINUED: dict[Any, Callable[..., Any]] = {
    np.arctan2: _arctan2_continued,
    np.hypot: lambda x, y: np.sqrt(x * x + y * y),
    np.logaddexp: lambda x, y: _logaddexp_continued(x, y),
    np.logaddexp2: lambda x, y: _logaddexp_continued(LN2 * x, LN2 * y) / LN2,
    np.fabs: lambda x: np.where(np.real(x) < 0, -x, x),
    np.cbrt: lambda x: np.cbrt(np.real(x)) * (x / np.real(x)) ** (1 / 3),
    np.degrees: lambda x: x * (180 / np.pi),
    np.rad2deg: lambda x: x * (180 / np.pi),
    np.radians: lambda x: x * (np.pi / 180),
    np.deg2rad: lambda x: x * (np.pi / 180),
    np.maximum: _by_real_part(np.greater_equal),
    np.fmax: _by_real_part(np.greater_equal),
    np.minimum: _by_real_part(np.less_equal),
    np.fmin: _by_real_part(np.less_equal),
    np.copysign: lambda x, y: np.where(np.signbit(np.real(x)) == np.signbit(np.real(y)), x, -x),
    np.remainder: lambda x, y: x - y * np.floor(np.real(x) / np.real(y)),
    np.fmod: lambda x, y: x - y * np.trunc(np.real(x) / np.real(y)),
}
"""Continuations from the real axis, where NumPy does not offer the complex function."""


def _logaddexp_continued(x: Any, y: Any) -> Any:
    # Near the real value, the sum of exponentials changes by these shares of it.
    whole = np.logaddexp(np.real(x), np.real(y))
    first, second = np.exp(np.real(x) - whole), np.exp(np.real(y) - whole)
    change = first * np.expm1(x - np.real(x)) + second * np.expm1(y - np.real(y))
    return whole + np.log1p(change)


class Magnitude(Primitive):
    """`abs`: of real or complex numbers; the derivative at 0 is 0."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.name = "absolute"
        self.function = function

    def evaluate(self, x: Any) -> Any:
        return self.function(x)

    def continued(self, x: Any) -> Any:
        return np.where(np.real(x) < 0, -x, x)[()]

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return np.real(np.conj(direction(inputs[0])) * tangents[0])

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        return ct * np.conj(direction(inputs[0]))


def direction(z: Any) -> Any:
    if not is_complex(plain(z)):
        return np.sign(plain(z))
    size = np.where(plain(z) == 0, 1.0, np.abs(z))
    return np.where(plain(z) == 0, 0.0, z) / size


class RealLinear(Primitive):
    """conj, real and imag: linear over the real numbers only."""

    def __init__(self, function: Callable[[Any], Any], transpose: Callable[[Any], Any]) -> None:
        self.name = function.__name__
        self.function = function
        self.transpose = transpose

    def evaluate(self, x: Any) -> Any:
        return self.function(x)

    def continued(self, x: Any) -> Any:
        raise Unsupported(f"{self.name} is not analytic")

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return self.function(tangents[0])

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int) -> Any:
        return self.transpose(ct)


class Cast(Primitive):
    """A change of the type of number: `float(x)`, `x.astype(...)`."""

    name = "cast"

    def evaluate(self, x: Any, *, to: Any) -> Any:
        if to is float or to is complex:
            return to(x)
        return x.astype(to) if isinstance(x, np.ndarray) else np.dtype(to).type(x)

    def continued(self, x: Any, *, to: Any) -> Any:
        return x if isinstance(x, np.ndarray) else np.complex128(np.asarray(x).reshape(()))

    def jvp(self, inputs: Sequence[Any], tangents: Sequence[Any], *, to: Any) -> Any:
        return apply(CAST, tangents[0], to=to)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int, *, to: Any) -> Any:
        x = plain(inputs[0])
        return np.reshape(ct, np.shape(x)) if np.shape(x) != np.shape(ct) else ct


CAST = Cast()
CONJ = RealLinear(np.conjugate, np.conjugate)
REAL = RealLinear(np.real, lambda ct: ct)
IMAG = RealLinear(np.imag, lambda ct: -1j * ct)
ABS = Magnitude(np.absolute)

UFUNCS: dict[Any, Primitive] = {
    f: Elementwise(f, *partials, continued=CONTINUED.get(f)) for f, partials in PARTIALS.items()
}
UFUNCS[np.absolute] = ABS
UFUNCS[np.conjugate] = CONJ

_PYTHON: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.pow: np.power,
    operator.mod: np.remainder,
    operator.neg: np.negative,
    operator.pos: np.positive,
}
OPERATORS: dict[Any, tuple[Primitive, Any]] = {
    op: (Elementwise(op, *PARTIALS[ufunc], continued=CONTINUED.get(ufunc)), ufunc)
    for op, ufunc in _PYTHON.items()
}
OPERATORS[operator.abs] = (Magnitude(abs), np.absolute)
"""For each Python operator: the primitive for Python numbers, and the ufunc for arrays."""


def elementwise(f: Any) -> Callable[..., Any]:
    """The NumPy function as carried out on handles and nests of handles."""
    primitive = UFUNCS[f]
    return lambda *args: apply(primitive, *(_operand(x) for x in args))


def _operand(x: Any) -> Any:
    return array(x) if isinstance(x, SEQUENCES) else x


for _f in UFUNCS:
    FUNCTIONS[_f] = elementwise(_f)


def cast(x: Any, to: Any) -> Any:
    """x as another type of number."""
    to = getattr(to, "original", to)
    if to is float or to is complex:
        if np.size(plain(x)) != 1 or np.ndim(plain(x)) > 0:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    else:
        to = np.dtype(to)
        if to.kind not in "fc":
            return constant(lambda a: np.asarray(a).astype(to)[()])(x)
    if is_complex(plain(x)) and np.dtype(to).kind != "c":
        raise Unsupported("a complex value that is cut to a real one")
    return apply(CAST, x, to=to)


@implements(np.real)
def _real(x: Any) -> Any:
    x = array(x)
    if not is_complex(plain(x)):
        return x
    return _read_only(apply(REAL, x))


@implements(np.imag)
def _imag(x: Any) -> Any:
    x = array(x)
    if not is_complex(plain(x)):
        return constant(np.zeros)(np.shape(x), dtype_of(x)) if np.ndim(x) else dtype_of(x).type(0)
    return _read_only(apply(IMAG, x))


def _read_only(x: Any) -> Any:
    return x.frozen() if isinstance(x, Handle) and isinstance(x.indices, np.ndarray) else x


@implements(np.angle)
def _angle(z: Any, deg: bool = False) -> Any:
    angle = np.arctan2(np.imag(z), np.real(z))
    return angle * (180 / np.pi) if deg else angle
