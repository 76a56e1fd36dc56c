"""The growing page: the picture of a running exploration, drawn beside the runs and replaced as points arrive."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any

PAUSE = 10.0  # seconds between two pictures, at least
REST = 3.0  # times as long as drawing one took, at least


class GrowingPage:
    """A thread that calls `draw` soon after `changed`, but not too often, until it is closed.

    The picture of a running exploration is a service: if it cannot be drawn, the runs go on, and the last page, which
    the caller draws, says why.
    """

    def __init__(self, draw: Callable[[], Any]) -> None:
        self._draw, self._closed = draw, False
        self._news, self._end, self._drawing = Event(), Event(), Lock()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> "GrowingPage":
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread; a picture that is being drawn is finished first."""
        self._closed = True
        self._end.set()
        self._news.set()
        with self._drawing:
            pass

    def changed(self) -> None:
        """Say that there is more to show."""
        self._news.set()

    def _run(self) -> None:
        """Draw until closed."""
        while True:
            self._news.wait()
            self._news.clear()
            begin = time.monotonic()
            with self._drawing:
                if self._closed:
                    return
                with suppress(Exception):
                    self._draw()
            self._end.wait(max(PAUSE, REST * (time.monotonic() - begin)))
