"""A limit on the memory of this process: beyond it, allocations fail, and the run ends with an error.

Linux counts what a process may write to (`VmData`), and refuses more on request. Other systems are not asked: there,
only the estimate before a run protects from using too much.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

LIBRARIES = 120.0  # megabytes of code that a run may still load, which the system does not count
STATUS = Path("/proc/self/status")
MB = 1e6


@contextmanager
def limited_memory(megabytes: float) -> Iterator[None]:
    """Let allocations in this block fail before the process holds more than this."""
    held = _held()
    if held is None:
        yield
        return
    import resource

    data, resident = held
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = int((data + max(0.0, megabytes - resident - LIBRARIES)) * MB)
    pool = pa.default_memory_pool()
    # The pool that Arrow prefers reserves a gigabyte at a time, which the system counts.
    pa.set_memory_pool(pa.system_memory_pool())
    resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard < 0 else min(allowed, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        pa.set_memory_pool(pool)


def _held() -> tuple[float, float] | None:
    """Return the megabytes that this process may write to, and those in memory; None if the system does not say."""
    if sys.platform != "linux":
        return None
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
        known = {name: value for name, _, value in (line.partition(":") for line in lines)}
        data, resident = (int(known[name].split()[0]) * 1024 / MB for name in ("VmData", "VmRSS"))
    except (OSError, ValueError, KeyError, IndexError):
        return None
    return data, resident
