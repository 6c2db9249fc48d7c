"""What a call on arrays does to one element, in arithmetic that a compiler of scalars has.

    y: f4[n] = mul(2.0, x)       |    y_i = mul(float32(2.0), x_i)
    y: f8[n] = over(a, b)        |    y_i = select(ne(a_i, 0), divide(a_i, b_i), 0.0)

Python numbers take the dtype of the arrays they meet, as NumPy has it, before the operation: a
compiler would make a float64 of a float32 times a Python number.  Quotients and powers are those
of NumPy, which do not raise.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcad import runtime
from srcad.backends.loops.items import Let
from srcad.ir import Atom, Literal, Value
from srcad.ir.core import select
from srcad.ir.infer import atom_type
from srcad.ir.types import Array, Number, NumPyScalar, Type

DTYPES = ("float64", "float32", "int64", "bool")
"""Elements that loops compute with."""

_COMPARISONS: dict[Any, Any] = {
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt,
    np.greater_equal: operator.ge, np.equal: operator.eq, np.not_equal: operator.ne,
    **{f: f for f in (operator.lt, operator.le, operator.gt, operator.ge)},
    **{f: f for f in (operator.eq, operator.ne)},
}  # fmt: skip
_ARITHMETIC: dict[Any, Any] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: np.divide, operator.truediv: np.divide,
    np.negative: operator.neg, np.positive: operator.pos,
    np.absolute: builtins.abs, operator.abs: builtins.abs, builtins.abs: builtins.abs,
    **{f: f for f in (operator.add, operator.sub, operator.mul)},
    **{f: f for f in (operator.neg, operator.pos, np.maximum, np.minimum)},
}  # fmt: skip
_LOGIC: dict[Any, Any] = {
    np.logical_and: operator.and_, np.logical_or: operator.or_, operator.and_: operator.and_,
    operator.or_: operator.or_, np.bitwise_and: operator.and_, np.bitwise_or: operator.or_,
}  # fmt: skip
_FUNCTION_NAMES = """
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1
    log log2 log10 log1p sqrt cbrt fabs sign floor ceil rint trunc fmax fmin hypot copysign
    deg2rad rad2deg degrees radians logaddexp logaddexp2
