"""How fast srcad is: `python -m benchmarks` prints the figures and writes them to a file.

    scalar      value and gradient together over the function, for the functions of tests/zoo
    loops       loops over numbers, beside a tape, JAX and autograd, and compiled by Numba
    arrays      the same for code on whole arrays, and for kernels that write into arrays
    scaling     how gradient over primal goes with size, and the memory of a step; plotted
    jacobian    where the modes of a Jacobian cross over
    memory      loops that write into arrays: gradient over primal, and peak memory
    compile     transform and compile a function of 50 lines, nothing cached
    dispatch    what a call of compiled code costs besides the code

Whatever is compared is timed in turns, so that a machine that slows down slows down both; with one
thread, since two on a busy machine wait for each other; and by processor time, which is that of the
clock where one thread has a processor to itself.
"""

import os

# Read when NumPy and JAX are imported for the first time, which is after this.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
