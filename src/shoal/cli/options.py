"""Options that several commands share, each declared once.

A command takes a whole group of them by keyword, `**roles: Unpack[Roles]`; `with_shared_options` writes them out in its
signature, from which typer makes the help and the parser.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_args, get_type_hints

import typer

from shoal.cli.log import LogFormat
from shoal.cli.words import constraints, hierarchies, parameters

Command = Callable[..., None]
Names = list[str] | None
# Panels of `--help`: each has columns of its own width, so that short options leave space for the text.
PRIVACY, ROLES, METHOD, FORM, RUN = "Privacy", "Column roles", "Method", "Input and published form", "Random seed"

File = Annotated[Path, typer.Argument(help="A table: CSV (also .gz), Parquet or Feather.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
All = Annotated[bool, typer.Option("--all", help="Show all findings, not only the ten most telling ones.")]
Log = Annotated[
    LogFormat | None,
    typer.Option(
        "--log-format",
        envvar="SHOAL_LOG",
        help="Progress lines on stderr. [default: a progress bar on a terminal, else plain]",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file is a header. [default: detected; refused if unclear]",
        rich_help_panel=FORM,
    ),
]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", "-p", metavar="FILE", help="A policy file; see `shoal init`.")
]
K = Annotated[
    int | None,
    typer.Option("-k", help="Minimum size of an equivalence class. [default: 5]", rich_help_panel=PRIVACY),
]
Accept = Annotated[
    Names,
    typer.Option(
        "--accept",
        metavar="RISK",
        help="Accept a risk that is otherwise refused: `--accept unique-kept`.",
        rich_help_panel=PRIVACY,
    ),
]
Identifier = Annotated[
    Names,
    typer.Option("--identifier", metavar="COLUMN", help="A column to drop. Repeat for more.", rich_help_panel=ROLES),
]
Sensitive = Annotated[
    Names,
    typer.Option(
        "--sensitive",
        metavar="COLUMN",
        help="A sensitive attribute: published unchanged, protected by l and t.",
        rich_help_panel=ROLES,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that analysts predict, sensitive or kept; required by methods whose names end in `_pp`.",
        rich_help_panel=ROLES,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Random seed, never published. [default: drawn from the system]",
        show_default=False,
        rich_help_panel=RUN,
    ),
]
SeedFrom = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The private folder of an earlier run whose random seed is used again.",
        rich_help_panel=RUN,
    ),
]


class Roles(TypedDict, total=False):
    """The role of each column."""

    identifier: Identifier
    sensitive: Sensitive
    keep: Annotated[
        Names,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="A column to publish unchanged. Must not help to re-identify anyone.",
            rich_help_panel=ROLES,
        ),
    ]
    quasi: Annotated[
        Names,
        typer.Option(
            "--quasi",
            metavar="COLUMN",
            help="A quasi-identifier, the default role. Repeat for more.",
            rich_help_panel=ROLES,
        ),
    ]


class Constraints(TypedDict, total=False):
    """What a release must meet, and the column of sets that m concerns."""

    k: K
    l: Annotated[  # noqa: E741
        float | None,
        typer.Option("-l", help="Minimum number of different sensitive values per class.", rich_help_panel=PRIVACY),
    ]
    l_kind: Annotated[
        str | None,
        typer.Option(
            "--l-kind",
            metavar="KIND",
            help="How l is counted: distinct, entropy or recursive. [default: distinct]",
            rich_help_panel=PRIVACY,
        ),
    ]
    t: Annotated[
        float | None,
        typer.Option(
            "-t",
            help="Maximum distance, 0 to 1, of a class's distribution of sensitive values from that of the release.",
            rich_help_panel=PRIVACY,
        ),
    ]
    m: Annotated[
        int | None,
        typer.Option(
            "-m", help="Number of items of a set that an attacker may know. [default: 2]", rich_help_panel=PRIVACY
        ),
    ]
    constraint: Annotated[
        Names,
        typer.Option(
            "--constraint",
            metavar="NAME=VALUE",
            help="Any other constraint, by its name in a policy: `--constraint alpha=0.5`.",
            rich_help_panel=PRIVACY,
        ),
    ]
    items: Annotated[
        Names,
        typer.Option(
            "--items",
            metavar="COLUMN",
            help="A column of sets, reshuffled within each group; list columns are detected.",
            rich_help_panel=ROLES,
        ),
    ]


class MakingOptions(Constraints, Roles, total=False):
    """How a release is made, besides its policy file."""

    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A method listed by `shoal methods`. [default: auto]", rich_help_panel=METHOD
        ),
    ]
    parameter: Annotated[
        Names,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the method: `--parameter effort=quick`.",
            rich_help_panel=METHOD,
        ),
    ]
    refine: Annotated[
        str | None,
        typer.Option(
            metavar="EFFORT",
            help="Improve the groups by local search: none, swift, quick, normal, thorough. [default: none]",
            rich_help_panel=METHOD,
        ),
    ]
    hierarchy: Annotated[
        Names,
        typer.Option(
            metavar="COLUMN=TREE",
            help="A generalization hierarchy: a CSV file, or a keyword that builds one: `--hierarchy zip=mask`.",
            rich_help_panel=METHOD,
        ),
    ]
    truthful: Annotated[
        bool | None,
        typer.Option(
            "--truthful/--same-schema",
            help="Publish ranges, sets and tree nodes that are true of each row, or values of the original type. "
            "[default: truthful with hierarchies, else same-schema]",
            rich_help_panel=FORM,
        ),
    ]
    label: Label
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of row weights, such as survey weights, with the role keep or identifier.",
            rich_help_panel=ROLES,
        ),
    ]
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Missing values: own-value, suppress-row or refuse. [default: own-value]",
            rich_help_panel=FORM,
        ),
    ]
    protect: Annotated[
        str | None,
        typer.Option(
            metavar="minimality",
            help="Form groups almost independently of sensitive values; information loss is higher.",
            rich_help_panel=PRIVACY,
        ),
    ]
    seed: Seed
    seed_from: SeedFrom
    accept: Accept
    header: Header


def with_shared_options(after: str) -> Callable[[Command], Command]:
    """Return a decorator that replaces `**options` in a command's signature by its options, after this parameter."""

    def write_out(command: Command) -> Command:
        own = list(signature(command).parameters.values())
        group = get_args(own.pop().annotation)[0]
        shared = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in get_type_hints(group, include_extras=True).items()
        ]
        at = [one.name for one in own].index(after) + 1
        parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*own[:at], *shared, *own[at:])]

        @wraps(command)
        def run(**given: Any) -> None:
            command(**given)

        run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return write_out


def given_options(**given: Any) -> Any:
    """Return the options that were given as keyword arguments of the Python functions."""
    named = {
        **{name: value for name, value in given.items() if name not in SPELT_OTHERWISE},
        "identifiers": given.get("identifier"),
        "constraints": constraints(given.get("constraint")),
        "parameters": parameters(given.get("parameter")),
        "hierarchies": hierarchies(given.get("hierarchy")),
        "output": {True: "truthful", False: "same-schema", None: None}[given.get("truthful")],
        "seed": _chosen_seed(given.get("seed"), given.get("seed_from")),
    }
    return {name: value for name, value in named.items() if value not in (None, [], {})}


# Options that are spelt or typed differently in Python.
SPELT_OTHERWISE = {"identifier", "constraint", "parameter", "hierarchy", "truthful", "seed_from"}


def _chosen_seed(seed: int | None, private: Path | None) -> int | None:
    """Return the random seed given, or that of the earlier run whose private folder is named."""
    if private is None:
        return seed
    if seed is not None:
        raise typer.BadParameter("--seed and --seed-from both set the random seed: use only one of them.")
    from shoal.pipeline.private import seed_of

    return seed_of(private)
