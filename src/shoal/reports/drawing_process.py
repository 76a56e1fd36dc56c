"""Drawing in a separate process: converts charts to SVG so that a crash of the drawing library ends no caller.

vl-convert contains a browser engine, which aborts its process when memory or address space is short. The process is
started on first use and serves until this one ends. It receives charts through a pipe, and nothing else. If it dies or
takes too long, `DrawingError` is raised, and the next chart gets a new process.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from typing import IO, cast

from shoal.errors import DrawingError
from shoal.reports import converter

REMEDY = "Free some memory, or choose the format md or json, which needs no pictures."


class _Drawer:
    """The drawing process, and the pipes to it."""

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise DrawingError(f"report: pictures cannot be drawn, because Python cannot be started. {REMEDY}")
        self.process = subprocess.Popen(  # noqa: S603 - our own file and interpreter
            [sys.executable, "-P", "-S", converter.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self.late = False
        self.charts, self.pictures = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        with suppress(OSError):  # if it has died already, the first chart will fail
            folders = [folder for folder in sys.path if Path(folder).is_absolute()]
            converter.send(self.charts, json.dumps(folders).encode())

    def convert(self, chart: str, seconds: float) -> str:
        """Return a chart as SVG."""
        limit = Timer(seconds, self._too_late)
        limit.daemon = True
        limit.start()
        try:
            converter.send(self.charts, chart.encode())
            found = converter.receive(self.pictures)
        except OSError:
            found = None
        finally:
            limit.cancel()
        if found is None:
            raise DrawingError(f"report: a picture cannot be drawn: {self._why(seconds)}. {REMEDY}")
        if not found.startswith(converter.DRAWN):
            kind = found[1:].decode()
            raise DrawingError(f"report: a picture cannot be drawn: vl-convert failed ({kind}). {REMEDY}")
        return found[1:].decode()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.charts, self.pictures):
            with suppress(OSError):
                pipe.close()

    def _too_late(self) -> None:
        """Kill the process of a chart that takes too long."""
        self.late = True
        self.process.kill()

    def _why(self, seconds: float) -> str:
        """Return why there is no picture."""
        if self.late:
            return f"it took more than {seconds:g} seconds"
        code = self.process.wait()
        try:
            how = signal.Signals(-code).name
        except ValueError:
            how = f"exit {code}"
        return f"the drawing process ended ({how}), perhaps for lack of memory or address space"


_drawer: _Drawer | None = None
_one_at_a_time = Lock()


def prepare() -> None:
    """Start the drawing process, which takes half a second, in the background."""
    global _drawer  # noqa: PLW0603 - one process per program
    with suppress(OSError, DrawingError), _one_at_a_time:
        _drawer = _drawer or _Drawer()


def converted(chart: str, seconds: float = converter.LIMIT) -> str:
    """Return a Vega-Lite chart (JSON) as SVG, drawn by vl-convert in a separate process within this many seconds.

    Raises `DrawingError` if the process dies, takes too long, cannot be started, or vl-convert fails.
    """
    global _drawer  # noqa: PLW0603 - as above
    with _one_at_a_time:
        try:
            _drawer = _drawer or _Drawer()
            return _drawer.convert(chart, seconds)
        except BaseException as problem:  # after an interrupt or a failure the pipes are out of step
            _end()
            if isinstance(problem, OSError | RuntimeError):
                raise DrawingError(
                    f"report: pictures cannot be drawn: no process can be started ({type(problem).__name__}). {REMEDY}"
                ) from None
            raise


def _end() -> None:
    """End the drawing process, if there is one."""
    global _drawer  # noqa: PLW0603 - as above
    if _drawer is not None:
        _drawer.end()
        _drawer = None


def _leave() -> None:
    """After a fork, leave the drawing process to the parent."""
    global _drawer, _one_at_a_time
    _left.append(_drawer)
    _drawer, _one_at_a_time = None, Lock()


_left: list[_Drawer | None] = []
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
