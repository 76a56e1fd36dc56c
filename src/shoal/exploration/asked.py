"""The arguments of an exploration, checked before anything is read or made."""

import math
import os
from numbers import Real
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError
from shoal.model.asking import argument
from shoal.model.options import MakingOptions, OtherConstraintOptions, RoleOptions
from shoal.model.policy import Policy, PolicySource

__all__ = ["MOST", "ExploreOptions", "base_of", "place", "seconds", "shortened", "whole"]

MOST = 10_000  # points, and whatever else is counted
LONG = 60  # characters


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


def whole(value: Any, name: str, least: int, most: float = math.inf) -> int:
    """Return a valid whole number, or raise `PolicyError`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        up_to = "" if math.isinf(most) else f" and at most {most:,}"
        raise PolicyError(
            f"explore: {argument(name)} must be a whole number of at least {least}{up_to}; got {shortened(value)}."
        )
    return value


def seconds(value: Any, name: str) -> float:
    """Return a valid number of seconds, or raise `PolicyError`."""
    try:
        found = float(value) if not isinstance(value, bool) and isinstance(value, Real) else math.nan
    except OverflowError:
        found = math.inf
    if not 0 < found < math.inf:
        raise PolicyError(f"explore: {argument(name)} must be a number of seconds above 0; got {shortened(value)}.")
    return found


def place(value: Any) -> Path:
    """Return the path of a folder, or raise `PolicyError`."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise PolicyError(f"explore: {argument('output')} must be the path of a folder; got {shortened(value)}.")
    return Path(path)


def shortened(value: Any) -> str:
    """Return a given value as a message shows it, cut if it is long.

    Examples
    --------
    >>> shortened("x"), shortened(10**300)[:8]
    ("'x'", '10000000')
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of very many digits
        return "a number of very many digits"
    return text if len(text) <= LONG else f"{text[:LONG]}..."
