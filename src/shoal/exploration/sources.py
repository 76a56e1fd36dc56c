"""Sources: one table for many processes, without a copy for each.

A file is named to them, and read by each as `shoal anonymize` reads it. A frame is laid down once as Arrow in memory
that has no place on the disk, where the system has such, and looked at from there.

Because files are read again by every process, a `Seal` watches those of the table and its hierarchies:

1. It looks at them before they are read for the first time: place, size, and when they were touched.
2. Their mark is made of their bytes, and belongs to that look.
3. After each run it looks again. If nobody has touched the files, the run has read the bytes of the mark. If they were
   touched and hold the same, the run is not believed, since they may have held something else meanwhile. If they hold
   something else, all is over.
"""

import hashlib
import hmac
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ReadError
from shoal.io.files import opened
from shoal.io.frames import from_frame
from shoal.model.policy import Policy

__all__ = ["Seal", "Source", "fingerprint", "shared"]

CHUNK = 1 << 20
YOUNG = 2e9  # nanoseconds for which a file may change without its time telling so

Look = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Source:
    """Where a table is: a file of the holder's, or Arrow in shared memory."""

    path: str
    mapped: bool = False

    def table(self) -> Any:
        """Return what `anonymize` takes: the path, or an arrow table that is not copied."""
        return pa.ipc.open_file(pa.memory_map(self.path)).read_all() if self.mapped else self.path


@contextmanager
def shared(source: Any) -> Iterator[Source]:
    """Make a file or a frame known to other processes for as long as the block runs."""
    if isinstance(source, str | os.PathLike):
        yield Source(str(Path(source).absolute()))
        return
    data = from_frame(source)
    with ExitStack() as held:
        if hasattr(os, "memfd_create"):
            handle = os.memfd_create("shoal")
            held.callback(os.close, handle)
            place = f"/proc/{os.getpid()}/fd/{handle}"
        else:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="shoal-"))  # for the owner alone
            place = f"{folder}/table.arrow"
        with Path(place).open("wb") as file, pa.ipc.new_file(file, data.schema) as out:
            out.write_table(data)
        yield Source(place, mapped=True)


def fingerprint(source: Source, policy: Policy, key: bytes) -> str:
    """Return a mark that changes with the table and with the files of hierarchies.

    It tells nothing without the key, which only the private folder holds.
    """
    mark = hmac.new(key, digestmod=hashlib.sha256)
    for path in (source.path, *_trees(policy)):
        with Path(path).open("rb") if source.mapped else opened(Path(path)) as file:
            while part := file.read(CHUNK):
                mark.update(part)
        mark.update(b"\0")
    return mark.hexdigest()


class Seal:
    """The files that marks are made from, none of them read yet, and whether they are still as they were."""

    def __init__(self, source: Source, policy: Policy) -> None:
        self._source, self._policy = source, policy
        self._files = (source.path, *_trees(policy))
        self._seen, self._sure = self._look()
        self._key, self._mark = b"", ""

    def mark(self, key: bytes) -> str:
        """Return the `fingerprint` of the files, or refuse those that were touched since the first look."""
        self._key, self._mark = key, fingerprint(self._source, self._policy, key)
        now, _ = self._look()
        if now != self._seen:
            raise self._changed(now)
        return self._mark

    def untouched(self) -> bool:
        """Say whether nobody has touched the files since it was asked last; refuse those that hold something else."""
        now, sure = self._look()
        if now == self._seen and self._sure:
            return True
        try:
            same = fingerprint(self._source, self._policy, self._key) == self._mark
        except (OSError, ReadError):
            same = False
        if not same or self._look()[0] != now:
            raise self._changed(now)
        before, self._seen, self._sure = self._seen, now, sure
        return before == now

    def _look(self) -> tuple[Look, bool]:
        """Return where the files are and when they were touched, and whether a later touch would show in that."""
        found: list[tuple[int, ...] | None] = []
        last, clock = 0, time.time_ns()
        for path in self._files:
            try:
                told = Path(path).stat()
            except (OSError, ValueError):
                found.append(None)
                continue
            found.append((told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns))
            last = max(last, told.st_mtime_ns, told.st_ctime_ns)
        return tuple(found), clock - last > YOUNG

    def _changed(self, now: Look) -> ReadError:
        """Say that an exploration cannot go on."""
        what = "a hierarchy of the policy" if now != self._seen and now[0] == self._seen[0] else "the table"
        return ReadError(f"explore: {what} has changed since the exploration began. Start it again.")


def _trees(policy: Policy) -> list[str]:
    """Return the files of hierarchies."""
    named = [column.hierarchy for column in policy.columns.values() if isinstance(column.hierarchy, str)]
    return [tree for tree in named if Path(tree).is_file()]
