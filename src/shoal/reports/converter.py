"""The drawing process: reads Vega-Lite charts and writes SVG. `drawing_process` runs this file as a program.

A message is its length in eight bytes followed by UTF-8. The first message received lists the folders in which to look
for vl-convert, each further one is a chart. A reply starts with `DRAWN` or `FAILED`; the latter is followed by the type
of the error only, because its text may quote what the chart shows.

Nothing of shoal is imported here, so that the process starts fast.
"""

import faulthandler
import json
import os
import signal
import sys
from typing import IO

DRAWN, FAILED = b"+", b"-"
SIZE = 8  # bytes of a length
LIMIT = 120.0  # seconds that one chart may take
FIRST = '{"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a", "type": "quantitative"}}}'


def send(stream: IO[bytes], message: bytes) -> None:
    """Write a message."""
    stream.write(len(message).to_bytes(SIZE, "big") + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read a message; None if the other end is closed."""
    head = stream.read(SIZE)
    length = int.from_bytes(head, "big")
    message = stream.read(length) if len(head) == SIZE else b""
    return message if len(head) == SIZE and len(message) == length else None


def draw(chart: str) -> bytes:
    """Return a chart as SVG, or the type of the error that it causes."""
    try:
        import vl_convert

        return DRAWN + str(vl_convert.vegalite_to_svg(chart, show_warnings=False)).encode()
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is reported
        return FAILED + type(problem).__name__.encode()


def serve() -> None:
    """Draw charts until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent receives it too, and ends this process
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would contain what is drawn
    charts, pictures = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - library output must not mix with the pictures
        os.dup2(nowhere.fileno(), 1)
        sys.path[:] = json.loads(receive(charts) or b"[]")
        draw(FIRST)  # the first chart takes half a second: draw it while nobody waits
        while (chart := receive(charts)) is not None:
            # If the parent is killed meanwhile, nothing else ends a chart that never finishes.
            faulthandler.dump_traceback_later(2 * LIMIT, exit=True, file=nowhere)
            picture = draw(chart.decode())
            faulthandler.cancel_dump_traceback_later()
            send(pictures, picture)


if __name__ == "__main__":
    serve()
