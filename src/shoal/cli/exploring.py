"""The command that explores: many releases of one table, and the front between risk and utility."""

import json as json_
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import show
from shoal.cli.drawing import console, row, table_of
from shoal.cli.options import (
    Accept,
    File,
    Header,
    Identifier,
    Json,
    Keep,
    Names,
    PolicyFile,
    Quasi,
    Seed,
    SeedFrom,
    Sensitive,
    chosen_seed,
    given_options,
)

if TYPE_CHECKING:
    from shoal.exploration.aims import Figure
    from shoal.exploration.exploration import Exploration

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Give the command to the program."""
    app.command()(explore)


def explore(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A private folder for all that is found; the same one goes on with a run."),
    ] = None,
    policy: PolicyFile = None,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas, or all.")] = "all",
    k: Annotated[str | None, typer.Option("-k", help="Several k: `-k 3,5,10,20`. [default: these]")] = None,
    l: Annotated[str | None, typer.Option("-l", help="Several l: `-l 2,3`. [default: that of the policy]")] = None,  # noqa: E741
    t: Annotated[str | None, typer.Option("-t", help="Several t: `-t 0.1,0.2`. [default: that of the policy]")] = None,
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
        typer.Option(help="A measure, or honest. [default: honest separability % with a label, else cell loss %]"),
    ] = None,
    risk: Annotated[str | None, typer.Option(help="A measure or an attack. [default: marketer risk]")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of intervals by a jackknife, and of honest.")] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds from which methods that draw by chance are run.")] = 1,
    attacks: Annotated[bool, typer.Option("--attacks", help="Attack every release too.")] = False,
    budget: Annotated[float | None, typer.Option(help="Seconds in all; what would not fit is left out.")] = None,
    longest: Annotated[float, typer.Option(help="Seconds that one run may take, by the pre-flight.")] = 60.0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at once, at most. [default: all cores]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and stop.")] = False,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    keep: Keep = None,
    quasi: Quasi = None,
    label: Annotated[str | None, typer.Option(help="The column that analysts predict, sensitive or kept.")] = None,
    seed: Seed = None,
    seed_from: SeedFrom = None,
    accept: Accept = None,
    header: Header = None,
    json: Json = False,
) -> None:
    """Show risk against utility of many releases: `shoal explore patients.csv --policy policy.toml -o explored`."""
    from shoal.exploration.run import explore as run

    if output is None and not dry_run:
        raise typer.BadParameter("Name a private folder with -o, or ask for --dry-run.")
    options = given_options(
        identifiers=identifier,
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        label=label,
        seed=chosen_seed(seed, seed_from),
        header=header,
        accept=accept,
    )
    with _kept(output), show.progress():
        found = run(
            file,
            policy=policy,
            methods=methods if methods == "all" else _words(methods),
            k=_numbers(k, "-k"),
            l=_numbers(l, "-l"),
            t=_numbers(t, "-t"),
            parameters=_parameters(parameter or []),
            utility=utility,
            risk=risk,
            folds=folds,
            seeds=seeds,
            attacks=attacks,
            budget=budget,
            longest=longest,
            jobs=jobs,
            output=output,
            dry_run=dry_run,
            **options,
        )
    if json:
        show.plain(json_.dumps({"folder": None if dry_run else str(output), **found.as_dict()}, indent=2))
    elif dry_run:
        _expected(found)
    else:
        _found(found, file)
    if not found.front and not dry_run:
        show.error("explore: no release could be weighed, so that there is nothing to choose from.")
        raise typer.Exit(3)


@contextmanager
def _kept(output: Path | None) -> Iterator[None]:
    """Say that nothing is lost, if the run is stopped."""
    try:
        yield
    except SystemExit:
        if output is not None and (output / "points").is_dir():
            done = sum(path.suffix == ".json" for path in (output / "points").iterdir())
            show.error(f"{done} releases are kept in {output}; the same command goes on from there.")
        raise


def _expected(found: "Exploration") -> None:
    """Show what an exploration would cost."""
    _left_out(found)
    before = f" {len(found.outcomes)} points were done before." if found.outcomes else ""
    show.say(f"Expected: {found.estimate}.{before}")


def _found(found: "Exploration", file: Path) -> None:
    """Show the front, what was left out, and the next command."""
    utility, risk = found.aims.utility, found.aims.risk
    heads = [f">{aim.name} ({'more' if aim.higher else 'less'} is better)" for aim in (utility, risk)]
    shown = [name for name in found.risks if name not in (utility.name, risk.name)]
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
    if found.beside and found.front:
        given = ", ".join(f"{name} {value:.4g}" for name, value in found.beside.items())
        show.say(f"To compare, {utility.name}: {given}.")
    if not found.front:
        return
    for name, other in found.twins.items():
        if other in {one.name for one in found.front}:
            show.say(f"{name}: makes the same release as {other}, byte for byte.")
    many = "1 release was" if len(found.weighed) == 1 else f"{len(found.weighed)} releases were"
    show.say(f"{many} verified and measured; clearly beaten by none: {len(found.front)}.")
    show.say("To choose by looking at the data is itself a channel: see the page.")
    show.say(f"For your eyes only: {found.folder}. Look at {found.folder}/explore.html, choose, then:")
    place = f"{shlex.quote(str(found.folder))}/front/NAME.toml"
    show.say(f"shoal anonymize {shlex.quote(str(file))} --policy {place} -o release --private mine")


def _left_out(found: "Exploration") -> None:
    """Show what was left out, and why."""
    for one in found.skipped:
        show.say(f"Left out: {one.reason}")


def _figure(figure: "Figure | None") -> str:
    """Write a figure with its interval."""
    if figure is None:
        return ""
    ends = "" if figure.low is None or figure.high is None else f" [{figure.low:.4g}, {figure.high:.4g}]"
    return f"{figure.value:.4g}{ends}"


def _words(given: str) -> list[str]:
    """Return what stands between commas."""
    return [word.strip() for word in given.split(",") if word.strip()]


def _numbers(given: str | None, option: str) -> list[Any] | None:
    """Return the numbers between commas."""
    if given is None:
        return None
    try:
        return [int(word) if word.isdecimal() else float(word) for word in _words(given)]
    except ValueError:
        raise typer.BadParameter(f"{option} takes numbers, separated by commas; got {given!r}.") from None


def _parameters(given: list[str]) -> dict[str, list[Any]]:
    """Return the values of each parameter, from words such as `effort=quick,normal`."""
    from shoal.cli.words import parameters

    found: dict[str, list[Any]] = {}
    for word in given:
        name, equals, values = word.partition("=")
        if not equals or not _words(values):
            raise typer.BadParameter(f"--parameter takes NAME=VALUES, such as effort=quick,normal; got {word!r}.")
        read = [parameters([f"{name}={value}"]) for value in _words(values)]
        found.setdefault(name.strip(), []).extend(value for one in read for value in one.values())
    return found
