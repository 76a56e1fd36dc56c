"""The commands for records that are sets of items: `shoal sets …`."""

from pathlib import Path
from typing import Annotated, TypedDict, Unpack

import typer

from shoal.cli import show, show_release, show_sets
from shoal.cli.options import All, Json, Log, Seed, SeedFrom, given_options, with_shared_options
from shoal.cli.program import Program
from shoal.cli.reporting import ending

sets = Program(
    name="sets",
    no_args_is_help=True,
    help="Work with records that are sets of items, such as baskets: `shoal sets anonymize baskets.dat -o release`.",
    rich_markup_mode="markdown",
)

Records = Annotated[
    Path,
    typer.Argument(help="Records: lines of items (FIMI, SPMF), CSV, Parquet or Feather, also .gz.", show_default=False),
]
Folder = Annotated[Path, typer.Argument(help="A release folder of `shoal sets anonymize`.", show_default=False)]
K = Annotated[int, typer.Option("-k", help="Minimum number of candidate records for an attacker, at least 2.")]
M = Annotated[int, typer.Option("-m", min=1, help="Number of items of a record that an attacker may know.")]


class Reading(TypedDict, total=False):
    """How records are read."""

    layout: Annotated[
        str | None, typer.Option(help="Layout of the records: lines, spmf, long or list. [default: detected]")
    ]
    column: Annotated[str | None, typer.Option(help="The list column, for a table with one record per row.")]
    record: Annotated[str | None, typer.Option(help="The column of record numbers, for a table with one item per row.")]
    item: Annotated[str | None, typer.Option(help="The column of items, for a table with one item per row.")]
    separator: Annotated[str | None, typer.Option(help="Separator of items in a line or cell. [default: whitespace]")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.add_typer(sets)


@sets.command()
@with_shared_options(after="format")
def anonymize(
    file: Records,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The release folder; an earlier release is replaced.", show_default=False),
    ],
    k: K = 3,
    m: M = 2,
    delta: Annotated[
        int, typer.Option(help="Maximum number of records per cluster: at least 2k - 1, preferably 10k or more.")
    ] = 60,
    rules: Annotated[
        Path | None, typer.Option(help="Itemsets whose support should be preserved, one per line.")
    ] = None,
    neighbour: Annotated[
        str, typer.Option(help="Plain records published with the chunks: km (k^m-anonymous themselves), raw or none.")
    ] = "km",
    partition: Annotated[
        str | None,
        typer.Option(help="Clustering: recursive, iterative, rules or ugac. [default: recursive; rules with --rules]"),
    ] = None,
    levels: Annotated[
        int, typer.Option(min=0, max=16, help="Rounds of joining neighbouring clusters to share chunks.")
    ] = 6,
    terms: Annotated[
        str, typer.Option(help="How items in no chunk are published: global, drop, cluster or suppress.")
    ] = "global",
    seed: Seed = None,
    seed_from: SeedFrom = None,
    private: Annotated[
        Path | None,
        typer.Option(help="A second folder for what only the data holder may see: clusters of records, findings."),
    ] = None,
    format: Annotated[str, typer.Option(help="File format: parquet, or json for small data.")] = "parquet",  # noqa: A002
    every: All = False,
    log_format: Log = None,
    json: Json = False,
    **reading: Unpack[Reading],
) -> None:
    """Disassociate records into verified chunks: `shoal sets anonymize baskets.dat -k 3 -m 2 -o release`."""
    from shoal.pipeline.sets import anonymize as run
    from shoal.pipeline.write import check_places

    check_places(output, private, sets=True)
    options = given_options(
        k=k,
        m=m,
        delta=delta,
        partition=partition,
        rules=rules,
        neighbour=neighbour,
        levels=levels,
        terms=terms,
        seed=seed,
        seed_from=seed_from,
        **reading,
    )
    with show.progress(log_format):
        release = run(file, **options)
        release.save(output, private=private, format=format)
    how = [word for name, given in reading.items() if given is not None for word in (f"--{name}", str(given))]
    report = ["shoal", "sets", "report", str(file), str(output), *how]
    show_release.set_release(release, output, private, report, json=json, every=every)


