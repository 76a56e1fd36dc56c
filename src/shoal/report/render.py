"""Render: facts into one HTML file that needs nothing else, into Markdown, or into JSON.

`templates/base.html.j2` has the frame of every page: blocks `title`, `kicker`, `verdict`, `contents`, `main`, `footer`.
`templates/macros.html.j2` has its parts: `figure` (title, picture, caption), `table` (caption, heads, rows; a head that
starts with > is of numbers), `verdict` (asked, holds, more). Text is escaped wherever it stands; a picture is SVG made
by `charts.svg`, and refused if it could run or fetch anything.
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

__all__ = ["as_html", "as_json", "as_markdown", "page"]

TEMPLATES = Path(__file__).parent / "templates"
HOLDS, FAILS = "holds", "does not hold"
SVG = "{http://www.w3.org/2000/svg}"
TAGS = {
    "svg",
    "g",
    "path",
    "text",
    "tspan",
    "rect",
    "line",
    "circle",
    "defs",
    "clipPath",
    "linearGradient",
    "stop",
    "title",
}
SHORT = ("d", "transform", "x", "y", "x2", "y2")


def as_html(facts: dict[str, Any]) -> str:
    """Return a report as the text of one HTML file.

    Parameters
    ----------
    facts : dict
        As `facts.public_facts` or `holder.holder_facts` return them.
    """
    return page("report.html.j2", **facts)


def as_json(facts: dict[str, Any]) -> str:
    """Return a report as JSON: the facts themselves."""
    return json.dumps({"shoal": version("shoal"), **facts}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_markdown(facts: dict[str, Any]) -> str:
    """Return a report as Markdown; a picture becomes a table of its figures."""
    lines = [f"# {_flat(facts['title'])}", f"*{_flat(facts['kicker'])}*"]
    verdicts = [f"- **{_flat(one['wish'])}: {HOLDS if one['holds'] else FAILS}**" for one in facts.get("verdicts", ())]
    lines += ["\n".join(verdicts)] if verdicts else []
    lines += [_flat(facts["lead"]), *_marked_down(facts.get("head", ()))]
    for part in facts["sections"]:
        lines += [f"## {_flat(part['title'])}", *_marked_down(part["blocks"])]
    return "\n\n".join([*lines, f"Made by shoal {version('shoal')}."]) + "\n"


def page(template: str, **facts: Any) -> str:
    """Return a page as the text of one HTML file.

    Parameters
    ----------
    template : str
        The name of a template in `report/templates` that extends `base.html.j2`.
    **facts
        What it shows. `title`, `kicker` and `sections` (for the contents: each with id and title) may be left out.

    Guarantee
    ---------
    Every fact is escaped. Nothing but the small script of `templates/tooltip.js` may run, and nothing is fetched: a
    Content-Security-Policy in the page says so.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from shoal.report.drawing import draw

    script, style = (_beside(name) for name in ("tooltip.js", "style.css"))
    room = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters.update(inline=_Inline(), marked=_in_colour, coded=_coded, drawn=draw)
    given = {"title": "", "kicker": "", "sections": (), **facts, "safety": _safety(script), "version": version("shoal")}
    # The two files beside this one are ours, and not escaped.
    own = {"script": Markup(script), "style": Markup(style)}  # noqa: S704
    return re.sub(r"\n{2,}", "\n", room.get_template(template).render(**given, **own))


