"""Joining: rows without a group go to the group with the nearest mean.

Means are stored in blocks, as rows are in `search.layout`. A mean is rounded; where it could matter, the distance is
compared as |m x - S|^2 / m^2, with S the sum of the m rows of the group, so that on integers ties are recognized. The
columns of Z start at zero, so that sums of integers stay small.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import ROUNDING, WIDTH, fill, measure
from shoal.kernels.loops import loop


def joined(Z: Floats, labels: Rows) -> Rows:
    """Assign each row without a group, labelled -1, to the one with the nearest mean."""
    sums, sizes = group_sums(Z, labels, int(labels.max()) + 1)
    means, left = means_of(Z, sums, sizes, len(Z)), np.flatnonzero(labels < 0)
    labels[left] = [nearest_group(Z, int(row), *means, sums, sizes) for row in left]
    return labels


def means_of(Z: Floats, sums: Floats, sizes: Rows, most: int) -> tuple[Floats, float]:
    """Return the means of groups of at most `most` rows, in blocks, and a bound of the rounding error of distances."""
    groups, d = sums.shape
    means = np.full((-(-groups // WIDTH), d, WIDTH), np.nan)
    fill(means, np.where(sizes[:, None] <= most, sums / sizes[:, None], np.nan), np.arange(groups))
    return means, ROUNDING * (d + 4) * float(np.linalg.norm(Z.max(axis=0)))


@loop
def nearest_group(Z: Floats, row: int, means: Floats, slack: float, sums: Floats, sizes: Rows) -> int:
    """Return the group with the nearest mean among those that are shown; ties to the lowest, -1 if there is none."""
    squares = np.empty(WIDTH)
    best, least, limit = -1, np.inf, np.inf
    for b in range(len(means)):
        if not measure(means[b], 1.0, Z[row], limit, squares):
            continue
        for w in range(WIDTH):
            if squares[w] <= limit:
                # Means are rounded, but |m x - S|^2 is exact on integers, so that equal distances stay equal.
                group, square = b * WIDTH + w, 0.0
                for j in range(Z.shape[1]):
                    gap = sizes[group] * Z[row, j] - sums[group, j]
                    square += gap * gap
                square /= float(sizes[group]) * sizes[group]
                if square < least:
                    best, least = group, square
                    limit = (np.sqrt(square) + slack) ** 2
    return best


@loop
def show(means: Floats, sums: Floats, sizes: Rows, group: int) -> None:
    """Store the mean of a group where `nearest_group` finds it."""
    for j in range(sums.shape[1]):
        means[group // WIDTH, j, group % WIDTH] = sums[group, j] / sizes[group]


@loop
def hide(means: Floats, group: int) -> None:
    """Hide the mean of a group: no comparison with NaN holds."""
    means[group // WIDTH, 0, group % WIDTH] = np.nan


@loop
def group_sums(X: Floats, labels: Rows, groups: int) -> tuple[Floats, Rows]:
    """Return the sum and the number of the rows of each group; a row labelled -1 is in none."""
    sums, sizes = np.zeros((groups, X.shape[1])), np.zeros(groups, np.int64)
    for i in range(labels.size):
        if labels[i] >= 0:
            sizes[labels[i]] += 1
            for j in range(X.shape[1]):
                sums[labels[i], j] += X[i, j]
    return sums, sizes
