"""What the commands print of a new release: three lines first, then verdicts, findings by group, and notes."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.drawing import as_json, console, figure, mark, printable, prose, row, say, table_of
from shoal.errors import counted

if TYPE_CHECKING:
    from shoal.model.release import Release
    from shoal.model.set_release import SetRelease
    from shoal.reports.answer import Answer

MOST = 10  # findings that are printed by default


def table_release(
    made: "Release", source: Path, folder: Path, private: Path | None, *, json: bool, every: bool = False
) -> None:
    """Show a release of a table; `every` shows all findings."""
    from shoal.pipeline.answering import answer_of

    first = answer_of(made, _next_for_table(made, source, folder, private))
    if json:
        facts = {
            "rows": made.table.num_rows,
            "suppressed": made.suppressed,
            "verdicts": [verdict.as_dict() for verdict in made.verdicts],
            "findings": [finding.as_dict() for finding in made.findings],
            "notes": [note.as_dict() for note in made.notes],
        }
        _as_json(first, folder, private, facts)
        return
    _lines(first)
    verdicts = table_of("guarantee", "column", ">required", ">found", "verdict")
    for v in made.verdicts:
        row(verdicts, v.model, v.column or "", f"{v.asked:g}", f"{v.found:.6g}", mark(holds=v.holds))
    console().print(verdicts)
    if made.suppressed:
        say(f"Suppressed: {counted(made.suppressed, 'row')} with missing values.")
    _findings(made, every=every)
    _ending(made, first, folder, private)


def set_release(
    made: "SetRelease", folder: Path, private: Path | None, report: list[str], *, json: bool, every: bool = False
) -> None:
    """Show a release of sets; `report` is the command that measures it, `every` shows all findings."""
    from shoal.pipeline.answering import answer_of_sets

    first = answer_of_sets(made, f"Measure what is lost and at risk: {_command(*report)}. {_sharing(folder)}")
    if json:
        _as_json(first, folder, private, made.as_dict())
        return
    _lines(first)
    verdicts = table_of("guarantee", ">required", ">found", "verdict")
    for v in made.verdicts:
        row(verdicts, v.model, f"{v.asked:g}", f"{v.found:.6g}", mark(holds=v.holds))
    console().print(verdicts)
    _findings(made, every=every)
    _ending(made, first, folder, private)


def _next_for_table(made: "Release", source: Path, folder: Path, private: Path | None) -> str:
    """Return what to do next with a release of a table, by commands that can be copied."""
    from shoal.certify.certificate import REPORT

    pages = (place / REPORT for place in (private, folder) if place is not None)
    page = next((page for page in pages if page.is_file()), None)
    read = " and ".join((*([f"`{page}`"] if page else []), *(["the notes below"] if made.notes else [])))
    attack = (
        "To measure and attack the release, make it again with `--private FOLDER`."
        if private is None
        else f"Attack the release: {_command('shoal', 'attack', source, folder, '--private', private, '--budget', 60)}."
    )
    return " ".join((*([f"Read {read}."] if read else []), attack, _sharing(folder)))


def _sharing(folder: Path) -> str:
    """Return what to give to others, and how they check it."""
    return f"Share only `{folder}`; recipients can check it with {_command('shoal', 'verify', folder)}."


def _command(*words: Any) -> str:
    """Return a command between backticks, quoted for a shell."""
    return f"`{shlex.join(str(word) for word in words)}`"


def _as_json(first: "Answer", folder: Path, private: Path | None, facts: dict[str, Any]) -> None:
    """Print a release as JSON, with everything that is known of it."""
    answer = {"holds": first.holds, "exposed": first.exposed, "next": first.next}
    as_json({"folder": str(folder), "private": str(private) if private else None, "answer": answer, **facts})


def _lines(first: "Answer") -> None:
    """Show what holds, what is exposed and what to do next."""
    lines = first.lines("short")
    for head, text in lines:
        prose(head, text, wide=max(len(one) for one, _ in lines) + 2)


def _findings(made: "Release | SetRelease", *, every: bool) -> None:
    """Show findings by group, the most telling first, and how many are not shown."""
    from shoal.reports.ranking import grouped

    groups, hidden = grouped(made.findings, None if every else MOST)
    table = table_of("finding", ">value", "how")
    for group, held in groups:
        row(table, group.upper(), "", "")
        for one in held:
            row(table, one.name, figure(one.value), one.how)
    console().print(table)
    if hidden:
        say(f"{counted(hidden, 'more finding')}: --all shows {'it' if hidden == 1 else 'them'}.")


def _ending(made: "Release | SetRelease", first: "Answer", folder: Path, private: Path | None) -> None:
    """Show the notes, without facts that the first lines have stated, and where the release is."""
    for note in made.notes:
        text = note.remedy if note.kind in first.stated else note
        if text:
            prose("Note", text)
    say(printable(f"Release: {folder}" + (f"    Confidential: {private}" if private else "")))
