"""Auto: the method that suits the table, given its rows, its columns, k and the constraints.

1. Fewer than 2k rows are one group, whatever the method.
2. Limits on sensitive values are best met inside a search: `anneal`.
3. One column that varies: `univariate` finds the optimum.
4. Up to 300 rows, k up to 4, a thorough effort and no row weights: `exact` proves how good its answer is, if its
   solver is installed.
5. Up to 50,000 rows: `anneal`.
6. More rows: `blocks` with MDAV inside and a search across the borders; beyond some millions, for a quick result,
   without the search.

It reports its choice before it starts and in the notes of the release.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from shoal.catalogue import Cost, Task, methods
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.exact import solver_is_installed
from shoal.cluster.inputs import Floats
from shoal.cluster.search.effort import EFFORT
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.progress import announce

FEW, SMALL_K = 300, 4  # rows, and a k, up to which the optimum is within reach
ONE_PIECE = 50_000  # rows from which a table is cut into cells
HUGE = 4_000_000  # rows from which a quick result skips the search


@dataclass(frozen=True)
class Plan:
    """The chosen method with its parameters, and the reason, a clause without cell values."""

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    why: str = ""

    def __str__(self) -> str:
        given = "".join(f", {name} {value}" for name, value in self.parameters.items())
        return f"auto: chose {self.method}{given}, because {self.why}"


def _cost(task: Task) -> Cost:
    """Return the cost of the method that it chooses, for columns that all vary."""
    effort = str(task.parameters["effort"])
    chosen = plan(task.rows, task.columns, task.k, effort, limited=task.limited)
    return methods.load(chosen.method).cost(replace(task, parameters=chosen.parameters))


@numeric_method(
    "auto",
    ensures={"k", "l", "t", "alpha"},
    params={"effort": EFFORT},
    uses={"limits", "seed", "threads", "weights"},
    growth=_cost,
    ends_early=True,
)
def auto(X: Floats, k: int, effort: str, *, run: Run) -> Partition:
    """Choose the method that suits the table, and run it.

    Returns
    -------
    Partition
        Its first note says what was chosen.

    Guarantee
    ---------
    That of the method it chooses: every group holds at least k rows, and meets the limits if the whole table does. The
    choice depends only on n, the number of columns that vary, k, effort, whether there are limits or row weights, and
    whether the solver of `exact` is installed.

    Cost
    ----
    That of the method it chooses.

    Examples
    --------
    >>> auto([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    varying = int((X.max(axis=0) > X.min(axis=0)).sum())
    limited, weighted = run.binding is not None, run.given.get("weights") is not None
    chosen = plan(len(X), varying, k, effort, limited=limited, weighted=weighted)
    announce(str(chosen))
    card = methods.load(chosen.method)
    options = {name: value for name, value in run.given.items() if name in card.uses}
    found = card.function(X, k, **chosen.parameters, **options)
    return Partition(found.labels, (Note("auto-choice", f"{chosen}."), *found.notes), found.findings)


def plan(n: int, d: int, k: int, effort: str, *, limited: bool = False, weighted: bool = False) -> Plan:
    """Return what suits a table of n rows and d columns that vary.

    Examples
    --------
    >>> print(plan(1_000_000, 10, 5, "quick"))
    auto: chose blocks, inside mdav, effort quick, because the table is large
    """
    search = {"effort": effort}
    if n < 2 * k:
        return Plan("mdav", {}, "fewer than 2k rows are one group")
    if limited:
        return Plan("anneal", search, "limits on sensitive values are best met inside a search")
    if d <= 1:
        return Plan("univariate", {"along": "axis"}, "one column has an optimal answer")
    if n <= FEW and k <= SMALL_K and effort == "thorough" and not weighted and solver_is_installed():
        return Plan("exact", search, "a table this small has an answer that can be proved")
    if n <= ONE_PIECE:
        return Plan("anneal", search, "a search gives the lowest information loss")
    if n > HUGE and effort == "quick":
        return Plan("blocks", {"inside": "mdav", "cell": 1000, "effort": "none"}, "the table is huge")
    return Plan("blocks", {"inside": "mdav", "effort": effort}, "the table is large")
