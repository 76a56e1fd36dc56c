"""Notebook cards: a title, a sentence and a few blocks of a page as an HTML fragment, all of it escaped."""

import html
from collections.abc import Iterable

from shoal.reports.blocks import Block
from shoal.reports.drawing import draw

TABLE = "border-collapse:collapse;margin:.3em 0 .6em"
CELL = "padding:.2em .9em .2em 0;border-bottom:1px solid rgba(128,128,128,.3);text-align:"


def card(title: str, subtitle: str, shown: Iterable[Block | None]) -> str:
    """Return text, table, figure and collapsed blocks as an HTML fragment; blocks that are None are left out."""
    head = f"<p><b>{html.escape(title)}</b><br><small>{html.escape(subtitle)}</small></p>"
    return f'<div style="max-width:60em">{head}{_all(shown)}</div>'


def _all(shown: Iterable[Block | None]) -> str:
    """Return blocks one after another."""
    return "".join(_block(one) for one in shown if one is not None)


def _block(one: Block) -> str:
    """Return a block as HTML."""
    if one["type"] == "figure":
        return draw(one["picture"])
    if one["type"] == "more":
        return f"<details><summary>{html.escape(one['title'])}</summary>{_all(one['blocks'])}</details>"
    if one["type"] == "table":
        return _table(one)
    return f"<p>{html.escape(one['text'])}</p>"


def _table(one: Block) -> str:
    """Return a table; a heading that starts with > marks a column of numbers."""
    sides = ["right" if head.startswith(">") else "left" for head in one["heads"]]

    def line(cells: Iterable[str], tag: str) -> str:
        both = zip(cells, sides, strict=True)
        return "".join(f'<{tag} style="{CELL}{side}">{html.escape(cell)}</{tag}>' for cell, side in both)

    caption = (
        f'<caption style="text-align:left;caption-side:top"><small>{html.escape(one["caption"])}</small></caption>'
    )
    heads = line((head.removeprefix(">") for head in one["heads"]), "th")
    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in one["rows"])
    return f'<table style="{TABLE}">{caption}<tr>{heads}</tr>{body}</table>'
