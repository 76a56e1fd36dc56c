"""The nearest prototype of each row: the one loop that every map and every codebook runs.

|x - w|^2 / 2 = |x|^2 / 2 + (|w|^2 / 2 - x . w), and the first term is the same for all prototypes of a row. The loop
over prototypes is the inner one, so that it is vectorized. Ties go to the lowest number.

Where there are many columns, four rows at a time are measured in single precision. Prototypes that rounding may have
put in the wrong order are then measured in double precision, so the result is the same.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.kernels.threads import each
from shoal.model.progress import silently

LONG = 50_000_000  # products from which several threads are worth starting
ROUND = 4096  # rows of a task
FAR = 100.0  # distance from zero that is far, in ranges of the prototypes
WIDE, SOME = 8, 128  # columns and prototypes from which single precision pays
MODERATE = 1e12  # single precision is used for lengths between 1 / MODERATE and MODERATE

Half = NDArray[np.float32]


def nearest(X: Floats, prototypes: Floats, threads: int = 1) -> Rows:
    """Return the nearest prototype of each row; ties go to the lowest. The result does not depend on the threads.

    Examples
    --------
    >>> nearest(np.array([[0.2], [0.9]]), np.array([[0.0], [1.0]]))
    array([0, 1])
    """
    X, turned, half = _turned(X, prototypes)
    d, m = turned.shape
    top = float(np.sqrt(2 * half.max()))
    if d < WIDE or m < SOME or not 1 / MODERATE < top < MODERATE or not np.abs(X).max(initial=0.0) < MODERATE:

        def search(rows: Floats) -> Rows:
            found = np.empty(len(rows), np.int64)
            _nearest(rows, turned, half, found, np.empty(m))
            return found
    else:
        rough, short = turned.astype(np.float32), half.astype(np.float32)

        def search(rows: Floats) -> Rows:
            found, scratch = np.empty(len(rows), np.int64), np.empty((5, m), np.float32)
            single = rows.astype(np.float32)
            _nearest_by_half(rows, single, turned, half, rough, short, top, found, scratch[:4], scratch[4])
            return found

    if threads == 1 or X.size * m < LONG:
        return search(X)
    with silently():
        starts = range(0, len(X), ROUND)
        parts = each(lambda start: search(X[start : start + ROUND]), starts, threads)
    return np.concatenate(parts)


def two_nearest(X: Floats, prototypes: Floats) -> tuple[Rows, Rows]:
    """Return the nearest and second nearest prototype of each row; the same twice if there is only one."""
    first, second = np.empty((2, len(X)), np.int64)
    _two_nearest(*_turned(X, prototypes), first, second, np.empty(len(prototypes)))
    return first, second


def _turned(X: Floats, prototypes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rows, prototypes as columns, and half of the squared lengths of these."""
    low, high = prototypes.min(axis=0), prototypes.max(axis=0)
    if max(-low.min(), high.max()) > FAR * (high - low).max():
        # Far from zero the difference of two large products would lose precision.
        middle = low + (high - low) / 2
        X, prototypes = X - middle, prototypes - middle
    return X, np.ascontiguousarray(prototypes.T), 0.5 * np.einsum("ij,ij->i", prototypes, prototypes)


@callable_inner_loop
def _nearest(X: Floats, turned: Floats, half: Floats, found: Rows, scores: Floats) -> None:
    """Write the nearest prototype of each row."""
    for row in range(len(X)):
        _score(X, row, turned, half, scores)
        found[row] = least_of(scores)


@callable_inner_loop
def _nearest_by_half(
    X: Floats,
    rows: Half,
    turned: Floats,
    half: Floats,
    rough: Half,
    short: Half,
    top: float,
    found: Rows,
    scores: Half,
    scratch: Half,
) -> None:
    """Write the nearest prototype of each row, mostly by single precision.

    The score of a prototype is then off by at most (d + 8) 2^-24 (|x| |w| + |w|^2 / 2), with a margin to spare.
    """
    n, d = X.shape
    for start in range(0, n, 4):
        _score_four(rows, start, rough, short, scores)
        for row in range(start, min(start + 4, n)):
            length = 0.0
            for j in range(d):
                length += X[row, j] * X[row, j]
            off = 1.5 * (d + 8) * 2.0**-24 * (np.sqrt(length) * top + 0.5 * top * top)
            found[row] = _choose(X, row, turned, half, scores[row - start], scratch, 2 * off)


