"""What the commands print: facts as tables or JSON on stdout, progress and errors on stderr."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.drawing import as_json, console, figure, mark, plain, printable, row, say, table_of
from shoal.cli.log import LogFormat, logged
from shoal.model.progress import listening

if TYPE_CHECKING:
    from shoal.catalogue import MeasureCard, MethodCard
    from shoal.certify.check import VerificationReport
    from shoal.model.findings import Attack, Finding
    from shoal.prepare.profile import ColumnFacts, Profile

__all__ = [
    "as_json",
    "attacks",
    "cards",
    "checked",
    "error",
    "findings",
    "measures",
    "method",
    "methods",
    "plain",
    "profile",
    "progress",
    "proposal",
    "say",
]


@contextmanager
def progress(log_format: LogFormat | None = None) -> Iterator[None]:
    """Show the current step and its progress on stderr: as a bar on a terminal, else, or if asked, as lines."""
    if log_format is not None or not sys.stderr.isatty():
        with logged(log_format or LogFormat.PLAIN):
            yield
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    screen = console(stderr=True)
    # Streams are not redirected: an error printed while a bar is shown must not vanish with it.
    with Progress(*columns, console=screen, transient=True, redirect_stdout=False, redirect_stderr=False) as bars:
        bar = bars.add_task("read", total=None)

        def update(step: str, done: int, total: int) -> None:
            bars.update(bar, description=step or "write", completed=done, total=total if done else None)

        def announce(sentence: str) -> None:
            screen.print(printable(sentence), style="dim", highlight=False)

        with listening(update, announce):
            yield


def checked(found: "VerificationReport", *, json: bool) -> None:
    """Show what was claimed, what was found and the verdict for everything checked."""
    if json:
        as_json(found.as_dict())
        return
    lines = table_of("checked", "claimed", "found", "verdict")
    for line in found.lines:
        row(lines, line.what, line.claimed, line.found, mark(holds=line.holds))
    console().print(lines)
    if found.columns:
        roles = table_of("column", "role", "kind", "published")
        for one in found.columns:
            row(roles, one.column, one.role, one.kind or "", one.form)
        console().print(roles)
    for note in found.notes:
        say(note)
    say(found.conclusion)


def profile(facts: "Profile", *, json: bool) -> None:
    """Show the facts of each column, and the k of the file as it stands."""
    if json:
        as_json(facts.as_dict())
        return
    out = console()
    wide = out.width >= 130
    heads = ("column", "kind", ">distinct", ">missing", ">unique alone", ">unique without", "role")
    columns = table_of(*heads, *(("why",) if wide else ()))
    for c in facts.columns:
        counts = (f"{c.distinct:,}", f"{c.missing:,}", f"{c.unique_alone:,}", f"{c.unique_without:,}")
        row(columns, c.name, c.kind, *counts, c.shown_role, *((_why(c),) if wide else ()))
    out.print(columns)
    for c in () if wide else facts.columns:
        say(f"{c.name}: {_why(c)}")
    say(f"{facts.rows:,} rows; {facts.exposure}.")


def _why(column: "ColumnFacts") -> str:
    """Return the reason for a role, and the notes on a column."""
    return "; ".join((column.reason, *column.notes))


def proposal(facts: "Profile", output: Path, *, json: bool) -> None:
    """Show the policy that was proposed."""
    if json:
        as_json({"policy": str(output), **facts.as_dict()})
        return
    roles = table_of("column", "role", "why")
    for c in facts.columns:
        row(roles, c.name, c.role, _why(c))
    console().print(roles)
    say(f"Policy: {output}. Read it, then: shoal anonymize FILE --policy {output} -o release")


def methods(cards: "list[MethodCard]", *, json: bool) -> None:
    """Show one line per method; k, which all of them take, is left out."""
    if json:
        as_json([card.as_dict() for card in cards])
        return
    table = table_of("method", "ensures", "parameters", "what it does")
    for card in cards:
        own = (f"{name}={_value(one.default)}" for name, one in card.params.items() if name != "k")
        row(table, card.name, ", ".join(sorted(card.ensures)), ", ".join(own), card.summary)
    console().print(table)
    say("shoal methods NAME shows one of them in full.")


def method(card: "MethodCard", *, json: bool) -> None:
    """Show one method in full: its parameters, what it ensures and what else it uses."""
    if json:
        as_json(card.as_dict())
        return
    say(f"{card.name}: {card.summary}")
    table = table_of("parameter", "must be", "default", "means")
    for name, one in card.params.items():
        # The complaint about a wrong value says what a valid one must be.
        default = "" if one.default is None else _value(one.default)
        row(table, name, one.wrong(None) or "", default, one.help)
    console().print(table)
    say(f"Ensures by itself: {', '.join(sorted(card.ensures)) or 'nothing'}.")
    if card.uses:
        say(card.inputs())
    others = (
        "; the others with --parameter NAME=VALUE, or under method.parameters in a policy"
        if len(card.params) > 1
        else ""
    )
    say(f"k is set with -k{others}.")


def measures(cards: "list[MeasureCard]", *, json: bool) -> None:
    """Show one line per measure."""
    if json:
        as_json([card.as_dict() for card in cards])
        return
    table = table_of("measure", "formula", "range", "better", "needs")
    for card in cards:
        high = "∞" if card.high == math.inf else f"{card.high:g}"
        row(table, card.name, card.formula, f"{card.low:g} to {high}", card.better, card.need)
    console().print(table)


def cards(heads: Sequence[str], lines: Sequence[tuple[Any, ...]], *, json: bool) -> None:
    """Show one line per card: its name, then the other cells."""
    if json:
        as_json([line[0].as_dict() for line in lines])
        return
    table = table_of(*heads)
    for card, *cells in lines:
        row(table, card.name, *cells)
    console().print(table)


def findings(found: "tuple[Finding, ...]", *, json: bool) -> None:
    """Show the findings, and that most of them are confidential."""
    if json:
        as_json([finding.as_dict() for finding in found])
        return
    table = table_of("measure", ">value", "95% interval", "needs", "how")
    for one in sorted(found, key=lambda one: one.need != "release"):
        between = "" if one.interval is None else f"{one.interval[0]:.4g} to {one.interval[1]:.4g}"
        row(table, one.name, figure(one.value), between, one.need, one.how)
    console().print(table)
    say("Figures that need the pair or the groups are confidential.")


def attacks(found: "tuple[Attack, ...]", *, json: bool) -> None:
    """Show the success rate of each attack, and the conclusion."""
    if json:
        as_json([one.as_dict() for one in found])
        return
    heads = (">rate", "95% interval", ">baseline", ">control", ">bound", ">trials")
    table = table_of("attack", *heads, "outcome", "note")
    for one in found:
        *figures, outcome = one.shown().values()
        row(table, one.name, *figures, f"{one.trials:,}", outcome, one.note)
    console().print(table)
    say("A leak is reported if the whole interval is above the bound: what guessing, control rows or k explain.")
    say("A successful attack proves a leak; a failed one proves nothing. These figures are confidential.")


def _value(default: object) -> str:
    """Write the default of a parameter as it is written in a policy."""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


def error(text: str) -> None:
    """Print one sentence on stderr."""
    sys.stderr.write(f"shoal: {printable(text)}\n")
