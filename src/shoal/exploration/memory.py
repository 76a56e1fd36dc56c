"""Memory: how much is free, and how many processes may share it."""

import os
from pathlib import Path

SPARE = 0.8  # share of the free memory to use
MEMINFO = Path("/proc/meminfo")


def at_once(jobs: int, tasks: int, megabytes: float) -> int:
    """Return how many of `jobs` processes, each of `megabytes`, to run at once; at least 1, at most one per task.

    Examples
    --------
    >>> at_once(500, 3, 1.0)
    3
    >>> at_once(2, 8, 1e12)
    1
    """
    available = free()
    fitting = jobs if available is None or megabytes <= 0 else int(SPARE * available // megabytes)
    return max(1, min(jobs, tasks, fitting))


def free() -> float | None:
    """Return the megabytes of available memory, if the system reports them."""
    try:
        for line in MEMINFO.read_text(encoding="ascii").splitlines():
            name, _, amount = line.partition(":")
            if name == "MemAvailable":
                return int(amount.split()[0]) * 1024 / 1e6
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (AttributeError, OSError, ValueError):
        return None
