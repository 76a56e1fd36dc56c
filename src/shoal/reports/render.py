"""Render facts as one self-contained HTML file, as Markdown, or as JSON.

`templates/base.html.j2` is the frame of every page: blocks `title`, `kicker`, `verdict`, `contents`, `main`, `footer`.
`templates/macros.html.j2` has the parts: `figure` (title, picture, caption), `table` (caption, heads, rows; a heading
that starts with > marks numbers), `verdict` (asked, holds, more). All text is escaped; a picture is SVG made by
`charts.svg`, and rejected if it could execute or fetch anything.
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
SHAPES, FRAMES = {"path", "rect", "line", "circle", "text", "tspan"}, {"svg", "g", "defs", "clipPath", "title"}
TAGS = {*SHAPES, *FRAMES, "linearGradient", "stop"}
SHORT = ("d", "transform", "x", "y", "x2", "y2")


def as_html(facts: dict[str, Any]) -> str:
    """Return facts, of a report or another page, as the text of one HTML file.

    `title`, `kicker` and `sections` (each with id, title and blocks) are optional.

    Guarantee
    ---------
    Every fact is escaped. Only the small script of `templates/tooltip.js` can run, and nothing is fetched: the page's
    Content-Security-Policy enforces it.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from shoal.reports.drawing import draw

    script, style = (_beside(name) for name in ("tooltip.js", "style.css"))
    loader = FileSystemLoader(TEMPLATES)
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.filters.update(inline=_Inline(), marked=_in_colour, coded=_coded, drawn=draw)
    given = {"title": "", "kicker": "", "sections": (), **facts, "safety": _safety(script), "version": version("shoal")}
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
    lines += ["\n".join(verdicts)] if verdicts else []
    lines += [_flat(facts["lead"]), *_marked_down(facts.get("head", ()))]
    for part in facts["sections"]:
        lines += [f"## {_flat(part['title'])}", *_marked_down(part["blocks"])]
    return "\n\n".join([*lines, f"Made by shoal {version('shoal')}."]) + "\n"


class _Inline:
    """Embed pictures in a page: nothing in them can run, and their element ids are unique across pictures."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, picture: str) -> Any:
        """Return a picture as markup, or reject it."""
        from markupsafe import Markup

        self.count += 1
        ElementTree.register_namespace("", SVG[1:-1])
        root = ElementTree.fromstring(picture)  # noqa: S314 - our own drawing
        for part in root.iter():
            self._check(part)
        for parent in list(root.iter()):
            for hidden in [one for one in parent if one.get("display") == "none"]:
                parent.remove(hidden)
        return Markup(ElementTree.tostring(root, "unicode"))  # noqa: S704 - every tag and attribute was checked

    def _check(self, part: ElementTree.Element) -> None:
        """Reject what could run code or load data, make ids unique, and cut needless digits."""
        unexpected = part.tag.removeprefix(SVG) not in TAGS
        for name, value in list(part.items()):
            unexpected |= name.lower().startswith("on") or "href" in name.lower() or name == "style"
            local = re.fullmatch(r"url\(['\"]?#[\w-]+['\"]?\)", value)
            unexpected |= "url(" in value.lower() and not local and name != "aria-label"
            if name == "id":
                part.set(name, f"p{self.count}-{value}")
            elif name in SHORT:
                part.set(name, re.sub(r"(\.\d\d)\d+", r"\1", value))
            elif value.startswith("url("):
                part.set(name, value.replace("#", f"#p{self.count}-"))
        if unexpected:
            raise WriteError(
                "report: a picture contains something that could run code or load data. It is not added to the page."
            )


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


def _beside(name: str) -> str:
    """Return a file of the templates, as embedded in the page."""
    lines = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.strip())


def _safety(script: str) -> str:
    """Return the policy that browsers enforce: our script by its digest, inline styles, and nothing else."""
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = ("default-src 'none'", f"script-src 'sha256-{seal}'", "style-src 'unsafe-inline'", "base-uri 'none'")
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