@sets.command()
@with_shared_options(after="private")
def verify(
    folder: Folder,
    original: Annotated[
        Path | None, typer.Option(help="The original records, to compare with; needs --private.")
    ] = None,
    private: Annotated[Path | None, typer.Option(help="The private folder written with the release.")] = None,
    log_format: Log = None,
    json: Json = False,
    **reading: Unpack[Reading],
) -> None:
    """Check every claim of a release folder of sets: `shoal sets verify release`."""
    from shoal.pipeline.set_folders import verify as run

    with show.progress(log_format):
        checked = run(folder, original=original, private=private, **given_options(**reading))
    show.checked(checked, json=json)
    raise typer.Exit(0 if checked.holds else 1)


@sets.command()
def reassociate(
    folder: Folder,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file of records to write.", show_default=False)],
    neighbour: Annotated[str, typer.Option(help="Kind of neighbour: km (k^m-anonymous itself) or raw.")] = "km",
    terms: Annotated[
        str, typer.Option(help="Items in no chunk: omit them, or give each to one record (once).")
    ] = "omit",
    nonempty: Annotated[bool, typer.Option("--nonempty", help="Leave no record empty where possible.")] = False,
    seed: Seed = None,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Draw plain records from the chunks of a release: `shoal sets reassociate release -o neighbour.dat`."""
    from shoal.pipeline.set_folders import reassociate as run

    with show.progress(log_format):
        facts = run(folder, output, neighbour=neighbour, terms=terms, nonempty=nonempty, seed=seed)  # type: ignore[arg-type]
    show_sets.facts(facts, json=json)


@sets.command()
@with_shared_options(after="seed")
def distance(
    original: Records,
    release: Annotated[
        Path, typer.Argument(help="A release folder with a neighbour, or other records.", show_default=False)
    ],
    exact: Annotated[
        bool, typer.Option("--exact", help="Compute the exact distance even if it takes very long.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the baselines.")] = 0,
    log_format: Log = None,
    json: Json = False,
    **reading: Unpack[Reading],
) -> None:
    """Measure the tree edit distance between two data sets: `shoal sets distance baskets.dat neighbour.dat`."""
    from shoal.pipeline.set_folders import distance as run

    with show.progress(log_format):
        facts = run(original, release, exact=exact, seed=seed, **given_options(**reading))
    show_sets.facts(facts, json=json)


@sets.command()
@with_shared_options(after="most")
def mine(
    file: Records,
    support: Annotated[
        float, typer.Option(help="Minimum support: a share of the records or, from 1, a count.")
    ] = 0.001,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="Minimum confidence of a rule.")] = 0.8,
    most: Annotated[int, typer.Option(min=1, help="Number of itemsets and rules shown.")] = 50,
    log_format: Log = None,
    json: Json = False,
    **reading: Unpack[Reading],
) -> None:
    """Mine frequent itemsets and association rules: `shoal sets mine baskets.dat --support 0.01`."""
    from shoal.pipeline.set_folders import mine as run

    with show.progress(log_format):
        found = run(file, support=support, confidence=confidence, most=most, **given_options(**reading))
    show_sets.mined(found, json=json)


@sets.command()
@with_shared_options(after="seed")
def report(
    original: Records,
    folder: Folder,
    top: Annotated[int, typer.Option(min=1, help="Number of pairs, triples and rules compared.")] = 50,
    draws: Annotated[int, typer.Option(min=1, max=100, help="Number of neighbours drawn.")] = 3,
    distance: Annotated[bool, typer.Option("--distance/--no-distance", help="Measure the tree edit distance.")] = True,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write: .html, .md or .json.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    log_format: Log = None,
    json: Json = False,
    **reading: Unpack[Reading],
) -> None:
    """Report utility and risk of a release of sets; confidential: `shoal sets report baskets.dat release`."""
    from shoal.pipeline.reporting import write_report
    from shoal.pipeline.set_report import report as run
    from shoal.pipeline.set_report import set_page

    format = ending(output)  # noqa: A001
    with show.progress(log_format):
        facts = run(original, folder, top=top, draws=draws, distance=distance, seed=seed, **given_options(**reading))
        if output is not None:
            write_report(set_page(folder, facts), output, format)
    show_sets.report(facts, json=json)
    if output is not None and not json:
        show.say(f"Report: {output}    Confidential.")
