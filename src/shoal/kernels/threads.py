"""Threads: the same work done by several at once, with the same results in the same order.

Loops give up Python's lock while they run, so plain threads share the cores. Each task writes only what
is its own and brings its own stream of chance, so any number of threads gives the same bits.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shoal.errors import MethodError

__all__ = ["each", "thread_count"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def thread_count(threads: int | None, who: str) -> int:
    """Return how many threads to use: as many as asked, or as there are cores for this process."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise MethodError(f"{who}: threads must be a whole number of at least 1; got {threads!r}.")
    return threads


def each(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    threads: int,
    heard: Callable[[int], object] = int,
) -> list[Result]:
    """Return the result of each task, in their order; `heard` is told how many are done, in this thread."""
    if threads == 1 or len(tasks) < 2:
        results = []
        for task in tasks:
            results.append(function(task))
            heard(len(results))
        return results
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        waiting = [pool.submit(function, task) for task in tasks]
        results = []
        try:
            for future in waiting:
                results.append(future.result())
                heard(len(results))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