@callable_inner_loop
def _two_nearest(X: Floats, turned: Floats, half: Floats, first: Rows, second: Rows, scores: Floats) -> None:
    """Write the nearest and the second nearest prototype of each row."""
    for row in range(len(X)):
        _score(X, row, turned, half, scores)
        first[row] = second[row] = least_of(scores)
        if scores.size > 1:
            scores[first[row]] = np.inf
            second[row] = least_of(scores)


@inner_loop
def _score(X: Floats, row: int, turned: Floats, half: Floats, scores: Floats) -> None:
    """Write |w|^2 / 2 - x . w for every prototype, four columns at a time."""
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
def _score_four(rows: Half, start: int, rough: Half, short: Half, scores: Half) -> None:
    """Write the scores of four rows; beyond the last row, that row is measured again."""
    d, m = rough.shape
    last = len(rows) - 1
    one, two, three, four = start, min(start + 1, last), min(start + 2, last), min(start + 3, last)
    for i in range(4):
        for j in range(m):
            scores[i, j] = short[j]
    q = 0
    while q + 4 <= d:
        a0, a1, a2, a3 = rows[one, q], rows[one, q + 1], rows[one, q + 2], rows[one, q + 3]
        b0, b1, b2, b3 = rows[two, q], rows[two, q + 1], rows[two, q + 2], rows[two, q + 3]
        c0, c1, c2, c3 = rows[three, q], rows[three, q + 1], rows[three, q + 2], rows[three, q + 3]
        e0, e1, e2, e3 = rows[four, q], rows[four, q + 1], rows[four, q + 2], rows[four, q + 3]
        for j in range(m):
            w0, w1, w2, w3 = rough[q, j], rough[q + 1, j], rough[q + 2, j], rough[q + 3, j]
            scores[0, j] -= a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
            scores[1, j] -= b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
            scores[2, j] -= c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
            scores[3, j] -= e0 * w0 + e1 * w1 + e2 * w2 + e3 * w3
        q += 4
    while q < d:
        a, b, c, e = rows[one, q], rows[two, q], rows[three, q], rows[four, q]
        for j in range(m):
            w = rough[q, j]
            scores[0, j] -= a * w
            scores[1, j] -= b * w
            scores[2, j] -= c * w
            scores[3, j] -= e * w
        q += 1


@inner_loop
def _choose(X: Floats, row: int, turned: Floats, half: Floats, scores: Half, scratch: Half, slack: float) -> int:
    """Return the nearest prototype among those that scores, off by at most half the slack, leave possible."""
    bound = np.float32(_lowest(scores, scratch) + slack)
    count, chosen = 0, 0
    for j in range(scores.size):
        if scores[j] <= bound:
            count += 1
            chosen += j
    if count == 1:
        return chosen
    best = np.inf
    for j in range(scores.size):
        if scores[j] <= bound:
            score = _score_one(X, row, turned, half, j)
            if score < best:
                chosen, best = j, score
    return chosen


@inner_loop
def _lowest(values: Half, scratch: Half) -> float:
    """Return the least value, comparing halves with each other."""
    size = values.size
    for i in range(size):
        scratch[i] = values[i]
    while size > 1:
        rest = size // 2
        other = scratch[size - rest :]
        for i in range(rest):
            scratch[i] = other[i] if other[i] < scratch[i] else scratch[i]
        size -= rest
    return float(scratch[0])


@inner_loop
def _score_one(X: Floats, row: int, turned: Floats, half: Floats, j: int) -> float:
    """Return |w|^2 / 2 - x . w for one prototype, summed in the same order as for all of them."""
    d = len(turned)
    score = half[j]
    q = 0
    while q + 4 <= d:
        a, b, c, e = X[row, q], X[row, q + 1], X[row, q + 2], X[row, q + 3]
        score -= a * turned[q, j] + b * turned[q + 1, j] + c * turned[q + 2, j] + e * turned[q + 3, j]
        q += 4
    while q < d:
        score -= X[row, q] * turned[q, j]
        q += 1
    return float(score)


@inner_loop
def least_of(values: Floats) -> int:
    """Return the index of the least value, the first of equals; eight are compared at a time."""
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


def cell_sums(X: Floats, cells: Rows, m: int) -> Floats:
    """Return the sums of the rows of each of m cells, followed by their number."""
    sums = np.zeros((m, X.shape[1] + 1))
    _add_up(X, cells, sums)
    return sums


@callable_inner_loop
def _add_up(X: Floats, cells: Rows, sums: Floats) -> None:
    """Add each row and a one to the sums of its cell."""
    d = X.shape[1]
    for i in range(len(X)):
        for j in range(d):
            sums[cells[i], j] += X[i, j]
        sums[cells[i], d] += 1.0
