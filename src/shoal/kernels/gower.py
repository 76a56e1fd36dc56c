"""Gower's distance of rows with columns of any kind, and the row in the middle of a group by it.

1. Two names that differ are 1 apart, a missing one being a name.
2. Two numbers, days or levels are twice their difference apart, as a part of the whole width; a missing one is 1 apart
   from all others.
3. Two leaves of a tree are apart what the lowest node above both loses.
4. Columns are weighted, and the distance is the sum.

Gower, A general coefficient of similarity and some of its properties, Biometrics 27 (1971) 857-871. Twice the
difference, because two rows by chance are about a third of the width apart, but two names mostly differ.
"""

import numpy as np

from shoal.kernels.columns import RANGE, SET, Columns, Whole, pair_loss
from shoal.kernels.loops import inner_loop

__all__ = ["apart", "medoids"]

MANY = 500  # rows of a group that are compared with each other


def apart(columns: Columns) -> Columns:
    """Return columns in which the loss of two rows is their distance."""
    at, toll = columns.at.copy(), columns.toll.copy()
    for j in range(columns.kind.size):
        start, size = int(columns.start[j]), int(columns.width[j])
        if columns.kind[j] == SET:
            toll[j] = columns.toll[j] * (size - 1)
        elif columns.kind[j] == RANGE:
            whole = float(at[start + size - 1]) if size else 0.0
            toll[j] += whole
            if whole > 0:
                at[start : start + size] = at[start : start + size] / whole * (2 * toll[j])
    return columns._replace(at=at, toll=toll)


def medoids(columns: Columns, labels: Whole) -> Whole:
    """Return the row of each group that is nearest to its others; the one with the lowest codes of equals."""
    rank = np.empty(labels.size, np.int64)
    rank[np.lexsort(columns.codes.T[::-1])] = np.arange(labels.size)
    order = np.lexsort((rank, labels))
    ends = np.cumsum(np.bincount(labels))
    found = np.empty(ends.size, np.int64)
    _medoids(apart(columns), order, ends, found)
    return found


@inner_loop
def _medoids(columns: Columns, order: Whole, ends: Whole, found: Whole) -> None:
    """Fill in the row of each group that has the least sum of distances; rows stand group by group.

    In a group of very many rows some of them stand for all.
    """
    start = 0
    for group in range(ends.size):
        best, step = np.inf, 1 + (ends[group] - start) // MANY
        for i in range(start, ends[group], step):
            total = 0.0
            for other in range(start, ends[group], step):
                if total < best:
                    total += pair_loss(columns, order[i], order[other], np.inf)
            if total < best:
                best, found[group] = total, order[i]
        start = ends[group]
