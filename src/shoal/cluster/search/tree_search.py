"""Queries of a tree: the nearest rows, and the farthest row.

1. Nearest: branches and leaves whose box lies beyond the limit are skipped. The search goes from the leaf of the point
   outwards, so that the limit falls early. A leaf is abandoned after four columns if these, with what its box adds for
   the others, put all of its points beyond the limit.
2. Farthest: `|p - q|^2 - |q|^2 = |p|^2 - 2 p q`; the greatest norm, with the least product of q and a point of the
   ball, bounds how far a leaf can reach. The most promising leaves come first.

The search is in single precision, and every comparison has a slack larger than its rounding: the result is a short list
of points that is certain to contain the right ones. Among these double precision decides, and ties go to the lowest
row.
"""

from typing import SupportsIndex

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.tree import FAN, TURN, WIDTH, Balls, Boxes, Points, Singles, Sketch, Tree, slack
from shoal.kernels.distance import squared
from shoal.kernels.loops import inner_loop

TWO = np.float32(2)
LARGEST = np.float32(1e20)  # above any limit, below the bounds of empty leaves
NEVER = np.float32(np.inf)  # the bound of a leaf already examined
FIRST = 8  # leaves examined first for the farthest point


@inner_loop
def nearest(tree: Tree, points: Points, X: Floats, q: Singles, seed: int, near: Floats, rows: Rows) -> int:
    """Write the rows nearest to the seed, which is q in the tree; return how many were compared.

    There are as many as places in `near`. The seed has already been removed from the tree.
    """
    members, lowest, rest, point = points
    found = tree.found
    count = _maybe_nearest(tree, q, point[seed], near, rows)
    for i in range(near.size):
        near[i] = np.inf
    for i in range(count):
        first = lowest[found[i]]
        square = squared(X, members[first], X, seed)
        for place in range(first, first + min(rest[found[i]], near.size)):
            if square < near[0] or (square == near[0] and members[place] < rows[0]):
                _replace_worst(near, rows, square, members[place])
    return count


@inner_loop
def farthest(tree: Tree, points: Points, X: Floats, q: Singles, scale: float, target: Floats, blur: float) -> int:
    """Return the row x with the greatest |scale x - target|; target / scale is q in the tree.

    `blur` is the greatest rounding error of a distance from the target, in the tree.
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
    """Write the mean of `count` rows with this sum in the tree's coordinates; return the blur of distances from it."""
    blur = 0.0
    for i in range(total.size):
        j = thin.columns[i]
        q[i] = (total[j] / count - thin.centre[j]) * thin.scale - centre[i]
        blur += thin.centre[j] * thin.centre[j]
    return float((total.size + 4) * 2.0**-49 * np.sqrt(blur) * thin.scale)


@inner_loop
def _maybe_nearest(tree: Tree, q: Singles, point: int, near: Floats, rows: Rows) -> int:
    """Write into `tree.found` the points that may be among the nearest to q, a point; return their number."""
    cells, _, points, place, leaves, _, branches, centre, seen, found, outer, inner, later, _, squares = tree
    home = place[point] // WIDTH
    norm = np.sqrt(_square(q)) + np.sqrt(_square(centre))
    for i in range(near.size):
        near[i], rows[i] = np.inf, 0
    limit, count = LARGEST, np.int64(0)
    _box_gaps(branches, np.int64(0), q, outer, outer)
    for turn in range(outer.size):
        # The exclusive or goes from a leaf to its neighbour, then to the next two, the next four and so on.
        branch = home // FAN ^ turn
        if outer[branch] <= limit:
            _box_gaps(leaves, branch, q, inner, later)
            for f in range(FAN):
                part = home % FAN ^ f
                leaf = branch * FAN + part
                if inner[part] <= limit and _near_squares(cells, leaf, q, limit, later[part], squares):
                    for w in range(WIDTH):
                        if squares[w] <= limit:
                            square, one = np.float64(squares[w]), points[leaf * WIDTH + w]
                            seen[count], found[count] = square, one
                            count += 1
                            if square < near[0]:
                                _replace_worst(near, rows, square, one)
                                edge = np.sqrt(near[0]) * (1 + slack(q.size)) + norm * 2.0**-20 + 2.0**-60
                                limit = min(limit, np.float32(edge * edge))
    return _kept(seen, found, count, limit)


@inner_loop
def _maybe_farthest(tree: Tree, q: Singles, blur: float) -> int:
    """Write into `tree.found` the points that may be the farthest from q; return their number."""
    own = _square(q)
    rough = own + _square(tree.centre)
    bounds, least = tree.bounds, tree.inner
    _far_bounds(tree.balls, q, own, bounds, least)
    limit, count = LARGEST, 0
    for _ in range(FIRST):
        # The least of the bounds, and those at other positions in other branches.
        part, branch = _least(least), 0
        for b in range(len(bounds)):
            branch = b if bounds[b, part] < bounds[branch, part] else branch
        limit, count = _look_far(tree, branch * FAN + part, q, own, rough, blur, limit, count)
        bounds[branch, part] = least[part] = NEVER
    for branch in range(len(bounds)):
        for part in range(FAN):
            if bounds[branch, part] <= limit:
                limit, count = _look_far(tree, branch * FAN + part, q, own, rough, blur, limit, count)
    return _kept(tree.seen, tree.found, count, limit)


