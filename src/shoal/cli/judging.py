"""The commands that measure and attack a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack, cast

import typer

from shoal.cli import show
from shoal.cli.options import File, Header, Json, Log, Names, PolicyFile, Roles, given_options, with_shared_options

if TYPE_CHECKING:
    from shoal.model.options import Known

ReleaseArgument = Annotated[
    Path,
    typer.Argument(help="A release folder, or a table with its rows in the order of the original.", show_default=False),
]
OnlyMeasure = Annotated[Names, typer.Option("--only", help="Run only this measure. Repeat for more. [default: all]")]
OnlyAttack = Annotated[Names, typer.Option("--only", help="Run only this attack. Repeat for more. [default: all]")]


class PairOptions(Roles, total=False):
    """What is known of a release and its original."""

    private: Annotated[
        Path | None, typer.Option(help="The private folder of the release; its row map aligns the rows.")
    ]
    policy: PolicyFile
    control: Annotated[Path | None, typer.Option(help="A table of similar people who are not in the release.")]
    seed: Annotated[int | None, typer.Option(help="Random seed. [default: 0]")]
    header: Header


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (measure, attack):
        app.command()(command)


@with_shared_options(after="only")
def measure(
    original: File,
    release: ReleaseArgument,
    only: OnlyMeasure = None,
    population: Annotated[
        Path | None,
        typer.Option(
            help="A table of the population from which the sample was drawn, with columns in the released form."
        ),
    ] = None,
    fraction: Annotated[float | None, typer.Option(help="The share of the population that is in the release.")] = None,
    log_format: Log = None,
    json: Json = False,
    **options: Unpack[PairOptions],
) -> None:
    """Measure the disclosure risk and utility of a release: `shoal measure patients.csv release --private private`."""
    from shoal.pipeline.judging import measure as run

    given = given_options(population=population, fraction=fraction, **options)
    with show.progress(log_format):
        found = run(original, release, only=only or (), **given)
    show.findings(found, json=json)


@with_shared_options(after="only")
def attack(
    original: File,
    release: ReleaseArgument,
    profile: Annotated[
        str, typer.Option(help="Which quasi-identifiers the attacker knows: all, all-but-one or three.")
    ] = "all",
    budget: Annotated[float | None, typer.Option(help="Seconds for all attacks together: `--budget 60`.")] = None,
    only: OnlyAttack = None,
    other: Annotated[
        Path | None, typer.Option(help="Another release of the same people, with rows in the order of the original.")
    ] = None,
    log_format: Log = None,
    json: Json = False,
    **options: Unpack[PairOptions],
) -> None:
    """Attack a release as an outsider would: `shoal attack patients.csv release --private private --budget 60`."""
    from shoal.pipeline.judging import attack as run

    given = given_options(other=other, **options)
    with show.progress(log_format):
        found = run(original, release, profile=cast("Known", profile), budget=budget, only=only or (), **given)
    show.attacks(found, json=json)
