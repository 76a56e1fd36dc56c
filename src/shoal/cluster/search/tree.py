"""A tree of points: how it is built, and how points are removed one by one. `tree_search` queries it.

1. Points are split at the median of the column that varies most, and the halves likewise, down to leaves of 32; 64
   leaves in that order are a branch. The distance from the overall centre counts as a column too, so that rim and core
   are separated.
2. A leaf has a box, a ball and the greatest norm of its points; a branch has a box.
3. A leaf that loses points shrinks these, so that they stay tight where rows are taken.

Points are a sketch of rows in single precision, shifted and scaled. Equal rows are one point.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import inner_loop, loop

WIDTH = 32  # points in a leaf
FAN = 64  # leaves in a branch
TURN = 4  # columns per line
LOSS = 4  # points that a leaf loses before its box is shrunk
SAMPLE = 32  # points from which the most variable column is estimated
LENGTH = 1.5  # weight of the length of a point as a column to split by
BEYOND = np.float32(1e13)  # where the box of an empty leaf lies

Singles = NDArray[np.float32]


class Points(NamedTuple):
    """Rows by the point that they share with equal rows."""

    members: Rows  # rows, point by point, in their order
    lowest: Rows  # index in `members` of the lowest remaining row of each point
    rest: Rows  # remaining rows of each point
    point: Rows  # the point of each row


class Sketch(NamedTuple):
    """Points in single precision, widest columns first, and how they were shifted and scaled.

    The last column is not part of a distance: it is the length of the point, to split by.
    """

    P: Singles
    centre: Floats
    columns: Rows
    scale: float


class Boxes(NamedTuple):
    """The bounds of the points in each part of each branch: parts are along the last axis."""

    low: Singles
    high: Singles

    @classmethod
    def empty(cls, branches: int, d: int, parts: int) -> "Boxes":
        """Return empty boxes."""
        low, high = np.zeros((2, branches, d, parts), np.float32)
        low += BEYOND
        high -= BEYOND
        return cls(low, high)


class Balls(NamedTuple):
    """The centre and radius of the points of each leaf of each branch."""

    middle: Singles
    span: Singles
    longest: Singles  # the greatest squared length of a point, plus the rounding error of a bound
    rough: Singles  # the latter alone

    @classmethod
    def empty(cls, branches: int, d: int) -> "Balls":
        """Return empty balls."""
        span, longest, rough = np.zeros((3, branches, FAN), np.float32)
        longest -= BEYOND * BEYOND
        return cls(np.zeros((branches, d, FAN), np.float32), span, longest, rough)


class Tree(NamedTuple):
    """Points in leaves, boxes of leaves and branches, balls of leaves, and working arrays."""

    cells: Singles  # a line holds four columns of a leaf
    norms: Singles  # the squared length of each point, slightly enlarged
    points: Rows  # the point at each place
    place: Rows  # the place of each point
    leaves: Boxes
    balls: Balls
    branches: Boxes
    centre: Singles  # what was subtracted from points
    seen: Singles
    found: Rows
    outer: Singles  # of each branch
    inner: Singles  # of each leaf of a branch
    later: Singles  # of each leaf of a branch, without the first columns
    bounds: Singles  # of each leaf of each branch
    squares: Singles


def points_of(X: Floats) -> Points:
    """Return the rows of X grouped into points of equal rows, by hashing."""
    n = len(X)
    mixed = np.zeros(n, np.uint64)
    for j in range(X.shape[1]):
        # Adding zero unifies both zeros. An odd factor mixes upwards, the shift downwards.
        mixed = (mixed ^ (X[:, j] + 0.0).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    members = np.argsort(mixed, kind="stable")
    first = np.ones(n, np.bool_)
    same = 1 + np.flatnonzero(mixed[members[1:]] == mixed[members[:-1]])
    first[same] = (X[members[same]] != X[members[same - 1]]).any(axis=1)
    point = np.empty(n, np.int64)
    point[members] = np.cumsum(first) - 1
    lowest = np.flatnonzero(first)
    return Points(members, lowest, np.diff(lowest, append=n), point)


def sketch(X: Floats) -> Sketch:
    """Return the rows of X in single precision, shifted and scaled so that nothing overflows."""
    n, d = X.shape
    centre = np.median(X[:: -(-n // 1000)], axis=0)
    # Columns that vary most come first: leaves are abandoned as soon as these put them too far away.
    columns = np.argsort(-X.var(axis=0), kind="stable")
    centred = (X - centre)[:, columns]
    scale = float(np.ldexp(1.0, -int(np.frexp(np.abs(centred).max())[1])))
    P = np.zeros((n, -(-d // TURN) * TURN + 1), np.float32)
    P[:, :d] = centred * scale
    P[:, -1] = np.sqrt((P * P).sum(axis=1))
    return Sketch(P, centre, columns, scale)


def built_tree(P: Singles, alive: Rows, place: Rows) -> Tree:
    """Return a tree of the points alive; writes the place of each of them into `place`."""
    n, d = alive.size, P.shape[1] - 1
    branches = -(-n // (WIDTH * FAN))
    whole = 1 << (branches - 1).bit_length()
    # The centre is the mean of the points without outliers: they will soon be gone.
    lengths = P[alive, -1]
    centre = P[alive[lengths <= 4 * np.median(lengths)], :-1].mean(axis=0)
    leaves, balls, large = Boxes.empty(branches, d, FAN), Balls.empty(branches, d), Boxes.empty(1, d, whole)
    cells = np.full((branches * FAN * d // TURN, TURN * WIDTH), np.nan, np.float32)
    norms = np.zeros((branches * FAN, WIDTH), np.float32)
    order, seen = alive.copy(), np.empty(n, np.float32)
    squares, waiting = np.empty(WIDTH, np.float32), np.zeros((64, 2), np.int64)
    _build(P, centre, cells, norms, order, place, leaves, balls, seen, waiting, squares)
    large.low[0, :, :branches], large.high[0, :, :branches] = leaves.low.min(axis=2).T, leaves.high.max(axis=2).T
    outer, inner, later = (np.empty(size, np.float32) for size in (whole, FAN, FAN))
    found, bounds = np.empty(n, np.int64), np.empty((branches, FAN), np.float32)
    scratch = seen, found, outer, inner, later, bounds, squares
    return Tree(cells, norms, order, place, leaves, balls, large, centre, *scratch)


@inner_loop
def forget(tree: Tree, point: Rows, rest: Rows, rows: Rows) -> None:
    """Remove the points of these rows from the tree, unless a point has rows left."""
    cells, norms, place, balls = tree.cells, tree.norms, tree.place, tree.balls
    turns = balls.middle.shape[1] // TURN
    for row in rows:
        leaf, w = place[point[row]] // WIDTH, place[point[row]] % WIDTH
        line = leaf * turns
        # An empty place has NaN in its first column, and NaN is not equal to itself.
        if rest[point[row]] == 0 and cells[line, w] == cells[line, w]:
            cells[line, w] = np.nan
            left, top = 0, -BEYOND * BEYOND
            for v in range(WIDTH):
                if cells[line, v] == cells[line, v]:
                    left, top = left + 1, max(top, norms[leaf, v])
            balls.longest[leaf // FAN, leaf % FAN] = top + balls.rough[leaf // FAN, leaf % FAN]
            if left % LOSS == 0:
                _draw_in(cells, norms, tree.leaves, balls, leaf, tree.squares)


@loop
def _build(
    P: Singles,
    centre: Singles,
    cells: Singles,
    norms: Singles,
    order: Rows,
    place: Rows,
    leaves: Boxes,
    balls: Balls,
    keys: Singles,
    waiting: Rows,
    squares: Singles,
) -> None:
    """Put points in the order of a tree and into their leaves, and compute their boxes."""
    n, d = order.size, P.shape[1] - 1
    for point in order:
        norm = 0.0
        for j in range(d):
            norm += (P[point, j] - centre[j]) ** 2
        P[point, d] = LENGTH * np.sqrt(norm)
    waiting[0, 1], count = n, 1
    while count > 0:
        count -= 1
        start, stop = waiting[count, 0], waiting[count, 1]
        if stop - start > WIDTH:
            # Branches and leaves are complete: a split falls between two of them.
            unit = WIDTH * FAN if stop - start > WIDTH * FAN else WIDTH
            middle = start + (stop - start + unit - 1) // unit // 2 * unit
            column = _widest(P, order, start, stop)
            for i in range(start, stop):
                keys[i] = P[order[i], column]
            _part(keys, order, start, stop - 1, middle)
            waiting[count, 1] = waiting[count + 1, 0] = middle
            waiting[count + 1, 1] = stop
            count += 2
    for i in range(n):
        leaf, w, norm = i // WIDTH, i % WIDTH, 0.0
        place[order[i]] = i
        for j in range(d):
            cell = P[order[i], j] - centre[j]
            cells[(leaf * d + j) // TURN, j % TURN * WIDTH + w] = cell
            norm += cell * cell
        norms[leaf, w] = norm * (1 + slack(d))
    for leaf in range(-(-n // WIDTH)):
        _draw_in(cells, norms, leaves, balls, leaf, squares)


@inner_loop
def _widest(P: Singles, order: Rows, start: int, stop: int) -> int:
    """Return the column that varies most over a sample of the points from start to stop."""
    step = max(1, (stop - start) // SAMPLE)
    most, column = -1.0, 0
    for j in range(P.shape[1]):
        first = P[order[start], j]
        total, squares, count = 0.0, 0.0, 0
        for i in range(start, stop, step):
            gap = P[order[i], j] - first
            total, squares, count = total + gap, squares + gap * gap, count + 1
        if squares - total * total / count > most:
            most, column = squares - total * total / count, j
    return column


@inner_loop
def _part(keys: Singles, order: Rows, low: int, high: int, middle: int) -> None:
    """Move the points with the least keys before the middle (quickselect)."""
    while low < high:
        a, b, c = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if j < middle < i:
            return
        low, high = (low, j) if middle <= j else (i, high)


@inner_loop
def _draw_in(cells: Singles, norms: Singles, leaves: Boxes, balls: Balls, leaf: int, squares: Singles) -> None:
    """Fit the box, the ball and the greatest norm of a leaf to its remaining points."""
    low, high = leaves
    middle, span, longest, rough = balls
    d, branch, f = low.shape[1], leaf // FAN, leaf % FAN
    line, count, top, corner = leaf * d // TURN, 0, -BEYOND * BEYOND, 0.0
    for w in range(WIDTH):
        squares[w] = np.float32(0)
        if cells[line, w] == cells[line, w]:
            count, top = count + 1, max(top, norms[leaf, w])
    for j in range(d):
        start = j % TURN * WIDTH
        least, most, total = BEYOND, -BEYOND, np.float32(0)
        for w in range(WIDTH):
            if cells[line, w] == cells[line, w]:
                cell = cells[line + j // TURN, start + w]
                least, most, total = min(least, cell), max(most, cell), total + cell
        mean = total / np.float32(max(count, 1))
        low[branch, j, f], high[branch, j, f], middle[branch, j, f] = least, most, mean
        corner += float(max(least * least, most * most))
        for w in range(WIDTH):
            gap = cells[line + j // TURN, start + w] - mean
            squares[w] += gap * gap
    widest = np.float32(0)
    for w in range(WIDTH):
        # Empty places have no distance from the middle, and no comparison with NaN holds.
        widest = squares[w] if squares[w] > widest else widest
    span[branch, f] = np.sqrt(widest) * (1 + slack(d))
    rough[branch, f] = 2 * slack(d) * corner if count > 0 else 0.0
    longest[branch, f] = top + rough[branch, f]


@inner_loop
def slack(d: int) -> float:
    """Return an upper bound of the relative error of sums of d squares in single precision."""
    return float((d + 8) * 2.0**-22)