"""
_FUNCTIONS = {getattr(np, name) for name in _FUNCTION_NAMES.split()}
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "erf": math.erf, "erfc": math.erfc, "gammaln": math.lgamma
}  # fmt: skip
"""Ufuncs of SciPy, by name, that are functions of numbers elsewhere."""
_TESTS = {np.isnan, np.isinf, np.isfinite}
_INTEGER = (operator.add, operator.sub, operator.mul, operator.neg, builtins.abs)


@dataclass(slots=True)
class Elements:
    """The scalar operations of one element."""

    lets: list[Let] = field(default_factory=list)

    def let(self, callee: Callable[..., Any], dtype: str, *args: Atom) -> Value:
        """A new scalar."""
        result = Value("", NumPyScalar(dtype))
        self.lets.append(Let(result, callee, args))
        return result

    def cast(self, atom: Atom, dtype: str) -> Atom:
        """A scalar as an element of an array of the dtype."""
        have = scalar_dtype(atom)
        if have == dtype or (dtype == "float64" and have == "float"):
            return atom
        if dtype == "float64" and have == "int" and isinstance(atom, Literal):
            return Literal(float(atom.value))
        if isinstance(atom, Literal):
            return Literal(np.dtype(dtype).type(atom.value))
        return self.let(np.dtype(dtype).type, dtype, atom)

    def apply(
        self, callee: Callable[..., Any], args: Sequence[Atom], dtype: str, common: str
    ) -> Atom | None:
        """One element of the result of a call; None if it is not known how.

        ``dtype`` is that of the result, ``common`` that in which operands meet.
        """
        if callee in _COMPARISONS and len(args) == 2:
            x, y = (self.cast(a, common) for a in args)
            return self.let(_COMPARISONS[callee], "bool", x, y)
        if callee in _LOGIC and all(scalar_dtype(a) == "bool" for a in args):
            return self.let(_LOGIC[callee], "bool", *args)
        if callee in (np.logical_not, operator.invert) and scalar_dtype(args[0]) == "bool":
            return self.let(operator.eq, "bool", args[0], Literal(False))
        if callee in _TESTS and scalar_dtype(args[0]) in ("float64", "float32"):
            return self.let(callee, "bool", args[0])
        if dtype == "int64":
            plain = _ARITHMETIC.get(callee)
            if plain not in _INTEGER or any(scalar_dtype(a) not in ("int64", "int") for a in args):
                return None
            return self.let(plain, dtype, *args)
        if callee is np.where and len(args) == 3:
            test = self._truth(args[0])
            return self.let(select, dtype, test, *(self.cast(a, dtype) for a in args[1:]))
        if dtype not in ("float64", "float32"):
            return None
        return self._real(callee, [self.cast(a, dtype) for a in args], dtype)

    def _truth(self, atom: Atom) -> Atom:
        if scalar_dtype(atom) == "bool":
            return atom
        return self.let(operator.ne, "bool", atom, Literal(0))

    def _real(self, callee: Callable[..., Any], args: list[Atom], dtype: str) -> Atom | None:
        if callee in _ARITHMETIC:
            return self.let(_ARITHMETIC[callee], dtype, *args)
        if callee in _FUNCTIONS:
            return self.let(callee, dtype, *args)
        if isinstance(callee, np.ufunc) and callee.__name__ in _OF_NUMBERS:
            return self.let(_OF_NUMBERS[callee.__name__], dtype, *args)
        match callee, args:
            case np.conjugate, [x]:
                return x
            case np.square, [x]:
                return self.let(operator.mul, dtype, x, x)
            case np.reciprocal, [x]:
                return self.let(np.divide, dtype, self.cast(Literal(1.0), dtype), x)
            case ((operator.pow | np.power), [x, y]):
                return self._power(x, y, dtype)
            case np.clip, [x, low, high]:
                return self.let(np.minimum, dtype, self.let(np.maximum, dtype, x, low), high)
            case ((runtime.times | runtime.over), [x, y]):
                # a strong zero: see runtime.products
                strong = y if callee is runtime.times else x
                zero = self.cast(Literal(0.0), dtype)
                plain = operator.mul if callee is runtime.times else np.divide
                made = self.let(plain, dtype, x, y)
                test = self.let(operator.ne, "bool", strong, zero)
                return self.let(select, dtype, test, made, zero)
            case runtime.strong, [x, y]:
                zero = self.cast(Literal(0.0), dtype)
                made = self.let(operator.mul, dtype, x, y)
                for factor in (x, y):
                    test = self.let(operator.ne, "bool", factor, zero)
                    made = self.let(select, dtype, test, made, zero)
                return made
            case runtime.excess, [x, y]:
                zero, lowest = (self.cast(Literal(v), dtype) for v in (0.0, -math.inf))
                same = self.let(select, dtype, self.let(operator.eq, "bool", x, lowest), x, zero)
                apart = self.let(operator.sub, dtype, x, y)
                return self.let(select, dtype, self.let(operator.eq, "bool", x, y), same, apart)
        return None

    def _power(self, x: Atom, y: Atom, dtype: str) -> Atom:
        if isinstance(y, Literal):
            if y.value == 2:
                return self.let(operator.mul, dtype, x, x)
            if y.value == 3:
                return self.let(operator.mul, dtype, self.let(operator.mul, dtype, x, x), x)
            if y.value == 0.5:
                return self.let(np.sqrt, dtype, x)
            if y.value == -1:
                return self.let(np.divide, dtype, self.cast(Literal(1.0), dtype), x)
        return self.let(np.power, dtype, x, y)


def scalar_dtype(atom: Atom) -> str:
    """The dtype of a scalar; 'float' and 'int' of those of Python, that take any."""
    kind = atom_type(atom)
    if isinstance(kind, NumPyScalar):
        return kind.dtype
    if isinstance(kind, Number):
        return "float" if kind.kind == "real" else kind.kind
    return "object"


def common_dtype(kinds: Sequence[Type]) -> str | None:
    """The dtype in which operands meet; None for what loops do not compute with."""
    given: list[Any] = []
    for kind in kinds:
        match kind:
            case Array(dtype=str(dtype)) | NumPyScalar(dtype=dtype):
                given.append(np.dtype(dtype))
            case Number(kind="bool"):
                given.append(np.dtype(bool))
            case Number(kind="int"):
                given.append(0)
            case Number(kind="float" | "real"):
                given.append(0.0)
            case _:
                return None
    found = np.result_type(*given).name
    return found if found in DTYPES else None
