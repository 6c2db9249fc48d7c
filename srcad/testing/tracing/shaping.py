"""Functions that move data: run on positions, and the data follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Unsupported
from srcad.testing.tracing.elementwise import cast, direction
from srcad.testing.tracing.gather import GATHER, SCATTER
from srcad.testing.tracing.handle import (
    FUNCTIONS,
    METHODS,
    SEQUENCES,
    Handle,
    _each,
    apply,
    array,
    constant,
    dtype_of,
    implements,
    newer,
    plain,
)

# ---- of one array, every entry of the result is an entry of it: may be a view

VIEWS: tuple[Any, ...] = (
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze,
    np.expand_dims, np.broadcast_to, np.diagonal, np.flip, np.fliplr, np.flipud, np.rot90,
    np.roll, np.repeat, np.tile, np.resize, np.take, np.take_along_axis, np.delete,
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.matrix_transpose,
    np.permute_dims, np.lib.stride_tricks.sliding_window_view, *newer("unstack"),
)  # fmt: skip

FILLED: tuple[Any, ...] = (np.diag, np.diagflat, np.tril, np.triu)
"""Entries of the result are entries of the array, or zero."""


def view(func: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, *args: Any, **kwargs: Any) -> Any:
        x = array(x)
        handle = x if isinstance(x, Handle) else Handle(x)
        args, kwargs = plain(args), plain(kwargs)
        if isinstance(handle.indices, np.ndarray):
            return handle.moved(lambda a: func(a, *args, **kwargs))
        return rearranged(lambda a: func(a[0], *args, **kwargs), [handle])

    return run


def _filled(func: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: rearranged(
        lambda a: func(a[0], *plain(args), **plain(kwargs)), [x]
    )


for _f in VIEWS:
    FUNCTIONS[_f] = view(_f)
for _f in FILLED:
    FUNCTIONS[_f] = _filled(_f)


def rearranged(
    rebuild: Callable[[list[Any]], Any], sources: Sequence[Any], dtype: Any = None
) -> Any:
    """A function of several arrays that moves data.

    It is run on positions that count from 1; 0 is a zero.
    """
    sources = [array(x) for x in sources]
    starts = np.cumsum([1] + [np.size(x) for x in sources])
    ones = [
        start + np.arange(np.size(x)).reshape(np.shape(x))
        for start, x in zip(starts, sources, strict=False)
    ]
    positions = rebuild([p[()] if p.ndim == 0 else p for p in ones])
    kind = np.dtype(dtype) if dtype is not None else np.result_type(*(dtype_of(x) for x in sources))

    def select(p: Any) -> Any:
        p = np.asarray(p - 1) if isinstance(p, np.ndarray) else np.intp(p - 1)  # 0-d stays an array
        return apply(GATHER, *sources, positions=p, dtype=kind)

    return _each(positions, select)


# ---- of several arrays

JOINS: tuple[Any, ...] = (
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
)  # fmt: skip


def _join(func: Callable[..., Any]) -> Callable[..., Any]:
    def run(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        parts = [array(x) for x in arrays]
        dtype = kwargs.pop("dtype", None)
        return rearranged(lambda a: func(a, *args, **kwargs), parts, dtype)

    return run


for _f in JOINS:
    FUNCTIONS[_f] = _join(_f)


@implements(np.block)
def _block(arrays: Any) -> Any:
    leaves: list[Any] = []

    def number(x: Any) -> Any:
        if isinstance(x, list):
            return [number(e) for e in x]
        leaves.append(array(x))
        return len(leaves) - 1

    tree = number(arrays)

    def rebuild(a: list[Any]) -> Any:
        def put(x: Any) -> Any:
            return [put(e) for e in x] if isinstance(x, list) else a[x]

        return np.block(put(tree))

    return rearranged(rebuild, leaves)


@implements(np.append)
def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return rearranged(lambda a: np.append(a[0], a[1], axis), [arr, values])


@implements(np.insert)
def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return rearranged(lambda a: np.insert(a[0], plain(obj), a[1], axis), [arr, values])


@implements(np.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    condition = plain(array(condition))
    if x is None:
        return np.where(condition)
    # Python numbers take the type of the arrays they meet, which only NumPy knows.
    dtype = np.where(condition, plain(_loose(x)), plain(_loose(y))).dtype
    return rearranged(lambda a: np.where(condition, a[0], a[1]), [x, y], dtype)


@implements(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = np.where(plain(condition), choice, result)
    return result


@implements(np.choose)
def _choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    return rearranged(lambda c: np.choose(plain(a), c, mode=mode), [array(x) for x in choices])


@implements(np.broadcast_arrays)
def _broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    return tuple(np.broadcast_to(array(x), shape) for x in arrays)


@implements(np.meshgrid)
def _meshgrid(*xi: Any, **kwargs: Any) -> Any:
    xi = tuple(array(x) for x in xi)
    grids = np.meshgrid(*(np.arange(np.size(x)) for x in xi), **kwargs)
    return type(grids)(np.ravel(x)[k] for x, k in zip(xi, grids, strict=True))


def _loose(x: Any) -> Any:
    return array(x) if isinstance(x, SEQUENCES) else x


# ---- clipping and padding


@implements(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    low = kwargs.pop("min", a_min)
    high = kwargs.pop("max", a_max)
    if low is not None:
        a = np.maximum(_loose(a), _loose(low))
    if high is not None:
        a = np.minimum(_loose(a), _loose(high))
    if out is not None:
        out[...] = a
        return out
    return a


@implements(np.pad)
def _pad(x: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    x = array(x)
    if mode in ("edge", "wrap", "symmetric", "reflect") and not kwargs:
        pad: Any = np.pad  # its overloads want the mode as a literal
        return rearranged(lambda a: pad(a[0], pad_width, mode=mode), [x])
    if mode != "constant":
        raise Unsupported(f"np.pad with mode={mode!r} and {sorted(kwargs)}")
    values = kwargs.pop("constant_values", 0)
    padded = rearranged(lambda a: np.pad(a[0], pad_width), [x])
    if not np.any(np.asarray(plain(values)) != 0):
        return padded
    rim = np.pad(np.zeros(np.shape(x)), pad_width, constant_values=plain(values))
    return padded + rim.astype(dtype_of(x))


# ---- copies and aliases


@implements(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """Fresh memory with the same content."""
    a = array(a)
    return Handle(a.content) if isinstance(a, Handle) else Handle(np.copy(a))


def astype(x: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """Fresh memory of another type."""
    dtype = np.dtype(getattr(dtype, "original", dtype))
    if kwargs.get("copy") is False and dtype == dtype_of(x):
        return x
    return cast(x, dtype)


implements(*newer("astype"))(astype)


@implements(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    where = np.zeros(a.shape, bool)
    np.fill_diagonal(where, True, wrap)
    a[where] = np.ravel(val)[np.arange(where.sum()) % np.size(val)] if np.ndim(val) else val


@implements(np.copyto)
def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    dst[...] = np.where(plain(where), src, dst)


@implements(np.put)
def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    ind = np.ravel(plain(ind))
    flat = np.ravel(array(v))
    values = [flat[k % np.size(flat)] for k in range(len(ind))]  # read before anything is written
    if mode == "clip":
        ind = np.clip(ind, 0, a.size - 1)
    for i, value in zip(ind, values, strict=True):
        a[np.unravel_index(i % a.size, a.shape)] = value


@implements(np.putmask)
def _putmask(a: Any, mask: Any, values: Any) -> None:
    a[...] = np.where(plain(mask), np.resize(array(values), a.shape), a)


@implements(np.put_along_axis)
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = np.take_along_axis(np.arange(arr.size).reshape(arr.shape), plain(indices), axis)
    arr[np.unravel_index(places, arr.shape)] = values


def _atleast(rank: int, func: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arrays: Any) -> Any:
        results = [
            x if np.ndim(x) >= rank else rearranged(lambda a: func(a[0]), [x])
            for x in map(array, arrays)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    return run


FUNCTIONS[np.atleast_1d] = _atleast(1, np.atleast_1d)
FUNCTIONS[np.atleast_2d] = _atleast(2, np.atleast_2d)
FUNCTIONS[np.atleast_3d] = _atleast(3, np.atleast_3d)


# ---- what has no derivative

CONSTANT: tuple[Any, ...] = (
    np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like,
    np.argmax, np.argmin, np.argsort, np.lexsort, np.argpartition, np.nonzero, np.flatnonzero,
    np.argwhere, np.count_nonzero, np.searchsorted, np.digitize, np.unravel_index,
    np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor,
    np.isfinite, np.isnan, np.isinf, np.isneginf, np.isposinf, np.signbit, np.isclose,
    np.allclose, np.array_equal, np.array_equiv, np.all, np.any, np.iscomplex, np.isreal,
    np.iscomplexobj, np.isrealobj, np.isscalar, np.result_type, np.can_cast, np.shares_memory,
    np.iterable, np.may_share_memory, np.common_type, np.min_scalar_type,
    np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, np.floor_divide,
    np.array_repr, np.array_str, np.array2string, np.isin,
    np.tril_indices_from, np.triu_indices_from, np.diag_indices_from, np.unique_counts,
)  # fmt: skip
for _f in CONSTANT:
    FUNCTIONS[_f] = constant(_f)


@implements(np.sign)
def _sign(x: Any) -> Any:
    return direction(x) if dtype_of(x).kind == "c" else constant(np.sign)(x)


@implements(np.heaviside)
def _heaviside(x: Any, at_zero: Any) -> Any:
    data = plain(array(x))
    return np.where(data == 0, at_zero, (data > 0) * 1.0)


@implements(np.divmod)
def _divmod(x: Any, y: Any) -> Any:
    return constant(np.floor_divide)(x, y), np.remainder(x, y)


@implements(np.modf)
def _modf(x: Any) -> Any:
    whole = constant(np.trunc)(x)
    return x - whole, whole


@implements(np.frexp)
def _frexp(x: Any) -> Any:
    exponent = np.frexp(plain(array(x)))[1]
    return x * 2.0**-exponent, exponent


@implements(np.ldexp)
def _ldexp(x: Any, exponent: Any) -> Any:
    return x * 2.0 ** plain(exponent)


@implements(np.bincount)
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return np.bincount(plain(x), minlength=minlength)
    size = len(np.bincount(plain(x), minlength=minlength))
    return apply(SCATTER, array(weights), positions=np.asarray(plain(x)), shape=(size,))


@implements(np.unique)
def _unique(ar: Any, **kwargs: Any) -> Any:
    if any(kwargs.values()):
        raise Unsupported("np.unique that returns more than the values")
    return np.ravel(array(ar))[np.unique(plain(array(ar)), return_index=True)[1]]


@implements(np.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    out = constant(np.zeros_like)(a, dtype=dtype)
    out[...] = plain(fill_value) if dtype_of(out).kind not in "fc" else fill_value
    return out


def _fill(x: Any, value: Any) -> None:
    x[...] = value


def _tolist(x: Any) -> Any:
    if np.ndim(x) == 0:
        return cast(x, complex if dtype_of(x).kind == "c" else float)
    return [_tolist(e) for e in x]


def _item(x: Any, *index: Any) -> Any:
    if not index:
        if np.size(x) != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _tolist(np.reshape(x, ()))
    where = index[0] if len(index) == 1 else index
    if np.ndim(where) == 0:
        where = np.unravel_index(where, np.shape(x))
    return _tolist(x[tuple(where)])


def _reshape(x: Any, *shape: Any, **kwargs: Any) -> Any:
    return np.reshape(x, shape[0] if len(shape) == 1 else shape, **kwargs)


def _transpose(x: Any, *axes: Any) -> Any:
    if not axes:
        return np.transpose(x)
    return np.transpose(x, axes[0] if len(axes) == 1 else axes)


METHODS.update(
    {
        "reshape": _reshape,
        "transpose": _transpose,
        "ravel": np.ravel,
        "flatten": lambda x, order="C": copy(np.ravel(x, order=order)),
        "swapaxes": np.swapaxes,
        "squeeze": np.squeeze,
        "repeat": np.repeat,
        "take": np.take,
        "diagonal": np.diagonal,
        "clip": lambda x, *a, **k: np.clip(x, *a, **k),
        "copy": copy,
        "__copy__": copy,
        "astype": astype,
        "fill": _fill,
        "tolist": _tolist,
        "item": _item,
        "conj": np.conjugate,
        "conjugate": np.conjugate,
        "round": np.round,
        "argmax": np.argmax,
        "argmin": np.argmin,
        "argsort": np.argsort,
        "nonzero": np.nonzero,
        "searchsorted": np.searchsorted,
        "all": np.all,
        "any": np.any,
        "choose": np.choose,
        "put": np.put,
        "is_integer": lambda x: plain(x).is_integer(),
        "hex": lambda x: plain(x).hex(),
    }
)
