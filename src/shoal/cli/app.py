"""The commands of shoal."""

import json as json_
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from shoal.cli import comparing, exploring, judging, listing, reporting, sets, show
from shoal.cli.options import (
    Accept,
    Constraint,
    File,
    Header,
    Identifier,
    Items,
    Json,
    K,
    Keep,
    L,
    LKind,
    M,
    Names,
    PolicyFile,
    Quasi,
    Seed,
    SeedFrom,
    Sensitive,
    T,
    chosen_seed,
    given_options,
)
from shoal.errors import ShoalError, place_of
from shoal.model.asking import on_command_line

__all__ = ["app", "main"]

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    epilog="Example: `shoal anonymize patients.csv -k 5 --identifier name --sensitive diagnosis -o release`",
)

WHOLE = "A release folder is either complete or not there."


def _version(wanted: bool) -> None:
    """Print the version, if it is asked for, and end."""
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
    """Hide each person of a table in a group of people like them, and prove it before anything is written."""
    context.with_resource(on_command_line())


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to put everything.")] = Path("shoal-demo"),
    rows: Annotated[int, typer.Option(min=20, max=1_000_000, help="Rows of the invented table.")] = 5000,
    json: Json = False,
) -> None:
    """Invent a hospital table, anonymize it, verify it: `shoal demo`."""
    from shoal.cli.propose import check_demo, write_sample
    from shoal.io.sample import sample
    from shoal.pipeline.line import anonymize

    check_demo(output)
    table = sample(rows)
    with show.progress():
        # Nobody of an invented table needs a secret seed; a fixed one gives the figures of the docs.
        release = anonymize(table, k=5, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"], seed=0)
        release.save(output / "release", private=output / "private", format="csv", report=True, original=table)
        hospital = write_sample(table, output)
    show.release(release, output / "release", output / "private", json=json)
    if not json:
        show.say(f"The invented table is {hospital}. Next: shoal profile {hospital}, shoal verify {output / 'release'}")


@app.command()
def init(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", help="The policy file to write.")] = Path("policy.toml"),
    k: K = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a policy that is there.")] = False,
    header: Header = None,
    json: Json = False,
) -> None:
    """Propose a policy for a table, with a reason for each column: `shoal init patients.csv -o policy.toml`."""
    from shoal.cli.propose import propose, write_policy
    from shoal.model.policy import Policy
    from shoal.pipeline.line import profile

    asked = Policy.of(k=k).constraints.k
    with show.progress():
        facts = profile(file, header=header)
    write_policy(propose(facts, asked, header=header), output, force=force)
    show.proposal(facts, output, json=json)


@app.command()
def profile(file: File, policy: PolicyFile = None, header: Header = None, json: Json = False) -> None:
    """Say what each column is and what makes rows unique: `shoal profile patients.csv`."""
    from shoal.pipeline.line import profile as look

    with show.progress():
        facts = look(file, policy=policy, header=header)
    show.profile(facts, json=json)


@app.command()
def anonymize(
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The folder of the release; one that is there is replaced.", show_default=False
        ),
    ],
    policy: PolicyFile = None,
    k: K = None,
    l: L = None,  # noqa: E741
    l_kind: LKind = None,
    t: T = None,
    m: M = None,
    constraint: Constraint = None,
    method: Annotated[str | None, typer.Option(help="A method of `shoal methods`. [default: auto]")] = None,
    parameter: Annotated[
        Names, typer.Option(metavar="NAME=VALUE", help="A parameter of the method: `--parameter effort=quick`.")
    ] = None,
    refine: Annotated[
        str | None, typer.Option(help="Improve the groups after: none, swift, quick, normal, thorough. [default: none]")
    ] = None,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    keep: Keep = None,
    quasi: Quasi = None,
    items: Items = None,
    hierarchy: Annotated[
        Names,
        typer.Option(metavar="COLUMN=TREE", help="A CSV file, or a word that builds a tree: `--hierarchy zip=mask`."),
    ] = None,
    truthful: Annotated[
        bool | None,
        typer.Option(
            "--truthful/--same-schema",
            help="Ranges, sets and tree nodes that are true of each row, or values of the same type. [default: the "
            "former with hierarchies]",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The column that analysts predict, sensitive or kept: for methods named _pp.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="A column of row weights, such as survey weights, kept or an identifier.")
    ] = None,
    missing: Annotated[str | None, typer.Option(help="own-value, suppress-row or refuse. [default: own-value]")] = None,
    protect: Annotated[
        str | None,
        typer.Option(
            help="minimality: groups that tell almost nothing about sensitive values; costs information loss."
        ),
    ] = None,
    seed: Seed = None,
    seed_from: SeedFrom = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many may work at once. [default: all cores]")] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds after which a search ends: `--budget 60`.")] = None,
    private: Annotated[
        Path | None, typer.Option(help="A second folder for what only the holder may see: row map, findings, pictures.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="A file format; `shoal formats` lists them. [default: as the input]")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html into the folders, too.")
    ] = True,
    accept: Accept = None,
    header: Header = None,
    json: Json = False,
) -> None:
    """Make a verified release: `shoal anonymize patients.csv -k 5 --identifier name -o release`."""
    from shoal.cli.words import constraints, hierarchies, parameters
    from shoal.pipeline.line import anonymize as run
    from shoal.pipeline.write import check_places

    options = given_options(
        k=k,
        l=l,
        l_kind=l_kind,
        t=t,
        m=m,
        constraints=constraints(constraint),
        method=method,
        parameters=parameters(parameter),
        refine=refine,
        identifiers=identifier,
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        items=items,
        hierarchies=hierarchies(hierarchy),
        output=None if truthful is None else "truthful" if truthful else "same-schema",
        label=label,
        weight=weight,
        missing=missing,
        protect=protect,
        seed=chosen_seed(seed, seed_from),
        header=header,
        accept=accept,
    )
    check_places(output, private, format)
    with show.progress():
        release = run(file, policy=policy, threads=threads, budget=budget, **options)
        release.save(output, private=private, format=format, report=report, original=file)
    show.release(release, output, private, json=json)


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="A release folder, or any table.", show_default=False)],
    policy: PolicyFile = None,
    k: K = None,
    l: L = None,  # noqa: E741
    l_kind: LKind = None,
    t: T = None,
    m: M = None,
    constraint: Constraint = None,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    keep: Keep = None,
    quasi: Annotated[Names, typer.Option("--quasi", help="A quasi-identifier; then only those named count.")] = None,
    items: Items = None,
    parse: Annotated[
        bool,
        typer.Option(
            "--parse", help="Compare quasi-identifiers of a CSV file as numbers, dates and gaps, not as text."
        ),
    ] = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Draw the report of a folder again, and compare it.")
    ] = True,
    header: Header = None,
    json: Json = False,
) -> None:
    """Check a release folder from its bytes, or count k, l and t in any file: `shoal verify release`."""
    from shoal.cli.words import constraints
    from shoal.pipeline.line import verify as check

    options = given_options(
        policy=policy,
        k=k,
        l=l,
        l_kind=l_kind,
        t=t,
        m=m,
        constraints=constraints(constraint),
        identifiers=identifier,
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        items=items,
        header=header,
    )
    if path.is_dir() and (parse or options):
        raise typer.BadParameter(
            "A release folder carries its own policy: give no options, or the data file inside it."
        )
    with show.progress():
        checked = check(path, parse=parse, report=report, **options)
    show.checked(checked, json=json)
    raise typer.Exit(0 if checked.holds else 1)


