"""The commands for records that are sets of items: `shoal sets …`."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show, show_sets
from shoal.cli.options import Json, Seed, SeedFrom, chosen_seed, given_options
from shoal.cli.reporting import ending

__all__ = ["add_to"]

sets = typer.Typer(
    name="sets",
    no_args_is_help=True,
    help="Records that are sets of items: baskets, clicks, diagnoses. `shoal sets anonymize baskets.dat -o release`",
    rich_markup_mode="markdown",
)

Records = Annotated[
    Path,
    typer.Argument(help="Records: lines of items (FIMI, SPMF), CSV, Parquet or Feather, also .gz.", show_default=False),
]
Layout = Annotated[str | None, typer.Option(help="lines, spmf, long or list. [default: found by itself]")]
Column = Annotated[str | None, typer.Option(help="The column of lists, in a table.")]
Record = Annotated[str | None, typer.Option(help="The column of record numbers, in a table with an item a row.")]
Item = Annotated[str | None, typer.Option(help="The column of items, in a table with an item a row.")]
Separator = Annotated[str | None, typer.Option(help="What stands between items of a line or cell. [default: blanks]")]
Folder = Annotated[Path, typer.Argument(help="A release folder of `shoal sets anonymize`.", show_default=False)]
K = Annotated[int, typer.Option("-k", min=1, help="Candidates that an attacker must be left with.")]
M = Annotated[int, typer.Option("-m", min=1, help="Items of a record that an attacker may know.")]


def add_to(app: typer.Typer) -> None:
    """Give the commands to the program."""
    app.add_typer(sets)


@sets.command()
def anonymize(
    file: Records,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The folder of the release; one that is there is replaced.", show_default=False
        ),
    ],
    k: K = 3,
    m: M = 2,
    delta: Annotated[int, typer.Option(help="The most records of a cluster: 2k - 1 at the least, better 10k.")] = 60,
    rules: Annotated[
        Path | None, typer.Option(help="Itemsets that shall keep their support: a line of items each.")
    ] = None,
    neighbour: Annotated[
        str, typer.Option(help="Plain records beside the chunks: km (k^m-anonymous by themselves), raw or none.")
    ] = "km",
    partition: Annotated[
        str | None, typer.Option(help="recursive, iterative, rules or ugac. [default: recursive; with rules: rules]")
    ] = None,
    levels: Annotated[
        int, typer.Option(min=0, max=16, help="How often neighbouring clusters join to share chunks.")
    ] = 6,
    terms: Annotated[str, typer.Option(help="Items in no chunk: global, drop, cluster or suppress.")] = "global",
    seed: Seed = None,
    seed_from: SeedFrom = None,
    private: Annotated[
        Path | None,
        typer.Option(help="A second folder for what only the holder may see: clusters of records, findings."),
    ] = None,
    format: Annotated[str, typer.Option(help="parquet, or json for small data.")] = "parquet",  # noqa: A002
    layout: Layout = None,
    column: Column = None,
    record: Record = None,
    item: Item = None,
    separator: Separator = None,
    json: Json = False,
) -> None:
    """Tear records into chunks, and prove it: `shoal sets anonymize baskets.dat -k 3 -m 2 -o release`."""
    from shoal.pipeline.sets import anonymize_sets
    from shoal.pipeline.write import check_places

    check_places(output, private, sets=True)
    reading = given_options(layout=layout, column=column, record=record, item=item, separator=separator)
    options = given_options(
        k=k,
        m=m,
        delta=delta,
        partition=partition,
        rules=rules,
        neighbour=neighbour,
        levels=levels,
        terms=terms,
        seed=chosen_seed(seed, seed_from),
    )
    with show.progress():
        release = anonymize_sets(file, **options, **reading)
        release.save(output, private=private, format=format)
    show_sets.release(release, output, private, json=json)


@sets.command()
def verify(
    folder: Folder,
    original: Annotated[
        Path | None, typer.Option(help="The records behind it, to compare with; needs --private.")
    ] = None,
    private: Annotated[Path | None, typer.Option(help="The private folder that was written with the release.")] = None,
    layout: Layout = None,
    column: Column = None,
    record: Record = None,
    item: Item = None,
    separator: Separator = None,
    json: Json = False,
) -> None:
    """Check a release of sets from its bytes: `shoal sets verify release`."""
    from shoal.pipeline.set_folders import verify_sets

    reading = given_options(layout=layout, column=column, record=record, item=item, separator=separator)
    with show.progress():
        checked = verify_sets(folder, original=original, private=private, **reading)
    show.checked(checked, json=json)
    raise typer.Exit(0 if checked.holds else 1)


@sets.command()
def reassociate(
    folder: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file of records to write.", show_default=False)],
    neighbour: Annotated[str, typer.Option(help="km (k^m-anonymous by itself) or raw.")] = "km",
    terms: Annotated[str, typer.Option(help="Items in no chunk: omit, or once.")] = "omit",
    nonempty: Annotated[bool, typer.Option("--nonempty", help="Leave no record empty where that can be.")] = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Draw plain records from the chunks of a release: `shoal sets reassociate release -o neighbour.dat`."""
    from shoal.pipeline.set_folders import reassociate_folder

    with show.progress():
        options = given_options(neighbour=neighbour, terms=terms, nonempty=nonempty, seed=seed)
        facts = reassociate_folder(folder, output, **options)
    show_sets.facts(facts, json=json)


