"""Validity: whether the classes of a release are clusters of the original rows.

Rows are compared as `standardized` says. Indices use the original rows and the class of each.

1. **Davies-Bouldin**: width of classes against their distance, for each with its worst neighbour. Low is good.
2. **Silhouette**: how much nearer a row is to its own class than to the next. High is good.
3. **Calinski-Harabasz**: variance between classes against variance within. High is good.

Groups of k rows cut through any cloud of points, so that good releases have poor indices too: compare them between
releases of one table with the same k.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.privacy.measures.intervals import WIDE
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.values import read_column
from shoal.utility.loss import sse, sst

SAMPLED = 20_000  # rows or classes above which a random sample of them is compared with all
DISTANCES = 10**8  # that are computed of a sample
CELLS = 4 * 10**6  # in a block of distances
NAMES = 50  # categories of a column that are distinguished; rarer ones are merged

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


class Mean(NamedTuple):
    """A mean over rows or classes, over how many, and its 95% interval if these are a random sample."""

    value: float
    of: int
    interval: tuple[float, float] | None

    @classmethod
    def over(cls, figures: Floats, whole: int, low: float = -np.inf, high: float = np.inf) -> "Mean":
        """Return the mean of figures that lie from `low` to `high`, drawn from a `whole` number of them."""
        value = float(figures.mean())
        if figures.size == whole:
            return cls(value, whole, None)
        half = WIDE * float(figures.std(ddof=1)) / float(np.sqrt(figures.size))
        return cls(value, figures.size, (max(low, value - half), min(high, value + half)))


def standardized(columns: Sequence[Pair]) -> Floats:
    """Return the original columns as a matrix of numbers on one scale."""
    found = list(standardized_columns(columns))
    n = len(columns[0].before) if columns else 0
    return np.column_stack(found) if found else np.zeros((n, 0))


def standardized_columns(columns: Sequence[Pair]) -> Iterator[Floats]:
    """Yield the original columns as numbers on one scale, one at a time: with many categories there are many.

    Columns with an order become z-scores, a missing value being at their mean; constant ones are left out. Each
    category of another column becomes a column of 0 and sqrt(1/2), so that two different categories are at distance 1.
    """
    for column in columns:
        if column.ordered:
            numbers = column.numbers_before
            known = numbers[~np.isnan(numbers)]
            if known.size and known.max() > known.min():
                yield np.nan_to_num((numbers - known.mean()) / known.std(), nan=0.0)
        elif len(column.before):
            codes = read_column(column.before).codes
            counts = np.bincount(codes)
            often = np.argsort(-counts, kind="stable")[:NAMES]
            place = np.full(counts.size, NAMES)
            place[often] = np.arange(often.size)
            for name in range(min(NAMES + 1, counts.size) if counts.size > 1 else 0):
                yield np.where(place[codes] == name, np.sqrt(0.5), 0.0)


def davies_bouldin(X: Floats, labels: Labels, seed: int = 0) -> Mean | None:
    """Return the mean over classes of max over others of (s_i + s_j) / d_ij: from 0 up, low is good.

    s is the mean distance of the rows of a class to their mean, d the distance of two means. Pairs of classes with the
    same mean are left out. With more than 20,000 classes, a random sample is compared with all. None for fewer than two
    classes. Needs the groups. Davies and Bouldin (1979).
    """
    sizes = np.bincount(labels)
    if sizes.size < 2 or not X.shape[1]:
        return None
    means = np.column_stack([np.bincount(labels, column) for column in X.T]) / sizes[:, None]
    spread = np.bincount(labels, np.sqrt(((X - means[labels]) ** 2).sum(axis=1))) / sizes
    worst = []
    for some in _blocks(sizes.size, seed):
        distances = _distances(means[some], means)
        ratio = np.divide(
            spread[some][:, None] + spread[None, :], distances, out=np.zeros_like(distances), where=distances > 1e-12
        )
        ratio[np.arange(some.size), some] = 0.0
        worst.append(ratio.max(axis=1))
    return Mean.over(np.concatenate(worst), sizes.size, low=0.0)


def silhouette(X: Floats, labels: Labels, seed: int = 0) -> Mean | None:
    """Return the mean of (b - a) / max(a, b) over rows: from -1 to 1, high is good.

    a is the mean distance of a row to the others of its class, b that to the rows of the nearest other class. A row
    that is alone in its class counts 0. With more than 20,000 rows, a random sample is compared with all. None for one
    class, or for classes of one row only. Needs the groups. Rousseeuw (1987).
    """
    sizes = np.bincount(labels)
    if not 2 <= sizes.size < labels.size or not X.shape[1]:
        return None
    order = np.argsort(labels, kind="stable")
    Y, own = X[order], labels[order]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = []
    for some in _blocks(len(Y), seed):
        sums = np.add.reduceat(_distances(Y[some], Y), starts, axis=1)
        place, mine = np.arange(some.size), own[some]
        near = sums[place, mine] / np.maximum(1, sizes[mine] - 1)
        sums /= sizes
        sums[place, mine] = np.inf
        far = sums.min(axis=1)
        most = np.maximum(near, far)
        value = np.divide(far - near, most, out=np.zeros_like(most), where=most > 0)
        values.append(np.where(sizes[mine] > 1, value, 0.0))
    return Mean.over(np.concatenate(values), len(Y), -1.0, 1.0)


def calinski_harabasz(columns: Iterable[Floats], labels: Labels) -> float | None:
    """Return (SSB / (classes - 1)) / (SSE / (n - classes)): at least 0, high is good.

    SSB = SST - SSE. None for one class, for classes of one row only, and if no class has any spread. Needs the groups.
    Calinski and Harabasz (1974).
    """
    n, count = len(labels), int(labels.max(initial=-1)) + 1
    if not 2 <= count < n:
        return None
    within = whole = 0.0
    for column in columns:  # sums of squares add up over columns
        within += sse(column[:, None], labels)
        whole += sst(column[:, None])
    if within <= 1e-12 * whole:
        return None
    return max(0.0, whole - within) / (count - 1) / (within / (n - count))


def _blocks(rows: int, seed: int) -> list[Labels]:
    """Return the rows to compare in blocks: all, or a random sample within the limit of distances."""
    every = np.arange(rows)
    if rows > SAMPLED:
        every = np.sort(np.random.default_rng(seed).choice(rows, max(2, DISTANCES // rows), replace=False))
    return np.array_split(every, max(1, -(-every.size * rows // CELLS)))


def _distances(some: Floats, every: Floats) -> Floats:
    """Return the distances of some rows to all."""
    squares = (some**2).sum(axis=1)[:, None] + (every**2).sum(axis=1)[None, :] - 2 * (some @ every.T)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
