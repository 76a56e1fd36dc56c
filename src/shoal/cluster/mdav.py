"""MDAV: groups of k rows, grown from the rows farthest from the mean.

1. While 3k rows or more are left: take the row farthest from their mean and the row farthest
   from that one; group each with its k - 1 nearest rows.
2. With 2k to 3k - 1 rows left: group the row farthest from their mean likewise.
3. The rows left over, k to 2k - 1 of them, are the last group.

Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through
microaggregation, Data Mining and Knowledge Discovery 11 (2005) 195-212.

How it is made quick without changing the answer:

* The rows left lie in blocks of 32, column by column, in falling order of their distance from
  a fixed centre. By the triangle inequality that order tells which blocks cannot hold a row far
  or near enough; and a block is given up halfway when no row of it can be near enough any more.
* Every comparison ends with the row number, and the distance from the mean is compared as
  `|m x - S|`, with S the sum of the m rows left: on whole numbers nothing is ever rounded, so
  ties are seen as ties.
* Whenever a quarter of the rows has gone, the rest is laid out anew and summed from scratch.
"""

import numpy as np
from numpy.typing import ArrayLike

from shoal.cluster.given import Floats, Rows, matrix
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick
from shoal.registry import Whole, method

__all__ = ["mdav"]

WIDTH = 32  # rows in a block
STRIDE = 16  # columns between two looks whether a block can be given up
PIECE = 1 << 28  # differences of cells between two ticks
ROUNDING = 2.0**-49  # times d + 4: more than any distance is off by, so that no row is passed over


