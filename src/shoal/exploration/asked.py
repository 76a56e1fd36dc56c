"""The arguments of an exploration, checked before anything is read or made."""

import math
import os
from numbers import Integral
from pathlib import Path
from typing import Any, get_args

from shoal.errors import PolicyError, shortened
from shoal.model.asking import argument
from shoal.model.options import MakingOptions, OtherConstraintOptions, Output, RoleOptions
from shoal.model.policy import Policy, PolicySource

MOST = 10_000  # points, and whatever else is counted


class ExploreOptions(OtherConstraintOptions, RoleOptions, MakingOptions, total=False):
    """The options that all points of an exploration share."""

    seed: int | None


def base_of(policy: PolicySource, options: ExploreOptions) -> Policy:
    """Return the policy that all points share, with absolute paths of hierarchy files."""
    base = Policy.of(policy, **options)
    columns = {}
    for name, column in base.columns.items():
        tree = column.hierarchy
        there = isinstance(tree, str) and Path(tree).is_file()
        columns[name] = column.model_copy(update={"hierarchy": str(Path(str(tree)).absolute())}) if there else column
    return base.model_copy(update={"columns": columns}) if columns else base


def whole(value: Any, name: str, least: int, most: float = math.inf, *, who: str = "explore") -> int:
    """Return a valid whole number as an int, or raise `PolicyError`; `who` begins its message."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        up_to = "" if math.isinf(most) else f" and at most {most:,}"
        raise PolicyError(
            f"{who}: {argument(name)} must be a whole number of at least {least}{up_to}; got {shortened(value)}."
        )
    return int(value)


def folder_of(output: Any) -> Path:
    """Return the folder of an exploration; refuse what `anonymize` calls its output."""
    if isinstance(output, str) and output in get_args(Output):
        raise PolicyError(
            f"explore: output is the folder of the exploration, and {output!r} a form of output. For a release of this "
            f"form, write policy={{'output': {output!r}}}; for a folder of this name, './{output}'."
        )
    return place(output)


def place(value: Any) -> Path:
    """Return the path of a folder, or raise `PolicyError`."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise PolicyError(f"explore: {argument('output')} must be the path of a folder; got {shortened(value)}.")
    return Path(path)
