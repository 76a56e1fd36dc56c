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

    def __init__(self, seconds: float) -> None:
        self.seconds, self.start, self.cut, self.reserved = seconds, time.monotonic(), False, 0.0


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)
_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())


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
    """Report that `done` of `total` pieces of the current step are done; raise if the run must end."""
    listener, name = _listener.get(), _step.get()
    if listener is not None:
        listener(name, done, total)
    if name:  # after the last step, everything is in place
        check_limits()


def check_limits() -> None:
    """Raise the error of a limit that the run has exceeded."""
    for check in _checks.get():
        check()


@contextmanager
def checking(check: Callable[[], None]) -> Iterator[None]:
    """Call a function at every tick inside this block, which raises if the run must end."""
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)


def announce(sentence: str) -> None:
    """Announce in a sentence without cell values what is about to be done."""
    recipient = _recipient.get()
    if recipient is not None:
        recipient(sentence)


@contextmanager
def budget(seconds: float | None) -> Iterator[None]:
    """Limit the searches inside this block to this many seconds in total; None sets no limit."""
    token = _budget.set(None if seconds is None else _Budget(seconds))
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


def used() -> float:
    """Return how many seconds of the budget are used; 0 without a budget."""
    limit = _budget.get()
    return 0.0 if limit is None else time.monotonic() - limit.start


def left() -> float:
    """Return how many seconds of the budget are left; infinity without a budget."""
    limit = _budget.get()
    return math.inf if limit is None else max(0.0, limit.seconds - limit.reserved - (time.monotonic() - limit.start))


def cut_short() -> bool:
    """Return whether a search was stopped by the budget, so that its result may not be reproducible."""
    limit = _budget.get()
    return limit is not None and limit.cut
