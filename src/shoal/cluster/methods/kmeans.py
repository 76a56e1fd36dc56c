"""Size-bounded k-means: floor(n / k) centres, each of which has at least k rows.

1. Draw a row by weight; it is a centre and takes its k - 1 nearest rows. Draw each next centre among the rows not
   yet taken, with probability proportional to w D^2, with D the distance to the nearest centre so far (k-means++), and
   let it take the k - 1 nearest of these rows. The remaining rows, fewer than k, go to their nearest centre.
2. Let rows and centres settle (see `polish`).

A table of more than CELL rows, or UNEVEN if weights differ, is cut into cells, and each is processed separately.

Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, Proceedings of the 18th ACM-SIAM symposium on
discrete algorithms (2007) 1027-1035. Bradley, Bennett and Demiriz, Constrained k-means clustering, Microsoft Research
MSR-TR-2000-65.
"""

import numpy as np

from shoal.catalogue import Growth, Whole
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.cells import in_cells
from shoal.cluster.search.polish import settle
from shoal.kernels.distance import squared
from shoal.kernels.loops import loop
from shoal.model.partition import Partition

CELL = 20_000  # rows that take some fifteen seconds
UNEVEN = 2_000  # the same if weights differ: light rows move far at little cost, so paths grow long


@numeric_method(
    "kmeans",
    ensures={"k"},
    params={
        "rounds": Whole(1, 1000, 30, help="Maximum number of rounds: fewer are faster, more lose less information.")
    },
    uses={"seed", "threads", "weights"},
    growth=Growth(1.6, linear_beyond=CELL, seconds=3.3, k_power=-0.3),
    in_cells=True,
)
def kmeans(X: Floats, k: int, rounds: int, *, run: Run) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows by k-means with a minimum group size.

    Guarantee
    ---------
    There are floor(n / k) groups, and every group holds between k and 2k - 1 rows, whatever they weigh. In every round
    no other assignment of rows to the centres near them costs less, up to rounding. The result depends on X, k, rounds,
    seed and weights alone: ties go to where a row is already, then to the lowest number.

    Cost
    ----
    O(c n d / k) time for the distances of a round, in cells of c rows: at most 20,000, or 2,000 if weights differ. The
    search for the assignment takes about as long. O(n) memory besides two copies of X.

    Examples
    --------
    >>> kmeans([[0.0], [10.0], [1.0], [9.0], [2.0]], k=2).labels
    array([0, 1, 0, 1, 0])
    """
    # Columns that start at zero: a mean far from zero would lose precision.
    Z, mass = X - X.min(axis=0), run.weights

    def in_cell(rows: Rows) -> Rows:
        groups = rows.size // k
        if groups == 1:
            return np.zeros(rows.size, np.int64)
        own, masses = Z[rows], mass[rows]
        centres, labels = _drawn(own, masses, np.random.default_rng(run.seed).random(groups), k)
        return settle(own, masses, own[centres], labels, k, rounds)

    most = CELL if (mass == mass[0]).all() else UNEVEN
    return Partition.of(in_cells(in_cell, Z, k, most, run.threads))


@loop
def _drawn(  # noqa: PLR0912 - sums are written out: those of NumPy take seconds to compile
    X: Floats, weights: Floats, draws: Floats, k: int
) -> tuple[Rows, Rows]:
    """Return the row that each draw from 0 to 1 makes a centre, and the centre that takes each row."""
    n = len(X)
    centres, labels = np.empty(draws.size, np.int64), np.full(n, -1)
    gaps, nearest = np.full(n, np.inf), np.zeros(n, np.int64)
    free, cumulative = weights.copy(), np.empty(n)
    near, rows = np.empty(k - 1), np.empty(k - 1, np.int64)
    for c in range(draws.size):
        total = 0.0
        if c > 0:
            for i in range(n):
                total += free[i] * gaps[i]
                cumulative[i] = total
        if total == 0.0:
            # The first draw; or all remaining rows coincide with a centre.
            for i in range(n):
                total += free[i]
                cumulative[i] = total
        row = 0
        while row < n and cumulative[row] <= draws[c] * total:
            row += 1
        # Rounding may lead beyond the last row that can be drawn.
        while row == n or labels[row] >= 0:
            row -= 1
        centres[c], labels[row], free[row] = row, c, 0.0
        near[:] = np.inf
        for i in range(n):
            square = squared(X, i, X, row)
            if square < gaps[i]:
                gaps[i], nearest[i] = square, c
            if labels[i] < 0 and square < near[-1]:
                place = k - 2
                while place > 0 and near[place - 1] > square:
                    near[place], rows[place] = near[place - 1], rows[place - 1]
                    place -= 1
                near[place], rows[place] = square, i
        for i in range(k - 1):
            labels[rows[i]], free[rows[i]] = c, 0.0
    for i in range(n):
        if labels[i] < 0:
            labels[i] = nearest[i]
    return centres, labels
