"""The zoo: every construct of the accepted language as a small function with example arguments.

Each function is unmodified plain Python: run it, and its value is what it means. `CASES` lists
every function at each of its examples, in the order of definition; the tests differentiate each in
every mode and order, the benchmark takes those tagged `scalar`.

Tags
    scalar  Python floats in and out, straight-line code and loops over scalars
    prints  writes to the standard output
"""

from .registry import CASES, Case, case, holds_floats, leaves

__all__ = ["CASES", "Case", "case", "holds_floats", "leaves"]

# The order of these imports is the order of the cases.
from . import (  # noqa: E402, F401, I001
    straight_line,
    branches,
    loops_for,
    loops_while,
    jumps,
    assignment,
    containers,
    queues,
    builtin_calls,
    iterators,
    calls,
    classes,
    context,
    names,
    operators,
    numpy_elementwise,
    numpy_reductions,
    numpy_shapes,
    numpy_index,
    numpy_linalg,
    numpy_methods,
    casts,
    creation,
    interactions,
    arrays_kept,
    arrays_written,
    arrays_by_element,
)
