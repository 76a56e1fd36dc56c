"""Fingerprints of points, so that a finished point is recognized again, and never mistaken for another."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from shoal.exploration.folder import Folder
from shoal.exploration.plan import Point
from shoal.exploration.points import DONE, Aims, Outcome

SAME = ("method", "k", "l", "t", "parameters", "seeds", "status")


def marks_of(points: Sequence[Point], aims: Aims, table: str) -> dict[str, str]:
    """Return a fingerprint of everything that each point's figures depend on; `table` is that of the files."""
    weighed = [aims.utility.name, aims.risk.name, aims.folds, aims.attacks]
    found = {}
    for point in points:
        facts = [version("shoal"), point.policy.as_dict(), point.seeds, weighed, table]
        found[point.name] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
    return found


def known_points(points: Sequence[Point], marks: Mapping[str, str], folder: Folder) -> dict[str, Outcome]:
    """Return the points that were finished earlier and match the request, by name."""
    found: dict[str, Outcome] = {}
    for point in points:
        try:
            kept = folder.kept(f"points/{marks[point.name]}")
            one = Outcome.from_dict({**kept, "name": point.name, "line": point.line})
        except ValueError:
            continue  # missing or of another version: run it again
        asked = Outcome.of(point, DONE)
        same = all(getattr(one, name) == getattr(asked, name) for name in SAME)
        if same and all(verdict.holds for verdict in one.verdicts):
            found[point.name] = one
    return found
