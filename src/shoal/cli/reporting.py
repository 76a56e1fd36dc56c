"""The command that writes a report."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show
from shoal.cli.options import Json, Log

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="[ORIGINAL] RELEASE",
        help="A release folder, preceded by the original table for the data holder's report.",
        show_default=False,
    ),
]
Private = Annotated[Path | None, typer.Option(help="The private folder of the release; its row map aligns the rows.")]
Attacks = Annotated[bool, typer.Option("--attacks", help="Attack the release as well; this takes a while.")]
Control = Annotated[
    Path | None, typer.Option(help="A table of similar people who are not in the release, for attacks.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="The file to write: .html, .md or .json. [default: report.html, or confidential-report.html]",
    ),
]
Format = Annotated[
    str | None, typer.Option(help="Format of the report: html, md or json. [default: by the file extension]")
]
ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(report)


def ending(output: Path | None) -> str:
    """Return the format that a file extension implies; HTML without an output file."""
    if output is None:
        return "html"
    if output.suffix.lower() not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise typer.BadParameter(f"{str(output)!r} does not have the extension of a report; expected one of {known}.")
    return ENDINGS[output.suffix.lower()]


def report(
    paths: Paths,
    private: Private = None,
    attacks: Attacks = False,
    control: Control = None,
    output: Output = None,
    format: Format = None,  # noqa: A002
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Write the report of a release: `shoal report release`, `shoal report patients.csv release --private private`."""
    from shoal.certify.check import holds_sets
    from shoal.pipeline.reporting import check_format, facts_of, write_report
    from shoal.pipeline.set_report import set_page

    if len(paths) > 2:
        raise typer.BadParameter(
            f"report takes a release folder, optionally preceded by the original table; got {len(paths)} paths."
        )
    original, folder = paths if len(paths) == 2 else (None, paths[0])
    format = format or ending(output)  # noqa: A001
    check_format(format)
    if original is None and (private is not None or attacks):
        raise typer.BadParameter(
            "--private and --attacks are for the data holder's report. Give the original table as well."
        )
    if control is not None and not attacks:
        raise typer.BadParameter("--control is for attacks. Give --attacks and the original table as well.")
    place = output or Path(f"{'report' if original is None else 'confidential-report'}.{format}")
    with show.progress(log_format):
        if holds_sets(folder):
            if original is not None:
                raise typer.BadParameter("This is a release of sets: use `shoal sets report ORIGINAL RELEASE -o FILE`.")
            facts = set_page(folder)
        else:
            facts = facts_of(original, folder, private=private, attacks=attacks, control=control)
        write_report(facts, place, format)
    if json:
        show.as_json({"report": str(place), **{name: facts[name] for name in ("kind", "holds", "verdicts")}})
        return
    for one in facts["verdicts"]:
        show.say(f"{one['constraint']}: {'holds' if one['holds'] else 'FAILS'}")
    show.say(f"Report: {place}" + ("    Confidential." if facts["kind"] == "holder" else ""))
