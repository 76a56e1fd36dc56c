"""The command that compares methods over data sets."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import drawing, show
from shoal.cli.options import Header, Identifier, Json, K, Log, Sensitive, given_options

if TYPE_CHECKING:
    from shoal.exploration.comparison import Measured, MethodComparison

Sources = Annotated[list[Path], typer.Argument(help="Tables, or folders of tables.", show_default=False)]
OUTSIDE = re.compile(r",(?![^(]*\))")  # a comma, but not one of (alpha,k)-anonymity


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(compare)


def compare(
    sources: Sources,
    methods: Annotated[str, typer.Option(help="Methods separated by commas.")] = "mdav,k_tca,kde",
    measure: Annotated[
        str | None,
        typer.Option(
            help="`honest`, `combined` or measures, separated by commas. [default: combined with a label, "
            "else cell loss %]"
        ),
    ] = None,
    k: K = None,
    label: Annotated[
        str | None, typer.Option(help="The column to predict; `last` for the last column of each data set.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random seeds per method and data set.")] = 3,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds for `honest` and `combined`.")] = 5,
    alpha: Annotated[float, typer.Option(min=0, max=1, help="Weight of honest accuracy in `combined`.")] = 0.5,
    identifier: Identifier = None,
    sensitive: Sensitive = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes. [default: all cores]")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A folder for the page, the figures and the diagram.")
    ] = None,
    header: Header = None,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Compare methods over data sets: `shoal compare tables/ --methods mdav,k_tca,kde --label last -o compared`."""
    from shoal.exploration.compare import compare as run
    from shoal.exploration.comparison import owned_files
    from shoal.io.bundle import check_outside, check_target

    if output is not None:
        check_outside(output)
        check_target(output, owned_files())
    with show.progress(log_format):
        found = run(
            sources,
            methods=_words(methods),
            measure=None if measure is None else _words(measure),
            seeds=seeds,
            folds=folds,
            alpha=alpha,
            **given_options(k=k, label=label, identifier=identifier, sensitive=sensitive, jobs=jobs, header=header),
        )
        if output is not None:
            found.save(output)
    if json:
        show.plain(found.report("json").rstrip("\n"))
        return
    for one in found.measures:
        _show(one, found)
    for gone in found.left_out:
        show.say(f"Left out: {gone.set}: {gone.method}: {gone.reason}")
    if output is not None:
        show.say(f"Confidential: {output / 'compare.html'}")


def _words(text: str) -> list[str]:
    """Split at commas."""
    return [word.strip() for word in OUTSIDE.split(text) if word.strip()]


def _show(one: "Measured", found: "MethodComparison") -> None:
    """Show the figures of a measure, the mean ranks and the results of the tests."""
    order = [found.methods.index(name) for name in one.comparison.methods]
    means, halves = one.means, one.halves
    show.say(f"{one.title} at k = {found.k}, {'higher' if one.higher else 'lower'} is better")
    table = drawing.table_of("data set", *(f">{found.methods[place]}" for place in order))
    for column, data in enumerate(found.sets):
        cells = []
        for place in order:
            half = "" if halves is None else f" ± {halves[place, column]:.2g}"
            cells.append(f"{means[place, column]:.4g}{half}")
        drawing.row(table, data.name, *cells)
    if len(found.sets) > 1:
        drawing.row(table, "mean rank", *(f"{rank:.3f}" for rank in one.comparison.mean_ranks))
    if len(found.sets) > 1 and one.comparison.scores is not None:
        drawing.row(table, "score", *(f"{score:.3f}" for score in one.comparison.scores))
    drawing.console().print(table)
    for line in one.comparison.results():
        show.say(line)
    show.say("")
