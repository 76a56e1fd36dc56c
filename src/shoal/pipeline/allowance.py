"""What a whole run may take: seconds (`budget`) and memory. Both are kept, or the run is refused beforehand.

A run that cannot end in time is refused when the table has been read and its cost estimated. If it can, the searches
get what the steps after them leave of the budget. Where the estimate was too low, the run stops at the next tick after
its budget is used up, or after its memory is nearly used up, and nothing is written.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from shoal.errors import InfeasibleError
from shoal.model.asking import argument, in_megabytes, in_seconds, option
from shoal.model.policy import Policy
from shoal.model.progress import announce, budget, checking, reserve, used
from shoal.pipeline.memory_watch import NEAR, MemoryWatch, held_memory, watched_memory
from shoal.pipeline.ready import Ready, make_ready
from shoal.pipeline.run_cost import PROGRAM, RunCost, Writing, rounded, run_cost
from shoal.pipeline.strictness import Strictness

MARGIN = 1.3  # the steps after the searches may take this many times as long as estimated
PER_BYTE = 2.0  # of a file that is read: the least memory, as a multiple of its size
NONE = Writing()
MORE_TIME = "Allow more time, or choose a faster method."
NOTHING = "Nothing was written."


@dataclass(frozen=True)
class Allowance:
    """Seconds and megabytes of a run, None if unlimited, and what it writes."""

    seconds: float | None = None
    megabytes: float | None = None
    writing: Writing = NONE


_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowing(
    seconds: Any, memory: Any, writing: Writing | None = None, beyond: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Limit the run inside this block: to a number of seconds, and to an amount of memory such as "2GB".

    `writing` says what the block writes. `beyond` is called with a sentence, from another thread, if the process takes
    more memory before the run can end by itself. Without limits of its own, a block inside another has those of the
    outer one.
    """
    if seconds is None and memory is None and writing is None:
        yield
        return
    limit = Allowance(
        None if seconds is None else in_seconds(seconds, "anonymize"),
        None if memory is None else in_megabytes(memory, "anonymize"),
        writing or NONE,
    )
    token = _allowance.set(limit)
    try:
        with ExitStack() as limits:
            limits.enter_context(budget(limit.seconds))
            limits.enter_context(checking(partial(_check_time, limit, time.monotonic())))
            if limit.megabytes is not None:
                said = str(_no_memory(limit))
                end = None if beyond is None else partial(beyond, said)
                watch = limits.enter_context(watched_memory(limit.megabytes, end))
                limits.enter_context(checking(partial(_check_memory, watch, limit)))
            yield
    finally:
        _allowance.reset(token)


def current() -> Allowance:
    """Return the limits that apply; none outside of `allowing`."""
    return _allowance.get() or Allowance()


def affordable(source: Any, wanted: Policy, strictness: Strictness, threads: int) -> tuple[Ready, RunCost]:
    """Return the table ready for its method, and what the run costs; refuse what exceeds the limits."""
    refuse_unreadable(source)
    ready = make_ready(source, wanted, strictness)
    cost = run_cost(ready, threads, current().writing)
    check_affordable(cost)
    return ready, cost


def refuse_unreadable(source: Any) -> None:
    """Refuse what cannot fit into the memory allowed, before it is read."""
    allowed = current().megabytes
    if allowed is not None:
        file = isinstance(source, str | Path) and Path(source).is_file()
        size = Path(source).stat().st_size / 1e6 if file else 0.0
        _refuse_memory(max(PROGRAM + PER_BYTE * size, held_memory() or 0.0), allowed)


def check_affordable(cost: RunCost) -> None:
    """Announce the cost of a run and refuse it if it is above what is allowed; reserve time for the steps after it."""
    allowed = current()
    announce(f"Expected for the whole run: {cost}.")
    if allowed.megabytes is not None:
        _refuse_memory(cost.megabytes / NEAR, allowed.megabytes)
    if allowed.seconds is None:
        return
    needed = used() + cost.least + cost.after
    if needed > allowed.seconds:
        raise InfeasibleError(
            f"anonymize: this run takes at least about {rounded(needed, up=True)} s, more than {argument('budget')} "
            f"({allowed.seconds:g} s). {NOTHING} {MORE_TIME} {_cheaper(allowed.writing)}"
        )
    reserve(MARGIN * cost.after)


def _refuse_memory(needed: float, allowed: float) -> None:
    """Raise if a run needs more memory than allowed."""
    if needed > allowed:
        raise InfeasibleError(
            f"anonymize: this run needs about {rounded(needed, up=True)} MB, more than {argument('memory')} "
            f"({allowed:,.4g} MB). {NOTHING} {_cheaper(current().writing)}"
        )


def _check_time(limit: Allowance, start: float) -> None:
    """Raise if the budget is used up."""
    if limit.seconds is not None and time.monotonic() - start > limit.seconds:
        raise InfeasibleError(
            f"anonymize: the budget of {limit.seconds:g} s was used up before the release was complete. {NOTHING} "
            f"{MORE_TIME} {_cheaper(limit.writing)}"
        )


def _check_memory(watch: MemoryWatch, limit: Allowance) -> None:
    """Raise if the process came near the memory allowed."""
    if watch.near:
        raise _no_memory(limit)


def _no_memory(limit: Allowance) -> InfeasibleError:
    """Return the error of a run for which the memory allowed is not enough."""
    return InfeasibleError(
        f"anonymize: {argument('memory')} is {limit.megabytes:,.0f} MB, which is not enough for this run. "
        f"{NOTHING} {_cheaper(limit.writing)}"
    )


def _cheaper(writing: Writing) -> str:
    """Return advice on how to make a run cheaper."""
    if writing.report and writing.private:
        return f"Without reports ({option('report', False)}) a run needs less."
    return "Fewer columns need less: drop those that nobody needs."
