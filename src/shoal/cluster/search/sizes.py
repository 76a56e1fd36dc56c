"""Sizes: groups of 2k rows or more, cut until none is left. Cutting a group never raises SSE."""

import numpy as np

from shoal.cluster.inputs import Floats, Rows, matrix
from shoal.cluster.search.carving import carved
from shoal.model.partition import Partition
from shoal.model.progress import silently


def capped(X: Floats, labels: Rows, k: int) -> Rows:
    """Return labels in which every group of 2k rows or more is cut into groups of k to 2k - 1 by MDAV."""
    sizes = np.bincount(labels)
    if sizes.max() < 2 * k:
        return labels
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    result, first = labels.copy(), sizes.size
    with silently():
        for group in np.flatnonzero(sizes >= 2 * k):
            rows = order[ends[group] - sizes[group] : ends[group]]
            parts = Partition.of(carved(matrix(X[rows], k, "mdav"), k, 3 * k)).labels
            result[rows[parts > 0]] = first + parts[parts > 0] - 1
            first += int(parts.max())
    return result
