"""A watch on the memory of this process: a run that approaches its limit ends, before it takes more.

Limits of the operating system are not used: where allocations fail, libraries abort the whole process or wait for ever.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

EVERY = 0.02  # seconds between two looks
NEAR = 0.97  # share of the limit from which a run ends in an orderly way
PAGE = Path("/proc/self/statm")


class MemoryWatch:
    """Whether this process came near its limit, which is given in megabytes."""

    def __init__(self, megabytes: float, beyond: Callable[[], None] | None) -> None:
        self.near = False
        self._megabytes, self._beyond, self._ended = megabytes, beyond, threading.Event()

    def look(self) -> None:
        """Look until the watch ends; beyond the limit, call the function that was given."""
        while not self._ended.wait(EVERY):
            held = held_memory()
            if held is None:
                return
            self.near = self.near or held > NEAR * self._megabytes
            if held > self._megabytes and self._beyond is not None:
                self._beyond()
                return

    def end(self) -> None:
        """End the watch."""
        self._ended.set()


@contextmanager
def watched_memory(megabytes: float, beyond: Callable[[], None] | None = None) -> Iterator[MemoryWatch]:
    """Watch the memory of this process during a block; `beyond` is called, from another thread, above the limit."""
    watch = MemoryWatch(megabytes, beyond)
    looking = threading.Thread(target=watch.look, daemon=True)
    with suppress(RuntimeError):  # no thread can be started: only the estimate protects
        looking.start()
    try:
        yield watch
    finally:
        watch.end()
        if looking.is_alive():
            looking.join()


def held_memory() -> float | None:
    """Return the megabytes of memory that this process holds; None where the system does not say."""
    try:
        import resource

        return int(PAGE.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6
    except (ImportError, OSError, ValueError, IndexError):
        return None
