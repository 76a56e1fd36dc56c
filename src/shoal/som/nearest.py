"""The nearest prototype of each row: the one loop that every map and every codebook runs.

|x - w|^2 / 2 = |x|^2 / 2 + (|w|^2 / 2 - x . w), and the first term is the same for all prototypes of a row. The loop
over prototypes is the inner one, so that the machine takes it in wide steps. Ties go to the lowest number.
"""

import numpy as np

from shoal.cluster.given import Floats, Rows
from shoal.kernels.loops import inner_loop, loop
from shoal.kernels.threads import each
from shoal.model.progress import silently

__all__ = ["cell_sums", "least_of", "nearest", "two_nearest"]

LONG = 50_000_000  # products from which on several threads are worth their start
ROUND = 4096  # rows of a task
FAR = 100.0  # deviations of the prototypes from zero that are far


def nearest(X: Floats, prototypes: Floats, threads: int = 1) -> Rows:
    """Return the number of the prototype that is nearest to each row; ties go to the lowest.

    Parameters
    ----------
    X : float64 array of shape (n, d)
    prototypes : float64 array of shape (m, d)
    threads : int
        How many may work; the result does not depend on it.

    Examples
    --------
    >>> nearest(np.array([[0.2], [0.9]]), np.array([[0.0], [1.0]]))
    array([0, 1])
    """
    X, turned, half = _turned(X, prototypes)
    if threads == 1 or X.size * len(prototypes) < LONG:
        return np.asarray(_nearest(X, turned, half))
    with silently():
        starts = range(0, len(X), ROUND)
        parts = each(lambda start: _nearest(X[start : start + ROUND], turned, half), starts, threads)
    return np.concatenate(parts)


def two_nearest(X: Floats, prototypes: Floats) -> tuple[Rows, Rows]:
    """Return the nearest prototype of each row and the next one; the same twice if there is only one."""
    first, second = _two_nearest(*_turned(X, prototypes))
    return first, second


def _turned(X: Floats, prototypes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rows, prototypes as columns, and half of the squared lengths of these."""
    middle = prototypes.mean(axis=0)
    if np.abs(middle).max() > FAR * prototypes.std(axis=0).max():
        # Far from zero the difference of two large products would lose its digits.
        X, prototypes = X - middle, prototypes - middle
    return X, np.ascontiguousarray(prototypes.T), 0.5 * np.einsum("ij,ij->i", prototypes, prototypes)


@loop
def _nearest(X: Floats, turned: Floats, half: Floats) -> Rows:
    """Return the nearest prototype of each row."""
    found = np.empty(len(X), np.int64)
    scores = np.empty(half.size)
    for row in range(len(X)):
        _score(X, row, turned, half, scores)
        found[row] = least_of(scores)
    return found


@loop
def _two_nearest(X: Floats, turned: Floats, half: Floats) -> tuple[Rows, Rows]:
    """Return the nearest and the second nearest prototype of each row."""
    first, second = np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    scores = np.empty(half.size)
    for row in range(len(X)):
        _score(X, row, turned, half, scores)
        first[row] = second[row] = least_of(scores)
        if scores.size > 1:
            scores[first[row]] = np.inf
            second[row] = least_of(scores)
    return first, second


@inner_loop
def _score(X: Floats, row: int, turned: Floats, half: Floats, scores: Floats) -> None:
    """Set |w|^2 / 2 - x . w for every prototype, four columns at a time."""
    d, m = turned.shape
    for j in range(m):
        scores[j] = half[j]
    q = 0
    while q + 4 <= d:
        a, b, c, e = X[row, q], X[row, q + 1], X[row, q + 2], X[row, q + 3]
        for j in range(m):
            scores[j] -= a * turned[q, j] + b * turned[q + 1, j] + c * turned[q + 2, j] + e * turned[q + 3, j]
        q += 4
    while q < d:
        a = X[row, q]
        for j in range(m):
            scores[j] -= a * turned[q, j]
        q += 1


@inner_loop
def least_of(values: Floats) -> int:
    """Return where the least value stands, the first of equals; eight are compared at a time."""
    best, where, last = np.inf, 0, 0
    j = 0
    while j + 8 <= values.size:
        low = min(values[j], values[j + 1], values[j + 2], values[j + 3])
        high = min(values[j + 4], values[j + 5], values[j + 6], values[j + 7])
        low = min(low, high)
        if low < best:
            best, where, last = low, j, j + 8
        j += 8
    while j < values.size:
        if values[j] < best:
            best, where, last = values[j], j, j + 1
        j += 1
    for place in range(where, last):
        if values[place] == best:
            return place
    return where


@loop
def cell_sums(X: Floats, cells: Rows, m: int) -> Floats:
    """Return the sums of the rows of each of m cells, with their number behind."""
    n, d = X.shape
    sums = np.zeros((m, d + 1))
    for i in range(n):
        cell = cells[i]
        for j in range(d):
            sums[cell, j] += X[i, j]
        sums[cell, d] += 1.0
    return sums
