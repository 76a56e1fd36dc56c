"""The commands of shoal."""

import json as json_
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn, Unpack

import typer

from shoal.cli import (
    comparing,
    exploring,
    judging,
    listing,
    policies,
    reporting,
    sets,
    show,
    show_plan,
    show_release,
    warming,
)
from shoal.cli.options import (
    All,
    Constraints,
    File,
    Header,
    Json,
    K,
    Log,
    MakingOptions,
    Names,
    PolicyFile,
    Roles,
    given_options,
    with_shared_options,
)
from shoal.cli.program import USAGE_ERROR, Program, reword
from shoal.cli.streams import OutputClosed, discard_output, guard_streams
from shoal.errors import InfeasibleError, LeftOut, ShoalError, Stopped, is_out_of_memory, place_of
from shoal.model.asking import on_command_line

app = Program(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    epilog="Example: `shoal anonymize patients.csv -k 5 --identifier name --sensitive diagnosis -o release`",
)

WHOLE = "A release folder is either complete or absent."
CLICK_ERROR: Any = USAGE_ERROR.__base__
PIPE = 13  # the number of SIGPIPE, which not every system has


def _version(wanted: bool) -> None:
    """Print the version if asked, and exit."""
    if wanted:
        import shoal

        show.plain(shoal.__version__)
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Anonymize personal data by clustering, and verify the result before anything is written."""
    context.with_resource(on_command_line())


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")] = Path("shoal-demo"),
    rows: Annotated[int, typer.Option(min=20, max=1_000_000, help="Number of rows of the synthetic table.")] = 5000,
    every: All = False,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Generate a synthetic hospital table, anonymize it and verify the release: `shoal demo`."""
    from shoal.cli.propose import check_demo, write_sample
    from shoal.io.sample import sample
    from shoal.pipeline.allowance import allowing
    from shoal.pipeline.line import anonymize
    from shoal.pipeline.run_cost import Writing

    check_demo(output)
    table = sample(rows)
    with show.progress(log_format), allowing(None, None, Writing(saved=True, report=True, private=True)):
        # A synthetic table needs no secret seed; a fixed one gives the figures shown in the docs.
        release = anonymize(table, k=5, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"], seed=0)
        release.save(output / "release", private=output / "private", format="csv")
        hospital = write_sample(table, output)
    places = (hospital, output / "release", output / "private")
    show_release.table_release(release, *places, json=json, every=every)
    if not json:
        show.say(f"The synthetic table is {hospital}: shoal profile {hospital} describes it.")


@app.command()
def init(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", help="The policy file to write.")] = Path("policy.toml"),
    k: K = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    header: Header = None,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Propose a policy for a table, with a reason for each column: `shoal init patients.csv -o policy.toml`."""
    from shoal.cli.propose import check_output, propose, write_policy
    from shoal.model.policy import Policy
    from shoal.pipeline.line import profile

    asked = Policy.of(k=k).constraints.k
    check_output(output, force=force)
    with show.progress(log_format):
        facts = profile(file, header=header)
    write_policy(propose(facts, asked, header=header), output, force=force)
    show.proposal(facts, output, json=json)


@app.command()
def profile(
    file: File,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="FILE", help="A policy file: show its roles, and count by them."),
    ] = None,
    header: Header = None,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Describe each column and how unique the rows are: `shoal profile patients.csv`."""
    from shoal.pipeline.line import profile as look

    with show.progress(log_format):
        facts = look(file, policy=policy, header=header)
    show.profile(facts, json=json)


@app.command()
@with_shared_options(after="policy")
def anonymize(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="The release folder; an earlier release is replaced. Required, except with --dry-run.",
            show_default=False,
        ),
    ] = None,
    policy: PolicyFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check policy and table, print method and expected cost, write nothing.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse columns that the policy does not name, or of another kind, and dropped identifiers.",
        ),
    ] = False,
    strict_note: Annotated[
        Names,
        typer.Option(
            "--strict-note", metavar="KIND", help="Refuse a release with a note of this kind. Repeat for more."
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of threads. [default: all cores]")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time that the whole run may take: `--budget 60`.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory that the whole run may take: `--memory 2GB`.")
    ] = None,
    private: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A second folder for what only the data holder may see: row map, findings, report."
        ),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(metavar="NAME", help="A file format; `shoal formats` lists them. [default: that of the input]"),
    ] = None,
    csv_style: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How CSV is written: excel (as the input, marked so that Excel opens it) or standard (commas, decimal "
            "points). [default: as the input]",
        ),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html to both folders.")] = True,
    every: All = False,
    log_format: Log = None,
    json: Json = False,
    **options: Unpack[MakingOptions],
) -> None:
    """Make a verified release: `shoal anonymize patients.csv -k 5 --identifier name -o release`."""
    from shoal.io.files import format_at
    from shoal.pipeline.allowance import allowing
    from shoal.pipeline.line import anonymize as run
    from shoal.pipeline.plan import plan_of
    from shoal.pipeline.run_cost import Writing
    from shoal.pipeline.write import check_places

    if output is None and not dry_run:
        raise USAGE_ERROR("Missing option '-o' / '--output', the release folder. Only --dry-run needs none.")
    given = given_options(**options)
    given |= {"policy": policy, "threads": threads, "strict": strict, "strict_notes": strict_note}
    check_places(output, private, format_at(file) if csv_style is not None and format is None else format, csv_style)
    limits = allowing(budget, memory, Writing(saved=True, report=report, private=private is not None), _end_at_once)
    if dry_run or output is None:
        with show.progress(log_format), limits:
            found = plan_of(file, **given)
        show_plan.plan(found, json=json)
        return
    with show.progress(log_format), limits:
        release = run(file, **given)
        release.save(output, private=private, format=format, csv_style=csv_style, report=report)
    show_release.table_release(release, file, output, private, json=json, every=every)


