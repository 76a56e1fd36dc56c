"""The commands that measure and attack a release."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show
from shoal.cli.options import File, Header, Identifier, Json, Keep, Names, PolicyFile, Quasi, Sensitive, given_options
from shoal.errors import DataError, listed

__all__ = ["add_to"]

ReleaseArgument = Annotated[
    Path, typer.Argument(help="A release folder, or a table row by row as the original.", show_default=False)
]
Private = Annotated[Path | None, typer.Option(help="The private folder of the release, whose map aligns its rows.")]
Only = Annotated[Names, typer.Option("--only", help="One of them by its name. Repeat for more. [default: all]")]
Population = Annotated[
    Path | None, typer.Option(help="All people that the table is a sample of, with columns as they are released.")
]
Fraction = Annotated[float | None, typer.Option(help="The share of the population that is in the release.")]
Control = Annotated[Path | None, typer.Option(help="People like those of the table, who are not in the release.")]
Other = Annotated[Path | None, typer.Option(help="Another release of the same people, row by row as the original.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
NOTHING = "Some need a label, a sensitive column, two numeric columns or a population: `shoal measures` says which."


def add_to(app: typer.Typer) -> None:
    """Give the commands to the program."""
    for command in (measure, attack):
        app.command()(command)


def measure(
    original: File,
    release: ReleaseArgument,
    private: Private = None,
    only: Only = None,
    policy: PolicyFile = None,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    keep: Keep = None,
    quasi: Quasi = None,
    population: Population = None,
    fraction: Fraction = None,
    control: Control = None,
    seed: Seed = 0,
    header: Header = None,
    json: Json = False,
) -> None:
    """Measure what a release protects and is worth: `shoal measure patients.csv release --private private`."""
    from shoal.pipeline.judging import measure as run

    options = given_options(
        private=private,
        policy=policy,
        identifiers=identifier,
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        population=population,
        fraction=fraction,
        control=control,
        seed=seed,
        header=header,
    )
    with show.progress():
        found = run(original, release, only=only or (), **options)
    if only and not found:
        raise DataError(f"measure: this table and release have no figure for {listed(only)}. {NOTHING}")
    show.findings(found, json=json)


def attack(
    original: File,
    release: ReleaseArgument,
    private: Private = None,
    profile: Annotated[str, typer.Option(help="What the attacker knows: all, all-but-one or three.")] = "all",
    budget: Annotated[float | None, typer.Option(help="Seconds in all: `--budget 60`.")] = None,
    only: Only = None,
    policy: PolicyFile = None,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    keep: Keep = None,
    quasi: Quasi = None,
    control: Control = None,
    other: Other = None,
    seed: Seed = 0,
    header: Header = None,
    json: Json = False,
) -> None:
    """Attack a release as an outsider would: `shoal attack patients.csv release --private private --budget 60`."""
    from shoal.pipeline.judging import attack as run

    options = given_options(
        private=private,
        policy=policy,
        identifiers=identifier,
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        control=control,
        other=other,
        seed=seed,
        header=header,
    )
    with show.progress():
        found = run(original, release, profile=profile, budget=budget, only=only or (), **options)
    show.attacks(found, json=json)
