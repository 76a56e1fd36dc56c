"""Return memory that is no longer in use to the system, between the steps of a run on a large table.

Arrow and the C library keep freed memory for later. What one step keeps adds to the peak of the next.
"""

import ctypes
import sys

import pyarrow as pa


def return_unused_memory() -> None:
    """Return freed memory to the system, as far as its libraries can."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc; other C libraries do not have it
        if trim is not None:
            trim(0)
