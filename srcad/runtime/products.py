"""Products in which a zero differential wins.

A coefficient may be infinite or nan where the value it belongs to is not used: `sqrt` at 0, `x / y`
at y = 0, under `np.where`, a mask or an index. The cotangent is exactly zero there, and `0 * inf`
would turn it into nan. `over` and `times` are the quotient and the product with a *strong zero*:
zero if the differential is zero, whatever the coefficient.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def over(n: Any, d: Any) -> Any:
    """`n / d`, and 0 where `n` is 0, without a warning there."""
    return n / np.where(n != 0, d, 1)


def times(w: Any, v: Any) -> Any:
    """`w * v`, and 0 where `v` is 0, also if `w` is infinite or nan there."""
    return np.where(v != 0, w, 0) * v
