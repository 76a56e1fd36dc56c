"""Progress: a long step reports how far it is, and a listener may show it.

A method calls `tick(done, total)` between two pieces of work, regardless of who listens: the command line shows a
bar, a test counts, a script ignores it. Before long work it may `announce` in a sentence what it is about to do. It may
also be given a budget of seconds: a search asks `spent()` how much of it is used, and ends early. The result then
depends on the machine.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
Recipient = Callable[[str], None]
FINE = 1000  # ticks of a part

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_recipient: ContextVar[Recipient | None] = ContextVar("recipient", default=None)
_step: ContextVar[str] = ContextVar("step", default="")


class _Budget:
    """Seconds that a run may take, those reserved for what follows its searches, and whether a search was cut short."""

    def __init__(self, seconds: float, ends: Callable[[float], Exception] | None) -> None:
        self.seconds, self.start, self.cut = seconds, time.monotonic(), False
        self.reserved, self._ends = 0.0, ends

    def check(self) -> None:
        """Raise if the run must have ended by now."""
        if self._ends is not None and time.monotonic() - self.start > self.seconds:
            raise self._ends(self.seconds)


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def listening(listener: Listener, recipient: Recipient | None = None) -> Iterator[None]:
    """Send every tick inside this block to the listener, as (step, done, total), and sentences to `recipient`.

    Without `recipient`, sentences go to the previous one: a listener for the ticks of a part need not receive them.
    """
    ticks, sentences = _listener.set(listener), _recipient.set(recipient or _recipient.get())
    try:
        yield
    finally:
        _recipient.reset(sentences)
        _listener.reset(ticks)


@contextmanager
def part(number: int, parts: int) -> Iterator[None]:
    """Count the ticks inside this block as those of one of several equal parts of a longer task."""
    outer = _listener.get()
    if outer is None:
        yield
        return

    def inner(step: str, done: int, total: int) -> None:
        outer(step, round(FINE * (number + done / max(total, 1))), FINE * parts)

    with listening(inner):
        yield


@contextmanager
def silently() -> Iterator[None]:
    """Ignore the ticks inside this block, a small part of a longer task, which continues its own step afterwards."""
    before = _step.get()
    with listening(lambda _step, _done, _total: None):
        try:
            yield
        finally:
            _step.set(before)


def step(name: str) -> None:
    """Begin a step of the pipeline; later ticks belong to it."""
    _step.set(name)
    tick(0, 1)


def current_step() -> str:
    """Return the name of the current step."""
    return _step.get()


def tick(done: int, total: int) -> None:
    """Report that `done` of `total` pieces of the current step are done; raise if the run must have ended by now."""
    listener, limit, name = _listener.get(), _budget.get(), _step.get()
    if listener is not None:
        listener(name, done, total)
    if limit is not None and name:
        limit.check()


def announce(sentence: str) -> None:
    """Announce in a sentence without cell values what is about to be done."""
    recipient = _recipient.get()
    if recipient is not None:
        recipient(sentence)


@contextmanager
def budget(seconds: float | None, ends: Callable[[float], Exception] | None = None) -> Iterator[None]:
    """Limit the searches inside this block to this many seconds in total; None sets no limit.

    With `ends`, the whole block is limited: the first tick after that time raises the error that it returns.
    """
    token = _budget.set(None if seconds is None else _Budget(seconds, ends))
    try:
        yield
    finally:
        _budget.reset(token)


def reserve(seconds: float) -> None:
    """Keep this many seconds of the budget for what follows the searches."""
    limit = _budget.get()
    if limit is not None:
        limit.reserved = seconds


def spent(ahead: float = 0.0) -> float:
    """Return the share of the budget that is used, or will be `ahead` seconds from now; 0 without a budget."""
    limit = _budget.get()
    if limit is None:
        return 0.0
    usable = max(1e-9, limit.seconds - limit.reserved)
    share = (time.monotonic() - limit.start + ahead) / usable
    limit.cut = limit.cut or share >= 1
    return share


def left() -> float:
    """Return how many seconds of the budget are left; infinity without a budget."""
    limit = _budget.get()
    return math.inf if limit is None else max(0.0, limit.seconds - limit.reserved - (time.monotonic() - limit.start))


def cut_short() -> bool:
    """Return whether a search was stopped by the budget, so that its result may not be reproducible."""
    limit = _budget.get()
    return limit is not None and limit.cut
