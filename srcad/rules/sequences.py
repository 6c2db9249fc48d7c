"""Rules of Python's functions on lists and tuples of numbers, and of `math`'s on many arguments."""

import math

import numpy as np

from srcad.rules.intrinsics import evened, off_zero, unbroadcast
from srcad.rules.registry import differential, linear, pullback


@linear(list, tuple, wrt="iterable", sequences=("iterable",))
def as_sequence(ct, iterable=()):
    if isinstance(iterable, np.ndarray):
        return np.array(ct)
    return ct


@linear(sum, wrt=("iterable", "start"), sequences=("iterable",))
def sum_of(ct, iterable, start=0):
    if isinstance(iterable, np.ndarray):
        return np.broadcast_to(ct, np.shape(iterable)), unbroadcast(ct, np.shape(start))
    if np.ndim(ct) == 0:
        return [ct] * len(iterable), ct
    return [unbroadcast(ct, np.shape(v)) for v in iterable], unbroadcast(ct, np.shape(start))


@linear(math.fsum, wrt="seq", sequences=("seq",))
def fsum(ct, seq):
    if isinstance(seq, np.ndarray):
        return np.broadcast_to(ct, np.shape(seq))
    return [ct] * len(seq)


@differential(max, min, sequences=("values",))
def extremum_of(*values, dvalues, out):
    """Of two or more numbers, or of a sequence of them. Ties share the derivative equally."""
    if len(values) == 2:
        x, y = values
        dx, dy = dvalues
        w = np.where(x == y, 0.5, x == out)
        return w * dx + (1 - w) * dy
    if len(values) == 1:
        ties = np.array(values[0]) == out
        changes = np.array(dvalues[0])
    else:
        ties = np.array(values) == out
        changes = np.array(dvalues)
    return np.dot(ties / np.sum(ties), changes)


@differential(sorted, sequences=("iterable",))
def sort_of(iterable, *, reverse=False, diterable, out):
    """Equal numbers share their derivatives equally."""
    order = np.argsort(iterable, kind="stable")
    if reverse:
        order = order[::-1]
    return list(evened(np.array(diterable)[order], np.array(out), 0))


@pullback(sorted)
def sort_of_pullback(ct, iterable, *, reverse=False, out):
    """The inverse permutation: nothing is scattered."""
    order = np.argsort(iterable, kind="stable")
    if reverse:
        order = order[::-1]
    even = evened(np.array(ct), np.array(out), 0)
    return (list(even[np.argsort(order)]),)


@differential(math.prod, sequences=("iterable",))
def prod_of(iterable, *, start=1, diterable, dstart):
    """The coefficient is the product of the others, from both sides: right where factors are 0."""
    x = np.array(iterable)
    ones = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate((ones, x)))[:-1]
    after = np.cumprod(np.concatenate((ones, x[::-1])))[:-1][::-1]
    return start * np.dot(before * after, np.array(diterable)) + np.prod(x) * dstart


@differential(math.hypot, sequences=("coordinates",))
def hypot_of(*coordinates, dcoordinates, out):
    """At the origin 0, a subgradient."""
    r = off_zero(out)
    if isinstance(coordinates, tuple):
        return sum(x / r * dx for x, dx in zip(coordinates, dcoordinates, strict=True))
    return np.dot(np.array(coordinates), np.array(dcoordinates)) / r


@differential(math.dist, sequences=("p", "q"))
def dist(p, q, *, dp, dq, out):
    """Of equal points 0, a subgradient."""
    r = off_zero(out)
    if isinstance(p, tuple) and isinstance(q, tuple):
        return sum((x - y) / r * (dx - dy) for x, y, dx, dy in zip(p, q, dp, dq, strict=True))
    return np.dot(np.array(p) - np.array(q), np.array(dp) - np.array(dq)) / r


@differential(getattr(math, "sumprod", None), sequences=("p", "q"))
def sumprod(p, q, *, dp, dq):
    return np.dot(np.array(q), np.array(dp)) + np.dot(np.array(p), np.array(dq))
