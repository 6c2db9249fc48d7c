"""What the oracles share: traced values, memory that holds them, NumPy in few primitives.

A function under test runs on `Handle`s. A handle stands for a number or an array; behind it is
memory, which holds either plain data or a `Traced` value of an oracle (a tape node, a dual number,
a complex step). Every NumPy function is brought down to a handful of primitives, so that an oracle
has to know only those.

Nothing here imports the compiler: an oracle that shares code with what it judges proves nothing.
"""

from srcad.testing.tracing import linalg, products, reductions, sequences, shaping, special
from srcad.testing.tracing.core import (
    Primitive,
    Traced,
    Unsupported,
    bind,
    current_level,
    nested_level,
    raw,
)
from srcad.testing.tracing.handle import Handle, array, plain, unwrap, wrap

__all__ = [
    "Handle",
    "Primitive",
    "Traced",
    "Unsupported",
    "array",
    "bind",
    "current_level",
    "linalg",
    "nested_level",
    "plain",
    "products",
    "raw",
    "reductions",
    "sequences",
    "shaping",
    "special",
    "unwrap",
    "wrap",
]
