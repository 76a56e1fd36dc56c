"""Memory: how much of it is free, and how many processes may share it."""

import os
from pathlib import Path

__all__ = ["SPARE", "at_once", "free"]

SPARE = 0.8  # of the memory that is free
MEMINFO = Path("/proc/meminfo")


def at_once(jobs: int, tasks: int, megabytes: float) -> int:
    """Return how many processes work at once: not more than there are tasks, nor than there is memory for; at least 1.

    Of the `jobs` that were asked for, each takes so many `megabytes`.

    Examples
    --------
    >>> at_once(500, 3, 1.0)
    3
    >>> at_once(2, 8, 1e12)
    1
    """
    room = free()
    fitting = jobs if room is None or megabytes <= 0 else int(SPARE * room // megabytes)
    return max(1, min(jobs, tasks, fitting))


def free() -> float | None:
    """Return the megabytes of memory that a program may take, where the system says so."""
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
