"""Blocks: a method run within the cells of a large table, then a search across cell borders.

1. The rows are cut into cells of at most `cell` rows, at multiples of k, along columns of large variance.
2. The method runs in each cell, several cells at once.
3. Groups at the borders are poor, since the method could not see rows beyond: `search.refine` cuts the groups in other
   directions, pass after pass, and anneals inside.

Time grows with n and not with its square.
"""

from dataclasses import replace
from typing import Any

from shoal.catalogue import Choice, Cost, Task, Whole, methods
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.cells import in_cells
from shoal.cluster.search.effort import EFFORTS, search, search_cost
from shoal.cluster.search.limited_start import mend
from shoal.cluster.search.sizes import capped
from shoal.model.partition import Partition


def _inside() -> tuple[str, ...]:
    """Return the methods that may run inside cells, as their cards say."""
    return tuple(methods.having("in_cells"))


def _cost(task: Task) -> Cost:
    """Return the cost of the method inside the cells, and of the search."""
    given, n = task.parameters, task.rows
    cell = min(n, int(given["cell"]))
    inside = methods.load(str(given["inside"])).cost(replace(task, rows=cell, parameters={}, threads=1))
    inside = Cost(inside.seconds * n / max(1, cell) / task.threads, inside.megabytes * n / max(1, cell))
    if given["effort"] == "none":
        return inside
    found = search_cost(task)
    return Cost(inside.seconds + found.seconds, max(inside.megabytes, found.megabytes))


@numeric_method(
    "blocks",
    ensures={"k", "l", "t"},
    params={
        "inside": Choice(_inside, "mdav", "Method run within the cells, with its default parameters."),
        "cell": Whole(
            1,
            10**9,
            10_000,
            "Maximum number of rows per cell: small cells are faster, large cells lose less information.",
        ),
        "effort": Choice(("none", *EFFORTS), "quick", "Duration of the search across cell borders."),
    },
    uses={"limits", "seed", "threads", "weights"},
    growth=_cost,
    ends_early=True,
)
def blocks(X: Floats, k: int, inside: str, cell: int, effort: str, *, run: Run) -> Partition:
    """Run a method within the cells of a large table, then improve the groups across cell borders.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. With a search and without limits it
    holds at most 2k - 1 rows. The result does not depend on the number of threads.

    Cost
    ----
    That of the method on n / cell tables of `cell` rows, O(n log n) for cutting, and some 0.1 us per proposal of the
    search; O(n) memory besides a copy of X.

    Examples
    --------
    >>> blocks([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    card = methods.load(inside)

    def in_cell(rows: Rows) -> Rows:
        given: dict[str, Any] = {"seed": run.seed, "threads": 1, "weights": run.weights[rows]}
        given["limits"] = None if run.limits is None else run.limits.part(rows)
        return card.function(X[rows], k, **{name: given[name] for name in card.uses}).labels

    labels = in_cells(in_cell, X, k, cell, run.threads)
    if run.binding is not None:
        labels = mend(X, labels, k, run.binding)
    if effort != "none":
        start = capped(X, labels, k) if run.binding is None else labels
        labels = search(X, start, k, effort, run.weights, run.binding, run.seed, run.threads)
    return Partition.of(labels)
