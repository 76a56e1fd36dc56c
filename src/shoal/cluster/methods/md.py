"""MD: groups of k rows, grown from the two rows farthest from each other.

1. While 3k rows or more are left: take the two remaining rows that are farthest from each other; group the one of lower
   number with its k - 1 nearest rows, then the other one with its k - 1 nearest of those left.
2. With 2k to 3k - 1 rows left: take these two rows again, and group only the one of lower number.
3. The remaining rows, k to 2k - 1 of them, are the last group.

Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control, IEEE
Transactions on Knowledge and Data Engineering 14 (2002) 189-201; steps 2 and 3 as in MDAV.

How the farthest pair is found without examining all pairs, and without changing the answer:

- Each row keeps the distance of its farthest partner when last searched. Rows only leave, so that stays an upper bound.
  A heap has the row of the greatest bound on top: if its partner is still there, the two are the farthest pair; if not,
  the partner is searched again.
- Rows are stored in the blocks of `search.layout`, in falling order of their distance from a fixed centre. By the
  triangle inequality the search for a partner ends where the rows are too near to the centre.
"""

import numpy as np

from shoal.catalogue import Growth
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import ROUNDING, WIDTH, Layout, drop, laid_out, look_around, measure
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

PIECE = 1 << 7  # groups between two progress ticks


@numeric_method("md", ensures={"k"}, growth=Growth(1.75, seconds=0.06, k_power=-0.6), in_cells=True)
def md(X: Floats, k: int) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows, starting from the two rows farthest apart.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X and k alone: of pairs equally far apart the one
    with the lowest row number is taken, then the one with the lowest partner.

    Cost
    ----
    O(n^2 d / k) time for groups, and for pairs O(n d) for each search of a partner, a few per row in practice; O(n)
    memory besides a copy of X.

    Examples
    --------
    >>> md([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    n = len(X)
    labels = np.full(n, -1, np.int64)
    partner = np.full(n, -1, np.int64)
    place = np.empty(n, np.int64)
    bound, heap = np.empty(n), np.empty(0, np.int64)
    groups = 0
    while (rows := np.flatnonzero(labels < 0)).size >= 2 * k:
        layout = laid_out(X, rows)
        rows, reach, left = layout.rows, layout.reach, rows.size
        place[rows] = np.arange(left)
        if not heap.size:
            # No two rows are farther apart than the sum of their distances from the centre.
            bound[rows] = ((reach[:n] + reach[0]) * (1 + ROUNDING * (X.shape[1] + 4))) ** 2
            heap = np.lexsort((np.arange(n), -bound))
        least = max(2 * k, 3 * left // 4)
        while left >= least:
            tick(n - left, n)
            groups, left = _carve(
                layout, place, bound, partner, heap, labels, k, groups, left, max(least, left - PIECE * k)
            )
    labels[labels < 0] = groups
    return Partition.of(labels)


@loop
def _carve(
    layout: Layout,
    place: Rows,
    bound: Floats,
    partner: Rows,
    heap: Rows,
    labels: Rows,
    k: int,
    group: int,
    left: int,
    least: int,
) -> tuple[int, int]:
    """Label group after group while `least` rows are left; return the numbers of groups and of remaining rows."""
    while left >= least:
        first = _outermost(layout, place, bound, partner, heap, labels)
        seeds = (place[first], place[partner[first]])
        count = 2 if left >= 3 * k else 1
        points = np.empty((2, layout.total.size))
        for turn in range(count):
            points[turn] = layout.blocks[seeds[turn] // WIDTH, :, seeds[turn] % WIDTH]
            drop(layout, seeds[turn], labels, group + turn)
        for turn in range(count):
            near, _ = look_around(layout, seeds[turn], points[turn], k - 1, False)
            for i in range(k - 1):
                drop(layout, int(near[i]), labels, group + turn)
        group += count
        left -= count * k
    return group, left


@loop
def _outermost(layout: Layout, place: Rows, bound: Floats, partner: Rows, heap: Rows, labels: Rows) -> int:
    """Return the row whose partner is farthest of all, ties to the lowest row, then to the lowest partner."""
    while True:
        row = heap[0]
        if labels[row] >= 0:
            bound[row] = -1.0
        elif partner[row] >= 0 and labels[partner[row]] < 0:
            return int(row)
        else:
            bound[row], partner[row] = _farthest(layout, place[row], row)
        _sink(heap, bound)


@loop
def _farthest(layout: Layout, home: int, own: int) -> tuple[float, int]:
    """Return the square of the greatest distance from a row at a place, and the row at that distance."""
    blocks, rows, reach, _, _ = layout
    slack = ROUNDING * (blocks.shape[1] + 4)
    point = blocks[home // WIDTH, :, home % WIDTH].copy()
    squares = np.empty(WIDTH)
    best, far = -1.0, -1
    for b in range(len(blocks)):
        most = (reach[home] + reach[b * WIDTH]) * (1 + slack)
        if most * most < best:
            break
        measure(blocks[b], 1.0, point, np.inf, squares)
        for w in range(WIDTH):
            if squares[w] >= best:
                row = rows[b * WIDTH + w]
                if row != own and (squares[w] > best or row < far):
                    best, far = squares[w], row
    return best, far


@loop
def _sink(heap: Rows, bound: Floats) -> None:
    """Sift the top of the heap down to where its bound belongs; the greatest is on top, ties by row."""
    row, hole = heap[0], 0
    while 2 * hole + 1 < heap.size:
        child = 2 * hole + 1
        if child + 1 < heap.size and _before(heap[child + 1], heap[child], bound):
            child += 1
        if _before(row, heap[child], bound):
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = row


@loop
def _before(one: int, other: int, bound: Floats) -> bool:
    """Return whether a row precedes another in the heap."""
    return bool(bound[one] > bound[other] or (bound[one] == bound[other] and one < other))
