"""Simplification of derivative code: one table, by what is called."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import runtime
from srcad.ir.core import Atom
from srcad.ir.simplify.arithmetic import (
    simplify_add,
    simplify_conjugate,
    simplify_mul,
    simplify_neg,
    simplify_pow,
    simplify_real,
    simplify_sub,
    simplify_truediv,
    simplify_where,
)
from srcad.ir.simplify.masks import simplify_over, simplify_times
from srcad.ir.simplify.shapes import (
    simplify_astype,
    simplify_broadcast,
    simplify_expand_dims,
    simplify_getitem,
    simplify_len,
    simplify_moveaxis,
    simplify_reshape,
    simplify_shape,
    simplify_transpose,
    simplify_transposed,
    simplify_unbroadcast_to,
)

SIMPLIFY: dict[Callable[..., Any], Callable[..., Atom | None]] = {
    runtime.over: simplify_over,
    runtime.times: simplify_times,
    runtime.unbroadcast: simplify_unbroadcast_to,
    operator.mul: simplify_mul,
    operator.truediv: simplify_truediv,
    operator.add: simplify_add,
    operator.sub: simplify_sub,
    operator.neg: simplify_neg,
    operator.getitem: simplify_getitem,
    operator.pow: simplify_pow,
    np.multiply: simplify_mul,
    np.divide: simplify_truediv,
    np.add: simplify_add,
    np.subtract: simplify_sub,
    np.negative: simplify_neg,
    np.power: simplify_pow,
    np.where: simplify_where,
    np.broadcast_to: simplify_broadcast,
    np.shape: simplify_shape,
    builtins.len: simplify_len,
    np.expand_dims: simplify_expand_dims,
    np.reshape: simplify_reshape,
    np.transpose: simplify_transpose,
    np.moveaxis: simplify_moveaxis,
    np.ndarray.T: simplify_transposed,
    np.ndarray.astype: simplify_astype,
    np.real: simplify_real,
    np.conjugate: simplify_conjugate,
}
"""Each gives a simpler value of a call, or None; it may build operations on the way."""
