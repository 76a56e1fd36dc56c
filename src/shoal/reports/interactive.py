"""Charts for notebooks: marks describe themselves under the pointer, and a click in the legend highlights a method.

Each chart is in a frame of its own with the two small scripts of `templates`, and nothing is fetched.
"""

import html
from pathlib import Path

from shoal.reports.render import TEMPLATES, checked_picture, safety, without_blank_lines
from shoal.reports.svg import Picture

COLOUR = "<style>svg{color:#1c2430}@media(prefers-color-scheme:dark){svg{color:#e3e8ec}}</style>"
STYLE = """body{margin:0;background:#fff;color:#1c2430}svg{display:block;max-width:100%;height:auto}
[data-group]{cursor:pointer}[data-group].faint{opacity:.12}
#tip{position:fixed;pointer-events:none;max-width:18rem;padding:.35rem .6rem;border-radius:6px;background:#1c2430;
color:#fff;font:.82rem/1.4 sans-serif;white-space:pre-line}"""
SCRIPTS = ("tooltip.js", "highlight.js")


class Chart:
    """A chart, displayed by notebooks.

    Attributes
    ----------
    svg : str
        The chart as an SVG element, in the colour of the text around it.
    """

    def __init__(self, picture: Picture) -> None:
        self.svg = picture.svg()
        self._tall = picture.size[1]

    def save(self, path: str | Path) -> Path:
        """Write the chart as an SVG file, for light and dark screens."""
        Path(path).write_text(standing_alone(self.svg), encoding="utf-8", newline="\n")
        return Path(path)

    def __repr__(self) -> str:
        """Describe the chart by its size."""
        return f"<Chart: {len(self.svg):,} characters of SVG>"

    def _repr_html_(self) -> str:
        """Show the chart in a notebook."""
        scripts = [without_blank_lines(TEMPLATES / name) for name in SCRIPTS]
        policy = f'<meta http-equiv="Content-Security-Policy" content="{safety(*scripts)}">'
        ran = "".join(f"<script>{script}</script>" for script in scripts)
        head = f"<!doctype html><html><head>{policy}<title>chart</title><style>{STYLE}</style></head>"
        page = html.escape(f'{head}<body><div class="picture">{checked_picture(self.svg)}</div>{ran}</body></html>')
        return f'<iframe title="chart" style="width:100%;height:{self._tall + 8}px;border:0" srcdoc="{page}"></iframe>'


def standing_alone(picture: str) -> str:
    """Return an SVG that takes its colour from the page as one to be saved by itself, for light and dark screens."""
    head, rest = picture.split(">", 1)
    return f"{head}>{COLOUR}{rest}"
