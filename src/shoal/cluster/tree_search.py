"""What a tree is asked: which rows are the nearest, which row is the farthest.

1. Nearest: boughs and leaves whose box lies beyond the limit are passed over. The search goes from the
   leaf of the point outwards, so that the limit falls early.
2. Farthest: `|p - q|^2 - |q|^2 = |p|^2 - 2 p q`; the greatest norm, with the least product of q and a
   point of the box or of the ball, tells how far a leaf can reach.

The search is in single precision, and every comparison has a slack larger than its rounding: what is found
is a short list of points that is sure to hold the right ones. Among these the full numbers decide, and ties
go to the lowest row.
"""

from typing import SupportsIndex

import numpy as np

from shoal.cluster.given import Floats, Rows
from shoal.cluster.tree import FAN, TURN, WIDTH, Boxes, Points, Singles, Sketch, Tree, slack
from shoal.kernels.distance import squared
from shoal.kernels.loops import inner_loop

__all__ = ["farthest", "nearest", "place_mean"]

TWO = np.float32(2)
LARGEST = np.float32(1e20)  # above any limit, below the bounds of empty leaves


@inner_loop
def nearest(tree: Tree, points: Points, X: Floats, q: Singles, seed: int, near: Floats, rows: Rows) -> int:
    """Fill in the rows nearest to the seed, which is q in the tree; return how many were compared.

    There are as many as there are places in `near`.
    """
    members, lowest, rest, point = points
    found = tree.found
    count = _maybe_nearest(tree, q, point[seed], rest, near, rows)
    for i in range(near.size):
        near[i] = np.inf
    for i in range(count):
        first = lowest[found[i]]
        square = squared(X, members[first], X, seed) if rest[found[i]] > 0 else np.inf
        for place in range(first, first + min(rest[found[i]], near.size)):
            if square < near[0] or (square == near[0] and members[place] < rows[0]):
                _replace_worst(near, rows, square, members[place])
    return count


@inner_loop
def farthest(tree: Tree, points: Points, X: Floats, q: Singles, scale: float, target: Floats, blur: float) -> int:
    """Return the row x with the greatest |scale x - target|; target / scale is q in the tree.

    `blur` is by how much rounding may put a distance from the target off, in the tree.
    """
    members, lowest, _, _ = points
    found = tree.found
    best, far = -1.0, np.int64(-1)
    for i in range(_maybe_farthest(tree, q, blur)):
        row, square = members[lowest[found[i]]], 0.0
        for j in range(target.size):
            gap = scale * X[row, j] - target[j]
            square += gap * gap
        if square > best or (square == best and row < far):
            best, far = square, row
    return int(far)


@inner_loop
def place_mean(thin: Sketch, centre: Singles, total: Floats, count: int, q: Singles) -> float:
    """Fill in where the tree has the mean of so many rows with this sum; return the blur of distances from it."""
    blur = 0.0
    for i in range(total.size):
        j = thin.columns[i]
        q[i] = (total[j] / count - thin.centre[j]) * thin.scale - centre[i]
        blur += thin.centre[j] * thin.centre[j]
    return float((total.size + 4) * 2.0**-49 * np.sqrt(blur) * thin.scale)


@inner_loop
def _maybe_nearest(tree: Tree, q: Singles, point: int, rest: Rows, near: Floats, rows: Rows) -> int:
    """Put in `tree.found` the points that may be among the nearest to q, a point; return how many these are."""
    cells, _, points, place, leaves, boughs, centre, seen, found, outer, _, inner, squares = tree
    home = place[point] // WIDTH
    norm = np.sqrt(_square(q)) + np.sqrt(_square(centre))
    for i in range(near.size):
        near[i], rows[i] = np.inf, 0
    limit, count = LARGEST, np.int64(0)
    _box_gaps(boughs, np.int64(0), q, outer)
    for turn in range(outer.size):
        # The exclusive or goes from a leaf to its neighbour, then to the next two, the next four and so on.
        bough = home // FAN ^ turn
        if outer[bough] <= limit:
            _box_gaps(leaves, bough, q, inner)
            for f in range(FAN):
                leaf = bough * FAN + (home % FAN ^ f)
                if inner[leaf % FAN] <= limit and _near_squares(cells, leaf, q, limit, squares):
                    for w in range(WIDTH):
                        if squares[w] <= limit:
                            square, one = np.float64(squares[w]), points[leaf * WIDTH + w]
                            seen[count], found[count] = square, one
                            count += 1
                            if square < near[0]:
                                for i in range(min(rest[one], near.size)):
                                    if square < near[0]:
                                        _replace_worst(near, rows, square, i)
                                edge = np.sqrt(near[0]) * (1 + slack(q.size)) + norm * 2.0**-20 + 2.0**-60
                                limit = min(limit, np.float32(edge * edge))
    return _kept(seen, found, count, limit)


