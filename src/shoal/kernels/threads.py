"""Threads: tasks run in parallel, with the same results in the same order.

Loops release Python's lock while they run, so plain threads share the cores. Each task writes only its own results and
has its own random stream, so any number of threads gives identical results.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from numbers import Integral
from typing import TypeVar

from shoal.errors import MethodError, shortened
from shoal.model.progress import FINE, listening, part, tick

PAUSE = 0.2  # seconds between two progress updates

Task = TypeVar("Task")
Result = TypeVar("Result")


def thread_count(threads: int | None, who: str) -> int:
    """Return the number of threads to use: as requested, or the cores available to this process."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given: object = threads  # an integer of numpy is accepted
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < 1:
        raise MethodError(f"{who}: threads must be a whole number of at least 1; got {shortened(threads)}.")
    return int(given)


def each(function: Callable[[Task], Result], tasks: Sequence[Task], threads: int) -> list[Result]:
    """Return the result of each task, in order, reporting progress.

    Progress reported by the tasks is forwarded to this thread, as a part of the whole.
    """
    total = len(tasks)
    if threads == 1 or total < 2:
        results = []
        for number, task in enumerate(tasks):
            with part(number, total):
                results.append(function(task))
            tick(number + 1, total)
        return results
    shares = [0.0] * total

    def work(number: int) -> Result:
        def hear(_: str, done: int, of: int) -> None:
            shares[number] = done / max(of, 1)

        with listening(hear):
            result = function(tasks[number])
        shares[number] = 1.0
        return result

    pool = ThreadPoolExecutor(min(threads, total))
    try:
        # A copy of the context carries the time budget into the thread.
        waiting = [pool.submit(copy_context().run, work, number) for number in range(total)]
        left = set(waiting)
        while left:
            done, left = wait(left, timeout=PAUSE, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            tick(round(FINE * sum(shares)), FINE * total)
        return [future.result() for future in waiting]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
