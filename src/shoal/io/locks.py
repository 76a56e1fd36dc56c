"""Locks: one process at a time changes a folder, and a lock on a file shows that its creator is still running.

Locks are those of the system (flock): they end with the process that holds them, however it ends. Windows and some
network disks have none. There, nothing is locked, and `locked` says so.
"""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoal.errors import WriteError
from shoal.model.progress import announce

PATIENCE = 600.0  # seconds to wait for another process
QUIET = 1.0  # seconds of waiting before the user is told
PAUSE = 0.05  # seconds between two attempts
BUSY = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)


@contextmanager
def locked(*folders: Path, patience: float = PATIENCE) -> Iterator[bool]:
    """Let one process at a time change these existing folders; yield False where the system or the disk has no locks.

    After `patience` seconds of waiting for another process, raise `WriteError`.
    """
    until = time.monotonic() + patience
    with ExitStack() as held:
        handles: dict[tuple[int, int], tuple[int, Path]] = {}
        for folder in folders if sys.platform != "win32" else ():
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            found = os.fstat(handle)
            handles.setdefault((found.st_dev, found.st_ino), (handle, folder))  # one folder may have two names
        # Always in the same order, so that two processes cannot wait for each other.
        sure = [_wait(handle, folder, until, patience) for _, (handle, folder) in sorted(handles.items())]
        yield bool(sure) and all(sure)


def _wait(handle: int, folder: Path, until: float, patience: float) -> bool:
    """Wait for a lock and return whether it is held; announce the wait after a while."""
    start, announced = time.monotonic(), False
    while (got := try_lock(handle)) is False:
        now = time.monotonic()
        if now >= until:
            raise WriteError(
                f"write: another process has been writing into {str(folder)!r} for {patience:g} seconds. Try again "
                "when it is done, or choose another place."
            )
        if not announced and now - start >= QUIET:
            announce(f"write: another process is writing into {str(folder)!r}; waiting up to {patience:g} seconds.")
            announced = True
        time.sleep(min(PAUSE, max(0.0, until - now)))
    return got is True


def try_lock(handle: int) -> bool | None:
    """Try to lock an open file or folder: True if it is locked now, False if another holds it, None without locks.

    Closing the handle releases the lock.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        return False if problem.errno in BUSY else None
    return True


def alive(number: int) -> bool:
    """Return whether a process of this number is running on this machine."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
