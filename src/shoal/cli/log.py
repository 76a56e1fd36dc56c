"""Progress as lines on stderr, for runs without a terminal.

A line is written when a step begins, for each announcement, and at least every ten seconds in between: also while a
step reports nothing, from a thread of its own.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum

from shoal.cli.drawing import printable
from shoal.model.progress import listening

EVERY = 10.0  # maximum seconds between two lines


class LogFormat(StrEnum):
    """The form of the lines."""

    PLAIN = "plain"
    JSON = "json"
    NONE = "none"


@contextmanager
def logged(form: LogFormat) -> Iterator[None]:
    """Write the progress of this block to stderr."""
    if form == LogFormat.NONE:
        yield
        return
    log, ended = _Log(form), threading.Event()
    beating = threading.Thread(target=log.beat, args=(ended,), daemon=True)
    with suppress(RuntimeError):  # without memory for another thread, lines are written at ticks alone
        beating.start()
    try:
        with listening(log.update, log.announce):
            yield
    finally:
        ended.set()
        if beating.is_alive():
            beating.join()


class _Log:
    """The current step, the share of it that is done if known, and when the last line was written."""

    def __init__(self, form: LogFormat) -> None:
        self._form, self._start = form, time.monotonic()
        self._step, self._last, self._lock = "start", self._start, threading.Lock()
        self._done: float | None = None

    def update(self, step: str, done: int, total: int) -> None:
        """Take note of a tick, and write a line if a step begins or the last line is old."""
        if not step:  # the last step has ended
            return
        with self._lock:
            begins, self._step = step != self._step, step
            self._done = min(1.0, done / total) if done and total else None
            if begins or time.monotonic() - self._last >= EVERY:
                self._write()

    def announce(self, sentence: str) -> None:
        """Write a line with a sentence."""
        with self._lock:
            self._write(printable(sentence))

    def beat(self, ended: threading.Event) -> None:
        """Write a line whenever the last one is old, until the work has ended."""
        while not ended.wait(max(0.0, self._last + EVERY - time.monotonic())):
            with self._lock:
                if time.monotonic() - self._last >= EVERY:
                    self._write()

    def _write(self, message: str = "") -> None:
        """Write a line; whether anyone can read it must not matter to the work."""
        self._last = time.monotonic()
        elapsed, now = self._last - self._start, datetime.now(UTC)
        if self._form == LogFormat.JSON:
            done = None if self._done is None else round(self._done, 3)
            at = now.isoformat(timespec="milliseconds")
            facts = {"time": at, "step": self._step, "elapsed": round(elapsed, 1), "done": done}
            line = json.dumps(facts | ({"message": message} if message else {}))
        else:
            share = "" if self._done is None else f"{100 * self._done:.0f}%"
            line = f"{now:%Y-%m-%d %H:%M:%S}Z {elapsed:7.1f} s  {self._step:<10} {message or share}".rstrip()
        with suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