@app.command()
def schema(json: Json = True) -> None:  # noqa: ARG001 - it is JSON either way
    """Print the JSON schema of policy files: `shoal schema > policy.schema.json`."""
    from shoal.model.policy import Policy

    show.plain(json_.dumps(Policy.model_json_schema(), indent=2))


listing.add_to(app)
reporting.add_to(app)
exploring.add_to(app)
comparing.add_to(app)
judging.add_to(app)
sets.add_to(app)


def main() -> None:
    """Run a command; an error is one sentence and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    try:
        app()
    except ShoalError as problem:
        _fail(type(problem).__name__, str(problem), problem.exit_code)
    except MemoryError:
        _fail("MemoryError", f"memory is not enough for this table. {WHOLE}", 3)
    except OSError as problem:
        _fail("OSError", f"what was found cannot be printed or read ({problem.strerror}). {WHOLE}", 2)
    except Exception as problem:  # noqa: BLE001 - a library's message might quote a cell, so only its place is shown
        said = f"a fault in shoal itself ({place_of(problem)}). {WHOLE} Please report it."
        _fail(type(problem).__name__, said, 70)


def _fail(kind: str, said: str, code: int) -> NoReturn:
    """Say what went wrong, to people on stderr and to programs that asked for JSON on stdout too, and end."""
    show.error(said)
    if "--json" in sys.argv:
        show.plain(json_.dumps({"error": {"kind": kind, "message": said, "exit": code}}, ensure_ascii=False))
    sys.exit(code)


def _stop(number: int, _: object) -> NoReturn:
    """End in good order: drafts are removed on the way out."""
    show.error(f"stopped. {WHOLE}")
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
