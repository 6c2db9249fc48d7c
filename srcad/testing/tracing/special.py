"""Special functions: gamma and its relatives, the error function, and SciPy's ufuncs by name.

NumPy has no digamma, so it is computed here: recurrence up to a large argument, then the
asymptotic series.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.testing.tracing.elementwise import Elementwise
from srcad.testing.tracing.handle import FUNCTIONS, apply


def _each(f: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: np.vectorize(f, otypes=[float])(x)[()]


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _polygamma(n: int, x: float) -> float:
    # psi^(n)(x) = psi^(n)(x + 1) - (-1)^n n! x^-(n+1), DLMF 5.15.5, until the series 5.15.8
    # converges.
    sign = (-1.0) ** n
    shift = 0.0
    while x < 20 + n:
        shift += sign * math.factorial(n) * x ** -(n + 1)
        x += 1.0
    if n == 0:
        tail = math.log(x) - 0.5 / x
        tail -= sum(b / ((2 * k) * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
        return tail - shift
    tail = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    tail += sum(
        b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
        for k, b in enumerate(_BERNOULLI, 1)
    )
    return -sign * tail - shift


def polygamma(n: int) -> Callable[[Any], Any]:
    """The n-th derivative of digamma, elementwise and differentiable."""

    def evaluate(x: Any) -> Any:
        return _each(lambda t: _polygamma(n, float(t)))(x)

    primitive = Elementwise(evaluate, lambda x: polygamma(n + 1)(x))
    return lambda x: apply(primitive, x)


def bessel_i(n: int) -> Callable[[Any], Any]:
    """The modified Bessel function I_n, by its power series (DLMF 10.25.2)."""

    def evaluate(x: float) -> float:
        half = float(x) / 2
        term = total = half**n / math.factorial(n)
        k = 0
        while abs(term) > 1e-18 * abs(total):
            k += 1
            term *= half * half / (k * (k + n))
            total += term
        return total

    def slope(x: Any) -> Any:
        return bessel_i(1)(x) if n == 0 else (bessel_i(n - 1)(x) + bessel_i(n + 1)(x)) / 2

    primitive = Elementwise(_each(evaluate), slope)
    return lambda x: apply(primitive, x)


FUNCTIONS[np.i0] = bessel_i(0)


def gammaln(x: Any) -> Any:
    """log |gamma(x)|, elementwise and differentiable."""
    return apply(LGAMMA, x)


def gamma(x: Any) -> Any:
    """gamma(x), elementwise and differentiable."""
    return apply(GAMMA, x)


GAMMA = Elementwise(_each(math.gamma), lambda x: gamma(x) * polygamma(0)(x))
LGAMMA = Elementwise(_each(math.lgamma), polygamma(0))

_PEAK = 2 / math.sqrt(math.pi)

SPECIAL: dict[str, tuple[Callable[..., Any], ...]] = {
    "erf": (lambda x: _PEAK * np.exp(-x * x),),
    "erfc": (lambda x: -_PEAK * np.exp(-x * x),),
    "gammaln": (polygamma(0),),
    "gamma": (lambda x: gamma(x) * polygamma(0)(x),),
    "psi": (polygamma(1),),
    "expit": (lambda x: 1 / (2 + np.exp(x) + np.exp(-x)),),
    "log_expit": (lambda x: 1 / (1 + np.exp(x)),),
    "logit": (lambda x: 1 / (x * (1 - x)),),
    "xlogy": (lambda x, y: np.log(y), lambda x, y: x / y),
    "xlog1py": (lambda x, y: np.log1p(y), lambda x, y: x / (1 + y)),
    "entr": (lambda x: -np.log(x) - 1,),
    "i0": (bessel_i(1),),
    "i1": (lambda x: (bessel_i(0)(x) + bessel_i(2)(x)) / 2,),
    "erfinv": (lambda x: _sibling("erfinv", x, lambda y: np.exp(y * y) / _PEAK),),
    "ndtr": (lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),),
}
"""Partial derivatives of SciPy's ufuncs, by name: SciPy itself is never imported here."""


def _sibling(name: str, x: Any, use: Callable[[Any], Any]) -> Any:
    return use(getattr(sys.modules["scipy.special"], name)(x))


_known: dict[Any, Callable[..., Any]] = {}


def find_special(ufunc: Any) -> Callable[..., Any] | None:
    """How a ufunc of SciPy is carried out on handles, if it is known."""
    library = sys.modules.get("scipy.special")
    name = getattr(ufunc, "__name__", "")
    if library is None or name not in SPECIAL or getattr(library, name, None) != ufunc:
        return None
    if ufunc not in _known:
        primitive = Elementwise(ufunc, *SPECIAL[name])
        _known[ufunc] = lambda *args: apply(primitive, *args)
    return _known[ufunc]
