"""The commands about policies themselves: their schema, and a check without a table."""

import json as json_
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import show
from shoal.cli.options import Json
from shoal.errors import ShoalError

Policies = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Policy files.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (policy, schema):
        app.command()(command)


def policy(files: Policies, json: Json = False) -> None:
    """Check policy files without a table: `shoal policy policies/*.toml`."""
    from shoal.pipeline.policies import check_policy

    found: list[dict[str, Any]] = []
    for file in files:
        try:
            check_policy(file)
            problem = None
        except ShoalError as error:
            problem = str(error)
        found.append({"file": str(file), "valid": problem is None, "error": problem})
    if json:
        show.as_json(found)
    for one in found:
        if one["error"] is not None:
            show.error(f"{one['file']}: {one['error']}")
        elif not json:
            show.say(f"{one['file']}: valid.")
    if not all(one["valid"] for one in found):
        raise typer.Exit(2)


def schema(
    json: Annotated[  # noqa: ARG001 - the output is JSON either way
        bool, typer.Option("--json", help="Accepted for uniformity: the output is always JSON.")
    ] = False,
) -> None:
    """Print the JSON schema of policy files: `shoal schema > policy.schema.json`."""
    from shoal.model.policy import Policy

    show.plain(json_.dumps(Policy.model_json_schema(), indent=2))
