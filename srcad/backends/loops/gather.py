"""Adjoints of stencils add one array to a buffer at several offsets: each element is added to once.

    b[:-2] += t; b[2:] += t      |    p = zeros(n - 2 + 4); p[2:-2] = t
                                 |    for j in range(n):
                                 |        b[j] = b[j] + p[j + 2] + p[j]

A loop for each offset would read and write the buffer each time.  The border of zeros stands for
the elements that an offset does not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from srcad.analysis.affine import Affine
from srcad.backends.loops.sizes import Shapes
from srcad.backends.loops.views import Picture
from srcad.codegen.ownership import Ownership
from srcad.codegen.survey import Survey
from srcad.ir import Accumulate, Block, Value
from srcad.ir.types import Array

_WIDEST = 8
"""Offsets further apart than this are left to loops of their own."""


@dataclass(frozen=True, slots=True)
class Gather:
    """Accumulations of one term to one buffer, at several offsets."""

    ops: tuple[Accumulate, ...]
    term: Value
    base: tuple[Affine, ...]
    """The least offset along each axis."""
    offsets: tuple[tuple[int, ...], ...]
    """How far each accumulation is from there."""
    last: Accumulate
    """The last accumulation to the buffer: what is added at one offset only comes first."""

    @property
    def width(self) -> tuple[int, ...]:
        """The largest offset along each axis."""
        return tuple(map(max, zip(*self.offsets, strict=True)))


def gathers(block: Block, survey: Survey, shapes: Shapes, ownership: Ownership) -> list[Gather]:
    """The accumulations of a block that can be done at once."""
    found: list[Gather] = []
    for chain in _chains(block, survey):
        terms: dict[Value, list[Accumulate]] = {}
        for op in chain:
            if isinstance(op.term, Value) and isinstance(op.term.type, Array):
                terms.setdefault(op.term, []).append(op)
        for term, ops in terms.items():
            if len(ops) > 1 and all(map(ownership.in_place, chain)):
                made = _gather(term, ops, chain[-1], shapes.picture_of)
                if made is not None:
                    found.append(made)
    return found


def _chains(block: Block, survey: Survey) -> Iterable[list[Accumulate]]:
    """Accumulations each of which is the only one to see what the one before has made."""
    chains: dict[Value, list[Accumulate]] = {}
    for op in block.ops:
        if isinstance(op, Accumulate) and op.index is not None and isinstance(op.target, Value):
            sole = len(survey.uses[op.target]) == 1
            chain = chains.pop(op.target, []) if sole else []
            chains[op.version] = [*chain, op]
    return chains.values()


def _gather(
    term: Value,
    ops: list[Accumulate],
    last: Accumulate,
    picture: Callable[[Accumulate], Picture | None],
) -> Gather | None:
    pictures = [picture(op) for op in ops]
    shown = [p for p in pictures if p is not None and _is_box(p)]
    if len(shown) != len(ops) or any(p.sizes != shown[0].sizes for p in shown):
        return None
    rank = len(shown[0].sizes)
    base: list[Affine] = []
    columns: list[list[int]] = []
    for axis in range(rank):
        gaps = [p.indices[axis].offset - shown[0].indices[axis].offset for p in shown]
        if not all(g.is_known for g in gaps):
            return None
        least = min(g.const for g in gaps)
        if max(g.const for g in gaps) - least > _WIDEST:
            return None
        base.append(shown[0].indices[axis].offset + least)
        columns.append([g.const - least for g in gaps])
    offsets = tuple(zip(*columns, strict=True))
    return Gather(tuple(ops), term, tuple(base), offsets, last)


def _is_box(picture: Picture) -> bool:
    """Whether a view is a contiguous range along each axis, axes in order."""
    return len(picture.indices) == len(picture.sizes) and all(
        along.axis == k and along.step == 1 for k, along in enumerate(picture.indices)
    )
