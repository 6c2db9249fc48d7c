"""Rules of the functions that apply a function of the user to parts of an array."""

import numpy as np

from srcad.errors import MissingRule
from srcad.rules.registry import composition, is_sequence
from srcad.rules.shaping import cut_for


@composition(np.apply_along_axis, wrt="arr")
def apply_along_axis(func1d, axis, arr, *args):
    k = axis % np.ndim(arr)
    moved = np.moveaxis(arr, k, -1)
    rows = np.reshape(moved, (-1, np.shape(moved)[-1]))
    results = np.array([func1d(row, *args) for row in rows])
    shaped = np.reshape(results, np.shape(moved)[:-1] + np.shape(results)[1:])
    rank = np.ndim(results) - 1
    first = np.ndim(arr) - 1
    return np.moveaxis(shaped, tuple(range(first, first + rank)), tuple(range(k, k + rank)))


@composition(np.apply_over_axes, wrt="a")
def apply_over_axes(func, a, axes):
    for axis in (axes,) if isinstance(axes, int) else axes:
        reduced = func(a, axis)
        a = reduced if np.ndim(reduced) == np.ndim(a) else np.expand_dims(reduced, axis)
    return a


@composition(np.piecewise, wrt="x")
def piecewise(x, condlist, funclist, *args):
    """Each function gets the elements under its condition, as an array of one axis."""
    if not is_sequence(condlist):
        if np.ndim(condlist) > max(np.ndim(x), 1):
            raise MissingRule(None, "give the conditions of piecewise as a list")
        conditions = [condlist]
    else:
        listed = np.ndim(condlist[0]) > 0 or np.ndim(x) == 0
        conditions = condlist if listed else [np.array(condlist)]
    if np.ndim(x) == 0:
        conditions = [np.reshape(c, 1) for c in conditions]
        return np.reshape(np.piecewise(np.reshape(x, 1), conditions, funclist, *args), ())
    values = np.zeros_like(x)
    left = np.ones(np.shape(x), bool)
    for k in range(len(conditions)):
        values = np.where(conditions[k], part(x, conditions[k], funclist[k], args), values)
        left = left & np.logical_not(conditions[k])
    if len(funclist) > len(conditions):
        values = np.where(left, part(x, left, funclist[-1], args), values)
    return cut_for(x, values)


def part(x, condition, function, args):
    """What a function gives for the elements under a condition, where they stand."""
    if not callable(function):
        return function
    found = function(x[condition], *args)
    count = np.count_nonzero(condition)
    padded = np.concatenate((np.broadcast_to(found, (count,)), np.zeros(1, np.result_type(x))))
    places = np.reshape(np.cumsum(condition), np.shape(condition)) - 1
    return padded[np.where(condition, places, -1)]


def mapped(function, args, types):
    """The results of a function of numbers for each element of the arguments."""
    size = np.broadcast_shapes(*[np.shape(a) for a in args])
    columns = [np.reshape(np.broadcast_to(a, size), -1) for a in args]
    results = [function(*values) for values in zip(*columns, strict=True)]
    if not is_sequence(results[0]):
        return np.reshape(np.array(results, types[0] if types else None), size)
    columns = [[r[k] for r in results] for k in range(len(results[0]))]
    given = types or [None] * len(columns)
    return tuple([np.reshape(np.array(c, t), size) for c, t in zip(columns, given, strict=True)])


@composition(np.vectorize, wrt="pyfunc")
def vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    if signature is not None or excluded is not None:
        raise MissingRule(None, "vectorize with a signature or excluded arguments is not supported")

    def vectorized(*args):
        return mapped(pyfunc, args, otypes)

    return vectorized


@composition(np.vectorize.__call__, wrt="args")
def vectorized_outside(self, *args):
    if self.signature is not None or self.excluded:
        raise MissingRule(None, "vectorize with a signature or excluded arguments is not supported")
    return mapped(self.pyfunc, args, self.otypes)
