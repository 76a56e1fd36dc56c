"""The plug-ins that are installed: entry points of other packages, by group and name, none of them loaded."""

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

MODELS = "shoal.models"  # the group of privacy models, which a policy requests by name


class Twins(EntryPoint):
    """Several entry points of one name, none of which is chosen."""


def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name."""
    return _entry_points(group, tuple(sys.path))


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:  # noqa: ARG001 - part of the key
    """Return the entry points of a group by name, looked up once for each search path."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        twice = point.name in found and found[point.name].value != point.value
        found[point.name] = Twins(point.name, "", group) if twice else point
    return found
