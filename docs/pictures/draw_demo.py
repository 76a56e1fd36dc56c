"""Draw what `shoal demo` prints as an SVG, without fonts or anything else from elsewhere."""

import contextlib
import io
import tempfile
from pathlib import Path

from rich.console import Console

from shoal.cli import app, drawing, show_release

FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{width}" height="{height}" /></clipPath>{lines}</defs>
<rect fill="#292929" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> None:
    """Run the demo into a console that records, and write the picture."""
    console = Console(record=True, width=122, markup=False, force_terminal=True, file=io.StringIO())
    show_release.console = drawing.console = lambda **_: console
    drawing.say("$ shoal demo")
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        app.app(["demo"], standalone_mode=False)
    picture = console.export_svg(title="", code_format=FORMAT, unique_id="demo")
    (Path(__file__).parent / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
