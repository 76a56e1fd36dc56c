"""Information loss: how far the rows are from their published values."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.sentences import Sentence
from shoal.privacy.measures.pairs import Pair

Matrix = NDArray[np.float64]


def sse(X: Matrix, labels: NDArray[np.int64], weights: Matrix | None = None) -> float:
    """Return the sum of squared distances of the rows to the means of their groups.

    Weights count in the means and in the sum. They are scaled to a mean of 1, so that weighted and unweighted figures
    are comparable.
    """
    counts = None if weights is None else _with_mean_one(weights)
    masses = np.bincount(labels, counts)
    masses[masses == 0] = 1  # rows without weight add nothing, wherever their mean is
    total = 0.0
    for column in X.T:
        weighted = column if counts is None else counts * column
        centred = column - (np.bincount(labels, weighted) / masses)[labels]
        total += float((centred if counts is None else counts * centred) @ centred)
    return total


def sst(X: Matrix, weights: Matrix | None = None) -> float:
    """Return the sum of squared distances of the rows to the mean of all, weights counting as in `sse`."""
    if weights is None:
        centred = X - X.mean(axis=0)
        return float(np.einsum("ij,ij->", centred, centred))
    counts = _with_mean_one(weights)
    centred = X - counts @ X / len(X)
    return float(np.einsum("i,ij,ij->", counts, centred, centred))


def partition_loss(
    columns: Iterable[Matrix], partition: Partition, weights: Matrix | None = None
) -> tuple[Finding, ...]:
    """Measure SSE, SST and IL = 100 SSE/SST on the columns of the matrix; IL is 0 where all rows are equal."""
    within = whole = 0.0
    for column in columns:
        within += sse(column[:, None], partition.labels, weights)
        whole += sst(column[:, None], weights)
    loss = 100 * within / whole if whole > 0 else 0.0
    by = "" if weights is None else ", rows counted by their weights"
    return (
        Finding("partition SSE", within, f"squared distances to the group means, standardized columns{by}", "groups"),
        Finding("partition SST", whole, f"squared distances to the mean of all rows{by}", "groups"),
        Finding("information loss %", loss, Sentence("100 SSE/SST{by}", by=by), "groups", unit="%"),
    )


def rounding_loss(columns: Sequence[Pair], labels: NDArray[np.int64]) -> float | None:
    """Return by how many per cent SSE rises because means of groups are rounded to a step; None without SSE."""
    exact = rounded = 0.0
    for column in columns:
        if column.form != "mean" or not column.ordered:
            continue
        before, after = column.numbers
        held = ~(np.isnan(before) | np.isnan(after))
        largest = float(np.abs(before[held]).max(initial=0.0)) or 1.0  # squares of huge numbers would overflow
        scaled, moved = before[held] / largest, after[held] / largest
        spread = float(scaled.std()) if held.any() else 0.0
        if spread == 0:
            continue
        own = sse((scaled / spread)[:, None], labels[held])
        moved = (scaled - moved) / spread
        exact += own
        rounded += float(moved @ moved)
    return 100 * max(0.0, rounded / exact - 1) if exact > 0 else None


def _with_mean_one(weights: Matrix) -> Matrix:
    """Return weights that add up to the number of rows; all equal if there is no weight at all."""
    largest = weights.max(initial=0.0)
    if largest == 0:
        return np.ones(weights.size)
    shares = weights / largest  # a sum of numbers up to 1 does not overflow
    return np.asarray(shares / shares.mean())