class _Inline:
    """Put pictures into a page: without what could run, and with names of parts that no two pictures share."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, picture: str) -> Any:
        """Return a picture as markup, or refuse it."""
        from markupsafe import Markup

        self.count += 1
        ElementTree.register_namespace("", SVG[1:-1])
        root = ElementTree.fromstring(picture)  # noqa: S314 - it comes from our own drawing, not from a stranger
        for part in root.iter():
            self._check(part)
        for parent in list(root.iter()):
            for hidden in [one for one in parent if one.get("display") == "none"]:
                parent.remove(hidden)
        return Markup(ElementTree.tostring(root, "unicode"))  # noqa: S704 - every tag and attribute was looked at

    def _check(self, part: ElementTree.Element) -> None:
        """Refuse what could run or fetch, give names of their own, and cut needless digits."""
        strange = part.tag.removeprefix(SVG) not in TAGS
        for name, value in list(part.items()):
            strange |= name.lower().startswith("on") or "href" in name.lower() or name == "style"
            strange |= (
                "url(" in value.lower()
                and not re.fullmatch(r"url\(['\"]?#[\w-]+['\"]?\)", value)
                and name != "aria-label"
            )
            if name == "id":
                part.set(name, f"p{self.count}-{value}")
            elif name in SHORT:
                part.set(name, re.sub(r"(\.\d\d)\d+", r"\1", value))
            elif value.startswith("url("):
                part.set(name, value.replace("#", f"#p{self.count}-"))
        if strange:
            raise WriteError("report: a picture holds what could run or fetch something. It is not put into a page.")


def _in_colour(cell: object) -> Any:
    """Return a cell; a verdict in its colour."""
    from markupsafe import Markup, escape

    kind = {HOLDS: "yes", FAILS: "no"}.get(cell) if isinstance(cell, str) else None
    return escape(cell) if kind is None else Markup('<span class="{}">{}</span>').format(kind, cell)


def _coded(text: str) -> Any:
    """Return escaped text in which what stands between backticks is code."""
    from markupsafe import Markup, escape

    plain = str(escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", plain))  # noqa: S704 - it is escaped


def _beside(name: str) -> str:
    """Return a file of the templates as it goes into the page."""
    lines = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.strip())


def _safety(script: str) -> str:
    """Return the policy that browsers enforce: our own script by its digest, inline styles, and nothing else."""
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = ("default-src 'none'", f"script-src 'sha256-{seal}'", "style-src 'unsafe-inline'", "base-uri 'none'")
    return "; ".join((*parts, "form-action 'none'"))


def _marked_down(blocks: Iterable[dict[str, Any]]) -> list[str]:
    """Return blocks as paragraphs of Markdown."""
    lines: list[str] = []
    for block in blocks:
        kind = block["type"]
        if kind in ("text", "note"):
            lines.append(("> " if kind == "note" else "") + _flat(block["text"]))
        elif kind == "code":
            lines.append(f"```\n{block['text']}\n```")
        elif kind == "list":
            lines.append("\n".join(f"- {_flat(one)}" for one in block["items"]))
        elif kind in ("terms", "tiles"):
            lines.append("\n".join(f"- **{_flat(one)}**: {_flat(words)}" for one, words in block["items"]))
        elif kind == "table":
            lines += ([f"*{_flat(block['caption'])}*"] if block["caption"] else []) + [
                _rows(block["heads"], block["rows"])
            ]
        elif kind == "figure":
            lines += [f"### {_flat(block['title'])}", *_figures(block["picture"]), f"*{_flat(block['caption'])}*"]
        else:
            inner = block["items"] if kind == "figures" else block["blocks"]
            lines += ([f"### {_flat(block['title'])}"] if kind == "more" else []) + _marked_down(inner)
            lines += [_flat(block["caption"])] if block.get("caption") else []
    return lines


def _figures(picture: dict[str, Any]) -> list[str]:
    """Return the figures of a picture as a table, where they have names."""
    from shoal.report.drawing import parts_of

    heads, rows = parts_of(picture)
    return [_rows(heads, rows)] if rows else ["(A picture, which the report has as HTML.)"]


def _rows(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown."""
    names = list(heads)
    lines = ["| " + " | ".join(_flat(name.removeprefix(">")) for name in names) + " |"]
    lines += ["| " + " | ".join("---:" if name.startswith(">") else "---" for name in names) + " |"]
    lines += ["| " + " | ".join(_flat(str(cell)) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _flat(text: str) -> str:
    """Return text on one line, in which nothing is Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
