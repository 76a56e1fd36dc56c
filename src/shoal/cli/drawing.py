"""How output is printed: console, tables, rows, figures and verdicts."""

import json
import math
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from shoal.model.sentences import plain_figure

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


MOST_WIDE = 100  # characters of a line of words


def say(text: str) -> None:
    """Print a line of words."""
    console().print(printable(text), highlight=False, soft_wrap=True)


def prose(head: str, text: str, wide: int = 0) -> None:
    """Print a heading, padded to `wide` characters, and a text with hanging lines.

    A command between backticks stays on one line, so that it can be copied.
    """
    from rich.text import Text

    screen, start = console(), f"{head}: ".ljust(wide)
    whole = re.sub(r"`[^`]+`", lambda command: command.group().replace(" ", "\0"), printable(text))
    width = max(MOST_WIDE // 3, min(screen.width, MOST_WIDE) - len(start))
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    shown = f"\n{' ' * len(start)}".join(lines).replace("\0", " ")
    screen.print(Text.assemble((start, "bold"), shown), soft_wrap=True)


def plain(text: str) -> None:
    """Print text as it is, for programs."""
    sys.stdout.write(text + "\n")


def as_json(facts: Any) -> None:
    """Print facts as JSON, for programs; infinite figures become null."""
    plain(json.dumps(_finite(facts), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(facts: Any) -> Any:
    """Replace figures that are not finite by None."""
    if isinstance(facts, dict):
        return {name: _finite(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def console(*, stderr: bool = False) -> "Console":
    """Return a console as wide as the terminal, or 160 characters in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, markup=False, width=None if stream.isatty() else 160)


def table_of(*heads: str) -> "Table":
    """Return an empty table; a heading that starts with > is aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for head in heads:
        made.add_column(head.removeprefix(">"), justify="right" if head.startswith(">") else "left", overflow="fold")
    return made


def figure(value: float) -> str:
    """Write a figure as reports do; an infinite one is said to be so."""
    if not math.isfinite(value):
        return "infinite" if value > 0 else str(value)
    return plain_figure(value)


def printable(text: str) -> str:
    """Replace characters that could move the cursor or change a colour."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def row(table: "Table", *cells: "str | Text") -> None:
    """Add a row whose cells are shown verbatim."""
    table.add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells))


def mark(*, holds: bool) -> "Text":
    """Return a verdict as one coloured word."""
    from rich.text import Text

    return Text("holds", style="green") if holds else Text("FAILS", style="bold red")
