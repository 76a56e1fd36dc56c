"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Accept",
    "Constraint",
    "File",
    "Header",
    "Identifier",
    "Items",
    "Json",
    "K",
    "Keep",
    "L",
    "LKind",
    "M",
    "Names",
    "PolicyFile",
    "Quasi",
    "Seed",
    "SeedFrom",
    "Sensitive",
    "T",
    "chosen_seed",
    "given_options",
]

File = Annotated[Path, typer.Argument(help="A table: CSV (also .gz), Parquet or Feather.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Names = list[str] | None
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="The first line of a CSV file is a header, or a row. [default: refuse if that is not clear]",
    ),
]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="A policy file; see `shoal init`.")]
K = Annotated[int | None, typer.Option("-k", help="Rows that must look alike, at the least. [default: 5]")]
L = Annotated[float | None, typer.Option("-l", help="Sensitive values that each class must hold.")]
LKind = Annotated[str | None, typer.Option("--l-kind", help="How l counts: distinct, entropy or recursive.")]
M = Annotated[int | None, typer.Option("-m", help="Items of a set that an attacker may know. [default: 2]")]
T = Annotated[float | None, typer.Option("-t", help="How far a class may be from the whole, 0 to 1.")]
Constraint = Annotated[
    Names,
    typer.Option(
        "--constraint",
        metavar="NAME=VALUE",
        help="Another constraint, by its name in a policy: `--constraint alpha=0.5`.",
    ),
]
Accept = Annotated[
    Names,
    typer.Option("--accept", metavar="RISK", help="Accept a risk that is refused otherwise: `--accept unique-kept`."),
]
Identifier = Annotated[Names, typer.Option("--identifier", help="A column to drop. Repeat for more.")]
Quasi = Annotated[Names, typer.Option("--quasi", help="A quasi-identifier, the default role. Repeat for more.")]
Sensitive = Annotated[Names, typer.Option("--sensitive", help="A column to protect by l and t, published as it is.")]
Keep = Annotated[
    Names, typer.Option("--keep", help="A column to publish as it is. Must not help to re-identify anyone.")
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Random seed, never published. [default: drawn from the system]", show_default=False),
]
SeedFrom = Annotated[
    Path | None, typer.Option(help="The private folder of an earlier run, whose random seed is used again.")
]
Items = Annotated[
    Names, typer.Option("--items", help="A column of sets, put together anew inside each group: lists need no naming.")
]


def chosen_seed(seed: int | None, private: Path | None) -> int | None:
    """Return the random seed given, or that of the earlier run whose private folder is named."""
    if private is None:
        return seed
    if seed is not None:
        raise typer.BadParameter("--seed and --seed-from both name a random seed: give one of them.")
    from shoal.pipeline.private import seed_of

    return seed_of(private)


def given_options(**given: Any) -> Any:
    """Return the options that were given, without those that were not: what the Python functions take by keyword."""
    return {name: value for name, value in given.items() if value not in (None, [], {})}
