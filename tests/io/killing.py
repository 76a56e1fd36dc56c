"""Kill a process at each point at which it accesses the disk, one point after the other, and inspect what is left.

`killed(work)` runs `work` in a forked process that dies at its first call of the system that changes or opens anything,
then in one that dies at the second, and so on, until one comes to its end. After each it gives the number of the point.
Only for programs of their own: a fork of the test runner would take its threads along.
"""

import os
import signal
import sys

from shoal.io import swaps

EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "fcntl.flock"}
MOST = 2000


class Count:
    """How many calls were counted, at which of them the process dies, and whether calls are counted at all."""

    calls, fatal, on = 0, 0, False


def point():
    """Count a call, and die if it is the one."""
    Count.calls += Count.on
    if Count.on and Count.calls == Count.fatal:
        os.kill(os.getpid(), signal.SIGKILL)


def _counted(function):
    def call(*given):
        point()
        found = function(*given)
        point()
        return found

    return call


def start():
    """Count calls from now on."""
    Count.on = True


def _begin(fatal, at_once):
    Count.fatal, Count.on = fatal, at_once
    swaps._exchange = _counted(swaps._exchange)
    sys.addaudithook(lambda event, given: point() if event in EVENTS else None)


def killed(work, before=lambda: None, at_once=True):
    """Kill `work` at each of its points, or of those after it called `start`, and yield the number of each."""
    for number in range(1, MOST):
        before()
        child = os.fork()
        if child == 0:
            try:
                _begin(number, at_once)
                work()
                os._exit(0)
            finally:
                os._exit(1)
        _, state = os.waitpid(child, 0)
        yield number
        if os.WIFEXITED(state):
            assert os.WEXITSTATUS(state) == 0, f"point {number}: the work itself failed"
            return
    raise AssertionError("the work never came to its end")


# A kill loses nothing that the system has taken, so that nothing needs to reach the disk here.
os.fsync = lambda _: point()
