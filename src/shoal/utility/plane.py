"""Rows before and after in the plane of their largest variance, counted in squares.

Of a large table, only some classes are drawn, with all their rows: those whose numbers are multiples of a whole number.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import principal_axes
from shoal.model.partition import Partition
from shoal.model.sketches import PlaneSketch

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_ROWS = 50_000  # rows drawn, approximately
MOST, FEWEST, EACH = 30, 6, 2  # squares along an axis, and the mean number of rows in one, in multiples of k


def plane(X: Floats, partition: Partition, k: int) -> PlaneSketch | None:
    """Return how rows and the means of their groups lie in the plane of the first two principal axes.

    Squares with fewer than k rows are shown empty.
    """
    if X.shape[1] < 2 or not (X.max(axis=0) > X.min(axis=0)).any():
        return None
    before = (X - X.mean(axis=0)) @ principal_axes(X)[0]
    means = np.column_stack([np.bincount(partition.labels, column) for column in before.T]) / partition.sizes[:, None]
    # An outlier would squeeze all others into one square: the outermost 1% of the rows is not shown.
    squares = int(np.clip(np.sqrt(len(X) / (EACH * k)), FEWEST, MOST))
    ends = np.percentile(before, [0.5, 99.5], axis=0)
    edges = [np.linspace(low, high, squares + 1) for low, high in ends.T]
    if any(edge[0] == edge[-1] for edge in edges):
        return None
    one, two = (_counted(points, edges, k) for points in (before, means[partition.labels]))
    return PlaneSketch((edges[0], edges[1]), one, two)


def plane_of_some(labels: Rows, k: int, matrix: Callable[[Rows | None], Floats]) -> PlaneSketch | None:
    """Return the plane of all rows or, of a large table, of the rows of some classes.

    `matrix` returns the given rows of the matrix, or all of them for None.
    """
    every = -(-labels.size // MOST_ROWS)
    if every <= 1:
        return plane(matrix(None), Partition.of(labels), k)
    rows = np.flatnonzero(labels % every == 0)
    found = plane(matrix(rows), Partition.of(labels[rows]), k)
    return found if found is None else replace(found, sampled=True)


def _counted(points: Floats, edges: list[Floats], k: int) -> Floats:
    """Return the number of points in each square, 0 where there are fewer than k."""
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=(edges[0], edges[1]))[0]
    return np.where(counts < k, 0.0, counts)
