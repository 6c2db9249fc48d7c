"""What is done to the block of a function before its derivative is taken."""

from __future__ import annotations

from srcad.ir import Block
from srcad.options import Options
from srcad.passes.accumulators import sums_in_numbers
from srcad.passes.common import without_repeats
from srcad.passes.contractions import products_of_matrices
from srcad.passes.factors import factors_out_of_products
from srcad.passes.fold import without_steady
from srcad.passes.inplace import sums_in_place
from srcad.passes.invariants import without_invariants
from srcad.passes.rows import without_rows
from srcad.passes.unroll import unrolled


def prepared(block: Block, options: Options) -> Block:
    """The block, in a form whose derivative is shorter."""
    if options.recompute:
        block = without_steady(block)
    if options.shorten:
        block = without_rows(block)
    if options.unroll:
        block = unrolled(block)
    if options.common:
        block = without_repeats(block)
    if options.in_place:
        block = sums_in_numbers(sums_in_place(block))
    if options.shorten and options.backend == "numba":
        block = factors_out_of_products(products_of_matrices(block))
    if options.common:
        block = without_invariants(block, compiled=options.backend == "numba")
    return block
