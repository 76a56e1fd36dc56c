"""Auto: the method that suits the table, given its rows, its columns, k and the constraints.

1. Fewer than 2k rows are one group, whatever the method.
2. Limits on sensitive values are best met inside a search: `anneal`.
3. One column that varies: `univariate` finds the optimum.
4. Up to 300 rows, k up to 4, a thorough effort and no row weights: `exact` proves how good its answer is, if its
   solver is installed.
5. Up to 50,000 rows: `anneal`.
6. More rows: `blocks` with MDAV inside and a search across the borders; beyond some millions, for a quick result,
   without the search.

It reports its choice and the approximate time, before it starts and in the notes of the release.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.catalogue import Growth, methods
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.exact import solver_is_installed
from shoal.cluster.inputs import Floats
from shoal.cluster.methods.anneal import CELL
from shoal.cluster.search.effort import EFFORT, EFFORTS, seconds_per_proposal
from shoal.cluster.search.refine import SMALL
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.progress import announce

FEW, SMALL_K = 300, 4  # rows, and a k, up to which the optimum is within reach
ONE_PIECE = 50_000  # rows from which a table is cut into cells
EXACT_ROW = 0.1  # approximate seconds per row of `exact`
HUGE = 4_000_000  # rows from which a quick result skips the search


@dataclass(frozen=True)
class Plan:
    """The chosen method, the reason (a clause without cell values), and estimated costs on the threads of the run."""

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0

    def __str__(self) -> str:
        given = "".join(f", {name} {value}" for name, value in self.parameters.items())
        return (
            f"auto: chose {self.method}{given}, because {self.why}; "
            f"expected cost: about {_rounded(max(self.seconds, 1))} s and {_rounded(max(self.megabytes, 10))} MB"
        )


@numeric_method(
    "auto",
    ensures={"k", "l", "t", "alpha"},
    params={"effort": EFFORT},
    uses={"limits", "seed", "threads", "weights"},
    growth=Growth(1.3, seconds=5.0),
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
    chosen = plan(len(X), varying, k, effort, limited=limited, weighted=weighted, threads=run.threads)
    announce(str(chosen))
    card = methods.load(chosen.method)
    options = {name: value for name, value in run.given.items() if name in card.uses}
    found = card.function(X, k, **chosen.parameters, **options)
    return Partition(found.labels, (Note("auto-choice", f"{chosen}."), *found.notes), found.findings)


def plan(
    n: int, d: int, k: int, effort: str, *, limited: bool = False, weighted: bool = False, threads: int = 1
) -> Plan:
    """Return what suits a table of n rows and d columns that vary.

    Examples
    --------
    >>> print(plan(1_000_000, 10, 5, "quick"))
    auto: chose blocks, inside mdav, effort quick, because the table is large; expected cost: about 40 s and 700 MB
    """
    if n < 2 * k:
        return Plan("mdav", {}, "fewer than 2k rows are one group")
    if limited:
        return _searching(n, d, k, effort, threads, "limits on sensitive values are best met inside a search", limited)
    if d <= 1:
        return Plan("univariate", {"along": "axis"}, "one column has an optimal answer", n * k * 1e-7, n * k * 2e-5)
    if n <= FEW and k <= SMALL_K and effort == "thorough" and not weighted and solver_is_installed():
        why = "a table this small has an answer that can be proved"
        return Plan("exact", {"effort": effort}, why, n * EXACT_ROW, n * n * 5e-5)
    if n <= ONE_PIECE:
        return _searching(n, d, k, effort, threads, "a search gives the lowest information loss", limited)
    if n > HUGE and effort == "quick":
        cost = n * (d + 20) * 1e-7 / threads
        return Plan(
            "blocks", {"inside": "mdav", "cell": 1000, "effort": "none"}, "the table is huge", cost, n * d * 4e-5
        )
    base = _searching(n, d, k, effort, threads, "", limited)
    return Plan("blocks", {"inside": "mdav", "effort": effort}, "the table is large", base.seconds, base.megabytes)


def _searching(n: int, d: int, k: int, effort: str, threads: int, why: str, limited: bool) -> Plan:
    """Return the plan of a search, with its costs on a typical machine."""
    search = EFFORTS[effort].fitted(n, d, k, limited=limited)
    proposals = n * search.restarts * search.rounds
    start = n * min(n, CELL) * (d + 3) / k * 2e-10
    passes = search.restarts * (search.first.passes + search.cycles) if n > SMALL else 1
    near = passes * n * min(n, 5 * search.first.cell) / k**2 * (d + 3) * 2e-10
    cells = max(search.restarts, n // (k * search.first.cell))
    seconds = (proposals * seconds_per_proposal(d, limited=limited) + start + near) / min(threads, max(1, cells))
    megabytes = n * (16 * d + 8 * search.first.keep + 100) * (1 + min(search.restarts, threads)) * 1e-6
    return Plan("anneal", {"effort": effort}, why, seconds, megabytes)


def _rounded(value: float) -> str:
    """Return a figure with one significant digit."""
    power = 10 ** int(np.floor(np.log10(value)))
    return f"{round(value / power) * power:,.0f}"
