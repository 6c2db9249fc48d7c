"""What Numba does not compile, or does not compute as Python and NumPy do, is refused.

Numba refuses much by itself; but what it says then does not name the line, and some things it
computes otherwise without a word: float32 beside a Python float is float64, a name without a value
is anything.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.codegen.globals import numpy_path
from srcad.errors import NotCompilable
from srcad.ir import (
    Accumulate,
    Apply,
    Atom,
    Call,
    Effect,
    Function,
    Literal,
    Loc,
    Op,
    Try,
    Update,
    With,
)
from srcad.ir.core import make_list, make_tuple, raise_error, select
from srcad.ir.infer import atom_type
from srcad.ir.places import place_of
from srcad.ir.types import (
    Array,
    ListType,
    Nothing,
    Number,
    NumPyScalar,
    Opaque,
    TupleType,
    Type,
    Unknown,
)
from srcad.ir.walk import all_ops, results

_DTYPES = {"float64", "complex128", "int64", "bool"}
_RESULTS: set[type] = {
    type(f(np.eye(1))) for f in (np.linalg.slogdet, np.linalg.eigh, np.linalg.qr, np.linalg.svd)
}
"""What functions of NumPy return; compiled ones return tuples."""
_OPAQUE = {"slice", "None", "NoneType", "ellipsis", "dtype", "range", "type"}

_CALLEES: set[Any] = {
    *(
        getattr(operator, n)
        for n in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs"),
            *("lt", "le", "gt", "ge", "eq", "ne", "not_", "and_", "or_", "xor", "invert"),
            *("getitem", "matmul", "is_", "is_not", "lshift", "rshift", "index", "truth"),
        )
    ),
    *(builtins.abs, builtins.len, builtins.bool, builtins.int, builtins.float, builtins.complex),
    *(builtins.max, builtins.min, builtins.round, builtins.range, builtins.slice),
    *(builtins.divmod, builtins.pow, builtins.list),
    *(make_tuple, make_list, select, runtime.plus, runtime.copied),
    *(
        runtime.sin,
        runtime.cos,
        runtime.exp,
        runtime.expm1,
        runtime.log,
        runtime.log1p,
        runtime.tanh,
    ),
    *(
        getattr(math, n)
        for n in (
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
            *("acosh", "atanh", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "pow"),
            *("hypot", "atan2", "copysign", "floor", "ceil", "trunc", "fabs", "fmod", "erf"),
            *("erfc", "gamma", "lgamma", "isnan", "isinf", "isfinite", "degrees", "radians"),
        )
    ),
    *(
        getattr(cmath, n)
        for n in ("exp", "log", "sin", "cos", "tan", "sqrt", "sinh", "cosh", "tanh", "phase")
    ),
    *(
        getattr(np, n)
        for n in (
            *("zeros", "ones", "empty", "full", "eye", "identity", "arange", "zeros_like"),
            *("ones_like", "empty_like", "full_like", "dot", "outer", "copy", "shape", "size"),
            *("sum", "mean", "min", "max", "prod", "amin", "amax", "cumsum", "cumprod"),
            *("argmax", "argmin", "sort", "transpose", "ravel", "reshape", "where", "diag"),
            *("trace", "expand_dims", "broadcast_to", "concatenate", "stack", "vstack"),
            *("hstack", "triu", "tril", "kron", "array", "asarray", "vdot", "linspace"),
            *(
                "nonzero",
                "searchsorted",
                "ascontiguousarray",
                "asfortranarray",
                "all",
                "any",
                "float64",
            ),
            *("int64", "complex128", "bool_", "var", "std", "clip", "ndim", "real", "imag"),
        )
    ),
    *(
        getattr(np.linalg, n)
        for n in (
            "inv",
            "solve",
            "det",
            "cholesky",
            "eigh",
            "svd",
            "qr",
            "norm",
            "slogdet",
            "eigvalsh",
        )
    ),
    *(
        getattr(np.ndarray, n)
        for n in (
            *("copy", "T", "shape", "size", "sum", "mean", "min", "max", "prod", "ravel"),
            *("flatten", "reshape", "transpose", "dot", "cumsum", "dtype", "ndim", "argmax"),
            *("argmin", "fill", "real", "imag", "astype"),
        )
    ),
    *(
        getattr(np, n)
        for n in (
            "median",
            "argsort",
            "interp",
            "repeat",
            "nan_to_num",
            "convolve",
            "isclose",
            "bincount",
        )
    ),
    *(np.linalg.matrix_power,),
    *(math.isfinite, cmath.isfinite, runtime.Unforeseen),
    *(runtime.inverse_of_lower, runtime.solve_lower, runtime.solve_upper, runtime.cofactors),
    *(runtime.cholesky_adjoint, runtime.cholesky_change),
    *(runtime.lower_times, runtime.upper_times),
    *(runtime.lower_of_product, runtime.upper_of_product),
}
"""What is compiled, and computes what it does in plain Python; ufuncs beside."""

_NOT_UFUNCS: set[Any] = {
    np.heaviside, np.modf, np.frexp, np.divmod, np.ldexp, np.spacing, np.float_power, np.cbrt,
    np.matmul, np.vecdot, np.signbit, np.nextafter, np.copysign,
}  # fmt: skip
"""Ufuncs that Numba does not know, or only in part."""

_AXIS = {np.sum, np.ndarray.sum, np.cumsum, np.argmax, np.argmin, np.expand_dims, np.concatenate}
_KEYWORDS: dict[Any, set[str]] = {
    **{f: {"axis"} for f in _AXIS},
    **{f: {"dtype"} for f in (np.zeros, np.ones, np.empty, np.full, np.array, np.asarray)},
    np.stack: {"axis"},
    np.argsort: {"kind"},
    np.bincount: {"weights", "minlength"},
}


def refuse_unsupported(function: Function) -> None:
    """Raise ``NotCompilable`` for the first part of a function that is not compiled."""
    compiled = {ref.function for ref in function.calls}
    error = refused_argument(function)
    if error is not None:
        raise error
    for op in all_ops(function.body):
        reason = _reason(op, compiled)
        if reason is not None:
            raise refusal(reason, op.loc or function.loc)


def refused_argument(function: Function) -> NotCompilable | None:
    """The refusal of the first argument whose type is not compiled."""
    for param in function.params:
        if (reason := _type_reason(param.type)) is not None:
            return refusal(f"{param.hint or 'an argument'} is {reason}", function.loc)
    return None


def refusal(reason: str, loc: Loc | None) -> NotCompilable:
    """The error for something at a place in the function."""
    place = place_of(loc)
    instead = next((hint for said, hint in _INSTEAD.items() if said in reason), "in other words")
    return NotCompilable(
        place,
        f"not compiled by Numba: {reason}",
        f"write it {instead}, or use backend='python', or fallback='python'",
    )


_INSTEAD = {
    "calls itself": "as a loop",
    "'try' statement": "with a test of what would raise",
    "'with' statement": "without it",
    "acts on something": "outside of the function",
    "of type float32": "for float64: x.astype(float)",
    "of rank 0": "with a number: float(x)",
    "items of several types": "with items of one type: 1.0 for 1",
    "neither vectors nor matrices": "as sums of products, matrix by matrix",
}
"""What to write for what is refused, by words of the reason."""


def _reason(op: Op, compiled: set[Function | None]) -> str | None:
    match op:
        case With():
            return "a 'with' statement"
        case Try():
            return "a 'try' statement"
        case Call(function=ref) if ref.function not in compiled:
            return f"a call of {ref.name}, which calls itself"
        case Effect(callee=callee) if callee is not raise_error:
            return f"{named(callee)}, which acts on something"
        case Apply():
            reason = _call_reason(op)
            if reason is not None:
                return reason
        case Accumulate(index=index) if index is not None and _has_arrays(atom_type(index)):
            return "np.add.at"
        case Update(callee=callee, target=target) if isinstance(target.type, Array):
            if op.path:
                return "a write through a view"
            if callee not in (operator.setitem, operator.iadd, operator.isub):
                return named(callee)
            if callee is not operator.setitem and _has_arrays(atom_type(op.args[0])):
                return "an addition to several items"
    for result in results(op):
        if (reason := _type_reason(result.type)) is not None:
            return reason
    return None


def _call_reason(op: Apply) -> str | None:
    callee = op.callee
    if not _is_compiled(callee):
        return named(callee)
    if callee is getattr:
        return "an attribute"
    if callee in (operator.is_, operator.is_not) and all(map(_is_number, op.args)):
        return "the question whether two numbers are one object"
    if callee is np.linalg.norm and any(_is_text(a) for a in op.args):
        return "a norm with such a name"
    if callee is np.ndarray.astype:
        is_known = len(op.args) == 2 and isinstance(op.args[1], Literal) and not op.keywords
        known = is_known and op.args[1].value in (np.int64, np.complex128)  # type: ignore[union-attr]
        return None if known else "a conversion to such a type"
    if isinstance(callee, np.ufunc):
        if op.keywords or len(op.args) != callee.nin:
            return f"{named(callee)} with more than its operands"
        return None
    extra = [k for k, a in op.keywords if k not in _KEYWORDS.get(callee, ()) and not _is_none(a)]
    if extra:
        return f"{named(callee)} with {extra[0]}="
    return _rank_reason(op)


def _rank_reason(op: Apply) -> str | None:
    """What of the ranks of operands is not compiled."""
    if op.callee in (operator.matmul, np.dot):
        ranks = [_rank(a) for a in op.args]
        if any(r not in (1, 2) for r in ranks):
            return "a product of arrays that are neither vectors nor matrices"
    if op.callee is operator.getitem and isinstance(atom_type(op.args[0]), Array):
        index = atom_type(op.args[1])
        parts = index.items if isinstance(index, TupleType) else (index,)
        arrays = [p for p in parts if isinstance(p, Array)]
        if len(arrays) > 1 or any(p.dims is None or len(p.dims) != 1 for p in arrays):
            return "an index of several arrays, or of a matrix"
    return None


def _has_arrays(index: Type) -> bool:
    parts = index.items if isinstance(index, TupleType) else (index,)
    return any(isinstance(p, Array) for p in parts)


def _rank(atom: Atom) -> int | None:
    kind = atom_type(atom)
    if isinstance(kind, Array):
        return None if kind.dims is None else len(kind.dims)
    return 0


def _is_compiled(callee: Callable[..., Any]) -> bool:
    try:
        if callee in _CALLEES:
            return True
    except TypeError:
        return False
    if isinstance(callee, np.ufunc):
        return callee not in _NOT_UFUNCS and numpy_path(callee) is not None
    return isinstance(callee, type) and issubclass(callee, (Exception, np.generic))


def named(callee: Callable[..., Any]) -> str:
    """What to call a function."""
    path = numpy_path(callee)
    if path is not None:
        return "np." + ".".join(path)
    name = getattr(callee, "__name__", str(callee))
    owner = getattr(callee, "__self__", None) or getattr(callee, "__objclass__", None)
    if isinstance(owner, np.ufunc):
        return f"{named(owner)}.{name}"
    if owner is np.ndarray:
        return f"the method {name} of an array"
    module = getattr(callee, "__module__", None) or ""
    return f"{module.rpartition('.')[2]}.{name}" if module.startswith(("srcad", "scipy")) else name


def _is_text(atom: Atom) -> bool:
    return isinstance(atom, Literal) and isinstance(atom.value, str)


def _is_number(atom: Atom) -> bool:
    return isinstance(atom_type(atom), (Number, NumPyScalar))


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None


def _type_reason(kind: Type) -> str | None:
    """Why values of a type are not compiled."""
    match kind:
        case Number() | Nothing():
            return None
        case NumPyScalar(dtype=dtype):
            return None if dtype in _DTYPES else f"a number of type {dtype}"
        case Array(dtype=None) | Array(dims=None):
            return "an array whose type or rank is not known"
        case Array(dtype=dtype, dims=dims):
            if dims == ():
                return "an array of rank 0"
            return None if dtype in _DTYPES else f"an array of type {dtype}"
        case TupleType(items=items, cls=cls):
            if cls is list and len(set(items)) > 1:
                return "a list of items of several types"
            if hasattr(cls, "_fields") and cls not in _RESULTS:
                return f"a {cls.__name__}"
            return next((r for r in map(_type_reason, items) if r is not None), None)
        case ListType(item=item):
            return _type_reason(item)
        case Opaque(name=name) if name in _OPAQUE:
            return None
    if isinstance(kind, Unknown):
        return "a value whose type is not known"
    return f"a value of type {kind}"
