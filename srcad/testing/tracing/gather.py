"""The two primitives that move data: `gather` and its transpose `scatter`.

Every function that only moves data (indexing, reshape, concatenate, where, pad, sort, ...) is run
once on an array of positions, which says where each entry of the result comes from. One rule then
serves all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad.testing.tracing.core import Primitive, is_complex


class Gather(Primitive):
    """Entry k of the result is entry `positions[k]` of the inputs end to end; -1 is a zero."""

    name = "gather"

    def evaluate(self, *inputs: Any, positions: Any, dtype: np.dtype[Any]) -> Any:
        if any(is_complex(x) for x in inputs) and dtype.kind == "f":
            dtype = np.result_type(dtype, np.complex64)
        pieces = [np.asarray(x).reshape(-1) for x in inputs]
        joined = np.concatenate([*pieces, np.zeros(1, dtype)])
        if not isinstance(positions, np.ndarray):
            return joined.astype(dtype, copy=False)[positions]
        # The layout of the positions is the layout NumPy would have given to the data.
        out = np.empty_like(positions, dtype=dtype)
        out[...] = joined[positions]
        return out

    def jvp(
        self, inputs: Sequence[Any], tangents: Sequence[Any], *, positions: Any, dtype: Any
    ) -> Any:
        from srcad.testing.tracing.handle import apply

        known = [
            np.zeros(np.shape(x)) if t is None else t for x, t in zip(inputs, tangents, strict=True)
        ]
        return apply(GATHER, *known, positions=positions, dtype=dtype)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int, *, positions: Any, dtype: Any) -> Any:
        from srcad.testing.tracing.handle import apply

        start = sum(int(np.size(x)) for x in inputs[:wrt])
        size = int(np.size(inputs[wrt]))
        mine = (positions >= start) & (positions < start + size)
        return apply(
            SCATTER,
            ct,
            positions=np.where(mine, positions - start, -1),
            shape=np.shape(inputs[wrt]),
        )


class Scatter(Primitive):
    """Zeros of a shape, to which entries are added at their positions; -1 is nowhere."""

    name = "scatter"

    def evaluate(self, x: Any, *, positions: Any, shape: tuple[int, ...]) -> Any:
        flat = np.zeros(int(np.prod(shape, dtype=int)), np.asarray(x).dtype)
        there = np.asarray(positions) >= 0
        np.add.at(flat, np.asarray(positions)[there], np.asarray(x)[there])
        return flat.reshape(shape) if shape else flat[0]

    def jvp(
        self, inputs: Sequence[Any], tangents: Sequence[Any], *, positions: Any, shape: Any
    ) -> Any:
        from srcad.testing.tracing.handle import apply

        return apply(SCATTER, tangents[0], positions=positions, shape=shape)

    def vjp(self, ct: Any, inputs: Sequence[Any], wrt: int, *, positions: Any, shape: Any) -> Any:
        from srcad.testing.tracing.handle import apply, dtype_of

        return apply(GATHER, ct, positions=positions, dtype=dtype_of(ct))


GATHER = Gather()
SCATTER = Scatter()
