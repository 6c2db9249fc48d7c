"""What has a zero derivative everywhere it has one, and what acts on the outside."""

import bisect
import cmath
import math
import operator
import time

import numpy as np

from srcad.rules.registry import (
    constant,
    effect,
    is_constant,
    is_literal,
    is_sequence,
    nesting,
    of_numbers,
)


def _named(home, names):
    """The functions of `home` with these names, as far as this version has them."""
    return [f for name in names.split() if (f := getattr(home, name, None)) is not None]


# Python
constant(is_literal, is_sequence, nesting, of_numbers)
constant(
    bool, int, str, repr, format, ascii, chr, ord, bin, hex, oct, hash, id, type, callable,
    len, range, slice, isinstance, issubclass, hasattr, round, all, any,
)  # fmt: skip
constant(*_named(operator, "lt le eq ne ge gt not_ truth is_ is_not contains index floordiv"))
constant(*_named(operator, "and_ or_ xor invert inv lshift rshift countOf indexOf length_hint"))
constant(float.is_integer, int.bit_length)
constant(list.index, list.count, tuple.index, tuple.count)
constant(*_named(math, "floor ceil trunc isnan isinf isfinite isclose ulp"))
constant(*_named(math, "comb perm factorial gcd lcm isqrt"))

# comparisons and classification
constant(*_named(np, "less less_equal equal not_equal greater greater_equal"))
constant(*_named(np, "logical_and logical_or logical_xor logical_not"))
constant(*_named(np, "isnan isinf isfinite isneginf isposinf isreal iscomplex isclose allclose"))
constant(
    *_named(np, "array_equal array_equiv signbit isin any all isrealobj iscomplexobj isscalar")
)
constant(np.ndarray.any, np.ndarray.all, np.generic.any, np.generic.all)

# steps
constant(*_named(np, "floor ceil trunc rint fix floor_divide round around spacing digitize"))
constant(np.ndarray.round, np.generic.round)

# integers and bits
constant(*_named(np, "bitwise_and bitwise_or bitwise_xor bitwise_not invert bitwise_count gcd lcm"))
constant(*_named(np, "left_shift right_shift bitwise_left_shift bitwise_right_shift"))

# what the methods of all these give, but for a quotient that leaves a first element what it is
for _ufunc in vars(np).values():
    if not isinstance(_ufunc, np.ufunc) or _ufunc.nin != 2 or _ufunc is np.floor_divide:
        continue
    if is_constant(_ufunc):
        constant(_ufunc.reduce, _ufunc.accumulate, _ufunc.reduceat, _ufunc.outer)

# positions
constant(*_named(np, "argmax argmin nanargmax nanargmin argsort argpartition lexsort searchsorted"))
constant(bisect.bisect_left, bisect.bisect_right)
constant(*_named(np, "nonzero flatnonzero argwhere count_nonzero"))
constant(
    *_named(np.ndarray, "argmax argmin argsort argpartition searchsorted nonzero"),
    *_named(np.generic, "argmax argmin argsort searchsorted nonzero"),
)

# shapes and types
constant(*_named(np, "shape ndim size result_type promote_types can_cast min_scalar_type"))
constant(*_named(np, "issubdtype isdtype dtype finfo iinfo broadcast_shapes shares_memory"))
constant(*_named(np, "may_share_memory common_type mintypecode iterable"))
constant(*_named(np.ndarray, "shape ndim size dtype itemsize nbytes strides flags __len__"))
constant(*_named(np.generic, "shape ndim size dtype itemsize nbytes strides flags"))
constant(*_named(np, "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp"))
constant(*_named(np, "int_ intc long longlong uint uintc ulong ulonglong"))

# new arrays, whatever the arguments are
constant(*_named(np, "zeros ones empty zeros_like ones_like empty_like eye identity tri"))
constant(*_named(np, "indices tril_indices triu_indices diag_indices tril_indices_from"))
constant(*_named(np, "triu_indices_from mask_indices unravel_index ravel_multi_index ndindex"))

constant(*_named(np, "bartlett blackman hamming hanning diag_indices_from"))

# names and texts
constant(*_named(np, "base_repr binary_repr typename isnat isfortran einsum_path array2string"))
constant(*_named(np, "array_repr array_str format_float_positional format_float_scientific"))
constant(*_named(np, "get_printoptions geterr getbufsize packbits unpackbits"))
constant(*_named(cmath, "isclose isfinite isinf isnan"))

# the outside
DRAWS = (
    " bytes chisquare dirichlet f geometric gumbel hypergeometric laplace logistic logseries"
    " multinomial negative_binomial noncentral_chisquare noncentral_f pareto power ranf rayleigh"
    " sample standard_cauchy standard_exponential standard_gamma standard_t triangular vonmises"
    " wald weibull zipf random_integers get_state set_state"
)
effect(print, input, open)
effect(*_named(time, "time perf_counter monotonic process_time sleep"))
effect(*_named(np, "save savez savetxt set_printoptions seterr"))
effect(
    *_named(
        np.random,
        "seed random rand randn randint random_sample uniform normal standard_normal choice shuffle"
        " permutation beta binomial exponential gamma poisson lognormal multivariate_normal"
        + DRAWS,
    )
)
effect(
    *_named(
        np.random.Generator,
        "random uniform normal standard_normal integers choice shuffle permutation permuted beta"
        " binomial exponential gamma poisson lognormal multivariate_normal" + DRAWS,
    )
)
effect(np.random.default_rng)
