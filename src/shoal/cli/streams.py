"""The standard streams of a command: any character can be printed, and a reader that leaves early ends it quietly."""

import os
import sys
from contextlib import suppress
from io import StringIO, TextIOWrapper
from typing import Any, TextIO


class OutputClosed(Exception):  # noqa: N818 - not an error: the reader has seen enough
    """The reader of stdout has gone, as `head` does."""


class _Guarded:
    """A stream that raises `OutputClosed` where its reader has gone, or, for messages, drops what cannot be read.

    A BrokenPipeError would be taken for a refusal by libraries, which exit with code 1.
    """

    def __init__(self, stream: TextIO, *, drops: bool) -> None:
        self._stream, self._drops = stream, drops

    def write(self, text: str) -> int:
        """Write text."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._closed()
            return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._closed()

    def _closed(self) -> None:
        """Raise, unless what is written is dropped."""
        if not self._drops:
            raise OutputClosed from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_streams() -> None:
    """Replace the standard streams by guarded ones."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or StringIO()  # None if it was closed
        setattr(sys, name, _Guarded(stream, drops=name == "stderr"))


def discard_output() -> None:
    """Discard what is left in stdout, so that Python does not complain about it when it ends."""
    with suppress(OSError, ValueError):  # where stdout is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