@inner_loop
def _maybe_farthest(tree: Tree, q: Singles, blur: float) -> int:
    """Put in `tree.found` the points that may be the farthest from q; return how many these are."""
    cells, norms, points, _, leaves, boughs, centre, seen, found, outer, other, inner, squares = tree
    own = _square(q)
    rough = own + _square(centre)
    limit, count, first = LARGEST, np.int64(0), 0
    _far_gaps(boughs, np.int64(0), q, own, outer, other)
    home = _least(outer)
    for turn in range(outer.size):
        bough = home ^ turn
        if outer[bough] <= limit:
            _far_gaps(leaves, bough, q, own, inner, other)
            first = _least(inner) if turn == 0 else first
            for f in range(FAN):
                leaf = bough * FAN + (first ^ f)
                if inner[leaf % FAN] <= limit and _far_squares(cells, norms, leaf, q, limit, squares):
                    for w in range(WIDTH):
                        if squares[w] <= limit:
                            seen[count], found[count] = squares[w], points[leaf * WIDTH + w]
                            count += 1
                            norm = np.float64(norms[leaf, w])
                            reach = np.sqrt(norm) + np.sqrt(own)
                            edge = squares[w] + 2 * slack(q.size) * (norm + rough) + 4 * blur * reach + 2.0**-120
                            limit = min(limit, np.float32(edge))
    return _kept(seen, found, count, limit)


@inner_loop
def _replace_worst(near: Floats, rows: Rows, square: float, row: int) -> None:
    """Put a row in the stead of the worst of the nearest, which a heap keeps in front."""
    hole = 0
    while 2 * hole + 1 < near.size:
        child = 2 * hole + 1
        other = child + 1
        if other < near.size and (
            near[other] > near[child] or (near[other] == near[child] and rows[other] > rows[child])
        ):
            child = other
        if near[child] < square or (near[child] == square and rows[child] < row):
            break
        near[hole], rows[hole] = near[child], rows[child]
        hole = child
    near[hole], rows[hole] = square, row


@inner_loop
def _square(q: Singles) -> float:
    """Return the square of the length of q."""
    total = 0.0
    for x in q:
        total += np.float64(x) * x
    return total


@inner_loop
def _least(gaps: Singles) -> int:
    """Return where the least of these stands."""
    place = 0
    for i in range(gaps.size):
        place = i if gaps[i] < gaps[place] else place
    return place


@inner_loop
def _kept(seen: Singles, found: Rows, count: SupportsIndex, limit: np.float32) -> int:
    """Move the points found within the limit to the front; return how many these are."""
    kept = 0
    for i in range(count):
        if seen[i] <= limit:
            found[kept] = found[i]
            kept += 1
    return kept


@inner_loop
def _box_gaps(boxes: Boxes, bough: SupportsIndex, q: Singles, gaps: Singles) -> None:
    """Fill in the squared distance of q from each box of a bough."""
    low, high, _, _, _, _ = boxes
    zero = np.float32(0)
    for f in range(gaps.size):
        gaps[f] = zero
    for j in range(q.size):
        x = q[j]
        for f in range(gaps.size):
            gap = max(low[bough, j, f] - x, x - high[bough, j, f], zero)
            gaps[f] += gap * gap


@inner_loop
def _far_gaps(boxes: Boxes, bough: SupportsIndex, q: Singles, own: float, gaps: Singles, other: Singles) -> None:
    """Fill in what `2 p q - |p|^2` is at least for the points p of each box of a bough."""
    low, high, middle, span, crest, _ = boxes
    zero, reach = np.float32(0), np.float32(np.sqrt(own))
    for f in range(gaps.size):
        gaps[f] = other[f] = zero
    for j in range(q.size):
        x, below, above = q[j], min(q[j], zero), max(q[j], zero)
        for f in range(gaps.size):
            gaps[f] += low[bough, j, f] * above + high[bough, j, f] * below
            other[f] += middle[bough, j, f] * x
    for f in range(gaps.size):
        gaps[f] = TWO * max(gaps[f], other[f] - reach * span[bough, f]) - crest[bough, f]


@inner_loop
def _near_squares(cells: Singles, leaf: int, q: Singles, limit: np.float32, squares: Singles) -> bool:
    """Fill in the squared distances of q from the points of a leaf; say whether any is within the limit."""
    for w in range(WIDTH):
        squares[w] = np.float32(0)
    turns, within = q.size // TURN, False
    for turn in range(turns):
        line, j = leaf * turns + turn, TURN * turn
        x, y, z, u = q[j], q[j + 1], q[j + 2], q[j + 3]
        within = False
        for w in range(WIDTH):
            e, f = cells[line, w] - x, cells[line, WIDTH + w] - y
            g, h = cells[line, 2 * WIDTH + w] - z, cells[line, 3 * WIDTH + w] - u
            square = squares[w] + e * e + f * f + g * g + h * h
            squares[w] = square
            within |= square <= limit
        if not within:
            return False
    return within


@inner_loop
def _far_squares(cells: Singles, norms: Singles, leaf: int, q: Singles, limit: np.float32, squares: Singles) -> bool:
    """Fill in `2 p q - |p|^2` for the points p of a leaf; say whether any is within the limit."""
    for w in range(WIDTH):
        squares[w] = -norms[leaf, w]
    turns, within = q.size // TURN, False
    for turn in range(turns):
        line, j = leaf * turns + turn, TURN * turn
        x, y, z, u = TWO * q[j], TWO * q[j + 1], TWO * q[j + 2], TWO * q[j + 3]
        within = False
        for w in range(WIDTH):
            e, f = cells[line, w] * x, cells[line, WIDTH + w] * y
            g, h = cells[line, 2 * WIDTH + w] * z, cells[line, 3 * WIDTH + w] * u
            square = squares[w] + e + f + g + h
            squares[w] = square
            within |= square <= limit
    return within
