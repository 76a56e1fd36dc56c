"""Sources: one table for many processes, without a copy for each.

A file is named to them, and read by each as `shoal anonymize` reads it. A frame is laid down once as Arrow in memory
that has no place on the disk, where the system has such, and looked at from there.
"""

import hashlib
import hmac
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from shoal.io.files import opened
from shoal.io.frames import from_frame
from shoal.model.policy import Policy

__all__ = ["Source", "fingerprint", "shared"]

CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """Where a table is: a file of the holder's, or Arrow in shared memory."""

    path: str
    mapped: bool = False

    def table(self) -> Any:
        """Return what `anonymize` takes: the path, or an arrow table that is not copied."""
        return _mapped(self.path) if self.mapped else self.path


@contextmanager
def shared(source: Any) -> Iterator[Source]:
    """Make a table known to other processes for as long as the block runs.

    Parameters
    ----------
    source : path or frame
    """
    if isinstance(source, str | os.PathLike):
        yield Source(str(Path(source).absolute()))
        return
    data = from_frame(source)
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("shoal")
        try:
            with os.fdopen(handle, "wb", closefd=False) as file:
                _lay_down(data, file)
            yield Source(f"/proc/{os.getpid()}/fd/{handle}", mapped=True)
        finally:
            os.close(handle)
        return
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:  # for the owner alone
        place = Path(folder) / "table.arrow"
        with place.open("wb") as file:
            _lay_down(data, file)
        yield Source(str(place), mapped=True)


def fingerprint(source: Source, policy: Policy, key: bytes) -> str:
    """Return a mark that changes with the table and with the files of hierarchies, and tells nothing without the key.

    Parameters
    ----------
    source : Source
    policy : Policy
    key : bytes
        Kept in the private folder alone.
    """
    mark = hmac.new(key, digestmod=hashlib.sha256)
    trees = [column.hierarchy for column in policy.columns.values() if isinstance(column.hierarchy, str)]
    for path in (source.path, *(tree for tree in trees if Path(tree).is_file())):
        with Path(path).open("rb") if source.mapped else opened(Path(path)) as file:
            while part := file.read(CHUNK):
                mark.update(part)
        mark.update(b"\0")
    return mark.hexdigest()


def _lay_down(data: pa.Table, file: IO[bytes]) -> None:
    """Write a table as Arrow."""
    with pa.ipc.new_file(file, data.schema) as out:
        out.write_table(data)


def _mapped(path: str) -> pa.Table:
    """Return a table that lies in memory, where it lies."""
    return pa.ipc.open_file(pa.memory_map(path)).read_all()
