"""Bisection: parts cut repeatedly into two halves of equal size, by quasi-identifiers alone.

1. All rows are one part.
2. A part of 2k rows or more is sorted along every column, and along its first principal component if at most 50 columns
   vary in it; ties go to the lowest row number. Each order is cut in the middle; the first half has the odd row.
3. Of these cuts the one with the least SSE of the two halves is made; ties go to the first, columns before the
   component.
4. A part of fewer than 2k rows is a group.

All cuts and the resulting halves are kept: `shoal.protect` merges halves again from the top. It matters there that
halves differ by at most one row, and that no cut depends on a sensitive value.

The tree of cuts is that of Mondrian with the axis chosen as in principal direction divisive partitioning: LeFevre,
DeWitt and Ramakrishnan, ICDE 2006; Boley, Data Mining and Knowledge Discovery 2, 1998.
"""

import numpy as np
from numpy.typing import ArrayLike

from shoal.catalogue import Growth
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats, Rows, matrix
from shoal.model.cuts import Cuts
from shoal.model.partition import Partition
from shoal.model.progress import tick

GRID = 2.0**30  # along a principal component, places nearer than 2^-30 of its spread are equal
MOST = 50  # columns up to which there is a principal component
TURNS = 50  # of the power iteration; two components of nearly equal variance may be mixed
NEAR = 1e-12  # of the sum of squares: sums of squares nearer than that are equal


@numeric_method(
    "bisection",
    ensures={"k"},
    growth=Growth(1.05, seconds=0.5, k_power=-0.7),
    suits={"categories", "hierarchies", "numbers"},
)
def bisection(X: Floats, k: int) -> Partition:
    """Cut the rows of X into equal halves repeatedly, along the column or principal component of lowest SSE.

    Guarantee
    ---------
    Every group holds from k to 2k - 1 rows. The two halves of every cut differ by at most one row. The result
    depends on X and k alone.

    Cost
    ----
    O(n d (d + log n) log(n / k)) time, O(n d) memory.

    Examples
    --------
    >>> bisection([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    cuts = cut_in_halves(X, k)
    labels = np.empty(cuts.n, np.int64)
    for part in np.flatnonzero(cuts.first < 0):
        labels[cuts.part(int(part))] = part
    return Partition.of(labels)


def cut_in_halves(X: ArrayLike, k: int) -> Cuts:
    """Return all cuts of `bisection`, from the whole table down."""
    numbers = matrix(X, k, "bisection")
    rows = np.arange(len(numbers))
    low, high, first = [0], [len(numbers)], [-1]
    part = 0
    while part < len(low):
        begin, end = low[part], high[part]
        tick(part, len(low))
        if end - begin >= 2 * k:
            order = _best_order(numbers, rows[begin:end])
            rows[begin:end] = order
            middle = begin + (end - begin + 1) // 2
            first[part] = len(low)
            low += [begin, middle]
            high += [middle, end]
            first += [-1, -1]
        part += 1
    return Cuts(rows, np.array(low), np.array(high), np.array(first))


def _best_order(X: Floats, part: Rows) -> Rows:
    """Return the rows of a part in the order whose halves have the least SSE, each half by row number."""
    part = np.sort(part)
    own = X[part] - X[part].mean(axis=0)
    own = own[:, own.max(axis=0) > own.min(axis=0)]
    half = (part.size + 1) // 2
    if not own.shape[1]:
        return part
    along = own if not 1 < own.shape[1] <= MOST else np.column_stack([own, _component(own)])
    orders = np.argsort(along, axis=0, kind="stable")
    first = np.zeros(along.shape)  # whether a row is in the first half
    np.put_along_axis(first, orders[:half], 1.0, axis=0)
    # The SSE explained by the halves. Their sums are opposite, since the mean was subtracted.
    sums = np.einsum("ij,id->jd", first, own)
    explained = (sums * sums).sum(axis=1) * (1 / half + 1 / (part.size - half))
    enough = explained.max() - NEAR * float((own * own).sum())
    best = first[:, int(np.argmax(explained >= enough))]
    return np.concatenate([part[best > 0], part[best == 0]])


def _component(own: Floats) -> Floats:
    """Return the positions of rows along their first principal component, rounded so that equal rows are equal."""
    spread = np.einsum("id,ie->de", own, own)
    axis = spread[:, int(np.argmax(np.diag(spread)))] / np.abs(spread).max()
    for _ in range(TURNS):  # power iteration: sums in a fixed order, unlike those of a library for linear algebra
        axis = np.einsum("de,e->d", spread, axis)
        axis = axis / np.abs(axis).max()
    along = np.einsum("id,d->i", own, axis)
    return np.asarray(np.rint(along / np.abs(along).max() * GRID))
