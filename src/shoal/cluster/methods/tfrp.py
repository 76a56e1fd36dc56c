"""TFRP: groups of k rows, grown in turn from the rows farthest from two fixed points, then partly dissolved again.

1. The two points are the least and the greatest value of every column. In turn, the free row farthest from the first
   and from the second is grouped with its k - 1 nearest free rows, while k rows or more are free.
2. The remaining rows, fewer than k of them, join the group with the nearest mean.
3. The groups are visited once, in falling order of their SSE after step 2. A group is dissolved, each of its rows going
   to the nearest mean of the other groups, if that lowers the total SSE.
4. A group that then has 2k rows or more is split by MDAV.

Chang, Li and Huang, TFRP: an efficient microaggregation algorithm for statistical disclosure control, Journal of
Systems and Software 80 (2007) 1866-1878. The points never move, so the rows are sorted once by their distance from
each; free rows are stored in the blocks of `search.layout`.
"""

import numpy as np

from shoal.catalogue import Flag, Growth
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.joining import group_sums, hide, joined, means_of, nearest_group, show
from shoal.cluster.search.layout import Layout, gather, laid_out, piece, places_of
from shoal.cluster.search.sizes import capped
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

LOWER = 1 - 1e-12  # a sum must be lower by more than rounding
PIECE = 1 << 28  # differences of cells between two progress ticks


@numeric_method(
    "tfrp",
    ensures={"k"},
    params={
        "second": Flag(default=True, help="Whether a second stage dissolves groups into others where that lowers SSE.")
    },
    growth=Growth(1.8, seconds=0.1, k_power=-0.55),
    in_cells=True,
)
def tfrp(X: Floats, k: int, second: bool) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows, grown from two opposite corners of the table.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and `second` alone: ties go to the lowest
    row number, and between groups to the one made first.

    Cost
    ----
    O(n^2 d / k) time, O(n) memory besides two copies of X.

    Examples
    --------
    >>> tfrp([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    Z = X - X.min(axis=0)
    labels = joined(Z, _corners(Z, k, 2 if second else 1))
    if second:
        labels = _fewer(Z, labels)
    return Partition.of(capped(Z, labels, k))


def _corners(Z: Floats, k: int, stages: int) -> Rows:
    """Return the group of each row after the first stage, -1 for remaining ones."""
    n, d = Z.shape
    points = np.zeros(d), Z.max(axis=0)
    orders = [np.argsort(-((Z - point) ** 2).sum(axis=1), kind="stable") for point in points]
    labels = np.full(n, -1, np.int64)
    groups = 0
    while (left := np.flatnonzero(labels < 0)).size >= k:
        tick(n * n - left.size**2, stages * n * n)
        layout = laid_out(Z, left)
        first, last = (places_of(order[labels[order] < 0], layout.rows, n) for order in orders)
        groups = _carve(layout, Z, first, last, labels, k, groups, piece(left.size, d, k))
    return labels


def _fewer(Z: Floats, labels: Rows) -> Rows:
    """Return the groups after the second stage, without numbers of dissolved groups."""
    groups = int(labels.max()) + 1
    sums, sizes = group_sums(Z, labels, groups)
    order = np.argsort(-_spreads(Z, labels, sums, sizes), kind="stable")
    means = means_of(Z, sums, sizes, len(Z))
    step = 1 + PIECE // Z.size
    for start in range(0, groups, step):
        tick(groups + start, 2 * groups)
        _dissolve(Z, labels, *means, sums, sizes, order[start : start + step])
    return labels


@loop
def _carve(layout: Layout, Z: Floats, first: Rows, last: Rows, labels: Rows, k: int, group: int, count: int) -> int:
    """Label `count` groups, or fewer if the rows do not suffice; return the number of groups made so far."""
    rows = layout.rows
    members = np.empty(k, np.int64)
    begin = np.zeros(2, np.int64)
    for _ in range(min(count, rows.size // k)):
        order = first if group % 2 == 0 else last
        i = begin[group % 2]
        while labels[rows[order[i]]] >= 0:
            i += 1
        begin[group % 2] = i
        gather(layout, Z, order[i], members)
        for place in members:
            labels[rows[place]] = group
        group += 1
    return group


@loop
def _spreads(Z: Floats, labels: Rows, sums: Floats, sizes: Rows) -> Floats:
    """Return the SSE of each group."""
    squares = np.zeros(sizes.size)
    for i in range(labels.size):
        squares[labels[i]] += _squared_distance(Z, i, sums, sizes, int(labels[i]))
    return squares / (sizes * sizes)


@loop
def _dissolve(Z: Floats, labels: Rows, means: Floats, slack: float, sums: Floats, sizes: Rows, order: Rows) -> None:
    """Visit groups, and dissolve each of them if that lowers the total SSE."""
    for group in order:
        rows = np.flatnonzero(labels == group)
        lost, gained = 0.0, 0.0
        for row in rows:
            lost += _squared_distance(Z, int(row), sums, sizes, group)
        lost /= rows.size * rows.size
        hide(means, group)
        goals, before = np.empty(rows.size, np.int64), np.empty((rows.size, Z.shape[1]))
        for i in range(rows.size):
            goals[i] = nearest_group(Z, rows[i], means, slack, sums, sizes)
        if goals[0] < 0:
            break
        for i in range(rows.size):
            goal = goals[i]
            # One row more adds m / (m + 1) |x - S / m|^2.
            gained += _squared_distance(Z, rows[i], sums, sizes, goal) / (sizes[goal] * (sizes[goal] + 1.0))
            sizes[goal] += 1
            for j in range(Z.shape[1]):
                before[i, j] = sums[goal, j]
                sums[goal, j] += Z[rows[i], j]
        if gained < lost * LOWER:
            for i in range(rows.size):
                labels[rows[i]] = goals[i]
                show(means, sums, sizes, goals[i])
        else:
            for i in range(rows.size - 1, -1, -1):
                sizes[goals[i]] -= 1
                for j in range(Z.shape[1]):
                    sums[goals[i], j] = before[i, j]
            show(means, sums, sizes, group)


@loop
def _squared_distance(Z: Floats, row: int, sums: Floats, sizes: Rows, group: int) -> float:
    """Return |m x - S|^2 for a row and a group of m rows with sum S: integers are not rounded."""
    total = 0.0
    for j in range(Z.shape[1]):
        gap = sizes[group] * Z[row, j] - sums[group, j]
        total += gap * gap
    return total
