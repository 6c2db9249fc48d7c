"""The functions whose gradients are timed, as a user writes them, and their arguments by size.

`loops` compute with numbers, `arrays` with whole arrays, `written` write into arrays by loops.
`in_jax` and `in_autograd` say the same as one writes it for these, where it is not the same text.
"""

from benchmarks.workloads.arrays import ARRAYS
from benchmarks.workloads.loops import LOOPS
from benchmarks.workloads.workload import Workload
from benchmarks.workloads.written import WRITTEN

__all__ = ["ARRAYS", "LOOPS", "WRITTEN", "Workload"]
