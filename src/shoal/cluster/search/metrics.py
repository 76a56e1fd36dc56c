"""Metrics and linkages: distances of two rows, and of two groups of rows.

1. `space` returns the rows in which a metric is measured: as they are, or, for Mahalanobis, rotated and scaled so that
   their covariance is the identity. There the metric is the Euclidean one.
2. `fill` writes the distance of every pair of rows, each pair once: half the memory of a square. The distance of i and
   j > i is at `starts(n)[i] + j`.
3. `linkage` computes the linkage of two groups from the sum T of the distances between them (for single and complete
   linkage the least and the greatest) and the sums W and W' of those inside each. With a and b rows, average linkage is
   T/ab. With squared distances the centroids are T/ab - W/a^2 - W'/b^2 apart, which times ab/(a + b) is what merging
   adds to SSE (Ward); with plain distances that is half the energy distance.

Sums are never divided before the last step, so on integers ties are recognized.
"""

from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.errors import MethodError
from shoal.kernels.loops import loop

SQUARES, SUM, LARGEST, UNEQUAL = range(4)  # how `fill` combines the columns
FOLD = {
    "euclidean": SQUARES,
    "squared": SQUARES,
    "manhattan": SUM,
    "maximum": LARGEST,
    "mahalanobis": SQUARES,
    "hamming": UNEQUAL,
}
METRICS = tuple(FOLD)
DEPENDENT = 1e-12  # of the greatest eigenvalue of the correlations: below it, columns are linearly dependent

SINGLE, COMPLETE, AVERAGE, CENTROID, WARD = range(5)
KIND = {"single": SINGLE, "complete": COMPLETE, "average": AVERAGE, "centroid": CENTROID, "ward": WARD, "energy": WARD}
FITTING = {
    "single": METRICS,
    "complete": METRICS,
    "average": METRICS,
    "centroid": ("euclidean", "squared", "mahalanobis"),
    "ward": ("euclidean", "squared", "mahalanobis"),
    "energy": ("euclidean", "manhattan", "mahalanobis", "hamming"),
}


class MergeRules(NamedTuple):
    """Which groups may be merged, and how distant they are."""

    k: int
    cap: int
    both: bool  # whether both must have fewer than k rows, not only one
    kind: int
    power: int  # of the size of the union, by which distances are divided


def space(X: Floats, metric: str, who: str) -> tuple[Floats, tuple[str, ...]]:
    """Return the rows in which the metric, one of METRICS, is measured, and notes about it."""
    if metric == "hamming":
        _codes_only(X, who)
    if metric != "mahalanobis":
        return X, ()
    moved = X - X.min(axis=0)
    reach = moved.max(axis=0)
    varied = reach > 0
    if not varied.any():
        raise MethodError(
            f"{who}: metric 'mahalanobis' needs a column that varies; none of the {X.shape[1]} columns does. "
            "Use metric 'euclidean'."
        )
    scores = np.ascontiguousarray(moved[:, varied] / reach[varied])
    scores -= scores.mean(axis=0)
    scores /= np.sqrt((scores * scores).mean(axis=0))
    values, vectors = np.linalg.eigh(scores.T @ scores / len(X))
    kept = values > DEPENDENT * values.max()
    rank = int(kept.sum())
    note = (
        f"{who}: the covariance of the {X.shape[1]} columns has rank {rank}: some are constant or depend on "
        "others. Mahalanobis distances use its pseudo-inverse."
    )
    turned = _projected(scores, np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept])))
    return turned, (note,) if rank < X.shape[1] else ()


def starts(n: int) -> Rows:
    """Return where the distances of each row begin, less the number of its first partner."""
    row = np.arange(n, dtype=np.int64)
    return row * (2 * n - row - 1) // 2 - row - 1


def _codes_only(X: Floats, who: str) -> None:
    """Refuse columns of measured numbers, for which it means nothing that two of them differ."""
    # In a column of two values, any difference is meaningful.
    low, high, whole = X.min(axis=0), X.max(axis=0), np.floor(X)
    many = ((low < X) & (high > X)).any(axis=0)
    wrong = int(np.count_nonzero((whole < X) & many))
    if wrong:
        raise MethodError(
            f"{who}: metric 'hamming' counts the columns in which two rows differ and needs codes, that is whole "
            f"numbers or columns of two values; {wrong} of the {X.size} cells are neither. "
            "Use metric 'manhattan' or 'euclidean'."
        )


@loop
def fill(distances: Floats, X: Floats, fold: int, root: bool) -> None:
    """Write the distance of every pair of rows; X is stored column by column."""
    d, n = X.shape
    begin = 0
    for i in range(n - 1):
        row = distances[begin : begin + n - 1 - i]
        begin += row.size
        row[:] = 0.0
        for c in range(d):
            own = X[c, i]
            others = X[c, i + 1 :]
            if fold == SQUARES:
                for j in range(row.size):
                    row[j] += (own - others[j]) * (own - others[j])
            elif fold == SUM:
                for j in range(row.size):
                    row[j] += abs(own - others[j])
            elif fold == LARGEST:
                for j in range(row.size):
                    row[j] = max(row[j], abs(own - others[j]))
            else:
                for j in range(row.size):
                    row[j] += own != others[j]
        if root:
            for j in range(row.size):
                row[j] = np.sqrt(row[j])


@loop
def linkage(rules: MergeRules, a: int, b: int, total: float, inside: float, within: float) -> float:
    """Return the distance of two groups of a and b rows, or infinity if they may not be merged."""
    low = max(a, b) if rules.both else min(a, b)
    if low >= rules.k or a + b > rules.cap:
        return np.inf
    share = 1.0
    if rules.kind >= AVERAGE:
        share = float(a * b)
    if rules.kind >= CENTROID:
        total = max(share * total - b * b * inside - a * a * within, 0.0)
        share *= share if rules.kind == CENTROID else a + b
    for _ in range(rules.power):
        share *= a + b
    return float(total / share)


@loop
def united(rules: MergeRules, one: float, other: float) -> float:
    """Return the linkage sum of a union with a third group, given those of its two parts."""
    if rules.kind == SINGLE:
        return min(one, other)
    return max(one, other) if rules.kind == COMPLETE else one + other


@loop
def _projected(X: Floats, axes: Floats) -> Floats:
    """Return X times axes, each row by the same operations, so that equal rows stay equal."""
    turned = np.zeros((len(X), axes.shape[1]))
    for i in range(len(X)):
        for c in range(X.shape[1]):
            for r in range(axes.shape[1]):
                turned[i, r] += X[i, c] * axes[c, r]
    return turned
