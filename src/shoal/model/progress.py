"""Progress: a long step says how far it is, and whoever listens may show it.

A method calls `tick(done, total)` between two pieces of work. It neither knows nor cares who
listens: the command line draws a bar, the studio moves one, a test counts, a script hears nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "current_step", "listening", "step", "tick"]

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_step: ContextVar[str] = ContextVar("step", default="")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every tick inside this block to the listener, as (step, done, total)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def step(name: str) -> None:
    """Begin a step of the line; ticks from now on are its own."""
    _step.set(name)
    tick(0, 1)


def current_step() -> str:
    """Return the name of the step that runs."""
    return _step.get()


def tick(done: int, total: int) -> None:
    """Say that `done` of `total` pieces of the present step are done."""
    listener = _listener.get()
    if listener is not None:
        listener(_step.get(), done, total)
