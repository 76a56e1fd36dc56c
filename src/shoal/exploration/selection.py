"""Selection: which methods an exploration tries unless they are named, and in which order it runs its points.

1. The method that `auto` chooses for the table comes first.
2. Of the others, those are tried whose cards say that they suit such a table: one with categories or of numbers alone,
   a policy with hierarchies or a label.
3. These come before any others, and the cheaper ones come first. The points of a method stay together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal.catalogue import methods
from shoal.cluster.methods.auto import plan
from shoal.errors import listed
from shoal.exploration.plan import Point, Skipped
from shoal.model.policy import Policy
from shoal.prepare.choosing import CATEGORICAL

SUITABLE = "suitable"


@dataclass(frozen=True)
class Preferred:
    """What suits a table: the method that `auto` chooses, and what cards call such a table."""

    method: str
    kinds: frozenset[str]

    @classmethod
    def of(cls, policy: Policy, n: int) -> "Preferred":
        """Return what suits a table of n rows; the policy lists all columns and has the method chosen for `auto`."""
        quasi = [policy.columns[name] for name in policy.names("quasi")]
        given = any(column.hierarchy is not None for column in quasi)
        categories = any(column.kind in CATEGORICAL for column in quasi)
        kinds = {"hierarchies" if given else "categories" if categories else "numbers"}
        kinds |= {"label"} if policy.label is not None else set()
        name = policy.method.name
        if name == "auto":
            limited = bool(policy.constraints.on_sensitive())
            name = plan(n, len(quasi), policy.constraints.k, "quick", limited=limited).method
        return cls(name, frozenset(kinds))

    def suits(self, method: str) -> bool:
        """Return whether a method suits the table."""
        return method == self.method or bool(self.kinds & methods.load(method).suits)


def suitable(
    points: Sequence[Point], preferred: Preferred, parameters: Iterable[str]
) -> tuple[list[Point], list[Skipped]]:
    """Return the points of methods that suit the table, and those left out as one entry.

    `parameters` are the names given for the grid: a method named by METHOD.NAME is kept.
    """
    named = {name.rpartition(".")[0] for name in parameters}
    kept = [point for point in points if preferred.suits(point.method) or point.method in named]
    gone = list(dict.fromkeys(point.method for point in points if point not in kept))
    if not kept or not gone:
        return list(points), []
    what = listed(gone, len(gone)).replace("'", "")
    return kept, [Skipped(what, f"{what}: seldom among the best for such a table. Name them, or ask for all methods.")]


def ordered(points: Sequence[Point], preferred: Preferred, seconds: Mapping[str, float]) -> list[Point]:
    """Return the points in the order in which they are run, given the estimated seconds of each."""
    cost: dict[str, float] = {}
    for point in points:
        cost[point.line] = cost.get(point.line, 0.0) + seconds[point.name]

    def place(point: Point) -> tuple[bool, bool, float, str]:
        return point.method != preferred.method, not preferred.suits(point.method), cost[point.line], point.line

    return sorted(points, key=place)
