"""Sources: one table for many processes, without a copy for each.

A file is passed by name, and read by each process as `shoal anonymize` reads it. A frame is written once as Arrow to
anonymous memory, where the system supports that, and mapped from there.

Because every process reads files again, a `Seal` watches those of the table and its hierarchies:

1. It records device, size and time stamps before they are read for the first time.
2. Their fingerprint is computed from their bytes, and belongs to that record.
3. After each run it compares the record. If the files are untouched, the run has read the bytes of the fingerprint. If
   they were touched but have the same content, the run is discarded, since the content may have been different
   meanwhile. If the content has changed, the exploration ends with an error.
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
RECENT = 2e9  # nanoseconds within which a change may not show in the time stamp

Look = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Source:
    """The location of a table: a file of the user, or Arrow in shared memory."""

    path: str
    mapped: bool = False

    def table(self) -> Any:
        """Return what `anonymize` takes: the path, or an Arrow table that is not copied."""
        return pa.ipc.open_file(pa.memory_map(self.path)).read_all() if self.mapped else self.path


@contextmanager
def shared(source: Any) -> Iterator[Source]:
    """Make a file or a frame available to other processes while the block runs."""
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
    """Return a digest of the table and the hierarchy files.

    It reveals nothing without the key, which only the private folder contains.
    """
    mark = hmac.new(key, digestmod=hashlib.sha256)
    for path in (source.path, *_trees(policy)):
        with Path(path).open("rb") if source.mapped else opened(Path(path)) as file:
            while part := file.read(CHUNK):
                mark.update(part)
        mark.update(b"\0")
    return mark.hexdigest()


class Seal:
    """The files behind the fingerprints, not read yet, and whether they are unchanged."""

    def __init__(self, source: Source, policy: Policy) -> None:
        self._source, self._policy = source, policy
        self._files = (source.path, *_trees(policy))
        self._seen, self._sure = self._look()
        self._key, self._mark = b"", ""

    def mark(self, key: bytes) -> str:
        """Return the `fingerprint` of the files; refuse those that were touched since they were first recorded."""
        self._key, self._mark = key, fingerprint(self._source, self._policy, key)
        now, _ = self._look()
        if now != self._seen:
            raise self._changed(now)
        return self._mark

    def untouched(self) -> bool:
        """Return whether the files are untouched since the last call; refuse changed content."""
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
        """Return device, size and time stamps of the files, and whether a later change would show in them."""
        found: list[tuple[int, ...] | None] = []
        last, clock = 0, time.time_ns()
        for path in self._files:
            try:
                status = Path(path).stat()
            except (OSError, ValueError):
                found.append(None)
                continue
            found.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
            last = max(last, status.st_mtime_ns, status.st_ctime_ns)
        return tuple(found), clock - last > RECENT

    def _changed(self, now: Look) -> ReadError:
        """Return the error that ends an exploration."""
        what = "a hierarchy of the policy" if now != self._seen and now[0] == self._seen[0] else "the table"
        return ReadError(f"explore: {what} has changed since the exploration began. Start it again.")


def _trees(policy: Policy) -> list[str]:
    """Return the hierarchy files."""
    named = [column.hierarchy for column in policy.columns.values() if isinstance(column.hierarchy, str)]
    return [tree for tree in named if Path(tree).is_file()]
