"""How fast srcad is: `python -m benchmarks` prints the figures and writes them to a file.

    gradient over primal   value and gradient together, for the scalar functions of tests/zoo
    compile                transform and compile a function of 50 lines, nothing cached
    dispatch               what a call of compiled code costs besides the code
    memory                 loops that write into arrays: gradient over primal, and peak memory

Whatever is compared is timed in turns, so that a machine that slows down slows down both.
"""
