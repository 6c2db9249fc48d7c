"""Simplification of derivative code: one table, by what is called."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir.core import Atom
from srcad.ir.simplify.arithmetic import (
    simplify_add,
    simplify_conjugate,
    simplify_math_pow,
    simplify_matmul,
    simplify_mul,
    simplify_neg,
    simplify_pow,
    simplify_real,
    simplify_sub,
    simplify_truediv,
    simplify_where,
)
from srcad.ir.simplify.contractions import simplify_einsum
from srcad.ir.simplify.masks import (
    simplify_excess,
    simplify_over,
    simplify_require_settled,
    simplify_strong,
    simplify_times,
)
from srcad.ir.simplify.shapes import (
    simplify_astype,
    simplify_broadcast,
    simplify_equal,
    simplify_expand_dims,
    simplify_fitted,
    simplify_getitem,
    simplify_greater,
    simplify_len,
    simplify_moveaxis,
    simplify_reshape,
    simplify_shape,
    simplify_size,
    simplify_swapaxes,
    simplify_transpose,
    simplify_transposed,
    simplify_unbroadcast_to,
)

SIMPLIFY: dict[Callable[..., Any], Callable[..., Atom | None]] = {
    runtime.excess: simplify_excess,
    runtime.over: simplify_over,
    runtime.require_settled: simplify_require_settled,
    runtime.times: simplify_times,
    runtime.strong: simplify_strong,
    runtime.unbroadcast: simplify_unbroadcast_to,
    operator.mul: simplify_mul,
    operator.matmul: simplify_matmul,
    np.matmul: simplify_matmul,
    operator.truediv: simplify_truediv,
    operator.add: simplify_add,
    operator.sub: simplify_sub,
    operator.neg: simplify_neg,
    operator.getitem: simplify_getitem,
    operator.pow: simplify_pow,
    math.pow: simplify_math_pow,
    np.multiply: simplify_mul,
    np.divide: simplify_truediv,
    np.add: simplify_add,
    np.subtract: simplify_sub,
    np.negative: simplify_neg,
    np.power: simplify_pow,
    np.where: simplify_where,
    np.broadcast_to: simplify_broadcast,
    np.shape: simplify_shape,
    np.size: simplify_size,
    operator.eq: simplify_equal,
    operator.gt: simplify_greater,
    runtime.fitted: simplify_fitted,
    np.einsum: simplify_einsum,
    builtins.len: simplify_len,
    np.expand_dims: simplify_expand_dims,
    np.reshape: simplify_reshape,
    np.transpose: simplify_transpose,
    np.moveaxis: simplify_moveaxis,
    np.swapaxes: simplify_swapaxes,
    np.ndarray.T: simplify_transposed,
    np.ndarray.astype: simplify_astype,
    np.real: simplify_real,
    np.conjugate: simplify_conjugate,
}
"""Each gives a simpler value of a call, or None; it may build operations on the way."""
