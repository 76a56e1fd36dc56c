"""Rows before and after in the plane of their largest variance, counted in squares."""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.axes import principal_axes
from shoal.model.partition import Partition
from shoal.model.sketches import PlaneSketch

MOST, FEWEST, EACH = 30, 6, 2  # squares along an axis, and the mean number of rows in one, in multiples of k


def plane(X: NDArray[np.float64], partition: Partition, k: int) -> PlaneSketch | None:
    """Return how rows and the means of their groups lie in the plane of the first two principal axes.

    Squares with fewer than k rows are shown empty.
    """
    if X.shape[1] < 2 or not (X.max(axis=0) > X.min(axis=0)).any():
        return None
    before = (X - X.mean(axis=0)) @ principal_axes(X)[0]
    means = np.column_stack([np.bincount(partition.labels, column) for column in before.T]) / partition.sizes[:, None]
    # An outlier would squeeze all others into one square: the outermost 1 % of the rows is not shown.
    squares = int(np.clip(np.sqrt(len(X) / (EACH * k)), FEWEST, MOST))
    ends = np.percentile(before, [0.5, 99.5], axis=0)
    edges = [np.linspace(low, high, squares + 1) for low, high in ends.T]
    if any(edge[0] == edge[-1] for edge in edges):
        return None
    one, two = (_counted(points, edges, k) for points in (before, means[partition.labels]))
    return PlaneSketch((edges[0], edges[1]), one, two)


def _counted(points: NDArray[np.float64], edges: list[NDArray[np.float64]], k: int) -> NDArray[np.float64]:
    """Return the number of points in each square, 0 where there are fewer than k."""
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=(edges[0], edges[1]))[0]
    return np.where(counts < k, 0.0, counts)
