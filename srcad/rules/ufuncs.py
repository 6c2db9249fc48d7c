"""Rules of the methods of NumPy's ufuncs of two arguments: `reduce`, `accumulate`, `outer`, ….

Sums, products and extrema are the functions of the same meaning; of the others the ufunc is applied
step after step.
"""

import numpy as np

from srcad.rules.intrinsics import excess, off_zero
from srcad.rules.reductions import along_first, kept
from srcad.rules.registry import composition, constant, differential
from srcad.runtime import runs

REDUCTIONS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.fmax: np.nanmax,
    np.fmin: np.nanmin,
}
STEPWISE = (
    *(np.subtract, np.divide, np.floor_divide, np.float_power, np.fmod, np.remainder),
    *(np.copysign, np.heaviside, np.nextafter),
)
"""Reduced along one axis, step after step: their order counts."""
SCANNED = (*STEPWISE, np.power, np.arctan2, np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin)
"""Not all are reduced: `np.power.reduce` and `np.arctan2.reduce` of NumPy leave out elements."""


def like(array, dtype):
    """The array in the type in which to reduce it."""
    return np.asarray(array) if dtype is None else np.asarray(array, dtype)


def declare_reduction(ufunc, reduction):
    @composition(ufunc.reduce, wrt=("array", "initial"))
    def reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None, where=True):
        x = like(array, dtype)
        if where is True:
            if initial is None:
                return reduction(x, axis, keepdims=keepdims)
            return reduction(x, axis, keepdims=keepdims, initial=initial)
        if initial is None:
            return reduction(x, axis, keepdims=keepdims, where=where)
        return reduction(x, axis, keepdims=keepdims, initial=initial, where=where)


def declare_steps(ufunc):
    @composition(ufunc.reduce, wrt=("array", "initial"))
    def reduce(array, axis=0, dtype=None, *, keepdims=False, initial=None):
        x = along_first(like(array, dtype), axis)
        result = x[0] if initial is None else ufunc(initial, x[0])
        for k in range(1, len(x)):
            result = ufunc(result, x[k])
        if keepdims:
            return np.expand_dims(result, tuple(range(np.ndim(array))) if axis is None else axis)
        return result


def declare_scan(ufunc):
    @composition(ufunc.accumulate, wrt="array")
    def accumulate(array, axis=0, dtype=None):
        x = np.moveaxis(like(array, dtype), axis, 0)
        result = x[0]
        results = [result]
        for k in range(1, len(x)):
            result = ufunc(result, x[k])
            results.append(result)
        return np.moveaxis(np.stack(results), 0, axis)


def declare_segments(ufunc):
    @composition(ufunc.reduceat, wrt="array")
    def reduceat(array, indices, axis=0, dtype=None):
        """From each index to the next one; where that comes before, the element at the index."""
        x = np.moveaxis(like(array, dtype), axis, 0)
        ends = np.append(np.asarray(indices)[1:], len(x))
        results = [
            ufunc.reduce(x[indices[k] : max(ends[k], indices[k] + 1)]) for k in range(len(indices))
        ]
        return np.moveaxis(np.stack(results), 0, axis)


def side_by_side(A, B):
    """`A` with an axis of size 1 for each of `B`."""
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B))


def declare_outer(ufunc):
    @composition(ufunc.outer, wrt=("A", "B"))
    def outer(A, B):
        return ufunc(side_by_side(A, B), B)


for _ufunc, _reduction in REDUCTIONS.items():
    declare_reduction(_ufunc, _reduction)
for _ufunc in STEPWISE:
    declare_steps(_ufunc)
for _ufunc in SCANNED:
    declare_scan(_ufunc)
for _ufunc in (*REDUCTIONS, *STEPWISE, np.logaddexp, np.logaddexp2):
    if _ufunc is not np.add:
        declare_segments(_ufunc)
for _ufunc in (*SCANNED, np.maximum, np.minimum):
    if _ufunc is not np.subtract:
        declare_outer(_ufunc)


def declare_sum_of_powers(ufunc, power):
    @differential(ufunc.reduce)
    def reduce(
        array, axis=0, dtype=None, *, keepdims=False, initial=None, where=None,
        darray, dinitial, out,
    ):  # fmt: skip
        terms = array if where is None else np.where(where, array, -np.inf)
        w = power(excess(terms, kept(out, axis, keepdims)))
        change = np.sum(w * darray, axis, keepdims=keepdims)
        return change if initial is None else change + power(excess(initial, out)) * dinitial


declare_sum_of_powers(np.logaddexp, np.exp)
declare_sum_of_powers(np.logaddexp2, np.exp2)


@differential(np.hypot.reduce)
def hypot_reduce(array, axis=0, dtype=None, *, keepdims=False, darray, out):
    """Where all are 0, 0, a subgradient."""
    length = kept(out, axis, keepdims)
    w = array / off_zero(length)
    return np.sum(w * darray, axis, keepdims=keepdims)


@composition(np.add.accumulate, wrt="array")
def add_accumulate(array, axis=0, dtype=None):
    return np.cumsum(array, axis, dtype)


@composition(np.multiply.accumulate, wrt="array")
def multiply_accumulate(array, axis=0, dtype=None):
    return np.cumprod(array, axis, dtype)


constant(runs)


@differential(np.maximum.accumulate, np.minimum.accumulate)
def extremum_accumulate(array, axis=0, dtype=None, *, darray, out):
    """What reached an extremum until then shares the derivative equally."""
    first, again = runs(array, out, axis)
    start = np.take_along_axis(darray, first, axis)
    if not np.any(again):
        return start
    surplus = np.cumsum(np.where(again, darray - start, 0), axis)
    count = np.cumsum(again, axis)
    ties = count - np.take_along_axis(count, first, axis) + 1
    return start + (surplus - np.take_along_axis(surplus, first, axis)) / ties