@sets.command()
def distance(
    original: Records,
    release: Annotated[
        Path, typer.Argument(help="A release folder with a neighbour, or other records.", show_default=False)
    ],
    exact: Annotated[bool, typer.Option("--exact", help="Count even what takes very long.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the baselines.")] = 0,
    layout: Layout = None,
    column: Column = None,
    record: Record = None,
    item: Item = None,
    separator: Separator = None,
    json: Json = False,
) -> None:
    """Measure how far two data sets are apart, as trees: `shoal sets distance baskets.dat neighbour.dat`."""
    from shoal.pipeline.set_folders import distance_of

    reading = given_options(layout=layout, column=column, record=record, item=item, separator=separator)
    with show.progress():
        facts = distance_of(original, release, exact=exact, seed=seed, **reading)
    show_sets.facts(facts, json=json)


@sets.command()
def mine(
    file: Records,
    support: Annotated[float, typer.Option(help="The least share of records, or from 1 on their number.")] = 0.001,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="The least confidence of a rule.")] = 0.8,
    most: Annotated[int, typer.Option(min=1, help="How many itemsets and rules are shown.")] = 50,
    layout: Layout = None,
    column: Column = None,
    record: Record = None,
    item: Item = None,
    separator: Separator = None,
    json: Json = False,
) -> None:
    """Find frequent itemsets and association rules: `shoal sets mine baskets.dat --support 0.01`."""
    from shoal.pipeline.set_folders import mined

    reading = given_options(layout=layout, column=column, record=record, item=item, separator=separator)
    with show.progress():
        found = mined(file, support=support, confidence=confidence, most=most, **reading)
    show_sets.mined(found, json=json)


@sets.command()
def report(
    original: Records,
    folder: Folder,
    top: Annotated[int, typer.Option(min=1, help="How many pairs, triples and rules are compared.")] = 50,
    draws: Annotated[int, typer.Option(min=1, max=100, help="How many neighbours are drawn.")] = 3,
    distance: Annotated[bool, typer.Option("--distance/--no-distance", help="Measure the tree edit distance.")] = True,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file to write: `-o report.html`, or .md, or .json.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    layout: Layout = None,
    column: Column = None,
    record: Record = None,
    item: Item = None,
    separator: Separator = None,
    json: Json = False,
) -> None:
    """Say what a release of sets is worth and risks, for your eyes only: `shoal sets report baskets.dat release`."""
    from shoal.pipeline.reporting import write_report
    from shoal.pipeline.set_report import set_page, set_report

    reading = given_options(layout=layout, column=column, record=record, item=item, separator=separator)
    with show.progress():
        facts = set_report(original, folder, top=top, draws=draws, distance=distance, seed=seed, **reading)
        if output is not None:
            write_report(set_page(folder, facts), output, ending(output))
    show_sets.report(facts, json=json)
    if output is not None and not json:
        show.say(f"Report: {output}    For your eyes only.")
