"""Order: rows with many columns put in a sequence, such that neighbours in it are near in space.

- axis: along the direction of largest variance.
- curve: along a Hilbert curve through the first principal axes, by ranks (Skilling 2004).
- path: from row to nearest row not yet visited, then shortened by reversing segments (2-opt, Croes 1958); a table of
  more than 10,000 rows starts from the curve and compares rows within a window of it.
"""

from collections.abc import Callable

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.distance import squared
from shoal.kernels.loops import loop
from shoal.model.progress import tick

MOST_AXES = 6
MOST_BITS = 60
MOST_DEEP = 30  # bits of one axis: ranks times cells must fit into 63
VISITED = 10_000  # rows up to which a path goes from nearest to nearest
CLOSE = 10  # nearest rows of each row considered for 2-opt
WINDOW = 50  # rows before and after among which the close ones are sought, in a large table
SWEEPS = 30


def along_axis(X: Floats) -> Rows:
    """Return the order of the rows along their first principal axis."""
    return np.argsort(_axes(X, 1)[:, 0], kind="stable")


def along_curve(X: Floats) -> Rows:
    """Return the order of the rows along a Hilbert curve through their first principal axes."""
    axes = _axes(X, MOST_AXES)
    n, d = axes.shape
    bits = min(MOST_BITS // d, MOST_DEEP)
    # Ranks spread rows evenly over the curve; equal values have equal ranks.
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in axes.T])
    cells = ranks * ((1 << bits) - 1) // np.maximum(ranks.max(axis=0), 1) if n else ranks
    return np.argsort(_hilbert(cells.astype(np.int64), bits), kind="stable")


def along_path(X: Floats) -> Rows:
    """Return the order of the rows along a short path through all of them."""
    n = len(X)
    if n < 4 or X.shape[1] == 1:
        return along_axis(X)
    if n <= VISITED:
        order = _from_nearest_to_nearest(X, int(along_axis(X)[0]))
        close = _close(X, np.arange(n), n)
    else:
        order = along_curve(X)
        close = _close(X, order, WINDOW)
    for sweep in range(SWEEPS):
        tick(sweep, SWEEPS)
        if not _turn(X, order, close):
            break
    return order


def _axes(X: Floats, count: int) -> Floats:
    """Return the rows by their first principal axes; a single column as it is."""
    n, d = X.shape
    if d == 1:
        return X
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred / n)
    chosen = directions[:, ::-1][:, : min(count, d)]
    # The sign of an axis is arbitrary: its largest entry is made positive.
    signs = np.sign(chosen[np.argmax(np.abs(chosen), axis=0), np.arange(chosen.shape[1])])
    return np.asarray(centred @ (chosen * np.where(signs == 0, 1.0, signs)))


def _hilbert(cells: Rows, bits: int) -> Rows:
    """Return the position on a Hilbert curve of cells with coordinates of this many bits."""
    x = cells.T.copy()
    d = len(x)
    bit = 1 << (bits - 1)
    while bit > 1:
        low = bit - 1
        for i in range(d):
            flip = (x[i] & bit) != 0
            swap = np.where(flip, 0, (x[0] ^ x[i]) & low)
            x[0] ^= np.where(flip, low, swap)
            if i:
                x[i] ^= swap
        bit >>= 1
    for i in range(1, d):
        x[i] ^= x[i - 1]
    turn = np.zeros_like(x[0])
    bit = 1 << (bits - 1)
    while bit > 1:
        turn ^= np.where((x[d - 1] & bit) != 0, bit - 1, 0)
        bit >>= 1
    x ^= turn
    place = np.zeros_like(x[0])
    for level in range(bits - 1, -1, -1):
        for i in range(d):
            place = (place << 1) | ((x[i] >> level) & 1)
    return np.asarray(place)


@loop
def _from_nearest_to_nearest(X: Floats, first: int) -> Rows:
    """Return the rows in nearest-neighbour order from the first, ties to the lowest."""
    n = len(X)
    order = np.empty(n, np.int64)
    left = np.ones(n, np.bool_)
    order[0] = first
    left[first] = False
    for step in range(1, n):
        best, least = -1, np.inf
        for row in range(n):
            if left[row]:
                gap = squared(X, row, X, order[step - 1])
                if gap < least:
                    best, least = row, gap
        order[step] = best
        left[best] = False
    return order


@loop
def _close(X: Floats, order: Rows, window: int) -> Rows:
    """Return for each row the nearest rows within a window of the sequence."""
    n = order.size
    count = min(CLOSE, n - 1)
    close = np.full((n, count), -1, np.int64)
    gaps = np.empty(count)
    for place in range(n):
        row = order[place]
        gaps[:] = np.inf
        for there in range(max(0, place - window), min(n, place + window + 1)):
            other = order[there]
            gap = squared(X, row, X, other) if other != row else np.inf
            if gap < gaps[count - 1]:
                hole = count - 1
                while hole > 0 and gaps[hole - 1] > gap:
                    gaps[hole], close[row, hole] = gaps[hole - 1], close[row, hole - 1]
                    hole -= 1
                gaps[hole], close[row, hole] = gap, other
    return close


@loop
def _turn(X: Floats, order: Rows, close: Rows) -> bool:
    """Reverse segments of a path where that shortens it; return False if none did."""
    n = order.size
    place = np.empty(n, np.int64)
    for i in range(n):
        place[order[i]] = i
    shorter = False
    for row in range(n):
        for c in range(close.shape[1]):
            other = close[row, c]
            if other < 0:
                break
            # The steps out of the two rows are replaced by a step between them and one between their followers.
            i, j = place[row], place[other]
            if i > j:
                i, j = j, i
            if j + 1 >= n or j == i + 1:
                continue
            before = _step(X, order, i, i + 1) + _step(X, order, j, j + 1)
            after = _step(X, order, i, j) + _step(X, order, i + 1, j + 1)
            if after < before * (1 - 1e-12):
                low, high = i + 1, j
                while low < high:
                    order[low], order[high] = order[high], order[low]
                    place[order[low]], place[order[high]] = low, high
                    low += 1
                    high -= 1
                shorter = True
    return shorter


@loop
def _step(X: Floats, order: Rows, i: int, j: int) -> float:
    """Return the distance of the rows at two positions."""
    return float(np.sqrt(squared(X, order[i], X, order[j])))


ORDERS: dict[str, Callable[[Floats], Rows]] = {"axis": along_axis, "curve": along_curve, "path": along_path}
