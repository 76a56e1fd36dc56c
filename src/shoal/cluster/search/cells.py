"""Cells: a large table cut into parts that are processed one by one, or by several threads at once.

Rows are cut at a multiple of k along the column of largest variance, so that a method may start in each cell. Groups
are cut as a whole, along random directions, so that the borders of one pass lie inside the cells of the next.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.threads import each
from shoal.model.progress import silently

PAIRS = 4  # directions tried for a cut
SAMPLE = 256  # groups by which a direction is judged
JUDGED = 4096  # rows by which the spread of a column is judged, at least
COARSE = 16  # cells cut first, and then further by several threads


def in_cells(function: Callable[[Rows], Rows], X: Floats, k: int, most: int, threads: int) -> Rows:
    """Return labels of all rows, from a function that labels the rows of one cell from 0."""
    cells = cells_of_rows(X, k, most, threads)
    labels = np.empty(len(X), np.int64)
    first = 0
    for rows, own in zip(cells, each(function, cells, threads), strict=True):
        labels[rows] = first + own
        first += int(own.max()) + 1
    return labels


def in_cells_of_groups(
    function: Callable[[int, Rows, Rows], Rows], labels: Rows, cells: list[Rows], threads: int
) -> Rows:
    """Return new labels of all rows, from a function that relabels the rows of one cell.

    It receives the number of the cell, its rows, group by group, and their groups, numbered from 0.
    """
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    starts = ends - np.diff(ends, prepend=0)

    def work(number: int) -> tuple[Rows, Rows]:
        groups = cells[number]
        rows = np.concatenate([order[starts[group] : ends[group]] for group in groups])
        return rows, function(number, rows, np.repeat(np.arange(groups.size), ends[groups] - starts[groups]))

    result, first = np.empty_like(labels), 0
    for rows, own in each(work, range(len(cells)), threads):
        result[rows] = first + own
        first += int(own.max()) + 1
    return result


def cells_of_rows(X: Floats, k: int, most: int, threads: int = 1) -> list[Rows]:
    """Return the rows of each cell: at most `most` of them (never fewer than 2k - 1), at least k.

    A cell is cut in two at a multiple of k near its middle, along its column of largest variance, as estimated from
    some thousands of its rows; ties stay in the order of the rows.
    """
    most = max(most, 2 * k - 1)
    coarse = _cut(X, np.arange(len(X)), k, max(most, len(X) // COARSE))
    # Cutting is fast compared with the work in the cells, which starts its own progress count.
    with silently():
        parts = each(lambda rows: _cut(X, rows, k, most), coarse, threads)
    return [cell for cells in parts for cell in cells]


def _cut(X: Floats, rows: Rows, k: int, most: int) -> list[Rows]:
    """Return these rows in cells of at most `most`."""
    cells, waiting = [], [rows]
    while waiting:
        rows = waiting.pop()
        if rows.size <= most:
            cells.append(rows)
            continue
        spread = X[rows[:: max(1, rows.size // JUDGED)]].var(axis=0)
        column = X[rows, int(np.argmax(spread))]
        left = k * (rows.size // (2 * k))
        # Rows below the value at the cut go left; of the rows that tie with it, the first ones.
        value = np.partition(column, left)[left]
        below = column < value
        tied = np.flatnonzero(column == value)[: left - int(np.count_nonzero(below))]
        below[tied] = True
        waiting += [rows[~below], rows[below]]
    return cells


def cells_of_groups(centres: Floats, most: int, rng: Generator) -> list[Rows]:
    """Return the groups of each cell, at most `most` of them, by cuts in random directions."""
    cells, waiting = [], [np.arange(len(centres))]
    while waiting:
        groups = waiting.pop()
        if groups.size <= most:
            cells.append(np.sort(groups))
            continue
        points = centres[groups]
        heights = points @ _direction(points, rng)
        left = int(groups.size * rng.uniform(0.4, 0.6))
        order = np.argpartition(heights, left)
        waiting += [groups[order[left:]], groups[order[:left]]]
    return cells


def _direction(points: Floats, rng: Generator) -> Floats:
    """Return, of a few random directions between two points, the one along which a sample varies most."""
    n = len(points)
    sample = points[rng.integers(n, size=min(SAMPLE, 1 + n // 4))]
    one, two = rng.integers(n, size=(2, PAIRS))
    ways = points[one] - points[two]
    lengths = np.sqrt(np.einsum("ij,ij->i", ways, ways))
    # A pair of equal points has no direction.
    ways[lengths == 0] = 1.0
    ways /= np.where(lengths > 0, lengths, np.sqrt(points.shape[1]))[:, None]
    heights = sample @ ways.T
    return np.asarray(ways[int(np.argmax(heights.var(axis=0)))])
