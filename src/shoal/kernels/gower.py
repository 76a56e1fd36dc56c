"""Gower distances of rows with columns of any kind, and the medoid that represents a group.

1. Two different categories are 1 apart, divided by the root of the probability that two rows differ in this column: a
   shared rare category means more. A missing category is a category.
2. Two numbers, days or levels are as far apart as the share of rows between them, a third for two random rows. Ranks do
   not depend on the unit, nor on outliers. A missing one is 1 apart from all others.
3. Two leaves of a tree are as far apart as the loss of the lowest node above both.
4. Columns are weighted, and the distance is the sum. All terms are multiples of 2^-40, so that sums are exact and ties
   are recognized.

Gower, A general coefficient of similarity and some of its properties, Biometrics 27 (1971) 857-871, uses values instead
of ranks, and treats all categories alike.

The **medoid** of a group has the least sum of distances to its rows. Always taking it would publish the most frequent
values too often: a rare one is seldom in the middle. So among the rows within 15% of the least sum, the one is taken
whose values are most under-represented in what is published so far.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.columns import RANGE, SET, Columns, Floats, Whole, pair_loss
from shoal.kernels.loops import callable_inner_loop

MANY = 500  # rows of a group compared with each other
ALMOST = 1.15  # times the least sum of distances: rows that may represent their group
RARELY = 1 / 64  # lower limit of the probability that two rows differ
GRID = 2.0**40
VALUES, PARTS = 100, 20  # a range of more values is balanced by parts of equal frequency

Marks = NDArray[np.int32]
Flags = NDArray[np.bool_]


def as_distances(columns: Columns) -> Columns:
    """Return columns for which the loss of two rows is their distance."""
    at, toll = columns.at.copy(), columns.toll.copy()
    for j in range(columns.kind.size):
        start, size = int(columns.start[j]), int(columns.width[j])
        counts = np.bincount(columns.codes[:, j], minlength=size + 1)[: size + 1]
        if columns.kind[j] == SET:
            differ = 1 - float(np.square(counts / max(1, counts.sum())).sum())
            toll[j] = columns.toll[j] * (size - 1) / np.sqrt(max(differ, RARELY))
        elif columns.kind[j] == RANGE and size:
            toll[j] += at[start + size - 1]
            ranks = (np.cumsum(counts[:size]) - counts[:size] / 2) / max(1, counts[:size].sum())
            at[start : start + size] = ranks * toll[j]
    return columns._replace(at=np.rint(at * GRID) / GRID, toll=np.rint(toll * GRID) / GRID)


def medoids(columns: Columns, labels: Whole, penalty: Whole | None = None) -> Whole:
    """Return the row that represents each group, ties to the one with the lowest codes.

    Only the rows of a group with the least `penalty` can represent it.
    """
    excluded = np.zeros(labels.size, np.bool_)
    if penalty is not None:
        least = np.full(int(labels.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, labels, penalty)
        excluded = penalty > least[labels]
    rank = np.empty(labels.size, np.int64)
    rank[np.lexsort(columns.codes.T[::-1])] = np.arange(labels.size)
    order = np.lexsort((rank, labels))  # rows of a group, the one with the lowest codes first
    sizes = np.bincount(labels)
    found = np.empty(sizes.size, np.int64)
    marks, counts = _marks(columns)
    scratch = np.zeros(int(sizes.max(initial=0)))
    _medoids(
        as_distances(columns), order, np.cumsum(sizes), excluded, marks, counts, np.zeros(counts.size), scratch, found
    )
    return found


def _marks(columns: Columns) -> tuple[Marks, Floats]:
    """Return the counted class of each cell, numbered across all columns, and how many cells have each."""
    marks, first, counts = np.empty_like(columns.codes), 0, [np.zeros(0)]
    for j in range(columns.kind.size):
        codes, size = columns.codes[:, j], int(columns.width[j]) + 1
        if columns.kind[j] == RANGE and size > VALUES:
            held = np.bincount(codes, minlength=size)
            part = (np.cumsum(held) - held) * PARTS // max(1, codes.size)
            part[-1] = PARTS  # missing values
            codes, size = part[codes], PARTS + 1
        marks[:, j] = codes + first
        counts.append(np.bincount(codes, minlength=size).astype(np.float64))
        first += size
    return marks, np.concatenate(counts)


@callable_inner_loop
def _medoids(
    columns: Columns,
    order: Whole,
    ends: Whole,
    excluded: Flags,
    marks: Marks,
    counts: Floats,
    surplus: Floats,
    sums: Floats,
    found: Whole,
) -> None:
    """Write the row that represents each group; rows are listed group by group.

    In a group of very many rows only some of them are compared, and may represent it.
    """
    start = 0
    for group in range(ends.size):
        size = ends[group] - start
        step = 1 + size // MANY
        best = np.inf
        for i in range(size):
            sums[i] = np.inf
            if not excluded[order[start + i]] and (i % step == 0 or best == np.inf):
                sums[i] = 0.0
                for other in range(0, size, step):
                    if sums[i] <= ALMOST * best:
                        sums[i] += pair_loss(columns, order[start + i], order[start + other], np.inf)
                best = min(best, sums[i])
        for i in range(size):
            for j in range(marks.shape[1]):
                surplus[marks[order[start + i], j]] -= 1
        least = np.inf
        for i in range(size):
            if sums[i] <= ALMOST * best:
                # The increase by this row of the sum of surplus^2 / count over all values of all columns.
                gain = 0.0
                for j in range(marks.shape[1]):
                    mark = marks[order[start + i], j]
                    gain += (2 * surplus[mark] + size) / counts[mark]
                if gain < least:
                    least, found[group] = gain, order[start + i]
        for j in range(marks.shape[1]):
            surplus[marks[found[group], j]] += size
        start = ends[group]