class CheckOptions(Constraints, Roles, total=False):
    """What is counted in a table."""

    policy: PolicyFile
    header: Header


@app.command()
@with_shared_options(after="path")
def verify(
    path: Annotated[Path, typer.Argument(help="A release folder, or any table.", show_default=False)],
    parse: Annotated[
        bool,
        typer.Option(
            "--parse", help="Compare quasi-identifiers of a CSV file as numbers, dates and missing values, not as text."
        ),
    ] = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Render the report of a folder again, and compare it.")
    ] = True,
    log_format: Log = None,
    json: Json = False,
    **options: Unpack[CheckOptions],
) -> None:
    """Check every claim of a release folder, or compute k, l and t of any file: `shoal verify release`.

    With `--quasi`, only the columns named count as quasi-identifiers.
    """
    from shoal.pipeline.line import verify as check

    given = given_options(**options)
    if path.is_dir() and (parse or given):
        raise typer.BadParameter(
            "A release folder contains its own policy. Give no options, or verify the data file inside it."
        )
    with show.progress(log_format):
        checked = check(path, parse=parse, report=report, **given)
    show.checked(checked, json=json)
    raise typer.Exit(0 if checked.holds else 1)


policies.add_to(app)
listing.add_to(app)
warming.add_to(app)
reporting.add_to(app)
exploring.add_to(app)
comparing.add_to(app)
judging.add_to(app)
sets.add_to(app)


def main() -> None:
    """Run a command; errors end in one sentence and an exit code, never in a traceback."""
    guard_streams()
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    try:
        _run()
    except OutputClosed:
        discard_output()
        sys.exit(128 + PIPE)


def _run() -> None:
    """Run the command, and print its error if there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", LeftOut)
            warnings.showwarning = _warn
            code = app(standalone_mode=False)  # else typer prints usage errors itself, as text
        sys.stdout.flush()
        sys.exit(code)
    except Stopped as end:
        _fail("Stopped", f"stopped. {WHOLE}", int(end.code or 0), said=True)
    except CLICK_ERROR as problem:
        reword(problem)
        if not _wants_json() and problem.format_message():  # empty where help was shown, as no command was given
            problem.show()
        _fail("UsageError", problem.format_message(), problem.exit_code, said=not _wants_json())
    except ShoalError as problem:
        _fail(type(problem).__name__, str(problem), problem.exit_code)
    except OutputClosed:
        raise
    except Exception as problem:  # noqa: BLE001 - a library's message might quote a cell, so only the place is shown
        if is_out_of_memory(problem):
            _fail("MemoryError", f"not enough memory for this table. {WHOLE}", 3)
        if isinstance(problem, OSError):
            reason = problem.strerror or place_of(problem)
            _fail("OSError", f"the output cannot be printed or a file cannot be read ({reason}). {WHOLE}", 2)
        message = f"internal error ({place_of(problem)}). {WHOLE} Please report it."
        _fail(type(problem).__name__, message, 70)


def _fail(kind: str, message: str, code: int, *, said: bool = False) -> NoReturn:
    """Print the error on stderr, unless it was `said`, and, with --json, on stdout as well; then exit."""
    if not said:
        show.error(message)
    try:
        if _wants_json():
            show.plain(json_.dumps({"error": {"kind": kind, "message": message, "exit": code}}, ensure_ascii=False))
        sys.stdout.flush()
    except OSError:  # a full disk, for example
        discard_output()
    sys.exit(code)


def _end_at_once(message: str) -> None:
    """Print the error of a run that takes too much memory, and end the process, from whatever thread."""
    try:
        if sys.stderr.isatty():  # a progress bar has hidden the cursor
            sys.stderr.write("\r\x1b[2K\x1b[?25h")
        _fail("InfeasibleError", message, InfeasibleError.exit_code)
    finally:
        os._exit(InfeasibleError.exit_code)


def _wants_json() -> bool:
    """Return whether JSON was asked for, also by words that are not understood."""
    return any(word == "--json" or word.startswith("--json=") for word in sys.argv)


def _warn(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Print what was left out as a sentence, any other warning as Python prints it."""
    if issubclass(category, LeftOut):
        show.error(str(message))
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _stop(number: int, _: object) -> NoReturn:
    """Exit in an orderly way, so that drafts are removed."""
    show.error(f"stopped. {WHOLE}")
    raise Stopped(128 + number)


if __name__ == "__main__":
    main()
