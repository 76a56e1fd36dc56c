"""Univariate: the groups of lowest SSE along one order of the rows, by dynamic programming.

1. The rows are ordered (`search.order`): by a column, along the first principal axis, a space-filling curve or a short
   path through all of them.
2. Of all ways to cut that order into runs of k to 2k - 1 rows, the one of the least SSE is found: the best cut of the
   first j rows is the best cut of the first j - s, for some s of k to 2k - 1, and a run of s rows.

With one column, sorting by it and cutting is the optimum of all partitions: groups that overlap can be exchanged row by
row until they do not, and SSE falls.

Hansen and Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on Knowledge and
Data Engineering 15 (2003) 1043-1044.
"""

import numpy as np

from shoal.catalogue import Choice, Growth, Whole
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.order import ORDERS
from shoal.errors import MethodError
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

PIECE = 1 << 26  # cells examined between two progress ticks


@numeric_method(
    "univariate",
    ensures={"k"},
    params={
        "along": Choice(
            ("column", *ORDERS),
            "path",
            "Order of the rows: by one column, the first principal axis, a Hilbert curve, or a short path.",
        ),
        "column": Whole(0, default=0, help="Index of the column, counted from 0, if along is column."),
    },
    uses={"weights"},
    growth=Growth(0.9, seconds=0.55),
    in_cells=True,
)
def univariate(X: Floats, k: int, along: str, column: int, *, run: Run) -> Partition:
    """Cut the rows, sorted in one order, into runs of k to 2k - 1 rows with the lowest SSE.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows, and no cut of the same order into such runs has a lower SSE.
    With one column, no other partition has either. Tied rows keep the order of their numbers.

    Cost
    ----
    O(n k d) time besides the order: O(n log n) for a column, an axis or a curve, O(n^2 d) for a path of up to
    10,000 rows; O(n) memory besides a copy of X.

    Examples
    --------
    >>> univariate([[0.0], [9.0], [1.0], [10.0], [2.0]], k=2).labels
    array([0, 1, 0, 1, 0])
    """
    if along == "column":
        if column >= X.shape[1]:
            raise MethodError(
                f"univariate: column must be below {X.shape[1]}, the number of columns of the matrix; got {column}."
            )
        order = np.argsort(X[:, column], kind="stable")
    else:
        order = ORDERS[along](X)
    labels = np.empty(len(X), np.int64)
    labels[order] = _cut(np.ascontiguousarray(X[order]), run.weights[order], k)
    return Partition.of(labels)


def _cut(X: Floats, weights: Floats, k: int) -> Rows:
    """Return the run of each row in the best cut of ordered rows."""
    n, d = X.shape
    least, last = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    least[0] = 0.0
    step = max(1, PIECE // (2 * k * d))
    for start in range(1, n + 1, step):
        tick(start, n)
        _best(X, weights, k, least, last, start, min(start + step, n + 1))
    ends = [n]
    while ends[-1] > 0:
        ends.append(ends[-1] - int(last[ends[-1]]))
    sizes = -np.diff(ends)[::-1]
    return np.repeat(np.arange(sizes.size), sizes)


@loop
def _best(X: Floats, weights: Floats, k: int, least: Floats, last: Rows, start: int, stop: int) -> None:
    """Write the least SSE of the first j rows and the size of the last run, for j from start to stop."""
    d = X.shape[1]
    mean = np.empty(d)
    for j in range(start, stop):
        mean[:] = 0.0
        mass, spread = 0.0, 0.0
        for size in range(1, min(2 * k, j + 1)):
            # One more row, by its distance to the mean of the others: no large numbers are subtracted.
            row, gaps = j - size, 0.0
            w = weights[row]
            share = w / (mass + w)
            for c in range(d):
                gap = X[row, c] - mean[c]
                gaps += gap * gap
                mean[c] += share * gap
            spread += mass * share * gaps
            mass += w
            if size >= k and least[row] + spread < least[j]:
                least[j], last[j] = least[row] + spread, size
