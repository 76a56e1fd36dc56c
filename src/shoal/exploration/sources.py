"""Sources: one table for many processes, without a copy for each.

A file is passed by name, and read by each process as `shoal anonymize` reads it. A frame is written once as Arrow to
anonymous memory, where the system supports that, and mapped from there.

Because every process reads files again, those of the table and its hierarchies are watched: if the size or the time
stamp of one changes, the exploration ends with an error, and the results of unfinished runs are discarded.
"""

import hashlib
import hmac
import os
import tempfile
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

CHUNK = 1 << 20


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


class Watched:
    """The files of a table and its hierarchies, as they were before they were first read."""

    def __init__(self, source: Source, policy: Policy) -> None:
        self._files = (source.path, *_trees(policy))
        self._before = self._status()

    def refuse_changes(self) -> None:
        """Raise an error if a file has changed since."""
        now = self._status()
        if now != self._before:
            what = "the table" if now[0] != self._before[0] else "a hierarchy of the policy"
            raise ReadError(f"explore: {what} has changed since the exploration began. Start it again.")

    def _status(self) -> list[tuple[int, ...] | None]:
        """Return device, size and time stamp of each file."""
        found: list[tuple[int, ...] | None] = []
        for path in self._files:
            try:
                status = Path(path).stat()
                found.append((status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
            except (OSError, ValueError):
                found.append(None)
        return found


def _trees(policy: Policy) -> list[str]:
    """Return the hierarchy files."""
    named = [column.hierarchy for column in policy.columns.values() if isinstance(column.hierarchy, str)]
    return [tree for tree in named if Path(tree).is_file()]
