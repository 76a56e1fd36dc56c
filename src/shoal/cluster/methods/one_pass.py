"""One-pass k-means: every row joins the nearest of n / k centres once, then the sizes are adjusted.

1. The rows are sorted by their columns, the first column first. floor(n / k) of them, drawn at random, are the seeds of
   the groups.
2. In this order every other row joins the group whose mean is nearest, and the mean moves at once.
3. Of every group above k rows, those farthest from its mean leave until k are left.
4. In the same order each of them joins the nearest group below k rows, as long as there is one, then simply the
   nearest; again means move at once.

Lin and Wei, An efficient clustering method for k-anonymization, Proceedings of the 2008 international workshop on
Privacy and anonymity in information society (PAIS), 46-50. There the rows of step 4 are drawn at random as well.
"""

import numpy as np

from shoal.catalogue import Growth
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.joining import group_sums, hide, means_of, nearest_group, show
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

PIECE = 1 << 28  # differences of cells between two progress ticks


@numeric_method(
    "one_pass", ensures={"k"}, uses={"seed"}, growth=Growth(1.75, seconds=0.055, k_power=-0.5), in_cells=True
)
def one_pass(X: Floats, k: int, *, run: Run) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows by one pass of k-means and an adjustment of sizes.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and the seed alone, and on the order of
    the rows of X only where rows are equal: ties go to the row that is first in the sorted order, and between groups
    to the one whose seed is.

    Cost
    ----
    O(n^2 d / k) time, O(n) memory besides two copies of X.

    Examples
    --------
    >>> one_pass([[0.0], [10.0], [1.0], [9.0]], k=2).labels
    array([0, 1, 0, 1])
    """
    n = len(X)
    order = np.lexsort(X.T[::-1])
    Z = X[order] - X.min(axis=0)
    labels = np.full(n, -1, np.int64)
    first = seeds(n, k, run.seed)
    labels[first] = np.arange(first.size)
    sums, sizes = group_sums(Z, labels, first.size)
    waiting = np.flatnonzero(labels < 0)
    means = means_of(Z, sums, sizes, n)
    step = 1 + PIECE // sums.size
    for start in range(0, waiting.size, step):
        tick(start, n)
        _join(Z, waiting[start : start + step], labels, *means, sums, sizes, n)

    leaving = _farthest(Z, labels, sums, sizes, k)
    labels[leaving] = -1
    sums, sizes = group_sums(Z, labels, first.size)
    wanted = int((k - sizes).sum())
    for rows, most in ((leaving[:wanted], k - 1), (leaving[wanted:], n)):
        _join(Z, rows, labels, *means_of(Z, sums, sizes, most), sums, sizes, most)
    found = np.empty(n, np.int64)
    found[order] = labels
    return Partition.of(found)


def seeds(n: int, k: int, seed: int) -> Rows:
    """Return the positions in the sorted order of the rows from which groups start, ascending."""
    return np.sort(np.random.default_rng(seed).choice(n, n // k, replace=False))


def _farthest(Z: Floats, labels: Rows, sums: Floats, sizes: Rows, k: int) -> Rows:
    """Return the rows that leave groups of more than k rows, ascending: those farthest from the mean."""
    # |m x - S| instead of |x - S / m|: on integers nothing is rounded, so ties are recognized.
    squares = ((sizes[labels, None] * Z - sums[labels]) ** 2).sum(axis=1)
    order = np.lexsort((-squares, labels))
    rank = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < sizes[labels[order]] - k])


@loop
def _join(
    Z: Floats, rows: Rows, labels: Rows, means: Floats, slack: float, sums: Floats, sizes: Rows, most: int
) -> None:
    """Let each row join the nearest group of at most `most` rows, whose mean moves at once."""
    for row in rows:
        group = nearest_group(Z, row, means, slack, sums, sizes)
        labels[row] = group
        sizes[group] += 1
        for j in range(Z.shape[1]):
            sums[group, j] += Z[row, j]
        if sizes[group] <= most:
            show(means, sums, sizes, group)
        else:
            hide(means, group)
