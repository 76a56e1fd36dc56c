"""Marks: what a point was made of, so that one that was done before is found again, and no other is taken for it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

from shoal.exploration.folder import Folder
from shoal.exploration.plan import Point
from shoal.exploration.points import DONE, Aims, Outcome
from shoal.exploration.preflight import Probed

__all__ = ["known_points", "known_trials", "marks_of", "marks_of_lines"]

SAME = ("method", "k", "l", "t", "parameters", "seeds", "status")


def marks_of(points: Sequence[Point], aims: Aims, table: str) -> dict[str, str]:
    """Return a mark for each point that changes with whatever its figures depend on.

    Parameters
    ----------
    points : sequence of Point
    aims : Aims
    table : str
        The mark of the table and its hierarchies.
    """
    weighed = [aims.utility.name, aims.risk.name, aims.folds, aims.attacks]
    found = {}
    for point in points:
        facts = [version("shoal"), point.policy.as_dict(), point.seeds, weighed, table]
        found[point.name] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
    return found


def marks_of_lines(points: Sequence[Point], marks: Mapping[str, str]) -> dict[str, str]:
    """Return a mark for each line: trials depend on the same things as its first point, done already or not."""
    return {point.line: marks[point.name] for point in reversed(points)}


def known_points(points: Sequence[Point], marks: Mapping[str, str], folder: Folder) -> dict[str, Outcome]:
    """Return the points that were done earlier and are what is asked for, by name."""
    found: dict[str, Outcome] = {}
    for point in points:
        facts = folder.point(marks[point.name])
        if facts is None:
            continue
        try:
            one = Outcome.from_dict({**facts, "name": point.name, "line": point.line})
        except (AttributeError, KeyError, TypeError):
            continue  # of another make: it is done anew
        asked = Outcome.of(point, DONE)
        same = all(getattr(one, name) == getattr(asked, name) for name in SAME)
        if same and all(verdict.holds for verdict in one.verdicts):
            found[point.name] = one
    return found


def known_trials(lines: Iterable[str], marks: Mapping[str, str], folder: Folder) -> dict[str, Probed]:
    """Return what trials told earlier, by line."""
    held, found = folder.trials(), {}
    for line in lines:
        try:
            found[line] = Probed.from_dict(held[marks[line]])
        except (AttributeError, KeyError, TypeError):
            continue  # not there, or of another make
    return found
