"""What generated code may import: the few decisions that only run time can make.  NumPy only."""

from srcad.runtime.checks import (
    Unforeseen,
    last_writes,
    require_disjoint,
    require_distinct,
    require_number,
    require_present,
    require_real_power,
    require_scalar,
    require_unchanged,
    require_view,
    snapshot,
    stop_gradient,
)
from srcad.runtime.contractions import contraction, transposed_subscripts
from srcad.runtime.determinants import cofactors, is_regular, minors
from srcad.runtime.elementary import FAR, cos, exp, expm1, log, log1p, sin, tanh
from srcad.runtime.matrices import frechet, inverse_of_lower, row_order
from srcad.runtime.objects import dataclass_of
from srcad.runtime.order import evened
from srcad.runtime.products import excess, inner, over, plus, strong, times
from srcad.runtime.series import change_of_basis, table_of_products
from srcad.runtime.shapes import (
    add,
    add_at,
    copied,
    fitted,
    own,
    segments,
    shadow,
    unbroadcast,
    zeros_like,
)
from srcad.runtime.shapes_of_distributions import betainc_by_shapes, gammainc_by_shape
from srcad.runtime.special import bessel_i, polygamma
from srcad.runtime.spectra import (
    merged,
    over_gap,
    over_gap_needed,
    require_basis,
    require_settled,
    settled,
)

__all__ = [
    "FAR",
    "Unforeseen",
    "add",
    "add_at",
    "bessel_i",
    "betainc_by_shapes",
    "change_of_basis",
    "cofactors",
    "contraction",
    "copied",
    "cos",
    "dataclass_of",
    "evened",
    "excess",
    "exp",
    "expm1",
    "fitted",
    "frechet",
    "gammainc_by_shape",
    "inner",
    "inverse_of_lower",
    "is_regular",
    "last_writes",
    "log",
    "log1p",
    "merged",
    "minors",
    "over",
    "over_gap",
    "over_gap_needed",
    "own",
    "plus",
    "polygamma",
    "require_basis",
    "require_disjoint",
    "require_distinct",
    "require_number",
    "require_present",
    "require_real_power",
    "require_scalar",
    "require_settled",
    "require_unchanged",
    "require_view",
    "row_order",
    "segments",
    "settled",
    "shadow",
    "sin",
    "snapshot",
    "stop_gradient",
    "strong",
    "table_of_products",
    "tanh",
    "times",
    "transposed_subscripts",
    "unbroadcast",
    "zeros_like",
]
