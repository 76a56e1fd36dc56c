"""The command that explores: many releases of one table, and the Pareto front of risk and utility."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from shoal.cli import show
from shoal.cli.drawing import console, row, table_of
from shoal.cli.options import (
    Accept,
    File,
    Header,
    Json,
    Label,
    Log,
    Names,
    PolicyFile,
    Roles,
    Seed,
    SeedFrom,
    given_options,
    with_shared_options,
)
from shoal.cli.program import USAGE_ERROR
from shoal.cli.words import parameters
from shoal.errors import counted

if TYPE_CHECKING:
    from shoal.exploration.aims import Figure
    from shoal.exploration.exploration import Exploration


class TableOptions(Roles, total=False):
    """The roles of the columns, and how the table is read and released."""

    label: Label
    seed: Seed
    seed_from: SeedFrom
    accept: Accept
    header: Header


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(explore)


@with_shared_options(after="dry_run")
def explore(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A private folder for the results; an interrupted run in it is resumed."),
    ] = None,
    policy: PolicyFile = None,
    methods: Annotated[
        str, typer.Option(help="Methods separated by commas; suitable: those that suit the table; or all.")
    ] = "suitable",
    k: Annotated[str | None, typer.Option("-k", help="Values of k. [default: 3,5,10,20]")] = None,
    l: Annotated[str | None, typer.Option("-l", help="Values of l: `-l 2,3`. [default: that of the policy]")] = None,  # noqa: E741
    t: Annotated[
        str | None, typer.Option("-t", help="Values of t: `-t 0.1,0.2`. [default: that of the policy]")
    ] = None,
    parameter: Annotated[
        Names,
        typer.Option(
            metavar="NAME=VALUES",
            help="Values of a parameter: `--parameter effort=quick,normal`, or of one method: "
            "`--parameter anneal.effort=normal`.",
        ),
    ] = None,
    utility: Annotated[
        str | None,
        typer.Option(
            help="A measure, or `honest`: accuracy on original rows that are not in the release. [default: honest "
            "separability % with a label, else cell loss %]"
        ),
    ] = None,
    risk: Annotated[str | None, typer.Option(help="A measure or an attack. [default: marketer risk]")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds for jackknife intervals and `honest`.")] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds per randomized method.")] = 1,
    attacks: Annotated[bool, typer.Option("--attacks", help="Attack every release as well.")] = False,
    budget: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Total time; what does not fit is left out and named. 0: no limit."),
    ] = 300.0,
    longest: Annotated[float, typer.Option(help="Maximum estimated seconds of a single run.")] = 60.0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Maximum number of processes. [default: all cores]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the estimated cost and stop.")] = False,
    log_format: Log = None,
    json: Json = False,
    **options: Unpack[TableOptions],
) -> None:
    """Plot risk against utility for many releases: `shoal explore patients.csv --policy policy.toml -o explored`."""
    from shoal.exploration.run import explore as run

    if output is None and not dry_run:
        raise USAGE_ERROR("Missing option '-o' / '--output', the folder for the results. Only --dry-run needs none.")
    with _kept(output), show.progress(log_format):
        found = run(
            file,
            policy=policy,
            methods=methods if methods in ("all", "suitable") else _words(methods),
            k=_numbers(k, "-k"),
            l=_numbers(l, "-l"),
            t=_numbers(t, "-t"),
            parameters=_parameters(parameter or []),
            utility=utility,
            risk=risk,
            folds=folds,
            seeds=seeds,
            attacks=attacks,
            budget=budget or None,
            longest=longest,
            jobs=jobs,
            output=output,
            dry_run=dry_run,
            **given_options(**options),
        )
    if json:
        show.as_json({"folder": None if dry_run else str(output), **found.as_dict()})
    elif dry_run:
        _expected(found)
    else:
        _found(found, file)
    if not found.front and not dry_run:
        show.error("explore: no release could be measured, so there is nothing to choose from.")
        raise typer.Exit(3)


@contextmanager
def _kept(output: Path | None) -> Iterator[None]:
    """If the run is interrupted, say what is kept."""
    try:
        yield
    except SystemExit:
        if output is not None and (output / "points").is_dir():
            done = sum(path.suffix == ".json" for path in (output / "points").iterdir())
            show.error(f"{counted(done, 'release')} kept in {output}; the same command resumes from there.")
        raise


def _expected(found: "Exploration") -> None:
    """Show what an exploration would cost."""
    from shoal.exploration.run import within

    _left_out(found)
    before = f" Already done: {counted(len(found.outcomes), 'point')}." if found.outcomes else ""
    show.say(f"Expected: {found.estimate}; {within(found.budget)}.{before}")


def _found(found: "Exploration", file: Path) -> None:
    """Show the Pareto front, what was skipped, and the next command."""
    from shoal.exploration.points import RISKS

    utility, risk = found.aims.utility, found.aims.risk
    heads = [f">{aim.name} ({'higher' if aim.higher else 'lower'} is better)" for aim in (utility, risk)]
    shown = [name for name in RISKS if name not in (utility.name, risk.name)]
    table = table_of("point", *heads, *(f">{name}" for name in shown))
    table.columns[0].no_wrap = True
    for one in found.front:
        others = (_figure(one.figures.get(name)) for name in shown)
        row(table, one.name, _figure(one.utility), _figure(one.risk), *others)
    if found.front:
        console().print(table)
    _left_out(found)
    for one in found.outcomes:
        if one.reason:
            show.say(f"{one.name}: {one.status}: {one.reason}")
    if found.references and found.front:
        given = ", ".join(f"{name} {value:.4g}" for name, value in found.references.items())
        show.say(f"For comparison, {utility.name}: {given}.")
    _in_time(found)
    if not found.front:
        return
    for name, other in found.same_as.items():
        if other in {one.name for one in found.front}:
            show.say(f"{name}: the same release as {other}, byte for byte.")
    many = "1 release was" if len(found.compared) == 1 else f"{len(found.compared)} releases were"
    show.say(f"{many} verified and measured; Pareto-optimal: {len(found.front)}.")
    show.say("A choice based on the data can itself leak information: see the page.")
    show.say(f"Confidential: {found.folder}. Open {found.folder}/explore.html, choose a point, then:")
    place = f"{shlex.quote(str(found.folder))}/front/NAME.toml"
    show.say(f"shoal anonymize {shlex.quote(str(file))} --policy {place} -o release --private mine")


def _left_out(found: "Exploration") -> None:
    """Show what was skipped, and why."""
    for one in found.skipped:
        if not one.late:
            show.say(f"Left out: {one.reason}")


def _in_time(found: "Exploration") -> None:
    """Show how many points were computed in the budget, which were not, and how to go on."""
    done, late = len(found.outcomes), found.late
    limit = "no budget" if found.budget is None else f"a budget of {found.budget:g} s"
    show.say(f"Computed: {done} of {counted(done + len(late), 'point')}, with {limit}.")
    if late:
        show.say(f"Left out for lack of time: {', '.join(late)}.")
        show.say("The same command continues with them. --budget SECONDS gives it more time, --budget 0 any time.")


def _figure(figure: "Figure | None") -> str:
    """Write a figure with its interval."""
    if figure is None:
        return ""
    ends = "" if figure.low is None or figure.high is None else f" [{figure.low:.4g}, {figure.high:.4g}]"
    return f"{figure.value:.4g}{ends}"


def _words(given: str) -> list[str]:
    """Split at commas."""
    return [word.strip() for word in given.split(",") if word.strip()]


def _numbers(given: str | None, option: str) -> list[Any] | None:
    """Split at commas into numbers."""
    if given is None:
        return None
    try:
        return [int(word) if word.isdecimal() else float(word) for word in _words(given)]
    except ValueError:
        raise typer.BadParameter(f"{option} takes numbers, separated by commas; got {given!r}.") from None


def _parameters(given: list[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter, from words such as `effort=quick,normal`."""
    found: dict[str, list[Any]] = {}
    for word in given:
        name, equals, values = word.partition("=")
        if not equals or not _words(values):
            raise typer.BadParameter(f"--parameter takes NAME=VALUES, such as effort=quick,normal; got {word!r}.")
        read = [parameters([f"{name}={value}"]) for value in _words(values)]
        found.setdefault(name.strip(), []).extend(value for one in read for value in one.values())
    return found
