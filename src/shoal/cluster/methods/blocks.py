"""Blocks: a method inside the cells of a large table, then a search across their borders.

1. The rows are cut into cells of at most `cell` rows, at multiples of k, along columns of large variance.
2. The method runs in each cell, several cells at once.
3. Groups at the borders are poor, since their rows could not see what lies beyond: `search.refine` cuts
   the groups anew in other directions, pass after pass, and anneals inside.

Time grows with n and not with its square.
"""

from typing import Any

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Whole, method, methods
from shoal.cluster.inputs import Rows, matrix, row_weights
from shoal.cluster.search.cells import in_cells
from shoal.cluster.search.effort import EFFORTS, search
from shoal.cluster.search.limited_start import mend
from shoal.cluster.search.limits import Limits
from shoal.cluster.search.sizes import capped
from shoal.kernels.threads import thread_count
from shoal.model.partition import Partition

__all__ = ["blocks"]

INSIDE = ("mdav", "vmdav", "md", "tfrp", "hac", "k_member", "kmeans", "one_pass", "mondrian", "univariate")


@method(
    "blocks",
    data="numeric",
    ensures={"k", "l", "t"},
    params={
        "k": Whole(2, help="The least number of rows in a group."),
        "inside": Choice(INSIDE, "mdav", "The method inside the cells, with its defaults."),
        "cell": Whole(1, 10**9, 10_000, "Rows in a cell, at the most: fewer are quicker, more lose less."),
        "effort": Choice(("none", *EFFORTS), "quick", "How long the search across borders takes."),
    },
    uses={"limits", "seed", "threads", "weights"},
)
def blocks(
    X: ArrayLike,
    k: int,
    inside: str = "mdav",
    cell: int = 10_000,
    effort: str = "quick",
    *,
    seed: int = 0,
    threads: int | None = None,
    weights: ArrayLike | None = None,
    limits: Limits | None = None,
) -> Partition:
    """Run a method inside cells of a large table, and mend the borders.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
        The encoded table, columns on scales that may be compared.
    k : int, 2 <= k <= n
        The least number of rows in a group.
    inside : str
        The method that runs in each cell.
    cell : int
        Rows in a cell, at the most.
    effort : {"none", "quick", "normal", "thorough"}
        How long the search across the borders takes; "none" leaves them as they are.
    seed : int
        Where chance starts.
    threads : int, optional
        How many may work; all cores if not given. The result does not depend on it.
    weights : array of shape (n,), optional
        How much each row counts in means and SSE.
    limits : Limits, optional
        What the sensitive values of a group must meet.

    Returns
    -------
    Partition

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. With a search and
    without limits it holds at most 2k - 1 rows. The result does not depend on the number of threads.

    Cost
    ----
    That of the method on n / cell tables of `cell` rows, O(n log n) for cutting, and some 0.1 us a proposal
    of the search; O(n) memory beside a copy of X.

    Examples
    --------
    >>> blocks([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    numbers = matrix(X, k, "blocks")
    mass = row_weights(weights, len(numbers), "blocks")
    workers = thread_count(threads, "blocks")
    asked = limits if limits is not None and limits.binding else None
    card = methods.load(inside)

    def run(rows: Rows) -> Rows:
        given: dict[str, Any] = {"seed": seed, "threads": 1, "weights": mass[rows]}
        given["limits"] = None if limits is None else limits.part(rows)
        return card.function(numbers[rows], k, **{name: given[name] for name in card.uses}).labels

    labels = in_cells(run, numbers, k, cell, workers)
    if asked is not None:
        labels = mend(numbers, labels, k, asked)
    if effort != "none":
        start = capped(numbers, labels, k) if asked is None else labels
        labels = search(numbers, start, k, effort, mass, asked, seed, workers)
    return Partition.of(labels)
