"""Parts of the display of a release in a notebook: HTML without scripts, every text escaped."""

import html
import re
from collections.abc import Iterable, Sequence

# White on these is legible on light and on dark pages; the word says it without the colour.
COLOURS = {"holds": "#1a6b4f", "fails": "#a63a10"}
TABLE = "border-collapse:collapse;margin:.3em 0 .6em"
CELL = "padding:.2em .9em .2em 0;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top;text-align:"


def answer(lines: Iterable[tuple[str, str]]) -> str:
    """Return the lines that come first, each with its heading; backticks mark code."""
    coded = [(html.escape(head), re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))) for head, text in lines]
    shown = (
        f'<tr><th style="{CELL}left;white-space:nowrap">{head}</th><td style="{CELL}left">{text}</td></tr>'
        for head, text in coded
    )
    return f'<table style="{TABLE}"><tbody>{"".join(shown)}</tbody></table>'


def rows(head: tuple[str, ...], body: Sequence[tuple[str, ...]]) -> str:
    """Return an HTML table, fully escaped; a heading that starts with > is of numbers."""
    sides = ["right" if one.startswith(">") else "left" for one in head]
    heads = "".join(
        f'<th style="{CELL}{side}">{html.escape(one.removeprefix(">"))}</th>'
        for one, side in zip(head, sides, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td style="{CELL}{side}">{_marked(cell, verdict=one == "verdict")}</td>'
            for cell, one, side in zip(row, head, sides, strict=True)
        )
        + "</tr>"
        for row in body
    )
    return f'<table style="{TABLE}"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'


def fold(title: str, inside: str, *, unfolded: bool = False) -> str:
    """Return a collapsible part."""
    return f"<details{' open' if unfolded else ''}><summary>{html.escape(title)}</summary>{inside}</details>"


def listed_notes(notes: Sequence[str]) -> str:
    """Return notes as a list that is not collapsed; nothing without any."""
    lines = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return fold(f"Notes ({len(notes)})", f"<ul>{lines}</ul>", unfolded=True) if notes else ""


def _marked(cell: str, *, verdict: bool) -> str:
    """Return a cell escaped; a verdict in its colour."""
    if not verdict:
        return html.escape(cell)
    look = f"background:{COLOURS[cell]};color:#fff;border-radius:1em;padding:.05em .7em"
    return f'<span style="{look}">{html.escape(cell)}</span>'