@inner_loop
def _look_far(
    tree: Tree, leaf: int, q: Singles, own: float, rough: float, blur: float, limit: np.float32, count: int
) -> tuple[np.float32, int]:
    """Add the points of a leaf that may be the farthest to those found; return the limit and their number."""
    squares, norms = tree.squares, tree.norms
    if _far_squares(tree.cells, norms, leaf, q, limit, squares):
        for w in range(WIDTH):
            if squares[w] <= limit:
                tree.seen[count], tree.found[count] = squares[w], tree.points[leaf * WIDTH + w]
                count += 1
                norm = np.float64(norms[leaf, w])
                reach = np.sqrt(norm) + np.sqrt(own)
                edge = squares[w] + 2 * slack(q.size) * (norm + rough) + 4 * blur * reach + 2.0**-120
                limit = min(limit, np.float32(edge))
    return limit, count


@inner_loop
def _replace_worst(near: Floats, rows: Rows, square: float, row: int) -> None:
    """Replace the worst of the nearest, the top of a heap, by another row."""
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
    """Return the squared length of q."""
    total = 0.0
    for x in q:
        total += np.float64(x) * x
    return total


@inner_loop
def _least(gaps: Singles) -> int:
    """Return the index of the least of these."""
    place = 0
    for i in range(gaps.size):
        place = i if gaps[i] < gaps[place] else place
    return place


@inner_loop
def _kept(seen: Singles, found: Rows, count: SupportsIndex, limit: np.float32) -> int:
    """Move the points found within the limit to the start; return their number."""
    kept = 0
    for i in range(count):
        if seen[i] <= limit:
            found[kept] = found[i]
            kept += 1
    return kept


@inner_loop
def _box_gaps(boxes: Boxes, branch: SupportsIndex, q: Singles, gaps: Singles, later: Singles) -> None:
    """Write the squared distance of q from each box of a branch, in total and without the first columns."""
    low, high = boxes
    zero = np.float32(0)
    for f in range(gaps.size):
        gaps[f] = zero
    for back in range(q.size):
        j = q.size - 1 - back
        x = q[j]
        if j == TURN - 1:
            for f in range(gaps.size):
                later[f] = gaps[f]
        for f in range(gaps.size):
            gap = max(low[branch, j, f] - x, x - high[branch, j, f], zero)
            gaps[f] += gap * gap


@inner_loop
def _far_bounds(balls: Balls, q: Singles, own: float, bounds: Singles, least: Singles) -> None:
    """Write lower bounds of `2 p q - |p|^2` for the points p of each leaf, and their minimum over branches."""
    middle, span, longest, _ = balls
    zero, reach = np.float32(0), np.float32(np.sqrt(own))
    for f in range(FAN):
        least[f] = NEVER
    for branch in range(len(bounds)):
        for f in range(FAN):
            bounds[branch, f] = zero
        for j in range(q.size):
            x = q[j]
            for f in range(FAN):
                bounds[branch, f] += middle[branch, j, f] * x
        for f in range(FAN):
            bound = TWO * (bounds[branch, f] - reach * span[branch, f]) - longest[branch, f]
            bounds[branch, f] = bound
            least[f] = min(least[f], bound)


@inner_loop
def _near_squares(
    cells: Singles, leaf: int, q: Singles, limit: np.float32, later: np.float32, squares: Singles
) -> bool:
    """Write the squared distances of q from the points of a leaf; return whether any is within the limit.

    Columns other than the first ones add at least `later` to all of them.
    """
    for w in range(WIDTH):
        squares[w] = np.float32(0)
    turns, within = q.size // TURN, False
    for turn in range(turns):
        line, j = leaf * turns + turn, TURN * turn
        x, y, z, u = q[j], q[j + 1], q[j + 2], q[j + 3]
        enough, within = limit - later if turn == 0 else limit, False
        for w in range(WIDTH):
            e, f = cells[line, w] - x, cells[line, WIDTH + w] - y
            g, h = cells[line, 2 * WIDTH + w] - z, cells[line, 3 * WIDTH + w] - u
            square = squares[w] + e * e + f * f + g * g + h * h
            squares[w] = square
            within |= square <= enough
        if not within:
            return False
    return within


@inner_loop
def _far_squares(cells: Singles, norms: Singles, leaf: int, q: Singles, limit: np.float32, squares: Singles) -> bool:
    """Write `2 p q - |p|^2` for the points p of a leaf; return whether any is within the limit."""
    for w in range(WIDTH):
        squares[w] = np.float32(0)
    turns, within = q.size // TURN, False
    for turn in range(turns):
        line, j = leaf * turns + turn, TURN * turn
        x, y, z, u = TWO * q[j], TWO * q[j + 1], TWO * q[j + 2], TWO * q[j + 3]
        for w in range(WIDTH):
            e, f = cells[line, w] * x, cells[line, WIDTH + w] * y
            g, h = cells[line, 2 * WIDTH + w] * z, cells[line, 3 * WIDTH + w] * u
            squares[w] += e + f + g + h
    for w in range(WIDTH):
        squares[w] -= norms[leaf, w]
        within |= squares[w] <= limit
    return within