@method(
    "mdav",
    data="numeric",
    ensures={"k"},
    params={"k": Whole(2, help="The least number of rows in a group.")},
)
def mdav(X: ArrayLike, k: int) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows close to each other.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
        The encoded table, columns on scales that may be compared.
    k : int, 2 <= k <= n
        The least number of rows in a group.

    Returns
    -------
    Partition

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X and k alone: ties go to
    the lowest row number.

    Cost
    ----
    O(n^2 d / k) time, O(n) memory beside a copy of X.

    Examples
    --------
    >>> mdav([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    numbers = matrix(X, k, "mdav")
    n = len(numbers)
    labels = np.full(n, -1, np.int64)
    groups = 0
    while (rows := np.flatnonzero(labels < 0)).size >= 2 * k:
        layout, left = _laid_out(numbers, rows), rows.size
        least = max(2 * k, 3 * left // 4)
        while left >= least:
            # The work left is about the square of the rows left; a piece of it takes a fraction of a second.
            tick(n * n - left * left, n * n)
            piece = max(2 * k, PIECE * k // (left * numbers.shape[1]))
            groups, left = _carve(*layout, labels, k, groups, left, max(least, left - piece + 1))
    labels[labels < 0] = groups
    return Partition.of(labels)


def _laid_out(X: Floats, rows: Rows) -> tuple[Floats, Rows, Floats, Floats, Floats]:
    """Return the rows in blocks, outermost first: blocks, row of each place, its reach, centre, sum."""
    total, centre, reach = _spread(X, rows)
    outermost = np.argsort(-reach, kind="stable")
    rows, reach = rows[outermost], reach[outermost]
    # The places that pad the last block hold NaN, and no comparison with NaN holds.
    blocks = np.full((-(-rows.size // WIDTH), X.shape[1], WIDTH), np.nan)
    _fill(blocks, X, rows)
    reach = np.pad(reach, (0, len(blocks) * WIDTH - rows.size), mode="edge")
    return blocks, rows, reach, centre, total


@loop
def _carve(
    blocks: Floats,
    rows: Rows,
    reach: Floats,
    centre: Floats,
    total: Floats,
    labels: Rows,
    k: int,
    group: int,
    left: int,
    least: int,
) -> tuple[int, int]:
    """Label group after group while `least` rows are left; return the numbers of groups and of rows left."""
    while left >= least:
        seed = _farthest_from_mean(blocks, rows, reach, centre, total, left)
        seeds = 2 if left >= 3 * k else 1
        for turn in range(seeds):
            opposite = turn + 1 < seeds
            point = blocks[seed // WIDTH, :, seed % WIDTH].copy()
            _drop(seed, blocks, rows, total, labels, group)
            places, far = _look_around(blocks, rows, reach, seed, point, k - 1, opposite)
            for i in range(k - 1):
                _drop(int(places[i]), blocks, rows, total, labels, group)
            seed = far
            if opposite and labels[rows[seed]] >= 0:
                # All rows lie equally far from the first seed: the tie goes to the lowest one left.
                for place in range(rows.size):
                    if labels[rows[place]] < 0 and (labels[rows[seed]] >= 0 or rows[place] < rows[seed]):
                        seed = place
            group += 1
            left -= k
    return group, left


@loop
def _farthest_from_mean(blocks: Floats, rows: Rows, reach: Floats, centre: Floats, total: Floats, left: int) -> int:
    """Return the place of the row farthest from the mean of the rows left."""
    slack = ROUNDING * (total.size + 4)
    drift = 0.0
    for j in range(total.size):
        gap = abs(total[j] / left - centre[j]) + slack * abs(centre[j])
        drift += gap * gap
    drift = np.sqrt(drift)
    squares = np.empty(WIDTH)
    best, far = -1.0, 0
    for b in range(len(blocks)):
        most = left * (reach[b * WIDTH] + drift) * (1 + slack)
        if most * most < best:
            break
        _measure(blocks[b], float(left), total, np.inf, squares)
        best, far = _farther(squares, rows, b * WIDTH, best, far)
    return far


@loop
def _look_around(
    blocks: Floats, rows: Rows, reach: Floats, seed: int, point: Floats, count: int, opposite: bool
) -> tuple[Rows, int]:
    """Return the places of the rows nearest to the point and, if it is asked for, of the farthest one."""
    slack = ROUNDING * (point.size + 4)
    squares = np.empty(WIDTH)
    near, places = np.full(count, np.inf), np.zeros(count, np.int64)
    best, far = (-1.0 if opposite else np.inf), 0
    home, own = seed // WIDTH, reach[seed]
    for turn in range(len(blocks) + 1):
        # The seed's own block comes first: it sets a limit that spares others.
        b = home if turn == 0 else turn - 1
        if turn > 0 and b == home:
            continue
        high, low = reach[b * WIDTH], reach[b * WIDTH + WIDTH - 1]
        most = (own + high) * (1 + slack)
        farther = most * most >= best
        gap = max(own - high, low - own) - slack * (own + high)
        nearer = gap <= 0 or gap * gap * (1 - slack) <= near[0]
        if not farther and not nearer:
            if high < own:
                break
            continue
        if not _measure(blocks[b], 1.0, point, np.inf if farther else near[0], squares):
            continue
        for w in range(WIDTH):
            place = b * WIDTH + w
            if squares[w] <= near[0] and (squares[w] < near[0] or rows[place] < rows[places[0]]):
                _replace_worst(near, places, rows, squares[w], place)
        if farther:
            best, far = _farther(squares, rows, b * WIDTH, best, far)
    return places, far


@loop
def _measure(block: Floats, scale: float, point: Floats, limit: float, squares: Floats) -> bool:
    """Fill in |scale x - point|^2 for each row x of a block; False as soon as all exceed the limit."""
    d = len(block)
    whole = d - d % 4
    squares[:] = 0.0
    for j in range(0, whole, 4):
        if j % STRIDE == 0 and j > 0:
            within = 0
            for w in range(WIDTH):
                within += squares[w] <= limit
            if within == 0:
                return False
        # Four columns a turn keep the sums in registers; they are added in the order of the columns.
        for w in range(WIDTH):
            e = scale * block[j, w] - point[j]
            f = scale * block[j + 1, w] - point[j + 1]
            g = scale * block[j + 2, w] - point[j + 2]
            h = scale * block[j + 3, w] - point[j + 3]
            squares[w] = squares[w] + e * e + f * f + g * g + h * h
    for j in range(whole, d):
        for w in range(WIDTH):
            e = scale * block[j, w] - point[j]
            squares[w] += e * e
    return True


@loop
def _farther(squares: Floats, rows: Rows, start: int, best: float, far: int) -> tuple[float, int]:
    """Return the greatest square so far and its place, ties to the lowest row."""
    for w in range(WIDTH):
        if squares[w] >= best and (squares[w] > best or rows[start + w] < rows[far]):
            best, far = squares[w], start + w
    return best, far


@loop
def _replace_worst(near: Floats, places: Rows, rows: Rows, square: float, place: int) -> None:
    """Put a row in the stead of the worst of the nearest, which a heap keeps in front."""
    hole = 0
    while 2 * hole + 1 < near.size:
        child = 2 * hole + 1
        other = child + 1
        if other < near.size and (
            near[other] > near[child] or (near[other] == near[child] and rows[places[other]] > rows[places[child]])
        ):
            child = other
        if near[child] < square or (near[child] == square and rows[places[child]] < rows[place]):
            break
        near[hole], places[hole] = near[child], places[child]
        hole = child
    near[hole], places[hole] = square, place


@loop
def _drop(place: int, blocks: Floats, rows: Rows, total: Floats, labels: Rows, group: int) -> None:
    """Give a row its group and take it out of the rows left."""
    b, w = place // WIDTH, place % WIDTH
    for j in range(total.size):
        total[j] -= blocks[b, j, w]
    blocks[b, 0, w] = np.nan
    labels[rows[place]] = group


@loop
def _spread(X: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
    """Return the sum and the mean of the rows and the distance of each from the mean."""
    total = np.zeros(X.shape[1])
    for row in rows:
        for j in range(X.shape[1]):
            total[j] += X[row, j]
    centre = total / rows.size
    reach = np.zeros(rows.size)
    for i in range(rows.size):
        for j in range(X.shape[1]):
            gap = X[rows[i], j] - centre[j]
            reach[i] += gap * gap
    return total, centre, np.sqrt(reach)


@loop
def _fill(blocks: Floats, X: Floats, rows: Rows) -> None:
    """Copy the rows into their places."""
    for i in range(rows.size):
        for j in range(X.shape[1]):
            blocks[i // WIDTH, j, i % WIDTH] = X[rows[i], j]
