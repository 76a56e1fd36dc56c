"""Run `shoal` commands inside the test process, as the console script would: with the same exit codes and streams."""

import contextlib
import io
import signal
import sys
from typing import NamedTuple
from unittest.mock import patch

from shoal.cli.app import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def shoal_command(*words, cwd="."):
    """Run one command and return its exit code and what it printed.

    A real process costs about a second of imports: only tests of signals, streams and memory start one.
    """
    out, err, code = io.StringIO(), io.StringIO(), 0
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with (
            patch.object(sys, "argv", ["shoal", *map(str, words)]),
            contextlib.chdir(cwd),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert "Traceback" not in err.getvalue()
    return Ended(code, out.getvalue(), err.getvalue())
