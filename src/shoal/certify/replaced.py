"""Read a folder that another process may replace meanwhile, so that all that was read is of one and the same folder."""

from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import TypeVar

from shoal.errors import ReadError

Found = TypeVar("Found")
TRIES = 50
PAUSE = 0.02  # seconds, in which a folder that is being replaced appears again


def while_unchanged(place: Path, read: Callable[[], Found]) -> Found:
    """Return what `read` finds in a folder, or raise what it raises, if the folder is the same before and after.

    Otherwise everything is read again. ReadError is raised if that happens over and over.
    """
    for _ in range(TRIES):
        before = _identity(place)
        problem: Exception | None = None
        try:
            found = read()
        except Exception as raised:  # noqa: BLE001 - raised again, unless the folder was replaced
            problem = raised
        if before == _identity(place):
            if problem is not None:
                raise problem
            return found
        sleep(PAUSE)
    raise ReadError(f"verify: {str(place)!r} is replaced again and again while it is read. Try again later.")


def _identity(place: Path) -> tuple[int, ...] | None:
    """Return what tells a folder from the one that replaces it, and from itself with other files; None without one."""
    try:
        found = place.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
