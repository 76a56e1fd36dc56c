"""Anneal: near-optimal groups, by simulated annealing, a local search that also accepts some worse steps.

1. Start: MDAV, inside cells where the table is large; or, where l or t is required, groups grown to meet them.
2. A chain of moves, swaps, new and dissolved groups at falling temperatures (`search.refine`); then shorter ones, of
   which only improvements are kept, part by part (`search.crossing`).
3. With more effort, several restarts of 2, crossed in the same way. The start is kept if nothing is lower.

Group sizes stay within k and 2k - 1: cutting a larger group in two never raises SSE. Under limits on sensitive values
that no longer holds, and groups may be larger.

Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220 (1983) 671-680.
"""

from dataclasses import replace

from shoal.catalogue import Cost, Task, Whole
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search.cells import in_cells
from shoal.cluster.search.effort import EFFORT, search, search_cost
from shoal.cluster.search.limited_start import grown_groups, mend
from shoal.cluster.search.limits import Limits
from shoal.model.partition import Partition

CELL = 20_000  # rows in which MDAV takes about a tenth of a second
GROWN = 8_000  # rows in which growing groups takes about a second


def _cost(task: Task) -> Cost:
    """Return the cost of the start by MDAV, in cells, and of the search."""
    start, found = task.rows * min(task.rows, CELL) * (task.columns + 3) / task.k * 2e-10, search_cost(task)
    return replace(found, seconds=found.seconds + start)


@numeric_method(
    "anneal",
    ensures={"k", "l", "t", "alpha"},
    params={
        "effort": EFFORT,
        "restarts": Whole(0, 1000, 0, "Number of restarts; 0: chosen by the effort."),
        "rounds": Whole(0, 10**7, 0, "Proposals per row and restart; 0: chosen by the effort."),
    },
    uses={"limits", "seed", "threads", "weights"},
    growth=_cost,
    ends_early=True,
    suits={"numbers"},
)
def anneal(X: Floats, k: int, effort: str, restarts: int, rounds: int, *, run: Run) -> Partition:
    """Search for groups of low information loss by simulated annealing.

    Guarantee
    ---------
    Every group holds at least k rows: at most 2k - 1, if there are no limits; otherwise every group meets the limits,
    if the whole table does. SSE is not above that of the start. The same X, parameters and seed give the same groups,
    unless a time budget ends the search early.

    Cost
    ----
    About 0.1 us per proposal; MDAV for the start. O(n) memory for each thread besides a copy of X.

    Examples
    --------
    >>> anneal([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    start = first_partition(X, k, run.weights, run.binding, run.threads)
    found = search(X, start, k, effort, run.weights, run.binding, run.seed, run.threads, restarts, rounds)
    return Partition.of(found)


def first_partition(X: Floats, k: int, weights: Floats, limits: Limits | None, threads: int) -> Rows:
    """Return groups of k to 2k - 1 rows, or groups that meet the limits, quickly."""
    if limits is None:
        return in_cells(lambda rows: mdav(X[rows], k).labels, X, k, CELL, threads)

    def grown(rows: Rows) -> Rows:
        return grown_groups(X[rows], k, limits.part(rows), weights[rows])

    return mend(X, in_cells(grown, X, k, GROWN, threads), k, limits)
