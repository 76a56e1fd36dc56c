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

from shoal.cli.words import constraints, hierarchies, parameters

__all__ = [
    "Accept",
    "Constraints",
    "File",
    "Header",
    "Identifier",
    "Json",
    "K",
    "Label",
    "MakingOptions",
    "Names",
    "PolicyFile",
    "Roles",
    "Seed",
    "SeedFrom",
    "Sensitive",
    "given_options",
    "with_shared_options",
]

Command = Callable[..., None]
Names = list[str] | None
File = Annotated[Path, typer.Argument(help="A table: CSV (also .gz), Parquet or Feather.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file is a header. [default: detected; refused if unclear]",
    ),
]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="A policy file; see `shoal init`.")]
K = Annotated[int | None, typer.Option("-k", help="Minimum size of an equivalence class. [default: 5]")]
Accept = Annotated[
    Names,
    typer.Option("--accept", metavar="RISK", help="Accept a risk that is otherwise refused: `--accept unique-kept`."),
]
Identifier = Annotated[Names, typer.Option("--identifier", help="A column to drop. Repeat for more.")]
Sensitive = Annotated[
    Names, typer.Option("--sensitive", help="A sensitive attribute: published unchanged, protected by l and t.")
]
Label = Annotated[
    str | None, typer.Option(help="The column that analysts predict, sensitive or kept; `_pp` methods need it.")
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Random seed, never published. [default: drawn from the system]", show_default=False),
]
SeedFrom = Annotated[
    Path | None, typer.Option(help="The private folder of an earlier run whose random seed is used again.")
]


class Roles(TypedDict, total=False):
    """The role of each column."""

    identifier: Identifier
    sensitive: Sensitive
    keep: Annotated[
        Names, typer.Option("--keep", help="A column to publish unchanged. Must not help to re-identify anyone.")
    ]
    quasi: Annotated[Names, typer.Option("--quasi", help="A quasi-identifier, the default role. Repeat for more.")]


class Constraints(TypedDict, total=False):
    """What a release must meet."""

    k: K
    l: Annotated[float | None, typer.Option("-l", help="Minimum number of sensitive values per class.")]  # noqa: E741
    l_kind: Annotated[str | None, typer.Option("--l-kind", help="How l is counted: distinct, entropy or recursive.")]
    t: Annotated[
        float | None, typer.Option("-t", help="Maximum distance of a class from the whole table, from 0 to 1.")
    ]
    m: Annotated[int | None, typer.Option("-m", help="Items of a set that an attacker may know. [default: 2]")]
    constraint: Annotated[
        Names,
        typer.Option(
            "--constraint",
            metavar="NAME=VALUE",
            help="Any other constraint, by its name in a policy: `--constraint alpha=0.5`.",
        ),
    ]
    items: Annotated[
        Names,
        typer.Option("--items", help="A column of sets, reshuffled within each group; list columns are detected."),
    ]


class MakingOptions(Constraints, Roles, total=False):
    """How a release is made, besides its policy file."""

    method: Annotated[str | None, typer.Option(help="A method of `shoal methods`. [default: auto]")]
    parameter: Annotated[
        Names, typer.Option(metavar="NAME=VALUE", help="A parameter of the method: `--parameter effort=quick`.")
    ]
    refine: Annotated[
        str | None,
        typer.Option(help="Improve the groups by local search: none, swift, quick, normal, thorough. [default: none]"),
    ]
    hierarchy: Annotated[
        Names,
        typer.Option(
            metavar="COLUMN=TREE",
            help="A generalization hierarchy: a CSV file, or a keyword that builds one: `--hierarchy zip=mask`.",
        ),
    ]
    truthful: Annotated[
        bool | None,
        typer.Option(
            "--truthful/--same-schema",
            help="Publish ranges, sets and tree nodes that are true of each row, or values of the original type. "
            "[default: truthful with hierarchies, else same-schema]",
        ),
    ]
    label: Label
    weight: Annotated[
        str | None, typer.Option(help="A column of row weights, such as survey weights: kept, or an identifier.")
    ]
    missing: Annotated[
        str | None,
        typer.Option(help="Missing values: own-value, suppress-row or refuse. [default: own-value]"),
    ]
    protect: Annotated[
        str | None,
        typer.Option(help="minimality: form groups almost independently of sensitive values; more information loss."),
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
        raise typer.BadParameter("--seed and --seed-from both give a random seed: use one of them.")
    from shoal.pipeline.private import seed_of

    return seed_of(private)
