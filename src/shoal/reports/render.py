"""Render facts as one self-contained HTML file, as Markdown, or as JSON.

`templates/base.html.j2` is the frame of every page: blocks `title`, `kicker`, `verdict`, `contents`, `main`, `footer`.
`templates/macros.html.j2` has the parts: `figure` (title, picture, caption), `table` (caption, heads, rows; a heading
that starts with > marks numbers), `verdict` (asked, holds, more). All text is escaped; a picture is SVG made by
`svg.Picture`, and rejected if it could execute or fetch anything.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from shoal.errors import WriteError

TEMPLATES = Path(__file__).parent / "templates"
HOLDS, FAILS = "holds", "does not hold"
SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "g", "path", "rect", "circle", "text"}
TEXTS = {"aria-label", "data-group"}  # may hold any text
ATTRIBUTES = {
    *("width", "height", "viewBox", "x", "y", "dx", "dy", "cx", "cy", "r", "d", "transform", *TEXTS),
    *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"),
    *("font-family", "font-size", "text-anchor", "role", "aria-hidden", "aria-roledescription"),
}


def as_html(facts: dict[str, Any]) -> str:
    """Return facts, of a report or another page, as the text of one HTML file.

    `title`, `kicker`, `sections` (each with id, title and blocks) and `reload` (the seconds after which a browser reads
    the file again) are optional.

    Guarantee
    ---------
    Every fact is escaped. Only the small script of `templates/tooltip.js` can run, and nothing is fetched: the page's
    Content-Security-Policy enforces it.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from shoal.reports.drawing import draw

    script, style = (without_blank_lines(TEMPLATES / name) for name in ("tooltip.js", "style.css"))
    loader = FileSystemLoader(TEMPLATES)
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.filters.update(inline=_inline, marked=_in_colour, coded=_coded, drawn=draw)
    given = {"title": "", "kicker": "", "sections": (), "reload": None, **facts}
    given |= {"safety": safety(script), "version": version("shoal")}
    # These two files are our own and need no escaping.
    own = {"script": Markup(script), "style": Markup(style)}  # noqa: S704
    return re.sub(r"\n{2,}", "\n", pages.get_template("report.html.j2").render(**given, **own))


def as_json(facts: dict[str, Any]) -> str:
    """Return a report as JSON: the facts themselves."""
    return json.dumps({"shoal": version("shoal"), **facts}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_markdown(facts: dict[str, Any]) -> str:
    """Return a report as Markdown; pictures become tables of their figures, without the legends of drawings."""
    lines = [f"# {_flat(facts['title'])}", f"*{_flat(facts['kicker'])}*"]
    verdicts = [
        f"- **{_flat(one['constraint'])}: {HOLDS if one['holds'] else FAILS}**" for one in facts.get("verdicts", ())
    ]
    answer = [f"- **{_flat(head)}**: {_prose(words)}" for head, words in facts.get("answer", ())]
    lines += ["\n".join(part) for part in (answer, verdicts) if part]
    lines += [_flat(facts["lead"]), *_marked_down(facts.get("head", ()))]
    for part in facts["sections"]:
        lines += [f"## {_flat(part['title'])}", *_marked_down(part["blocks"])]
    return "\n\n".join([*lines, f"Made by shoal {version('shoal')}."]) + "\n"


def checked_picture(picture: str) -> str:
    """Return a picture for a page, or reject it if anything in it could run code or load data."""
    for part in ElementTree.fromstring(picture).iter():  # noqa: S314 - our own drawing
        known = part.tag.startswith(SVG) and part.tag.removeprefix(SVG) in TAGS
        words = [value for name, value in part.items() if name not in TEXTS]
        if not known or not ATTRIBUTES.issuperset(part.keys()) or any("url(" in one.lower() for one in words):
            raise WriteError(
                "report: a picture contains something that could run code or load data. It is not added to the page."
            )
    return picture


def _inline(picture: str) -> Any:
    """Return a picture as markup."""
    from markupsafe import Markup

    return Markup(checked_picture(picture))  # noqa: S704 - every tag and attribute was checked


def _in_colour(cell: object) -> Any:
    """Return a cell; a verdict in its colour."""
    from markupsafe import Markup, escape

    kind = {HOLDS: "yes", FAILS: "no"}.get(cell) if isinstance(cell, str) else None
    return escape(cell) if kind is None else Markup('<span class="{}">{}</span>').format(kind, cell)


def _coded(text: str) -> Any:
    """Return escaped text in which backticks mark code."""
    from markupsafe import Markup, escape

    plain = str(escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", plain))  # noqa: S704 - it is escaped


def without_blank_lines(path: Path) -> str:
    """Return a file of the templates, as embedded in the page."""
    return "\n".join(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def safety(*scripts: str) -> str:
    """Return the policy that browsers enforce: our scripts by their digests, inline styles, and nothing else."""
    seals = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in scripts)
    parts = ("default-src 'none'", f"script-src {seals}", "style-src 'unsafe-inline'", "base-uri 'none'")
    return "; ".join((*parts, "form-action 'none'"))


def _marked_down(blocks: Iterable[dict[str, Any]]) -> list[str]:
    """Return blocks as paragraphs of Markdown."""
    lines: list[str] = []
    for block in blocks:
        kind = block["type"]
        if kind in ("text", "note"):
            lines.append(("> " if kind == "note" else "") + _prose(block["text"]))
        elif kind == "code":
            lines.append(f"```\n{block['text']}\n```")
        elif kind == "list":
            lines.append("\n".join(f"- {_prose(one)}" for one in block["items"]))
        elif kind in ("terms", "tiles"):
            lines.append("\n".join(f"- **{_flat(one)}**: {_flat(words)}" for one, words in block["items"]))
        elif kind == "table":
            lines += [f"*{_flat(block['caption'])}*"] if block["caption"] else []
            lines.append(_rows(block["heads"], block["rows"]))
        elif kind == "figure":
            lines += [f"### {_flat(block['title'])}", *_figures(block["picture"])]
            lines += [f"*{_flat(block['caption'])}*"] if block["caption"] else []
        else:
            inner = block["items"] if kind == "figures" else block["blocks"]
            lines += ([f"### {_flat(block['title'])}"] if kind == "more" else []) + _marked_down(inner)
            lines += [_flat(block["caption"])] if block.get("caption") else []
    return lines


def _figures(picture: dict[str, Any]) -> list[str]:
    """Return the figures of a picture as a table, if they have labels."""
    from shoal.reports.drawing import parts_of

    heads, rows = parts_of(picture)
    return [_rows(heads, rows)] if rows else ["(This picture is in the HTML report.)"]


def _rows(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    names = list(heads)
    lines = ["| " + " | ".join(_flat(name.removeprefix(">")) for name in names) + " |"]
    lines += ["| " + " | ".join("---:" if name.startswith(">") else "---" for name in names) + " |"]
    lines += ["| " + " | ".join(_flat(str(cell)) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Return text on one line, escaped except for code between backticks."""
    parts = re.split(r"(?<!`)(`[^`]+`)(?!`)", " ".join(text.split()))
    return "".join(part if place % 2 else _flat_part(part) for place, part in enumerate(parts))


def _flat(text: str) -> str:
    """Return text on one line, with Markdown and HTML escaped."""
    return _flat_part(" ".join(text.split()))


def _flat_part(text: str) -> str:
    """Return text with Markdown and HTML escaped, and its whitespace kept."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
