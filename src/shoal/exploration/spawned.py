"""Tasks in spawned processes: a few processes work through many tasks, and a task that crashes affects no other.

`ProcessPoolExecutor` does not suffice: one dying process breaks the whole pool without naming its task, a running task
cannot be stopped before Python 3.14, processes outlive a caller that is killed, and each of them runs the caller's
script again, which would then need an `if __name__ == "__main__"`.
"""

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from types import ModuleType
from typing import Any

from shoal.errors import reason_of

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """Why a task has no result, in a sentence without a cell value."""

    reason: str


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Work, tasks: Iterable[Any], jobs: int, until: float = math.inf, *, isolated: bool = False
) -> Generator[tuple[int, Any], None, None]:
    """Run every task, and yield its number with its result or a `Failure` as soon as it is finished.

    A task is taken from `tasks` when it can start, and the last result before it has been received by then.
    `work` is a module-level function of one task. With one job everything runs in this process, unless it is to stay
    `isolated` in order to survive crashes. Processes are ended at `until`, a time as of `time.monotonic`; in this
    process, no task starts later. All processes end with the generator, also when it is closed early.
    """
    if jobs == 1 and not isolated:
        for number, task in enumerate(tasks):
            if time.monotonic() > until:
                return
            yield number, copy_context().run(_tried, work, task)  # keep progress of a task separate from the caller's
        return
    left = enumerate(tasks)
    idle: dict[Connection, Any] = {}
    busy: dict[Connection, tuple[Any, int]] = {}
    try:
        while True:
            while len(busy) < jobs and (following := next(left, None)):
                number, task = following
                pipe, process = idle.popitem() if idle else _started(work)
                busy[pipe] = process, number
                with suppress(OSError):  # a process that has died is noticed below
                    pipe.send(task)
            if not busy:
                return
            ready = wait(busy, None if math.isinf(until) else max(0.0, until - time.monotonic()))
            if not ready:
                return
            for pipe in [one for one in busy if one in ready]:
                process, number = busy.pop(pipe)
                try:
                    result = pipe.recv()
                    idle[pipe] = process
                except (EOFError, OSError):
                    process.join()
                    result = Failure(f"its process died (exit {process.exitcode}), perhaps for lack of memory.")
                yield number, result
    finally:
        for process in (*idle.values(), *(process for process, _ in busy.values())):
            process.terminate()
            process.join()


def _started(work: Work) -> tuple[Connection, Any]:
    """Start a process, and return the pipe to it. It does not run the caller's script: its work is in this package."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(theirs, work), daemon=True)
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        process.start()
    finally:
        sys.modules["__main__"] = script
    theirs.close()
    return ours, process


def _serve(pipe: Connection, work: Work) -> None:
    """Work on tasks from the pipe, with one thread, until its other end is closed."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller receives it too, and ends this process
    Thread(target=_end_with_caller, daemon=True).start()
    with threadpool_limits(1), suppress(EOFError, OSError):
        while True:
            pipe.send(_tried(work, pipe.recv()))


def _end_with_caller() -> None:
    """End this process in the middle of its work when its caller is gone; compiled loops let this thread run."""
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
