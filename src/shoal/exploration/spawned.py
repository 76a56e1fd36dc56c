"""Work in spawned processes: many tasks, a few processes, and no task that takes the others down with it.

1. A process is started when there is a task for it and as long as there are fewer than `jobs`; it works on one task
   after the other, with one thread.
2. A task that raises gives a `Failure` in a sentence. So does one whose process dies; another is started in its place.
3. When the caller is stopped, or stops listening, all processes are ended. One whose caller is gone ends too.

Processes do not run the caller's own script again, so that it needs no `if __name__ == "__main__"`.
"""

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from types import ModuleType
from typing import Any

from shoal.errors import reason_of

__all__ = ["Failure", "cores", "spread"]

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """Why a task has no result, in a sentence without a cell value."""

    reason: str


@dataclass
class _Worker:
    """A process, the pipe to it, and the task that it works on."""

    process: Any
    pipe: Any
    task: int | None = None


def cores() -> int:
    """Return how many processes may work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Work, tasks: Sequence[Any], jobs: int, until: float = math.inf, *, apart: bool = False
) -> Iterator[tuple[int, Any]]:
    """Do every task and give the number of each with its result, or with a `Failure`, as it is done.

    Parameters
    ----------
    work : function of a module
        Takes a task.
    tasks : sequence
    jobs : int
        How many processes may work at once. With 1, all is done in this one, unless it is to be `apart`.
    until : float
        The time, as `time.monotonic` has it, at which processes are ended, done or not. In this one, no task begins
        later.
    apart : bool
        Whether this process does nothing itself, so that it outlives whatever happens.

    Yields
    ------
    pair of int and object
    """
    if jobs == 1 and not apart:
        yield from _here(work, tasks, until)
        return
    workers: list[_Worker] = []
    left = list(range(len(tasks)))[::-1]
    try:
        while left or any(worker.task is not None for worker in workers):
            while left and (worker := _idle(workers, work, jobs)) is not None:
                worker.task = left.pop()
                try:
                    worker.pipe.send(tasks[worker.task])
                except OSError:
                    continue  # it has died; its pipe says so below
            left_over = None if math.isinf(until) else max(0.0, until - time.monotonic())
            found = wait([worker.pipe for worker in workers if worker.task is not None], left_over)
            if not found:
                return
            for ready in found:
                worker = next(one for one in workers if one.pipe is ready)
                number = worker.task
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    result = _died(worker)
                    workers.remove(worker)
                worker.task = None
                if number is not None:
                    yield number, result
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
            worker.pipe.close()


def _here(work: Work, tasks: Sequence[Any], until: float) -> Iterator[tuple[int, Any]]:
    """Do every task in this process; what it tells of its steps is its own, as in a process of its own."""
    for number, task in enumerate(tasks):
        if time.monotonic() > until:
            return
        yield number, copy_context().run(_tried, work, task)


def _idle(workers: list[_Worker], work: Work, jobs: int) -> _Worker | None:
    """Return a process that has nothing to do, a new one if there may be more, or None."""
    for worker in workers:
        if worker.task is None:
            return worker
    if len(workers) >= jobs:
        return None
    from multiprocessing import get_context

    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(theirs, work), daemon=True)
    with _hidden_script():
        process.start()
    theirs.close()
    workers.append(_Worker(process, ours))
    return workers[-1]


@contextmanager
def _hidden_script() -> Iterator[None]:
    """Keep processes that start meanwhile from running the caller's script: what they need is in this package."""
    held = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = held


def _serve(pipe: Connection, work: Work) -> None:
    """Work on what comes through the pipe until nobody is at its other end."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it hears that too, and ends it
    Thread(target=_follow, daemon=True).start()
    with threadpool_limits(1):
        while True:
            try:
                pipe.send(_tried(work, pipe.recv()))
            except (EOFError, OSError):
                return


def _follow() -> None:
    """End this process in the middle of its work when whoever started it is gone, killed perhaps."""
    caller = parent_process()
    if caller is not None:
        caller.join()
        os._exit(1)


def _tried(work: Work, task: Any) -> Any:
    """Return the result of a task, or why there is none."""
    try:
        return work(task)
    except Exception as problem:  # noqa: BLE001 - one task must not take the others down
        return Failure(reason_of(problem))


def _died(worker: _Worker) -> Failure:
    """Say that a process has ended in the middle of its work."""
    worker.process.join()
    worker.pipe.close()
    return Failure(f"its process died (exit {worker.process.exitcode}). Memory may not have been enough.")
