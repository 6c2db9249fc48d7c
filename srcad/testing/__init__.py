"""Independent checks of derivatives.

`check_grads` compares an engine, by default srcad itself, with a tape, dual numbers, complex steps
and extrapolated differences; `check_rule` a rule, to second order. These share nothing with the
compiler, so that they are wrong independently.
"""

from srcad.testing import tape
from srcad.testing.check import (
    CheckReport,
    GradientMismatch,
    NoOracle,
    check_grads,
    check_rule,
)
from srcad.testing.lifting import lift
from srcad.testing.numeric import Differences, complex_step, differences
from srcad.testing.reference import reference_gradients, reference_jvp
from srcad.testing.tracing.core import Unsupported

__all__ = [
    "CheckReport",
    "Differences",
    "GradientMismatch",
    "NoOracle",
    "Unsupported",
    "check_grads",
    "check_rule",
    "complex_step",
    "differences",
    "lift",
    "reference_gradients",
    "reference_jvp",
    "tape",
]
