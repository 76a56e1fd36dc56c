"""What the commands print: facts as tables or JSON on stdout, progress and errors on stderr."""

import json as json_
import math
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.model.progress import listening

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from shoal.certify.check import Checked
    from shoal.measuring import Measure
    from shoal.model.findings import Attack, Finding
    from shoal.model.release import Release
    from shoal.prepare.profile import ColumnFacts, Profile
    from shoal.registry import Card

__all__ = [
    "checked",
    "error",
    "method",
    "methods",
    "place_of",
    "plain",
    "profile",
    "progress",
    "proposal",
    "release",
    "say",
]


HANDED = {
    "label": "the label",
    "limits": "l and t with the sensitive values",
    "seed": "the seed",
    "threads": "several threads",
    "view_of": "the views that the policy names",
    "weights": "the row weights",
}


@contextmanager
def progress() -> Iterator[None]:
    """Show on stderr which step of the line runs and how far it is, if someone is looking."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    if not sys.stderr.isatty():
        yield
        return
    columns = (TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = _console(stderr=True)
    # Streams stay as they are: an error that is printed while a bar is shown must not vanish with it.
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bars:
        bar = bars.add_task("read", total=None)

        def hear(step: str, done: int, total: int) -> None:
            bars.update(bar, description=step or "write", completed=done, total=total if done else None)

        def told(sentence: str) -> None:
            console.print(_printable(sentence), style="dim", highlight=False)

        with listening(hear, told):
            yield


def release(made: "Release", folder: Path, private: Path | None, *, json: bool) -> None:
    """Show what was released: verdicts, findings, notes."""
    if json:
        plain(
            json_.dumps(
                {
                    "folder": str(folder),
                    "private": str(private) if private else None,
                    "rows": made.partition.n,
                    "suppressed": made.suppressed,
                    "verdicts": [verdict.as_dict() for verdict in made.verdicts],
                    "findings": [finding.as_dict() for finding in made.findings],
                    "notes": list(made.notes),
                },
                indent=2,
                ensure_ascii=False,
            )
        )
        return
    out = _console()
    verdicts = _table("guarantee", "column", ">asked", ">found", "verdict")
    for v in made.verdicts:
        _row(verdicts, v.model, v.column or "", f"{v.asked:g}", f"{v.found:.6g}", _mark(holds=v.holds))
    out.print(verdicts)
    findings = _table("finding", ">value", "how")
    for f in made.findings:
        _row(findings, f.name, _figure(f.value), f.how)
    out.print(findings)
    if made.suppressed:
        say(f"{made.suppressed} rows with missing values were left out.")
    for note in made.notes:
        say(f"Note: {note}")
    say(f"Release: {folder}" + (f"    For your eyes only: {private}" if private else ""))


def checked(found: "Checked", *, json: bool) -> None:
    """Show claimed, found and verdict of everything that was checked."""
    if json:
        plain(json_.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    lines = _table("checked", "claimed", "found", "verdict")
    for line in found.lines:
        _row(lines, line.what, line.claimed, line.found, _mark(holds=line.holds))
    _console().print(lines)
    for note in found.notes:
        say(note)
    failed = sum(not line.holds for line in found.lines)
    say("Everything holds." if found.holds else f"{failed} of {len(found.lines)} lines do not hold.")


def profile(facts: "Profile", *, json: bool) -> None:
    """Show what each column is, and the k of the file as it stands."""
    if json:
        plain(json_.dumps(facts.as_dict(), indent=2, ensure_ascii=False))
        return
    out = _console()
    wide = out.width >= 130
    heads = ("column", "kind", ">distinct", ">missing", ">unique alone", ">unique without", "role")
    columns = _table(*heads, *(("why",) if wide else ()))
    for c in facts.columns:
        counts = (f"{c.distinct:,}", f"{c.missing:,}", f"{c.alone:,}", f"{c.without:,}")
        _row(columns, c.name, c.kind, *counts, c.role, *((_why(c),) if wide else ()))
    out.print(columns)
    for c in () if wide else facts.columns:
        say(f"{c.name}: {_why(c)}")
    say(
        f"{facts.rows:,} rows; as the file stands, k = {facts.k} and {facts.unique_rows:,} rows are unique "
        f"in the {len(facts.quasi)} columns that are no identifiers."
    )


def _why(column: "ColumnFacts") -> str:
    """Return the reason for a proposed role, and what else is to be known of a column."""
    return "; ".join((column.reason, *column.notes))


def proposal(facts: "Profile", output: Path, *, json: bool) -> None:
    """Show the policy that was proposed."""
    if json:
        plain(json_.dumps({"policy": str(output), **facts.as_dict()}, indent=2, ensure_ascii=False))
        return
    roles = _table("column", "role", "why")
    for c in facts.columns:
        _row(roles, c.name, c.role, _why(c))
    _console().print(roles)
    say(f"Policy: {output}. Read it, then: shoal anonymize FILE --policy {output} -o release")


def methods(cards: "list[Card]", *, json: bool) -> None:
    """Show the card of every method in a line each; k, which all of them take, is left out."""
    if json:
        plain(json_.dumps([card.as_dict() for card in cards], indent=2))
        return
    table = _table("method", "ensures", "parameters", "what it does")
    for card in cards:
        own = (f"{name}={_value(one.default)}" for name, one in card.params.items() if name != "k")
        _row(table, card.name, ", ".join(sorted(card.ensures)), ", ".join(own), card.summary)
    _console().print(table)
    say("shoal methods NAME shows one of them in full.")


def method(card: "Card", *, json: bool) -> None:
    """Show one card in full: every parameter, what it ensures, and what it is handed by the run."""
    if json:
        plain(json_.dumps(card.as_dict(), indent=2))
        return
    say(f"{card.name}: {card.summary}")
    table = _table("parameter", "must be", "default", "means")
    for name, one in card.params.items():
        # What a card would say of a wrong value is what a right one must be.
        default = "" if one.default is None else _value(one.default)
        _row(table, name, one.wrong(None) or "", default, one.help)
    _console().print(table)
    say(f"Ensures by itself: {', '.join(sorted(card.ensures)) or 'nothing'}.")
    say(f"Uses: {', '.join(HANDED[name] for name in sorted(card.uses)) or 'the table and its parameters alone'}.")
    others = "; the others with --set NAME=VALUE, or in method.parameters of a policy" if len(card.params) > 1 else ""
    say(f"k is set with -k{others}.")


def measures(cards: "list[Measure]", *, json: bool) -> None:
    """Show the card of every measure in a line each."""
    if json:
        plain(json_.dumps([card.as_dict() for card in cards], indent=2, ensure_ascii=False))
        return
    table = _table("measure", "formula", "range", "better", "needs")
    for card in cards:
        high = "∞" if card.high == math.inf else f"{card.high:g}"
        _row(table, card.name, card.formula, f"{card.low:g} to {high}", card.better, card.need)
    _console().print(table)


def findings(found: "tuple[Finding, ...]", *, json: bool) -> None:
    """Show what was measured, and that most of it is for the holder alone."""
    if json:
        plain(json_.dumps([finding.as_dict() for finding in found], indent=2, ensure_ascii=False))
        return
    table = _table("measure", ">value", "95 % interval", "needs", "how")
    for one in sorted(found, key=lambda one: one.need != "release"):
        between = "" if one.interval is None else f"{one.interval[0]:.4g} to {one.interval[1]:.4g}"
        _row(table, one.name, _figure(one.value), between, one.need, one.how)
    _console().print(table)
    say("Figures that need the pair or the groups are for your eyes only.")


def attacks(found: "tuple[Attack, ...]", *, json: bool) -> None:
    """Show how far each attack got, and what is concluded."""
    if json:
        plain(json_.dumps([one.as_dict() for one in found], indent=2, ensure_ascii=False))
        return
    table = _table("attack", ">rate", "95 % interval", ">baseline", ">control", ">trials", "outcome", "note")
    for one in found:
        low, high = one.interval
        control = "" if one.control is None else f"{one.control:.3f}"
        figures = (f"{one.rate:.3f}", f"{low:.3f} to {high:.3f}", f"{one.baseline:.3f}", control, f"{one.trials:,}")
        _row(table, one.name, *figures, one.outcome, one.note)
    _console().print(table)
    say("An attack that fails proves nothing; one that succeeds does. These figures are for your eyes only.")


def _value(default: object) -> str:
    """Write the default of a parameter as it is written in a policy."""
    return (
        str(default).lower()
        if isinstance(default, bool)
        else f"{default:g}"
        if isinstance(default, float)
        else str(default)
    )


def say(text: str) -> None:
    """Print a line of words."""
    _console().print(_printable(text), highlight=False, soft_wrap=True)


def plain(text: str) -> None:
    """Print text as it is, for programs."""
    sys.stdout.write(text + "\n")


def error(text: str) -> None:
    """Print one sentence on stderr."""
    sys.stderr.write(f"shoal: {_printable(text)}\n")


def place_of(problem: BaseException) -> str:
    """Name the kind and the place of a fault, and nothing of its message."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f", {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{place}"


def _console(*, stderr: bool = False) -> "Console":
    """Return a console that wraps at the width of the terminal, or not at all in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, markup=False, width=None if stream.isatty() else 160)


def _table(*heads: str) -> "Table":
    """Return an empty table; a head that starts with > is aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head.lstrip(">"), justify="right" if head.startswith(">") else "left", overflow="fold")
    return table


def _figure(value: float) -> str:
    """Write a count without decimals, a large figure with two, a small one with six digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if value < 1000 else f"{value:,.2f}"


def _printable(text: str) -> str:
    """Return text in which no sign can move the cursor or change a colour."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _row(table: "Table", *cells: "str | Text") -> None:
    """Add a row whose cells are shown as they are."""
    table.add_row(*(_printable(cell) if isinstance(cell, str) else cell for cell in cells))


def _mark(*, holds: bool) -> "Text":
    """Say a verdict in a word, with a colour."""
    from rich.text import Text

    return Text("holds", style="green") if holds else Text("FAILS", style="bold red")
