"""Charts: the look of every picture, and the conversion of Altair charts to SVG.

Text takes the colour of the page (`currentColor`), the background is transparent, and marks have one of three colours
that the page adapts to dark screens: `ONE`, `TWO` and `PALE`. Blue and orange are distinguishable for colour-blind
readers. Each mark describes itself in an `aria-label`, which screen readers read out and the page's script displays.

Column and category names may contain any character. vl-convert crashes on control characters, and Vega truncates long
names in the middle of an emoji. Placeholder characters therefore replace both while a chart is drawn. Afterwards emoji
are restored, and code points that are not characters are shown as U+FFFD.

The same chart yields the same bytes on every machine: text is measured with the one font that vl-convert ships.
Characters missing from this font, which would otherwise be measured with whatever fonts are installed, are replaced by
placeholders from it as well.
"""

import html
import json
import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from shoal.reports.drawing_process import converted

__all__ = ["ONE", "PALE", "TWO", "alt", "moving", "plain", "rows", "svg", "themed"]

SVG = "{http://www.w3.org/2000/svg}"
ONE, TWO, PALE = "#2a6f9e", "#c9671c", "#b9d2e3"
FRAME = 470  # pixels of a chart in a notebook, axes and all
SHIPPED = "Liberation Sans"  # the font that vl-convert ships
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # metrically compatible, so that labels fit everywhere
LAST_TWO = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
NO_CHARACTERS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{LAST_TWO}]")
# Characters of the font, without the placeholders and the wide space.
LETTERS = "\\u0384-\\u038a\\u038c\\u038e-\\u03a1\\u03a3-\\u03ce\\u03d0-\\u0513\\u1e00-\\u1e9b\\u1ea0-\\u1ef9"
AWKWARD = re.compile(f"[^\\t\\n\\r -~\\xa0-\\u036f{LETTERS}\\u2013\\u2014\\u2018-\\u201e\\u2026\\u200b\\u20ac]")
# Phonetic letters of the font, then, if they do not suffice, private-use characters.
STAND_INS = [*map(chr, range(0x1D00, 0x1DC0)), *map(chr, range(0xE000, 0xE000 + 6208))]
WIDE = "\u2003"  # follows each placeholder of a wide character


class _Altair:
    """Altair, imported at its first use: that takes half a second, and most of the program needs no chart."""

    def __getattr__(self, name: str) -> Any:
        import altair

        return getattr(altair, name)


if TYPE_CHECKING:
    import altair as alt
else:
    alt = _Altair()


def rows(**columns: Any) -> Any:
    """Return columns (arrays or lists of equal length) in the format that Altair expects."""
    held = {name: np.asarray(values).tolist() for name, values in columns.items()}
    return alt.Data(values=[dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)])


def plain(text: str) -> str:
    r"""Return a text in which control characters, unpaired surrogates and unassigned code points are shown as U+FFFD.

    Examples
    --------
    >>> plain("as\x01thma")
    'as�thma'
    """
    return NO_CHARACTERS.sub("\ufffd", text)


def themed(chart: Any) -> Any:
    """Return a chart of any top-level type in the style of the report, for dark and light pages."""
    ink = "currentColor"
    soft = {"domainColor": ink, "tickColor": ink, "gridColor": ink}
    words = {
        "labelColor": ink,
        "titleColor": ink,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
    }
    thin = {"gridOpacity": 0.12, "domainOpacity": 0.5, "tickOpacity": 0.5, "tickSize": 4, "labelOverlap": True}
    return (
        chart.configure(font=FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(**soft, **words, **thin)
        .configure_legend(**words)
        .configure_header(**words)
        .configure_title(color=ink, fontSize=12, fontWeight="normal", anchor="start", subtitleColor=ink)
        .configure_text(color=ink)
    )


def moving(chart: Any) -> Any:
    """Return an interactive top-level chart in the style of the report that a notebook shows without network access.

    Altair's own display fetches a script. Here the script is embedded, in a frame of its own, so that several charts do
    not interfere with each other.
    """
    made = themed(chart)
    kind = type(made)

    def to_dict(self: Any, *given: Any, **options: Any) -> Any:
        return _each(kind.to_dict(self, *given, **options), plain)

    own = {"_repr_mimebundle_": _framed, "to_dict": to_dict}
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), own))
    return made


