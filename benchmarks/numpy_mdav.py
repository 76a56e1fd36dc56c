"""MDAV as a careful programmer writes it in NumPy alone: the reference for speed.

One distance vector serves the farthest and the nearest rows, nearest rows are found by partition instead of sorting,
and rows that have a group are overwritten by the last ones, so that no array is ever copied. Distances are sums of
squared differences, column by column: the shorter form |x|^2 - 2 x c + |c|^2 rounds so much that other rows are chosen.
"""

import numpy as np


def careful_mdav(X: np.ndarray, k: int) -> np.ndarray:
    """Return the group of each row."""
    left = np.asfortranarray(X, dtype=np.float64).copy(order="F")
    rows = np.arange(len(X))
    labels = np.empty(len(X), np.int64)
    total = left.sum(axis=0)
    m, group = len(X), 0
    gap, squares = np.empty(m), np.empty(m)

    def distances(point: np.ndarray) -> np.ndarray:
        """Return the squared distances of the rows left to a point, in an array that is reused."""
        near = squares[:m]
        np.subtract(left[:m, 0], point[0], out=near)
        np.multiply(near, near, out=near)
        for j in range(1, left.shape[1]):
            np.subtract(left[:m, j], point[j], out=gap[:m])
            np.multiply(gap[:m], gap[:m], out=gap[:m])
            near += gap[:m]
        return near

    def take(near: np.ndarray) -> int:
        """Give the k nearest rows a group and close the gaps with the last rows; return how many are left."""
        nearest = np.argpartition(near, k - 1)[:k]
        labels[rows[nearest]] = group
        total[:] -= left[nearest].sum(axis=0)
        end = m - k
        holes = nearest[nearest < end]
        movers = np.setdiff1d(np.arange(end, m), nearest, assume_unique=True)
        left[holes], rows[holes] = left[movers], rows[movers]
        near[holes] = near[movers]
        return end

    while m >= 3 * k:
        first = left[np.argmax(distances(total / m))].copy()
        near = distances(first)
        m = take(near)
        second = left[np.argmax(near[:m])].copy()
        group += 1
        m = take(distances(second))
        group += 1
    if m >= 2 * k:
        first = left[np.argmax(distances(total / m))].copy()
        m = take(distances(first))
        group += 1
    labels[rows[:m]] = group
    return labels
