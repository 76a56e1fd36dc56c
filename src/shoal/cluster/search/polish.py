"""Polish: all rows are reassigned to the best of the means near them at once, and the means follow.

1. Assign the rows to the centres so that each has at least k and the total cost is least (see `assignment`). A row x of
   weight w costs w |x - c|^2 at centre c.
2. Move every centre to the weighted mean of its rows.
3. Repeat 1 and 2 until no row changes its group or all rounds are done. From the second round on a row costs more in
   its own group, of weight W: (W + t w) / (W - t w) times as much, where t falls from 5/4 towards 0 in equal steps.
4. The partition with the least weighted SSE of all rounds is the result.

In a small group a row is near the mean because it is part of it, and plain k-means stops at once. So step 3 compares
what one row would add to the SSE of another group of this weight with what its own group would lose (Hartigan): their
ratio is that of t = 1. More than that shakes rows out of poor groups; near 0, in the end, it is almost plain k-means.

This is what `kmeans` does from random centres, and it improves the result of a row-by-row search: it moves many rows
around at once, each taking the place of the next.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.assignment import assign
from shoal.cluster.search.cells import cells_of_groups, in_cells_of_groups
from shoal.cluster.search.sizes import capped
from shoal.kernels.distance import squared
from shoal.kernels.groups import centres, weighted_means
from shoal.kernels.loops import callable_inner_loop
from shoal.model.progress import spent, tick
from shoal.utility.loss import sse

EAGER = 1.25  # t in the second round


def polish(
    X: Floats, labels: Rows, k: int, weights: Floats, rounds: int, cell: int, seed: tuple[int, ...], threads: int
) -> Rows:
    """Return labels of lower or equal SSE in groups of k to 2k - 1 rows, as those given.

    Rows are assigned `rounds` times, `cell` groups at a time; the seed decides how groups are cut into cells.
    """
    groups = int(labels.max()) + 1
    if groups == 1:
        return labels
    middle = centres(X, labels, groups)
    cells = cells_of_groups(middle, cell, np.random.default_rng(seed))

    def settled(_number: int, rows: Rows, own: Rows) -> Rows:
        if rows.size < 2 * k or spent() >= 1:
            return own
        # Columns that start at zero: a mean far from zero would lose precision.
        Z, masses = X[rows] - X[rows].min(axis=0), weights[rows]
        means = weighted_means(Z, masses, own, int(own.max()) + 1)
        found = capped(Z, settle(Z, masses, means, own, k, rounds), k)
        return found if sse(Z, found, masses) < sse(Z, own, masses) else own

    found = in_cells_of_groups(settled, labels, cells, threads)
    return found if sse(X, found, weights) < sse(X, labels, weights) else labels


def settle(X: Floats, weights: Floats, centres: Floats, labels: Rows, k: int, rounds: int) -> Rows:
    """Return the best labels of all rounds from these centres on; the given groups have at least k rows."""
    best, least = labels, np.inf
    for turn in range(rounds):
        tick(turn, rounds)
        if turn > 0 and spent() >= 1:
            break
        eager = EAGER * (1 - (turn - 1) / rounds) if turn > 0 else 0.0
        before, labels = labels, assign(X, weights, centres, labels, eager, k)
        if turn > 0 and np.array_equal(labels, before):
            break
        centres = weighted_means(X, weights, labels, len(centres))
        found = _sse(X, weights, labels, centres)
        if found < least:
            best, least = labels, found
    return best


@callable_inner_loop
def _sse(X: Floats, weights: Floats, labels: Rows, centres: Floats) -> float:
    """Return the weighted sum of squared distances of rows to their centres."""
    total = 0.0
    for i in range(len(X)):
        total += weights[i] * squared(X, i, centres, labels[i])
    return total
