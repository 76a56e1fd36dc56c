"""The building blocks of a report section: plain dictionaries that are rendered as HTML, Markdown or JSON.

A section has an id, a title and blocks. To add one to a report, append the dictionary that `section` returns.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.reports.svg import Picture

Block = dict[str, Any]


def section(id: str, title: str, blocks: Iterable[Block | None]) -> Block:  # noqa: A002
    """Return a section; blocks that are None are left out."""
    return {"id": id, "title": title, "blocks": [block for block in blocks if block is not None]}


def text(words: str, legend: str = "") -> Block:
    """Return a paragraph; the legend explains the pictures below it, and precedes it where they are drawn."""
    return {"type": "text", **_legend(legend), "text": words}


def note(words: str) -> Block:
    """Return a highlighted paragraph."""
    return {"type": "note", "text": words}


def code(words: str) -> Block:
    """Return a command to type."""
    return {"type": "code", "text": words}


def items(lines: Sequence[str]) -> Block:
    """Return a bulleted list."""
    return {"type": "list", "items": list(lines)}


def terms(pairs: Iterable[tuple[str, str]]) -> Block:
    """Return a list of terms with their definitions."""
    return {"type": "terms", "items": [list(pair) for pair in pairs]}


def tiles(pairs: Iterable[tuple[str, str]]) -> Block:
    """Return a few large figures, each with a label."""
    return {"type": "tiles", "items": [list(pair) for pair in pairs]}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Block:
    """Return a table; a heading that starts with > marks a column of numbers."""
    return {"type": "table", "caption": caption, "heads": list(heads), "rows": [list(row) for row in rows]}


def alike(rows: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return one row for all columns of a table that differ in nothing but their name, which is the first cell.

    Examples
    --------
    >>> alike([("age", "quasi"), ("job", "quasi"), ("ill", "sensitive")])
    [('2 columns: age, job', 'quasi'), ('ill', 'sensitive')]
    """
    names: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in rows:
        names.setdefault(tuple(cells), []).append(name)
    return [
        (held[0] if len(held) == 1 else f"{len(held)} columns: {', '.join(held)}", *cells)
        for cells, held in names.items()
    ]


def chart(title: str, drawing: Picture, caption: str, legend: str = "") -> Block:
    """Return a finished picture as a figure; see `one_figure`."""
    return one_figure(title, {"kind": "svg", "svg": drawing.svg()}, caption, legend)


def one_figure(title: str, picture: dict[str, Any], caption: str, legend: str = "") -> Block:
    """Return a figure; the caption explains its figures, the legend how to read them where they are drawn.

    Markdown has tables instead of pictures, and no legends.
    """
    return {"type": "figure", "title": title, "picture": picture, **_legend(legend), "caption": caption}


def figures(several: Iterable[Block], caption: str = "", *, wide: bool = False) -> Block | None:
    """Return figures side by side under one caption; None if there are none."""
    held = list(several)
    return {"type": "figures", "items": held, "caption": caption, "wide": wide} if held else None


def _legend(words: str) -> Block:
    """Return the entry of a legend, if there is one."""
    return {"legend": words} if words else {}


def more(title: str, blocks: Iterable[Block | None]) -> Block:
    """Return blocks that stay collapsed until the reader opens them."""
    return {"type": "more", "title": title, "blocks": [block for block in blocks if block is not None]}
