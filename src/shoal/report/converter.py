"""The process that draws: Vega-Lite charts come in, SVG goes out. `apart` runs this file as a program of its own.

A message is its length in eight bytes, and UTF-8. The first one that comes in is a list of the folders in which to
look for vl-convert, each further one is a chart. What goes out begins with `DRAWN` or `FAILED`; after the latter stands
the kind of the error and nothing of its text, which may quote what the chart shows.

Nothing of shoal is imported here, so that the process starts at once.
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
    """Read a message; None if the other end is gone."""
    head = stream.read(SIZE)
    length = int.from_bytes(head, "big")
    message = stream.read(length) if len(head) == SIZE else b""
    return message if len(head) == SIZE and len(message) == length else None


def draw(chart: str) -> bytes:
    """Return a chart as SVG, or the kind of error that it ends in."""
    try:
        import vl_convert

        return DRAWN + str(vl_convert.vegalite_to_svg(chart, show_warnings=False)).encode()
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is told
        return FAILED + type(problem).__name__.encode()


def serve() -> None:
    """Draw what comes in until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process hears it too, and ends it
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold what is drawn
    charts, pictures = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - no word of a stranger among the pictures
        os.dup2(nowhere.fileno(), 1)
        sys.path[:] = json.loads(receive(charts) or b"[]")
        draw(FIRST)  # the first one takes half a second, so it is drawn while nobody waits for it
        while (chart := receive(charts)) is not None:
            # If whoever asked was killed meanwhile, nobody else ends a chart that is never done.
            faulthandler.dump_traceback_later(2 * LIMIT, exit=True, file=nowhere)
            picture = draw(chart.decode())
            faulthandler.cancel_dump_traceback_later()
            send(pictures, picture)


if __name__ == "__main__":
    serve()
