"""Rules of the functions of `srcad.runtime`, so that generated code can be differentiated."""

import numpy as np

from srcad.rules.registry import constant, differential, linear, multilinear
from srcad.runtime import (
    add,
    evened,
    excess,
    fitted,
    inner,
    inserted_at,
    last_writes,
    merged,
    modulus_squared,
    off_zero,
    over,
    over_gap,
    over_gap_needed,
    own,
    plus,
    require_basis,
    require_settled,
    require_settled_where_used,
    settled,
    shadow,
    stop_gradient,
    strong,
    sum_of_repeats,
    times,
    unbroadcast,
    zeros_like,
)

__all__ = [
    "evened",
    "excess",
    "fitted",
    "off_zero",
    "over",
    "over_gap",
    "sum_of_repeats",
    "times",
    "unbroadcast",
]


@differential(over, elementwise=True)
def over_differential(n, d, *, dn, dd, out):
    """The quotient is a differential too: where it is 0 the slope of the divisor is no matter."""
    return over(dn - strong(out, dd), d)


@linear(over, wrt="n", elementwise=True)
def over_transpose(ct, n, d):
    return over(ct, d)


@differential(over_gap, over_gap_needed, elementwise=True)
def over_gap_differential(n, gaps, *, dn, dgaps, out):
    """What is undefined may go unused in a tangent; in a cotangent it is asked for."""
    return over_gap(dn - strong(out, dgaps), gaps)


@linear(over_gap, over_gap_needed, wrt="n", elementwise=True)
def over_gap_transpose(ct, n, gaps):
    return over_gap_needed(ct, gaps)


@linear(settled, require_settled, wrt="dv")
def settled_transpose(ct, dv, merged):
    return require_settled(ct, merged)


@linear(require_settled_where_used, wrt="dv")
def require_settled_where_used_transpose(ct, dv, merged):
    return require_settled_where_used(ct, merged)


@differential(require_basis)
def require_basis_differential(v, *, dv):
    """A change of a basis need not be one."""
    return dv


@differential(off_zero, elementwise=True)
def off_zero_differential(n, *, dn):
    """Where the radius is 0 its direction has no derivative: no number would be right."""
    return np.where(n == 0, np.nan, 1) * dn


@differential(modulus_squared, elementwise=True)
def modulus_squared_differential(z, *, dz):
    return 2 * np.real(np.conj(z) * dz)


@multilinear(times, wrt=("w", "v"), elementwise=True)
def times_transpose(ct, w, v):
    return strong(v, ct), times(w, ct)


@multilinear(inner, wrt=("w", "v"))
def inner_transpose(ct, w, v):
    return strong(v, ct), times(w, ct)


@multilinear(strong, wrt=("u", "v"), elementwise=True)
def strong_transpose(ct, u, v):
    return strong(v, ct), strong(u, ct)


@linear(excess, wrt=("x", "total"), elementwise=True)
def excess_transpose(ct, x, total):
    """Where both are infinite the share of the term is 0 or 1, and stays so."""
    return ct, -ct


@linear(plus, wrt=("total", "term"))
def plus_transpose(ct, total, term):
    return ct, ct


@linear(last_writes, wrt="kept")
def last_writes_transpose(ct, index, shape, kept):
    return last_writes(index, shape, ct)


@linear(unbroadcast, wrt="x")
def unbroadcast_transpose(ct, x, shape):
    return unbroadcast(ct, np.shape(x))


@linear(own, wrt="value")
def own_transpose(ct, value):
    return ct


@linear(fitted, wrt="x")
def fitted_transpose(ct, x, n, axis):
    return fitted(ct, np.shape(x)[axis], axis)


@differential(evened)
def evened_differential(x, keys, axis, *, dx, dkeys):
    """Which keys are equal is locally constant."""
    return evened(dx, keys, axis)


@linear(evened, wrt="x")
def evened_transpose(ct, x, keys, axis):
    return evened(ct, keys, axis)


@linear(add, wrt=("x", "y"))
def add_transpose(ct, x, y):
    return ct, ct


@differential(sum_of_repeats)
def sum_of_repeats_differential(repeated, x, *, drepeated, dx):
    """Of `x` it takes the structure alone."""
    return sum_of_repeats(drepeated, x)


@linear(sum_of_repeats, wrt="repeated")
def sum_of_repeats_transpose(ct, repeated, x):
    return list(ct) * (len(repeated) // max(len(x), 1))


@linear(shadow, zeros_like, wrt="x")
def zeros_like_transpose(ct, x):
    """Zero: a linear function, whose tangents are containers of the same structure."""
    return 0


constant(stop_gradient, merged, inserted_at)
