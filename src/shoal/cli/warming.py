"""The command that compiles methods ahead of their first use."""

from typing import Annotated

import typer

from shoal.cli import show
from shoal.cli.options import Json, Log


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(warmup)


def warmup(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="Methods to compile, or all. [default: what releases need if no method is named]",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes. [default: all cores]")] = None,
    log_format: Log = None,
    json: Json = False,
) -> None:
    """Compile methods ahead of their first use: `shoal warmup`, `shoal warmup mdav k_tca`, `shoal warmup all`.

    Compiled code is kept beside the installed package, or in the folder that NUMBA_CACHE_DIR names.
    """
    from shoal.exploration.warmup import warmup as run

    with show.progress(log_format):
        ready = run(methods or (), jobs=jobs)
    if json:
        show.as_json({"ready": list(ready)})
    else:
        show.say(f"Ready: {', '.join(ready)}.")
