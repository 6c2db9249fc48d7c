"""Memory that has been freed stays with the process, up to what large arrays take.

The C library of Linux hands large blocks back to the system as soon as they are freed, and the
system clears each page that it gives again.  Of a derivative, which makes arrays of ten thousand
numbers by the hundred in each call, this takes half of the time.  What counts as large is adjusted
to the largest block that the process has freed (mallopt(3), M_MMAP_THRESHOLD): so one is freed that
nobody has written to.  Where the user has set a limit (MALLOC_MMAP_THRESHOLD_), or another library
allocates, this does nothing.
"""

from __future__ import annotations

import functools

import numpy as np

_LARGEST = 31 << 20
"""In bytes: the limit goes up to 32 MiB, the largest that there is."""


@functools.cache
def keep_freed_memory() -> None:
    """Have the C library adjust its limits, once."""
    block = np.empty(_LARGEST, np.uint8)
    del block