class _InScript(json.JSONEncoder):
    """JSON that cannot close the script element that contains it."""

    def encode(self, o: Any) -> str:
        """Return JSON without any <."""
        return super().encode(o).replace("<", "\\u003c")


def _framed(chart: Any, *_: Any, **__: Any) -> dict[str, str]:
    """Return a chart as the MIME bundle of a notebook."""
    page = html.escape(chart.to_html(inline=True, embed_options={"actions": False}, json_kwds={"cls": _InScript}))
    style = f"width:100%;height:{FRAME}px;border:0;background:#fff"
    return {"text/html": f'<iframe title="chart" style="{style}" srcdoc="{page}"></iframe>'}


def svg(chart: Any) -> str:
    """Return an unstyled chart as SVG in the style of the report: transparent background, text in the page's colour."""
    held: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        if len(held) < len(STAND_INS):
            wide = unicodedata.east_asian_width(found[0]) in "WF"
            held.setdefault(found[0], STAND_INS[len(held)] + WIDE * wide)
        return held.get(found[0], "\ufffd")

    spec = _each(themed(chart).to_dict(validate=False), lambda text: AWKWARD.sub(stand_in, text))
    spec["config"]["font"] = SHIPPED
    drawn = converted(json.dumps(spec, sort_keys=True))
    characters = {made[0]: plain(one) for one, made in held.items()}
    back = re.sub(f"([\u1d00-\u1dbf\ue000-\uf8ff]){WIDE}?", lambda found: characters[found[1]], drawn)
    return _compact(back.replace(f'font-family="{SHIPPED}"', f'font-family="{FONT}"'))


def _each(part: Any, change: Callable[[str], str]) -> Any:
    """Return a chart's dictionary with a function applied to every text."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, dict):
        return {name: _each(one, change) for name, one in part.items()}
    return [_each(one, change) for one in part] if isinstance(part, list) else part


def _compact(picture: str) -> str:
    """Return a picture in which the many undescribed marks of a map are merged into one path per colour."""
    if 'class="mark-symbol' not in picture:
        return picture
    ElementTree.register_namespace("", SVG[1:-1])
    root = ElementTree.fromstring(picture)  # noqa: S314 - our own drawing
    for group in root.iter(f"{SVG}g"):
        if group.get("aria-hidden") == "true" and group.get("class", "").startswith("mark-symbol role-mark"):
            moved = [_moved(mark) for mark in group]
            if all(one is not None for one in moved):
                colours: dict[str, list[str]] = {}
                for mark, path in zip(group, moved, strict=True):
                    colours.setdefault(_near(mark.get("fill", "none")), []).append(path or "")
                for mark in list(group):
                    group.remove(mark)
                for colour, paths in colours.items():
                    ElementTree.SubElement(group, f"{SVG}path", {"d": "".join(paths), "fill": colour})
    return ElementTree.tostring(root, "unicode")


def _moved(mark: ElementTree.Element) -> str | None:
    """Return the outline of a mark at its position, in short; None unless it is a plain shape of straight lines."""
    at = re.fullmatch(r"translate\(([-\d.]+),([-\d.]+)\)", mark.get("transform", ""))
    shape = re.fullmatch(r"M([-\d.]+),([-\d.]+)((?:L[-\d.]+,[-\d.]+|[hv][-\d.]+)+)Z", mark.get("d", ""))
    if at is None or shape is None:
        return None
    x, y = float(shape[1]), float(shape[2])
    path = f"M{float(at[1]) + x:.1f},{float(at[2]) + y:.1f}"
    for kind, first, second in re.findall(r"([Lhv])([-\d.]+)(?:,([-\d.]+))?", shape[3]):
        if kind == "L":
            path += f"l{float(first) - x:.1f},{float(second) - y:.1f}"
            x, y = float(first), float(second)
        else:
            path += f"{kind}{float(first):.1f}"
    return path.replace(".0", "").replace("l0,", "v") + "z"


def _near(colour: str) -> str:
    """Return an indistinguishable colour from a coarser palette, so that more marks can be merged."""
    parts = re.fullmatch(r"rgb\((\d+), ?(\d+), ?(\d+)\)", colour)
    if parts is None:
        return colour
    return "#" + "".join(f"{min(255, round(int(one) / 6) * 6):02x}" for one in parts.groups())
